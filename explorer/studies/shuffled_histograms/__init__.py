"""Study of histograms in the shuffled model."""

from explorer.studies.shuffled_histograms.study import ShuffledHistograms

__all__ = ["ShuffledHistograms"]
