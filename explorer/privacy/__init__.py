"""What is true: pure functions. No Qt, no files, no clock, no global random state.

The mathematics of five papers as one library. Names can be had from here, and everything else from
its package; nothing is imported before it is used.

==================  ===================================================================
`shuffle_rdp`       Rényi DP of the subsampled shuffle model, its comparators, convergence
`histograms`        counts and histograms in the shuffled model, calibrated exactly
`user_metric`       metric DP for a user's whole data, under the earth mover's distance
`coordinates`       Bayesian coordinate DP: budgets, certificates, mechanisms, regression
`heatmaps`          private heatmaps: pyramid, reconstruction, clustering, shuffle protocol
`learning`          learning from shuffled, locally private gradients
`spaces`            metric spaces, each with its earth mover's distance
`transport`         earth mover's distance on grids, exact and in brackets
`amplification`     privacy amplification by shuffling: clones, closed form and exact
`composition`       strong composition (Kairouz, Oh & Viswanath)
`divergences`       Rényi and hockey-stick divergences and their conversion
`subsampling`       amplification by sampling
`noise`             noise for studies, from numpy generators or counters
`exact_noise`       noise for releases, from integers and the system's randomness (`bits`)
`odds`              how well an observer can tell two cases apart, of pairs of laws that are known
`audit`             lower bounds on ε from samples
==================  ===================================================================

Arrays in, arrays out: scalar parameters broadcast. A number outside its domain raises a
`ValueError` that names the parameter, the value and the domain. Where a number holds only under
conditions, or is one side of another, it comes as a `Bound` with its role, validity and source:
the functions of each package's `claims`, `heatmaps.theory` and `learning.guarantees`.

Examples
--------
ε of 10⁵ rounds of shuffled local reports (Theorem 3), from above exactly, and from below:

>>> from explorer.privacy import clone_epsilon, randomised_response_epsilon, upper_epsilon
>>> rounds = dict(eps0=2.0, k=1000, n=10**6, T=10**5, delta=1e-8)
>>> round(float(upper_epsilon(**rounds).epsilon), 4)
1.0402
>>> above, below = clone_epsilon(**rounds), randomised_response_epsilon(**rounds)
>>> round(float(above.value), 3), str(above.role), round(float(below.value), 3), str(below.role)
(0.208, 'upper bound', 0.108, 'lower bound')

The largest α₀ of one item that keeps a user's thousand items (25, 1e-12)-private among 10⁵ users,
and the noise of a histogram that is (1, 1e-6)-private:

>>> from explorer.privacy import calibrate, group_alpha0
>>> round(group_alpha0(25, 1e-12, 1000, 10**5), 3)
3.849
>>> round(calibrate(1.0, 1e-6, n=1000).noise, 1)
43.7

A budget vector for ten coordinates, two of them sensitive, and what it costs per user:

>>> import numpy as np
>>> from explorer.privacy import budget_vector, m_mean_mse
>>> c = budget_vector([0.2] * 2 + [2.0] * 8, eps=2.0, q=0.05, zeta=1.05 / 2)
>>> bool(np.all(c <= 2.0)), round(float(m_mean_mse(0.0, c, 1e4)), 3)
(True, 1.366)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# fmt: off
# isort: off
if TYPE_CHECKING:
    from explorer.privacy import (
        amplification, audit, bits, bounds, composition, coordinates, divergences, domain,
        exact_noise, exact_polya, heatmaps, histograms, learning, noise, odds, shuffle_rdp,
        spaces, subsampling, transport, user_metric,
    )
    from explorer.privacy.amplification import (
        CloneCurve, Clones, blanket_condition, clones_closed_form, clones_condition,
    )
    from explorer.privacy.audit import (
        Audit, clopper_pearson, epsilon_lower_bound,
    )
    from explorer.privacy.bits import (
        BitSource, SeededBits, SystemBits,
    )
    from explorer.privacy.bounds import (
        Bound, Grade, Reference, Role,
    )
    from explorer.privacy.composition import (
        kov_epsilon, kov_exact_delta, kov_exact_epsilon,
    )
    from explorer.privacy.coordinates import (
        bcdp_from_cdp, bcdp_from_cdp_and_ldp, bcdp_levels, bdp_level, best_certificate,
        best_design, best_disjoint_levels, best_two_levels, best_zeta, budget_vector,
        cdp_levels, coupling, coupling_of_public_data, figure3_curves, ldp_level, m_ldp,
        m_ldp_mse, m_ldp_variance, m_mean, m_mean_mse, private_regression, projected_mse,
        tradeoff_beta, tradeoff_bound, trust_region,
    )
    from explorer.privacy.divergences import (
        Conversion, epsilon_from_rdp, hockey_stick,
    )
    from explorer.privacy.exact_noise import (
        discrete_gaussian, discrete_laplace,
    )
    from explorer.privacy.heatmaps import (
        CellCounts, Clustering, Measurement, Metrics, Schedule, SparseMap, Variant, aggregate,
        communication, dense_map, depth_cap, gaussian_grid, k_median, laplace_grid,
        private_coreset, reconstruct, release_measurement, run_protocol, top_grid,
    )
    from explorer.privacy.histograms import (
        Adjacency, Calibration, Query, calibrate, exact_samples, histogram_delta,
        identify_support, least_users, pointer_chasing, pointer_jumping, printed_error,
        printed_noise, printed_samples, simulate_count, simulate_histogram, simultaneous_error,
        table1, table2,
    )
    from explorer.privacy.learning import (
        CoordinateReport, Perceptron, PrivUnit, Softmax, excess_risk, training_epsilon,
        training_epsilon_numerical,
    )
    from explorer.privacy.noise import (
        DemonstrationNoise, discrete_laplace_pmf, polya_pmf,
    )
    from explorer.privacy.odds import (
        clone_total_variation, composed_clone_total_variation, composed_response_total_variation,
        count_total_variation, guess_from_eps_delta, guess_from_total_variation,
        pure_total_variation, two_bin_total_variation,
    )
    from explorer.privacy.shuffle_rdp import (
        Composition, Direction, RoundLoss, Shuffling, clone_epsilon, clone_loss,
        convergence_bound, gradient_second_moment, lower_rdp, lower_rdp_epsilon,
        lower_rdp_table, pipeline_epsilon, pure_epsilon, randomised_response_delta,
        randomised_response_epsilon, randomised_response_loss,
        randomised_response_round_epsilon, renyi_cap_table, upper_epsilon, upper_rdp,
        upper_rdp_table,
    )
    from explorer.privacy.spaces import (
        Clustered, Discrete, FiniteSpace, Grid, Line, MatrixSpace, MetricSpace, Sphere, Square,
    )
    from explorer.privacy.subsampling import (
        pure_dp_renyi, subsampled_epsilon,
    )
    from explorer.privacy.transport import (
        block_interval, grid_emd, line_emd, marginal_bound, pyramid_bound,
    )
    from explorer.privacy.user_metric import (
        Concentration, Exponential, GKRR, HadamardResponse, Internal, PlanarLaplace,
        alpha_from_distances, alpha_from_requirements, bounded_emd_reduction, bounded_reduction,
        closed_form, emd_projection, gaussian_delta, gkrr_emd_bound, gkrr_excess, gkrr_mse,
        group_alpha, group_alpha0, group_delta, group_delta_certified, group_privacy_delta,
        hadamard_mse, hop_delta, hop_epsilon, k_norm_mean, k_norm_noise, laplace_l1_mean,
        linear_query, priv_emd_gaussian, priv_emd_item_wise, priv_emd_linear,
        simplex_projection, theorem44_alpha, theorem44_delta, theorem44_invert, theorem53_alpha,
        theorem66_bound, validity_limit,
    )
# isort: on

_HOME = {
    name: home
    for home, names in {
        "amplification": (
            "CloneCurve Clones blanket_condition clones_closed_form clones_condition"
        ),
        "audit": "Audit clopper_pearson epsilon_lower_bound",
        "bits": "BitSource SeededBits SystemBits",
        "bounds": "Bound Grade Reference Role",
        "composition": "kov_epsilon kov_exact_delta kov_exact_epsilon",
        "coordinates": (
            "bcdp_from_cdp bcdp_from_cdp_and_ldp bcdp_levels bdp_level best_certificate "
            "best_design best_disjoint_levels best_two_levels best_zeta budget_vector cdp_levels "
            "coupling coupling_of_public_data figure3_curves ldp_level m_ldp m_ldp_mse "
            "m_ldp_variance m_mean m_mean_mse private_regression projected_mse tradeoff_beta "
            "tradeoff_bound trust_region"
        ),
        "divergences": "Conversion epsilon_from_rdp hockey_stick",
        "exact_noise": "discrete_gaussian discrete_laplace",
        "heatmaps": (
            "CellCounts Clustering Measurement Metrics Schedule SparseMap Variant aggregate "
            "communication dense_map depth_cap gaussian_grid k_median laplace_grid "
            "private_coreset reconstruct release_measurement run_protocol top_grid"
        ),
        "histograms": (
            "Adjacency Calibration Query calibrate exact_samples histogram_delta identify_support "
            "least_users pointer_chasing pointer_jumping printed_error printed_noise "
            "printed_samples simulate_count simulate_histogram simultaneous_error table1 table2"
        ),
        "learning": (
            "CoordinateReport Perceptron PrivUnit Softmax excess_risk training_epsilon "
            "training_epsilon_numerical"
        ),
        "noise": "DemonstrationNoise discrete_laplace_pmf polya_pmf",
        "odds": (
            "clone_total_variation composed_clone_total_variation "
            "composed_response_total_variation count_total_variation guess_from_eps_delta "
            "guess_from_total_variation pure_total_variation two_bin_total_variation"
        ),
        "shuffle_rdp": (
            "Composition Direction RoundLoss Shuffling clone_epsilon clone_loss convergence_bound "
            "gradient_second_moment lower_rdp lower_rdp_epsilon lower_rdp_table pipeline_epsilon "
            "pure_epsilon randomised_response_delta randomised_response_epsilon "
            "randomised_response_loss randomised_response_round_epsilon renyi_cap_table "
            "upper_epsilon upper_rdp upper_rdp_table"
        ),
        "spaces": (
            "Clustered Discrete FiniteSpace Grid Line MatrixSpace MetricSpace Sphere Square"
        ),
        "subsampling": "pure_dp_renyi subsampled_epsilon",
        "transport": "block_interval grid_emd line_emd marginal_bound pyramid_bound",
        "user_metric": (
            "Concentration Exponential GKRR HadamardResponse Internal PlanarLaplace "
            "alpha_from_distances alpha_from_requirements bounded_emd_reduction bounded_reduction "
            "closed_form emd_projection gaussian_delta gkrr_emd_bound gkrr_excess gkrr_mse "
            "group_alpha group_alpha0 group_delta group_delta_certified group_privacy_delta "
            "hadamard_mse hop_delta hop_epsilon k_norm_mean k_norm_noise laplace_l1_mean "
            "linear_query priv_emd_gaussian priv_emd_item_wise priv_emd_linear simplex_projection "
            "theorem44_alpha theorem44_delta theorem44_invert theorem53_alpha theorem66_bound "
            "validity_limit"
        ),
    }.items()
    for name in names.split()
}
"""Where each name lives; a name that two packages share is had from them alone."""

__all__ = [
    "GKRR", "Adjacency", "Audit", "BitSource", "Bound", "Calibration", "CellCounts",
    "CloneCurve", "Clones", "Clustered", "Clustering", "Composition", "Concentration",
    "Conversion", "CoordinateReport", "DemonstrationNoise", "Direction", "Discrete",
    "Exponential", "FiniteSpace", "Grade", "Grid", "HadamardResponse", "Internal", "Line",
    "MatrixSpace", "Measurement", "MetricSpace", "Metrics", "Perceptron", "PlanarLaplace",
    "PrivUnit", "Query", "Reference", "Role", "RoundLoss", "Schedule", "SeededBits",
    "Shuffling", "Softmax", "SparseMap", "Sphere", "Square", "SystemBits", "Variant",
    "aggregate", "alpha_from_distances", "alpha_from_requirements", "amplification", "audit",
    "bcdp_from_cdp", "bcdp_from_cdp_and_ldp", "bcdp_levels", "bdp_level", "best_certificate",
    "best_design", "best_disjoint_levels", "best_two_levels", "best_zeta", "bits",
    "blanket_condition", "block_interval", "bounded_emd_reduction", "bounded_reduction",
    "bounds", "budget_vector", "calibrate", "cdp_levels", "clone_epsilon", "clone_loss",
    "clone_total_variation", "clones_closed_form", "clones_condition", "clopper_pearson",
    "closed_form", "communication", "composed_clone_total_variation",
    "composed_response_total_variation", "composition", "convergence_bound", "coordinates",
    "count_total_variation", "coupling", "coupling_of_public_data", "dense_map", "depth_cap",
    "discrete_gaussian", "discrete_laplace", "discrete_laplace_pmf", "divergences", "domain",
    "emd_projection", "epsilon_from_rdp", "epsilon_lower_bound", "exact_noise",
    "exact_polya", "exact_samples", "excess_risk", "figure3_curves", "gaussian_delta",
    "gaussian_grid", "gkrr_emd_bound", "gkrr_excess", "gkrr_mse", "gradient_second_moment",
    "grid_emd", "group_alpha", "group_alpha0", "group_delta", "group_delta_certified",
    "group_privacy_delta", "guess_from_eps_delta", "guess_from_total_variation",
    "hadamard_mse", "heatmaps", "histogram_delta", "histograms", "hockey_stick", "hop_delta",
    "hop_epsilon", "identify_support", "k_median", "k_norm_mean", "k_norm_noise",
    "kov_epsilon", "kov_exact_delta", "kov_exact_epsilon", "laplace_grid", "laplace_l1_mean",
    "ldp_level", "learning", "least_users", "line_emd", "linear_query", "lower_rdp",
    "lower_rdp_epsilon", "lower_rdp_table", "m_ldp", "m_ldp_mse", "m_ldp_variance", "m_mean",
    "m_mean_mse", "marginal_bound", "noise", "odds", "pipeline_epsilon", "pointer_chasing",
    "pointer_jumping", "polya_pmf", "printed_error", "printed_noise", "printed_samples",
    "priv_emd_gaussian", "priv_emd_item_wise", "priv_emd_linear", "private_coreset",
    "private_regression", "projected_mse", "pure_dp_renyi", "pure_epsilon",
    "pure_total_variation", "pyramid_bound", "randomised_response_delta",
    "randomised_response_epsilon", "randomised_response_loss",
    "randomised_response_round_epsilon", "reconstruct", "release_measurement",
    "renyi_cap_table", "run_protocol", "shuffle_rdp", "simplex_projection", "simulate_count",
    "simulate_histogram", "simultaneous_error", "spaces", "subsampled_epsilon",
    "subsampling", "table1", "table2", "theorem44_alpha", "theorem44_delta",
    "theorem44_invert", "theorem53_alpha", "theorem66_bound", "top_grid", "tradeoff_beta",
    "tradeoff_bound", "training_epsilon", "training_epsilon_numerical", "transport",
    "trust_region", "two_bin_total_variation", "upper_epsilon", "upper_rdp",
    "upper_rdp_table", "user_metric", "validity_limit",
]
# fmt: on

_MODULES = frozenset(__all__) - frozenset(_HOME)


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
