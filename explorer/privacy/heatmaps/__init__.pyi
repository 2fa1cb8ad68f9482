from explorer.privacy.heatmaps.baselines import (
    cells_kept as cells_kept,
)
from explorer.privacy.heatmaps.baselines import (
    discrete_grid as discrete_grid,
)
from explorer.privacy.heatmaps.baselines import (
    gaussian_epsilon_of_replacement as gaussian_epsilon_of_replacement,
)
from explorer.privacy.heatmaps.baselines import (
    gaussian_grid as gaussian_grid,
)
from explorer.privacy.heatmaps.baselines import (
    laplace_grid as laplace_grid,
)
from explorer.privacy.heatmaps.baselines import (
    top_grid as top_grid,
)
from explorer.privacy.heatmaps.baselines import (
    unit_noise_grid as unit_noise_grid,
)
from explorer.privacy.heatmaps.clustering.private import (
    cluster as cluster,
)
from explorer.privacy.heatmaps.clustering.private import (
    clustering_bound as clustering_bound,
)
from explorer.privacy.heatmaps.clustering.private import (
    coreset_error as coreset_error,
)
from explorer.privacy.heatmaps.clustering.private import (
    coreset_order as coreset_order,
)
from explorer.privacy.heatmaps.clustering.private import (
    data_cost as data_cost,
)
from explorer.privacy.heatmaps.clustering.private import (
    median_level as median_level,
)
from explorer.privacy.heatmaps.clustering.private import (
    private_coreset as private_coreset,
)
from explorer.privacy.heatmaps.clustering.weighted import (
    Clustering as Clustering,
)
from explorer.privacy.heatmaps.clustering.weighted import (
    k_median as k_median,
)
from explorer.privacy.heatmaps.clustering.weighted import (
    k_median_cost as k_median_cost,
)
from explorer.privacy.heatmaps.evaluation.gaussian_filter import (
    Smoothing as Smoothing,
)
from explorer.privacy.heatmaps.evaluation.gaussian_filter import (
    smoothing as smoothing,
)
from explorer.privacy.heatmaps.evaluation.metrics import (
    Metrics as Metrics,
)
from explorer.privacy.heatmaps.evaluation.metrics import (
    QuickBounds as QuickBounds,
)
from explorer.privacy.heatmaps.evaluation.metrics import (
    compare as compare,
)
from explorer.privacy.heatmaps.evaluation.metrics import (
    pyramid_norm as pyramid_norm,
)
from explorer.privacy.heatmaps.evaluation.metrics import (
    quick_bounds as quick_bounds,
)
from explorer.privacy.heatmaps.integers import (
    IntegerCounts as IntegerCounts,
)
from explorer.privacy.heatmaps.integers import (
    cumulative_floors as cumulative_floors,
)
from explorer.privacy.heatmaps.integers import (
    exact_epsilons as exact_epsilons,
)
from explorer.privacy.heatmaps.integers import (
    integer_aggregate as integer_aggregate,
)
from explorer.privacy.heatmaps.integers import (
    integer_counts as integer_counts,
)
from explorer.privacy.heatmaps.integers import (
    release_levels as release_levels,
)
from explorer.privacy.heatmaps.integers import (
    release_measurement as release_measurement,
)
from explorer.privacy.heatmaps.one_cell_counts import (
    one_cell_each as one_cell_each,
)
from explorer.privacy.heatmaps.pyramid.budget_schedule import (
    Schedule as Schedule,
)
from explorer.privacy.heatmaps.pyramid.budget_schedule import (
    Variant as Variant,
)
from explorer.privacy.heatmaps.pyramid.budget_schedule import (
    depth_cap as depth_cap,
)
from explorer.privacy.heatmaps.pyramid.budget_schedule import (
    schedule as schedule,
)
from explorer.privacy.heatmaps.pyramid.budget_schedule import (
    start_level as start_level,
)
from explorer.privacy.heatmaps.pyramid.counts import (
    CellCounts as CellCounts,
)
from explorer.privacy.heatmaps.pyramid.counts import (
    aggregate as aggregate,
)
from explorer.privacy.heatmaps.pyramid.counts import (
    from_grid as from_grid,
)
from explorer.privacy.heatmaps.pyramid.dense import (
    DenseCounts as DenseCounts,
)
from explorer.privacy.heatmaps.pyramid.dense import (
    dense_map as dense_map,
)
from explorer.privacy.heatmaps.pyramid.dense import (
    dense_measurement_level as dense_measurement_level,
)
from explorer.privacy.heatmaps.pyramid.dense import (
    measure_dense as measure_dense,
)
from explorer.privacy.heatmaps.pyramid.dense import (
    nearest_map as nearest_map,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    FittedMap as FittedMap,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    LevelCounts as LevelCounts,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    fit as fit,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    least_squares as least_squares,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    measure_levels as measure_levels,
)
from explorer.privacy.heatmaps.pyramid.least_squares import (
    variance_of_fit as variance_of_fit,
)
from explorer.privacy.heatmaps.pyramid.measurement import (
    Measurement as Measurement,
)
from explorer.privacy.heatmaps.pyramid.measurement import (
    descend as descend,
)
from explorer.privacy.heatmaps.pyramid.measurement import (
    largest as largest,
)
from explorer.privacy.heatmaps.pyramid.measurement import (
    measure as measure,
)
from explorer.privacy.heatmaps.pyramid.morton import (
    all_codes as all_codes,
)
from explorer.privacy.heatmaps.pyramid.morton import (
    children as children,
)
from explorer.privacy.heatmaps.pyramid.morton import (
    decode as decode,
)
from explorer.privacy.heatmaps.pyramid.morton import (
    encode as encode,
)
from explorer.privacy.heatmaps.pyramid.morton import (
    level_of as level_of,
)
from explorer.privacy.heatmaps.pyramid.norms import (
    emd_norm as emd_norm,
)
from explorer.privacy.heatmaps.pyramid.norms import (
    nearest_nonnegative as nearest_nonnegative,
)
from explorer.privacy.heatmaps.pyramid.reference import (
    ReducedProblem as ReducedProblem,
)
from explorer.privacy.heatmaps.pyramid.reference import (
    reconstruct_by_reference as reconstruct_by_reference,
)
from explorer.privacy.heatmaps.pyramid.reference import (
    reduced_problem as reduced_problem,
)
from explorer.privacy.heatmaps.pyramid.reference import (
    solve_reduced as solve_reduced,
)
from explorer.privacy.heatmaps.pyramid.sparse import (
    SparseMap as SparseMap,
)
from explorer.privacy.heatmaps.pyramid.tree import (
    Reconstruction as Reconstruction,
)
from explorer.privacy.heatmaps.pyramid.tree import (
    kappa as kappa,
)
from explorer.privacy.heatmaps.pyramid.tree import (
    reconstruct as reconstruct,
)
from explorer.privacy.heatmaps.sampling import (
    sampling_guarantee as sampling_guarantee,
)
from explorer.privacy.heatmaps.shuffle_model.cost import (
    Communication as Communication,
)
from explorer.privacy.heatmaps.shuffle_model.cost import (
    communication as communication,
)
from explorer.privacy.heatmaps.shuffle_model.cost import (
    modulus_at_least as modulus_at_least,
)
from explorer.privacy.heatmaps.shuffle_model.missing_noise import (
    deficient_epsilon as deficient_epsilon,
)
from explorer.privacy.heatmaps.shuffle_model.plan import (
    ShufflePlan as ShufflePlan,
)
from explorer.privacy.heatmaps.shuffle_model.plan import (
    deficient_levels as deficient_levels,
)
from explorer.privacy.heatmaps.shuffle_model.plan import (
    delta_with as delta_with,
)
from explorer.privacy.heatmaps.shuffle_model.plan import (
    shuffle_plan as shuffle_plan,
)
from explorer.privacy.heatmaps.shuffle_model.plan import (
    wrap_probability as wrap_probability,
)
from explorer.privacy.heatmaps.shuffle_model.protocol import (
    Messages as Messages,
)
from explorer.privacy.heatmaps.shuffle_model.protocol import (
    NoisyPyramid as NoisyPyramid,
)
from explorer.privacy.heatmaps.shuffle_model.protocol import (
    run_protocol as run_protocol,
)
from explorer.privacy.heatmaps.shuffle_model.protocol import (
    user_vectors as user_vectors,
)
