"""Composition on a lattice of losses, for rounds too few or too lumpy for the contour integral.

From above every loss is split onto its two neighbours on the lattice so that both laws keep their
mass: the split pair dominates the true one (Doroshenko et al. 2022, "connecting the dots"). From
below losses near the same point of the lattice are merged, and with them as much of the next ones
as puts their ratio on that point: an observer could merge them as well. Either error is of second
order where losses are many. Where nothing can be merged they are rounded down.

The T-fold law is a power of a Fourier transform of the *tilted* law, whose bulk lies where ε is
searched: δ keeps its digits down to 1e-300. What wraps around, and rounding, are bounded and
added to δ or taken from it.
"""

import math
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import certified_root
from explorer.privacy.shuffle_rdp.losses import RoundLoss

_UNIT = 2.0**-53
_TAIL = 40.0
"""The tilted mass that wraps around the lattice is below e^−40."""
_MAX_LATTICE_LOSSES = 64
"""Losses that a lattice may be fitted to."""
_SHARE = 0.25
_BLURRED = 8.5
"""Standard deviations of the Gaussian that makes downsampled laws as good as full ones."""
_WINDOW = np.geomspace(1 / 64, 64, 25)


class Lattice:
    """The T-fold law tilted by e^{c·loss}, on a lattice, certified on one side."""

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
