"""Differentially private heatmaps (Ghazi et al. 2022): pyramid algorithm, baselines, filter.

From check-ins to `CellCounts` (`aggregate`), to a `Schedule`, to noisy counts of few cells
(`measure`), to the nearest non-negative map (`reconstruct`), to a picture (`smoothing`) and its
agreement with the truth (`compare`). Nothing is imported before it is used.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
