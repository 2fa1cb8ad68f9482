"""Grid EMD against other people's solvers, its own certificate and the properties of a metric."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numba
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.stats
from hypothesis import given, strategies as st

from explorer.privacy.transport import grid
from explorer.privacy.transport.grid import (
    GridEmd,
    block_interval,
    grid_emd,
    line_emd,
    marginal_bound,
    pyramid_bound,
)
from explorer.privacy.transport.network_flow import compiled

STEPS = [(None, None), (1.0, 1.0), (0.7, 1.3), (0.013, 0.4), (3.0, 1e-4)]


def _pair(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> tuple[np.ndarray, ...]:
    if kind == "noise":
        p, q = rng.random(shape), rng.random(shape)
    elif kind == "peaks":
        p, q = rng.random(shape) ** 12, rng.random(shape) ** 12
    else:  # few cells
        p, q = np.zeros(shape), np.zeros(shape)
        for grid in (p, q):
            at = rng.integers(0, grid.size, size=3)
            np.add.at(grid.ravel(), at, rng.random(3))
    return p / p.sum(), q / q.sum()


def _pot(p: np.ndarray, q: np.ndarray, step_x: float, step_y: float) -> float:
    ot = pytest.importorskip("ot")
    rows, columns = np.indices(p.shape)
    points = np.stack([columns.ravel() * step_x, rows.ravel() * step_y], axis=1)
    cost = np.abs(points[:, None] - points[None]).sum(axis=2)
    return float(ot.emd2(p.ravel(), q.ravel(), cost, numItermax=1_000_000))


def _highs(p: np.ndarray, q: np.ndarray, step_x: float, step_y: float) -> float:
    """Return the optimum of the flow problem as a linear programme."""
    number = np.arange(p.size).reshape(p.shape)
    ends = [(number[:, :-1], number[:, 1:], step_x), (number[:-1], number[1:], step_y)]
    tails = np.concatenate([t.ravel() for a, b, _ in ends for t in (a, b)])
    heads = np.concatenate([t.ravel() for a, b, _ in ends for t in (b, a)])
    cost = np.concatenate([np.full(2 * a.size, c) for a, _, c in ends])
    arcs = np.arange(tails.size)
    ones = np.ones(tails.size)
    incidence = scipy.sparse.coo_matrix(
        (np.r_[ones, -ones], (np.r_[tails, heads], np.r_[arcs, arcs])), (p.size, tails.size)
    ).tocsr()[:-1]
    done = scipy.optimize.linprog(
        cost,
        A_eq=incidence,
        b_eq=(p - q).ravel()[:-1],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert done.success
    return float(done.fun)


def _check_certificate(
    found: GridEmd, p: np.ndarray, q: np.ndarray, step_x: float, step_y: float
) -> None:
    assert 0 <= found.lower <= found.value <= found.upper
    psi = found.potential
    assert psi.shape == p.shape
    rounding = 1e-12 * (abs(psi).max() + step_x + step_y)
    assert abs(np.diff(psi, axis=1)).max(initial=0) <= step_x + rounding
    assert abs(np.diff(psi, axis=0)).max(initial=0) <= step_y + rounding
    assert (psi * (p - q)).sum() == pytest.approx(found.lower, rel=1e-9, abs=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", ["noise", "peaks", "few"])
@pytest.mark.parametrize("shape", [(16, 16), (5, 23), (17, 9), (1, 40), (33, 1), (2, 2)])
def test_agrees_with_network_simplex(
    shape: tuple[int, int], kind: str, steps: tuple[float | None, float | None]
) -> None:
    rng = np.random.default_rng([shape[0], shape[1], len(kind)])
    p, q = _pair(rng, shape, kind)
    step_x, step_y = (1 / max(shape) if s is None else s for s in steps)
    found = grid_emd(p, q, *steps)
    expected = _pot(p, q, step_x, step_y)
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert found.gap <= 1e-9 * found.value + 1e-13
    _check_certificate(found, p, q, step_x, step_y)


@pytest.mark.parametrize("steps", [(1.0, 1.0), (0.83, 1.21)])
def test_agrees_with_a_linear_programme(steps: tuple[float, float]) -> None:
    p, q = _pair(np.random.default_rng(11), (24, 32), "peaks")
    assert grid_emd(p, q, *steps).value == pytest.approx(_highs(p, q, *steps), rel=1e-8)


@pytest.mark.parametrize("ratio", [1.0, 0.76, 0.05, 40.0])
def test_certified_at_size(ratio: float) -> None:
    """Smooth maps, where flow crosses the whole grid, with a certificate instead of a peer."""
    rows, columns = np.indices((96, 128)) / 128
    rng = np.random.default_rng(5)
    maps = []
    for _ in range(2):
        grid = np.zeros((96, 128))
        for y, x, w in rng.random((12, 3)):
            grid += w * np.exp(-((rows - 0.75 * y) ** 2 + (columns - x) ** 2) / 0.004)
        maps.append(grid / grid.sum())
    p, q = maps
    found = grid_emd(p, q, ratio / 128, 1 / 128)
    assert found.gap <= 1e-10 * found.value
    _check_certificate(found, p, q, ratio / 128, 1 / 128)


@pytest.mark.full
def test_nearly_flat_is_still_exact() -> None:
    """Tiny differences over wide supports: the integers are scaled to what has to move."""
    rng = np.random.default_rng(8)
    p = np.ones((16, 16)) / 256
    move = rng.random((16, 16)) * 1e-9
    q = p + (move - move.mean())
    q /= q.sum()
    found = grid_emd(p, q)
    assert found.value == pytest.approx(_pot(p, q, 1 / 16, 1 / 16), rel=1e-5)
    assert found.lower <= found.value <= found.upper
    assert found.gap < 1e-14


@st.composite
def grids(draw: st.DrawFn, count: int = 2, most: int = 12) -> tuple[np.ndarray, ...]:
    shape = draw(st.tuples(st.integers(1, most), st.integers(1, most)))
    kind = draw(st.sampled_from(["noise", "peaks", "few"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    made: list[np.ndarray] = []
    while len(made) < count:
        made += _pair(rng, shape, kind)
    return tuple(made[:count])


step = st.floats(0.01, 10)


@given(grids(3), step, step)
def test_is_a_metric(three: tuple[np.ndarray, ...], step_x: float, step_y: float) -> None:
    p, q, r = three
    pq, qp = grid_emd(p, q, step_x, step_y), grid_emd(q, p, step_x, step_y)
    assert pq.value == pytest.approx(qp.value, rel=1e-9, abs=1e-12)
    pr, rq = grid_emd(p, r, step_x, step_y), grid_emd(r, q, step_x, step_y)
    assert pq.value <= (pr.value + rq.value) * (1 + 1e-9) + 1e-12
    assert grid_emd(p, p, step_x, step_y).value == 0
    assert (pq.value > 0) == (not np.array_equal(p, q))


@given(grids(), step, step, st.sampled_from([0, 1, 2, 3]))
def test_symmetries_and_scale(
    pair: tuple[np.ndarray, ...], step_x: float, step_y: float, turn: int
) -> None:
    p, q = pair
    value = grid_emd(p, q, step_x, step_y).value
    across, along = (step_x, step_y) if turn % 2 == 0 else (step_y, step_x)
    turned = grid_emd(np.rot90(p, turn), np.rot90(q, turn), across, along).value
    assert turned == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert grid_emd(7 * p, 7 * q, 3 * step_x, 3 * step_y).value == pytest.approx(
        21 * value, rel=1e-9, abs=1e-11
    )
    wider = grid_emd(np.pad(p, 3), np.pad(q, 3), step_x, step_y).value
    assert wider == pytest.approx(value, rel=1e-9, abs=1e-12)


@given(grids(most=40), step, step, st.integers(1, 48))
def test_interval_holds_the_distance(
    pair: tuple[np.ndarray, ...], step_x: float, step_y: float, blocks: int
) -> None:
    p, q = pair
    exact = grid_emd(p, q, step_x, step_y)
    interval = block_interval(p, q, step_x, step_y, blocks)
    assert interval.lower <= exact.upper
    assert exact.lower <= interval.upper
    assert interval.upper <= pyramid_bound(p, q, step_x, step_y) * (1 + 1e-9) + 1e-12
    assert interval.lower >= marginal_bound(p, q, step_x, step_y) * (1 - 1e-9) - 1e-12


@given(grids(most=20), step, step)
def test_closed_bounds(pair: tuple[np.ndarray, ...], step_x: float, step_y: float) -> None:
    p, q = pair
    found = grid_emd(p, q, step_x, step_y)
    assert marginal_bound(p, q, step_x, step_y) <= found.upper * (1 + 1e-12)
    assert pyramid_bound(p, q, step_x, step_y) >= found.lower * (1 - 1e-12)


def test_interval_of_a_fine_grid_is_useful() -> None:
    """At Δ = 128 and 64 blocks the width is what the specification says: 2(1/h − 1/Δ) at most."""
    p, q = _pair(np.random.default_rng(2), (128, 128), "peaks")
    exact = grid_emd(p, q).value
    interval = block_interval(p, q, blocks=64)
    assert interval.lower <= exact <= interval.upper
    assert interval.upper - interval.block_emd <= 2 * (1 / 64 - 1 / 128)
    assert interval.lower >= 0.7 * exact
    assert interval.upper <= 1.5 * exact
    narrow = block_interval(p, q, blocks=128)
    assert narrow.upper - narrow.lower < 1e-10


@pytest.mark.parametrize("steps", [(None, None), (0.4, 0.6)])
def test_interval_of_smooth_maps_is_narrow(steps: tuple[float | None, float | None]) -> None:
    rows, columns = np.indices((128, 128)) / 128
    p = np.exp(-((rows - 0.3) ** 2 + (columns - 0.4) ** 2) / 0.01)
    q = np.exp(-((rows - 0.6) ** 2 + (columns - 0.5) ** 2) / 0.02) + 0.2 * p
    p, q = p / p.sum(), q / q.sum()
    exact = grid_emd(p, q, *steps).value
    interval = block_interval(p, q, *steps, blocks=32)
    assert 0.98 * exact <= interval.lower <= exact <= interval.upper <= 1.02 * exact


@pytest.mark.parametrize("steps", [(1.0, 1.0), (0.3, 2.0)])
def test_known_values(steps: tuple[float, float]) -> None:
    p, q = np.zeros((20, 30)), np.zeros((20, 30))
    p[2, 3], q[17, 25] = 1, 1
    expected = 22 * steps[0] + 15 * steps[1]
    assert grid_emd(p, q, *steps).value == pytest.approx(expected, rel=1e-12)
    corner = np.zeros((20, 30))
    corner[0, 0] = 1
    uniform = np.full((20, 30), 1 / 600)
    expected = 14.5 * steps[0] + 9.5 * steps[1]
    assert grid_emd(corner, uniform, *steps).value == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_line_is_closed_form(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = _pair(rng, (1, n), "peaks")
    expected = np.abs(np.cumsum(p - q)).sum() * 0.5
    assert grid_emd(p, q, 0.5, 1.0).value == pytest.approx(expected, rel=1e-9, abs=1e-13)
    x = rng.random(n)
    order = np.argsort(x)
    scipy_value = scipy.stats.wasserstein_distance(x, x, p.ravel(), q.ravel())
    assert line_emd(x, p.ravel(), q.ravel()) == pytest.approx(scipy_value, rel=1e-9, abs=1e-13)
    assert line_emd(x[order], p.ravel()[order], q.ravel()[order]) == pytest.approx(scipy_value)


def test_nothing_to_move() -> None:
    one = grid_emd(np.ones((1, 1)), np.ones((1, 1)))
    assert (one.lower, one.value, one.upper) == (0, 0, 0)
    zero = np.zeros((8, 8))
    assert grid_emd(zero, zero).upper == 0
    p = np.random.default_rng(1).random((64, 64))
    same = grid_emd(p, p.copy())
    assert same.value == 0
    assert same.upper < 1e-10
    interval = block_interval(p, p.copy(), blocks=16)
    assert (interval.lower, interval.block_emd) == (0, 0)
    assert interval.upper < 1e-10


def test_last_digits_of_the_sum_are_forgiven() -> None:
    p, q = _pair(np.random.default_rng(3), (9, 9), "noise")
    assert grid_emd(p, q * (1 + 1e-12)).value == pytest.approx(grid_emd(p, q).value, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.ones((2, 3))}, "q: shape"),
        ({"p": np.array([[1.0, -1], [1, 1]])}, "p: masses"),
        ({"p": np.array([[1.0, math.nan], [1, 1]])}, "p: masses"),
        ({"q": 1.001 * np.ones((2, 2))}, "q: its sum"),
        ({"q": np.zeros((2, 2))}, "q: its sum"),
        ({"p": np.ones(4), "q": np.ones(4)}, "two sides"),
        ({"p": np.ones((0, 4)), "q": np.ones((0, 4))}, "at least one"),
        ({"step_x": 0.0}, "step_x"),
        ({"step_y": -1.0}, "step_y"),
        ({"step_y": math.inf}, "step_y"),
        ({"step_x": 1e-12, "step_y": 1.0}, "differ too much"),
    ],
)
def test_refuses(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"p": np.ones((2, 2)), "q": np.ones((2, 2))} | change
    with pytest.raises(ValueError, match=message):
        grid_emd(**arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="blocks"):
        block_interval(np.ones((2, 2)), np.ones((2, 2)), blocks=0)


def test_compiler_stays_away_until_needed() -> None:
    """The window imports the module; numba in its process would hold up drawing."""
    code = (
        "import sys; import explorer.privacy.transport.grid as t; "
        "t.marginal_bound([[1, 0]], [[0, 1]]); "
        "t.line_emd([0, 1], [1, 0], [0, 1]); sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_folder_to_keep_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba.njit

    def njit(*args: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(lambda x: x + 1)(41) == 42


def test_line_refuses() -> None:
    with pytest.raises(ValueError, match="positions"):
        line_emd([0, math.inf], [1, 0], [0, 1])
    with pytest.raises(ValueError, match="shape"):
        line_emd([0, 1, 2], [1, 0], [0, 1])
    with pytest.raises(ValueError, match="sum"):
        line_emd([0, 1], [1, 0], [0, 2])


def _exactly(p: np.ndarray, q: np.ndarray, psi: np.ndarray) -> Fraction:
    """Return Σψ(p − q) of these doubles without any rounding."""
    return sum(
        Fraction(float(s)) * (Fraction(float(a)) - Fraction(float(b)))
        for s, a, b in zip(psi.ravel(), p.ravel(), q.ravel(), strict=True)
    )


@pytest.mark.parametrize("seed", range(40))
def test_every_rounding_of_a_certificate_is_counted_against_it(seed: int) -> None:
    """In fractions: ψ changes by no more than the steps, and below stands no more than it proves.

    A term of 2⁻⁵² with the wrong sign puts ψ, or the bound, on the other side of the truth.
    """
    rng = np.random.default_rng(seed)
    p, q = _pair(rng, (5, 7), ("noise", "peaks", "few")[seed % 3])
    step_x, step_y = ((1 / 7, 1 / 7), (0.7, 1.3), (0.1, 0.3))[seed // 3 % 3]
    found = grid_emd(p, q, step_x, step_y)
    for axis, step in ((1, step_x), (0, step_y)):
        along = np.moveaxis(found.potential, axis, 0)
        for one, other in zip(along[:-1].ravel(), along[1:].ravel(), strict=True):
            assert abs(Fraction(float(one)) - Fraction(float(other))) <= Fraction(step)
    proved = _exactly(p, q, found.potential)
    assert Fraction(found.lower) <= proved
    # And before the mass that normalising left over is taken off, too.
    difference = p - q
    scale = float(np.clip(difference, 0, None).sum())
    supply, _ = grid._integers(difference, scale)
    units = grid._integer_costs(step_x, step_y, 12)
    potential, *_ = grid.solve(supply, *units[:2])
    psi, lower = grid._dual(potential, units[2], difference)
    exact = sum(
        Fraction(float(s)) * Fraction(float(d))
        for s, d in zip(psi.ravel(), difference.ravel(), strict=True)
    )
    assert Fraction(lower) <= exact


@pytest.mark.parametrize("cells", [2, 3, 40, 200])
@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 3])
def test_a_certified_interval_holds_the_distance_in_fractions(cells: int, step: float) -> None:
    """All mass from one end of a line to the other: (cells − 1)·step, a product of two doubles."""
    p, q = np.zeros((1, cells)), np.zeros((1, cells))
    p[0, 0] = q[0, -1] = 1.0
    exact = (cells - 1) * Fraction(step)
    whole = grid_emd(p, q, step, step)
    assert Fraction(whole.lower) <= exact <= Fraction(whole.upper)
    merged = block_interval(p, q, step, step, blocks=16)
    assert Fraction(merged.lower) <= exact <= Fraction(merged.upper)


@given(
    st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1, max_size=70),
    st.integers(1, 3),
)
def test_sums_are_rounded_once(cells: list[float], times: int) -> None:
    """What cancels leaves what is left, as with `math.fsum`."""
    for given_cells in (cells, [*cells, *(-x for x in cells[1:])]):
        array = np.array(given_cells * times) / 1e6  # no sum on the way overflows
        exact, sizes = math.fsum(array), math.fsum(np.abs(array))
        assert abs(grid._sum(array) - exact) <= math.ulp(exact) + 2.0**-90 * sizes


@pytest.mark.parametrize("name", ["p", "q"])
def test_masses_whose_sum_no_float_holds_are_refused(name: str) -> None:
    masses = {"p": np.ones((2, 2)), "q": np.ones((2, 2)), name: np.full((2, 2), 1e308)}
    with pytest.raises(ValueError, match=f"^{name}: its sum is larger than a float can be"):
        grid_emd(**masses)
