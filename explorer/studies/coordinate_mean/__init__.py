"""Coordinate DP: error of a private mean with a privacy level for each coordinate."""

from explorer.studies.coordinate_mean.study import CoordinateMean

__all__ = ["CoordinateMean"]
