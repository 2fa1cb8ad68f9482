"""Each client once an epoch, beside fresh sampling in every round, as a quantity."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.privacy.shuffle_rdp import Allocation
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import stated
from explorer.studies.base.composing import composed_bound
from explorer.studies.base.phrases import times
from explorer.studies.base.study import Condition, Context, Fidelity, Request, Result
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from
from explorer.studies.shuffle_accountant import text
from explorer.studies.shuffle_accountant.curves import Points
from explorer.studies.shuffle_accountant.points import ONE_ROUND, among, swept_rounds
from explorer.studies.shuffle_accountant.series import joined, undefined_reason

_POINTS, _APART = 48, 22
"""Points of a curve, and of one where every point has rounds of its own to prepare."""
_COARSE_POINTS = 1
"""Besides the sliders' own."""
_NOT_OVER = "no epoch is over yet"
_FIXED, _ADAPTIVE = "once_fixed", "once_adaptive"
AMONG = ("numerical_upper", "epoch_adaptive", "epoch_fixed")


@dataclass(frozen=True)
class _Curve:
    label: str
    role: Role
    reference: Reference
    how: Allocation | None
    note: str
    assumes: tuple[str, ...] = ()


CURVES = {
    "numerical_upper": _Curve(
        "fresh sample every round ({})",
        Role.UPPER,
        rdp.COMPOSED_CLONES,
        None,
        "the numerical upper bound: k of n clients drawn anew in each round",
    ),
    "epoch_fixed": _Curve(
        "once an epoch, randomiser fixed before it ({})",
        Role.UPPER,
        rdp.EPOCH_FIXED,
        Allocation.FIXED,
        "an epoch is exactly one shuffle of all n messages",
        (_FIXED,),
    ),
    "epoch_adaptive": _Curve(
        "once an epoch, randomisers adapt ({})",
        Role.UPPER,
        rdp.EPOCH_ADAPTIVE,
        Allocation.ADAPTIVE,
        "one shuffle of k an epoch, without gain from sampling",
        (_ADAPTIVE,),
    ),
    "epoch_lower": _Curve(
        "once an epoch: lower bound (2RR, 3RR)",
        Role.LOWER,
        rdp.COMPOSED_LOWER,
        Allocation.FIXED,
        "on what an accountant sound for all ε₀-LDP randomisers can report, fixed or adaptive",
    ),
}


def answer(request: Request, swept: SweptPoints, context: Context) -> Iterator[Result]:
    """Yield the upper bounds at a few points first, then all; every number is certified."""
    done = request.fidelity is Fidelity.COARSE
    yield stated(_result(request, swept, context, Fidelity.COARSE, done))
    if not done:
        yield stated(_result(request, swept, context, Fidelity.FULL, True))


def _result(
    request: Request,
    swept: SweptPoints,
    context: Context,
    fidelity: Fidelity,
    complete: bool,
) -> Result:
    variant, coarse = Clones(request["clones"]), fidelity is Fidelity.COARSE
    wanted = _POINTS if swept.sweep.key in ONE_ROUND else _APART
    wanted = _COARSE_POINTS if coarse else wanted
    fewer, points = among(swept, swept_rounds(swept), wanted, own=coarse)
    shown = [key for key, made in CURVES.items() if not coarse or made.role is Role.UPPER]
    bounds = {key: _bound(key, points, variant, request, context) for key in shown}
    labels = {key: made.label.format(f"clones {variant.value}") for key, made in CURVES.items()}
    shared: dict[str, Any] = {
        "series": tuple(
            series_from(
                key, labels[key], fewer, bound, note=CURVES[key].note, assumes=CURVES[key].assumes
            )
            for key, bound in bounds.items()
        ),
    }
    sampling = text.sampling(request["k"], request["n"])
    if not points.holds[-1]:
        note = f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n"
        return Result(
            request, fidelity, complete=complete, **shared, conditions=(sampling,), notes=(note,)
        )
    here = {key: float(bound.value[-1]) for key, bound in bounds.items()}
    own = points.at(-1)
    rounds = int(rdp.rounds_an_epoch(own.sampled, own.clients))
    epochs = int(rdp.epochs_begun(own.rounds, own.sampled, own.clients))
    return Result(
        request,
        fidelity,
        complete=complete,
        **shared,
        readouts=tuple(readout_from(key, labels[key], b) for key, b in bounds.items()),
        conditions=(
            sampling,
            text.ASSUMED[0],
            Condition(
                "Every round samples anew, and who was sampled stays secret",
                None,
                short="Fresh secret sample in every round",
            ),
            _instead(
                _FIXED,
                "one randomiser is fixed before each epoch, for all its rounds",
                "Once an epoch, one fixed randomiser",
            ),
            _instead(
                _ADAPTIVE,
                "randomisers may be chosen from earlier rounds",
                "Once an epoch, randomisers may adapt",
            ),
        ),
        guarantee=text.guarantee(
            float(own.local),
            float(own.sampled * own.rounds / own.clients),
            _differences(here, rounds, epochs),
        ),
    )


def _bound(key: str, points: Points, variant: Clones, request: Request, context: Context) -> Bound:
    made, some = CURVES[key], points.holds
    if made.role is Role.LOWER:
        # Of an epoch that is not over nothing is known from below.
        some = some & (points.rounds >= points.clients // points.sampled)
    there = points.at(some)
    crowd, clients, rounds = there.sampled, there.clients, there.rounds
    if made.how is not None:
        over = rounds // rdp.rounds_an_epoch(crowd, clients)
        lower = made.role is Role.LOWER
        rounds = over if lower else np.asarray(rdp.epochs_begun(rounds, crowd, clients))
        crowd = clients = np.asarray(rdp.shuffled_an_epoch(crowd, clients, made.how))
    prepare: Callable[[float, float, float], rdp.ComposedRounds] = (
        rdp.LowerRounds if made.role is Role.LOWER else partial(rdp.CloneRounds, variant=variant)
    )
    found = composed_bound(
        prepare,
        (there.local, crowd, clients, rounds, there.delta),
        (made.role, made.reference),
        context,
        ("shuffle-rdp", "epochs", key, variant.value),
    )
    why = joined("" if points.holds.all() else undefined_reason(request), _NOT_OVER)
    return found.spread(some, why if made.role is Role.LOWER else undefined_reason(request))


def _instead(key: str, which: str, short: str) -> Condition:
    """Return what a curve of another way to choose clients needs instead of fresh samples."""
    return Condition(
        "Only for “once an epoch” in place of fresh samples: clients are split at random into "
        f"rounds of at least k, each taking part once an epoch; {which}",
        None,
        of_guarantee=False,
        key=key,
        optional=True,
        short=short,
    )


def _differences(here: dict[str, float], rounds: int, epochs: int) -> tuple[str, ...]:
    """Return what a split of all clients changes, with the ratios at the sliders' values."""
    fresh = here["numerical_upper"]

    def against(key: str) -> str:
        return f"{times(here[key] / fresh)} that of fresh samples" if fresh > 0 else "0 as well"

    return (
        f"Once an epoch: ⌊n/k⌋ = {rounds:,} rounds see each client once, and T rounds begin "
        f"{epochs:,} epochs, which are composed. If one randomiser is fixed before an epoch, its "
        "groups are a random split of one shuffle of n messages, and merging them gives it back. "
        f"Here ε is {against('epoch_fixed')}.",
        "If randomisers adapt between rounds, as in training, only one round of an epoch sees the "
        "client, hidden among k; which one is not counted as a gain. Here ε is "
        f"{against('epoch_adaptive')}. Feldman & Shenfeld (arXiv 2502.08202, 2602.17284) show "
        "more, close to fresh samples; that is not verified here, so it is not offered.",
    )
