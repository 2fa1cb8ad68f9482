"""Bounds at the edges of the domains that their docstrings name."""

import math

from explorer.privacy.core.composition import kov_epsilon
from explorer.privacy.shuffle_rdp import lower_epsilon


def test_lower_bound_at_the_smallest_delta_and_most_rounds():
    low = lower_epsilon(5.0, 100, 1e4, 1e9, 1e-300)
    assert 1e5 < float(low.value) < 1e9 * 5


def test_composition_without_slack():
    assert kov_epsilon(math.inf, 1e9, 1.0) == math.inf
    assert kov_epsilon(2.0, 3, 1.0) == math.tanh(1.0) * 6
    assert kov_epsilon(0.0, 3, 1.0) == 0.0
