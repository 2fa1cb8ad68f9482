from explorer.privacy.core.composition import (
    sampling_guarantee as sampling_guarantee,
)
from explorer.privacy.heatmaps.adaptive_quadtree import (
    AdaptiveDemonstrationNoise as AdaptiveDemonstrationNoise,
    AdaptiveFit as AdaptiveFit,
    AdaptiveTree as AdaptiveTree,
    ExactAdaptiveTree as ExactAdaptiveTree,
    adaptive_tree as adaptive_tree,
    adaptive_tree_exact as adaptive_tree_exact,
    fit_adaptive as fit_adaptive,
    flatness_statistic as flatness_statistic,
    fresh_noise as fresh_noise,
    smooth_stopped_cells as smooth_stopped_cells,
    transcript_loss as transcript_loss,
)
from explorer.privacy.heatmaps.baselines import (
    DenseCounts as DenseCounts,
    cells_kept as cells_kept,
    dense_map as dense_map,
    dense_measurement_level as dense_measurement_level,
    discrete_grid as discrete_grid,
    emd_norm as emd_norm,
    gaussian_epsilon_of_replacement as gaussian_epsilon_of_replacement,
    gaussian_grid as gaussian_grid,
    laplace_grid as laplace_grid,
    measure_dense as measure_dense,
    nearest_map as nearest_map,
    nearest_nonnegative as nearest_nonnegative,
    top_grid as top_grid,
    unit_noise_grid as unit_noise_grid,
)
from explorer.privacy.heatmaps.budget_schedule import (
    Budgets as Budgets,
    ExactBudgets as ExactBudgets,
    Schedule as Schedule,
    Variant as Variant,
    adaptive_budgets as adaptive_budgets,
    adaptive_budgets_exact as adaptive_budgets_exact,
    check_threshold as check_threshold,
    depth_cap as depth_cap,
    measured_levels as measured_levels,
    schedule as schedule,
    start_level as start_level,
)
from explorer.privacy.heatmaps.clustering import (
    Clustering as Clustering,
    cluster as cluster,
    clustering_bound as clustering_bound,
    coreset_error as coreset_error,
    coreset_order as coreset_order,
    data_cost as data_cost,
    k_median as k_median,
    k_median_cost as k_median_cost,
    median_level as median_level,
    private_coreset as private_coreset,
)
from explorer.privacy.heatmaps.counts import (
    CellCounts as CellCounts,
    aggregate as aggregate,
    contribution_sizes as contribution_sizes,
    from_grid as from_grid,
    one_cell_each as one_cell_each,
)
from explorer.privacy.heatmaps.evaluation import (
    LossStatistics as LossStatistics,
    Metrics as Metrics,
    Quality as Quality,
    QuickBounds as QuickBounds,
    WrongSquares as WrongSquares,
    compare as compare,
    loss_statistics as loss_statistics,
    lower_rank as lower_rank,
    map_quality as map_quality,
    pyramid_norm as pyramid_norm,
    quick_bounds as quick_bounds,
    too_noisy_threshold as too_noisy_threshold,
    upper_rank as upper_rank,
    wrong_squares as wrong_squares,
)
from explorer.privacy.heatmaps.gaussian_filter import (
    Smoothing as Smoothing,
    smoothing as smoothing,
)
from explorer.privacy.heatmaps.integers import (
    IntegerCounts as IntegerCounts,
    UserCells as UserCells,
    cumulative_floors as cumulative_floors,
    exact_epsilons as exact_epsilons,
    integer_aggregate as integer_aggregate,
    integer_counts as integer_counts,
    release_levels as release_levels,
    release_measurement as release_measurement,
    user_cells as user_cells,
)
from explorer.privacy.heatmaps.least_squares_fit import (
    FittedMap as FittedMap,
    LevelCounts as LevelCounts,
    fit as fit,
    least_squares as least_squares,
    measure_levels as measure_levels,
    variance_of_fit as variance_of_fit,
)
from explorer.privacy.heatmaps.measurement import (
    Measurement as Measurement,
    descend as descend,
    largest as largest,
    measure as measure,
)
from explorer.privacy.heatmaps.public_prior import (
    FamilyFit as FamilyFit,
    HypothesisWeights as HypothesisWeights,
    PriorDensities as PriorDensities,
    PriorMap as PriorMap,
    prior_densities as prior_densities,
    prior_family as prior_family,
    prior_interpolated_shares as prior_interpolated_shares,
    prior_map as prior_map,
    prior_weights as prior_weights,
)
from explorer.privacy.heatmaps.quadtree import (
    SparseMap as SparseMap,
    all_codes as all_codes,
    children as children,
    decode as decode,
    encode as encode,
    level_of as level_of,
)
from explorer.privacy.heatmaps.reconstruction import (
    Reconstruction as Reconstruction,
    ReducedProblem as ReducedProblem,
    kappa as kappa,
    reconstruct as reconstruct,
    reconstruct_by_reference as reconstruct_by_reference,
    reduced_problem as reduced_problem,
    solve_reduced as solve_reduced,
)
from explorer.privacy.heatmaps.shuffle_parameters import (
    Communication as Communication,
    ShufflePlan as ShufflePlan,
    communication as communication,
    deficient_epsilon as deficient_epsilon,
    deficient_levels as deficient_levels,
    delta_with as delta_with,
    modulus_at_least as modulus_at_least,
    shuffle_plan as shuffle_plan,
    wrap_probability as wrap_probability,
)
from explorer.privacy.heatmaps.shuffle_protocol import (
    Messages as Messages,
    NoisyPyramid as NoisyPyramid,
    SharedNoise as SharedNoise,
    noisy_sums as noisy_sums,
    run_protocol as run_protocol,
    user_vectors as user_vectors,
)
