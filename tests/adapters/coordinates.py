"""Bayesian coordinate DP: names of the golden vectors → our functions."""

from __future__ import annotations

import numpy as np

import explorer.privacy.coordinates as co
from tests.vectors import Argmin


def _read(value):
    """Return an argument with the strings "inf" and "-inf" as numbers."""
    if isinstance(value, list):
        return [_read(item) for item in value]
    return float(value) if value in ("inf", "-inf") else value


def _reading(function):
    return lambda **arguments: function(**{name: _read(v) for name, v in arguments.items()})


def _rule(rule):
    return {"opt": "optimal"}.get(rule, rule)


def _combination(c, rule="paper"):
    rows = co.m_mean_combination(c, rule)
    return [None if np.isnan(row).any() else row[: i + 1] for i, row in enumerate(rows)]


def _two_group(d, k, dl, eps, q, mode):
    found = co.best_two_levels(
        d, k, dl, eps, q, constraint={"paper": "paper", "refined": "exact"}[mode]
    )
    return [found.mse, found.c_sensitive, found.c_rest]


def _trust_region(A, b, R):
    found = co.trust_region(A, b, R)

    def objective(theta):
        theta = np.asarray(theta, float)
        return float(0.5 * theta @ np.asarray(A) @ theta - np.asarray(b) @ theta)

    # In the hard case two minimisers tie.
    return [Argmin(found.theta.tolist(), objective), found.multiplier, found.value]


def _priv_unit(d, alpha):
    g, V, square, cross = co.priv_unit_moments(d, alpha)
    return [g, V, square, cross, float(co.m_ldp_second_moment(d, alpha)) / V]


def _finite_levels(sizes, prior, channel):
    ldp, cdp, q = co.ldp_level(channel), co.cdp_levels(sizes, channel), co.coupling(sizes, prior)
    return {
        "ldp": ldp,
        "bdp": co.bdp_level(prior, channel),
        "cdp": cdp,
        "bcdp": co.bcdp_levels(sizes, prior, channel),
        "q": q,
        "certificate": co.best_certificate(cdp, q, ldp),
    }


_FUNCTIONS = {
    "priv_unit": _priv_unit,
    "priv_unit_at": lambda d, alpha, threshold: co.priv_unit_moments(d, alpha, threshold)[1:],
    "mmean_mse_channel": lambda c, x2, n, channel: co.m_mean_mse(x2, c, n, "optimal", channel),
    "design_mse_channel": lambda groups, alphas, x2, n, channel: (
        co.design_mse(len(x2), groups, alphas, x2, channel) / n
    ),
    "finite_levels": _finite_levels,
    "post_processed_bcdp": lambda sizes, prior, channel, kernel: co.bcdp_levels(
        sizes, prior, co.post_processed(channel, kernel)
    ),
    "gamma_ratio": lambda d: co.gamma_ratio(d),
    "mldp_B": lambda d, r, alpha: co.m_ldp_radius(d, r, alpha),
    "mldp_variance": lambda d, r, alpha, v_i: co.m_ldp_variance(v_i, d, r, alpha),
    "mldp_mse": lambda d, r, alpha, norm_v: co.m_ldp_mse(norm_v, d, r, alpha),
    "V": lambda m, alpha: co.m_ldp_second_moment(m, alpha),
    "mldp_positive_prob": lambda alpha, norm_v, r: co.m_ldp_positive_probability(norm_v, r, alpha),
    "mldp_map": lambda v, r, alpha, g, u: co.m_ldp_from_draws(v, r, alpha, g, u),
    "mldp_loss": lambda v, vp, r, alpha: co.m_ldp_loss(v, vp, r, alpha),
    "delta_tilde": lambda delta, eps: co.effective_levels(delta, eps),
    "c_vector": lambda delta, eps, q, zeta: co.budget_vector(delta, eps, q, zeta),
    "c_vector_improved": lambda delta, eps, q, c_top: co.budget_at_total(delta, eps, q, c_top),
    "weights_paper": lambda c: co.m_mean_weights(c, "paper"),
    "weights_opt": lambda c: co.m_mean_weights(c, "optimal"),
    "combine_matrix": _combination,
    "mmean_variances": lambda x, c, rule="paper": co.m_mean_variances(x, c, _rule(rule)),
    "mmean_cov": lambda x, c, rule="paper": co.m_mean_covariance(x, c, _rule(rule)),
    "mmean_combine": lambda c, Y, rule="paper": co.m_mean_combine(c, Y, _rule(rule)),
    "mmean_mse": lambda x2bar, c, n, rule="paper": co.m_mean_mse(x2bar, c, n, _rule(rule)),
    "bound17": lambda c, n: co.theorem2_bound(c, n),
    "r2_theorem3": lambda c: co.theorem3_r2(c),
    "clipped_normal_mse": lambda mu, sigma: co.clipped_normal_mse(mu, sigma),
    "corollary1": lambda n, d, k, delta, eps, q: [
        float(number) for number in co.corollary1_bound(n, d, k, delta, eps, q)
    ],
    "coupling_upper": lambda table, sizes, beta: co.coupling_upper(table, sizes, beta),
    "coupling_upper_counts": lambda cells, counts, sizes, beta: co.coupling_upper_of_counts(
        cells, counts, sizes, beta
    ),
    "prop4_part1": lambda c, q: co.bcdp_from_cdp(c, q),
    "prop4_part2": lambda c, q, eps: co.bcdp_from_cdp_and_ldp(c, q, eps),
    "bcdp_refined": lambda c, q, L: co.best_certificate(c, q, L),
    "prop6_matrix": lambda delta, q: co.linear_budget_matrix(delta, q),
    "prop6_max_scale": lambda delta, q, direction: co.linear_budget_scale(delta, q, direction),
    "bcdp_levels": lambda sizes, prior, channel: co.bcdp_levels(sizes, prior, channel),
    "cdp_levels": lambda sizes, channel: co.cdp_levels(sizes, channel),
    "ldp_level": lambda channel: co.ldp_level(channel),
    "bdp_level": lambda prior, channel: co.bdp_level(prior, channel),
    "tv_q": lambda sizes, prior, suffix=False: co.coupling(sizes, prior, later_only=suffix),
    "compose_bcdp": lambda sizes, prior, channel: co.composed_bcdp_levels(sizes, prior, channel),
    "example1_levels": lambda a, b, c: co.example1_levels(a, b, c),
    "tradeoff_beta": lambda P, Q, alpha: co.tradeoff_beta(P, Q, alpha),
    "tradeoff_bound": lambda delta, alpha: co.tradeoff_bound(delta, alpha),
    "mtilde_bcdp": lambda c, prior: co.m_mean_corner_levels(c, prior),
    "design_cdp": lambda d, subsets, alphas: co.design_cdp(d, subsets, alphas),
    "design_bcdp": lambda d, subsets, alphas, q: co.design_bcdp(d, subsets, alphas, q),
    "design_mse": lambda d, subsets, alphas, x2: co.design_mse(d, subsets, alphas, x2),
    "best_mmean_2group": _two_group,
    "ols_moments": lambda Z1, l1, Z2, l2, symmetrise=True: co.regression_moments(
        Z1, l1, Z2, l2, symmetrise=symmetrise
    ),
    "psd_clip": lambda A: co.psd_clip(A),
    "trust_region": _trust_region,
}

ADAPTERS = {name: _reading(function) for name, function in _FUNCTIONS.items()}
