"""Runs a single release task in a fresh subprocess.

The subprocess is the only one that reads the rows of a release, and it ends after one task. Its
output, core dumps and error details are suppressed, because they could contain a user's data: the
parent receives the result or one sentence.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from explorer.release.errors import CancelledReleaseError, ReleaseError
from explorer.release.file_check import FileCheck, check, compare
from explorer.release.pipeline import STORE, LedgerLocation, draw
from explorer.release.plan import Declared, Plan, build_plan
from explorer.shutdown import interrupts_held


class Task(Protocol):
    """A task for the subprocess: plain data, validated again there."""

    def run(self, observe: Callable[[str], object]) -> Any:
        """Run the task; the return value is sent to the parent.

        `observe` sends the phases of a draw, and cancels it (`pipeline.draw`).
        """


@dataclass(frozen=True)
class DrawTask:
    """Draw a release that was entered."""

    location: LedgerLocation
    release: str
    population: str
    data: Path
    mechanism: str
    parameters: dict[str, Any]
    epsilon: Fraction

    @classmethod
    def of(cls, location: LedgerLocation, plan: Plan, release: str) -> DrawTask:
        """Return the task for a plan and the id of its release."""
        return cls(
            location,
            release,
            plan.population,
            plan.data,
            plan.mechanism.id,
            plan.parameters(),
            plan.epsilon,
        )

    def run(self, observe: Callable[[str], object]) -> None:
        """Draw and store the output; nothing is returned."""
        plan = build_plan(
            self.population,
            self.data,
            self.mechanism,
            self.parameters,
            self.epsilon,
            Declared({}, False, ()),
        )
        draw(self.location, plan, self.release, observe=observe)


@dataclass(frozen=True)
class CompareTask:
    """Compare the ids of a file with those of all other populations."""

    location: LedgerLocation
    plan: Plan

    def run(self, observe: Callable[[str], object]) -> dict[str, int]:
        """Return the number of known ids by population, for the curator only."""
        return compare(self.location, self.plan)


@dataclass(frozen=True)
class CheckTask:
    """Check a file in the declared format, for the curator only (`file_check.check`)."""

    location: LedgerLocation
    plan: Plan
    release: str = ""
    enter: bool = True

    def run(self, observe: Callable[[str], object]) -> FileCheck:
        """Return the number of readable rows and of known ids."""
        return check(self.location, self.plan, self.release, enter=self.enter)


_CANCEL = "cancel"
"""Message to the subprocess that cancels a draw which has not begun."""


class InterruptedDrawError(ReleaseError):
    """The subprocess ended without a result; the ledger states what is spent."""


class ReleaseProcess:
    """A subprocess that runs one task.

    Parameters
    ----------
    task : Task
    on_phase : callable
        Called with each phase of a draw (`pipeline.PHASES`), by `wait` and `finish`.

    Attributes
    ----------
    pid : int
        Its process id.
    """

    def __init__(self, task: Task, on_phase: Callable[[str], object] = lambda _: None) -> None:
        self._on_phase = on_phase
        self._answer: tuple[ReleaseError | None, Any] | None = None
        self._ended = False
        context = multiprocessing.get_context("spawn")
        self._answers, theirs = context.Pipe()
        # Not daemonic: this process waits for it at exit, so that no started draw is lost.
        self._process = context.Process(target=_serve, args=(task, theirs), name="release")
        with interrupts_held():
            self._process.start()
        theirs.close()
        self.pid = self._process.pid or 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the task is done or for `timeout` seconds; return whether it is done."""
        while not self._ended and wait([self._answers, self._process.sentinel], timeout):
            self._receive()
        return self._ended

    def _receive(self) -> None:
        """Receive a phase, the answer, or the end of the process."""
        try:
            message = self._answers.recv() if self._answers.poll() else None
        except (EOFError, OSError):
            message = None
        if isinstance(message, str):
            self._on_phase(message)
        else:
            self._answer, self._ended = message, True

    @property
    def done(self) -> bool:
        """Whether the task is done."""
        return self.wait(0)

    def cancel(self) -> None:
        """Cancel a draw that has not begun; without effect on one that has."""
        with suppress(OSError):  # the process has ended
            self._answers.send(_CANCEL)

    def kill(self) -> None:
        """Kill the process; a started release counts as spent."""
        self._process.kill()

    def finish(self) -> Any:
        """Wait for the end and return the task's result.

        Raises
        ------
        ReleaseError
            If the task failed.
        """
        self.wait()
        answer = self._answer
        self._answers.close()
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        if answer is None:
            raise InterruptedDrawError(
                f"the release was interrupted (exit code {code}), and there is no result. The "
                "ledger states whether the cost is spent."
            )
        problem, result = answer
        if problem is not None:
            raise problem
        return result


def draw_in_subprocess(location: LedgerLocation, plan: Plan, release: str) -> None:
    """Draw a release in a subprocess and wait for it. The draw is never retried.

    Raises
    ------
    ReleaseError
    """
    ReleaseProcess(DrawTask.of(location, plan, release)).finish()


def compare_in_subprocess(location: LedgerLocation, plan: Plan) -> dict[str, int]:
    """Return the number of ids of a plan's file that are known in other populations.

    The result depends on the data and is for the curator only: callers must have the population
    declared before they compare. Nothing is stored.

    Raises
    ------
    ReleaseError
    """
    known: dict[str, int] = ReleaseProcess(CompareTask(location, plan)).finish()
    return known


def check_in_subprocess(location: LedgerLocation, plan: Plan, release: str = "") -> FileCheck:
    """Run `file_check.check` in a subprocess and return its result.

    Raises
    ------
    ReleaseError
    """
    result: FileCheck = ReleaseProcess(CheckTask(location, plan, release)).finish()
    return result


def _serve(task: Task, answers: Connection) -> None:
    """Run a task; send its phases, then the problem (None if there is none) and the result."""
    suppress_output()
    result, problem = None, None
    try:
        result = task.run(_Observer(answers))
    except ReleaseError as error:
        problem = error
    except BaseException as error:
        # The message could contain a value from the data; the place in the code does not.
        problem = ReleaseError(
            f"the draw failed unexpectedly ({type(error).__name__} {_where(error)}). Report this."
        )
    with suppress(OSError):  # the parent no longer waits
        answers.send((problem, result))
    answers.close()


class _Observer:
    """Sends each phase once to the parent, and raises if the parent has cancelled.

    Parameters
    ----------
    answers : Connection
    """

    def __init__(self, answers: Connection) -> None:
        self._answers, self._phase = answers, ""

    def __call__(self, phase: str) -> None:
        """Observe a phase; see `pipeline.draw`."""
        if phase != STORE and self._cancelled():
            raise CancelledReleaseError
        if phase != self._phase:
            self._phase = phase
            with suppress(OSError):  # the parent no longer waits
                self._answers.send(phase)

    def _cancelled(self) -> bool:
        """Return whether the parent has cancelled; the end of the parent cancels nothing."""
        with suppress(EOFError, OSError):
            return self._answers.poll() and self._answers.recv() == _CANCEL
        return False


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "nowhere"
    return f"in {Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}"


def suppress_output() -> None:
    """Prevent core dumps, warnings and output to the terminal in this process."""
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    for switch in _NO_DUMPS:
        switch()


def _no_core_limit() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _not_dumpable() -> None:
    """Make the process non-dumpable on Linux: no core dump to a pipe, no debugger."""
    if sys.platform.startswith("linux"):
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


_NO_DUMPS: tuple[Callable[[], None], ...] = (_no_core_limit, _not_dumpable)
