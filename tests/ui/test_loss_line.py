"""Sentence on the loss below the map: shown at rest, greyed, cleared with its data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.studies.base.study import Fidelity, Result, ScalarResult, default_request
from explorer.studies.heatmap.study import HeatmapStudy
from explorer.ui.map.metrics import MetricsStrip

SAID = "About 13 % of the mass lies in the wrong 4.2 km square."


def result(*notes: tuple[str, str], fidelity: Fidelity = Fidelity.COARSE) -> Result:
    readouts = tuple(
        ScalarResult(key, key, 1.0, curator_only=True, note=note) for key, note in notes
    )
    full = fidelity is Fidelity.FULL
    return Result(default_request(HeatmapStudy()), fidelity, readouts=readouts, complete=full)


@pytest.fixture
def strip(qtbot) -> MetricsStrip:
    made = MetricsStrip()
    qtbot.addWidget(made)
    made.resize(900, 120)
    made.show()
    return made


def test_it_comes_after_the_numbers_and_is_grey_while_a_slider_moves(strip) -> None:
    line, height = strip.loss, strip.loss.height()
    strip.show_result(result())
    assert line.sentence.text() == ""
    strip.show_result(result(("loss", SAID)))
    assert line.sentence.text() == SAID
    assert line.sentence.isEnabled()
    assert line.warning.isHidden()
    strip.show_result(result())  # another value: its sentence follows at rest
    assert (line.sentence.text(), line.sentence.isEnabled()) == (SAID, False)
    strip.show_result(result(("loss", SAID)))
    assert line.sentence.isEnabled()
    strip.set_trailing()
    assert not line.sentence.isEnabled()
    assert line.height() == height


@pytest.mark.parametrize(
    ("note", "short"),
    [
        ("Too noisy to use: an evenly grey map is nearly as close.", "Too noisy to use"),
        ("Very noisy: 63 % of an evenly grey map's error.", "Very noisy"),
    ],
)
def test_a_warning_stands_before_it_and_says_how_often_it_errs(strip, note, short) -> None:
    how = ("draws_failed", "9 of 20 draws … with a chance of at most 0.0024.")
    strip.show_result(result(("loss", SAID), ("noise_level", note), how, fidelity=Fidelity.FULL))
    assert strip.loss.warning.text() == short
    assert not strip.loss.warning.isHidden()
    assert "0.0024" in strip.loss.warning.toolTip()
    assert note.partition(": ")[2] in strip.loss.warning.toolTip()
    assert short in strip.loss.accessibleName()
    fine = result(("loss", SAID), ("noise_level", ""), how, fidelity=Fidelity.FULL)
    strip.show_result(fine)
    assert strip.loss.warning.isHidden()
    strip.show_result(replace(fine, readouts=()))  # no truth for comparison
    assert strip.loss.sentence.text() == ""
