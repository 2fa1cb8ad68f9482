"""Reader of Excel workbooks (.xlsx), row by row.

Uses openpyxl: small, pure Python, MIT licence, reads one row at a time and supports both date
systems of Excel (1900 and 1904). `python-calamine` is ten times as fast but holds whole sheets in
memory; large data rarely come as workbooks.
"""

import contextlib
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice, repeat
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple

from cachetools import LRUCache, cached

from explorer.checkins.database import check
from explorer.checkins.errors import (
    CheckinError,
    LoadCancelled,
    UnpackNeeded,
    shown_name,
)
from explorer.checkins.model import Dialect, IsCancelled, Preview, Reason
from explorer.checkins.parsing.guess_columns import looks_like_header
from explorer.checkins.parsing.streams import MAX_RATIO, UNPACKED_FREELY
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    CheckHead,
    CopiedRows,
    FileStart,
    Plan,
    ReaderOutput,
    check_width,
    copied_table,
    join_cells,
    select_rows,
    table_preview,
    write_table,
)
from explorer.checkins.scan import Scan
from explorer.lazy import missing_library

_XLS_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARTS = (b"[Content_Types].xml", b"xl/", b"docProps/", b"_rels/.rels")
_ODS_MIMETYPE = b"application/vnd.oasis.opendocument.spreadsheet"
_FORMULA, _MERGED = re.compile(rb"<(\w+:)?f[ >/]"), re.compile(rb"<(\w+:)?mergeCell ")
_MAX_TEXT = 1_000_000_000
"""Maximum size in bytes of the shared strings, which are held in memory."""
_JUDGED_ROWS = 2000
_MIN_HEADER_CELLS = 3
"""Minimum number of cells of a header row; rows with fewer above it are titles."""
_BATCH_ROWS = 2000
_MAX_ROWS = 1_048_576
"""Maximum number of rows of a sheet in Excel."""
_CHUNK_SIZE = 1 << 20

_EXACT = 1e15
"""Numbers from this size on may have lost digits: spreadsheets store 15."""


class Row(NamedTuple):
    """A row of a sheet.

    Attributes
    ----------
    number : int
        From 1.
    cells : list of (str or None)
    empty : tuple of int
        Columns that hold formulas without a result.
    rounded : tuple of int
        Columns that hold numbers of more than 15 digits.
    """

    number: int
    cells: list[str | None]
    empty: tuple[int, ...]
    rounded: tuple[int, ...]


def _text(value: Any) -> str | None:
    """Return a cell as text: integers without a point, times in ISO 8601."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _rounded(row: Sequence[Any]) -> tuple[int, ...]:
    """Return the columns with numbers of more than 15 digits."""
    return tuple(
        i
        for i, value in enumerate(row)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= _EXACT
    )


class _Workbook:
    """An open workbook.

    Attributes
    ----------
    sheets : dict of str to worksheet
        Those with cells.
    merged : bool
        Whether any cells are merged.
    serials : str
        The spelling, of `times.SERIALS`, of its dates that have no format.
    """

    def __init__(self, file: IO[bytes], name: str, tick: Callable[[], None], unpack: bool) -> None:
        from openpyxl import load_workbook

        formulas = self.merged = False
        with zipfile.ZipFile(file) as parts:
            for part in parts.infolist():
                _check_part(parts, part, name, unpack)
                if part.filename.endswith("sharedStrings.xml") and part.file_size > _MAX_TEXT:
                    raise CheckinError(
                        f"{name} has {part.file_size / 1e9:.1f} GB of text, more than can be held "
                        "in memory: save the sheet as CSV, and open that."
                    )
                if "/worksheets/" in part.filename and part.filename.endswith(".xml"):
                    formulas |= _occurs(parts, part, _FORMULA, tick)
                    self.merged |= _occurs(parts, part, _MERGED, tick)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        self.serials = "excel_1904" if book.epoch.year == 1904 else "excel_1900"
        self.sheets = {sheet.title: sheet for sheet in book.worksheets}
        self._formulas: dict[str, Any] = {}
        if formulas:
            with_formulas = load_workbook(file, read_only=True, keep_links=False)
            self._formulas = {sheet.title: sheet for sheet in with_formulas.worksheets}

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that are not blank."""
        values = self._cells(self.sheets[sheet])
        formulas = self._cells(self._formulas[sheet]) if self._formulas else repeat(())
        for number, (row, behind) in enumerate(zip(values, formulas, strict=False), 1):
            if number > _MAX_ROWS:
                raise ValueError("more rows than a sheet may have")
            cells, empty = [_text(value) for value in row], []
            for column, formula in enumerate(behind):
                if formula is None or row[column] is not None:
                    continue
                text = getattr(formula, "text", formula)
                cells[column] = str(text) if text else "="
                empty.append(column)
            if any(cells):
                yield Row(number, cells, tuple(empty), _rounded(row))

    @staticmethod
    def _cells(sheet: Any) -> Iterator[tuple[Any, ...]]:
        sheet.reset_dimensions()  # some programs write wrong ones, and rows would be lost
        rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
        return rows


def _check_part(parts: zipfile.ZipFile, part: zipfile.ZipInfo, name: str, unpack: bool) -> None:
    """Raise for a part that unpacks to an implausible size or declares XML entities.

    Raises
    ------
    UnpackNeeded
        If it unpacks to far more, without `unpack`.
    CheckinError
    """
    large = part.file_size > UNPACKED_FREELY and part.file_size > MAX_RATIO * part.compress_size
    if large and not unpack:
        raise UnpackNeeded(
            f"{name} unpacks to more than {MAX_RATIO:,} times its size, which sheets never do. "
            "Read it only if you trust it."
        )
    with parts.open(part) as file:
        if b"<!DOCTYPE" in file.read(_CHUNK_SIZE):
            raise CheckinError(
                f"{name} declares entities in its XML, which workbooks never do: save it again, or "
                "save the sheet as CSV and open that."
            )


def _occurs(
    parts: zipfile.ZipFile, part: zipfile.ZipInfo, what: re.Pattern[bytes], tick: Callable[[], None]
) -> bool:
    end = b""
    with parts.open(part) as file:
        while piece := file.read(_CHUNK_SIZE):
            tick()
            if what.search(end + piece):
                return True
            end = piece[-64:]
    return False


@contextlib.contextmanager
def _open_workbook(
    path: Path, name: str, tick: Callable[[], None], unpack: bool
) -> Iterator[_Workbook]:
    """Open a workbook.

    Raises
    ------
    CheckinError
        If it is damaged.
    """
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and the like that are not read
        try:
            yield _Workbook(file, name, tick, unpack)
        except (CheckinError, LoadCancelled, MemoryError, OSError):
            raise
        except Exception as fault:  # a damaged workbook may make the library raise nearly anything
            if type(fault).__module__.startswith(("_duckdb", "explorer")):
                raise
            raise CheckinError(
                f"{name} is a damaged Excel workbook. Fetch or save it again, or save the sheet as "
                "CSV; no row of it was used."
            ) from fault


class ExcelReader:
    """Reads .xlsx and .xlsm."""

    name = "Excel (.xlsx)"
    suffixes = (".xlsx", ".xlsm")

    def can_read(self, head: bytes) -> float:
        """Return 0.9 for workbooks, and for other spreadsheets to explain how to convert them."""
        if head.startswith(_XLS_SIGNATURE):
            return 0.9
        beginning = head[:4096]
        return 0.9 * (
            head.startswith(b"PK\x03\x04") and any(p in beginning for p in (*_PARTS, _ODS_MIMETYPE))
        )

    def preview(self, start: FileStart) -> Preview:
        """Guess the sheet and its columns.

        Raises
        ------
        CheckinError
            If the library is missing, or it is another kind of spreadsheet, damaged or empty.
        """
        if start.head.startswith(_XLS_SIGNATURE):
            raise CheckinError(
                f"{start.name} is an old Excel file (.xls), or one with a password: save it as "
                ".xlsx without a password, or as CSV."
            )
        if _ODS_MIMETYPE in start.head[:4096]:
            raise CheckinError(f"{start.name} is an OpenDocument sheet: save it as .xlsx or CSV.")
        lacking = missing_library(f"{start.name} is Excel: reading it", "excel", "openpyxl")
        if lacking:
            raise CheckinError(f"{lacking}. Or save the sheet as CSV.")
        state = start.path.stat()
        return _cached_preview(start, (start.size, state.st_mtime_ns, state.st_ino))

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write all rows of the sheet except blank ones, titles and the header."""
        preparing, used = work.stage("Preparing"), set(plan.mapping.columns)
        table = CopiedRows(con, plan.width)
        scan, rounded = Scan(), 0
        with _open_workbook(plan.path, plan.name, work.check, plan.dialect.unpack) as book:
            rows = _data_rows(book.rows(plan.dialect.layer), plan.dialect.has_header, scan)
            while some := list(islice(rows, _BATCH_ROWS)):
                preparing(0.0)
                work.note(0, scan.lines)
                faults = [Reason.FORMULA if used.intersection(row.empty) else None for row in some]
                rounded += sum(plan.mapping.user in row.rounded for row in some)
                cells = [
                    [row.cells[i] if i < len(row.cells) else None for row in some]
                    for i in range(plan.width)
                ]
                table.add([row.number for row in some], faults, cells)
            if rounded:
                scan.damage.notes.append(
                    f"{rounded:,} numbers in the user column have more than 15 digits, of which a "
                    "spreadsheet keeps 15: different users may have become one. Export the ids as "
                    "text, or the table as CSV."
                )
            if book.merged:
                scan.damage.notes.append(
                    "The workbook has merged cells: of each range only the first cell holds "
                    "anything, the others are blank."
                )

        written = write_table(con, plan, folder, work, check_head, copied_table, "fault")
        scan.fingerprint = written.fingerprint
        return ReaderOutput(scan, table.texts)

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the comma-separated cells of requested rows."""
        name, unpack = shown_name(path), dialect.unpack
        with _open_workbook(path, name, lambda: check(cancelled), unpack) as book:
            rows = book.rows(dialect.layer)
            for row in select_rows(rows, lambda row: row.number, batches, cancelled):
                yield join_cells(row.cells)


def _data_rows(rows: Iterator[Row], has_header: bool, scan: Scan) -> Iterator[Row]:
    """Yield the data rows; record blank rows, titles and the header in a scan."""
    waiting = has_header
    for row in rows:
        for blank in range(scan.lines + 1, row.number):
            scan.blank.add(blank)
        scan.lines = row.number
        if not waiting:
            yield row
        elif sum(map(bool, row.cells)) < _MIN_HEADER_CELLS:
            scan.before.add(row.number)
        else:
            scan.names.add(row.number)
            waiting = False


def _from_header(rows: Iterator[Row]) -> list[list[str | None]]:
    """Return the first rows from the header on; all if there is no header."""
    first = [row.cells for row in islice(rows, _JUDGED_ROWS)]
    names = next((i for i, row in enumerate(first) if sum(map(bool, row)) >= _MIN_HEADER_CELLS), 0)
    below = first[names:]
    return (
        below if below and looks_like_header([[c or "" for c in row] for row in below]) else first
    )


@cached(
    LRUCache(4),
    key=lambda start, state: (start.path, start.layer, start.unpack, state),
    lock=Lock(),
)
def _cached_preview(start: FileStart, _state: tuple[int, ...]) -> Preview:
    """Return the preview of a workbook, cached because opening takes long."""
    with _open_workbook(start.path, start.name, start.check, start.unpack) as book:
        if start.layer and start.layer not in book.sheets:
            raise CheckinError(
                f"{start.name} has no sheet {start.layer!r}; there are {', '.join(book.sheets)}."
            )
        tables = {}
        for sheet in [start.layer] if start.layer else book.sheets:
            start.check()
            rows = _from_header(book.rows(sheet))
            if any(sum(map(bool, row)) >= _MIN_HEADER_CELLS for row in rows):
                tables[sheet] = rows
        if not tables:
            raise CheckinError(
                f"{start.name} has no sheet with three columns or more; a check-in needs user, "
                "latitude and longitude."
            )
        sheets = tuple(book.sheets) if start.layer else tuple(tables)
        serials = book.serials
    layer, rows = next(iter(tables.items()))
    header = looks_like_header([[cell or "" for cell in row] for row in rows])
    width = max(max((i + 1 for i, cell in enumerate(row) if cell), default=0) for row in rows)
    check_width(start.name, width)
    names = rows[0] if header else []
    columns = tuple(
        (names[i] or "").strip() if i < len(names) and names[i] else f"column {i + 1}"
        for i in range(width)
    )
    body = [[*row, *repeat(None, width - len(row))][:width] for row in rows[header:]]
    several = len(sheets) > 1
    layer_key = layer if start.layer or not several else ""
    dialect = Dialect("excel", "", has_header=header, layer=layer_key)
    layers = sheets if several else ()
    return table_preview(start, dialect, columns, body, None, layers, serials)


READER = ExcelReader()
