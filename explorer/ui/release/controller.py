"""Background work of the Release tab: ledger access, dry runs and the release itself."""

from __future__ import annotations

import codecs
import gzip
import re
import threading
from collections import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer import checkins
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.engine.release_priors import earlier_map, public_map
from explorer.engine.service import StudyService
from explorer.release.attack import AuditResult, audit
from explorer.release.content_hash import unpacked_sha256
from explorer.release.dry_run import Forecast, forecast
from explorer.release.errors import ReleaseError
from explorer.release.file_check import FileCheck
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.adaptive import (
    EARLIER,
    AdaptivePriorParameters,
    PriorMasses,
    PriorSource,
)
from explorer.release.pipeline import (
    LedgerLocation,
    certificate_of,
    find_or_plan_release,
    load_plan,
    publish,
)
from explorer.release.plan import PLACED, Plan
from explorer.release.priors import check_public, degrees_of
from explorer.release.subprocess_runner import CheckTask, DrawTask, ReleaseProcess
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.release.draft import NO_PERSON, LedgerState, MapKey, PublicMap, sentence_of

USER, TIME, LAT, LON = PLACED
GZIP = ".gz"
_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe", " ": "space"}
_ENCODINGS = {
    "utf-8": "utf-8",
    "ascii": "utf-8",
    "iso8859-1": "latin-1",
    "iso8859-15": "latin-9",
    "cp1252": "windows-1252",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
}
"""Delimiters by their names in a plan."""
_OFFSET = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$", re.IGNORECASE)
_TIMES = {"iso": "iso", "epoch_s": "unix", "epoch_ms": "unix-ms"}
_UNIT_FIRST = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def found_format(
    path: Path, mapping: Mapping, cancelled: Callable[[], bool] | None = None
) -> dict[str, str]:
    """Return the format of an opened file, by the keys of a release's fields.

    Parameters
    ----------
    path : Path
    mapping : Mapping
        As the file was opened with; answers given then are reused.
    cancelled : callable, optional

    Raises
    ------
    ReleaseError
        If a release cannot read such a file.
    CheckinError
        If the file cannot be read any more.
    """
    chosen = mapping.delimiter, mapping.encoding
    preview = checkins.sniff(path, *chosen, cancelled, header=mapping.header)
    dialect = preview.dialect
    if dialect.delimiter not in _DELIMITERS or dialect.layer:
        raise ReleaseError(
            f"{path.name} does not hold rows of text. Save it as CSV and choose that."
        )
    if mapping.header and dialect.lines_before_header:
        raise ReleaseError(
            f"{path.name} was opened from line {mapping.header} on, but a release reads every line "
            "below the first. Delete the lines before it in a copy of the file and open that."
        )
    if mapping.user is None:
        raise ReleaseError(NO_PERSON)
    if mapping.planar or mapping.crs is not None:
        raise ReleaseError(
            f"The positions in {path.name} are not in degrees. Save them as latitude and longitude."
        )
    if dialect.compressed != path.name.endswith(GZIP):
        raise ReleaseError(
            f"{path.name} is compressed. Give it a name that ends with {GZIP}, or unpack it."
        )
    columns = _columns(preview, mapping)
    trailing = _ends_with_delimiter(preview, mapping)
    fields = columns[: len(columns) - trailing]
    return {
        "columns": ", ".join(fields) if len(fields) > 1 else f"{fields[0]};",
        "delimiter": _DELIMITERS[dialect.delimiter],
        "header": "yes" if dialect.has_header else "no",
        "encoding": _encoding(path, dialect),
        "quotes": "double" if dialect.quoted else "none",
        "decimal": "comma" if (mapping.decimal or dialect.decimal) == "," else "point",
        "trailing_delimiter": "yes" if trailing else "no",
        "row_end": "cr" if dialect.line_end == "\r" else "lf",
        "time_format": _TIMES.get(mapping.time_format, mapping.time_format),
        "time_zone": mapping.zone or ("UTC" if _states_offsets(preview, mapping) else ""),
    }


def format_words(mapping: Mapping, dialect: Dialect | None = None) -> str:
    """Return how an opened file was read: ``semicolon, header row, 31.01.2026 18:05``."""
    words = []
    if dialect is not None and dialect.delimiter:
        delimiter = _DELIMITERS.get(dialect.delimiter, dialect.delimiter)
        words += [delimiter, "header row" if dialect.has_header else "no header row"]
    if (mapping.decimal or (dialect.decimal if dialect is not None else "")) == ",":
        words.append("decimal comma")
    if mapping.time is not None:
        written = {"iso": "ISO times", "epoch_s": "Unix times", "epoch_ms": "Unix times in ms"}
        times = written.get(mapping.time_format)
        if times is None:
            times = _EXAMPLE_TIME.strftime(mapping.time_format)
        words.append(times)
    if mapping.zone:
        words.append(mapping.zone.rpartition("/")[2].replace("_", " "))
    return ", ".join(words)


def _states_offsets(preview: Preview, mapping: Mapping) -> bool:
    """Return whether all times of the first rows state their offset from UTC."""
    if mapping.time is None or mapping.time_format.startswith("epoch"):
        return True
    rows = preview.sample or preview.rows
    times = [row[mapping.time] for row in rows if len(row) > mapping.time]
    return bool(times) and all(_OFFSET.search(time.strip()) for time in times if time.strip())


def _columns(preview: Preview, mapping: Mapping) -> list[str]:
    """Return a name for each column: known fields of a release, else the file's own."""
    roles = {mapping.user: USER, mapping.time: TIME, mapping.lat: LAT, mapping.lon: LON}
    result: list[str] = []
    for index, own in enumerate(preview.columns):
        name = roles.get(index)
        if name is None:
            # names must not contain the separator of names
            name = " ".join(
                "".join(c if c.isprintable() and c not in ",;" else " " for c in own).split()
            )
            taken = {*result, USER, TIME, LAT, LON}
            if not name or name in taken:
                name = f"column {index + 1}"
        result.append(name)
    return result


def _ends_with_delimiter(preview: Preview, mapping: Mapping) -> bool:
    """Return whether the last column is empty because rows end with a delimiter."""
    last = len(preview.columns) - 1
    unnamed = not preview.has_header or preview.columns[last] in ("", f"column {last + 1}")
    rows = preview.sample or preview.rows
    empty = all(len(row) > last and not row[last].strip() for row in rows)
    return bool(rows) and last > 0 and last not in mapping.columns and unnamed and empty


def _encoding(path: Path, dialect: Dialect) -> str:
    if dialect.encoding.replace("_", "-").lower() == "utf-16":
        opened = gzip.open if dialect.compressed else open
        with opened(path, "rb") as file:
            return _UNIT_FIRST.get(file.read(2), "utf-16-le")
    name = codecs.lookup(dialect.encoding).name.removesuffix("-sig")
    if name not in _ENCODINGS:
        raise ReleaseError(
            f"A release does not read the encoding {dialect.encoding}. Save {path.name} as UTF-8."
        )
    return _ENCODINGS[name]


_LOOK_S = 0.1
_EXAMPLE_TIME = datetime(2026, 1, 31, 18, 5)
"""Shows a time format by an example."""


@dataclass(frozen=True)
class Result:
    """A release whose output is stored.

    Attributes
    ----------
    plan : Plan
    release : Release
    stored : mapping
        Stored output.
    certificate : mapping
        Certificate of the output.
    """

    plan: Plan
    release: Release
    stored: abc.Mapping[str, Any]
    certificate: abc.Mapping[str, Any]


class ReleaseController(QObject):
    """Runs one ledger operation at a time; releases are drawn in a subprocess.

    Signals
    -------
    state_read(LedgerState)
        Emitted after each possible change of the ledger.
    entries_read(list of Entry)
    rehearsed(Plan, int, Forecast)
        Plan, number of synthetic people and result.
    compared(list of (Plan, Forecast))
        Forecasts at other values of ε.
    drawn(Result)
        An output is stored, or was opened again.
    audited(Audited)
    checked(Plan, Checked)
        Readable rows of a plan's file and known ids; curator only.
    found(dict of str to str)
        Format of the opened file, by field key.
    map_found(PublicMap)
        A file that was chosen as a public map, with its hash.
    maps_read(dict of MapKey to PriorMasses or str)
        What public maps hold, or why one can't be used.
    opened(str)
        Id of a new population.
    failed(Exception)
    busy_changed(bool)
        Whether a ledger write or a release is running.
    rehearsing_changed(bool)
    phase_changed(str)
        Phase of a running release, one of `pipeline.PHASES`.
    """

    state_read = Signal(object)
    entries_read = Signal(object)
    rehearsed = Signal(object, int, object)
    compared = Signal(object)
    drawn = Signal(object)
    audited = Signal(object)
    checked = Signal(object, object)
    found = Signal(object)
    map_found = Signal(object)
    maps_read = Signal(object)
    opened = Signal(str)
    failed = Signal(object)
    busy_changed = Signal(bool)
    rehearsing_changed = Signal(bool)
    phase_changed = Signal(str)

    def __init__(
        self, service: StudyService, place: LedgerLocation, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._service, self.place = service, place
        self.looked_at: frozenset[str] = frozenset()
        """SHA-256 of the files open in the window; none for synthetic data."""
        self._ledger = LatestJob("release", self)
        self._ledger.progress.connect(lambda _, phase: self.phase_changed.emit(phase))
        self._cancelled = threading.Event()
        """Whether the running release should stop before its draw."""
        self._trial = LatestJob("rehearsal", self, preempt_after_s=0)
        self._hashing = LatestJob("hash of a public map", self)
        self._reading = LatestJob("public maps", self, preempt_after_s=0)
        self._jobs = (self._ledger, self._trial, self._hashing, self._reading)
        for job in self._jobs:
            job.done.connect(lambda emit, found: emit(found))
            job.failed.connect(lambda _, error: self.failed.emit(error))
        self._ledger.failed.connect(lambda *_: self.read())
        self._ledger.busy_changed.connect(self.busy_changed)
        self._trial.busy_changed.connect(self.rehearsing_changed)

    @property
    def busy(self) -> bool:
        """Whether the ledger is in use or a release is running."""
        return self._ledger.busy

    @property
    def rehearsing(self) -> bool:
        """Whether a dry run or an audit is running."""
        return self._trial.busy

    def close(self) -> None:
        """Stop the threads; a running release is finished by its own process."""
        for job in reversed(self._jobs):
            job.close()

    # Ledger

    def read(self) -> None:
        """Read balances and releases."""
        self._ask(self.state_read.emit, lambda _task: self._state())

    def read_entries(self) -> None:
        """Read all entries."""

        def entries(_task: Task) -> list[Entry]:
            if not self.place.ledger.exists():
                return []
            with self.place.open() as ledger:
                return ledger.entries()

        self._ask(self.entries_read.emit, entries)

    def open_population(
        self, gate: str, budget: Fraction, label: str, delta: Fraction | None, others: list[str]
    ) -> None:
        """Create an account; cannot be undone."""

        def does(ledger: Ledger) -> str:
            return ledger.open_population(
                gate, budget, label, delta=delta, different_from=tuple(others)
            )

        def then(found: tuple[str, LedgerState]) -> None:
            self.state_read.emit(found[1])
            self.opened.emit(found[0])

        self._write(does, then)

    def change(self, does: Callable[[Ledger], object]) -> None:
        """Write another entry, such as a raise, a withdrawal or a cancelled release."""
        self._write(does, lambda found: self.state_read.emit(found[1]))

    # Releases

    def draw(self, plan: Plan) -> None:
        """Register a plan and draw it in a subprocess.

        Never retried: the ledger states whether the budget was spent.
        """
        self._cancelled.clear()
        self._ask(self._show, partial(self._draw, plan, ""))

    def cancel_draw(self) -> None:
        """Cancel the running release; without effect once its noise is being drawn."""
        self._cancelled.set()

    def go_on(self, release: str, data: Path) -> None:
        """Draw a prepared release as planned, from a file."""
        self._cancelled.clear()

        def work(task: Task) -> tuple[Result, LedgerState]:
            with self.place.open() as ledger:
                plan = load_plan(ledger, release, data)
            return self._draw(plan, release, task)

        self._ask(self._show, work)

    def look(self, release: str) -> None:
        """Open a stored output again, without cost."""

        def work(_task: Task) -> tuple[Result, LedgerState]:
            with self.place.open() as ledger:
                plan = load_plan(ledger, release)
            return self._result(plan, release)

        self._ask(self._show, work)

    def check(self, plan: Plan, *, enter: bool = True) -> None:
        """Read a file in the plan's format, curator only; see `checking.check`.

        The population was declared before. For a file never opened the plan is registered first;
        nothing else is stored.

        Parameters
        ----------
        plan : Plan
        enter : bool
            Whether the plan may be registered; otherwise a file never opened is refused.
        """

        def work(task: Task) -> tuple[FileCheck, LedgerState]:
            found: FileCheck = self._run_subprocess(
                ReleaseProcess(CheckTask(self.place, plan, enter=enter)), task
            )
            return found, self._state()

        def then(found: tuple[FileCheck, LedgerState]) -> None:
            self.state_read.emit(found[1])
            self.checked.emit(plan, found[0])

        self._ask(then, work)

    def find_map(self, kind: str, path: Path) -> None:
        """Compute the hash that names a public file in the plan."""
        self._hashing.submit(
            self.map_found.emit,
            lambda _task: PublicMap(kind, unpacked_sha256(path), path=str(path)),
        )

    def read_maps(
        self, maps: Sequence[tuple[MapKey, PublicMap]], own: AdaptivePriorParameters
    ) -> None:
        """Read what public maps hold on the cells of a release, or why they can't be used.

        Files are read in the compute process; earlier releases are those of the ledger.
        """

        def work(task: Task) -> dict[MapKey, PriorMasses | str]:
            found: dict[MapKey, PriorMasses | str] = {}
            for key, one in maps:
                try:
                    found[key] = self._masses(one, own, task)
                except ReleaseError as error:
                    found[key] = sentence_of(error)
                except (OSError, ValueError) as error:
                    found[key] = explain(error, "data").sentence
            return found

        self._reading.submit(self.maps_read.emit, work)

    def _masses(self, one: PublicMap, own: AdaptivePriorParameters, task: Task) -> PriorMasses:
        """Return what a public map holds; raises as `public_map` and `earlier_map`."""
        if one.kind == EARLIER:
            with self.place.open() as ledger:
                given = earlier_map(ledger, one.key, own.area, own.level)
        else:
            if one.path and unpacked_sha256(Path(one.path)) != one.key:
                name = Path(one.path).name
                raise ValueError(f"{name} has changed since it was added: remove it and add it")
            subject = one.kind, one.path, degrees_of(own.area), own.level
            given = self._service.call(public_map, subject, task.check)
            if given.content and self.place.ledger.exists():
                with self.place.open() as ledger:
                    check_public(ledger, PriorSource(one.kind, one.key, one.label), given.content)
        replace(own, priors=(PriorSource(one.kind, one.key),)).with_given((given,))
        return given

    def find_format(self, path: Path, mapping: Mapping) -> None:
        """Determine the format of an open file from its mapping."""
        self._ask(self.found.emit, lambda task: found_format(path, mapping, task.cancelled))

    def publish(self, result: Result) -> None:
        """Record the certificate's hash; afterwards output and certificate may be exported."""

        def work(_task: Task) -> tuple[Result, LedgerState]:
            with self.place.open() as ledger:
                publish(ledger, result.plan, result.release.id)
            return self._result(result.plan, result.release.id)

        self._ask(self._show, work)

    def withdraw(self, result: Result) -> None:
        """Record that an output is withdrawn or not published."""

        def work(_task: Task) -> tuple[Result, LedgerState]:
            with self.place.open() as ledger:
                ledger.withdraw(result.release.id)
            return self._result(result.plan, result.release.id)

        self._ask(self._show, work)

    def rehearse(self, plan: Plan, users: int) -> None:
        """Run on synthetic users in the compute process: nothing is read or spent."""
        subject = (plan, users)
        self._trial.submit(
            lambda found: self.rehearsed.emit(plan, users, found),
            lambda task: self._service.call(rehearsal_of, subject, task.check),
        )

    def compare_costs(self, plan: Plan, users: int, others: Sequence[Fraction]) -> None:
        """Forecast the error at other values of ε, on the same synthetic users."""
        subjects = [(replace(plan, epsilon=epsilon), users) for epsilon in others]

        def work(task: Task) -> list[tuple[Plan, Forecast]]:
            return [
                (subject[0], self._service.call(rehearsal_of, subject, task.check))
                for subject in subjects
            ]

        self._trial.submit(self.compared.emit, work)

    def audit(self, plan: Plan, runs: int, users: int) -> None:
        """Run a plan's mechanism on synthetic users with and without one of them."""
        subject = (plan, runs, users)
        self._trial.submit(
            self.audited.emit, lambda task: self._service.call(audit_plan, subject, task.check)
        )

    def stop(self) -> None:
        """Stop a dry run or an audit."""
        self._trial.cancel()

    # Implementation

    def _ask(self, then: Callable[[Any], object], work: Callable[[Task], Any]) -> None:
        self._ledger.submit(then, work)

    def _write(self, does: Callable[[Ledger], Any], then: Callable[[Any], object]) -> None:
        def work(_task: Task) -> tuple[Any, LedgerState]:
            with self.place.open() as ledger:
                result = does(ledger)
            return result, self._state()

        self._ask(then, work)

    def _show(self, found: tuple[Result, LedgerState]) -> None:
        self.state_read.emit(found[1])
        self.drawn.emit(found[0])

    def _state(self) -> LedgerState:
        if not self.place.ledger.exists():
            return LedgerState(self.place)
        with self.place.open() as ledger:
            files = () if ledger.problem else self.looked_at
            known = [file for sha256 in files if (file := ledger.known.file(sha256))]
            shown = max((file.shown for file in known), default=0)
            return LedgerState(
                self.place,
                True,
                ledger.problem,
                tuple(ledger.notices),
                ledger.accounts(),
                ledger.releases(),
                ledger.state("").joined,
                shown,
                ledger.id,
            )

    def _draw(self, plan: Plan, release: str, task: Task) -> tuple[Result, LedgerState]:
        if not release:
            with self.place.open() as ledger:
                release = find_or_plan_release(ledger, plan)
        running = ReleaseProcess(DrawTask.of(self.place, plan, release), task.report)
        self._run_subprocess(running, task, self._cancelled)
        return self._result(plan, release)

    @staticmethod
    def _run_subprocess(
        running: ReleaseProcess, task: Task, cancelled: threading.Event | None = None
    ) -> Any:
        sent = cancelled is None
        while not running.wait(_LOOK_S):
            task.check()  # the window closes: the process finishes by itself
            if cancelled is not None and not sent and cancelled.is_set():
                running.cancel()
                sent = True
        return running.finish()

    def _result(self, plan: Plan, release: str) -> tuple[Result, LedgerState]:
        with self.place.open() as ledger:
            built = ledger.certificate(release)
            if built is None:
                built = certificate_of(ledger, plan, release)
            result = Result(plan, ledger.release(release), ledger.output(release), built)
        return result, self._state()


def rehearsal_of(
    _runtime: object, subject: tuple[Plan, int], check: Callable[[], None]
) -> Forecast:
    """Return the forecast of a plan; executed in the compute process."""
    plan, users = subject
    return forecast(plan, users, check=check)


def audit_plan(
    _runtime: object, subject: tuple[Plan, int, int], check: Callable[[], None]
) -> AuditResult:
    """Return the audit of a plan's mechanism; executed in the compute process."""
    plan, runs, users = subject
    return audit(
        plan.mechanism.id,
        plan.own_parameters.as_parameters(),
        plan.epsilon,
        runs,
        users,
        np.random.default_rng(0),
        check=check,
    )
