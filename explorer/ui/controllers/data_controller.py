"""Opening check-in files: in a thread, with progress, cancel, and nothing lost on failure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from explorer import checkins  # what it gives is imported on first use: here in the thread
from explorer.checkins.errors import MappingNeeded
from explorer.checkins.model import Dialect, Format, Mapping, Preview
from explorer.engine.paths import checkins_cache
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.engine.session.session import Session
from explorer.geography.region import PlaneRegion, Region
from explorer.resources import Sample, resource_path, samples
from explorer.studies.base.study import Origin, Selection, all_sides
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.controllers.first_region import first_region

if TYPE_CHECKING:
    from explorer.checkins import CheckinData

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
    plane: str = ""


@dataclass(frozen=True)
class _Loaded:
    """Open check-ins, and what to show of them first."""

    data: CheckinData
    region: Region
    origin: Origin


class DataController(QObject):
    """Opens check-in files one at a time and makes the newest the session's data.

    The data set before stays until the new one is there; a failure or a cancel leaves it alone.

    Signals
    -------
    progress(Progress)
        At most 20 times a second while loading.
    loaded(CheckinData)
        After runtime and session know it.
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

    def __init__(
        self, session: Session, runtime: StudyRuntime, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runtime = runtime
        self.current: CheckinData | None = None
        """The data set in use."""
        self.title = ""
        """What to call the data set in use on screen."""
        self.opening = ""
        """Name of the file being opened."""
        self.use_cache = True
        self._loading = LatestJob(
            "opening check-ins", self, preempt_after_s=0.0, discard=_close_unused
        )
        self._loading.progress.connect(lambda _job, now: self.progress.emit(now))
        self._loading.done.connect(self._opened)
        self._loading.failed.connect(lambda _job, error: self.failed.emit(error))
        self._loading.busy_changed.connect(self.busy_changed)
        # Closing a database and deleting its files takes longer than a frame.
        self._closing = ThreadPoolExecutor(1, "closing check-ins")

    @property
    def busy(self) -> bool:
        """Whether a file is being opened."""
        return self._loading.busy

    def open(
        self,
        path: str | Path,
        mapping: Mapping | None = None,
        dialect: Dialect | None = None,
        ask: bool = False,
        plane: str = "",
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
        plane : str
            The plane that points of a file lie in whose range must be declared.
        """
        self._start(_Job(Path(path), mapping, dialect, ask, plane=plane))

    def open_sample(self) -> None:
        """Open the sample that ships with the program."""
        sample = samples()[0]
        self._start(_Job(Path(sample.file), sample=sample))

    def cancel(self) -> None:
        """Stop a load that runs; the data set in use stays."""
        if self._loading.cancel():
            self.cancelled.emit()

    def close(self) -> None:
        """Stop and wait for the threads; nothing is signalled afterwards."""
        self._loading.close()
        self._closing.shutdown()

    def _start(self, job: _Job) -> None:
        self.opening = job.path.name
        self._loading.submit(job, lambda task: self._load(job, task))

    def _load(self, job: _Job, task: Task) -> _Loaded | MappingRequest:
        """Open a file, or find out what has to be asked about it (in the thread)."""
        with ExitStack() as stack:
            path, mapping = job.path, job.mapping
            if job.sample is not None:
                path = stack.enter_context(resource_path(job.sample.file))
            elif job.mapping is None:
                preview = checkins.sniff(path, cancelled=task.cancelled)
                sure = preview.confidence >= SURE and (
                    preview.format is Format.SNAP or preview.has_header
                )
                if job.ask or not sure:
                    return MappingRequest(path, preview, "" if job.ask else _why_unsure(preview))
                if job.plane and preview.mapping.planar:
                    mapping = replace(preview.mapping, plane=job.plane)
            try:
                data = checkins.open_checkins(
                    path,
                    mapping,
                    dialect=job.dialect,
                    cache_dir=checkins_cache(),
                    use_cache=self.use_cache,
                    progress=task.report,
                    cancelled=task.cancelled,
                    known_synthetic=frozenset(s.sha256 for s in samples() if s.synthetic),
                )
            except MappingNeeded as error:
                return MappingRequest(job.path, error.preview, str(error))
        try:
            return _Loaded(data, *self._first_region(data))
        except BaseException:
            data.close()
            raise

    @staticmethod
    def _first_region(data: CheckinData) -> tuple[Region, Origin]:
        for sample in samples():
            if sample.sha256 == data.fingerprint:
                return Region(*sample.suggested_region), Origin.PUBLIC
        if data.plane is not None:
            return PlaneRegion.whole(data.plane), Origin.TYPED
        return first_region(data)

    def _opened(self, _job: _Job, outcome: _Loaded | MappingRequest) -> None:
        if isinstance(outcome, MappingRequest):
            self.mapping_needed.emit(outcome)
        else:
            self._adopt(outcome.data, outcome.region, outcome.origin)
            self.loaded.emit(outcome.data)

    def _adopt(self, data: CheckinData, region: Region, origin: Origin) -> None:
        before, self.current = self.current, data
        known = next((s for s in samples() if s.sha256 == data.fingerprint), None)
        self.title = known.title if known is not None else data.basename
        self._runtime.add_data(data)
        first = data.images[0] if data.images else None
        came = all_sides(origin)
        selection = Selection(data.fingerprint, region, region_from=came, image=first)
        self._session.replace_data(selection)
        if before is not None and before.fingerprint != data.fingerprint:
            self._closing.submit(self._runtime.remove_data, before.fingerprint)


def _close_unused(outcome: _Loaded | MappingRequest) -> None:
    """Close what was opened for nobody: the load was cancelled when it had just ended."""
    if isinstance(outcome, _Loaded):
        outcome.data.close()


def _why_unsure(preview: Preview) -> str:
    if preview.problems:
        return " ".join(preview.problems)
    if preview.confidence < SURE:
        return f"Only {preview.confidence:.0%} of the first rows can be read this way."
    return "The file has no header, so the columns were guessed from their contents."
