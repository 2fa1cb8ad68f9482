"""δ and ε of n shuffled messages by what hides them, certified from above.

E[(S)_+] for a sum S of n independent g is an integral of the moment generating function K(z)ⁿ/z²
along Re z = c > 0. A little Gaussian noise, independent of S, is added to it: (x)_+ is convex, so
that raises the expectation, by some 1e-5 of ε, and makes the integrand fall at once. The trapezoid
rule adds E[(S + jL)_+]e^{−cjL} for all j ≠ 0, L = 2π over its step: again only upwards. What is
left out of it, and rounding, is bounded and added. Few messages are listed count by count.
"""

from __future__ import annotations

import math

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.randomisers.blanket import Blanket

FINE, COARSE = 4e-3, 2e-2
"""Deviation of the noise relative to that of the sum."""
_LISTED = 8_000
_UNIT = 2.0**-52
_REACH = 8.6
"""Deviations at which a Gaussian's transform is left."""


class Crowd:
    """n shuffled messages behind one blanket.

    Parameters
    ----------
    blanket : Blanket
    n : float
        Messages in all, 1 … 10¹².
    blur : float
        Deviation of the added noise relative to that of the sum: `FINE` or `COARSE`.
    """

    def __init__(self, blanket: Blanket, n: float, blur: float = FINE) -> None:
        self.blanket, self.blur = blanket, blur
        self.n = float(checks.integers("n", n, 1, checks.COUNT_MAX))
        self._sums: tuple[FloatArray, FloatArray, FloatArray] | None = None
        size = int(np.count_nonzero(blanket.mass > 0))
        if self.n <= 400 and math.comb(int(self.n) + size, size) <= _LISTED:
            self._sums = self._listed()
        self._tilt = 0.0

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on δ at ε ≥ 0, at most 1."""
        return min(self._bounded(float(epsilon))[0], 1.0)

    def epsilon(self, delta: float, guess: float = 0.0) -> float:
        """Return an upper bound on the smallest ε ≥ 0 with δ(ε) ≤ δ.

        Never more than the largest ln(P/Q), beyond which δ is 0; that may be infinite.
        """
        goal, most = math.log(delta), self.blanket.most
        if math.isinf(most) and self.blanket.bare(700.0) > delta:
            return math.inf
        within = 1e-11 if self._sums else (1e-4 if self.blur >= COARSE else 1e-6)
        low, high = 0.0, most
        eps = min(guess or self._guess(goal), 0.999 * most)
        for _ in range(60):
            value, slope = self._bounded(eps)
            log_value = math.log(value) if value > 0 else -math.inf
            reached = log_value <= goal
            low, high = (low, eps) if reached else (eps, high)
            step = (log_value - goal) * value / slope if slope > 0 else math.nan
            if log_value < -1 and goal < -1 and slope > 0:
                # √ln(1/δ) is all but linear in ε.
                root = math.sqrt(-log_value)
                step = 2 * root * (math.sqrt(-goal) - root) * value / slope
            if reached and (abs(step) <= within * eps or eps <= 1e-9 * most):
                break
            # A little too far, so that the next value is on the safe side already.
            eps = eps + step + 0.5 * within * eps
            if not low < eps < high:
                if low == 0 and self._bounded(0.0)[0] <= delta:
                    return 0.0
                eps = 0.5 * (low + high) if math.isfinite(high) else 2 * low
            if high - low <= within * high:
                break
        return high

    def _guess(self, log_delta: float) -> float:
        """Return about the ε at which a normal loss has this δ."""
        b = self.blanket
        hidden = b.mass > 0
        gap = (b.first - b.second)[hidden]
        apart = float(gap @ (gap / b.mass[hidden])) / self.n
        return math.sqrt(apart) * max(math.sqrt(max(-2 * log_delta, 0.0)) - 1.5, 0.1)

    def _listed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the probability of all counts of covered messages, and the sums of P/m and Q/m."""
        from scipy.special import gammaln

        b = self.blanket
        hidden = b.mass > 0
        left, log_p = np.array([self.n]), np.array([float(gammaln(self.n + 1))])
        up, down = np.zeros(1), np.zeros(1)
        for p, q, m in zip(b.first[hidden], b.second[hidden], b.mass[hidden], strict=True):
            times = (left + 1).astype(int)
            which = np.repeat(np.arange(left.size), times)
            count = np.arange(which.size) - np.repeat(np.cumsum(times) - times, times)
            left = left[which] - count
            log_p = log_p[which] + count * math.log(m) - gammaln(count + 1)
            up, down = up[which] + count * (p / m), down[which] + count * (q / m)
        rest = max(1 - float(b.mass[hidden].sum()), 0.0)
        if rest > 1e-14:
            log_p = log_p + left * math.log(rest) - gammaln(left + 1)
        else:
            full = left == 0
            log_p, up, down = log_p[full], up[full], down[full]
        return np.exp(log_p), up, down

    def _bounded(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on δ at ε and about −dδ/dε."""
        bare = self.blanket.bare(epsilon)
        if self._sums:
            chance, up, down = self._sums
            scale = math.exp(epsilon)
            away = up - scale * down
            gain = away > 0
            value = float(chance[gain] @ away[gain]) / self.n
            slope = scale * float(chance[gain] @ down[gain]) / self.n
            return value * (1 + 1e-11) + bare, slope
        gains, mass = self.blanket.gains(epsilon)
        if not (gains > 0).any():
            return bare, 0.0
        value, slope = self._integral(gains, mass, epsilon)
        return value + bare, slope

    def _integral(self, gains: FloatArray, mass: FloatArray, epsilon: float) -> tuple[float, float]:
        n, unit = self.n, float(np.abs(gains).max())
        g = gains / unit
        c = self._saddle(g, mass)
        grown = np.exp(c * g)
        rise = mass * np.expm1(c * g)
        log_k = math.log1p(float(rise.sum()))
        weight = mass * grown * math.exp(-log_k)
        mean = float(weight @ g)
        spread = math.sqrt(n * max(float(weight @ g**2) - mean**2, 0.0) + 1 / c**2)
        noise = self.blur * spread
        step = 2 * math.pi / (10 * spread + 12 / c)
        t = step * np.arange(math.ceil(_REACH / (noise * step)) + 1)
        half = 0.5 * t[:, None] * g
        sine, cosine = np.sin(half), np.cos(half)
        real, imaginary = -2 * sine * sine, 2 * sine * cosine
        x, y = real @ weight, imaginary @ weight
        size = 0.5 * n * np.log1p(2 * x + x * x + y * y) - 0.5 * (noise * t) ** 2
        angle = n * np.arctan2(y, 1 + x) + noise**2 * c * t - 2 * np.arctan2(t, c)
        term = np.exp(size) / (1 + (t / c) ** 2)
        term[0] *= 0.5
        parts = term * np.cos(angle)
        moved = float(weight @ np.abs(g))
        wrong = float(term @ (1e-13 + n * _UNIT * 4 * moved * t)) + 2 * t.size * math.exp(-36.0)
        scale = (
            n * log_k + 0.5 * (noise * c) ** 2 - 2 * math.log(c) + math.log(step * unit / math.pi)
        )
        off = 1e-10 + 8 * _UNIT * n * (float(np.abs(rise).sum()) + abs(log_k))
        front = math.exp(min(scale - math.log(n), 700.0))
        value = front * (float(parts.sum()) + wrong) * (1 + off)
        # −dS/dε has the mean n·e^ε·E[Q/m; tilted] there.
        hidden = self.blanket.mass > 0
        falls = self.blanket.second[hidden] * grown * math.exp(-log_k)
        u, v = (1 + real) @ falls, imaginary @ falls
        turned = (u + 1j * v) * np.exp(1j * angle) * (c + 1j * t) / (1 + x + 1j * y)
        slope = front * n * math.exp(epsilon) / unit * float((term * turned.real).sum())
        return value, slope

    def _saddle(self, g: FloatArray, mass: FloatArray) -> float:
        """Return about the c > 0 where n·ln K(c) − 2·ln c is least."""
        n = self.n
        c = self._tilt or 1.0 / math.sqrt(n * float(mass @ g**2) + 1e-300)
        for _ in range(60):
            grown = mass * np.exp(np.minimum(c * g, 600.0))
            k = 1 + float(grown.sum() - mass.sum())
            mean = float(grown @ g) / k
            bend = float(grown @ g**2) / k - mean**2
            # In ln c, where the function is convex enough for Newton's step to be safe if short.
            first = n * mean * c - 2
            second = n * (bend * c * c + mean * c)
            move = -first / second if second > abs(first) / 2 else -math.copysign(0.7, first)
            move = min(max(move, -2.0), 2.0)
            c *= math.exp(move)
            if abs(move) < 1e-3:
                break
        self._tilt = c
        return c


def crowd_delta(blanket: Blanket, epsilon: float, n: float) -> float:
    """Return an upper bound on δ at ε of n shuffled messages behind a blanket."""
    eps = float(checks.reals("eps", epsilon, 0.0, checks.EPSILON_MAX))
    return Crowd(blanket, n).delta(eps)
