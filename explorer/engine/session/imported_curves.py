"""Curves imported from CSV files and drawn as references.

Their role is always "baseline", whatever the file states: their guarantees cannot be checked, so
they are never claimed and never count as the tightest bound.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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
"""Columns of a file with a row a point, beside those of intervals; any other has x and then a
column a curve."""
LOW, HIGH, HALF = "low", "high", "±"
_ENDS = {LOW: LOW, HIGH: HIGH, HALF: HALF, "+-": HALF, "+/-": HALF}
_INTERVAL = re.compile(
    r"(?:(?P<curve>.*?)(?:[ _:](?=low|high)|\s*(?=[±+])))??"
    r"(?P<end>low|high|±|\+/?-)\s*(?:\((?P<meaning>.*)\))?",
    re.IGNORECASE,
)
"""Heading of a column of intervals: ``Mine low``, ``Mine_high (95 %)``, ``± (s.d.)``."""
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
    low, high : tuple of float
        Ends of the interval of each point, NaN where it has none; empty if no point has one.
    meaning : str
        What its file says that the intervals are; empty if nothing.
    """

    plot: Plot
    file: str
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    called: str = ""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    meaning: str = ""

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
        note = f"From the file {self.file}{stated}: not computed here, and not checked."
        if self.low:
            stated = f"Its intervals are, by the file: {self.meaning}." if self.meaning else ""
            note += f" {stated or 'The file does not say what its intervals are.'}"
        return Series(
            self.key,
            self.label,
            Role.BASELINE,
            np.array(self.x),
            np.array(self.y),
            Reference("own curve", f"“{self.name}” in {self.file}"),
            np.array(self.low) if self.low else None,
            np.array(self.high) if self.high else None,
            note=note,
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
    curve, whose names are in the first line and whose cells may be empty. Intervals are in columns
    low and high or in a column ±, of half their width; with several curves after the curve's name:
    ``Mine low``, ``Mine ±``. What they are may follow in parentheses: ``± (standard deviation)``.

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
    columns = [_column(heading) for heading in table.names]
    long = {"x", "y"} <= set(columns) <= {*LONG_FORMAT_COLUMNS, LOW, HIGH, HALF} and len(
        set(columns)
    ) == len(columns)
    points, meanings, rejected = _of_long(table, columns) if long else _of_wide(table)
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
            _curve(plot, name, curve, of, called, meanings.get(curve, ""))
            for (curve, called), of in points.items()
        ),
        refused,
    )


_Point = tuple[float, float, float, float]
"""x, y, and the ends of its interval, NaN if it has none."""
_Points = dict[tuple[str, str], list[_Point]]
"""By name and role of the curve."""
_Read = tuple[_Points, dict[str, str], list[RejectedRow]]
"""Points, meaning of the intervals by curve, and rows that are not drawn."""


class _RefusedField(Exception):  # noqa: N818
    """A field that can't be used: its column, and why."""


def _interval_heading(heading: str) -> tuple[str, str, str] | None:
    """Return curve, end and meaning of a column of intervals; None if it is another column."""
    found = _INTERVAL.fullmatch(heading.strip()) if len(heading) <= 2 * _LETTERS else None
    if found is None:
        return None
    end = _ENDS[found["end"].lower()]
    return (_shorten(found["curve"] or ""), end, _shorten(found["meaning"] or ""))


def _column(heading: str) -> str:
    """Return the name of a column of a file with a row a point."""
    found = _interval_heading(heading)
    return found[1] if found and not found[0] else heading.strip().lower()


def _number(table: CsvTable, column: str, text: str) -> float:
    number = table.dialect.number(text)
    if number is None:
        raise _RefusedField(column, f"{why_no_number(table, text)}; {_NUMBER}")
    return number


def _ends(table: CsvTable, y: float, cells: Mapping[str, tuple[str, str]]) -> tuple[float, float]:
    """Return the ends of a point's interval from headings and fields by end; NaN if all are empty.

    Raises
    ------
    _RefusedField
    """
    given = {end: _number(table, *cell) for end, cell in cells.items() if cell[1]}
    if not given:
        return math.nan, math.nan
    if HALF in given:
        half = given[HALF]
        if half < 0:
            raise _RefusedField(cells[HALF][0], f"{half:g} is below 0; write half the width")
        return y - half, y + half
    for end in (LOW, HIGH):
        if end not in given:
            column = cells[end][0]
            raise _RefusedField(column, "one end without the other; write both, or leave out both")
    for end, wrong in ((LOW, given[LOW] > y), (HIGH, given[HIGH] < y)):
        if wrong:
            side = "above" if end == LOW else "below"
            why = f"{given[end]:g} is {side} y = {y:g}; write ends with low ≤ y ≤ high"
            raise _RefusedField(cells[end][0], why)
    return given[LOW], given[HIGH]


def _check_ends(table: CsvTable, curve: str, ends: Mapping[str, int]) -> None:
    """Refuse columns of intervals that are no low and high, and no half width alone."""
    if set(ends) not in ({LOW, HIGH}, {HALF}):
        column = table.names[next(iter(ends.values()))]
        raise TableFileError(
            f"{table.name}, {column!r}: the intervals of {curve} need a column low and one high, "
            "or one ± alone; add one, or rename this one"
        )


def _of_long(table: CsvTable, columns: list[str]) -> _Read:
    points: _Points = {}
    called: dict[str, str] = {}
    meanings: dict[str, str] = {}
    rejected = []
    ends = {column: place for place, column in enumerate(columns) if column in (LOW, HIGH, HALF)}
    if ends:
        _check_ends(table, "y", ends)
    meaning = _meaning(table, ends)
    for line, fields in zip(table.lines, table.rows, strict=True):
        row = dict(zip(columns, fields, strict=True))
        name = _shorten(row.get("name", "")) or Path(table.name).stem
        role = " ".join(row.get("role", "").lower().split())
        try:
            x, y = (_number(table, key, row[key]) for key in ("x", "y"))
            if role and role not in _ROLES:
                known = ", ".join(r.value for r in Role)
                raise _RefusedField("role", f"{role[:40]!r} is no role; write {known}, or nothing")
            if _ROLES.get(role, "") != called.setdefault(name, _ROLES.get(role, "")):
                raise _RefusedField("role", f"“{name}” has another role above; give each curve one")
            interval = _ends(table, y, {end: (end, row[end]) for end in ends})
        except _RefusedField as error:
            rejected.append(RejectedRow(line, *error.args))
        else:
            points.setdefault((name, called[name]), []).append((x, y, *interval))
            meanings[name] = meaning
    return points, meanings, rejected


def _of_wide(table: CsvTable) -> _Read:
    names = [_shorten(name) for name in table.names]
    found = {place: _interval_heading(name) for place, name in enumerate(table.names) if place}
    plain = [place for place, interval in found.items() if interval is None]
    ends: dict[int, dict[str, int]] = {}
    for place, interval in found.items():
        if interval is None:
            continue
        curve, end, _ = interval
        # Without a name it is of the only other curve; of none that is there it is a curve itself.
        owners = [at for at in plain if names[at] == curve or (not curve and len(plain) == 1)]
        if len(owners) == 1:
            ends.setdefault(owners[0], {})[end] = place
    taken = {place for of in ends.values() for place in of.values()}
    curves = [place for place in found if place not in taken]
    unique = dict(zip(curves, _unique([names[place] for place in curves]), strict=True))
    if not table.header_line and len(curves) == 1:
        unique[curves[0]] = Path(table.name).stem
    for place, of in ends.items():
        _check_ends(table, f"“{unique[place]}”", of)
    points: _Points = {}
    rejected = []
    for line, fields in zip(table.lines, table.rows, strict=True):
        try:
            x = _number(table, table.names[0], fields[0])
            row = []
            for place, curve in unique.items():
                columns = ends.get(place, {}).items()
                cells = {end: (table.names[at], fields[at]) for end, at in columns}
                if fields[place] or any(text for _, text in cells.values()):
                    y = _number(table, table.names[place], fields[place])
                    row.append((curve, (x, y, *_ends(table, y, cells))))
            if not row:
                raise _RefusedField("", f"x alone, no curve has a value; {_NUMBER}")
        except _RefusedField as error:
            rejected.append(RejectedRow(line, *error.args))
        else:
            for curve, point in row:
                points.setdefault((curve, ""), []).append(point)
    return points, {unique[at]: _meaning(table, of) for at, of in ends.items()}, rejected


def _meaning(table: CsvTable, ends: Mapping[str, int]) -> str:
    """Return what the headings of a curve's intervals say that they are."""
    said = [found[2] for at in ends.values() if (found := _interval_heading(table.names[at]))]
    return ", ".join(dict.fromkeys(filter(None, said)))


def _shorten(name: str) -> str:
    return " ".join(name.split())[:_LETTERS]


def _unique(names: list[str]) -> list[str]:
    """Return unique names: repeated ones get a number."""
    unique: list[str] = []
    for name in names:
        number = names[: len(unique)].count(name) + 1
        unique.append(name if number == 1 else f"{name} ({number})")
    return unique


def _curve(
    plot: Plot, file: str, name: str, points: Sequence[_Point], called: str, meaning: str
) -> ImportedCurve:
    """Return the curve through points in any order."""
    x, y, low, high = zip(*sorted(points, key=lambda point: point[0]), strict=True)
    if all(map(math.isnan, low)):
        return ImportedCurve(plot, file, name, x, y, called)
    return ImportedCurve(plot, file, name, x, y, called, low, high, meaning)


def imported_to_list(own: Sequence[ImportedCurve]) -> list[dict[str, Any]]:
    """Return curves as JSON values."""
    return [
        plain(
            schema.ImportedCurve(
                *c.plot,
                c.file,
                c.name,
                list(c.x),
                list(c.y),
                c.called,
                _plain_ends(c.low),
                _plain_ends(c.high),
                c.meaning,
            )
        )
        for c in own
    ]


def _plain_ends(ends: tuple[float, ...]) -> list[float | None]:
    return [None if math.isnan(end) else end for end in ends]


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
    low, high = (
        [math.nan if end is None else end for end in ends] or [math.nan] * len(stored.x)
        for ends in (stored.low, stored.high)
    )
    for key, ends in (("low", low), ("high", high)):
        if len(ends) != len(stored.x):
            raise ValueError(
                f"{where}.{key}: {len(ends)} ends of {len(stored.x)} points; there must be as many"
            )
    points = list(zip(stored.x, stored.y, low, high, strict=True))
    if not all(a <= y <= b for _, y, a, b in points if not math.isnan(a + b)):
        raise ValueError(f"{where}.low: an end lies on the wrong side of y")
    plot = (stored.study, stored.quantity, stored.over)
    return _curve(plot, stored.file, stored.name, points, stored.called, stored.meaning)
