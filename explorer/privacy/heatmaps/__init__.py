"""Differentially private heatmaps (Ghazi et al. 2022): pyramid algorithm, baselines, filter.

From check-ins to `CellCounts` (`aggregate`), to a `Schedule`, to noisy counts of few cells
(`measure`), to the nearest non-negative map (`reconstruct`), to a picture (`smoothing`) and its
agreement with the truth (`compare`).
"""

from explorer.privacy.heatmaps.baselines import (
    cells_kept,
    laplace_grid,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.counts import CellCounts, aggregate, from_grid
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
from explorer.privacy.heatmaps.schedule import Schedule, Variant, schedule, start_level
from explorer.privacy.heatmaps.smoothing import Smoothing, smoothing
from explorer.privacy.heatmaps.sparse import SparseMap
from explorer.privacy.heatmaps.tree import Reconstruction, kappa, reconstruct

__all__ = [
    "CellCounts",
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
    "decode",
    "descend",
    "emd_norm",
    "encode",
    "from_grid",
    "kappa",
    "laplace_grid",
    "largest",
    "level_of",
    "measure",
    "nearest_nonnegative",
    "pyramid_norm",
    "quick_bounds",
    "reconstruct",
    "reconstruct_by_reference",
    "reduced_problem",
    "schedule",
    "smoothing",
    "solve_reduced",
    "start_level",
    "top_grid",
    "unit_noise_grid",
]
