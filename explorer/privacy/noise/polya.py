"""Exact Pólya noise: the share of discrete Laplace noise that one of many users adds.

Like `exact_noise`, from random bits in whole numbers alone.
"""

import math
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
from explorer.privacy.noise.exact import (
    Mask,
    bernoulli,
    bernoulli_exp,
    checked_count,
    exponential_steps,
    positive_fraction,
)

_NONE = np.zeros(0, dtype=np.int64)


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
    """Return who gets which jumps below J, from candidates of the blocks [2^i, 2^{i+1})."""
    owners, jumps = [_NONE], [_NONE]
    for i in np.unique(block).tolist():
        mine = owner[block == i]
        start = 1 << i
        j = uniform_below(start, len(mine), bits)
        j = (j if 2 * start < INT64_BOUND else j.astype(object)) + start
        kept = _ratio(start, j, 2 * start, bits)
        mine, j = mine[kept], j[kept]
        kept = bernoulli_exp(_times(j, a.numerator), a.denominator, bits)
        owners.append(mine[kept])
        jumps.append(j[kept])
    return np.concatenate(owners), np.concatenate(jumps)


def _tail_jumps(
    owner: NDArray[np.int64], J: int, a: Fraction, bits: BitSource
) -> tuple[NDArray[np.int64], WholeArray]:
    """Return who gets which jumps of at least J."""
    owner = owner[_one_over_e_minus_one().draw(len(owner), bits) == 0]
    m = exponential_steps(len(owner), bits) + 1
    most = int(m.max(initial=1)) + 1
    j = _times(m, J) + uniform_below(J, len(owner), bits)
    kept = _ratio(J, j, most * J, bits)
    owner, j, m = owner[kept], j[kept], m[kept]
    excess = _times(j, a.numerator) - _times(m, a.denominator)
    kept = bernoulli_exp(excess, a.denominator, bits)
    return owner[kept], j[kept]


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
