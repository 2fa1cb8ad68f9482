"""Drawing of curves on matplotlib axes, each by its mark, and of the legend below them.

The legend is fitted into the space outside the plot's share of the page. Full labels in as many
columns as fit are tried first; then roles are shortened to signs, the font is reduced, labels are
truncated, and finally entries are omitted with a count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from explorer.figures import captions
from explorer.figures.geometry import area_edges, axis_coordinates
from explorer.figures.pages.page_layout import Page, drawable, width_in_ems, wrap
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


_HANDLE, _GAP, _BETWEEN = 3.0, 0.6, 1.2
"""Widths in font sizes: of a handle, between handle and label, between columns."""
_LINE, _ENTRY = 1.17, 0.15
"""Heights in font sizes: of a line of text, and between two entries."""
_MAX_COLUMNS = 5
_SIZES = (1.1, 1.0, 0.9, 0.8)
"""Font sizes to try, relative to that of footnotes."""
_MIN_LABEL = 6.0
"""Minimum width of a column's labels in font sizes."""
_T = TypeVar("_T")
Layout = tuple[float, int, list[list[str]]]
"""Font size in points, number of columns, lines of every label."""


def draw_legend(
    page: Page, series: Sequence[Series], styles: dict[str, SeriesStyle], room: float
) -> tuple[Any, float]:
    """Create the legend at the page's bottom; return it and its height in inches.

    Parameters
    ----------
    page : Page
    series : sequence of Series
        At least one, in the order of the legend.
    styles : dict of str to SeriesStyle
        By key of the series.
    room : float
        Maximum height in inches, exceeded only by a legend of one line.
    """
    for size, columns, lines in _layouts(page, series):
        if _estimate(size, columns, lines) <= room:
            legend, height = _make(page, series, styles, size, columns, lines)
            if height <= room:
                return legend, height
            legend.remove()
    return _shortened_legend(page, series, styles, room)


def _layouts(page: Page, series: Sequence[Series]) -> Iterator[Layout]:
    """Yield layouts of the labels, the most readable first."""
    whole = [_label(captions.legend_label(s)) for s in series]
    signs = [_label(captions.short_legend_label(s)) for s in series]
    for texts, sizes in ((whole, _SIZES[:1]), (signs, _SIZES)):
        for size in (share * page.small for share in sizes):
            ways = [
                (size, columns, lines)
                for columns in range(1, min(_MAX_COLUMNS, len(texts)) + 1)
                if (lines := _set(page, texts, size, columns)) is not None
            ]
            yield min(ways, key=lambda way: (_estimate(*way), way[1]))
    size = _SIZES[-1] * page.small
    for columns in range(1, _MAX_COLUMNS + 1):
        ems = _column(page, size, columns)
        if ems >= _MIN_LABEL:
            yield size, columns, _cut_all(signs, ems)


def _label(text: str) -> str:
    """Return a label on one line, with glyphs of the font only."""
    return drawable(" ".join(text.split()))


def _set(page: Page, texts: Sequence[str], size: float, columns: int) -> list[list[str]] | None:
    """Return the lines of every label for a number of columns, or None if too narrow."""
    natural = [[text] for text in texts]
    widths = [max(width_in_ems(t) for t in part) for part in _split(texts, columns)]
    if sum(widths) + columns * (_HANDLE + _GAP) + (columns - 1) * _BETWEEN <= page.ems(
        page.across, size
    ):
        return natural
    ems = _column(page, size, columns)
    if columns > 1 and ems < 2 * _MIN_LABEL:
        return None
    return [wrap(text, max(ems, 1.0)) for text in texts]


def _column(page: Page, size: float, columns: int) -> float:
    """Return the width of a label in font sizes for columns of equal width."""
    ems = page.ems(page.across, size)
    return (ems - (columns - 1) * _BETWEEN) / columns - _HANDLE - _GAP


def _split(items: Sequence[_T], columns: int) -> list[Sequence[_T]]:
    """Distribute entries over columns as matplotlib does, the first columns longer."""
    whole, more = divmod(len(items), columns)
    starts = [i * whole + min(i, more) for i in range(columns + 1)]
    return [items[a:b] for a, b in pairwise(starts) if a < b]


def _estimate(size: float, columns: int, lines: list[list[str]]) -> float:
    """Return an estimate of a legend's height in inches."""
    heights = (
        sum(len(label) * _LINE + _ENTRY for label in part) for part in _split(lines, columns)
    )
    return (max(heights) - _ENTRY) * size / 72


def _cut_all(texts: Sequence[str], ems: float) -> list[list[str]]:
    """Return lines of texts: truncated at the end, or wrapped if they would become equal."""
    ends = [_cut(text, ems) for text in texts]
    return [
        [cut] if ends.count(cut) == 1 else wrap(text, ems)
        for text, cut in zip(texts, ends, strict=True)
    ]


def _cut(text: str, ems: float) -> str:
    """Return a text truncated at its end to a width in font sizes."""
    if width_in_ems(text) <= ems:
        return text
    return _beginning(text, ems - width_in_ems("…")).rstrip() + "…"


def _beginning(text: str, ems: float) -> str:
    """Return the longest prefix of a text within a width in font sizes."""
    beginning = ""
    for character in text:
        if width_in_ems(beginning + character) > ems:
            break
        beginning += character
    return beginning


def _shortened_legend(
    page: Page, series: Sequence[Series], styles: dict[str, SeriesStyle], room: float
) -> tuple[Any, float]:
    """Create a legend of the first curves with the number of omitted ones."""
    size = _SIZES[-1] * page.small
    columns = max(
        (c for c in range(1, _MAX_COLUMNS + 1) if _column(page, size, c) >= _MIN_LABEL),
        default=1,
    )
    ems = max(_column(page, size, columns), 1.0)
    rows = max(1, int((room * 72 / size + _ENTRY) / (_LINE + _ENTRY)))
    for count in range(min(len(series), rows * columns), 0, -1):
        shown = series[:count]
        left = len(series) - count
        names = [_label(captions.short_legend_label(s)) for s in shown]
        lines = _cut_all(names, ems)
        if left:
            lines[-1] = [_cut(f"… and {left + 1} more" if count > 1 else f"{left + 1} curves", ems)]
        legend, height = _make(page, shown, styles, size, columns, lines, unnamed=bool(left))
        if height <= room or count == 1:
            break
        legend.remove()
    return legend, height


def _make(
    page: Page,
    series: Sequence[Series],
    styles: dict[str, SeriesStyle],
    size: float,
    columns: int,
    lines: list[list[str]],
    unnamed: bool = False,
) -> tuple[Any, float]:
    """Return matplotlib's legend and its measured height in inches.

    With `unnamed` the last label belongs to no curve.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D

    handles = [legend_handle(s, styles[s.key], page.stroke) for s in series]
    if unnamed:
        handles[-1] = Line2D([], [], linestyle="none")
    legend = page.figure.legend(
        handles,
        ["\n".join(label) for label in lines],
        loc="lower left",
        ncols=columns,
        bbox_to_anchor=(page.margin / page.width, 0),
        borderaxespad=0,
        borderpad=0,
        frameon=False,
        fontsize=size,
        labelcolor=page.theme.text,
        handlelength=_HANDLE,
        handletextpad=_GAP,
        labelspacing=_ENTRY,
        columnspacing=_BETWEEN,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    canvas: Any = FigureCanvasAgg(page.figure)
    return legend, legend.get_window_extent(canvas.get_renderer()).height / page.figure.dpi
