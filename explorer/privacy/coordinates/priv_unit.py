"""R_2: a locally private, unbiased report of a vector of the ℓ2 ball (PrivUnit).

The report is a point of a sphere. A client first takes x/‖x‖ or its opposite u, with chances
that make the mean right for any ‖x‖ ≤ r (Duchi, Jordan & Wainwright 2013); then a point V of the
unit sphere, uniform within the cap ⟨V, u⟩ ≥ g with probability p and uniform outside otherwise
(Bhowmick et al. 2018); V/m is sent with m = E⟨V, u⟩. With c the share of the sphere that the cap
covers, the density of V relative to the uniform law is p/c inside and (1−p)/(1−c) outside, so
ε₀-LDP means p(1−c) = e^ε₀ c(1−p). This gives

    p = ce^ε₀/(1 + c(e^ε₀−1)),   m = K(e^ε₀−1)/(1 + c(e^ε₀−1)),   K = E[W; W ≥ g],

W = ⟨V, u⟩ for uniform V. g = 0 is the mechanism of 2013; m is largest, and with it the error r²/m²
smallest, where g = m.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.privacy.coordinates.designs import priv_unit_moments
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

_Proposal = Callable[[int, np.random.Generator], FloatArray]

_TAIL = 0.7
"""From g√d of here on the tail is drawn by its own rejection step, below from the whole law."""


@dataclass(frozen=True)
class PrivUnit:
    """R_2 for given dimension, level and radius; made by `priv_unit`.

    Attributes
    ----------
    d : int
        Dimension, ≥ 2.
    eps0 : float
        Level of local privacy.
    radius : float
        r: inputs have ‖x‖₂ ≤ r.
    threshold : float
        g, where the cap begins.
    share : float
        c, the share of the sphere inside the cap.
    inside : float
        p, the probability of a report inside the cap.
    mean_cosine : float
        m; reports lie on the sphere of radius r/m.
    """

    d: int
    eps0: float
    radius: float
    threshold: float
    share: float
    inside: float
    mean_cosine: float

    @property
    def second_moment(self) -> float:
        """E‖R_2(x)‖² = r²/m², for every x."""
        return (self.radius / self.mean_cosine) ** 2

    @property
    def bits(self) -> int:
        """Bits of a report as it is sent here: d doubles."""
        return 64 * self.d

    def randomise(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one report a row.

        Parameters
        ----------
        x : ndarray, shape (k, d)
            Vectors with ‖x‖₂ ≤ r; longer ones are treated as having length r.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray, shape (k, d)
            Independent reports with mean x, all of norm r/m.
        """
        unit, along, across, normals = self._drawn(x, rng)
        return (along[:, None] * unit + across[:, None] * normals) * (
            self.radius / self.mean_cosine
        )

    def total(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the sum over rows of `randomise(x, rng)`, without making the reports.

        The same draws give the same sum, rounding aside: matrix products take the place of the
        (k, d) array of reports.
        """
        unit, along, across, normals = self._drawn(x, rng)
        return (along @ unit + across @ normals) * (self.radius / self.mean_cosine)

    def _drawn(
        self, x: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return u, a, b, z with report direction a·u + b·z: W along u, the rest across."""
        norms = np.sqrt(np.einsum("ij,ij->i", x, x))
        unit = x / np.where(norms > 0.0, norms, 1.0)[:, None]
        unit[norms == 0.0, 0] = 1.0
        toward = rng.random(norms.size) < 0.5 + np.minimum(norms / (2 * self.radius), 0.5)
        cosine = self.cosines(norms.size, rng)
        normals = rng.standard_normal(x.shape)
        dots = np.einsum("ij,ij->i", normals, unit)
        squares = np.einsum("ij,ij->i", normals, normals)
        across = np.sqrt((1.0 - cosine**2) / np.maximum(squares - dots**2, np.finfo(float).tiny))
        return unit, np.where(toward, cosine, -cosine) - across * dots, across, normals

    def cosines(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw W = ⟨V, u⟩ so many times."""
        cosines = np.empty(count)
        cap = rng.random(count) < self.inside
        cosines[cap] = self._above(int(cap.sum()), rng)
        cosines[~cap] = self._below(count - int(cap.sum()), rng)
        return cosines

    def _above(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw W given W ≥ g by rejection: from |W|, or from the tail without its 1/√s."""
        tail = self.threshold * math.sqrt(self.d) >= _TAIL
        return _accept(count, self._tail if tail else self._fold, rng)

    def _below(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw W given W < g, which is at least every second W."""
        return _accept(count, self._whole, rng)

    def _tail(self, size: int, rng: np.random.Generator) -> FloatArray:
        # s = W² has density ∝ (1−s)^{(d−3)/2}/√s on [g², 1]: draw the first factor, keep with g/√s.
        log_left = math.log1p(-(self.threshold**2)) + np.log1p(-rng.random(size)) * 2 / (self.d - 1)
        w: FloatArray = np.sqrt(-np.expm1(log_left))
        return w[rng.random(size) * w < self.threshold]

    def _fold(self, size: int, rng: np.random.Generator) -> FloatArray:
        w = np.abs(_cosine(self.d, size, rng))
        return w[w >= self.threshold]

    def _whole(self, size: int, rng: np.random.Generator) -> FloatArray:
        w = _cosine(self.d, size, rng)
        return w[w < self.threshold]


def priv_unit(d: int, eps0: float, radius: float, *, best_cap: bool = True) -> PrivUnit:
    """Return R_2 for vectors of length at most `radius` in d dimensions.

    Parameters
    ----------
    d : int
        Dimension in [2, 1e6].
    eps0 : float
        Level in [1e-6, 30]. Above, chances below the step of a uniform double would be lost.
    radius : float
        r > 0, the clipping threshold.
    best_cap : bool
        Whether the cap is the one of smallest error (Bhowmick et al. 2018 leave it free); else the
        half sphere of Duchi, Jordan & Wainwright 2013.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Duchi, Jordan & Wainwright 2013 (cited at Figure 5 (b) of Girgis, Data & Diggavi); Bhowmick,
    Duchi, Freudiger, Kapoor & Rogers 2018, PrivUnit₂ (cited in Remark 1, with E‖R−x‖² ≤ 14r²dA).
    """
    size = int(checks.integers("d", d, 2, 1e6))
    level = float(checks.reals("eps0", eps0, 1e-6, 30.0))
    length = float(checks.reals("radius", radius, 0.0, open_low=True))
    threshold, moment, _, _ = priv_unit_moments(size, level, None if best_cap else 0.0)
    share = _cap(size, threshold)
    odds = math.expm1(level) * share
    return PrivUnit(
        size,
        level,
        length,
        threshold,
        share,
        math.exp(level) * share / (1.0 + odds),
        moment**-0.5,
    )


def _cap(d: int, threshold: float) -> float:
    """Return the share of the sphere in d dimensions whose cosine with a direction is above."""
    from scipy.special import betaincc  # a sixth of a second, so not while a window waits

    return float(betaincc(0.5, (d - 1) / 2, threshold**2) / 2)


def _cosine(d: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw one coordinate of a uniform point of the unit sphere."""
    normal = rng.standard_normal(size)
    return normal / np.sqrt(normal**2 + rng.chisquare(d - 1, size))


def _accept(count: int, proposal: _Proposal, rng: np.random.Generator) -> FloatArray:
    """Return the first `count` draws that a proposal keeps."""
    draws = np.empty(0)
    while draws.size < count:
        size = int(1.5 * (count - draws.size)) + 16
        draws = np.concatenate([draws, proposal(size, rng)])
    return draws[:count]
