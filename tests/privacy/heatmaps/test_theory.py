"""Bounds of the paper hold for what the code computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import (
    CellCounts,
    compare,
    dense_map,
    from_grid,
    measure,
    measure_dense,
    nearest_nonnegative,
    pyramid_norm,
    reconstruct,
    schedule,
    smoothing,
    start_level,
)
from explorer.privacy.heatmaps.evaluation import exact_distance
from explorer.privacy.heatmaps.shuffle_parameters import communication, modulus_at_least
from explorer.privacy.heatmaps.theory import (
    dense_error_bound,
    dense_level,
    dense_noise_term,
    kl_bound,
    median_cost,
    noise_term,
    similarity_bound,
    sparse_error_bound,
    sparse_lower_bound,
    sparse_lower_printed,
)
from explorer.privacy.noise.demonstration import DemonstrationNoise


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


@pytest.mark.parametrize("level", [1, 2, 3])
def test_dense_noise_term_covers_what_lemma_35_overlooks(level: int) -> None:
    # ‖ν‖_EMD ≤ Σ_i 2^−i‖P_iν‖₁ + 2^−ℓ|Σν|; five standard errors, false alarm 3e-7 each.
    rng = np.random.default_rng(level)
    side = 2**level
    noise = rng.laplace(size=(20_000, side, side))
    norm = np.abs(noise.sum(axis=(1, 2))) * 2.0**-level
    for i in range(level + 1):
        step = side >> i
        blocks = noise.reshape(-1, 1 << i, step, 1 << i, step).sum(axis=(2, 4))
        norm += 2.0**-i * np.abs(blocks).sum(axis=(1, 2))
    margin = 5 * norm.std() / math.sqrt(norm.size)
    assert norm.mean() + margin < dense_noise_term(1.0, 4.0**level).value


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


@given(
    k=st.integers(1, 10**6),
    epsilon=st.floats(1e-3, 100),
    n=st.integers(1, 10**9),
)
def test_lower_bound_is_below_the_upper_one(k: int, epsilon: float, n: int) -> None:
    """With w = k kept cells the noise's bound holds for k-sparse inputs up to a constant above 1;

    a lower bound on every ε-DP algorithm must stay below it, and below the diameter.
    """
    lower = sparse_lower_bound(k, epsilon, n)
    assert lower.role is Role.LOWER
    assert 0 <= lower.value <= 2
    level = max(1, math.ceil(0.5 * math.log2(k)))
    assert lower.value <= sparse_error_bound(schedule(epsilon, level, k), k, n).value
    assert lower.value <= dense_error_bound(epsilon, n, n).value


def test_lower_bound_of_an_exact_packing() -> None:
    """Two points: distributions (x, 1−x) at spacing 1/2; D = 1, so E ≥ max (1−p)p e^{−εn₀}n₀/16n.

    With ε = .01 and n = 100 users n₀ = 100 is best: ¼ · e^{−1}/16.
    """
    assert sparse_lower_bound(2, 0.01, 100).value == pytest.approx(0.25 * math.exp(-1) / 16)
    assert sparse_lower_bound(1, 1.0, 10).value == 0


def test_no_mechanism_on_two_points_beats_the_lower_bound() -> None:
    """The best error of Laplace noise on two cells half a side apart is above the lower bound."""
    rng = np.random.default_rng(3)
    for epsilon, n in ((0.01, 100), (1.0, 50), (0.1, 2000)):
        noise = rng.laplace(0, 1 / epsilon, 20_000)
        worst = max(
            float(np.mean(np.abs(np.clip(x + noise / n, 0, 1) - x))) for x in np.linspace(0, 1, 11)
        )
        assert 0.5 * worst >= sparse_lower_bound(2, epsilon, n).value


@given(
    st.lists(
        st.tuples(st.integers(1, 10**6), st.floats(0, 800), st.integers(1, 10**12)), min_size=1
    )
)
def test_lower_bound_takes_arrays(points: list[tuple[int, float, int]]) -> None:
    k, epsilon, n = (np.array(column, float) for column in zip(*points, strict=True))
    epsilon = np.maximum(epsilon, 1e-300)
    found = sparse_lower_bound(k, epsilon, n).value
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    for i, (a, b, c) in enumerate(zip(k, epsilon, n, strict=True)):
        assert sparse_lower_bound(a, b, c).value == pytest.approx(found[i], rel=1e-12)


def test_the_printed_order_is_called_an_estimate() -> None:
    found = sparse_lower_printed(16, 2.0, 100)
    assert found.role is Role.ESTIMATE
    assert found.value == pytest.approx(0.004 * 4 / 200)


@pytest.mark.parametrize("variant", ["experiments", "theory", "capped"])
def test_the_pyramid_errs_less_than_its_bound(variant: str) -> None:
    """Mean over 20 runs on maps of w cells, far below the bound wherever it is below the diameter.

    2e4 users on 16 cells: the bounds are around 0.1, the means below a tenth of that.
    """
    rng = np.random.default_rng(5)
    level, w, n, epsilon = 6, 16, 20_000, 1.0
    if variant == "capped":
        plan = schedule(epsilon, level, w, last=4)
    else:
        plan = schedule(epsilon, level, w, variant)
    errors = []
    for seed in range(20):
        codes = np.sort(rng.choice(4**level, w, replace=False))
        masses = 1.0 + rng.multinomial(n - w, rng.dirichlet(np.ones(w)))
        counts = CellCounts(level, codes, masses, n, n)
        blocks = reconstruct(measure(counts, plan, w, DemonstrationNoise(seed, "pyramid"))).blocks()
        errors.append(exact_distance(blocks.on(level).grid(), counts.grid()).high)
    bound = float(sparse_error_bound(plan, w, n).value)
    assert bound < 0.5
    assert np.mean(errors) <= bound


@pytest.mark.full
def test_dense_aggregation_errs_less_than_its_bound() -> None:
    """Mean over 12 runs; the bound is about four times the mean, so that chance cannot fail it."""
    rng = np.random.default_rng(4)
    for epsilon, n in ((1.0, 200), (2.0, 500)):
        at = np.clip(rng.normal(0.5, 0.15, (n, 2)) * 64, 0, 63).astype(int)
        grid = np.zeros((64, 64))
        np.add.at(grid, tuple(at.T), 1.0)
        counts, truth = from_grid(grid), grid / n
        errors = []
        for seed in range(12):
            found = dense_map(
                measure_dense(counts, epsilon, n, DemonstrationNoise(seed, "dense"))
            ).on(6)
            drawn = found if isinstance(found, np.ndarray) else found.grid()
            errors.append(exact_distance(drawn, truth).high)
        assert np.mean(errors) <= dense_error_bound(epsilon, n, n).value


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
