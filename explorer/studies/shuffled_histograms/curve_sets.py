"""Which curves stand on which axes, at the points that are asked for."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.histograms import Query, least_users, printed_least_users
from explorer.studies.base.study import Context, Mark, Request, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread, series_from
from explorer.studies.shuffled_histograms import curves, simulation, text
from explorer.studies.shuffled_histograms.curves import Points

_DOTS = 8
_DRAWN_VALUES = 100_000
"""Values that occur in simulated data at most: a run draws one noise for each."""


@dataclass(frozen=True)
class Drawn:
    """Bounds at points, by curve, in the order of the legend."""

    kind: Query
    bounds: dict[str, tuple[SweptPoints, Bound]]
    shared: bool = False
    """Whether β is shared among the bins that can err."""

    def series(self) -> tuple[Series, ...]:
        """Return the curves."""
        return tuple(
            series_from(
                key,
                text.named(key, self.kind)[0],
                points,
                bound,
                note=text.ORDER_ONLY if key in curves.ORDERS else text.about(key, self.shared),
            )
            for key, (points, bound) in self.bounds.items()
        )


def draw(what: str, swept: SweptPoints, fewer: SweptPoints, kind: Query, context: Context) -> Drawn:
    """Return all curves of a quantity: calibrated ones at `fewer` points, others at all."""
    every, some = Points.of(swept, kind), Points.of(fewer, kind)
    noise, paper = curves.calibrated(some, context), curves.printed(every)
    context.check()
    found: dict[str, tuple[SweptPoints, Bound]] = {}
    shared = what == "error" and kind is Query.HISTOGRAM
    if what in ("error", "query"):
        bins = [p.h if shared else np.ones(p.n.shape) for p in (some, every)]
        found["calibrated"] = fewer, curves.error("calibrated", some, noise, bins[0])
        found["paper"] = swept, curves.error("paper", every, paper, bins[1])
        key, among = ("printed", every.n) if shared else ("printed_one", bins[1])
        found[key] = swept, curves.printed_error(key, every, paper, among)
        others = curves.comparators(every, what)
        for key in ("local", "central"):
            found[key] = swept, others.pop(key)
        # Here, so that the simulated dots, which come last, have the colour of this curve.
        found["tails"] = fewer, curves.tails(some, noise, bins[0], context)
    elif what == "rmse":
        for key, bound in curves.root_mean_square("rmse", some, noise).items():
            found[key] = fewer, bound
        by_paper = curves.root_mean_square("paper_rmse", every, paper)
        found["paper_rmse"] = swept, by_paper["paper_rmse"]
        others = curves.other_root_mean_squares(every)
    elif what == "noise":
        found["noise"] = fewer, curves.amount("noise", some, noise)
        others = {"paper_noise": curves.amount("paper_noise", every, paper)}
    elif what == "messages":
        found["messages"] = fewer, curves.sent("messages", some, noise)
        found["paper_messages"] = swept, curves.sent("paper_messages", every, paper)
        others = curves.other_messages(every)
    else:
        found["loss"] = fewer, curves.loss("loss", some, noise, context)
        printed = curves.printed(some)
        found["paper_loss"] = fewer, curves.loss("paper_loss", some, printed, context)
        others = {"target": curves.target(every)}
    return Drawn(kind, found | {key: (swept, bound) for key, bound in others.items()}, shared)


def draw_users(
    swept: SweptPoints, kind: Query, context: Context, points: int
) -> Iterator[tuple[Drawn, float]]:
    """Yield the least users, some points more each time, and the share that is done."""
    every = Points.of(swept, kind)
    half = 2 if kind is Query.HISTOGRAM else 1
    holds = every.eps <= half
    # Asked of points where there is an answer; the others are left out below.
    printed = printed_least_users(np.where(holds, every.eps, half) / half, every.delta / half)
    paper = curves.bound("paper_users", every, printed, holds, text.PAPER_NEEDS[kind])
    fewer = swept.downsampled(points)
    some = Points.of(fewer, kind)
    value = np.full(some.n.size, math.nan)
    kept: dict[tuple[object, ...], float] = context.memo(("histograms", "least users"), dict)
    # The sliders' own first, then both ends, then what lies between.
    order = [some.n.size - 1, 0, *range(some.n.size - 2, 0, -1)]
    for done, i in enumerate(order, 1):
        context.check()
        key = (kind, float(some.eps[i]), float(some.delta[i]))
        if key not in kept:
            kept[key] = float(least_users(key[1], key[2], kind))
        value[i] = kept[key]
        if done % 4 == 2 or done == len(order):
            there = np.append(np.flatnonzero(np.isfinite(value[:-1])), some.n.size - 1)
            columns = {k: v[there] for k, v in fewer.columns.items()}
            part = SweptPoints(fewer.sweep, fewer.x[there[:-1]], columns)
            bound = curves.bound("users", Points.of(part, kind), value[there])
            yield (
                Drawn(kind, {"users": (part, bound), "paper_users": (swept, paper)}),
                done / len(order),
            )


def dots(
    request: Request, what: str, fewer: SweptPoints, kind: Query, context: Context
) -> Iterator[tuple[Series, float]]:
    """Yield the simulated points so far, and the share that is done."""
    points = Points.of(fewer, kind)
    noise = curves.calibrated(points, context)
    there = noise.valid[:-1] & ((points.s <= points.n)[:-1] | (what == "error"))
    places = np.flatnonzero(there)
    places = places[evenly_spread(places.size, _DOTS)]
    found: list[simulation.Dot] = []
    runs = int(request["runs"])
    for done, i in enumerate(places, 1):
        n, q, seed = int(points.n[i]), float(noise.q[i]), (request.seed, int(i))
        level = 1 - float(points.beta[i])
        if what == "error":
            h, shape = int(min(points.h[i], _DRAWN_VALUES)), str(request["shape"])
            h, shape = (h, shape) if kind is Query.HISTOGRAM else (1, "even")
            pieces = list(simulation.simulate(context, shape, n, h, q, runs, seed))
            dot = simulation.quantile_dot(np.concatenate(pieces), level)
        else:
            context.check()
            errors = context.run_in_worker(
                simulation.errors_of_bin, int(points.s[i]), n, q, 10 * runs, seed
            )
            dot = (
                simulation.quantile_dot(np.abs(errors), level)
                if what == "query"
                else simulation.rmse_dot(errors)
            )
        found.append(dot)
        fewest = what == "error" and bool(np.any(points.h[places] > _DRAWN_VALUES))
        yield _series(fewer.x[places[:done]], found, what, runs, fewest), done / places.size


def _series(
    x: FloatArray, found: list[simulation.Dot], what: str, runs: int, fewest: bool
) -> Series:
    _, role, reference = text.CURVES["simulated"]
    value, low, high = np.array(found).T
    seen = "root mean square" if what == "rmse" else "(1−β)-quantile"
    times = runs if what == "error" else 10 * runs
    return Series(
        "simulated",
        f"simulated: {seen} of {times} runs",
        role,
        x,
        value,
        reference,
        low=low,
        high=high,
        undefined_reason=text.RUNS_TOO_FEW if np.isnan(value).any() else "",
        note=(
            "intervals by the normal approximation, about 99 in 100; of no width where all runs "
            "agree"
            if what == "rmse"
            else "intervals that hold the true number at least 99 times in 100"
            + f"; at most {_DRAWN_VALUES:,} values occur in what is drawn" * fewest
        ),
        mark=Mark.DOTS,
    )
