"""How near an estimated heatmap is to the true one. Computed from raw data: curator only."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.pyramid.morton import level_of

REGULARISER = 2.0**-52


@dataclass(frozen=True, slots=True)
class Metrics:
    """Agreement of two sum-normalised maps.

    Attributes
    ----------
    similarity : float
        Σ min(P, Q) = 1 − total variation, in [0, 1].
    pearson : float
        Correlation over cells, in [−1, 1]; NaN if either map is constant.
    kl : float
        Σ Q ln(2⁻⁵² + Q/(P + 2⁻⁵²)), Q the truth.
    total_variation : float
    """

    similarity: float
    pearson: float
    kl: float
    total_variation: float


def normalise(grid: NDArray[Any], name: str = "map") -> FloatArray:
    """Return a map divided by its sum.

    Raises
    ------
    ValueError
        If a mass is negative or not finite, or all are 0.
    """
    grid = np.asarray(grid, dtype=float)
    total = float(grid.sum())
    if not np.isfinite(total) or (grid.size and float(grid.min()) < 0):
        raise ValueError(f"{name}: every mass must be finite and at least 0")
    if not total > 0:
        raise ValueError(f"{name}: it has no mass")
    return np.asarray(grid / total)


def compare(truth: NDArray[Any], estimate: NDArray[Any]) -> Metrics:
    """Return similarity, Pearson correlation and KL divergence of two maps of one shape.

    Both are normalised to sum 1 first; they must be non-negative with some mass.

    References
    ----------
    Section 4 of the paper; direction and regulariser of KL and the normalisation of similarity
    are not stated there (errata heat-23): KL(truth‖estimate) with 2⁻⁵², similarity of
    sum-normalised maps.
    """
    q, p = normalise(truth, "truth"), normalise(estimate, "estimate")
    if q.shape != p.shape:
        raise ValueError(f"estimate: shape {p.shape} differs from the truth's {q.shape}")
    # One buffer for everything: at Δ = 1024 fresh memory costs more than the arithmetic.
    work = q - p
    tv = 0.5 * float(np.abs(work, out=work).sum())
    # Where Q is 0 the logarithm is finite (2⁻⁵² inside), so that the term is 0 as it should be.
    np.add(p, REGULARISER, out=work)
    np.divide(q, work, out=work)
    work += REGULARISER
    kl = float(np.vdot(q, np.log(work, out=work)))
    q -= 1 / q.size  # both have mean 1/Δ²
    p -= 1 / p.size
    spread = math.sqrt(float(np.vdot(q, q)) * float(np.vdot(p, p)))
    pearson = min(1.0, max(-1.0, float(np.vdot(q, p)) / spread)) if spread > 0 else math.nan
    return Metrics(1.0 - tv, pearson, kl, tv)


def level_masses(z: FloatArray) -> list[float]:
    """Return Σ_c |z(c)| over the cells c of every level 0…ℓ of a signed 2^ℓ × 2^ℓ grid."""
    level_of(z.shape[0], "grid")
    sums = [float(np.abs(z).sum())]
    while z.shape[0] > 1:
        half = z[0::2] + z[1::2]
        z = half[:, 0::2] + half[:, 1::2]
        sums.append(float(np.abs(z).sum()))
    return sums[::-1]


def pyramid_norm(z: NDArray[Any]) -> float:
    """Return ‖P z‖₁ = Σ_i 2^{−i} Σ_{c of level i} |z(c)| of a signed square grid.

    For z with total 0 it is at least the earth mover's distance between z's positive and negative
    part in the unit square under ℓ1; for other z Lemma 3.5's claim fails as printed (errata
    heat-12).
    """
    sums = level_masses(np.asarray(z, dtype=float))
    return math.fsum(2.0**-i * value for i, value in enumerate(sums))


@dataclass(frozen=True, slots=True)
class QuickBounds:
    """What bounds the earth mover's distance of two maps under |Δx|·width + |Δy|·height.

    Attributes
    ----------
    along_x, along_y : float
        1-d distances of the marginals, in sides of the map.
    pyramid : float
        Σ_{i≥1} 2^{−i} N_i with N_i = Σ |z(c)| over the cells c of level i and z the difference.
    """

    along_x: float
    along_y: float
    pyramid: float

    def lower(self, width: float = 1.0, height: float = 1.0) -> float:
        """Return a lower bound: each axis for itself, since projecting shortens every path."""
        return self.along_x * width + self.along_y * height

    def upper(self, width: float = 1.0, height: float = 1.0) -> float:
        """Return an upper bound: what finds its partner inside ever larger cells.

        What is matched inside a cell of level i travels at most (width + height)·2^{−i} less one
        leaf; summing up gives (width + height)/2 times the pyramid norm.
        """
        return (width + height) / 2 * self.pyramid


def quick_bounds(p: NDArray[Any], q: NDArray[Any]) -> QuickBounds:
    """Return both bounds that need no solver, of two maps [row, column] normalised here.

    Raises
    ------
    ValueError
        If a map is negative, not finite or empty, shapes differ, or the side is no power of two.
    """
    z = normalise(p, "p")
    z -= normalise(q, "q")
    sums = level_masses(z)
    norm = math.fsum(2.0**-i * value for i, value in enumerate(sums) if i)
    along_x = float(np.abs(np.cumsum(z.sum(axis=0))).sum() / z.shape[1])
    along_y = float(np.abs(np.cumsum(z.sum(axis=1))).sum() / z.shape[0])
    return QuickBounds(along_x, along_y, norm)
