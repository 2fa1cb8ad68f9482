"""The metric-space panel: one declaration, one space and one picture for every study with one."""

from explorer.studies.metric_space.choice import ChosenSpace, chosen_space
from explorer.studies.metric_space.files import (
    ITEMS_MAX,
    ReadSpace,
    read_matrix,
    read_points,
)
from explorer.studies.metric_space.parameters import (
    CLUSTERED,
    DISCRETE,
    GRID,
    KINDS,
    LINE,
    MATRIX,
    POINTS,
    SPHERE,
    SQUARE_L1,
    SQUARE_L2,
    UNITLESS,
    WITH_UNIT,
    half_circumference,
    space_parameters,
)

__all__ = [
    "CLUSTERED",
    "DISCRETE",
    "GRID",
    "ITEMS_MAX",
    "KINDS",
    "LINE",
    "MATRIX",
    "POINTS",
    "SPHERE",
    "SQUARE_L1",
    "SQUARE_L2",
    "UNITLESS",
    "WITH_UNIT",
    "ChosenSpace",
    "ReadSpace",
    "chosen_space",
    "half_circumference",
    "read_matrix",
    "read_points",
    "space_parameters",
]
