"""Random bits, and exact draws from them: uniform whole numbers and constant laws.

A draw that protects a person must come from the operating system (`SystemBits`); a `SeededBits`
repeats itself, which is right for a test or a picture and never for a release. Which one is used
is decided by the caller: nothing in `privacy` creates a source.

No floating-point number occurs in this module or in `explorer.privacy.noise.exact`.
"""

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any, NoReturn, Protocol, final

import numpy as np
from numpy.typing import NDArray

WordArray = NDArray[np.uint64]
WholeArray = NDArray[Any]
"""Whole numbers: int64 where all of them fit, Python integers (dtype object) otherwise."""

WORD_BITS = 64
"""Bits of a word."""
INT64_BOUND = 1 << 63


class BitSource(Protocol):
    """Source of random bits."""

    def words(self, count: int) -> WordArray:
        """Return `count` words of 64 independent fair bits."""


@final
class SystemBits:
    """The operating system's cryptographic random source, the only one fit for a release.

    Nothing is kept between calls: a copy of the process cannot repeat words that were drawn, and
    no noise can be read from memory afterwards. It can't be pickled, so that no job of a worker
    process has it: a job that is sent again would be a second release.
    """

    def __reduce__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(
            "release noise is drawn once, in the process that releases; SystemBits can't be sent "
            "to a worker, where a job may run twice"
        )

    def words(self, count: int) -> WordArray:
        """Return `count` words of 64 independent fair bits."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@final
class ByteBits:
    """Bits of a function that returns fresh random bytes: `os.urandom` for a release.

    Parameters
    ----------
    random_bytes : callable (count) → bytes
    """

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._bytes = random_bytes

    def __reduce__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("release noise is drawn once, in the process that releases")

    def words(self, count: int) -> WordArray:
        """Return `count` words of 64 bits.

        Raises
        ------
        ValueError
            If the function returns fewer bytes, or more, than requested.
        """
        random_bytes = self._bytes(8 * count)
        if len(random_bytes) != 8 * count:
            raise ValueError(
                f"random bytes: {len(random_bytes)} came where {8 * count} were asked for"
            )
        return np.frombuffer(random_bytes, dtype=np.uint64)


@final
class SeededBits:
    """Reproducible bits of a numpy generator, for tests and pictures; never for a release.

    Parameters
    ----------
    rng : numpy.random.Generator
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def words(self, count: int) -> WordArray:
        """Return `count` words of 64 pseudo-random bits, the same on every machine."""
        return np.frombuffer(self._rng.bytes(8 * count), dtype="<u8").astype(np.uint64, copy=False)


def uniform_below(bound: int, size: int, bits: BitSource) -> WholeArray:
    """Draw whole numbers uniformly from 0 … bound − 1.

    Of each group of words the leading ⌈log₂ bound⌉ bits are a uniform number below a power of
    two less than twice the bound; those that reach the bound are drawn anew, so that every number
    below it stays equally likely.

    Parameters
    ----------
    bound : int
        ≥ 1, of any size.
    size : int
        Number of draws, ≥ 0.
    bits : BitSource

    Returns
    -------
    ndarray, shape (size,)
        int64 for a bound up to 2⁶³, Python integers beyond.

    Raises
    ------
    ValueError
        If the bound is below 1.
    """
    if bound < 1:
        raise ValueError(f"bound: {bound} is below 1")
    width = (bound - 1).bit_length()
    if not width:
        return np.zeros(size, dtype=np.int64)
    draw = _small if width < WORD_BITS else _large
    out = draw(width, size, bits)
    if bound == 1 << width:
        return out
    over = np.flatnonzero(out >= bound)
    while over.size:
        out[over] = draw(width, over.size, bits)
        over = over[out[over] >= bound]
    return out


def _small(width: int, size: int, bits: BitSource) -> WholeArray:
    """Return uniform numbers of up to 63 bits."""
    return (bits.words(size) >> np.uint64(WORD_BITS - width)).astype(np.int64)


def _large(width: int, size: int, bits: BitSource) -> WholeArray:
    """Return uniform numbers of 64 bits and more, as Python integers."""
    groups = -(-width // WORD_BITS)
    words = bits.words(groups * size).reshape(size, groups).astype(object)
    whole = words[:, 0]
    for column in range(1, groups):
        whole = (whole << WORD_BITS) | words[:, column]
    return np.asarray(whole >> (groups * WORD_BITS - width), dtype=object)


def weighted_choice(sums: Sequence[int], size: int, bits: BitSource) -> NDArray[np.int64]:
    """Draw indices i with probability (sums[i] − sums[i−1])/sums[−1], exactly.

    The index is the number of sums that a uniform whole number below the last one reaches, from
    the same bits as `uniform_below`. Its leading word settles that unless it is a sum's too.

    Parameters
    ----------
    sums : sequence of int
        Running sums of whole weights, of any size; not falling, the last ≥ 1.
    size : int
        Number of draws, ≥ 0.
    bits : BitSource

    Returns
    -------
    ndarray of int64, shape (size,)
    """
    width = (sums[-1] - 1).bit_length()
    out = np.full(size, bisect_right(sums, 0), dtype=np.int64)
    if not width:
        return out
    groups = -(-width // WORD_BITS)
    scaled = [total << (groups * WORD_BITS - width) for total in sums]
    rest = (groups - 1) * WORD_BITS
    leading = np.array([min(total >> rest, (1 << WORD_BITS) - 1) for total in scaled], np.uint64)
    left = np.arange(size)
    while left.size:
        words = bits.words(groups * left.size).reshape(left.size, groups)
        reached = leading.searchsorted(words[:, 0], "right")
        # Before the first sum none is reached; the last, taken in its place, is above such a word.
        tied = leading[reached - 1] == words[:, 0]
        for i in tied.nonzero()[0].tolist():
            whole = reduce(lambda high, low: high << WORD_BITS | low, words[i].tolist())
            reached[i] = bisect_right(scaled, whole)
        out[left] = reached
        left = left[reached == len(sums)]
    return out


def packed(values: WholeArray) -> WholeArray:
    """Return the numbers as int64 if all are within ±2⁶², as Python integers otherwise.

    Within ±2⁶² the sum of a draw and a count cannot overflow.
    """
    if values.dtype != object:
        return values
    reach = INT64_BOUND // 2
    if all(-reach <= value <= reach for value in values.tolist()):
        return values.astype(np.int64)
    return values


class ConstantLaw:
    """A law on 0, 1, 2, … whose distribution function is made of e⁻¹ and rational numbers.

    A uniform real number W in [0, 1) is compared with the distribution function C: the draw is
    the number of k with C_k ≤ W. The first 64 binary digits of W settle that unless they are the
    digits of some C_k, once in about 2⁶⁴ draws; then digits of both are added until they differ.
    Every C_k below 1 is irrational, so they do.

    Parameters
    ----------
    cumulated : callable (k, x) → Fraction
        C_k as a monotone function of x for x near e⁻¹, exact in rational arithmetic.
    last : int, optional
        The largest value, whose C is 1; unbounded if left out.
    """

    def __init__(
        self, cumulated: Callable[[int, Fraction], Fraction], last: int | None = None
    ) -> None:
        self._cumulated, self._last = cumulated, last
        table: list[int] = []
        # The digits of C_k are all ones from some k on, and always for the last value.
        while not table or table[-1] != (1 << WORD_BITS) - 1:
            table.append(self._digits(len(table), WORD_BITS))
        self._table = np.array(table, dtype=np.uint64)

    def draw(self, size: int, bits: BitSource) -> NDArray[np.int64]:
        """Return independent draws, shape (size,)."""
        words = bits.words(size)
        out = np.searchsorted(self._table, words, side="left")
        for i in np.flatnonzero(self._table[out] == words).tolist():
            out[i] = self._settle(int(words[i]), bits)
        return out.astype(np.int64, copy=False)

    def _settle(self, digits: int, bits: BitSource) -> int:
        """Return the draw of a W that begins with a tie, reading on where needed."""
        width, k = WORD_BITS, 0
        while True:
            own = self._digits(k, width)
            if digits < own or k == self._last:
                return k
            if digits > own:
                k += 1
            else:
                digits = (digits << WORD_BITS) | int(bits.words(1)[0])
                width += WORD_BITS

    def _digits(self, k: int, width: int) -> int:
        """Return ⌊2^width C_k⌋ (2^width − 1 where C_k = 1), from enclosures of e⁻¹."""
        if k == self._last:
            return (1 << width) - 1
        terms = 24
        while True:
            ends = [self._cumulated(k, x) for x in inverse_e(terms)]
            floors = {(end.numerator << width) // end.denominator for end in ends}
            if len(floors) == 1:
                return floors.pop()
            terms *= 2


@cache
def inverse_e(terms: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e⁻¹: two successive sums of Σ (−1)^i/i!."""
    total, term = Fraction(0), Fraction(1)
    before = total
    for i in range(1, 2 * (terms // 2) + 2):
        before, total = total, total + term
        term = -term / i
    # An odd number of terms ends above, the even number before it below.
    return before, total
