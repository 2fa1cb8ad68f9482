"""Bounds of the paper hold for what the code computes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.privacy.bounds import Role
from explorer.privacy.heatmaps import (
    compare,
    from_grid,
    measure,
    nearest_nonnegative,
    pyramid_norm,
    schedule,
    smoothing,
    start_level,
)
from explorer.privacy.heatmaps.distance import exact_distance
from explorer.privacy.heatmaps.shuffle import communication, modulus_at_least
from explorer.privacy.heatmaps.theory import (
    dense_level,
    dense_noise_term,
    kl_bound,
    median_cost,
    noise_term,
    similarity_bound,
    sparse_lower_bound,
)
from explorer.privacy.noise import DemonstrationNoise


@pytest.mark.parametrize("sigma", [0.02, 0.05, 0.1])
def test_distance_bounds_divergence_and_similarity(sigma: float) -> None:
    rng = np.random.default_rng(0)
    for side in (8, 32):
        for _ in range(5):
            p, q = rng.exponential(1, (2, side, side)) ** 3
            p, q = p / p.sum(), 0.2 * q / q.sum() + 0.8 * p / p.sum()
            emd = exact_distance(p, q).high
            h, g = smoothing(side, sigma).exact(p), smoothing(side, sigma).exact(q)
            found = compare(h, g)
            kl, similarity = kl_bound(emd, sigma), similarity_bound(emd, sigma)
            assert found.kl <= kl.value
            assert found.similarity >= similarity.value
            assert (kl.role, similarity.role) == (Role.UPPER, Role.LOWER)


def test_bounds_take_arrays() -> None:
    emd = np.array([0.0, 0.01, 0.5])
    np.testing.assert_allclose(kl_bound(emd, 0.1).value, emd / 0.02)
    np.testing.assert_allclose(similarity_bound(emd, 0.1).value, [1, 0.5, 0])


@pytest.mark.parametrize("variant", ["experiments", "theory"])
@pytest.mark.parametrize("w", [1, 20, 70])
def test_noise_term_counts_at_least_the_cells_read(variant: str, w: int) -> None:
    plan = schedule(1.0, 5, w, variant)
    m = measure(from_grid(np.ones((32, 32))), plan, w, DemonstrationNoise(0, "pyramid"))
    read = 6 * sum(
        2.0 ** -(m.start + k) * len(codes) / plan.epsilon[m.start + k]
        for k, codes in enumerate(m.codes)
    )
    bound = noise_term(plan, w)
    assert bound.value >= read - 1e-9
    assert bound.role is Role.UPPER
    if start_level(w, 5) == plan.start:
        assert bound.value == pytest.approx(read)


def test_dense_noise_term_holds_on_average() -> None:
    """Mean pyramid norm of the noise over 200 draws, whose standard error is below 3 % of it."""
    rng = np.random.default_rng(1)
    for epsilon, n in ((1.0, 200), (0.5, 20), (2.0, 2000)):
        side = 2 ** dense_level(epsilon, n)
        mean = np.mean(
            [pyramid_norm(rng.laplace(0, 1 / epsilon, (side, side))) for _ in range(200)]
        )
        assert mean <= dense_noise_term(epsilon, n).value


def test_dense_level_is_rounded() -> None:
    assert dense_level(1.0, 127) == 3
    assert dense_level(1.0, 128) in (3, 4)
    assert dense_level(1.0, 200) == 4
    assert dense_level(1e-3, 10) == 0


def test_dense_answer_is_within_twice_the_noise() -> None:
    rng = np.random.default_rng(2)
    s = rng.exponential(1, (8, 8))
    noise = rng.laplace(0, 1, (8, 8))
    _, found = nearest_nonnegative(s + noise)
    from explorer.privacy.heatmaps import emd_norm

    assert emd_norm(found - s) <= 2 * emd_norm(noise) + 1e-7


def test_lower_bound_is_below_the_upper_one() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        upper = noise_term(schedule(epsilon, 8, 20), 20).value / 200
        assert sparse_lower_bound(20, epsilon, 200) < upper


def test_median_cost_of_points_on_centres() -> None:
    x = np.zeros((4, 4))
    x[1, 2] = 3.0
    assert median_cost(x, [[0.25, 0.5]]) == 0
    assert median_cost(x, [[0.0, 0.5], [1.0, 1.0]]) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="centres"):
        median_cost(x, np.zeros((0, 2)))


def test_more_shares_than_printed() -> None:
    for n in (19, 50, 2000):
        arguments = (n, 1000, 2**20, 1.0, 1e-6)
        ours, printed = communication(*arguments), communication(*arguments, printed=True)
        assert ours.shares > printed.shares
        assert ours.message_bits == printed.message_bits == math.ceil(math.log2(1000 * 2**20))
        assert ours.bits == ours.shares * 1000 * ours.message_bits


def test_modulus_has_room_for_the_root_and_noise() -> None:
    assert modulus_at_least(50, 256, 1000) == 50 * 256 + 2001


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((18, 10, 10, 1.0, 0.1), "users"),
        ((19, 0, 10, 1.0, 0.1), "cells"),
        ((19, 10, 10, 0.0, 0.1), "epsilon"),
        ((19, 10, 10, 1.0, 1.0), "delta"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        communication(*arguments)


def test_bounds_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="sigma"):
        kl_bound(0.1, 0.0)
    with pytest.raises(ValueError, match="emd"):
        similarity_bound(-0.1, 0.1)
    with pytest.raises(ValueError, match="epsilon"):
        sparse_lower_bound(3, 0.0, 10)
