"""Histograms in the shuffled model as a study."""

from explorer.studies.shuffled_histograms.study import ShuffledHistograms

__all__ = ["ShuffledHistograms"]
