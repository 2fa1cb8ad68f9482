"""The EMD norm of signed maps: a norm, the right number in small cases, Lemma 3.5 as it holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy.heatmaps import emd_norm, nearest_nonnegative, pyramid_norm


def signed(level: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, (2**level, 2**level))


def test_one_cell_is_left_unmatched() -> None:
    z = np.zeros((4, 4))
    z[1, 2] = -3
    assert emd_norm(z) == pytest.approx(6)
    assert emd_norm(z, alpha=0.5) == pytest.approx(1.5)


def test_a_pair_moves_or_stays_whichever_is_cheaper() -> None:
    z = np.zeros((4, 4))
    z[0, 0], z[3, 3] = 1, -1
    assert emd_norm(z) == pytest.approx(1.5)  # 6 neighbours of 1/4 each
    assert emd_norm(z, alpha=0.25) == pytest.approx(0.5)


@given(st.integers(0, 3), st.integers(0, 10**6), st.floats(-3, 3))
def test_it_is_a_norm(level: int, seed: int, factor: float) -> None:
    z, y = signed(level, seed), signed(level, seed + 1)
    norm = emd_norm(z)
    assert emd_norm(factor * z) == pytest.approx(abs(factor) * norm, abs=1e-9)
    assert emd_norm(z + y) <= norm + emd_norm(y) + 1e-9


@given(st.integers(0, 3), st.integers(0, 10**6))
def test_pyramid_norm_holds_it_as_corrected(level: int, seed: int) -> None:
    """Errata heat-12: ‖z‖_EMD ≤ ‖P z‖₁ + 2^{−ℓ}|Σz|; without the second term only for total 0."""
    z = signed(level, seed)
    assert emd_norm(z) <= pyramid_norm(z) + 2.0**-level * abs(z.sum()) + 1e-9
    balanced = z - z.mean()
    assert emd_norm(balanced) <= pyramid_norm(balanced) + 1e-9


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 2), st.integers(0, 10**6))
def test_nearest_nonnegative_map_is_nearest(level: int, seed: int) -> None:
    z = signed(level, seed)
    distance, found = nearest_nonnegative(z)
    assert (found >= 0).all()
    assert emd_norm(z - found) == pytest.approx(distance, abs=1e-8)
    assert distance <= emd_norm(z - np.maximum(z, 0)) + 1e-9
    rng = np.random.default_rng(seed)
    for _ in range(5):
        other = np.maximum(found + rng.normal(0, 0.3, z.shape), 0)
        assert emd_norm(z - other) >= distance - 1e-8


def test_what_is_nonnegative_already_stays() -> None:
    z = np.abs(signed(2, 1))
    distance, found = nearest_nonnegative(z)
    assert distance == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(found, z, atol=1e-9)


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros(4), np.full((2, 2), np.nan)])
def test_wrong_maps_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^z:"):
        emd_norm(bad)


def test_alpha_is_checked() -> None:
    with pytest.raises(ValueError, match="alpha"):
        emd_norm(np.zeros((2, 2)), alpha=0)
