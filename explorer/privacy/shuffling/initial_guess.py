"""Where a crowd of clones reaches δ, roughly: a saddle point's estimate to start a search from."""

import math
from functools import partial

import numpy as np

from explorer.privacy.core.bound import FloatArray


def clone_guess(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, log_delta: FloatArray
) -> FloatArray:
    """Return about the ε at which each crowd has δ; good for many clones, else about anything."""
    model = partial(_model, eps0, k, log_pc)
    # As if the loss were normal: with z = κ√(k·p_c) δ is near 2tanh(ε₀/2)/√(k·p_c)·φ(z)·S(z).
    steep, root = np.tanh(eps0 / 2), np.exp((np.log(k) + log_pc) / 2)
    room = 2 * (np.log(2 * steep / root) - 0.5 * math.log(2 * math.pi) - log_delta)
    room = np.maximum(room, 0.0)
    z = np.sqrt(room)
    for _ in range(3):
        z = np.sqrt(np.maximum(room - 2 * np.log1p(z * (math.sqrt(math.pi / 2) + z)), 0.0))
    kappa = np.clip(z / root, 1e-9, 0.98)
    for _ in range(5):
        value, slope = model(kappa)
        kappa = np.clip(kappa + (value - log_delta) / slope, 0.2 * kappa, 0.5 + kappa / 2)
    return np.asarray(2 * np.arctanh(kappa * steep))


def log_curvature(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, eps: FloatArray
) -> FloatArray:
    """Return about d² ln δ/dε² at each crowd's ε; good for many clones."""
    steep = np.tanh(eps0 / 2)
    below, here, above = (
        _model(eps0, k, log_pc, np.tanh(eps * share / 2) / steep)[0]
        for share in (0.999, 1.0, 1.001)
    )
    return np.asarray((below - 2 * here + above) / (1e-3 * eps) ** 2)


def _model(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, kappa: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return about ln δ at κ, and about −d ln δ/dκ.

    With D as in `_rate` the expectation over N of e^−ND is (1 − p_c + p_c·e^−D)^k, and the rest of
    the summand is taken at the mean of the N so tilted: relative to δ that errs by about one over
    the number of clones.
    """
    p, steep = np.exp(log_pc), np.tanh(eps0 / 2)
    up, down = (1 + kappa) / 2, np.maximum((1 - kappa) / 2, 1e-300)
    twice = np.log(up) - np.log(down)
    rate = math.log(2) + np.log(up) - down * twice
    fall = np.exp(-rate)
    log_kept = np.log1p(p * np.expm1(-rate))
    clones = k * p * fall / np.exp(log_kept)
    variance = clones * up * down
    t = twice * np.sqrt(variance)
    epsilon = 2 * np.arctanh(np.minimum(kappa * steep, 1 - 1e-16))
    value = (
        np.log(2 * steep)
        + np.logaddexp(0.0, epsilon)
        - np.log(k)
        - log_pc
        + k * log_kept
        + 0.5 * np.log(variance / (2 * math.pi))
        - _log_curve(t)
    )
    bend = (1.2533 + 2 * t) / (1 + t * (1.2533 + t))
    return value, 0.5 * clones * twice + np.sqrt(clones) * bend


def _log_curve(t: FloatArray) -> FloatArray:
    """Return −ln(1 − t·R(t)), R the ratio of Mills, for t ≥ 0, within 1.2e-4."""
    over = 1 + t * (1.7345203 + t * (1.2812056 + t * (0.4820001 + t * 0.1029585)))
    return np.asarray(np.log(over / (1 + t * (0.4812066 + t * 0.1029585))))
