"""The ledger's secret key and the keyed marks of files, contents and user ids.

A plain hash of a data file lets anybody with a candidate file test for it; a keyed hash does not,
as long as the key is secret. The key is in its own file and in no export.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from explorer.release.errors import LedgerError
from explorer.user_rows import id_text

KEY_BYTES = 32
MARK_BYTES = 8
"""Length of an id's mark: among 10⁶ ids two collide with probability 5·10⁻⁸."""
_PERSON = b"person\n"


def key_file(ledger: Path) -> Path:
    """Return the path of a ledger's key: ``ledger.key`` beside ``ledger.sqlite``."""
    return ledger.with_suffix(".key")


def read_key(path: Path) -> bytes | None:
    """Return the key in a file, or None if there is no file; make the file private.

    Raises
    ------
    LedgerError
        If the file does not contain a key.
    """
    try:
        text = path.read_bytes()
        if path.stat().st_mode & 0o077:  # a copy that lost its mode could be read by others
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
        raise LedgerError(f"{path.name}: it holds no key; restore this ledger's key from a backup")
    return key


def make_key(path: Path, random_bytes: Callable[[int], bytes]) -> bytes:
    """Write a new key to a private file and return it; return the existing key if there is one."""
    key = random_bytes(KEY_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        result = read_key(path)
        assert result is not None
        return result
    except OSError as error:
        raise LedgerError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(key.hex().encode() + b"\n")
        file.flush()
        os.fsync(handle)
    return key


def key_check(key: bytes) -> str:
    """Return a check value by which a ledger recognises its own key."""
    return hmac.digest(key, b"check\n", sha256).hex()


def file_tag(key: bytes, release: str, file_sha256: str) -> str:
    """Return the tag of a data file in a certificate: HMAC-SHA256 of release id and SHA-256."""
    return hmac.digest(key, (release + file_sha256).encode("ascii"), sha256).hex()


def file_mark(key: bytes, file_sha256: str) -> bytes:
    """Return the keyed mark of a file."""
    return hmac.digest(key, b"file\n" + file_sha256.encode("ascii"), sha256)


def content_mark(key: bytes, content: str) -> bytes:
    """Return the keyed mark of a file's content (`explorer.release.content_hash`)."""
    return hmac.digest(key, b"content\n" + content.encode("ascii"), sha256)


def person_mark(key: bytes, name: str) -> bytes:
    """Return the keyed mark of a user id, normalised by `id_text`."""
    text = id_text(name) or ""
    return hmac.digest(key, _PERSON + text.encode("utf-8", "replace"), sha256)[:MARK_BYTES]


def person_marks(key: bytes, names: Iterable[str]) -> set[bytes]:
    """Return the set of the marks of ids."""
    return set(marks_in_order(key, names))


def marks_in_order(key: bytes, names: Iterable[str]) -> Iterator[bytes]:
    """Yield `person_mark` of every id, in order.

    The padded keys of HMAC are hashed once for all ids: 100,000 take 0.16 s instead of 0.38 s.
    """
    pad = key.ljust(sha256().block_size, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in pad) + _PERSON)
    outer = sha256(bytes(byte ^ 0x5C for byte in pad))
    for name in names:
        message, whole = inner.copy(), outer.copy()
        message.update((id_text(name) or "").encode("utf-8", "replace"))
        whole.update(message.digest())
        yield whole.digest()[:MARK_BYTES]
