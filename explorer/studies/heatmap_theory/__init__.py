"""Theory of heatmaps: error bounds, schedules, distances of maps, shuffle communication."""

from explorer.studies.heatmap_theory.study import HeatmapTheory

__all__ = ["HeatmapTheory"]
