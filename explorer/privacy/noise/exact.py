"""Noise fit for a release: exact laws from random bits, in whole numbers alone.

Floating-point noise gives away what it hides: which sums of a count and a rounded logarithm can
occur depends on the count (Mironov 2012). Here every draw follows its law exactly, as long as the
bits are fair: parameters are fractions, comparisons are of integers, and no step is rounded.

Draws are made for whole arrays at a time by rejection: candidates are independent and so is
whether each is kept, hence what is kept has the conditional law, in whatever order it was found.
Where numbers could leave 64 bits, Python's integers take over inside the same arrays.

How long a draw takes depends on what is drawn: do not offer the noise of one person's data to
somebody who can time it.

**Pólya noise** is the share of discrete Laplace noise that one of many users adds.

References
----------
Canonne, Kamath and Steinke 2020, *The discrete Gaussian for differential privacy*, Algorithms 1–3;
Ghosh, Roughgarden and Sundararajan 2009 for the discrete Laplace (geometric) mechanism.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise.bits import (
    INT64_BOUND,
    BitSource,
    ConstantLaw,
    WholeArray,
    packed,
    uniform_below,
)

Mask = NDArray[np.bool_]
_NONE = np.zeros(0, dtype=np.int64)


def bernoulli_exp(numerators: WholeArray, denominator: int, bits: BitSource) -> Mask:
    """Draw True with probability exactly e^{−a/b} for every a.

    For γ = a/b ≤ 1 let K count how often in a row, for K = 1, 2, …, an event of probability γ/K
    happens: P(at least k times) = γ^k/k!, so P(an even number of times) = Σ (−γ)^k/k! = e^{−γ}.
    A whole part of γ is the event that a geometric variable of ratio e⁻¹ reaches it.

    Parameters
    ----------
    numerators : ndarray of int, shape (size,)
        a ≥ 0: int64, or Python integers of any size.
    denominator : int
        b ≥ 1, of any size.
    bits : BitSource

    Raises
    ------
    ValueError
        If a < 0 or b < 1.

    References
    ----------
    Canonne, Kamath and Steinke 2020, Algorithm 1.
    """
    if denominator < 1:
        raise ValueError(f"denominator: {denominator} is below 1")
    if len(numerators) and numerators.min() < 0:
        raise ValueError(f"numerators: {numerators.min()} is below 0")
    if denominator >= INT64_BOUND:
        numerators = numerators.astype(object)
    whole, part = numerators // denominator, numerators % denominator
    out = np.ones(len(numerators), dtype=np.bool_)
    high = np.flatnonzero(whole > 0)
    if high.size:
        out[high] = exponential_steps(high.size, bits) >= whole[high]
    alive = np.flatnonzero(out)
    k = 1
    while alive.size:
        # γ/k = (a/b)(1/k), two independent events, so that no product leaves 64 bits.
        again = uniform_below(denominator, alive.size, bits) < part[alive]
        alive = alive[again.astype(np.bool_)]
        if k > 1:
            alive = alive[uniform_below(k, alive.size, bits) == 0]
        out[alive] ^= True
        k += 1
    return out


def bernoulli(probability: Fraction, size: int, bits: BitSource) -> Mask:
    """Draw True with a rational probability in [0, 1], shape (size,).

    Raises
    ------
    ValueError
        If the probability is outside [0, 1].
    """
    chance = _fraction("probability", probability)
    if not 0 <= chance <= 1:
        raise ValueError(f"probability: {chance} is outside [0, 1]")
    below = uniform_below(chance.denominator, size, bits) < chance.numerator
    return np.asarray(below, dtype=np.bool_)


def exponential_steps(size: int, bits: BitSource) -> NDArray[np.int64]:
    """Draw P(V = k) = (1 − e⁻¹) e^{−k}, shape (size,)."""
    return _steps_law().draw(size, bits)


def geometric(scale: Fraction, size: int, bits: BitSource) -> WholeArray:
    """Draw one-sided noise, P(X = k) = (1 − e^{−1/b}) e^{−k/b} for k ≥ 0.

    With b = t/s: U uniform below t and kept with probability e^{−U/t}, V geometric of ratio e⁻¹;
    U + tV is geometric of ratio e^{−1/t}, and ⌊(U + tV)/s⌋ of ratio e^{−s/t}.

    Parameters
    ----------
    scale : Fraction or int
        b > 0, of any size.
    size : int
        Number of draws, ≥ 0.
    bits : BitSource

    Returns
    -------
    ndarray, shape (size,)
        int64 if all draws are at most 2⁶², Python integers otherwise.

    Raises
    ------
    TypeError
        If the scale is not a whole number or a fraction: a float would have been rounded already.
    ValueError
        If it is not above 0.

    References
    ----------
    Canonne, Kamath and Steinke 2020, Algorithm 2.
    """
    t, s = positive_fraction("scale", scale).as_integer_ratio()
    return packed(_magnitudes(t, s, checked_count(size), bits))


def _magnitudes(t: int, s: int, size: int, bits: BitSource) -> WholeArray:
    """Return geometric draws of ratio e^{−s/t}, not packed."""
    parts = _batches(size, lambda count: _accept_remainders(t, count, bits))
    steps = exponential_steps(size, bits)
    # (U + tV)/s = (t // s)·V + (U + (t mod s)·V)/s, each product checked against 64 bits.
    quotient, rest = divmod(t, s)
    most = int(steps.max(initial=0))
    if quotient * most + (t + rest * most) // s >= INT64_BOUND or t + rest * most >= INT64_BOUND:
        steps, parts = steps.astype(object), parts.astype(object)
    divisor = min(s, INT64_BOUND - 1) if parts.dtype != object else s
    # A divisor beyond 64 bits exceeds every sum that fits in them: the quotient is 0 either way.
    return np.asarray(quotient * steps + (parts + rest * steps) // divisor)


def _accept_remainders(t: int, count: int, bits: BitSource) -> WholeArray:
    """Return about `wanted` draws of U uniform below t, each kept with probability e^{−U/t}."""
    if t == 1:
        return np.zeros(count, dtype=np.int64)
    # At least 1 − e⁻¹ > 5/8 are kept.
    candidates = uniform_below(t, count * 8 // 5 + 8, bits)
    return np.asarray(candidates[bernoulli_exp(candidates, t, bits)])


def discrete_laplace(scale: Fraction, size: int, bits: BitSource) -> WholeArray:
    """Draw two-sided noise, P(Z = k) = tanh(1/2b) e^{−|k|/b}.

    Added to a whole count of sensitivity Δ it gives exactly (Δ/b)-DP. A geometric magnitude with
    a fair sign, drawn anew where it is minus zero (else zero would come twice as often).

    Parameters
    ----------
    scale : Fraction or int
        b > 0, of any size. For counts scaled by B and level ε: B/ε.
    size : int
        Number of draws, ≥ 0.
    bits : BitSource
        `SystemBits` for a release.

    Returns
    -------
    ndarray, shape (size,)
        int64 if all draws are within ±2⁶², Python integers otherwise; adding counts below 2⁶²
        is safe in both.

    Raises
    ------
    TypeError, ValueError
        As in `geometric`.

    References
    ----------
    Canonne, Kamath and Steinke 2020, Algorithm 2.
    """
    t, s = positive_fraction("scale", scale).as_integer_ratio()
    return packed(_batches(checked_count(size), lambda count: _draw_signed(t, s, count, bits)))


def _draw_signed(t: int, s: int, count: int, bits: BitSource) -> WholeArray:
    magnitude = _magnitudes(t, s, count, bits)
    negative = uniform_below(2, count, bits) == 1
    accepted = ~(negative & (magnitude == 0).astype(np.bool_))
    return np.asarray(np.where(negative, -magnitude, magnitude)[accepted])


def discrete_gaussian(variance: Fraction, size: int, bits: BitSource) -> WholeArray:
    """Draw P(Z = k) ∝ e^{−k²/2σ²} on the whole numbers.

    Added to a whole count of sensitivity Δ it gives ½(Δ/σ)²-concentrated DP, and for every ε no
    more δ than the continuous Gaussian's up to its own tiny rounding term. Candidates Y are
    discrete Laplace of scale t = ⌊σ⌋ + 1, kept with probability e^{−(|Y| − σ²/t)²/2σ²}.

    Parameters
    ----------
    variance : Fraction or int
        σ² > 0, of any size: the parameter of the law; its variance is at most σ².
    size : int
        Number of draws, ≥ 0.
    bits : BitSource
        `SystemBits` for a release.

    Returns
    -------
    ndarray, shape (size,)
        As in `discrete_laplace`.

    Raises
    ------
    TypeError, ValueError
        As in `geometric`.

    References
    ----------
    Canonne, Kamath and Steinke 2020, Algorithm 3.
    """
    a, b = positive_fraction("variance", variance).as_integer_ratio()
    t = math.isqrt(a // b) + 1

    def candidates(count: int) -> WholeArray:
        y = discrete_laplace(Fraction(t), 2 * count + 8, bits)
        # (|y| − a/bt)²/(2a/b) = (|y|bt − a)²/(2abt²).
        magnitude = abs(y)
        if (max(int(magnitude.max()), 1) * b * t + a) ** 2 >= INT64_BOUND:
            magnitude = magnitude.astype(object)
        return np.asarray(y[bernoulli_exp((magnitude * (b * t) - a) ** 2, 2 * a * b * t * t, bits)])

    return packed(_batches(checked_count(size), candidates))


@cache
def _steps_law() -> ConstantLaw:
    return ConstantLaw(lambda k, x: 1 - x ** (k + 1))


def _batches(size: int, draw: Callable[[int], WholeArray]) -> WholeArray:
    """Return `size` draws from a sampler that returns about, or fewer than, as many as asked."""
    parts: list[WholeArray] = [draw(size)]
    while (missing := size - sum(map(len, parts))) > 0:
        parts.append(draw(missing))
    return np.concatenate(parts)[:size]


def _fraction(name: str, value: Fraction | int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Fraction | int):
        raise TypeError(f"{name}: {value!r} is neither a Fraction nor a whole number")
    return Fraction(value)


def positive_fraction(name: str, value: Fraction | int) -> Fraction:
    """Check a parameter: a Fraction or a whole number above 0."""
    number = _fraction(name, value)
    if number <= 0:
        raise ValueError(f"{name}: {number} is not above 0")
    return number


def checked_count(size: int) -> int:
    """Check a number of draws."""
    if size < 0:
        raise ValueError(f"size: {size} is below 0")
    return size


def polya(shape: Fraction, rate: Fraction, size: int, bits: BitSource) -> WholeArray:
    """Draw Pólya (negative binomial) variables, P(X = k) = Γ(k+r)/(k! Γ(r)) p^k (1−p)^r.

    p = e^{−a} with a rational. n draws with r = 1/n sum to a geometric variable of scale 1/a, and
    the difference of two such sums is discrete Laplace (errata heat-2 of the heatmap paper).

    The law is compound Poisson: sizes j = 1, 2, … occur as a Poisson process of intensity
    r p^j/j, and X is the sum of what occurs. With J = 2^I ≥ 1/a, sizes below J come in the blocks
    [2^i, 2^{i+1}): Poisson(r) candidates uniform in the block, kept with probability
    (2^i/j) e^{−aj}. Larger ones come in blocks [mJ, (m+1)J): Poisson(r) candidates with
    P(m) = (1 − e⁻¹) e^{1−m}, uniform in their block, kept with probability
    (J/j) e^{−(aj−m)}/(e−1); the exponent is at least 0 because aj ≥ aJm ≥ m. Multiplying out
    gives r p^j/j in both. All draws' candidates are counted at once and dealt to draws and blocks
    at random, which is the same law for Poisson numbers.

    Parameters
    ----------
    shape : Fraction or int
        r > 0.
    rate : Fraction or int
        a > 0.
    size : int
        Number of draws, ≥ 0; the time grows with size·r·log(1/a).
    bits : BitSource

    Returns
    -------
    ndarray, shape (size,)
        As in `geometric`.

    Raises
    ------
    TypeError, ValueError
        As in `geometric`, for either parameter.
    """
    r, a = positive_fraction("shape", shape), positive_fraction("rate", rate)
    levels = max(0, (math.ceil(1 / a) - 1).bit_length())
    groups = levels + 1
    total = _poisson(checked_count(size) * groups * r, bits)
    dealt = uniform_below(size * groups, total, bits).astype(np.int64) if total else _NONE
    owner, group = dealt // groups, dealt % groups
    sums: list[tuple[NDArray[np.int64], WholeArray]] = [
        _head_jumps(owner[group < levels], group[group < levels], a, bits),
        _tail_jumps(owner[group == levels], 1 << levels, a, bits),
    ]
    out = np.zeros(size, dtype=np.int64)
    most = sum(int(jumps.max(initial=0)) * len(jumps) for _, jumps in sums)
    if most >= INT64_BOUND or any(jumps.dtype == object for _, jumps in sums):
        out = out.astype(object)
    for owners, jumps in sums:
        np.add.at(out, owners, jumps)
    return packed(out)


def _head_jumps(
    owner: NDArray[np.int64], block: NDArray[np.int64], a: Fraction, bits: BitSource
) -> tuple[NDArray[np.int64], WholeArray]:
    """Return owners and sizes of jumps below J, from candidates of the blocks [2^i, 2^{i+1})."""
    owners, jumps = [_NONE], [_NONE]
    for i in np.unique(block).tolist():
        mine = owner[block == i]
        start = 1 << i
        j = uniform_below(start, len(mine), bits)
        j = (j if 2 * start < INT64_BOUND else j.astype(object)) + start
        accepted = _ratio(start, j, 2 * start, bits)
        mine, j = mine[accepted], j[accepted]
        accepted = bernoulli_exp(_times(j, a.numerator), a.denominator, bits)
        owners.append(mine[accepted])
        jumps.append(j[accepted])
    return np.concatenate(owners), np.concatenate(jumps)


def _tail_jumps(
    owner: NDArray[np.int64], J: int, a: Fraction, bits: BitSource
) -> tuple[NDArray[np.int64], WholeArray]:
    """Return owners and sizes of jumps of at least J."""
    owner = owner[_one_over_e_minus_one().draw(len(owner), bits) == 0]
    m = exponential_steps(len(owner), bits) + 1
    most = int(m.max(initial=1)) + 1
    j = _times(m, J) + uniform_below(J, len(owner), bits)
    accepted = _ratio(J, j, most * J, bits)
    owner, j, m = owner[accepted], j[accepted], m[accepted]
    excess = _times(j, a.numerator) - _times(m, a.denominator)
    accepted = bernoulli_exp(excess, a.denominator, bits)
    return owner[accepted], j[accepted]


def _ratio(numerator: int, j: WholeArray, bound: int, bits: BitSource) -> Mask:
    """Draw True with probability numerator/j for every j in [numerator, bound).

    A uniform number below the bound is drawn anew until it is below j; then it is uniform there.
    """
    u = uniform_below(bound, len(j), bits)
    over = np.flatnonzero(u >= j)
    while over.size:
        u[over] = uniform_below(bound, over.size, bits)
        over = over[(u[over] >= j[over]).astype(np.bool_)]
    return np.asarray(u < numerator, dtype=np.bool_)


def _times(values: WholeArray, factor: int) -> WholeArray:
    """Return values·factor, in Python integers if the largest product leaves 63 bits."""
    if values.dtype != object and int(values.max(initial=1)) * factor >= INT64_BOUND // 2:
        values = values.astype(object)
    return np.asarray(values * factor)


def _poisson(mean: Fraction, bits: BitSource) -> int:
    """Draw one Poisson variable: a unit one for each whole part, one downsampled for the rest."""
    whole, part = divmod(mean, 1)
    rest = int(_unit_poisson().draw(1, bits)[0])
    total = int(np.count_nonzero(bernoulli(Fraction(part), rest, bits)))
    while whole > 0:
        batch = min(int(whole), 1 << 20)
        total += int(_unit_poisson().draw(batch, bits).sum())
        whole -= batch
    return total


@cache
def _unit_poisson() -> ConstantLaw:
    return ConstantLaw(lambda k, x: x * sum(Fraction(1, math.factorial(j)) for j in range(k + 1)))


@cache
def _one_over_e_minus_one() -> ConstantLaw:
    """0 with probability 1/(e − 1), else 1."""
    return ConstantLaw(lambda k, x: x / (1 - x), last=1)
