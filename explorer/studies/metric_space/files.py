"""Readers of metric spaces from users' CSV files: distances or points."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import MatrixSpace, central_angle
from explorer.studies.base.csv_table import CsvTable, DecimalSign, Dialect, TableFileError, read_csv
from explorer.studies.base.parameters import table_rows
from explorer.studies.metric_space.parameters import GREAT_CIRCLE

MAX_ITEMS = 1000
"""Most items of a file: the triangle inequality of 1000 takes two seconds."""
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
        What was rejected and why; empty if nothing was.
    named : bool
        Whether the labels are names from the file.
    """

    metric: MatrixSpace
    labels: tuple[str, ...]
    coordinates: FloatArray | None
    set_aside: int
    note: str
    named: bool = False


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
    table, named = _read(path, name, decimal)
    return _matrix(table, named or _numbers_are_names(table), unit)


def typed_matrix(text: str, unit: str) -> ReadSpace:
    """Return the space of typed distances; its items are numbered.

    Parameters
    ----------
    text : str
        Of a parameter of kind `Kind.TABLE`.
    unit : str
        As in `read_matrix`.

    Raises
    ------
    ValueError
        As `read_matrix`; a line is a row of the table.
    """
    rows = [[repr(number) for number in row] for row in table_rows(text, "typed distances")]
    table = CsvTable("typed distances", Dialect(), list(range(1, len(rows) + 1)), rows)
    if len(rows) < 2:
        raise TableFileError("typed distances: at least 2 items are needed, a row for each")
    return _matrix(table, False, unit)


def _matrix(table: CsvTable, named: bool, unit: str) -> ReadSpace:
    """Return the space of a table of distances, with a first column of names or without."""
    name, size = table.name, len(table.rows)
    first = 1 if named else 0
    d = table.numbers(
        first,
        size,
        f"distances where there are {size} rows of them; give one row and one column an item, in "
        "one order",
        "is not a distance; give a number of at least 0",
        low=0,
    )
    columns = table.names[-size:] if len(table.names) in (size, size + 1) else ()
    labels = _labels(table, named, columns)
    if named:
        _check_order(table, columns, labels)
    largest = float(d.max())
    if largest <= 0:
        raise TableFileError(f"{name}: all distances are 0; two items must be apart")
    _check_symmetric(table, d, labels, first + 1, largest)
    try:
        metric = MatrixSpace.from_distances(d, unit)
    except ValueError:
        raise _broken_triangle(table, d, labels, first + 1, largest) from None
    return ReadSpace(metric, labels, None, 0, "", named or (bool(columns) and all(columns)))


def read_points(
    path: str, name: str, unit: str, norm: str, half: float, decimal: str = DecimalSign.AUTO
) -> ReadSpace:
    """Return the space of a CSV file of points.

    Lines that hold no point are rejected and counted; more than half of them is an error.

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
    table, named = _read(path, name, decimal)
    first = 1 if named else 0
    count = len(table.rows[0]) - first
    used = 2 if norm == GREAT_CIRCLE else count
    if count < used:
        raise table.error(table.lines[0], None, "a latitude and a longitude are needed")
    points, labels, bad = [], [], []
    for line, fields in zip(table.lines, table.rows, strict=True):
        why = _why_no_point(fields[first:], count, used, norm, table.dialect)
        if why:
            bad.append((line, *why))
            continue
        points.append([table.dialect.number(text) for text in fields[first : first + used]])
        labels.append(fields[0] if first else str(len(points)))
    if bad and (len(bad) > len(points) or len(points) < 2):
        line, field, what = bad[0]
        where = None if field is None else field + first
        raise table.error(
            line, where, f"{what}; {len(bad)} of {len(table.rows)} lines are like this"
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
            f"{len(bad)} of {len(table.rows)} lines of {name} hold no point and were rejected; "
            f"the first is {place}: {what}"
        )
    return ReadSpace(metric, tuple(labels), drawn, len(bad), "; ".join(notes), named)


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


def _read(path: str, name: str, decimal: str) -> tuple[CsvTable, bool]:
    """Return the non-empty lines of a file, and whether they begin with names."""
    table = read_csv(Path(path), name, decimal, comments=True, keep=f"at most {MAX_ITEMS} items")
    lines, dialect = table.rows, table.dialect
    if not any(dialect.number(field) is not None for fields in lines for field in fields):
        strange = _first_strange(table)
        result = strange or f"{name}: {'no numbers' if lines else 'nothing'} to read"
        raise TableFileError(f"{result}; at least 2 items are needed, one a line, in numbers")
    below = ""
    if len(lines) > 1 and is_header(lines, dialect):
        below = f" below the names of line {table.lines[0]}"
        table = table.without_header()
    if len(table.rows) < 2:
        raise TableFileError(
            f"{name}: one line to read{below}; at least 2 items are needed, one a line, in numbers"
        )
    if len(table.rows) > MAX_ITEMS:
        raise TableFileError(
            f"{name}, line {table.lines[MAX_ITEMS]}: more than {MAX_ITEMS} items; keep a "
            f"representative {MAX_ITEMS}"
        )
    names = sum(not dialect.number_like(fields[0]) for fields in table.rows)
    return table, 2 * names > len(table.rows)


def _first_strange(table: CsvTable) -> str:
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


def _numbers_are_names(table: CsvTable) -> bool:
    """Whether the first of size + 1 numbers a line is a name: a header or a diagonal of 0 says so.

    Without either it is a table that is not square.
    """
    size = len(table.rows)
    if any(len(fields) != size + 1 for fields in table.rows):
        return False
    diagonal = [table.dialect.number(fields[i + 1]) for i, fields in enumerate(table.rows)]
    return len(table.names) == size + 1 or all(number == 0 for number in diagonal)


def _labels(table: CsvTable, named: bool, columns: tuple[str, ...]) -> tuple[str, ...]:
    if named:
        return tuple(fields[0] for fields in table.rows)
    if columns and all(columns):
        return columns
    return tuple(str(i + 1) for i in range(len(table.rows)))


def _check_order(table: CsvTable, columns: tuple[str, ...], labels: tuple[str, ...]) -> None:
    """Refuse columns in another order than rows, which would be taken for other distances."""
    for i, (column, label) in enumerate(zip(columns, labels, strict=False)):
        if column != label and column in labels:
            raise table.error(
                table.header_line,
                len(table.names) - len(columns) + i + 1,
                f"this column is named {column!r} and row {i + 1} is named {label!r}; put columns "
                "and rows in one order",
            )


def _check_symmetric(
    table: CsvTable, d: FloatArray, labels: tuple[str, ...], first: int, largest: float
) -> None:
    diagonal = np.flatnonzero(np.diag(d) != 0)
    if diagonal.size:
        i = int(diagonal[0])
        raise table.error(
            table.lines[i],
            i + first,
            f"the distance of {labels[i]} to itself is {d[i, i]:g}; it must be 0",
        )
    gap = np.abs(d - d.T)
    if gap.max() > _TOLERANCE * largest:
        i, j = divmod(int(gap.argmax()), len(gap))
        raise table.error(
            table.lines[i],
            j + first,
            f"the distance from {labels[i]} to {labels[j]} is {d[i, j]:g} and back {d[j, i]:g} "
            f"(line {table.lines[j]}, field {i + first}); make both the same",
        )


def _broken_triangle(
    table: CsvTable, d: FloatArray, labels: tuple[str, ...], first: int, largest: float
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
    return table.error(
        table.lines[i],
        j + first,
        f"the distance from {labels[i]} to {labels[j]}, {d[i, j]:.6g}, is more than the way "
        f"through {labels[middle]}, {d[i, middle]:.6g} + {d[middle, j]:.6g} = {through:.6g}: not a "
        "metric; correct it, or give the lengths of shortest ways",
    )
