"""Answers over a grid: the panels of small multiples, and export as CSV, Parquet and JSON."""

from __future__ import annotations

import io
import json
import math
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer import __version__
from explorer.csv_rows import CsvRows
from explorer.figures.captions import parameter_text, with_short_names
from explorer.figures.formats import ExportFormat
from explorer.figures.recipes import RECIPE_PREFIX, recipe_text
from explorer.figures.view_state import ViewState
from explorer.studies.base.grid import Cell, GridAnswer
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import (
    Kind,
    Mark,
    Parameter,
    Quantity,
    Series,
    Study,
    quantity,
    relevant,
    with_unit,
)
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


@dataclass(frozen=True)
class GridJob:
    """An answer over a grid to export.

    Attributes
    ----------
    answer : GridAnswer
    view : ViewState
        Title, theme, scales and hidden curves.
    recipe : mapping of JSON values
    format : ExportFormat
        Of `Kind.GRID`.
    curve : str
        Key of the curve to draw if the third parameter is shown by colours.
    page : int
        Index of the third parameter's value in a picture of one page.
    size_px : (int, int)
    dpi : float
    """

    answer: GridAnswer
    view: ViewState
    recipe: Mapping[str, Any]
    format: ExportFormat
    curve: str = ""
    page: int = 0
    size_px: tuple[int, int] = (1600, 1200)
    dpi: float = 150.0


def rendered_grid(job: GridJob) -> bytes:
    """Return a job's file as bytes.

    Raises
    ------
    ValueError
        If there is nothing to show, or the size is out of range.
    """
    data: bytes = resolve_name(job.format.writer)(job)
    return data


SCHEMA = "privacy-explorer-grid/1"
_CSV_NOTE = (
    "one row a point; value has all computed digits, rounded its four shown ones, an upper bound's "
    "rounded up and a lower one's down; value is empty where the statement does not hold, see "
    "absent; failing are conditions that do not hold at the value set for what is on the x axis; "
    "seed is the first of so many seeds"
)
_OWN_COLUMNS: dict[str, str] = {
    "series": "VARCHAR",
    "label": "VARCHAR",
    "role": "VARCHAR",
    "value": "DOUBLE",
    "rounded": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "absent": "VARCHAR",
    "failing": "VARCHAR",
    "reference": "VARCHAR",
    "seed": "BIGINT",
    "seeds": "BIGINT",
    "version": "VARCHAR",
}
"""Columns after those of the parameters, each with its type in SQL."""
_TYPES = {Kind.REAL: "DOUBLE", Kind.INTEGER: "BIGINT", Kind.FLAG: "BOOLEAN"}


def columns_of(answer: GridAnswer) -> dict[str, str]:
    """Return the table's columns in order, each with its type in SQL.

    Parameters of the grid come first, then the one on the x axis, then the other relevant ones.
    """
    parameters = {p.key: _TYPES.get(p.kind, "VARCHAR") for p in _parameters(answer)}
    return {"study": "VARCHAR", "quantity": "VARCHAR", **parameters, **_OWN_COLUMNS}


def rows_of(answer: GridAnswer) -> Iterator[list[Any]]:
    """Yield the table's rows: cell after cell, curve after curve, point after point."""
    parameters = _parameters(answer)
    sweep = answer.request.sweep
    swept = sweep.key if sweep is not None else ""
    for cell in answer.cells:
        if cell is None:
            continue
        values = dict(cell.request.values)
        before = [answer.request.study, answer.request.quantity]
        settings: list[Any] = [values[p.key] for p in parameters]
        at = next((i for i, p in enumerate(parameters) if p.key == swept), None)
        if cell.error:
            if at is not None:
                settings[at] = None
            yield [
                *before,
                *settings,
                *(None,) * 7,
                cell.error,
                "",
                None,
                cell.request.seed,
                len(cell.seeds),
                __version__,
            ]
        for s in cell.series:
            failing = "; ".join(c.text for c in cell.failing([s]))
            for i in range(len(s.x)):
                if at is not None:
                    x = float(s.x[i])
                    settings[at] = round(x) if parameters[at].kind is Kind.INTEGER else x
                yield [
                    *before,
                    *settings,
                    *_point(s, i),
                    failing,
                    str(s.reference),
                    cell.request.seed,
                    len(cell.seeds),
                    __version__,
                ]


def _point(s: Series, i: int) -> list[Any]:
    value = _finite(s.y[i])
    ends = [None if e is None else _finite(e[i]) for e in (s.low, s.high)]
    rounded = None
    if value is not None:
        rounded = float(format_number(value, s.role, typeset=False).replace(",", ""))
    why = "" if value is not None else s.undefined_reason
    return [s.key, s.label, s.role.value, value, rounded, *ends, why]


def _parameters(answer: GridAnswer) -> list[Parameter]:
    study = get_study(answer.request.study)
    first = [axis.parameter for axis in answer.axes]
    keys = [p.key for p in first]
    sweep = answer.request.sweep
    if sweep is not None:
        first += [p for p in study.parameters if p.key == sweep.key]
        keys.append(sweep.key)
    return first + [p for p in study.parameters if p.key not in keys and _matters(study, answer, p)]


def _matters(study: Study, answer: GridAnswer, p: Parameter) -> bool:
    if p.axis_only:
        return False
    cells = [dict(cell.request.values) for cell in answer.cells if cell is not None]
    return any(relevant(p, values, answer.request.quantity) for values in cells)


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _table(answer: GridAnswer) -> str:
    out = io.StringIO()
    writer = CsvRows(out)
    writer.write_row(columns_of(answer))
    writer.write_rows(rows_of(answer))
    return out.getvalue()


def csv_bytes(job: GridJob) -> bytes:
    """Return the table below ``#`` lines with the stamp, what the columns mean and the recipe."""
    lines = [f"Privacy Explorer {__version__}", job.answer.stamp, _CSV_NOTE]
    comments = "".join(f"# {' '.join(line.split())}\n" for line in lines if line)
    text = comments + RECIPE_PREFIX + recipe_text(job.recipe) + "\n" + _table(job.answer)
    return text.encode()


def parquet_bytes(job: GridJob) -> bytes:
    """Return the table as Parquet, the recipe under ``recipe`` in its key-value metadata."""
    import duckdb

    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    fields = {
        "recipe": recipe_text(job.recipe),
        "about": _CSV_NOTE,
        "stamp": job.answer.stamp,
        "version": __version__,
    }
    metadata = ", ".join(f"{key}: {quoted(text)}" for key, text in fields.items())
    types = ", ".join(f"{quoted(k)}: {quoted(t)}" for k, t in columns_of(job.answer).items())
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con:
        table, file = Path(folder, "table.csv"), Path(folder, "table.parquet")
        table.write_text(_table(job.answer), encoding="utf-8")
        con.execute(
            f"COPY (FROM read_csv({quoted(str(table))}, columns={{{types}}}, header=true, "
            "auto_detect=false, delim=',', quote='\"', escape='\"', nullstr='')) "
            f"TO {quoted(str(file))} (FORMAT parquet, KV_METADATA {{{metadata}}})"
        )
        return file.read_bytes()


def json_bytes(job: GridJob) -> bytes:
    """Return `grid_document` as JSON in UTF-8."""
    text = json.dumps(grid_document(job), ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode() + b"\n"


def grid_document(job: GridJob) -> dict[str, Any]:
    """Return all that is known of a grid as JSON values; what is not finite is null."""
    answer = job.answer
    recipe_text(job.recipe)
    return {
        "schema": SCHEMA,
        "stamp": answer.stamp,
        "recipe": job.recipe,
        "version": __version__,
        "study": answer.request.study,
        "quantity": answer.request.quantity,
        "x": answer.request.sweep.key if answer.request.sweep else None,
        "over": {axis.parameter.key: list(axis.values) for axis in answer.axes},
        "trials": answer.grid.trials,
        "finished": answer.finished,
        "cells": [_cell_document(answer, cell) for cell in answer.cells if cell is not None],
    }


def _cell_document(answer: GridAnswer, cell: Cell) -> dict[str, Any]:
    values = answer.values_at(cell.place)
    return {
        "at": {a.parameter.key: v for a, v in zip(answer.axes, values, strict=True)},
        "values": dict(cell.request.values),
        "seeds": list(cell.seeds),
        "error": cell.error,
        "conditions": [
            {"text": c.text, "holds": c.holds, "margin": c.margin, "of_guarantee": c.of_guarantee}
            for c in cell.conditions
        ],
        "series": [
            {
                "key": s.key,
                "label": s.label,
                "role": s.role.value,
                "grade": s.grade.value,
                "source": str(s.reference),
                "note": s.note,
                "why_absent": s.undefined_reason,
                "x": [float(x) for x in s.x],
                "y": list(map(_finite, s.y)),
                "low": None if s.low is None else list(map(_finite, s.low)),
                "high": None if s.high is None else list(map(_finite, s.high)),
            }
            for s in cell.series
        ],
    }
