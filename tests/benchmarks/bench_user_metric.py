"""User-level metric DP: theorem curves, exact hops, calibration and samplers, beside peers."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Clustered
from tests.benchmarks.table import Row, at_least, at_most, sized


def _median(call: Callable[[], object], repeats: int = 7) -> float:
    """Milliseconds."""
    call()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def _double_sum(total: int, a0: float, epsilon: float) -> float:
    """The hockey-stick divergence at distance 1, term by term over (N, B)."""
    p, kappa = math.exp(-a0), math.tanh(epsilon / 2) / math.tanh(a0 / 2)
    N = np.arange(1, total + 1)
    weight = (
        gammaln(total + 1)
        - gammaln(N + 1)
        - gammaln(total - N + 1)
        - N * a0
        + (total - N) * math.log1p(-p)
    )
    out = 0.0
    for n, w in zip(N.tolist(), weight.tolist(), strict=True):
        i = np.arange(math.ceil(n * (1 - kappa) / 2))
        log_fair = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1) - n * math.log(2)
        out += math.exp(w) * float((np.exp(log_fair) * (n * (1 - kappa) - 2 * i)).sum())
    return math.tanh(a0 / 2) * (1 + math.exp(epsilon)) / (total * p) * out


def _inverted_one_by_one(alphas: np.ndarray) -> list[float]:
    """Theorem 4.4 (simple rule) by a root finder for each point."""

    def excess(log_a0: float, alpha: float) -> float:
        a0 = math.exp(log_a0)
        log_term = math.log(4e3) + 12 * math.log(10) + alpha
        root = math.sqrt(1e3 * math.exp(a0) * log_term / 1e5)
        return 4 * a0 * (root + math.exp(a0) / 1e5) - alpha

    return [math.exp(brentq(excess, -20, 3, (a,), xtol=1e-13)) for a in alphas.tolist()]


def run() -> list[Row]:
    rng = np.random.default_rng(1)
    a0 = np.linspace(0.01, 3, 200)
    alphas = np.linspace(0.1, 50, sized(200, 4))
    curve = _median(lambda: um.theorem44_alpha(a0, 1000, 1e-20, 1e5), 50)
    inverse = _median(lambda: um.theorem44_invert(alphas, 1e-12, 1000, 1e5), 50)
    single = _median(lambda: _inverted_one_by_one(alphas), 3)
    hop = _median(lambda: um.hop_delta(1000, 1.0, 1.0, 0.2), 50)
    far = _median(lambda: um.hop_delta(10**6, 2.0, 1.0, 0.01), 20)
    direct = _median(lambda: _double_sum(1000, 1.0, 0.2), 3)
    local = _median(lambda: um.group_alpha0(25, 1e-12, 1000))
    central = _median(lambda: um.group_alpha0(25, 1e-12, 1000, 1e5), 3)
    coarse = _median(lambda: um.group_alpha0_estimate(25, 1e-12, 1000, 1e5), 20)
    space = Clustered(10, 20, 0.1)
    items = rng.integers(0, 200, sized(10**6, 1000))
    mechanism, hadamard = um.GKRR(space, 2.0), um.HadamardResponse(200, 2.0)
    return [
        at_most("Theorem 4.4, α of 200 α₀", curve, 0.1, "ms"),
        at_most("Theorem 4.4 inverted, 200 α", inverse, 1.0, "ms"),
        at_least("  faster than scipy's brentq point by point", single / inverse, 1.0, "×"),
        at_most("exact hockey-stick of one hop, 1e3 items", hop, 0.5, "ms"),
        at_least("  faster than the double sum", direct / hop, 20.0, "×"),
        at_most("exact hockey-stick of one hop, 1e6 items", far, 6.0, "ms"),
        at_most("exact calibration, local, m = 1e3", local, 6.0, "ms"),
        at_most("exact calibration, central, m = 1e3, n = 1e5", central, 2000.0, "ms"),
        Row("  its estimate, for a slider", coarse, None, "ms", None),
        Row(
            "exact calibration, 200 α, central, n = 1e5",
            _median(lambda: um.group_alpha0(alphas, 1e-12, 1000, 1e5), 1),
            None,
            "ms",
            None,
        ),
        Row(
            "GKRR, 1e6 answers", _median(lambda: mechanism.answer(items, rng), 3), None, "ms", None
        ),
        Row(
            "Hadamard response, 1e6 answers",
            _median(lambda: hadamard.answer(items, rng), 3),
            None,
            "ms",
            None,
        ),
        Row(
            "K-norm noise, p = 3, 1e5 × 10",
            _median(lambda: um.k_norm_noise(100_000, 10, 1.0, 3.0, rng), 3),
            None,
            "ms",
            None,
        ),
    ]
