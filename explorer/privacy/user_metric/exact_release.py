"""Exact samplers of item-wise and linear releases: whole-number tables and lattice noise.

**Item mechanisms as tables of whole numbers**: their law is the table, so no draw is rounded. Row x
holds weights W(x, y); the answer to item x is y with probability W(x, y)/R(x), R the row sums. A
whole number below R(x) is drawn uniformly, so what is promised is a property of the table alone: α₀
is claimed of the whole numbers, not of the real law that they stand for.

**PrivEMDLinear on a lattice, with discrete Laplace noise.** f's table is rounded to multiples of γ;
its Lipschitz constant in ℓ1 is that of the rounded table. The mean over m items of n users is then
a whole multiple of γ/(mn), and discrete Laplace noise of scale lip/(αn) on these multiples is
exactly α-private for d_EM. Rounding the mean itself is not: its jump stays γ however small the
change is.
"""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import BitSource, WholeArray, uniform_below, weighted_choice
from explorer.privacy.noise.exact import discrete_laplace
from explorer.privacy.spaces import IntArray, indices
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.itemwise import sharpest_rate

MAX_ITEMS = 400
"""Most items of a table: every answer is compared for every pair of them."""
BITS = 64
MAX_CONDITION = 1e8
"""Largest condition number of a law that is inverted."""
_STEP = Fraction(1, 1 << 40)
_DIGITS = 60


class IntegerTable:
    """A randomised answer to items 0 … size−1, drawn exactly.

    Parameters
    ----------
    weights : sequence of sequences of int, shape (size, answers)
        Above 0, of any size; any table will do.
    distances : array_like of float, shape (size, size)
        Normalised distances of the items.

    Attributes
    ----------
    level : float
        The α₀ for which the table is α₀·d-private, rounded up: max over pairs of items and
        answers of ln(W(x,y)R(x′)/(W(x′,y)R(x)))/d(x,x′).

    Raises
    ------
    ValueError
        If a weight is not above 0, sizes do not fit, or two items at distance 0 have other rows.
    """

    def __init__(self, weights: Sequence[Sequence[int]], distances: ArrayLike) -> None:
        self.weights = tuple(tuple(int(w) for w in row) for row in weights)
        size = len(self.weights)
        d = np.asarray(distances, dtype=float)
        if not 1 <= size <= MAX_ITEMS or d.shape != (size, size):
            raise ValueError(f"weights: {size} rows for distances of shape {d.shape}")
        if len({len(row) for row in self.weights}) != 1 or min(map(min, self.weights)) < 1:
            raise ValueError("weights: every row needs as many whole numbers, all above 0")
        self._cumulated = [list(accumulate(row)) for row in self.weights]
        self.level = _level(self.weights, d)

    @property
    def size(self) -> int:
        """Number of items."""
        return len(self.weights)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x, each entry to the nearest double."""
        totals = [sums[-1] for sums in self._cumulated]
        return np.array(
            [[w / total for w in row] for row, total in zip(self.weights, totals, strict=True)]
        )

    def answer(self, items: ArrayLike, bits: BitSource) -> IntArray:
        """Return one independent answer for every item, in the order of the items."""
        x = indices(items, self.size)
        out = np.empty(len(x), dtype=np.int64)
        for item in np.flatnonzero(np.bincount(x)).tolist():
            place = np.flatnonzero(x == item)
            out[place] = weighted_choice(self._cumulated[item], place.size, bits)
        return out


def table_draw(row: Sequence[int], u: int) -> int:
    """Return the answer for a whole number 0 ≤ u < Σ row: the first whose running sum is above u.

    Raises
    ------
    ValueError
        If u is outside.
    """
    sums = list(accumulate(row))
    if not 0 <= u < sums[-1]:
        raise ValueError(f"u: {u} is outside [0, {sums[-1]})")
    return next(y for y, total in enumerate(sums) if u < total)


def integer_table(
    alpha0: float, distances: ArrayLike, bits: int = BITS, *, half: bool = False
) -> IntegerTable:
    """Return the table of W(x, y) = ⌊2^bits·e^{−a·d(x,y)}⌋, which is α₀·d-private.

    Parameters
    ----------
    alpha0 : float
        In (0, 800], and so small that no weight is 0.
    distances : array_like of float, shape (k, k)
        Normalised distances of 1 to 400 items.
    bits : int
        At least 64 for a release.
    half : bool
        Take a = α₀/2, which always suffices; else the largest a ≤ α₀ that does: α₀ itself where
        all items look alike, which is generalised randomised response.

    Raises
    ------
    ValueError
        If a weight would be 0.
    """
    target = float(checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON, open_low=True))
    d = np.asarray(distances, dtype=float)
    if d.ndim != 2 or d.shape[0] != d.shape[1] or not 1 <= d.shape[0] <= MAX_ITEMS:
        raise ValueError(f"distances: shape {d.shape} must be square, of 1 to {MAX_ITEMS} items")
    rate = Fraction(target / 2 if half else sharpest_rate(d, target))
    steps = 0
    while True:
        table = IntegerTable(_weights(rate - steps * _STEP, d, bits), d)
        if table.level <= target:
            return table
        steps = max(1, 2 * steps)


def _weights(rate: Fraction, d: FloatArray, bits: int) -> list[list[int]]:
    weights: dict[float, int] = {}
    with localcontext() as context:
        context.prec = _DIGITS
        scale = Decimal(1 << bits)
        for x in np.unique(d).tolist():
            power = rate * Fraction(x)
            exponent = -Decimal(power.numerator) / Decimal(power.denominator)
            weights[x] = math.floor(scale * exponent.exp())
            if not weights[x]:
                raise ValueError(
                    f"alpha0: at {float(rate):g} the least weight of {bits} bits is 0; take a "
                    "smaller α₀ or more bits"
                )
    return [[weights[x] for x in row] for row in d.tolist()]


def _level(weights: tuple[tuple[int, ...], ...], d: FloatArray) -> float:
    """Return an upper bound on the level, which lies within 1e-13/d of it."""
    log_row = np.array([math.log(sum(row)) for row in weights])
    # Of each of the four logarithms the last digit may be off.
    logs = np.array([[math.log(w) for w in row] for row in weights])
    off = 4 * float(np.spacing(max(log_row.max(), 1.0)))
    loss = np.array([(row - logs).max(axis=1) for row in logs]) - log_row[:, None] + log_row
    near = d <= 0
    if any(not _proportional(weights[i], weights[j]) for i, j in np.argwhere(near).tolist()):
        raise ValueError("weights: two items at distance 0 must have one and the same law")
    level = float(((loss + off)[~near] / d[~near]).max(initial=0.0))
    return math.nextafter(level, math.inf) if level else 0.0


def _proportional(row: tuple[int, ...], other: tuple[int, ...]) -> bool:
    if row is other:
        return True
    one, two = sum(row), sum(other)
    return all(a * two == b * one for a, b in zip(row, other, strict=True))


def shuffled(answers: ArrayLike, bits: BitSource) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the answers in an exactly uniform random order, along the first axis."""
    values = np.asarray(answers)
    while True:
        # Keys without ties put every order first equally often.
        keys = bits.words(len(values))
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all():
            return values[order]


def drawn_items(
    users: Sequence[ArrayLike], s: int, bits: BitSource
) -> list[np.ndarray[Any, np.dtype[Any]]]:
    """Return s items of every user, drawn uniformly with replacement (Algorithm 3), exactly.

    As `reduction.draw_items`, from a source of random bits.
    """
    draws = int(checks.integers("s", s, 1, 1e9))
    out = []
    for i, items in enumerate(users):
        own = np.asarray(items)
        if own.ndim == 0 or own.shape[0] == 0:
            raise ValueError(f"users[{i}]: a user must have at least one item to draw from")
        out.append(own[uniform_below(own.shape[0], draws, bits)])
    return out


def debiased_histogram(answers: ArrayLike, channel: ArrayLike) -> FloatArray:
    """Return the unbiased estimate F = vA⁻¹ of the items' shares from the shares v of the answers.

    Parameters
    ----------
    answers : array_like of int, shape (N,)
        N ≥ 1.
    channel : array_like of float, shape (k, k)
        A(x, y) = Pr[y | x].

    Returns
    -------
    ndarray, shape (k,)
        Signed, of sum 1.

    Raises
    ------
    ValueError
        If the condition number of A is above 1e8: the answers then hardly depend on the item.
    """
    a = _invertible(channel)
    y = indices(answers, len(a))
    if not len(y):
        raise ValueError("answers: there must be at least one")
    v = np.bincount(y, minlength=len(a)) / len(y)
    return np.asarray(np.linalg.solve(a.T, v))


def debiased_mse(shares: ArrayLike, channel: ArrayLike, total: float) -> float:
    """Return E‖F − K̃‖² of `debiased_histogram`, exactly.

    (Σ_x K̃(x) Σ_y A(x,y)‖row y of A⁻¹‖² − 1)/total for items of shares K̃, `total` of them.
    """
    a = _invertible(channel)
    k = np.asarray(shares, dtype=float)
    if k.shape != (len(a),):
        raise ValueError(f"shares: shape {k.shape} must be {(len(a),)}")
    squares = (np.linalg.inv(a) ** 2).sum(axis=1)
    items = float(checks.integers("total", total, 1, checks.MAX_COUNT))
    return max(float(k @ a @ squares) - 1.0, 0.0) / items


def _invertible(channel: ArrayLike) -> FloatArray:
    a = np.asarray(channel, dtype=float)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not np.isfinite(a).all():
        raise ValueError(f"channel: shape {a.shape} must be square, every entry finite")
    condition = float(np.linalg.cond(a))
    if not condition <= MAX_CONDITION:
        raise ValueError(
            f"channel: its condition number {condition:.2g} is above {MAX_CONDITION:g}, so that "
            "the answers do not tell the items apart; take a larger α₀ or fewer items"
        )
    return a


_MAX_WHOLE = 2.0**50


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
        if np.abs(scaled).max(initial=0.0) * max(f.shape[1], 1) > _MAX_WHOLE:
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
        a = float(checks.reals("alpha", alpha, 0.0, MAX_ALPHA, open_low=True))
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
