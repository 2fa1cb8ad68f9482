"""Permute-and-flip: one candidate with nearly the largest score, for scores that move together.

Candidates are visited in uniformly random order, r is accepted with probability e^{−ε(q* − q_r)},
q* being the largest score, and the first accepted one is the answer (McKenna and Sheldon 2020): the
argmax of q_r + Exp(1)/ε (Ding, Kifer, Steinke and others 2021). Where one user adds 0 or 1 to every
score it is ε-DP: with the rivals' noise fixed, the least noise with which r wins moves by at most 1
either way, and P(Exp(1)/ε > τ + 1) ≥ e^{−ε}·P(Exp(1)/ε > τ) for every τ. Scores that can move apart
cost 2ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import INT64_BOUND, BitSource
from explorer.privacy.noise.exact import bernoulli_exp, positive_fraction
from explorer.privacy.noise.laplace_law import decimal_of


def permute_and_flip(scores: NDArray[Any], epsilon: Fraction, bits: BitSource) -> int:
    """Draw the index of one candidate, exactly, from whole numbers.

    Whether a candidate would be accepted is independent of the order, so that all are asked at
    once; those with the largest score always are.

    Parameters
    ----------
    scores : ndarray of int, shape (candidates,)
        Whole numbers (int64, or Python integers) that a user moves by 0 or 1, all in the same
        direction; at least one.
    epsilon : Fraction
        > 0.
    bits : BitSource
        The operating system's, for a release.
    """
    numerator, denominator = positive_fraction("epsilon", epsilon).as_integer_ratio()
    gaps = scores.max() - scores
    if gaps.dtype != object and int(gaps.max()) * numerator >= INT64_BOUND:
        gaps = gaps.astype(object)
    accepted = np.flatnonzero(bernoulli_exp(gaps * numerator, denominator, bits))
    order = bits.words(len(accepted))
    while len(np.unique(order)) < len(order):
        # Without ties every order is equally likely.
        order = bits.words(len(accepted))
    return int(accepted[np.argmin(order)])


def permute_and_flip_law(scores: Sequence[int], epsilon: Fraction) -> FloatArray:
    """Return the probability of every candidate, p_r·∫₀¹ Π_{s≠r} (1 − p_s·t) dt.

    Gauss–Legendre quadrature of enough points is exact for these polynomials, and adds up positive
    numbers only.

    Parameters
    ----------
    scores : sequence of int
        At least one.
    epsilon : Fraction
        > 0.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon: {epsilon} is not above 0")
    gaps = np.array([max(scores) - score for score in scores], dtype=float)
    accept = np.exp(-float(epsilon) * gaps)
    nodes, weights = np.polynomial.legendre.leggauss(len(scores) // 2 + 1)
    t, w = (nodes + 1) / 2, weights / 2
    factors = 1 - accept[:, None] * t
    others = np.array([np.prod(np.delete(factors, r, axis=0), axis=0) for r in range(len(scores))])
    return np.asarray(accept * (others @ w))


def expected_gap(scores: Sequence[int], epsilon: Fraction) -> float:
    """Return by how much the chosen score is below the largest, on average."""
    gaps = [max(scores) - score for score in scores]
    return float(permute_and_flip_law(scores, epsilon) @ np.array(gaps, dtype=float))


def permute_and_flip_worst_log_ratio(scores: Sequence[int], epsilon: Fraction) -> float:
    """Return the largest |ln ratio| of an answer's probabilities over all neighbours.

    Neighbours add 0 or 1 to every score: 2^candidates of them.
    """
    here = np.log(permute_and_flip_law(scores, epsilon))
    return max(
        float(np.abs(np.log(permute_and_flip_law(neighbour, epsilon)) - here).max())
        for more in product((0, 1), repeat=len(scores))
        for neighbour in [[score + step for score, step in zip(scores, more, strict=True)]]
    )


def gap_quantile(candidates: int, epsilon: Fraction, beta: Fraction) -> int:
    """Return m such that the chosen score is more than m below the largest with chance ≤ β.

    A candidate that far below wins only if its Exp(1)/ε exceeds the gap: each with chance e^{−ε·m}
    at most, (candidates − 1)·e^{−ε·m} in all.
    """
    if not (epsilon > 0 and 0 < beta < 1 and candidates >= 1):
        raise ValueError("candidates, epsilon, beta: must be at least 1, above 0 and in (0, 1)")
    if candidates == 1:
        return 0
    context = Context(prec=60)
    log = context.ln(decimal_of((candidates - 1) / Fraction(beta), context))
    least = context.multiply(log, decimal_of(1 / Fraction(epsilon), context))
    return max(int(least.to_integral_value(rounding=ROUND_CEILING)), 0)
