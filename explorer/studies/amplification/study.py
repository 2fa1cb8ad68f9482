"""Amplification by shuffling: ε and δ of one shuffle, by closed forms, exactly, and from below."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.privacy.odds import DUAL
from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.privacy.randomisers.crowd import COARSE, FINE, RandomiserBounds
from explorer.privacy.shuffle_rdp import RandomisedResponseRound, ThreeSymbolRound
from explorer.privacy.shuffle_rdp.worst_case_unsampled import WORST_CASE_UNSAMPLED
from explorer.privacy.shuffling import ClonePair, Clones, clones_are_wide, clones_condition
from explorer.studies.amplification import guarantee as words, theory
from explorer.studies.amplification.help import PAGE, PRESETS
from explorer.studies.base.builders import (
    FILE,
    TYPED,
    choice,
    count,
    delta,
    epsilon,
    share,
    table_parameters,
)
from explorer.studies.base.claims import with_claim
from explorer.studies.base.curve_study import CurveStudy, Points, with_late_curve
from explorer.studies.base.phrases import LOWER_BOUND, NOTHING_SMALLER, which_won
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Mark,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Scale,
    Series,
)
from explorer.studies.base.sweeping import SweptPoints, scalar_from, series_from
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import responses_run
from explorer.studies.guarantees.tradeoffs import Law, with_tradeoff

_COARSE_POINTS = 9
_EXACT_POINTS, _FEW_POINTS = 100, 50
"""Most points of the exact clones where each has a crowd of its own, of a few milliseconds; the
second where crowds are huge."""
_HUGE_CROWD = 1e8
_MIN_LOWER_POINTS, _MAX_LOWER_COUNTS = 9, 8e6
"""The lower bound gets fewer points, but not less than these, if it would list more counts."""
_QUICK_CROWD = 1_000_000
_WORST_POINTS = 32
"""Most points of the worst case, of some 0.1 s."""
_CLAIMED = (Clones.PUBLISHED,)
"""The clones at whose bends the points of a coarse answer are."""
_OWN_COARSE_POINTS, _OWN_POINTS = 6, 33
_SUM_ERROR = 2e-9
"""Relative error of a δ computed as a sum, by which it is moved to its safe side."""

_NO_EPS0_OF_TABLE = "infinite: the table has an output that is impossible for one input, so no ε₀"
_NO_EPS0_HOLDS = "so small a crowd that the condition holds for no ε₀ at all"
_NO_SEARCH = (
    "the search for a worse randomiser is open here, or not offered: it is for two clients or more "
    "and ε₀ up to 20"
)
_COMPUTING = "it is being computed"
_SOURCES = {Clones.PUBLISHED: theory.EXACT_2021, Clones.STRONGER: theory.EXACT_2023}


class AmplificationPoints(Points):
    """Points of a sweep with the clones and the lower bound at each of them."""

    @property
    def unknown(self) -> theory.Unknown:
        """Which of ε and δ is computed."""
        return "delta" if self.request.quantity in ("delta", "own_delta") else "eps"

    @property
    def given(self) -> FloatArray:
        """The other one of ε and δ."""
        return self.delta if self.unknown == "eps" else self.eps

    @cached_property
    def for_exact(self) -> AmplificationPoints:
        """Points at which the exact clones are computed."""
        if self.coarse or theory.one_crowd(self.swept):
            return self
        return self.thinned(_FEW_POINTS if self.n.max() > _HUGE_CROWD else _EXACT_POINTS)

    @cached_property
    def for_lower(self) -> AmplificationPoints:
        """Points at which the lower bound is computed."""
        part = _MAX_LOWER_COUNTS / max(theory.lower_cost(self.swept), 1.0)
        swept = self.swept.downsampled(max(_MIN_LOWER_POINTS, int(part * self.swept.x.size)))
        return self if swept is self.swept else self.at(swept)

    @cached_property
    def exact(self) -> dict[Clones, Bound]:
        """The exact clones of both analyses."""
        # Both are computed in batches together, in this order.
        own = self.request.quantity in ("own", "own_delta")
        variants = (Clones.STRONGER, Clones.PUBLISHED) if own else tuple(Clones)
        if not math.isfinite(self.eps0[-1]):
            nowhere = np.full(self.eps0.shape, np.nan)
            return {
                variant: _defined(nowhere, Role.UPPER, _SOURCES[variant], _NO_EPS0_OF_TABLE)
                for variant in variants
            }
        values = theory.exact_clones(self.swept, self.unknown, variants, self.context)
        return {
            variant: Bound(
                value,
                Role.UPPER,
                _SOURCES[variant],
                truncated=clones_are_wide(self.eps0, self.n, variant),
            )
            for variant, value in values.items()
        }

    @cached_property
    def worst(self) -> Bound:
        """The worst common randomiser, from above."""
        values = theory.worst_case(self.swept, self.unknown, self.context)
        return _defined(values, Role.UPPER, WORST_CASE_UNSAMPLED, _NO_SEARCH)

    @cached_property
    def lower_pairs(self) -> FloatArray:
        """Values of 2RR and 3RR, shape (2, points)."""
        return theory.lower_pairs(self.swept, self.unknown, self.context, coarse=self.coarse)

    @cached_property
    def at_sliders(self) -> AmplificationPoints:
        """The sliders' own point alone, with the bounds on ε there."""
        last = {key: column[-1:] for key, column in self.swept.columns.items()}
        only = self.at(SweptPoints(self.swept.sweep, np.empty(0), last))
        for curve in (_CLOSED, _EXACT_2021, _EXACT_2023, _LOWER):
            bound = curve.bound(only)
            assert bound is not None
            only.bounds[curve.key] = bound
        return only

    @property
    def total_variation(self) -> float:
        """Upper bound on δ(0) at the sliders."""
        return theory.total_variation(self.here.eps0, self.here.n, self.context)

    @cached_property
    def randomisers(self) -> list[RandomiserBounds | None]:
        """The known randomiser at each point; None where its table is missing."""
        make = theory.own_randomiser(self.request, self.context)
        return [make(eps0) if make else None for eps0 in self.eps0.tolist()]

    @cached_property
    def own_values(self) -> dict[str, FloatArray]:
        """Bounds of the known randomiser."""
        cap = np.fmin(self.exact[Clones.STRONGER].value, _local(self).value)
        blur = COARSE if self.coarse else FINE
        return theory.own_bounds(
            self.swept, self.unknown, self.randomisers, cap, self.context, blur
        )

    @cached_property
    def with_table_eps0(self) -> AmplificationPoints:
        """The same points with the ε₀ of a table, if the randomiser is one, for the slider's."""
        if str(self.request["randomiser"]) not in (TYPED, FILE):
            return self
        make = theory.own_randomiser(self.request, self.context)
        if make is None:
            return self
        eps0 = np.full(self.eps0.shape, make(self.here.eps0).eps0)
        return self.at(replace(self.swept, columns={**self.swept.columns, "eps0": eps0}))

    def values_here(self) -> dict[str, float | None]:
        """Return the values of the curves at the sliders, None where undefined."""
        return {
            key: float(bound.value[-1]) if bound.valid[-1] else None
            for key, bound in self.bounds.items()
        }


def _defined(values: FloatArray, role: Role, source: Any, why: str) -> Bound:
    """Return a bound that is undefined where values are not finite."""
    valid = np.isfinite(values)
    return Bound(np.where(valid, values, np.nan), role, source, valid, "" if valid.all() else why)


def _undefined(p: AmplificationPoints) -> Bound:
    """Return the place of the worst case until it is known."""
    nowhere = np.full(p.eps0.shape, np.nan)
    return _defined(nowhere, Role.UPPER, WORST_CASE_UNSAMPLED, _COMPUTING)


def _closed(p: AmplificationPoints) -> Bound:
    why = (
        "the closed form needs ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8); outside it nothing but "
        "ε ≤ ε₀ is known from it"
    )
    if p.unknown == "delta":
        why += "; or it has no δ below 1 at so small an ε"
    values, holds = theory.closed_form(p.swept, p.unknown)
    return Bound(values, Role.UPPER, theory.CLOSED, holds, "" if holds.all() else why)


def _local(p: AmplificationPoints) -> Bound:
    """Return ε or δ of one message without the shuffle."""
    if not math.isfinite(p.eps0[-1]):
        nowhere = np.full(p.eps0.shape, np.nan)
        return _defined(nowhere, Role.UPPER, theory.LOCAL, _NO_EPS0_OF_TABLE)
    values = p.eps0 if p.unknown == "eps" else theory.delta_alone(p.eps, p.eps0)
    return Bound(values, Role.UPPER, theory.LOCAL)


def _lower(p: AmplificationPoints) -> Bound | None:
    """Return the larger of 2RR and 3RR."""
    values = p.lower_pairs.max(axis=0)
    if p.unknown == "eps":
        return Bound(values, Role.LOWER, theory.LOWER)
    # Below ε₀ no shuffle has δ = 0; the list of counts ends before counts as rare as that.
    known = (values > 0) | (p.eps >= p.eps0)
    why = "" if known.all() else "above 0, but too small to be computed"
    return Bound(values, Role.LOWER, theory.LOWER, known, why)


def _draw_outside(curve: Curve, p: AmplificationPoints) -> Series:
    """Shade the area between the exact clones and ε₀ where the closed form does not hold."""
    q = p.for_exact
    fails = ~clones_condition(q.eps0, q.n, q.delta)
    index = np.append(np.flatnonzero(fails[:-1]), q.swept.x.size)
    shaded = SweptPoints(q.swept.sweep, q.swept.x[index[:-1]], {})
    high = np.where(fails, q.eps0, np.nan)[index]
    low = p.bounds["exact_2021"].value[index]
    # The sliders' own point comes last in all arrays, and is no part of the shade.
    edge = Bound(np.append(high[:-1], 0.0), curve.role, curve.source)
    return series_from(
        curve.key, str(curve.label), shaded, edge, mark=curve.mark, low=low, high=high
    )


def _draw_condition_8(curve: Curve, p: AmplificationPoints) -> Series:
    """Shade the area below the largest ε₀ of condition (8)."""
    bound = curve.bound(p)
    assert bound is not None
    return series_from(
        curve.key,
        str(curve.label),
        p.swept,
        bound,
        note=str(curve.note),
        mark=curve.mark,
        low=np.where(bound.valid, 0.0, np.nan),
        high=bound.value,
    )


def _draw_here(curve: Curve, p: AmplificationPoints) -> Series:
    """Draw a dot at the sliders' values."""
    x, y = (np.array([float(p.request[key])]) for key in (p.swept.sweep.key, "eps0"))
    return Series(curve.key, str(curve.label), curve.role, x, y, curve.source, mark=curve.mark)


def _own(key: str, role: Role, source: Any, why: str) -> Callable[[AmplificationPoints], Bound]:
    """Return the function from points to a bound of the known randomiser."""

    def value(p: AmplificationPoints) -> Bound:
        no_file = "no table is chosen: open a CSV file under “file of the table”"
        return _defined(
            p.own_values[key], role, source, no_file if p.randomisers[-1] is None else why
        )

    return value


_CLOSED = Curve(
    "closed",
    words.CLOSED,
    "clones 2021, closed form",
    Role.UPPER,
    theory.CLOSED,
    _closed,
    primary=0,
    claimable=3,
    assumes=("condition_8",),
)
_EXACT_2021 = Curve(
    "exact_2021",
    words.EXACT_2021,
    "exact clones 2021",
    Role.UPPER,
    theory.EXACT_2021,
    lambda p: p.exact[Clones.PUBLISHED],
    note="for every ε₀-LDP randomiser, chosen adaptively too; exact for its worst pair",
    primary=1,
    claimable=1,
    points=lambda p: p.for_exact,
)
_EXACT_2023 = Curve(
    "exact_2023",
    words.EXACT_2023,
    "exact clones 2023",
    Role.UPPER,
    theory.EXACT_2023,
    lambda p: p.exact[Clones.STRONGER],
    note="if all clients use one common, non-adaptive randomiser",
    primary=2,
    claimable=2,
    assumes=("common",),
    points=lambda p: p.for_exact,
)
_LOCAL = Curve(
    "local",
    words.LOCAL,
    "without shuffling",
    Role.UPPER,
    theory.LOCAL,
    _local,
    primary=4,
    claimable=4,
)
_OUTSIDE = Curve(
    "outside",
    "condition (8) fails: the closed form says ε ≤ ε₀ only",
    "no closed form here",
    Role.BASELINE,
    theory.CLOSED,
    primary=0,
    mark=Mark.AREA,
    draw=_draw_outside,
)
_LOWER = Curve(
    "lower",
    LOWER_BOUND,
    "lower bound",
    Role.LOWER,
    theory.LOWER,
    _lower,
    note=(
        "the larger of 2RR (both directions; of at most 60 clients, whatever the others hold) and "
        "3RR, rounded down: no statement about all ε₀-LDP randomisers, or all common ones, can be "
        "below it; a particular randomiser may leak less"
    ),
    primary=5,
    remark=NOTHING_SMALLER,
    points=lambda p: p.for_lower,
)
_WORST_CASE = Curve(
    "worst_case",
    words.WORST,
    "worst case",
    Role.UPPER,
    WORST_CASE_UNSAMPLED,
    lambda p: _undefined(p) if not p.coarse else None,
    note=(
        "of all ε₀-LDP randomisers that all clients share, whatever the others hold; a search "
        "checks that no other is worse"
    ),
    primary=3,
    claimable=5,
    assumes=("common",),
)
# Last, so that the other curves keep their colours when it is added.
_OF_EPSILON = (_CLOSED, _EXACT_2021, _EXACT_2023, _LOCAL, _OUTSIDE, _LOWER, _WORST_CASE)
_OF_DELTA = (_CLOSED, _EXACT_2021, _EXACT_2023, _LOCAL, _LOWER, _WORST_CASE)
_OF_ONE_RANDOMISER = (
    *(
        Curve(
            key,
            label,
            short,
            role,
            source,
            _own(key, role, source, why),
            note=note,
            claimable=1,
            assumes=("common",),
        )
        for key, label, short, role, source, note, why in (
            (
                "own_exact",
                "this randomiser, exactly",
                "this randomiser, exactly",
                Role.EXACT,
                theory.ENUMERATED,
                "every multiset of the others' inputs and every count of messages listed",
                "only tables, and only few clients: the counts are too many to be listed here",
            ),
            (
                "own_blanket",
                "this randomiser, blanket",
                "its privacy blanket",
                Role.UPPER,
                BLANKET,
                "from all that is known of this randomiser; computed from above, by 1e-5 to 3e-3 "
                "of itself",
                "infinite: at this δ a message that only one record can send gives it away",
            ),
            (
                "own_ratio",
                "this randomiser, variation-ratio",
                "its variation-ratio",
                Role.UPPER,
                VARIATION_RATIO,
                "from three numbers of it: a total variation and two ratios",
                "infinite: an output is impossible for one input and possible for another",
            ),
        )
    ),
    replace(
        _EXACT_2023,
        note="for every ε₀-LDP randomiser that all clients use",
        primary=1,
        claimable=1,
        points=None,
    ),
    replace(_EXACT_2021, note="for every ε₀-LDP randomiser", primary=1, claimable=1, points=None),
)
_CONDITION_8 = Curve(
    "condition_8",
    "condition (8): clones 2021, closed form",
    "closed form, clones 2021",
    Role.EXACT,
    theory.CONDITION_8,
    lambda p: theory.condition_8_limit(p.n, p.delta),
    where=lambda p: theory.condition_8_limit(p.n, p.delta) >= 0,
    why=_NO_EPS0_HOLDS,
    note="below it the closed form is valid; above it nothing but ε₀ is known from it",
    mark=Mark.AREA,
    draw=_draw_condition_8,
)
_CONDITION_9 = Curve(
    "condition_9",
    "condition (9): privacy blanket, closed form",
    "closed form, blanket",
    Role.BASELINE,
    theory.CONDITION_9,
    lambda p: theory.condition_9_limit(p.n, p.delta),
    where=lambda p: theory.condition_9_limit(p.n, p.delta) >= 0,
    why=_NO_EPS0_HOLDS,
    note="the same for the privacy blanket, which is not drawn",
)
_HERE = Curve(
    "here",
    "your ε₀",
    "",
    Role.BASELINE,
    theory.CONDITION_8,
    mark=Mark.DOTS,
    draw=_draw_here,
)

PLOTS = (
    Plot(
        Quantity(
            "eps",
            "ε",
            "privacy after the shuffle",
            ("eps0", "n", "delta"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_EPSILON,
        sliders=("eps0", "n", "delta"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            "delta",
            "δ",
            "failure probability at ε",
            ("eps", "eps0", "n"),
            scale=Scale.LOG,
            latex=r"\delta",
        ),
        _OF_DELTA,
        sliders=("eps", "eps0", "n"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            "own",
            "ε",
            "of one known randomiser",
            ("n", "delta", "eps0"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_ONE_RANDOMISER,
        sliders=("randomiser", "eps0", "n", "delta"),
        solves="n",
        claim_text=words.own_claim_text,
    ),
    Plot(
        Quantity(
            "own_delta",
            "δ",
            "of one known randomiser, at ε",
            ("eps", "n", "eps0"),
            scale=Scale.LOG,
            latex=r"\delta",
        ),
        _OF_ONE_RANDOMISER,
        sliders=("randomiser", "eps", "eps0", "n"),
        solves="n",
        claim_text=words.own_claim_text,
    ),
    Plot(
        Quantity(
            "region",
            "ε₀",
            "largest with a closed form",
            ("n", "delta"),
            scale=Scale.LINEAR,
            latex=r"\varepsilon_0",
        ),
        (_CONDITION_8, _CONDITION_9, _HERE),
        sliders=("eps0", "n", "delta"),
    ),
)

_OWN = ("own", "own_delta")


def _with(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("randomiser", (kind,)),)


PARAMETERS = (
    epsilon(
        "local privacy",
        "Privacy of every single message before it is shuffled. Smaller is more private.",
        2.0,
        0.01,
        10.0,
        key="eps0",
        symbol="ε₀",
    ),
    count(
        "n",
        "n",
        "messages shuffled together",
        "How many clients send one message each into the same shuffle (k in a sampled round). A "
        "larger crowd is more private.",
        100_000,
        1,
        1_000_000_000,
        unit="clients",
        more_private="high",
    ),
    delta(
        1e-6,
        quantities=("eps", "region", "own"),
        help="With what probability the guarantee may fail; in a composition, the share δ₀ of "
        "one round. Smaller is more private.",
    ),
    epsilon(
        "central privacy",
        "The ε at which δ is computed. Smaller is more private, and has a larger δ.",
        0.1,
        0.0001,
        10.0,
        quantities=("delta", "own_delta"),
    ),
    choice(
        "randomiser",
        "",
        "randomiser",
        "What every client runs on their own device before the shuffle. Its probabilities give a "
        "tighter bound than one that holds for every ε₀-LDP randomiser.",
        "krr",
        (
            ("krr", "k-ary randomised response"),
            ("unary", "unary encoding (a bit a value)"),
            ("laplace", "Laplace noise on [0, 1]"),
            ("privunit", "PrivUnit (a cap of a sphere)"),
            ("rinf", "R_∞: one coordinate's sign"),
            ("typed", "a table, typed"),
            ("file", "a table from a CSV file"),
        ),
        quantities=_OWN,
    ),
    count(
        "outcomes",
        "k",
        "values of the randomised response",
        "How many values a record, and so a message, can have. With more values fewer others send "
        "the same message, but a message is a weaker sign of its sender's value.",
        10,
        2,
        1_000_000,
        unit="values",
        quantities=_OWN,
        relevant_when=_with("krr"),
    ),
    share(
        "kept",
        "p",
        "own bit kept",
        "With what probability the bit of the client's own value is sent as 1; the other bits "
        "are set with the q that makes it ε₀-LDP. One half is optimised unary encoding.",
        0.5,
        0.01,
        0.99,
        quantities=_OWN,
        relevant_when=_with("unary"),
    ),
    share(
        "theta",
        "θ",
        "share of the sphere in the cap",
        "A message is e^ε₀ times as likely inside the cap around the client's own direction as "
        "outside. One half is the mechanism of Duchi et al., smaller caps are PrivUnit's.",
        0.1,
        0.0001,
        0.5,
        latex=r"\theta",
        quantities=_OWN,
        relevant_when=_with("privunit"),
    ),
    *table_parameters(
        "randomiser", "table", "0.6 0.2 0.2; 0.2 0.6 0.2; 0.2 0.2 0.6", {"quantities": _OWN}
    ),
)


def _laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield δ(ε) of the clones and of randomised response."""
    eps0, n = float(request["eps0"]), float(request["n"])
    farthest = min(eps for eps, _ in promise.pairs)
    for variant in Clones:
        make = partial(ClonePair, eps0, n, variant)
        pair: ClonePair = context.cached(("amplification", "pair", eps0, n, variant), make)
        yield Law(
            f"law_{variant.value}",
            f"law of the clones {variant.value}",
            _raise_bound(pair),
            Role.UPPER,
            farthest,
            DUAL,
            ("common",) if variant is Clones.STRONGER else (),
        )
    two, three = (
        context.cached(("amplification", kind.__name__, eps0, n), partial(kind, eps0, n, n))
        for kind in (RandomisedResponseRound, ThreeSymbolRound)
    )
    yield Law(
        "response",
        "2RR, 3RR: nobody can promise more",
        lambda eps: np.maximum(two.delta(eps), three.delta(eps)) * (1 - _SUM_ERROR),
        Role.LOWER,
        farthest,
        theory.LOWER,
    )


def _raise_bound(pair: ClonePair) -> Callable[[FloatArray], FloatArray]:
    return lambda eps: np.minimum(pair.delta(eps) * (1 + _SUM_ERROR), 1.0)


def _audits(request: Request, promise: Guarantee, _context: Context) -> Audited:
    """Return the audit of shuffled randomised response, which the lower bound rests on."""
    eps0, n = float(request["eps0"]), int(request["n"])
    eps, delta = promise.pairs[0]
    return responses_run(eps0, n, n, 1, delta, eps)


@with_tradeoff(
    ("eps0", "n", "delta"),
    laws=_laws,
    promising=("law_2021", "law_2023"),
    audits=_audits,
    patient=True,
)
class AmplificationStudy(CurveStudy):
    """Privacy amplification by one shuffle."""

    id = "amplification"
    parameters = PARAMETERS
    plots = PLOTS
    points = AmplificationPoints
    page = PAGE
    presets = PRESETS
    references = (
        theory.CLOSED,
        theory.EXACT_2021,
        theory.EXACT_2023,
        theory.LOWER,
        theory.LOCAL,
        theory.CONDITION_8,
        theory.CONDITION_9,
        BLANKET,
        VARIATION_RATIO,
    )

    def stages(self, p: AmplificationPoints) -> Iterable[AmplificationPoints]:
        """Return few points first where every point has a crowd of its own."""
        shown = p.request.quantity
        if shown == "region":
            return (p.at(p.swept, Fidelity.FULL),)
        if shown in _OWN:
            p = p.with_table_eps0
            return (p.thinned(_OWN_COARSE_POINTS, Fidelity.COARSE), p.thinned(_OWN_POINTS))
        if self._quick(p):
            return (p,)
        few = p.swept.placed(
            _COARSE_POINTS,
            lambda swept: theory.exact_clones(swept, p.unknown, _CLAIMED, p.context)[_CLAIMED[0]],
        )
        return (p.at(few, Fidelity.COARSE), p)

    @staticmethod
    def _quick(p: AmplificationPoints) -> bool:
        """Whether the whole answer is there at once."""
        return p.swept.sweep.key == "eps" and p.here.n <= _QUICK_CROWD and not p.coarse

    def claimed_number(self, p: AmplificationPoints) -> tuple[Curve, AmplificationPoints] | None:
        """Return the exact clones of 2021 at the sliders' values, where few points come first."""
        if p.request.quantity not in ("eps", "delta") or self._quick(p):
            return None
        last = {key: column[-1:] for key, column in p.swept.columns.items()}
        return _EXACT_2021, p.at(SweptPoints(p.swept.sweep, np.empty(0), last))

    def simulation(self, p: AmplificationPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds the worst case, a search, at the sliders first."""
        if p.request.quantity not in ("eps", "delta") or p.coarse:
            return None

        def add(answer: Result) -> Iterator[Result]:
            only, drawn = p.at(p.swept.only_sliders()), p.thinned(_WORST_POINTS)
            answer = with_claim(with_late_curve(answer, _WORST_CASE, only, only.worst))
            yield answer
            lower = drawn.lower_pairs.max(axis=0)
            answer = with_late_curve(answer, _WORST_CASE, drawn, drawn.worst, lower)
            yield with_claim(replace(answer, complete=True))

        return add

    def readouts(self, p: AmplificationPoints) -> tuple[ScalarResult, ...]:
        """Return the bounds at the sliders, and which randomiser has the lower one."""
        shown = p.request.quantity
        if shown in _OWN:
            return (*super().readouts(p), _readout(_LOCAL, _local(p), "without the shuffle"))
        if shown != "region":
            return tuple(
                _readout(curve, p.bounds[curve.key], _lower_note(curve, p))
                for curve in self.curves(p)
                if curve.key in p.bounds
            )
        limits = ((curve, curve.bound(p)) for curve in (_CONDITION_8, _CONDITION_9))
        q = p.at_sliders
        return (
            *(_readout(curve, bound) for curve, bound in limits if bound is not None),
            *(
                _readout(curve, q.bounds[curve.key], _lower_note(curve, q))
                for curve in (_CLOSED, _EXACT_2021, _EXACT_2023, _LOWER)
            ),
        )

    def conditions(self, p: AmplificationPoints) -> tuple[Condition, ...]:
        """Return the conditions at the sliders' values."""
        if p.request.quantity in _OWN:
            return words.own_conditions(p.request, p.here.eps0)
        q = p.at_sliders if p.request.quantity == "region" else p
        eps0, n = float(p.request["eps0"]), float(p.request["n"])
        exact = float(q.bounds["exact_2021"].value[-1])
        if p.unknown == "eps":
            return words.conditions(eps0, n, float(p.request["delta"]), exact)
        eps = float(p.request["eps"])
        return words.conditions(eps0, n, exact, eps, theory.closed_delta(eps, eps0, n))

    def guarantee(self, p: AmplificationPoints) -> Guarantee:
        """Return the guarantee, which `result` completes by the claimed bound."""
        if p.request.quantity in _OWN:
            return self._own_guarantee(p)
        q = p.at_sliders if p.request.quantity == "region" else p
        eps0, n = float(p.request["eps0"]), float(p.request["n"])
        here = q.values_here()
        if p.unknown == "delta":
            differences = words.delta_differences(here, eps0, float(p.request["eps"]))
        else:
            differences = words.differences(
                eps0,
                n,
                float(p.request["delta"]),
                here["closed"],
                float(q.bounds["exact_2021"].value[-1]),
                float(q.bounds["exact_2023"].value[-1]),
                here.get("lower"),
            )
        return words.guarantee(eps0, p.total_variation, differences)

    def _own_guarantee(self, p: AmplificationPoints) -> Guarantee:
        law, distance = p.randomisers[-1], 1.0
        if law is not None:
            distance = theory.own_total_variation(law, p.here.n)
        if math.isfinite(p.here.eps0):
            distance = min(distance, p.total_variation)
        return words.own_guarantee(p.request, p.here.eps0, distance, p.values_here())

    def notes(self, p: AmplificationPoints) -> tuple[str, ...]:
        """Return notes on a known randomiser."""
        return words.own_notes(p.request, p.here.eps0) if p.request.quantity in _OWN else ()

    def result(self, p: AmplificationPoints, *, complete: bool) -> Result:
        """Return the answer, its guarantee completed by the claimed bound."""
        answer = super().result(p, complete=complete)
        if not complete:
            series = (
                replace(s, computing=True) if s.key == _WORST_CASE.key else s for s in answer.series
            )
            answer = replace(answer, series=tuple(series))
        if p.request.quantity != "region" or answer.guarantee is None:
            return with_claim(answer)
        # Nothing is claimed of a region: its guarantee is that of the exact clones, or of ε₀.
        eps = min(float(p.at_sliders.bounds["exact_2021"].value[-1]), float(p.request["eps0"]))
        text = words.text_of(answer, eps, words.EXACT_2021)
        promise = replace(
            answer.guarantee,
            sentence=text.lines[0],
            beside=text.lines[1],
            replace_one=text.promise,
        )
        return replace(answer, guarantee=promise)


def _readout(curve: Curve, bound: Bound, note: str = "") -> ScalarResult:
    return scalar_from(curve.key, str(curve.label), bound, note=note)


def _lower_note(curve: Curve, p: AmplificationPoints) -> str:
    """Return a curve's note; that of the lower bound names the randomiser that has it."""
    if curve.key != "lower":
        return str(curve.note)
    return f"{which_won(*p.for_lower.lower_pairs[:, -1].tolist())}; {curve.note}"
