"""Shuffle-model pyramid of the paper's Appendix F, as a mechanism of the map.

n₀ users are trusted to take part. Each adds 1/n₀ of the noise, whether they checked in inside the
region or not. If more are on the map, every one of them adds that share.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from explorer.privacy.heatmaps import (
    IntegerCounts,
    Schedule,
    SharedNoise,
    ShufflePlan,
    SparseMap,
    deficient_levels,
    exact_epsilons,
    level_of,
    noisy_sums,
    schedule,
    shuffle_plan,
)
from explorer.privacy.heatmaps.measurement import descend
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import best_chance, percent_sure
from explorer.studies.base.study import Condition, Guarantee, Request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.guarantee import (
    A_DEMONSTRATION,
    level,
    sample_sentence,
    sampling_text,
    sources,
)
from explorer.studies.heatmap.mechanisms import ONE_USER, mechanism_of
from explorer.studies.heatmap.run import Counted, Estimate, Task, reconstructed

MIN_USERS = 19
"""Fewer users send no number of shares that is known to hide each other's."""
MISSING = 0.1
"""Share of the users for which the cost of their absence is stated."""
TRUST = (
    "In the protocol every user adds their noise and splits their numbers themselves, a shuffler "
    "mixes all messages, and the analyzer sees the sums. Here the program sees every check-in and "
    "simulates that."
)


def run(task: Task) -> Estimate:
    """Read the sums of all users' noisy units as the analyzer would, and fit them as the pyramid.

    Users' distributions are whole numbers of total B (cumulative floors); noise is discrete Laplace
    of scale B/ε_i on level i where n₀ users take part.
    """
    request = task.request
    split = _split(task.epsilon, task.counts.level, request["w"], request["variant"])
    agreed = _plan(request, task.counts.level)
    levels = tuple((i, split.epsilon[i]) for i in split.measured)
    if agreed is None:
        uniform = SparseMap.uniform(task.counts.level)
        return Estimate(uniform, levels, 0, notes=(text.TOO_FEW_USERS,))
    counts = _whole_counts(task, agreed.resolution)
    present = max(agreed.users, counts.users)
    plan = (
        agreed
        if present == agreed.users
        else shuffle_plan(
            agreed.epsilons, present, agreed.resolution, agreed.delta, guaranteed=agreed.users
        )
    )
    noise = SharedNoise(plan, present, request.seed)
    noisy = descend(noisy_sums(counts, plan, noise), split.start, split.last, request["w"])
    return reconstructed(task, split, noisy)


def of_settings(request: Request) -> tuple[tuple[str, float], ...]:
    """Return the messages and bits that each of n₀ users sends; empty if they are too few."""
    plan = _plan(request)
    if plan is None:
        return ()
    sent = plan.sent
    return (
        ("messages", float(sent.messages)),
        ("message_bits", float(sent.message_bits)),
        ("megabytes", sent.bits / 8e6),
    )


def _whole_counts(task: Task, resolution: int) -> IntegerCounts:
    visits = task.visits()
    counts: IntegerCounts = task.context.cached(
        ("heatmap whole counts", Counted.of_request(task.request), visits.level, resolution),
        lambda: visits.counts(resolution),
    )
    return counts


@lru_cache(maxsize=16)
def _split(epsilon: float, finest: int, w: int, variant: str) -> Schedule:
    return schedule(epsilon, finest, w, variant)


def _plan(request: Request, finest: int | None = None) -> ShufflePlan | None:
    """Return the plan of the protocol for n₀ users; None if they are too few."""
    finest = level_of(int(request["resolution"])) if finest is None else finest
    return _agreement(
        request["epsilon"],
        finest,
        request["w"],
        request["variant"],
        request["n0"],
        request["B"],
        request["delta"],
    )


@lru_cache(maxsize=16)
def _agreement(
    epsilon: float, finest: int, w: int, variant: str, users: int, resolution: int, delta: float
) -> ShufflePlan | None:
    if users < MIN_USERS:
        return None
    parts = exact_epsilons(_split(epsilon, finest, w, variant), Fraction(epsilon))
    return shuffle_plan(parts, users, resolution, delta)


def guarantee(request: Request) -> Guarantee:
    """Return the guarantee of the protocol: for a user's data, not for participation."""
    mechanism = mechanism_of(request)
    exchanges = sampling_text(request) == "bottom_k"
    epsilon, delta = _replace(request) if exchanges else (request["epsilon"], request["delta"])
    once = level(request)
    return Guarantee(
        unit=ONE_USER,
        add_remove=(
            f"not covered: the number of messages tells how many take part. {once}-DP if a user "
            f"takes part with no check-ins instead: {mechanism.sensitivity}"
        ),
        replace_one=(
            f"{replacement(request)}-DP: a user's check-ins are replaced by any others, which is "
            "twice as far, and δ counts more often"
        ),
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "An attacker who starts at 50 : 50 on whether any one user takes part with their "
            "check-ins or with none is right at most "
            f"{percent_sure(best_chance(epsilon, delta))} % of the time after seeing all messages. "
            f"{A_DEMONSTRATION}"
        ),
        references=sources(request),
    )


def replacement(request: Request) -> str:
    """Return the level at which a user's check-ins may be replaced by any others."""
    epsilon, delta = _replace(request)
    return f"({at_most(epsilon)}, {at_most(delta)})"


def _replace(request: Request) -> tuple[float, float]:
    plan = _plan(request)
    if plan is None:  # nothing is sent
        return 0.0, 0.0
    return 2 * request["epsilon"], plan.replace_one[1]


def conditions(request: Request) -> tuple[Condition, ...]:
    """Return what the protocol rests on beside what all maps do."""
    plan = _plan(request)
    missing = ""
    if plan is not None:
        worse = float(deficient_levels(plan, MISSING).sum())
        missing = f"if 10 % of them don't, ε is {at_most(worse)}"
    return (
        Condition(f"n₀ is at least {MIN_USERS}", plan is not None, "else shares hide too little"),
        Condition(
            "At least n₀ users take part, send as they should and add their noise",
            None,
            missing,
            short="n₀ users take part and add their noise",
        ),
        Condition(
            "The shuffler does not tell who sent which message",
            None,
            "it must be trusted",
            short="The shuffler does not tell who sent what",
        ),
        Condition(
            "Who takes part is public and does not depend on their check-ins",
            None,
            "the number of messages tells how many they are",
            short="Who takes part is public, not from data",
        ),
    )
