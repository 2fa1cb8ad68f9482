"""Coordinate DP: exact information of a report about one coordinate of a small domain."""

from explorer.studies.coordinate_learnt.study import CoordinateLearnt

__all__ = ["CoordinateLearnt"]
