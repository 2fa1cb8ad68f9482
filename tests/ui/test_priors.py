"""Public priors of the map in the window: chosen beside the map, read where it is computed."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from explorer.release.ledger import settings
from explorer.release.pipeline import draw, plan_release
from explorer.studies.base.parameters import names_of
from tests.release.plans import opened, place_in, plan_of, write_rows
from tests.ui.test_access import check

pytestmark = pytest.mark.full


def _names(request) -> tuple[str, ...]:
    return names_of(request["prior_checkins"])


def test_a_file_of_check_ins_becomes_a_prior(open_window, settled, qtbot, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "other people.csv"
    path.write_text(
        "user,time,lat,lon\n"
        + "".join(
            f"{user},2010-01-01T00:00:00Z,{40.72 + rng.normal(0, 0.03):.6f},"
            f"{-73.98 + rng.normal(0, 0.03):.6f}\n"
            for user in range(200)
        )
    )
    values = (("resolution", "32"), ("mechanism", "adaptive-prior"), ("prior_cities", False))
    window = open_window(study="heatmap", values=values)
    assert "prior_weight" not in {r.key for r in settled(window).readouts}

    def answered():
        return window.current_result.request

    window.parameters.section("more").heading.click()
    row = window.parameters.row("prior_checkins")
    assert row.isVisible()
    assert not window.parameters.row("smoothing").isVisible()
    monkeypatch.setattr(
        "explorer.ui.widgets.parameter_rows.QFileDialog.getOpenFileName",
        lambda *_: (str(path), ""),
    )
    row.open_button.click()
    qtbot.waitUntil(lambda: bool(answered()["prior_checkins"]))
    with_prior = settled(window)
    assert 0 <= with_prior.readout("prior_weight").value <= 1
    assert not with_prior.readout("prior_weight").curator_only
    row.clear_button.click()
    qtbot.waitUntil(lambda: not answered()["prior_checkins"])
    assert "prior_weight" not in {r.key for r in settled(window).readouts}

    second = tmp_path / "a second file.csv"
    second.write_text(path.read_text().replace("40.7", "40.8"))
    first = path
    for path in (first, second):  # noqa: B007, which the dialog returns
        before = row.list.count()
        row.open_button.click()
        qtbot.waitUntil(lambda before=before: row.list.count() > before)
        qtbot.waitUntil(row.open_button.isEnabled)
    assert _names(window.session.request("heatmap")) == (
        first.name,
        second.name,
    )
    settled(window)
    qtbot.keyClick(row.list, Qt.Key.Key_Delete)
    assert _names(settled(window).request) == (second.name,)
    window.session.undo()
    assert _names(settled(window).request) == (first.name, second.name)

    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n3,4\n")
    path = wrong
    row.open_button.click()
    qtbot.waitUntil(window.banner.isVisible)
    assert "wrong.csv" in window.banner.text.text().replace("Wrong", "wrong")


def test_an_earlier_release_is_chosen_from_a_ledger(
    open_window, settled, qtbot, tmp_path, monkeypatch
):
    place = place_in(tmp_path)
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    plan = plan_of(
        opened(place, 9), write_rows(tmp_path / "rows.csv"), mechanism="heatmap.pyramid/1"
    )
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    values = (("resolution", "32"), ("mechanism", "adaptive-prior"), ("epsilon", 0.75))
    window = open_window(study="heatmap", values=values)
    weights = window.parameters.pages["heatmap"].weights
    settled(window)
    assert weights.isEnabled()
    levels = weights.table.model().rowCount()
    assert levels >= 2
    window.parameters.section("more").heading.click()
    row = window.parameters.row("prior_release")
    monkeypatch.setattr(
        "explorer.ui.widgets.parameter_rows.QFileDialog.getOpenFileName",
        lambda *_: (str(place.ledger), ""),
    )
    row.open_button.click()
    qtbot.waitUntil(row.menu.isVisible)
    assert not row.menu.actions()[0].isEnabled()  # the user's own ledger has none
    row.menu.close()
    row.menu.actions()[-1].trigger()
    qtbot.waitUntil(row.menu.isVisible)
    first = row.menu.actions()[0]
    assert release[:8] in first.text()
    row.menu.close()
    shown = []
    window.session.changed.connect(
        lambda state, _: shown.append(
            (bool(state.request_of("heatmap")["prior_release"]), weights.isEnabled())
        )
    )
    first.trigger()
    qtbot.waitUntil(lambda: bool(shown))
    assert shown[0] == (True, False)  # those of another map
    result = settled(window)
    assert weights.isEnabled()
    assert weights.isVisible()
    assert check(window) == []
    assert result.guarantee.pairs == ((1.25, 0.0),)
    assert window.guarantee.odds.text() == "77.73 %"
    window.session.set_value("epsilon", 1.5)
    assert settled(window).guarantee.pairs == ((1.5, 0.0),)
    window.session.undo()
    window.session.undo()
    assert not settled(window).request["prior_release"]
