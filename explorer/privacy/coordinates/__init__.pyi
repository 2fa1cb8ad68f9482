from explorer.privacy.coordinates.budgets import (
    ZetaAllocation as ZetaAllocation,
    best_nested_rounding as best_nested_rounding,
    best_possible_zeta as best_possible_zeta,
    best_zeta as best_zeta,
    budget_at_total as budget_at_total,
    budget_vector as budget_vector,
    corollary1_threshold as corollary1_threshold,
    coupling_matters as coupling_matters,
    effective_levels as effective_levels,
    largest_total as largest_total,
)
from explorer.privacy.coordinates.channel import (
    gamma_ratio as gamma_ratio,
    m_ldp as m_ldp,
    m_ldp_from_draws as m_ldp_from_draws,
    m_ldp_loss as m_ldp_loss,
    m_ldp_mse as m_ldp_mse,
    m_ldp_positive_probability as m_ldp_positive_probability,
    m_ldp_radius as m_ldp_radius,
    m_ldp_second_moment as m_ldp_second_moment,
    m_ldp_variance as m_ldp_variance,
)
from explorer.privacy.coordinates.design_search import (
    BestDesign as BestDesign,
    best_design as best_design,
    best_disjoint_levels as best_disjoint_levels,
)
from explorer.privacy.coordinates.designs import (
    CHANNELS as CHANNELS,
    DUCHI as DUCHI,
    PRIV_UNIT as PRIV_UNIT,
    design_bcdp as design_bcdp,
    design_cdp as design_cdp,
    design_ldp as design_ldp,
    design_mse as design_mse,
    log_channel_moment as log_channel_moment,
    priv_unit_moments as priv_unit_moments,
)
from explorer.privacy.coordinates.errors import (
    clipped_normal_mse as clipped_normal_mse,
    corollary1_bound as corollary1_bound,
    projected_mse as projected_mse,
    theorem2_bound as theorem2_bound,
    theorem3_bound as theorem3_bound,
    theorem3_r2 as theorem3_r2,
)
from explorer.privacy.coordinates.exact_reports import (
    exact_level as exact_level,
    exact_m_ldp as exact_m_ldp,
    exact_m_mean as exact_m_mean,
    exact_signs as exact_signs,
    largest_truth as largest_truth,
    truth_counts as truth_counts,
)
from explorer.privacy.coordinates.levels import (
    bcdp_from_cdp as bcdp_from_cdp,
    bcdp_from_cdp_and_ldp as bcdp_from_cdp_and_ldp,
    bcdp_from_ldp as bcdp_from_ldp,
    bcdp_levels as bcdp_levels,
    bdp_level as bdp_level,
    best_certificate as best_certificate,
    cdp_levels as cdp_levels,
    composed_bcdp_levels as composed_bcdp_levels,
    composed_channel as composed_channel,
    conditional_laws as conditional_laws,
    copies_prior as copies_prior,
    coupling as coupling,
    example1_channel as example1_channel,
    example1_levels as example1_levels,
    example2_channel as example2_channel,
    ldp_from_cdp as ldp_from_cdp,
    ldp_level as ldp_level,
    level_of_tradeoff as level_of_tradeoff,
    linear_budget_matrix as linear_budget_matrix,
    linear_budget_scale as linear_budget_scale,
    post_processed as post_processed,
    repeated_certificate as repeated_certificate,
    tradeoff_beta as tradeoff_beta,
    tradeoff_bound as tradeoff_bound,
)
from explorer.privacy.coordinates.mean import (
    corner_log_likelihoods as corner_log_likelihoods,
    m_mean_combination as m_mean_combination,
    m_mean_combine as m_mean_combine,
    m_mean_corner_levels as m_mean_corner_levels,
    m_mean_covariance as m_mean_covariance,
    m_mean_moments as m_mean_moments,
    m_mean_mse as m_mean_mse,
    m_mean_variances as m_mean_variances,
    m_mean_weights as m_mean_weights,
)
from explorer.privacy.coordinates.public_data import (
    CouplingEstimate as CouplingEstimate,
    coupling_of_public_data as coupling_of_public_data,
    coupling_upper as coupling_upper,
    coupling_upper_of_counts as coupling_upper_of_counts,
)
from explorer.privacy.coordinates.regression import (
    Regression as Regression,
    TrustRegion as TrustRegion,
    minimise_clipped as minimise_clipped,
    private_regression as private_regression,
    psd_clip as psd_clip,
    regression_moments as regression_moments,
    trust_region as trust_region,
)
from explorer.privacy.coordinates.sampling import (
    Channel as Channel,
    MeanEstimate as MeanEstimate,
    design_channels as design_channels,
    draw_mean as draw_mean,
    draw_reports as draw_reports,
    m_mean as m_mean,
    m_mean_average as m_mean_average,
    m_mean_channels as m_mean_channels,
)
from explorer.privacy.coordinates.two_levels import (
    LAYOUTS as LAYOUTS,
    DisjointTwoLevels as DisjointTwoLevels,
    TwoLevels as TwoLevels,
    best_two_levels as best_two_levels,
    best_two_levels_disjoint as best_two_levels_disjoint,
)
