"""Opening check-in files: in a thread, with progress, cancel, and nothing lost on failure."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from explorer.engine.paths import checkins_cache
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.engine.session.session import Session
from explorer.geography.region import Region
from explorer.resources import Sample, resource_path, samples
from explorer.studies.base.study import Origin, Selection, all_sides

# explorer.checkins imports DuckDB on first use and is therefore imported in the thread.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from explorer.checkins import CheckinData, Dialect, Mapping, Preview

SURE = 0.9
"""Share of the first rows that must fit the guess for a file to be loaded without asking."""


@dataclass(frozen=True)
class MappingRequest:
    """A file about which somebody must say which column holds what.

    Attributes
    ----------
    path : Path
    preview : Preview
    reason : str
        Why it is asked, in a sentence.
    """

    path: Path
    preview: Preview
    reason: str


@dataclass(frozen=True)
class _Job:
    """One attempt to open a file."""

    path: Path
    mapping: Mapping | None = None
    dialect: Dialect | None = None
    ask: bool = False
    sample: Sample | None = None


class DataController(QObject):
    """Opens check-in files one at a time and makes the newest the session's data.

    The data set before stays until the new one is there; a failure or a cancel leaves it alone.

    Signals
    -------
    progress(Progress)
        At most 20 times a second while loading.
    loaded(CheckinData)
        After host and session know it.
    mapping_needed(MappingRequest)
        The columns can't be told; call `open` again with a mapping.
    failed(Exception)
        The message is for the user.
    cancelled()
    busy_changed(bool)
    """

    progress = Signal(object)
    loaded = Signal(object)
    mapping_needed = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)
    _told = Signal(int, str, object)

    def __init__(self, session: Session, host: StudyRuntime, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._host = host
        self._current: CheckinData | None = None
        self._title = ""
        self._thread: threading.Thread | None = None
        self._farewells: list[threading.Thread] = []
        self._stop = threading.Event()
        self._number = 0
        self._busy = False
        self._closed = False
        self._name = ""
        self.use_cache = True
        self._told.connect(self._hear)

    @property
    def current(self) -> CheckinData | None:
        """The data set in use."""
        return self._current

    @property
    def title(self) -> str:
        """What to call the data set in use on screen."""
        return self._title

    @property
    def busy(self) -> bool:
        """Whether a file is being opened."""
        return self._busy

    @property
    def opening(self) -> str:
        """Name of the file being opened."""
        return self._name

    def open(
        self,
        path: str | Path,
        mapping: Mapping | None = None,
        dialect: Dialect | None = None,
        ask: bool = False,
    ) -> None:
        """Open a file; a load that runs is cancelled.

        Parameters
        ----------
        path : path
        mapping : Mapping, optional
            Which column holds what; the guess if omitted.
        dialect : Dialect, optional
            How text turns into fields; what was detected if omitted.
        ask : bool
            Ask for the mapping even if the guess is sure.
        """
        self._start(_Job(Path(path), mapping, dialect, ask))

    def open_sample(self) -> None:
        """Open the sample that ships with the program."""
        sample = samples()[0]
        self._start(_Job(Path(sample.file), sample=sample))

    def cancel(self) -> None:
        """Stop a load that runs; the data set in use stays."""
        self._stop.set()

    def close(self) -> None:
        """Stop and wait for the thread; nothing is signalled afterwards."""
        self._closed = True
        self._stop.set()
        for thread in (self._thread, *self._farewells):
            if thread is not None:
                thread.join(15)
                if thread.is_alive():
                    raise RuntimeError(f"{thread.name} did not stop within 15 s")

    def _start(self, job: _Job) -> None:
        if self._closed:
            return
        self._stop.set()
        before = self._thread
        self._stop = threading.Event()
        self._number += 1
        self._name = job.path.name
        self._thread = threading.Thread(
            target=self._run, args=(job, self._number, self._stop, before), name="opening check-ins"
        )
        self._thread.start()
        self._set_busy(True)

    def _run(
        self, job: _Job, number: int, stop: threading.Event, before: threading.Thread | None
    ) -> None:
        if before is not None:
            before.join()
        try:
            self._load(job, number, stop)
        except Exception as error:  # told to the user
            from explorer.checkins import LoadCancelled, MappingNeeded

            if isinstance(error, LoadCancelled):
                self._told.emit(number, "cancelled", None)
            elif isinstance(error, MappingNeeded):
                request = MappingRequest(job.path, error.preview, str(error))
                self._told.emit(number, "mapping", request)
            else:
                self._told.emit(number, "failed", error)

    def _load(self, job: _Job, number: int, stop: threading.Event) -> None:
        from explorer.checkins import Format, LoadCancelled, open_checkins, sniff

        if stop.is_set():
            raise LoadCancelled
        with ExitStack() as stack:
            path = job.path
            if job.sample is not None:
                path = stack.enter_context(resource_path(job.sample.file))
            elif job.mapping is None:
                preview = sniff(path, cancelled=stop.is_set)
                sure = preview.confidence >= SURE and (
                    preview.format is Format.SNAP or preview.has_header
                )
                if job.ask or not sure:
                    reason = "" if job.ask else _why_unsure(preview)
                    self._told.emit(number, "mapping", MappingRequest(path, preview, reason))
                    return
            data = open_checkins(
                path,
                job.mapping,
                dialect=job.dialect,
                cache_dir=checkins_cache(),
                use_cache=self.use_cache,
                progress=lambda now: self._told.emit(number, "progress", now),
                cancelled=stop.is_set,
                known_synthetic=frozenset(s.sha256 for s in samples() if s.synthetic),
            )
        try:
            first = self._first_region(data)
            if stop.is_set():
                raise LoadCancelled
        except BaseException:
            data.close()
            raise
        self._told.emit(number, "loaded", (data, *first))

    @staticmethod
    def _first_region(data: CheckinData) -> tuple[Region, Origin]:
        from explorer.ui.controllers.first_region import first_region

        for sample in samples():
            if sample.sha256 == data.fingerprint:
                return Region(*sample.suggested_region), Origin.PUBLIC
        return first_region(data)

    def _hear(self, number: int, what: str, news: object) -> None:
        """Act in the window's thread on what a load has to tell."""
        if self._closed or number != self._number:
            if what == "loaded":
                news[0].close()
            return
        if what == "progress":
            self.progress.emit(news)
            return
        if what == "loaded":
            self._adopt(*news)
        self._set_busy(False)
        if what == "loaded":
            self.loaded.emit(news[0])
        elif what == "mapping":
            self.mapping_needed.emit(news)
        elif what == "cancelled":
            self.cancelled.emit()
        else:
            self.failed.emit(news)

    def _adopt(self, data: CheckinData, region: Region, origin: Origin) -> None:
        before, self._current = self._current, data
        known = next((s for s in samples() if s.sha256 == data.fingerprint), None)
        self._title = known.title if known is not None else data.basename
        self._host.add_data(data)
        selection = Selection(data.fingerprint, region, region_from=all_sides(origin))
        self._session.replace_data(selection)
        if before is not None and before.fingerprint != data.fingerprint:
            # Closing a database and deleting its files takes longer than a frame.
            thread = threading.Thread(
                target=self._host.remove_data, args=(before.fingerprint,), name="closing check-ins"
            )
            self._farewells = [t for t in self._farewells if t.is_alive()] + [thread]
            thread.start()

    def _set_busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)


def _why_unsure(preview: Preview) -> str:
    if preview.problems:
        return " ".join(preview.problems)
    if preview.confidence < SURE:
        return f"Only {preview.confidence:.0%} of the first rows can be read this way."
    return "The file has no header, so the columns were guessed from their contents."
