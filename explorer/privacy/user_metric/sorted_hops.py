"""A better group step: hops in increasing order of their length.

Match two data sets of a user optimally and move the shortest hops first. Hop k, of length d_k, is
(e^{ε_k} − 1)·H(d_k)-close at ε_k = αd_k/m, with H(d) = E_κ/(total·p·κ) of `Group` at this distance.
Chained they give ΣH(d_k)(e^{αE_k} − e^{αE_{k−1}}), E_k = Σ_{l≤k} d_l/m, and in this order d_k is
at least E_k.
H does not increase: κ grows with d, E_κ/κ falls with κ, and so it does with the number of clones.
Hence

    δ′(α) = ∫₀^D H(max(x, d_min))·αe^{αx} dx,

never more than (e^{αD} − 1)·H(d_min), which `Group` takes (specification "Better than e^α", I).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.hops import Group, group_arguments, log_clone, rounded_up
from explorer.privacy.user_metric.mean_excess import log_mean_excesses

_GRID = 96
"""Lengths at which the integrand is looked at roughly."""
_PANELS, _FINE, _STEPS = 40, 150, 24
"""Panels of exact sums, to calibrate and for δ′ itself, and steps within each, where H is
interpolated."""
_EVERYWHERE = 0.02
"""Panels for each e-fold that H falls, beside those where the integral is: on a wide panel of next
to no weight the chord, times all that e^αx grows there, would be more than the whole."""
_MANY = 800
"""Panels of closed forms."""
_CLONES_MIN, _KAPPA_MAX = 5e3, 0.3
"""Closed forms are used for at least so many clones, tilted, and up to this κ."""
_ROUNDING = 1e-11


def sorted_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.STRONGER,
    panels: int = _FINE,
) -> Any:
    """Return δ' such that item-wise release is (α, δ')-bounded d_EM-DP: hops in increasing order.

    Never more than `group_delta`, whose parameters these are. Rounded up, by about a hundredth of
    itself; exactly that number where all distances are one.

    Parameters
    ----------
    panels : int
        Of the integral, where it is summed exactly; an evaluation takes a millisecond for each.
        By how much it is rounded up falls with them.
    """
    which = Clones(variant)

    def delta(a: float, a0: float, m: float, n: float, near: float, far: float) -> float:
        return rounded_up(SortedGroup(m, n, near, far, which, panels).log_delta(a, a0)[0])

    return vectorised(delta)(*group_arguments(alpha, alpha0, m, n, min_distance, diameter))


class _Normal(NamedTuple):
    """Parameters of a normal approximation of E_κ, one entry a length."""

    kappa: FloatArray
    slope: FloatArray
    """artanh κ."""
    log_p: FloatArray
    log_mass: FloatArray
    mean: FloatArray
    """Of the number of clones, tilted; `deviation` is its own."""
    deviation: FloatArray
    sigma: FloatArray
    """Of U − V there."""
    y: FloatArray
    """artanh κ·σ."""
    body: FloatArray


class SortedGroup(Group):
    """δ′ of one (m, n) and geometry with hops in increasing order; see the module."""

    def __init__(
        self, m: float, n: float, near: float, far: float, variant: Clones, panels: int = _PANELS
    ) -> None:
        super().__init__(m, n, near, far, variant)
        self._stronger, self._panels = variant is Clones.STRONGER, panels
        self.coarse = near < far

    def log_delta(self, alpha: float, alpha0: float) -> tuple[float, bool]:
        """Return ln of an upper sum of the integral, and whether a closed form is part of it.

        On a panel [x, y] p is at least p(x), and H at this p is convex in κ, as a product of two
        decreasing positive convex functions: so the chord between κ(x) and κ(y) is above it. The
        chord falls with κ, which is taken at the beginning of every step.
        """
        if self.near >= self.far or alpha * self.far < 1e-6 or alpha >= self.m * alpha0:
            return super().log_delta(alpha, alpha0)
        edges = self._edges(alpha, alpha0, _MANY)
        log_rate = self._log_rates_closed(alpha, alpha0, edges[:-1])
        closed = bool(np.isfinite(log_rate).all())
        if not closed:
            edges = self._edges(alpha, alpha0, self._panels)
            log_rate, edges = self._log_rates_exact(alpha, alpha0, edges)
        value = float(np.logaddexp.reduce(log_rate + _log_rises(alpha, edges))) + _ROUNDING
        return min((value, closed), super().log_delta(alpha, alpha0))

    def _log_rates_exact(
        self, alpha: float, alpha0: float, edges: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on ln H on every step of every panel, and the steps' ends."""
        left, right = self._log_rates(alpha, alpha0, edges)
        share_of_panel = np.arange(_STEPS) / _STEPS
        at = edges[:-1, None] + np.diff(edges)[:, None] * share_of_panel
        kappa = self._kappas(alpha, alpha0, at)
        ends = self._kappas(alpha, alpha0, edges)
        rise = np.diff(ends)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (kappa - ends[:-1, None]) / rise - 1e-9
            share = np.where(rise > 0, np.clip(share, 0.0, 1.0), 0.0)
            rates = np.logaddexp(np.log1p(-share) + left[:, None], np.log(share) + right[:, None])
        return rates.ravel(), np.append(at.ravel(), edges[-1])

    def guess(self, alpha: float, alpha0: float) -> float:
        """Return about ln δ′, in a tenth of a millisecond."""
        if self.near >= self.far or alpha * self.far < 1e-6 or alpha >= self.m * alpha0:
            return super().guess(alpha, alpha0)
        x, log_rate = self._rough(alpha, alpha0)
        middle = (log_rate[:-1] + log_rate[1:]) / 2
        return float(np.logaddexp.reduce(middle + _log_rises(alpha, x)))

    def _kappas(self, alpha: float, alpha0: float, x: FloatArray) -> FloatArray:
        """Return κ of hops of these lengths, at least the smallest distance; rounded down."""
        far = np.maximum(x, self.near)
        short = far * max(alpha0, 1e-300) <= 1e-6
        safe = np.where(short, 1.0, far)
        ratio = np.tanh(alpha * safe / (2 * self.m)) / np.tanh(alpha0 * safe / 2)
        limit = alpha / (self.m * alpha0)
        return np.minimum(np.where(short, limit, ratio), 1.0)

    def _rough(self, alpha: float, alpha0: float) -> tuple[FloatArray, FloatArray]:
        """Return lengths over the diameter and about ln H there."""
        x = np.linspace(0.0, self.far, _GRID + 1)
        form = self._normal(alpha, alpha0, x)
        with np.errstate(divide="ignore"):
            smooth = form.log_mass + np.log(form.sigma * form.body / math.sqrt(2 * math.pi))
            rare = math.log(self.total) + form.log_p + np.log1p(-form.kappa) - math.log(2)
            few = (form.mean < 1) | (form.kappa > 0.999)
            excess = np.minimum(np.where(few, form.log_mass, smooth), rare)
            return x, excess - math.log(self.total) - form.log_p - np.log(form.kappa)

    def _normal(self, alpha: float, alpha0: float, x: FloatArray) -> "_Normal":
        from scipy.special import erfcx

        kappa = np.minimum(self._kappas(alpha, alpha0, x), 1 - 1e-16)
        log_p = np.full(x.shape, -alpha0 * self.far)
        if self._stronger:
            log_p += np.log1p(np.tanh(alpha0 * np.maximum(x, self.near) / 2))
        p = np.exp(np.minimum(log_p, 0.0))
        slope = np.arctanh(kappa)
        square = kappa * kappa
        kl = np.where(
            kappa < 1e-3,
            square / 2 * (1 + square / 6 * (1 + square * 2 / 5)),
            kappa * slope + 0.5 * np.log1p(-square),
        )
        kept = p * np.exp(-kl)
        share = kept / (1 - p + kept)
        mean = self.total * share
        sigma = np.sqrt(np.maximum(mean * (1 - square), 1e-300))
        y = np.minimum(slope * sigma, 1e6)
        u = 1 / np.maximum(y, 1.0) ** 2
        body = np.where(
            y < 50,
            1 - y * math.sqrt(math.pi / 2) * erfcx(y / math.sqrt(2)),
            u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u))),
        )
        return _Normal(
            kappa,
            slope,
            log_p,
            self.total * np.log1p(p * np.expm1(-kl)),
            mean,
            np.sqrt(mean * (1 - share)),
            sigma,
            y,
            np.maximum(body, 1e-300),
        )

    def _edges(self, alpha: float, alpha0: float, panels: int) -> FloatArray:
        """Return where panels begin and end: narrow where the integral is and H falls."""
        x, log_rate = self._rough(alpha, alpha0)
        weight = (log_rate[:-1] + log_rate[1:]) / 2 + _log_rises(alpha, x)
        total = float(np.logaddexp.reduce(weight))
        fall = np.maximum(log_rate[:-1] - log_rate[1:], 0.0)
        density = np.exp((weight - total) / 3) * fall ** (2 / 3) + _EVERYWHERE * fall + 1e-9
        # The rest, taken at its beginning, is a thousandth of the whole.
        rest = log_rate + alpha * self.far
        ends = np.flatnonzero(rest < total - 7)
        last = int(ends[0]) if ends.size else _GRID
        start = log_rate[0] + _log_rises(alpha, np.stack([np.zeros(_GRID), x[1:]], axis=-1))[:, 0]
        first = int(np.count_nonzero(start < total - 7))
        passed = np.concatenate([[0.0], np.cumsum(density[first:last])])
        # K panels taken at their beginnings are too large by passed²/2K of the whole.
        count = min(panels, 4 + math.ceil(panels / 2 * float(passed[-1]) ** 2))
        at = np.interp(np.linspace(0, passed[-1], count), passed, x[first : last + 1])
        # Up to the smallest distance H is constant.
        inside = at[(at > self.near) & (at < self.far)]
        return np.unique(np.concatenate([[0.0, self.near], inside, [self.far]]))

    def _log_rates(
        self, alpha: float, alpha0: float, edges: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on ln H of each panel's clones, at κ of its beginning and end."""
        lengths = np.maximum(edges, self.near).tolist()
        clones = np.array(
            [log_clone(alpha0 * self.far, alpha0 * x if self._stronger else 0.0) for x in lengths]
        )
        kappas = np.array(
            [
                Group(self.m, 1.0, x, self.far, Clones.PUBLISHED).kappa(alpha, alpha0)
                for x in lengths
            ]
        )
        # Of an edge both the clones of the panel that ends there and of that which begins.
        before = np.concatenate([clones[:1], clones[:-1]])
        log_p, log_q = np.stack([before, clones], axis=-1).transpose(1, 0, 2)
        kappa, log_gap = kappas.T
        excess = log_mean_excesses(self.total, log_p, log_q, kappa, log_gap)
        rates = excess - math.log(self.total) - log_p - np.log(kappa)[:, None]
        left = rates[:-1, 1]
        # Rounding must not turn a constant into a rise.
        return left, np.minimum(rates[1:, 0], left)

    def _log_rates_closed(self, alpha: float, alpha0: float, x: FloatArray) -> FloatArray:
        """Return upper bounds on ln H in closed form; NaN where there is none.

        As in `mean_excess`, with nearer tails: N is within 13 deviations and 60 of its mean but
        for 2e^−84 of the mass (Bernstein), X within 14σ of 0 but for e^−89 (Hoeffding, κ ≤ 0.3);
        outside E[X·e^{−sX}] ≤ 1/(es).
        """
        form = self._normal(alpha, alpha0, x)
        kappa, mean, sigma, y, slope = form.kappa, form.mean, form.sigma, form.y, form.slope
        with np.errstate(all="ignore"):
            value = sigma / math.sqrt(2 * math.pi) * form.body
            peak = sigma * 2 / (np.sqrt(y * y + 4) + y)
            value = value + 4 / (sigma * math.sqrt(2 * math.pi)) * peak * np.exp(-slope * peak)
            drift = (13 * form.deviation + 60) / mean
            rho = (1 + kappa) / 2 + 7 * sigma / mean
            rest = np.log((1 - kappa * kappa) / (4 * rho * (1 - rho)))
            factor = np.maximum(rest, 0.0) / 2 - np.log1p(-drift) / 2 + 1 / mean
            value = value * np.exp(factor) + 1e-35 / slope
            bound = form.log_mass + np.log(value) + 1e-9
            log_rate: FloatArray = bound - math.log(self.total) - form.log_p - np.log(kappa)
            fits = (mean >= _CLONES_MIN) & (kappa <= _KAPPA_MAX) & (y < 1e4) & (rho < 0.9)
            # κ here errs by some 1e-15 of itself, and the exponent by as much of N·κ².
            fits &= mean * kappa * kappa < 1e5
        return np.where(fits, log_rate, np.nan)


def _log_rises(alpha: float, x: FloatArray) -> FloatArray:
    """Return ln(e^{αy} − e^{αx}) of consecutive x < y along the last axis; −∞ where they meet."""
    width = alpha * np.diff(x)
    with np.errstate(divide="ignore"):
        rises: FloatArray = alpha * x[..., 1:] + np.log(-np.expm1(-width))
    return rises
