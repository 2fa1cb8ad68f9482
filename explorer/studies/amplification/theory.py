"""Bounds on ε at δ, or on δ at ε, of one shuffle, at arrays of parameter points, and sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np

from explorer.privacy.core.bound import SHUFFLE_RDP, BoolArray, FloatArray, Reference
from explorer.privacy.core.checks import MIN_DELTA
from explorer.privacy.odds import clone_total_variation
from explorer.privacy.randomisers.crowd import (
    COARSE,
    Family,
    RandomiserBounds,
    family_bounds,
    table_bounds,
    worst_delta,
    worst_epsilon,
)
from explorer.privacy.randomisers.tables import ExactCrowd, enumerable
from explorer.privacy.shuffle_rdp import (
    MixedResponseRound,
    RandomisedResponseRound,
    ThreeSymbolRound,
)
from explorer.privacy.shuffle_rdp.worst_case_unsampled import MAX_EPS0, MIN_EPS0, UnsampledRound
from explorer.privacy.shuffling import (
    ClonePair,
    Clones,
    clones_closed_delta,
    clones_closed_form,
    clones_condition,
    shuffled_delta,
    shuffled_epsilon,
)
from explorer.studies.base.builders import FILE, TYPED, table_key, table_of
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints

_FMT21 = "Feldman, McMillan & Talwar 2021"
_FMT23 = "Feldman, McMillan & Talwar 2023"
CLOSED = Reference(_FMT21, "Theorem 3.1", "valid only under its condition; errata shuf-A8, shuf-A9")
EXACT_2021 = Reference(_FMT21, "Theorem 3.2, evaluated exactly")
EXACT_2023 = Reference(
    _FMT23,
    "Theorem 3.1, evaluated exactly",
    "one common, non-adaptive randomiser (erratum in arXiv 2208.04591)",
)
LOWER = Reference(
    f"{SHUFFLE_RDP}; this program",
    "the pair of Theorem 2 with γ = 1, and randomised response on three symbols",
    "the larger, of 2RR in both directions and, of few clients, for any values of the others; "
    "errata shuf-A2",
)
LOCAL = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "post-processing of an ε₀-LDP message"
)
CONDITION_8 = Reference(
    SHUFFLE_RDP, "(8), after Feldman, McMillan & Talwar 2021", "with k; errata shuf-A8"
)
CONDITION_9 = Reference(
    SHUFFLE_RDP, "(9), after Balle, Bell, Gascón & Nissim 2019", "errata shuf-A8"
)
ENUMERATED = Reference("by enumeration", "all counts of messages, for all multisets of the others")

Unknown = Literal["eps", "delta"]
"""Which of ε and δ is computed; the other one is given."""

_BATCH = 25
"""Values of ε or δ of one crowd computed between two checks for cancellation."""
_CROWD_BATCH = 13
"""Crowds of one value each computed between two checks for cancellation."""
_LOWER_BATCH = 5
"""The same of the lower bound, of a millisecond or two each."""
_TWO_SYMBOLS_BEST = math.log(2)
"""The largest ε₀ up to which 2RR leaks most in large crowds."""
_STEP, _COARSE_STEP = 3e-7, 0.03
"""Last step of a search for ε, as a share of it."""
_MAX_CACHED = 20_000
_SUM_ERROR = 2e-9
_MIN_COST = 60_000
"""Cost of the search for ε in a small crowd, in counts of a large one."""
_MAX_MIXED = 60
"""Clients up to which all values of the others are tried: a millisecond for each ε."""
_FEW_CLASSES = 8
"""Classes of messages, over all pairs, up to which all points are computed finely."""


def one_crowd(points: SweptPoints) -> bool:
    """Return whether all points of a sweep have the same ε₀ and n."""
    return points.sweep.key in ("delta", "eps")


def exact_clones(
    points: SweptPoints, unknown: Unknown, variants: Sequence[Clones], context: Context
) -> dict[Clones, FloatArray]:
    """Return ε at δ, or δ at ε, of the clones' dominating pair, evaluated exactly."""
    eps0, n, given = points["eps0"], points["n"], points["delta" if unknown == "eps" else "eps"]
    compute = _of_one_crowd if one_crowd(points) else _of_many_crowds
    return dict(zip(variants, compute(eps0, n, given, unknown, variants, context), strict=True))


def worst_case(points: SweptPoints, unknown: Unknown, context: Context) -> FloatArray:
    """Return ε at δ, or δ at ε, of the worst common randomiser, from above; NaN without search.

    Never above the clones of 2023.
    """
    eps0, n, given = points["eps0"], points["n"], points["delta" if unknown == "eps" else "eps"]
    out = np.full(given.shape, np.nan)
    cached: dict[tuple[object, ...], float] = context.cached(("amplification", "worst"), dict)
    for i, (local, crowd, value) in enumerate(zip(eps0, n, given, strict=True)):
        if not MIN_EPS0 <= local <= MAX_EPS0 or crowd < 2:
            continue
        context.check()
        key = (unknown, float(local), float(crowd), float(value))
        if key not in cached:
            if len(cached) >= _MAX_CACHED:
                cached.clear()
            round_ = UnsampledRound(local, crowd)
            found = round_.epsilon(value) if unknown == "eps" else round_.certify(value)
            cached[key] = found.value if found.closed else math.nan
        out[i] = cached[key]
    if unknown == "delta":
        clones = np.asarray(shuffled_delta(np.minimum(given, eps0), eps0, n, Clones.STRONGER))
        out = np.minimum(out, np.where(given < eps0, clones * (1 + _SUM_ERROR), 0.0))
    return out


def _of_one_crowd(
    eps0: FloatArray,
    n: FloatArray,
    given: FloatArray,
    unknown: Unknown,
    variants: Sequence[Clones],
    context: Context,
) -> FloatArray:
    out = np.empty((len(variants), given.size))
    for row, variant in zip(out, variants, strict=True):
        crowd = float(eps0[-1]), float(n[-1]), variant
        pair = context.cached(("amplification", "pair", *crowd), partial(ClonePair, *crowd))
        for start in range(0, given.size, _BATCH):
            context.check()
            batch = slice(start, start + _BATCH)
            row[batch] = (
                pair.epsilon(given[batch]) if unknown == "eps" else pair.delta(given[batch])
            )
        if unknown != "eps":
            row[:] = _clip_delta(row, given < eps0)
    return out


def _of_many_crowds(
    eps0: FloatArray,
    n: FloatArray,
    given: FloatArray,
    unknown: Unknown,
    variants: Sequence[Clones],
    context: Context,
) -> FloatArray:
    """Compute one value of each crowd.

    Values are cached: while the slider of the x axis moves, only its own crowd is computed.
    """
    cached: dict[tuple[object, ...], float] = context.cached(("amplification", "exact"), dict)
    if len(cached) > _MAX_CACHED:
        cached.clear()
    rows = [
        (unknown, variant, *point)
        for variant in variants
        for point in zip(eps0.tolist(), n.tolist(), given.tolist(), strict=True)
    ]
    missing = list(dict.fromkeys(row for row in rows if row not in cached))
    for start in range(0, len(missing), _CROWD_BATCH):
        context.check()
        batch = missing[start : start + _CROWD_BATCH]
        for variant in variants:
            of_variant = [row for row in batch if row[1] is variant]
            if of_variant:
                local, size, x = np.array([row[2:] for row in of_variant], float).T
                if unknown == "eps":
                    values = shuffled_epsilon(local, size, x, variant)
                else:
                    values = _clip_delta(shuffled_delta(x, local, size, variant), x < local)
                cached.update(zip(of_variant, np.atleast_1d(values).tolist(), strict=True))
    return np.array([cached[row] for row in rows]).reshape(len(variants), given.size)


def _clip_delta(delta: FloatArray, below: BoolArray) -> FloatArray:
    """Raise an upper bound on δ that underflowed to 0.

    Below ε₀ no shuffle is (ε, 0)-DP: all messages of a crowd may be the same.
    """
    return np.where(below, np.maximum(delta, MIN_DELTA), delta)


def lower_pairs(
    points: SweptPoints, unknown: Unknown, context: Context, *, coarse: bool = False
) -> FloatArray:
    """Return ε at δ, or δ at ε, of shuffled 2RR and 3RR, shape (2, points).

    2RR is the larger of both directions; of few clients also over all values of the others. If
    `coarse`, the search for ε of 3RR ends earlier, still from below, and 2RR is left out where it
    hardly ever leaks more.
    """
    eps0, n, given = points["eps0"], points["n"], points["delta" if unknown == "eps" else "eps"]
    if one_crowd(points):
        return _pairs_of_one_crowd(eps0, n, given, unknown, context)
    step = _COARSE_STEP if coarse else _STEP
    return _pairs_of_many_crowds(eps0, n, given, step, unknown, context)


def _pairs_of_one_crowd(
    eps0: FloatArray, n: FloatArray, given: FloatArray, unknown: Unknown, context: Context
) -> FloatArray:
    crowd = float(eps0[-1]), float(n[-1])
    two, three = (
        context.cached(("amplification", kind.__name__, *crowd), partial(kind, *crowd, crowd[1]))
        for kind in (RandomisedResponseRound, ThreeSymbolRound)
    )
    pairs = np.empty((2, given.size))
    for start in range(0, given.size, _BATCH):
        context.check()
        some = slice(start, start + _BATCH)
        pairs[0, some] = _two_symbols(two, *crowd, given[some], unknown)
        pairs[1, some] = _values(three, given[some], unknown)
    return pairs


def _pairs_of_many_crowds(
    eps0: FloatArray,
    n: FloatArray,
    given: FloatArray,
    step: float,
    unknown: Unknown,
    context: Context,
) -> FloatArray:
    """Compute one pair of each crowd; cached, as the worst case asks for some of them again."""
    cached: dict[tuple[object, ...], FloatArray] = context.cached(("amplification", "lower"), dict)
    if len(cached) > _MAX_CACHED:
        cached.clear()
    rows = [(unknown, step, *row) for row in np.stack([eps0, n, given], axis=1).tolist()]
    missing = [row for row in dict.fromkeys(rows) if row not in cached]
    for start in range(0, len(missing), _LOWER_BATCH):
        context.check()
        batch = missing[start : start + _LOWER_BATCH]
        local, size, x = np.array([row[2:] for row in batch], float).T
        three = ThreeSymbolRound(local, size, size)
        found = three.epsilon(x, step) if unknown == "eps" else three.delta(x)
        for row, value in zip(batch, found.tolist(), strict=True):
            _, _, e, crowd, one = row
            two = 0.0
            if step == _STEP or e <= _TWO_SYMBOLS_BEST or crowd <= _MAX_MIXED:
                pair = RandomisedResponseRound(e, crowd, crowd)
                two = float(_two_symbols(pair, e, crowd, np.array([one]), unknown)[0])
            cached[row] = np.array([two, value])
    return np.array([cached[row] for row in rows]).T


def _values(
    curve: RandomisedResponseRound | ThreeSymbolRound, given: FloatArray, unknown: Unknown
) -> FloatArray:
    return curve.epsilon(given) if unknown == "eps" else curve.delta(given)


def _two_symbols(
    curve: RandomisedResponseRound, eps0: float, n: float, given: FloatArray, unknown: Unknown
) -> FloatArray:
    """Return ε or δ of 2RR, of few clients the largest over all values of the others."""
    values = _values(curve, given, unknown)
    if n > _MAX_MIXED or eps0 <= 0:
        return values
    mixed = MixedResponseRound(eps0, int(n))
    if unknown == "eps":
        return np.maximum(values, [mixed.epsilon(delta) for delta in given])
    return np.maximum(values, [mixed.deltas(eps).max() for eps in given])


def lower_cost(points: SweptPoints) -> float:
    """Return about how many counts `lower_pairs` lists: some 20√(np) a crowd, at least."""
    if one_crowd(points):
        return 0.0
    counts = 20 * np.sqrt(points["n"] / (1 + np.exp(points["eps0"])))
    return float(np.sum(np.maximum(counts, _MIN_COST)))


def closed_form(points: SweptPoints, unknown: Unknown) -> tuple[FloatArray, BoolArray]:
    """Return the closed form of the 2021 clones, and where its condition holds."""
    eps0, n = points["eps0"], points["n"]
    if unknown == "eps":
        values = clones_closed_form(eps0, n, points["delta"])
        return values, clones_condition(eps0, n, points["delta"])
    values = np.maximum(clones_closed_delta(points["eps"], eps0, n), MIN_DELTA)
    # δ = 1 is trivial and needs no condition; it is not drawn.
    return values, clones_condition(eps0, n, values) & (values < 1)


def closed_delta(eps: float, eps0: float, n: float) -> float:
    """Return the δ of the closed form at one point, whether its condition holds or not."""
    return max(float(clones_closed_delta(eps, eps0, n)), MIN_DELTA)


def delta_alone(eps: FloatArray, eps0: FloatArray) -> FloatArray:
    """Return δ at ε of one unshuffled message.

    (e^ε₀ − e^ε)/(1 + e^ε₀), the hockey-stick divergence of randomised response.
    """
    return np.asarray(-np.expm1(-np.maximum(eps0 - eps, 0.0)) / (1 + np.exp(-eps0)) + 0.0)


def condition_8_limit(n: FloatArray, delta: FloatArray) -> FloatArray:
    """Return the largest ε₀ of condition (8), the closed form of the clones; may be negative."""
    return np.asarray(np.log(n / (16 * np.log(2 / delta))))


def condition_9_limit(n: FloatArray, delta: FloatArray) -> FloatArray:
    """Return the largest ε₀ of condition (9), that of the privacy blanket; may be negative."""
    return np.asarray(0.5 * np.log(n / -np.log(delta)))


def total_variation(eps0: float, n: float, context: Context) -> float:
    """Return an upper bound on δ(0) of one shuffle; cached, as it depends on ε₀ and n alone."""
    value: float = context.cached(
        ("amplification", "total variation", eps0, n),
        lambda: float(clone_total_variation(eps0, n).value),
    )
    return value


MakeRandomiser = Callable[[float], RandomiserBounds]
"""From ε₀ to the randomiser with this ε₀."""


def own_randomiser(request: Request, context: Context) -> MakeRandomiser | None:
    """Return the randomiser of a request as a function of ε₀; None if no file is given yet.

    A table has an ε₀ of its own, whatever the argument.

    Raises
    ------
    ValueError
        If the table is not that of a randomiser; the message names file or table, line and field.
    LookupError
        If the file is not open.
    """
    kind = str(request["randomiser"])
    if kind in (TYPED, FILE):
        if kind == FILE and not request["table_file"]:
            return None
        table: RandomiserBounds = context.cached(
            ("amplification", "own table", *table_key(request, kind, "table")),
            lambda: table_bounds(_table(request, kind, context)),
        )
        return lambda _: table
    more = {
        Family.K_ARY: {"outcomes": int(request["outcomes"])},
        Family.UNARY: {"kept": float(request["kept"])},
        Family.TWO_LEVEL: {"theta": float(request["theta"])},
    }
    family = Family(kind)
    return lambda eps0: family_bounds(family, eps0, **more.get(family, {}))  # type: ignore[arg-type]


def _table(request: Request, kind: str, context: Context) -> FloatArray:
    table = table_of(request, kind, "table", context)
    assert table is not None
    return table


def own_bounds(
    points: SweptPoints,
    unknown: Unknown,
    randomisers: Sequence[RandomiserBounds | None],
    cap: FloatArray,
    context: Context,
    blur: float,
) -> dict[str, FloatArray]:
    """Return the bounds of one known randomiser, none of them above the one after it.

    Parameters
    ----------
    points : SweptPoints
    unknown : str
    randomisers : sequence of RandomiserBounds or None
        The randomiser at each point.
    cap : ndarray
        A bound for all randomisers, which those of one never exceed.
    context : Context
    blur : float
        Smoothing where there are few classes of messages, and at the sliders; see `Crowd`.

    Returns
    -------
    dict
        Of ``own_exact``, ``own_blanket`` and ``own_ratio``; NaN where unknown, infinite where ε is.
    """
    size = points.x.size + 1
    given = points["delta" if unknown == "eps" else "eps"]
    out = {key: np.full(size, np.nan) for key in ("own_exact", "own_blanket", "own_ratio")}
    part = 1.0
    for i in range(size):
        law, n, x = randomisers[i], float(points["n"][i]), float(given[i])
        if law is None:
            continue
        context.check()
        classes = sum(each.mass.size for each in law.blankets)
        fine = blur if classes <= _FEW_CLASSES or i == size - 1 else COARSE
        ratio = math.nan
        if unknown == "eps":
            blanket = worst_epsilon(law.blankets, n, x, fine, part * _finite_or_zero(cap[i]))
            if law.ratios:
                ratio = min(worst_epsilon(law.ratios, n, x, fine, blanket), _or_infinite(cap[i]))
            # Neighbouring points have about the same ratio to the cap: a start for the next search.
            part = blanket / cap[i] if 0 < blanket < cap[i] else 1.0
        else:
            blanket = worst_delta(law.blankets, n, x, fine)
            if law.ratios:
                ratio = min(worst_delta(law.ratios, n, x, fine), _or_infinite(cap[i]))
        blanket = float(np.fmin(blanket, np.fmin(cap[i], ratio)))
        exact = _exact_crowd(law, n, context)
        if exact is not None:
            out["own_exact"][i] = exact.epsilon(x) if unknown == "eps" else exact.delta(x)
            blanket = max(blanket, out["own_exact"][i])
        out["own_ratio"][i], out["own_blanket"][i] = ratio, blanket
        if unknown == "delta":
            for key in ("own_ratio", "own_blanket"):
                out[key][i] = max(out[key][i], MIN_DELTA)
    return out


def own_total_variation(law: RandomiserBounds, n: float) -> float:
    """Return an upper bound on δ(0) of one shuffle of a known randomiser."""
    return worst_delta(law.blankets, n, 0.0, COARSE)


def _or_infinite(cap: float) -> float:
    return math.inf if math.isnan(cap) else float(cap)


def _finite_or_zero(cap: float) -> float:
    return float(cap) if math.isfinite(cap) else 0.0


def _exact_crowd(law: RandomiserBounds, n: float, context: Context) -> ExactCrowd | None:
    table = law.table
    if table is None or not enumerable(table.shape[0], table.shape[1], int(n)):
        return None
    crowd: ExactCrowd = context.cached(
        ("amplification", "own exact", table.tobytes(), table.shape, n),
        lambda: ExactCrowd(table, int(n)),
    )
    return crowd
