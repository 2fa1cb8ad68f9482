"""Composition on a lattice of losses, for rounds too few or too lumpy for the contour integral.

Every loss is split onto its two neighbours on the lattice so that both laws keep their mass: the
split pair dominates the true one, so what is found is an upper bound (Doroshenko et al. 2022,
"connecting the dots"), above the truth by about `excess`. The T-fold law is a power of a Fourier
transform of the *tilted* law, whose bulk lies where ε is looked for: δ keeps its digits down to
1e-300.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from explorer.privacy.bounds import FloatArray
from explorer.privacy.shuffle_rdp.losses import RoundLoss, tilted

_SMALLEST, _LARGEST = 13, 17
"""Logarithms to base 2 of the lattice's sizes."""
_TAIL = 34.0
"""What wraps around the lattice has a tilted mass below e^−34."""
_FINE = 1e-4
"""Relative excess of ε that needs no finer lattice."""
_NOISE = 1e-16
_FAR = 600.0
_WINDOW = np.geomspace(1 / 64, 64, 25)


class Found(NamedTuple):
    """An ε, never below the truth but for rounding.

    Attributes
    ----------
    epsilon : float
        NaN where it was not found.
    excess : float
        By about how much it may be too large.
    """

    epsilon: float
    excess: float


NOTHING = Found(math.nan, math.nan)


def log_moments(loss: RoundLoss, tilts: FloatArray) -> FloatArray:
    """Return ln K(c) = ln E_P[(P/Q)^c] for each tilt c."""
    with np.errstate(over="ignore", invalid="ignore"):
        growth = loss.growth(tilts)
        log_k = np.log1p(growth)
    wild = ~(np.isfinite(growth) & (growth >= 0))
    if wild.any():
        with np.errstate(divide="ignore"):
            logs = np.log(loss.mass) + (1 + tilts[wild, None]) * loss.log_ratio
        top = logs.max(axis=1)
        log_k[wild] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return np.asarray(log_k)


class _Law:
    """The T-fold law tilted by e^{c·loss}, on a lattice."""

    def __init__(self, loss: RoundLoss, c: float, T: int) -> None:
        self.c, self.T = c, T
        self._at = loss.log_ratio
        self._weight = tilted(loss.mass, loss.log_ratio, c)
        self._log_k = T * log_moments(loss, np.array([c]))[0]
        mean = float(self._weight @ self._at)
        self._deviation = math.sqrt(max(float(self._weight @ (self._at - mean) ** 2), 1e-300))
        self.low, self.high = self._window()

    def _window(self) -> tuple[float, float]:
        """Return, by Chernoff's bound, where all but e^−34 of the tilted T-fold law lies."""
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
        step = (self.high - self.low) / (size - 16)
        # The lattice goes through the loss that matters most: laws of few losses need no split.
        main = abs(float(self._at[np.argmax(self._weight * self._at**2)]))
        if not 0 < step < math.inf:
            return False
        if main > step:
            step = main / math.floor(main / step)
        place = self._at / step
        left = np.floor(place)
        nearest = np.rint(place)
        left = np.where(
            np.abs(place - nearest) < 1e-9 * np.maximum(np.abs(place), 1), nearest, left
        )
        before = np.maximum(place - left, 0.0) * step
        share = np.expm1(-before) / math.expm1(-step)
        with np.errstate(over="ignore"):
            down, up = np.expm1(-self.c * before), np.expm1(self.c * (step - before))
            up = np.where(share > 0, np.minimum(up, 1e300), 0.0)
        grown = float(self._weight @ ((1 - share) * down + share * up))
        if not grown < 1e3:
            return False
        masses = np.bincount(
            np.concatenate([left, left + 1]).astype(np.int64) % size,
            np.concatenate(
                [self._weight * (1 - share) * (1 + down), self._weight * share * (1 + up)]
            ),
            size,
        )
        transform = np.fft.rfft(masses / (1 + grown))
        with np.errstate(divide="ignore"):
            power = np.exp(self.T * np.log(transform))
        first = math.floor(self.low / step) - 4
        index = first + np.arange(size)
        self._mass = np.maximum(np.fft.irfft(power, size)[index % size], 0.0)
        self._loss, self._step = index * step, step
        self._log_total = self._log_k + self.T * math.log1p(grown)
        self.excess = self.T * math.log1p(grown) / self.c
        return True

    def _curve(self, log_delta: float, centre: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return losses around a centre, ascending, and there δ and Σ mass·e^{ε−loss} above.

        Both in units of e^log_delta.
        """
        lift = self._log_total - log_delta
        with np.errstate(over="ignore"):
            mass = self._mass * np.exp(np.minimum(lift - self.c * self._loss, 700.0))
        near = np.abs(self._loss - centre) <= _FAR
        far = float(mass[self._loss > centre + _FAR].sum())
        loss, mass = self._loss[near], mass[near]
        fall = np.exp(centre - loss)
        with np.errstate(over="ignore", invalid="ignore"):
            with_own = np.cumsum((mass * fall)[::-1])[::-1]
            below = np.append(with_own[1:], 0.0) / fall
            # δ grows from one loss to the next by (Σ above + own)·(1 − e^−step): positive terms.
            grows = -math.expm1(-self._step) * with_own / fall
            delta = far + np.append(np.cumsum(grows[:0:-1])[::-1], 0.0)
        return loss, delta, below

    def noise(self, log_delta: float, epsilon: float) -> float:
        """Return what rounding may add to δ at ε, as a part of it."""
        slope = self.c * self._step
        terms = self._mass.size if slope * self._mass.size < 1 else 1 / -math.expm1(-slope)
        lift = self._log_total - log_delta - self.c * epsilon
        # A loss this little above ε adds but its distance from ε, 1/c on average.
        return _NOISE * terms / (1 + self.c) * math.exp(min(lift, 700.0))

    def epsilon(self, log_delta: float, centre: float) -> float:
        """Return the smallest ε ≥ 0 with δ(ε) at most e^log_delta, NaN if it is not here.

        Looks around `centre` first, then where δ leads: losses of many rounds spread far.
        """
        low, high = self.low, self.high
        while True:
            loss, delta, below = self._curve(log_delta, centre)
            if loss.size < 2:
                return math.nan
            above = np.flatnonzero(delta > 1)
            if not above.size and loss[0] <= 0:
                return 0.0
            i = int(above[-1]) if above.size else -1
            if 0 <= i < loss.size - 1:
                break
            low, high = (low, float(loss[0])) if i < 0 else (float(loss[-1]), high)
            if not high - low > self._step:
                return math.nan
            centre = 0.5 * (low + high)
        if not 0 < below[i] < math.inf or not delta[i] < math.inf:
            return math.nan
        return max(0.0, float(loss[i]) + math.log1p(float((delta[i] - 1) / below[i])))

    def delta(self, epsilon: float, log_scale: float) -> float:
        """Return δ at ε in units of e^log_scale."""
        loss, delta, below = self._curve(log_scale, epsilon)
        i = int(np.searchsorted(loss, epsilon, side="right")) - 1
        if i < 0 or loss.size < 2:
            return math.nan
        return max(0.0, float(delta[i] - below[i] * math.expm1(epsilon - float(loss[i]))))


def lattice_epsilon(
    loss: RoundLoss, tilts: FloatArray, centres: FloatArray, delta: float, T: int
) -> Found:
    """Return ε at δ of T rounds.

    Parameters
    ----------
    loss : RoundLoss
    tilts, centres : ndarray of float
        Tilts to try, the best first, and about the ε that each is for.
    delta : float
    T : int
    """
    goal = math.log(delta)
    for c, centre in zip(tilts.tolist(), centres.tolist(), strict=True):
        law = _Law(loss, c, T)
        for size in range(_SMALLEST, _LARGEST + 1, 2):
            if not law.compose(size):
                break
            epsilon = law.epsilon(goal, min(max(centre, law.low), law.high))
            if math.isnan(epsilon) or law.noise(goal, epsilon) > 1e-6:
                if law.excess > _FINE * abs(centre):
                    continue  # so coarse a lattice leads far astray
                break
            if law.excess <= _FINE * epsilon or size == _LARGEST:
                return Found(epsilon, law.excess)
    return NOTHING


def lattice_delta(
    loss: RoundLoss, tilts: FloatArray, log_deltas: FloatArray, epsilon: float, T: int
) -> float:
    """Return δ at ε of T rounds, NaN where it was not found.

    Parameters
    ----------
    loss, tilts, T
        As for `lattice_epsilon`.
    log_deltas : ndarray of float
        About ln δ for each tilt.
    epsilon : float
    """
    for c, scale in zip(tilts.tolist(), log_deltas.tolist(), strict=True):
        law = _Law(loss, c, T)
        for size in range(_SMALLEST, _LARGEST + 1, 2):
            if not law.compose(size):
                break
            share = law.delta(epsilon, scale)
            log_delta = scale + math.log(share) if share > 0 else math.nan
            if math.isnan(log_delta) or law.noise(log_delta, epsilon) > 1e-6:
                break
            if law.excess * c <= _FINE or size == _LARGEST:
                return math.exp(min(log_delta, 0.0))
    return math.nan
