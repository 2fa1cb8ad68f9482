"""Random bits: uniform numbers by enumeration, constant laws to their last digit, two sources."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.noise.bits import (
    ConstantLaw,
    SeededBits,
    SystemBits,
    inverse_e,
    packed,
    uniform_below,
    weighted_choice,
)


class Script:
    """Words that are given, one after the other."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 11])
def test_uniform_numbers_by_enumeration_of_the_leading_bits(bound):
    """Every leading pattern is either one number or thrown away: all numbers equally likely."""
    width = (bound - 1).bit_length()
    seen = []
    for pattern in range(1 << width):
        word = pattern << (64 - width) if width else 0
        script = Script(word, 0) if width else Script()
        value = int(uniform_below(bound, 1, script)[0])
        if script.left or not width:
            seen.append(value)
    assert sorted(seen) == list(range(bound))


@given(st.integers(1, 2**200), st.integers(0, 20), st.integers(0, 10**6))
def test_uniform_numbers_stay_below_any_bound(bound, size, seed):
    drawn = uniform_below(bound, size, SeededBits(np.random.default_rng(seed)))
    assert drawn.shape == (size,)
    assert (drawn.dtype == np.int64) == (bound <= 2**63)
    assert all(0 <= value < bound for value in drawn.tolist())


def test_large_uniform_numbers_are_uniform():
    # χ² on the leading twelfths and on remainders by 7, false alarm 1e-6 each.
    bound = 3 * 2**90 + 12345
    drawn = uniform_below(bound, 60_000, SeededBits(np.random.default_rng(1)))
    for cells, number in (((drawn * 12) // bound, 12), (drawn % 7, 7)):
        counts = np.bincount(cells.astype(np.int64), minlength=number)
        assert stats.chisquare(counts).pvalue > 1e-6


@given(
    st.lists(st.integers(0, 2**130) | st.integers(0, 5), min_size=1, max_size=9),
    st.integers(0, 40),
    st.integers(0, 10**6),
)
def test_choices_by_weight_are_those_of_the_uniform_number(weights, size, seed):
    sums = list(accumulate([*weights[:-1], weights[-1] + 1]))
    chosen = weighted_choice(sums, size, SeededBits(np.random.default_rng(seed)))
    drawn = uniform_below(sums[-1], size, SeededBits(np.random.default_rng(seed)))
    assert chosen.tolist() == [bisect_right(sums, u) for u in drawn.tolist()]


@pytest.mark.parametrize("weights", [(1, 2, 0, 5), (3, 3), (4,), (1,), (0, 0, 7), (2**64, 2**64)])
def test_choices_by_weight_by_enumeration(weights):
    """Of all leading patterns every index is chosen as often as its weight says."""
    unit = 2**64 if max(weights) >= 2**64 else 1
    sums = list(accumulate(weights))
    width = (sums[-1] // unit - 1).bit_length()
    seen = []
    for pattern in range(1 << width):
        # Two words where the numbers need more than 64 bits.
        whole = pattern << (64 - width)
        words = [whole, 0] if unit > 1 else [whole]
        script = Script(*(words if sums[-1] > 1 else []), 0, 0)
        chosen = int(weighted_choice(sums, 1, script)[0])
        if len(script.left) == 2:
            seen.append(chosen)
    assert [seen.count(i) for i in range(len(weights))] == [w // unit for w in weights]


@pytest.mark.parametrize("second", [0, 4, 5, 6, 2**64 - 1])
def test_a_choice_whose_leading_word_is_a_sums_own_is_settled_by_the_next(second):
    sums = [(7 << 64) + 5, 1 << 128]
    chosen = weighted_choice(sums, 1, Script(7, second))
    assert chosen.tolist() == [int((7 << 64) + second >= sums[0])]


def test_enclosures_of_e_to_minus_one():
    for terms in (2, 6, 24, 60):
        low, high = inverse_e(terms)
        with mpmath.workdps(120):
            assert mpmath.mpf(low.numerator) / low.denominator < mpmath.exp(-1)
            assert mpmath.mpf(high.numerator) / high.denominator > mpmath.exp(-1)
        assert high - low <= Fraction(1, math.factorial(terms))


def _law(k: int, x: Fraction) -> Fraction:
    return 1 - x ** (k + 1)


def test_thresholds_are_the_digits_of_the_distribution_function():
    law = ConstantLaw(_law)
    with mpmath.workdps(80):
        for width in (64, 200):
            for k in (0, 1, 7, 40):
                exact = int(mpmath.floor((1 - mpmath.exp(-(k + 1))) * mpmath.mpf(2) ** width))
                assert law._digits(k, width) == exact


def test_a_tie_is_settled_by_further_digits():
    """A word equal to the digits of C₀ is below or above it by the next word."""
    law = ConstantLaw(_law)
    first, second = (law._digits(0, 128) >> 64), law._digits(0, 128) & (2**64 - 1)
    assert law.draw(1, Script(first - 1))[0] == 0
    assert law.draw(1, Script(first + 1))[0] == 1
    assert law.draw(1, Script(first, second - 1))[0] == 0
    assert law.draw(1, Script(first, second + 1))[0] == 1
    third = law._digits(0, 192) & (2**64 - 1)
    assert law.draw(1, Script(first, second, third - 1))[0] == 0
    assert law.draw(1, Script(first, second, third + 1))[0] == 1
    # Beyond the table: 64 ones, then more ones, are values that no single word reaches.
    ones = 2**64 - 1
    assert law.draw(1, Script(ones, 0))[0] == 44
    assert law.draw(1, Script(ones, ones, ones // 2))[0] == 89


def test_a_last_value_takes_what_is_left():
    law = ConstantLaw(lambda k, x: x / (1 - x), last=1)
    ones = 2**64 - 1
    assert law.draw(3, Script(0, ones, ones - 1)).tolist() == [0, 1, 1]


def test_seeded_bits_repeat_and_are_fair():
    first, second = (SeededBits(np.random.default_rng(7)).words(10_000) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.uint64
    # Each of 64 positions: binomial test with false alarm 1e-6/64.
    for position in range(64):
        ones = int(((first >> np.uint64(position)) & np.uint64(1)).sum())
        assert stats.binomtest(ones, 10_000).pvalue > 1e-6 / 64


def test_system_bits_are_what_the_operating_system_gives(monkeypatch):
    asked = []

    def given_bytes(count: int) -> bytes:
        asked.append(count)
        return bytes(range(count))

    monkeypatch.setattr(os, "urandom", given_bytes)
    source = SystemBits()
    expected = np.frombuffer(bytes(range(24)), dtype=np.uint64)
    np.testing.assert_array_equal(source.words(3), expected)
    source.words(1)
    # Nothing is kept back for later: every call asks for exactly what it returns.
    assert asked == [24, 8]


def test_system_bits_take_no_seed():
    with pytest.raises(TypeError):
        SystemBits(1)  # type: ignore[call-arg]
    assert not vars(SystemBits())
    assert len(set(SystemBits().words(1000).tolist())) == 1000


def test_packed_leaves_room_for_a_count():
    top = 2**62
    assert packed(np.array([top, -top], dtype=object)).dtype == np.int64
    assert packed(np.array([top + 1], dtype=object)).dtype == object
    assert packed(np.array([5], dtype=np.int64)).dtype == np.int64


def test_refusal():
    with pytest.raises(ValueError, match="bound: 0 is below 1"):
        uniform_below(0, 3, SystemBits())
