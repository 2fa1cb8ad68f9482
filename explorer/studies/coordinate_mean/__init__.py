"""Coordinate DP: the error of a private mean whose coordinates have levels of their own."""

from explorer.studies.coordinate_mean.study import CoordinateMean

__all__ = ["CoordinateMean"]
