"""Least squares from private reports: Algorithm 3.

Every user sends two independent M_mean reports at half the budget; products of the two copies are
unbiased where the square of one is not (one copy cannot replace two: errata coord-B12). Halving c
is valid because CDP and LDP compose; halving δ would not be, since BCDP does not (errata
coord-B10). The label is the last coordinate; only conditioning *on* it is exempt from Assumption 1,
and only if its demanded level is the largest (errata coord-A7).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.sampling import m_mean
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

METHODS = ("psd-clip", "trust-region")


@dataclass(frozen=True)
class TrustRegion:
    """A global minimiser of ½θᵀAθ − bᵀθ over a ball.

    Attributes
    ----------
    theta : ndarray of shape (p,)
    multiplier : float
        μ ≥ 0 with (A + μI)θ = b and A + μI positive semidefinite; 0 in the interior.
    value : float
        The minimum.
    hard_case : bool
        b is orthogonal to the lowest eigenvectors and there is more than one minimiser.
    """

    theta: FloatArray
    multiplier: float
    value: float
    hard_case: bool


@dataclass(frozen=True)
class Regression:
    """A regression from private reports.

    Attributes
    ----------
    theta : ndarray of shape (d − 1,)
        Coefficients, of norm at most the radius.
    A, b : ndarray
        Unbiased estimates of (1/n)Σ z zᵀ and (1/n)Σ l·z.
    value : float
        ½θᵀAθ − bᵀθ.
    indefinite : bool
        A has a negative eigenvalue, so that f̂ is not convex (errata coord-B11).
    """

    theta: FloatArray
    A: FloatArray
    b: FloatArray
    value: float
    indefinite: bool


def _matrix(name: str, value: ArrayLike) -> FloatArray:
    array = checks.reals(name, value, -math.inf, math.inf, open_low=True, open_high=True)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must be a matrix, got shape {array.shape}")
    return array


def _quadratic(A: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    matrix = _matrix("A", A)
    vector = checks.reals("b", b, -math.inf, math.inf, open_low=True, open_high=True)
    if matrix.shape != (vector.size, vector.size) or vector.ndim != 1:
        raise ValueError(f"A must have shape ({vector.size}, {vector.size}), got {matrix.shape}")
    return 0.5 * (matrix + matrix.T), vector


def regression_moments(
    Z1: ArrayLike, l1: ArrayLike, Z2: ArrayLike, l2: ArrayLike, *, symmetrise: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return A = sym((1/n)Σ ẑ¹ẑ²ᵀ) and b of the estimated objective f̂.

    Parameters
    ----------
    Z1, Z2 : array_like of shape (n, p)
        Reported features, one array a copy.
    l1, l2 : array_like of shape (n,)
        Reported labels.
    symmetrise : bool
        b = (1/2n)Σ(l̂¹ẑ² + l̂²ẑ¹), of half the variance; else the paper's (1/n)Σ l̂¹ẑ².

    Notes
    -----
    Algorithm 3's Σ ẑ¹ẑ²ᵀ is not symmetric; the gradient of f̂ is sym(A)θ − b (errata coord-B11).
    """
    first, second = _matrix("Z1", Z1), _matrix("Z2", Z2)
    label1, label2 = np.asarray(l1, float), np.asarray(l2, float)
    n = first.shape[0]
    if second.shape != first.shape or label1.shape != (n,) or label2.shape != (n,):
        raise ValueError(
            f"Z2, l1, l2 must have shapes {first.shape}, ({n},), ({n},), got {second.shape}, "
            f"{label1.shape}, {label2.shape}"
        )
    product = first.T @ second / n
    A = 0.5 * (product + product.T)
    b = label1 @ second / n
    if symmetrise:
        b = 0.5 * (b + label2 @ first / n)
    return A, b


def psd_clip(A: ArrayLike) -> FloatArray:
    """Return the nearest positive semidefinite matrix: negative eigenvalues become 0."""
    matrix = _matrix("A", A)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A must be square, got shape {matrix.shape}")
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    result: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return 0.5 * (result + result.T)


def trust_region(A: ArrayLike, b: ArrayLike, R: float) -> TrustRegion:
    """Return a global minimiser of ½θᵀAθ − bᵀθ over ‖θ‖ ≤ R, A of any signs.

    Solves the secular equation ‖(A + μI)⁻¹b‖ = R in the eigenbasis; in the hard case the lowest
    eigenvector makes up the length, signed so that its largest entry is positive.

    Parameters
    ----------
    A : array_like of shape (p, p)
        Symmetrised first.
    b : array_like of shape (p,)
    R : float
        Radius, in [0, ∞).
    """
    matrix, vector = _quadratic(A, b)
    checks.reals("R", R, 0.0, open_high=True)
    values, vectors = np.linalg.eigh(matrix)
    rotated = vectors.T @ vector
    size = max(float(np.abs(values).max()), float(np.abs(rotated).max()), np.finfo(float).tiny)

    def answer(theta: FloatArray, multiplier: float, hard: bool) -> TrustRegion:
        value = float(0.5 * theta @ matrix @ theta - vector @ theta)
        return TrustRegion(theta, multiplier, value, hard)

    lowest = float(values[0])
    bottom = values <= lowest + 1e-13 * size
    floor = max(0.0, -lowest)
    if R == 0.0:
        return answer(np.zeros(vector.size), 0.0, False)
    # At the smallest admissible multiplier only directions with A + μI > 0 are determined.
    gaps = values + floor
    solid = gaps > 1e-13 * size
    easy = bool((np.abs(rotated[~solid]) > 1e-13 * size).any())
    if not easy:
        coordinates = np.where(solid, rotated / np.where(solid, gaps, 1.0), 0.0)
        length = float(np.linalg.norm(coordinates))
        if length <= R:
            theta = vectors @ coordinates
            hard = floor > 0.0 and length < R
            if hard:
                direction = vectors[:, int(np.argmax(bottom))]
                direction = direction * math.copysign(1.0, direction[np.argmax(np.abs(direction))])
                theta = theta + math.sqrt((R - length) * (R + length)) * direction
            return answer(theta, floor, hard)
    multiplier = _secular_root(values, rotated, R, floor)
    theta = vectors @ (rotated / (values + multiplier))
    return answer(theta * (R / float(np.linalg.norm(theta))), multiplier, False)


def _secular_root(values: FloatArray, rotated: FloatArray, R: float, floor: float) -> float:
    """Return μ > floor with ‖rotated/(values + μ)‖ = R by safeguarded Newton steps.

    On 1/‖·‖ − 1/R, which is nearly linear and concave, Newton's method converges from the left.
    """
    low, high = (
        floor,
        floor + float(np.linalg.norm(rotated)) / R + 2.0 * float(np.abs(values).max()),
    )
    mu = high
    for _ in range(200):
        gaps = values + mu
        scaled = rotated / gaps
        length = float(np.linalg.norm(scaled))
        if length > R:
            low = mu
        else:
            high = mu
        if length == R or high - low <= 4e-16 * max(high, 1e-300):
            break
        slope = float((scaled**2 / gaps).sum()) / length**3
        step = (1.0 / R - 1.0 / length) / slope
        following = mu + step
        mu = following if low < following < high else 0.5 * (low + high)
    return mu


def minimise_clipped(A: ArrayLike, b: ArrayLike, R: float) -> FloatArray:
    """Return the minimiser over ‖θ‖ ≤ R of ½θᵀA₊θ − bᵀθ, A₊ being A clipped, by cvxpy.

    The convex problem that Algorithm 3's OPT is meant for, since f̂ itself may be indefinite
    (errata coord-B11). `trust_region` of the clipped matrix gives the same value without a solver.
    """
    import cvxpy

    cp: Any = cvxpy

    matrix, vector = _quadratic(A, b)
    checks.reals("R", R, 0.0, open_high=True)
    values, vectors = np.linalg.eigh(matrix)
    if R == 0.0 or not vector.any():
        return np.zeros(vector.size)
    # Solve for θ/R with the objective of order 1, whatever the size of the reports' noise.
    scale = max(float(np.abs(values).max()) * R**2, float(np.abs(vector).max()) * R)
    root = np.sqrt(np.maximum(values, 0.0) * (R**2 / scale))[:, None] * vectors.T
    theta = cp.Variable(vector.size)
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(root @ theta) - (vector * (R / scale)) @ theta),
        [cp.norm(theta, 2) <= 1.0],
    )
    problem.solve(solver=cp.CLARABEL)
    if theta.value is None or not np.isfinite(theta.value).all():
        return trust_region(psd_clip(matrix), vector, R).theta
    solution = np.asarray(theta.value, float)
    result: FloatArray = solution * (R / max(1.0, float(np.linalg.norm(solution))))
    return result


def private_regression(
    x: ArrayLike,
    c: ArrayLike,
    radius: float,
    rng: np.random.Generator,
    *,
    method: str = "psd-clip",
    rule: str = "optimal",
) -> Regression:
    """Regress the last coordinate on the others from private reports (Algorithm 3).

    Parameters
    ----------
    x : array_like of shape (n, d)
        Records (features, label) in [−1, 1], d ≥ 2.
    c : array_like of shape (d,)
        Budgets in (0, ∞), as for one release; each of the two copies has c/2. Levels are those of
        c and c_d: halving is included.
    radius : float
        Of the ball of coefficients, in (0, ∞).
    rng : numpy.random.Generator
        Source of randomness.
    method : {"psd-clip", "trust-region"}
        Convex: clip the eigenvalues of A, solve with cvxpy. Or the exact global minimiser of the
        indefinite f̂, which is what the proof of Theorem 3 asks for.
    rule : {"paper", "optimal"}
        Weights of M_mean.

    Notes
    -----
    Reports and averages are not projected: that would destroy unbiasedness (errata coord-B13).
    """
    checks.one_of("method", method, METHODS)
    budgets = checks.positive("c", c)
    checks.positive("radius", radius)
    if budgets.ndim != 1 or budgets.size < 2:
        raise ValueError(f"c must have at least a feature and a label, got shape {budgets.shape}")
    first, second = (m_mean(x, budgets / 2.0, rng, rule) for _ in range(2))
    A, b = regression_moments(first[:, :-1], first[:, -1], second[:, :-1], second[:, -1])
    if method == "psd-clip":
        theta = minimise_clipped(A, b, radius)
    else:
        theta = trust_region(A, b, radius).theta
    value = float(0.5 * theta @ A @ theta - b @ theta)
    return Regression(theta, A, b, value, bool(np.linalg.eigvalsh(A)[0] < 0.0))
