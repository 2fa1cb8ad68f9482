"""Differentially private heatmaps (Ghazi et al. 2022): pyramid algorithm, baselines, filter.

From check-ins to `CellCounts` (`aggregate`), to a `Schedule`, to noisy counts of few cells
(`measure`), to the nearest non-negative map (`reconstruct`), to a picture (`smoothing`) and its
agreement with the truth (`compare`). Nothing is imported before it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.privacy.heatmaps.baselines import (
        cells_kept,
        discrete_grid,
        gaussian_epsilon_of_replacement,
        gaussian_grid,
        laplace_grid,
        top_grid,
        unit_noise_grid,
    )
    from explorer.privacy.heatmaps.clustering import Clustering, k_median, k_median_cost
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
    from explorer.privacy.heatmaps.kmedian import (
        cluster,
        clustering_bound,
        coreset_error,
        coreset_order,
        data_cost,
        median_level,
        private_coreset,
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
    from explorer.privacy.heatmaps.sampling import sampling_guarantee
    from explorer.privacy.heatmaps.schedule import (
        Schedule,
        Variant,
        depth_cap,
        schedule,
        start_level,
    )
    from explorer.privacy.heatmaps.shuffle import Communication, communication, modulus_at_least
    from explorer.privacy.heatmaps.shuffle_loss import deficient_epsilon
    from explorer.privacy.heatmaps.shuffle_plan import (
        ShufflePlan,
        deficient_levels,
        delta_with,
        shuffle_plan,
        wrap_probability,
    )
    from explorer.privacy.heatmaps.shuffle_protocol import (
        Messages,
        NoisyPyramid,
        run_protocol,
        user_vectors,
    )
    from explorer.privacy.heatmaps.smoothing import Smoothing, smoothing
    from explorer.privacy.heatmaps.sparse import SparseMap
    from explorer.privacy.heatmaps.tree import Reconstruction, kappa, reconstruct
    from explorer.privacy.heatmaps.votes import one_cell_each

# fmt: off
_MODULES = {
    "baselines": (
        "cells_kept", "discrete_grid", "gaussian_epsilon_of_replacement", "gaussian_grid",
        "laplace_grid", "top_grid", "unit_noise_grid",
    ),
    "clustering": ("Clustering", "k_median", "k_median_cost",),
    "counts": ("CellCounts", "aggregate", "from_grid",),
    "dense": (
        "DenseCounts", "dense_map", "dense_measurement_level", "measure_dense",
        "nearest_map",
    ),
    "integers": (
        "IntegerCounts", "cumulative_floors", "exact_epsilons", "integer_aggregate",
        "integer_counts", "release_levels", "release_measurement",
    ),
    "kmedian": (
        "cluster", "clustering_bound", "coreset_error", "coreset_order", "data_cost",
        "median_level", "private_coreset",
    ),
    "least_squares": (
        "FittedMap", "LevelCounts", "fit", "least_squares", "measure_levels",
        "variance_of_fit",
    ),
    "measurement": ("Measurement", "descend", "largest", "measure",),
    "metrics": ("Metrics", "QuickBounds", "compare", "pyramid_norm", "quick_bounds",),
    "morton": ("all_codes", "children", "decode", "encode", "level_of",),
    "norms": ("emd_norm", "nearest_nonnegative",),
    "reference": (
        "ReducedProblem", "reconstruct_by_reference", "reduced_problem", "solve_reduced",
    ),
    "sampling": ("sampling_guarantee",),
    "schedule": ("Schedule", "Variant", "depth_cap", "schedule", "start_level",),
    "shuffle": ("Communication", "communication", "modulus_at_least",),
    "shuffle_loss": ("deficient_epsilon",),
    "shuffle_plan": (
        "ShufflePlan", "deficient_levels", "delta_with", "shuffle_plan", "wrap_probability",
    ),
    "shuffle_protocol": ("Messages", "NoisyPyramid", "run_protocol", "user_vectors",),
    "smoothing": ("Smoothing", "smoothing",),
    "sparse": ("SparseMap",),
    "tree": ("Reconstruction", "kappa", "reconstruct",),
    "votes": ("one_cell_each",),
}
# fmt: on
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CellCounts",
    "Clustering",
    "Communication",
    "DenseCounts",
    "FittedMap",
    "IntegerCounts",
    "LevelCounts",
    "Measurement",
    "Messages",
    "Metrics",
    "NoisyPyramid",
    "QuickBounds",
    "Reconstruction",
    "ReducedProblem",
    "Schedule",
    "ShufflePlan",
    "Smoothing",
    "SparseMap",
    "Variant",
    "aggregate",
    "all_codes",
    "cells_kept",
    "children",
    "cluster",
    "clustering_bound",
    "communication",
    "compare",
    "coreset_error",
    "coreset_order",
    "cumulative_floors",
    "data_cost",
    "decode",
    "deficient_epsilon",
    "deficient_levels",
    "delta_with",
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
    "k_median",
    "k_median_cost",
    "kappa",
    "laplace_grid",
    "largest",
    "least_squares",
    "level_of",
    "measure",
    "measure_dense",
    "measure_levels",
    "median_level",
    "modulus_at_least",
    "nearest_map",
    "nearest_nonnegative",
    "one_cell_each",
    "private_coreset",
    "pyramid_norm",
    "quick_bounds",
    "reconstruct",
    "reconstruct_by_reference",
    "reduced_problem",
    "release_levels",
    "release_measurement",
    "run_protocol",
    "sampling_guarantee",
    "schedule",
    "shuffle_plan",
    "smoothing",
    "solve_reduced",
    "start_level",
    "top_grid",
    "unit_noise_grid",
    "user_vectors",
    "variance_of_fit",
    "wrap_probability",
]


class _Package(ModuleType):
    """Keeps `schedule` and others that are named as their modules from becoming these modules.

    Importing a module makes it an attribute of its package.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
