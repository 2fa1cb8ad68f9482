"""Shuffled histogram of Balcer and Cheu over the cells of the map, as a mechanism.

Every user has one cell: that of most of their check-ins (of equal ones the first in Z-order), a
public rule that depends on their own check-ins alone. n₀ users are trusted to add their noise bits;
if more are on the map, all of them add theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps import CellCounts, SparseMap
from explorer.privacy.histograms import (
    calibrate,
    estimates_without,
    histogram_delta,
    histogram_messages,
    simultaneous_error,
)
from explorer.privacy.noise.demonstration import IntArray, demonstration_uniform
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import best_chance, percent_sure
from explorer.studies.base.study import Condition, Guarantee, Request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.guarantee import (
    A_DEMONSTRATION,
    level,
    sample_sentence,
    sources,
)
from explorer.studies.heatmap.mechanisms import ONE_USER, mechanism_of
from explorer.studies.heatmap.run import Estimate, Task, of_grid

MISSING = 0.1
"""Share of the users for which the cost of their absence is stated."""
OFTEN = 0.95
TRUST = (
    "In the protocol every user sends their cell and noise bits themselves, a shuffler mixes all "
    "messages, and the analyzer counts them. Here the program sees every check-in and simulates "
    "that."
)


def run(task: Task) -> Estimate:
    """Return the analyzer's map from one cell of every user and random noise bits.

    Cells where nobody is come out empty for certain; all cells' bits are sent all the same.
    """
    request = task.request
    p = _calibrate(request)
    if p is None:
        uniform, levels = SparseMap.uniform(task.counts.level), ((task.counts.level, task.epsilon),)
        return Estimate(uniform, levels, 0, notes=(text.TOO_FEW_USERS,))
    votes = task.votes()
    present = max(int(request["n0"]), votes.users)
    missing = MissingBits(request.seed, votes.level, present, p)
    task.watch.lap("noise")
    grid = histogram_grid(votes, present, p, missing(votes.codes))
    return of_grid(task, grid)


def of_settings(request: Request) -> tuple[tuple[str, float], ...]:
    """Return what each of n₀ users sends on average, and errors to expect; nothing without a map.

    The largest error is an upper bound (Theorem 3.2(iii) with its constants), left out where that
    does not hold.
    """
    p, users, cells = _calibrate(request), int(request["n0"]), int(request["resolution"]) ** 2
    if p is None:
        return ()
    messages, bits = float(histogram_messages(p, cells)), (cells - 1).bit_length()
    worst = simultaneous_error(users, p, 1 - OFTEN)
    bounded = (("worst_error", float(worst.value) * users),) if bool(worst.valid) else ()
    return (
        ("messages", messages),
        ("message_bits", float(bits)),
        ("megabytes", messages * bits / 8e6),
        ("noise_sd", math.sqrt(users * p * (1 - p))),
        ("lost_below", users * (1 - p)),
        *bounded,
    )


def histogram_grid(
    votes: CellCounts, users: int, p: float, missing: IntArray
) -> NDArray[np.float64]:
    """Return the analyzer's estimates of all cells, in shares of the users, [row, column].

    Parameters
    ----------
    votes : CellCounts
        Whole counts of at most so many users.
    users : int
        n, who add a noise bit to every cell with probability p each.
    p : float
    missing : ndarray of int
        For each of the votes' cells how many noise bits were not sent.
    """
    grid = np.zeros((1 << votes.level, 1 << votes.level))
    counts = np.rint(votes.masses).astype(np.int64)
    grid[votes.cells] = estimates_without(counts, missing, users, p)
    return grid


@dataclass(frozen=True, slots=True)
class MissingBits:
    """Demonstration noise: bits that were not sent, Bin(users, 1 − p) for every cell."""

    seed: int
    level: int
    users: int
    p: float

    def __call__(self, codes: IntArray) -> IntArray:
        """Return them for these Morton codes."""
        # The first import takes a second.
        from scipy.stats import binom

        u = demonstration_uniform(self.seed, "shuffled cells", self.level, codes)
        return np.asarray(binom.ppf(u, self.users, 1 - self.p).astype(np.int64))


def _calibrate(request: Request) -> float | None:
    """Return the probability of a noise bit with the least noise; None if n₀ users are too few."""
    return _probability(request["epsilon"], request["delta"], int(request["n0"]))


@lru_cache(maxsize=64)
def _probability(epsilon: float, delta: float, users: int) -> float | None:
    calibration = calibrate(epsilon, delta, users)
    return float(calibration.p) if calibration.feasible else None


def guarantee(request: Request) -> Guarantee:
    """Return the guarantee of the protocol: for a user's cell, not for participation."""
    mechanism = mechanism_of(request)
    guess = percent_sure(best_chance(request["epsilon"], request["delta"]))
    return Guarantee(
        unit=ONE_USER,
        about="in which of two cells one user is",
        add_remove=(
            "not covered: the number of messages tells how many take part, and whoever leaves "
            "takes their noise along"
        ),
        replace_one=(
            f"{level(request)}-DP, computed exactly: {mechanism.sensitivity}; also if a user takes "
            "part with no check-ins instead, when one count falls by 1"
        ),
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "An attacker who starts at 50 : 50 between any two cells of one user is right "
            f"at most {guess} % of the time after seeing all messages. {A_DEMONSTRATION}"
        ),
        references=sources(request),
    )


def replacement(request: Request) -> str:
    """Return the level at which a user's cell may be replaced by any other."""
    return level(request)


def conditions(request: Request) -> tuple[Condition, ...]:
    """Return what the protocol rests on beside what all maps do."""
    p, users = _calibrate(request), int(request["n0"])
    less = ""
    if p is not None:
        present = max(1, math.floor(users * (1 - MISSING)))
        less = f"if 10 % of them don't, δ is {at_most(_delta(request['epsilon'], present, p))}"
    return (
        Condition("n₀ users are enough for ε and δ", p is not None, "by exact δ at this noise"),
        Condition(
            "At least n₀ users take part and add their noise bits",
            None,
            less,
            short="n₀ users take part and add noise bits",
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


@lru_cache(maxsize=64)
def _delta(epsilon: float, users: int, p: float) -> float:
    return float(histogram_delta(epsilon, users, 1 - p))
