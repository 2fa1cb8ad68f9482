"""A gzip archive as a stream that gives out all there is before a fault, and says what is wrong."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from explorer.checkins.scan import Damage

PIECE = 1 << 18
"""Decompressed bytes at a time."""

_GZIP = 31
"""zlib's window bits for members with header, checksum and length."""

_MAGIC = b"\x1f\x8b"

_CHECKS = {"incorrect data check": "checksum", "incorrect length check": "length"}
"""What zlib says of the two fields behind the contents."""


def inflated(chunks: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """Yield what a gzip archive holds, up to its end or the first bit that makes no sense.

    Archives joined end to end are one. A wrong checksum or length costs nothing but trust.

    Parameters
    ----------
    chunks : iterator of bytes
        The archive. It is read to its end even if that is of no use any more.
    damage : Damage
        Told what is wrong.
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
                piece = unzip.decompress(data, PIECE)
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
                    unzip = _ended()
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
        while used and not unzip.eof and (piece := unzip.decompress(b"", PIECE)):
            yield piece
    if used and not unzip.eof:
        if _only_the_checksum_is_missing(unzip):
            damage.notes.append(
                "The archive ends within its checksum: all was read, but could not be verified."
            )
        else:
            damage.cut = True
            damage.notes.append("The archive ends too early; everything before the break was read.")


def _ended() -> zlib._Decompress:
    """Return a decompressor that is at its end."""
    unzip = zlib.decompressobj(-15)
    unzip.decompress(b"\x03\0")
    return unzip


def _reason(fault: zlib.error) -> str:
    return str(fault).rpartition(": ")[2]


def _up_to_fault(unzip: zlib._Decompress, data: bytes) -> tuple[list[bytes], int]:
    """Return all that can be decompressed of data with a fault in it, and the fault's place.

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
    """Tell whether a member lacks nothing but (part of) its last eight bytes.

    Within them, four more bytes complete a checksum, which is then wrong, or a length. Before them,
    four bytes can't: the contents would have to end first.
    """
    try:
        unzip.copy().decompress(b"\xaa\x55\xaa\x55")
    except zlib.error as fault:
        return _reason(fault) in _CHECKS
    return False
