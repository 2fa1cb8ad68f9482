"""What runs on users' data: exact laws by enumeration, and distances between data sets."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy import spaces, user_metric as um
from explorer.privacy.noise.bits import SeededBits


class Script:
    """A source of bits that reads them from a list, so that every draw can be gone through."""

    def __init__(self, words):
        self._words = list(words)

    def words(self, count):
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count, "more words were drawn than the draw needs"
        return np.array(taken, dtype=np.uint64)


def bits(seed=0):
    return SeededBits(np.random.default_rng(seed))


def _line(*places):
    x = np.array(places)
    return np.abs(x[:, None] - x)


def _exact_level(weights, d):
    """The level in exact fractions, up to the last logarithm."""
    rows = [sum(row) for row in weights]
    return max(
        math.log(Fraction(weights[x][y] * rows[other], weights[other][y] * rows[x])) / d[x][other]
        for x, other in itertools.permutations(range(len(rows)), 2)
        for y in range(len(weights[0]))
    )


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("alpha0", [0.05, 1.0, 7.5])
@pytest.mark.parametrize(
    "d",
    [_line(0.0, 0.3, 1.0), 1.0 - np.eye(4), spaces.Grid(3, 3).matrix()],
    ids=["line", "0/1", "grid"],
)
def test_claimed_level_is_that_of_the_whole_numbers(d, alpha0, half):
    table = um.integer_table(alpha0, d, half=half)
    exact = _exact_level(table.weights, d)
    assert exact <= table.level <= alpha0
    assert table.level - exact < 1e-11
    assert min(map(min, table.weights)) > 0


def test_level_of_a_table_that_was_tampered_with_is_another():
    table = um.integer_table(1.0, 1.0 - np.eye(3))
    rows = [list(row) for row in table.weights]
    rows[0][1] //= 2
    worse = um.IntegerTable(rows, 1.0 - np.eye(3))
    assert worse.level >= _exact_level(rows, 1.0 - np.eye(3)) > 1.3 > table.level
    with pytest.raises(ValueError, match="above 0"):
        um.IntegerTable([[1, 0], [1, 1]], 1.0 - np.eye(2))
    with pytest.raises(ValueError, match="distance 0"):
        um.IntegerTable([[1, 2], [2, 1]], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="more bits"):
        um.integer_table(400.0, 1.0 - np.eye(2))


def test_every_word_of_a_small_row_is_drawn_as_the_table_says():
    # Row sum 8: three bits a draw, so that eight words stand for all there are.
    table = um.IntegerTable([[5, 2, 1], [1, 2, 5], [2, 4, 2]], 1.0 - np.eye(3))
    for item, row in enumerate(table.weights):
        seen = Counter(int(table.answer([item], Script([u << 61]))[0]) for u in range(8))
        assert seen == Counter(dict(enumerate(row)))
        assert [um.table_draw(row, u) for u in range(8)] == sorted(seen.elements())


def _item_wise_law(table, items):
    """The law of the multiset of answers, by enumeration."""
    found: Counter[tuple[int, ...]] = Counter()
    for answers in itertools.product(range(table.size), repeat=len(items)):
        chance = math.prod(
            (
                Fraction(table.weights[x][y], sum(table.weights[x]))
                for x, y in zip(items, answers, strict=True)
            ),
            start=Fraction(1),
        )
        found[tuple(sorted(answers))] += chance
    return found


def _delta(p, q, epsilon):
    factor = Fraction(math.exp(epsilon)) * Fraction(10**14 - 1, 10**14)
    return float(sum(max(p[y] - factor * q[y], Fraction(0)) for y in set(p) | set(q)))


def test_item_wise_release_keeps_its_promise_by_enumeration():
    """Algorithm 2 with the α₀ that α allows: every pair of data sets of three items."""
    d = _line(0.0, 0.4, 1.0)
    alpha, delta, m = 1.0, 0.1, 3
    alpha0 = float(um.group_alpha0(alpha, delta, m, 1))
    table = um.integer_table(alpha0, d)
    assert alpha0 > alpha / m
    data = list(itertools.combinations_with_replacement(range(3), m))
    laws = {items: _item_wise_law(table, items) for items in data}
    worst = 0.0
    for one, two in itertools.permutations(data, 2):
        w = um.transport_plan(d[np.ix_(one, two)]).distance
        worst = max(worst, _delta(laws[one], laws[two], alpha * w))
    assert 0 < worst <= delta


def _lattice_laws(query, alpha, m, n, reach):
    """The law of an answer to every data set, on its lattice, cut off at `reach` multiples."""
    scale = query.scale(alpha, n) * (m * n) / query.step
    rate = 1 / float(scale)
    laws = {}
    for items in itertools.combinations_with_replacement(range(len(query.multiples)), m * n):
        middle = int(query.multiples[list(items)].sum())
        laws[items] = {
            z: math.tanh(rate / 2) * math.exp(-rate * abs(z - middle)) for z in range(-reach, reach)
        }
    return laws


def test_lattice_release_is_exactly_private_by_enumeration():
    """Algorithm 1: no answer is more than e^{α·d_EM} times as likely, and some is nearly so."""
    d = _line(0.0, 0.4, 1.0)
    alpha, m = 2.0, 3
    query = um.LatticeQuery([[0.0], [0.123456], [0.7]], d, Fraction(1, 16))
    assert query.multiples.ravel().tolist() == [0, 2, 11]
    laws = _lattice_laws(query, alpha, m, 1, 60)
    closest = 0.0
    for one, two in itertools.permutations(laws, 2):
        w = um.transport_plan(d[np.ix_(one, two)]).distance
        loss = max(math.log(laws[one][z] / laws[two][z]) for z in laws[one])
        assert loss <= alpha * w * (1 + 1e-12)
        closest = max(closest, loss / (alpha * w))
    assert closest > 0.999


@pytest.mark.full
def test_lattice_release_has_the_law_that_is_claimed():
    query = um.LatticeQuery([[0.0, 1.0], [0.5, 0.25]], 1.0 - np.eye(2), Fraction(1, 8))
    items = np.array([0, 1, 1, 1])
    draws = np.array([query.release(items, 2, 2, 1.5, bits(seed)) for seed in range(2000)])
    absolute, square = um.lattice_noise_moments(query.scale(1.5, 2), query.step / 4)
    off = draws - query.mean(items)
    assert np.allclose(off * 32, np.rint(off * 32))
    assert off.mean() == pytest.approx(0.0, abs=5 * math.sqrt(square / 4000))
    assert np.abs(off).mean() == pytest.approx(absolute, rel=0.05)
    assert (off**2).mean() == pytest.approx(square, rel=0.1)
    # lip = 4 + 6 eighths over distance 1.
    assert float(query.lip) == pytest.approx(1.25, rel=1e-12)
    assert query.lip >= Fraction(5, 4)


def test_shuffle_and_draws_are_uniform_by_enumeration():
    orders = Counter(
        tuple(um.shuffled([0, 1, 2], Script(keys)).tolist())
        for keys in itertools.permutations(range(3))
    )
    assert set(orders.values()) == {1}
    assert len(orders) == 6
    # A tie draws all keys anew.
    assert um.shuffled([0, 1], Script([7, 7, 2, 1])).tolist() == [1, 0]
    picks = Counter(
        tuple(um.drawn_items([[4, 6]], 2, Script([a << 63, b << 63]))[0].tolist())
        for a in range(2)
        for b in range(2)
    )
    assert picks == Counter(dict.fromkeys(itertools.product((4, 6), repeat=2), 1))
    with pytest.raises(ValueError, match=r"users\[1\]"):
        um.drawn_items([[1], []], 3, bits())


def test_debiased_histogram_is_unbiased_and_its_error_exact_by_enumeration():
    table = um.integer_table(1.5, _line(0.0, 0.4, 1.0))
    items = (0, 0, 2)
    shares = np.bincount(items, minlength=3) / 3
    mean, error = np.zeros(3), 0.0
    for answers, chance in _item_wise_law(table, items).items():
        found = um.debiased_histogram(answers, table.law())
        mean += float(chance) * found
        error += float(chance) * ((found - shares) ** 2).sum()
    assert mean == pytest.approx(shares, abs=1e-12)
    assert um.debiased_mse(shares, table.law(), 3) == pytest.approx(error, rel=1e-12)
    with pytest.raises(ValueError, match="condition number"):
        um.debiased_histogram([0], np.full((2, 2), 0.5))


def test_plan_moves_what_is_not_common_and_its_distance_is_that_of_the_space():
    rng = np.random.default_rng(5)
    space = spaces.Square(2)
    for n, m in ((7, 7), (6, 9), (1, 4), (12, 8)):
        x, y = rng.random((n, 2)), rng.random((m, 2))
        y[: min(n, m) // 2] = x[: min(n, m) // 2]
        plan = um.transport_plan(space.cross(x, y))
        reference = space.emd(x, y, np.ones(n), np.ones(m))
        assert plan.distance == pytest.approx(reference, abs=1e-9)
        assert (plan.cost > 0).all()
        assert plan.mass.sum() <= 1 + 1e-12
    same = um.transport_plan(space.cross(x, x[::-1]))
    assert same.distance == 0.0
    assert same.mass.size == 0


def test_power_and_several_users():
    f = np.linspace(0, 1, 11)
    assert um.power_bound(0.0, 0.0, f) == pytest.approx(f)
    assert um.power_bound(math.inf, 0.0, f)[1:] == pytest.approx(1.0)
    assert um.power_bound(800.0, 1e-9, 0.0) == pytest.approx(1e-9)
    alpha, w, deltas = 2.0, [0.3, 0.9, 0.1, 0.5], [1e-6, 3e-6, 1e-7, 0.0]
    epsilon, delta = um.several_users(alpha, w, deltas)
    assert epsilon == pytest.approx(3.6)
    every = [
        sum(math.exp(alpha * sum(w[i] for i in order[:k])) * deltas[j] for k, j in enumerate(order))
        for order in itertools.permutations(range(4))
    ]
    assert delta == pytest.approx(min(every), rel=1e-12)
