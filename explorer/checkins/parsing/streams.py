"""Reads a file as a stream: decompressed, decoded, in blocks of whole lines."""

from __future__ import annotations

import codecs
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from explorer.checkins.errors import CheckinError, UnpackNeeded, shown_name
from explorer.checkins.model import Dialect
from explorer.checkins.parsing.encodings import UTF_8
from explorer.checkins.scan import Damage

CHUNK_BYTES = 1 << 18
"""Maximum decompressed bytes per piece."""

_GZIP = 31
"""zlib window bits for members with header, checksum and length."""

_MAGIC = b"\x1f\x8b"

_CHECKS = {"incorrect data check": "checksum", "incorrect length check": "length"}
"""zlib messages for wrong trailer fields."""


def decompress(chunks: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """Yield the contents of a gzip archive up to its end or its first defect.

    Archives joined end to end are one. A wrong checksum or length costs nothing but trust.

    Parameters
    ----------
    chunks : iterator of bytes
        The archive. It is read to its end even if that is of no use any more.
    damage : Damage
        Receives the problems of the file.
    """
    unzip = zlib.decompressobj(_GZIP)
    place, skip, used = 0, 0, False
    for chunk in chunks:
        data = chunk[skip:]
        skip = max(0, skip - len(chunk))
        place += len(chunk)
        while data:
            if unzip.eof:
                data = data.lstrip(b"\0")  # tapes are filled up with zeros
                if not data:
                    break
                if not _MAGIC.startswith(data[:2]):
                    left = len(data) + sum(map(len, chunks))
                    damage.notes.append(
                        f"The last {left:,} bytes of the file are no part of the archive and were "
                        "left out."
                    )
                    return
                unzip, used = zlib.decompressobj(_GZIP), False
            before, used = unzip.copy(), True
            try:
                piece = unzip.decompress(data, CHUNK_BYTES)
            except zlib.error as fault:
                pieces, at = _up_to_fault(before, data)
                yield from pieces
                at += place - len(data)
                what = _CHECKS.get(_reason(fault))
                if what is not None:
                    damage.notes.append(
                        f"The archive's {what} does not fit what is in it: all was read, but some "
                        "of it may have been changed on the way. Fetch the file again to be sure."
                    )
                    # The checksum's fourth byte is the one that fails; the length follows it.
                    behind = at + (5 if what == "checksum" else 1) - (place - len(data))
                    skip, data = max(0, behind - len(data)), data[behind:]
                    unzip = _at_end()
                    continue
                total = place + sum(map(len, chunks))
                damage.cut = True
                damage.notes.append(
                    f"The archive is damaged at byte {at + 1:,} of {total:,} ({_reason(fault)}): "
                    "what comes before was read, and its last rows may be wrong. Fetch the file "
                    "again."
                )
                return
            yield piece
            data = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
        while used and not unzip.eof and (piece := unzip.decompress(b"", CHUNK_BYTES)):
            yield piece
    if used and not unzip.eof:
        if _only_the_checksum_is_missing(unzip):
            damage.notes.append(
                "The archive ends within its checksum: all was read, but could not be verified."
            )
        else:
            damage.cut = True
            damage.notes.append("The archive ends too early; everything before the break was read.")


def _at_end() -> zlib._Decompress:
    """Return a decompressor at the end of its stream."""
    unzip = zlib.decompressobj(-15)
    unzip.decompress(b"\x03\0")
    return unzip


def _reason(fault: zlib.error) -> str:
    return str(fault).rpartition(": ")[2]


def _up_to_fault(unzip: zlib._Decompress, data: bytes) -> tuple[list[bytes], int]:
    """Return the data decompressible before a defect, and the position of the defect.

    An exception takes with it what the failing call had decompressed, so the calls get smaller.
    """
    pieces, at = [], 0
    for step in (4096, 64, 1):
        while True:
            trial = unzip.copy()
            try:
                piece = trial.decompress(data[at : at + step])
            except zlib.error:
                break
            unzip = trial
            pieces.append(piece)
            at += step
    rest = data[at : at + 1]
    while True:  # of the byte that fails, every code before the failing one
        try:
            piece = unzip.decompress(rest, 1)
        except zlib.error:
            return pieces, at
        pieces.append(piece)
        rest = unzip.unconsumed_tail


def _only_the_checksum_is_missing(unzip: zlib._Decompress) -> bool:
    """Return whether a member lacks only (part of) its eight trailer bytes.

    Within them, four more bytes complete a checksum, which is then wrong, or a length. Before them,
    four bytes can't: the contents would have to end first.
    """
    try:
        unzip.copy().decompress(b"\xaa\x55\xaa\x55")
    except zlib.error as fault:
        return _reason(fault) in _CHECKS
    return False


CHUNK = 1 << 18
"""Bytes per read: fit into the cache and block other threads only briefly."""

MAX_LINE = 1 << 20
"""Maximum length of a line in bytes; longer lines are rejected."""


UNPACKED_FREELY = 1 << 28
MAX_RATIO = 1000
"""Archives that unpack to more than `UNPACKED_FREELY` bytes and `MAX_RATIO` times their size need
confirmation; `FREE_BYTES` of disk must stay free. Ratios: check-ins 4–15, zeros 1,030."""
FREE_BYTES = 1 << 28


def raw_chunks(
    path: Path, dialect: Dialect, digest: Any, damage: Damage, tick: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in pieces of up to 256 KB.

    Parameters
    ----------
    path : Path
    dialect : Dialect
    digest : hashlib object or None
        Fed with the bytes as they are on disk, to the last one.
    damage : Damage
        Receives the problems of an archive.
    tick : callable
        Called with the bytes on disk used so far; may raise to stop.

    Raises
    ------
    UnpackNeeded
        If an archive unpacks to an implausible size without confirmation.
    CheckinError
        If there is too little disk space to unpack it.
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
    for piece in decompress(chunks(), damage):
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
    """Yield UTF-8 without byte-order mark; input declared as UTF-8 is not validated."""
    if dialect.line_end == "\r":
        return (text.replace(b"\r", b"\n") for text in _utf8(chunks, dialect.encoding))
    return _utf8(chunks, dialect.encoding)


def _invalid(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid bytes to a lone surrogate, which is invalid in UTF-8 too."""
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
    """Split a stream into blocks of whole lines; a line over `MAX_LINE` yields its length.

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
