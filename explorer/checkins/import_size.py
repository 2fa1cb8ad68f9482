"""How large a data set is, told from the beginnings of its files, and what its import takes."""

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
"""Rows up to which a data set is opened as one."""
SHARD_ROWS = 1_500_000
MAX_BITS = 12

MIN_BYTES_PER_ROW = 5
"""Of a file, however well it is packed: fewer bytes are surely fewer rows."""

_BYTES_A_ROW = 60
"""Of a shard, while it is ordered."""
_MEANWHILE, _KEPT = 60, 20
"""Bytes of the disk a row: all that is there at once at most, and what stays."""
_SECONDS = {True: 4e-6, False: 6e-6}
"""A guess for a row of Parquet and of text on one processor; what the first files took replaces it
as soon as they are read."""
QUICK_S = 10.0
"""What is estimated to take less is begun without asking."""
_INTERPRETER = 200_000_000
"""Bytes of a process that has imported all that an import needs."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportSize:
    """What an import takes.

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
    def said(self) -> str:
        """What is slow, for people, said before it begins."""
        time = f"{self.seconds / 60:,.0f} min" if self.seconds > 90 else f"{self.seconds:,.0f} s"
        kept = format_bytes(self.rows * _KEPT)
        return (
            f"About {self.rows:,} rows are more than are opened at once: they are sorted by user "
            f"on the disk first, once: some {time} (an estimate) with {format_bytes(self.disk)} of "
            f"disk, of which {kept} are kept. If it is stopped half-way by force, it goes on from "
            "there."
        )

    @property
    def slow(self) -> bool:
        """Whether people are asked before it begins."""
        return self.seconds >= QUICK_S


def max_rows_in_memory(memory: int) -> int:
    """Return up to how many rows a data set is opened at once within so many bytes."""
    return min(IN_MEMORY, memory // _BYTES_A_ROW)


def estimated_rows(files: DataFiles, dialect: Dialect) -> int:
    """Return about how many rows there are: exactly for Parquet, 0 for formats of few rows."""
    if dialect.reader == "parquet":
        return count_rows([part.path for part in files.parts])
    if not dialect.delimiter:
        return 0
    lines, size = 0.0, 0
    for part in files.parts[:3]:
        found, used = _lines(part.path)
        lines, size = lines + found, size + used
    whole = sum(part.path.stat().st_size for part in files.parts)
    return round(lines / max(size, 1) * whole)


def _lines(path: Path) -> tuple[int, int]:
    """Return the lines at the beginning of a file, and the bytes on the disk that they take."""
    with path.open("rb") as file:
        head = file.read(_PIECE)
    text = head
    if head.startswith(b"\x1f\x8b"):
        try:
            text = zlib.decompressobj(31).decompress(head)
        except zlib.error:  # damaged; reading it will say so
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
    """Return what an import of so many rows takes, within so many bytes of memory.

    By default it takes as many workers as there are processors and room in the memory.

    Raises
    ------
    CheckinError
        If the disk has not enough room.
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
