"""Heatmaps as they are released: audits of whole-number releases and of the shuffle protocol."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.audit import epsilon_lower_bound
from explorer.privacy.heatmaps import (
    exact_epsilons,
    integer_counts,
    release_measurement,
    run_protocol,
    schedule,
    shuffle_plan,
)
from explorer.privacy.heatmaps.shuffle_parameters import deficient_epsilon
from explorer.privacy.heatmaps.shuffle_protocol import simulate
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.noise.exact import discrete_laplace
from tests.privacy.sampler_audits import split_audit

pytestmark = pytest.mark.full


def test_audit_of_a_whole_number_release():
    """With and without a user of one cell; exceeds ε with probability at most 1e-6."""
    epsilon, resolution, runs = Fraction(1), 4, 1600
    plan = schedule(1.0, 1, 1)
    parts = exact_epsilons(plan, epsilon)
    assert sum(parts) <= epsilon
    bits = SeededBits(np.random.default_rng(1))
    all_users = np.array([0, 1, 1, 2]), np.array([2, 0, 3, 2])
    counts = [
        integer_counts(user, cell, np.ones(len(user), int), 1, resolution)
        for user, cell in (all_users, (all_users[0][:3], all_users[1][:3]))
    ]
    assert counts[0].users == counts[1].users + 1

    def run(side: int, half: int) -> np.ndarray:
        coded = []
        for _ in range(runs):
            m = release_measurement(counts[side], plan, parts, 1, discrete_laplace, bits)
            # The user's cell of both levels, each in ten steps.
            top, leaf = m.values[0][0], m.values[1][2]
            coded.append(10 * int(np.clip(2 * top - 1, 0, 9)) + int(np.clip(2 * leaf + 1, 0, 9)))
        return np.array(coded)

    found = split_audit(run, 100, runs)
    assert 0.2 < found <= 1.0


def test_audit_of_the_shuffle_protocol():
    """A user's data against nothing, the sums of the three steps being seen."""
    parts, resolution, runs = (Fraction(1),), 2, 1100
    plan = shuffle_plan(parts, 19, resolution, 1e-6)
    bits = SeededBits(np.random.default_rng(2))
    data = [np.zeros((19, 1), np.int64), np.zeros((19, 1), np.int64)]
    data[1][0] = resolution

    def run(side: int, half: int) -> np.ndarray:
        sums = [int(run_protocol(data[side], plan, bits).counts[0][0]) for _ in range(runs)]
        return np.clip(np.array(sums) + 10, 0, 24)

    found = split_audit(run, 25, runs, plan.delta)
    assert 0.5 < found <= 1.0


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_audit_shows_what_missing_noise_costs(missing):
    """Half of the noise missing: above ε for certain, and not above the exact level."""
    resolution, runs, n = 4, 20_000, 20
    parts = (*([Fraction(0)] * 3), Fraction(1))
    present = round(n * (1 - missing))
    plan = shuffle_plan(parts, n, resolution, 1e-6)
    bits = SeededBits(np.random.default_rng(3))
    silent = np.zeros((present, plan.cells), np.int64)
    noise = np.concatenate(
        [simulate(silent, plan, bits).counts[0] for _ in range(2 * runs // plan.cells + 1)]
    )[: 2 * runs].reshape(2, runs)
    # A user's B units in one cell or nowhere: the noise is at B, or at 0, or between.
    events = [noise + resolution == resolution, noise == resolution]
    found = epsilon_lower_bound([events[0][0].sum()], [events[1][1].sum()], runs).epsilon
    exact = float(deficient_epsilon(1.0, resolution, missing).value)
    assert found <= exact
    assert found > 0.75 * exact
    assert (found > 1.0) == (missing > 0)
