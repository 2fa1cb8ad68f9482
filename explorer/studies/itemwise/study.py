"""What randomising every item and shuffling promises a user, by every route there is."""

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Role
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import number_only
from explorer.studies.base.study import (
    Claim,
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Mark,
    Readout,
    Request,
    Result,
    Series,
    Study,
)
from explorer.studies.base.sweeping import (
    SweptPoints,
    carried,
    readout_from,
    series_from,
    swept_points,
)
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.itemwise import curves, text
from explorer.studies.itemwise.displacement import mean_distance, optimal_distance, why_not
from explorer.studies.itemwise.examples import example_table
from explorer.studies.itemwise.face import FACES, SHORT_NAMES
from explorer.studies.itemwise.help import PAGE, PRESETS
from explorer.studies.itemwise.parameters import LOCAL, OPTIMAL, PARAMETERS, QUANTITIES
from explorer.studies.itemwise.tradeoff import audits
from explorer.studies.metric_space.choice import ChosenSpace, chosen_space

_EXACT_POINTS = 48
"""Points of all exact curves together."""
_FEW_POINTS = 30
_LONG = 30_000
_COARSE_POINTS = 30
_FIRST_POINTS = 4
"""Points of an exact curve that has no quick estimate, in the coarse answer."""
_SAFE = ("sorted", "product", "exact", "exact_near", "tight", "simple", "composed")
"""Routes that certify: never the printed one, nor what is refuted."""
_SAFE_DELTA = ("sorted", "exact", "exact_near", "proof", "claimed")
_FIRST_SORTED = 12
"""Points of the hops in increasing order in the coarse answer: two milliseconds each."""


@with_tradeoff(also=("alpha0", "randomiser"), audits=audits)
class ItemWise(Study):
    """α certified from α₀ and back: exact hops, Theorem 4.4, composition, the paper's forms."""

    id = "itemwise"
    simulated = "shuffle.items/1"
    references = (
        text.EXACT,
        text.SORTED,
        text.PRODUCT,
        text.REFUTED,
        text.THEOREM_TIGHT,
        text.THEOREM_SIMPLE,
        text.THEOREM_PROOF,
        text.COMPOSED,
        text.PRINTED,
        text.NOISE,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        "alpha0": Claim(_SAFE, number_only, better="high", solves="n"),
        "alpha": Claim(_SAFE, text.claim_words, solves="alpha0"),
        "delta": Claim(_SAFE_DELTA, text.claim_words, solves="alpha0"),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield closed forms and a quick estimate of exact hops, then exact hops."""
        space = chosen_space(request, context)
        swept = swept_points(self, request)
        coarse = _answered(request, swept, space, context, Fidelity.COARSE)
        yield coarse
        if not coarse.complete:
            yield _answered(request, swept, space, context, Fidelity.FULL)


def _answered(
    request: Request, swept: SweptPoints, space: ChosenSpace, context: Context, fidelity: Fidelity
) -> Result:
    full = fidelity is Fidelity.FULL
    what = request.quantity
    solved = "alpha0" if what == "noise" else what
    shared = {"alpha0": curves.closed_alpha0, "alpha": curves.closed_alpha}
    # Numbers beside the plot lie on its curves.
    swept = swept.with_sliders() if full else swept
    closed = shared.get(solved, curves.closed_delta)(curves.points_of(swept, request))
    bounds = _exact(request, swept, solved, space, context, full)
    context.check()
    bounds |= {key: (swept, _carried(key, b, swept, solved)) for key, b in closed.items()}
    # What comes late stands last, so that the others keep their places.
    late = set(bounds) - set(curves.exact_keys(solved, space, 0, False)) - set(closed)
    bounds = {key: bounds[key] for key in sorted(bounds, key=late.__contains__)}
    drawn = bounds
    if what == "noise":
        drawn = {
            key: (points, _displaced(b, request, space, context, full))
            for key, (points, b) in bounds.items()
            if key not in ("printed", "simple", "refuted")
        }
    here = {key: b for key, (_, b) in bounds.items()}
    return Result(
        request,
        fidelity,
        series=tuple(
            _curve(key, points, b, _estimated(key, full, solved), request)
            for key, (points, b) in drawn.items()
        ),
        tables=(example_table(context),) if full else (),
        space=space.picture,
        readouts=_readouts(request, here, drawn, space, full),
        conditions=_conditions(request, here),
        guarantee=_guarantee(request, here, space, full),
        notes=tuple(n for n in (space.missing, *space.notes) if n),
        complete=full or request.fidelity is Fidelity.COARSE,
    )


def _carried(key: str, bound: Bound, points: SweptPoints, solved: str) -> Bound:
    """Return a bound no worse than at a stricter promise; the paper's form as it is printed.

    What is refuted for a weaker promise is refuted for a stricter one.
    """
    if bound.role is Role.BASELINE:
        return bound
    weaker, largest = curves.WEAKER[solved], solved == "alpha0"
    if key == "refuted":
        weaker, largest = {axis: -turn for axis, turn in weaker.items()}, not largest
    return carried(bound, points, weaker, largest=largest)


def _points_of(request: Request, solved: str, full: bool) -> int:
    """Return how many points exact curves get: fewer where every sum is long."""
    if not full:
        return _FIRST_POINTS if solved == "delta" else _COARSE_POINTS
    n = 1.0 if request["model"] == LOCAL else float(request["n"])
    m, alpha0 = float(request["m"]), float(request["alpha0"])
    if solved == "alpha0":
        alpha0 = float(um.group_alpha0_estimate(request["alpha"], request["delta"], m, n))
    # Clones number about mn·e^(−α₀); their sum has a length of some standard deviations.
    terms = 16 * math.sqrt(m * n * math.exp(-alpha0))
    return _EXACT_POINTS if terms < _LONG else _FEW_POINTS


def _exact(
    request: Request,
    swept: SweptPoints,
    solved: str,
    space: ChosenSpace,
    context: Context,
    full: bool,
) -> dict[str, tuple[SweptPoints, Bound]]:
    """Return exact curves with their points; at first estimates of those that have one."""
    variant = Clones(request["clones"])
    keys = curves.exact_keys(solved, space, int(request["m"]), full)
    most = _points_of(request, solved, full) // sum(key.startswith("exact") for key in keys)
    found = {}
    for key in keys:
        limit = curves.FEWER.get(key, most) if full else _FIRST_SORTED if key == "sorted" else most
        fewer = swept.downsampled(min(limit, most))
        if key in curves.ONLY_ONE:
            fewer = swept.only_sliders()
        elif full:
            fewer = fewer.with_sliders()
        points = curves.points_of(fewer, request)
        if full or solved == "delta":
            bound = curves.exact(solved, points, key, space, variant, context)
        else:
            bound = curves.estimate(solved, points, key, space, variant)
        found[key] = fewer, _carried(key, bound, fewer, solved)
    return found


def _estimated(key: str, full: bool, solved: str) -> bool:
    return key in ("exact", "exact_near", "sorted") and not full and solved != "delta"


def _displaced(
    alpha0: Bound, request: Request, space: ChosenSpace, context: Context, full: bool
) -> Bound:
    """Return the mean distance of an answer at the α₀ that a route allows."""
    why, optimal = why_not(request["randomiser"], space), request["randomiser"] == OPTIMAL
    if optimal and not full:
        why = why or text.SOLVED_AT_REST
    role = Role.ESTIMATE if alpha0.role is Role.ESTIMATE else Role.EXACT
    known = alpha0.valid & (alpha0.value > 0) & (why == "")
    value = np.full(alpha0.value.shape, np.nan)
    if known.any():
        here = alpha0.value[known]
        value[known] = (
            optimal_distance(space, here, context)
            if optimal
            else mean_distance(request["randomiser"], space, here)
        )
    reason = "" if known.all() else why or alpha0.reason
    return Bound(value, role, text.NOISE, known, reason, alpha0.truncated)


def _curve(
    key: str, points: SweptPoints, bound: Bound, estimated: bool, request: Request
) -> Series:
    notes = [text.COMING if estimated else text.NOTES.get(key, "")]
    if request.quantity == "noise":
        notes.append(text.HOW_FAR[request["randomiser"]])
    note = "; ".join(n for n in notes if n)
    mark = Mark.DOTS if key in curves.DOTS else Mark.LINE
    return series_from(key, text.LABELS[key], points, bound, note=note, mark=mark)


def _readouts(
    request: Request,
    here: dict[str, Bound],
    drawn: dict[str, tuple[SweptPoints, Bound]],
    space: ChosenSpace,
    full: bool,
) -> tuple[Readout, ...]:
    found = []
    for key, (_, bound) in drawn.items():
        note = text.COMING if bound.role is Role.ESTIMATE else ""
        unit = "diameters" if request.quantity == "noise" else ""
        found.append(readout_from(key, text.LABELS[key], bound, unit=unit, note=note))
    if request.quantity == "noise":
        mean = drawn["exact"][1].value[-1]
        if np.isfinite(mean) and space.metric is not None:
            role = Role.EXACT if full else Role.ESTIMATE
            length = float(mean) * space.diameter
            how = text.HOW_FAR[request["randomiser"]]
            found.append(Readout("length", "mean distance", length, role, space.unit, note=how))
        found.append(readout_from("alpha0", "α₀ by exact hops", here["exact"]))
    return tuple(found)


def _at_sliders(request: Request, here: dict[str, Bound]) -> tuple[float, float, float, str]:
    """Return α, α₀, δ′ and the key of the route that certifies them best; "" if none does."""
    alpha, alpha0, delta = (float(request[key]) for key in ("alpha", "alpha0", "delta"))
    sure = {
        key: float(b.value[-1])
        for key, b in here.items()
        if key in (*_SAFE, *_SAFE_DELTA) and b.valid[-1] and b.role is not Role.ESTIMATE
    }
    if not sure:
        return alpha, alpha0, delta, ""
    if request.quantity == "alpha":
        key = min(sure, key=lambda k: sure[k])
        return sure[key], alpha0, 0.0 if key == "composed" else delta, key
    if request.quantity == "delta":
        key = min(sure, key=lambda k: sure[k])
        return alpha, alpha0, sure[key], key
    key = max(sure, key=lambda k: sure[k])
    return alpha, sure[key], 0.0 if key == "composed" else delta, key


def _conditions(request: Request, here: dict[str, Bound]) -> tuple[Condition, ...]:
    alpha, alpha0, delta, _ = _at_sliders(request, here)
    m = float(request["m"])
    n = 1.0 if request["model"] == LOCAL else float(request["n"])
    inside = max(min(delta, 1.0), 1e-300)
    sure = um.theorem44_certificate(alpha0, inside, m, n, um.Internal.TIGHT)
    printed = spent = None
    if alpha <= 800 and delta > 0:
        printed = float(um.closed_form(alpha, inside, m, n).alpha0)
        spent = float(um.closed_form_achieved(alpha, inside, m, n)) if printed <= 800 else None
    return text.conditions(
        alpha0=alpha0,
        limit=float(sure.limit),
        alpha=alpha,
        m=m,
        total=m * n,
        local=request["model"] == LOCAL,
        printed_alpha0=printed,
        printed_alpha=spent,
    )


def _guarantee(
    request: Request, here: dict[str, Bound], space: ChosenSpace, full: bool
) -> Guarantee | None:
    alpha, alpha0, delta, key = _at_sliders(request, here)
    if not key or delta >= 1:
        return None
    local = request["model"] == LOCAL
    return text.guarantee(
        alpha=alpha,
        alpha0=alpha0,
        delta=delta,
        w=float(request["w"]),
        local=local,
        source=text.LABELS[key],
        differences=text.differences(local, space.min_distance) if full else (),
    )
