"""CSV output whose cells no spreadsheet executes as formulas."""

import csv
from collections.abc import Iterable
from typing import Any, Protocol

_RUN = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet treat a cell as a formula."""


class _Writable(Protocol):
    def write(self, text: str, /) -> object: ...


def inert(cell: Any) -> Any:
    """Return a cell that a spreadsheet displays and does not execute.

    A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is no
    number, gets an apostrophe in front, which spreadsheets take for "this is text".
    """
    if not isinstance(cell, str) or not cell.startswith(_RUN):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


class CsvRows:
    """Writes rows of `inert` cells.

    Parameters
    ----------
    file : writable text file
    line_end : str
    """

    def __init__(self, file: _Writable, line_end: str = "\n") -> None:
        self._file, self._line_end = file, line_end
        # Only what stands in its line end is put in quotes: both characters must.
        self._writer = csv.writer(self, lineterminator="\r\n")

    def write(self, text: str, /) -> None:
        """Write the text of a row with this file's line end; called by the csv writer."""
        self._file.write(text.removesuffix("\r\n") + self._line_end)

    def write_row(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow([inert(cell) for cell in row])

    def write_rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows."""
        for row in rows:
            self.write_row(row)
