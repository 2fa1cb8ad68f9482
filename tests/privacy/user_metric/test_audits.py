"""Samplers of user-level metric DP: exact laws of the running code, and audits by many runs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Clustered, Grid, Square
from tests.privacy.sampler_audits import Scripted, split_audit, steps_of_uniform


@pytest.mark.parametrize(
    ("s", "t", "r", "a0"), [(2, 2, 0.3, 1.0), (3, 2, 0.5, 2.0), (4, 1, 1.0, 1.0), (1, 4, 0.6, 1.5)]
)
def test_law_of_the_running_gkrr_by_enumeration(s, t, r, a0):
    """Every uniform, by the intervals on which nothing changes, times every choice of integers."""
    space = Clustered(s, t, r)
    mechanism = um.GKRR(space, a0)
    law = np.zeros((s * t, s * t))
    for x in range(s * t):
        # 0: stays, 1: another of the cluster, 2: another cluster, told by the integers asked for.
        def kind(u: float, x: int = x) -> int:
            script = Scripted(u, [1, 0])
            answer = int(mechanism.answer([x], script)[0])
            return 0 if answer == x else 3 - len(script.left) - 1

        for low, high, case in steps_of_uniform(kind):
            ranges = [[()], list(itertools.product(range(1, t))), []][case] if case < 2 else None
            if ranges is None:
                ranges = list(itertools.product(range(1, s), range(t)))
            for choice in ranges:
                y = int(mechanism.answer([x], Scripted(0.5 * (low + high), choice))[0])
                law[x, y] += (high - low) / len(ranges)
    np.testing.assert_allclose(law, mechanism.law(), rtol=1e-12)
    loss = np.log(law[:, None, :] / law[None]).max(axis=2)
    assert (loss <= a0 * space.matrix() + 1e-11).all()


@pytest.mark.parametrize("sharp", [True, False])
def test_law_of_the_running_exponential_mechanism_by_enumeration(sharp):
    space = Grid(3, 2)
    mechanism = um.Exponential(space, 2.0, sharp=sharp)
    law = np.zeros((6, 6))
    for x in range(6):
        for low, high, y in steps_of_uniform(
            lambda u, x=x: int(mechanism.answer([x], Scripted(u))[0])
        ):
            law[x, y] += high - low
    np.testing.assert_allclose(law, mechanism.law(), rtol=1e-10)
    loss = np.log(law[:, None, :] / law[None]).max(axis=2)
    assert (loss <= 2.0 * space.matrix() + 1e-9).all()


@pytest.mark.full
@pytest.mark.parametrize(("k", "e"), [(1, 1.0), (3, 0.7)])
def test_law_of_the_running_hadamard_response_by_enumeration(k, e):
    mechanism = um.HadamardResponse(k, e)
    law = np.zeros((k, mechanism.K))
    for x, first in itertools.product(range(k), range(mechanism.K)):
        for low, high, y in steps_of_uniform(
            lambda u, x=x, first=first: int(mechanism.answer([x], Scripted(u, [first]))[0])
        ):
            law[x, y] += (high - low) / mechanism.K
    np.testing.assert_allclose(law, mechanism.law(), rtol=1e-12)
    assert np.log(law[:, None, :] / law[None]).max() <= e + 1e-12


def test_audit_of_gkrr():
    # Two items of different clusters, distance 1: exceeds α₀ with probability at most 1e-6.
    mechanism, rng, runs = um.GKRR(Clustered(2, 3, 0.4), 1.5), np.random.default_rng(1), 100_000
    found = split_audit(lambda side, half: mechanism.answer(np.full(runs, 3 * side), rng), 6, runs)
    assert 1.3 < found <= 1.5
    near = split_audit(lambda side, half: mechanism.answer(np.full(runs, side), rng), 6, runs)
    assert 0.5 < near <= 1.5 * 0.4


def test_audit_of_hadamard_response():
    mechanism, rng, runs = um.HadamardResponse(5, 1.2), np.random.default_rng(2), 100_000
    found = split_audit(
        lambda side, half: mechanism.answer(np.full(runs, side), rng), mechanism.K, runs
    )
    assert 1.0 < found <= 1.2


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("clip", [False, True])
def test_audit_of_planar_laplace(norm, clip):
    # Two corners of the square; answers in a 16 × 16 grid over it and its surroundings.
    space, a0, runs = Square(norm, 1.0), 2.0, 100_000
    mechanism, rng = um.PlanarLaplace(space, a0, clip=clip), np.random.default_rng(3)
    points = np.array([[0.0, 0.0], [1.0, 0.6]])
    apart = float(space.cross(points[:1], points[1:])[0, 0])

    def run(side: int, half: int) -> np.ndarray:
        y = mechanism.answer(np.tile(points[side], (runs, 1)), rng)
        row, column = np.clip(((y + 1.5) * 4).astype(np.int64), 0, 15).T
        return row * 16 + column

    found = split_audit(run, 256, runs)
    assert 0.6 * a0 * apart < found <= a0 * apart


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, math.inf])
def test_audit_of_k_norm_noise(p):
    # Answers that are as far apart as the sensitivity: exceeds α with probability at most 1e-6.
    alpha, runs, rng = 1.5, 100_000, np.random.default_rng(4)
    shift = np.array([1.0, 0.4])
    shift /= np.linalg.norm(shift, ord=p)

    def run(side: int, half: int) -> np.ndarray:
        y = um.priv_emd_linear(np.tile(side * shift, (runs, 1)), alpha, 1.0, p, rng)
        row, column = np.clip(((y + 2.0) * 3).astype(np.int64), 0, 14).T
        return row * 15 + column

    found = split_audit(run, 225, runs)
    assert 0.5 * alpha < found <= alpha


@pytest.mark.full
def test_audit_of_the_laplace_histogram():
    # One of two users moves all of the mass from bin 0 to bin 1: 2/n apart in ℓ1.
    n, epsilon, rng, runs = 2, 1.0, np.random.default_rng(5), 10_000
    data = [[1.0, 0.0], [0.5, 0.5]]

    def run(side: int, half: int) -> np.ndarray:
        y = np.array([um.laplace_histogram(data[side], n, epsilon, rng) for _ in range(runs)])
        row, column = np.clip(((y + 2.0) * 2).astype(np.int64), 0, 9).T
        return row * 10 + column

    found = split_audit(run, 100, runs)
    assert 0.5 < found <= epsilon
