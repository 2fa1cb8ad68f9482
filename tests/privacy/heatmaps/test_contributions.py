"""How one user's check-ins become their distribution, and what that does to the sensitivity."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps import (
    aggregate,
    contribution_sizes,
    encode,
    integer_aggregate,
    user_cells,
)
from explorer.privacy.heatmaps.counts import WEIGHTS, Contribution

BOX = (0.0, 0.0, 4.0, 4.0)
# User 0: three check-ins in cell (0, 0), one in (0, 1), two in (3, 3). User 1: one each in (2, 2)
# and (2, 3). User 2: one outside, one in (1, 0).
VISITS = (
    *((0, 0, 0),) * 3, (0, 0, 1), *((0, 3, 3),) * 2, (1, 2, 3), (1, 2, 2), (2, 9, 9), (2, 1, 0),
)  # fmt: skip


def counted(rule: Contribution, visits=VISITS, weight=None, level: int = 2, whole: bool = False):
    user, row, column = np.array(visits).reshape(-1, 3).T
    size = 4 / 4 * (2**level / 4)
    given = (user, (row + 0.5) / size, (column + 0.5) / size, weight, BOX, level)
    if whole:
        return integer_aggregate(*given, resolution=1 << 10, rule=rule)
    return aggregate(*given, rule)


def grid_of(rule: Contribution, **more) -> dict[tuple[int, int], float]:
    grid = counted(rule, **more).grid()
    return {(int(i), int(j)): grid[i, j] for i, j in np.argwhere(grid)}


def test_by_checkins_is_what_it_was() -> None:
    assert grid_of(Contribution()) == pytest.approx(
        {(0, 0): 3 / 6, (0, 1): 1 / 6, (3, 3): 2 / 6, (2, 2): 1 / 2, (2, 3): 1 / 2, (1, 0): 1}
    )


def test_each_distinct_cell_weighs_the_same() -> None:
    assert grid_of(Contribution("cells")) == pytest.approx(
        {(0, 0): 1 / 3, (0, 1): 1 / 3, (3, 3): 1 / 3, (2, 2): 1 / 2, (2, 3): 1 / 2, (1, 0): 1}
    )


def test_one_cell_is_the_most_visited_and_of_equal_ones_the_first() -> None:
    assert grid_of(Contribution("one-cell")) == {(0, 0): 1, (2, 2): 1, (1, 0): 1}


def test_weights_of_the_file_count_as_so_many_visits() -> None:
    weight = np.array([1, 1, 1, 1, 1.5, 2, 1, 1, 1, 1])
    assert grid_of(Contribution("one-cell"), weight=weight)[3, 3] == 1
    assert grid_of(Contribution("cells"), weight=weight) == grid_of(Contribution("cells"))
    assert grid_of(Contribution(), weight=weight)[3, 3] == pytest.approx(3.5 / 7.5)


def test_at_most_so_many_checkins_of_a_user_count() -> None:
    """Of six check-ins in Morton order, (0, 0) thrice, (0, 1), (3, 3) twice, every second."""
    mine = VISITS[:6]
    capped = grid_of(Contribution(cap=3), visits=mine)
    # Numbers ⌊(j + s)·2⌋: 0, 2, 4 or 1, 3, 5.
    assert capped in (
        {(0, 0): pytest.approx(2 / 3), (3, 3): pytest.approx(1 / 3)},
        {(0, 0): pytest.approx(1 / 3), (0, 1): pytest.approx(1 / 3), (3, 3): pytest.approx(1 / 3)},
    )
    assert set(grid_of(Contribution(cap=1), visits=mine).values()) == {1}
    for enough in (6, 7, 10**6):
        assert grid_of(Contribution(cap=enough)) == grid_of(Contribution())


def test_no_place_in_the_order_is_preferred() -> None:
    """Of two check-ins by many users in random cells, the first counts about as often."""
    rng = np.random.default_rng(1)
    users, level = 1000, 6
    cells = rng.integers(0, 2**level, (users, 2, 2))
    visits = [(u, *cells[u, i]) for u in range(users) for i in range(2)]
    counts = counted(Contribution(cap=1), visits, level=level)
    firsts = 0
    codes = np.sort(encode(cells[:, :, 0], cells[:, :, 1]), axis=1)
    for u in range(users):
        one = counted(Contribution(cap=1), [(0, *cells[u, i]) for i in range(2)], level=level)
        firsts += int(one.codes[0] == codes[u, 0])
    assert counts.total == users
    assert abs(firsts / users - 0.5) < 5 * 0.5 / np.sqrt(users)


def by_definition(rows: list, weights: list, level: int, rule: Contribution) -> np.ndarray:
    """Return what the rule's docstring says, user by user, without a cap."""
    found = np.zeros((2**level, 2**level))
    mine: dict[int, Counter] = defaultdict(Counter)
    for (u, i, j), w in zip(rows, weights, strict=True):
        if i < 2**level and j < 2**level:
            mine[u][i, j] += w
    for visits in mine.values():
        if rule.weights == "one-cell":
            order = sorted(visits, key=lambda c: int(encode(np.array(c[0]), np.array(c[1]))))
            visits = Counter({max(order, key=lambda c: visits[c]): 1})
        elif rule.weights == "cells":
            visits = Counter(dict.fromkeys(visits, 1))
        for cell, w in visits.items():
            found[cell] += w / visits.total()
    return found


row = st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 9))
people = st.lists(st.tuples(row, st.integers(1, 3)), max_size=40)
rules = st.builds(Contribution, st.sampled_from(WEIGHTS), st.one_of(st.none(), st.integers(1, 12)))


@given(people, st.sampled_from(WEIGHTS), st.booleans())
def test_the_definition(found: list, weights: str, weighted: bool) -> None:
    rows, w = [r for r, _ in found], [x if weighted else 1 for _, x in found]
    weight = np.array(w, float) if weighted else None
    rule = Contribution(weights)
    counts = counted(rule, rows, weight, level=3)
    np.testing.assert_allclose(counts.grid(), by_definition(rows, w, 3, rule), atol=1e-12)


@given(people, rules, st.booleans(), st.integers(0, 5), st.randoms())
def test_a_user_is_a_distribution_and_changes_nobody_else(
    found: list, rule: Contribution, weighted: bool, who: int, random
) -> None:
    """ℓ1 ≤ 1, whatever a user does, and neighbours differ by that user alone at every level.

    The rows' order and the users' indices, which others' coming and going changes, are no matter.
    """

    def of(rows: list, renumber: int = 0):
        weight = np.array([w for _, w in rows], float) if weighted else None
        return counted(rule, [(u + renumber, i, j) for (u, i, j), _ in rows], weight, level=3)

    every = of(found)
    others = of([r for r in found if r[0][0] != who], renumber=7)
    mine = of([r for r in found if r[0][0] == who])
    inside = {u for (u, i, j), _ in found if i < 8 and j < 8}
    assert every.users == len(inside)
    assert mine.total == pytest.approx(int(who in inside), abs=1e-12)
    assert (mine.masses > 0).all()
    for level in range(4):
        change = every.dense(level) - others.dense(level)
        assert np.abs(change).sum() <= 1 + 1e-12
        np.testing.assert_allclose(change, mine.dense(level), atol=1e-12)
    shuffled = list(found)
    random.shuffle(shuffled)
    np.testing.assert_allclose(of(shuffled).grid(), every.grid(), atol=1e-12)


@given(people, st.sampled_from(WEIGHTS), st.integers(1, 12))
def test_so_many_count_and_all_of_them_are_the_users_own(
    found: list, weights: str, cap: int
) -> None:
    rows = [r for r, _ in found if r[0] == 0 and max(r[1:]) < 8]
    grid = counted(Contribution("checkins", cap), rows, level=3).grid()
    n = min(cap, len(rows))
    visits = Counter((i, j) for _, i, j in rows)
    for cell in np.ndindex(8, 8):
        times = grid[cell] * n
        assert times == pytest.approx(round(times), abs=1e-9)
        assert round(times) <= visits[cell]
    capped = counted(Contribution(weights, cap), rows, level=3).grid()
    kept = {(int(i), int(j)): grid[i, j] for i, j in np.argwhere(grid)}
    if weights == "cells":
        assert set(map(tuple, np.argwhere(capped).tolist())) == set(kept)
    elif weights == "one-cell" and kept:
        (only,) = map(tuple, np.argwhere(capped).tolist())
        assert kept[only] == pytest.approx(max(kept.values()))


@given(people, rules)
def test_whole_numbers_follow_the_same_rule(found: list, rule: Contribution) -> None:
    rows = [r for r, _ in found]
    whole, real = counted(rule, rows, level=3, whole=True), counted(rule, rows, level=3)
    assert whole.masses.sum() == real.users << 10
    there = np.zeros(64)
    there[whole.codes] = whole.masses / (1 << 10)
    np.testing.assert_allclose(there, real.dense(3), atol=6 / (1 << 10) + 1e-12)
    user, i, j = np.array(rows).reshape(-1, 3).T
    each = user_cells(user, (i + 0.5) / 2, (j + 0.5) / 2, None, BOX, 3, rule).counts(1 << 10)
    np.testing.assert_array_equal(each.codes, whole.codes)
    np.testing.assert_array_equal(each.masses, whole.masses)


def test_indices_too_large_for_one_number_are_sorted_all_the_same() -> None:
    """As with so many users on so fine a grid that both do not fit 62 bits."""
    huge = [(u << 40, i, j) for u, i, j in VISITS]
    from explorer.privacy.heatmaps.counts import _by_user

    user, i, j = np.array(huge).T
    codes = encode(i, j)
    for weight in (None, np.arange(1.0, 11.0)):
        far, near = (_by_user(user, codes, weight, level) for level in (11, 4))
        np.testing.assert_array_equal(far.user, near.user)
        np.testing.assert_array_equal(far.codes, near.codes)


def test_how_much_each_user_has() -> None:
    user, i, j = np.array(VISITS).T
    checkins, cells = contribution_sizes(user, (i + 0.5), (j + 0.5), BOX, 2)
    assert checkins.tolist() == [6, 2, 1]
    assert cells.tolist() == [3, 2, 1]
    nothing = contribution_sizes(user[:0], i[:0], j[:0], BOX, 2)
    assert [len(part) for part in nothing] == [0, 0]


@pytest.mark.parametrize("wrong", [{"cap": 0}, {"weights": "visits"}])
def test_rules_that_there_are_not_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Contribution(**wrong)
