"""Bayesian coordinate differential privacy.

Aliakbarpour, Chaudhuri, Courtade, Fallah and Jordan, *Enhancing Feature-Specific Data Protection
via Bayesian Coordinate Differential Privacy* (2024): the four notions (LDP, BDP, CDP, BCDP) with
exact levels on finite domains, certificates, M_LDP and M_mean, budget vectors, exact errors,
better allocations, and least-squares regression.

The δ_i of this package are *coordinate levels*, one privacy level a coordinate, and never the δ of
approximate differential privacy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.privacy.coordinates.allocation import (
        ZetaAllocation,
        best_nested_rounding,
        best_zeta,
    )
    from explorer.privacy.coordinates.budget import (
        best_possible_zeta,
        budget_at_total,
        budget_vector,
        corollary1_threshold,
        coupling_matters,
        effective_levels,
        largest_total,
    )
    from explorer.privacy.coordinates.certificates import (
        bcdp_from_cdp,
        bcdp_from_cdp_and_ldp,
        bcdp_from_ldp,
        best_certificate,
        ldp_from_cdp,
        linear_budget_matrix,
        linear_budget_scale,
        repeated_certificate,
    )
    from explorer.privacy.coordinates.channel import (
        gamma_ratio,
        m_ldp,
        m_ldp_from_draws,
        m_ldp_loss,
        m_ldp_mse,
        m_ldp_positive_probability,
        m_ldp_radius,
        m_ldp_second_moment,
        m_ldp_variance,
    )
    from explorer.privacy.coordinates.convex_design import best_disjoint_levels
    from explorer.privacy.coordinates.corners import corner_log_likelihoods, m_mean_corner_levels
    from explorer.privacy.coordinates.design_search import BestDesign, best_design
    from explorer.privacy.coordinates.designs import (
        design_bcdp,
        design_cdp,
        design_ldp,
        design_mse,
    )
    from explorer.privacy.coordinates.errors import (
        clipped_normal_mse,
        corollary1_bound,
        projected_mse,
        theorem2_bound,
        theorem3_bound,
        theorem3_r2,
    )
    from explorer.privacy.coordinates.exact_reports import (
        exact_level,
        exact_m_ldp,
        exact_m_mean,
        exact_signs,
        largest_truth,
        truth_counts,
    )
    from explorer.privacy.coordinates.figure3 import Figure3, figure3_curves
    from explorer.privacy.coordinates.finite import (
        bcdp_levels,
        bdp_level,
        cdp_levels,
        composed_bcdp_levels,
        composed_channel,
        conditional_laws,
        copies_prior,
        coupling,
        example1_channel,
        example1_levels,
        example2_channel,
        ldp_level,
    )
    from explorer.privacy.coordinates.mean import (
        m_mean_combination,
        m_mean_combine,
        m_mean_covariance,
        m_mean_moments,
        m_mean_mse,
        m_mean_variances,
        m_mean_weights,
    )
    from explorer.privacy.coordinates.public_data import (
        CouplingEstimate,
        coupling_of_public_data,
        coupling_upper,
        coupling_upper_of_counts,
    )
    from explorer.privacy.coordinates.regression import (
        Regression,
        TrustRegion,
        minimise_clipped,
        private_regression,
        psd_clip,
        regression_moments,
        trust_region,
    )
    from explorer.privacy.coordinates.sampling import (
        Channel,
        MeanEstimate,
        design_channels,
        draw_mean,
        draw_reports,
        m_mean,
        m_mean_average,
        m_mean_channels,
    )
    from explorer.privacy.coordinates.tradeoff import (
        level_of_tradeoff,
        tradeoff_beta,
        tradeoff_bound,
    )
    from explorer.privacy.coordinates.two_levels import (
        LAYOUTS,
        DisjointTwoLevels,
        TwoLevels,
        best_two_levels,
        best_two_levels_disjoint,
    )

_HOME = {
    name: module
    for module, names in {
        "allocation": "ZetaAllocation best_nested_rounding best_zeta",
        "design_search": "BestDesign best_design",
        "budget": (
            "best_possible_zeta budget_at_total budget_vector corollary1_threshold "
            "coupling_matters effective_levels largest_total"
        ),
        "certificates": (
            "bcdp_from_cdp bcdp_from_cdp_and_ldp bcdp_from_ldp best_certificate ldp_from_cdp "
            "linear_budget_matrix linear_budget_scale repeated_certificate"
        ),
        "channel": (
            "gamma_ratio m_ldp m_ldp_from_draws m_ldp_loss m_ldp_mse "
            "m_ldp_positive_probability m_ldp_radius m_ldp_second_moment m_ldp_variance"
        ),
        "convex_design": "best_disjoint_levels",
        "corners": "corner_log_likelihoods m_mean_corner_levels",
        "designs": "design_bcdp design_cdp design_ldp design_mse",
        "errors": (
            "clipped_normal_mse corollary1_bound projected_mse theorem2_bound theorem3_bound "
            "theorem3_r2"
        ),
        "exact_reports": (
            "exact_level exact_m_ldp exact_m_mean exact_signs largest_truth truth_counts"
        ),
        "figure3": "Figure3 figure3_curves",
        "finite": (
            "bcdp_levels bdp_level cdp_levels composed_bcdp_levels composed_channel "
            "conditional_laws copies_prior coupling example1_channel example1_levels "
            "example2_channel ldp_level"
        ),
        "mean": (
            "m_mean_combination m_mean_combine m_mean_covariance m_mean_moments m_mean_mse "
            "m_mean_variances m_mean_weights"
        ),
        "public_data": (
            "CouplingEstimate coupling_of_public_data coupling_upper coupling_upper_of_counts"
        ),
        "regression": (
            "Regression TrustRegion minimise_clipped private_regression psd_clip "
            "regression_moments trust_region"
        ),
        "sampling": (
            "Channel MeanEstimate design_channels draw_mean draw_reports m_mean "
            "m_mean_average m_mean_channels"
        ),
        "tradeoff": "level_of_tradeoff tradeoff_beta tradeoff_bound",
        "two_levels": (
            "LAYOUTS DisjointTwoLevels TwoLevels best_two_levels best_two_levels_disjoint"
        ),
    }.items()
    for name in names.split()
}
"""Where each name lives: nothing is imported before it is used."""

__all__ = [
    "LAYOUTS",
    "BestDesign",
    "Channel",
    "CouplingEstimate",
    "DisjointTwoLevels",
    "Figure3",
    "MeanEstimate",
    "Regression",
    "TrustRegion",
    "TwoLevels",
    "ZetaAllocation",
    "bcdp_from_cdp",
    "bcdp_from_cdp_and_ldp",
    "bcdp_from_ldp",
    "bcdp_levels",
    "bdp_level",
    "best_certificate",
    "best_design",
    "best_disjoint_levels",
    "best_nested_rounding",
    "best_possible_zeta",
    "best_two_levels",
    "best_two_levels_disjoint",
    "best_zeta",
    "budget_at_total",
    "budget_vector",
    "cdp_levels",
    "clipped_normal_mse",
    "composed_bcdp_levels",
    "composed_channel",
    "conditional_laws",
    "copies_prior",
    "corner_log_likelihoods",
    "corollary1_bound",
    "corollary1_threshold",
    "coupling",
    "coupling_matters",
    "coupling_of_public_data",
    "coupling_upper",
    "coupling_upper_of_counts",
    "design_bcdp",
    "design_cdp",
    "design_channels",
    "design_ldp",
    "design_mse",
    "draw_mean",
    "draw_reports",
    "effective_levels",
    "exact_level",
    "exact_m_ldp",
    "exact_m_mean",
    "exact_signs",
    "example1_channel",
    "example1_levels",
    "example2_channel",
    "figure3_curves",
    "gamma_ratio",
    "largest_total",
    "largest_truth",
    "ldp_from_cdp",
    "ldp_level",
    "level_of_tradeoff",
    "linear_budget_matrix",
    "linear_budget_scale",
    "m_ldp",
    "m_ldp_from_draws",
    "m_ldp_loss",
    "m_ldp_mse",
    "m_ldp_positive_probability",
    "m_ldp_radius",
    "m_ldp_second_moment",
    "m_ldp_variance",
    "m_mean",
    "m_mean_average",
    "m_mean_channels",
    "m_mean_combination",
    "m_mean_combine",
    "m_mean_corner_levels",
    "m_mean_covariance",
    "m_mean_moments",
    "m_mean_mse",
    "m_mean_variances",
    "m_mean_weights",
    "minimise_clipped",
    "private_regression",
    "projected_mse",
    "psd_clip",
    "regression_moments",
    "repeated_certificate",
    "theorem2_bound",
    "theorem3_bound",
    "theorem3_r2",
    "tradeoff_beta",
    "tradeoff_bound",
    "trust_region",
    "truth_counts",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
