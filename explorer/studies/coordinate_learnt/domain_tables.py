"""Reads a user's own small domain, prior and channel, from typed tables or two files.

The prior has a row ``x1 … xd prior`` for every record, the channel a row ``x1 … xd P(y1|x) …``.
Values in a file may be words; typed ones are numbers. Both tables need all records of the product:
CDP and Proposition 4 also concern records of probability 0.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.csv_table import CsvTable, TableFileError, read_csv
from explorer.studies.base.numbers import nearest
from explorer.studies.base.parameters import table_rows

MAX_COORDINATES, MAX_VALUES, MAX_OUTPUTS = 4, 6, 64
_SLACK = 1e-9
_Error = Callable[[int, str], ValueError]


@dataclass(frozen=True)
class DomainTables:
    """Prior and channel of a user's own domain.

    Attributes
    ----------
    values : tuple of tuple of str
        Values of each coordinate, in the order of the prior.
    outputs : tuple of str
    prior : ndarray of shape (points,)
        The last coordinate fastest.
    channel : ndarray of shape (points, outputs)
    records : int
        Number of records that the prior was counted from; 0 if it was given as probabilities.
    """

    values: tuple[tuple[str, ...], ...]
    outputs: tuple[str, ...]
    prior: FloatArray
    channel: FloatArray
    records: int


@dataclass(frozen=True)
class _Rows:
    """Rows of one table: its name, and the lines, records and numbers of the rows."""

    name: str
    lines: list[int]
    points: list[tuple[str, ...]]
    numbers: list[list[float]]
    error: _Error


def parse_tables(prior: str, channel: str, counts: bool) -> DomainTables:
    """Return the domain of two typed tables; ValueError names table and row."""
    first, second = table_rows(prior, "prior"), table_rows(channel, "channel")
    if not first or not second:
        raise ValueError("prior and channel: type a row for every record in both tables")
    d = len(first[0]) - 1

    def rows(name: str, table: tuple[tuple[float, ...], ...]) -> _Rows:
        points = [
            tuple(str(int(value)) if value == int(value) else str(value) for value in row[:d])
            for row in table
        ]
        return _Rows(
            name,
            list(range(1, len(table) + 1)),
            points,
            [list(row[d:]) for row in table],
            lambda line, what: ValueError(f"{name}, row {line}: {what}"),
        )

    outputs = tuple(f"y{j}" for j in range(1, len(second[0]) - d + 1))
    return _build(d, rows("prior", first), rows("channel", second), outputs, counts)


def from_files(
    prior: tuple[Path, str], channel: tuple[Path, str], decimal: str, counts: bool
) -> DomainTables:
    """Return the domain of two files (path and name each); the message names file and line."""
    first, second = (_with_headings(path, name, decimal) for path, name in (prior, channel))
    d = len(first.names) - 1
    if first.names[:d] != second.names[:d]:
        raise TableFileError(
            f"{second.name}, line {second.header_line}: its first columns are "
            f"{', '.join(second.names[:d])}, those of {first.name} {', '.join(first.names[:d])}; "
            "give the same coordinates in the same order"
        )
    return _build(d, _rows(first, d), _rows(second, d), second.names[d:], counts)


def _with_headings(path: Path, name: str, decimal: str) -> CsvTable:
    table = read_csv(path, name, decimal, comments=True, max_rows=MAX_VALUES**MAX_COORDINATES + 2)
    if len(table.rows) < 2:
        raise TableFileError(
            f"{name}: give names in the first line, as in x1,x2,prior, and a line for every record"
        )
    return table.without_header()


def _rows(table: CsvTable, d: int) -> _Rows:
    points, numbers = [], []
    for line, row in zip(table.lines, table.rows, strict=True):
        if len(row) != len(table.names):
            raise table.error(line, None, f"{len(row)} fields, {len(table.names)} expected")
        values = [table.dialect.number(field) for field in row[d:]]
        if None in values:
            place = d + values.index(None)
            why = table.dialect.why_none(row[place]) or f"{row[place][:40]!r} is not a number"
            raise table.error(line, place + 1, why)
        points.append(tuple(row[:d]))
        numbers.append([float(number or 0.0) for number in values])
    return _Rows(
        table.name, table.lines, points, numbers, lambda line, what: table.error(line, None, what)
    )


def _build(
    d: int, prior: _Rows, channel: _Rows, outputs: tuple[str, ...], counts: bool
) -> DomainTables:
    """Check all rows of two tables and return their domain."""
    if not 1 <= d <= MAX_COORDINATES:
        raise prior.error(
            prior.lines[0],
            f"{d} coordinates; give 1 to {MAX_COORDINATES} and, last, how likely the record is",
        )
    if not 1 <= len(outputs) <= MAX_OUTPUTS:
        raise channel.error(
            channel.lines[0],
            f"{len(outputs)} outputs after {d} coordinates; give 1 to {MAX_OUTPUTS}",
        )
    values = tuple(tuple(dict.fromkeys(point[i] for point in prior.points)) for i in range(d))
    for i, column in enumerate(values, 1):
        if len(column) > MAX_VALUES:
            raise prior.error(
                prior.lines[-1], f"coordinate {i} has {len(column)} values, at most {MAX_VALUES}"
            )
    sizes = tuple(len(column) for column in values)
    place = [{value: j for j, value in enumerate(column)} for column in values]
    law = _place_rows(prior, place, sizes, 1)[:, 0]
    table = _place_rows(channel, place, sizes, len(outputs))
    if counts and (law != np.floor(law)).any():
        raise prior.error(prior.lines[0], "numbers of records must be whole")
    total = float(law.sum())
    if counts and total < 1.0:
        raise prior.error(prior.lines[0], "there are no records at all")
    if not counts and abs(total - 1.0) > _SLACK:
        raise prior.error(
            prior.lines[-1], f"the sum of the prior is off 1 by {nearest(total - 1.0)}"
        )
    sums = table.sum(axis=1)
    for line, point in zip(channel.lines, channel.points, strict=True):
        total_probability = float(sums[_index(point, place, sizes)])
        if abs(total_probability - 1.0) > _SLACK:
            raise channel.error(
                line, f"the sum of its probabilities is off 1 by {nearest(total_probability - 1.0)}"
            )
    return DomainTables(
        values, outputs, law / total, table / sums[:, None], int(total) if counts else 0
    )


def _index(point: tuple[str, ...], place: list[dict[str, int]], sizes: tuple[int, ...]) -> int:
    where = tuple(p[value] for p, value in zip(place, point, strict=True))
    return int(np.ravel_multi_index(where, sizes))


def _place_rows(
    rows: _Rows, place: list[dict[str, int]], sizes: tuple[int, ...], width: int
) -> FloatArray:
    """Return a table's numbers in the order of the product's points."""
    placed = np.full((math.prod(sizes), width), np.nan)
    for line, point, numbers in zip(rows.lines, rows.points, rows.numbers, strict=True):
        for i, (value, known) in enumerate(zip(point, place, strict=True), 1):
            if value not in known:
                raise rows.error(line, f"coordinate {i} is {value!r}, which the prior has not")
        if len(numbers) != width:
            raise rows.error(line, f"{len(numbers)} numbers after the coordinates, not {width}")
        if min(numbers) < 0.0:
            raise rows.error(line, f"{nearest(min(numbers))} is negative")
        at = _index(point, place, sizes)
        if not np.isnan(placed[at, 0]):
            raise rows.error(line, f"the record {' '.join(point)} is there twice")
        placed[at] = numbers
    missing = np.flatnonzero(np.isnan(placed[:, 0]))
    if missing.size:
        where = np.unravel_index(int(missing[0]), sizes)
        absent = " ".join(list(p)[j] for p, j in zip(place, where, strict=True))
        raise rows.error(
            rows.lines[-1],
            f"no line for the record {absent}; give every combination of the values, with 0 in "
            "the prior for those that do not occur",
        )
    return placed


def kernel_of(values: Mapping[str, Any], outputs: int) -> tuple[FloatArray | None, str]:
    """Return Proposition 5's step for a report of so many values, or the reason why there is none.

    One row of whole numbers maps each output to a new one; several rows are the kernel itself.
    """
    rows = table_rows(str(values["kernel"]), "kernel")
    if not rows:
        return None, "The step is left out: no table of it is typed."
    if len(rows) == 1:
        groups = np.array(rows[0])
        if groups.size != outputs:
            return None, _mismatch(outputs, f"{groups.size} numbers")
        if (groups != np.floor(groups)).any():
            raise ValueError("kernel, row 1: outputs that are merged have the same whole number")
        return np.eye(len(set(rows[0])))[np.unique(groups, return_inverse=True)[1]], ""
    if len(rows) != outputs:
        return None, _mismatch(outputs, f"{len(rows)} rows")
    kernel = np.array(rows)
    for i, row in enumerate(kernel, 1):
        if row.min() < 0.0 or abs(row.sum() - 1.0) > _SLACK:
            raise ValueError(
                f"kernel, row {i}: probabilities must not be negative and sum to 1; the sum "
                f"is off 1 by {nearest(float(row.sum()) - 1.0)}"
            )
    return kernel / kernel.sum(axis=1, keepdims=True), ""


def _mismatch(outputs: int, given: str) -> str:
    return (
        f"The step is left out: a report has {outputs} values, and the step has {given}; type one "
        "number (merge) or one row (kernel) for each value."
    )
