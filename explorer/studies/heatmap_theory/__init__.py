"""What the heatmap paper proves: errors from above and below, budgets, what shuffling sends."""

from explorer.studies.heatmap_theory.study import HeatmapTheory

__all__ = ["HeatmapTheory"]
