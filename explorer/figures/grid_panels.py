"""Small multiples: the curves of each panel, shared by window and export."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from explorer.figures.captions import parameter_text, with_short_names
from explorer.studies.base.grid import Cell, GridAnswer
from explorer.studies.base.study import Mark, Quantity, Series, quantity, with_unit
from explorer.studies.registry import get_study


@dataclass(frozen=True)
class Panel:
    """A plot of a page.

    Attributes
    ----------
    row, column : int
        From the top and from the left.
    cells : tuple of Cell
        Its cells of the grid; several if colours show a parameter.
    series : tuple of Series
        With the keys of `legend_series`.
    """

    row: int
    column: int
    cells: tuple[Cell, ...]
    series: tuple[Series, ...]

    def failing(self, hidden: Collection[str]) -> tuple[str, ...]:
        """Return the failing conditions of shown curves, each once."""
        shown = [s for s in self.series if s.key not in hidden]
        return tuple(dict.fromkeys(c.text for cell in self.cells for c in cell.failing(shown)))

    @property
    def errors(self) -> tuple[str, ...]:
        """Reasons for missing answers, each once."""
        return tuple(dict.fromkeys(cell.error for cell in self.cells if cell.error))


def shape(answer: GridAnswer) -> tuple[int, int, int]:
    """Return the numbers of pages, rows and columns."""
    sizes = [len(axis.values) for axis in answer.axes] + [1, 1]
    pages = 1 if answer.grid.colours else sizes[2]
    return pages, sizes[1], sizes[0]


def value_text(answer: GridAnswer, axis: int, place: int) -> str:
    """Return a value of an axis as text: ``ε₀ = 0.5``."""
    result = answer.axes[axis]
    values = dict(answer.request.values)
    return parameter_text(with_unit(result.parameter, values), result.values[place])


def page_text(answer: GridAnswer, page: int) -> str:
    """Return the value that all plots of a page share; empty if there is one page."""
    return value_text(answer, 2, page) if shape(answer)[0] > 1 else ""


def headings(answer: GridAnswer) -> tuple[list[str], list[str]]:
    """Return the headings of columns and rows."""
    result = [
        [value_text(answer, axis, i) for i in range(len(answer.axes[axis].values))]
        for axis in range(min(2, len(answer.axes)))
    ]
    return result[0], result[1] if len(result) > 1 else [""]


def best_curve(answer: GridAnswer) -> str:
    """Return the key of the default curve: the first claimable one, else the first one, else ""."""
    keys = [s.key for s in answer.series]
    claim = get_study(answer.request.study).claims.get(answer.request.quantity)
    among = claim.among if claim is not None else ()
    return next((key for key in (*among, *keys) if key in keys), "")


def legend_series(answer: GridAnswer, curve: str = "") -> tuple[Series, ...]:
    """Return the entries of the legend: all curves, or one curve per value of the colours."""
    if not _set_colour(answer):
        return with_short_names(get_study(answer.request.study), answer.series)
    wanted = curve or best_curve(answer)
    shown = next((s for s in answer.series if s.key == wanted), None)
    if shown is None:
        return ()
    values = answer.axes[2].values
    return tuple(_rename(answer, shown, place) for place in range(len(values)))


def panels(answer: GridAnswer, page: int, curve: str = "") -> list[Panel]:
    """Return the panels of a page, row by row, with the answers known so far."""
    _, rows, columns = shape(answer)
    coloured = _set_colour(answer)
    deep = len(answer.axes[2].values) if len(answer.axes) > 2 else 1
    wanted = curve or best_curve(answer)
    result = []
    for row in range(rows):
        for column in range(columns):
            first = (column * rows + row) * deep
            if coloured:
                cells = answer.cells[first : first + deep]
                series = tuple(
                    _rename(answer, s, place)
                    for place, cell in enumerate(cells)
                    if cell is not None
                    for s in cell.series
                    if s.key == wanted
                )
            else:
                cells = answer.cells[first + page : first + page + 1]
                series = cells[0].series if cells[0] is not None else ()
            there = tuple(cell for cell in cells if cell is not None)
            result.append(Panel(row, column, there, series))
    return result


def shown_quantity(answer: GridAnswer) -> Quantity:
    """Return the quantity on the y axis."""
    return quantity(get_study(answer.request.study), answer.request.quantity)


def ranges(
    answer: GridAnswer, hidden: Collection[str], x_log: bool, y_log: bool, curve: str = ""
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the common ranges of x and y of all panels of all pages, in data units.

    Hidden curves do not count, nor numbers ≤ 0 on a logarithmic axis.
    """
    xs: list[float] = []
    ys: list[float] = []
    for page in range(shape(answer)[0]):
        for panel in panels(answer, page, curve):
            for s in panel.series:
                if s.key in hidden or not s.present.any():
                    continue
                xs += _ends(s.x, x_log)
                parts = [s.y] if s.mark is Mark.BARS else [s.y, s.low, s.high]
                for part in parts:
                    ys += [] if part is None else _ends(part[s.present], y_log)
    return _spread(xs, x_log), _spread(ys, y_log)


def _ends(numbers: Iterable[float], log: bool) -> list[float]:
    there = [float(n) for n in numbers if math.isfinite(n) and (n > 0 or not log)]
    return [min(there), max(there)] if there else []


def _spread(numbers: Sequence[float], log: bool) -> tuple[float, float]:
    low, high = (min(numbers), max(numbers)) if numbers else (1.0, 10.0) if log else (0.0, 1.0)
    if low == high:
        half = 0.5 * (abs(low) or 1.0)
        return (low / 2, high * 2) if log else (low - half, high + half)
    return low, high


def _set_colour(answer: GridAnswer) -> bool:
    return answer.grid.colours and len(answer.axes) > 2


def _rename(answer: GridAnswer, s: Series, place: int) -> Series:
    key = f"{answer.axes[2].parameter.key}={answer.axes[2].values[place]}"
    return replace(s, key=key, label=value_text(answer, 2, place))
