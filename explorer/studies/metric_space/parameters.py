"""The parameters of the metric-space panel, shared by every study that has one."""

import math
from dataclasses import replace

from explorer.geography.coordinates import EARTH_RADIUS_KM, KM_PER_MILE
from explorer.privacy.spaces import EARTH_HALF_CIRCUMFERENCE_MILES
from explorer.studies.base.builders import choice, count, decimal_sign, file, real, share, table
from explorer.studies.base.study import Parameter

LINE, SQUARE_L1, SQUARE_L2, GRID = "line", "square-l1", "square-l2", "grid"
SPHERE, CLUSTERED, DISCRETE = "sphere", "clustered", "discrete"
MATRIX, TYPED, POINTS = "matrix", "typed", "points"

KINDS = (
    (SPHERE, "Earth's surface, great-circle distance"),
    (LINE, "line"),
    (SQUARE_L2, "square, straight distance (ℓ2)"),
    (SQUARE_L1, "square, along streets (ℓ1)"),
    (GRID, "grid Δ × Δ, along streets (ℓ1)"),
    (CLUSTERED, "clusters: near inside, far between"),
    (DISCRETE, "0/1: all items equally far"),
    (MATRIX, "your distances (CSV matrix)"),
    (TYPED, "your distances, typed"),
    (POINTS, "your points (CSV)"),
)
UNITLESS = (CLUSTERED, DISCRETE)
"""Kinds whose distances are pure numbers from 0 to 1."""
WITH_UNIT = tuple(item[0] for item in KINDS if item[0] not in UNITLESS)

UNITS = (("km", "kilometres"), ("mi", "miles"), ("m", "metres"), ("none", "none: pure numbers"))
_METRES = {"km": 1000.0, "mi": 1000.0 * KM_PER_MILE, "m": 1.0}

HALF_MILES = {
    "equator": EARTH_HALF_CIRCUMFERENCE_MILES,
    "mean": math.pi * EARTH_RADIUS_KM / KM_PER_MILE,
    "paper": 12_930.0,
}
"""Half the Earth's circumference in miles: at the equator, of the mean sphere, as printed."""

GREAT_CIRCLE = "great-circle"


def space_parameters(
    kinds: tuple[str, ...] = (*WITH_UNIT, *UNITLESS), default: str = SPHERE
) -> tuple[Parameter, ...]:
    """Return the panel's parameters for the kinds a study allows.

    Parameters
    ----------
    kinds : tuple of str
        Which kinds of space can be chosen.
    default : str
        The kind to start with.
    """
    offered = tuple(item for item in KINDS if item[0] in kinds)
    space = choice(
        "space",
        "",
        "metric space",
        "Where items live and what their distance is. Every formula uses distances "
        "divided by the largest one, so that they run from 0 to 1.",
        default,
        offered,
        group="space",
    )
    others = []
    for p in _OTHERS:
        ((key, allowed),) = p.relevant_when
        here = tuple(kind for kind in allowed if kind in kinds)
        if here:
            others.append(replace(p, relevant_when=((key, here),)))
    return (space, *others)


def half_circumference(earth: str, unit: str) -> float:
    """Return half the Earth's circumference in a unit; 1 for pure numbers."""
    if unit == "none":
        return 1.0
    return HALF_MILES[earth] * _METRES["mi"] / _METRES[unit]


_OTHERS = (
    choice(
        "space_unit",
        "",
        "unit of distance",
        "What distances are measured in on screen; formulas use shares of the largest distance.",
        "mi",
        UNITS,
        group="space",
        relevant_when=(("space", WITH_UNIT),),
    ),
    real(
        "space_side",
        "L",
        "length of a side",
        "Length of the line, or of a side of the square or of the grid, in the unit of distance. "
        "A longer side makes the same distance a smaller share of the space.",
        20.0,
        1e-3,
        1e5,
        group="space",
        relevant_when=(("space", (LINE, SQUARE_L1, SQUARE_L2, GRID)),),
        unit_from="space_unit",
    ),
    count(
        "space_cells",
        "Δ",
        "cells on a side",
        "The grid has Δ × Δ cells; items are cells, and two neighbours are L/Δ apart.",
        32,
        2,
        1024,
        latex=r"\Delta",
        group="space",
        relevant_when=(("space", (GRID,)),),
    ),
    choice(
        "space_earth",
        "",
        "half circumference",
        "The largest distance on the Earth's surface. The paper's 12,930 miles is longer than "
        "any shortest path on Earth; it is here to follow the paper's numbers.",
        "equator",
        (
            ("equator", "12,450.7 mi (20,037.5 km), equator"),
            ("mean", "12,436.8 mi (20,015.1 km), mean sphere"),
            ("paper", "12,930 mi, as the paper (v1) prints"),
        ),
        group="space",
        relevant_when=(("space", (SPHERE,)),),
    ),
    count(
        "space_clusters",
        "s",
        "number of clusters",
        "How many clusters there are; items of different clusters are at distance 1.",
        10,
        2,
        1000,
        group="space",
        relevant_when=(("space", (CLUSTERED,)),),
    ),
    count(
        "space_each",
        "t",
        "items in a cluster",
        "How many items every cluster has.",
        10,
        1,
        1000,
        group="space",
        relevant_when=(("space", (CLUSTERED,)),),
    ),
    share(
        "space_near",
        "r",
        "distance within a cluster",
        "Distance of two items of one cluster, as a share of that between clusters.",
        0.1,
        group="space",
        relevant_when=(("space", (CLUSTERED,)),),
    ),
    count(
        "space_items",
        "k",
        "number of items",
        "How many items there are, every two of them at distance 1.",
        100,
        2,
        1_000_000,
        group="space",
        relevant_when=(("space", (DISCRETE,)),),
    ),
    file(
        "space_matrix",
        "file of distances",
        "A CSV file with one row and one column an item, in the same order: the distance of "
        "every two, in the unit chosen. A first row and a first column of names are allowed. At "
        "most 1000 items.",
        group="space",
        relevant_when=(("space", (MATRIX,)),),
    ),
    table(
        "space_typed",
        "table of distances",
        "The distance of every two items, in the unit chosen: a row and a column for each item, in "
        "the same order. Write 0.25 or 1/4, blanks between numbers, a line or a semicolon between "
        "rows.",
        "0 1 4; 1 0 3; 4 3 0",
        group="space",
        relevant_when=(("space", (TYPED,)),),
    ),
    file(
        "space_points",
        "file of points",
        "A CSV file with one row a point and one column a coordinate; a first row and a first "
        "column of names are allowed. At most 1000 points. The file must be public: it declares "
        "which items there can be.",
        group="space",
        relevant_when=(("space", (POINTS,)),),
    ),
    decimal_sign("space_decimal", group="space", relevant_when=(("space", (MATRIX, POINTS)),)),
    choice(
        "space_norm",
        "",
        "distance of two points",
        "How far apart two points of the file are. Great-circle distance takes the first "
        "column as latitude and the second as longitude, in degrees.",
        "2",
        (
            ("2", "straight (ℓ2)"),
            ("1", "along the axes (ℓ1)"),
            ("inf", "largest coordinate (ℓ∞)"),
            (GREAT_CIRCLE, "great circle (latitude, longitude)"),
        ),
        group="space",
        relevant_when=(("space", (POINTS,)),),
    ),
)
