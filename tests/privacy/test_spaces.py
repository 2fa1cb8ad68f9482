"""Metric spaces: axioms, units, refusals, and earth mover's distances against references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy.spaces import (
    Clustered,
    Discrete,
    Grid,
    Line,
    MatrixSpace,
    Sphere,
    Square,
    central_angle,
)
from tests import snapshots

SEEDS = st.integers(0, 2**32 - 1)


def _spaces(rng):
    points = rng.normal(size=(9, 3))
    yield Line(-3.0, 5.0, "km"), rng.uniform(-3, 5, 8)
    yield Square(1, 2.0, "km"), rng.uniform(0, 2, (8, 2))
    yield Square(2, 2.0, "km"), rng.uniform(0, 2, (8, 2))
    yield Sphere(), np.stack([rng.uniform(-90, 90, 8), rng.uniform(-180, 180, 8)], axis=1)
    yield Grid(4, 3, 0.5, "km"), rng.integers(0, 12, 8)
    yield Clustered(3, 2, float(rng.uniform(0, 1))), rng.integers(0, 6, 8)
    yield Discrete(5), rng.integers(0, 5, 8)
    for norm in (1.0, 1.7, 2.0, math.inf):
        yield MatrixSpace.from_embedding(points, norm, "words"), rng.integers(0, 9, 8)


@given(SEEDS)
def test_metric_axioms_and_diameter(seed):
    for space, items in _spaces(np.random.default_rng(seed)):
        d = space.distances(items)
        assert ((d >= 0) & (d <= 1 + 1e-12)).all()
        np.testing.assert_array_equal(np.diag(d), 0.0)
        np.testing.assert_allclose(d, d.T, atol=1e-15)
        assert (d[:, None, :] <= d[:, :, None] + d[None] + 1e-12).all()
        np.testing.assert_allclose(space.normalised(space.in_unit(d)), d, rtol=1e-12)


@given(SEEDS)
def test_earth_movers_distance_is_a_metric_and_the_assignment(seed):
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(seed)
    for space, items in _spaces(rng):
        if isinstance(space, Grid):
            continue
        a, b, c = items[:4], items[4:], items[rng.permutation(8)[:4]]
        rows, columns = linear_sum_assignment(space.cross(a, b))
        expected = space.cross(a, b)[rows, columns].mean()
        assert space.emd(a, b) == pytest.approx(expected, abs=1e-12)
        assert space.emd(a, a) == pytest.approx(0.0, abs=1e-12)
        assert space.emd(b, a) == pytest.approx(space.emd(a, b), abs=1e-12)
        assert space.emd(a, c) <= space.emd(a, b) + space.emd(b, c) + 1e-12


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(SEEDS)
def test_weighted_distances_against_linear_programming(seed):
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(seed)
    for space, items in _spaces(rng):
        if isinstance(space, Grid):
            continue
        p, q = rng.dirichlet(np.full(5, 0.5)), rng.dirichlet(np.full(3, 0.5))
        cost = np.ascontiguousarray(space.cross(items[:5], items[5:]))
        expected = ot.emd2(p, q, cost)
        assert space.emd(items[:5], items[5:], p, q) == pytest.approx(expected, abs=1e-9)
        # Weights need not sum to 1, and a dataset written twice is the same dataset.
        twice = space.emd(np.concatenate([items[:5]] * 2), items[5:], np.tile(3 * p, 2), 5 * q)
        assert twice == pytest.approx(expected, abs=1e-9)


@pytest.mark.full
def test_grid_distance_is_that_of_its_matrix():
    rng = np.random.default_rng(1)
    space = Grid(4, 3, 0.5, "km")
    whole = MatrixSpace(space.matrix())
    for _ in range(5):
        a, b = rng.integers(0, 12, 6), rng.integers(0, 12, 6)
        assert space.emd(a, b) == pytest.approx(whole.emd(a, b), abs=1e-12)
    assert space.in_unit(1.0) == 2.5
    assert space.emd([0], [11]) == pytest.approx(1.0)


def test_units_and_corners():
    assert Line(0, 10, "mi").in_unit(Line(0, 10, "mi").cross([0], [10])) == 10
    assert Square(1, 3).cross([[0, 0]], [[3, 3]])[0, 0] == pytest.approx(1.0)
    assert Square(2, 3).cross([[0, 0]], [[3, 3]])[0, 0] == pytest.approx(1.0)
    earth = Sphere()
    assert earth.in_unit(earth.cross([[0, 0]], [[0, 180]]))[0, 0] == pytest.approx(12450.7)
    assert earth.cross([[90, 0]], [[90, 77]])[0, 0] == pytest.approx(0.0, abs=1e-16)
    assert earth.cross([[90, 3]], [[-90, 70]])[0, 0] == pytest.approx(1.0, abs=1e-15)
    assert central_angle(0, 0, 0, 1e-9) == pytest.approx(1e-9 / 180, rel=1e-13)


def test_unit_ball_embedding_has_diameter_two():
    # Errata user-B5: vectors of norm at most 1 are renormalised by their diameter.
    space = MatrixSpace.from_embedding([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert space.length == 2.0
    assert space.matrix().max() == 1.0


@pytest.mark.full
@given(SEEDS, st.floats(0, 1))
def test_clustered_closed_form_of_signed_masses(seed, r):
    rng = np.random.default_rng(seed)
    space = Clustered(2, 3, r)
    f, k = rng.normal(size=6), rng.dirichlet(np.ones(6))
    f += (1 - f.sum()) / 6
    # The Kantorovich–Rubinstein norm: the distance of the parts, positive against negative.
    up, down = np.maximum(f - k, 0), np.maximum(k - f, 0)
    every = np.arange(6)
    expected = MatrixSpace(space.matrix()).emd(every, every, up, down) * up.sum()
    assert space.emd_of_masses(f, k) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="q: its sum must") as error:
        space.emd_of_masses(2 * k, k)
    snapshots.check(error.value)


def test_discrete_distance_is_total_variation():
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.6, 0.0])
    assert Discrete(3).emd_of_masses(p, q) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Line(1.0, 1.0), "length: 0 is outside"),
        (lambda: Line().emd([0.5], [1.5]), r"items: 1.5 is outside \[0, 1\]"),
        (lambda: Line().emd([0.5], []), "q: a dataset must have"),
        (lambda: Line().emd([math.nan], [0.5]), "items: nan is outside"),
        (lambda: Square(3), "norm: 3 must be 1 or 2"),
        (lambda: Square().distances([[0.5]]), "items: shape"),
        (lambda: Sphere().distances([[91.0, 0.0]]), r"items: 91 is outside \[-90, 90\]"),
        (lambda: Grid(1, 1), "width: a grid of one cell"),
        (lambda: Grid(0, 2), "width: 0 is outside"),
        (lambda: Clustered(2, 2, 1.5), "r: 1.5 is outside"),
        (lambda: Discrete(3).emd([3], [0]), "items: 3 is outside"),
        (lambda: Discrete(3).emd([0, 1], [0], [1, -1]), "p: must be 2 masses"),
        (lambda: Discrete(6000).matrix(), "size: 6000 items are more"),
        (lambda: MatrixSpace([[0, 0.2, 1], [0.2, 0, 0.3], [1, 0.3, 0]]), "not a metric"),
        (lambda: MatrixSpace([[0, 0.5], [0.4, 0]]), "matrix: must be symmetric"),
        (lambda: MatrixSpace([[0, 2], [2, 0]]), r"matrix: every distance must be in \[0, 1\]"),
        (lambda: MatrixSpace.from_distances(np.zeros((2, 2))), "two items must be apart"),
        (lambda: MatrixSpace.from_embedding([[0.0], [1.0]], 0.5), "norm: 0.5 is outside"),
        (lambda: Square().emd(np.zeros((2001, 2)), np.zeros((2001, 2))), "x: 4004001 pairs"),
        (lambda: Square().emd(np.zeros((501, 2)), np.zeros((400, 2))), "x: 200400 pairs"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
