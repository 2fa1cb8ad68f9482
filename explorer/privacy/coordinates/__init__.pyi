from explorer.privacy.coordinates.budgets.allocation import (
    ZetaAllocation as ZetaAllocation,
)
from explorer.privacy.coordinates.budgets.allocation import (
    best_nested_rounding as best_nested_rounding,
)
from explorer.privacy.coordinates.budgets.allocation import (
    best_zeta as best_zeta,
)
from explorer.privacy.coordinates.budgets.budget import (
    best_possible_zeta as best_possible_zeta,
)
from explorer.privacy.coordinates.budgets.budget import (
    budget_at_total as budget_at_total,
)
from explorer.privacy.coordinates.budgets.budget import (
    budget_vector as budget_vector,
)
from explorer.privacy.coordinates.budgets.budget import (
    corollary1_threshold as corollary1_threshold,
)
from explorer.privacy.coordinates.budgets.budget import (
    coupling_matters as coupling_matters,
)
from explorer.privacy.coordinates.budgets.budget import (
    effective_levels as effective_levels,
)
from explorer.privacy.coordinates.budgets.budget import (
    largest_total as largest_total,
)
from explorer.privacy.coordinates.budgets.convex_design import (
    best_disjoint_levels as best_disjoint_levels,
)
from explorer.privacy.coordinates.budgets.design_search import (
    BestDesign as BestDesign,
)
from explorer.privacy.coordinates.budgets.design_search import (
    best_design as best_design,
)
from explorer.privacy.coordinates.budgets.errors import (
    clipped_normal_mse as clipped_normal_mse,
)
from explorer.privacy.coordinates.budgets.errors import (
    corollary1_bound as corollary1_bound,
)
from explorer.privacy.coordinates.budgets.errors import (
    projected_mse as projected_mse,
)
from explorer.privacy.coordinates.budgets.errors import (
    theorem2_bound as theorem2_bound,
)
from explorer.privacy.coordinates.budgets.errors import (
    theorem3_bound as theorem3_bound,
)
from explorer.privacy.coordinates.budgets.errors import (
    theorem3_r2 as theorem3_r2,
)
from explorer.privacy.coordinates.budgets.two_levels import (
    LAYOUTS as LAYOUTS,
)
from explorer.privacy.coordinates.budgets.two_levels import (
    DisjointTwoLevels as DisjointTwoLevels,
)
from explorer.privacy.coordinates.budgets.two_levels import (
    TwoLevels as TwoLevels,
)
from explorer.privacy.coordinates.budgets.two_levels import (
    best_two_levels as best_two_levels,
)
from explorer.privacy.coordinates.budgets.two_levels import (
    best_two_levels_disjoint as best_two_levels_disjoint,
)
from explorer.privacy.coordinates.levels.certificates import (
    bcdp_from_cdp as bcdp_from_cdp,
)
from explorer.privacy.coordinates.levels.certificates import (
    bcdp_from_cdp_and_ldp as bcdp_from_cdp_and_ldp,
)
from explorer.privacy.coordinates.levels.certificates import (
    bcdp_from_ldp as bcdp_from_ldp,
)
from explorer.privacy.coordinates.levels.certificates import (
    best_certificate as best_certificate,
)
from explorer.privacy.coordinates.levels.certificates import (
    ldp_from_cdp as ldp_from_cdp,
)
from explorer.privacy.coordinates.levels.certificates import (
    linear_budget_matrix as linear_budget_matrix,
)
from explorer.privacy.coordinates.levels.certificates import (
    linear_budget_scale as linear_budget_scale,
)
from explorer.privacy.coordinates.levels.certificates import (
    repeated_certificate as repeated_certificate,
)
from explorer.privacy.coordinates.levels.finite import (
    bcdp_levels as bcdp_levels,
)
from explorer.privacy.coordinates.levels.finite import (
    bdp_level as bdp_level,
)
from explorer.privacy.coordinates.levels.finite import (
    cdp_levels as cdp_levels,
)
from explorer.privacy.coordinates.levels.finite import (
    composed_bcdp_levels as composed_bcdp_levels,
)
from explorer.privacy.coordinates.levels.finite import (
    composed_channel as composed_channel,
)
from explorer.privacy.coordinates.levels.finite import (
    conditional_laws as conditional_laws,
)
from explorer.privacy.coordinates.levels.finite import (
    copies_prior as copies_prior,
)
from explorer.privacy.coordinates.levels.finite import (
    coupling as coupling,
)
from explorer.privacy.coordinates.levels.finite import (
    example1_channel as example1_channel,
)
from explorer.privacy.coordinates.levels.finite import (
    example1_levels as example1_levels,
)
from explorer.privacy.coordinates.levels.finite import (
    example2_channel as example2_channel,
)
from explorer.privacy.coordinates.levels.finite import (
    ldp_level as ldp_level,
)
from explorer.privacy.coordinates.levels.tradeoff import (
    level_of_tradeoff as level_of_tradeoff,
)
from explorer.privacy.coordinates.levels.tradeoff import (
    tradeoff_beta as tradeoff_beta,
)
from explorer.privacy.coordinates.levels.tradeoff import (
    tradeoff_bound as tradeoff_bound,
)
from explorer.privacy.coordinates.public_data import (
    CouplingEstimate as CouplingEstimate,
)
from explorer.privacy.coordinates.public_data import (
    coupling_of_public_data as coupling_of_public_data,
)
from explorer.privacy.coordinates.public_data import (
    coupling_upper as coupling_upper,
)
from explorer.privacy.coordinates.public_data import (
    coupling_upper_of_counts as coupling_upper_of_counts,
)
from explorer.privacy.coordinates.regression import (
    Regression as Regression,
)
from explorer.privacy.coordinates.regression import (
    TrustRegion as TrustRegion,
)
from explorer.privacy.coordinates.regression import (
    minimise_clipped as minimise_clipped,
)
from explorer.privacy.coordinates.regression import (
    private_regression as private_regression,
)
from explorer.privacy.coordinates.regression import (
    psd_clip as psd_clip,
)
from explorer.privacy.coordinates.regression import (
    regression_moments as regression_moments,
)
from explorer.privacy.coordinates.regression import (
    trust_region as trust_region,
)
from explorer.privacy.coordinates.reports.channel import (
    gamma_ratio as gamma_ratio,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp as m_ldp,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_from_draws as m_ldp_from_draws,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_loss as m_ldp_loss,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_mse as m_ldp_mse,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_positive_probability as m_ldp_positive_probability,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_radius as m_ldp_radius,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_second_moment as m_ldp_second_moment,
)
from explorer.privacy.coordinates.reports.channel import (
    m_ldp_variance as m_ldp_variance,
)
from explorer.privacy.coordinates.reports.corners import (
    corner_log_likelihoods as corner_log_likelihoods,
)
from explorer.privacy.coordinates.reports.corners import (
    m_mean_corner_levels as m_mean_corner_levels,
)
from explorer.privacy.coordinates.reports.designs import (
    design_bcdp as design_bcdp,
)
from explorer.privacy.coordinates.reports.designs import (
    design_cdp as design_cdp,
)
from explorer.privacy.coordinates.reports.designs import (
    design_ldp as design_ldp,
)
from explorer.privacy.coordinates.reports.designs import (
    design_mse as design_mse,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    exact_level as exact_level,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    exact_m_ldp as exact_m_ldp,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    exact_m_mean as exact_m_mean,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    exact_signs as exact_signs,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    largest_truth as largest_truth,
)
from explorer.privacy.coordinates.reports.exact_reports import (
    truth_counts as truth_counts,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_combination as m_mean_combination,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_combine as m_mean_combine,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_covariance as m_mean_covariance,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_moments as m_mean_moments,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_mse as m_mean_mse,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_variances as m_mean_variances,
)
from explorer.privacy.coordinates.reports.mean import (
    m_mean_weights as m_mean_weights,
)
from explorer.privacy.coordinates.reports.sampling import (
    Channel as Channel,
)
from explorer.privacy.coordinates.reports.sampling import (
    MeanEstimate as MeanEstimate,
)
from explorer.privacy.coordinates.reports.sampling import (
    design_channels as design_channels,
)
from explorer.privacy.coordinates.reports.sampling import (
    draw_mean as draw_mean,
)
from explorer.privacy.coordinates.reports.sampling import (
    draw_reports as draw_reports,
)
from explorer.privacy.coordinates.reports.sampling import (
    m_mean as m_mean,
)
from explorer.privacy.coordinates.reports.sampling import (
    m_mean_average as m_mean_average,
)
from explorer.privacy.coordinates.reports.sampling import (
    m_mean_channels as m_mean_channels,
)
from explorer.studies.coordinate_mean.figure3 import (
    Figure3 as Figure3,
)
from explorer.studies.coordinate_mean.figure3 import (
    figure3_curves as figure3_curves,
)
