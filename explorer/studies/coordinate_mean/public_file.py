"""The coupling of a public table: an estimate with its caveats, computed in a worker process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.bounds import FloatArray
from explorer.studies.model import Context, Table
from explorer.studies.records import Records, SetAside, number, read_records, what_was_read

CONFIDENCE = 0.95
CAVEATS = (
    "The coupling is estimated from a public file, not certified: bins can only miss coupling, "
    "many columns inflate it. Never take it from the protected records: the reports publish q.",
)
_MOSTLY = 0.9
"""A column is one of numbers if this share of its fields are; the other records are set aside."""


@dataclass(frozen=True)
class PublicCoupling:
    """What a public table says about coupling.

    Attributes
    ----------
    names : tuple of str
    plug_in, lower : ndarray
        A column each: the coupling of the empirical law, and what it is at least.
    saturated : ndarray of bool
    said : str
        What was read.
    """

    names: tuple[str, ...]
    plug_in: FloatArray
    lower: FloatArray
    saturated: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    said: str

    @property
    def q(self) -> float:
        """The largest plug-in estimate: what the study assumes."""
        return float(self.plug_in.max())

    def table(self, bins: int) -> Table:
        """Return the estimates by column."""
        return Table(
            "coupling",
            "Coupling of the public file",
            ("column", "plug-in estimate", f"at least ({CONFIDENCE:.0%})", "saturated"),
            tuple(
                (name, float(a), float(b), "yes" if s else "no")
                for name, a, b, s in zip(
                    self.names, self.plug_in, self.lower, self.saturated, strict=True
                )
            ),
            f"Total variation between the laws of the other columns given two values of this one; "
            f"numeric columns in {bins} bins. Saturated: so many different records that the "
            "estimate says little. The largest estimate is used as q.",
        )


def codes(
    records: Records, bins: int
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Records]:
    """Return a table as categories: words by value, numbers in bins of equally many records.

    Also the table without the records that have words in a column of numbers.
    """
    numbers = np.array([[number(field) for field in row] for row in records.rows])
    holds = ~np.isnan(numbers)
    numeric = holds.mean(axis=0) >= _MOSTLY
    bad = numeric & ~holds
    used = np.flatnonzero(~bad.any(axis=1))
    set_aside = [
        SetAside(
            records.lines[row],
            records.names[int(np.argmax(bad[row]))],
            f"{records.rows[row][int(np.argmax(bad[row]))][:40]!r} is not a number",
        )
        for row in np.flatnonzero(bad.any(axis=1))
    ]
    kept = replace(
        records,
        rows=[records.rows[row] for row in used],
        lines=[records.lines[row] for row in used],
        set_aside=tuple(sorted((*records.set_aside, *set_aside), key=lambda item: item.line)),
    )
    columns = []
    for i in range(len(kept.names)):
        values = numbers[used, i]
        if not numeric[i]:
            columns.append(np.unique([row[i] for row in kept.rows], return_inverse=True)[1])
            continue
        distinct, place = np.unique(values, return_inverse=True)
        if distinct.size > bins:
            edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
            place = np.searchsorted(edges, values, side="right")
        columns.append(place)
    return np.stack(columns, axis=1).astype(np.int64), kept


@lru_cache(maxsize=4)
def measure(path: Path, value: str, bins: int) -> PublicCoupling:
    """Return the coupling of a public table (runs in a worker process).

    The order of the records decides which half of them tests the other, so they are shuffled with
    a fixed seed: files are often sorted.
    """
    records = read_records(path, value.partition("#")[0])
    table, records = codes(records, bins)
    table = table[np.random.default_rng(0).permutation(table.shape[0])]
    found = co.coupling_of_public_data(table, CONFIDENCE)
    said = what_was_read(records, len(records.rows))
    # Sums of shares may end a rounding above 1.
    plug_in = np.minimum(found.plug_in, 1.0)
    return PublicCoupling(records.names, plug_in, found.lower, found.saturated, said)


def public_coupling(value: str, bins: int, context: Context) -> PublicCoupling:
    """Return the coupling of an open public table.

    Raises
    ------
    LookupError
        If the file is not open.
    ValueError
        If it is no table; the message names file and line.
    """
    found: PublicCoupling = context.memo(
        ("coordinate-mean", "public", value, bins),
        lambda: context.heavy(measure, context.file(value), value, bins),
    )
    return found
