"""What is said beside a heatmap: guarantee, conditions, stamps and notes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from explorer.privacy.bounds import Reference, Role
from explorer.privacy.heatmaps.schedule import PAPER, SCHEDULE_REFERENCE
from explorer.studies.heatmap_parameters import ASSUMING, GAUSSIAN, PYRAMIDS, TOP, WHOLE
from explorer.studies.model import Condition, Guarantee, Request
from explorer.studies.wording import at_most

ALGORITHM = Reference(
    PAPER, "Algorithm 1 and Theorem 3.1", "lazy noise, exact tree solver, fixed ties"
)
CAPPED = Reference(
    PAPER,
    "Algorithm 1 down to level L",
    "not in the paper: L = ½ log₂(ε n₀) as in its Appendix D, flat cells below",
)
FITTED = Reference(
    "Hay, Rastogi, Miklau and Suciu 2010",
    "Theorem 3",
    "four children, a variance a level; then top-down projections",
)
DENSE = Reference(PAPER, "Appendix D, Theorem D.1", "ℓ* rounded, from n₀ and not from n: errata 16")
BASELINES = Reference(PAPER, "Section 4, Baselines")
GAUSSIAN_NOISE = Reference(
    "Balle and Wang 2018", "Theorem 8", "least σ; the paper leaves it out: errata 18"
)
DISCRETE_NOISE = Reference(
    "Ghosh, Roughgarden and Sundararajan 2009", "geometric mechanism", "errata 35"
)
REFERENCES = (
    ALGORITHM, SCHEDULE_REFERENCE, CAPPED, FITTED, DENSE, BASELINES, GAUSSIAN_NOISE, DISCRETE_NOISE,
)  # fmt: skip
SOURCES = {
    "pyramid": (ALGORITHM,),
    "capped": (CAPPED,),
    "least-squares": (CAPPED, FITTED),
    "dense": (DENSE,),
    "laplace": (BASELINES,),
    "top": (BASELINES,),
    "gaussian": (GAUSSIAN_NOISE,),
    "gaussian-top": (GAUSSIAN_NOISE, BASELINES),
    "integers": (DISCRETE_NOISE,),
    "integers-top": (DISCRETE_NOISE, BASELINES),
}
"""Where each mechanism comes from."""

NOT_ACCOUNTED = "not private: computed from real data without accounting"
SYNTHETIC = "synthetic data"

ALL_COUNTS_NEGATIVE = (
    "Every noisy count of the start level is 0 or less, so the algorithm has no answer; the "
    "uniform map stands in for it."
)
TOTAL_NEGATIVE = (
    "The noisy counts add up to 0 or less, so nothing is left of the map; the uniform one stands "
    "in for it."
)
ONE_CELL_EACH = (
    "Every user counts once, in the cell where they checked in most often (of equal ones the first "
    "in Z-order). The true map spreads each user's check-ins: part of the difference is not noise."
)
ALL_CELLS_EMPTY = "No noisy cell is above 0; the uniform map stands in for the empty one."
NO_TRUTH = "There is no check-in inside region and time range to compare with."
INTERVAL_ONLY = "Above Δ = 256 the distance is left as a certified interval."
METRICS_ON = "Metrics compare the two heatmaps after blurring, each with sum 1."


def stamp(synthetic: bool, curator_only: bool) -> str:
    """Return what must stand on a map computed from the loaded check-ins."""
    if synthetic:
        return SYNTHETIC
    who = "curator only" if curator_only else "demonstration noise"
    return f"{who} — {NOT_ACCOUNTED}"


def pane_label(request: Request) -> str:
    """Return the title of the private pane."""
    name = {
        "pyramid": "pyramid",
        "capped": "depth cap + LP",
        "least-squares": "depth cap + least squares",
        "dense": "dense aggregation",
        "laplace": "Laplace",
        "top": "Laplace, top cells",
        "gaussian": "Gaussian",
        "gaussian-top": "Gaussian, top cells",
        "integers": "discrete Laplace",
        "integers-top": "discrete Laplace, top cells",
    }[request["mechanism"]]
    fails = f", δ = {at_most(request['delta'])}" if request["mechanism"] in GAUSSIAN else ""
    return f"Private heatmap: {name}, ε = {at_most(request['epsilon'])}{fails}"


def distance_role(exact: bool) -> Role | None:
    """Return the role of a distance: exact, or none while only its interval is known."""
    return Role.EXACT if exact else None


def guarantee(request: Request) -> Guarantee:
    """Return what the mechanism promises, under either meaning of neighbouring."""
    epsilon: float = request["epsilon"]
    mechanism: str = request["mechanism"]
    if mechanism in PYRAMIDS:
        how = "each level's counts change by at most 1 in total and the levels' ε add up to ε"
    elif mechanism == "dense":
        how = "the counts of one level, fixed beforehand, change by at most 1 in total"
    elif mechanism in WHOLE:
        how = "one count changes by 1"
    else:
        how = "the counts of all cells change by at most 1 in total"
    if mechanism in TOP:
        how += ", and choosing the largest looks at noisy counts only"
    if mechanism in GAUSSIAN:
        return _failing(request, how)
    most = 1 / (1 + math.exp(-epsilon))
    return Guarantee(
        unit=UNIT,
        add_remove=f"{at_most(epsilon)}-DP for the idealised {_ideal(mechanism)} mechanism: {how}",
        replace_one=f"{at_most(2 * epsilon)}-DP (2ε): one user leaves and another comes",
        trust=TRUST,
        sentence=(
            "Whether any one user is in the data or not, the odds of every possible map differ "
            f"by a factor of at most {at_most(math.exp(epsilon))} (e^ε): who thought it 50:50 that "
            f"the user is in it ends up at most {_percent(most)} sure. {A_DEMONSTRATION}"
        ),
        references=SOURCES[mechanism],
    )


UNIT = "one user: all their check-ins inside region and time range"
TRUST = "The curator sees every check-in and adds the noise; everyone else sees the map."
A_DEMONSTRATION = (
    "This picture itself is a demonstration: its noise comes from a seed, in floating point."
)


def _ideal(mechanism: str) -> str:
    return "whole-number" if mechanism in WHOLE else "real-valued"


def _failing(request: Request, how: str) -> Guarantee:
    """Return what Gaussian noise promises but for a probability of δ."""
    epsilon, delta = request["epsilon"], request["delta"]
    # (e^ε + δ)/(1 + e^ε) without overflow.
    most = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return Guarantee(
        unit=UNIT,
        add_remove=(
            f"({at_most(epsilon)}, {at_most(delta)})-DP for the idealised real-valued mechanism: "
            f"{how}"
        ),
        replace_one=(
            f"{_replacement(request)}-DP: one user leaves and another comes, which moves the "
            "counts by at most √2 in ℓ2 instead of 1"
        ),
        trust=TRUST,
        sentence=(
            "Who thought it 50:50 that any one user is in the data guesses right at most "
            f"{_percent(most)} of the time after seeing the map. {A_DEMONSTRATION}"
        ),
        references=SOURCES[request["mechanism"]],
    )


@lru_cache(maxsize=16)
def _wider(epsilon: float, delta: float) -> float:
    """Return the ε that Gaussian noise keeps for replacing a user: it is said in three places."""
    from explorer.privacy.heatmaps import gaussian_epsilon_of_replacement

    return gaussian_epsilon_of_replacement(epsilon, delta)


def _replacement(request: Request) -> str:
    """Return the level at which one user may be replaced by another: ``2ε``, ``(1.455, 1e-6)``."""
    if request["mechanism"] not in GAUSSIAN:
        return "2ε"
    epsilon, delta = request["epsilon"], request["delta"]
    return f"({at_most(_wider(epsilon, delta))}, {at_most(delta)})"


def _percent(share: float) -> str:
    """Return a share below 1 as a percentage that is never rounded to 100 % or below itself."""
    for digits in (0, 1, 2, 4, 6, 8, 10):
        rounded = math.ceil(share * 100 * 10**digits) / 10**digits
        if rounded < 100:
            return f"{rounded:.{digits}f} %"
    return "100 %"


def conditions(request: Request) -> tuple[Condition, ...]:
    """Return what must hold for the guarantee."""
    mechanism: str = request["mechanism"]
    named = ["Region", "time range", "Δ"]
    if mechanism in PYRAMIDS:
        named.append("w")
    if mechanism in ASSUMING:
        named.append("n₀")
    if mechanism in TOP:
        named.append("t")
    fixed = f"{', '.join(named)} and σ were chosen without looking at the data"
    weighs = (
        Condition("Each user counts once, in one cell", True, "sensitivity 1")
        if mechanism in WHOLE
        else Condition(
            "Each user weighs at most 1: their check-ins inside region and time range share it",
            True,
            "sensitivity 1",
        )
    )
    failing = mechanism in GAUSSIAN
    why_n0 = "; n₀ taken from the data's own count gives no privacy at all"
    return (
        weighs,
        Condition(
            fixed,
            None,
            "picking the busiest cells is not private" + why_n0 * (mechanism in ASSUMING),
        ),
        Condition(
            "The number of users is not published",
            None,
            f"if it is, only replace-one is meaningful, at {_replacement(request)}",
        ),
        Condition(
            "Nothing else is released from the same check-ins",
            None,
            "every new ε is a new release, and their ε add up" + ", as their δ do" * failing,
        ),
        Condition(
            "The noise is secret, random and exact",
            False,
            "demonstration noise: seeded and in floating point; never release it",
        ),
    )


def _users(number: int) -> str:
    return "user was" if number == 1 else "users were"


def notes(request: Request, points: Any, asked: int | None) -> tuple[str, ...]:
    """Return what else a reader must know."""
    said = [METRICS_ON]
    if asked is not None and points.users_in_region < asked:
        said.append(
            f"{asked} {_users(asked)} asked for, but only {points.users_in_region} have a check-in "
            "inside region and time range: all of them are used."
        )
    elif asked is not None and points.users_in_region > asked:
        said.append(
            f"{asked} of {points.users_in_region} users {'was' if asked == 1 else 'were'} sampled. "
            "The guarantee is about the sampled; with a fixed number, one more user in the file "
            "stands in place of another in the map, which is replace-one, at "
            f"{_replacement(request)}."
        )
    if request["mechanism"] in ("pyramid", "capped") and request["backend"] == "cvxpy":
        said.append(
            "The reference solver returns another of the many minimisers than the tree solver, "
            "usually a worse map; compare the misfit, not the picture."
        )
    return tuple(said)
