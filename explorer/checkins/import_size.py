"""Size estimates of data sets and the resources their import takes."""

from __future__ import annotations

import os
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path

from explorer.checkins.errors import CheckinError
from explorer.checkins.memory import format_bytes
from explorer.checkins.model import Dialect
from explorer.checkins.readers.parquet import count_rows
from explorer.checkins.sources import DataFiles

IN_MEMORY = 30_000_000
"""Maximum number of rows of a data set held in memory."""
SHARD_ROWS = 1_500_000
MAX_BITS = 12

MIN_BYTES_PER_ROW = 5
"""Lower bound of a file's bytes per row, for any compression."""

_BYTES_A_ROW = 60
"""Bytes per row of a shard while it is sorted."""
_MEANWHILE, _KEPT = 60, 20
"""Disk bytes per row: peak during the import, and permanent."""
_SECONDS = {True: 4e-6, False: 6e-6}
"""Initial estimates per row of Parquet and of text on one processor; the measured time of the first
files replaces them."""
QUICK_S = 10.0
"""Imports estimated to be faster start without confirmation."""
_INTERPRETER = 200_000_000
"""Bytes of a process with all imports of an import step."""
_CHUNK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportSize:
    """Resources of an import.

    Attributes
    ----------
    rows : int
        Estimated.
    bits : int
        The hashes' leading bits: there are 2^bits shards.
    workers : int
    memory : int
        Bytes that the database of each worker may use.
    seconds : float
        Estimated.
    disk : int
        Bytes that the disk must have.
    """

    rows: int
    bits: int
    workers: int
    memory: int
    seconds: float
    disk: int

    @property
    def notice(self) -> str:
        """Message about duration and disk space, shown before the import begins."""
        time = f"{self.seconds / 60:,.0f} min" if self.seconds > 90 else f"{self.seconds:,.0f} s"
        permanent = format_bytes(self.rows * _KEPT)
        return (
            f"About {self.rows:,} rows are too many to be opened at once and are sorted by user on "
            f"disk first. This takes about {time} (an estimate) and {format_bytes(self.disk)} of "
            f"disk space, of which {permanent} stay in use. An interrupted import is continued."
        )

    @property
    def slow(self) -> bool:
        """Whether the user must confirm the import."""
        return self.seconds >= QUICK_S


def max_rows_in_memory(memory: int) -> int:
    """Return the maximum number of rows held in memory for a memory limit in bytes."""
    return min(IN_MEMORY, memory // _BYTES_A_ROW)


def estimated_rows(files: DataFiles, dialect: Dialect) -> int:
    """Return the estimated number of rows: exact for Parquet, 0 for formats of few rows."""
    if dialect.reader == "parquet":
        return count_rows([part.path for part in files.parts])
    if not dialect.delimiter:
        return 0
    lines, size = 0.0, 0
    for part in files.parts[:3]:
        line_count, used = _lines(part.path)
        lines, size = lines + line_count, size + used
    whole = sum(part.path.stat().st_size for part in files.parts)
    return round(lines / max(size, 1) * whole)


def _lines(path: Path) -> tuple[int, int]:
    """Return the lines at the beginning of a file and the disk bytes they occupy."""
    with path.open("rb") as file:
        head = file.read(_CHUNK_SIZE)
    text = head
    if head.startswith(b"\x1f\x8b"):
        try:
            text = zlib.decompressobj(31).decompress(head)
        except zlib.error:  # damaged, which is reported when it is read
            return 0, len(head)
    return text.count(b"\n"), len(head)


def plan_import(
    rows: int,
    dialect: Dialect,
    memory: int,
    folder: Path,
    shard_rows: int | None = None,
    workers: int | None = None,
) -> ImportSize:
    """Return the resources of an import within a memory limit in bytes.

    By default as many workers as processors and memory allow.

    Raises
    ------
    CheckinError
        If there is not enough disk space.
    """
    processors = min(os.cpu_count() or 1, 8)
    workers = workers or max(1, min(processors, memory // (2 * _INTERPRETER) - 1))
    each = max((memory - _INTERPRETER) // workers - _INTERPRETER, 100_000_000)
    fitting = shard_rows or min(SHARD_ROWS, each // _BYTES_A_ROW // 4)
    bits = max(1, min(MAX_BITS, (max(rows, 1) // max(fitting, 1)).bit_length()))
    seconds = rows * _SECONDS[dialect.reader == "parquet"] / workers
    size = ImportSize(rows, bits, workers, each, seconds, rows * (_MEANWHILE + _KEPT))
    free = shutil.disk_usage(folder).free
    if free < size.disk:
        raise CheckinError(
            f"About {rows:,} rows are sorted on the disk, which takes {format_bytes(size.disk)}, "
            f"but {format_bytes(free)} are free there. Make room, choose another disk with the "
            "environment variable XDG_CACHE_HOME, or open fewer of the files."
        )
    return size
