"""R_∞ and R_1: locally private, unbiased reports of a vector, in ⌈log₂ d⌉ + 1 bits.

**R_∞, of the ℓ∞ ball.** A client picks one coordinate j uniformly, forgets all others, quantises
x_j ∈ [−r, r] to ±r so that the mean is right, and tells that sign by randomised response. The
server reads (j, ±) as ±rd·√A·e_j with √A = (e^ε₀+1)/(e^ε₀−1). Quantising and answering at random
are one coin:

    Pr[+ | j] = ½ + x_j/(2r√A) ∈ [1/(e^ε₀+1), e^ε₀/(e^ε₀+1)].

**R_1, of the ℓ1 ball.** With H the D × D Hadamard matrix of signs, D = 2^⌈log₂ d⌉, every entry of y
= Hx lies in [−r, r] for ‖x‖₁ ≤ r, and x = E_j[y_j H_j] for a uniform row j. A client picks j,
quantises y_j to ±r so that the mean is right, and tells that sign by randomised response, as R_∞
does of a coordinate. The server reads (j, ±) as ±r√A·H_j, cut to d entries, with √A =
(e^ε₀+1)/(e^ε₀−1).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray

IntArray = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class CoordinateReport:
    """R_∞ for given dimension, level and radius; made by `coordinate_report`.

    Attributes
    ----------
    d : int
        Dimension, ≥ 1.
    eps0 : float
        Level of local privacy.
    radius : float
        r: inputs have ‖x‖_∞ ≤ r.
    """

    d: int
    eps0: float
    radius: float

    @property
    def length(self) -> float:
        """Length rd√A of every decoded report."""
        return self.radius * self.d / math.tanh(self.eps0 / 2)

    @property
    def second_moment(self) -> float:
        """E‖R_∞(x)‖₂² = r²d²A, for every x; the G_∞² of Remark 1."""
        return self.length**2

    @property
    def bits(self) -> int:
        """Bits of a report: an index and a sign."""
        return math.ceil(math.log2(self.d)) + 1

    def plus_probability(self, entries: FloatArray) -> FloatArray:
        """Return Pr[+] for coordinates' values; beyond ±r as at ±r, so that ε₀ always holds."""
        tilt = 0.5 * math.tanh(self.eps0 / 2)
        return 0.5 + tilt * np.clip(entries / self.radius, -1.0, 1.0)

    def signs(self, entries: FloatArray, rng: np.random.Generator) -> BoolArray:
        """Draw the signs (True for +) that clients report of the coordinates they picked."""
        return np.asarray(rng.random(entries.shape) < self.plus_probability(entries))

    def randomise(self, x: FloatArray, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """Return one report a row of x: indices and signs.

        Parameters
        ----------
        x : ndarray, shape (k, d)
            Vectors with ‖x‖_∞ ≤ r.
        """
        index = rng.integers(self.d, size=len(x))
        return index, self.signs(x[np.arange(len(x)), index], rng)

    def decoded_total(self, index: IntArray, plus: BoolArray) -> FloatArray:
        """Return the sum of decoded reports, shape (d,)."""
        votes = np.bincount(index, np.where(plus, 1.0, -1.0), self.d)
        return np.asarray(votes * self.length)


def coordinate_report(d: int, eps0: float, radius: float) -> CoordinateReport:
    """Return R_∞ for vectors with entries in [−radius, radius].

    Parameters
    ----------
    d : int
        Dimension in [1, 1e6].
    eps0 : float
        Level in [1e-6, 30]. Above, chances below the step of a uniform double would be lost.
    radius : float
        r > 0, the clipping threshold.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data, Diggavi, Kairouz & Suresh 2021 (Shuffled model of federated learning), R_∞;
    Remark 1 of Girgis, Data & Diggavi.
    """
    return CoordinateReport(
        int(checks.integers("d", d, 1, 1e6)),
        float(checks.reals("eps0", eps0, 1e-6, 30.0)),
        float(checks.reals("radius", radius, 0.0, open_low=True)),
    )


@dataclass(frozen=True)
class HadamardReport:
    """R_1 for given dimension, level and radius; made by `hadamard_report`.

    Attributes
    ----------
    d : int
        Dimension, ≥ 1.
    eps0 : float
        Level of local privacy.
    radius : float
        r: inputs have ‖x‖₁ ≤ r.
    """

    d: int
    eps0: float
    radius: float

    @property
    def rows(self) -> int:
        """D, the least power of 2 that is no less than d."""
        return 1 << (self.d - 1).bit_length()

    @property
    def bits(self) -> int:
        """Bits of a report: a row and a sign."""
        return (self.d - 1).bit_length() + 1

    @property
    def second_moment(self) -> float:
        """E‖R_1(x)‖₂² = r²dA, for every x; the G_1² of Remark 1."""
        return self.d * (self.radius / math.tanh(self.eps0 / 2)) ** 2

    def transformed(self, x: FloatArray, index: IntArray) -> FloatArray:
        """Return entry index[i] of H x[i], for vectors x of shape (k, d)."""
        odd = np.bitwise_count(index[:, None] & np.arange(self.d)) & 1
        return np.asarray(np.einsum("ij,ij->i", x, 1.0 - 2.0 * odd))

    def signs(self, entries: FloatArray, rng: np.random.Generator) -> BoolArray:
        """Draw the signs (True for +) that clients report of the entries of Hx they picked."""
        tilt = 0.5 * math.tanh(self.eps0 / 2)
        plus = 0.5 + tilt * np.clip(entries / self.radius, -1.0, 1.0)
        return np.asarray(rng.random(entries.shape) < plus)

    def randomise(self, x: FloatArray, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """Return one report a row of x, vectors with ‖x‖₁ ≤ r: rows of H and signs."""
        index = rng.integers(self.rows, size=len(x))
        return index, self.signs(self.transformed(x, index), rng)

    def decoded_total(self, index: IntArray, plus: BoolArray) -> FloatArray:
        """Return the sum of decoded reports, shape (d,)."""
        votes: FloatArray = np.bincount(index, np.where(plus, 1.0, -1.0), self.rows).astype(float)
        return _hadamard(votes)[: self.d] * (self.radius / math.tanh(self.eps0 / 2))


def hadamard_report(d: int, eps0: float, radius: float) -> HadamardReport:
    """Return R_1 for vectors of the ℓ1 ball of a radius.

    Parameters
    ----------
    d : int
        Dimension in [1, 1e6].
    eps0 : float
        Level in [1e-6, 30]. Above, chances below the step of a uniform double would be lost.
    radius : float
        r > 0, the clipping threshold.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data, Diggavi, Kairouz & Suresh 2021 (Shuffled model of federated learning), R_1;
    Remark 1 of Girgis, Data & Diggavi.
    """
    return HadamardReport(
        int(checks.integers("d", d, 1, 1e6)),
        float(checks.reals("eps0", eps0, 1e-6, 30.0)),
        float(checks.reals("radius", radius, 0.0, open_low=True)),
    )


def _hadamard(values: FloatArray) -> FloatArray:
    """Return H v for v of a length that is a power of 2, by the fast transform."""
    transformed = values
    half = 1
    while half < values.size:
        pairs = transformed.reshape(-1, 2, half)
        transformed = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return np.asarray(transformed.reshape(-1))
