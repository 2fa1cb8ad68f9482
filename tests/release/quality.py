"""Releases against the demonstration's mechanisms: mean EMD of 50 of each on made-up people.

``python -m tests.release.quality`` prints all; the suite runs a few.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    CellCounts,
    SparseMap,
    adaptive_budgets,
    adaptive_tree,
    aggregate,
    depth_cap,
    discrete_grid,
    fit,
    fit_adaptive,
    measure,
    measure_levels,
    reconstruct,
    schedule,
    smoothing,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.counts import one_cell_each
from explorer.privacy.heatmaps.evaluation import block_sums, exact_distance
from explorer.privacy.noise.demonstration import DemonstrationNoise
from explorer.release.dry_run import synthetic_records
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.base import RandomBytes, UserRecords
from explorer.release.outputs import SIGMA, heatmap

BOX = ["40.6", "-74.1", "40.8", "-73.8"]
SIDES = (40.6, -74.1, 40.8, -73.8)
W = 20

Map = SparseMap | np.ndarray
Demonstration = Callable[[UserRecords, int, float, int], Map]
"""(people, level, ε, seed) → map."""


def degrees(records: UserRecords) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return records.user_of_rows(), records.lat / 1e7, records.lon / 1e7


def counted(records: UserRecords, level: int) -> CellCounts:
    return aggregate(*degrees(records), None, SIDES, level)


def adaptive(records: UserRecords, level: int, epsilon: float, seed: int) -> Map:
    budgets = adaptive_budgets(epsilon, 2, level)
    tree = adaptive_tree(counted(records, level), budgets, AdaptiveDemonstrationNoise(seed))
    return fit_adaptive(tree, level).smooth()


def pyramid(records: UserRecords, level: int, epsilon: float, seed: int) -> Map:
    plan = schedule(epsilon, level, W)
    noise = DemonstrationNoise(seed, "pyramid")
    return reconstruct(measure(counted(records, level), plan, W, noise)).blocks().normalised()


def least_squares(records: UserRecords, level: int, epsilon: float, seed: int) -> Map:
    plan = schedule(epsilon, level, W, last=depth_cap(epsilon, records.users, 2, level))
    noise = DemonstrationNoise(seed, "pyramid")
    return fit(measure_levels(counted(records, level), plan, noise)).on(level)


def once(records: UserRecords, level: int, epsilon: float, seed: int) -> Map:
    noise = unit_noise_grid(level, DemonstrationNoise(seed, "laplace"))
    votes = one_cell_each(*degrees(records), None, SIDES, level)
    return discrete_grid(votes, epsilon, noise)


PAIRS: dict[str, tuple[dict[str, Any], Demonstration]] = {
    "heatmap.adaptive/1": ({}, adaptive),
    "heatmap.paper/1": ({"kept": W}, pyramid),
    "heatmap.pyramid/1": ({"assumed_users": 200}, least_squares),
    "counts.cells/1": ({}, once),
}


@dataclass(frozen=True)
class Compared:
    """Mean EMD of releases and of demonstrations, with standard errors."""

    release: float
    demonstration: float
    release_error: float
    demonstration_error: float

    @property
    def apart(self) -> float:
        """Their difference in standard errors of it."""
        error = float(np.hypot(self.release_error, self.demonstration_error))
        return abs(self.release - self.demonstration) / error


def compared(
    name: str,
    side: int,
    runs: int,
    epsilon: Fraction,
    random_bytes: RandomBytes,
    users: int = 200,
    first_seed: int = 0,
) -> Compared:
    """Compare a release with its demonstration on the same made-up people."""
    more, demonstration = PAIRS[name]
    mechanism, level = MECHANISMS[name], side.bit_length() - 1
    p = mechanism.parse({"box": BOX, "side": side} | more)
    records = synthetic_records(p, mechanism.reads(p), users, np.random.default_rng(11))
    blurred = smoothing(side, SIGMA)
    truth = block_sums(blurred.exact(counted(records, level).blocks().normalised()), 64)

    def emd(found: np.ndarray) -> float:
        interval = exact_distance(block_sums(found, 64), truth)
        return (interval.low + interval.high) / 2

    ours, theirs = [], []
    for seed in range(first_seed, first_seed + runs):
        output = mechanism.draw(records, p, epsilon, random_bytes)
        ours.append(emd(heatmap(mechanism.shown(output.stored, p, epsilon))))
        theirs.append(emd(blurred.exact(demonstration(records, level, float(epsilon), seed))))
    errors = (float(np.std(one, ddof=1)) / runs**0.5 for one in (ours, theirs))
    return Compared(float(np.mean(ours)), float(np.mean(theirs)), *errors)


if __name__ == "__main__":
    for name in PAIRS:
        for epsilon in (Fraction(1, 2), Fraction(1), Fraction(5)):
            seed = int.from_bytes(os.urandom(6))  # those from 0 on happen to be worse than most
            found = compared(name, 256, int(sys.argv[1]), epsilon, os.urandom, first_seed=seed)
            print(
                f"{name:20} ε={float(epsilon):<4} release {found.release:.4f} ± "
                f"{found.release_error:.4f}, demonstration {found.demonstration:.4f} ± "
                f"{found.demonstration_error:.4f}: {found.apart:.2f} s.e. apart"
            )
