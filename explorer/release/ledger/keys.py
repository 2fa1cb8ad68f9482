"""The ledger's key, in a file of its own: what it marks is recognised here and nowhere else.

A plain hash of a data file is a membership test for who holds a candidate; a keyed one is not, as
long as the key stays. It is in no export.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from explorer.release.ledger.errors import LedgerError
from explorer.user_rows import id_text

KEY_BYTES = 32
MARK_BYTES = 8
"""Of a person: two of 10⁶ people look alike with chance 5·10⁻⁸."""
_PERSON = b"person\n"


def key_file(ledger: Path) -> Path:
    """Return where a ledger's key is: ``ledger.key`` beside ``ledger.sqlite``."""
    return ledger.with_suffix(".key")


def read_key(path: Path) -> bytes | None:
    """Return a key, or None if there is no such file; from then on it is its owner's alone.

    Raises
    ------
    LedgerError
        If the file holds no key.
    """
    try:
        text = path.read_bytes()
        if path.stat().st_mode & 0o077:  # copied by what does not keep modes: others could read it
            with suppress(OSError):
                path.chmod(0o600)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    try:
        key = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise LedgerError(f"{path.name}: it holds no key; put back the one of this ledger")
    return key


def make_key(path: Path, random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a fresh key that is on disk, for its owner alone; one that is there is kept."""
    key = random_bytes(KEY_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = read_key(path)
        assert found is not None
        return found
    except OSError as error:
        raise LedgerError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(key.hex().encode() + b"\n")
        file.flush()
        os.fsync(handle)
    return key


def key_check(key: bytes) -> str:
    """Return what tells a ledger that a key is its own, and no more."""
    return hmac.digest(key, b"check\n", sha256).hex()


def file_tag(key: bytes, release: str, file_sha256: str) -> str:
    """Return HMAC-SHA256 of a release's id and a file's SHA-256, as certificates hold it."""
    return hmac.digest(key, (release + file_sha256).encode("ascii"), sha256).hex()


def file_mark(key: bytes, file_sha256: str) -> bytes:
    """Return how a file is recognised in the ledger."""
    return hmac.digest(key, b"file\n" + file_sha256.encode("ascii"), sha256)


def content_mark(key: bytes, content: str) -> bytes:
    """Return how a file's content is recognised, however it is packed and its lines end."""
    return hmac.digest(key, b"content\n" + content.encode("ascii"), sha256)


def person_mark(key: bytes, name: str) -> bytes:
    """Return how an id is recognised, by `id_text`."""
    text = id_text(name) or ""
    return hmac.digest(key, _PERSON + text.encode("utf-8", "replace"), sha256)[:MARK_BYTES]


def person_marks(key: bytes, names: Iterable[str]) -> set[bytes]:
    """Return the marks of many ids."""
    return set(marks_in_order(key, names))


def marks_in_order(key: bytes, names: Iterable[str]) -> Iterator[bytes]:
    """Yield `person_mark` of every id.

    What HMAC begins both hashes with is hashed once for all: 100,000 ids take 0.16 s in place of
    0.38 s.
    """
    pad = key.ljust(sha256().block_size, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in pad) + _PERSON)
    outer = sha256(bytes(byte ^ 0x5C for byte in pad))
    for name in names:
        message, whole = inner.copy(), outer.copy()
        message.update((id_text(name) or "").encode("utf-8", "replace"))
        whole.update(message.digest())
        yield whole.digest()[:MARK_BYTES]
