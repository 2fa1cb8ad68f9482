"""What the theory of heatmaps says in words: sources, names of curves, conditions, guarantee."""

import math

from explorer.privacy.core.bound import Reference
from explorer.privacy.core.papers import HEATMAPS as PAPER
from explorer.privacy.heatmaps.budget_schedule import SCHEDULE_REFERENCE, Schedule
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee

THEOREM_31 = Reference(
    PAPER,
    "Theorem 3.1",
    "its proof's constants, at most w cells (errata heat-10, heat-11, heat-12, heat-21)",
)
SCHEDULES = SCHEDULE_REFERENCE
THEOREM_D1 = Reference(PAPER, "Theorem D.1", "ℓ* rounded, from n₀: errata heat-16")
THEOREM_C1 = Reference(PAPER, "Theorem C.1", "constants worked out, errata heat-15")
COROLLARY_D2 = Reference(PAPER, "Corollary D.2", "Theorem C.1 worked out, at the best sparsity")
ORDER = Reference(PAPER, "Theorem C.1", "order only, .004 √k/(εn): errata heat-15")
LEMMA_B3 = Reference(PAPER, "Lemma B.3")
LEMMA_B4 = Reference(PAPER, "Lemma B.4, Corollary B.5")
HUBER = Reference(
    "Bretagnolle and Huber 1979", "TV ≤ √(1 − e^(−KL))", "with KL from Lemma B.3 of the paper"
)
SHUFFLED = Reference(
    PAPER, "Appendix F", "worst-case shares, q ≥ Bn + 2τ + 1: errata heat-1 to heat-5"
)
PRINTED = Reference(PAPER, "Appendix F, as printed", "an average-case count of shares; q = Bn")
MISSING = Reference(
    PAPER, "Appendix F", "difference of two Pólya shares, scale B/ε: errata heat-1, heat-2"
)
REFERENCES = (
    THEOREM_31,
    THEOREM_D1,
    THEOREM_C1,
    COROLLARY_D2,
    SCHEDULES,
    LEMMA_B3,
    LEMMA_B4,
    HUBER,
    SHUFFLED,
    PRINTED,
)

LABELS = {
    "theory": "Theorem 3.1, its schedule",
    "experiments": "Theorem 3.1, schedule of the experiments",
    "capped": "pyramid with capped depth",
    "dense": "Theorem D.1, dense aggregation",
    "lower": "Theorem C.1, maps of k cells",
    "lower_dense": "Corollary D.2, maps of any sparsity",
    "order": "order of Theorem C.1 as printed",
    "kl": "Lemma B.3, EMD/(2σ²)",
    "similarity": "Corollary B.5, 1 − √EMD/(2σ)",
    "huber": "Lemma B.3 with Bretagnolle–Huber",
    "corrected": "worst-case shares (corrected)",
    "printed": "shares as printed",
    "worst": "user spread over the map",
    "one_place": "user in one place",
    "full": "nothing missing",
    "least-squares": "depth cap + least squares",
}
NOTES = {
    "theory": "at most 2, the diameter: where it is 2 it says nothing",
    "lower": "every ε-DP algorithm errs at least so much, in expectation, on some map of k cells",
    "lower_dense": "every ε-DP algorithm errs at least so much, in expectation, on some map; on "
    "maps of few cells the error may be smaller",
    "order": "not proved by the printed packing, which needs a smaller constant; where it lies "
    "below Theorem C.1 it holds nevertheless",
    "printed": "too few shares for the worst case: not to be used",
    "worst": "each level at its own worst case",
}
TOO_MANY = "a map of Δ × Δ cells has fewer than k cells"
ORDER_FAILS = "the theorem asks for k ≥ ε and n ≥ k/ε"
FEW_USERS = "nothing is known of the shares of fewer than 19 users"
TWO_USERS = "the printed count divides by ln n, which needs two users"
NOT_MEASURED = "there is no such level"


def error_conditions(
    k: float, cells: float, uppers: dict[str, float], n: float, epsilon: float
) -> tuple[Condition, ...]:
    """Return what the error bounds need, and whether they say anything."""
    least = min(uppers.values(), default=2.0)
    full = (k - 1) / epsilon
    enough = f"{math.ceil(full):,}" if full >= 1000 else at_most(full)
    return (
        Condition(
            "The map has room for k cells: k ≤ Δ²", k <= cells, f"k = {k:,.0f}, Δ² = {cells:,.0f}"
        ),
        Condition(
            "The best upper bound says more than the diameter 2",
            least < 2,
            f"it is {at_most(least)}",
            short="The upper bound says something (below 2)",
        ),
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


def shuffle_conditions(n: float, users_known: bool, missing: float = 0.0) -> tuple[Condition, ...]:
    """Return what the shuffle protocol needs; `missing` is the share of nₘᵢₙ that adds no noise."""
    left_out = f"{nearest(missing)} of nₘᵢₙ add none: the guarantee here is what is left of it"
    return (
        Condition("At least 19 users send their shares", users_known, f"n = {n:,.0f}"),
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


CAPPED_DIFFERS = (
    "A capped depth saves the noise of levels too fine to be seen through it, and pays with cells "
    "that are flat below."
)


def schedules_differ(theory: Schedule, experiments: Schedule) -> str:
    """Return why the bars and the errors of the two printed schedules differ, with their ε."""
    q, deepest = experiments.start, experiments.last
    said = (
        "The two schedules of the pyramid: Theorem 3.1 measures all levels, each with 0.8 times "
        "the ε of its neighbour nearer to q; the experiments measure none above q and give every "
        "level 1/√2 of the one before. "
    )
    said += (
        f"Here level q = {q} has ε {at_most(theory.epsilon[q])} in the theorem, "
        f"{at_most(experiments.epsilon[q])} in the experiments"
    )
    if deepest > q:
        said += (
            f"; the finest, {deepest}, has {at_most(theory.epsilon[deepest])} and "
            f"{at_most(experiments.epsilon[deepest])}"
        )
    return f"{said}."


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
    """Return what lies between upper and lower bounds, and between them and the simulation."""
    said = (
        "Upper and lower bounds have the same order for sparse maps; what lies between them are "
        "the constants of both proofs. "
    )
    if not simulated:
        return f"{said}The algorithms err far less than their bounds: switch the simulation on."
    return (
        f"{said}The dots are mean errors on random maps of k cells. One below a lower bound "
        "contradicts nothing: Theorem C.1 speaks of the worst map of k cells, Corollary D.2 of the "
        "worst map of any number of cells."
    )


def central_guarantee(epsilon: float, differences: tuple[str, ...]) -> Guarantee:
    """Return what any of the central mechanisms promises."""
    return Guarantee(
        unit="one user: all their check-ins inside region and time range",
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
    """Return what holds of privacy where only distances are compared."""
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
    """Return what the shuffle protocol promises, with or without all of the noise."""
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
