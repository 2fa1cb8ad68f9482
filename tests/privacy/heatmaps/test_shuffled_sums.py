"""The shuffle protocol's sums as the map draws them: the same as the messages', of the same law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from explorer.privacy.heatmaps import (
    SharedNoise,
    exact_epsilons,
    noisy_sums,
    run_protocol,
    schedule,
    shuffle_plan,
    shuffle_protocol,
    user_cells,
    user_vectors,
)
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.noise.demonstration import discrete_laplace_pmf

BOX = (0.0, 0.0, 1.0, 1.0)
USERS, RESOLUTION = 20, 3


def plan_for(users: int = USERS):
    parts = exact_epsilons(schedule(1.0, 2, 4), Fraction(1))
    return shuffle_plan(parts, users, RESOLUTION, 1e-6, guaranteed=USERS)


def test_sums_are_those_of_all_messages_whatever_the_noise(monkeypatch) -> None:
    """The users' noise given, and so large that some sums leave the modulus and wrap around."""
    plan, rng = plan_for(), np.random.default_rng(0)
    shares = rng.integers(-plan.modulus // 20, plan.modulus // 20, (USERS, plan.cells))
    monkeypatch.setattr(shuffle_protocol, "noise_shares", lambda *_: shares)
    user, where = np.arange(90) % USERS, rng.random((90, 2))
    cells = user_cells(user, where[:, 0], where[:, 1], None, BOX, 2)
    vectors = user_vectors(cells.user, cells.codes, cells.visits, plan)
    sent = run_protocol(vectors, plan, SeededBits(np.random.default_rng(1)))
    total = np.split(shares.sum(axis=0), np.cumsum([4**i for i in plan.levels])[:-1])
    read = noisy_sums(cells.counts(RESOLUTION), plan, lambda i, codes: total[i - 1][codes])
    outside = np.abs(shares.sum(axis=0)) > plan.tail
    assert 0 < outside.sum() < len(outside)
    for i in plan.levels:
        codes = np.arange(4**i)
        np.testing.assert_array_equal(read(i, codes), sent.read(i, codes))


@pytest.mark.parametrize("users", [USERS, 2 * USERS, 7 * USERS + 3])
def test_the_demonstrations_noise_has_the_law_of_all_shares_together(users: int) -> None:
    """Discrete Laplace of n₀ users; of more, a difference of negative binomials, term by term."""
    plan, level = plan_for(users), 2
    codes = np.arange(60_000)
    drawn = SharedNoise(plan, users, seed=5)(level, codes)
    k = np.arange(-400, 401)
    scale, shape = float(plan.scale(level)), users / USERS
    if users == USERS:
        law = discrete_laplace_pmf(k, scale)
    else:
        one = stats.nbinom.pmf(np.arange(801), shape, -np.expm1(-1 / scale))
        law = np.convolve(one, one[::-1])[len(one) - 1 - 400 : len(one) + 400]
    assert law.sum() == pytest.approx(1, abs=1e-6)
    edges = np.quantile(drawn, np.linspace(0.05, 0.95, 19)).astype(int)
    edges = np.unique(edges)
    expected = np.diff([0, *(law[k <= edge].sum() for edge in edges), 1])
    found = np.diff([0, *((drawn <= edge).sum() for edge in edges), len(drawn)])
    assert stats.chisquare(found, expected / expected.sum() * len(drawn)).pvalue > 1e-4


def test_noise_belongs_to_the_cell() -> None:
    for users in (USERS, USERS + 1):
        noise = SharedNoise(plan_for(users), users, seed=9)
        everything = noise(2, np.arange(16))
        np.testing.assert_array_equal(noise(2, np.array([11, 3])), everything[[11, 3]])


def test_weights_that_are_not_whole_change_nobody_elses_numbers() -> None:
    user, at = np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.9, 0.1, 0.6, 0.6])
    whole = user_cells(user, at, at, np.array([1.0, 2.0, 3.0, 1.0, 1.0]), BOX, 3)
    mixed = user_cells(user, at, at, np.array([1.0, 2.0, 0.5, 1e-9, 0.25]), BOX, 3)
    assert whole.visits.tolist() == [1, 2, 3, 2]
    assert mixed.visits.tolist() == [1 << 16, 2 << 16, 1 << 15, (1 << 14) + 1]
    for cells in (whole, mixed):
        counts = cells.counts(1 << 10)
        assert counts.masses.sum() == 2 << 10
        alone = user_cells(user[:2], at[:2], at[:2], np.array([1.0, 2.0]), BOX, 3).counts(1 << 10)
        others = user_cells(user[2:], at[2:], at[2:], None, BOX, 3)
        rest = type(cells)(3, others.user, others.codes, cells.visits[2:]).counts(1 << 10)
        every = np.arange(64)
        np.testing.assert_array_equal(counts.at(3, every), alone.at(3, every) + rest.at(3, every))
    nobody = user_cells(user[:0], at[:0], at[:0], None, BOX, 3)
    assert nobody.counts(8).users == 0


def test_counts_must_fit_the_plan() -> None:
    cells = user_cells(np.arange(21), np.full(21, 0.5), np.full(21, 0.5), None, BOX, 2)
    for counts, name in (
        (cells.counts(RESOLUTION), "users"),
        (cells.counts(2), "resolution"),
        (user_cells(np.zeros(0, int), np.zeros(0), np.zeros(0), None, BOX, 1).counts(3), "level"),
    ):
        with pytest.raises(ValueError, match=f"^{name}: "):
            noisy_sums(counts, plan_for(), lambda level, codes: codes)
