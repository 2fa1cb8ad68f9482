"""Infinite values are reported as infinite, not as undefined."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from explorer.figures.style import series_styles
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import Mark, Series
from explorer.ui.bounds.legend import Legend
from explorer.ui.plot.reading import reading

SOURCE = Reference("Tests", "line 1")


def level(mark: Mark, why: str) -> Series:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, np.nan, np.nan])
    return Series("level", "level", Role.EXACT, x, y, SOURCE, undefined_reason=why, mark=mark)


@pytest.mark.parametrize(
    ("mark", "why", "between", "said"),
    [
        (Mark.LINE, "infinite: a value is excluded", False, "infinite"),
        (Mark.LINE, "beyond its condition", False, "not valid"),
        (Mark.DOTS, "infinite: a value is excluded", False, "infinite"),
        (Mark.DOTS, "infinite: a value is excluded", True, ""),
        (Mark.DOTS, "beyond its condition", False, ""),
    ],
)
def test_the_legend_tells_infinite_from_not_valid(qtbot, mark, why, between, said) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    series = (level(mark, why),)
    keys = {"level"} if between else set()
    styles = series_styles(series, "light")
    legend.show_series(series, styles, frozenset(), {"level": None}, "at T = 2", keys)
    assert legend.row("level").value.text() == said
    legend.show_series(series, styles, frozenset(), {"level": 0.5}, "at T = 1", keys)
    assert "0.5" in legend.row("level").value.text()


def test_beside_the_pointer_too() -> None:
    series = level(Mark.LINE, "infinite: a value is excluded")
    curve = SimpleNamespace(
        x=series.x,
        y=series.y,
        heights=series.y,
        role=series.role,
        mark=series.mark,
        x_log=False,
        y_log=False,
        low=None,
        high=None,
    )
    assert reading(curve, 2.5, 0.0, (0.01, 0.01), "T", "infinite") == "infinite"
    assert reading(curve, 2.5, 0.0, (0.01, 0.01), "T") == "not valid here"
    assert reading(curve, 3.5, 0.0, (0.01, 0.01), "T", "infinite") == "not valid here"
    assert reading(curve, 1.0, 0.0, (0.01, 0.01), "T", "infinite") == "0.5"
