"""Reads the data file of a release: once, hashed on the way, every row independently.

No row affects how another one is parsed: nothing is guessed, quotes never span rows, and no row
content raises an error. Unreadable rows are skipped; only a file check counts them, for the
curator only.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import re
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.releases.means import read_decimal
from explorer.release.content_hash import ContentHash, digests
from explorer.release.errors import ReleaseError
from explorer.release.mechanisms.base import Reads, UserRecords
from explorer.release.rows.format import (
    DECIMALS,
    DELIMITERS,
    HEADERS,
    LAT,
    LON,
    QUOTES,
    ROW_ENDS,
    TIME,
    TRAILING,
    USER,
    FileFormat,
)
from explorer.release.rows.values import (
    coordinate_reader,
    id_reader,
    number_reader,
    text_reader,
    time_reader,
    zone_of,
)
from explorer.release.rows.vectors import (
    MAX_SPELLINGS,
    Block,
    Mask,
    Places,
    UserNumbers,
    WholeReader,
    coordinates,
    iso_times,
    other_times,
    unix_times,
)

BLOCK = 8 << 20
"""Bytes read at a time."""
MAX_ROW_BYTES = 1 << 20
"""Longest readable row without its end, in UTF-8 if the file is in UTF-16."""
GZIP = ".gz"
"""Files with this suffix are decompressed. The name is part of the plan, not of the data."""


@dataclass(frozen=True)
class ReadFile:
    """Content of a data file, for the curator only.

    Attributes
    ----------
    records : UserRecords
    sha256 : str
        Of the file's bytes, hexadecimal.
    ids : tuple of str
        Of the users, in the order of `records`.
    content : str
        SHA-256 of the content (`explorer.release.content_hash`).
    """

    records: UserRecords
    sha256: str
    ids: tuple[str, ...]
    content: str


Watch = Callable[["Cut", Mask], object]
"""Callback with the rows of each block and which of them are readable."""

_CONTAINERS = {
    b"PAR1\x15": ("Parquet", "write its rows to a CSV file"),
    b"ARROW1\0\0": ("Arrow", "write its rows to a CSV file"),
    b"Obj\x01": ("Avro", "write its rows to a CSV file"),
    b"SQLite format 3\0": ("an SQLite database", "export the table to a CSV file"),
    b"PK\x03\x04": ("a ZIP archive or an Excel sheet", "unpack it, or save the sheet as CSV"),
    b"PK\x05\x06": ("an empty ZIP archive", "give the text file itself"),
    b"PK\x07\x08": ("a ZIP archive in parts", "unpack it"),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Excel sheet", "save it as CSV"),
    b"\x1f\x8b": ("packed by gzip", "unpack it, or give it a name that ends with .gz"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it"),
    b"BZh91AY&SY": ("packed by bzip2", "unpack it"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "unpack it"),
    b"Rar!\x1a\x07": ("a RAR archive", "unpack it"),
}
"""First bytes of files without rows of text: kind of file, and how to convert it.

Each holds a byte that no id begins with, or is too long to be one by chance: a text file must not
be refused because of its first user.
"""
_MARKS = {
    b"\xff\xfe\0\0": ("UTF-32", ()),
    b"\0\0\xfe\xff": ("UTF-32", ()),
    b"\xef\xbb\xbf": ("UTF-8", ("utf-8",)),
    b"\xff\xfe": ("UTF-16, low byte first", ("utf-16-le",)),
    b"\xfe\xff": ("UTF-16, high byte first", ("utf-16-be",)),
}
"""Byte order marks: their encoding, and the declared encodings they are compatible with."""
_MAX_MARK = 16


def check_first_bytes(head: bytes, form: FileFormat) -> None:
    """Refuse containers, and text with a byte order mark of another encoding than declared.

    This is no function of a single user's rows: files that differ in one user are of one kind.

    Raises
    ------
    ReleaseError
        Naming the kind of file and how to convert it.
    """
    for magic, (what, remedy) in _CONTAINERS.items():
        if head.startswith(magic):
            raise ReleaseError(
                f"data: this file is {what}, and a release reads rows of text. To use it, {remedy} "
                "and choose that file."
            )
    for mark, (what, declared) in _MARKS.items():
        if head.startswith(mark):
            if form.encoding not in declared:
                remedy = f"Choose {declared[0]}" if declared else "Convert it to UTF-8"
                raise ReleaseError(
                    f"data: this file begins as {what}; {form.encoding} is declared. {remedy}."
                )
            return


def read_file(path: Path, form: FileFormat, reads: Reads, watch: Watch | None = None) -> ReadFile:
    """Read a file once, in the declared format.

    Parameters
    ----------
    path : Path
    form : FileFormat
    reads : Reads
        Columns to read.
    watch : callable, optional
        Called with every block, for a file check.

    Raises
    ------
    ReleaseError
        If the file can't be opened, is no text by its first bytes, or is a damaged archive; never
        because of the content of a row.
    """
    with _open_data(path) as file, Rows(form, reads, watch) as rows:
        hashed, content = _Hashed(file), ContentHash()
        source: IO[bytes] | _Hashed | gzip.GzipFile = hashed
        if path.name.endswith(GZIP):
            source = gzip.GzipFile(fileobj=hashed)
            check_first_bytes(source.peek(_MAX_MARK), form)
        else:
            check_first_bytes(file.peek(_MAX_MARK), form)

        def read(size: int) -> bytes:
            block = source.read(size) or b""
            content.update(block)
            return block

        for block in blocks(read, BLOCK, form):
            rows.add(block)
        while hashed.read(BLOCK):  # bytes after an archive are hashed too
            pass
        sha256 = hashed.sha256.hexdigest()
        return ReadFile(rows.records(), sha256, rows.ids, content.hexdigest())


def hash_file(path: Path) -> tuple[str, str]:
    """Return the SHA-256 of a file's bytes and of its content, without parsing it.

    Raises
    ------
    ReleaseError
        If the file can't be read.
    """
    with _open_data(path) as file:
        return digests(file)


@contextmanager
def _open_data(path: Path) -> Iterator[io.BufferedReader]:
    """Open a data file; translate errors to `ReleaseError`."""
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ReleaseError("data: this is not a regular file. Choose a text file.")
        with path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile):
        # the original message may contain a checksum of the rows, which must not be shown
        raise ReleaseError("data: the archive is damaged. Get it again from its source.") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ReleaseError(
                "data: there is too little space for the rows that are read in "
                f"{tempfile.gettempdir()}. Free as much as the file takes."
            ) from None
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(f"data: the file cannot be read ({reason}). Check its path.") from None


class _Hashed(io.RawIOBase):
    """File wrapper that hashes all bytes read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.sha256 = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self.sha256.update(memoryview(buffer)[:count])
        return count

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def blocks(read: Callable[[int], bytes], size: int, form: FileFormat) -> Iterator[bytes]:
    """Yield blocks of complete rows with their ends.

    Rows are split at row ends only, before anything else is parsed; UTF-16 is split at units of
    two bytes and yielded as UTF-8. The middle of an overlong row is dropped, such that the rest
    is still too long to be readable.

    Parameters
    ----------
    read : callable
        Returns a number of bytes, fewer only at the end of the file.
    size : int
        Bytes read at a time.
    form : FileFormat
    """
    wide = form.encoding if form.encoding.startswith("utf-16") else ""
    end = chr(ROW_ENDS[form.row_end]).encode(wide or "ascii")
    unit, most = len(end), (MAX_ROW_BYTES + 1) * len(end)
    left = b""
    while data := read(size):
        rows = left + data
        cut = _last_unit(rows, end) if wide else rows.rfind(end) + 1
        if cut:
            yield _utf8(rows[:cut], wide) if wide else rows[:cut]
        left = rows[cut:]
        if len(left) > most:
            left = left[:most] + left[len(left) - len(left) % unit :]
    if left:
        odd = len(left) % unit
        last = _utf8(left[: len(left) - odd] + end, wide) if wide else left + end
        # an odd byte makes its field unreadable
        yield last[:-1] + b"\xff" + last[-1:] if odd else last


def _last_unit(rows: bytes, end: bytes) -> int:
    """Return the position after the last row end in UTF-16 bytes; 0 if there is none."""
    units = np.frombuffer(rows, dtype="<u2", count=len(rows) // 2)
    places = np.flatnonzero(units == int.from_bytes(end, "little"))
    return 2 * int(places[-1]) + 2 if len(places) else 0


def _utf8(rows: bytes, encoding: str) -> bytes:
    """Return rows in UTF-8; a lone surrogate becomes bytes that are invalid in UTF-8."""
    return rows.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")


class Rows:
    """Columns of the rows read so far, in anonymous temporary files."""

    def __init__(self, form: FileFormat, reads: Reads, watch: Watch | None = None) -> None:
        self._form, self._watch = form, watch
        self._text = text_reader(form)
        self._wholes: dict[str, _Wholes] = {}
        for name in (LAT, LON) * reads.places + (TIME,) * reads.times:
            self._wholes[name] = _Wholes(name, _reader(name, form))
        self._texts = {name: _Texts(name, form, reads.numbers) for name in reads.texts}
        self._codes = _Work()
        self._users = UserNumbers(id_reader(form))
        self._header = _Header(form) if HEADERS[form.header] else None

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self._codes.close()
        for column in self._columns():
            column.close()

    def _columns(self) -> tuple[_Wholes | _Texts, ...]:
        return *self._wholes.values(), *self._texts.values()

    @property
    def ids(self) -> tuple[str, ...]:
        """The user ids, in order of first occurrence."""
        return self._users.ids

    def add(self, raw: bytes) -> None:
        """Parse a block of complete rows with their ends."""
        cut, names = cut_rows(raw, self._form), self._form.columns
        block, fields = cut.block, cut.fields
        starts, ends = fields(names.index(USER))
        rows = np.arange(len(starts))
        if self._header is not None:
            rows = np.flatnonzero(~self._header.is_header(block, fields))
        codes = self._users.codes(block, starts[rows], ends[rows])
        row_mask = rows[codes >= 0]
        codes = codes[codes >= 0]
        self._codes.write(codes)
        readable = np.ones(len(row_mask), dtype=np.bool_)
        for column in self._columns():
            starts, ends = fields(names.index(column.name))
            readable &= column.add(block, starts[row_mask], ends[row_mask])
        if self._watch is not None:
            seen = np.zeros(len(cut.whole), dtype=np.bool_)
            seen[np.flatnonzero(cut.whole)[row_mask[readable]]] = True
            self._watch(cut, seen)

    def records(self) -> UserRecords:
        """Return all rows grouped by user."""
        codes = self._codes.read(np.int32)
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(self.ids))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        result = {name: column.read(order) for name, column in self._wholes.items()}
        nothing = (None, None)
        (lat, north), (lon, east) = result.get(LAT, nothing), result.get(LON, nothing)
        time, timed = result.get(TIME, nothing)
        placed = None if north is None or east is None else north & east
        texts = {name: column.read(order) for name, column in self._texts.items()}
        return UserRecords(starts, lat, lon, placed, time, timed, texts)


class _Header:
    """Detects header rows, each independently of its position.

    Skipping the first row of a file would be unsound: in a file without a header it belongs to a
    user, and if that user were removed, the next user would lose a row, so that one user would
    change the contribution of another. Instead, all rows without a readable place or time are
    skipped; in files without such columns, all rows that repeat the declared names.
    """

    def __init__(self, form: FileFormat) -> None:
        self._names = form.columns
        self._text = text_reader(form)
        self._readers = {
            name: _reader(name, form) for name in (LAT, LON, TIME) if name in form.columns
        }
        others = tuple(name for name in form.columns if name != USER)
        self._named = others or form.columns

    def is_header(self, block: Block, fields: Fields) -> NDArray[np.bool_]:
        """Return which rows are header rows."""
        starts, _ = fields(0)
        rows = np.arange(len(starts))
        for name, reader in self._readers.items():
            starts, ends = (part[rows] for part in fields(self._names.index(name)))
            rows = rows[~reader(block, starts, ends).readable]
        if not self._readers:
            rows = self._spelt(block, fields, rows)
        result = np.zeros(len(fields(0)[0]), dtype=np.bool_)
        result[rows] = True
        return result

    def _spelt(self, block: Block, fields: Fields, rows: Places) -> Places:
        for name in self._named:
            starts, ends = fields(self._names.index(name))
            pairs = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
            same = [self._names_it(block.raw[first:end], name) for first, end in pairs]
            rows = rows[np.array(same, dtype=np.bool_)]
        return rows

    def _names_it(self, raw: bytes, name: str) -> bool:
        # avoids decoding values that are longer than any spelling of the name
        return len(raw) <= 8 * len(name) + 64 and (
            (self._text(raw) or "").casefold() == name.strip().casefold()
        )


def _reader(name: str, form: FileFormat) -> WholeReader:
    """Return the vectorised parser of a column of coordinates or times."""
    if name == TIME:
        return _times(form)
    most = 90 if name == LAT else 180
    mark = DECIMALS[form.decimal]
    return partial(coordinates, most=most, mark=mark, slow=coordinate_reader(form, most))


def _times(form: FileFormat) -> WholeReader:
    slow = time_reader(form)
    if form.time_format == "iso":
        return partial(iso_times, zone=zone_of(form), slow=slow)
    if form.time_format in ("unix", "unix-ms"):
        return partial(unix_times, unit=1 if form.time_format == "unix" else 1000, slow=slow)
    return partial(other_times, slow=lru_cache(MAX_SPELLINGS)(slow))


Fields = Callable[[int], tuple[Places, Places]]
"""Start and end positions of the fields of a column, in complete rows."""


@dataclass(frozen=True)
class Cut:
    """The rows of a block, and the fields of complete rows.

    Attributes
    ----------
    block : Block
    starts, ends : ndarray of int, shape (rows,)
        Positions of all rows, without row ends.
    whole : ndarray of bool, shape (rows,)
        Whether a row has exactly the declared fields and no open quote.
    fields : callable
        Positions of the fields of the complete rows.
    """

    block: Block
    starts: Places
    ends: Places
    whole: Mask
    fields: Fields


_QUOTE = 34


def cut_rows(raw: bytes, form: FileFormat) -> Cut:
    """Split a block of rows with their ends into rows and fields."""
    block, wanted = Block.of(raw), len(form.columns) + TRAILING[form.trailing_delimiter]
    values = block.values[: len(raw)]
    ends = np.flatnonzero(values == ROW_ENDS[form.row_end])
    starts = np.concatenate([[0], ends[:-1] + 1])
    between = np.flatnonzero(values == DELIMITERS[form.delimiter])
    quotes = np.flatnonzero(values == _QUOTE) if QUOTES[form.quotes] else between[:0]
    # CR before LF is stripped here, as files from Windows have one in every row
    lasts = ends - ((ends > starts) & (block.values[ends - 1] == 13))
    if len(quotes):
        in_row = np.searchsorted(quotes, starts)
        opened = np.searchsorted(quotes, between) - in_row[np.searchsorted(ends, between)]
        between = between[opened % 2 == 0]
    first = np.searchsorted(between, starts)
    count = np.diff(np.append(first, len(between)))
    short = ends - starts <= MAX_ROW_BYTES
    whole = (count == wanted - 1) & short
    fields = _plain_fields(starts[whole], lasts[whole], first[whole], between, wanted)
    if len(quotes):
        quoted = np.diff(np.append(in_row, len(quotes)))
        block, whole, fields = _unquote(
            block, raw, (starts, lasts), whole, fields, quoted, short, form, wanted
        )
    if wanted > len(form.columns):
        low, high = fields(wanted - 1)
        empty, text = low == high, text_reader(form)
        for k in np.flatnonzero(~empty).tolist():
            empty[k] = text(block.raw[low[k] : high[k]]) == ""
        whole[np.flatnonzero(whole)[~empty]] = False
        fields = _some_rows(fields, empty)
    return Cut(block, starts, ends, whole, fields)


def _plain_fields(
    starts: Places, ends: Places, first: Places, between: Places, wanted: int
) -> Fields:
    """Return the positions of fields from those of the delimiters."""

    def fields(k: int) -> tuple[Places, Places]:
        low = starts if k == 0 else between[first + k - 1] + 1
        high = ends if k == wanted - 1 else between[first + k]
        return low, high

    return fields


def _some_rows(fields: Fields, mask: Mask) -> Fields:
    def some(k: int) -> tuple[Places, Places]:
        low, high = fields(k)
        return low[mask], high[mask]

    return some


def _unquote(
    block: Block,
    raw: bytes,
    rows: tuple[Places, Places],
    whole: Mask,
    fields: Fields,
    quoted: Places,
    short: Mask,
    form: FileFormat,
    wanted: int,
) -> tuple[Block, Mask, Fields]:
    """Remove quotes from fields.

    Rows in which all quotes are at the borders of fields are handled together. Other rows with
    quotes are parsed one by one, and their fields are appended to the block.
    """
    values = block.values

    def bordered(k: int) -> tuple[Places, Places, Mask]:
        low, high = fields(k)
        both = (values[low] == _QUOTE) & (values[high - 1] == _QUOTE) & (high - low >= 2)
        return low, high, both

    at_border = np.zeros(np.count_nonzero(whole), dtype=np.int64)
    for k in range(wanted):
        at_border += 2 * bordered(k)[2]
    simple = quoted[whole] == at_border
    plain = np.zeros(len(whole), dtype=np.bool_)
    plain[np.flatnonzero(whole)[simple]] = True
    split = quoted_fields(form)
    more, places, result = [], [], []
    end = len(raw)
    for row in np.flatnonzero(short & (quoted > 0) & ~plain).tolist():
        parts = split(raw[rows[0][row] : rows[1][row]])
        if parts is not None and len(parts) == wanted:
            lengths = np.cumsum([0, *map(len, parts)])
            result.append(row)
            places.append(end + lengths)
            more.extend(parts)
            end += int(lengths[-1])
    after = plain.copy()
    after[result] = True
    if not result:
        apart = np.zeros((0, wanted + 1), dtype=np.int64)
    else:
        apart = np.array(places, dtype=np.int64)
        block = Block.of(raw + b"".join(more))
    order = np.flatnonzero(after)
    fast, slow = plain[order], ~plain[order]

    def all_fields(k: int) -> tuple[Places, Places]:
        low, high = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
        plain_low, plain_high, both = (part[simple] for part in bordered(k))
        low[fast], high[fast] = plain_low + both, plain_high - both
        low[slow], high[slow] = apart[:, k], apart[:, k + 1]
        return low, high

    return block, after, all_fields


def quoted_fields(form: FileFormat) -> Callable[[bytes], list[bytes] | None]:
    """Return a function that splits one row, without its end, into unquoted fields.

    A field is quoted if its first character, after white space and a byte order mark, is a quote;
    in other fields quotes are text. The function returns None if a quote is not closed, or is
    followed by something other than white space.
    """
    delimiter = bytes([DELIMITERS[form.delimiter]])
    blank = re.escape(bytes(set(b" \t\r\n\v\f") - set(delimiter)))
    mark = b"\xef\xbb\xbf" if form.encoding.startswith("utf") else b"(?!)"
    # possessive: linear time for any row
    opened = re.compile(b'(?:[%b]|%b)*+"' % (blank, mark))
    closed = re.compile(b'((?:[^"]++|"")*+)"[%b]*+(?=%b|\\Z)' % (blank, re.escape(delimiter)))

    def split(row: bytes) -> list[bytes] | None:
        result: list[bytes] = []
        at = 0
        while True:
            if (start := opened.match(row, at)) is not None:
                field = closed.match(row, start.end())
                if field is None:
                    return None
                result.append(field[1].replace(b'""', b'"'))
                at = field.end()
            else:
                end = row.find(delimiter, at)
                end = len(row) if end < 0 else end
                result.append(row[at:end])
                at = end
            if at == len(row):
                return result
            at += 1

    return split


class _Work:
    """Anonymous temporary file, removed when it is closed or the process ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the rows

    def write(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values).data)

    def read(self, kind: type[np.generic]) -> NDArray[Any]:
        self._file.seek(0)
        return np.frombuffer(self._file.read(), dtype=kind)

    def close(self) -> None:
        self._file.close()


class _Wholes:
    """A column of integers."""

    def __init__(self, name: str, reader: WholeReader) -> None:
        self.name = name
        self._reader, self._values, self._readable = reader, _Work(), _Work()

    def close(self) -> None:
        self._values.close()
        self._readable.close()

    def add(self, block: Block, starts: Places, ends: Places) -> Mask:
        """Parse some rows; return which are readable."""
        values, readable = self._reader(block, starts, ends)
        self._values.write(values)
        self._readable.write(readable)
        return readable

    def read(self, order: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        return self._values.read(np.int64)[order], self._readable.read(np.bool_)[order]


class _Texts:
    """A column of texts, with a cache of distinct spellings."""

    def __init__(self, name: str, form: FileFormat, numbers: bool) -> None:
        self.name = name
        self._text = number_reader(form) if numbers else text_reader(form)
        self._numbers, self._codes = numbers, _Work()
        self._spelt: dict[bytes, int] = {}
        self._texts: list[str | None] = []
        self._readable: list[bool] = []

    def close(self) -> None:
        self._codes.close()

    def add(self, block: Block, starts: Places, ends: Places) -> Mask:
        """Parse some rows; return which are readable."""
        codes = np.empty(len(starts), dtype=np.int64)
        there = np.empty(len(starts), dtype=np.bool_)
        for k, (first, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            raw = block.raw[first:end]
            code = self._spelt.get(raw)
            if code is None:
                if len(self._spelt) >= MAX_SPELLINGS:
                    self._spelt.clear()
                code = self._spelt[raw] = len(self._texts)
                text = self._text(raw)
                self._texts.append(text)
                readable = text is not None
                if self._numbers:
                    readable = readable and read_decimal(text or "") is not None
                self._readable.append(readable)
            codes[k], there[k] = code, self._readable[code]
        self._codes.write(codes)
        return there

    def read(self, order: NDArray[np.intp]) -> list[str | None]:
        texts = self._texts
        return [texts[code] for code in self._codes.read(np.int64)[order].tolist()]
