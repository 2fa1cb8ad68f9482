"""The coupling of a public table: an estimate with its caveats, computed in a worker process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.bounds import FloatArray
from explorer.studies.model import Context, Table
from explorer.studies.records import Records, number, read_records, what_was_read

CONFIDENCE = 0.95
CAVEATS = (
    "The file must be public: a coupling computed from the protected records would be published "
    "by the reports themselves (their size tells the budgets, and these tell q), at no finite ε.",
    "The estimate is no certificate. On binned columns coupling can only be missed: two Gaussian "
    "columns with correlation 0.3 have coupling 0.19 on two bins and 0.655 in truth; an exclusive "
    "or has 0 on every pair of columns and 1 in truth. With many columns the plug-in estimate "
    "tends to 1, every record being the only one of its kind.",
)


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


def codes(records: Records, bins: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return a table as categories: words by value, numbers in bins of equally many records."""
    columns = []
    for i in range(len(records.names)):
        fields = [row[i] for row in records.rows]
        values = np.array([number(field) for field in fields])
        if np.isnan(values).any():
            columns.append(np.unique(np.array(fields), return_inverse=True)[1])
            continue
        distinct, place = np.unique(values, return_inverse=True)
        if distinct.size > bins:
            edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
            place = np.searchsorted(edges, values, side="right")
        columns.append(place)
    return np.stack(columns, axis=1).astype(np.int64)


@lru_cache(maxsize=4)
def measure(path: Path, value: str, bins: int) -> PublicCoupling:
    """Return the coupling of a public table (runs in a worker process).

    The order of the records decides which half of them tests the other, so they are shuffled with
    a fixed seed: files are often sorted.
    """
    records = read_records(path, value.partition("#")[0])
    table = codes(records, bins)
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
