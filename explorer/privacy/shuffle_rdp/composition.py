"""T rounds of one law of losses, certified on one side: listed, integrated, or on a lattice."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.core.composition import LossSums, listed, two_losses
from explorer.privacy.core.roots import certified_root
from explorer.privacy.shuffle_rdp.contour_integral import Line, Tilt
from explorer.privacy.shuffle_rdp.losses import RoundLoss

_LISTED = 50_000
_LISTED_LOSSES = 64
FINE = 1e-4
"""Relative excess that no other way needs to be tried to better."""
_MIN_SIZE, _MAX_SIZE = 13, 17
"""Logarithms to base 2 of the lattice's sizes."""
_TILTS = np.geomspace(1e-7, 1e2, 64)
"""Tilts tried, in units of one over the deviation of one round's loss."""
_UNIT = 2.0**-53


class Certified(NamedTuple):
    """A number that is certainly on its side of the truth, rounding included.

    Attributes
    ----------
    value : float
    excess : float
        Its approximate distance from the truth; infinite where unknown.
    """

    value: float
    excess: float


class Composition:
    """T independent rounds of one loss law: δ at ε and ε at δ, certified.

    Parameters
    ----------
    loss : RoundLoss
    side : Role
        `Role.UPPER`: what is returned is no smaller than the truth; `Role.LOWER`: no larger.
    """

    def __init__(self, loss: RoundLoss, side: Role) -> None:
        self.loss, self.side = loss, side
        self._lower = side is Role.LOWER
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
        gains = loss.log_ratio > 0
        self._lines: dict[tuple[int, int], Line] = {}
        self._apart = float(np.sum(loss.mass[gains] * loss.excess[gains]))

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0; `enough` is the relative excess that need not be bettered."""
        missing = 0.0 if self._lower else T * self.loss.missing
        sums = self._sums(T, -800.0)
        if sums is not None:
            return Certified(min(sums.delta(epsilon, self.side) + missing, 1.0), 0.0)
        candidates: list[tuple[float, float]] = []
        if self._tilts.size:
            saddles, _ = self._saddles(T)
            best = int(np.argmin(np.abs(saddles - epsilon)))
            if enough > FINE:
                candidates += self._delta_on_line(self._shared_line(best, T), epsilon)
            if not candidates or not candidates[-1][1] <= enough:
                tilt, _, height = self._between(saddles, epsilon, T)
                candidates += self._delta_on_line(self._line(tilt, height, T), epsilon)
            if not candidates or not candidates[-1][1] <= enough:
                for c in (tilt.c, *self._tilts[_nearest_first(best, saddles.size)[:2]].tolist()):
                    candidates += self._deltas_on_lattices(epsilon, c, T, enough)
                    if candidates and candidates[-1][1] <= enough:
                        break
        finite = [(math.exp(min(value, 0.0)), part) for value, part in candidates if value == value]
        if self._lower:
            value, part = max(finite, default=(0.0, math.inf))
        else:
            value, part = min(finite, default=(1.0, math.inf))
        return Certified(min(value + missing, 1.0), value * part if value else math.inf)

    def _shared_line(self, index: int, T: int) -> Line:
        """Return the line at one of the tilts, which serves every ε near its saddle."""
        if (index, T) not in self._lines:
            tilt = Tilt(
                *(
                    float(of[index])
                    for of in (self._tilts, self._growth, self._mean, self._variance)
                )
            )
            height = float(self._saddles(T)[1][index])
            self._lines[index, T] = self._line(tilt, height, T)
        return self._lines[index, T]

    @staticmethod
    def _delta_on_line(line: Line, epsilon: float) -> list[tuple[float, float]]:
        """Return ln δ at ε and its relative excess by the contour integral, if that is accurate."""
        if not line.good:
            return []
        value, slope = line.certified(epsilon)
        return [(value, line.excess * slope)]

    def _deltas_on_lattices(
        self, epsilon: float, c: float, T: int, enough: float
    ) -> list[tuple[float, float]]:
        """Return ln δ at ε and its relative excess by lattices at one tilt."""
        candidates: list[tuple[float, float]] = []
        lattice = self._lattice(c, T)
        for size in range(_MIN_SIZE, _MAX_SIZE + 1, 2):
            if lattice is None or not lattice.compose(size):
                break
            value, _ = lattice.certified(epsilon)
            if math.isfinite(value):
                candidates.append((value, lattice.excess * lattice.c))
                if candidates[-1][1] <= enough:
                    break
        return candidates

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ."""
        if delta >= 1:
            return Certified(0.0, 0.0)
        if not self._lower:
            delta -= T * self.loss.missing
            if not delta > 0:
                return Certified(math.inf, math.inf)
        goal = math.log(delta)
        if T * self._apart <= delta * (1 - T * self.loss.accuracy - 1e-9):
            # Total variation adds up at most.
            return Certified(0.0, 0.0)
        sums = self._sums(T, goal)
        if sums is not None:
            return Certified(sums.epsilon(delta, self.side), 0.0)
        at_top = self._at_top(goal, T)
        if at_top.excess <= FINE * min(at_top.value, 1e300) or not self._tilts.size:
            return at_top
        candidates = [at_top]
        saddles, log_delta = self._saddles(T)
        tilt, centre, _ = self._between(log_delta, goal, T)
        at_zero = centre < 0
        if at_zero:
            # δ(0) is hardly more than δ, if at all.
            tilt, centre, _ = self._between(saddles, 0.0, T)
        line = self._line(tilt, goal, T)
        if line.good:
            value = line.epsilon(goal, max(centre, 0.0))
            if value == 0 and (not self._lower or (at_zero and line.is_reached(goal))):
                return Certified(0.0, 0.0)
            if not math.isnan(value):
                candidates.append(Certified(value, line.excess))
                if line.excess <= FINE * value:
                    return candidates[-1]
        if at_zero and self._lower and self._is_reached(goal, tilt.c, T):
            return Certified(0.0, 0.0)
        best = int(np.argmin(np.abs(log_delta - goal)))
        candidates += self._on_lattices(goal, T, saddles, log_delta, best)
        return (max if self._lower else min)(candidates, key=lambda candidate: candidate.value)

    def _sums(self, T: int, log_delta: float) -> LossSums | None:
        """Return the sums of T losses if they are few enough to be listed."""
        positive = self.loss.mass > 0
        loss, log_mass = self.loss.log_ratio[positive], self.loss.log_first()[positive]
        error, size = self.loss.accuracy, loss.size
        if math.isfinite(self.loss.reach):
            return None
        if size == 2 and loss[0] != loss[1]:
            top, other = int(np.argmax(loss)), int(np.argmin(loss))
            p, q = float(log_mass[top]), float(log_mass[other])
            return two_losses(T, p, q, float(loss[top]), float(loss[other]), log_delta)
        if T == 1 or (size <= _LISTED_LOSSES and math.comb(T + size - 1, T) <= _LISTED):
            return listed(log_mass, loss, T, error)
        return None

    def _at_top(self, goal: float, T: int) -> Certified:
        """Return the bound from the largest sum of T losses alone."""
        loss, log_mass = self.loss.log_ratio, self.loss.log_first()
        largest = float(loss.max())
        # Losses that differ by rounding alone are one.
        same = loss >= largest - 1e-13 * abs(largest)
        others, own = (float(np.exp(log_mass[some]).sum()) for some in (~same, same))
        one = math.log1p(-others) if others < 0.5 else math.log(max(own, 1e-300))
        gap = float((largest - loss[~same]).min()) if not same.all() else math.inf
        sign = -1 if self._lower else 1
        wrong = T * (self.loss.accuracy + 64 * _UNIT) + 8 * _UNIT * abs(T * one)
        top = T * largest + sign * T * (8 * _UNIT + 2e-13 * self._lower) * abs(largest)
        log_mass_there = T * one + sign * wrong
        least = -math.inf
        if goal < log_mass_there:
            least = top + math.log1p(-math.exp(goal - log_mass_there))
        if self._lower:
            return Certified(max(least, 0.0), max(top - max(least, 0.0), 0.0))
        if math.isfinite(self.loss.reach):
            # A merged atom does not hold the largest loss.
            return Certified(math.inf, math.inf)
        if least >= top - gap:
            return Certified(max(least, 0.0), 0.0)
        return Certified(max(top, 0.0), max(top - max(least, 0.0), 0.0))

    def _on_lattices(
        self, goal: float, T: int, saddles: FloatArray, log_delta: FloatArray, best: int
    ) -> list[Certified]:
        """Return the bound from lattices, refined while they are too coarse."""
        candidates: list[Certified] = []
        tilts, centres = self._towards(goal, T, saddles, log_delta, best)
        for c, centre in zip(tilts.tolist(), centres.tolist(), strict=True):
            lattice = self._lattice(c, T)
            if lattice is None:
                break
            for size in range(_MIN_SIZE, _MAX_SIZE + 1, 2):
                if not lattice.compose(size):
                    break
                guess = min(max(centre, lattice.low), lattice.high)
                value = lattice.epsilon(goal, guess)
                if math.isnan(value):
                    if lattice.excess > FINE * abs(centre):
                        continue  # so coarse a lattice leads far astray
                    break
                candidates.append(Certified(value, lattice.excess))
                if lattice.excess <= FINE * value:
                    return candidates
            if any(candidate.value > 0 for candidate in candidates):
                break
        return candidates

    def _is_reached(self, goal: float, c: float, T: int) -> bool:
        """Return whether δ(0) is probably no more than δ: then 0 is not only a lower bound."""
        lattice = self._lattice(c, T)
        if lattice is None or not lattice.compose(_MIN_SIZE):
            return False
        return lattice.certified(0.0)[0] + lattice.excess * c + 1e-3 <= goal

    def _lattice(self, c: float, T: int) -> Lattice | None:
        """Return a lattice at a tilt; None for a lower bound of a downsampled law."""
        if self._lower and math.isfinite(self.loss.reach):
            return None
        return Lattice(self.loss, c, T, self._lower)

    def _towards(
        self, goal: float, T: int, saddles: FloatArray, log_delta: FloatArray, best: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return tilts whose saddles lie near ln δ = `goal`, the best first, and their ε."""
        tilts = self._tilts
        if best == tilts.size - 1 and goal < log_delta[best]:
            further = tilts[-1] * np.geomspace(1.2, 1e6, 64)
            log_k = self._log_moments(further)
            mean, variance = self.loss.tilted_moments(further)
            at, height = _heights(further, log_k, mean, variance, T)
            tilts, saddles = np.append(tilts, further), np.append(saddles, at)
            log_delta = np.append(log_delta, height)
            best = int(np.argmin(np.abs(log_delta - goal)))
        order = _nearest_first(best, tilts.size)
        nearest, centres = tilts[order], saddles[order]
        if 0 < best < tilts.size - 1:
            # Between two tilts first: at the smallest δ the next one is several deviations off.
            toward = best + (1 if log_delta[best] > goal else -1)
            rise = log_delta[best] - log_delta[toward]
            share = min(max((log_delta[best] - goal) / rise, 0.0), 1.0) if rise else 0.0
            between = tilts[best] * (tilts[toward] / tilts[best]) ** share
            centre = saddles[best] + share * (saddles[toward] - saddles[best])
            nearest, centres = np.append(between, nearest), np.append(centre, centres)
        return nearest, centres

    def _log_moments(self, tilts: FloatArray) -> FloatArray:
        """Return ln K(c) = ln E_P[(P/Q)^c] for tilts of any size."""
        logs = self.loss.log_first() + tilts[:, None] * self.loss.log_ratio
        top = logs.max(axis=1)
        return np.asarray(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))

    def _saddles(self, T: int) -> tuple[FloatArray, FloatArray]:
        """Return, for each tilt c, the ε whose integrand is stationary at c, and about its ln δ."""
        return _heights(self._tilts, self._log_k, self._mean, self._variance, T)

    def _between(self, saddles: FloatArray, goal: float, T: int) -> tuple[Tilt, float, float]:
        """Return the tilt at which something known of the tilts is `goal`, its ε and its ln δ."""
        best = int(np.argmin(np.abs(saddles - goal)))
        c = float(self._tilts[best])
        for toward in (best + 1, best - 1):
            if 0 <= toward < saddles.size and (saddles[toward] - goal) * (saddles[best] - goal) < 0:
                share = (goal - saddles[best]) / (saddles[toward] - saddles[best])
                c *= float(self._tilts[toward] / c) ** float(share)
        at = np.array([c])
        growth, (mean, variance) = self.loss.growth(at), self.loss.tilted_moments(at)
        epsilon, height = _heights(at, np.log1p(growth), mean, variance, T)
        tilt = Tilt(c, float(growth[0]), float(mean[0]), float(variance[0]))
        return tilt, float(epsilon[0]), float(height[0])

    def _line(self, tilt: Tilt, log_delta: float, T: int) -> Line:
        return Line(self.loss, tilt, T, log_delta, self._lower, self._tilts, self._log_k)


def _heights(
    c: FloatArray, log_k: FloatArray, mean: FloatArray, variance: FloatArray, T: int
) -> tuple[FloatArray, FloatArray]:
    epsilon = T * mean - 1 / c - 1 / (1 + c)
    height = T * log_k - c * epsilon - np.log(c) - np.log1p(c)
    curvature = T * variance + 1 / c**2 + 1 / (1 + c) ** 2
    return epsilon, height - 0.5 * np.log(2 * math.pi * curvature)


def _nearest_first(best: int, size: int) -> Any:
    """Return a few indices around the best one."""
    around = best + np.array([0, -1, 1, -2, 2, -4, 4])
    return around[(around >= 0) & (around < size)]


_TAIL = 40.0
"""The tilted mass that wraps around the lattice is below e^−40."""
_MAX_LATTICE_LOSSES = 64
"""Losses that a lattice may be fitted to."""
_SHARE = 0.25
_BLURRED = 8.5
"""Standard deviations of the Gaussian that makes downsampled laws as good as full ones."""
_WINDOW = np.geomspace(1 / 64, 64, 25)


class Lattice:
    """The T-fold law tilted by e^{c·loss}, on a lattice, certified on one side.

    For rounds too few or too lumpy for the contour integral. From above every loss is split onto
    its two neighbours on the lattice so that both laws keep their mass: the split pair dominates
    the true one (Doroshenko et al. 2022, "connecting the dots"). From below losses near the same
    point of the lattice are merged, and with them as much of the next ones as puts their ratio on
    that point: an observer could merge them as well. Either error is of second order where losses
    are many. Where nothing can be merged they are rounded down.

    The T-fold law is a power of a Fourier transform of the *tilted* law, whose bulk lies where ε is
    searched: δ keeps its digits down to 1e-300. What wraps around, and rounding, are bounded and
    added to δ or taken from it.
    """

    def __init__(self, loss: RoundLoss, c: float, T: int, lower: bool) -> None:
        self.c, self.T, self.lower = c, T, lower
        self._accuracy = loss.accuracy
        positive = loss.mass > 0
        self._at = loss.log_ratio[positive]
        logs = loss.log_first()[positive] + c * self._at
        top = float(logs.max())
        weight = np.exp(logs - top)
        total = float(weight.sum())
        self._weight = weight / total
        self._log_k = top + math.log(total)
        # Thinned laws are as good as full ones once this much Gaussian loss is added.
        self.blur = _BLURRED / loss.reach if math.isfinite(loss.reach) else 0.0
        mean = float(self._weight @ self._at)
        self._deviation = math.sqrt(max(float(self._weight @ (self._at - mean) ** 2), 1e-300))
        self.low, self.high = self._window()

    def _window(self) -> tuple[float, float]:
        """Return, by Chernoff's bound, where all but e^−40 of the tilted T-fold law lies."""
        step = 8 / (math.sqrt(self.T) * self._deviation) * _WINDOW[:, None]
        ends = []
        for sign in (-1, 1):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                grown = np.log1p(np.expm1(sign * step * self._at) @ self._weight)
                reach = (self.T * grown + _TAIL) / step[:, 0]
            ends.append(float(np.nanmin(np.where(np.isfinite(reach), reach, np.inf))))
        low = max(-ends[0], self.T * float(self._at.min()))
        high = min(ends[1], self.T * float(self._at.max()))
        return low, max(high, low)

    def compose(self, log2_size: int) -> bool:
        """Compute the T-fold masses; whether the lattice is of any use."""
        size = 1 << log2_size
        planned = (self.high - self.low) / (size - 16)
        if not 0 < planned < math.inf or self.c * self.blur > 30:
            return False
        self._base, step = self._place(planned)
        place = (self._at - self._base) / step
        if not float(np.abs(place).max()) < 2.0**52:
            return False
        placed = self._below(place, step) if self.lower else self._above(place, step)
        if placed is None:
            return False
        index, mass = placed
        total = float(mass.sum())
        first = math.floor((self.low - self.T * self._base) / step) - 4
        transform = np.fft.rfft(np.bincount(index % size, mass / total, size))
        transform[transform == 0] = 1e-300
        power = np.exp(self.T * np.log(transform))
        index = first + np.arange(size)
        self._mass = np.maximum(np.fft.irfft(power, size)[index % size], 0.0)
        self._loss, self._step = self.T * self._base + index * step, step
        self._log_total = self.T * (self._log_k + math.log(total))
        self._coarse = self.T * abs(math.log(total)) / self.c + 0.5 * (self.c + 1) * self.blur**2
        self.excess = self._coarse
        # Each output of either transform errs by a few units a level; the power takes T times as
        # much, relative to the output.
        level = 4 * log2_size * _UNIT
        worst = np.abs(power) / np.abs(transform)
        mean = float(2 * worst.sum() - worst[0] - worst[-1]) / size
        self._floor = (self.T * (level + 16 * _UNIT) + level) * mean
        mean_size = self.c * float(self._weight @ np.abs(self._at))
        units = 256 + 8 * (abs(self._log_k) + mean_size)
        self._relative = self.T * (self._accuracy + units * _UNIT) + 1e-9
        self._shift = 4 * _UNIT * (abs(self.T * self._base) + float(np.abs(self._loss).max()))
        return True

    def _place(self, planned: float) -> tuple[float, float]:
        """Return a point of the lattice and its step, not finer than planned.

        It goes through the heaviest loss and the next one, and near the others if they are few.
        """
        order = np.argsort(-self._weight)
        base = float(self._at[order[0]])
        away = np.abs(self._at[order[1:]] - base)
        if away.size == 0 or away[0] <= planned:
            return base, planned
        most = math.floor(away[0] / planned)
        if self._weight.size > _MAX_LATTICE_LOSSES:
            return base, float(away[0]) / most
        parts = np.unique(np.rint(np.linspace(max(1.0, most / 1.5), most, 48)))
        steps = away[0] / parts
        place = (self._at[:, None] - base) / steps
        share = place - np.floor(place + 1e-9)
        off = self._weight @ np.abs(share * (1 - share) * steps**2)
        return base, float(steps[int(np.argmin(off))])

    def _above(self, place: FloatArray, step: float) -> Any:
        """Return the lattice's points and masses after splitting each loss."""
        left = np.floor(place)
        before = (place - left) * step
        share = np.expm1(-before) / math.expm1(-step)
        with np.errstate(over="ignore", invalid="ignore"):
            down = self._weight * (1 - share) * np.exp(-self.c * before)
            up = np.where(share > 0, self._weight * share * np.exp(self.c * (step - before)), 0.0)
        if not float(up.sum()) < 1e3:
            return None
        points = np.concatenate([left, left + 1]).astype(np.int64)
        return points, np.concatenate([down, up])

    def _below(self, place: FloatArray, step: float) -> Any:
        """Return the lattice's points and masses after merging.

        Losses nearest to one point are merged, and with them as much of the next ones on the other
        side as puts their ratio on that point.
        """
        if max(self.c, 1.0) * step > 300:
            return None
        points, which = np.unique(np.rint(place), return_inverse=True)
        which = which.ravel()
        off = (place - points[which]) * step
        # In units of the tilt at each point: P's mass, and how much it is above e^point times Q's.
        first = np.bincount(which, self._weight * np.exp(-self.c * off))
        above = np.bincount(which, -self._weight * np.exp(-self.c * off) * np.expm1(-off))
        lost, gained = np.zeros(points.size), np.zeros(points.size)
        short = above < 0
        if points.size > 1:
            away = np.diff(points) * step
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                # How much the next group is above this point, and this one below the next point,
                # and the part of it that makes up for what the other lacks or has too much.
                rich = above[1:] * np.exp(-away) - first[1:] * np.expm1(-away)
                poor = -above[:-1] - first[:-1] * np.expm1(-away)
                need = -above[:-1] * np.exp(self.c * away) / rich
                spare = above[1:] * np.exp(-(1 + self.c) * away) / poor
            # Never more than a quarter of a group on either side, so that half of it stays.
            takes = (above[:-1] < 0) & (rich > 0) & (need <= _SHARE)
            need = np.where(takes, need, 0.0)
            gives = (above[1:] > 0) & (poor > 0) & (spare > 0)
            part = np.where(gives, np.minimum(spare, _SHARE), 0.0)
            lost[1:] += need
            lost[:-1] += part
            # A ratio that is too high may stay so, one that is too low may not.
            part *= 1 - lost[1:]
            gained[:-1] += need * first[1:] * np.exp(-self.c * away)
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                more = part / spare * above[1:] * first[:-1] * np.exp(-away) / poor
            gained[1:] += np.where(gives, more, 0.0)
            short[:-1] &= ~takes
        mass = first * (1 - lost) + gained
        # Where nothing above can be had, a loss is rounded down.
        down = np.where(short, mass * math.exp(-self.c * step), 0.0)
        both = np.concatenate([points, points - 1]).astype(np.int64)
        return both, np.concatenate([np.where(short, 0.0, mass), down])

    def _kernel(self, away: Any) -> tuple[FloatArray, FloatArray]:
        """Return the term of δ of a loss this far above ε, and its decrease with ε.

        (1−e^{−away})₊ and e^{−away}, or a blur of them if the law is downsampled.
        """
        slope = np.where(away > 0, np.exp(-np.maximum(away, 0.0)), 0.0)
        kernel = -np.expm1(-np.maximum(away, 0.0))
        if self.blur:
            from scipy.special import ndtr

            s, near = self.blur, np.abs(away) < 10 * self.blur
            slope[near] = np.exp(-away[near]) * ndtr(away[near] / s - s / 2)
            kernel[near] = ndtr(away[near] / s + s / 2) - slope[near]
        return kernel, slope

    def certified(self, epsilon: float) -> tuple[float, float]:
        """Return the certified ln δ at ε and about −d ln δ/dε; −∞ if no lower one is left."""
        sign = -1 if self.lower else 1
        epsilon -= sign * self._shift
        # In units of K(c)^T·e^{−cε}.
        away = self._loss - epsilon
        near = (away > -10 * self.blur) & (self.c * away < 745.0)
        away = away[near]
        weight = np.exp(-self.c * away)
        kernel, falls = self._kernel(away)
        parts = self._mass[near] * weight
        value = float(parts @ kernel)
        wrong = self._floor * float(weight @ kernel) + 2 * math.exp(-_TAIL)
        sure = value * (1 + sign * self._relative) + sign * wrong
        if not sure > 0:
            return -math.inf, math.nan
        slope = float(parts @ falls) / value if value > 0 else math.nan
        if slope > 0:
            self.excess = self._coarse + abs(math.log(sure / value)) / slope
        return self._log_total - self.c * epsilon + math.log(sure), slope

    def epsilon(self, log_delta: float, guess: float) -> float:
        """Return the certified ε at ln δ, NaN if it can't be had."""
        return certified_root(self.certified, log_delta, guess, self.lower)
