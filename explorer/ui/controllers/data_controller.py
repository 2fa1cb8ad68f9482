"""Loads check-in files in a thread, with progress and questions; logs access; clears their cache.

A load that fails leaves the present data in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from explorer import checkins  # imported late, in the thread
from explorer.checkins.cache import CacheUse, cache_size, cache_use, clear_cache, sweep
from explorer.checkins.errors import (
    LoadCancelled,
    MappingNeeded,
    UnpackNeeded,
    printable,
    rows_readable,
)
from explorer.checkins.memory import database_bytes, format_bytes
from explorer.checkins.model import (
    Candidate,
    Dialect,
    Format,
    Mapping,
    Preview,
    Progress,
    Question,
)
from explorer.checkins.parsing.ambiguities import NO_USER
from explorer.engine.compute_tasks import DataQuestion, ImportTask, ask_data, import_data
from explorer.engine.paths import checkins_cache
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.files import file_sha256
from explorer.geography.region import PlaneRegion, Region
from explorer.resources import Sample, resource_path, samples
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Origin, Selection, all_sides
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.controllers.preview import PreviewPicture, background_previews, first_region

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.checkins.sharding import ImportSize
    from explorer.checkins.sources import SniffedSource


class AccessLog(QObject):
    """Logs each view of the non-private map in the ledger; certificates state the count.

    Entries are written in order in a thread; the window waits for them when it closes.

    Attributes
    ----------
    files : frozenset of str
        SHA-256 of the files logged last; empty for synthetic data.
    problem : Exception or None
        Emitted with the reason why an entry could not be written.

    Signals
    -------
    counted()
    failed(Exception)
    """

    counted = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files: frozenset[str] = frozenset()
        self.problem: Exception | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, "looks")

    def count(self, data: CheckinData) -> None:
        """Log one access to a file, unless it is synthetic."""
        self._thread.submit(_count, data).add_done_callback(self._done)

    def count_file(self, value: str, path: Path | None = None) -> None:
        """Log one access to a file read by a study; callable from any thread.

        `value` is the parameter's value (name and SHA-256), `path` the file.
        """
        if not self._closed:
            self._thread.submit(_count_file, value, path).add_done_callback(self._done)

    def count_path(self, path: Path) -> None:
        """Log one access to a file that is not open, unless it is a synthetic sample."""
        self._thread.submit(_count_path, path).add_done_callback(self._done)

    def close(self) -> None:
        """Wait for pending entries."""
        self._closed = True
        self._thread.shutdown()

    def _done(self, future: Future[frozenset[str]] | Future[None]) -> None:
        # Runs in the logging thread; signals reach the interface through its queue.
        if self._closed:
            return
        error = future.exception()
        if isinstance(error, Exception):
            self.problem = error
            self.failed.emit(error)
        else:
            result = future.result()
            self.files = self.files if result is None else result
            self.counted.emit()


def _count(data: CheckinData) -> frozenset[str]:
    return frozenset() if data.synthetic else _looks().record_view(data)


def _count_path(path: Path) -> None:
    sha256 = file_sha256(path)
    if sha256 not in {sample.sha256 for sample in samples() if sample.synthetic}:
        _looks().record_file_views({sha256: path})


def _count_file(value: str, path: Path | None) -> None:
    _looks().record_file_views({value.rpartition("#")[2]: path})


def _looks() -> ModuleType:
    from explorer.release import access_log  # imported late, in the thread

    return access_log


CONFIDENT_SHARE = 0.9
"""Share of the first rows that must match the detected format to load without a question."""


@dataclass(frozen=True)
class MappingRequest:
    """A file whose columns must be mapped by the user.

    Attributes
    ----------
    source : tuple of Path
        The file, folder, or several files.
    preview : Preview
    reason : str
        Reason for the question.
    """

    source: tuple[Path, ...]
    preview: Preview
    reason: str


class _ImportNeeded(Exception):  # noqa: N818  (an event)
    """The load requires an import first."""

    def __init__(self, size: ImportSize) -> None:
        super().__init__()
        self.size = size


@dataclass(frozen=True)
class ImportRequest:
    """A data set that takes long to open; the user is asked first.

    Attributes
    ----------
    source : tuple of Path
        The file, folder, or several files.
    size : ImportSize
        Estimated rows, seconds and disk space.
    job : _Job
        How to open it.
    """

    source: tuple[Path, ...]
    size: ImportSize
    job: _Job


@dataclass(frozen=True)
class UnpackRequest:
    """An archive that unpacks to far more than its size; the user is asked first.

    Attributes
    ----------
    source : tuple of Path
        The file, folder, or several files.
    text : str
        Reason for the question.
    job : _Job
        How to open it.
    """

    source: tuple[Path, ...]
    text: str
    job: _Job


@dataclass(frozen=True)
class _Job:
    """One attempt to open a file, a folder or several files."""

    source: tuple[Path, ...]
    mapping: Mapping | None = None
    dialect: Dialect | None = None
    ask: bool = False
    sample: Sample | None = None
    plane: str = ""
    region: Region | None = None
    layer: str = ""
    agreed: bool = False
    former: Mapping | None = None
    rereads: bool = False
    unpack: bool = False


@dataclass(frozen=True)
class _Loaded:
    """Opened check-ins with their first region."""

    data: CheckinData
    region: Region
    origin: Origin


_Outcome = _Loaded | MappingRequest | ImportRequest | UnpackRequest


class DataController(QObject):
    """Opens check-in files one at a time; the newest becomes the session's data.

    The present data stay until the new ones are loaded; failure and cancellation do not affect
    them.

    Signals
    -------
    progress(Progress)
        At most 20 times a second.
    looked(EarlyPicture or None)
        Preview of the file, refined while it loads; None if the load ends without data.
    loaded(CheckinData)
        Emitted after runtime and session were updated.
    reread(CheckinData)
        As `loaded`, after the time zone of the current data changed.
    mapping_needed(MappingRequest)
        The columns are ambiguous; call `open` again with a mapping.
    import_asked(ImportRequest)
        Opening takes long; call `agree` to continue.
    unpack_asked(UnpackRequest)
        The archive is suspiciously large; call `agree` to continue.
    failed(Exception)
        The error message is for the user.
    cancelled()
    busy_changed(bool)
    """

    progress = Signal(object)
    looked = Signal(object)
    loaded = Signal(object)
    reread = Signal(object)
    mapping_needed = Signal(object)
    import_requested = Signal(object)
    unpack_requested = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self, session: Session, service: StudyService, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._service = service
        self.current: CheckinData | None = None
        """Current data."""
        self.title = ""
        """Title of the current data on screen."""
        self.opening = ""
        """Name of the file being opened."""
        self.use_cache = True
        self.memory: int | None = None
        """Memory limit in bytes for opening; None: a share of the free memory."""
        self._opened_by: _Job | None = None
        """How the current data were opened."""
        self._rereading = False
        self._pictured: Path | None = None
        """File whose preview was shown, until it is open."""
        self._loading = LatestJob(
            "opening check-ins", self, preempt_after_s=0.0, discard=_close_unused
        )
        self._loading.progress.connect(self._reported)
        self._loading.done.connect(self._opened)
        self._loading.failed.connect(self._failed)
        self._loading.busy_changed.connect(self.busy_changed)
        session.changed.connect(self._state_changed)
        self.looks = AccessLog(self)
        for value in service.runtime.files():
            self.looks.count_file(value)
        service.runtime.file_listeners.append(self.looks.count_file)
        # Closing a database and deleting its files takes longer than a frame.
        self._closing = ThreadPoolExecutor(1, "closing check-ins")

    @property
    def busy(self) -> bool:
        """Whether a file is being opened."""
        return self._loading.busy

    def open(
        self,
        source: str | Path | Sequence[Path],
        mapping: Mapping | None = None,
        dialect: Dialect | None = None,
        ask: bool = False,
        plane: str = "",
        region: Region | None = None,
        layer: str = "",
        former: Mapping | None = None,
    ) -> None:
        """Open a file, a folder, or several files as one data set; a running load is cancelled.

        Parameters
        ----------
        source : path, or sequence of Path
        mapping : Mapping, optional
            Mapping of columns; detected if omitted.
        dialect : Dialect, optional
            Text dialect; detected if omitted.
        ask : bool
            Ask for the mapping even if the detection is certain.
        plane : str
            Plane of a point file whose range must be declared.
        region : Region, optional
            Initial region; chosen from the data if omitted.
        layer : str
            Layer or sheet to which the mapping belongs.
        former : Mapping, optional
            Mapping stored before columns were confirmed by name. It is used unless the user column
            would be asked today; then it is the preselected answer.
        """
        paths = (Path(source),) if isinstance(source, str | Path) else tuple(source)
        self._start(
            _Job(
                paths,
                mapping,
                dialect,
                ask,
                plane=plane,
                region=region,
                layer=layer,
                former=former,
            )
        )

    def agree(self, request: ImportRequest | UnpackRequest) -> None:
        """Open a slow data set or a large archive after the user agreed."""
        trusted = request.job.unpack or isinstance(request, UnpackRequest)
        agreed = request.job.agreed or isinstance(request, ImportRequest)
        self._start(replace(request.job, agreed=agreed, unpack=trusted))

    def open_sample(self) -> None:
        """Open the bundled sample."""
        sample = samples()[0]
        self._start(_Job((Path(sample.file),), sample=sample))

    def ask(self, task: Task, data: CheckinData, method: str, *arguments: Any) -> Any:
        """Return the result of a method of the open check-ins; for job threads."""
        question = DataQuestion(data.fingerprint, method, arguments)
        return self._service.call(ask_data, question, task.check)

    def cancel(self) -> None:
        """Cancel a running load; the current data stay."""
        if self._loading.cancel():
            self._ended()
            self.cancelled.emit()

    def close(self) -> None:
        """Stop and wait for the threads; nothing is signalled afterwards."""
        self._session.changed.disconnect(self._state_changed)
        self._loading.close()
        self._log_previewed()
        self._service.runtime.file_listeners.remove(self.looks.count_file)
        self.looks.close()
        self._closing.shutdown()

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        """Reload the current data with another time zone."""
        data, job = self.current, self._opened_by
        if state.zone == old.zone or data is None or job is None:
            return
        if state.zone != data.mapping.zone:
            mapping = replace(data.mapping, zone=state.zone)
            self._start(replace(job, mapping=mapping, ask=False, agreed=True, rereads=True))
        elif self._rereading:  # undone before it was read
            self._loading.cancel()
            self._rereading = False

    def _ended(self) -> None:
        """Keep the current data: a load ended without replacing them."""
        self.looked.emit(None)
        self._log_previewed()
        self._rereading = False
        if self.current is not None:
            self._session.replace_zone(self.current.mapping.zone)

    def _start(self, job: _Job) -> None:
        first, *others = job.source
        self.opening = f"{first.name} and {len(others)} more" if others else first.name
        self._rereading = job.rereads
        if self._pictured not in (None, first):
            self._log_previewed()
        self.looked.emit(None)
        self._loading.submit(job, lambda task: self._load(job, task))

    def _load(self, job: _Job, task: Task) -> _Outcome:
        """Open a file, or determine the questions about it (in the thread)."""
        try:
            return self._load_trusted(job, task)
        except UnpackNeeded as needed:
            return UnpackRequest(job.source, str(needed), job)

    def _load_trusted(self, job: _Job, task: Task) -> _Outcome:
        """As `_open`, except for `UnpackNeeded`."""
        unpack = job.unpack or (job.dialect is not None and job.dialect.unpack)
        with ExitStack() as stack:
            source, mapping, dialect = job.source, job.mapping, job.dialect
            sniffed = None
            if job.sample is not None:
                source = (stack.enter_context(resource_path(job.sample.file)),)
            elif mapping is None or source[0].is_file():
                layer = job.layer or (job.dialect.layer if job.dialect else None)
                files = checkins.find_files(source, task.cancelled)
                before = mapping or job.former
                # a former mapping decides only after its columns were confirmed
                decimal = mapping.decimal if mapping is not None else None
                settings = checkins.SniffSettings.of(before, None)
                settings = settings._replace(decimal=decimal, layer=layer, unpack=unpack)
                sniffed = checkins.sniff_source(files, settings, task.cancelled)
                preview = sniffed.preview
                if job.former is not None and not job.ask:
                    if asked_today(preview, job.former):
                        return MappingRequest(
                            source, with_stored_mapping(preview, job.former), ASKED_AGAIN
                        )
                    mapping = job.former
                planar = job.plane and preview.mapping.planar
                known = ("plane",) if planar else ()
                sure = (
                    preview.confidence >= CONFIDENT_SHARE
                    and (preview.format is Format.SNAP or preview.has_header)
                    and all(one.answered_by(known) for one in preview.questions)
                )
                if mapping is None and (job.ask or not sure):
                    return MappingRequest(source, preview, "" if job.ask else _why_unsure(preview))
                if mapping is None and planar:
                    mapping = replace(preview.mapping, plane=job.plane)
                if job.layer:
                    dialect = preview.dialect
                if unpack:
                    dialect = replace(dialect or preview.dialect, unpack=True)
                if not files.together and not job.rereads:
                    early = (source[0], preview, mapping, job.dialect, job.region)
                    stack.enter_context(background_previews(*early, task.report, task.cancelled))
            # Fixed now, so that later steps do not depend on the free memory.
            memory = self.memory or database_bytes()
            how = (source, mapping, dialect, memory, sniffed)
            try:
                try:
                    data = self._open(task, *how)
                except _ImportNeeded as needed:
                    if needed.size.slow and not job.agreed:
                        return ImportRequest(job.source, needed.size, job)
                    request = ImportTask(*how, cache_dir=checkins_cache())
                    self._service.call(import_data, request, task.check, task.report)
                    data = self._open(task, *how)
            except MappingNeeded as error:
                return MappingRequest(job.source, error.preview, str(error))
        try:
            return _Loaded(data, *self._first_region(data))
        except BaseException:
            data.close()
            raise

    def _open(
        self,
        task: Task,
        source: tuple[Path, ...],
        mapping: Mapping | None,
        dialect: Dialect | None,
        memory: int,
        sniffed: SniffedSource | None,
    ) -> CheckinData:
        """Open check-ins; raises `_ImportNeeded` if an import is required."""
        # Readers are imported late, in the thread.
        from explorer.engine.large_import import open_any_size

        def say(size: ImportSize) -> None:
            if self.use_cache:  # otherwise another process's import is not found
                raise _ImportNeeded(size)

        return open_any_size(
            source,
            mapping,
            dialect=dialect,
            cache_dir=checkins_cache(),
            use_cache=self.use_cache,
            progress=task.report,
            cancelled=task.cancelled,
            known_synthetic=frozenset(s.sha256 for s in samples() if s.synthetic),
            sniffed=sniffed,
            say=say,
            memory=memory,
        )

    @staticmethod
    def _first_region(data: CheckinData) -> tuple[Region, Origin]:
        for sample in samples():
            if sample.sha256 == data.fingerprint:
                return Region(*sample.suggested_region), Origin.PUBLIC
        if data.plane is not None:
            return PlaneRegion.whole(data.plane), Origin.TYPED
        return first_region(data)

    def _reported(self, job: _Job, now: Progress | PreviewPicture) -> None:
        if isinstance(now, PreviewPicture):
            self._pictured = job.source[0]
            self.looked.emit(now)
        else:
            self.progress.emit(now)

    def _log_previewed(self) -> None:
        """Log access to a file that was previewed but not opened."""
        if self._pictured is not None:
            self.looks.count_path(self._pictured)
            self._pictured = None

    def _failed(self, _job: _Job, error: Exception) -> None:
        if isinstance(error, LoadCancelled):  # another file was requested meanwhile
            self.looked.emit(None)
            self._log_previewed()
        else:
            self._ended()
            self.failed.emit(error)

    def _opened(self, job: _Job, outcome: _Outcome) -> None:
        if isinstance(outcome, _Loaded):
            before, self._opened_by = self.current, replace(job, rereads=False)
            self._rereading = False
            if job.rereads and before and before.fingerprint == outcome.data.fingerprint:
                self.current = outcome.data
                self._service.runtime.add_data(outcome.data)
                self.reread.emit(outcome.data)
                return
            self._adopt(outcome.data, outcome.region, outcome.origin)
            self._pictured = None
            self.looks.count(outcome.data)
            self.loaded.emit(outcome.data)
        else:
            self._ended()
            signals = {
                MappingRequest: self.mapping_needed,
                ImportRequest: self.import_requested,
                UnpackRequest: self.unpack_requested,
            }
            signals[type(outcome)].emit(outcome)

    def _adopt(self, data: CheckinData, region: Region, origin: Origin) -> None:
        before, self.current = self.current, data
        known = next((s for s in samples() if s.sha256 == data.fingerprint), None)
        self.title = known.title if known is not None else data.basename
        self._service.runtime.add_data(data)
        first = data.images[0] if data.images else None
        came = all_sides(origin)
        selection = Selection(
            data.fingerprint, region, region_from=came, image=first, unit=Unit(data.unit)
        )
        self._session.replace_data(selection)
        self._session.replace_zone(data.mapping.zone)
        if before is not None and before.fingerprint != data.fingerprint:
            self._closing.submit(self._service.runtime.remove_data, before)


def _close_unused(outcome: _Outcome) -> None:
    """Close data that nobody waits for: the load was cancelled just after it ended."""
    if isinstance(outcome, _Loaded):
        outcome.data.close()


ASKED_AGAIN = (
    "This file was opened with a user column that is not recognised by its name: confirm once "
    "whose rows they are."
)


def asked_today(preview: Preview, former: Mapping) -> bool:
    """Return whether a stored mapping contradicts the column names for the user."""
    return preview.question("user") is not None or preview.mapping.user != former.user


def with_stored_mapping(preview: Preview, former: Mapping) -> Preview:
    """Return a preview that asks for the user column, with the stored mapping preselected."""
    question = preview.question("user") or Question(
        "user", "Which column names the person?", "", ("user",), NO_USER
    )
    result = [one for one in (former.user, preview.mapping.user) if one is not None]
    named = tuple(
        Candidate(printable(preview.columns[one]), (("user", one),))
        for one in dict.fromkeys(result)
        if one < len(preview.columns)
    )
    rest = tuple(c for c in question.candidates if c.fields not in [one.fields for one in named])
    question = replace(question, candidates=(*named, *rest), preselected=0)
    others = (
        one.suggests([(name, getattr(former, name, None)) for name in one.fields])
        for one in preview.questions
        if one.key != "user"
    )
    mapping = replace(former, user=None)
    return replace(preview, mapping=mapping, questions=(question, *others))


def _why_unsure(preview: Preview) -> str:
    open_ones = (one.text for one in preview.questions if not one.candidates)
    parts = [*open_ones, *preview.problems]
    if parts or preview.questions:  # columns with candidates have a card each
        return " ".join(parts)
    if preview.confidence < CONFIDENT_SHARE:
        return rows_readable(preview.confidence)
    return "The file has no header, so the columns were guessed from their contents."


class CachedCheckins(QObject):
    """Inspects the cache in a thread and asks before removing anything.

    Attributes
    ----------
    question : QMessageBox or None
        The open question.
    """

    def __init__(
        self,
        window: QWidget,
        show_status: Callable[[str], None],
        show_problem: Callable[[Problem], None],
    ) -> None:
        super().__init__(window)
        self._window, self._show_status = window, show_status
        self.question: QMessageBox | None = None
        self._job = LatestJob("looking after cached check-ins", self)
        self._job.done.connect(lambda then, found: then(found))
        self._job.failed.connect(lambda _then, error: show_problem(explain(error, "cache")))

    def sweep(self) -> None:
        """Remove files left by killed processes, silently."""
        self._job.submit(lambda _nothing: None, lambda _task: sweep(checkins_cache()))

    def ask(self) -> None:
        """Show the size of the cache and ask whether to clear it."""
        self._job.submit(self._ask, lambda _task: cache_use(checkins_cache()))

    def close(self) -> None:
        """Wait for running work."""
        self._job.close()

    def _ask(self, use: CacheUse) -> None:
        if not use.size:
            self._show_status("Nothing is kept of check-ins that were opened.")
            return
        files = f"{use.files:,} check-in file{'s' * (use.files != 1)}"
        box = QMessageBox(self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Clear cached check-ins")
        box.setText(f"Remove {format_bytes(use.size)} that are kept of {files} opened before?")
        box.setInformativeText(
            "The files themselves stay where they are, and so does what is open now. A file that "
            "is opened again is read anew, which takes longer."
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        clear = box.addButton("Clear", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        clear.clicked.connect(self._clear)
        box.finished.connect(self._answered)
        self.question = box
        box.open()

    def _answered(self, _code: int) -> None:
        self.question = None

    def _clear(self) -> None:
        def work(_task: Task) -> tuple[int, int]:
            folder = checkins_cache()
            return clear_cache(folder), cache_size(folder)

        self._job.submit(self._cleared, work)

    def _cleared(self, found: tuple[int, int]) -> None:
        freed, left = map(format_bytes, found)
        stays = f"; {left} stay, in use by check-ins that are open" if found[1] else ""
        self._show_status(f"{freed} freed{stays}.")
