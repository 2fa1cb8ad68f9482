"""Differentially private heatmaps of check-ins and their comparison with the true map."""

from explorer.studies.heatmap.study import HeatmapStudy

__all__ = ["HeatmapStudy"]
