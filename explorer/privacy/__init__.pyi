from explorer.privacy.audit import (
    Audit as Audit,
)
from explorer.privacy.audit import (
    clopper_pearson as clopper_pearson,
)
from explorer.privacy.audit import (
    epsilon_lower_bound as epsilon_lower_bound,
)
from explorer.privacy.coordinates import (
    bcdp_from_cdp as bcdp_from_cdp,
)
from explorer.privacy.coordinates import (
    bcdp_from_cdp_and_ldp as bcdp_from_cdp_and_ldp,
)
from explorer.privacy.coordinates import (
    bcdp_levels as bcdp_levels,
)
from explorer.privacy.coordinates import (
    bdp_level as bdp_level,
)
from explorer.privacy.coordinates import (
    best_certificate as best_certificate,
)
from explorer.privacy.coordinates import (
    best_design as best_design,
)
from explorer.privacy.coordinates import (
    best_disjoint_levels as best_disjoint_levels,
)
from explorer.privacy.coordinates import (
    best_two_levels as best_two_levels,
)
from explorer.privacy.coordinates import (
    best_zeta as best_zeta,
)
from explorer.privacy.coordinates import (
    budget_vector as budget_vector,
)
from explorer.privacy.coordinates import (
    cdp_levels as cdp_levels,
)
from explorer.privacy.coordinates import (
    coupling as coupling,
)
from explorer.privacy.coordinates import (
    coupling_of_public_data as coupling_of_public_data,
)
from explorer.privacy.coordinates import (
    figure3_curves as figure3_curves,
)
from explorer.privacy.coordinates import (
    ldp_level as ldp_level,
)
from explorer.privacy.coordinates import (
    m_ldp as m_ldp,
)
from explorer.privacy.coordinates import (
    m_ldp_mse as m_ldp_mse,
)
from explorer.privacy.coordinates import (
    m_ldp_variance as m_ldp_variance,
)
from explorer.privacy.coordinates import (
    m_mean as m_mean,
)
from explorer.privacy.coordinates import (
    m_mean_mse as m_mean_mse,
)
from explorer.privacy.coordinates import (
    private_regression as private_regression,
)
from explorer.privacy.coordinates import (
    projected_mse as projected_mse,
)
from explorer.privacy.coordinates import (
    tradeoff_beta as tradeoff_beta,
)
from explorer.privacy.coordinates import (
    tradeoff_bound as tradeoff_bound,
)
from explorer.privacy.coordinates import (
    trust_region as trust_region,
)
from explorer.privacy.core.bound import (
    Bound as Bound,
)
from explorer.privacy.core.bound import (
    Grade as Grade,
)
from explorer.privacy.core.bound import (
    Reference as Reference,
)
from explorer.privacy.core.bound import (
    Role as Role,
)
from explorer.privacy.core.composition import (
    kov_epsilon as kov_epsilon,
)
from explorer.privacy.core.composition import (
    kov_exact_delta as kov_exact_delta,
)
from explorer.privacy.core.composition import (
    kov_exact_epsilon as kov_exact_epsilon,
)
from explorer.privacy.core.divergences import (
    Conversion as Conversion,
)
from explorer.privacy.core.divergences import (
    epsilon_from_rdp as epsilon_from_rdp,
)
from explorer.privacy.core.divergences import (
    hockey_stick as hockey_stick,
)
from explorer.privacy.core.odds import (
    clone_total_variation as clone_total_variation,
)
from explorer.privacy.core.odds import (
    composed_clone_total_variation as composed_clone_total_variation,
)
from explorer.privacy.core.odds import (
    composed_response_total_variation as composed_response_total_variation,
)
from explorer.privacy.core.odds import (
    count_total_variation as count_total_variation,
)
from explorer.privacy.core.odds import (
    guess_from_eps_delta as guess_from_eps_delta,
)
from explorer.privacy.core.odds import (
    guess_from_total_variation as guess_from_total_variation,
)
from explorer.privacy.core.odds import (
    pure_total_variation as pure_total_variation,
)
from explorer.privacy.core.odds import (
    two_bin_total_variation as two_bin_total_variation,
)
from explorer.privacy.core.subsampling import (
    pure_dp_renyi as pure_dp_renyi,
)
from explorer.privacy.core.subsampling import (
    subsampled_epsilon as subsampled_epsilon,
)
from explorer.privacy.heatmaps import (
    CellCounts as CellCounts,
)
from explorer.privacy.heatmaps import (
    Clustering as Clustering,
)
from explorer.privacy.heatmaps import (
    Measurement as Measurement,
)
from explorer.privacy.heatmaps import (
    Metrics as Metrics,
)
from explorer.privacy.heatmaps import (
    Schedule as Schedule,
)
from explorer.privacy.heatmaps import (
    SparseMap as SparseMap,
)
from explorer.privacy.heatmaps import (
    Variant as Variant,
)
from explorer.privacy.heatmaps import (
    aggregate as aggregate,
)
from explorer.privacy.heatmaps import (
    communication as communication,
)
from explorer.privacy.heatmaps import (
    dense_map as dense_map,
)
from explorer.privacy.heatmaps import (
    depth_cap as depth_cap,
)
from explorer.privacy.heatmaps import (
    gaussian_grid as gaussian_grid,
)
from explorer.privacy.heatmaps import (
    k_median as k_median,
)
from explorer.privacy.heatmaps import (
    laplace_grid as laplace_grid,
)
from explorer.privacy.heatmaps import (
    private_coreset as private_coreset,
)
from explorer.privacy.heatmaps import (
    reconstruct as reconstruct,
)
from explorer.privacy.heatmaps import (
    release_measurement as release_measurement,
)
from explorer.privacy.heatmaps import (
    run_protocol as run_protocol,
)
from explorer.privacy.heatmaps import (
    top_grid as top_grid,
)
from explorer.privacy.histograms import (
    Adjacency as Adjacency,
)
from explorer.privacy.histograms import (
    Calibration as Calibration,
)
from explorer.privacy.histograms import (
    Query as Query,
)
from explorer.privacy.histograms import (
    calibrate as calibrate,
)
from explorer.privacy.histograms import (
    exact_samples as exact_samples,
)
from explorer.privacy.histograms import (
    histogram_delta as histogram_delta,
)
from explorer.privacy.histograms import (
    identify_support as identify_support,
)
from explorer.privacy.histograms import (
    least_users as least_users,
)
from explorer.privacy.histograms import (
    pointer_chasing as pointer_chasing,
)
from explorer.privacy.histograms import (
    pointer_jumping as pointer_jumping,
)
from explorer.privacy.histograms import (
    printed_error as printed_error,
)
from explorer.privacy.histograms import (
    printed_noise as printed_noise,
)
from explorer.privacy.histograms import (
    printed_samples as printed_samples,
)
from explorer.privacy.histograms import (
    simulate_count as simulate_count,
)
from explorer.privacy.histograms import (
    simulate_histogram as simulate_histogram,
)
from explorer.privacy.histograms import (
    simultaneous_error as simultaneous_error,
)
from explorer.privacy.histograms import (
    table1 as table1,
)
from explorer.privacy.histograms import (
    table2 as table2,
)
from explorer.privacy.learning import (
    CoordinateReport as CoordinateReport,
)
from explorer.privacy.learning import (
    Perceptron as Perceptron,
)
from explorer.privacy.learning import (
    PrivUnit as PrivUnit,
)
from explorer.privacy.learning import (
    Softmax as Softmax,
)
from explorer.privacy.learning import (
    excess_risk as excess_risk,
)
from explorer.privacy.learning import (
    training_epsilon as training_epsilon,
)
from explorer.privacy.learning import (
    training_epsilon_numerical as training_epsilon_numerical,
)
from explorer.privacy.noise.bits import (
    BitSource as BitSource,
)
from explorer.privacy.noise.bits import (
    SeededBits as SeededBits,
)
from explorer.privacy.noise.bits import (
    SystemBits as SystemBits,
)
from explorer.privacy.noise.demonstration import (
    DemonstrationNoise as DemonstrationNoise,
)
from explorer.privacy.noise.demonstration import (
    discrete_laplace_pmf as discrete_laplace_pmf,
)
from explorer.privacy.noise.demonstration import (
    polya_pmf as polya_pmf,
)
from explorer.privacy.noise.exact import (
    discrete_gaussian as discrete_gaussian,
)
from explorer.privacy.noise.exact import (
    discrete_laplace as discrete_laplace,
)
from explorer.privacy.shuffle_rdp import (
    Composition as Composition,
)
from explorer.privacy.shuffle_rdp import (
    Direction as Direction,
)
from explorer.privacy.shuffle_rdp import (
    RoundLoss as RoundLoss,
)
from explorer.privacy.shuffle_rdp import (
    Shuffling as Shuffling,
)
from explorer.privacy.shuffle_rdp import (
    clone_epsilon as clone_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    clone_loss as clone_loss,
)
from explorer.privacy.shuffle_rdp import (
    convergence_bound as convergence_bound,
)
from explorer.privacy.shuffle_rdp import (
    gradient_second_moment as gradient_second_moment,
)
from explorer.privacy.shuffle_rdp import (
    lower_rdp as lower_rdp,
)
from explorer.privacy.shuffle_rdp import (
    lower_rdp_epsilon as lower_rdp_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    lower_rdp_table as lower_rdp_table,
)
from explorer.privacy.shuffle_rdp import (
    pipeline_epsilon as pipeline_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    pure_epsilon as pure_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    randomised_response_delta as randomised_response_delta,
)
from explorer.privacy.shuffle_rdp import (
    randomised_response_epsilon as randomised_response_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    randomised_response_loss as randomised_response_loss,
)
from explorer.privacy.shuffle_rdp import (
    randomised_response_round_epsilon as randomised_response_round_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    renyi_cap_table as renyi_cap_table,
)
from explorer.privacy.shuffle_rdp import (
    upper_epsilon as upper_epsilon,
)
from explorer.privacy.shuffle_rdp import (
    upper_rdp as upper_rdp,
)
from explorer.privacy.shuffle_rdp import (
    upper_rdp_table as upper_rdp_table,
)
from explorer.privacy.shuffling.clones import (
    CloneCurve as CloneCurve,
)
from explorer.privacy.shuffling.clones import (
    Clones as Clones,
)
from explorer.privacy.shuffling.clones import (
    blanket_condition as blanket_condition,
)
from explorer.privacy.shuffling.clones import (
    clones_closed_form as clones_closed_form,
)
from explorer.privacy.shuffling.clones import (
    clones_condition as clones_condition,
)
from explorer.privacy.spaces import (
    Clustered as Clustered,
)
from explorer.privacy.spaces import (
    Discrete as Discrete,
)
from explorer.privacy.spaces import (
    FiniteSpace as FiniteSpace,
)
from explorer.privacy.spaces import (
    Grid as Grid,
)
from explorer.privacy.spaces import (
    Line as Line,
)
from explorer.privacy.spaces import (
    MatrixSpace as MatrixSpace,
)
from explorer.privacy.spaces import (
    MetricSpace as MetricSpace,
)
from explorer.privacy.spaces import (
    Sphere as Sphere,
)
from explorer.privacy.spaces import (
    Square as Square,
)
from explorer.privacy.transport.grid import (
    block_interval as block_interval,
)
from explorer.privacy.transport.grid import (
    grid_emd as grid_emd,
)
from explorer.privacy.transport.grid import (
    line_emd as line_emd,
)
from explorer.privacy.transport.grid import (
    marginal_bound as marginal_bound,
)
from explorer.privacy.transport.grid import (
    pyramid_bound as pyramid_bound,
)
from explorer.privacy.user_metric import (
    GKRR as GKRR,
)
from explorer.privacy.user_metric import (
    Concentration as Concentration,
)
from explorer.privacy.user_metric import (
    Exponential as Exponential,
)
from explorer.privacy.user_metric import (
    HadamardResponse as HadamardResponse,
)
from explorer.privacy.user_metric import (
    Internal as Internal,
)
from explorer.privacy.user_metric import (
    PlanarLaplace as PlanarLaplace,
)
from explorer.privacy.user_metric import (
    alpha_from_distances as alpha_from_distances,
)
from explorer.privacy.user_metric import (
    alpha_from_requirements as alpha_from_requirements,
)
from explorer.privacy.user_metric import (
    bounded_emd_reduction as bounded_emd_reduction,
)
from explorer.privacy.user_metric import (
    bounded_reduction as bounded_reduction,
)
from explorer.privacy.user_metric import (
    closed_form as closed_form,
)
from explorer.privacy.user_metric import (
    emd_projection as emd_projection,
)
from explorer.privacy.user_metric import (
    gaussian_delta as gaussian_delta,
)
from explorer.privacy.user_metric import (
    gkrr_emd_bound as gkrr_emd_bound,
)
from explorer.privacy.user_metric import (
    gkrr_excess as gkrr_excess,
)
from explorer.privacy.user_metric import (
    gkrr_mse as gkrr_mse,
)
from explorer.privacy.user_metric import (
    group_alpha as group_alpha,
)
from explorer.privacy.user_metric import (
    group_alpha0 as group_alpha0,
)
from explorer.privacy.user_metric import (
    group_delta as group_delta,
)
from explorer.privacy.user_metric import (
    group_delta_certified as group_delta_certified,
)
from explorer.privacy.user_metric import (
    group_privacy_delta as group_privacy_delta,
)
from explorer.privacy.user_metric import (
    hadamard_mse as hadamard_mse,
)
from explorer.privacy.user_metric import (
    hop_delta as hop_delta,
)
from explorer.privacy.user_metric import (
    hop_epsilon as hop_epsilon,
)
from explorer.privacy.user_metric import (
    k_norm_mean as k_norm_mean,
)
from explorer.privacy.user_metric import (
    k_norm_noise as k_norm_noise,
)
from explorer.privacy.user_metric import (
    laplace_l1_mean as laplace_l1_mean,
)
from explorer.privacy.user_metric import (
    linear_query as linear_query,
)
from explorer.privacy.user_metric import (
    priv_emd_gaussian as priv_emd_gaussian,
)
from explorer.privacy.user_metric import (
    priv_emd_item_wise as priv_emd_item_wise,
)
from explorer.privacy.user_metric import (
    priv_emd_linear as priv_emd_linear,
)
from explorer.privacy.user_metric import (
    simplex_projection as simplex_projection,
)
from explorer.privacy.user_metric import (
    theorem44_alpha as theorem44_alpha,
)
from explorer.privacy.user_metric import (
    theorem44_delta as theorem44_delta,
)
from explorer.privacy.user_metric import (
    theorem44_invert as theorem44_invert,
)
from explorer.privacy.user_metric import (
    theorem53_alpha as theorem53_alpha,
)
from explorer.privacy.user_metric import (
    theorem66_bound as theorem66_bound,
)
from explorer.privacy.user_metric import (
    validity_limit as validity_limit,
)
