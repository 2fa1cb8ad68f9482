"""Hash of a data file's content, independent of compression and line endings."""

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
"""Bytes read or decompressed at a time."""
_GZIP = b"\x1f\x8b"
_BLANKS = re.compile(rb"(?<![ \t])[ \t]++(?=\n)")  # possessive: linear in the length of the run
_EMPTY = re.compile(rb"\n\n+")


class ContentHash:
    """SHA-256 of a text with LF line ends, without trailing blanks and without empty lines.

    User ids are not treated specially: the hash depends on the text only.
    """

    def __init__(self) -> None:
        self._sha256, self._rest = hashlib.sha256(), b""

    def update(self, block: bytes) -> None:
        """Add bytes."""
        block = self._rest + block
        whole = len(block.rstrip(b" \t\r\n"))
        if len(block) - whole > BLOCK:  # bounds the memory for a long run of blanks
            whole = len(block)
        self._add(block[:whole])
        self._rest = block[whole:]

    def hexdigest(self) -> str:
        """Return the digest; blanks at the end do not count."""
        return self._sha256.hexdigest()

    def _add(self, block: bytes) -> None:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b" \n" in block or b"\t\n" in block:
            block = _BLANKS.sub(b"", block)
        self._sha256.update(_EMPTY.sub(b"\n", block) if b"\n\n" in block else block)


def digests(file: BinaryIO) -> tuple[str, str]:
    """Return the SHA-256 of a file's bytes and that of its content, decompressed if it is a gzip.

    Parameters
    ----------
    file : BinaryIO
        Seekable, at its start. A damaged gzip counts up to the damage.
    """
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    raw, content = _Raw(file), ContentHash()
    source: BinaryIO | gzip.GzipFile | _Raw = gzip.GzipFile(fileobj=raw) if packed else raw
    with suppress(EOFError, zlib.error, gzip.BadGzipFile):
        while block := source.read(BLOCK):
            content.update(block)
    while raw.read(BLOCK):  # bytes after the archive are hashed too
        pass
    return raw.sha256.hexdigest(), content.hexdigest()


def file_digests(path: Path) -> tuple[str, str]:
    """Return `digests` of a file."""
    with path.open("rb") as file:
        return digests(file)


def unpacked_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, those inside if it is a gzip; up to any damage."""
    with path.open("rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        source: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
        result = hashlib.sha256()
        with suppress(EOFError, zlib.error, gzip.BadGzipFile):
            while block := source.read(BLOCK):
                result.update(block)
    return result.hexdigest()


class _Raw(io.RawIOBase):
    """File wrapper that hashes all bytes read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.sha256 = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.sha256.update(block)
        return block
