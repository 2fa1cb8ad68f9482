"""ε after T rounds of one known randomiser that composes: two levels of probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import Bound, Grade, Role
from explorer.privacy.core.checks import EPSILON_MAX
from explorer.privacy.shuffle_rdp import COMPOSED_CLONES, CloneRounds, pure_epsilon
from explorer.privacy.shuffle_rdp.two_level import COMPOSED_BLANKET, TwoLevelRounds
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import stated
from explorer.studies.base.composing import composed_bound
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Claim, Condition, Context, Fidelity, Request, Result, Series
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from
from explorer.studies.shuffle_accountant import text
from explorer.studies.shuffle_accountant.curves import Points, total_variation
from explorer.studies.shuffle_accountant.points import among, swept_rounds
from explorer.studies.shuffle_accountant.series import bound_of, curve, undefined_reason

_POINTS, _ONE_ROUND_POINTS = 8, 16
_LABEL = "this randomiser, blanket composed"
_ABOUT = "the randomiser's own blanket, sampled and composed as the clones are"
NOT_OFFERED = (
    "Taken here are randomisers whose one worst pair is the same in every round: k-ary randomised "
    "response and PrivUnit. R_∞ is exactly the clones of 2023; for unary encoding, Laplace noise "
    "and tables only one shuffle is bounded, in “Amplification by shuffling”."
)
CLAIM = Claim(("own", "numerical_upper", "cap"), text.claim_words, solves="eps0")


def answer(request: Request, swept: SweptPoints, context: Context) -> Iterator[Result]:
    """Yield what holds in any case, then the randomiser's own bound and the clones' beside it."""
    points = swept_rounds(swept)
    cap = points.rounds * np.asarray(
        pure_epsilon(points.local, np.minimum(points.sampled, points.clients), points.clients)
    )
    cap = np.where(points.holds, cap, np.nan)
    any_case = bound_of("cap", cap, undefined_reason(request), cap=cap)
    first = (curve("cap", swept, any_case),)
    started = _result(request, first, {"cap": any_case}, points, context, Fidelity.COARSE)
    done = request.fidelity is Fidelity.COARSE or not points.holds.any()
    yield replace(started, complete=done)
    if done:
        return
    few = _ONE_ROUND_POINTS if swept.sweep.key in ("T", "delta") else _POINTS
    fewer, inside = among(swept, points, few)
    held = inside.at(inside.holds)
    why = undefined_reason(request)
    theta = share(request)
    five = (held.local, held.sampled, held.clients, held.rounds, held.delta)

    def prepare(e: float, k: float, n: float) -> TwoLevelRounds:
        return TwoLevelRounds(min(e, EPSILON_MAX), theta, k, n)

    own = composed_bound(
        prepare,
        five,
        (Role.UPPER, COMPOSED_BLANKET),
        context,
        ("shuffle-rdp", "own", theta),
    )
    clones = composed_bound(
        lambda e, k, n: CloneRounds(e, k, n, Clones.STRONGER),
        five,
        (Role.UPPER, COMPOSED_CLONES),
        context,
        ("shuffle-rdp", "composed", Clones.STRONGER.value),
    )
    bounds = {
        "cap": any_case,
        "own": replace(own, grade=Grade.NUMERICAL).spread(inside.holds, why),
        "numerical_upper": clones.spread(inside.holds, why),
    }
    series = (
        *first,
        series_from("own", _LABEL, fewer, bounds["own"], note=_ABOUT),
        curve("numerical_upper", fewer, bounds["numerical_upper"], Clones.STRONGER),
    )
    yield replace(_result(request, series, bounds, points, context, Fidelity.FULL), complete=True)


def _apart(request: Request, here: Points, context: Context) -> float:
    """Return an upper bound on δ(0) of all rounds together."""
    chain = (float(here.local), share(request), float(here.sampled), float(here.clients))
    rounds = int(here.rounds)
    own: float = context.memo(
        ("shuffle-rdp", "own apart", *chain, rounds),
        lambda: TwoLevelRounds(*chain).delta(0.0, rounds).value,
    )
    return min(own, total_variation(here, Clones.STRONGER, context))


def share(request: Request) -> float:
    """Return θ, the share of the messages that one record makes likelier."""
    if request["randomiser"] == "krr":
        return 1 / int(request["outcomes"])
    return float(request["theta"])


def _result(
    request: Request,
    series: tuple[Series, ...],
    bounds: dict[str, Bound],
    points: Points,
    context: Context,
    fidelity: Fidelity,
) -> Result:
    conditions = (
        text.sampling(float(request["k"]), float(request["n"])),
        Condition(
            "In every round all clients run this randomiser at this ε₀",
            None,
            f"θ = {nearest(share(request))}, at most ½",
            short="All clients run this randomiser at ε₀",
        ),
        *text.ASSUMED,
    )
    if not points.holds[-1]:
        note = f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n"
        return Result(
            request,
            fidelity,
            complete=False,
            series=series,
            conditions=conditions,
            notes=(note, NOT_OFFERED),
        )
    here = points.at(-1)
    readouts = tuple(
        readout_from(key, next(s.label for s in series if s.key == key), bound)
        for key, bound in bounds.items()
    )
    promise = text.guarantee(
        float(here.local), float(here.sampled * here.rounds / here.clients), ()
    )
    if "own" in bounds:
        promise = replace(
            promise,
            references=(COMPOSED_BLANKET, *promise.references),
            distance=_apart(request, here, context),
            law="this randomiser through all rounds",
        )
    return stated(
        Result(
            request,
            fidelity,
            complete=False,
            series=series,
            readouts=readouts,
            conditions=conditions,
            guarantee=promise,
            notes=(NOT_OFFERED,),
        )
    )
