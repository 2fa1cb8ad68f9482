"""Upper confidence bound on the coupling of a public table, computed in a worker process.

A heading declares the values of its column, ``smoker [yes|no]``, or its range, ``age [0:120]``,
which is cut into bins. Otherwise the values are those in the file, and the user must vouch that
there are no others; a column of many different numbers is cut into bins of equally many records.
The bound of bins is a certificate only if the mechanism reads the bins and their edges do not come
from the records. Otherwise bins can hide coupling, and the number is an estimate.
"""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.csv_table import (
    CsvTable,
    RejectedRow,
    TableFileError,
    read_records,
    read_summary,
    why_no_number,
)
from explorer.studies.base.numbers import at_least, nearest
from explorer.studies.base.study import Context, Request, Table

CAVEATS = (
    "Never take the coupling from the protected records: the reports publish q. Bins can only miss "
    "coupling; with many columns or values the bound tends to 1.",
)
_NUMERIC_SHARE = 0.9
"""A column is numeric if this share of its fields are numbers; other records are rejected."""
_MAX_HEADING = 3000
"""Characters; matching time grows with their square."""
_HEADING = re.compile(r"^(?P<name>.*?)\s*\[(?P<inside>[^\[\]]+)\]$")
IntArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Coded:
    """A column as categories.

    Attributes
    ----------
    name : str
    size : int
        Number of values, whether they occur or not.
    declared : bool
        Whether the heading declares the values or the range.
    binned : bool
    """

    name: str
    size: int
    declared: bool
    binned: bool

    def __str__(self) -> str:
        what = "bins" if self.binned else "values"
        return f"{self.size} {what}, {'declared' if self.declared else 'from the file'}"


@dataclass(frozen=True)
class PublicCoupling:
    """Coupling of a public table.

    Attributes
    ----------
    columns : tuple of Coded
    upper, plug_in, lower : ndarray
        By column: upper confidence bound, coupling of the empirical law, lower confidence bound;
        all upper and all lower bounds hold together at confidence 1 − β each.
    records : int
    beta : float
    estimate : str
        Why the upper bounds are no certificate; empty if they are one.
    summary : str
        What was read and what was rejected.
    """

    columns: tuple[Coded, ...]
    upper: FloatArray
    plug_in: FloatArray
    lower: FloatArray
    records: int
    beta: float
    estimate: str
    summary: str

    @property
    def q(self) -> float:
        """The largest upper confidence bound, which the study assumes."""
        return float(self.upper.max())

    @property
    def confidence(self) -> str:
        """1 − β, rounded down: ``95 %``."""
        return f"{at_least(100 * (1 - self.beta))} %"

    @property
    def vouched(self) -> tuple[str, ...]:
        """Columns without declared values, and the number of values in the file."""
        return tuple(f"{c.name}: {c.size}" for c in self.columns if not (c.declared or c.binned))

    def table(self) -> Table:
        """Return the bounds by column."""
        return Table(
            "coupling",
            "Coupling of the public file",
            (
                "column",
                "it has",
                f"at most ({self.confidence})",
                "plug-in estimate",
                f"at least ({self.confidence})",
            ),
            tuple(
                (column.name, str(column), float(u), float(p), float(a))
                for column, u, p, a in zip(
                    self.columns, self.upper, self.plug_in, self.lower, strict=True
                )
            ),
            "Total variation between the laws of the other columns given two values of this one. "
            f"The largest upper bound is used as q, from {self.records:,} records"
            + (f"; it is an estimate, as {self.estimate}." if self.estimate else "."),
            (None, None, Role.ESTIMATE if self.estimate else Role.UPPER, Role.ESTIMATE, Role.LOWER),
        )


def codes(records: CsvTable, bins: int) -> tuple[IntArray, tuple[Coded, ...], CsvTable]:
    """Return a table as categories, the coded columns, and the records that are used.

    Records with an undeclared value, or without a number in a numeric column, are rejected.
    """
    columns = [_Column(records, i, bins) for i in range(len(records.names))]
    bad = np.stack([column.bad for column in columns], axis=1)
    used = np.flatnonzero(~bad.any(axis=1))
    rejected = []
    for row in np.flatnonzero(bad.any(axis=1)):
        i = int(np.argmax(bad[row]))
        why = columns[i].why(records.rows[row][i])
        rejected.append(RejectedRow(records.lines[row], columns[i].name, why))
    used_records = records.keeping(used.tolist(), rejected)
    coded = [column.coded(used) for column in columns]
    return np.stack([c for c, _ in coded], axis=1), tuple(what for _, what in coded), used_records


def coded_column(records: CsvTable, i: int, bins: int) -> tuple[IntArray, tuple[str, ...], Coded]:
    """Return every record's category in one column, the categories' names, and the column.

    No record is rejected: what is not declared, or no number in a column of numbers, is in a last
    category, “other”, which there is wherever values or a range are declared.
    """
    column = _Column(records, i, bins)
    used = np.flatnonzero(~column.bad)
    places, coded = column.coded(used)
    labels = column.labels(used)
    result = np.full(column.bad.size, len(labels), np.int64)
    result[used] = places
    if coded.declared or used.size < result.size:
        labels = (*labels, "other")
    return result, labels, coded


class _Column:
    """A column on its way to categories."""

    def __init__(self, records: CsvTable, i: int, bins: int) -> None:
        self._records, self._bins = records, bins
        self._texts = np.array([row[i] for row in records.rows], dtype=object)
        number = records.dialect.number
        self.name, self._declared, self._range = _declared_column(records, i)
        if self._declared:
            self._place = self._places()
            self.bad = self._place < 0
            return
        parsed = [number(text) for text in self._texts]
        self._values = np.array([np.nan if v is None else v for v in parsed])
        known = ~np.isnan(self._values)
        self._numeric = self._range is not None or known.mean() >= _NUMERIC_SHARE
        self.bad = ~known if self._numeric else np.zeros(known.shape, bool)
        if self._range is not None:
            low, high = self._range
            with np.errstate(invalid="ignore"):
                self.bad = self.bad | (self._values < low) | (self._values > high)

    def _places(self) -> IntArray:
        """Return the index of the declared value of every field, −1 for none; numbers by value."""
        number = self._records.dialect.number
        place: dict[str | float, int] = {text: j for j, text in enumerate(self._declared)}
        for j, text in enumerate(self._declared):
            value = number(text)
            if value is not None:
                place.setdefault(value, j)

        def of(text: str) -> int:
            index = place.get(text)
            if index is None and (value := number(text)) is not None:
                index = place.get(value)
            return -1 if index is None else index

        return np.array([of(text) for text in self._texts], dtype=np.int64)

    def why(self, text: str) -> str:
        """Return the reason why a field rejects its record."""
        if self._declared:
            return f"{text[:40]!r} is not one of the declared values {', '.join(self._declared)}"
        if self._range is not None and self._records.dialect.number(text) is not None:
            low, high = self._range
            return f"{text[:40]} is outside the declared range {low:g} to {high:g}"
        return why_no_number(self._records, text)

    def labels(self, used: IntArray) -> tuple[str, ...]:
        """Return the names of the categories of the used records."""
        if self._declared:
            return self._declared
        if not self._numeric:
            return tuple(text or "(empty)" for text in np.unique(self._texts[used].astype(str)))
        if self._range is not None:
            ends = [nearest(end) for end in np.linspace(*self._range, self._bins + 1).tolist()]
            return tuple(f"{a} to {b}" for a, b in itertools.pairwise(ends))
        size = self.coded(used)[1]
        if not size.binned:
            return tuple(nearest(value) for value in np.unique(self._values[used]).tolist())
        return tuple(f"part {j + 1} of {size.size}" for j in range(size.size))

    def coded(self, used: IntArray) -> tuple[IntArray, Coded]:
        """Return the categories of the used records."""
        if self._declared:
            return self._place[used], Coded(self.name, len(self._declared), True, False)
        if not self._numeric:
            seen, place = np.unique(self._texts[used].astype(str), return_inverse=True)
            return place.astype(np.int64), Coded(self.name, max(seen.size, 1), False, False)
        values = self._values[used]
        if self._range is not None:
            low, high = self._range
            share = (values - low) / (high - low)
            place = np.clip(np.floor(share * self._bins), 0, self._bins - 1)
            return place.astype(np.int64), Coded(self.name, self._bins, True, True)
        seen, place = np.unique(values, return_inverse=True)
        if seen.size <= self._bins:
            return place.astype(np.int64), Coded(self.name, max(seen.size, 1), False, False)
        edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self._bins + 1)[1:-1]))
        place = np.searchsorted(edges, values, side="right")
        return place.astype(np.int64), Coded(self.name, edges.size + 1, False, True)


def _declared_column(
    records: CsvTable, i: int
) -> tuple[str, tuple[str, ...], tuple[float, float] | None]:
    """Return a column's name, its declared values and its declared range, from its heading."""
    heading = records.names[i]
    match = _HEADING.match(heading) if len(heading) <= _MAX_HEADING else None
    if match is None:
        return heading, (), None
    name, inside = match["name"] or f"column {i + 1}", match["inside"]
    if "|" in inside:
        values = tuple(part.strip() for part in inside.split("|"))
        if len(set(values)) < len(values) or "" in values:
            raise TableFileError(
                f"{records.name}, {heading!r}: give every declared value once, as in smoker "
                "[yes|no]"
            )
        return name, values, None
    ends = [records.dialect.number(part) for part in inside.split(":")]
    if len(ends) != 2 or None in ends or not ends[0] < ends[1]:  # type: ignore[operator]
        raise TableFileError(
            f"{records.name}, {heading!r}: in brackets give the values a column can have, as in "
            "smoker [yes|no], or the ends of its range, as in age [0:120]"
        )
    return name, (), (float(ends[0] or 0.0), float(ends[1] or 0.0))


@lru_cache(maxsize=4)
def measure(
    path: Path, value: str, bins: int, reads_bins: bool, beta: float, decimal: str
) -> PublicCoupling:
    """Return the coupling of a public table (runs in a worker process).

    The order of the records decides which half of them tests the other. Files are often sorted, so
    records are shuffled with a fixed seed.

    Raises
    ------
    ValueError
        If the file is not a table, or a column has one value only.
    """
    name = value.partition("#")[0]
    table, columns, records = codes(read_records(path, name, decimal), bins)
    upper = np.empty(0)
    if len(table):
        upper = co.coupling_upper(table, [column.size for column in columns], beta)
    if not len(table) or np.isnan(upper).any():
        column = columns[int(np.argmax(np.isnan(upper)))].name if len(table) else columns[0].name
        seen = "has the same value" if len(table) else "was rejected"
        aside = f" ({records.rejected[0]})" if records.rejected and not len(table) else ""
        raise TableFileError(
            f"{name}, column {column}: every record {seen}{aside}, so that nothing can be said of "
            "how it is coupled; remove the column, or give records with other values"
        )
    table = table[np.random.default_rng(0).permutation(table.shape[0])]
    coupling = co.coupling_of_public_data(table, 1 - beta)
    # Sums of shares may end a rounding above 1.
    plug_in = np.minimum(coupling.plug_in, 1.0)
    return PublicCoupling(
        columns,
        upper,
        plug_in,
        coupling.lower,
        len(table),
        beta,
        _why_estimate(columns, reads_bins),
        read_summary(records, len(records.rows)),
    )


def _why_estimate(columns: tuple[Coded, ...], reads_bins: bool) -> str:
    """Return why the bounds do not hold for the records; empty if they do."""
    binned = [column for column in columns if column.binned]
    if not binned:
        return ""
    if not reads_bins:
        return (
            f"{binned[0].name} is cut in bins and the mechanism reads the numbers: bins can only "
            "hide coupling"
        )
    loose = [column.name for column in binned if not column.declared]
    if loose:
        return (
            f"the bins of {loose[0]} were made from the records: declare its range in the first "
            f"line, as in {loose[0]} [0:120]"
        )
    return ""


def public_coupling(request: Request, context: Context) -> PublicCoupling:
    """Return the coupling of the public table that a request names.

    Raises
    ------
    LookupError
        If the file is not open.
    ValueError
        If the file is not a table, or a column has one value only; the message states where.
    """
    path = context.file(str(request["public"]))
    settings = tuple(request[key] for key in ("public", "bins", "reads_bins", "beta", "decimal"))
    coupling: PublicCoupling = context.cached(
        ("coordinate-mean", "public", settings),
        lambda: context.run_in_worker(measure, path, *settings),
    )
    return coupling
