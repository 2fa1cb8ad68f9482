"""The data file of a release: read once, hashed while that, every row by itself.

No row decides how another one is read: there is no guess, no quote that spans rows, no error a row
could raise, and none is counted. What can't be read is left out; nothing says so.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.release.errors import ReleaseError
from explorer.release.mechanisms.base import Reads
from explorer.release.people import People
from explorer.release.rows.format import DELIMITERS, HEADERS, LAT, LON, TIME, USER, FileFormat
from explorer.release.rows.ids import KEPT, Users
from explorer.release.rows.values import coordinate_reader, text_reader, time_reader, zone_of
from explorer.release.rows.vectors import (
    Block,
    Places,
    WholeReader,
    coordinates,
    iso_times,
    other_times,
    unix_times,
)

BLOCK = 8 << 20
"""Bytes that are read at a time."""
LONGEST_ROW = 1 << 20
"""Bytes of a row, its end left out; longer ones can't be read."""
NEWLINE = 10
GZIP = ".gz"
"""A file whose name ends so is unpacked: the name is the plan's, not the file's."""


@dataclass(frozen=True)
class ReadFile:
    """What was read of a file: curator only.

    Attributes
    ----------
    people : People
    sha256 : str
        Of the file's bytes as they are on disk, in hexadecimal digits.
    ids : tuple of str
        Of the users, in the order of `people`.
    """

    people: People
    sha256: str
    ids: tuple[str, ...]


def read_file(path: Path, form: FileFormat, reads: Reads) -> ReadFile:
    """Read a file once, in a declared format.

    Parameters
    ----------
    path : Path
    form : FileFormat
    reads : Reads
        Which columns are needed; others are not looked at.

    Raises
    ------
    ReleaseError
        If the file can't be read at all, or its archive is broken: never for what a row holds.
    """
    try:
        with path.open("rb") as file, Rows(form, reads) as rows:
            hashed = _Hashed(file)
            unpacked = gzip.GzipFile(fileobj=hashed) if path.name.endswith(GZIP) else hashed
            for block in blocks(unpacked.read, BLOCK):
                rows.add(block)
            while hashed.read(BLOCK):  # what may follow an archive is hashed too
                pass
            return ReadFile(rows.people(), hashed.sha256.hexdigest(), rows.ids)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        # what is wrong may be told with the checksum of all rows: that is for nobody's screen
        raise ReleaseError("data: the archive is broken; fetch it again") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ReleaseError(
                f"data: there is no room for what is read in {tempfile.gettempdir()}; free as much "
                "as the file takes"
            ) from None
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(f"data: the file can't be read ({reason}); check its path") from None


class _Hashed(io.RawIOBase):
    """A file that is hashed while it is read."""

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


def blocks(read: Callable[[int], bytes], size: int) -> Iterator[bytes]:
    """Yield whole rows, each with its end, many at a time; those too long are left out.

    Parameters
    ----------
    read : callable
        Returns so many bytes, fewer only at the file's end.
    size : int
        Bytes read at a time.
    """
    left, skipped = b"", False
    while data := read(size):
        if skipped:
            end = data.find(b"\n") + 1
            skipped, data = not end, data[end:]
            if skipped:
                continue
        rows = left + data
        end = rows.rfind(b"\n") + 1
        if end:
            yield rows[:end]
        left = rows[end:]
        if len(left) > LONGEST_ROW:
            left, skipped = b"", True
    if left:
        yield left + b"\n"


class Rows:
    """Rows that are being read, in private work files that have no names."""

    def __init__(self, form: FileFormat, reads: Reads) -> None:
        self._form, self._reads = form, reads
        self._text = text_reader(form)
        self._wholes: dict[str, _Wholes] = {}
        for name in (LAT, LON) * reads.places + (TIME,) * reads.times:
            self._wholes[name] = _Wholes(name, _reader(name, form))
        self._texts = {name: _Texts(name, self._text) for name in reads.texts}
        self._codes = _Work()
        self._users = Users(self._text)
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
        """The ids of the users, in the order in which they were first read."""
        return self._users.ids

    def add(self, raw: bytes) -> None:
        """Read some whole rows, each with its end."""
        block, names = Block.of(raw), self._form.columns
        fields = _fields(block, len(raw), DELIMITERS[self._form.delimiter], len(names))
        starts, ends = fields(names.index(USER))
        rows = np.arange(len(starts))
        if self._header is not None:
            rows = np.flatnonzero(~self._header.found(block, fields))
        codes = self._users.codes(block, starts[rows], ends[rows])
        kept = rows[codes >= 0]
        codes = codes[codes >= 0]
        self._codes.write(codes)
        for column in self._columns():
            starts, ends = fields(names.index(column.name))
            column.add(block, starts[kept], ends[kept])

    def people(self) -> People:
        """Return all rows, a user's together."""
        codes = self._codes.read(np.int32)
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(self.ids))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        found = {name: column.read(order) for name, column in self._wholes.items()}
        nothing = (None, None)
        (lat, north), (lon, east) = found.get(LAT, nothing), found.get(LON, nothing)
        time, timed = found.get(TIME, nothing)
        placed = None if north is None or east is None else north & east
        texts = {name: column.read(order) for name, column in self._texts.items()}
        return People(starts, lat, lon, placed, time, timed, texts)


class _Header:
    """Tells rows that only name the columns: each by itself, wherever it stands.

    That of the first row alone would not do. Were it left out because it is the first, then in a
    file without a header it would be somebody's, and whoever came next would lose one, too, if
    that somebody were not in the file: one user would change what another contributes. Left out
    are all rows in which no place and no time can be read; of files that have neither, all rows
    that have the declared names.
    """

    def __init__(self, form: FileFormat) -> None:
        self._names = form.columns
        self._text = text_reader(form)
        self._readers = {
            name: _reader(name, form) for name in (LAT, LON, TIME) if name in form.columns
        }
        others = tuple(name for name in form.columns if name != USER)
        self._named = others or form.columns

    def found(self, block: Block, fields: Fields) -> NDArray[np.bool_]:
        """Return which rows are such."""
        starts, _ = fields(0)
        rows = np.arange(len(starts))
        for name, reader in self._readers.items():
            starts, ends = (part[rows] for part in fields(self._names.index(name)))
            rows = rows[~reader(block, starts, ends).readable]
        if not self._readers:
            rows = self._spelt(block, fields, rows)
        found = np.zeros(len(fields(0)[0]), dtype=np.bool_)
        found[rows] = True
        return found

    def _spelt(self, block: Block, fields: Fields, rows: Places) -> Places:
        for name in self._named:
            starts, ends = fields(self._names.index(name))
            pairs = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
            same = [self._names_it(block.raw[first:end], name) for first, end in pairs]
            rows = rows[np.array(same, dtype=np.bool_)]
        return rows

    def _names_it(self, raw: bytes, name: str) -> bool:
        # half of all rows need not be decoded to see that they are longer than any spelling
        return len(raw) <= 8 * len(name) + 64 and (
            (self._text(raw) or "").casefold() == name.strip().casefold()
        )


def _reader(name: str, form: FileFormat) -> WholeReader:
    """Return what reads coordinates or times off many rows."""
    if name == TIME:
        return _times(form)
    most = 90 if name == LAT else 180
    return partial(coordinates, most=most, slow=coordinate_reader(form, most))


def _times(form: FileFormat) -> WholeReader:
    slow = time_reader(form)
    if form.time_format == "iso":
        return partial(iso_times, zone=zone_of(form), slow=slow)
    if form.time_format in ("unix", "unix-ms"):
        return partial(unix_times, unit=1 if form.time_format == "unix" else 1000, slow=slow)
    return partial(other_times, slow=lru_cache(KEPT)(slow))


Fields = Callable[[int], tuple[Places, Places]]
"""Where the fields of a column begin and end in whole rows."""


def _fields(block: Block, size: int, delimiter: int, columns: int) -> Fields:
    """Return where the fields of a column begin and end, in rows that have all and no more."""
    values = block.values[:size]
    ends = np.flatnonzero(values == NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    between = np.flatnonzero(values == delimiter)
    first = np.searchsorted(between, starts)
    count = np.diff(np.append(first, len(between)))
    whole = (count == columns - 1) & (ends - starts <= LONGEST_ROW)
    starts, ends, first = starts[whole], ends[whole], first[whole]
    # white space around values is taken off; of this one there may be much, in files from Windows
    ends = ends - ((ends > starts) & (block.values[ends - 1] == 13))

    def fields(k: int) -> tuple[Places, Places]:
        low = starts if k == 0 else between[first + k - 1] + 1
        high = ends if k == columns - 1 else between[first + k]
        return low, high

    return fields


class _Work:
    """A file without a name that only this process sees, gone when it is closed or killed."""

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
    """A column of whole numbers."""

    def __init__(self, name: str, reader: WholeReader) -> None:
        self.name = name
        self._reader, self._values, self._readable = reader, _Work(), _Work()

    def close(self) -> None:
        self._values.close()
        self._readable.close()

    def add(self, block: Block, starts: Places, ends: Places) -> None:
        values, readable = self._reader(block, starts, ends)
        self._values.write(values)
        self._readable.write(readable)

    def read(self, order: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        return self._values.read(np.int64)[order], self._readable.read(np.bool_)[order]


class _Texts:
    """A column of texts: each spelling is kept once, as long as there are not too many."""

    def __init__(self, name: str, text: Callable[[bytes], str | None]) -> None:
        self.name = name
        self._text, self._codes = text, _Work()
        self._spelt: dict[bytes, int] = {}
        self._texts: list[str | None] = []

    def close(self) -> None:
        self._codes.close()

    def add(self, block: Block, starts: Places, ends: Places) -> None:
        codes = np.empty(len(starts), dtype=np.int64)
        for k, (first, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            raw = block.raw[first:end]
            code = self._spelt.get(raw)
            if code is None:
                if len(self._spelt) >= KEPT:
                    self._spelt.clear()
                code = self._spelt[raw] = len(self._texts)
                self._texts.append(self._text(raw))
            codes[k] = code
        self._codes.write(codes)

    def read(self, order: NDArray[np.intp]) -> list[str | None]:
        texts = self._texts
        return [texts[code] for code in self._codes.read(np.int64)[order].tolist()]
