"""What reads a release's file has a process of its own: started fresh, given one order, once.

What it knows of people ends with it. It says one sentence or nothing: what it might write to the
screen, leave in a core dump or tell in an unforeseen error could be somebody's row.
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

from explorer.release.errors import ReleaseError
from explorer.release.file_check import Checked, check, compare
from explorer.release.pipeline import Place, draw
from explorer.release.plan import Declared, Plan, made_plan
from explorer.shutdown import interrupts_held


class Order(Protocol):
    """What the process is given: plain data, which it checks again."""

    def run(self) -> Any:
        """Do it; what is returned goes to whoever gave the order."""


@dataclass(frozen=True)
class DrawOrder:
    """The order to draw a release that was entered."""

    place: Place
    release: str
    population: str
    data: Path
    mechanism: str
    parameters: dict[str, Any]
    epsilon: Fraction

    @classmethod
    def of(cls, place: Place, plan: Plan, release: str) -> DrawOrder:
        """Return the order for a plan and the id it was entered under."""
        return cls(
            place,
            release,
            plan.population,
            plan.data,
            plan.mechanism.id,
            plan.parameters(),
            plan.epsilon,
        )

    def run(self) -> None:
        """Draw: the output is stored then, and nothing is returned."""
        plan = made_plan(
            self.population,
            self.data,
            self.mechanism,
            self.parameters,
            self.epsilon,
            Declared({}, False, ()),
        )
        draw(self.place, plan, self.release)


@dataclass(frozen=True)
class CompareOrder:
    """The order to compare the ids of a file with those of all populations but its own."""

    place: Place
    plan: Plan

    def run(self) -> dict[str, int]:
        """Return how many ids are known in which populations: for the curator alone."""
        return compare(self.place, self.plan)


@dataclass(frozen=True)
class CheckOrder:
    """The order to read a file as a plan declares it, for the curator alone (`checking.check`)."""

    place: Place
    plan: Plan
    release: str = ""

    def run(self) -> Checked:
        """Return how many rows can be read, and whose ids are known."""
        return check(self.place, self.plan, self.release)


class InterruptedDrawError(ReleaseError):
    """The process ended without a word; what is spent, the ledger says."""


class ReleaseProcess:
    """An order that is carried out in a process of its own.

    Attributes
    ----------
    pid : int
        Of the process.
    """

    def __init__(self, order: Order) -> None:
        context = multiprocessing.get_context("spawn")
        self._answers, theirs = context.Pipe(duplex=False)
        # Not daemonic: it is waited for where this process ends, so that nothing is lost.
        self._process = context.Process(target=_serve, args=(order, theirs), name="release")
        with interrupts_held():
            self._process.start()
        theirs.close()
        self.pid = self._process.pid or 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done, or so many seconds; return whether it is."""
        return bool(wait([self._answers, self._process.sentinel], timeout))

    @property
    def done(self) -> bool:
        """Whether it is done by now."""
        return self.wait(0)

    def kill(self) -> None:
        """End the process at once: what was started counts as spent."""
        self._process.kill()

    def finish(self) -> Any:
        """Wait for the end, and return what came out.

        Raises
        ------
        ReleaseError
            Why it is not, in one sentence.
        """
        answer: tuple[str, Any] | None = None
        with suppress(EOFError, OSError):
            answer = self._answers.recv()
        self._answers.close()
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        if answer is None:
            raise InterruptedDrawError(
                f"the process that draws was ended (exit code {code}); nothing is shown, and the "
                "ledger says whether the release counts as spent"
            )
        wrong, found = answer
        if wrong:
            raise ReleaseError(wrong)
        return found


def draw_apart(place: Place, plan: Plan, release: str) -> None:
    """Draw a release in a process of its own, and wait for it: one call, never retried.

    Raises
    ------
    ReleaseError
        One sentence.
    """
    ReleaseProcess(DrawOrder.of(place, plan, release)).finish()


def compare_apart(place: Place, plan: Plan) -> dict[str, int]:
    """Return how many ids of a plan's file are known in other populations, for the curator alone.

    It is asked whose people a file is about before this is called (spec: a comparison is a trace
    of the data). Nothing is kept, and nothing of it gets into an entry.

    Raises
    ------
    ReleaseError
        One sentence.
    """
    found: dict[str, int] = ReleaseProcess(CompareOrder(place, plan)).finish()
    return found


def check_apart(place: Place, plan: Plan, release: str = "") -> Checked:
    """Return what `checking.check` finds, in a process of its own.

    Raises
    ------
    ReleaseError
        One sentence.
    """
    found: Checked = ReleaseProcess(CheckOrder(place, plan, release)).finish()
    return found


def _serve(order: Order, answers: Connection) -> None:
    """Carry an order out, and answer what went wrong ("" if nothing) and what came out."""
    keep_quiet()
    found = None
    try:
        found = order.run()
        wrong = ""
    except ReleaseError as error:
        wrong = str(error)
    except BaseException as error:
        # Its message might hold a value that was read: where it was raised does not.
        wrong = f"the draw failed unforeseen ({type(error).__name__} {_where(error)}); report it"
    with suppress(OSError):  # nobody waits any more
        answers.send((wrong, found))
    answers.close()


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "nowhere"
    return f"in {Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}"


def keep_quiet() -> None:
    """Let this process write no core dump, no warning, and nothing to the screen."""
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
    """Tell Linux that memory is nobody's to look at: no dump to a pipe, no debugger."""
    if sys.platform.startswith("linux"):
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


_NO_DUMPS: tuple[Callable[[], None], ...] = (_no_core_limit, _not_dumpable)
