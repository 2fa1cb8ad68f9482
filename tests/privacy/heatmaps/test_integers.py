"""What a release is made of: whole numbers, exact budgets, and privacy by enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps import (
    IntegerCounts,
    aggregate,
    cumulative_floors,
    depth_cap,
    exact_epsilons,
    fit,
    integer_aggregate,
    integer_counts,
    reconstruct,
    release_levels,
    release_measurement,
    schedule,
)
from explorer.privacy.heatmaps.budget_schedule import EPSILON_UNIT
from explorer.privacy.heatmaps.integers import RESOLUTION
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.noise.demonstration import discrete_laplace_pmf
from explorer.privacy.noise.exact import discrete_laplace

BOX = (10.0, 20.0, 12.0, 24.0)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=200),
    st.sampled_from([1, 2, 16, 256, RESOLUTION, 2**33]),
)
def test_cumulative_floors_by_definition(visits: list[int], resolution: int) -> None:
    z = cumulative_floors(np.array(visits), resolution)
    total = sum(visits)
    running = 0
    for count, ours in zip(visits, z.tolist(), strict=True):
        before, running = running, running + count
        assert ours == resolution * running // total - resolution * before // total
    assert z.min() >= 0
    assert int(z.sum()) == resolution
    # Any run of neighbours, hence every cell of every level, is within 1 of B times its share.
    sums = np.concatenate([[0], np.cumsum(z)]).tolist()
    shares = np.concatenate([[0], np.cumsum(visits)]).tolist()
    for i in range(0, len(sums), 7):
        for j in range(i, len(sums), 5):
            exact = Fraction(resolution * (shares[j] - shares[i]), total)
            assert abs(sums[j] - sums[i] - exact) < 1


rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 63), st.integers(1, 50)), min_size=0, max_size=60
)


def counted(points: list[tuple[int, int, int]], resolution: int = 97) -> IntegerCounts:
    table = np.array(points, np.int64).reshape(-1, 3).T
    return integer_counts(*table, level=3, resolution=resolution)


@given(rows, st.sampled_from([1, 5, 97, RESOLUTION]))
def test_counts_are_the_users_sums(points: list, resolution: int) -> None:
    ours = counted(points, resolution)
    expected: Counter[int] = Counter()
    for who in {u for u, _, _ in points}:
        visits: Counter[int] = Counter()
        for u, cell, times in points:
            if u == who:
                visits[cell] += times
        cells = sorted(visits)
        z = cumulative_floors(np.array([visits[c] for c in cells]), resolution)
        for cell, value in zip(cells, z.tolist(), strict=True):
            expected[cell] += value
    found = dict(zip(ours.codes.tolist(), ours.masses.tolist(), strict=True))
    assert found == {c: v for c, v in expected.items() if v}
    assert ours.users == len({u for u, _, _ in points})
    assert int(ours.masses.sum()) == resolution * ours.users


@given(rows, st.integers(0, 6), st.sampled_from([1, 5, 97, RESOLUTION]))
def test_one_user_changes_every_level_by_exactly_b(points: list, who: int, resolution: int) -> None:
    every = counted(points, resolution)
    others = counted([p for p in points if p[0] != who], resolution)
    present = any(p[0] == who for p in points)
    for i in range(4):
        cells = np.arange(4**i)
        change = every.at(i, cells) - others.at(i, cells)
        assert (change >= 0).all()
        assert int(change.sum()) == (resolution if present else 0)


def test_checkins_become_the_same_cells_as_for_the_screen() -> None:
    rng = np.random.default_rng(1)
    user, weight = rng.integers(0, 30, 500), rng.integers(1, 5, 500)
    latitude, longitude = rng.uniform(9.9, 12.1, 500), rng.uniform(19.9, 24.1, 500)
    whole = integer_aggregate(user, latitude, longitude, weight, BOX, 5)
    real = aggregate(user, latitude, longitude, weight, BOX, 5)
    assert whole.users == real.users
    for i in range(6):
        cells = np.arange(4**i)
        np.testing.assert_allclose(
            whole.at(i, cells) / RESOLUTION, real.dense(i), atol=real.users / RESOLUTION
        )
    plain = integer_aggregate(user, latitude, longitude, None, BOX, 5)
    assert int(plain.masses.sum()) == plain.users * RESOLUTION


def test_no_rows() -> None:
    empty = counted([])
    assert (empty.users, len(empty.codes)) == (0, 0)
    assert empty.at(2, np.arange(16)).tolist() == [0] * 16


@pytest.mark.parametrize(
    ("change", "error", "name"),
    [
        ({"visits": np.array([1.0, 2.0])}, TypeError, "visits"),
        ({"user": np.array([0.0, 1.0])}, TypeError, "user"),
        ({"visits": np.array([1, 0])}, ValueError, "visits"),
        ({"visits": np.array([1])}, ValueError, "visits"),
        ({"cell": np.array([0, 64])}, ValueError, "cell"),
        ({"cell": np.array([0, -1])}, ValueError, "cell"),
        ({"resolution": 0}, ValueError, "resolution"),
        ({"resolution": 2**62}, ValueError, "resolution"),
        ({"visits": np.array([2**50, 1])}, ValueError, "resolution"),
        ({"visits": np.array([2**62, 2**62])}, ValueError, "resolution"),
    ],
)
def test_wrong_input_is_named(change: dict, error: type[Exception], name: str) -> None:
    good: dict[str, Any] = {
        "user": np.array([0, 1]),
        "cell": np.array([3, 5]),
        "visits": np.array([1, 2]),
        "level": 3,
        "resolution": RESOLUTION,
    }
    with pytest.raises(error, match=name):
        integer_counts(**{**good, **change})


def test_weights_of_a_release_are_whole() -> None:
    with pytest.raises(ValueError, match="weight"):
        integer_aggregate(np.zeros(1, int), [11.0], [22.0], np.array([0.5]), BOX, 3)


@given(
    epsilon=st.fractions(Fraction(1, 1000), 800),
    level=st.integers(0, 10),
    w=st.integers(1, 300),
    variant=st.sampled_from(["experiments", "theory"]),
    assumed=st.integers(1, 10**6),
)
def test_exact_epsilons_never_exceed_the_total(
    epsilon: Fraction, level: int, w: int, variant: str, assumed: int
) -> None:
    q = schedule(1.0, level, w, variant).q
    last = depth_cap(float(epsilon), assumed, q, level)
    plan = schedule(float(epsilon), level, w, variant, last=last)
    parts = exact_epsilons(plan, epsilon)
    assert sum(parts) <= epsilon
    assert epsilon - sum(parts) < len(parts) * EPSILON_UNIT
    for i, part in enumerate(parts):
        assert part % EPSILON_UNIT == 0
        assert (part > 0) == (i in plan.measured)
        assert float(part) == pytest.approx(plan.epsilon[i], rel=1e-6, abs=2**-39)


def test_too_little_for_a_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        exact_epsilons(schedule(1.0, 20, 4), Fraction(1, 10**12))
    with pytest.raises(ValueError, match="epsilon"):
        exact_epsilons(schedule(1.0, 2, 4), Fraction(0))


class Scripted:
    """A sampler that returns prescribed noise in order and remembers the scales."""

    def __init__(self, noise: tuple[int, ...]) -> None:
        self.noise, self.at, self.scales = noise, 0, []

    def __call__(self, scale: Fraction, size: int, bits: None) -> np.ndarray:
        self.scales.append((scale, size))
        part = self.noise[self.at : self.at + size]
        self.at += size
        return np.array(part, np.int64)


def law(
    counts: IntegerCounts, w: int, epsilons: tuple, plan: Any, reach: int, silent: tuple = ()
) -> dict:
    """Output law of the code over all noise in ±reach: outcome → probability.

    Of outcomes in which what is read at the `silent` places has no noise.
    """
    found: dict[Any, float] = defaultdict(float)
    reads = 1 + 4 if counts.level == 1 else 1 + 4 + 4
    tables = [
        dict(
            zip(
                range(-reach, reach + 1),
                discrete_laplace_pmf(
                    np.arange(-reach, reach + 1), float(counts.resolution / epsilons[i])
                ),
                strict=True,
            )
        )
        for i in range(counts.level + 1)
    ]
    levels = [0] + [1] * 4 + [2] * 4
    heard = [(0,) if i in silent else range(-reach, reach + 1) for i in range(reads)]
    for noise in product(*heard):
        m = release_measurement(counts, plan, epsilons, w, Scripted(noise), None)
        outcome = tuple(
            (tuple(c.tolist()), tuple(v.tolist())) for c, v in zip(m.codes, m.values, strict=True)
        )
        weight = 1.0
        for level, k in zip(levels, noise, strict=False):
            weight *= tables[level][k]
        found[outcome] += weight
    return found


@pytest.mark.full
def test_every_outcome_is_within_exp_epsilon() -> None:
    """Exact enumeration of the code that runs, Δ = 2, B = 1, w = 1: noise in ±3 for 5 reads.

    Cell 1 is the same in both, and its noise is left out.

    A window of ±3 contains all noise of the narrower ±2 seen from the neighbour, whose counts
    differ by at most B = 1: every outcome of the narrower law must be in the wider one, with odds
    of at most e^ε; and some outcome comes near it.
    """
    plan = schedule(1.2, 1, 1, "theory")
    epsilons = exact_epsilons(plan, Fraction(6, 5))
    people = [(0, 0, 2), (1, 3, 1)]
    table = np.array(people).T
    one = integer_counts(*table, level=1, resolution=1)
    worst = 0.0
    other = integer_counts(*np.array([*people, (2, 2, 5)]).T, level=1, resolution=1)
    for narrow, wide in ((one, other), (other, one)):
        inner, outer = (
            law(counts, 1, epsilons, plan, reach, (2,))
            for counts, reach in ((narrow, 2), (wide, 3))
        )
        for outcome, chance in inner.items():
            worst = max(worst, chance / outer[outcome])
    total = float(sum(epsilons))
    assert worst <= np.exp(total) * (1 + 1e-12)
    assert worst >= np.exp(total) * (1 - 1e-9)


@pytest.mark.full
def test_choosing_cells_leaks_nothing_more() -> None:
    """The same on two levels below the root: which cells are read depends on noisy counts alone."""
    plan = schedule(1.0, 2, 1, "theory")
    epsilons = exact_epsilons(plan, Fraction(1))
    one = integer_counts(np.array([0]), np.array([0]), np.array([1]), 2, 1)
    other = integer_counts(np.array([0, 1]), np.array([0, 7]), np.array([1, 1]), 2, 1)
    # Of the four cells on the last level one differs; two others are read without noise.
    inner, outer = (law(counts, 1, epsilons, plan, 1, (6, 7)) for counts in (one, other))
    common = inner.keys() & outer.keys()
    assert len(common) > 300
    odds = [outer[o] / inner[o] for o in common]
    assert max(odds) <= np.exp(float(sum(epsilons))) * (1 + 1e-12)
    assert min(odds) >= np.exp(-float(sum(epsilons))) * (1 - 1e-12)


def test_each_level_gets_noise_of_its_own_scale() -> None:
    counts = counted([(0, 5, 1), (1, 60, 2)])
    plan = schedule(1.0, 3, 4, last=2)
    epsilons = exact_epsilons(plan, Fraction(1))
    silent = Scripted((0,) * 100)
    m = release_measurement(counts, plan, epsilons, 4, silent, None)
    assert silent.scales == [(97 / epsilons[1], 4), (97 / epsilons[2], 16)]
    assert m.level == 2
    # Without noise the counts are exact, and so is everything made of them.
    assert m.values[0].tolist() == [1, 0, 0, 1]
    assert reconstruct(m).total == 2
    noisy = release_levels(counts, plan, epsilons, Scripted((0,) * 100), None)
    assert fit(noisy).total == pytest.approx(2)
    assert noisy.values[1][[1, 15]].tolist() == [1, 1]


def test_noise_of_any_size_is_added_exactly() -> None:
    counts = counted([(0, 5, 1)], RESOLUTION)
    plan = schedule(1.0, 3, 1, "theory", last=0)
    epsilons = exact_epsilons(plan, Fraction(1))

    def sampler(scale: Fraction, size: int, bits: None) -> np.ndarray:
        return np.array([2**70] * size, object)

    assert release_levels(counts, plan, epsilons, sampler, None).values[0][0] == 2.0**50 + 1


def test_a_release_with_the_exact_sampler() -> None:
    """The noise of 4,096 cells has the law of discrete Laplace noise of scale B/ε_6.

    Its mean magnitude within 5 standard errors (false alarm 6e-7), its counts by sign likewise.
    """
    counts = counted([(u, (7 * u) % 64, 1 + u % 3) for u in range(40)], 1 << 10)
    fine = IntegerCounts(6, counts.codes << 6, counts.masses, counts.users, counts.resolution)
    plan = schedule(1.0, 6, 4096)
    epsilons = exact_epsilons(plan, Fraction(3, 4))
    assert plan.start == 6
    bits = SeededBits(np.random.default_rng(11))
    noisy = release_levels(fine, plan, epsilons, discrete_laplace, bits)
    exact = fine.at(6, np.arange(4096))
    noise = noisy.values[0] * fine.resolution - exact
    assert (noise == np.rint(noise)).all()
    p = np.exp(-float(epsilons[6]) / fine.resolution)
    mean = 2 * p / (1 - p * p)
    square = 2 * p / (1 - p) ** 2
    assert abs(np.abs(noise).mean() - mean) < 5 * np.sqrt((square - mean**2) / 4096)
    assert abs(noise.mean()) < 5 * np.sqrt(square / 4096)
    small = schedule(1.0, 6, 4)
    parts = exact_epsilons(small, Fraction(1))
    lazy = release_measurement(fine, small, parts, 4, discrete_laplace, bits)
    assert reconstruct(lazy).total >= 0
    assert lazy.draws <= 4 + 16 * 5


def test_a_plan_for_another_grid_is_refused() -> None:
    plan = schedule(1.0, 2, 4)
    for counts, epsilons in ((counted([]), exact_epsilons(plan, Fraction(1))),):
        with pytest.raises(ValueError, match="level"):
            release_levels(counts, plan, epsilons, Scripted(()), None)
