from explorer.privacy.user_metric.best_calibration import (
    PRODUCT_ITEMS as PRODUCT_ITEMS,
    best_alpha as best_alpha,
    best_alpha0 as best_alpha0,
)
from explorer.privacy.user_metric.calibration import (
    alpha_from_distances as alpha_from_distances,
    alpha_from_requirements as alpha_from_requirements,
)
from explorer.privacy.user_metric.estimators import (
    HadamardResponse as HadamardResponse,
    emd_projection as emd_projection,
    gkrr_estimate as gkrr_estimate,
    laplace_histogram as laplace_histogram,
    simplex_projection as simplex_projection,
)
from explorer.privacy.user_metric.exact_release import (
    IntegerTable as IntegerTable,
    LatticeQuery as LatticeQuery,
    debiased_histogram as debiased_histogram,
    debiased_mse as debiased_mse,
    drawn_items as drawn_items,
    integer_table as integer_table,
    lattice_noise_moments as lattice_noise_moments,
    shuffled as shuffled,
    table_draw as table_draw,
)
from explorer.privacy.user_metric.frequency_errors import (
    Blocks as Blocks,
    corollary68_remark as corollary68_remark,
    emd_bound as emd_bound,
    gkrr_cluster_excess as gkrr_cluster_excess,
    gkrr_cluster_mse as gkrr_cluster_mse,
    gkrr_coefficients as gkrr_coefficients,
    gkrr_emd_bound as gkrr_emd_bound,
    gkrr_excess as gkrr_excess,
    gkrr_inverse as gkrr_inverse,
    gkrr_mse as gkrr_mse,
    hadamard_cluster_mse_bound as hadamard_cluster_mse_bound,
    hadamard_mse as hadamard_mse,
    laplace_emd_mean as laplace_emd_mean,
    laplace_l1_mean as laplace_l1_mean,
    laplace_mse as laplace_mse,
    laplace_scale as laplace_scale,
    one_item_grr_mse as one_item_grr_mse,
    one_item_hadamard_mse as one_item_hadamard_mse,
    priv_unit_histogram_mse as priv_unit_histogram_mse,
    theorem66_bound as theorem66_bound,
    theorem66_remark as theorem66_remark,
)
from explorer.privacy.user_metric.gaussian import (
    gaussian_delta as gaussian_delta,
    gaussian_euclidean_mean as gaussian_euclidean_mean,
    gaussian_sigma as gaussian_sigma,
    gaussian_sigma_printed as gaussian_sigma_printed,
    gaussian_sigma_textbook as gaussian_sigma_textbook,
    lemma62_bound as lemma62_bound,
    priv_emd_gaussian as priv_emd_gaussian,
)
from explorer.privacy.user_metric.group_calibration import (
    group_alpha as group_alpha,
    group_alpha0 as group_alpha0,
    group_alpha0_at as group_alpha0_at,
    group_alpha0_estimate as group_alpha0_estimate,
    group_alpha_estimate as group_alpha_estimate,
    least_group_delta as least_group_delta,
)
from explorer.privacy.user_metric.hops import (
    Certified as Certified,
    group_delta as group_delta,
    group_delta_certified as group_delta_certified,
    hop_delta as hop_delta,
    hop_epsilon as hop_epsilon,
)
from explorer.privacy.user_metric.itemwise import (
    GKRR as GKRR,
    OPTIMAL_ITEMS as OPTIMAL_ITEMS,
    Exponential as Exponential,
    ItemMechanism as ItemMechanism,
    Optimal as Optimal,
    PlanarLaplace as PlanarLaplace,
    bounded_emd_reduction as bounded_emd_reduction,
    exponential_loss as exponential_loss,
    lp_optimum as lp_optimum,
    priv_emd_item_wise as priv_emd_item_wise,
)
from explorer.privacy.user_metric.linear import (
    Slopes as Slopes,
    averaged_laplace_mean as averaged_laplace_mean,
    k_norm_coordinate_mean as k_norm_coordinate_mean,
    k_norm_coordinate_variance as k_norm_coordinate_variance,
    k_norm_mean as k_norm_mean,
    k_norm_noise as k_norm_noise,
    k_norm_quantile as k_norm_quantile,
    k_norm_scale as k_norm_scale,
    laplace_euclidean_mean as laplace_euclidean_mean,
    linear_query as linear_query,
    lipschitz as lipschitz,
    prefix_lipschitz as prefix_lipschitz,
    priv_emd_linear as priv_emd_linear,
)
from explorer.privacy.user_metric.product_hops import (
    product_alpha as product_alpha,
    product_alpha0 as product_alpha0,
    product_of_hops_delta as product_of_hops_delta,
)
from explorer.privacy.user_metric.reduction import (
    Concentration as Concentration,
    Reduction as Reduction,
    binomial_threshold as binomial_threshold,
    bounded_reduction as bounded_reduction,
    draw_items as draw_items,
    group_privacy_delta as group_privacy_delta,
    lemma52_tail as lemma52_tail,
    theorem53_alpha as theorem53_alpha,
    theorem53_alpha_chernoff as theorem53_alpha_chernoff,
)
from explorer.privacy.user_metric.refutation import (
    refuted_alpha as refuted_alpha,
    refuted_alpha0 as refuted_alpha0,
    refuted_delta as refuted_delta,
    refuting_delta as refuting_delta,
)
from explorer.privacy.user_metric.sorted_hops import (
    sorted_delta as sorted_delta,
)
from explorer.privacy.user_metric.theorem44 import (
    ClosedForm as ClosedForm,
    Internal as Internal,
    TheoremCertificate as TheoremCertificate,
    TheoremDelta as TheoremDelta,
    closed_form as closed_form,
    closed_form_achieved as closed_form_achieved,
    closed_form_claim as closed_form_claim,
    group_epsilon as group_epsilon,
    single_item_epsilon as single_item_epsilon,
    theorem44_alpha as theorem44_alpha,
    theorem44_certificate as theorem44_certificate,
    theorem44_delta as theorem44_delta,
    theorem44_delta_at as theorem44_delta_at,
    theorem44_delta_inside as theorem44_delta_inside,
    theorem44_delta_tight as theorem44_delta_tight,
    theorem44_ratio as theorem44_ratio,
    validity_limit as validity_limit,
)
from explorer.privacy.user_metric.theorem44_inversion import (
    Binding as Binding,
    Inversion as Inversion,
    theorem44_alpha0 as theorem44_alpha0,
    theorem44_invert as theorem44_invert,
)
from explorer.privacy.user_metric.two_datasets import (
    MAX_ASSIGNMENT as MAX_ASSIGNMENT,
    Plan as Plan,
    power_bound as power_bound,
    several_users as several_users,
    transport_plan as transport_plan,
)
from explorer.privacy.user_metric.user_level import (
    central_improvement_threshold as central_improvement_threshold,
    hadamard_epsilon_printed as hadamard_epsilon_printed,
    local_improvement_threshold as local_improvement_threshold,
    per_item_epsilon as per_item_epsilon,
)
