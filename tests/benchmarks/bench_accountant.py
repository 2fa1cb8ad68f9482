"""The shuffle accountant's speed: study answers, Theorem 3 over T, exact clones."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffle_rdp import (
    clone_epsilon,
    randomised_response_epsilon,
    three_symbol_epsilon,
    three_symbol_round_epsilon,
    upper_rdp_table,
)
from explorer.privacy.shuffling import shuffled_delta, shuffled_epsilon
from explorer.studies.base.study import Result, Scale, Sweep, default_request
from explorer.studies.registry import get_study
from tests.benchmarks.table import Row, at_least, at_most, sized
from tests.studies.context import Context


def _median(function: Callable[[], object], repeats: int) -> float:
    if sized(True, False):  # warm
        function()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def _answers(request: Any, context: Context) -> list[tuple[Result, float]]:
    """Return each answer with the milliseconds it took."""
    study = get_study("shuffle-rdp")
    out, start = [], time.perf_counter()
    for result in study.answer(request, context):
        out.append((result, 1e3 * (time.perf_counter() - start)))
        start = time.perf_counter()
    return out


def _study() -> list[Row]:
    """Sweep each axis at 100 points, λ to 512, at Figure 2(a)'s values, as a dragged slider does.

    T and δ are dragged while the other is swept, so the round itself stays the same and the first
    answer has every curve but the exact compositions, which trail; of ε₀, k, n and γ nothing can
    be kept, for every answer is asked of a fresh host.
    """
    rows = []
    base = replace(default_request(get_study("shuffle-rdp")), quantity="eps")
    context = Context()
    for axis, low, high, dragged in (("T", 1, 1e6, "delta"), ("delta", 1e-12, 1e-4, "T"))[
        : sized(None, 1)
    ]:
        request = replace(base, sweep=Sweep(axis, low, high, sized(100, 3), Scale.LOG))
        values = np.geomspace(1e-9, 1e-8, 21) if dragged == "delta" else np.arange(90_000, 90_021)
        times = []
        for value in values[: sized(21, 2)]:
            moved = request.with_value(dragged, value.item())
            times.append(_answers(moved, context)[0][1])
        rows.append(
            at_most(
                f"study: sweep {axis}, {dragged} dragged, first answer, 100 points",
                statistics.median(times[1:]),
                5.0,
                "ms",
                f"worst {max(times[1:]):.1f}",
            )
        )
    for axis, low, high in (
        ("T", 1, 1e6),
        ("delta", 1e-30, 0.1),
        ("eps0", 0.01, 10),
        ("k", 1, 1e6),
        ("n", 1e3, 1e9),
        ("gamma", 1e-6, 1.0),
    )[: sized(None, 1)]:
        request = replace(base, sweep=Sweep(axis, low, high, sized(100, 3), Scale.LOG))
        first, last = [], []
        for _ in range(sized(3, 1)):
            answers = _answers(request, sized(Context(), context))
            first.append(answers[0][1])
            last.append(sum(spent for _, spent in answers))
        rows.append(at_most(f"study: sweep {axis}, coarse", statistics.median(first), 50.0, "ms"))
        rows.append(
            at_most(
                f"study: sweep {axis}, everything refined", statistics.median(last), 1000.0, "ms"
            )
        )
    return rows


def _theorem3() -> list[Row]:
    T = np.geomspace(1, 1e6, 100).round()
    orders = orders_up_to(512)

    def sweep() -> object:
        return epsilon_from_rdp(upper_rdp_table(2.0, 1000, 10**6, 512), orders, T, 1e-8)

    return [at_most("Theorem 3: 100 values of T, orders 2…512", _median(sweep, 50), 1.3, "ms")]


def _double_sum(eps: float, eps0: float, k: int) -> float:
    """δ at ε as the 2021 paper writes it, E_C[u₁S(a−1) − u₂S(a)], each tail summed on its own.

    Vectorised over the summands, and over the C within 12 standard deviations of their mean.
    """
    beta, e, e0 = 1 / (math.exp(eps0) + 1), math.exp(eps), math.exp(eps0)
    u1, u2 = beta * (e0 - e), beta * (e * e0 - 1)
    tau = (e * e0 - 1) / ((e + 1) * (e0 - 1))
    pc = 1 / e0
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, k + 1)))])
    mean, spread = (k - 1) * pc, math.sqrt((k - 1) * pc * (1 - pc))
    low = max(0, math.floor(mean - 12 * spread))
    high = min(k - 1, math.ceil(mean + 12 * spread))
    total = 0.0
    for c in range(low, high + 1):
        weight = math.exp(
            log_factorial[k - 1]
            - log_factorial[c]
            - log_factorial[k - 1 - c]
            + c * math.log(pc)
            + (k - 1 - c) * math.log1p(-pc)
        )
        a = math.floor((c + 1) * tau) + 1
        i = np.arange(max(a - 1, 0), c + 1)
        pmf = np.exp(log_factorial[c] - log_factorial[i] - log_factorial[c - i] - c * math.log(2))
        tail = float(pmf.sum())
        total += weight * (u1 * tail - u2 * (tail - float(pmf[0]) if a >= 1 and i.size else tail))
    return total


def _clones() -> list[Row]:
    rows = []
    for k, limit in ((10**4, 1.5), (10**6, 9.0)):
        spent = _median(lambda k=k: shuffled_epsilon(1.0, k, 1e-6), 15)
        rows.append(at_most(f"exact clones: ε at δ, ε₀ = 1, k = {k:,}", spent, limit, "ms"))
    k, eps0 = sized(10**6, 10**4), 4.0
    eps = float(shuffled_epsilon(eps0, k, 1e-6))
    start = time.perf_counter()
    theirs = _double_sum(eps, eps0, k)
    slow = 1e3 * (time.perf_counter() - start)
    ours = float(shuffled_delta(eps, eps0, k))
    assert abs(theirs / ours - 1) < 1e-6, (theirs, ours)
    fast = _median(lambda: shuffled_delta(eps, eps0, k), 15)
    rows.append(
        at_least(
            f"exact clones: δ at ε against the 2021 double sum, k = {k:,}",
            slow / fast,
            20.0,
            "×",
            f"{slow:.0f} ms against {fast:.2f} ms",
        )
    )
    return rows


def _composed() -> list[Row]:
    """Compose certified, the law of a round included: at Figure 2 (a), few rounds, a tiny δ."""
    rows = []
    for name, arguments in (
        ("Figure 2 (a)", (2.0, 10**3, 10**6, 10**5, 1e-8)),
        ("10 rounds", (2.0, 10**3, 10**6, 10, 1e-8)),
        ("δ = 1e-200", (2.0, 10**3, 10**6, 10**5, 1e-200)),
        ("two messages a round", (2.0, 2, 100, 20_000, 1e-6)),
    ):
        for what, bound, limit in (
            ("clones", clone_epsilon, 100.0),
            ("2RR", randomised_response_epsilon, 100.0),
            ("3RR", three_symbol_epsilon, 500.0),
        ):
            spent = _median(lambda bound=bound, a=arguments: bound(*a), 9)
            rows.append(at_most(f"composed {what}, certified: {name}", spent, limit, "ms"))
    for k, eps0 in ((10**3, 2.0), (10**6, 2.0), (10**9, 1.0)):
        spent = _median(lambda k=k, e=eps0: three_symbol_round_epsilon(e, k, k, 1e-8), 9)
        rows.append(at_most(f"one round of 3RR: ε at δ, k = {k:,}", spent, 20.0, "ms"))
    return rows


def run() -> list[Row]:
    """Measure everything of this topic."""
    return [*_theorem3(), *_clones(), *_composed(), *_study()]
