"""Histograms in the local and in the central model, with constants: baselines of P_hist.

Table 1 of the paper gives these models as orders of growth only. Here stand mechanisms that reach
them, each simple enough that its error is known exactly or by one textbook inequality. Neighbours
replace one user, errors are in frequency.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.histograms.protocol import MAX_DOMAIN

UNARY = Reference(
    "Erlingsson, Pihur & Korolova 2014", "basic RAPPOR, every bit at ε/2", "Hoeffding, union bound"
)
LAPLACE = Reference(
    "Dwork, McSherry, Nissim & Smith 2006",
    "Laplace mechanism, scale 2/ε",
    "two-sided geometric noise (Ghosh, Roughgarden & Sundararajan 2009)",
)
STABLE = Reference(
    "Bun, Nissim & Stemmer 2016",
    "stability-based histogram",
    "Laplace noise on occupied bins, threshold 1 + (2/ε)ln(2/δ); union bound",
)


def _arguments(
    n: ArrayLike, bins: ArrayLike, eps: ArrayLike, beta: ArrayLike
) -> tuple[FloatArray, ...]:
    return (
        checks.integers("n", n, 1, checks.MAX_COUNT),
        checks.integers("d", bins, 1, MAX_DOMAIN),
        checks.reals("eps", eps, 0.0, checks.MAX_EPSILON, open_low=True),
        checks.delta(beta, "beta"),
    )


def local_error(n: ArrayLike, d: ArrayLike, eps: ArrayLike, beta: ArrayLike) -> Bound:
    """Return a bound on the largest error of d bins by unary encoding in the local model.

    Every user flips each bit of a one-hot vector with probability 1/(e^{ε/2}+1), which is ε-LDP;
    the unbiased estimate of a bin is a mean of n terms of range coth(ε/4), so
    α = √(ln(2d/β)/(2n))·coth(ε/4).

    Parameters
    ----------
    n : array of int
        Users, in [1, 1e12].
    d : array of int
        Bins, in [1, 1e300]; 1 for a single bin.
    eps : array of float
        ε in (0, 800].
    beta : array of float
        Failure probability in [1e-300, 1].

    Raises
    ------
    ValueError
        Outside these domains.
    """
    users, bins, e, b = _arguments(n, d, eps, beta)
    value = np.sqrt((math.log(2) + np.log(bins) - np.log(b)) / (2 * users)) / np.tanh(e / 4)
    return Bound(value, Role.UPPER, UNARY)


def local_rmse(n: ArrayLike, eps: ArrayLike) -> Any:
    """Return the root mean square error of one bin by unary encoding: 1/(2√n·sinh(ε/4)), exactly.

    It is the same for every true count. Domains as in `local_error`.
    """
    users, _, e, _ = _arguments(n, 1, eps, 1.0)
    with np.errstate(over="ignore"):
        return scalar_if_0d(0.5 / (np.sqrt(users) * np.sinh(e / 4)))


def central_error(
    n: ArrayLike, d: ArrayLike, eps: ArrayLike, beta: ArrayLike, sensitivity: float = 2.0
) -> Bound:
    """Return the exact (1−β)-quantile of the largest error of d bins by the Laplace mechanism.

    A curator adds to every count independent two-sided geometric noise, Pr[Z = z] ∝ a^|z| with
    a = e^{−ε/sensitivity}; the quantile is the least whole t with Pr[max|Z| > t] ≤ β, over n.

    Parameters
    ----------
    n, d, eps, beta
        As in `local_error`.
    sensitivity : float
        Change of the counts in ℓ1 when a user is replaced: 2 for a histogram, 1 for one count.
    """
    users, bins, e, b = _arguments(n, d, eps, beta)
    users, bins, e, b = np.broadcast_arrays(users, bins, e, b)
    rate = e / sensitivity
    # One bin may exceed t with probability 1 − (1−β)^{1/d} = 2a^{t+1}/(1+a).
    with np.errstate(divide="ignore"):
        log_none = np.log1p(-b)
        near = np.log(-np.expm1(log_none / bins))
        # With very many bins the exponent has no double; its logarithm has.
        far = np.log(-log_none) - np.log(bins)
    log_each = np.where(-log_none < 1e-10 * bins, far, near)
    log_each = np.where(b < 1, np.minimum(log_each, 0.0), 0.0)
    log_tail = math.log(2) - np.log1p(np.exp(-rate))
    t = np.maximum(np.ceil((log_tail - log_each) / rate * (1 - 1e-12)) - 1, 0.0)
    return Bound(t / users, Role.EXACT, LAPLACE)


def central_rmse(n: ArrayLike, eps: ArrayLike, sensitivity: float = 2.0) -> Any:
    """Return the root mean square error of one bin by two-sided geometric noise, exactly.

    √(2a)/(1−a)/n with a = e^{−ε/sensitivity}; domains as in `local_error`.
    """
    users, _, e, _ = _arguments(n, 1, eps, 1.0)
    rate = e / sensitivity
    return scalar_if_0d(math.sqrt(2) * np.exp(-rate / 2) / -np.expm1(-rate) / users)


def stable_error(
    n: ArrayLike, occupied: ArrayLike, eps: ArrayLike, delta: ArrayLike, beta: ArrayLike
) -> Bound:
    """Return a bound on the largest error of the stability-based histogram, for any domain.

    Laplace noise of scale 2/ε on the bins that occur; what stays below T = 1 + (2/ε)ln(2/δ) is
    set to 0. It is (ε, δ)-DP: a bin of one user shows with probability δ/4, all else moves by 2.
    With probability ≥ 1−β no error is above (T + (2/ε)ln(h/β))/n.

    Parameters
    ----------
    n, eps, beta
        As in `local_error`.
    occupied : array of int
        How many values h occur, in [1, 1e300].
    delta : array of float
        δ in [1e-300, 1].
    """
    users, values, e, b = _arguments(n, occupied, eps, beta)
    small = checks.delta(delta)
    counts = 1 + 2 / e * (math.log(2) - np.log(small) + np.log(values) - np.log(b))
    return Bound(counts / users, Role.UPPER, STABLE)
