"""The legend below a plot, fitted into the space outside the plot's share of the page.

Full labels in as many columns as fit are tried first; then roles are shortened to signs, the font
is reduced, labels are truncated, and finally entries are omitted with a count.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from explorer.figures import captions
from explorer.figures.pages.draw_series import legend_handle
from explorer.figures.pages.page_layout import Page, drawable, width_in_ems, wrap
from explorer.figures.style import SeriesStyle
from explorer.studies.base.study import Series

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
    return _shortened(page, series, styles, room)


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
            yield size, columns, [[text] for text in _cut_all(signs, ems)]


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


def _cut_all(texts: Sequence[str], ems: float) -> list[str]:
    """Truncate texts at the end, or in the middle if they would become equal."""
    ends = [_cut(text, ems) for text in texts]
    return [
        cut if ends.count(cut) == 1 else _cut(text, ems, tail=0.5)
        for text, cut in zip(texts, ends, strict=True)
    ]


def _cut(text: str, ems: float, tail: float = 0.0) -> str:
    """Return a text truncated to a width, a share `tail` of which is for its end."""
    if width_in_ems(text) <= ems:
        return text
    room = ems - width_in_ems("…")
    end = _beginning(text[::-1], tail * room)[::-1].lstrip()
    return _beginning(text, room - width_in_ems(end)).rstrip() + "…" + end


def _beginning(text: str, ems: float) -> str:
    """Return the longest prefix of a text within a width in font sizes."""
    kept = ""
    for character in text:
        if width_in_ems(kept + character) > ems:
            break
        kept += character
    return kept


def _shortened(
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
        lines = [[text] for text in _cut_all(names, ems)]
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
