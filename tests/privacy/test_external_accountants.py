"""Google's dp-accounting on what both can do: Gaussian noise, its composition, counts of 2RR.

Its privacy loss distributions are rounded up to a lattice, so that its ε is above the truth by at
most about a lattice step a round.
"""

from __future__ import annotations

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld, rdp as their_rdp
from dp_accounting.pld import privacy_loss_distribution as losses
from scipy.stats import binom

from explorer.privacy import shuffle_rdp, user_metric as um
from explorer.privacy.core.composition import kov_exact_epsilon
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.noise import demonstration

STEP = 1e-4


@pytest.mark.full
@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0, 20.0])
def test_delta_of_gaussian_noise(sigma):
    theirs = losses.from_gaussian_mechanism(sigma, value_discretization_interval=STEP)
    for epsilon in (0.1, 1.0, 5.0):
        got = float(um.gaussian_delta(sigma, epsilon))
        their_delta = theirs.get_delta_for_epsilon(epsilon)
        assert got <= their_delta * (1 + 1e-9) + 1e-14
        # A step less of ε takes what the lattice added away again.
        assert their_delta <= float(um.gaussian_delta(sigma, epsilon - STEP)) * (1 + 1e-6) + 1e-11


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_width_of_gaussian_noise(epsilon, delta):
    sigma = float(um.gaussian_sigma(epsilon, delta))
    assert float(demonstration.gaussian_sigma(epsilon, delta)) == pytest.approx(sigma, rel=1e-9)
    theirs = losses.from_gaussian_mechanism(sigma, value_discretization_interval=STEP)
    found = theirs.get_epsilon_for_delta(delta)
    assert epsilon - 1e-9 <= found <= epsilon + 2 * STEP


@pytest.mark.parametrize("rounds", [1, 10, 1000])
@pytest.mark.parametrize("sigma", [1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_conversion_of_renyi_levels(rounds, sigma, delta):
    orders = orders_up_to(256)
    accountant = their_rdp.RdpAccountant([float(order) for order in orders])
    accountant.compose(dp_accounting.GaussianDpEvent(sigma), rounds)
    epsilon, order = accountant.get_epsilon_and_optimal_order(delta)
    ours = epsilon_from_rdp(orders / (2 * sigma**2), orders, rounds, delta)
    assert float(ours.epsilon) == pytest.approx(float(epsilon), rel=1e-9)
    if ours.epsilon > 0:
        assert float(ours.order) == float(order)


@pytest.mark.parametrize(("sigma", "rounds"), [(2.0, 10), (10.0, 100), (50.0, 2000)])
def test_composed_gaussian(sigma, rounds):
    # T rounds of σ are one of σ/√T; Rényi levels are looser, their distribution is exact.
    accountant = pld.PLDAccountant(value_discretization_interval=STEP)
    accountant.compose(dp_accounting.GaussianDpEvent(sigma), rounds)
    theirs = float(accountant.get_epsilon(1e-6))
    together = sigma / math.sqrt(rounds)
    assert float(um.gaussian_delta(together, theirs)) <= 1e-6 * (1 + 1e-6)
    assert float(um.gaussian_delta(together, theirs * (1 - 1e-2))) > 1e-6
    orders = orders_up_to(512)
    renyi = epsilon_from_rdp(orders / (2 * sigma**2), orders, rounds, 1e-6)
    assert theirs <= float(renyi.epsilon) <= 1.15 * theirs


@pytest.mark.full
@pytest.mark.parametrize("rounds", [2, 40])
def test_composed_counts_of_randomised_response(rounds):
    eps0, k, n, delta = 1.0, 20, 100, 1e-6
    m, p = np.arange(k + 1), 1 / (math.exp(eps0) + 1)
    rest = binom.pmf(m, k, p)
    shifted = (1 - p) * np.append(0, binom.pmf(m[:-1], k - 1, p)) + p * np.append(
        binom.pmf(m[:-1], k - 1, p), 0
    )
    sampled = (k / n) * shifted + (1 - k / n) * rest
    for direction, first, second in (("QP", sampled, rest), ("PQ", rest, sampled)):
        one = losses.from_two_probability_mass_functions(
            dict(enumerate(np.log(second).tolist())),
            dict(enumerate(np.log(first).tolist())),
            value_discretization_interval=1e-5,
            symmetric=True,
        )
        theirs = one.self_compose(rounds).get_epsilon_for_delta(delta)
        ours = shuffle_rdp.randomised_response_epsilon(eps0, k, n, rounds, delta, direction)
        assert float(ours.value) == pytest.approx(theirs, rel=2e-3)
        assert float(ours.value) <= theirs * (1 + 1e-6)


@pytest.mark.full
@pytest.mark.parametrize("rounds", [1, 5, 50])
def test_composed_randomised_response(rounds):
    epsilon = 0.5
    one = losses.from_randomized_response(
        2 / (math.exp(epsilon) + 1), 2, value_discretization_interval=1e-5
    )
    theirs = one.self_compose(rounds).get_epsilon_for_delta(1e-5)
    assert float(kov_exact_epsilon(epsilon, rounds, 1e-5)) == pytest.approx(theirs, rel=2e-3)
