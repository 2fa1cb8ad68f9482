"""Curves of the shuffle accountant, and the points at which they are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.shuffle_rdp import Allocation, upper
from explorer.privacy.shuffle_rdp.losses import COMPOSED_BLANKET
from explorer.privacy.shuffling import Clones
from explorer.studies.base.curve_study import Points
from explorer.studies.base.phrases import LOWER_BOUND, NOTHING_SMALLER
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Fidelity,
    Quantity,
    Scale,
)
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.shuffle_accountant import guarantee as words, theory
from explorer.studies.shuffle_accountant.theory import (
    CAP,
    CLOSED,
    KOV_EXACT,
    LEMMA_1,
    NUMERICAL,
    RENYI_CAP,
    SHARPENED,
    THEOREM_1,
    THEOREM_2,
    THEOREM_3,
    UNAMPLIFIED,
)

_ONE_ROUND = ("T", "delta", "lam")
"""Sweeps of which all points share ε₀, k and n, and with them the table of Rényi levels."""
COARSE_ORDER = 512
"""Largest order of a coarse answer."""
_DRAGGED_POINTS = 7
"""Points of the claimed composition and of the lower bound while a slider moves: 2 ms each where
all share a round, else 5."""
_COMPOSED_POINTS, _COMPOSED_APART = 64, 31
"""Most points of compositions: of one round, and where each has a round of its own of 5 ms. Every
fifth of these is a point of the worst case, for which it is kept."""
_LEVEL_POINTS = 30
"""Most points of the Rényi levels of clones where each has a round of its own, of 5 ms."""
_WORST_APART = 7
"""Most points of the worst case where each has a round of its own, of 0.05 to 0.5 s."""
_MAX_LOSSES = 640_000
"""Losses that the exact strong composition may list before it gets fewer points."""
_OWN_POINTS, _OWN_APART = 16, 8
_TERNARY_POINTS = 48
_SUM_ERROR, _FORMULA_ERROR, _TERNARY_ERROR = 1e-11, 1e-15, 1e-7
"""Relative rounding errors: of sums, of a single formula, of D_α of very many messages."""

Stage = Literal["full", "curve", "at_sliders", "composed"]


class AccountantPoints(Points):
    """Points of a sweep with the accountants' values at each of them.

    After the claimed number an answer for ε has three stages: the quick curves and, at few points,
    the claimed one and the lower bound; all compositions at the sliders' values; all compositions
    at all points. They take the quick curves from `full`. The worst case is added to the last of
    them.
    """

    stage: Stage = "full"
    slider_bounds: dict[str, Bound]
    """Bounds with a value at the sliders, by key of the curve, once the readouts are there."""

    def at(self, swept: SweptPoints, fidelity: Fidelity | None = None) -> AccountantPoints:
        """Return the same request and stage at other points."""
        other = super().at(swept, fidelity)
        other.stage = self.stage
        return other

    def next(self, stage: Stage) -> AccountantPoints:
        """Return the points of a later stage of the answer, which share the values of `full`."""
        other = super().at(self.swept)
        other.stage, other.__dict__["full"] = stage, self
        return other

    def among(
        self, wanted: int, *, own: bool = False, fidelity: Fidelity | None = None
    ) -> AccountantPoints:
        """Return about so many of the points where k ≤ n, and the sliders' own, last.

        With `own` the sliders' point is on the curve as well, for curves of very few points.
        """
        swept, holds = self.swept, self.holds
        inside = np.flatnonzero(holds[:-1])
        selected = inside[evenly_spread(inside.size, wanted)]
        x = swept.x[selected]
        if own and holds[-1]:
            here = float(swept[swept.sweep.key][-1])
            place = int(np.searchsorted(x, here))
            if 0 < place < x.size and x[place] != here:
                selected, x = np.insert(selected, place, swept.x.size), np.insert(x, place, here)
        index = np.append(selected, swept.x.size)
        columns = {key: column[index] for key, column in swept.columns.items()}
        return self.at(SweptPoints(swept.sweep, x, columns), fidelity)

    def low_orders(self) -> AccountantPoints:
        """Return the points of a sweep over λ whose tables are quick, if there are any."""
        swept = self.swept
        low = np.append(swept.x <= max(COARSE_ORDER, swept["lam"][-1]), True)
        if not low[:-1].any():
            return self
        columns = {key: column[low] for key, column in swept.columns.items()}
        return self.at(SweptPoints(swept.sweep, swept.x[low[:-1]], columns))

    @cached_property
    def full(self) -> AccountantPoints:
        """The points that hold the values of the quick curves."""
        return self

    @cached_property
    def rounds(self) -> theory.Rounds:
        """Parameters of the rounds; on the axis γ = k/n sets k."""
        sampled = self.k
        if self.swept.sweep.key == "gamma":
            sampled = np.append(np.rint(self.swept.x * self.n[:-1]), sampled[-1])
        return theory.Rounds(self.eps0, sampled, self.n, self.T, self.delta, self.lam)

    @property
    def holds(self) -> Any:
        """Where at least one and at most all clients are sampled."""
        return self.rounds.holds

    @cached_property
    def inside(self) -> theory.Rounds:
        """The rounds at the points where k ≤ n."""
        return self.rounds.at(self.holds)

    @property
    def point(self) -> theory.Rounds:
        """The rounds at the sliders' values, as numbers."""
        return self.rounds.at(-1)

    @property
    def answered(self) -> bool:
        """Whether there is an answer at the sliders' values."""
        return self.request.quantity == "ternary" or bool(self.holds[-1])

    @property
    def why_undefined(self) -> str:
        """Why there is no answer at some points: k > n, or no client sampled."""
        return words.NONE_SAMPLED if self.swept.sweep.key == "gamma" else words.MORE_THAN_ALL

    @property
    def one_round(self) -> bool:
        """Whether all points share ε₀, k and n."""
        return self.swept.sweep.key in _ONE_ROUND

    @property
    def variant(self) -> Clones:
        """Which analysis of the clones is chosen."""
        return Clones(self.request["clones"])

    @property
    def max_order(self) -> int:
        """Largest order searched."""
        order = int(self.request["lam_max"])
        return min(order, COARSE_ORDER) if self.coarse else order

    @property
    def theta(self) -> float:
        """Share of the messages that one record makes likelier, of the known randomiser."""
        if self.request["randomiser"] == "krr":
            return 1 / int(self.request["outcomes"])
        return float(self.request["theta"])

    def spread(self, values: FloatArray) -> FloatArray:
        """Return values at `inside` as values at all points, NaN elsewhere."""
        return theory.spread(values, self.holds)

    @cached_property
    def epsilon(self) -> theory.EpsilonCurves:
        """Quick curves of ε at δ, at `inside`."""
        return theory.epsilon_curves(
            self.inside, self.max_order, self.variant, self.context, numerical=not self.coarse
        )

    def epsilon_values(self, name: str) -> FloatArray | None:
        """Return one of the quick curves at all points; None if it is no part of a preview."""
        if self.inside.size == 0:
            return np.full(self.holds.shape, np.nan)
        # The exact clones come last, so that the other curves keep their colours.
        if name == "numerical" and self.coarse:
            return None
        return self.spread(getattr(self.epsilon, name))

    @cached_property
    def composed_upper(self) -> Bound:
        """Upper bound by composition of the clones, at `inside`."""
        if self.stage == "curve":
            return theory.coarse_clones(self.inside, self.variant, self.context)
        return theory.composed_clones(self.inside, self.variant, self.context)

    @cached_property
    def composed_lower(self) -> tuple[Bound, FloatArray]:
        """Lower bound by composition, and its parts for 2RR and 3RR, at `inside`."""
        return theory.composed_responses(self.inside, self.context)

    @cached_property
    def for_compositions(self) -> AccountantPoints:
        """Points at which compositions are computed."""
        if self.stage not in ("curve", "composed") or not self.holds.any():
            return self
        if self.stage == "curve":
            return self.among(_DRAGGED_POINTS)
        return self.among(_COMPOSED_POINTS if self.one_round else _COMPOSED_APART)

    @cached_property
    def for_levels(self) -> AccountantPoints:
        """Points at which Rényi levels beyond the paper's are computed."""
        if not self.holds.any():
            return self
        if self.request.quantity == "eps":
            return self.for_compositions
        return self if self.one_round else self.among(_LEVEL_POINTS)

    @cached_property
    def for_worst_case(self) -> AccountantPoints:
        """Points at which the worst case is searched, the sliders' own among them."""
        if not self.holds.any() or self.one_round:
            return self.for_compositions
        return self.among(_WORST_APART, own=True)

    @cached_property
    def worst(self) -> Bound:
        """Upper bound for the worst randomiser that all clients of a round share."""
        if not self.holds.any():
            return _undefined(self, Role.UPPER, rdp.WORST_CASE, self.why_undefined, Grade.NUMERICAL)
        return theory.worst_case(self.inside, self.context).spread(self.holds, self.why_undefined)

    @cached_property
    def for_strong_composition(self) -> AccountantPoints:
        """Points of the exact strong composition, which lists some √T losses at each."""
        if not self.holds.any():
            return self
        losses = np.sqrt(self.rounds.rounds.max())
        most = _COMPOSED_POINTS if self.one_round else _COMPOSED_APART
        return self.among(int(np.clip(_MAX_LOSSES / losses, 6, most)))

    @cached_property
    def only_sliders(self) -> AccountantPoints:
        """The sliders' own point alone, with its compositions."""
        last = {key: column[-1:] for key, column in self.swept.columns.items()}
        only = self.at(SweptPoints(self.swept.sweep, np.empty(0), last))
        only.stage = "composed"
        return only

    @cached_property
    def renyi(self) -> theory.RenyiCurves:
        """Rényi levels of one round, at `inside`."""
        return theory.renyi_curves(self.inside, self.context)

    def renyi_values(self, name: str) -> FloatArray:
        """Return the Rényi levels of one curve at all points."""
        if self.inside.size == 0:
            return np.full(self.holds.shape, np.nan)
        return self.spread(getattr(self.renyi, name))

    @cached_property
    def above_cap(self) -> Any:
        """Where Theorem 1 alone is above the Rényi cap, at `inside`."""
        if self.inside.size == 0:
            return np.zeros(0, bool)
        return self.renyi.theorem1_alone > self.renyi.cap

    @cached_property
    def cap(self) -> FloatArray:
        """T·εₛ, basic composition of subsampled rounds; NaN where k > n."""
        r = self.rounds
        pure = rdp.pure_epsilon(r.local, np.minimum(r.sampled, r.clients), r.clients)
        return np.where(self.holds, r.rounds * np.asarray(pure), np.nan)


@dataclass(frozen=True)
class _Proved(Curve):
    """Curve of a formula whose rounding error is bounded, and of which NaN means undefined.

    Attributes
    ----------
    cap : callable, optional
        From points to the formula that the curve takes where it is not above it, of smaller error.
    source_at : callable, optional
        From points to the source, where it depends on the request.
    """

    cap: Callable[[Any], FloatArray] | None = None
    source_at: Callable[[Any], Reference] | None = None

    def bound(self, p: AccountantPoints) -> Bound | None:
        """Return the bound, moved to its safe side; a baseline as it is."""
        assert self.value is not None
        values = self.value(p)
        if values is None or isinstance(values, Bound):
            return values
        source = self.source if self.source_at is None else self.source_at(p)
        known = np.isfinite(values)
        reasons = ("" if p.holds.all() else p.why_undefined, self.why if p.holds.any() else "")
        why = "" if known.all() else _either(*reasons)
        if self.role is Role.BASELINE:
            return Bound(values, self.role, source, known, why)
        error = np.full(values.shape, _SUM_ERROR)
        if self.cap is not None:
            error[known & (values >= self.cap(p))] = _FORMULA_ERROR
        return Bound.proved(values, self.role, source, error, known, why)


def _either(*reasons: str) -> str:
    """Join the reasons that are not empty."""
    return "; or ".join(reason for reason in reasons if reason)


def _undefined(
    p: AccountantPoints, role: Role, source: Reference, why: str, rigor: Grade = Grade.PROVED
) -> Bound:
    """Return a bound that is undefined everywhere."""
    nowhere = np.zeros(p.holds.shape, bool)
    return Bound(np.full(p.holds.shape, np.nan), role, source, nowhere, why, grade=rigor)


def _quick(
    key: str,
    label: Any,
    short: str,
    role: Role,
    source: Reference,
    name: str,
    **more: Any,
) -> Curve:
    """Return a curve of ε that is part of every stage, by its name in `EpsilonCurves`."""
    return _Proved(
        key,
        label,
        short,
        role,
        source,
        lambda p: p.full.epsilon_values(name),
        cap=lambda p: p.full.epsilon_values("cap"),
        **more,
    )


def _numerical_clones(p: AccountantPoints) -> FloatArray | Bound | None:
    """Return ε by the exact clones; while a slider moves they keep their place and come later."""
    values = p.full.epsilon_values("numerical")
    if values is None and p.stage == "curve":
        return _undefined(p, Role.UPPER, NUMERICAL[p.variant], words.COMPUTING)
    return values


def _theorem1_note(p: AccountantPoints) -> str:
    """Return what the search for the best order, and the cap, did to Theorem 1."""
    if not p.holds.any():
        return ""
    result, notes = p.full.epsilon, []
    if result.at_edge.any():
        notes.append(
            f"the best order is λₘₐₓ = {p.full.max_order} in places: a larger one might give less"
        )
    if (result.theorem1_alone > result.theorem1).any():
        notes.append(_SMALLER_SHOWN)
    return "; ".join(notes)


_SMALLER_SHOWN = "Theorem 1 alone is above the cap in places; shown is the smaller"


def _composition(role: Role, source: Reference) -> Callable[[Any], Bound | None]:
    """Return the function from points to a bound by composition, on either side."""

    def value(p: AccountantPoints) -> Bound | None:
        if p.stage == "full":
            return None
        if not p.holds.any():
            return _undefined(p, role, source, p.why_undefined)
        if p.stage == "at_sliders":
            return _undefined(p, role, source, words.COMPUTING)
        if role is Role.UPPER:
            bound = p.composed_upper
        elif p.stage == "curve":
            bound = theory.coarse_responses(p.inside, p.context)
        else:
            bound = p.composed_lower[0]
        return bound.spread(p.holds, p.why_undefined)

    return value


def _worst_case(p: AccountantPoints) -> Bound | None:
    """Return what stands in the place of the worst case until it is known."""
    if p.stage != "composed":
        return None
    why = words.COMPUTING if p.holds.any() else p.why_undefined
    return _undefined(p, Role.UPPER, rdp.WORST_CASE, why, Grade.NUMERICAL)


def _worst_levels(p: AccountantPoints) -> Bound | None:
    """Return the Rényi level of the worst case."""
    if p.coarse:
        return None
    if not p.holds.any():
        return _undefined(p, Role.UPPER, rdp.WORST_CASE, p.why_undefined, Grade.NUMERICAL)
    levels = theory.worst_case_levels(p.inside, p.context)
    return levels.spread(p.holds, p.why_undefined)


def _corner_levels(p: AccountantPoints) -> Bound | None:
    """Return the larger Rényi level of 2RR and 3RR."""
    if p.coarse:
        return None
    if not p.holds.any():
        return _undefined(p, Role.LOWER, rdp.CORNERS, p.why_undefined)
    levels = theory.corner_levels(p.inside, p.context) * (1 - _SUM_ERROR)
    known = Bound(levels, Role.LOWER, rdp.CORNERS)
    return known.spread(p.holds, p.why_undefined)


def _last_stage(
    values: Callable[[AccountantPoints], Any],
) -> Callable[[AccountantPoints], Any]:
    """Return values that only the last stage of an answer for ε has."""

    def value(p: AccountantPoints) -> Any:
        if p.stage != "composed":
            return None
        return values(p) if p.holds.any() else np.full(p.holds.shape, np.nan)

    return value


def _clone_epsilons(p: AccountantPoints) -> Bound:
    """Return ε at δ by Lemma 1 of the clones' Rényi levels; truncated where λₘₐₓ is the best."""
    value, edge = theory.clone_epsilons(p.inside, p.max_order, p.variant, p.context)
    bound = Bound.proved(value, Role.UPPER, rdp.RDP_OF_CLONES, _SUM_ERROR, truncated=edge)
    return bound.spread(p.holds, p.why_undefined)


def _not_coarse(
    values: Callable[[AccountantPoints], FloatArray],
) -> Callable[[AccountantPoints], FloatArray | None]:
    """Return values of Rényi levels that a preview lacks, unless there are none anywhere."""

    def value(p: AccountantPoints) -> FloatArray | None:
        if not p.holds.any():
            return np.full(p.holds.shape, np.nan)
        return None if p.coarse else p.spread(values(p))

    return value


def _theorem1_alone(p: AccountantPoints) -> FloatArray | None:
    if not p.above_cap.any():
        return None
    return p.spread(np.where(p.above_cap, p.renyi.theorem1_alone, np.nan))


def _ternary(
    key: str, label: str, short: str, source: Reference, formula: Any, **more: Any
) -> Curve:
    """Return a curve of D_α by its function of α, ε₀ and k."""
    role = Role.LOWER if key.startswith("exact") else Role.UPPER

    def value(p: AccountantPoints) -> Bound:
        values = np.asarray(formula(p.alpha, p.eps0, p.k))
        known = np.isfinite(values)
        why = "the bound has no number: it is beyond 1e308"
        if not np.isinf(values).any():
            why = "known for α = 2 only"
        why = "" if known.all() else why
        return Bound.proved(values, role, source, _TERNARY_ERROR, known, why)

    return Curve(key, label, short, role, source, value, **more)


def _only_2(sharp: Callable[..., Any]) -> Callable[..., FloatArray]:
    """Return a function of α, ε₀ and k that is undefined but at α = 2."""
    return lambda alpha, eps0, k: np.where(alpha == 2, sharp(eps0, k), np.nan)


def _exact_3rr(p: AccountantPoints) -> Bound:
    """Return D_α of 3RR, which takes a moment a point; a preview has none."""
    if p.coarse:
        return _undefined(p, Role.LOWER, upper.EXACT_3RR, words.COMPUTING, Grade.NUMERICAL)
    values = np.empty(p.alpha.size)
    for i, point in enumerate(zip(p.alpha, p.eps0, p.k, strict=True)):
        p.context.check()
        values[i] = upper.ternary_3rr(*map(np.asarray, point))
    known = np.isfinite(values)
    why = "" if known.all() else "the bound has no number: it is beyond 1e308"
    return Bound.proved(values, Role.LOWER, upper.EXACT_3RR, _TERNARY_ERROR, known, why)


def _own_bound(p: AccountantPoints) -> Bound | None:
    if p.coarse:
        return None
    bound = theory.own_bound(p.inside, p.theta, p.context)
    return replace(bound, grade=Grade.NUMERICAL).spread(p.holds, p.why_undefined)


def _own_points(p: AccountantPoints) -> AccountantPoints:
    return p.among(_OWN_POINTS if p.one_round else _OWN_APART)


def _clones_2023(p: AccountantPoints) -> Bound | None:
    if p.coarse:
        return None
    bound = theory.composed_clones(p.inside, Clones.STRONGER, p.context)
    return bound.spread(p.holds, p.why_undefined)


def _epoch(
    key: str,
    label: Any,
    short: str | Mapping[str, str],
    role: Role,
    source: Reference,
    how: Allocation | None,
    **more: Any,
) -> Curve:
    """Return a curve of clients that take part once an epoch, or of fresh samples."""

    def value(p: AccountantPoints) -> Bound | None:
        known, why = p.holds, p.why_undefined
        if role is Role.LOWER:
            if p.coarse:
                return None
            # There is no lower bound for an epoch that is not over.
            known = known & theory.epochs_over(p.rounds)
            why = _either("" if p.holds.all() else why, "no epoch is over yet")
        bound = theory.epoch_bound(
            p.rounds.at(known), how, (role, source), p.variant, p.context, key
        )
        return bound.spread(known, why)

    return Curve(key, label, short, role, source, value, **more)


# Curves of several plots.
_CAP = _Proved(
    "cap",
    "T·εₛ, holds in any case",
    "T·εₛ",
    Role.UPPER,
    CAP,
    lambda p: p.cap,
    primary=3,
    claimable=3,
    cap=lambda p: p.cap,
)
_THEOREM_1 = partial(_Proved, "theorem1", "Theorem 1 (upper bound)", "Theorem 1 (Rényi)")
_RDP_CLONES = partial(
    _Proved,
    "rdp_clones",
    lambda p: f"RDP of subsampled clones ({p.variant.value})",
    "RDP of clones",
    Role.UPPER,
    rdp.RDP_OF_CLONES,
    note=(
        "the Rényi divergence of the dominating pair itself; one common, non-adaptive randomiser "
        "a round"
    ),
    points=lambda p: p.for_levels,
)
_THEOREM_1_SHARP = partial(
    _Proved,
    "theorem1_sharp",
    "Theorem 1 sharpened",
    "Theorem 1 sharpened",
    Role.UPPER,
    SHARPENED,
    note="its term of order 2 replaced by the largest that a randomiser can have",
    points=lambda p: p.for_levels,
)
_NUMERICAL_UPPER = "the clones' losses composed as they are; every step is rounded up"
_UPPER_LABELS = {v: f"numerical upper bound (clones {v.value})" for v in Clones}
_FRESH_LABELS = {v: f"fresh sample every round (clones {v.value})" for v in Clones}


def _exact_names(labels: Mapping[Clones, str]) -> dict[str, str]:
    """Return the short names of the composed clones by label."""
    return {label: f"exact clones {variant.value}" for variant, label in labels.items()}


WORST_CASE = Curve(
    "worst_case",
    "worst case, for every ε₀-LDP randomiser",
    "worst case",
    Role.UPPER,
    rdp.WORST_CASE,
    _worst_case,
    note=(
        "of all ε₀-LDP randomisers that all clients of a round share, chosen from earlier rounds "
        "only; a search checks that no other is worse"
    ),
    primary=3,
    claimable=3,
    assumes=(words.COMMON,),
)
COMPOSED = ("numerical_upper", "lower_2rr", "kov_exact", "rdp_clones", "theorem1_sharp")
"""Curves of ε that the last stages add, all but the third at the sliders first."""

_OF_EPSILON = (
    _THEOREM_1(
        Role.UPPER,
        THEOREM_3,
        lambda p: p.full.epsilon_values("theorem1"),
        note=_theorem1_note,
        primary=2,
        claimable=4,
        cap=lambda p: p.full.epsilon_values("cap"),
    ),
    _quick(
        "lower_rdp",
        "Lemma 1 of the RDP lower bound (max of both directions, same integer orders)",
        "Rényi limit of the method",
        Role.BASELINE,
        LEMMA_1,
        "lower_rdp",
        note=(
            "no accountant that adds RDP at these orders and converts with Lemma 1 can report "
            "less; not a lower bound on ε"
        ),
        primary=0,
    ),
    _quick(
        "clones_closed",
        words.CLOSED,
        "closed-form clones + KOV",
        Role.UPPER,
        CLOSED,
        "closed",
        why=words.CLOSED_FAILS,
        note="δ₀ = δ/(2Tγ) a round, δ/2 slack",
        primary=0,
        claimable=7,
        assumes=("condition_8",),
    ),
    _quick(
        "unamplified",
        "no shuffle amplification: (ε₀, 0) + sampling + KOV",
        "without shuffling",
        Role.UPPER,
        UNAMPLIFIED,
        "unamplified",
        primary=4,
        claimable=8,
    ),
    _quick(
        "cap",
        "T·εₛ, holds in any case",
        "T·εₛ",
        Role.UPPER,
        CAP,
        "cap",
        primary=0,
        claimable=9,
    ),
    _Proved(
        "clones_numerical",
        lambda p: f"clones ({p.variant.value}, numerical) + sampling + KOV",
        "clones + KOV closed form",
        Role.UPPER,
        NUMERICAL[Clones.PUBLISHED],
        _numerical_clones,
        cap=lambda p: p.full.epsilon_values("cap"),
        note="δ₀ = δ/(2Tγ) a round, δ/2 slack; summed exactly, a few 1e-4 upwards",
        primary=0,
        claimable=6,
        source_at=lambda p: NUMERICAL[p.variant],
    ),
    Curve(
        "numerical_upper",
        lambda p: _UPPER_LABELS[p.variant],
        _exact_names(_UPPER_LABELS),
        Role.UPPER,
        rdp.COMPOSED_CLONES,
        _composition(Role.UPPER, rdp.COMPOSED_CLONES),
        note=_NUMERICAL_UPPER,
        primary=1,
        claimable=1,
        points=lambda p: p.for_compositions,
    ),
    Curve(
        "lower_2rr",
        LOWER_BOUND,
        "lower bound",
        Role.LOWER,
        rdp.COMPOSED_LOWER,
        _composition(Role.LOWER, rdp.COMPOSED_LOWER),
        note=(
            "on what any accountant sound for all ε₀-LDP randomisers can report, common to all "
            "clients or not: the larger of 2RR (both directions) and 3RR; a particular randomiser "
            "may leak less"
        ),
        primary=5,
        remark=NOTHING_SMALLER,
        points=lambda p: p.for_compositions,
    ),
    _Proved(
        "kov_exact",
        lambda p: f"clones ({p.variant.value}, numerical) + sampling + KOV exact",
        "clones + KOV",
        Role.UPPER,
        KOV_EXACT,
        _last_stage(
            lambda p: p.spread(theory.exact_strong_composition(p.inside, p.variant, p.context))
        ),
        note="δ₀ = δ/(2Tγ) a round, δ/2 slack; Theorem 3.3 instead of the closed Theorem 3.4",
        primary=0,
        claimable=5,
        points=lambda p: p.for_strong_composition,
    ),
    _RDP_CLONES(value=_last_stage(_clone_epsilons), primary=0, claimable=2),
    _THEOREM_1_SHARP(
        value=_last_stage(
            lambda p: p.spread(theory.sharpened_epsilons(p.inside, p.max_order, p.context))
        ),
        primary=0,
        claimable=3,
    ),
    WORST_CASE,
)
_OF_RENYI = (
    _THEOREM_1(
        Role.UPPER,
        THEOREM_3,
        lambda p: p.renyi_values("theorem1"),
        note=lambda p: _SMALLER_SHOWN * bool(p.above_cap.any()),
        primary=3,
        claimable=3,
    ),
    _Proved(
        "theorem2",
        "Theorem 2 (lower bound on RDP)",
        "no RDP can be below",
        Role.LOWER,
        THEOREM_2,
        lambda p: p.renyi_values("lower"),
        note="the larger of both directions",
        primary=4,
    ),
    _Proved(
        "renyi_cap",
        "Rényi cap, holds in any case",
        "Rényi cap",
        Role.UPPER,
        RENYI_CAP,
        lambda p: p.renyi_values("cap"),
        primary=0,
        claimable=4,
    ),
    _Proved(
        "theorem1_alone",
        "Theorem 1 alone, without the cap",
        "Theorem 1 alone",
        Role.UPPER,
        THEOREM_1,
        _theorem1_alone,
        why=words.NOT_ABOVE,
        note="as the paper states it; drawn where it is above the cap",
        primary=0,
        claimable=5,
    ),
    _RDP_CLONES(
        value=_not_coarse(lambda p: theory.clone_levels(p.inside, p.variant, p.context)),
        primary=1,
        claimable=1,
    ),
    _THEOREM_1_SHARP(
        value=_not_coarse(lambda p: theory.sharpened_levels(p.inside, p.context)),
        primary=2,
        claimable=2,
    ),
    replace(
        WORST_CASE,
        value=_worst_levels,
        points=lambda p: p if p.one_round else p.among(_WORST_APART, own=True),
        primary=5,
        claimable=3,
    ),
    Curve(
        "lower_2rr",
        LOWER_BOUND,
        "lower bound",
        Role.LOWER,
        rdp.CORNERS,
        _corner_levels,
        note="the larger of 2RR (both directions) and 3RR",
        primary=0,
        remark=NOTHING_SMALLER,
        points=lambda p: p.for_levels,
    ),
)
_OF_ONE_RANDOMISER = (
    _CAP,
    Curve(
        "own",
        "this randomiser, blanket composed",
        "this randomiser",
        Role.UPPER,
        COMPOSED_BLANKET,
        _own_bound,
        note="the randomiser's own blanket, sampled and composed as the clones are",
        primary=1,
        claimable=1,
        points=_own_points,
    ),
    Curve(
        "numerical_upper",
        _UPPER_LABELS[Clones.STRONGER],
        _exact_names(_UPPER_LABELS),
        Role.UPPER,
        rdp.COMPOSED_CLONES,
        _clones_2023,
        note=_NUMERICAL_UPPER,
        primary=2,
        claimable=2,
        points=_own_points,
    ),
)
_OF_EPOCHS = (
    _epoch(
        "numerical_upper",
        lambda p: _FRESH_LABELS[p.variant],
        _exact_names(_FRESH_LABELS),
        Role.UPPER,
        rdp.COMPOSED_CLONES,
        None,
        note="the numerical upper bound: k of n clients drawn anew in each round",
        claimable=1,
    ),
    _epoch(
        "epoch_fixed",
        lambda p: f"once an epoch, randomiser fixed before it (clones {p.variant.value})",
        "once an epoch, fixed",
        Role.UPPER,
        rdp.EPOCH_FIXED,
        Allocation.FIXED,
        note="an epoch is exactly one shuffle of all n messages",
        claimable=3,
        assumes=(words.ONCE_FIXED,),
    ),
    _epoch(
        "epoch_adaptive",
        lambda p: f"once an epoch, randomisers adapt (clones {p.variant.value})",
        "once an epoch, adaptive",
        Role.UPPER,
        rdp.EPOCH_ADAPTIVE,
        Allocation.ADAPTIVE,
        note="one shuffle of k an epoch, without gain from sampling",
        claimable=2,
        assumes=(words.ONCE_ADAPTIVE,),
    ),
    _epoch(
        "epoch_lower",
        "once an epoch: lower bound (2RR, 3RR)",
        "once an epoch, from below",
        Role.LOWER,
        rdp.COMPOSED_LOWER,
        Allocation.FIXED,
        note=(
            "on what an accountant sound for all ε₀-LDP randomisers can report, fixed or adaptive"
        ),
        remark=NOTHING_SMALLER,
    ),
)
_RANDOMISER = "only this randomiser, all others holding one value"
_OF_TERNARY = (
    _ternary(
        "theorem4",
        "Theorem 4 (any others)",
        "Theorem 4",
        upper.THEOREM_4,
        upper.theorem4,
        claimable=1,
    ),
    _ternary(
        "sharp_mixed",
        "sharpened, α = 2 (any others)",
        "sharpened, any others",
        upper.SHARP,
        _only_2(upper.sharp_mixed),
        note="what “Theorem 1 sharpened” puts in Theorem 4's place",
        claimable=1,
    ),
    _ternary(
        "theorem6",
        "Theorem 6 (others alike)",
        "Theorem 6, others alike",
        upper.THEOREM_6,
        upper.theorem6,
        note="only where all others hold one value",
        claimable=1,
        assumes=(words.ALIKE,),
    ),
    _ternary(
        "sharp_alike",
        "sharp, α = 2 (others alike)",
        "sharp, others alike",
        upper.SHARP_ALIKE,
        _only_2(upper.sharp_alike),
        note="the largest of all ε₀-LDP randomisers, only where all others hold one value",
        claimable=1,
        assumes=(words.ALIKE,),
    ),
    _ternary(
        "exact_2rr",
        "2RR exactly",
        "2RR exactly",
        upper.EXACT_2RR,
        upper.ternary_2rr,
        note=_RANDOMISER,
        primary=0,
    ),
    Curve(
        "exact_3rr",
        "3RR exactly",
        "3RR exactly",
        Role.LOWER,
        upper.EXACT_3RR,
        _exact_3rr,
        note=_RANDOMISER,
        points=lambda p: p if p.coarse else p.thinned(_TERNARY_POINTS),
    ),
)

PLOTS = (
    Plot(
        Quantity(
            "eps",
            "ε",
            "privacy after T rounds",
            ("T", "k", "n", "eps0", "delta", "gamma"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_EPSILON,
        sliders=("eps0", "n", "k", "T"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            "rdp",
            "ε(λ)",
            "Rényi DP of one round",
            ("lam", "eps0", "k", "n", "gamma"),
            scale=Scale.LOG,
            latex=r"\varepsilon(\lambda)",
        ),
        _OF_RENYI,
        sliders=("eps0", "n", "k", "lam"),
        solves="eps0",
        claim_text=words.renyi_claim_text,
    ),
    Plot(
        Quantity(
            "own",
            "ε",
            "of one known randomiser, T rounds",
            ("T", "k", "n", "eps0", "delta"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_ONE_RANDOMISER,
        sliders=("eps0", "n", "k", "T"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            "epochs",
            "ε",
            "privacy if each client takes part once an epoch",
            ("T", "k", "n", "eps0", "delta"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_EPOCHS,
        sliders=("eps0", "n", "k", "T"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            "ternary",
            "D",
            "ternary divergence of one shuffle",
            ("k", "alpha", "eps0"),
            scale=Scale.LOG,
            latex=r"D_\alpha",
        ),
        _OF_TERNARY,
        sliders=("eps0", "k", "alpha"),
        solves="eps0",
    ),
)
