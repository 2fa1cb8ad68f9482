"""Learning from shuffled, locally private gradients: its ε, its convergence, its accuracy."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.core.bound import Bound
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import stated
from explorer.studies.base.composing import clones_apart
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Readout,
    Request,
    Result,
    Study,
    Sweep,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.cldp_sgd import text, tradeoff
from explorer.studies.cldp_sgd.accuracy import (
    Ledger,
    Wanted,
    epochs_series,
    readouts,
    run_of,
    scores,
    spent_series,
    table,
    trained,
    wanted,
)
from explorer.studies.cldp_sgd.curves import (
    Spending,
    norm_of,
    quick_bounds,
    risk_bounds,
    slow_bounds,
    spending_series,
)
from explorer.studies.cldp_sgd.face import FACES, SHORT_NAMES
from explorer.studies.cldp_sgd.help import PAGE, PRESETS
from explorer.studies.cldp_sgd.parameters import (
    ACCURACY,
    EPS,
    PARAMETERS,
    QUANTITIES,
    R_1,
    R_INF,
    SOFTMAX,
)
from explorer.studies.cldp_sgd.runs import THEOREM, Run
from explorer.studies.guarantees.tradeoffs import with_tradeoff

_COARSE_POINTS = 24
_COARSE_ORDER = 512
_EASY_ORDER = 1024
_COMPOSED_POINTS = 30
"""Where every point has a round of its own."""
_ONE_ROUND = ("epochs", "delta", "spent")
"""Sweeps over which all points share one round."""


@with_tradeoff(
    tradeoff.USES, laws=tradeoff.laws, promising=("law",), audits=tradeoff.audits, patient=True
)
class CldpSgd(Study):
    """CLDP-SGD: what it spends, how it converges, and trained for real on digits."""

    id = "cldp-sgd"
    simulated = "shuffle.learning/1"
    references = (
        text.ALGORITHM,
        text.PRIVACY,
        text.CONVERGENCE,
        text.FIGURE_5,
        text.R_INFINITY,
        text.R_ONE,
        text.LEMMA_8,
        text.R_TWO,
        text.R_TWO_CAP,
        text.COMPOSED,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {EPS: text.CLAIM}

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield bounds first; then what takes longer, or one picture a piece of training."""
        points = swept_points(self, request)
        if request.quantity == ACCURACY:
            yield from self._accuracy(request, points, context)
            return
        answered = self._epsilon if request.quantity == EPS else self._risk
        for full in (False, True):
            last = full or request.fidelity is Fidelity.COARSE
            context.check()
            answer = Result(
                request,
                Fidelity.FULL if full else Fidelity.COARSE,
                complete=last,
                **answered(request, points, context, full),
            )
            yield stated(answer)
            if last:
                return
            if request.quantity == EPS and answer.guarantee is not None:
                yield self._composed_here(answer, points, context)

    def _composed_here(self, coarse: Result, points: SweptPoints, context: Context) -> Result:
        """Return the coarse answer with what is certified by composition at the sliders' values.

        It takes a moment for one point, seconds for a curve.
        """
        request, promise = coarse.request, coarse.guarantee
        here = {key: column[-1:] for key, column in points.columns.items()}
        spending = Spending(here, request["lam_max"], context)
        nowhere = SweptPoints(points.sweep, np.empty(0), {})
        slow = slow_bounds(spending)
        empty, numbers = spending_series(slow, nowhere, spending.won)
        coming = tuple(
            replace(
                s,
                x=points.x,
                y=np.full(points.x.size, np.nan),
                undefined_reason=text.COMPUTING,
                computing=True,
            )
            for s in empty
        )
        assert promise is not None
        distance = _apart(request, float(spending.rounds[0]), context)
        return stated(
            replace(
                coarse,
                series=coarse.series + coming,
                readouts=coarse.readouts + numbers,
                guarantee=replace(promise, distance=distance),
            )
        )

    def _epsilon(
        self, request: Request, points: SweptPoints, context: Context, full: bool
    ) -> dict[str, Any]:
        lam_max = request["lam_max"] if full else min(request["lam_max"], _COARSE_ORDER)
        some = points
        if points.sweep.key not in _ONE_ROUND:
            # Every point has a table of its own, whose work grows with the square of the order.
            fewer = int(points.x.size * (_EASY_ORDER / max(lam_max, _EASY_ORDER)) ** 2)
            some = points.downsampled(max(_COARSE_POINTS, fewer) if full else _COARSE_POINTS)
        spending = Spending(some.columns, lam_max, context)
        bounds, orders = quick_bounds(spending)
        series, numbers = spending_series(bounds, some)
        theorem, numerical, distance = bounds["theorem"], np.nan, None
        upper = {"theorem": float(theorem.value[-1])}
        if full:
            alike = points.sweep.key in _ONE_ROUND and request["k"] > 1
            few = points if alike else points.downsampled(_COMPOSED_POINTS)
            composing = Spending(few.columns, lam_max, context)
            slow = slow_bounds(composing)
            more_series, more_numbers = spending_series(slow, few, composing.won)
            series, numbers = series + more_series, numbers + more_numbers
            numerical = float(slow["numerical"].value[-1])
            upper["clones"] = float(slow["clones"].value[-1])
            if request["k"] <= request["n"]:
                distance = _apart(request, spending.rounds[-1], context)
        clients, sampled = request["n"], request["k"]
        if sampled > clients:
            return {
                "series": series,
                "readouts": numbers,
                "conditions": (text.sampling(sampled, clients),),
                "notes": (f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n",),
            }
        order, rounds = float(orders[-1]), float(spending.rounds[-1])
        return {
            "series": series,
            "readouts": (
                *numbers,
                Readout("rounds", "rounds T", rounds),
                Readout("order", "best order λ*", order),
            ),
            "conditions": text.conditions(
                sampled=sampled,
                clients=clients,
                order=order,
                lam_max=lam_max,
                at_edge=bool(theorem.truncated[-1]),
            ),
            "guarantee": replace(
                text.guarantee(
                    local=request["eps0"],
                    messages=rounds * sampled / clients,
                    differing=text.epsilon_differences(upper, numerical, request["eps0"]),
                ),
                distance=distance,
            ),
        }

    def _risk(
        self, request: Request, points: SweptPoints, context: Context, full: bool
    ) -> dict[str, Any]:
        found = risk_bounds(request, points, context, full=full)
        here = {key: float(bound.value[-1]) for key, (_, bound) in found.items()}
        conditions: tuple[Condition, ...] = (text.sampling(request["k"], request["n"]),)
        if request["k"] <= request["n"]:
            best = min(here["remark"], here.get("exact", np.inf))
            conditions += text.risk_conditions(norm_of(request), best, here["trivial"])
        named = [(key, label, bound) for key, (label, bound) in found.items()]
        answer: dict[str, Any] = {
            "series": tuple(series_from(key, label, points, bound) for key, label, bound in named),
            "readouts": tuple(readout_from(*one) for one in named),
            "conditions": conditions,
        }
        if request["k"] > request["n"]:
            note = f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n"
            return answer | {"notes": (note,)}
        # What is promised is the same whatever is on the y axis.
        here_only = {key: column[-1:] for key, column in points.columns.items()}
        lam_max = request["lam_max"] if full else min(request["lam_max"], _COARSE_ORDER)
        spending = Spending(here_only, lam_max, context)
        bounds, orders = quick_bounds(spending)
        if full:
            bounds |= slow_bounds(spending)
        rounds = float(spending.rounds[0])
        promise = text.guarantee(
            local=request["eps0"],
            messages=rounds * request["k"] / request["n"],
            differing=text.risk_differences(here, norm_of(request)),
        )
        if full:
            promise = replace(promise, distance=_apart(request, rounds, context))
        return answer | {
            "guarantee": _promised(request, promise, bounds, float(orders[0]), rounds, full)
        }

    def _accuracy(
        self, request: Request, points: SweptPoints, context: Context
    ) -> Iterator[Result]:
        asked = wanted(request, points, context)
        ledger = Ledger(request, asked, context)
        resting = text.RESTING
        coarse = request.fidelity is Fidelity.COARSE
        left = [j for j, e in asked.stages() if run_of(j, context).epochs < e]
        first = self._picture(request, points, context, asked, ledger, resting)
        if coarse:
            yield replace(first, fidelity=Fidelity.COARSE, complete=True)
            return
        yield replace(first, fidelity=Fidelity.COARSE)
        if not asked.missing:
            ledger.complete()
        for done in trained(asked, context):
            picture = self._picture(request, points, context, asked, ledger, text.NOT_YET)
            yield replace(picture, progress=float(done))
        final = self._picture(request, points, context, asked, ledger, text.NOT_YET)
        yield replace(final, complete=True, progress=1.0 if left else None)

    def _picture(
        self,
        request: Request,
        points: SweptPoints,
        context: Context,
        asked: Wanted,
        ledger: Ledger,
        resting: str,
    ) -> Result:
        """Return what is known so far."""
        known = scores(asked, context)
        if points.sweep.key == "spent":
            series = spent_series(points, asked, ledger, known, resting)
        else:
            series = epochs_series(points, asked, known, resting)
        result = Result(request, Fidelity.FULL, series=series, stamp=text.STAMP)
        if request["k"] > request["n"]:
            note = f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n"
            conditions = (text.sampling(request["k"], request["n"]),)
            return replace(result, conditions=conditions, notes=(note,))
        run = run_of(asked.private[0], context) if asked.private else Run()
        size = run.state.theta.size if run.state else 0
        report_bits = 0
        if size:
            report_bits = math.ceil(math.log2(size)) + 1 if _sparse(request) else 64 * size
        order = ledger.at_epochs(ledger.order, asked.epochs)
        edge = bool(ledger.at_epochs(ledger.theorem.truncated, asked.epochs))
        rounds = ledger.at_epochs(ledger.spending.rounds, asked.epochs)
        bounds = ledger.bounds_at(asked.epochs)
        counted = {key: float(bound.value[0]) for key, bound in bounds.items()}
        full = ledger.numerical is not None
        promise = text.guarantee(
            local=request["eps0"],
            messages=rounds * request["k"] / request["n"],
            differing=text.accuracy_differences(counted, asked.epochs, points.sweep.key == "spent"),
        )
        if full:
            promise = replace(promise, distance=_apart(request, rounds, context))
        return replace(
            result,
            tables=(table(asked, ledger, known),),
            readouts=readouts(asked, ledger, known, report_bits),
            conditions=(
                *text.conditions(
                    sampled=request["k"],
                    clients=request["n"],
                    order=order,
                    lam_max=request["lam_max"],
                    at_edge=edge,
                ),
                *text.training_conditions(
                    convex=request["model"] == SOFTMAX,
                    clip=request["clip"],
                    lipschitz=run.lipschitz,
                    clients=request["n"],
                    pictures=run.pictures,
                    rates=request["steps"] == THEOREM,
                ),
            ),
            guarantee=_promised(request, promise, bounds, order, rounds, full),
            notes=(text.NOTHING_RELEASED, *((asked.missing,) if asked.missing else ())),
        )


def _apart(request: Request, rounds: float, context: Context) -> float:
    """Return an upper bound on δ(0) of all rounds together."""
    eps0, k, n = (float(request[key]) for key in ("eps0", "k", "n"))
    return clones_apart(eps0, k, n, float(rounds), Clones.PUBLISHED, context)


def _promised(
    request: Request,
    promise: Guarantee,
    bounds: dict[str, Bound],
    order: float,
    rounds: float,
    complete: bool,
) -> Guarantee:
    """Return what is promised where something else than ε is on the y axis.

    `bounds` on ε have one value each; the tightest is claimed.
    """
    nowhere = SweptPoints(Sweep("epochs", 1.0, 1.0, 1), np.empty(0), {})
    series, readouts = spending_series(bounds, nowhere)
    about = (Readout("rounds", "rounds T", rounds), Readout("order", "best order λ*", order))
    answer = Result(
        replace(request, quantity=EPS, sweep=None),
        Fidelity.FULL,
        series,
        readouts=(*readouts, *about),
        guarantee=promise,
        complete=complete,
    )
    return stated(answer).guarantee or promise


def _sparse(request: Request) -> bool:
    return request["randomiser"] in (R_INF, R_1)
