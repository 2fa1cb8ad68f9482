"""Shuffled histograms and compositions of few rounds, beside direct sums and convolutions."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from explorer.privacy import coordinates as co, histograms, shuffle_rdp
from explorer.privacy.core import composition
from explorer.privacy.core.bound import Role
from tests.benchmarks.table import Row, at_least, at_most, sized


def _median(call: Callable[[], object], repeats: int = 5) -> float:
    """Milliseconds."""
    if sized(True, False):  # warm
        call()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def _pairs(eps: float, n: int, q: float) -> float:
    """The histogram's δ as the definition writes it, over all pairs of counts of two bins."""
    y = np.arange(n + 1)
    log_pmf = (
        gammaln(n + 1)
        - gammaln(y + 1)
        - gammaln(n - y + 1)
        + y * math.log(q)
        + (n - y) * math.log1p(-q)
    )
    here = np.append(np.exp(log_pmf), 0.0)
    up = np.append(0.0, np.exp(log_pmf))
    gain = up[:, None] * here - math.exp(eps) * here[:, None] * up
    return float(gain[gain > 0].sum())


def _convolved(loss: shuffle_rdp.RoundLoss, eps: float, T: int, cells: int = 2000) -> float:
    """δ of T rounds by one plain Fourier transform of the losses, mass split to its neighbours."""
    mass = loss.mass * (1 + loss.excess)
    width = math.sqrt(float(mass @ loss.log_ratio**2)) / cells
    low = math.floor(loss.log_ratio.min() / width)
    place = loss.log_ratio / width - low
    i = np.floor(place).astype(int)
    size = int(place.max()) + 3
    law = np.bincount(i, mass * (1 - place + i), size)
    law += np.bincount(i + 1, mass * (place - i), size)
    points = 1 << math.ceil(math.log2(size * T + 1))
    total = np.fft.irfft(np.fft.rfft(law, points) ** T, points)
    at = (np.arange(points) + T * low) * width
    above = at > eps
    return float(np.sum(total[above] * -np.expm1(eps - at[above])))


def run() -> list[Row]:
    """Measure everything of this topic."""
    n, q = 1000, 0.0437
    ours = _median(lambda: histograms.histogram_delta(1.0, n, q), 20)
    theirs = _median(lambda: _pairs(1.0, n, q), 3)
    direct, exact = _pairs(1.0, n, q), histograms.histogram_delta(1.0, n, q)
    assert abs(direct / exact - 1) < 1e-6, (direct, exact)
    rows = [
        at_most("exact δ of a histogram, n = 1000", ours, 1.0, "ms"),
        at_least("  faster than all pairs of counts", theirs / ours, 20.0, "×"),
    ]
    for eps, delta, users in (
        (1.0, 1e-6, 10**4),
        (1e-3, 1e-6, 10**9),
        (1e-5, 1e-6, 10**12),
    )[: sized(None, 1)]:
        rows.append(
            at_most(
                f"calibrate a histogram, ε = {eps:g}, δ = {delta:g}, n = {users:.0e}",
                _median(lambda e=eps, d=delta, u=users: histograms.calibrate(e, d, u), 3),
                2000.0,
                "ms",
            )
        )
    rows += [
        at_most(
            "fewest users of a histogram, ε = 1e-5, δ = 1e-6",
            _median(lambda: histograms.least_users(1e-5, 1e-6), 3),
            2000.0,
            "ms",
        ),
        at_most(
            "samples of support identification, ε = 1e-3, h = 100",
            _median(lambda: histograms.exact_samples(1e-3, 1e-6, 100), 3),
            2000.0,
            "ms",
        ),
        at_most(
            "strong composition, exact, T = 1e9",
            _median(lambda: composition.kov_exact_epsilon(0.01, 10**9, 1e-8), 3),
            2000.0,
            "ms",
        ),
    ]
    loss = shuffle_rdp.clone_loss(2.0, 1000, 10**6)
    rounds = shuffle_rdp.Composition(loss, Role.UPPER)
    eps = rounds.epsilon(1e-6, 10).value
    fast = _median(lambda: rounds.epsilon(1e-6, 10), 9)
    slow = _median(lambda: _convolved(loss, eps, 10), 3)
    assert abs(_convolved(loss, eps, 10) / 1e-6 - 1) < 1e-2
    rows += [
        at_most("ε of 10 rounds of clones, certified", fast, 100.0, "ms"),
        at_least("  faster than one plain convolution at one ε", slow / fast, 1.0, "×"),
        at_most(
            "ε of 10 rounds of clones at δ = 1e-200, law included",
            _median(lambda: shuffle_rdp.clone_epsilon(2.0, 1000, 10**6, 10, 1e-200), 3),
            2000.0,
            "ms",
        ),
    ]
    channels = sized(200, 5)
    levels = np.random.default_rng(0).uniform(0.1, 3.0, channels)
    subsets = [(i,) for i in range(channels)]
    water = _median(lambda: co.best_disjoint_levels(levels, 4.0, 0.05, subsets), 3)
    convex = _median(lambda: co.best_disjoint_levels(levels, 4.0, 0.05, subsets, "cvxpy"), 1)
    return [
        *rows,
        at_most("best levels of 200 disjoint channels", water, 1000.0, "ms"),
        at_least("  faster than cvxpy on the same problem", convex / water, 1.0, "×"),
    ]
