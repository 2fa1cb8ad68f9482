"""What is said beside a heatmap: guarantee, stamps and notes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import HEATMAPS as PAPER
from explorer.privacy.heatmaps.pyramid.budget_schedule import SCHEDULE_REFERENCE
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Guarantee, Request
from explorer.studies.heatmap.parameters import GAUSSIAN, PYRAMIDS, TOP, WHOLE

if TYPE_CHECKING:
    from explorer.privacy.heatmaps.sampling import Adjacency, Scheme

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
SAMPLED = Reference(
    "Balle, Barthe and Gaboardi 2018",
    "Theorems 8 and 9 without a secret",
    "users sampled by a keyed hash of their ids, whose key is public",
)
REFERENCES = (
    ALGORITHM, SCHEDULE_REFERENCE, CAPPED, FITTED, DENSE, BASELINES, GAUSSIAN_NOISE, DISCRETE_NOISE,
    SAMPLED,
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
    scheme = sampled(request)
    coming, exchanged = (sampling_level(request, kind) for kind in ("add_remove", "replace"))
    most = 1 / (1 + math.exp(-coming))
    ideal = f"for the idealised {_ideal(mechanism)} mechanism"
    if scheme == "bottom_k":
        add_remove = (
            f"{at_most(coming)}-DP (2ε) {ideal}: {EXCHANGED}, and for each of the two {how}"
        )
        replace_one = f"{at_most(exchanged)}-DP (2ε): {EXCHANGED}"
    else:
        add_remove = f"{at_most(coming)}-DP {ideal}: {how}"
        replace_one = f"{at_most(exchanged)}-DP (2ε): one user leaves and another comes"
    return Guarantee(
        unit=UNIT,
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "Whether any one user is in the data or not, the odds of every possible map differ by "
            f"a factor of at most {at_most(math.exp(coming))} "
            f"({'e^2ε' if scheme == 'bottom_k' else 'e^ε'}): who thought it 50:50 that the user is "
            f"in it ends up at most {_percent(most)} sure. {A_DEMONSTRATION}"
        ),
        references=_sources(request),
    )


EXCHANGED = "at most one of the sampled users is exchanged for another"


def sampled(request: Request) -> Scheme:
    """Return how users are sampled."""
    selection = request.selection
    if selection is None or not selection.sampled:
        return "all"
    return "poisson" if selection.users is None else "bottom_k"


def sampling_level(request: Request, adjacency: Adjacency) -> float:
    """Return the ε of pure mechanisms towards all users of the file."""
    from explorer.privacy.heatmaps import sampling_guarantee

    found = sampling_guarantee(request["epsilon"], sampled(request), "public", adjacency)
    return float(found.value)


def sample_sentence(request: Request) -> str:
    """Return what a sample of users costs, with a space behind; empty without one."""
    scheme, selection = sampled(request), request.selection
    once = _level(request) if request["mechanism"] in GAUSSIAN else "ε"
    twice = replacement(request)
    if scheme == "bottom_k" and selection is not None and selection.users is not None:
        users = "user" if selection.users == 1 else "users"
        return (
            f"From at most {selection.users:,} {users} picked by a public rule. Adding, removing "
            f"or replacing one user costs at most {twice}; users not picked are not used. "
        )
    if scheme == "poisson":
        return (
            "Each user is in or out by a public rule; adding or removing one costs "
            f"{once}, replacing {twice}. "
        )
    return ""


def _sources(request: Request) -> tuple[Reference, ...]:
    found = SOURCES[request["mechanism"]]
    return found if sampled(request) == "all" else (*found, SAMPLED)


UNIT = "one user: all their check-ins inside region and time range"
TRUST = "The curator sees every check-in and adds the noise; everyone else sees the map."
A_DEMONSTRATION = (
    "This picture itself is a demonstration: its noise comes from a seed, in floating point."
)


def _ideal(mechanism: str) -> str:
    return "whole-number" if mechanism in WHOLE else "real-valued"


def _failing(request: Request, how: str) -> Guarantee:
    """Return what Gaussian noise promises but for a probability of δ."""
    delta: float = request["delta"]
    exchanges = sampled(request) == "bottom_k"
    epsilon = _wider(request["epsilon"], delta) if exchanges else request["epsilon"]
    # (e^ε + δ)/(1 + e^ε) without overflow.
    most = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    ideal = "for the idealised real-valued mechanism"
    moves = "which moves the counts by at most √2 in ℓ2 instead of 1"
    if exchanges:
        add_remove = f"{replacement(request)}-DP {ideal}: {EXCHANGED}, {moves}"
        replace_one = f"{replacement(request)}-DP: {EXCHANGED}, {moves}"
    else:
        add_remove = f"{_level(request)}-DP {ideal}: {how}"
        replace_one = f"{replacement(request)}-DP: one user leaves and another comes, {moves}"
    return Guarantee(
        unit=UNIT,
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "Who thought it 50:50 that any one user is in the data guesses right at most "
            f"{_percent(most)} of the time after seeing the map. {A_DEMONSTRATION}"
        ),
        references=_sources(request),
    )


def _level(request: Request) -> str:
    return f"({at_most(request['epsilon'])}, {at_most(request['delta'])})"


@lru_cache(maxsize=16)
def _wider(epsilon: float, delta: float) -> float:
    """Return the ε that Gaussian noise keeps for replacing a user: it is said in three places."""
    from explorer.privacy.heatmaps import gaussian_epsilon_of_replacement

    return gaussian_epsilon_of_replacement(epsilon, delta)


def replacement(request: Request) -> str:
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


def notes(request: Request) -> tuple[str, ...]:
    """Return what else a reader must know; nothing of it depends on the data."""
    if request["mechanism"] in WHOLE:
        return (ONE_CELL_EACH,)
    if request["mechanism"] in ("pyramid", "capped") and request["backend"] == "cvxpy":
        return (
            "The reference solver returns another of the many minimisers than the tree solver, "
            "usually a worse map; compare the misfit, not the picture.",
        )
    return ()


def curator_notes(request: Request, points: Any) -> tuple[str, ...]:
    """Return what only the curator may know: it counts users."""
    said, selection = [METRICS_ON], request.selection
    there, used = points.users_in_region, points.users_used
    if selection is None or not selection.sampled:
        return tuple(said)
    asked, seed = selection.users, selection.data_seed
    if asked is not None and there < asked:
        said.append(
            f"{asked:,} {_users(asked)} asked for, but only {there:,} have a check-in inside "
            "region and time range: all of them are used."
        )
    elif asked is None:
        said.append(
            f"{used:,} of {there:,} users are in the sample: those whose keyed hash (seed {seed}) "
            f"lies below {selection.share:g} of all hashes."
        )
    elif asked < there:
        said.append(
            f"{used:,} of {there:,} users {'was' if used == 1 else 'were'} sampled: those with the "
            f"smallest keyed hashes of their ids (seed {seed})."
        )
    return tuple(said)


def _users(number: int) -> str:
    return "user was" if number == 1 else "users were"
