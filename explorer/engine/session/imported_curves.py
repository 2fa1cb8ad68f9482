"""Curves imported from CSV files and drawn as references.

Their role is always "baseline", whatever the file states: their guarantees cannot be checked, so
they are never claimed and never count as the tightest bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.engine.session import schema
from explorer.engine.session.schema import plain, read, read_list
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.csv_table import (
    MAX_BYTES,
    CsvTable,
    RejectedRow,
    TableFileError,
    read_records,
    why_no_number,
)
from explorer.studies.base.result import IMPORTED_PREFIX, Mark, Result, Series
from explorer.studies.base.study import Request, quantity
from explorer.studies.registry import get_study

MAX_CURVES = 12
"""Of one plot: more could not be told apart."""
MAX_POINTS = 10_000
"""Of one plot: they all stand in the recipe of every export."""
MAX_READ = 200
LONG_FORMAT_COLUMNS = ("x", "y", "name", "role")
"""Columns of a file with a row a point; any other has x and then a column a curve."""
_LETTERS = 80
_ROLES = {role.value: role.value for role in Role} | {
    "upper": Role.UPPER.value,
    "lower": Role.LOWER.value,
}
_NUMBER = "write a number such as 0.25, or leave the row out"

Plot = tuple[str, str, str]
"""Study, quantity, and the parameter on the x axis (empty for none)."""


@dataclass(frozen=True, slots=True)
class ImportedCurve:
    """A curve from a file, in one plot.

    Attributes
    ----------
    plot : Plot
    file : str
        Its name, never its path.
    name : str
        Unique in its file.
    x, y : tuple of float
        Finite, in the units of the plot; x grows.
    called : str
        Role stated by its file (the value of a `Role`); empty if none.
    """

    plot: Plot
    file: str
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    called: str = ""

    @property
    def key(self) -> str:
        """Key of its series."""
        return f"{IMPORTED_PREFIX}{self.label}"

    @property
    def label(self) -> str:
        """Name of the curve and of its file."""
        return self.file if self.name == Path(self.file).stem else f"{self.name} ({self.file})"

    @property
    def series(self) -> Series:
        """The series that is drawn and exported."""
        stated = f", which calls it {self.called}" if self.called else ""
        return Series(
            self.key,
            self.label,
            Role.BASELINE,
            np.array(self.x),
            np.array(self.y),
            Reference("own curve", f"“{self.name}” in {self.file}"),
            note=f"From the file {self.file}{stated}: not computed here, and not checked.",
            mark=Mark.LINE if len(self.x) > 1 else Mark.DOTS,
        )


@dataclass(frozen=True, slots=True)
class CurveFile:
    """Curves read from a file.

    Attributes
    ----------
    curves : tuple of ImportedCurve
    rejected : tuple of str
        A sentence for each row that is not drawn: file, line, field, and remedy.
    """

    curves: tuple[ImportedCurve, ...]
    rejected: tuple[str, ...]


def plot_of(request: Request) -> Plot:
    """Return the key of a request's plot."""
    return (request.study, request.quantity, request.sweep.key if request.sweep else "")


def with_imported_curves(result: Result, own: Sequence[ImportedCurve]) -> Result:
    """Return a result with the imported curves of its plot appended."""
    plot = plot_of(result.request)
    more = tuple(curve.series for curve in own if curve.plot == plot)
    return replace(result, series=result.series + more) if more else result


def merge_imported(
    own: Sequence[ImportedCurve], more: Sequence[ImportedCurve]
) -> tuple[ImportedCurve, ...]:
    """Merge curves of a file, replacing earlier ones of the same file in the same plot.

    Raises
    ------
    ValueError
        If the plot then has too many curves or points.
    """
    again = {(c.plot, c.file) for c in more}
    others = [c for c in own if (c.plot, c.file) not in again]
    for plot in {c.plot for c in more}:
        mine = [c for c in (*others, *more) if c.plot == plot]
        points = sum(len(c.x) for c in mine)
        if len(mine) > MAX_CURVES or points > MAX_POINTS:
            raise TableFileError(
                f"{more[0].file}: the plot would have {len(mine)} own curves with {points:,} "
                f"points, and can have {MAX_CURVES} with {MAX_POINTS:,}; leave some out, or remove "
                "others first"
            )
    return (*others, *more)


def read_curves(_host: object, subject: tuple[Path, Plot], _check: object) -> CurveFile:
    """Read the curves of a CSV file. Picklable, so that it can run in another process.

    Its columns are x, y and perhaps name and role, a row a point; or else x and then one column a
    curve, whose names are in the first line and whose cells may be empty.

    Raises
    ------
    TableFileError
        If no curve can be read: naming file, line, field and remedy.
    OSError
        If the file can't be read.
    """
    path, plot = subject
    name = path.name.encode(errors="replace").decode()[:_LETTERS]
    if path.stat().st_size > MAX_BYTES:
        raise TableFileError(f"{name}: larger than {MAX_BYTES // 10**6} MB; keep x and the curves")
    table = read_records(path, name)
    columns = [column.strip().lower() for column in table.names]
    long = {"x", "y"} <= set(columns) <= set(LONG_FORMAT_COLUMNS) and len(set(columns)) == len(
        columns
    )
    points, rejected = _of_long(table, columns) if long else _of_wide(table)
    short = [replace(row, why=f"{row.why}; give every row as many") for row in table.rejected]
    rows = sorted((*short, *rejected), key=lambda row: row.line)
    refused = tuple(f"{name}, {row}" for row in rows)
    if not points:
        raise TableFileError(
            f"{refused[0]}; no curve can be read: give columns x, y, name, role, or x and then one "
            "column a curve"
        )
    return CurveFile(
        tuple(
            ImportedCurve(plot, name, curve, *_sort_points(of), called)
            for (curve, called), of in points.items()
        ),
        refused,
    )


_Points = dict[tuple[str, str], list[tuple[float, float]]]
"""By name and role of the curve."""


def _of_long(table: CsvTable, columns: list[str]) -> tuple[_Points, list[RejectedRow]]:
    points: _Points = {}
    called: dict[str, str] = {}
    rejected = []
    for line, fields in zip(table.lines, table.rows, strict=True):
        row = dict(zip(columns, fields, strict=True))
        numbers = {key: table.dialect.number(row[key]) for key in ("x", "y")}
        name = _shorten(row.get("name", "")) or Path(table.name).stem
        role = " ".join(row.get("role", "").lower().split())
        bad = next((key for key, number in numbers.items() if number is None), None)
        if bad is not None:
            why = f"{why_no_number(table, row[bad])}; {_NUMBER}"
            rejected.append(RejectedRow(line, bad, why))
        elif role and role not in _ROLES:
            why = f"{role[:40]!r} is no role; write {', '.join(r.value for r in Role)}, or nothing"
            rejected.append(RejectedRow(line, "role", why))
        elif _ROLES.get(role, "") != called.setdefault(name, _ROLES.get(role, "")):
            why = f"“{name}” has another role above; give each curve one"
            rejected.append(RejectedRow(line, "role", why))
        else:
            x, y = numbers["x"], numbers["y"]
            assert x is not None
            assert y is not None
            points.setdefault((name, called[name]), []).append((x, y))
    return points, rejected


def _of_wide(table: CsvTable) -> tuple[_Points, list[RejectedRow]]:
    names = _unique([_shorten(name) for name in table.names[1:]])
    if not table.header_line and len(names) == 1:
        names = [Path(table.name).stem]
    points: _Points = {}
    rejected = []
    for line, (first, *others) in zip(table.lines, table.rows, strict=True):
        values = [(text, table.dialect.number(text)) for text in (first, *others)]
        bad = next((i for i, (t, v) in enumerate(values) if v is None and (t or not i)), None)
        x = values[0][1]
        if bad is not None:
            why = f"{why_no_number(table, values[bad][0])}; {_NUMBER}"
            rejected.append(RejectedRow(line, table.names[bad], why))
        elif not any(others):
            rejected.append(RejectedRow(line, "", f"x alone, no curve has a value; {_NUMBER}"))
        elif x is not None:
            for name, (_, y) in zip(names, values[1:], strict=True):
                if y is not None:
                    points.setdefault((name, ""), []).append((x, y))
    return points, rejected


def _shorten(name: str) -> str:
    return " ".join(name.split())[:_LETTERS]


def _unique(names: list[str]) -> list[str]:
    """Return unique names: repeated ones get a number."""
    unique: list[str] = []
    for name in names:
        number = names[: len(unique)].count(name) + 1
        unique.append(name if number == 1 else f"{name} ({number})")
    return unique


def _sort_points(points: list[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    ordered = sorted(points, key=lambda point: point[0])
    return tuple(x for x, _ in ordered), tuple(y for _, y in ordered)


def imported_to_list(own: Sequence[ImportedCurve]) -> list[dict[str, Any]]:
    """Return curves as JSON values."""
    return [
        plain(schema.ImportedCurve(*c.plot, c.file, c.name, list(c.x), list(c.y), c.called))
        for c in own
    ]


def imported_from_list(raw: Sequence[Any], left_out: list[str]) -> tuple[ImportedCurve, ...]:
    """Read curves from JSON values; `left_out` gets a sentence for each unreadable one."""
    curves: dict[tuple[Plot, str], ImportedCurve] = {}
    for curve in read_list(raw, imported_curve, "own", left_out, MAX_READ):
        curves[curve.plot, curve.key] = curve
    return tuple(curves.values())


def imported_curve(raw: Any, where: str) -> ImportedCurve:
    """Read a curve from JSON values; `where` is its path within the file.

    Raises
    ------
    ValueError
        Naming the field that can't be read.
    """
    stored = read(raw, schema.ImportedCurve, where)
    try:
        shown = quantity(get_study(stored.study), stored.quantity)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if stored.over and stored.over not in shown.sweeps:
        raise ValueError(f"{where}.over: {shown.key!r} can't be swept over {stored.over!r}")
    if len(stored.x) != len(stored.y):
        raise ValueError(f"{where}: {len(stored.x)} x and {len(stored.y)} y; there must be as many")
    if stored.called not in ("", *(role.value for role in Role)):
        raise ValueError(f"{where}.called: there is no role {stored.called!r}")
    x, y = _sort_points(list(zip(stored.x, stored.y, strict=True)))
    plot = (stored.study, stored.quantity, stored.over)
    return ImportedCurve(plot, stored.file, stored.name, x, y, stored.called)
