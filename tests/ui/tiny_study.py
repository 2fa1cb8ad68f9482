"""The smallest possible study: adding one changes no widget."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Kind,
    Parameter,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Scale,
    Series,
    Study,
)
from tests.waiting import time_limit

WARNER = Reference("Warner 1965", "randomized response")
MOON = "TINY_STUDY_MOON"
"""Names a file; while it exists every result is an error, in any process."""


class TinyStudy(Study):
    """Randomized response: frequency of true answers, and the resulting error of a count."""

    id = "tiny"
    references = (WARNER,)
    parameters = (
        Parameter(
            "eps",
            "ε",
            "privacy",
            "Privacy of one answer. Smaller is more private.",
            Kind.REAL,
            1.0,
            0.01,
            10.0,
            Scale.LOG,
            more_private="low",
        ),
        Parameter(
            "n",
            "n",
            "people",
            "How many people answer.",
            Kind.INTEGER,
            1000,
            1,
            1_000_000,
            Scale.LOG,
            unit="people",
            quantities=("error",),
        ),
        Parameter(
            "beta",
            "β",
            "failure",
            "How often the error bar may fail.",
            Kind.REAL,
            0.05,
            0.001,
            0.5,
            Scale.LINEAR,
            quantities=("error",),
        ),
        Parameter(
            "tail",
            "",
            "tail bound",
            "Which inequality bounds the error.",
            Kind.CHOICE,
            "hoeffding",
            choices=(("hoeffding", "Hoeffding"), ("chebyshev", "Chebyshev")),
            quantities=("error",),
        ),
        Parameter(
            "slow",
            "",
            "take your time",
            "Answer coarsely first, exactly later.",
            Kind.FLAG,
            False,
        ),
    )
    quantities = (
        Quantity("truth", "p", "probability of a true answer", ("eps",)),
        Quantity("error", "err", "error of the share", ("n", "eps", "beta"), scale=Scale.LOG),
    )

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        sweep = request.sweep
        assert sweep is not None
        if Path(os.environ.get(MOON, os.devnull)).is_file():
            raise ValueError("eps: the moon is in the way")
        declared = {p.key: p for p in self.parameters}
        xs = declared[sweep.key].grid(sweep.low, sweep.high, sweep.points, sweep.scale)
        if request["slow"]:
            yield self._result(request, xs[:: max(1, len(xs) // 10)], Fidelity.COARSE, False)
            end = time.monotonic() + time_limit(0.2)
            while time.monotonic() < end:
                context.check()
                time.sleep(0.005)
        yield self._result(request, xs, Fidelity.FULL, True)

    def _result(self, request: Request, xs: np.ndarray, fidelity: Fidelity, done: bool) -> Result:
        assert request.sweep is not None
        over = dict(request.values)
        over[request.sweep.key] = xs
        eps = np.asarray(over["eps"], float)
        truth = np.exp(eps) / (1 + np.exp(eps))
        if request.quantity == "truth":
            series = (
                Series("truth", "randomized response", Role.EXACT, xs, truth + 0 * xs, WARNER),
                Series(
                    "linear",
                    "1/2 + ε/4",
                    Role.UPPER,
                    xs,
                    np.where(eps <= 2, 0.5 + eps / 4, np.nan),
                    WARNER,
                    undefined_reason="the line leaves 1 above ε = 2",
                ),
            )
        else:
            n, beta = np.asarray(over["n"], float), np.asarray(over["beta"], float)
            gap = 2 * truth - 1
            tail = np.sqrt(np.log(2 / beta) / 2 if over["tail"] == "hoeffding" else 0.25 / beta)
            series = (
                Series(
                    "error",
                    "error bar",
                    Role.UPPER,
                    xs,
                    tail / np.sqrt(n) / gap + 0 * xs,
                    WARNER,
                    note="holds for every population",
                ),
            )
        chance = float(np.exp(request["eps"]) / (1 + np.exp(request["eps"])))
        return Result(
            request,
            fidelity,
            series=series,
            readouts=(ScalarResult("chance", "truth", chance, Role.EXACT),),
            conditions=(
                Condition("ε ≤ 2", request["eps"] <= 2, f"ε = {request['eps']:.3g}"),
                Condition("people answer independently", None),
            ),
            guarantee=Guarantee(
                "one answer",
                "not covered: the number of people is public",
                f"{request['eps']:.3g}-DP",
                "nobody is trusted: each person randomizes alone",
                f"Everyone tells the truth with probability {chance:.3f}.",
                (WARNER,),
            ),
            complete=done,
        )
