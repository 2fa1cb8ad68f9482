"""The shuffle protocol with noise missing; exact laws of releases: `test_exact_audits`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.audit import epsilon_lower_bound
from explorer.privacy.heatmaps import shuffle_plan
from explorer.privacy.heatmaps.shuffle_parameters import deficient_epsilon
from explorer.privacy.heatmaps.shuffle_protocol import simulate
from explorer.privacy.noise.bits import SeededBits

pytestmark = pytest.mark.full


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_audit_shows_what_missing_noise_costs(missing):
    """Half of the noise missing: above ε for certain, and not above the exact level."""
    resolution, runs, n = 4, 20_000, 20
    parts = (*([Fraction(0)] * 5), Fraction(1))
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
