"""δ of T rounds as an integral along a vertical line, with every error that it makes bounded.

δ(ε) = (1/2πi)∫ e^{−zε} K(z)^T/(z(z+1)) dz along Re z = c. Here the rounds are followed by a narrow
Gaussian mechanism whose loss deviates by s: what is then seen dominates what was seen before, so
its δ is an upper bound, and the integrand has the factor e^{s²z(z+1)/2}, which ends it. Where
ψ(y) = (1−e^{−y})₊ turns into E ψ(y+g), it grows by less than s·e^{−y/2}φ(y/s) (its derivative by s
is φ(y/s+s/2)), so taking that away again, the factor 1 − s²e^{s²/8}z(z+1), leaves a lower bound.

Four errors remain:

- the trapezoid rule adds δ at distances W = 2π/step, damped by e^{−cW}: positive terms;
- nodes that are not visited: |K(c+it)|² is bounded by moments near t = 0, further on by its values
  on a grid with |A″| ≤ 2·variance between them, and by K(c)² beyond;
- rounding: of K's sums, in proportion to their terms' sizes, T times; and of the exponents;
- atoms that stand for several (`RoundLoss.reach`): up to that frequency they are as good as all.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import certified_root
from explorer.privacy.shuffle_rdp.losses import RoundLoss, turned

_UNIT = 2.0**-53
_NODES = 384
_LOSSLESS = math.log(1e-13)
"""The nodes end where eight in a row are this small beside the first."""
_SPARE = 27.0
"""The trapezoid rule's copies are damped to e^−27 of δ."""
_SIZE, _PER_DEVIATION = 8192, 256
_MAX_FREQUENCY = 160.0
"""Frequencies, in units of one over the deviation of one round's loss, up to which |K| is known."""
_HEAVY = 0.8
_NEGLIGIBLE_LOG = -24.0
"""ln |K/K(c)|^T from which on nothing is lost by leaving nodes out."""
_BLURS = np.geomspace(0.25, 9.0, 24)


class Tilt(NamedTuple):
    """One tilt c with moments of the tilted law of one round's loss.

    Attributes
    ----------
    c : float
    growth : float
        K(c) − 1.
    mean, variance : float
    """

    c: float
    growth: float
    mean: float
    variance: float


class Line:
    """The integral at tilt c, certified on one side.

    Parameters
    ----------
    loss : RoundLoss
    tilt : Tilt
        With its saddle near the target ε or δ.
    T : int
    log_delta : float
        About ln δ there.
    lower : bool
        Which side to err on.
    tilts, log_moments : ndarray
        Other tilts and their ln K, for Chernoff's bound.
    """

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def __init__(
        self,
        loss: RoundLoss,
        tilt: Tilt,
        T: int,
        log_delta: float,
        lower: bool,
        tilts: FloatArray,
        log_moments: FloatArray,
    ) -> None:
        self.good, self.excess = False, math.inf
        self._lower, self._c = lower, tilt.c
        c, self._log_scale = tilt.c, T * math.log1p(tilt.growth)
        deviation = math.sqrt(T * tilt.variance)
        step = min(2 * math.pi * c / (_SPARE - min(log_delta, 0.0)), 0.6 / deviation)
        grown = self._nodes(loss, tilt, T, step)
        if grown is None:
            return
        t = step * np.arange(grown.size)
        z = c + 1j * t
        log_k = np.log1p(grown)
        blur, left_out = self._left_out(loss, tilt, T, t[-1] + step, step)
        if not math.isfinite(left_out):
            return
        square = blur**2 * z * (z + 1)
        log_w = T * log_k - np.log(z) - np.log1p(z) + 0.5 * square
        # By about how much s moves δ, beside the integrand; at the most by twice that.
        self._moved = 0.5 * square
        if lower:
            bump = math.exp(blur**2 / 8)
            log_w += np.log1p(-bump * square)
            self._moved = (bump - 0.5) * square / (1 - bump * square)
        sizes = loss.sizes(c)
        units = (loss.mass.size + 64) * _UNIT + loss.accuracy
        # Relative error of K^T at each node, and of the exponent's own terms.
        error = T * units * (sizes[0] + t * sizes[1]) * np.exp(-log_k.real)
        error += 8 * _UNIT * (abs(self._log_scale) + T * np.abs(log_k) + np.abs(log_w) + 1)
        self._z, self._log_w, self._error, self._step = z, log_w, error, step
        self._left = left_out
        self._copies(T, step, tilts, log_moments)
        self.good = True

    @staticmethod
    def _nodes(loss: RoundLoss, tilt: Tilt, T: int, step: float) -> Any:
        """Return K − 1 at the nodes, or None if the integrand does not die away."""
        values = np.empty(0, complex)
        floor = _LOSSLESS / T + math.log1p(tilt.growth)
        for more in loss.lines(tilt.c, tilt.growth, step, 24):
            values = np.concatenate([values, more])
            last = values[-8:]
            if math.log(max(float(np.abs(1 + last).max()), 1e-300)) < floor:
                return values
            if values.size >= _NODES:
                return None
        return None

    def _left_out(
        self, loss: RoundLoss, tilt: Tilt, T: int, first: float, step: float
    ) -> tuple[float, float]:
        """Return s and a bound, in units of K(c)^T·e^{−cε}, on the nodes from `first` on."""
        c = tilt.c
        begins, ends, log_size = _spectrum(loss, tilt, first)
        log_size *= 0.5 * T
        heard = np.flatnonzero(log_size > _NEGLIGIBLE_LOG)
        last = int(heard[0]) if heard.size else log_size.size
        end = float(ends[last - 1]) if last else first
        end = min(max(first, end), max(first, loss.reach))
        # About δ in the same units, to weigh s against what is left.
        height = 1 / (c * (c + 1) * math.sqrt(2 * math.pi * T * tilt.variance))
        start = end - step
        blur = _BLURS / start
        square = np.square(blur)
        tail = np.exp(0.5 * (square * (c * (c + 1) - start**2)))
        bump = np.exp(square / 8) if self._lower else np.zeros(square.size)
        tail *= (1 / _BLURS**2 + bump) / (math.pi * start)
        if math.isfinite(loss.reach):
            tail *= 3.0
        # ln δ moves by about as much as the logarithm of the blur's factor at c.
        moved = 0.5 * square * c * (c + 1)
        if self._lower:
            moved = -np.log1p(-2 * bump * moved) - moved
        cost = moved + tail / height
        at = int(np.argmin(np.where(np.isnan(cost), np.inf, cost)))
        s2 = float(square[at])
        begins, ends, log_size = begins[:last], ends[:last], log_size[:last]
        weight = np.exp(log_size + 0.5 * s2 * (c * (c + 1) - begins**2)) * (ends - begins + step)
        weight *= 1 / begins**2 + s2 * float(bump[at])
        total = float(tail[at]) + float(weight.sum()) / math.pi
        return float(blur[at]), total

    def _copies(self, T: int, step: float, tilts: FloatArray, log_moments: FloatArray) -> None:
        """Bound the excess of the trapezoid rule, for the lower side."""
        self._damped, self._beyond = 0.0, (np.empty(0), np.empty(0))
        if not self._lower:
            return
        width = 2 * math.pi / step
        fall = math.exp(-self._c * width)
        self._damped = fall / (1 - fall)
        some = tilts > self._c
        # δ(x) ≤ K(c₂)^T·e^{−c₂x}, at x = ε + W, ε + 2W, …
        away = (tilts[some] - self._c) * width
        log_more = T * log_moments[some] - away - np.log(-np.expm1(-away))
        self._beyond = tilts[some], log_more

    def certified(self, epsilon: float) -> tuple[float, float]:
        """Return the certified ln δ at ε and about −d ln δ/dε; −∞ if no lower one is left."""
        logs = self._log_w - self._z * epsilon
        top = float(logs.real.max())
        terms = np.exp(logs - top)
        unit = self._step / (2 * math.pi)
        value = self._sum(terms)
        error = self._error + 8 * _UNIT * np.abs(self._z) * epsilon
        wrong = 2 * unit * float(np.abs(terms) @ error)
        wrong += self._left * math.exp(min(self._log_scale - self._c * epsilon - top, 700.0))
        if self._lower:
            tilts, log_more = self._beyond
            beyond = float(np.min(log_more - tilts * epsilon, initial=math.inf)) - top
            wrong += math.exp(min(beyond, 700.0))
            wrong += self._damped * math.exp(min(-top, 700.0))
        slope, moved = self._sum(terms * self._z), abs(self._sum(terms * self._moved))
        sure = value - wrong if self._lower else value + wrong
        if not sure > 0:
            return -math.inf, math.nan
        truth = max(value + moved if self._lower else value - moved, 1e-300)
        self.excess = abs(math.log(sure / truth)) / self._c
        return top + math.log(sure), slope / sure

    def _sum(self, terms: Any) -> float:
        """Return the trapezoid rule's sum over both halves of the line."""
        return self._step / (2 * math.pi) * (2 * float(terms.real.sum()) - float(terms[0].real))

    def is_reached(self, log_delta: float) -> bool:
        """Return whether δ(0) is probably no more than that; of a line at ε = 0."""
        self._lower, side = False, self._lower
        value, _ = self.certified(0.0)
        self._lower = side
        return -math.inf < value <= log_delta

    def epsilon(self, log_delta: float, guess: float) -> float:
        """Return the certified ε at ln δ, NaN if it can't be had."""
        return certified_root(self.certified, log_delta, guess, self._lower)


def _spectrum(
    loss: RoundLoss, tilt: Tilt, first: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return intervals from frequency `first` on and bounds on ln |K/K(c)|² there.

    With D the difference of two independent losses |K/K(c)|² = A(t) = E cos(tD) has |A″| ≤ E D²,
    and A ≤ 1 − t²E D²/2 + t⁴E D⁴/24.
    """
    weight = loss.tilted(tilt.c)
    away = loss.log_ratio - float(weight @ loss.log_ratio)
    square = np.square(away)
    variance = float(weight @ square)
    deviation = math.sqrt(variance)
    quartic = (2 * float(weight @ np.square(square)) / variance**2 + 6) / 24
    pieces: list[tuple[Any, Any, Any]] = []
    # Near 0 by moments: the bound falls until x² = 1/(2·quartic).
    near = math.sqrt(0.5 / quartic) / deviation
    if first < near:
        edges = np.geomspace(first, near, 65)
        x2 = np.square(edges[:-1] * deviation)
        pieces.append((edges[:-1], edges[1:], np.log1p(-x2 + quartic * x2**2)))
    if near * deviation < _HEAVY and first * deviation < _HEAVY:
        # Of heavy tails the next grid is too coarse.
        far = 2 * _HEAVY / deviation
        ratio = far / max(first, near)
        edges = max(first, near) * ratio ** np.linspace(0, 1, math.ceil(12 * math.log(ratio)) + 1)
        top = np.square(np.abs(1 + turned(edges, away) @ weight))
        pieces.append((edges[:-1], edges[1:], _between(top, np.diff(edges) * deviation)))
        near = far
    # Further on by the values of the law split onto a fine lattice, which changes them by t²h²/8.
    cell = deviation / _PER_DEVIATION
    place = away / cell
    left = np.floor(place)
    share = place - left
    index = left.astype(np.int64) % _SIZE
    law = np.bincount(index, weight * (1 - share), _SIZE)
    law += np.bincount((index + 1) % _SIZE, weight * share, _SIZE)
    apart = 2 * math.pi / (_SIZE * cell)
    count = math.ceil(_MAX_FREQUENCY / (apart * deviation))
    t = apart * np.arange(count + 1)
    size = np.abs(np.fft.rfft(law)[: count + 1]) + np.square(t * cell) / 8
    start = min(max(int(max(first, near) / apart), 0), count - 1)
    top = _between(np.square(size[start:]), apart * deviation)
    pieces.append((np.maximum(t[start:-1], max(first, near)), t[start + 1 :], top))
    begins, ends, log_size = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return begins, ends, log_size


def _between(square: FloatArray, apart: Any) -> FloatArray:
    """Return bounds on ln A between places so far apart, in deviations, where A is known."""
    top = np.maximum(square[:-1], square[1:]) + np.square(apart) / 4 + 1e-12
    return np.asarray(np.log(top))
