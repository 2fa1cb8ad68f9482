"""Which part of a plot shows everything."""

import math
from collections.abc import Sequence

from explorer.studies.base.study import Mark
from explorer.ui.drawing.curves import DOT_SIZE, Extent
from explorer.ui.drawing.value_axis import hull, nice_range, with_room

DEEPEST_DECADES = 15
"""A logarithmic y axis starts at most so far below its top."""
_HALF_A_DOT = DOT_SIZE / 2 + 2
"""Pixels between a dot's middle and the frame that shows it whole."""


def whole_view(
    extents: Sequence[tuple[Mark, Extent]],
    ends: tuple[float, float] | None,
    before: Sequence[Sequence[float]],
    size: tuple[float, float],
    below: float,
    y_log: bool,
) -> list[list[float]]:
    """Return the ends of x and y, in view coordinates, that show the whole sweep and all curves.

    Bars, with dots over them or not, need no more room than they take: a map of 8 levels has none
    up to the 11th.

    Parameters
    ----------
    extents : sequence of (Mark, Extent)
        Of the visible curves.
    ends : (float, float) or None
        Of the sweep.
    before : (x ends, y ends)
        As they are: y stays where there is nothing to show.
    size : (float, float)
        Pixels of the view.
    below : float
        Pixels of it to keep free below the curves.
    y_log : bool
    """
    extents = [(mark, found) for mark, found in extents if math.isfinite(found[0])]
    sides = [e[:2] for mark, e in extents if mark is not Mark.LINE]
    marks = {mark for mark, _ in extents}
    counted = Mark.BARS in marks and Mark.LINE not in marks
    if ends is not None and not counted and all(map(math.isfinite, ends)):
        sides.append(ends)
    x0, x1 = hull(sides or [e[:2] for _, e in extents])
    x1 = x1 if x1 > x0 else x0 + 1.0
    dots = [e for mark, e in extents if mark is Mark.DOTS]
    if dots:
        left, right = hull([e[:2] for e in dots])
        x0, x1 = with_room(x0, x1, left, right, _HALF_A_DOT / max(size[0], 100.0))
    if not extents:
        return [[x0, x1], list(before[1])]
    low, high = hull([e[2:] for _, e in extents])
    if y_log:
        low = max(low, high - DEEPEST_DECADES)
    low, high = nice_range(low, high, y_log)
    room = max(size[1] - below, 1.0)
    if dots:
        down, up = hull([e[2:] for e in dots])
        low, high = with_room(low, high, down, up, _HALF_A_DOT / max(room, 100.0))
    return [[x0, x1], [low - (high - low) * below / room, high]]
