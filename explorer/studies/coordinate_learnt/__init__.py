"""Coordinate DP: what an observer learns of one coordinate, exactly, on a small domain."""

from explorer.studies.coordinate_learnt.study import CoordinateLearnt

__all__ = ["CoordinateLearnt"]
