"""ε after T rounds by numerically exact composition of privacy losses.

Two laws of one round are composed: that of randomised response, which bounds from below what an
accountant sound for *all* ε₀-LDP randomisers can report, and that of the subsampled clones, which
dominates every such randomiser and bounds from above. The composition is exact up to the error of
a contour integral (about 1e-9 of δ); the bounds are numerical, not proof against rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.amplification import Clones
from explorer.privacy.bounds import Bound, FloatArray, Reference, Role
from explorer.privacy.shuffle_rdp.losses import (
    RoundLoss,
    clone_loss,
    randomised_response_loss,
    tilted,
)
from explorer.privacy.shuffle_rdp.lower import Direction

_ENUMERATED = 100_000
_NODES_MAX = 384
_EPS0_MAX = 100.0
_LOSSLESS = 1e-12
_TRUSTED = 5e-4
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
            tilts = _TILTS / math.sqrt(float(loss.mass @ np.square(loss.log_ratio)))
            growth = loss.growth(tilts)
            usable = np.isfinite(growth) & (growth >= 0)
        self._tilts, self._growth = tilts[usable], growth[usable]
        self._log_k = np.log1p(self._growth)
        self._mean, self._variance = loss.tilted_moments(self._tilts)
        order = np.argsort(loss.log_ratio)
        self._sorted = loss.log_ratio[order]
        self._sorted_mass = loss.mass[order]

    def delta(self, epsilon: float, T: int) -> float:
        """Return δ at ε, NaN where the integral can't be trusted."""
        if self._few(T):
            return self._enumerated(epsilon, T)
        saddles, log_delta = self._saddles(T)
        best = int(np.argmin(np.abs(saddles - epsilon)))
        line = self._line(best, float(log_delta[best]), T)
        return math.nan if line is None else math.exp(min(line.log_delta(epsilon), 0.0))

    def epsilon(self, delta: float, T: int) -> float:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, NaN where the integral can't be trusted."""
        if self._few(T):
            return self._enumerated_epsilon(delta, T)
        saddles, log_delta = self._saddles(T)
        best = int(np.argmin(np.abs(log_delta - math.log(delta))))
        line = self._line(best, math.log(delta), T)
        if line is None:
            return math.nan
        return line.solve(math.log(delta), max(float(saddles[best]), 0.0))

    def _curvature(self, T: int) -> FloatArray:
        c = self._tilts
        return np.asarray(T * self._variance + 1 / c**2 + 1 / (1 + c) ** 2)

    def _saddles(self, T: int) -> tuple[FloatArray, FloatArray]:
        """Return, for each tilt c, the ε whose integrand is stationary at c, and about its ln δ."""
        c = self._tilts
        epsilon = T * self._mean - 1 / c - 1 / (1 + c)
        height = T * self._log_k - c * epsilon - np.log(c) - np.log1p(c)
        return epsilon, height - 0.5 * np.log(2 * math.pi * self._curvature(T))

    def _line(self, index: int, log_delta: float, T: int) -> _Line | None:
        """Return the integrand along Re z = c, or None if it does not die away."""
        c = float(self._tilts[index])
        log_start = T * float(self._log_k[index])
        if self._left_over(index, T) > _TRUSTED:
            return None
        # The trapezoid rule repeats δ at distances 2π/step, damped by e^{−c·2π/step}.
        deviation = math.sqrt(T * float(self._variance[index]))
        step = min(2 * math.pi * c / (25 - log_delta), 0.6 / deviation)
        z, log_k = np.empty(0, complex), np.empty(0, complex)
        while z.size < _NODES_MAX:
            t = step * np.arange(z.size, z.size + max(24, z.size), dtype=np.float64)
            z = np.concatenate([z, c + 1j * t])
            more = self.loss.line(c, float(self._growth[index]), t)
            log_k = np.concatenate([log_k, T * np.log1p(more)])
            if float(np.real(log_k[-8:]).max()) - log_start < math.log(_LOSSLESS):
                return _Line(z, log_k - np.log(z) - np.log1p(z), step)
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
        spread = math.sqrt(float(self._curvature(T)[index]) / (T * float(self._variance[index])))
        damping = 3.3 * c * (c + 1) * (gap / (2 * math.pi)) ** 2 * spread
        if damping > _TRUSTED:
            t = np.asarray(2 * math.pi / gap * np.linspace(0.5, 1.5, 64), dtype=float)
            top = float(np.abs(1 + self.loss.line(c, float(self._growth[index]), t)).max())
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
            # At the i-th loss from above, δ = Σ mass − e^ε Σ mass·e^{−loss} over those so far.
            first = np.cumsum(mass)
            second = np.exp(np.logaddexp.accumulate(np.log(mass) - total) + total)
        at = int(np.searchsorted(np.maximum.accumulate(first - second), delta, side="right")) - 1
        if at < 0 or first[at] <= delta:
            return 0.0
        return max(0.0, float(total[at]) + math.log((first[at] - delta) / second[at]))


@dataclass(frozen=True)
class _Line:
    """Nodes z on a vertical line and ln of the integrand without its factor e^{−zε}."""

    z: Any
    log_w: Any
    step: float

    def log_delta(self, epsilon: float, power: int = 0) -> float:
        """Return ln of δ (power 0) or of −dδ/dε (power 1); −∞ if rounding made it negative."""
        logs = self.log_w - self.z * epsilon + power * np.log(self.z)
        top = float(np.max(np.real(logs)))
        terms = np.real(np.exp(logs - top))
        value = (2 * float(terms.sum()) - float(terms[0])) * self.step / (2 * math.pi)
        return top + math.log(value) if value > 0 else -math.inf

    def solve(self, log_delta: float, guess: float) -> float:
        """Return ε with ln δ(ε) = log_delta by safeguarded Newton steps, 0 if δ(0) is smaller."""
        if self.log_delta(0.0) <= log_delta:
            return 0.0
        low, high, eps = 0.0, math.inf, guess
        for _ in range(100):
            value = self.log_delta(eps)
            if value > log_delta:
                low = eps
            else:
                high = eps
            slope = math.exp(self.log_delta(eps, 1) - value) if math.isfinite(value) else math.nan
            new = eps + (value - log_delta) / slope if slope > 0 else math.nan
            if not low < new < high:
                new = 0.5 * (low + high) if math.isfinite(high) else 2 * eps + 1e-12
            if abs(new - eps) <= 1e-11 * new:
                return new
            eps = new
        return eps


_LOWER = Reference(
    "Girgis, Data & Diggavi 2021 (subsampled shuffle model)",
    "the pair of Theorem 2, composed exactly",
    "larger of both directions",
)
_UPPER = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "subsampled clones, composed exactly",
    "numerical, not proof against rounding",
)


def randomised_response_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Bound:
    """Return ε at δ of T rounds of randomised response: the *2RR lower bound*.

    No accountant that is sound for all ε₀-LDP randomisers can report less; a particular
    randomiser may leak less. Arguments broadcast; ε₀ in [0, 100], the other domains as in
    `upper_epsilon`; entries where the integral can't be trusted are not valid.
    """
    which = Direction(direction)

    def prepare(e: float, s: float, c: float) -> list[Composition]:
        loss = randomised_response_loss(e, s, c)
        forward = [Composition(loss)] if which is not Direction.PQ else []
        backward = [Composition(loss.reversed())] if which is not Direction.QP else []
        return forward + backward

    return _composed(prepare, eps0, k, n, T, delta, Role.LOWER, _LOWER)


def clone_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
    cells: int = 1500,
) -> Bound:
    """Return ε at δ of T rounds of subsampled clones: the *numerical upper bound*.

    It holds for every ε₀-LDP randomiser (`Clones.STRONGER`: one common, non-adaptive one).
    Arguments broadcast; ε₀ in [0, 100], the other domains as in `upper_epsilon`.
    """
    which = Clones(variant)

    def prepare(e: float, s: float, c: float) -> list[Composition]:
        return [Composition(clone_loss(e, s, c, which, cells))]

    return _composed(prepare, eps0, k, n, T, delta, Role.UPPER, _UPPER)


def _composed(
    prepare: Any,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    role: Role,
    reference: Reference,
) -> Bound:
    e = domain.reals("eps0", eps0, 0.0, _EPS0_MAX)
    sampled, clients = domain.population(k, n)
    arrays = np.broadcast_arrays(e, sampled, clients, domain.rounds(T), domain.delta(delta))
    flat = np.stack([a.ravel() for a in arrays])
    value = np.zeros(flat.shape[1])
    rounds, which = np.unique(flat[:3], axis=1, return_inverse=True)
    for i in range(rounds.shape[1]):
        if rounds[0, i] == 0:
            continue
        routes = prepare(*(float(v) for v in rounds[:, i]))
        for j in np.flatnonzero(which.ravel() == i):
            value[j] = max(
                (r.epsilon(float(flat[4, j]), int(flat[3, j])) for r in routes),
                key=lambda v: math.inf if math.isnan(v) else v,
            )
    found = value.reshape(arrays[0].shape)
    return Bound(found, role, reference, np.isfinite(found), TOO_FEW_ROUNDS)
