"""Study with every kind of mark, tables, a space, a file parameter and progress."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Kind,
    Mark,
    Parameter,
    Quantity,
    Request,
    Result,
    Scale,
    Series,
    SpacePicture,
    Study,
    Table,
)
from tests.waiting import time_limit

SOURCE = Reference("A made-up paper", "Theorem 1")
_ONLY_SLOW = (("mode", ("slow",)),)


class MarksStudy(Study):
    """Four quantities: lines with all other marks, bars, a trade-off curve, many lines."""

    id = "marks"
    references = (SOURCE,)
    parameters = (
        Parameter(
            "eps",
            "ε",
            "privacy",
            "Privacy. Smaller is more private.",
            Kind.REAL,
            1.0,
            0.1,
            10.0,
            Scale.LOG,
            more_private="low",
        ),
        Parameter(
            "level",
            "i",
            "level",
            "Which level.",
            Kind.INTEGER,
            1,
            0,
            6,
            axis_only=True,
        ),
        Parameter(
            "fpr",
            "α",
            "false positives",
            "Share.",
            Kind.REAL,
            0.5,
            0.0,
            1.0,
            axis_only=True,
        ),
        Parameter(
            "metric",
            "",
            "space",
            "Which metric space.",
            Kind.CHOICE,
            "line",
            choices=(("line", "interval"), ("clusters", "clusters")),
            group="space",
        ),
        Parameter(
            "width",
            "w",
            "width",
            "How wide the space is. Wider is less private.",
            Kind.REAL,
            10.0,
            1.0,
            100.0,
            unit="km",
            group="space",
        ),
        Parameter(
            "points",
            "",
            "your own points",
            "A CSV of points.",
            Kind.FILE,
            "",
            group="data",
            suffixes=(".csv",),
        ),
        Parameter(
            "mode",
            "",
            "pace",
            "How long it takes.",
            Kind.CHOICE,
            "fast",
            choices=(("fast", "at once"), ("slow", "bit by bit")),
            group="simulation",
        ),
        Parameter(
            "steps",
            "",
            "steps",
            "How many bits.",
            Kind.INTEGER,
            5,
            1,
            500,
            group="simulation",
            relevant_when=_ONLY_SLOW,
        ),
    )
    quantities = (
        Quantity("error", "err", "error", ("eps", "width"), scale=Scale.LOG),
        Quantity("budget", "ε", "budget of a level", ("level",)),
        Quantity("tradeoff", "β", "false negatives", ("fpr",)),
        Quantity("many", "err", "error of many", ("eps",)),
    )

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        path = context.file(request["points"]) if request["points"] else None
        if request["mode"] == "slow":
            for step in range(request["steps"]):
                yield self._result(request, path, False, step / request["steps"])
                end = time.monotonic() + time_limit(0.05)
                while time.monotonic() < end:
                    context.check()
                    time.sleep(0.002)
        yield self._result(request, path, True, None)

    def _result(self, request: Request, path, done: bool, progress: float | None) -> Result:
        assert request.sweep is not None
        declared = {p.key: p for p in self.parameters}
        s = request.sweep
        xs = np.asarray(declared[s.key].grid(s.low, s.high, s.points, s.scale), float)
        make = {"error": self._error, "budget": self._budget, "tradeoff": self._tradeoff}
        series = make.get(request.quantity, self._many)(request, xs)
        own = None if path is None else np.loadtxt(path, delimiter=",", ndmin=2)
        return Result(
            request,
            Fidelity.FULL if done else Fidelity.COARSE,
            series=series,
            tables=(
                Table(
                    "levels",
                    "Budget of every level",
                    ("level", "ε", "why"),
                    (("top", 0.5, "all of it"), ("bottom", None, "a | b & c")),
                    note="Exact; ε per level.",
                ),
                Table("counts", "Counts", ("n", "share"), ((1_000_000.0, 1e-9), (2.0, 0.5))),
            ),
            space=_space(request, own),
            conditions=(Condition("ε ≤ 2", request["eps"] <= 2, ""),),
            guarantee=Guarantee(
                "one point",
                "ε-DP",
                "2ε-DP",
                "a trusted curator",
                "Nobody learns much.",
                (SOURCE,),
                differences=("The bound counts twice.",),
            ),
            complete=done,
            progress=progress,
        )

    def _error(self, request: Request, xs: FloatArray) -> tuple[Series, ...]:
        few = xs[5::12]
        exact = 1 / xs
        early = xs <= np.quantile(xs, 0.8)
        return (
            Series(
                "upper",
                "upper bound",
                Role.UPPER,
                xs,
                np.where(early, 2 / xs, np.nan),
                SOURCE,
                undefined_reason="it holds for small ε only",
            ),
            Series(
                "exact",
                "exact error",
                Role.EXACT,
                xs,
                np.where(early, exact, np.nan),
                SOURCE,
                undefined_reason="there is no closed form above",
            ),
            Series(
                "banded",
                "estimate",
                Role.ESTIMATE,
                xs,
                np.where(early, 1.4 / xs, np.nan),
                SOURCE,
                low=1.2 / xs,
                high=1.6 / xs,
                undefined_reason="it was not run there",
            ),
            Series(
                "dots",
                "simulation",
                Role.ESTIMATE,
                few,
                1.02 / few,
                SOURCE,
                low=0.9 / few,
                high=1.14 / few,
                mark=Mark.DOTS,
            ),
            Series(
                "region",
                "where it wins",
                Role.EXACT,
                xs,
                np.where(early, 0.5 / xs, np.nan),
                SOURCE,
                low=np.zeros_like(xs),
                high=0.5 / xs,
                mark=Mark.AREA,
                undefined_reason="nobody wins there",
            ),
            Series("flat", "no privacy", Role.BASELINE, xs, np.full_like(xs, 0.3), SOURCE),
        )

    def _budget(self, request: Request, xs: FloatArray) -> tuple[Series, ...]:
        ours = 0.7**xs
        theirs = np.where(xs < 5, 0.3, np.nan)
        return (
            Series("ours", "ours", Role.EXACT, xs, ours, SOURCE, mark=Mark.BARS),
            Series(
                "theirs",
                "theirs",
                Role.EXACT,
                xs,
                theirs,
                SOURCE,
                mark=Mark.BARS,
                undefined_reason="theirs stops at level 4",
            ),
        )

    def _tradeoff(self, request: Request, xs: FloatArray) -> tuple[Series, ...]:
        turn = np.linspace(0, np.pi / 2, 200)
        grow = np.exp(request["eps"])
        low = np.maximum(np.maximum(1 - grow * xs, (1 - xs) / grow), 0)
        return (
            Series(
                "path",
                "a curve in the plane",
                Role.EXACT,
                1.2 * np.sin(turn) ** 3,
                np.cos(turn) ** 3,
                SOURCE,
                mark=Mark.PATH,
            ),
            Series(
                "area",
                "what a test can reach",
                Role.UPPER,
                xs,
                low,
                SOURCE,
                low=low,
                high=1 - low[::-1],
                mark=Mark.AREA,
            ),
            Series(
                "other",
                "another region",
                Role.ESTIMATE,
                xs,
                low / 2,
                SOURCE,
                low=low / 2,
                high=low,
                mark=Mark.AREA,
            ),
        )

    def _many(self, request: Request, xs: FloatArray) -> tuple[Series, ...]:
        return tuple(
            Series(f"s{i}", f"curve {i}", Role.UPPER, xs, (i + 1) / xs, SOURCE) for i in range(12)
        )


def _space(request: Request, own: FloatArray | None) -> SpacePicture:
    if own is not None:
        points, name = own[:, :2], "your own points"
        groups = np.zeros(len(points), np.intp)
    elif request["metric"] == "line":
        points = np.column_stack([np.linspace(0, request["width"], 9), np.zeros(9)])
        name, groups = "interval", np.zeros(9, np.intp)
    else:
        turn = np.arange(30) * 2.4
        groups = (np.arange(30) % 3).astype(np.intp)
        points = np.column_stack([np.cos(turn), np.sin(turn)]) + 6 * groups[:, None]
        name = "clusters"
    return SpacePicture(name, points, groups, request["width"], "km", "Distances are kept.")
