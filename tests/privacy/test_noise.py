"""Demonstration noise: a pure function of what names a draw, and Laplace.

The statistical tests have fixed seeds; each would fail a correct generator with the probability
stated beside it if the seed were drawn anew.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.noise.demonstration import (
    DemonstrationNoise,
    demonstration_laplace,
    hashed_words,
)

CODES = np.arange(1 << 16)
KNOWN_WORDS = [9167677938056640646, 9315802630181677309, 16697840448084471197]


@pytest.mark.full
@given(
    seed=st.integers(-(2**80), 2**80),
    level=st.integers(0, 24),
    mechanism=st.text(max_size=12),
    pick=st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=40),
)
def test_lazy_draws_are_the_dense_ones_bit_for_bit(
    seed: int, level: int, mechanism: str, pick: list[int]
) -> None:
    dense = demonstration_laplace(seed, mechanism, level, CODES)
    lazy = demonstration_laplace(seed, mechanism, level, np.array(pick))
    np.testing.assert_array_equal(lazy, dense[pick])
    strided = demonstration_laplace(seed, mechanism, level, np.repeat(pick, 3)[::3])
    np.testing.assert_array_equal(strided, lazy)
    square = demonstration_laplace(seed, mechanism, level, CODES.reshape(256, 256).T)
    np.testing.assert_array_equal(square, dense.reshape(256, 256).T)


def test_one_generator_many_names() -> None:
    """No two of these streams share a word; a chance collision has probability 3e-9."""
    streams = [
        hashed_words(seed, mechanism, level, CODES[:4096])
        for seed in (0, 1, -1, 2**63, 2**64, 2**64 + 1)
        for mechanism in ("pyramid", "laplace", "")
        for level in (0, 1, 8)
    ]
    words = np.concatenate(streams)
    assert len(np.unique(words)) == len(words)


def test_an_object_names_the_same_draws() -> None:
    noise = DemonstrationNoise(7, "pyramid")
    np.testing.assert_array_equal(noise(3, CODES), demonstration_laplace(7, "pyramid", 3, CODES))
    assert noise == DemonstrationNoise(7, "pyramid")
    assert hash(noise) == hash(DemonstrationNoise(7, "pyramid"))


def test_known_words_stay_what_they_are() -> None:
    """Recipes name a seed; the picture behind it must not change from version to version."""
    words = hashed_words(7, "pyramid", 3, np.array([0, 1, 63]))
    assert [int(word) for word in words] == KNOWN_WORDS
    draws = demonstration_laplace(7, "pyramid", 3, np.array([0, 1, 63]))
    u = [((word >> 11) + 0.5) * 2.0**-53 for word in KNOWN_WORDS]
    sign = [1 if word & 1 else -1 for word in KNOWN_WORDS]
    np.testing.assert_allclose(draws, [s * math.log(v) for s, v in zip(sign, u, strict=True)])


def test_every_draw_is_finite() -> None:
    draws = demonstration_laplace(0, "pyramid", 0, np.arange(1 << 18))
    assert np.isfinite(draws).all()
    assert np.abs(draws).max() < 38


@pytest.mark.parametrize("seed", [0, 1, 2**40])
@pytest.mark.parametrize("level", [0, 8])
def test_law_is_laplace(seed: int, level: int) -> None:
    """Kolmogorov–Smirnov on 65,536 draws; false alarm 1e-4 each, 6e-4 together."""
    draws = demonstration_laplace(seed, "pyramid", level, CODES)
    assert stats.kstest(draws, "laplace").pvalue > 1e-4


def test_moments() -> None:
    """Mean 0, variance 2 of 2^20 draws, each within 4.5 standard errors; false alarm 1.4e-5."""
    n = 1 << 20
    draws = demonstration_laplace(5, "pyramid", 10, np.arange(n))
    assert abs(draws.mean()) < 4.5 * math.sqrt(2 / n)
    assert abs(draws.var() - 2) < 4.5 * math.sqrt((24 - 4) / n)


def correlation_is_small(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether ranks of two samples look independent; false alarm 1e-5."""
    return bool(stats.spearmanr(a, b).pvalue > 1e-5)


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 16, 256, 1024])
def test_neighbouring_cells_are_independent(lag: int) -> None:
    draws = demonstration_laplace(11, "pyramid", 8, CODES)
    assert correlation_is_small(draws[:-lag], draws[lag:])
    assert correlation_is_small(np.abs(draws[:-lag]), np.abs(draws[lag:]))
    signs = (draws[:-lag] > 0) == (draws[lag:] > 0)
    # False alarm 7e-6.
    assert abs(signs.mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(signs))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, "pyramid", 8), (2, "pyramid", 8)),
        ((1, "pyramid", 8), (-1, "pyramid", 8)),
        ((1, "pyramid", 7), (1, "pyramid", 8)),
        ((1, "pyramid", 8), (1, "laplace", 8)),
        ((1, "a", 8), (1, "b", 8)),
        ((0, "pyramid", 8), (2**64, "pyramid", 8)),
    ],
)
def test_other_names_are_independent(
    one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    a, b = demonstration_laplace(*one, CODES), demonstration_laplace(*other, CODES)
    assert correlation_is_small(a, b)
    assert correlation_is_small(np.abs(a), np.abs(b))


def test_a_parents_noise_says_nothing_of_its_childrens() -> None:
    children = demonstration_laplace(3, "pyramid", 8, CODES)
    parents = demonstration_laplace(3, "pyramid", 7, CODES >> 2)
    assert correlation_is_small(parents[::4], children.reshape(-1, 4).sum(axis=1))


def test_seeds_of_one_cell_are_independent_draws() -> None:
    """The same cell over 20,000 seeds; false alarm 1e-4."""
    draws = [
        float(demonstration_laplace(seed, "pyramid", 2, np.array([5]))[0]) for seed in range(20_000)
    ]
    assert stats.kstest(draws, "laplace").pvalue > 1e-4
    assert correlation_is_small(np.array(draws[:-1]), np.array(draws[1:]))


def test_every_bit_is_fair() -> None:
    """Each of 64 bits over 65,536 words; false alarm 64 × 1.5e-8 with 5.66 standard errors."""
    words = hashed_words(9, "pyramid", 8, CODES)
    for bit in range(64):
        share = ((words >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(share - 0.5) < 5.66 * 0.5 / math.sqrt(len(CODES))
