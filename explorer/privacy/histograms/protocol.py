"""The protocols' parameters by the paper's constants, their error bounds and their messages.

P_zsum run at (ε, δ) is (ε, δ)-DP, P_hist run at (ε, δ) is (2ε, 2δ)-DP (errata hist-A1): functions
here take the parameters the protocol is *run* at; `histogram_parameters` turns a target into these.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HISTOGRAMS, Bound, FloatArray, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d

MAX_DOMAIN = 1e300
"""Largest number of bins: nothing but the number of messages depends on it."""


def _parameters(eps: ArrayLike, delta: ArrayLike) -> tuple[FloatArray, FloatArray]:
    e = checks.reals("eps", eps, 0.0, 1.0, open_low=True)
    return e, checks.delta(delta)


def printed_noise(eps: ArrayLike, delta: ArrayLike) -> Any:
    """Return n(1−p) = 50 ln(2/δ)/ε², the paper's noise at the parameters the protocol is run at.

    Parameters
    ----------
    eps : array of float
        ε in (0, 1] (errata hist-B1: the paper's [0, 1] must exclude 0).
    delta : array of float
        δ in [1e-300, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Figure 1 and Corollary A.4.
    """
    e, d = _parameters(eps, delta)
    with np.errstate(over="ignore"):
        # Infinite where it has no double.
        return scalar_if_0d(50 * np.log(2 / d) / e / e)


def printed_least_users(eps: ArrayLike, delta: ArrayLike) -> Any:
    """Return the least whole n ≥ (100/ε²) ln(2/δ), so that p ≥ ½ (Theorem 3.1)."""
    return scalar_if_0d(np.ceil(2 * np.asarray(printed_noise(eps, delta))))


def printed_p(eps: ArrayLike, delta: ArrayLike, n: ArrayLike) -> Any:
    """Return p = 1 − 50 ln(2/δ)/(ε²n), the probability of a noise bit.

    Raises
    ------
    ValueError
        Outside the domains of `printed_noise`, or if n is below (100/ε²) ln(2/δ), where the paper
        promises nothing (p would be below ½).
    """
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    noise, users = np.broadcast_arrays(np.asarray(printed_noise(eps, delta)), users)
    short = users < 2 * noise
    if np.any(short):
        i = int(np.argmax(short))
        raise ValueError(
            f"n: {users.flat[i]:g} users are fewer than (100/eps²) ln(2/delta) = "
            f"{2 * noise.flat[i]:.6g}; n must be in [{np.ceil(2 * noise.flat[i]):.15g}, 1e+12]"
        )
    return scalar_if_0d(1 - noise / users)


def histogram_parameters(eps: ArrayLike, delta: ArrayLike) -> tuple[Any, Any]:
    """Return the (ε/2, δ/2) at which P_hist is run to be (ε, δ)-DP.

    Parameters
    ----------
    eps : array of float
        Target ε in (0, 2].
    delta : array of float
        Target δ in [2e-300, 1].

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.2(i); errata hist-A1: noise 200 ln(4/δ)/ε².
    """
    e = checks.reals("eps", eps, 0.0, 2.0, open_low=True)
    d = checks.reals("delta", delta, 2 * checks.MIN_DELTA, 1.0)
    return scalar_if_0d(e / 2), scalar_if_0d(d / 2)


def printed_error(eps: ArrayLike, delta: ArrayLike, n: ArrayLike, beta: ArrayLike) -> Bound:
    """Return the printed error bound α: with probability ≥ 1−β a frequency is off by at most α.

    α = 50 ln(2/δ)/(ε²n) + √(200 ln(2/δ) ln(2/β))/(εn).

    Parameters
    ----------
    eps, delta, n : array of float
        As in `printed_p`.
    beta : array of float
        Failure probability in [1e-300, 1]; the bound holds for β ≥ δ²⁵, more exactly while
        ln(2/β) ≤ (9/4)np(1−p) (errata hist-B3).

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.1(ii); errata hist-B2: a factor √p is dropped on the way.
    """
    p = np.asarray(printed_p(eps, delta, n))
    e, d = _parameters(eps, delta)
    b = checks.delta(beta, "beta")
    spread = np.sqrt(200 * np.log(2 / d) * np.log(2 / b)) / (e * np.asarray(n, dtype=float))
    return _bound(1 - p + spread, p, n, b, "Theorem 3.1(ii)", "as printed")


def error_bound(n: ArrayLike, p: ArrayLike, beta: ArrayLike) -> Bound:
    """Return α = (1−p) + 2√(p(1−p) ln(2/β)/n) for any p, from the paper's constants or calibrated.

    Parameters
    ----------
    n : array of int
        Users, in [1, 1e12].
    p : array of float
        Probability of a noise bit, in [½, 1].
    beta : array of float
        Failure probability in [1e-300, 1]. Valid while ln(2/β) ≤ (9/4)np(1−p).

    References
    ----------
    Balcer & Cheu 2020, proof of Theorem 3.1(ii); errata hist-B2 and hist-B3.
    """
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("p", p, 0.5, 1.0)
    b = checks.delta(beta, "beta")
    value = 1 - rate + 2 * np.sqrt(rate * (1 - rate) * np.log(2 / b) / users)
    return _bound(value, rate, users, b, "Theorem 3.1(ii), proof", "without the dropped √p")


def simultaneous_error(
    n: ArrayLike, p: ArrayLike, beta: ArrayLike, occupied: ArrayLike | None = None
) -> Bound:
    """Return the bound on the largest error over all bins, however many bins there are.

    Parameters
    ----------
    n, p, beta : array of float
        As in `error_bound`.
    occupied : array of int, optional
        How many values h can occur at all, in [1, 1e12]; n if not given. Empty bins have no error.

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.2(iii) with its constants: β/n, or β/h, in `error_bound`
    (errata hist-B6).
    """
    return error_bound(n, p, _share(n, beta, occupied))


def printed_simultaneous_error(
    eps: ArrayLike,
    delta: ArrayLike,
    n: ArrayLike,
    beta: ArrayLike,
    occupied: ArrayLike | None = None,
) -> Bound:
    """Return `printed_error` at β/n (at β/h if only h values occur): Theorem 3.2(iii)."""
    return printed_error(eps, delta, n, _share(n, beta, occupied))


def _share(n: ArrayLike, beta: ArrayLike, occupied: ArrayLike | None) -> FloatArray:
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    b = checks.delta(beta, "beta")
    if occupied is not None:
        users = np.minimum(users, checks.integers("occupied", occupied, 1, checks.MAX_COUNT))
    return np.maximum(b / users, checks.MIN_DELTA)


def _bound(
    value: FloatArray, p: FloatArray, n: ArrayLike, beta: FloatArray, where: str, note: str
) -> Bound:
    value, p, users, beta = np.broadcast_arrays(value, p, np.asarray(n, dtype=float), beta)
    valid = np.log(2 / beta) <= 2.25 * users * p * (1 - p)
    reason = "" if valid.all() else "ln(2/β) is above (9/4)np(1−p): β is too small for this noise"
    return Bound(value, Role.UPPER, Reference(HISTOGRAMS, where, note), valid, reason)


def count_messages(p: ArrayLike, frequency: ArrayLike = 1.0) -> Any:
    """Return the expected messages of a user of P_zsum, x + p, for users with mean bit x.

    At most 2 are sent, of one bit each (Theorem 3.1(iv)).
    """
    rate = checks.reals("p", p, 0.0, 1.0)
    return scalar_if_0d(rate + checks.reals("frequency", frequency, 0.0, 1.0))


def histogram_messages(p: ArrayLike, d: ArrayLike) -> Any:
    """Return the expected messages of a user of P_hist, 1 + dp; at most 1 + d are sent.

    Parameters
    ----------
    p : array of float
        Probability of a noise bit, in [0, 1].
    d : array of int
        Number of bins, in [1, 1e300].

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.2(iv); errata hist-B5: everyone pays the O(d).
    """
    rate = checks.reals("p", p, 0.0, 1.0)
    return scalar_if_0d(1 + checks.integers("d", d, 1, MAX_DOMAIN) * rate)
