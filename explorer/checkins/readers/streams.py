"""A file as a stream: decompressed, decoded, cut into blocks of whole lines."""

import codecs
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from explorer.checkins.errors import CheckinError, UnpackNeeded, shown_name
from explorer.checkins.model import Dialect
from explorer.checkins.readers.archives import inflated
from explorer.checkins.readers.encodings import UTF_8
from explorer.checkins.scan import Damage

CHUNK = 1 << 18
"""Bytes at a time: stays in the processor's cache, and no other thread waits long for ours."""

MAX_LINE = 1 << 20
"""Longer lines are rejected."""


UNPACKED_FREELY = 1 << 28
MAX_RATIO = 1000
"""What unpacks to more bytes than the first must not be so many times larger than it is packed, and
must leave `FREE_BYTES` on the disk for temporary files. Check-ins: 4 to 15 times; zeros: 1,030."""
FREE_BYTES = 1 << 28


def raw_chunks(
    path: Path, dialect: Dialect, digest: Any, damage: Damage, tick: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield the file's bytes, decompressed if it is an archive, in pieces of up to 256 KB.

    Parameters
    ----------
    path : Path
    dialect : Dialect
    digest : hashlib object or None
        Fed with the bytes as they are on disk, to the last one.
    damage : Damage
        Told what is wrong with an archive.
    tick : callable
        Called with the bytes on disk used so far; may raise to stop.

    Raises
    ------
    UnpackNeeded
        If an archive unpacks to more than check-ins would, and nobody confirmed it.
    CheckinError
        If too little room is left for what it unpacks to.
    """
    done = 0

    def chunks() -> Iterator[bytes]:
        nonlocal done
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                done += len(chunk)
                if digest is not None:
                    digest.update(chunk)
                tick(done)
                yield chunk

    if not dialect.compressed:
        yield from chunks()
        return
    size = checked = 0
    for piece in inflated(chunks(), damage):
        size += len(piece)
        if size > UNPACKED_FREELY and size > MAX_RATIO * done and not dialect.unpack:
            raise UnpackNeeded(
                f"{shown_name(path)} unpacks to more than {MAX_RATIO:,} times its size, which "
                "check-ins never do. Read it only if you trust it."
            )
        if size - checked > UNPACKED_FREELY:
            checked, free = size, shutil.disk_usage(tempfile.gettempdir()).free
            if free < FREE_BYTES:
                raise CheckinError(
                    f"{shown_name(path)} unpacks to {size / 1e9:,.1f} GB and more, and only "
                    f"{free / 1e6:,.0f} MB are left on the disk for temporary files. Make room, or "
                    "open a part of the file."
                )
        tick(done)
        yield piece


def decoded_chunks(chunks: Iterator[bytes], dialect: Dialect) -> Iterator[bytes]:
    """Yield UTF-8 without a byte-order mark; bytes that claim to be UTF-8 pass unchecked."""
    if dialect.line_end == "\r":
        return (text.replace(b"\r", b"\n") for text in _utf8(chunks, dialect.encoding))
    return _utf8(chunks, dialect.encoding)


def _invalid(error: UnicodeError) -> tuple[str, int]:
    """Return a lone surrogate for bytes that are no characters: it is not valid UTF-8 either."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udc80", error.end


codecs.register_error("lone-surrogate", _invalid)


def _utf8(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding not in UTF_8:
        decoder = codecs.getincrementaldecoder(encoding)(errors="lone-surrogate")
        first = True
        for chunk in chain(chunks, (b"",)):
            text = decoder.decode(chunk, not chunk)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            yield text.encode("utf-8", "surrogatepass")
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
