"""Sample complexity of support identification: Claim 3.4 with its constants.

Every value of an unknown support H of size h must occur 2t+1 times, where t bounds all errors of
the histogram in counts; each of the two events may fail with probability 1/200.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import lower_tail, point, stirling_error, upper_tail
from explorer.privacy.core.vectorised import columns, vectorised
from explorer.privacy.histograms.calibration import Query, calibrate, least_users
from explorer.privacy.histograms.protocol import printed_least_users, printed_noise

FAILURE = 1 / 200
MAX_SUPPORT = 1e6
MAX_SAMPLES = 1e15
_MAX_EXACT = 1e7
_MIN_DELTA = 1e-290
_SEARCHED = 1e6


class Samples(NamedTuple):
    """Sample size and error bound of a support identification.

    Attributes
    ----------
    n : float or ndarray
        Users; infinite where 1e15 (1e12 by exact calibration) are too few.
    t : float or ndarray
        Bound on all errors, in counts; bins with an estimate of at least (t+1)/n are returned.
    """

    n: Any
    t: Any

    @property
    def copies(self) -> Any:
        """Occurrences required of every value of the support: 2t + 1."""
        return 2 * self.t + 1


def missing_probability(n: float, h: float, k: float) -> float:
    """Return the probability that one of h equally likely values occurs fewer than k times.

    Parameters
    ----------
    n, h, k : float
        Samples in [0, 1e15], values in [1, 1e6], occurrences in [1, 1e15]; whole numbers.

    Returns
    -------
    float
        Exact (to about 1e-10) for h ≤ 2 or n ≤ 1e7, the union bound h·Pr[Bin(n, 1/h) < k] beyond.

    Notes
    -----
    The counts are independent Poisson variables given their sum; the law of the sum of those that
    are at least k comes from one Fourier transform around its mean.
    """
    samples = float(checks.integers("n", n, 0, MAX_SAMPLES))
    values = float(checks.integers("h", h, 1, MAX_SUPPORT))
    occurrences = float(checks.integers("k", k, 1, MAX_SAMPLES))
    return _missing(samples, values, occurrences)


def _missing(n: float, h: float, k: float) -> float:
    if n < h * k:
        return 1.0
    if h == 1:
        return 0.0
    union = h * lower_tail(k - 1, n, 1 / h)
    if h == 2:
        return min(1.0, union)
    # That none is missing has a chance of at most e^−union: counts are negatively associated.
    if n > _MAX_EXACT or union < 1e-9 or union > 25:
        return min(1.0, union)
    mean = n / h
    size = 1 << math.ceil(math.log2(40 * math.sqrt(n) + 256))
    x = np.arange(max(k, math.floor(mean - 40 * math.sqrt(mean))), mean + 40 * math.sqrt(mean) + 99)
    # ln of the Poisson law, from Stirling's error so that no digits go.
    logs = x * np.log(mean / x) + x - mean - 0.5 * np.log(2 * math.pi * x) - stirling_error(x)
    folded = np.bincount((x % size).astype(np.int64), weights=np.exp(logs), minlength=size)
    law = np.fft.irfft(np.fft.rfft(folded) ** h, size)
    at_n = math.exp(-0.5 * math.log(2 * math.pi * n) - float(stirling_error(n)))
    return min(1.0, max(0.0, 1.0 - float(law[int(n % size)]) / at_n))


def least_samples(h: float, k: float, failure: float = FAILURE) -> float:
    """Return the least n for which each of h equally likely values occurs k times or more.

    Parameters
    ----------
    h, k : float
        Values in [1, 1e6], occurrences in [1, 1e15]; whole numbers.
    failure : float
        Probability in [1e-9, 1) with which it may fail.

    Returns
    -------
    float
        A whole number, exact up to n = 1e7 and by the union bound (a little too large) beyond;
        infinite beyond 1e15.

    References
    ----------
    Balcer & Cheu 2020, Claim 3.4's coupon collector; errata hist-A3: O(kh log h) is loose.
    """
    values = float(checks.integers("h", h, 1, MAX_SUPPORT))
    occurrences = float(checks.integers("k", k, 1, MAX_SAMPLES))
    allowed = float(checks.reals("failure", failure, 1e-9, 1 - 1e-9))
    low, high = values * occurrences - 1, values * occurrences
    step = max(1.0, math.floor(math.sqrt(high)))
    while high <= MAX_SAMPLES and _missing(high, values, occurrences) > allowed:
        low, high = high, high + step
        step *= 2
    if high > MAX_SAMPLES:
        return math.inf
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        if _missing(middle, values, occurrences) > allowed:
            low = middle
        else:
            high = middle
    return float(high)


def printed_samples(eps: ArrayLike, delta: ArrayLike, h: ArrayLike) -> Samples:
    """Return Claim 3.4's sample complexity with the paper's constants and exact coupon collecting.

    Parameters
    ----------
    eps, delta : array of float
        At which P_hist is *run*, ε in (0, 1], δ in [1e-300, 1]: it is (2ε, 2δ)-DP (errata hist-A1).
        For δ²⁵ > 1/(200h) the error bound is not proved and the result is infinite (errata
        hist-A2).
    h : array of int
        Size of the support, in [1, 1e6]; the domain may be of any size.

    References
    ----------
    Balcer & Cheu 2020, Claim 3.4; errata hist-A2, hist-A3.
    """
    e = checks.reals("eps", eps, 0.0, 1.0, open_low=True)
    d = checks.delta(delta)
    values = checks.integers("h", h, 1, MAX_SUPPORT)
    return Samples(*columns(vectorised(_printed_samples, row=2)(e, d, values)))


def _printed_samples(eps: float, delta: float, h: float) -> tuple[float, float]:
    noise = printed_noise(eps, delta)
    if not noise < MAX_SAMPLES:
        return math.inf, math.inf
    # √(200 ln(2/δ) ln(2/β))/ε = 2√(noise·ln(2/β)), β = 1/(200h).
    t = math.ceil(noise + 2 * math.sqrt(noise * math.log(400 * h)))
    proved = 25 * math.log(delta) <= -math.log(200 * h)
    if not proved or 2 * t + 1 > MAX_SAMPLES:
        return math.inf, t
    return max(least_samples(h, 2 * t + 1), printed_least_users(eps, delta)), t


def noise_radius(n: ArrayLike, q: ArrayLike, beta: ArrayLike) -> Any:
    """Return the least whole r with Pr[|W − nq| > r] ≤ β for W ~ Bin(n, q), exactly.

    Parameters
    ----------
    n : array of int
        In [1, 1e12].
    q : array of float
        In [0, 1].
    beta : array of float
        In [1e-300, 1].
    """
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("q", q, 0.0, 1.0)
    allowed = checks.delta(beta, "beta")
    return vectorised(_radius)(users, rate, allowed)


def _radius(n: float, q: float, beta: float) -> float:
    mean = n * q
    if q in (0.0, 1.0):
        return 0.0
    # Where a normal law, with its third moment, would have it, and a little more.
    z = math.sqrt(2) * _erfc_inverse(beta)
    guess = z * math.sqrt(mean * (1 - q)) + abs(1 - 2 * q) * (z * z - 1) / 6
    r, step = float(max(math.ceil(guess), 0)) + 1, 1.0
    while True:
        low, high = math.ceil(mean - r), math.floor(mean + r)
        beyond = lower_tail(low - 1, n, q) + upper_tail(high + 1, n, q)
        if beyond <= beta:
            break
        r, step = r + step, 2 * step
    # Inwards, a value of W from either side at a time: nothing cancels.
    odds = q / (1 - q)
    below, above = point(low, n, q), point(high, n, q)
    while r > 0:
        beyond += below + above
        if beyond > beta:
            break
        # From one value to the next by their ratio, except from below the smallest doubles.
        sound = below > _MIN_DELTA, above > _MIN_DELTA
        below = below * (n - low) / (low + 1) * odds if sound[0] else point(low + 1, n, q)
        above = above * high / (n - high + 1) / odds if sound[1] else point(high - 1, n, q)
        r, low, high = r - 1, low + 1, high - 1
    return r


def _erfc_inverse(value: float) -> float:
    """Return about the x ≥ 0 with erfc(x) = value, for values in (0, 1]."""
    x = math.sqrt(max(-math.log(value), 0.0))
    for _ in range(3):
        # erfc(x) ≈ 2e^−x²/(√π(x + √(x² + 1.6))), within 2 %.
        x = math.sqrt(
            max(-math.log(value * math.sqrt(math.pi) / 2 * (x + math.sqrt(x * x + 1.6))), 0.0)
        )
    return x


def exact_samples(eps: ArrayLike, delta: ArrayLike, h: ArrayLike) -> Samples:
    """Return the sample complexity of Claim 3.4's protocol with noise calibrated exactly.

    Parameters
    ----------
    eps, delta : array of float
        Target of the release: ε in [0, 800], δ in [1e-300, 1].
    h : array of int
        Size of the support, in [1, 1e6].

    Returns
    -------
    Samples
        An n for which the protocol's own argument holds, the least one up to about 1e6 and,
        found in steps of 0.2 %, close above it beyond; t is the noise plus the exact radius
        of the binomial at β = 1/(200h).
    """
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON)
    d = checks.delta(delta)
    values = checks.integers("h", h, 1, MAX_SUPPORT)
    return Samples(*columns(vectorised(_exact_samples, row=2)(e, d, values)))


def calibrated_error(eps: float, delta: float, n: float, h: float) -> tuple[float, float]:
    """Return t and p of an exactly calibrated histogram of n users with h occupied bins."""
    calibration = calibrate(eps, delta, n, Query.HISTOGRAM)
    if not calibration.feasible:
        return math.inf, float(calibration.p)
    radius = noise_radius(n, 1 - calibration.p, FAILURE / h)
    return math.ceil(calibration.noise + radius), float(calibration.p)


def _exact_samples(eps: float, delta: float, h: float) -> tuple[float, float]:
    # t falls with n and the n that t asks for falls with t: from below, the first n that suffices
    # for its own t is the least.
    n = max(float(least_users(eps, delta, Query.HISTOGRAM)), h)
    t = math.inf
    # Far more users than needed give the least t there is; its n is a start nearer the end.
    if n < checks.MAX_COUNT:
        t, _ = calibrated_error(eps, delta, checks.MAX_COUNT, h)
        n = max(n, least_samples(h, 2 * t + 1))
    while n < checks.MAX_COUNT:
        t, _ = calibrated_error(eps, delta, n, h)
        needed = least_samples(h, 2 * t + 1)
        if needed <= n:
            return n, t
        # Where a calibration is slow, a little more than needed ends the search.
        n = needed if needed < _SEARCHED else math.ceil(needed * 1.002)
    return math.inf, t
