"""Positions of bars, areas and dots, shared by window and export.

Axis coordinates are data units on a linear axis and exponents of ten on a logarithmic one.
"""

from collections.abc import Sequence

import numpy as np

from explorer.privacy.core.bound import BoolArray, FloatArray, Role
from explorer.studies.base.study import Mark, Series

Stretch = tuple[float, float]

BAR_SHARE = 0.8
"""Share of the distance between two x that is covered by bars."""
FUNCTIONS = (Mark.LINE, Mark.AREA)
"""Marks that are defined between their points, and so can be absent there."""
UNBOUNDED_HEIGHTS = 1e3
"""Unbounded areas extend this many heights of the picture beyond the finite values."""


def axis_coordinates(numbers: FloatArray, log: bool) -> FloatArray:
    """Return numbers in axis coordinates; NaN if a logarithmic axis can't show them."""
    if not log:
        return np.asarray(numbers, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.log10(numbers)
    return np.where(np.isfinite(exponents), exponents, np.nan)


def bar_edges(series: Sequence[Series], x_log: bool) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the left and right edges of all bars by series, in axis coordinates.

    Bars of several series at one x are side by side. All series must be passed, including hidden
    ones, so that hiding one does not move others.
    """
    barred = [s for s in series if s.mark is Mark.BARS]
    if not barred:
        return {}
    xs = [axis_coordinates(s.x, x_log) for s in barred]
    places = np.unique(np.concatenate(xs))
    places = places[np.isfinite(places)]
    gap = float(np.diff(places).min()) if places.size > 1 else (0.3 if x_log else 1.0)
    width = BAR_SHARE * gap / len(barred)
    edges = {}
    for place, (item, x) in enumerate(zip(barred, xs, strict=True)):
        left = x + (place - len(barred) / 2) * width
        edges[item.key] = (left, left + width)
    return edges


def area_edges(item: Series, y_log: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the x, lower and upper edge of an area or band; edges in axis coordinates.

    An infinite edge (or one ≤ 0 on a logarithmic axis) is far outside the picture. Where the
    series is absent, all three are NaN.
    """
    assert item.low is not None
    assert item.high is not None
    low, high = np.asarray(item.low, float), np.asarray(item.high, float)
    there = item.present & ~np.isnan(low) & ~np.isnan(high)
    with np.errstate(divide="ignore"):
        ends = [np.log10(np.maximum(e, 0.0)) if y_log else e for e in (low, high)]
    known = np.concatenate([*ends, axis_coordinates(item.y, y_log)])
    known = known[np.isfinite(known)]
    floor, top = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    reach = UNBOUNDED_HEIGHTS * ((top - floor) or abs(top) or 1.0)
    low, high = np.maximum(ends[0], floor - reach), np.minimum(ends[1], top + reach)
    there &= low <= high
    return (
        np.where(there, item.x, np.nan),
        np.where(there, low, np.nan),
        np.where(there, high, np.nan),
    )


def runs(there: BoolArray) -> list[slice]:
    """Return the runs of True values."""
    padded = np.concatenate(([False], there, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def whole_axis(series: Sequence[Series]) -> bool:
    """Return whether x is integer: all bars, or dots if there are only dots, are at integers.

    Dots next to a line mark points on a real axis.
    """
    bars = [s for s in series if s.mark is Mark.BARS]
    dots = list(series) if all(s.mark is Mark.DOTS for s in series) else []
    xs = [s.x[np.isfinite(s.x)] for s in bars or dots]
    return any(x.size for x in xs) and all(np.array_equal(x, np.rint(x)) for x in xs)


def absent_stretches(item: Series) -> list[Stretch]:
    """Return the intervals of x (in data units) where a series is absent.

    For lines they reach from the last present point to the next; for dots and bars they are around
    the missing positions. A path without points is absent everywhere. Pinned curves, which are for
    reference only, and curves being computed have none.
    """
    if item.pin or item.computing:
        return []
    if item.mark is Mark.PATH:
        return [] if item.present.any() else [(-np.inf, np.inf)]
    if item.present.all():
        return []
    order = np.argsort(item.x, kind="stable")
    x, missing = item.x[order], ~item.present[order]
    if item.mark in FUNCTIONS:
        last = len(x) - 1
        return [
            (float(x[max(run.start - 1, 0)]), float(x[min(run.stop, last)]))
            for run in runs(missing)
        ]
    half = 0.25 * float(np.diff(x).min()) if len(x) > 1 else 0.25
    return [(float(a) - half, float(a) + half) for a in x[missing]]


def invalid_stretches(series: Sequence[Series]) -> list[tuple[float, float, str]]:
    """Return the intervals without any claimed curve: from, to (data units) and reason.

    There, every curve and area except baselines is absent. Reasons are joined.
    """
    claims = [
        s
        for s in series
        if s.mark in FUNCTIONS and s.role is not Role.BASELINE and len(s.x) and not s.pin
    ]
    if not claims or any(s.present.all() for s in claims):
        return []
    common = [(-np.inf, np.inf)]
    for item in claims:
        own = absent_stretches(item)
        common = [
            (max(a, c), min(b, d)) for a, b in common for c, d in own if max(a, c) < min(b, d)
        ]
    why = "; ".join(dict.fromkeys(s.undefined_reason for s in claims if s.undefined_reason))
    return [(a, b, why) for a, b in common]
