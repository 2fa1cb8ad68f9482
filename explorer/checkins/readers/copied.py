"""What readers share that copy rows, as text, to a table of the database before they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from explorer.checkins.database import check
from explorer.checkins.model import IsCancelled, Reason

_Row = TypeVar("_Row")


class OneOfSeveral:
    """A reader of one of several formats that are read alike.

    Parameters
    ----------
    key : str
        Its key in `readers.READERS`.
    name : str
    suffixes : tuple of str
    """

    def __init__(self, key: str, name: str, suffixes: tuple[str, ...]) -> None:
        self.key, self.name, self.suffixes = key, name, suffixes

    def can_read(self, head: bytes) -> float:
        """Return how sure it is that this is a file for it, 0…1, from the first bytes."""
        raise NotImplementedError


class CopiedRows:
    """The table ``copied``: rows with their number, what is wrong with them, and text columns.

    Parameters
    ----------
    con : DuckDB connection
    width : int
        How many text columns ``c0…`` there are.
    """

    def __init__(self, con: Any, width: int) -> None:
        self._con, self._columns = con, [f"c{i}" for i in range(width)]
        texts = ", ".join(f"{name} VARCHAR" for name in self._columns)
        con.execute(f"CREATE OR REPLACE TEMP TABLE copied (line BIGINT, fault UTINYINT, {texts})")

    def add(
        self,
        numbers: list[int],
        faults: Sequence[Reason | None],
        cells: list[list[str | None]],
    ) -> None:
        """Add rows.

        Parameters
        ----------
        numbers : list of int
            Of the rows, from 1.
        faults : sequence of Reason or None
        cells : list of list of str or None
            Of each column.
        """
        self._con.execute(
            "INSERT INTO copied SELECT unnest(?::BIGINT[]), unnest(?::UTINYINT[]), "
            + ", ".join(["unnest(?::VARCHAR[])"] * len(self._columns)),
            [numbers, [fault.code if fault else None for fault in faults], *cells],
        )

    def texts(self, numbers: list[int]) -> dict[int, str]:
        """Return the cells, joined by commas, of rows by their numbers."""
        line = ", ".join(f"coalesce({name}, '')" for name in self._columns)
        query = f"SELECT line, concat_ws(',', {line}) FROM copied WHERE line IN "
        found = self._con.execute(f"{query}(SELECT unnest(?::BIGINT[]))", [numbers])
        return dict(found.fetchall())


def copied(limit: int | None) -> str:
    """Return the table, or its first rows, as `write_table` reads it."""
    return "copied" if limit is None else f"(FROM copied LIMIT {limit})"


def asked_for(
    rows: Iterator[_Row],
    number: Callable[[_Row], int],
    batches: Iterator[list[int]],
    cancelled: IsCancelled | None,
) -> Iterator[_Row]:
    """Yield the rows asked for, of which each has a number, in one pass over the file."""
    row: _Row | None = None
    for numbers in batches:
        check(cancelled)
        for wanted in numbers:
            while row is None or number(row) < wanted:
                row = next(rows)
            yield row
