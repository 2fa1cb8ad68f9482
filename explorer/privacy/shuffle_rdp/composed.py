"""T rounds of one law of losses: listed if few, a contour integral if smooth, else a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.bounds import FloatArray
from explorer.privacy.shuffle_rdp.lattice import (
    NOTHING,
    Found,
    lattice_delta,
    lattice_epsilon,
    log_moments,
)
from explorer.privacy.shuffle_rdp.losses import RoundLoss, tilted

_ENUMERATED = 100_000
_NODES_MAX = 384
_LOSSLESS = 1e-12
_TRUSTED = 1e-4
"""Largest relative error of δ accepted; ε then errs by a few hundredths of it."""
_TILTS = np.geomspace(1e-7, 1e2, 64)
"""Tilts tried, in units of one over the deviation of one round's loss."""

TOO_FEW_ROUNDS = (
    "with so few rounds, or so few messages to hide among, the privacy loss is too far from "
    "smooth for the integral to be trusted"
)


class Composition:
    """T independent rounds of one loss law: δ at ε and ε at δ."""

    def __init__(self, loss: RoundLoss) -> None:
        self.loss = loss
        with np.errstate(over="ignore", invalid="ignore"):
            # Losses are scaled before they are squared: the smallest have no square.
            scale = max(float(np.abs(loss.log_ratio).max()), 1e-300)
            deviation = scale * math.sqrt(float(loss.mass @ np.square(loss.log_ratio / scale)))
            tilts = _TILTS / max(deviation, 1e-300)
            growth = loss.growth(tilts)
            usable = np.isfinite(growth) & (growth >= 0)
        self._tilts, self._growth = tilts[usable], growth[usable]
        self._log_k = np.log1p(self._growth)
        self._mean, self._variance = loss.tilted_moments(self._tilts)
        order = np.argsort(loss.log_ratio)
        self._sorted = loss.log_ratio[order]
        self._sorted_mass = loss.mass[order]

    def delta(self, epsilon: float, T: int) -> float:
        """Return δ at ε, NaN where it can't be had."""
        if self._few(T) or not self._tilts.size:
            return self._enumerated(epsilon, T) if self._few(T) else math.nan
        saddles, log_delta = self._saddles(T)
        best = int(np.argmin(np.abs(saddles - epsilon)))
        line = self._line(best, float(log_delta[best]), T)
        if line is not None:
            return math.exp(min(line.log_delta(epsilon), 0.0))
        order = _nearest_first(best, saddles.size)
        return lattice_delta(self.loss, self._tilts[order], log_delta[order], epsilon, T)

    def epsilon(self, delta: float, T: int) -> float:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, NaN where it can't be had."""
        return self.found(delta, T).epsilon

    def found(self, delta: float, T: int) -> Found:
        """Return `epsilon` and by about how much it may be too large (the lattice's excess)."""
        if delta >= 1:
            return Found(0.0, 0.0)
        delta -= T * self.loss.missing
        if not delta > 0:
            return NOTHING
        if self._few(T):
            return Found(self._enumerated_epsilon(delta, T), 0.0)
        goal = math.log(delta)
        if self._tilts.size:
            saddles, log_delta = self._saddles(T)
            best = int(np.argmin(np.abs(log_delta - goal)))
            line = self._line(best, goal, T)
            if line is not None:
                return Found(line.solve(goal, max(float(saddles[best]), 0.0)), 0.0)
        largest, log_mass, gap = self._largest(T)
        least = largest + math.log1p(-math.exp(goal - log_mass)) if goal < log_mass else -math.inf
        if least >= largest - gap:
            return Found(max(least, 0.0), 0.0)
        if goal < log_mass - 14 or largest <= 0:
            # δ is a sliver of the mass at the largest loss there can be.
            return Found(max(largest, 0.0), -math.log1p(-math.exp(min(goal - log_mass, -14.0))))
        if not self._tilts.size:
            return NOTHING
        tilts, centres = self._towards(goal, T, saddles, log_delta, best)
        found = lattice_epsilon(self.loss, tilts, centres, delta, T)
        return Found(min(found.epsilon, largest), found.excess)

    def least(self, delta: float, T: int) -> float:
        """Return an ε ≥ 0 that is certainly not too large: by the largest sum of losses alone."""
        largest, log_mass, _ = self._largest(T)
        share = math.exp(min(math.log(delta) - log_mass, 0.0))
        return max(0.0, largest + math.log1p(-share)) if share < 1 else 0.0

    def most(self, T: int) -> float:
        """Return the largest sum of T losses, an ε with δ = 0."""
        return max(0.0, self._largest(T)[0])

    def _largest(self, T: int) -> tuple[float, float, float]:
        """Return the largest sum of T losses, ln of P's mass there and the gap to the next one."""
        mass = self._sorted_mass * np.exp(self._sorted)
        top = float(self._sorted[-1])
        # Losses that differ by rounding alone are one.
        first = int(np.searchsorted(self._sorted, top - 1e-13 * abs(top)))
        others, own = float(mass[:first].sum()), float(mass[first:].sum())
        one = math.log1p(-others) if others < 0.5 else math.log(max(own, 1e-300))
        return T * top, T * one, top - float(self._sorted[first - 1]) if first else math.inf

    def _towards(
        self, goal: float, T: int, saddles: FloatArray, log_delta: FloatArray, best: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return tilts whose saddles lie near ln δ = `goal`, the best first, and their ε."""
        tilts = self._tilts
        if best == tilts.size - 1 and goal < log_delta[best]:
            further = tilts[-1] * np.geomspace(1.2, 1e6, 64)
            log_k = log_moments(self.loss, further)
            mean, variance = self.loss.tilted_moments(further)
            at, height = _heights(further, log_k, mean, variance, T)
            tilts, saddles = np.append(tilts, further), np.append(saddles, at)
            log_delta = np.append(log_delta, height)
            best = int(np.argmin(np.abs(log_delta - goal)))
        order = _nearest_first(best, tilts.size)
        chosen, centres = tilts[order], saddles[order]
        if 0 < best < tilts.size - 1:
            # Between two tilts first: at the smallest δ the next one is several deviations off.
            toward = best + (1 if log_delta[best] > goal else -1)
            rise = log_delta[best] - log_delta[toward]
            share = min(max((log_delta[best] - goal) / rise, 0.0), 1.0) if rise else 0.0
            between = tilts[best] * (tilts[toward] / tilts[best]) ** share
            centre = saddles[best] + share * (saddles[toward] - saddles[best])
            chosen, centres = np.append(between, chosen), np.append(centre, centres)
        return chosen, centres

    def _saddles(self, T: int) -> tuple[FloatArray, FloatArray]:
        """Return, for each tilt c, the ε whose integrand is stationary at c, and about its ln δ."""
        return _heights(self._tilts, self._log_k, self._mean, self._variance, T)

    def _line(self, index: int, log_delta: float, T: int) -> _Line | None:
        """Return the integrand along Re z = c, or None if it does not die away."""
        c = float(self._tilts[index])
        log_start = T * float(self._log_k[index])
        if self._left_over(index, T) > _TRUSTED:
            return None
        # The trapezoid rule repeats δ at distances 2π/step, damped by e^{−c·2π/step}.
        deviation = math.sqrt(T * float(self._variance[index]))
        step = min(2 * math.pi * c / (25 - log_delta), 0.6 / deviation)
        log_k = np.empty(0, complex)
        for more in self.loss.lines(c, float(self._growth[index]), step, 24):
            log_k = np.concatenate([log_k, T * np.log1p(more)])
            if float(np.real(log_k[-8:]).max()) - log_start < math.log(_LOSSLESS):
                z = c + 1j * step * np.arange(log_k.size)
                return _Line(z, log_k - np.log(z) - np.log1p(z), step)
            if log_k.size >= _NODES_MAX:
                break
        return None

    def _left_over(self, index: int, T: int) -> float:
        """Return about which share of δ the integrand holds far from the real axis.

        Losses at distance g let it rise again at multiples of t = 2π/g, lower by c(c+1)/t²; single
        atoms with tilted masses w keep |K/K(c)|^T above (Σw²)^{T/2} on average for ever.
        """
        c, ratio = float(self._tilts[index]), self._sorted
        weight = tilted(self._sorted_mass, ratio, c)
        persistent = 0.5 * T * math.log(float(np.sum(weight**2)))
        gap = float(weight[1:] @ np.diff(ratio)) / max(float(weight[1:].sum()), 1e-300)
        spread = math.sqrt(
            float(_curvature(self._tilts, self._variance, T)[index])
            / (T * float(self._variance[index]))
        )
        damping = 3.3 * c * (c + 1) * (gap / (2 * math.pi)) ** 2 * spread
        if damping > _TRUSTED:
            # The peak of |K|^T is narrow, that of |K| is not: look for it in ever smaller steps.
            middle, half, top = 2 * math.pi / gap, math.pi / gap, 0.0
            for _ in range(4):
                t = np.asarray(middle + half * np.linspace(-1, 1, 65), dtype=float)
                size = np.abs(1 + self.loss.line(c, float(self._growth[index]), t))
                middle, half, top = float(t[np.argmax(size)]), half / 16, float(size.max())
            damping *= math.exp(min(T * (math.log(top) - float(self._log_k[index])), 0.0))
        return damping if persistent < math.log(_LOSSLESS) else max(damping, math.exp(persistent))

    def _few(self, T: int) -> bool:
        """Return whether the sums of T losses are few enough to be listed."""
        size = self.loss.mass.size
        return T == 1 or (T <= 64 and math.comb(T + size - 1, T) <= _ENUMERATED)

    def _sums(self, T: int) -> tuple[FloatArray, FloatArray]:
        """Return all sums of T losses with P's masses, equal ones (in any order) merged."""
        one = self.loss.mass * np.exp(self.loss.log_ratio)
        total, mass = np.zeros(1), np.ones(1)
        same = 1e-13 * T * float(np.max(np.abs(self.loss.log_ratio)))
        for _ in range(T):
            total = (total[:, None] + self.loss.log_ratio).ravel()
            mass = (mass[:, None] * one).ravel()
            order = np.argsort(total)
            total, mass = total[order], mass[order]
            starts = np.flatnonzero(np.concatenate([[True], np.diff(total) > same]))
            total, mass = total[starts], np.add.reduceat(mass, starts)
        return total, mass

    def _enumerated(self, epsilon: float, T: int) -> float:
        total, mass = self._sums(T)
        above = total > epsilon
        return float(np.sum(mass[above] * -np.expm1(epsilon - total[above])))

    def _enumerated_epsilon(self, delta: float, T: int) -> float:
        total, mass = (a[::-1] for a in self._sums(T))
        with np.errstate(divide="ignore"):
            # Mass·e^{−loss} from the largest loss down to the i-th, in units of e^{−loss} there.
            held = np.exp(np.logaddexp.accumulate(np.log(mass) - total) + total)
        # From one loss down to the next δ grows by a positive term, and between them it is
        # δ_i + held_i·(1 − e^{ε−loss_i}): nothing cancels however small δ is.
        grown = np.concatenate([[0.0], np.cumsum(held[:-1] * -np.expm1(np.diff(total)))])
        at = int(np.searchsorted(grown, delta, side="right")) - 1
        share = (delta - grown[at]) / held[at] if held[at] > 0 else 1.0
        return max(0.0, float(total[at]) + math.log1p(-share)) if share < 1 else 0.0


def _curvature(c: FloatArray, variance: FloatArray, T: int) -> FloatArray:
    return np.asarray(T * variance + 1 / c**2 + 1 / (1 + c) ** 2)


def _heights(
    c: FloatArray, log_k: FloatArray, mean: FloatArray, variance: FloatArray, T: int
) -> tuple[FloatArray, FloatArray]:
    epsilon = T * mean - 1 / c - 1 / (1 + c)
    height = T * log_k - c * epsilon - np.log(c) - np.log1p(c)
    return epsilon, height - 0.5 * np.log(2 * math.pi * _curvature(c, variance, T))


def _nearest_first(best: int, size: int) -> Any:
    """Return a few indices around the best one."""
    around = best + np.array([0, -1, 1, -2, 2, -4, 4])
    return around[(around >= 0) & (around < size)]


@dataclass(frozen=True)
class _Line:
    """Nodes z on a vertical line and ln of the integrand without its factor e^{−zε}."""

    z: Any
    log_w: Any
    step: float

    def log_delta(self, epsilon: float) -> float:
        """Return ln of δ; −∞ if rounding made it negative."""
        return self._delta_and_slope(epsilon)[0]

    def _delta_and_slope(self, epsilon: float) -> tuple[float, float]:
        """Return ln δ and −d ln δ/dε, NaN where rounding made δ negative."""
        logs = self.log_w - self.z * epsilon
        top = float(logs.real.max())
        terms = np.exp(logs - top)
        value = 2 * float(terms.real.sum()) - float(terms[0].real)
        if value <= 0:
            return -math.inf, math.nan
        terms *= self.z
        slope = 2 * float(terms.real.sum()) - float(terms[0].real)
        return top + math.log(value * self.step / (2 * math.pi)), slope / value

    def solve(self, log_delta: float, guess: float) -> float:
        """Return ε with ln δ(ε) = log_delta by safeguarded Newton steps, 0 if δ(0) is smaller."""
        # Far below the saddle the terms cancel to nothing and say nothing about δ(0).
        if float(np.real(self.z[0])) * guess < 25 and self.log_delta(0.0) <= log_delta:
            return 0.0
        low, high, eps = 0.0, math.inf, guess
        for _ in range(100):
            value, slope = self._delta_and_slope(eps)
            off = value - log_delta
            if off > 0:
                low = eps
            else:
                high = eps
            step = off / slope if slope > 0 else math.nan
            if value < -1 and log_delta < -1 and slope > 0:
                # √ln(1/δ) is all but linear in ε.
                root = math.sqrt(-value)
                step = 2 * root * (math.sqrt(-log_delta) - root) / slope
            new = eps + step
            if not low < new < high:
                if abs(step) <= 1e-11 * eps:
                    return eps
                new = 0.5 * (low + high) if math.isfinite(high) else 2 * eps + 1e-12
            elif abs(step) <= 1e-11 * new or abs(off) < 1e-6:
                # What is left is about the square.
                return new
            eps = new
        return eps
