"""Background work of the Release tab: ledger access, dry runs and the release itself."""

from __future__ import annotations

import codecs
import gzip
from collections import abc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer import checkins
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.engine.service import StudyService
from explorer.release.attack import AuditResult, audit
from explorer.release.dry_run import dry_run
from explorer.release.errors import ReleaseError
from explorer.release.file_check import FileCheck
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.base import Shown
from explorer.release.pipeline import (
    LedgerLocation,
    certificate_of,
    find_or_plan_release,
    load_plan,
    publish,
)
from explorer.release.plan import PLACED, Plan
from explorer.release.subprocess_runner import CheckTask, DrawTask, ReleaseProcess
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.release.draft import LedgerState

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
    preview = checkins.sniff(path, cancelled=cancelled)
    dialect = preview.dialect
    if dialect.delimiter not in _DELIMITERS or dialect.layer:
        raise ReleaseError(f"{path.name}: a release reads rows of text; save them as CSV")
    if mapping.user is None:
        raise ReleaseError(
            f"{path.name}: a release needs a column that names the person; open the file again "
            "and choose one"
        )
    if mapping.planar or mapping.crs is not None:
        raise ReleaseError(
            f"{path.name}: positions are no degrees; save them as latitudes and longitudes"
        )
    if dialect.compressed != path.name.endswith(GZIP):
        raise ReleaseError(f"{path.name}: a packed file needs a name that ends with {GZIP}")
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
        "time_zone": mapping.zone or "UTC",
    }


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
            f"{path.name}: a release does not read {dialect.encoding}; save the file as UTF-8"
        )
    return _ENCODINGS[name]


REHEARSALS = 3
"""Number of runs of a dry run, to show the spread."""
_LOOK_S = 0.1


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
    rehearsed(list of Shown)
    drawn(Result)
        An output is stored, or was opened again.
    audited(Audited)
    checked(Plan, Checked)
        Readable rows of a plan's file and known ids; curator only.
    found(dict of str to str)
        Format of the opened file, by field key.
    opened(str)
        Id of a new population.
    failed(Exception)
    busy_changed(bool)
        Whether a ledger write or a release is running.
    rehearsing_changed(bool)
    """

    state_read = Signal(object)
    entries_read = Signal(object)
    rehearsed = Signal(object)
    drawn = Signal(object)
    audited = Signal(object)
    checked = Signal(object, object)
    found = Signal(object)
    opened = Signal(str)
    failed = Signal(object)
    busy_changed = Signal(bool)
    rehearsing_changed = Signal(bool)

    def __init__(
        self, service: StudyService, place: LedgerLocation, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._service, self.place = service, place
        self.looked_at: frozenset[str] = frozenset()
        """SHA-256 of the files open in the window; none for synthetic data."""
        self._ledger = LatestJob("release", self)
        self._trial = LatestJob("rehearsal", self, preempt_after_s=0)
        for job in (self._ledger, self._trial):
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
        for job in (self._trial, self._ledger):
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
        self._ask(self._show, partial(self._draw, plan, ""))

    def go_on(self, release: str, data: Path) -> None:
        """Draw a prepared release as planned, from a file."""

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

    def check(self, plan: Plan) -> None:
        """Read a file in the plan's format, curator only; see `checking.check`.

        The population was declared before. For a file never opened the plan is registered first;
        nothing else is stored.
        """

        def work(task: Task) -> tuple[FileCheck, LedgerState]:
            found: FileCheck = self._run_subprocess(
                ReleaseProcess(CheckTask(self.place, plan)), task
            )
            return found, self._state()

        def then(found: tuple[FileCheck, LedgerState]) -> None:
            self.state_read.emit(found[1])
            self.checked.emit(plan, found[0])

        self._ask(then, work)

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
            self.rehearsed.emit, lambda task: self._service.call(rehearsals, subject, task.check)
        )

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
        self._run_subprocess(ReleaseProcess(DrawTask.of(self.place, plan, release)), task)
        return self._result(plan, release)

    @staticmethod
    def _run_subprocess(running: ReleaseProcess, task: Task) -> Any:
        while not running.wait(_LOOK_S):
            task.check()  # the window closes: the process finishes by itself
        return running.finish()

    def _result(self, plan: Plan, release: str) -> tuple[Result, LedgerState]:
        with self.place.open() as ledger:
            built = ledger.certificate(release)
            if built is None:
                built = certificate_of(ledger, plan, release)
            result = Result(plan, ledger.release(release), ledger.output(release), built)
        return result, self._state()


def rehearsals(
    _runtime: object, subject: tuple[Plan, int], check: Callable[[], None]
) -> list[Shown]:
    """Return pictures of some dry runs; executed in the compute process."""
    plan, users = subject
    pictures = []
    for seed in range(REHEARSALS):
        check()
        output = dry_run(plan, users, seed)
        pictures.append(plan.mechanism.shown(output.stored, plan.own_parameters, plan.epsilon))
    return pictures


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
