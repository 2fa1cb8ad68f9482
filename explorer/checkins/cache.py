"""A folder of validated check-ins, so that a file opened before opens at once."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

CAPACITY = 10_000_000_000
"""Bytes the cache may take; the entries not used for longest go first."""

_VERSION = 1
_END = 1 << 20
_BUILDING = "building-"


def file_key(path: Path, settings: Any) -> str:
    """Return a name for this state of a file, read with these settings.

    Made of path, size, time of change and the first and last megabyte, so that it costs no pass
    over the file.
    """
    status = path.stat()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(_END))
        file.seek(max(status.st_size - _END, 0))
        digest.update(file.read(_END))
    facts = [
        _VERSION, str(path.resolve()), status.st_size, status.st_mtime_ns, digest.hexdigest(),
        settings,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:40]


def prepare(cache_dir: Path) -> None:
    """Make the folder, readable by its owner only, and remove what crashed loads left there."""
    cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    cache_dir.chmod(0o700)
    for left in cache_dir.glob(_BUILDING + "*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime < 60:  # perhaps just begun, not yet locked
                continue
        with try_lock(left) as ours:
            if ours:
                shutil.rmtree(left, ignore_errors=True)


class Entry:
    """A folder of the cache in use: locked, so that nobody removes it meanwhile."""

    def __init__(self, folder: Path, lasting: bool) -> None:
        self.folder = folder
        self.lasting = lasting
        self._lock: IO[str] | None = (folder / "lock").open("a")
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def file(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.folder / name

    def read_report(self) -> dict[str, Any]:
        """Return what `write_report` stored."""
        stored: dict[str, Any] = json.loads(self.file("report.json").read_text())
        return stored

    def write_report(self, report: dict[str, Any]) -> None:
        """Store a report; written last, so that an entry with one is whole."""
        self.file("report.json").write_text(json.dumps(report))

    def keep(self, cache_dir: Path, key: str) -> None:
        """Give a finished entry its lasting name and make room for it."""
        target = cache_dir / key
        if target.exists():
            shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process was faster: then ours stays temporary
            self.folder.rename(target)
            self.folder, self.lasting = target, True
        evict(cache_dir)

    def close(self) -> None:
        """Let go; a temporary entry is removed."""
        if self._lock is None:
            return
        self._lock.close()
        self._lock = None
        if not self.lasting:
            shutil.rmtree(self.folder, ignore_errors=True)


def new_entry(cache_dir: Path | None) -> Entry:
    """Make a temporary entry, in the cache or (None) in the system's temporary folder."""
    if cache_dir is not None:
        prepare(cache_dir)
    folder = tempfile.mkdtemp(
        prefix=_BUILDING if cache_dir is not None else "privacy-explorer-", dir=cache_dir
    )
    return Entry(Path(folder), lasting=False)


def find_entry(cache_dir: Path, key: str) -> Entry | None:
    """Return the entry of that name, marked as used now, or None."""
    folder = cache_dir / key
    if not (folder / "report.json").exists():
        return None
    try:
        entry = Entry(folder, lasting=True)
        os.utime(folder)
    except OSError:
        return None
    if not (folder / "report.json").exists():  # removed while we waited for the lock
        entry.close()
        return None
    return entry


@contextlib.contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Say whether nobody uses a folder, and keep it so inside the block."""
    try:
        file = (folder / "lock").open("a")
    except OSError:
        yield not (folder / "lock").exists()
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def discard(entry: Entry) -> None:
    """Remove a damaged entry."""
    entry.lasting = False
    entry.close()


def _entries(cache_dir: Path) -> list[Path]:
    if not cache_dir.is_dir():
        return []
    return [p for p in cache_dir.iterdir() if (p / "lock").exists()]


def _size(folder: Path) -> int:
    total = 0
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def cache_size(cache_dir: Path) -> int:
    """Return how many bytes the cache takes."""
    return sum(_size(folder) for folder in _entries(cache_dir))


def evict(cache_dir: Path, capacity: int | None = None) -> int:
    """Remove the entries unused for longest until the rest fits; those in use stay.

    Returns
    -------
    int
        Bytes freed.
    """
    capacity = CAPACITY if capacity is None else capacity
    folders = sorted(_entries(cache_dir), key=lambda p: p.stat().st_mtime_ns)
    sizes = {folder: _size(folder) for folder in folders}
    total, freed = sum(sizes.values()), 0
    for folder in folders:
        if total - freed <= capacity:
            break
        with try_lock(folder) as ours:
            if ours:
                shutil.rmtree(folder, ignore_errors=True)
                freed += sizes[folder]
    return freed


def clear_cache(cache_dir: Path) -> int:
    """Remove every entry that is not in use and return how many bytes that freed."""
    return evict(cache_dir, capacity=-1)
