"""Frequency estimation: histograms on a clustered space, by item-wise and user-level privacy."""

from explorer.studies.frequency.study import Frequency

__all__ = ["Frequency"]
