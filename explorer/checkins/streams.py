"""A file as a stream: decompressed, decoded, cut into blocks of whole lines."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.checkins.model import Dialect

CHUNK = 1 << 18
"""Bytes at a time: stays in the processor's cache, and no other thread waits long for ours."""

MAX_LINE = 1 << 20
"""Longer lines are set aside."""


def raw_chunks(
    path: Path, compressed: bool, digest: Any, notes: list[str], tick: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield the file's bytes, decompressed if it is an archive, in pieces of about 1 MB.

    A truncated or damaged archive yields everything before the break and leaves a note.

    Parameters
    ----------
    digest : hashlib object or None
        Fed with the bytes as they are on disk.
    tick : callable
        Called with the bytes on disk used so far; may raise to stop.
    """
    done = 0
    with path.open("rb") as file:
        unzip = zlib.decompressobj(wbits=31) if compressed else None
        while chunk := file.read(CHUNK):
            done += len(chunk)
            if digest is not None:
                digest.update(chunk)
            tick(done)
            if unzip is None:
                yield chunk
                continue
            try:
                while chunk:
                    yield unzip.decompress(chunk, CHUNK)
                    tick(done)
                    chunk = unzip.unconsumed_tail
                    if unzip.eof:
                        chunk = unzip.unused_data.lstrip(b"\0")
                        if chunk:  # archives may be joined end to end
                            unzip = zlib.decompressobj(wbits=31)
            except zlib.error as fault:
                notes.append(
                    f"The archive is damaged ({fault}); everything before the damage was read."
                )
                for rest in iter(lambda: file.read(CHUNK), b""):
                    done += len(rest)
                    if digest is not None:
                        digest.update(rest)
                    tick(done)
                return
        while unzip is not None and (rest := unzip.decompress(b"", CHUNK)):
            yield rest
        if unzip is not None and not unzip.eof:
            notes.append("The archive ends too early; everything before the break was read.")


def decoded_chunks(chunks: Iterator[bytes], dialect: Dialect) -> Iterator[bytes]:
    """Yield UTF-8 without a byte-order mark; bytes that claim to be UTF-8 pass unchecked."""
    if dialect.line_end == "\r":
        return (text.replace(b"\r", b"\n") for text in _utf8(chunks, dialect.encoding))
    return _utf8(chunks, dialect.encoding)


def _utf8(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in ("utf-16", "latin-1"):
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        for chunk in chunks:
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", True).encode()
    elif encoding == "utf-8-sig":
        start = b""
        for chunk in chunks:
            start += chunk
            if len(start) >= 3:
                break
        yield start.removeprefix(codecs.BOM_UTF8)
        yield from chunks
    else:
        yield from chunks


def blocks(chunks: Iterator[bytes]) -> Iterator[bytes | int]:
    """Cut a stream into pieces of whole lines; a line over `MAX_LINE` comes as its length.

    Only the last piece may lack its final newline.
    """
    rest = b""
    dropped = 0
    for chunk in chunks:
        if dropped:
            end = chunk.find(b"\n")
            if end < 0:
                dropped += len(chunk)
                continue
            yield dropped + end + 1
            dropped, chunk = 0, chunk[end + 1 :]
        end = chunk.find(b"\n")
        if end >= 0:
            if len(rest) + end > MAX_LINE:
                yield len(rest) + end + 1
                rest, chunk = b"", chunk[end + 1 :]
            last = chunk.rfind(b"\n") + 1
            if rest or last:
                yield rest + chunk[:last]
            rest = chunk[last:]
        else:
            rest += chunk
            if len(rest) > MAX_LINE:
                dropped, rest = len(rest), b""
    if dropped:
        yield dropped
    elif rest:
        yield rest
