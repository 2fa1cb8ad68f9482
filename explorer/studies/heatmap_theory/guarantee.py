"""Conditions, guarantees and explanations of the theory of heatmaps."""

import math

from explorer.privacy.heatmaps import Schedule
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee
from explorer.studies.heatmap_theory.theory import (
    LEMMA_B3,
    LEMMA_B4,
    MIN_USERS,
    SHUFFLED,
    THEOREM_31,
    THEOREM_D1,
)


def error_conditions(
    k: float, cells: float, uppers: dict[str, float], n: float, epsilon: float
) -> tuple[Condition, ...]:
    """Return the premises of the error bounds, and whether they are below the diameter."""
    full = (k - 1) / epsilon
    enough = f"{math.ceil(full):,}" if full >= 1000 else at_most(full)
    return (
        *_informative(k, cells, min(uppers.values(), default=2.0)),
        Condition(
            "There are users enough for the lower bound to be of full size: n ≥ (k − 1)/ε",
            n * epsilon >= k - 1,
            f"n = {n:,.0f}, (k − 1)/ε = {enough}",
            short="Users enough for the full lower bound",
        ),
        Condition(
            "All users together are in at most k cells",
            None,
            "other maps err by a multiple of their distance from the nearest such map in addition",
            short="At most k cells hold all users",
        ),
        NOT_FROM_DATA,
    )


def centres_conditions(k: float, cells: float, least: float, lam: float) -> tuple[Condition, ...]:
    """Return the premises of Corollary A.2, of which `least` is the bound."""
    if lam:
        lost = Condition(
            f"The private map loses at most a share λ = {nearest(lam)} of the cost",
            None,
            "it falls as k grows over the number of centres; the constant is not known",
            short="Private map loses at most λ of the cost",
        )
    else:
        lost = Condition(
            "All users together are in at most k cells",
            None,
            "elsewhere λ is above 0",
            short="At most k cells hold all users",
        )
    return (
        *_informative(k, cells, least),
        lost,
        Condition(
            "The centres cost at most f times the best ones on the private map",
            None,
            "the map's own search is a heuristic: to its end it has f ≤ 10",
            short="Centres within f of the best on the map",
        ),
        NOT_FROM_DATA,
    )


def _informative(k: float, cells: float, least: float) -> tuple[Condition, ...]:
    """Return that k cells fit into the map and that the upper bound says something."""
    return (
        Condition(
            "k does not exceed the number of cells, k ≤ Δ²",
            k <= cells,
            f"k = {k:,.0f}, Δ² = {cells:,.0f}",
            short="k does not exceed the number of cells",
        ),
        Condition(
            "The best upper bound is below the diameter 2",
            least < 2,
            f"it is {at_most(least)}",
            short="Upper bound is informative (< 2)",
        ),
    )


NOT_FROM_DATA = Condition(
    "n₀, w, Δ and the region were fixed without looking at the data",
    None,
    "a depth from the data's own count gives no privacy",
    short="n₀, w, Δ, region set without the data",
)
BLURRED = Condition(
    "The heatmaps are drawn by the filter without borders (Lemma B.3 is proved for it)",
    None,
    "for ours it is checked for Δ ≤ 512 and σ from .005 to .1",
    short="Heatmaps drawn without borders (B.3)",
)


def shuffle_conditions(n: float, missing: float = 0.0) -> tuple[Condition, ...]:
    """Return the premises of the shuffle protocol.

    `missing` is the share of nₘᵢₙ that adds no noise.
    """
    left_out = f"{nearest(missing)} of nₘᵢₙ add none: the guarantee here is what is left of it"
    return (
        Condition("At least 19 users send their shares", n >= MIN_USERS, f"n = {n:,.0f}"),
        Condition(
            "As many users as promised add their noise and send all shares",
            False if missing else None,
            left_out if missing else "see the level when noise is missing",
            short="Users add noise and send all shares",
        ),
        Condition(
            "The shuffler hides who sent what, and the number of users is public",
            None,
            "adding or removing a user would show in the number of messages",
            short="Shuffler hides senders; n is public",
        ),
    )


CENTRES_DIFFER = (
    "The centres are found on the private map, so that they cost no further ε. The noise costs κ "
    "twice: once where the best centres look worse on the private map than they are, once where "
    "the ones found look better; f multiplies the first."
)
CAPPED_DIFFERS = (
    "A capped depth saves the noise of levels too fine to be seen through it, and pays with cells "
    "that are flat below."
)


def schedules_differ(theory: Schedule, experiments: Schedule) -> str:
    """Return why the bars and the errors of the two printed schedules differ, with their ε."""
    q, deepest = experiments.start, experiments.last
    text = (
        "The two schedules of the pyramid: Theorem 3.1 measures all levels, each with 0.8 times "
        "the ε of its neighbour nearer to q; the experiments measure none above q and give every "
        "level 1/√2 of the one before. "
    )
    text += (
        f"Here level q = {q} has ε {at_most(theory.epsilon[q])} in the theorem, "
        f"{at_most(experiments.epsilon[q])} in the experiments"
    )
    if deepest > q:
        text += (
            f"; the finest, {deepest}, has {at_most(theory.epsilon[deepest])} and "
            f"{at_most(experiments.epsilon[deepest])}"
        )
    return f"{text}."


def dense_differs(epsilon: float, level: int) -> str:
    """Return how the error of dense aggregation falls beside that of the pyramid."""
    # ℓ* = ½ log₂(ε n₀) is rounded to ℓ from ℓ − ½ on.
    enough = 2.0 ** (2 * level - 1) / epsilon
    return (
        "Dense aggregation measures one level ℓ* and needs no sparsity. As long as ℓ* is coarser "
        "than the map its error falls like log(εn)/√(εn); once it is the map's own level, here "
        f"from n₀ ≈ {enough:,.0f} users on, like 1/(εn), as that of the pyramid does without a "
        "cap: √k/(εn)."
    )


def bounds_differ(simulated: bool) -> str:
    """Return the gap between upper and lower bounds, and between them and the simulation."""
    text = (
        "Upper and lower bounds have the same order for sparse maps; what lies between them are "
        "the constants of both proofs. "
    )
    if not simulated:
        return f"{text}The algorithms err far less than their bounds: switch the simulation on."
    return (
        f"{text}The dots are mean errors on random maps of k cells. One below a lower bound "
        "contradicts nothing: Theorem C.1 speaks of the worst map of k cells, Corollary D.2 of the "
        "worst map of any number of cells."
    )


def central_guarantee(epsilon: float, differences: tuple[str, ...]) -> Guarantee:
    """Return the guarantee of the central mechanisms."""
    return Guarantee(
        unit="one user: all their check-ins inside region and time range",
        about="whether any one user is in the data",
        add_remove=f"{at_most(epsilon)}-DP: the levels' ε add up to ε, sensitivity 1 on each",
        replace_one=f"{at_most(2 * epsilon)}-DP (2ε): one user leaves and another comes",
        trust="The curator sees every check-in and adds the noise; everyone else sees the map.",
        sentence=guesses(
            epsilon, 0.0, "whether any one user is in the data", "after seeing the map"
        ),
        pairs=((epsilon, 0.0),),
        references=(THEOREM_31, THEOREM_D1),
        differences=differences,
    )


def metric_guarantee() -> Guarantee:
    """Return the guarantee where only distances of maps are compared: none."""
    return Guarantee(
        unit="none: this compares two maps",
        add_remove="not covered: distances of maps say how good a map is, not how private",
        replace_one="not covered: distances of maps say how good a map is, not how private",
        trust="Whoever computes a distance from the true map is the curator.",
        sentence=(
            "Blurring a private map costs no privacy; how near it is to the true one is known to "
            "the curator alone."
        ),
        references=(LEMMA_B3, LEMMA_B4),
    )


SHARES_DIFFER = (
    "The printed number of shares is an average-case count: exact enumeration of the shuffled "
    "shares exceeds it ninefold at n = 2000, r = 3. The corrected one holds for every user."
)
SPREAD_DIFFERS = (
    "With all noise every user has the same ε. With less of it the noise is 0 more often than it "
    "should be, so that even a small change of a count is noticed: a user spread over many cells "
    "makes many of them, one in a single place makes one a level."
)


def shuffle_guarantee(epsilon: float, delta: float | None, changed: bool) -> Guarantee:
    """Return the guarantee of the shuffle protocol, with or without all of the noise."""
    double = at_most(2 * epsilon)
    if delta is None:
        promised, twice = at_most(epsilon), f"twice the level, 2ε = {double}"
    else:
        promised = f"({at_most(epsilon)}, {at_most(delta)})"
        grown = min(delta * (1 + math.exp(epsilon)), 1.0)
        twice = f"twice the level, (2ε, (1 + e^ε)δ) = ({double}, {at_most(grown)})"
    part = " with the noise that is left, δ of the shares aside" if changed else ""
    sentence = guesses(
        epsilon,
        delta or 0.0,
        "whether any one user's messages carry data or nothing",
        "after seeing all messages",
    )
    if delta is None and not sentence.startswith("No protection"):
        sentence += " The shares' own δ adds at most half of itself to that chance."
    return Guarantee(
        unit="one user: all their check-ins inside region and time range",
        about="whether any one user is in the data",
        add_remove=(
            f"not covered: the number of messages reveals n; {promised}-DP when a user's data are "
            f"replaced by nothing{part}"
        ),
        replace_one=(
            f"{twice}: data and other data are twice as far apart as data and nothing; for ε send "
            "noise of scale 2B/εᵢ"
        ),
        trust=(
            "Users trust the shuffler to hide who sent what, and enough other users to add their "
            "share of the noise; the analyzer sees the shuffled messages only."
        ),
        sentence=sentence,
        references=(SHUFFLED,),
        differences=(SPREAD_DIFFERS if changed else SHARES_DIFFER,),
    )
