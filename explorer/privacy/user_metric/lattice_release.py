"""PrivEMDLinear with exact noise: the query on a lattice, discrete Laplace noise on it.

f's table is rounded to multiples of γ; its Lipschitz constant in ℓ1 is that of the rounded table.
The mean over m items of n users is then a whole multiple of γ/(mn), and discrete Laplace noise of
scale lip/(αn) on these multiples is exactly α-private for d_EM. Rounding the mean itself is not:
its jump stays γ however small the change is.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import BitSource, WholeArray
from explorer.privacy.noise.exact import discrete_laplace
from explorer.privacy.spaces.base import IntArray
from explorer.privacy.user_metric.calibration import ALPHA_MAX

_WHOLE_MAX = 2.0**50


class LatticeQuery:
    """A linear query whose values are whole multiples of a step.

    Parameters
    ----------
    values : array_like of float, shape (k, dim)
        f(x) of every item; rounded to the nearest multiples of `step`.
    distances : array_like of float, shape (k, k)
        Normalised distances of the items.
    step : Fraction
        γ > 0.

    Attributes
    ----------
    multiples : ndarray of int, shape (k, dim)
        f(x)/γ.
    lip : Fraction
        At least max ‖f(x) − f(x′)‖₁/d(x, x′) of the rounded table, within two roundings of it.

    Raises
    ------
    ValueError
        If a value is more than 2^50 steps, or f differs on two items at distance 0.
    """

    def __init__(self, values: ArrayLike, distances: ArrayLike, step: Fraction) -> None:
        if step <= 0:
            raise ValueError(f"step: {step} is not above 0")
        f = np.asarray(values, dtype=float)
        d = np.asarray(distances, dtype=float)
        if f.ndim != 2 or not np.isfinite(f).all() or d.shape != (len(f), len(f)):
            raise ValueError(f"values: shape {f.shape} for distances of shape {d.shape}")
        scaled = f / float(step)
        if np.abs(scaled).max(initial=0.0) * max(f.shape[1], 1) > _WHOLE_MAX:
            raise ValueError("step: values are more than 2^50 steps; take a larger step")
        self.step = step
        self.multiples: IntArray = np.rint(scaled).astype(np.int64)
        steepest = 0.0
        for row, away in zip(self.multiples, d, strict=True):
            change = np.abs(self.multiples - row).sum(axis=1)
            apart = away > 0
            if (change[~apart] > 0).any():
                raise ValueError("values: f differs on two items at distance 0")
            steepest = max(steepest, float((change[apart] / away[apart]).max(initial=0.0)))
        # The changes are whole and below 2^53, so that only the quotient was rounded.
        self.lip = Fraction(math.nextafter(steepest, math.inf) if steepest else 0.0) * step

    def scale(self, alpha: float, n: int) -> Fraction:
        """Return lip/(αn), the scale of the noise; n = 1 in the local model."""
        a = float(checks.reals("alpha", alpha, 0.0, ALPHA_MAX, open_low=True))
        return self.lip / (Fraction(a) * n)

    def noise(self, alpha: float, m: int, n: int, bits: BitSource) -> WholeArray:
        """Return noise for a mean over m items of each of n users, in multiples of γ/(mn)."""
        dim = self.multiples.shape[1]
        scale = self.scale(alpha, n) * (m * n) / self.step
        if not scale:
            return np.zeros(dim, dtype=np.int64)
        return discrete_laplace(scale, dim, bits)

    def release(self, items: IntArray, m: int, n: int, alpha: float, bits: BitSource) -> FloatArray:
        """Return the mean of f over m·n items with its noise.

        Parameters
        ----------
        items : ndarray of int, shape (m·n,)
            One user's (n = 1, the local model) or all users', every one with m of them.
        m, n : int
        alpha : float
            In (0, 800], per normalised distance.
        bits : BitSource
            `SystemBits` for a release.
        """
        if len(items) != m * n:
            raise ValueError(f"items: {len(items)} of them where {n} users have {m} each")
        sums = self.multiples[items].sum(axis=0) + self.noise(alpha, m, n, bits)
        unit = self.step / (m * n)
        return np.array([float(int(total) * unit) for total in sums])

    def mean(self, items: IntArray) -> FloatArray:
        """Return the mean of the rounded f over items, without noise."""
        return np.asarray(self.multiples[items].mean(axis=0) * float(self.step))


def lattice_noise_moments(scale: Fraction, unit: Fraction) -> tuple[float, float]:
    """Return E|Z| and E Z² of one coordinate's noise of a scale, on the multiples of a unit."""
    if not scale:
        return 0.0, 0.0
    rate = float(unit / scale)
    step = float(unit)
    # P(k) ∝ e^{−rate·|k|}: E|k| = 1/sinh(rate), E k² = 1/(2 sinh²(rate/2)).
    with np.errstate(over="ignore"):
        absolute, half = float(np.sinh(rate)), float(np.sinh(rate / 2))
    return step / absolute, step * step / (2 * half * half)
