"""Coordinate levels as what an adversary's test can achieve: Theorem 1.

Of a test of the hypothesis x_i ∈ S against x_i ∈ S', α is the probability of rejecting it when it
is true, P{M ∈ R | x_i ∈ S} (the proof prints x ∈ S_i; errata coord-A6), and β that of keeping it
when it is false.
"""

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


def tradeoff_bound(level: ArrayLike, type1: ArrayLike) -> FloatArray:
    """Return max(0, 1 − e^δ·α, e^{−δ}(1 − α)), below which no test's type II error can be.

    Parameters
    ----------
    level : array_like
        Coordinate level δ_i in [0, ∞].
        An infinite one allows every test: the bound is 0, at α = 0 too.
    type1 : array_like
        Type I error α in [0, 1]; broadcast against `level`.
    """
    level = checks.reals("level", level, 0.0)
    type1 = checks.reals("type1", type1, 0.0, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # A report that excludes a value raises no false alarms, so e^∞·0 is not 0 here.
        never = np.where(np.isinf(level), 0.0, 1.0)
        steep = np.where(type1 > 0.0, 1.0 - np.exp(level + np.log(type1)), never)
    flat = np.exp(-level) * (1.0 - type1)
    result: FloatArray = np.maximum(0.0, np.maximum(steep, flat))
    return result


def tradeoff_beta(P: ArrayLike, Q: ArrayLike, type1: ArrayLike) -> FloatArray:
    """Return the smallest type II error at a type I error, by Neyman and Pearson.

    Randomised tests included: the curve is convex, non-increasing and piecewise linear.

    Parameters
    ----------
    P, Q : array_like of shape (outputs,)
        Laws under the hypothesis and under the alternative.
    type1 : array_like
        Type I errors in [0, 1].
    """
    p, q = checks.reals("P", P, 0.0, 1.0), checks.reals("Q", Q, 0.0, 1.0)
    for name, law in (("P", p), ("Q", q)):
        if law.ndim != 1 or law.shape != p.shape or abs(law.sum() - 1.0) > 1e-9:
            raise ValueError(f"{name} must be a law on the outputs, got sum {law.sum():g}")
    type1 = checks.reals("type1", type1, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((p == 0.0) & (q == 0.0), -1.0, q / p)
    order = np.argsort(-ratio, kind="stable")
    alphas = np.concatenate([[0.0], np.cumsum(p[order])])
    betas = np.maximum(1.0 - np.concatenate([[0.0], np.cumsum(q[order])]), 0.0)
    # Outputs impossible under P cost nothing: where α repeats, the last β counts.
    last = np.append(np.diff(alphas) > 0.0, True)
    result: FloatArray = np.interp(type1, alphas[last], betas[last])
    return result


def level_of_tradeoff(P: ArrayLike, Q: ArrayLike) -> float:
    """Return the smallest δ whose region contains the trade-off of two laws, both ways.

    One ordered pair alone is one-sided (errata coord-C5); the level is the larger of the two.
    """
    p, q = checks.reals("P", P, 0.0, 1.0), checks.reals("Q", Q, 0.0, 1.0)
    possible = (p > 0.0) | (q > 0.0)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(p[possible]) - np.log(q[possible])).max())
