"""Section 1.2's lemma, on enumerated views of small randomisers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.histograms import shuffled_delta, single_message_epsilon
from explorer.privacy.histograms.views import excess, randomized_response


def own_randomizer(seed: int):
    """Three inputs and outputs, one message each."""
    draws = np.random.default_rng(seed).integers(0, 9, (3, 3)) + np.eye(3, dtype=int)
    return {
        x: {(y,): Fraction(int(w), int(row.sum())) for y, w in enumerate(row) if w}
        for x, row in enumerate(draws)
    }


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "randomizer",
    [randomized_response(Fraction(9, 10)), randomized_response(Fraction(4, 5), 3)]
    + [own_randomizer(seed) for seed in range(4)],
)
def test_a_message_alone_has_epsilon_plus_log_n(randomizer, n, eps):
    delta = shuffled_delta(randomizer, n, eps)
    alone = single_message_epsilon(eps, n)
    worst = max(excess(a, b, alone) for a in randomizer.values() for b in randomizer.values())
    assert worst <= delta + 1e-15


def test_it_is_not_less_than_it_says_and_checks_its_arguments():
    assert single_message_epsilon(0.5, 1000) >= 0.5 + math.log(1000)
    with pytest.raises(ValueError, match="n"):
        single_message_epsilon(0.5, 0.5)
