"""Morton codes, aggregation and sensitivity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps import (
    CellCounts,
    aggregate,
    all_codes,
    children,
    decode,
    encode,
    from_grid,
    level_of,
    schedule,
)

BOX = (10.0, 20.0, 12.0, 24.0)


@given(st.lists(st.tuples(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1)), min_size=1))
def test_decode_undoes_encode(cells: list[tuple[int, int]]) -> None:
    row, column = np.array(cells).T
    back = decode(encode(row, column))
    np.testing.assert_array_equal(back, (row, column))


@pytest.mark.parametrize("level", range(5))
def test_codes_number_all_cells(level: int) -> None:
    codes = all_codes(level)
    assert sorted(codes.ravel().tolist()) == list(range(4**level))
    row, column = decode(codes)
    assert (row == np.arange(2**level)[:, None]).all()
    assert (column == np.arange(2**level)).all()


def test_descendants_are_one_range() -> None:
    row, column = decode(np.arange(4**3))
    for parent in range(16):
        inside = np.arange(4 * parent, 4 * parent + 4)
        r, c = decode(np.array([parent]))
        assert set(zip(row[inside] // 2, column[inside] // 2, strict=True)) == {(r[0], c[0])}
        np.testing.assert_array_equal(children(np.array([parent])), inside)


@pytest.mark.parametrize("side", [0, -4, 3, 255, 2**25])
def test_sides_that_are_no_power_of_two_are_refused(side: int) -> None:
    with pytest.raises(ValueError, match=str(side)):
        level_of(side)


@st.composite
def checkins(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    user = rng.integers(0, draw(st.integers(1, 8)), n)
    # Some outside the box, some exactly on its sides, some not a number.
    latitude = rng.choice([10.0, 12.0, 9.9, 12.1, 11.0, np.nan, *rng.uniform(10, 12, 20)], n)
    longitude = rng.choice([20.0, 24.0, 19.9, 24.1, *rng.uniform(20, 24, 20)], n)
    return user, latitude, longitude, rng.uniform(0.1, 9, n)


@given(checkins(), st.integers(0, 6), st.booleans())
def test_aggregate_is_the_definition(points: tuple, level: int, weighted: bool) -> None:
    user, latitude, longitude, weight = points
    if not weighted:
        weight = np.ones(len(user))
    expected = np.zeros((2**level, 2**level))
    with np.errstate(invalid="ignore"):
        inside = (latitude >= 10) & (latitude <= 12) & (longitude >= 20) & (longitude <= 24)
    present = set(user[inside].tolist())
    for u in present:
        mine = inside & (user == u)
        for lat, lon, part in zip(latitude[mine], longitude[mine], weight[mine], strict=True):
            row = min(int((lat - 10) / 2 * 2**level), 2**level - 1)
            column = min(int((lon - 20) / 4 * 2**level), 2**level - 1)
            expected[row, column] += part / weight[mine].sum()
    counts = aggregate(user, latitude, longitude, weight if weighted else None, BOX, level)
    np.testing.assert_allclose(counts.grid(), expected, atol=1e-12)
    assert counts.users == len(present)
    assert counts.rows == inside.sum()
    assert counts.total == pytest.approx(len(present), abs=1e-9)
    assert (np.diff(counts.codes) > 0).all()
    for i in range(level + 1):
        factor = 2 ** (level - i)
        blocks = expected.reshape(2**i, factor, 2**i, factor).sum(axis=(1, 3))
        np.testing.assert_allclose(counts.at(i, all_codes(i)), blocks, atol=1e-12)
        np.testing.assert_allclose(counts.coarsened(i).grid(), blocks, atol=1e-12)


@given(checkins(), st.integers(0, 6), st.integers(0, 7))
def test_one_user_changes_a_level_by_at_most_one(points: tuple, level: int, who: int) -> None:
    """ℓ1-sensitivity of every P_i s for adding or removing one user: the premise of ε-DP."""
    user, latitude, longitude, weight = points
    others = user != who
    with_them = aggregate(user, latitude, longitude, weight, BOX, level)
    without = aggregate(
        user[others], latitude[others], longitude[others], weight[others], BOX, level
    )
    for i in range(level + 1):
        cells = all_codes(i).ravel()
        change = np.abs(with_them.at(i, cells) - without.at(i, cells)).sum()
        assert change <= 1 + 1e-12
        if with_them.users > without.users:
            assert change == pytest.approx(1, abs=1e-9)


def test_checkins_outside_do_not_dilute_those_inside() -> None:
    """Normalised after dropping: one place inside, nine outside still weigh 1 (errata heat-24)."""
    latitude = np.array([11.0] + [50.0] * 9)
    counts = aggregate(np.zeros(10, int), latitude, np.full(10, 22.0), None, BOX, 3)
    assert counts.total == 1.0
    assert counts.rows == 1


def test_no_rows_and_no_users() -> None:
    nothing = np.zeros(0)
    counts = aggregate(nothing.astype(int), nothing, nothing, nothing, BOX, 8)
    assert (counts.users, counts.rows, counts.total) == (0, 0, 0.0)
    assert (counts.at(2, all_codes(2)) == 0).all()
    assert counts.grid().shape == (256, 256)


def test_unsigned_indices_are_indices() -> None:
    counts = aggregate(np.array([0, 3], np.uint32), [11, 11.5], [21, 22], None, BOX, 4)
    assert counts.users == 2


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"user": np.array([-1, 0])}, "user"),
        ({"user": np.array([0])}, "user"),
        ({"weight": np.array([1.0, -1.0])}, "weight"),
        ({"weight": np.array([1.0, np.inf])}, "weight"),
        ({"weight": np.array([1.0])}, "weight"),
    ],
)
def test_wrong_arrays_are_named(change: dict, name: str) -> None:
    good = {
        "user": np.array([0, 1]),
        "latitude": np.array([11.0, 11.5]),
        "longitude": np.array([21.0, 22.0]),
        "weight": np.ones(2),
    }
    with pytest.raises(ValueError, match=name):
        aggregate(**{**good, **change}, box=BOX, level=3)


def test_grids_are_checked() -> None:
    for bad in (np.zeros((3, 3)), np.zeros((2, 4)), np.zeros(4), -np.ones((2, 2)), [[np.nan]]):
        with pytest.raises(ValueError, match="grid"):
            from_grid(bad)
    assert from_grid([[1.0, 2.0], [0.0, 3.0]]).grid().tolist() == [[1.0, 2.0], [0.0, 3.0]]


@pytest.mark.parametrize("variant", ["experiments", "theory"])
@given(
    epsilon=st.floats(1e-6, 1e6),
    level=st.integers(0, 12),
    w=st.one_of(st.integers(1, 2000), st.sampled_from([4**k for k in range(13)])),
)
def test_levels_epsilons_add_up(variant: str, epsilon: float, level: int, w: int) -> None:
    plan = schedule(epsilon, level, w, variant)
    assert sum(plan.epsilon) == pytest.approx(epsilon, rel=1e-14)
    assert len(plan.epsilon) == level + 1
    assert 4**plan.q <= w
    assert plan.q == level or 4 ** (plan.q + 1) > w
    assert plan.start == (plan.q if variant == "experiments" else 0)
    assert all((e > 0) == (i >= plan.start) for i, e in enumerate(plan.epsilon))
    assert max(plan.epsilon) == plan.epsilon[plan.q]


def test_published_example() -> None:
    plan = schedule(1.0, 8, 20)
    assert [round(e, 5) for e in plan.epsilon[2:]] == [
        0.32129,
        0.22719,
        0.16065,
        0.11359,
        0.08032,
        0.05680,
        0.04016,
    ]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 3, 20), "epsilon"),
        ((-1.0, 3, 20), "epsilon"),
        ((float("nan"), 3, 20), "epsilon"),
        ((float("inf"), 3, 20), "epsilon"),
        ((1.0, -1, 20), "level"),
        ((1.0, 3, 0), "w"),
        ((1.0, 3, 20, "theory", 0.0), "gamma"),
        ((1.0, 3, 20, "theory", 1.5), "gamma"),
    ],
)
def test_schedule_names_what_is_wrong(arguments: tuple, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        schedule(*arguments)


def test_counts_cut_at_a_deep_level() -> None:
    counts = CellCounts(12, np.array([0, 4**12 - 1]), np.array([0.25, 0.75]), 1, 2)
    assert counts.at(0, np.array([0])) == 1.0
    assert counts.at(12, np.array([4**12 - 1])) == 0.75
    assert counts.at(1, np.arange(4)).tolist() == [0.25, 0, 0, 0.75]
