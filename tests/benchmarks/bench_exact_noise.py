"""Exact noise and the shuffle-model protocol, beside the published algorithms one draw at a time.

The peers are Algorithms 1–3 of Canonne, Kamath and Steinke 2020 with Python's fractions and
`secrets`, draw by draw; for the protocol a user's loop over cells and shares; for Pólya noise a sum
over users who each invert their law in floating point with scipy.
"""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import stats

from explorer.privacy.heatmaps import k_median
from explorer.privacy.heatmaps.shuffle_parameters import (
    ShufflePlan,
    deficient_epsilon,
    shuffle_plan,
)
from explorer.privacy.heatmaps.shuffle_protocol import (
    analyse,
    randomise,
    shuffle,
    simulate,
    user_vectors,
)
from explorer.privacy.noise.bits import SeededBits, SystemBits
from explorer.privacy.noise.exact import discrete_gaussian, discrete_laplace, polya
from tests.benchmarks.table import Row, at_least, at_most, sized


def _median(call: Callable[[], object], repeats: int = 5) -> float:
    """Seconds."""
    if sized(True, False):  # warm
        call()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _bernoulli(p: Fraction) -> bool:
    return secrets.randbelow(p.denominator) < p.numerator


def _bernoulli_exp(gamma: Fraction) -> bool:
    while gamma > 1:
        if not _bernoulli_exp(Fraction(1)):
            return False
        gamma -= 1
    k = 1
    while _bernoulli(gamma / k):
        k += 1
    return k % 2 == 1


def _one_laplace(scale: Fraction) -> int:
    t, s = scale.numerator, scale.denominator
    while True:
        u = secrets.randbelow(t)
        if not _bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while _bernoulli_exp(Fraction(1)):
            v += 1
        y = (u + t * v) // s
        negative = secrets.randbelow(2) == 1
        if not (negative and y == 0):
            return -y if negative else y


def _one_gaussian(variance: Fraction) -> int:
    t = int(variance.numerator**0.5 / variance.denominator**0.5) + 1
    while True:
        y = _one_laplace(Fraction(t))
        if _bernoulli_exp((abs(y) - variance / t) ** 2 / (2 * variance)):
            return y


def _one_user(z: np.ndarray, plan: ShufflePlan) -> list[tuple[int, int]]:
    """A user's messages cell by cell and share by share, noise left out."""
    messages = []
    for cell, value in enumerate(z.tolist()):
        total = 0
        for _ in range(plan.sent.shares - 1):
            share = secrets.randbelow(plan.modulus)
            total += share
            messages.append((cell, share))
        messages.append((cell, (value - total) % plan.modulus))
    return messages


def run() -> list[Row]:
    bits = SystemBits()
    n, few = sized((100_000, 2000), (1000, 20))
    # B = 2²⁰ and ε a multiple of 2⁻⁴⁰, as in a release; and a small scale.
    release, small = Fraction(2**60, 353_260_000_001), Fraction(10)
    rows = []
    for name, scale in (("B/ε of a release", release), ("10", small)):
        ours = _median(lambda scale=scale: discrete_laplace(scale, n, bits))
        peer = _median(lambda scale=scale: [_one_laplace(scale) for _ in range(few)], 3)
        rows += [
            at_most(f"1e5 exact discrete Laplace draws, scale {name}", ours, 1.0, "s"),
            at_least("  faster than one rejection at a time", peer * n / few / ours, 10.0, "×"),
        ]
    for name, variance in (("100", Fraction(100)), ("2^40", Fraction(2**40))):
        ours = _median(lambda variance=variance: discrete_gaussian(variance, n, bits), 3)
        peer = _median(lambda variance=variance: [_one_gaussian(variance) for _ in range(few)], 3)
        rows += [
            at_most(f"1e5 exact discrete Gaussian draws, σ² = {name}", ours, 2.0, "s"),
            at_least("  faster than one rejection at a time", peer * n / few / ours, 5.0, "×"),
        ]
    seeded = SeededBits(np.random.default_rng(1))
    floating = _median(lambda: stats.laplace.rvs(size=n, random_state=1))
    rows.append(
        Row(
            "  times as long as floating-point Laplace noise",
            _median(lambda: discrete_laplace(release, n, seeded)) / floating,
            None,
            "×",
            None,
            "which is not private",
        )
    )
    share, rate = Fraction(1, 50), Fraction(32, 100 * 2**20)
    exact = _median(lambda: polya(share, rate, n, bits))
    p = -np.expm1(-float(rate))
    inverted = _median(lambda: stats.nbinom.ppf(np.random.default_rng(1).random(few), 1 / 50, p), 3)
    rows += [
        at_most("1e5 exact Pólya shares, n = 50, B = 2^20", exact, 1.0, "s"),
        at_least("  faster than inverting in floating point", inverted * n / few / exact, 1.0, "×"),
    ]
    return rows + _protocol()


def _protocol() -> list[Row]:
    rng, users = np.random.default_rng(2), 50
    parts = (*([Fraction(0)] * 2), *(Fraction(1, i) for i in (1, 2, 3)))
    plan = shuffle_plan(parts, users, 256, 1e-5)
    user = rng.integers(0, users, 1000)
    z = user_vectors(user, rng.integers(0, 256, 1000), np.ones(1000, np.int64), plan)
    bits = SystemBits()
    first = _median(lambda: randomise(z, plan, bits), 3)
    sent = randomise(z, plan, bits)
    second = _median(lambda: shuffle(sent, bits), 3)
    third = _median(lambda: analyse(sent, plan), 3)
    peer = _median(lambda: _one_user(z[0], plan), 3) * len(z)
    short = _median(lambda: simulate(z, plan, bits))
    messages = len(sent.cells)
    missing = np.linspace(0, 1, 100)
    curve = _median(lambda: deficient_epsilon(0.32, 2**20, missing, 16), 20)
    points = rng.random((2000, 2))
    return [
        Row("shuffle protocol, messages", messages, None, "", None, f"{users} users, Δ = 16"),
        Row("  randomise (noise and shares)", 1e9 * first / messages, None, "ns/message", None),
        at_least("    faster than one share at a time", peer / first, 5.0, "×"),
        Row("  shuffle", 1e9 * second / messages, None, "ns/message", None),
        Row("  analyse", 1e9 * third / messages, None, "ns/message", None),
        at_least(
            "  all three against sums without messages", (first + second + third) / short, 2.0, "×"
        ),
        at_most("level with missing noise, 100 points", 1e3 * curve, 8.0, "ms"),
        Row(
            "k-median, 2000 points, k = 10",
            1e3 * _median(lambda: k_median(points, np.ones(2000), 10, rng), 3),
            None,
            "ms",
            None,
        ),
    ]
