"""Drawing of a series on matplotlib axes by its mark, and of its legend handle."""

from dataclasses import replace
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.geometry import area_edges, axis_coordinates
from explorer.figures.style import SeriesStyle
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.studies.base.study import Mark, Series

_BAND, _AREA, _BARS = 0.2, 0.14, 0.3
"""Opacity of fills."""
_HATCH = 0.55
_MARKER = 4.0
Edges = tuple[FloatArray, FloatArray]


def draw_series(
    axes: Any,
    item: Series,
    style: SeriesStyle,
    place: int,
    x_log: bool,
    y_log: bool,
    edges: Edges | None = None,
    stroke: float = 1.0,
) -> None:
    """Draw a series; the axes' limits must be set already.

    Parameters
    ----------
    axes : matplotlib Axes
    item : Series
    style : SeriesStyle
    place : int
        Position among the drawn series: later ones are above; markers and absence marks are
        staggered.
    x_log, y_log : bool
    edges : tuple of ndarray, optional
        Edges of bars in axis coordinates (`bar_edges`).
    stroke : float
        Scale of line widths and markers.
    """
    style = replace(style, width=stroke * style.width)
    marker = stroke * _MARKER
    depth = 3 + 0.01 * place
    x = np.where(item.x > 0, item.x, np.nan) if x_log else item.x
    y = np.where(item.present, item.y, np.nan)
    if y_log:
        y = np.where(y > 0, y, np.nan)
    ranged = item.low is not None and item.high is not None
    if item.mark is Mark.BARS and edges is not None:
        _bars(axes, item, style, edges, x_log, y_log, depth)
    elif item.mark is Mark.DOTS:
        _dots(axes, item, style, x, y, y_log, depth, marker)
    else:
        if ranged and item.mark is not Mark.PATH:
            _area(axes, item, style, x, y_log)
        _line(axes, item, style, x, y, place, depth, marker)
    _absence(axes, item, style, place, x_log, depth, stroke)


def legend_handle(item: Series, style: SeriesStyle, stroke: float = 1.0) -> Any:
    """Return the legend handle of a series."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    line = Line2D(
        [],
        [],
        color=style.colour,
        linewidth=stroke * style.width,
        linestyle=_dashes(style),
        marker=style.marker,
        markersize=stroke * _MARKER,
    )
    if item.mark in (Mark.BARS, Mark.AREA):
        share, width = (_BARS, 0.9) if item.mark is Mark.BARS else (_AREA, 0.0)
        return Patch(**_filled(style, share), linewidth=width)
    if item.mark is Mark.DOTS:
        line.set_linestyle("none")
        return line
    if item.mark is Mark.LINE and item.low is not None:
        return (Patch(facecolor=_rgba(style.colour, _BAND), linewidth=0), line)
    return line


def _dashes(style: SeriesStyle) -> Any:
    return (0, style.dash) if style.dash else "solid"


def _rgba(colour: str, alpha: float) -> Any:
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)


def _filled(style: SeriesStyle, share: float) -> dict[str, Any]:
    return {
        "facecolor": _rgba(style.colour, share),
        "edgecolor": _rgba(style.colour, _HATCH),
        "hatch": 2 * style.hatch,
    }


def _line(
    axes: Any,
    item: Series,
    style: SeriesStyle,
    x: FloatArray,
    y: FloatArray,
    place: int,
    depth: float,
    size: float,
) -> None:
    # Markers are staggered, so that coinciding curves are distinguishable.
    stride = max(1, len(x) // 8)
    marker = None if item.mark is Mark.AREA else style.marker
    axes.plot(
        x,
        y,
        linestyle=_dashes(style),
        linewidth=style.width,
        marker=marker,
        markersize=size,
        markevery=(place * stride // 5 % max(1, len(x)), stride),
        gid=f"series-{item.key}",
        color=style.colour,
        zorder=depth,
    )
    lonely = _lonely(np.isfinite(x) & np.isfinite(y))
    if lonely.any():
        axes.plot(
            x[lonely],
            y[lonely],
            linestyle="none",
            marker=style.marker,
            markersize=size,
            color=style.colour,
            zorder=depth,
        )


def _lonely(drawn: BoolArray) -> BoolArray:
    """Return which points have no present neighbour, so that no line shows them."""
    padded = np.concatenate(([False], drawn, [False]))
    lonely: BoolArray = drawn & ~padded[:-2] & ~padded[2:]
    return lonely


def _area(axes: Any, item: Series, style: SeriesStyle, x: FloatArray, y_log: bool) -> None:
    """Fill between the edges: plain for the band of an estimate, hatched for an area."""
    _, low, high = area_edges(item, y_log)
    # Edges far outside the picture would overflow on a logarithmic axis.
    bottom, top = _y_limits(axes, y_log)
    room = top - bottom
    low, high = (np.clip(e, bottom - room, top + room) for e in (low, high))
    if y_log:
        low, high = 10.0**low, 10.0**high
    if item.mark is Mark.AREA:
        look: dict[str, Any] = {**_filled(style, _AREA), "gid": f"area-{item.key}", "zorder": 2}
    else:
        look = {"facecolor": _rgba(style.colour, _BAND), "gid": "band", "zorder": 2.2}
    axes.fill_between(x, low, high, where=np.isfinite(low) & np.isfinite(x), linewidth=0, **look)


def _bars(
    axes: Any,
    item: Series,
    style: SeriesStyle,
    edges: Edges,
    x_log: bool,
    y_log: bool,
    depth: float,
) -> None:
    from matplotlib.collections import PolyCollection

    bottom, top = _y_limits(axes, y_log)
    tops = axis_coordinates(item.y, y_log)
    base = bottom - (top - bottom) if y_log else 0.0
    there = item.present & np.isfinite(tops) & np.isfinite(edges[0])
    corners = np.stack(
        [
            np.column_stack([side[there], end])
            for side, end in (
                (edges[0], np.full(there.sum(), base)),
                (edges[0], tops[there]),
                (edges[1], tops[there]),
                (edges[1], np.full(there.sum(), base)),
            )
        ],
        axis=1,
    )
    if x_log:
        corners[..., 0] = 10.0 ** corners[..., 0]
    if y_log:
        corners[..., 1] = 10.0 ** corners[..., 1]
    axes.add_collection(
        PolyCollection(
            list(corners),
            linewidth=0.9,
            zorder=depth,
            gid=f"series-{item.key}",
            **_filled(style, _BARS),
        ),
        autolim=False,
    )


def _dots(
    axes: Any,
    item: Series,
    style: SeriesStyle,
    x: FloatArray,
    y: FloatArray,
    y_log: bool,
    depth: float,
    size: float,
) -> None:
    there = np.isfinite(x) & np.isfinite(y)
    spread = None
    if item.low is not None and item.high is not None:
        least = (
            axes.get_ylim()[0] / 10 if y_log else -np.inf
        )  # an error bar to 0 has no end on this axis
        low = np.maximum(np.where(np.isfinite(item.low), item.low, item.y), least)
        high = np.where(np.isfinite(item.high), item.high, item.y)
        spread = np.maximum(np.stack([item.y - low, high - item.y])[:, there], 0)
    drawn = axes.errorbar(
        x[there],
        y[there],
        yerr=spread,
        linestyle="none",
        marker=style.marker,
        markersize=1.12 * size,
        color=style.colour,
        elinewidth=0.9,
        capsize=2.2,
        capthick=0.9,
        zorder=depth,
    )
    drawn.lines[0].set_gid(f"series-{item.key}")
    for bar in drawn.lines[2]:
        bar.set_gid(f"spread-{item.key}")


def _absence(
    axes: Any,
    item: Series,
    style: SeriesStyle,
    place: int,
    x_log: bool,
    depth: float,
    stroke: float,
) -> None:
    """Mark the intervals where a series is absent along the bottom of the axes."""
    if item.mark is Mark.PATH or not item.present.any():
        return
    height = 0.012 * (place + 1)
    for a, b in captions.absent_ranges(list(item.x), item.present):
        if x_log and b <= 0:
            continue
        axes.plot(
            [max(a, np.finfo(float).tiny) if x_log else a, b],
            [height, height],
            transform=axes.get_xaxis_transform(),
            linestyle=(0, (1, 2)),
            linewidth=1.2 * stroke,
            marker="x",
            markersize=3.5 * stroke,
            gid=f"absent-{item.key}",
            color=style.colour,
            zorder=depth,
        )


def _y_limits(axes: Any, log: bool) -> tuple[float, float]:
    """Return the ends of the y axis in axis coordinates."""
    bottom, top = axis_coordinates(np.array(axes.get_ylim()), log)
    return float(bottom), float(top)
