"""User-level metric differential privacy under the earth mover's distance.

Imola, Roy Chowdhury and Chaudhuri, *Metric Differential Privacy at the User-Level* (2024): a user's
whole dataset is protected, and the better the less of it moves and the shorter its way. α is the
parameter per normalised distance of a user's data, α₀ that of one item, ε a pure number. Datasets
of equal public size m are *bounded*; `reduction` takes datasets of any size to these.

Calibrate with `group_alpha0` (exact hops) and not with the paper's equations (6) and (7), which are
`closed_form` and wrong by factors either way (errata A).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.privacy.user_metric.calibration import (
        alpha_from_distances,
        alpha_from_requirements,
    )
    from explorer.privacy.user_metric.estimators import (
        HadamardResponse,
        emd_projection,
        gkrr_estimate,
        laplace_histogram,
        simplex_projection,
    )
    from explorer.privacy.user_metric.frequency_errors import (
        Blocks,
        corollary68_remark,
        emd_bound,
        gkrr_cluster_excess,
        gkrr_cluster_mse,
        gkrr_coefficients,
        gkrr_emd_bound,
        gkrr_excess,
        gkrr_inverse,
        gkrr_mse,
        hadamard_cluster_mse_bound,
        hadamard_mse,
        laplace_l1_mean,
        laplace_mse,
        laplace_scale,
        theorem66_bound,
        theorem66_remark,
    )
    from explorer.privacy.user_metric.gaussian import (
        gaussian_delta,
        gaussian_euclidean_mean,
        gaussian_sigma,
        gaussian_sigma_printed,
        gaussian_sigma_textbook,
        lemma62_bound,
        priv_emd_gaussian,
    )
    from explorer.privacy.user_metric.group_calibration import (
        group_alpha,
        group_alpha0,
        group_alpha0_at,
        group_alpha0_estimate,
        group_alpha_estimate,
        least_group_delta,
    )
    from explorer.privacy.user_metric.group_hops import (
        Certified,
        group_delta,
        group_delta_certified,
    )
    from explorer.privacy.user_metric.hops import hop_delta, hop_epsilon
    from explorer.privacy.user_metric.itemwise import (
        GKRR,
        Exponential,
        ItemMechanism,
        PlanarLaplace,
        bounded_emd_reduction,
        exponential_loss,
        priv_emd_item_wise,
    )
    from explorer.privacy.user_metric.laplace_distance import laplace_emd_mean
    from explorer.privacy.user_metric.linear import (
        averaged_laplace_mean,
        k_norm_coordinate_mean,
        k_norm_coordinate_variance,
        k_norm_mean,
        k_norm_noise,
        k_norm_quantile,
        k_norm_scale,
        laplace_euclidean_mean,
        linear_query,
        lipschitz,
        priv_emd_linear,
    )
    from explorer.privacy.user_metric.printed_forms import (
        ClosedForm,
        closed_form,
        closed_form_achieved,
        closed_form_claim,
    )
    from explorer.privacy.user_metric.reduction import (
        Concentration,
        Reduction,
        binomial_threshold,
        bounded_reduction,
        draw_items,
        group_privacy_delta,
        lemma52_tail,
        theorem53_alpha,
        theorem53_alpha_chernoff,
    )
    from explorer.privacy.user_metric.shuffle_theorem import (
        Internal,
        group_epsilon,
        single_item_epsilon,
        theorem44_alpha,
        theorem44_delta,
        theorem44_delta_inside,
        theorem44_delta_tight,
        theorem44_ratio,
        validity_limit,
    )
    from explorer.privacy.user_metric.slopes import Slopes, prefix_lipschitz
    from explorer.privacy.user_metric.theorem_certificate import (
        TheoremCertificate,
        TheoremDelta,
        theorem44_certificate,
        theorem44_delta_at,
    )
    from explorer.privacy.user_metric.theorem_inversion import (
        Binding,
        Inversion,
        theorem44_alpha0,
        theorem44_invert,
    )
    from explorer.privacy.user_metric.user_level import (
        central_improvement_threshold,
        hadamard_epsilon_printed,
        local_improvement_threshold,
        per_item_epsilon,
    )

_HOME = {
    name: module
    for module, names in {
        "calibration": "alpha_from_distances alpha_from_requirements",
        "estimators": (
            "HadamardResponse emd_projection gkrr_estimate laplace_histogram simplex_projection"
        ),
        "frequency_errors": (
            "Blocks corollary68_remark emd_bound gkrr_cluster_excess gkrr_cluster_mse "
            "gkrr_coefficients gkrr_emd_bound gkrr_excess gkrr_inverse gkrr_mse "
            "hadamard_cluster_mse_bound hadamard_mse laplace_l1_mean laplace_mse "
            "laplace_scale theorem66_bound theorem66_remark"
        ),
        "gaussian": (
            "gaussian_delta gaussian_euclidean_mean gaussian_sigma gaussian_sigma_printed "
            "gaussian_sigma_textbook lemma62_bound priv_emd_gaussian"
        ),
        "group_calibration": (
            "group_alpha group_alpha0 group_alpha0_at group_alpha0_estimate group_alpha_estimate "
            "least_group_delta"
        ),
        "group_hops": "Certified group_delta group_delta_certified",
        "hops": "hop_delta hop_epsilon",
        "itemwise": (
            "GKRR Exponential ItemMechanism PlanarLaplace bounded_emd_reduction "
            "exponential_loss priv_emd_item_wise"
        ),
        "laplace_distance": "laplace_emd_mean",
        "linear": (
            "averaged_laplace_mean k_norm_coordinate_mean k_norm_coordinate_variance "
            "k_norm_mean k_norm_noise k_norm_quantile k_norm_scale laplace_euclidean_mean "
            "linear_query lipschitz priv_emd_linear"
        ),
        "printed_forms": "ClosedForm closed_form closed_form_achieved closed_form_claim",
        "reduction": (
            "Concentration Reduction binomial_threshold bounded_reduction draw_items "
            "group_privacy_delta lemma52_tail theorem53_alpha theorem53_alpha_chernoff"
        ),
        "shuffle_theorem": (
            "Internal group_epsilon single_item_epsilon theorem44_alpha theorem44_delta "
            "theorem44_delta_inside theorem44_delta_tight theorem44_ratio validity_limit"
        ),
        "slopes": "Slopes prefix_lipschitz",
        "theorem_certificate": (
            "TheoremCertificate TheoremDelta theorem44_certificate theorem44_delta_at"
        ),
        "theorem_inversion": "Binding Inversion theorem44_alpha0 theorem44_invert",
        "user_level": (
            "central_improvement_threshold hadamard_epsilon_printed "
            "local_improvement_threshold per_item_epsilon"
        ),
    }.items()
    for name in names.split()
}
"""Where each name lives: nothing is imported before it is used."""

__all__ = [
    "GKRR",
    "Binding",
    "Blocks",
    "Certified",
    "ClosedForm",
    "Concentration",
    "Exponential",
    "HadamardResponse",
    "Internal",
    "Inversion",
    "ItemMechanism",
    "PlanarLaplace",
    "Reduction",
    "Slopes",
    "TheoremCertificate",
    "TheoremDelta",
    "alpha_from_distances",
    "alpha_from_requirements",
    "averaged_laplace_mean",
    "binomial_threshold",
    "bounded_emd_reduction",
    "bounded_reduction",
    "central_improvement_threshold",
    "closed_form",
    "closed_form_achieved",
    "closed_form_claim",
    "corollary68_remark",
    "draw_items",
    "emd_bound",
    "emd_projection",
    "exponential_loss",
    "gaussian_delta",
    "gaussian_euclidean_mean",
    "gaussian_sigma",
    "gaussian_sigma_printed",
    "gaussian_sigma_textbook",
    "gkrr_cluster_excess",
    "gkrr_cluster_mse",
    "gkrr_coefficients",
    "gkrr_emd_bound",
    "gkrr_estimate",
    "gkrr_excess",
    "gkrr_inverse",
    "gkrr_mse",
    "group_alpha",
    "group_alpha0",
    "group_alpha0_at",
    "group_alpha0_estimate",
    "group_alpha_estimate",
    "group_delta",
    "group_delta_certified",
    "group_epsilon",
    "group_privacy_delta",
    "hadamard_cluster_mse_bound",
    "hadamard_epsilon_printed",
    "hadamard_mse",
    "hop_delta",
    "hop_epsilon",
    "k_norm_coordinate_mean",
    "k_norm_coordinate_variance",
    "k_norm_mean",
    "k_norm_noise",
    "k_norm_quantile",
    "k_norm_scale",
    "laplace_emd_mean",
    "laplace_euclidean_mean",
    "laplace_histogram",
    "laplace_l1_mean",
    "laplace_mse",
    "laplace_scale",
    "least_group_delta",
    "lemma52_tail",
    "lemma62_bound",
    "linear_query",
    "lipschitz",
    "local_improvement_threshold",
    "per_item_epsilon",
    "prefix_lipschitz",
    "priv_emd_gaussian",
    "priv_emd_item_wise",
    "priv_emd_linear",
    "simplex_projection",
    "single_item_epsilon",
    "theorem44_alpha",
    "theorem44_alpha0",
    "theorem44_certificate",
    "theorem44_delta",
    "theorem44_delta_at",
    "theorem44_delta_inside",
    "theorem44_delta_tight",
    "theorem44_invert",
    "theorem44_ratio",
    "theorem53_alpha",
    "theorem53_alpha_chernoff",
    "theorem66_bound",
    "theorem66_remark",
    "validity_limit",
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
