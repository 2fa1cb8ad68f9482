"""Ratios of gamma functions that keep their digits for large arguments."""

from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray

_LARGE = 32.0


def _stirling(x: FloatArray) -> FloatArray:
    """Ln Γ(x) − [(x−½)ln x − x + ½ln 2π] for x ≥ 32."""
    u = 1.0 / (x * x)
    out: FloatArray = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x
    return out


def log_gamma_step(x: Any, h: Any) -> FloatArray:
    """Return ln Γ(x+h) − ln Γ(x) for x > 0, h ≥ 0 (arrays broadcast), to machine precision.

    Subtracting two log-gammas would leave an absolute error of eps·x·ln x.
    """
    from scipy.special import gammaln

    x, h = np.broadcast_arrays(np.asarray(x, float), np.asarray(h, float))
    big = np.maximum(x, _LARGE)
    far = (
        (big - 0.5) * np.log1p(h / big)
        + h * (np.log(big + h) - 1.0)
        + (_stirling(big + h) - _stirling(big))
    )
    small = np.minimum(x, _LARGE)
    return np.asarray(np.where(x >= _LARGE, far, gammaln(small + h) - gammaln(small)))
