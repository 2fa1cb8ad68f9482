"""Runtime shared by studies: open data sets, cached intermediate results, the worker process."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from cachetools import LRUCache

from explorer import checkins  # whose names are imported on first use
from explorer.engine.computing import Computing
from explorer.engine.executors.base import Executor
from explorer.engine.executors.cluster import Cluster
from explorer.engine.paths import checkins_cache
from explorer.files import open_regular
from explorer.studies.base.study import (
    Context,
    Kind,
    Parameter,
    Request,
    Result,
    Selection,
    Tasks,
    Value,
)
from explorer.studies.registry import get_study

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.checkins.data import StoredData

CACHE_BYTES = 48_000_000
"""Some 250 complete answers. With 400 MB, memory grew for hours while sliders were dragged (by 12 %
from the 20th minute to the 60th), for answers that are not used again."""
_CHUNK_BYTES = 1 << 20


class Closing(Protocol):
    """Protocol of objects with `close`."""

    def close(self) -> None:
        """Release all resources."""


Kept = TypeVar("Kept", bound=Closing)


def content_hash(path: Path, check: Callable[[], None] = lambda: None) -> str:
    """Return the sha256 of a file, or of the names and contents of a folder's files.

    `check` is called after every megabyte; its exception ends the reading.
    """
    digest = hashlib.sha256()
    if path.is_dir():
        for item in sorted(p for p in path.iterdir() if p.is_file()):
            digest.update(f"{item.name}\0{content_hash(item, check)}\0".encode())
        return digest.hexdigest()
    with open_regular(path) as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
            check()
    return digest.hexdigest()


def file_value(path: Path, check: Callable[[], None] = lambda: None) -> str:
    """Return the value of a file or folder (see `StudyRuntime.add_file`)."""
    return f"{path.name or path.resolve().name}#{content_hash(path, check)}"


class FileNotOpenError(LookupError):
    """A study needs a file that has not been opened; `value` is the parameter's value."""

    def __init__(self, value: str) -> None:
        self.value = value
        name = value.rpartition("#")[0] or "the file"
        super().__init__(f"{name} is not open; open it (or the file you moved it to) first")

    def __reduce__(self) -> tuple[type[FileNotOpenError], tuple[str], dict[str, object]]:
        """Pickle by `value`, which determines the message, and keep notes."""
        return type(self), (self.value,), self.__dict__


class StudyRuntime:
    """Data sets, caches and executors that outlive a single request. Thread-safe.

    Parameters
    ----------
    cache_bytes : int
    worker : Executor, optional
        Where studies have long computations done; by default a process of its own.
    """

    def __init__(self, cache_bytes: int = CACHE_BYTES, worker: Executor | None = None) -> None:
        self.computing = Computing(worker)
        self._lock = threading.Lock()
        self._kept: dict[str, Closing] = {}
        self._data: dict[str, CheckinData] = {}
        self._stored: dict[str, StoredData] = {}
        self._read_as: dict[str, StoredData] = {}  # also of data sets that were closed
        self._opening = threading.Lock()
        self._files: dict[str, Path] = {}
        self._of_files: dict[tuple[str, bool], CheckinData] = {}
        self._epoch = 0
        self._cache: LRUCache[Hashable, Any] = LRUCache(cache_bytes, getsizeof=size_of)
        self.file_listeners: list[Callable[[str, Path], None]] = []
        """Called with the value and the place of every file added, in the thread that adds it."""
        self.data_listeners: list[Callable[[str, StoredData | None], None]] = []
        """Called with the fingerprint of every data set added, and where it is kept; or, of one
        that was removed, with None."""

    @property
    def worker(self) -> Executor:
        """The single worker process for interactive answers."""
        return self.computing.worker

    def add_data(self, data: CheckinData) -> None:
        """Make an open data set available to studies under its fingerprint."""
        from explorer.checkins.data import StoredData  # after the start-up: with DuckDB

        stored = StoredData.of(data)
        with self._lock:
            previous = self._data.get(data.fingerprint)
            self._data[data.fingerprint] = data
            self._note_rows(data.fingerprint, stored)
        for listener in tuple(self.data_listeners):
            listener(data.fingerprint, stored)
        if previous is not None and previous is not data:
            previous.close()

    def register_data(self, fingerprint: str, stored: StoredData | None) -> None:
        """Register another process's open data set, opened on first use; None removes it."""
        with self._lock:
            if stored is not None and stored == self._stored.get(fingerprint):
                return
            self._stored.pop(fingerprint, None)
            previous = self._data.pop(fingerprint, None)
            if stored is not None:
                self._stored[fingerprint] = stored
                self._note_rows(fingerprint, stored)
        if previous is not None:
            previous.close()

    def remove_data(self, data: CheckinData) -> None:
        """Close and remove a data set, unless it has been replaced."""
        with self._lock:
            if self._data.get(data.fingerprint) is not data:
                return
            del self._data[data.fingerprint]
        for listener in tuple(self.data_listeners):
            listener(data.fingerprint, None)
        data.close()

    def stored_data(self) -> dict[str, StoredData]:
        """Return the stored locations of open data sets by fingerprint."""
        with self._lock:
            if not self._data:
                return {}
            from explorer.checkins.data import StoredData

            return {key: StoredData.of(data) for key, data in self._data.items()}

    def data(self, fingerprint: str) -> CheckinData:
        """Return an open data set, opening a registered one on first use.

        Raises
        ------
        LookupError
            If none with that fingerprint is open.
        """
        with self._opening:
            with self._lock:
                result, stored = self._data.get(fingerprint), self._stored.get(fingerprint)
            if result is not None:
                return result
            if stored is None:
                raise LookupError(
                    f"the check-ins with fingerprint {fingerprint[:12]}… are not open; "
                    "open their file first"
                )
            data = stored.open()
            with self._lock:
                if self._stored.get(fingerprint) == stored:
                    self._data[fingerprint] = data
                    return data
        data.close()  # others have taken their place meanwhile
        return self.data(fingerprint)

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
        value = file_value(path, check)
        self.announce_file(value, path)
        return value

    def announce_file(self, value: str, path: Path) -> None:
        """Make a file available under its value and notify listeners."""
        self.register_file(value, path.resolve())
        for listener in tuple(self.file_listeners):
            listener(value, path.resolve())

    def register_file(self, value: str, path: Path) -> None:
        """Make a file available under a value that `add_file` gave, of this runtime or another."""
        with self._lock:
            self._files[value] = path

    def files(self) -> dict[str, Path]:
        """Return the paths of all added files by value."""
        with self._lock:
            return dict(self._files)

    def file(self, value: str) -> Path:
        """Return the path of an added file.

        Raises
        ------
        FileNotOpenError
            If none with that name and content was added.
        """
        with self._lock:
            path = self._files.get(value)
        if path is None:
            raise FileNotOpenError(value)
        return path

    @property
    def epoch(self) -> int:
        """Counter that grows whenever cached results become stale because the rows changed."""
        with self._lock:
            return self._epoch

    def cached(self, key: Hashable, make: Callable[[], Any], epoch: int | None = None) -> Any:
        """Return the cached value of a key, computing it if missing or of an older epoch.

        Two threads that ask at once may both make it: pure functions give the same twice.
        """
        with self._lock:
            epoch = self._epoch if epoch is None else epoch
            if key in self._cache and epoch == self._epoch:
                return self._cache[key]
        value = make()
        self._keep(key, value, epoch)
        return value

    def keep(self, name: str, make: Callable[[], Kept]) -> Kept:
        """Return an object owned by this runtime, created on first use and closed with it."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = make()
            return cast("Kept", self._kept[name])

    def cached_result(self, request: Request) -> Result | None:
        """Return the cached final answer to a request, if any."""
        with self._lock:
            result: Result | None = self._cache.get(("result", request))
            return result

    def cache_result(self, result: Result, epoch: int | None = None) -> None:
        """Cache a final answer, unless its epoch has passed."""
        self._keep(("result", result.request), result, epoch)

    def _keep(self, key: Hashable, value: Any, epoch: int | None) -> None:
        size = size_of(value)
        with self._lock:
            if size <= self._cache.maxsize and epoch in (None, self._epoch):
                self._cache[key] = value

    def _note_rows(self, fingerprint: str, stored: StoredData) -> None:
        """Clear cached results if the rows changed; the lock must be held."""
        if self._read_as.setdefault(fingerprint, stored) != stored:
            self._read_as[fingerprint] = stored
            self._cache.clear()
            self._epoch += 1

    def answer(self, request: Request, check: Callable[[], None]) -> Generator[Result, None, None]:
        """Yield a study's answers to a request, or the cached final one immediately.

        Raises
        ------
        Cancelled
            When `check` says so.
        ValueError, LookupError
            The study's error about the request or its data.
        """
        cached = self.cached_result(request)
        if cached is not None:
            yield cached
            return
        epoch = self.epoch
        for result in self.fresh_answer(request, check):
            if result.final:
                self.cache_result(result, epoch)
            yield result

    def fresh_answer(
        self, request: Request, check: Callable[[], None]
    ) -> Generator[Result, None, None]:
        """Yield all of a study's answers, ignoring the cache; raises as `answer`.

        For results that must not depend on earlier requests.
        """
        study = get_study(request.study)
        opens = any(p.kind is Kind.FILE and request[p.key] for p in study.parameters)
        context = self.context(check, of_data=opens or request.selection is not None)
        yield from study.answer(request, context)

    def context(self, check: Callable[[], None] = lambda: None, of_data: bool = False) -> Context:
        """Return what studies ask of this runtime; `of_data` says whether they read users' data."""
        return _Context(self, check, of_data)

    def checkins_of_file(
        self, value: str, check: Callable[[], None], public: bool = False
    ) -> CheckinData:
        """Return the check-ins in an added file, opened once.

        Columns of time, which are not used, are guessed. Where the file is `public`, so that nobody
        in it is protected, that of people is the likeliest; without one every row counts as a
        person. Nothing else is guessed.

        Raises
        ------
        FileNotOpenError
            If the file was not added.
        ValueError
            If it holds no check-ins, or a question about it is open.
        """
        path, key = self.file(value), (value, public)
        with self._lock:
            data = self._of_files.get(key)
        if data is not None:
            return data
        data = _open_without_dialog(path, check, ("time", "time_format", *("user",) * public))
        with self._lock:
            kept = self._of_files.setdefault(key, data)
        if kept is not data:
            data.close()
        return kept

    def close(self) -> None:
        """End the worker processes and close all data sets and owned objects."""
        self.computing.close()
        with self._lock:
            items, self._kept = list(self._kept.values()), {}
        for item in items:
            item.close()
        with self._lock:
            open_sets = [*self._data.values(), *self._of_files.values()]
            self._data, self._of_files = {}, {}
            self._cache.clear()
        for data in open_sets:
            data.close()


def _open_without_dialog(
    path: Path, check: Callable[[], None], guessed: Collection[str]
) -> CheckinData:
    """Return the check-ins in a file; questions of the `guessed` kinds get the likeliest answer."""
    stopped: list[BaseException] = []

    def cancelled() -> bool:
        try:
            check()
        except BaseException as error:  # raised again below
            stopped.append(error)
        return bool(stopped)

    def opened(**read_as: Any) -> CheckinData:
        folder = checkins_cache()
        return checkins.open_checkins(path, cache_dir=folder, cancelled=cancelled, **read_as)

    try:
        try:
            return opened()
        except checkins.MappingNeeded as error:
            if any(question.key not in guessed for question in error.preview.questions):
                raise
            likely = error.preview.suggested
            if likely.user is None and likely.unit is None:
                likely = replace(likely, unit="row")
            return opened(mapping=likely, dialect=error.preview.dialect)
    except checkins.LoadCancelled:
        raise stopped[0] from None
    except checkins.MappingNeeded as error:
        raise ValueError(
            f"{error} Save the file with columns called user, time, lat and lon."
        ) from None


class _Context:
    """`explorer.studies.base.study.Context` on top of a runtime."""

    def __init__(self, runtime: StudyRuntime, check: Callable[[], None], of_data: bool) -> None:
        self._runtime = runtime
        self.check = check
        self.epoch = runtime.epoch
        self._of_data = of_data

    @property
    def workers(self) -> int:
        return self._tasks().workers

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        calls = self._runtime.computing.for_calls(self._of_data, self.check)
        return calls.call(function, args, self.check)

    def map_in_workers(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[int, Any]]:
        yield from self._tasks().map(function, tasks, self.check)

    def map_on_cluster(
        self, function: Callable[[Any], Any], tasks: Tasks, places: Sequence[Path]
    ) -> Iterator[tuple[int, Any]] | None:
        executor = self._runtime.computing.for_shards(places, self.check)
        return (
            None
            if executor is None
            else executor.map(function, tasks(executor.workers), self.check)
        )

    def _tasks(self) -> Executor:
        return self._runtime.computing.for_answers(self._of_data, self.check)

    def checkins(self, selection: Selection) -> CheckinData:
        data, plane = self._runtime.data(selection.data), selection.region.plane
        if data.plane != plane:
            how = "in degrees" if plane is None else f"in {plane.sentence}"
            raise ValueError(f"{data.basename} is open with other positions; open it again {how}")
        if data.unit != selection.unit:
            raise ValueError(
                f"{data.basename} is open with the privacy unit {data.unit!r}, but "
                f"{selection.unit.value!r} is asked for; open it again with that one"
            )
        return data

    def file(self, value: str) -> Path:
        return self._runtime.file(value)

    def checkins_of_file(self, value: str, *, public: bool = False) -> CheckinData:
        return self._runtime.checkins_of_file(value, self.check, public)

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        return self._runtime.cached(("memo", key), make, self.epoch)


def try_cluster(runtime: StudyRuntime, cluster: Cluster | None, check: Callable[[], None]) -> str:
    """Return a description of a cluster's workers; raises as `Computing.tried`."""
    return runtime.computing.tried(cluster, check)


def typed_value(runtime: StudyRuntime, parameter: Parameter, raw: str) -> Value:
    """Parse a parameter's value from the command line, opening the file of a path.

    Raises
    ------
    ValueError
        Naming the parameter, the value and the allowed ones.
    OSError
        If a file can't be read.
    """
    if parameter.kind is not Kind.FILE:
        return parameter.parse(raw)
    path = Path(raw)
    expected = "a folder" if not parameter.suffixes else f"a file ({' '.join(parameter.suffixes)})"
    if not path.exists():
        raise ValueError(f"{parameter.key}: there is nothing at {raw!r}; name {expected}")
    if path.is_dir() != (not parameter.suffixes):
        raise ValueError(f"{parameter.key}: {raw!r} is not {expected}")
    return runtime.add_file(path)


def first_result(
    runtime: StudyRuntime, request: Request, check: Callable[[], None] = lambda: None
) -> Result:
    """Return the first result that covers all data: of a map, the one with noisy pictures."""
    answers = runtime.answer(request, check)
    try:
        return next(r for r in answers if not (r.early or r.curve_follows))
    finally:
        answers.close()


def final_result(
    runtime: StudyRuntime,
    request: Request,
    check: Callable[[], None] = lambda: None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> Result:
    """Compute a request's last result in this thread; `check` may raise `Cancelled`.

    `on_result` is called with every result on the way.
    """
    result = None
    for result in runtime.answer(request, check):
        on_result(result)
    if result is None:
        raise RuntimeError(f"study {request.study!r} gave no answer")
    return result


_PLAIN = frozenset({bool, int, float, type(None)})
_CONTAINERS = (tuple, list, set, frozenset)


@lru_cache(None)
def _fields_of(kind: Any) -> tuple[str, ...] | None:
    """Return the names of a dataclass' fields; None for other types."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


def size_of(value: object) -> int:
    """Return the approximate size of a value in bytes: its arrays, and a little for the rest."""
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
        elif isinstance(item, _CONTAINERS):
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
