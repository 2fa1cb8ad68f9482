"""What a heatmap of check-ins looks like under differential privacy, and what it loses."""

from explorer.studies.heatmap.study import HeatmapStudy

__all__ = ["HeatmapStudy"]
