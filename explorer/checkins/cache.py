"""Cache of validated check-ins, by which files that were opened before open at once.

The checksums of an entry's files are verified whenever it is opened, so that bit errors on the disk
cannot change check-ins.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import xxhash

from explorer.files import private_file, private_folder, temporary, write_whole

CAPACITY = 10_000_000_000
"""Maximum size in bytes; the least recently used entries are removed first."""

_VERSION = 6
"""Raised when entries, or what is guessed about files, change."""
_END, _MIN_END = 1 << 20, 1 << 12
_BUILDING = "building-"
_SCRATCH = "privacy-explorer-"
_SCRATCH_NAME = re.compile(_SCRATCH + r"\w{8}", re.ASCII)
_REPORT = "report.json"
_CHUNK_SIZE = 1 << 20
_JUST_BEGUN_S = 60
"""Minimum age in seconds of an unlocked entry to count as abandoned."""


def source_key(*paths: Path) -> str:
    """Return a key for the current state of a file, or of several.

    Derived from path, size, inode, modification times and the first and last megabyte (with several
    files, a part of it each), so that it costs no pass over the file. A change in the middle that
    preserves all of these is detected by `drop_changed`.
    """
    end = max(_END // len(paths), _MIN_END)
    keys = [_source_key(path, end) for path in paths]
    return keys[0] if len(keys) == 1 else _hashed(*keys)


def _source_key(path: Path, end: int) -> str:
    status = path.stat()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(end))
        file.seek(max(status.st_size - end, 0))
        digest.update(file.read(end))
    return _hashed(
        _VERSION,
        str(path.resolve()),
        status.st_size,
        status.st_mtime_ns,
        # changes with every write, also where a program sets the time of change back
        status.st_ctime_ns,
        status.st_ino,
        digest.hexdigest(),
    )


def entry_key(source: str, settings: list[Any]) -> str:
    """Return the name of the entry for a file state and reading settings."""
    return f"{source}-{_hashed(*settings)}"


def _hashed(*facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:32]


def prepare(cache_dir: Path) -> None:
    """Create the folder, readable by its owner only (see `private_folder`)."""
    private_folder(cache_dir)


def sweep(cache_dir: Path | None) -> int:
    """Remove leftovers of killed processes from the cache and the temporary folder.

    What belongs to a running process is locked and stays.

    Returns
    -------
    int
        Bytes freed.
    """
    freed = 0
    for folder in Path(tempfile.gettempdir()).glob(_SCRATCH + "*"):
        if not _SCRATCH_NAME.fullmatch(folder.name) or folder.is_symlink():
            continue  # not one of ours
        if (folder / "lock").is_file():
            freed += _sweep(folder, folder)
        elif _old(folder):  # killed before it was locked, or not ours
            with contextlib.suppress(OSError):
                folder.rmdir()
    if cache_dir is not None:
        for folder in cache_dir.glob(_BUILDING + "*"):
            if (folder / "lock").is_file() or _old(folder):
                freed += _sweep(folder, folder)
        for spilled in cache_dir.glob("*/spill*"):
            freed += _sweep(spilled, spilled.parent)
    return freed


def _old(folder: Path) -> bool:
    """Return whether a folder without a lock is older than `_JUST_BEGUN_S`."""
    try:
        return time.time() - folder.stat().st_mtime > _JUST_BEGUN_S
    except OSError:
        return False


def _sweep(folder: Path, entry: Path) -> int:
    """Remove a folder of this user unless its entry is in use; return the bytes freed."""
    with contextlib.suppress(OSError), try_lock(entry) as ours:
        if ours and folder.is_dir() and folder.stat().st_uid == os.getuid():
            size = _size(folder)
            shutil.rmtree(folder, ignore_errors=True)
            return size
    return 0


class Entry:
    """A locked folder of the cache, protected from removal by other processes."""

    def __init__(self, folder: Path, lasting: bool) -> None:
        self.folder = folder
        self.lasting = lasting
        self._lock: IO[str] | None = (folder / "lock").open("a")
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        if not lasting:
            temporary.add(str(folder))

    def file(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.folder / name

    def read_report(self) -> dict[str, Any]:
        """Return the metadata that `seal` stored.

        Raises
        ------
        ValueError
            If it has changed since.
        """
        stored: dict[str, Any] = json.loads(self.file(_REPORT).read_bytes())
        if checksum_of(stored["report"], stored["files"]) != stored["checksum"]:
            raise ValueError("the cached report has changed")
        report: dict[str, Any] = stored["report"]
        return report

    def seal(self, report: dict[str, Any], tick: Callable[[float], None]) -> None:
        """Store metadata together with the checksums of all files.

        Written last, so that an entry with a report is whole.
        """
        for file in self.folder.rglob("*"):  # DuckDB writes with the usual mode
            if file.is_file():
                private_file(file)
        files = checksums(self.folder, sorted(p.name for p in self.folder.glob("*.parquet")), tick)
        whole = {"report": report, "files": files, "checksum": checksum_of(report, files)}
        write_whole(self.file(_REPORT), json.dumps(whole).encode(), private=True)

    def verify(self, tick: Callable[[float], None]) -> None:
        """Compare the files with their checksums.

        Parameters
        ----------
        tick : callable
            Called with the share done for every megabyte; may raise to stop.

        Raises
        ------
        ValueError, KeyError, OSError
            If a file has changed since it was written.
        """
        self.read_report()
        known: dict[str, str] = json.loads(self.file(_REPORT).read_bytes())["files"]
        if checksums(self.folder, list(known), tick) != known:
            raise ValueError("the cached rows have changed")

    def keep(self, cache_dir: Path, key: str) -> None:
        """Rename a finished entry to its key and evict old entries."""
        target = cache_dir / key
        if target.exists():
            with try_lock(target) as ours:
                if ours:  # else another process has just made it, and uses it
                    shutil.rmtree(target, ignore_errors=True)
        try:
            self.folder.rename(target)
        except OSError:  # another process was faster: then ours stays temporary
            self.lasting = False
            temporary.add(str(self.folder))
        else:
            temporary.discard(str(self.folder))
            self.folder, self.lasting = target, True
        evict(cache_dir)

    def close(self) -> None:
        """Release the lock; a temporary entry is removed."""
        if self._lock is None:
            return
        self._lock.close()
        self._lock = None
        if not self.lasting:
            shutil.rmtree(self.folder, ignore_errors=True)
            temporary.discard(str(self.folder))


def new_entry(cache_dir: Path | None) -> Entry:
    """Create a temporary entry in the cache or, for None, in the system's temporary folder."""
    if cache_dir is not None:
        prepare(cache_dir)
    prefix = _BUILDING if cache_dir is not None else _SCRATCH
    while True:
        entry = Entry(Path(tempfile.mkdtemp(prefix=prefix, dir=cache_dir)), lasting=False)
        if entry.file("lock").exists():
            return entry
        entry.close()  # another process has swept it away before it was locked


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder that is removed afterwards."""
    entry = new_entry(None)
    try:
        yield entry.folder
    finally:
        entry.close()


def find_asked(cache_dir: Path, source: str, asked: str) -> str:
    """Return the key of the entry that was made of a file state for a request; empty if none.

    Parameters
    ----------
    source : str
        As `source_key` names the state.
    asked : str
        Key of the request, as the entry's report has it.
    """
    for folder in cache_dir.glob(f"{source}-*"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            if json.loads((folder / _REPORT).read_bytes())["report"]["asked"] == asked:
                return folder.name
    return ""


def find_entry(cache_dir: Path, key: str) -> Entry | None:
    """Return an entry by name and mark it as used now; None if there is none."""
    folder = cache_dir / key
    if not (folder / _REPORT).exists():
        return None
    try:
        entry = Entry(folder, lasting=True)
        os.utime(folder)
    except OSError:
        return None
    if not (folder / _REPORT).exists():  # removed while we waited for the lock
        entry.close()
        return None
    return entry


def drop_changed(cache_dir: Path, source: str, fingerprint: str) -> int:
    """Remove entries of a file state that were made from other contents.

    The file was then changed in the middle, without another size or time.

    Parameters
    ----------
    source : str
        As `source_key` names the state.
    fingerprint : str
        sha256 of the whole file, as it is now.

    Returns
    -------
    int
        Entries removed. An entry that is open stays usable until it is closed.
    """
    dropped = 0
    for folder in cache_dir.glob(f"{source}-*"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            stored = json.loads((folder / _REPORT).read_bytes())["report"]["fingerprint"]
            if not stored or stored == fingerprint:
                continue
            (folder / _REPORT).unlink()
            dropped += 1
            with try_lock(folder) as ours:
                if ours:
                    shutil.rmtree(folder, ignore_errors=True)
    return dropped


@contextlib.contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Yield whether a folder is unused; it stays locked inside the block."""
    try:
        file = (folder / "lock").open("a")
    except OSError:
        yield not (folder / "lock").exists()
        return
    with file:
        yield lock_alone(file)


def lock_alone(file: IO[str]) -> bool:
    """Try to lock an open file exclusively until it is closed; return whether it worked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


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
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.lstat().st_size if file.is_file() else 0
    return total


def checksums(
    folder: Path, names: list[str], tick: Callable[[float], None] = lambda done: None
) -> dict[str, str]:
    """Return the checksums of files by name; `tick` receives the share done."""
    whole = max(sum((folder / name).stat().st_size for name in names), 1)
    done, checksum_text = 0, {}
    piece = memoryview(bytearray(_CHUNK_SIZE))
    for name in names:
        checksum = xxhash.xxh3_128()
        with (folder / name).open("rb", buffering=0) as file:
            while count := file.readinto(piece):
                checksum.update(piece[:count])
                done += count
                tick(done / whole)
        checksum_text[name] = checksum.hexdigest()
    return checksum_text


def checksum_of(report: dict[str, Any], files: dict[str, str]) -> str:
    """Return the checksum of metadata and file checksums."""
    return xxhash.xxh3_128_hexdigest(json.dumps([report, files], sort_keys=True).encode())


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Size of a cache.

    Attributes
    ----------
    files : int
        Number of entries: check-in files, once for each way in which one was read.
    size : int
        Bytes, what killed processes left behind included.
    """

    files: int
    size: int


def cache_use(cache_dir: Path) -> CacheUse:
    """Return the size of a cache; zero if there is none."""
    entries = _entries(cache_dir)
    whole = sum(1 for folder in entries if (folder / _REPORT).is_file())
    return CacheUse(whole, sum(_size(folder) for folder in entries))


def cache_size(cache_dir: Path) -> int:
    """Return the size of the cache in bytes."""
    return cache_use(cache_dir).size


def evict(cache_dir: Path, capacity: int | None = None) -> int:
    """Remove the least recently used entries until the rest fits; those in use stay.

    Returns
    -------
    int
        Bytes freed.
    """
    capacity = CAPACITY if capacity is None else capacity
    folders = sorted(_entries(cache_dir), key=_last_use)
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


def _last_use(folder: Path) -> int:
    """Return when an entry was last used; 0 if it has been removed meanwhile."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def clear_cache(cache_dir: Path) -> int:
    """Remove every entry that is not in use; return the bytes freed."""
    return evict(cache_dir, capacity=-1) + sweep(cache_dir)
