"""View range that shows all curves."""

from __future__ import annotations

import pytest

from explorer.studies.base.study import Mark
from explorer.ui.plot.axes import whole_view

SWEEP, SIZE = (0.0, 100.0), (700.0, 400.0)


@pytest.mark.parametrize(
    ("marks", "right"),
    [
        ([Mark.BARS], 63.5),
        ([Mark.BARS, Mark.DOTS], 64.5),
        ([Mark.DOTS], 101.0),
        ([Mark.BARS, Mark.LINE], 100.0),
        ([Mark.LINE], 100.0),
    ],
)
def test_the_sweep_is_shown_whole_unless_bars_end_before_it(
    marks: list[Mark], right: float
) -> None:
    """Items from 0 to 63, in a sweep to 100."""
    extents = [
        (mark, (-0.5, 63.5, 0.0, 1.0) if mark is Mark.BARS else (0.0, 63.0, 0.0, 1.0))
        for mark in marks
    ]
    (x0, x1), (y0, y1) = whole_view(extents, SWEEP, [SWEEP, (0.0, 1.0)], SIZE, 0.0, False)
    assert x0 <= 0.0
    assert right - 1.5 <= x1 <= right + 1.5
    assert y0 <= 0.0 < 1.0 <= y1
