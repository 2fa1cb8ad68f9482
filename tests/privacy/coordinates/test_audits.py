"""Audits of single coordinates, of all of them, and of the two copies that regression uses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.privacy import coordinates as co
from tests.privacy.sampler_audits import split_audit


@pytest.mark.parametrize("r", [0.4, 1.0])
def test_audit_of_m_ldp_inside_the_ball(r):
    """Inputs of norm below the radius lose less than α: the exact loss bounds the audit."""
    alpha, runs, rng = 1.5, 100_000, np.random.default_rng(1)
    inputs = [np.array([r, 0.0]), np.array([-r, 0.0])]
    exact = float(co.m_ldp_loss(*inputs, 1.0, alpha))

    def run(side: int, half: int) -> np.ndarray:
        z = co.m_ldp(np.tile(inputs[side], (runs, 1)), alpha, 1.0, rng)
        return (np.floor((np.arctan2(z[:, 1], z[:, 0]) / math.pi + 1) * 8).astype(int)) % 16

    found = split_audit(run, 16, runs)
    assert 0.85 * exact < found <= exact <= alpha
    assert (exact == pytest.approx(alpha)) == (r == 1.0)


@pytest.mark.parametrize(("flipped", "level"), [([0], 0.6), ([1], 1.6), ([0, 1], 1.6)])
def test_audit_of_one_and_of_all_coordinates(flipped, level):
    """M_mean with budgets (.6, 1.6): changing coordinate i alone costs at most c_i, both 1.6."""
    c, runs, rng = [0.6, 1.6], 100_000, np.random.default_rng(2)
    x = np.ones(2)
    other = x.copy()
    other[flipped] = -1.0

    def run(side: int, half: int) -> np.ndarray:
        z = co.m_mean(np.tile((x, other)[side], (runs, 1)), c, rng)
        cells = np.clip((z / np.abs(z).max() * 8 + 8).astype(np.int64), 0, 15)
        return cells[:, 0] * 16 + cells[:, 1]

    found = split_audit(run, 256, runs)
    assert 0.3 * level < found <= level


def test_audit_of_the_two_copies_of_regression():
    """Both copies together, each with half the budget, keep the level of the whole."""
    c, runs, rng = np.array([0.8, 2.0]), 100_000, np.random.default_rng(3)
    x = np.ones(2)

    def run(side: int, half: int) -> np.ndarray:
        rows = np.tile(x if side == 0 else -x, (runs, 1))
        codes = np.zeros(runs, np.int64)
        for _ in range(2):
            z = co.m_mean(rows, c / 2, rng, "optimal")
            codes = codes * 64 + (
                np.clip((z / np.abs(z).max() * 4 + 4).astype(np.int64), 0, 7) @ [8, 1]
            )
        return codes

    found = split_audit(run, 64**2, runs)
    assert 0.4 * 2.0 < found <= 2.0
