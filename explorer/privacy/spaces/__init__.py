"""Metric spaces, normalised to diameter at most 1, and the earth mover's distance on each."""

from explorer.privacy.spaces.base import MetricSpace
from explorer.privacy.spaces.continuous import (
    EARTH_HALF_CIRCUMFERENCE_MILES,
    Line,
    Sphere,
    Square,
    central_angle,
)
from explorer.privacy.spaces.finite import Clustered, Discrete, FiniteSpace, Grid, MatrixSpace

__all__ = [
    "EARTH_HALF_CIRCUMFERENCE_MILES",
    "Clustered",
    "Discrete",
    "FiniteSpace",
    "Grid",
    "Line",
    "MatrixSpace",
    "MetricSpace",
    "Sphere",
    "Square",
    "central_angle",
]
