"""Histograms in the shuffled model: names of the golden vectors → our functions."""

from __future__ import annotations

from explorer.privacy import histograms as hg


def _protocol(eps, delta, n, beta, d):
    p = hg.printed_p(eps, delta, n)
    return {
        "min_n": int(hg.printed_least_users(eps, delta)),
        "p": p,
        "alpha": hg.printed_error(eps, delta, n, beta).value,
        "alpha_tight": hg.error_bound(n, p, beta).value,
        "alpha_simultaneous": hg.printed_simultaneous_error(eps, delta, n, beta).value,
        "expected_messages": hg.histogram_messages(p, d),
    }


def _error(eps, delta, n, s, alpha):
    p = hg.printed_p(eps, delta, n)
    law = hg.error_law(n, p, s)
    return {
        "tail": hg.error_tail(n, p, s, alpha),
        "bias": law.bias,
        "rmse": law.rmse,
        "pr_zero": law.zero,
    }


ADAPTERS = {
    "bc_protocol": _protocol,
    "bc_error": _error,
    "binom_delta": lambda eps, n, q, adjacency: hg.count_divergences(
        eps, n, q, adjacency
    )._asdict(),
    "hist_delta": hg.histogram_delta,
    "bc_min_noise": lambda eps, delta, n: hg.calibrate(eps, delta, n, "count").noise,
}
