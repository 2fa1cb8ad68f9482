"""What the reduction says in words: sources, reasons, conditions, guarantee."""

import math

from explorer.privacy.core.bound import Reference
from explorer.privacy.core.papers import USER_METRIC as _PAPER
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee
from explorer.studies.metric_space.choice import ChosenSpace

PRINTED = Reference(_PAPER, "Theorem 5.3 with Lemma 5.2", "capped at the diameter: errata user-D5")
CHERNOFF = Reference(
    _PAPER,
    "Theorem 5.3 with Chernoff's bound instead of Lemma 5.2",
    "s·KL(c‖r) = ln(1/δ), c ≤ 1: errata user-D4",
)
BINOMIAL = Reference(
    _PAPER, "the coupling of Lemma 5.2 at distances 0 and 1", "the binomial's quantile, exactly"
)
INFORMAL = Reference(_PAPER, "Theorem 1.3 (informal)", "ε = αr and one δ: errata user-D3")
SIZES = Reference(_PAPER, "Definition 5.1", "ε/r, if data sets had one size and nothing was drawn")
USER_LEVEL = Reference(_PAPER, "Table 1", "d_EM ≤ 1, so that α ≤ ε is user-level DP")
GROUP = Reference(_PAPER, "Lemma A.2, applied k − 1 times", "tight: errata user-D1")
FACT = Reference(_PAPER, "Fact 5.1, as printed", "δe^k, too small for ε > 1: errata user-D1")
TABLE = Reference(
    _PAPER, "Table 1, as printed", "δe^(kε), too small for ε below ln 2: errata user-D1"
)
ROUGHLY = Reference(
    _PAPER, "after Fact 5.1", "(2ε/r)·d for d ≥ r; ignores δ's growth: errata user-D2"
)

LABELS = {
    "chernoff": "Chernoff (KL) form of Theorem 5.3",
    "printed": "Theorem 5.3",
    "binomial": "0/1 distances: exact for this coupling",
    "informal": "Theorem 1.3, informal",
    "sizes": "ε/r: all data sets of one size",
    "mean": "r, the mean distance of a draw",
    "user": "α = ε: user-level DP",
    "group": "k hops (Lemma A.2)",
    "fact": "Fact 5.1 as printed: δ·e^k",
    "table": "Table 1 as printed: δ·e^(kε)",
    "roughly": "the paper's “roughly”: (2ε/r)·d",
}
INFORMAL_FAILS = "its premise fails: r must be at least 2 ln(1/δ)/s"
NOT_WITHIN_R = "stated for distances of at least r"
INFORMAL_NOTE = "not to be used: by Theorem 5.3 this α gives ε = 3.9·αr at its premise, and 2δ"
STEPS = "a staircase with steps at every multiple of r; lines between the points computed slant"
NO_LESS = "no bound on the distance of draws coupled like this can be below it"
NO_MORE = "no bound on the distance of draws coupled like this can allow a larger α"
AT_MOST_ONE = "capped at 1, where nothing is promised"


def conditions(
    *, r: float, s: float, delta: float, printed: float, d: float, hops: float, last: float
) -> tuple[Condition, ...]:
    """Return what the statements need at the sliders, and whether they have it."""
    root = s * math.log(r) <= math.log(delta)
    need = 2 * math.log(1 / delta) / s
    return (
        Condition(
            "There are draws enough for concentration, r^s ≤ δ (else c = 1 and the guarantee is "
            "(ε, δ, r) with α = ε)",
            root,
            f"ln r^s = {nearest(s * math.log(r))}, ln δ = {nearest(math.log(delta))}",
            short="Draws enough for concentration, r^s ≤ δ",
        ),
        Condition(
            "Theorem 5.3: its threshold is below the diameter, (1+√2)r + (3/s)ln(1/δ) < 1",
            printed < 1,
            f"threshold {nearest(printed)}",
            short="Theorem 5.3: threshold below diameter",
        ),
        Condition(
            "Theorem 1.3 (informal): r ≥ 2 ln(1/δ)/s",
            r >= need,
            f"r = {nearest(r)}, needed {nearest(need)}",
        ),
        Condition(
            "The distance looked at is still protected: δ after all hops is below 1",
            last < 1,
            f"d = {nearest(d)} {reached(hops)}, δ = {nearest(min(last, 1.0))}",
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


def reached(hops: float) -> str:
    """Write how a distance is reached: ``in 5 hops``; one hop is what r protects itself."""
    return f"in {hops:,.0f} hops" if hops > 1 else "is within r"


def length(share: float, space: ChosenSpace) -> str:
    """Write a share of the diameter, with its length where the space has a unit."""
    if not space.unit or space.metric is None:
        return f"{nearest(share)} of the largest distance"
    far = share * space.diameter
    return f"{far:,.0f} {space.unit}" if far >= 100 else f"{nearest(far)} {space.unit}"


def guarantee(
    *,
    eps: float,
    delta: float,
    r: float,
    d: float,
    hops: float,
    far_delta: float,
    alpha: float,
    space: ChosenSpace,
) -> Guarantee:
    """Return the discrete guarantee, and what is left of it at the distance looked at."""
    epsilon = hops * eps
    promised = f"{at_most(eps)}, {at_most(delta)}"
    near = guesses(
        eps,
        delta,
        "which of two data sets a user holds, their items at most "
        f"{length(r, space)} apart on average",
        "after seeing the release",
    )
    if far_delta >= 1:
        far = f" At {length(d, space)} nothing is promised any more: δ has grown to 1."
    elif d <= r:
        far = f" The distance looked at, {length(d, space)}, is not more: the same holds there."
    else:
        far = (
            f" At {length(d, space)}, {reached(hops)}, ε is {at_most(epsilon)} and δ is "
            f"{at_most(far_delta)}."
        )
    return Guarantee(
        unit="one user's whole data set, of any size",
        replace_one=(
            f"({promised}, {at_least(r)})-discrete d_EM-DP: ({promised}) "
            f"when a user's data are replaced by others, of any size, at distance at most "
            f"{at_least(r)}, if the mechanism on the draws has α ≤ {at_least(alpha)}"
        ),
        add_remove=(
            "items of a user may come and go (sizes are hidden); adding or removing a whole user "
            "is not covered: the number of users is fixed and public, and no data set is empty"
        ),
        trust=(
            "Local: each user's device draws and randomises; others see only its answers. "
            "Central: the curator draws from everybody's data; others see the release."
        ),
        sentence=near + far,
        pairs=((eps, min(delta, 1.0)),),
        qualified=True,
        references=(CHERNOFF, PRINTED, GROUP),
        differences=(
            "Theorem 5.3 bounds how far the draws of two data sets get apart by Bernstein's "
            "inequality, the KL form by Chernoff's, which is never larger and never above 1.",
            "No such bound can be below the binomial's quantile, which 0/1 distances attain: what "
            "lies between it and the KL form is all that a better inequality could gain.",
            "The printed forms of group privacy are no bounds: k hops of (ε, δ) cost "
            "δ(e^(kε) − 1)/(e^ε − 1), which randomised response attains.",
        ),
    )
