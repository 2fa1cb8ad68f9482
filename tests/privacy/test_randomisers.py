"""Bounds for shuffled messages of one known randomiser, against complete enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from explorer.privacy.randomisers import blanket, crowd, tables
from explorer.privacy.randomisers.crowd import table_bounds, worst_delta, worst_epsilon
from explorer.privacy.shuffle_rdp import clone_epsilon, three_symbol_epsilon
from explorer.privacy.shuffle_rdp.losses import two_level_loss
from explorer.privacy.shuffle_rdp.numerical import TwoLevelRounds
from explorer.privacy.shuffling import shuffled_delta, shuffled_epsilon
from explorer.studies.base.parameters import table_rows
from tests import snapshots


def _random_tables():
    rng = np.random.default_rng(13)
    for case in range(40):
        inputs, outputs = int(rng.integers(2, 4)), int(rng.integers(2, 5))
        n = int(rng.integers(2, 6 if outputs < 4 else 5))
        raw = rng.uniform(0.3, 1.0, (inputs, outputs))
        yield case, raw / raw.sum(axis=1, keepdims=True), n


def _slow_delta(table, i, j, eps, n):
    """Enumerate all sequences of messages instead of counts."""
    outputs, worst = table.shape[1], 0.0
    for others in itertools.combinations_with_replacement(range(table.shape[0]), n - 1):
        laws = []
        for own in (i, j):
            law: dict[tuple[int, ...], float] = {}
            for messages in itertools.product(range(outputs), repeat=n):
                chance = math.prod(
                    table[x, y] for x, y in zip((own, *others), messages, strict=True)
                )
                seen = tuple(sorted(messages))
                law[seen] = law.get(seen, 0.0) + chance
            laws.append(law)
        worst = max(
            worst, sum(max(p - math.exp(eps) * laws[1][seen], 0) for seen, p in laws[0].items())
        )
    return worst


def test_exact_blanket_variation_ratio_and_clones_stand_in_this_order() -> None:
    apart = 0
    for _, table, n in _random_tables():
        eps0 = tables.local_epsilon(table)
        for i, j in itertools.permutations(range(table.shape[0]), 2):
            own = tables.table_blanket(table, i, j)
            ratios = tables.table_variation_ratio(table, i, j)
            for eps in (0.0, 0.1 * eps0, 0.4 * eps0):
                exact = tables.exact_delta(table, i, j, eps, n)
                found = crowd.crowd_delta(own, eps, n)
                general = crowd.crowd_delta(ratios, eps, n)
                clones = float(shuffled_delta(eps, eps0, n, "2023"))
                order = [exact, found, general, clones]
                for below, above in itertools.pairwise(order):
                    assert below <= above * (1 + 1e-9) + 1e-15, (table, i, j, eps, n, order)
                apart += exact < 0.999 * found < 0.998 * general < 0.997 * clones
    assert apart > 100


def test_exact_agrees_with_all_sequences_of_messages() -> None:
    for case, table, n in _random_tables():
        if case % 5 == 0 and n < 5:
            for eps in (0.0, 0.2):
                expected = _slow_delta(table, 0, 1, eps, n)
                assert tables.exact_delta(table, 0, 1, eps, n) == pytest.approx(expected, abs=1e-14)
    worst = max(
        tables.exact_delta(table, i, j, 0.1, n)
        for i, j in itertools.permutations(range(table.shape[0]), 2)
    )
    crowd = tables.ExactCrowd(table, n)
    assert crowd.delta(0.1) == pytest.approx(worst, abs=1e-15)
    for delta in (0.3 * worst, 0.9 * worst):
        eps = crowd.epsilon(delta)
        assert crowd.delta(eps) <= delta * (1 + 1e-12) < crowd.delta(eps * (1 - 1e-9))
    assert crowd.epsilon(1e-30) == pytest.approx(tables.local_epsilon(table), rel=1e-9)
    assert crowd.epsilon(0.99) == 0


def _family_tables():
    E = math.exp(1.3)
    krr = (np.ones((3, 3)) + (E - 1) * np.eye(3)) / (E + 2)
    kept, set_ = 0.6, blanket.unary_set(1.3, 0.6)
    bits = np.array(list(itertools.product((0, 1), repeat=3)))
    unary = np.stack(
        [
            np.prod(
                np.where(
                    bits,
                    np.where(np.arange(3) == x, kept, set_),
                    np.where(np.arange(3) == x, 1 - kept, 1 - set_),
                ),
                axis=1,
            )
            for x in range(3)
        ]
    )
    theta = 0.25
    caps = np.array(
        [
            [E * theta, theta, theta, theta],
            [theta, E * theta, theta, theta],
            [theta, theta, E * theta, theta],
            [theta, theta, theta, E * theta],
        ]
    ) / (1 + (E - 1) * theta)
    return [
        (blanket.k_ary(1.3, 3), krr, False),
        (blanket.unary(kept, set_), unary, True),
        (blanket.two_level(1.3, theta), caps, False),
    ]


def test_families_are_their_tables() -> None:
    for law, table, gives_away in _family_tables():
        assert tables.local_epsilon(table) == pytest.approx(1.3, abs=1e-12)
        own = tables.table_blanket(tables.checked_table(table), 0, 1)
        for eps, n in itertools.product((0.0, 0.2, 0.6), (1, 2, 5, 7)):
            family, listed = crowd.crowd_delta(law, eps, n), crowd.crowd_delta(own, eps, n)
            if gives_away:
                # The message of ones alone hides more than the family uses.
                assert listed <= family * (1 + 1e-9)
                assert listed == pytest.approx(family, rel=0.25, abs=1e-6)
            else:
                assert listed == pytest.approx(family, rel=1e-9, abs=1e-15)


def test_overlapping_caps_leak_less_than_disjoint_ones() -> None:
    E, theta = math.exp(1.0), 1 / 3
    beta = 1 / (1 + (E - 1) * theta)
    # Caps of two of six cells each; the first two share a cell.
    levels = np.ones((4, 6)) / 6
    for row, cap in enumerate(((0, 1), (1, 2), (3, 4), (4, 5))):
        levels[row, list(cap)] *= E
    table = tables.checked_table(beta * levels)
    disjoint = blanket.two_level(1.0, theta)
    for eps, n in itertools.product((0.0, 0.1, 0.5), (3, 50)):
        found = [
            crowd.crowd_delta(tables.table_blanket(table, *pair), eps, n)
            for pair in ((0, 1), (0, 2))
        ]
        assert found[0] < crowd.crowd_delta(disjoint, eps, n)
        assert found[1] == pytest.approx(crowd.crowd_delta(disjoint, eps, n), rel=1e-3)


def test_the_integral_is_an_upper_bound_and_close_to_the_listed_sum() -> None:
    for law in (blanket.k_ary(2.0, 5), blanket.unary(0.5, 0.2), blanket.two_level(0.5, 0.3)):
        exact = crowd.Crowd(law, 15)
        assert exact._sums is not None
        other = crowd.Crowd(law, 15)
        other._sums = None
        for eps in np.linspace(0.02, 0.8 * law.most, 7):
            listed, integral = exact.delta(eps), other.delta(eps)
            assert listed * (1 - 1e-9) <= integral
            # Ratios of few messages have corners, at which the noise shows most.
            assert integral <= listed * 1.02 + 1e-15


@pytest.mark.parametrize("n", [1000, 10**5, 10**9])
@pytest.mark.parametrize("eps0", [0.3, 2.0, 6.0])
def test_half_a_space_is_the_clones_of_2023(eps0, n) -> None:
    law = blanket.two_level(eps0, 0.5)
    for delta in (1e-3, 1e-6, 1e-20):
        clones = float(shuffled_epsilon(eps0, n, delta, "2023"))
        found = crowd.Crowd(law, n).epsilon(delta)
        assert clones * (1 - 1e-9) <= found <= clones * (1 + 1e-4) + 1e-12
        assert crowd.Crowd(law, n, crowd.COARSE).epsilon(delta) <= clones * 1.003 + 1e-12


def test_published_levels_of_the_specification() -> None:
    for outcomes, expected in ((3, 0.0380013), (10, 0.0232534)):
        found = crowd.Crowd(blanket.k_ary(1.0, outcomes), 10_000).epsilon(1e-6)
        assert expected - 1e-7 <= found <= expected * 1.00002


def test_laplace_spread_to_steps_stays_above_the_finely_spread_law() -> None:
    law = blanket.laplace(1.0)
    assert law.first.sum() == pytest.approx(1.0, abs=1e-12)
    assert law.second.sum() == pytest.approx(1.0, abs=1e-12)
    assert law.mass.sum() == pytest.approx(math.exp(-0.5), abs=1e-12)
    # Cells of y merged the other way (averaged) err downwards.
    y = np.concatenate([[-40.0], np.linspace(0.0, 1.0, 2001), [41.0]])

    def below(x):
        away = y - x
        return np.where(away < 0, 0.5 * np.exp(away), 1 - 0.5 * np.exp(-np.abs(away)))

    cells = [np.diff(below(x)) for x in (0.0, 1.0)]
    floor = np.minimum(*cells)
    lower = crowd.Crowd(blanket.Blanket(*cells, floor), 500, crowd.COARSE)
    upper = crowd.Crowd(law, 500)
    for eps in (0.0, 0.1, 0.25):
        assert lower.delta(eps) * 0.99 <= upper.delta(eps) <= lower.delta(eps) * 1.02


def test_a_message_that_hides_in_no_crowd_is_paid_in_full() -> None:
    table = tables.checked_table([[0.5, 0.5, 0.0], [0.5, 0.4, 0.1]])
    assert tables.local_epsilon(table) == math.inf
    assert tables.table_variation_ratio(table, 0, 1) is None
    law = tables.table_blanket(table, 1, 0)
    assert (law.most, law.never) == (0.0, 0.1)
    assert crowd.Crowd(law, 100_000).delta(1.0) == pytest.approx(0.1, abs=1e-6)
    assert crowd.Crowd(law, 100_000).epsilon(0.05) == math.inf
    assert crowd.Crowd(law, 100_000).epsilon(0.1001) < 0.1
    assert tables.exact_delta(table, 1, 0, 1.0, 4) <= crowd.Crowd(law, 4).delta(1.0) + 1e-12


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], r"own.csv, line 3: its probabilities add up to 1.1, not 1; giv"),
        ([[0.5, 0.5], [1.5, -0.5]], r"own.csv, line 3, field 1: 1.5 is no probability; give num"),
        ([[0.5, 0.5], [0.5, math.nan]], "field 2: nan is no probability"),
        ([[0.5, 0.5]], r"own.csv: 1 × 2 numbers; give a row for each of 2 to 12 inputs"),
        ([[1.0], [1.0]], r"2 × 1 numbers"),
        (np.full((2, 25), 0.04), "25 outputs; give at most 24"),
    ],
)
def test_bad_tables_are_refused_by_line_and_field(bad, message) -> None:
    with pytest.raises(ValueError, match=message):
        tables.checked_table(bad, "own.csv", lines=(2, 3))


def test_too_much_to_enumerate_is_refused() -> None:
    with pytest.raises(ValueError, match="too many to") as error:
        tables.exact_delta(np.full((3, 10), 0.1), 0, 1, 0.1, 20)
    snapshots.check(error.value)


@pytest.mark.parametrize(
    ("eps0", "theta", "k"),
    [(2.0, 0.1, 1000), (1.0, 1 / 3, 300), (4.0, 0.01, 1000), (0.5, 0.25, 10), (1.0, 0.1, 10**5)],
)
def test_a_rounds_law_of_losses_dominates_the_blanket_of_one_shuffle(eps0, theta, k) -> None:
    loss = two_level_loss(eps0, theta, k, k, cells=3000)
    finest = crowd.Crowd(blanket.two_level(eps0, theta), k)
    scale = finest.epsilon(1e-3)
    for eps in (0.0, 0.3 * scale, scale):
        first = loss.mass * (1 + loss.excess)
        found = float(np.maximum(first - math.exp(eps) * loss.mass, 0.0).sum())
        noise = 1e-10 if finest._sums is not None else 1e-3
        assert (
            finest.delta(eps) * (1 - noise)
            <= found
            <= finest.delta(eps) * (1.06 if k > 10 else 1.5)
        )


def test_composed_rounds_lie_between_three_symbols_and_clones() -> None:
    for eps0, k, n, T, delta in ((1.0, 1000, 10**6, 10**5, 1e-8), (2.0, 500, 10**4, 400, 1e-6)):
        found = TwoLevelRounds(eps0, 1 / 3, k, n).epsilon(delta, T).value
        exact = float(three_symbol_epsilon(eps0, k, n, T, delta).value)
        clones = float(clone_epsilon(eps0, k, n, T, delta, "2023").value)
        assert exact <= found <= 1.07 * exact
        assert found < clones
        worst = TwoLevelRounds(eps0, 0.5, k, n).epsilon(delta, T).value
        assert worst == pytest.approx(clones, rel=1e-6)
        assert TwoLevelRounds(eps0, 0.05, k, n).epsilon(delta, T).value < 0.8 * found


def test_few_rounds_of_few_messages_stay_above_the_product_of_the_exact_pair() -> None:
    """k = n = 2 messages and two rounds: the pair of counts, its product listed."""
    eps0, theta = 1.0, 0.25
    E, beta = math.exp(eps0), 1 / (1 + (math.exp(eps0) - 1) * theta)
    chances = [beta * theta, beta * theta, beta * (1 - 2 * theta), 1 - beta]
    pair: list[tuple[float, float]] = []
    for a, b in itertools.product(range(4), repeat=2):
        base = chances[a] * chances[b]
        up = ((E, 1, 1, 0)[a] + (E, 1, 1, 0)[b]) / 2
        down = ((1, E, 1, 0)[a] + (1, E, 1, 0)[b]) / 2
        pair.append((base * up, base * down))
    for eps in (0.05, 0.3, 0.8):
        exact = sum(
            max(p * r - math.exp(eps) * q * s, 0)
            for (p, q), (r, s) in itertools.product(pair, pair)
        )
        rounds = TwoLevelRounds(eps0, theta, 2, 2)
        assert rounds.epsilon(exact, 2).value >= eps * (1 - 1e-9)
        assert exact * (1 - 1e-9) <= rounds.delta(eps, 2).value <= 1.2 * exact


def _tiny_tables():
    """Yield random tables with tiny, zero and equal entries, and a number of messages."""
    rng = np.random.default_rng(41)
    for _ in range(60):
        inputs, outputs = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        raw = rng.dirichlet(np.ones(outputs) * rng.choice([0.1, 0.5, 1.0]), size=inputs)
        raw *= 10.0 ** -rng.choice([0, 0, 0, 3, 6, 9, 12], size=raw.shape)
        if rng.random() < 0.3:
            raw[rng.integers(inputs), rng.integers(outputs)] = 0.0
        if rng.random() < 0.3:
            raw[-1] = raw[0]
        raw[:, 0] += raw.sum(axis=1) <= 0
        table = tables.checked_table(raw / raw.sum(axis=1, keepdims=True))
        yield table, int(rng.integers(2, 6)), int(rng.integers(10, 60))


@pytest.mark.full
def test_bounds_of_tables_with_tiny_zero_and_equal_entries_are_upper_bounds() -> None:
    for table, few, many in _tiny_tables():
        found, exact = table_bounds(table), tables.ExactCrowd(table, few)
        for eps in (0.0, 2.0):
            assert worst_delta(found.blankets, few, eps) >= exact.delta(eps) * (1 - 1e-9) - 1e-17
            for law in found.blankets[:2]:
                listed = crowd.Crowd(law, many)
                assert listed._sums is not None
                integral = crowd.Crowd(law, many)
                integral._sums = None
                # Rows of doubles add up to 1 within 1e-16, which is all that small values rest on.
                assert integral.delta(eps) >= listed.delta(eps) * (1 - 1e-7) - 1e-18
                assert integral.delta(eps) <= listed.delta(eps) * 8 + 1e-18


@pytest.mark.parametrize(
    ("rows", "n", "delta", "epsilon"),
    [
        ("0.0947 0.849 0.0563; 0.850999852 0.149 0.000000148", 40, 0.1, 0.5392),
        ("1e-12 0.999 0.000999999999; 0.3 0.7 0", 500, 1e-3, 20.2391),
        ("0.5453 1e-8 0.03669999 0.418; 0.001 0.339992 0.000008 0.659", 161, 1e-20, 14.7562),
        # An output of probability 2e-14 that the other input never has.
        ("1 0; 0.99999999999998 2e-14", 10, 1e-14, math.inf),
    ],
)
def test_extreme_tables_have_the_epsilon_of_the_listed_sum(rows, n, delta, epsilon) -> None:
    table = tables.checked_table(table_rows(rows, "table"))
    assert worst_epsilon(table_bounds(table).blankets, n, delta) == pytest.approx(epsilon, rel=1e-4)


def test_a_tiny_output_of_one_input_alone_is_not_lost() -> None:
    table = tables.checked_table(table_rows("1 0; 0.99999999999998 2e-14", "table"))
    assert worst_delta(table_bounds(table).blankets, 10, 1.0) == pytest.approx(2e-14, rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(
    ("eps0", "n"), [(0.01, 1_000), (1.0, 250_000), (10.0, 1_000), (50.0, 250_000)]
)
def test_laplace_noise_has_a_bound_over_its_whole_range(eps0, n) -> None:
    found = crowd.Crowd(blanket.laplace(eps0), n).epsilon(1e-6)
    assert 0 < found <= eps0 * (1 + 1e-12)
