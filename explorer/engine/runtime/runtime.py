"""What running studies share: open data sets, computed intermediates, the worker process."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache

from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.studies.base.study import Kind, Parameter, Request, Result, Selection, Value
from explorer.studies.registry import get_study

if TYPE_CHECKING:
    from explorer.checkins import CheckinData

CACHE_BYTES = 48_000_000
"""Some 250 complete answers. With 400 MB, memory grew for hours while sliders were dragged (by 12 %
from the 20th minute to the 60th), for answers that nobody goes back to."""
_PIECE = 1 << 20
_PLAIN = frozenset({bool, int, float, type(None)})
_SEVERAL = (tuple, list, set, frozenset)


@lru_cache(None)
def _fields_of(kind: Any) -> tuple[str, ...] | None:
    """Return the names of a dataclass' fields; None for other types."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


def size_of(value: object) -> int:
    """Return roughly how many bytes a value holds: its arrays, and a little for the rest."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        kind: Any = type(item)
        if kind in _PLAIN:
            total += 64
        elif isinstance(item, str):
            total += 64 + len(item)
        elif isinstance(item, np.ndarray):
            total += int(item.nbytes) + 128
        elif isinstance(item, _SEVERAL):
            total += 64
            left.extend(item)
        elif (names := _fields_of(kind)) is not None:
            total += 64
            left.extend([getattr(item, name) for name in names])
        elif isinstance(item, Mapping):
            total += 64
            left.extend(item)
            left.extend(item.values())
        else:
            total += sys.getsizeof(item, 64)
    return total


def content_hash(path: Path, check: Callable[[], None] = lambda: None) -> str:
    """Return the sha256 of a file, or of the names and contents of a folder's files.

    `check` is called after every megabyte; what it raises ends the reading.
    """
    digest = hashlib.sha256()
    if path.is_dir():
        for item in sorted(p for p in path.iterdir() if p.is_file()):
            digest.update(f"{item.name}\0{content_hash(item, check)}\0".encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            check()
    return digest.hexdigest()


class FileNotOpenError(LookupError):
    """A study asks for a file that nobody has opened; `value` is what the parameter holds."""

    def __init__(self, value: str) -> None:
        self.value = value
        name = value.rpartition("#")[0] or "the file"
        super().__init__(f"{name} is not open; open it (or the file you moved it to) first")

    def __reduce__(self) -> tuple[type[FileNotOpenError], tuple[str], dict[str, object]]:
        """Pickle by the value, of which the message is made, and keep notes."""
        return type(self), (self.value,), self.__dict__


class StudyRuntime:
    """Owns what outlives a single request. Safe to use from several worker threads."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self.worker = EmbeddedExecutor()
        self._lock = threading.Lock()
        self._data: dict[str, CheckinData] = {}
        self._files: dict[str, Path] = {}
        self._cache: LRUCache[Hashable, Any] = LRUCache(cache_bytes, getsizeof=size_of)
        self.file_listeners: list[Callable[[str, Path], None]] = []
        """Called with the value and the place of every file added, in the thread that adds it."""

    def add_data(self, data: CheckinData) -> None:
        """Make an open data set available to studies under its fingerprint."""
        with self._lock:
            previous = self._data.get(data.fingerprint)
            self._data[data.fingerprint] = data
            if previous is not None and previous is not data:
                # The same file read with other columns: what was computed is about other rows.
                self._cache.clear()
        if previous is not None and previous is not data:
            previous.close()

    def remove_data(self, fingerprint: str) -> None:
        """Close a data set and forget it."""
        with self._lock:
            data = self._data.pop(fingerprint, None)
        if data is not None:
            data.close()

    def data(self, fingerprint: str) -> CheckinData:
        """Return an open data set.

        Raises
        ------
        LookupError
            If none with that fingerprint is open.
        """
        with self._lock:
            try:
                return self._data[fingerprint]
            except KeyError:
                raise LookupError(
                    f"the check-ins with fingerprint {fingerprint[:12]}… are not open; "
                    "open their file first"
                ) from None

    def add_file(self, path: Path, check: Callable[[], None] = lambda: None) -> str:
        """Make a file, or a folder of files, available to studies; return its value.

        The value is its name and the sha256 of its content (of a folder: of its files' names and
        contents, in order), so that a recipe can tell whether it is the same again.

        Raises
        ------
        OSError
            If it can't be read.
        Cancelled
            When `check` says so.
        """
        value = f"{path.name or path.resolve().name}#{content_hash(path, check)}"
        self.register_file(value, path.resolve())
        for listener in tuple(self.file_listeners):
            listener(value, path.resolve())
        return value

    def register_file(self, value: str, path: Path) -> None:
        """Make a file available under a value that `add_file` gave, of this runtime or another."""
        with self._lock:
            self._files[value] = path

    def files(self) -> dict[str, Path]:
        """Return where every added file is, by its value."""
        with self._lock:
            return dict(self._files)

    def file(self, value: str) -> Path:
        """Return where an added file is.

        Raises
        ------
        FileNotOpenError
            If none with that name and content was added.
        """
        with self._lock:
            found = self._files.get(value)
        if found is None:
            raise FileNotOpenError(value)
        return found

    def memo(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what is kept under a key, or make it and keep it.

        Two threads that ask at once may both make it: pure functions give the same twice.
        """
        with self._lock:
            if key in self._cache:
                return self._cache[key]
        value = make()
        with self._lock:
            if size_of(value) <= self._cache.maxsize:
                self._cache[key] = value
        return value

    def cached_result(self, request: Request) -> Result | None:
        """Return the complete answer to a request if it is still kept."""
        with self._lock:
            found: Result | None = self._cache.get(("result", request))
            return found

    def cache_result(self, result: Result) -> None:
        """Remember a complete answer."""
        with self._lock:
            if size_of(result) <= self._cache.maxsize:
                self._cache["result", result.request] = result

    def answer(self, request: Request, check: Callable[[], None]) -> Generator[Result, None, None]:
        """Yield a study's answers to a request, or the remembered best one at once.

        Raises
        ------
        Cancelled
            When `check` says so.
        ValueError, LookupError
            What the study says of the request or its data.
        """
        kept = self.cached_result(request)
        if kept is not None:
            yield kept
            return
        study = get_study(request.study)
        for result in study.answer(request, _Context(self, check)):
            if result.complete:
                self.cache_result(result)
            yield result

    def close(self) -> None:
        """End the worker process and close all data sets."""
        self.worker.close()
        with self._lock:
            open_sets, self._data = list(self._data.values()), {}
            self._cache.clear()
        for data in open_sets:
            data.close()


class _Context:
    """`explorer.studies.base.study.Context` on top of a runtime."""

    def __init__(self, runtime: StudyRuntime, check: Callable[[], None]) -> None:
        self._runtime = runtime
        self.check = check

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        return self._runtime.worker.call(function, args, self.check)

    def checkins(self, selection: Selection) -> CheckinData:
        data, wanted = self._runtime.data(selection.data), selection.region.plane
        if data.plane != wanted:
            how = "in degrees" if wanted is None else f"in {wanted.sentence}"
            raise ValueError(f"{data.basename} is open with other positions; open it again {how}")
        return data

    def file(self, value: str) -> Path:
        return self._runtime.file(value)

    def memo(self, key: Hashable, make: Callable[[], Any]) -> Any:
        return self._runtime.memo(("memo", key), make)


def typed_value(runtime: StudyRuntime, parameter: Parameter, raw: str) -> Value:
    """Return the value that words on a command line give a parameter; a file's path is opened.

    Raises
    ------
    ValueError
        Naming the parameter, what was given and what is allowed.
    OSError
        If a file can't be read.
    """
    if parameter.kind is not Kind.FILE:
        return parameter.parse(raw)
    path = Path(raw)
    wanted = "a folder" if not parameter.suffixes else f"a file ({' '.join(parameter.suffixes)})"
    if not path.exists():
        raise ValueError(f"{parameter.key}: there is nothing at {raw!r}; name {wanted}")
    if path.is_dir() != (not parameter.suffixes):
        raise ValueError(f"{parameter.key}: {raw!r} is not {wanted}")
    return runtime.add_file(path)


def final_result(
    runtime: StudyRuntime,
    request: Request,
    check: Callable[[], None] = lambda: None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> Result:
    """Return a request's last result, computed here and now unless `check` raises `Cancelled`.

    `on_result` is called with every result on the way.
    """
    result = None
    for result in runtime.answer(request, check):
        on_result(result)
    if result is None:
        raise RuntimeError(f"study {request.study!r} gave no answer")
    return result
