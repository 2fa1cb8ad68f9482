"""Data sets of any size: the reduction to s draws, and group privacy over distance."""

import math
from functools import cached_property, partial

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.user_metric import Concentration
from explorer.studies.base.builders import count, delta, epsilon, real
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy, Points
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses, odds
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Condition,
    Guarantee,
    Headline,
    Quantity,
    Result,
    ScalarResult,
    Scale,
    Table,
)
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.parameters import space_parameters
from explorer.studies.unbounded.help import (
    BINOMIAL,
    CHERNOFF,
    FACT,
    GROUP,
    INFORMAL,
    PAGE,
    PRESETS,
    PRINTED,
    ROUGHLY,
    SIZES,
    TABLE,
    USER_LEVEL,
)

HOPS_IN_TABLE = (1, 2, 3, 5, 10, 20, 50)


class UnboundedPoints(Points):
    """Points of a sweep with the reduction to s draws at each of them."""

    @property
    def hops(self) -> FloatArray:
        """⌈d/r⌉, not raised by the rounding of an exact multiple."""
        return np.maximum(np.ceil(self.d / self.r * (1 - 1e-12)), 1.0)

    @cached_property
    def chernoff(self) -> um.Reduction:
        """Reduction by Chernoff's bound."""
        return um.bounded_reduction(self.eps, self.delta, self.r, self.s, Concentration.CHERNOFF)

    @cached_property
    def printed(self) -> um.Reduction:
        """Reduction by Lemma 5.2 as the paper prints it."""
        return um.bounded_reduction(self.eps, self.delta, self.r, self.s, Concentration.PRINTED)

    @cached_property
    def binomial(self) -> FloatArray:
        """Smallest threshold that any bound on this coupling can have."""
        return np.asarray(um.binomial_threshold(self.delta, self.r, self.s))

    @cached_property
    def group_delta(self) -> FloatArray:
        """δ after all hops; may be above 1."""
        total = self.chernoff.delta_total
        return np.asarray(um.group_privacy_delta(self.eps, total, self.hops))

    @property
    def hops_here(self) -> float:
        """Hops to the distance d at the sliders."""
        return float(self.hops[-1])

    @property
    def delta_here(self) -> float:
        """δ after these hops; may be above 1."""
        return float(self.group_delta[-1])

    def length(self, share: float) -> str:
        """Write a share of the diameter, with its length where the space has a unit."""
        if not self.space.unit or self.space.metric is None:
            return f"{nearest(share)} of the largest distance"
        far = share * self.space.diameter
        return (
            f"{far:,.0f} {self.space.unit}" if far >= 100 else f"{nearest(far)} {self.space.unit}"
        )


def _headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    eps, r, s = (float(result.request[key]) for key in ("eps", "r", "s"))
    items = "1 sampled item" if s == 1 else f"{int(s):,} sampled items"
    return Headline(
        claimed.text.number,
        f"With {items} per user and α = {at_least(claimed.value)}, changes of up "
        f"to {nearest(100 * r)} % of the largest distance have ε = {nearest(eps)}.",
    )


def _growth_as_printed(p: UnboundedPoints, exponent: FloatArray) -> FloatArray:
    """Return δ times a printed factor, at most 1."""
    with np.errstate(over="ignore"):
        return np.minimum(p.chernoff.delta_total * np.exp(exponent), 1.0)


# Curves of more than one plot.
_chernoff = partial(
    Curve,
    "chernoff",
    "Chernoff (KL) form of Theorem 5.3",
    "Chernoff form",
    source=CHERNOFF,
    claimable=1,
)
_printed = partial(Curve, "printed", "Theorem 5.3", "Theorem 5.3", source=PRINTED, claimable=1)
_binomial = partial(
    Curve,
    "binomial",
    "0/1 distances: exact for this coupling",
    "0/1 distances, exact",
    source=BINOMIAL,
)
_group = partial(
    Curve,
    "group",
    "k hops (Lemma A.2)",
    "k hops (Lemma A.2)",
    Role.UPPER,
    GROUP,
    note="a staircase with steps at every multiple of r; lines between the points computed slant",
)
_CAPPED = "capped at 1, where nothing is promised"

PLOTS = (
    Plot(
        Quantity(
            "alpha",
            "α",
            "largest allowed on the draws",
            ("s", "r", "eps", "delta"),
            scale=Scale.LOG,
            unit="1/diameter",
            latex=r"\alpha",
        ),
        (
            _chernoff(role=Role.LOWER, value=lambda p: p.chernoff.alpha),
            _printed(role=Role.LOWER, value=lambda p: p.printed.alpha),
            _binomial(
                role=Role.UPPER,
                value=lambda p: p.eps / np.where(p.binomial > 0, p.binomial, 1.0),
                # Where even one draw in s rarely moves, no α is too large for this argument.
                where=lambda p: p.binomial > 0,
                why=(
                    "the draws of both data sets are the same with probability 1 − δ: no limit on α"
                ),
                note="no bound on the distance of draws coupled like this can allow a larger α",
            ),
            Curve(
                "informal",
                "Theorem 1.3, informal",
                "Theorem 1.3, informal",
                Role.BASELINE,
                INFORMAL,
                lambda p: p.eps / p.r,
                lambda p: p.r >= -2 * np.log(p.delta) / p.s,
                "its premise fails: r must be at least 2 ln(1/δ)/s",
                "not to be used: by Theorem 5.3 this α gives ε = 3.9·αr at its premise, and 2δ",
                primary=0,
            ),
            Curve(
                "sizes",
                "ε/r: all data sets of one size",
                "ε/r, equal sizes",
                Role.BASELINE,
                SIZES,
                lambda p: p.eps / p.r,
            ),
            Curve(
                "user",
                "α = ε: user-level DP",
                "α = ε, user-level DP",
                Role.BASELINE,
                USER_LEVEL,
                lambda p: p.eps,
                primary=0,
            ),
        ),
        sliders=("eps", "r", "s", "delta"),
        better="high",
        solves="s",
        headline=_headline,
    ),
    Plot(
        Quantity("threshold", "c", "distance of the draws", ("s", "r", "delta"), scale=Scale.LOG),
        (
            _chernoff(role=Role.UPPER, value=lambda p: p.chernoff.threshold),
            _printed(role=Role.UPPER, value=lambda p: p.printed.threshold),
            _binomial(
                role=Role.LOWER,
                value=lambda p: p.binomial,
                note="no bound on the distance of draws coupled like this can be below it",
            ),
            Curve(
                "mean",
                "r, the mean distance of a draw",
                "mean distance r",
                Role.BASELINE,
                SIZES,
                lambda p: p.r,
            ),
        ),
        sliders=("r", "s", "delta"),
        solves="s",
    ),
    Plot(
        Quantity(
            "group_eps",
            "kε",
            "privacy over distance",
            ("d", "r", "eps"),
            scale=Scale.LOG,
            latex=r"k\varepsilon",
        ),
        (
            _group(value=lambda p: p.hops * p.eps),
            Curve(
                "roughly",
                "the paper's “roughly”: (2ε/r)·d",
                "the paper's “roughly”",
                Role.BASELINE,
                ROUGHLY,
                lambda p: 2 * p.eps / p.r * p.d,
                lambda p: p.d >= p.r,
                "stated for distances of at least r",
            ),
        ),
        sliders=("eps", "r", "d"),
    ),
    Plot(
        Quantity(
            "group_delta",
            "δₖ",
            "failure probability over distance",
            ("d", "r", "eps", "delta"),
            scale=Scale.LOG,
            latex=r"\delta_k",
        ),
        (
            _group(value=lambda p: np.minimum(p.group_delta, 1.0)),
            Curve(
                "fact",
                "Fact 5.1 as printed: δ·e^k",
                "Fact 5.1 as printed",
                Role.BASELINE,
                FACT,
                lambda p: _growth_as_printed(p, p.hops),
                note=_CAPPED,
            ),
            Curve(
                "table",
                "Table 1 as printed: δ·e^(kε)",
                "Table 1 as printed",
                Role.BASELINE,
                TABLE,
                lambda p: _growth_as_printed(p, p.hops * p.eps),
                note=_CAPPED,
            ),
        ),
        sliders=("eps", "r", "d", "delta"),
    ),
)

PARAMETERS = (
    epsilon(
        "privacy within r",
        "The privacy parameter asked for two data sets of a user that are at most r apart. "
        "Smaller is more private.",
        0.2,
        1e-3,
        20.0,
    ),
    real(
        "r",
        "r",
        "distance protected",
        "Data sets of a user at most so far apart (earth mover's distance, as a share of the "
        "largest) are protected at ε. A larger r is more private.",
        0.008,
        1e-5,
        1.0,
        more_private="high",
    ),
    count(
        "s",
        "s",
        "draws from every user",
        "How many items are drawn, with replacement, from every user's data set whatever its "
        "size. More draws cost no privacy: they only make the release larger.",
        10_000,
        1,
        10**9,
        unit="draws",
    ),
    delta(
        1e-12,
        1e-40,
        help="The δ of the mechanism on the draws, and again the probability that the draws are "
        "farther apart than the threshold: 2δ together. Smaller is more private.",
    ),
    real(
        "d",
        "d",
        "example distance",
        "Earth mover's distance of two data sets of a user, as a share of the largest: reached "
        "in k = ⌈d/r⌉ hops.",
        0.04,
        1e-4,
        1.0,
    ),
    *space_parameters(),
)


@with_tradeoff()
class Unbounded(CurveStudy):
    """Theorem 5.3, its KL form, and group privacy over distance."""

    id = "unbounded"
    parameters = PARAMETERS
    plots = PLOTS
    points = UnboundedPoints
    page = PAGE
    presets = PRESETS

    def readouts(self, p: UnboundedPoints) -> tuple[ScalarResult, ...]:
        """Return the curves' numbers, and α, δ and hops of the guarantee."""
        here = p.here
        result = [
            *super().readouts(p),
            ScalarResult(
                "allowed",
                "α allowed on the draws",
                float(p.chernoff.alpha[-1]),
                Role.LOWER,
                "1/diameter",
            ),
            ScalarResult(
                "delta_total",
                "δ of the guarantee",
                float(p.chernoff.delta_total[-1]),
                Role.UPPER,
            ),
            ScalarResult("hops", "hops to the example distance", p.hops_here),
            ScalarResult("far_delta", "δ there", min(p.delta_here, 1.0), Role.UPPER),
            ScalarResult(
                "tail",
                "Pr[draws beyond Theorem 5.3]",
                float(um.lemma52_tail(here.r, here.delta, here.s)),
                Role.EXACT,
                note="exact for 0/1 distances; other distances of mean r may have more, by Lemma "
                "5.2 never more than δ",
            ),
        ]
        if p.space.unit and p.space.metric is not None:
            reach = here.r * p.space.diameter
            result.append(ScalarResult("reach", "distance protected", reach, unit=p.space.unit))
        return tuple(result)

    def tables(self, p: UnboundedPoints) -> tuple[Table, ...]:
        """Return ε and δ after some hops, beside the δ that the paper prints."""
        eps, r, total = p.here.eps, p.here.r, float(p.chernoff.delta_total[-1])
        rows: list[tuple[str | float | None, ...]] = []
        for k in HOPS_IN_TABLE:
            if k > 1 and (k - 1) * r >= 1:
                continue
            left = float(um.group_privacy_delta(eps, total, k))
            printed = total * math.exp(k), total * math.exp(min(k * eps, 700.0))
            rows.append(
                (
                    float(k),
                    p.length(min(k * r, 1.0)),
                    k * eps,
                    *(min(v, 1.0) for v in (left, *printed)),
                    "nothing promised" if left >= 1 else odds(k * eps, left),
                )
            )
        return (
            Table(
                "hops",
                "Group privacy over distance",
                ("hops", "distance up to", "ε", "δ (Lemma A.2)", "Fact 5.1", "Table 1", "odds"),
                tuple(rows),
                note=(
                    "ε and δ of k hops of (ε, δ) are upper bounds; Fact 5.1 and Table 1 are what "
                    "the paper (v1) prints, and no bounds (errata user-D1). All δ are capped at 1."
                ),
                roles=(None, None, Role.UPPER, Role.UPPER, Role.BASELINE, Role.BASELINE),
            ),
        )

    def conditions(self, p: UnboundedPoints) -> tuple[Condition, ...]:
        """Return the premises of the statements."""
        here, left = p.here, p.delta_here
        threshold = (1 + math.sqrt(2)) * here.r - 3 / here.s * math.log(here.delta)
        needed = 2 * math.log(1 / here.delta) / here.s
        return (
            Condition(
                "There are draws enough for concentration, r^s ≤ δ (else c = 1 and the guarantee "
                "is (ε, δ, r) with α = ε)",
                here.s * math.log(here.r) <= math.log(here.delta),
                f"ln r^s = {nearest(here.s * math.log(here.r))}, "
                f"ln δ = {nearest(math.log(here.delta))}",
                short="Enough samples per user (r^s ≤ δ)",
            ),
            Condition(
                "Theorem 5.3: its threshold is below the diameter, (1+√2)r + (3/s)ln(1/δ) < 1",
                threshold < 1,
                f"threshold {nearest(threshold)}",
                short="Theorem 5.3: threshold below diameter",
            ),
            Condition(
                "Theorem 1.3 (informal): r ≥ 2 ln(1/δ)/s",
                here.r >= needed,
                f"r = {nearest(here.r)}, needed {nearest(needed)}",
            ),
            Condition(
                "The example distance is still protected: δ after all hops is below 1",
                left < 1,
                f"d = {nearest(here.d)} {_reach(p.hops_here)}, δ = {nearest(min(left, 1.0))}",
                short="Still protected at this distance: δ < 1",
            ),
            Condition(
                "No user's data set is empty: there is something to draw from",
                None,
                short="No user's data set is empty",
            ),
            Condition(
                "The mechanism on the draws is (α, δ)-bounded d_EM-DP (see “Item-wise release”)",
                None,
                short="The draws' mechanism is (α, δ)-d_EM-DP",
            ),
        )

    def guarantee(self, p: UnboundedPoints) -> Guarantee:
        """Return the discrete guarantee, and what is left of it at the distance d."""
        here, hops, left = p.here, p.hops_here, p.delta_here
        total, alpha = float(p.chernoff.delta_total[-1]), float(p.chernoff.alpha[-1])
        promised = f"{at_most(here.eps)}, {at_most(total)}"
        secret = (
            "which of two data sets a user holds, their items at most "
            f"{p.length(here.r)} apart on average"
        )
        near = guesses(here.eps, total, secret, "after seeing the release")
        if left >= 1:
            far = f" At {p.length(here.d)} nothing is promised any more: δ has grown to 1."
        elif here.d <= here.r:
            far = f" The example distance, {p.length(here.d)}, is not more: the same holds there."
        else:
            far = (
                f" At {p.length(here.d)}, {_reach(hops)}, ε is {at_most(hops * here.eps)} and δ "
                f"is {at_most(left)}."
            )
        return Guarantee(
            unit="one user's whole data set, of any size",
            replace_one=(
                f"({promised}, {at_least(here.r)})-discrete d_EM-DP: ({promised}) "
                f"when a user's data are replaced by others, of any size, at distance at most "
                f"{at_least(here.r)}, if the mechanism on the draws has α ≤ {at_least(alpha)}"
            ),
            add_remove=(
                "items of a user may come and go (sizes are hidden); adding or removing a whole "
                "user is not covered: the number of users is fixed and public, and no data set is "
                "empty"
            ),
            trust=(
                "Local: each user's device draws and randomises; others see only its answers. "
                "Central: the curator draws from everybody's data; others see the release."
            ),
            sentence=near + far,
            pairs=((here.eps, min(total, 1.0)),),
            qualified=True,
            about=secret,
            references=(CHERNOFF, PRINTED, GROUP),
            differences=(
                "Theorem 5.3 bounds how far the draws of two data sets get apart by Bernstein's "
                "inequality, the KL form by Chernoff's, which is never larger and never above 1.",
                "No such bound can be below the binomial's quantile, which 0/1 distances attain: "
                "what lies between it and the KL form is all that a better inequality could gain.",
                "The printed forms of group privacy are no bounds: k hops of (ε, δ) cost "
                "δ(e^(kε) − 1)/(e^ε − 1), which randomised response attains.",
            ),
        )


def _reach(hops: float) -> str:
    """Write how a distance is reached: ``in 5 hops``."""
    return f"in {hops:,.0f} hops" if hops > 1 else "is within r"
