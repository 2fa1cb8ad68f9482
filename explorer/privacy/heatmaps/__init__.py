"""Differentially private heatmaps (Ghazi et al. 2022): pyramid algorithm, baselines, filter.

From check-ins to `CellCounts` (`aggregate`), to a `Schedule`, to noisy counts of few cells
(`measure`), to the nearest non-negative map (`reconstruct`), to a picture (`smoothing`) and its
agreement with the truth (`compare`).
"""

from explorer.privacy.heatmaps.baselines import (
    cells_kept,
    discrete_grid,
    gaussian_epsilon_of_replacement,
    gaussian_grid,
    laplace_grid,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.counts import CellCounts, aggregate, from_grid
from explorer.privacy.heatmaps.dense import (
    DenseCounts,
    dense_map,
    dense_measurement_level,
    measure_dense,
    nearest_map,
)
from explorer.privacy.heatmaps.integers import (
    IntegerCounts,
    cumulative_floors,
    exact_epsilons,
    integer_aggregate,
    integer_counts,
    release_levels,
    release_measurement,
)
from explorer.privacy.heatmaps.least_squares import (
    FittedMap,
    LevelCounts,
    fit,
    least_squares,
    measure_levels,
    variance_of_fit,
)
from explorer.privacy.heatmaps.measurement import Measurement, descend, largest, measure
from explorer.privacy.heatmaps.metrics import (
    Metrics,
    QuickBounds,
    compare,
    pyramid_norm,
    quick_bounds,
)
from explorer.privacy.heatmaps.morton import all_codes, children, decode, encode, level_of
from explorer.privacy.heatmaps.norms import emd_norm, nearest_nonnegative
from explorer.privacy.heatmaps.reference import (
    ReducedProblem,
    reconstruct_by_reference,
    reduced_problem,
    solve_reduced,
)
from explorer.privacy.heatmaps.schedule import (
    Schedule,
    Variant,
    depth_cap,
    schedule,
    start_level,
)
from explorer.privacy.heatmaps.smoothing import Smoothing, smoothing
from explorer.privacy.heatmaps.sparse import SparseMap
from explorer.privacy.heatmaps.tree import Reconstruction, kappa, reconstruct
from explorer.privacy.heatmaps.votes import one_cell_each

__all__ = [
    "CellCounts",
    "DenseCounts",
    "FittedMap",
    "IntegerCounts",
    "LevelCounts",
    "Measurement",
    "Metrics",
    "QuickBounds",
    "Reconstruction",
    "ReducedProblem",
    "Schedule",
    "Smoothing",
    "SparseMap",
    "Variant",
    "aggregate",
    "all_codes",
    "cells_kept",
    "children",
    "compare",
    "cumulative_floors",
    "decode",
    "dense_map",
    "dense_measurement_level",
    "depth_cap",
    "descend",
    "discrete_grid",
    "emd_norm",
    "encode",
    "exact_epsilons",
    "fit",
    "from_grid",
    "gaussian_epsilon_of_replacement",
    "gaussian_grid",
    "integer_aggregate",
    "integer_counts",
    "kappa",
    "laplace_grid",
    "largest",
    "least_squares",
    "level_of",
    "measure",
    "measure_dense",
    "measure_levels",
    "nearest_map",
    "nearest_nonnegative",
    "one_cell_each",
    "pyramid_norm",
    "quick_bounds",
    "reconstruct",
    "reconstruct_by_reference",
    "reduced_problem",
    "release_levels",
    "release_measurement",
    "schedule",
    "smoothing",
    "solve_reduced",
    "start_level",
    "top_grid",
    "unit_noise_grid",
    "variance_of_fit",
]
