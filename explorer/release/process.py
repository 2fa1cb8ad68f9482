"""A release is drawn in a process of its own: started fresh, given one order, never asked again.

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
from typing import Any

from explorer.release.door import Place, draw
from explorer.release.errors import ReleaseError
from explorer.release.plan import Declared, Plan, made_plan


@dataclass(frozen=True)
class Order:
    """What the process is given: a plan as plain data, which it checks again."""

    place: Place
    release: str
    population: str
    data: Path
    mechanism: str
    parameters: dict[str, Any]
    epsilon: Fraction

    @classmethod
    def of(cls, place: Place, plan: Plan, release: str) -> Order:
        """Return the order to draw a release that was entered."""
        return cls(
            place, release, plan.population, plan.data, plan.mechanism.id, plan.parameters(),
            plan.epsilon,
        )  # fmt: skip

    def plan(self) -> Plan:
        """Return the plan."""
        return made_plan(
            self.population, self.data, self.mechanism, self.parameters, self.epsilon,
            Declared({}, False, ()),
        )  # fmt: skip


class InterruptedDrawError(ReleaseError):
    """The process ended without a word; what is spent, the ledger says."""


class Drawing:
    """A release that is being drawn.

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
        self._process.start()
        theirs.close()
        self.pid = self._process.pid or 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done, or so many seconds; return whether it is."""
        return bool(wait([self._answers, self._process.sentinel], timeout))

    def kill(self) -> None:
        """End the process at once: what was started counts as spent."""
        self._process.kill()

    def finish(self) -> None:
        """Wait for the end; the output is stored then.

        Raises
        ------
        ReleaseError
            Why it is not, in one sentence.
        """
        said: str | None = None
        with suppress(EOFError, OSError):
            said = self._answers.recv()
        self._answers.close()
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        if said is None:
            raise InterruptedDrawError(
                f"the process that draws was ended (exit code {code}); nothing is shown, and the "
                "ledger says whether the release counts as spent"
            )
        if said:
            raise ReleaseError(said)


def draw_apart(place: Place, plan: Plan, release: str) -> None:
    """Draw a release in a process of its own, and wait for it: one call, never retried.

    Raises
    ------
    ReleaseError
        One sentence.
    """
    Drawing(Order.of(place, plan, release)).finish()


def _serve(order: Order, answers: Connection) -> None:
    """Draw, and say "" or what went wrong: the life of the process."""
    keep_quiet()
    try:
        draw(order.place, order.plan(), order.release)
        said = ""
    except ReleaseError as error:
        said = str(error)
    except BaseException as error:
        # Its message might hold a value that was read: where it was raised does not.
        said = f"the draw failed unforeseen ({type(error).__name__} {_where(error)}); report it"
    with suppress(OSError):  # nobody waits any more
        answers.send(said)
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
