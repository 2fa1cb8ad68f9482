"""A user's own space from a CSV file: distances or points, with errors that say what to mend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import MatrixSpace, central_angle
from explorer.studies.base.text_table import (
    DecimalSign,
    Dialect,
    TableFileError,
    TextTable,
    read_table,
)
from explorer.studies.metric_space.parameters import GREAT_CIRCLE

ITEMS_MAX = 1000
"""Most items of a file: the triangle inequality of 1000 takes two seconds."""
_BYTES_MAX = 50_000_000
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ReadSpace:
    """A space from a file.

    Attributes
    ----------
    metric : MatrixSpace
        Distances divided by the largest one; `metric.length` is that one in the file's unit.
    labels : tuple of str
        Names of the items, from the file or their numbers.
    coordinates : ndarray of float, shape (items, 2), or None
        Where to draw them, if the file says so.
    set_aside : int
        Rows that could not be used.
    note : str
        What was set aside and why; empty if nothing was.
    named : bool
        Whether the labels are names from the file.
    """

    metric: MatrixSpace
    labels: tuple[str, ...]
    coordinates: FloatArray | None
    set_aside: int
    note: str
    named: bool = False


@dataclass(frozen=True)
class _Rows:
    """Numbered lines of fields, the header taken off."""

    table: TextTable
    named: bool
    """Whether the first field of every line is a name."""
    header: list[str]
    """Fields of the header; empty without one."""
    header_line: int

    @property
    def numbers(self) -> list[int]:
        return self.table.lines

    @property
    def fields(self) -> list[list[str]]:
        return self.table.rows

    @property
    def dialect(self) -> Dialect:
        return self.table.dialect

    def error(self, line: int, field: int | None, what: str) -> TableFileError:
        return self.table.error(line, field, what)


def read_matrix(path: str, name: str, unit: str, decimal: str = DecimalSign.AUTO) -> ReadSpace:
    """Return the space of a CSV file of distances.

    Parameters
    ----------
    path : str
        Where it is.
    name : str
        What to call it in messages.
    unit : str
        What its distances are measured in; empty for pure numbers.
    decimal : str
        A `DecimalSign`.

    Raises
    ------
    TableFileError
        If a field is no distance, or the distances are not those of a metric: naming the file,
        the line, the field and what to do.
    """
    rows = _rows(path, name, decimal)
    size = len(rows.fields)
    if not rows.named and _numbers_are_names(rows):
        rows = replace(rows, named=True)
    first = 2 if rows.named else 1
    table: list[list[float]] = []
    for line, fields in zip(rows.numbers, rows.fields, strict=True):
        values = fields[first - 1 :]
        if len(values) != size:
            raise rows.error(
                line,
                None,
                f"{len(values)} distances where there are {size} rows of them; give one row and "
                "one column an item, in one order",
            )
        row = [rows.dialect.number(text) for text in values]
        for text, number, column in zip(values, row, range(size), strict=True):
            if number is None or number < 0:
                why = rows.dialect.why_none(text) if number is None else ""
                why = why or f"{text!r} is not a distance; give a number of at least 0"
                raise rows.error(line, column + first, why)
        table.append([float(number) for number in row if number is not None])
    d = np.array(table)
    columns = rows.header[-size:] if len(rows.header) in (size, size + 1) else []
    labels = _labels(rows, columns)
    if rows.named:
        _check_order(rows, columns, labels)
    largest = float(d.max())
    if largest <= 0:
        raise TableFileError(f"{name}: all distances are 0; two items must be apart")
    _check_symmetric(rows, d, labels, first, largest)
    try:
        metric = MatrixSpace.from_distances(d, unit)
    except ValueError:
        raise _broken_triangle(rows, d, labels, first, largest) from None
    return ReadSpace(metric, labels, None, 0, "", rows.named or (bool(columns) and all(columns)))


def read_points(
    path: str, name: str, unit: str, norm: str, half: float, decimal: str = DecimalSign.AUTO
) -> ReadSpace:
    """Return the space of a CSV file of points.

    Lines that hold no point are set aside and counted; more than half of them is an error.

    Parameters
    ----------
    path, name, unit, decimal
        As in `read_matrix`.
    norm : str
        ``1``, ``2``, ``inf`` or ``great-circle``.
    half : float
        Half the Earth's circumference in the unit, for great-circle distance.

    Raises
    ------
    TableFileError
        If there is nothing to use: naming the file, the line, the field and what to do.
    """
    rows = _rows(path, name, decimal)
    first = 1 if rows.named else 0
    count = len(rows.fields[0]) - first
    used = 2 if norm == GREAT_CIRCLE else count
    if count < used:
        raise rows.error(rows.numbers[0], None, "a latitude and a longitude are needed")
    points, labels, bad = [], [], []
    for line, fields in zip(rows.numbers, rows.fields, strict=True):
        why = _why_no_point(fields[first:], count, used, norm, rows.dialect)
        if why:
            bad.append((line, *why))
            continue
        points.append([rows.dialect.number(text) for text in fields[first : first + used]])
        labels.append(fields[0] if first else str(len(points)))
    if bad and (len(bad) > len(points) or len(points) < 2):
        line, field, what = bad[0]
        where = None if field is None else field + first
        raise rows.error(
            line, where, f"{what}; {len(bad)} of {len(rows.fields)} lines are like this"
        )
    z = np.array(points, dtype=float)
    if np.ptp(z, axis=0).max() <= 0:
        raise TableFileError(f"{name}: all points are the same; two of them must be apart")
    drawn: FloatArray | None
    if norm == GREAT_CIRCLE:
        latitude, longitude = z.T
        angle = central_angle(
            latitude[:, None],
            latitude,
            latitude - latitude[:, None],
            longitude - longitude[:, None],
        )
        metric = MatrixSpace.from_distances((angle + angle.T) / 2 * half, unit)
        drawn = z[:, 1::-1]
    else:
        metric = MatrixSpace.from_embedding(z, float(norm), unit)
        drawn = z if z.shape[1] == 2 else np.column_stack([z, 0 * z]) if z.shape[1] == 1 else None
    notes = []
    if used < count:
        others = f"field {first + 3}" if count == 3 else f"fields {first + 3} to {first + count}"
        notes.append(
            f"Great-circle distance takes a latitude and a longitude: {others} of {name} "
            f"{'is' if count == 3 else 'are'} not used"
        )
    if bad:
        line, field, what = bad[0]
        place = f"line {line}" + ("" if field is None else f", field {field + first}")
        notes.append(
            f"{len(bad)} of {len(rows.fields)} lines of {name} hold no point and were set aside; "
            f"the first is {place}: {what}"
        )
    return ReadSpace(metric, tuple(labels), drawn, len(bad), "; ".join(notes), rows.named)


def _why_no_point(
    values: list[str], count: int, used: int, norm: str, dialect: Dialect
) -> tuple[int | None, str] | None:
    """Return the field (from 1) and what is wrong with a line of coordinates, or None."""
    if len(values) != count:
        return None, f"{len(values)} coordinates where the first line has {count}"
    for i, text in enumerate(values[:used]):
        number = dialect.number(text)
        if number is None:
            return i + 1, dialect.why_none(text) or f"{text!r} is not a coordinate; give a number"
        if norm == GREAT_CIRCLE and abs(number) > (90, 360)[i]:
            limit = ("latitude outside ±90°", "longitude outside ±360°")[i]
            return i + 1, f"{text!r} is a {limit}; give latitude first, in degrees"
    return None


def _rows(path: str, name: str, decimal: str) -> _Rows:
    """Return the lines of a file that hold anything, without the header."""
    at = Path(path)
    if at.stat().st_size > _BYTES_MAX:
        raise TableFileError(
            f"{name}: larger than {_BYTES_MAX // 10**6} MB; keep at most {ITEMS_MAX} items"
        )
    table = read_table(at, name, decimal, comments=True)
    lines, dialect = table.rows, table.dialect
    if not any(dialect.number(field) is not None for fields in lines for field in fields):
        strange = _first_strange(table)
        found = strange or f"{name}: {'no numbers' if lines else 'nothing'} to read"
        raise TableFileError(f"{found}; at least 2 items are needed, one a line, in numbers")
    header, header_line = [], 0
    if len(lines) > 1 and is_header(lines, dialect):
        header, header_line = lines[0], table.lines[0]
        table = replace(table, lines=table.lines[1:], rows=lines[1:])
    if len(table.rows) < 2:
        below = f" below the names of line {header_line}" if header else ""
        raise TableFileError(
            f"{name}: one line to read{below}; at least 2 items are needed, one a line, in numbers"
        )
    if len(table.rows) > ITEMS_MAX:
        raise TableFileError(
            f"{name}, line {table.lines[ITEMS_MAX]}: more than {ITEMS_MAX} items; keep a "
            f"representative {ITEMS_MAX}"
        )
    names = sum(not dialect.number_like(fields[0]) for fields in table.rows)
    return _Rows(table, 2 * names > len(table.rows), header, header_line)


def _first_strange(table: TextTable) -> str:
    """Return what is wrong with the first field that looks like a number and can't be one."""
    for line, fields in zip(table.lines, table.rows, strict=True):
        for i, text in enumerate(fields, 1):
            if why := table.dialect.why_none(text):
                return str(table.error(line, i, why))
    return ""


def is_header(lines: list[list[str]], dialect: Dialect) -> bool:
    """Whether the first line is names: no field of it after the first is a number.

    Numbers as names (1, 2, 3 …) are told by an empty corner.
    """
    head = lines[0]
    tail = head[1:] if len(head) > 1 else head
    if not any(dialect.number_like(field) for field in tail):
        return True
    return head[0] == "" and len(head) == len(lines[1]) and dialect.number_like(lines[1][0])


def _numbers_are_names(rows: _Rows) -> bool:
    """Whether the first of size + 1 numbers a line is a name: a header or a diagonal of 0 says so.

    Without either it is a table that is not square.
    """
    size = len(rows.fields)
    if any(len(fields) != size + 1 for fields in rows.fields):
        return False
    diagonal = [rows.dialect.number(fields[i + 1]) for i, fields in enumerate(rows.fields)]
    return len(rows.header) == size + 1 or all(number == 0 for number in diagonal)


def _labels(rows: _Rows, columns: list[str]) -> tuple[str, ...]:
    if rows.named:
        return tuple(fields[0] for fields in rows.fields)
    if columns and all(columns):
        return tuple(columns)
    return tuple(str(i + 1) for i in range(len(rows.fields)))


def _check_order(rows: _Rows, columns: list[str], labels: tuple[str, ...]) -> None:
    """Refuse columns in another order than rows, which would be taken for other distances."""
    for i, (column, label) in enumerate(zip(columns, labels, strict=False)):
        if column != label and column in labels:
            raise rows.error(
                rows.header_line,
                len(rows.header) - len(columns) + i + 1,
                f"this column is named {column!r} and row {i + 1} is named {label!r}; put columns "
                "and rows in one order",
            )


def _check_symmetric(
    rows: _Rows, d: FloatArray, labels: tuple[str, ...], first: int, largest: float
) -> None:
    diagonal = np.flatnonzero(np.diag(d) != 0)
    if diagonal.size:
        i = int(diagonal[0])
        raise rows.error(
            rows.numbers[i],
            i + first,
            f"the distance of {labels[i]} to itself is {d[i, i]:g}; it must be 0",
        )
    gap = np.abs(d - d.T)
    if gap.max() > _TOLERANCE * largest:
        i, j = divmod(int(gap.argmax()), len(gap))
        raise rows.error(
            rows.numbers[i],
            j + first,
            f"the distance from {labels[i]} to {labels[j]} is {d[i, j]:g} and back {d[j, i]:g} "
            f"(line {rows.numbers[j]}, field {i + first}); make both the same",
        )


def _broken_triangle(
    rows: _Rows, d: FloatArray, labels: tuple[str, ...], first: int, largest: float
) -> TableFileError:
    """Return the error of the worst of the triples that break the triangle inequality."""
    worst, at = -np.inf, (0, 0, 0)
    for middle in range(len(d)):
        excess = d - (d[:, middle, None] + d[middle])
        top = float(excess.max())
        if top > worst:
            i, j = divmod(int(excess.argmax()), len(excess))
            worst, at = top, (i, j, middle)
    i, j, middle = at
    through = d[i, middle] + d[middle, j]
    return rows.error(
        rows.numbers[i],
        j + first,
        f"the distance from {labels[i]} to {labels[j]}, {d[i, j]:.6g}, is more than the way "
        f"through {labels[middle]}, {d[i, middle]:.6g} + {d[middle, j]:.6g} = {through:.6g}: not a "
        "metric; correct it, or give the lengths of shortest ways",
    )
