from explorer.privacy.user_metric.calibration import (
    alpha_from_distances as alpha_from_distances,
)
from explorer.privacy.user_metric.calibration import (
    alpha_from_requirements as alpha_from_requirements,
)
from explorer.privacy.user_metric.estimators import (
    HadamardResponse as HadamardResponse,
)
from explorer.privacy.user_metric.estimators import (
    emd_projection as emd_projection,
)
from explorer.privacy.user_metric.estimators import (
    gkrr_estimate as gkrr_estimate,
)
from explorer.privacy.user_metric.estimators import (
    laplace_histogram as laplace_histogram,
)
from explorer.privacy.user_metric.estimators import (
    simplex_projection as simplex_projection,
)
from explorer.privacy.user_metric.frequency_errors import (
    Blocks as Blocks,
)
from explorer.privacy.user_metric.frequency_errors import (
    corollary68_remark as corollary68_remark,
)
from explorer.privacy.user_metric.frequency_errors import (
    emd_bound as emd_bound,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_cluster_excess as gkrr_cluster_excess,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_cluster_mse as gkrr_cluster_mse,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_coefficients as gkrr_coefficients,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_emd_bound as gkrr_emd_bound,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_excess as gkrr_excess,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_inverse as gkrr_inverse,
)
from explorer.privacy.user_metric.frequency_errors import (
    gkrr_mse as gkrr_mse,
)
from explorer.privacy.user_metric.frequency_errors import (
    hadamard_cluster_mse_bound as hadamard_cluster_mse_bound,
)
from explorer.privacy.user_metric.frequency_errors import (
    hadamard_mse as hadamard_mse,
)
from explorer.privacy.user_metric.frequency_errors import (
    laplace_l1_mean as laplace_l1_mean,
)
from explorer.privacy.user_metric.frequency_errors import (
    laplace_mse as laplace_mse,
)
from explorer.privacy.user_metric.frequency_errors import (
    laplace_scale as laplace_scale,
)
from explorer.privacy.user_metric.frequency_errors import (
    theorem66_bound as theorem66_bound,
)
from explorer.privacy.user_metric.frequency_errors import (
    theorem66_remark as theorem66_remark,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_delta as gaussian_delta,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_euclidean_mean as gaussian_euclidean_mean,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_sigma as gaussian_sigma,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_sigma_printed as gaussian_sigma_printed,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_sigma_textbook as gaussian_sigma_textbook,
)
from explorer.privacy.user_metric.gaussian import (
    lemma62_bound as lemma62_bound,
)
from explorer.privacy.user_metric.gaussian import (
    priv_emd_gaussian as priv_emd_gaussian,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    group_alpha as group_alpha,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    group_alpha0 as group_alpha0,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    group_alpha0_at as group_alpha0_at,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    group_alpha0_estimate as group_alpha0_estimate,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    group_alpha_estimate as group_alpha_estimate,
)
from explorer.privacy.user_metric.hops.group_calibration import (
    least_group_delta as least_group_delta,
)
from explorer.privacy.user_metric.hops.group_hops import (
    Certified as Certified,
)
from explorer.privacy.user_metric.hops.group_hops import (
    group_delta as group_delta,
)
from explorer.privacy.user_metric.hops.group_hops import (
    group_delta_certified as group_delta_certified,
)
from explorer.privacy.user_metric.hops.one_hop import (
    hop_delta as hop_delta,
)
from explorer.privacy.user_metric.hops.one_hop import (
    hop_epsilon as hop_epsilon,
)
from explorer.privacy.user_metric.itemwise import (
    GKRR as GKRR,
)
from explorer.privacy.user_metric.itemwise import (
    Exponential as Exponential,
)
from explorer.privacy.user_metric.itemwise import (
    ItemMechanism as ItemMechanism,
)
from explorer.privacy.user_metric.itemwise import (
    PlanarLaplace as PlanarLaplace,
)
from explorer.privacy.user_metric.itemwise import (
    bounded_emd_reduction as bounded_emd_reduction,
)
from explorer.privacy.user_metric.itemwise import (
    exponential_loss as exponential_loss,
)
from explorer.privacy.user_metric.itemwise import (
    priv_emd_item_wise as priv_emd_item_wise,
)
from explorer.privacy.user_metric.laplace_distance import (
    laplace_emd_mean as laplace_emd_mean,
)
from explorer.privacy.user_metric.linear import (
    averaged_laplace_mean as averaged_laplace_mean,
)
from explorer.privacy.user_metric.linear import (
    k_norm_coordinate_mean as k_norm_coordinate_mean,
)
from explorer.privacy.user_metric.linear import (
    k_norm_coordinate_variance as k_norm_coordinate_variance,
)
from explorer.privacy.user_metric.linear import (
    k_norm_mean as k_norm_mean,
)
from explorer.privacy.user_metric.linear import (
    k_norm_noise as k_norm_noise,
)
from explorer.privacy.user_metric.linear import (
    k_norm_quantile as k_norm_quantile,
)
from explorer.privacy.user_metric.linear import (
    k_norm_scale as k_norm_scale,
)
from explorer.privacy.user_metric.linear import (
    laplace_euclidean_mean as laplace_euclidean_mean,
)
from explorer.privacy.user_metric.linear import (
    linear_query as linear_query,
)
from explorer.privacy.user_metric.linear import (
    lipschitz as lipschitz,
)
from explorer.privacy.user_metric.linear import (
    priv_emd_linear as priv_emd_linear,
)
from explorer.privacy.user_metric.reduction import (
    Concentration as Concentration,
)
from explorer.privacy.user_metric.reduction import (
    Reduction as Reduction,
)
from explorer.privacy.user_metric.reduction import (
    binomial_threshold as binomial_threshold,
)
from explorer.privacy.user_metric.reduction import (
    bounded_reduction as bounded_reduction,
)
from explorer.privacy.user_metric.reduction import (
    draw_items as draw_items,
)
from explorer.privacy.user_metric.reduction import (
    group_privacy_delta as group_privacy_delta,
)
from explorer.privacy.user_metric.reduction import (
    lemma52_tail as lemma52_tail,
)
from explorer.privacy.user_metric.reduction import (
    theorem53_alpha as theorem53_alpha,
)
from explorer.privacy.user_metric.reduction import (
    theorem53_alpha_chernoff as theorem53_alpha_chernoff,
)
from explorer.privacy.user_metric.slopes import (
    Slopes as Slopes,
)
from explorer.privacy.user_metric.slopes import (
    prefix_lipschitz as prefix_lipschitz,
)
from explorer.privacy.user_metric.theorem44.certificate import (
    TheoremCertificate as TheoremCertificate,
)
from explorer.privacy.user_metric.theorem44.certificate import (
    TheoremDelta as TheoremDelta,
)
from explorer.privacy.user_metric.theorem44.certificate import (
    theorem44_certificate as theorem44_certificate,
)
from explorer.privacy.user_metric.theorem44.certificate import (
    theorem44_delta_at as theorem44_delta_at,
)
from explorer.privacy.user_metric.theorem44.inversion import (
    Binding as Binding,
)
from explorer.privacy.user_metric.theorem44.inversion import (
    Inversion as Inversion,
)
from explorer.privacy.user_metric.theorem44.inversion import (
    theorem44_alpha0 as theorem44_alpha0,
)
from explorer.privacy.user_metric.theorem44.inversion import (
    theorem44_invert as theorem44_invert,
)
from explorer.privacy.user_metric.theorem44.printed_forms import (
    ClosedForm as ClosedForm,
)
from explorer.privacy.user_metric.theorem44.printed_forms import (
    closed_form as closed_form,
)
from explorer.privacy.user_metric.theorem44.printed_forms import (
    closed_form_achieved as closed_form_achieved,
)
from explorer.privacy.user_metric.theorem44.printed_forms import (
    closed_form_claim as closed_form_claim,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    Internal as Internal,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    group_epsilon as group_epsilon,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    single_item_epsilon as single_item_epsilon,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    theorem44_alpha as theorem44_alpha,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    theorem44_delta as theorem44_delta,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    theorem44_delta_inside as theorem44_delta_inside,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    theorem44_delta_tight as theorem44_delta_tight,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    theorem44_ratio as theorem44_ratio,
)
from explorer.privacy.user_metric.theorem44.theorem import (
    validity_limit as validity_limit,
)
from explorer.privacy.user_metric.user_level import (
    central_improvement_threshold as central_improvement_threshold,
)
from explorer.privacy.user_metric.user_level import (
    hadamard_epsilon_printed as hadamard_epsilon_printed,
)
from explorer.privacy.user_metric.user_level import (
    local_improvement_threshold as local_improvement_threshold,
)
from explorer.privacy.user_metric.user_level import (
    per_item_epsilon as per_item_epsilon,
)
