"""User-level metric DP: names of the golden vectors → our functions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from explorer.privacy import spaces, user_metric as um
from explorer.privacy.core import composition
from explorer.privacy.core.bound import running_best
from explorer.studies.base.csv_table import number_field


def _calibrate(constraints):
    return um.alpha_from_requirements(*np.array(constraints, dtype=float).T)


def _calibrate_distances(constraints, dmax):
    epsilon, distance, tau = np.array(constraints, dtype=float).T
    return um.alpha_from_distances(epsilon, distance, tau, dmax)


def _invert(alpha, delta_prime, m, n, mode):
    found = um.theorem44_invert(alpha, delta_prime, m, n, mode)
    return {
        "alpha0": float(found.alpha0),
        "unconstrained": float(found.unconstrained),
        "binding": str(found.binding),
    }


def _closed_form(alpha, delta_prime, m, n):
    found = um.closed_form(alpha, delta_prime, m, n)
    return {
        "alpha0": float(found.alpha0),
        "branch": int(found.branch),
        "L": float(found.log_term),
    }


def _emd_clustered(P, Q, s, t, r):
    return float(spaces.Clustered(s, t, r).emd_of_masses(P, Q))


def _sphere(lat1, lon1, lat2, lon2):
    # The expected numbers subtract the decimals as they are written, not the doubles: for points
    # 1e-6 of a degree apart the doubles' difference is another number in the tenth digit.
    d_latitude, d_longitude = (
        float(Fraction(repr(b)) - Fraction(repr(a))) for a, b in ((lat1, lat2), (lon1, lon2))
    )
    return float(spaces.central_angle(lat1, lat2, d_latitude, d_longitude))


def _emd_sphere(K1, K2, pts):
    points = np.array(pts, dtype=float)
    return spaces.Sphere().emd(points[K1], points[K2])


def _defaults(function, **defaults):
    """Let n and lip default to 1, as the vectors' header says."""

    def call(**arguments):
        return function(**{**defaults, **arguments})

    return call


def _envelope(alpha, delta, m, n, dmin, stronger):
    # The expected numbers are the best over every α, ours the best found: at most 1e-5 less.
    return um.group_alpha0(alpha, delta, m, n, dmin, 1.0, _clones(stronger))


def _clones(stronger):
    return "2023" if stronger else "2021"


def _by_name(error):
    return lambda k, eps, n, mean_square: error(k, eps, n, mean_square)


ADAPTERS = {
    "lp_optimum": um.lp_optimum,
    "one_item_grr_mse": _by_name(um.one_item_grr_mse),
    "one_item_hadamard_mse": _by_name(um.one_item_hadamard_mse),
    "privunit_histogram_mse": _by_name(um.priv_unit_histogram_mse),
    "group_delta_sorted": lambda alpha, alpha0, m, n, dmin, stronger: um.sorted_delta(
        alpha, alpha0, m, n, dmin, 1.0, _clones(stronger)
    ),
    "group_alpha0_sorted": lambda alpha, delta, m, n, dmin, stronger: um.group_alpha0(
        alpha, delta, m, n, dmin, 1.0, _clones(stronger), in_order=True
    ),
    "alpha_calibrate": _calibrate,
    "alpha_calibrate_dist": _calibrate_distances,
    "lipschitz": lambda F, D, p: um.lipschitz(F, D, float(p)),
    "linear_norm_mean": lambda dim, alpha, lip=1, n=1: um.k_norm_mean(dim, alpha, lip, n),
    "linear_coord_absmean": lambda dim, alpha, p, lip=1, n=1: um.k_norm_coordinate_mean(
        dim, alpha, float(p), lip, n
    ),
    "linear_coord_var": lambda dim, alpha, p, lip=1, n=1: um.k_norm_coordinate_variance(
        dim, alpha, float(p), lip, n
    ),
    "linear_l1noise_l2mean": lambda dim, alpha, lip=1, n=1: um.laplace_euclidean_mean(
        dim, alpha, lip, n
    ),
    "linear_norm_quantile": lambda prob, dim, alpha, lip=1, n=1: um.k_norm_quantile(
        prob, dim, alpha, lip, n
    ),
    "gauss_delta": lambda sigma, alpha, dist, lip=1, n=1: um.gaussian_delta(
        sigma, alpha, dist, lip, n
    ),
    "gauss_sigma_paper": lambda alpha, delta, lip=1, n=1: um.gaussian_sigma_printed(
        alpha, delta, lip, n
    ),
    "gauss_sigma_classic": lambda alpha, delta, lip=1, n=1: um.gaussian_sigma_textbook(
        alpha, delta, lip, n
    ),
    "gauss_sigma_analytic": lambda alpha, delta, lip=1, n=1: um.gaussian_sigma(
        alpha, delta, lip, n
    ),
    "gauss_l2_mean": lambda sigma, dim: um.gaussian_euclidean_mean(sigma, dim),
    "lemma62_bound": lambda Fnorm2, dim, alpha, delta, n=1: um.lemma62_bound(
        Fnorm2, dim, alpha, delta, n
    ),
    "f_single": lambda total, alpha0, dist, delta: um.single_item_epsilon(
        total, alpha0, dist, delta
    ),
    "h": um.group_epsilon,
    "validity_limit": um.validity_limit,
    "thm44_h_over_w": um.theorem44_ratio,
    "thm44_alpha": um.theorem44_alpha,
    "thm44_delta_prime": um.theorem44_delta,
    "thm44_delta_prime_tight": um.theorem44_delta_tight,
    "thm44_delta_internal": um.theorem44_delta_inside,
    "thm44_invert": _invert,
    "eq67": _closed_form,
    "eq67_achieved": um.closed_form_achieved,
    "kov_delta": lambda k, eps0, eps: composition.kov_exact_delta(eps, eps0, k),
    "kov_eps0": lambda k, eps, delta: um.per_item_epsilon(k, eps, delta),
    "hs_exact": lambda total, alpha0, dist, eps: um.hop_delta(total, alpha0, dist, eps),
    "eps_exact": lambda total, alpha0, dist, delta: um.hop_epsilon(total, alpha0, dist, delta),
    "group_delta": lambda alpha, alpha0, m, n=1, dmin=0: um.group_delta(
        alpha, alpha0, m, n, min_distance=dmin
    ),
    "group_invert": lambda alpha, delta_prime, m, n=1: um.group_alpha0(alpha, delta_prime, m, n),
    "group_alpha0_plain": lambda alpha, delta, m, n, dmin: um.group_alpha0_at(
        alpha, delta, m, n, dmin
    ),
    "group_alpha0_envelope": _envelope,
    "refuting_delta": lambda alpha, alpha0, m, n, d, moved: um.refuting_delta(
        alpha, alpha0, m, n, d, moved
    ),
    "product_of_hops_delta": lambda k, eps, others, p, t: um.product_of_hops_delta(
        k, eps, others, p, t
    ),
    "product_alpha0": lambda alpha, delta, m, n: um.product_alpha0(alpha, delta, m, n),
    "number_field": number_field,
    "running_max": lambda y: running_best(np.array(y, dtype=float), np.fmax),
    "thm53_alpha": lambda eps, delta, r, s: um.theorem53_alpha(eps, delta, r, s),
    "thm53_alpha_kl": lambda eps, delta, r, s: um.theorem53_alpha_chernoff(eps, delta, r, s),
    "lemma52_exact_tail": um.lemma52_tail,
    "group_privacy_delta": lambda eps, delta, k: um.group_privacy_delta(eps, delta, k),
    "gkrr_abc": lambda s, t, r, alpha0: list(um.gkrr_coefficients(s, t, r, alpha0)),
    "gkrr_inv": lambda s, t, r, alpha0: list(um.gkrr_inverse(s, t, r, alpha0)),
    "gkrr_R": lambda s, t, r, alpha0: 1 + um.gkrr_excess(s, t, r, alpha0),
    "gkrr_RP": lambda s, t, r, alpha0: 1 + um.gkrr_cluster_excess(s, t, r, alpha0),
    "freq_mse": um.gkrr_mse,
    "freq_mse_cluster": um.gkrr_cluster_mse,
    "thm65_bound": _defaults(um.gkrr_emd_bound, printed=True),
    "thm65_tight": um.gkrr_emd_bound,
    "thm66_bound": um.theorem66_bound,
    "thm66_remark": um.theorem66_remark,
    "cor68_remark": um.corollary68_remark,
    "hr_mse": lambda k, eps0, m, n=1: um.hadamard_mse(k, eps0, m, n),
    "hr_eps_paper": lambda eps, m, delta: um.hadamard_epsilon_printed(eps, m, delta),
    "laplace_l1_mean": lambda k, n, eps, right: um.laplace_l1_mean(k, n, eps, printed=not right),
    "improve_local": lambda eps, k, m, delta: um.local_improvement_threshold(eps, k, m, delta),
    "improve_central": lambda eps, k, m, delta: um.central_improvement_threshold(eps, k, m, delta),
    "emd_clustered": _emd_clustered,
    "sphere_dist": _sphere,
    "emd_sphere": _emd_sphere,
}
