"""What a data file says, however it is packed and its lines end: hashed to be recognised again."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

BLOCK = 1 << 20
"""Bytes that are read, or unpacked, at a time."""
_GZIP = b"\x1f\x8b"
_BLANKS = re.compile(rb"(?<![ \t])[ \t]++(?=\n)")  # linear: no run of blanks is begun twice
_EMPTY = re.compile(rb"\n\n+")


class ContentHash:
    """SHA-256 of bytes without blanks before line ends and without empty lines, ends being LF.

    It depends on nothing else, so never on ids: one that returns does not change a record.
    """

    def __init__(self) -> None:
        self._sha256, self._rest = hashlib.sha256(), b""

    def update(self, block: bytes) -> None:
        """Add bytes."""
        block = self._rest + block
        whole = len(block.rstrip(b" \t\r\n"))
        if len(block) - whole > BLOCK:  # a longer run of blanks is not held back
            whole = len(block)
        self._add(block[:whole])
        self._rest = block[whole:]

    def hexdigest(self) -> str:
        """Return the digest; what is blank at the end does not count."""
        return self._sha256.hexdigest()

    def _add(self, block: bytes) -> None:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b" \n" in block or b"\t\n" in block:
            block = _BLANKS.sub(b"", block)
        self._sha256.update(_EMPTY.sub(b"\n", block) if b"\n\n" in block else block)


def digests(file: BinaryIO) -> tuple[str, str]:
    """Return the SHA-256 of a file's bytes, and that of its content, unpacked if it is a gzip.

    The file is at its start and can be read again. A gzip that is broken ends where it is broken.
    """
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    raw, content = _Raw(file), ContentHash()
    source: BinaryIO | gzip.GzipFile | _Raw = gzip.GzipFile(fileobj=raw) if packed else raw
    with suppress(EOFError, zlib.error, gzip.BadGzipFile):
        while block := source.read(BLOCK):
            content.update(block)
    while raw.read(BLOCK):  # what is not unpacked is hashed too
        pass
    return raw.sha256.hexdigest(), content.hexdigest()


def file_digests(path: Path) -> tuple[str, str]:
    """Return `digests` of a file."""
    with path.open("rb") as file:
        return digests(file)


class _Raw(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.sha256 = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.sha256.update(block)
        return block
