"""A study small enough to see through: y = a·x, coarse first, then exact."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Kind,
    Parameter,
    Quantity,
    Request,
    Result,
    Series,
    Study,
    parameter,
)
from tests.waiting import time_limit

SOURCE = Reference("Tiny (tests)", "line 1")


@dataclass
class TinyStudy(Study):
    """Answers at once, or waits for `gate` between its answers."""

    id: str = "tiny"
    references: tuple[Reference, ...] = (SOURCE,)
    quantities: tuple[Quantity, ...] = (Quantity("y", "y", "height", ("x", "a")),)
    parameters: tuple[Parameter, ...] = (
        Parameter("a", "a", "slope", "How steep.", Kind.REAL, 2.0, 0.0, 10.0),
        Parameter("x", "x", "place", "Where.", Kind.REAL, 1.0, 0.0, 5.0),
    )
    gate: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    answered: list[float] = field(default_factory=list)
    dropped: list[float] = field(default_factory=list)

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        self.started.set()
        assert request.sweep is not None
        try:
            for points, fidelity in ((5, Fidelity.COARSE), (50, Fidelity.FULL)):
                p = parameter(self, request.sweep.key)
                x = p.grid(request.sweep.low, request.sweep.high, points)
                a = x if p.key == "a" else request["a"]
                y = a * (request["x"] if p.key == "a" else x)
                series = Series("line", "line", Role.EXACT, x, np.asarray(y), SOURCE)
                yield Result(
                    request, fidelity, series=(series,), complete=fidelity is Fidelity.FULL
                )
                self.answered.append(float(request["a"]))
                if not self.gate.wait(time_limit()):
                    raise TimeoutError("the test never opened the gate")
                context.check()
        except GeneratorExit:
            self.dropped.append(float(request["a"]))
            raise
