"""The flat map: equirectangular, true to scale along one latitude.

Longitudes and latitudes stay straight and evenly spaced, so a grid that divides degrees evenly is
a grid on the screen; only the ratio of the two units depends on the latitude.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]


def aspect_at(latitude: float) -> float:
    """How much taller a degree of latitude is drawn than a degree of longitude: 1/cos(latitude).

    Parameters
    ----------
    latitude : float
        Degrees, −90…90; the middle of what is shown. Capped at 89° (57), beyond which the flat
        map would stretch without end.

    Raises
    ------
    ValueError
        If the latitude is outside −90…90.
    """
    if not -90 <= latitude <= 90:
        raise ValueError(f"latitude: {latitude:g} is outside [-90, 90] degrees")
    return 1 / math.cos(math.radians(min(abs(latitude), 89.0)))


def drawn_from(west: float, east: float) -> float:
    """Return the longitude from which on a view has every place once, up to 360° further.

    Parameters
    ----------
    west, east : float
        Sides of the view in degrees. It may reach beyond ±180: 181 is then 179° W. Of a view wider
        than 360° it is the part around its middle.
    """
    if west >= -180 and east <= 180:
        return -180.0
    return west if east - west <= 360 else (west + east) / 2 - 180


def moved_into(longitude: FloatArray, start: float) -> FloatArray:
    """Return stored longitudes moved by a turn where they are not within 360° from a start."""
    later = np.where(longitude < start, longitude + 360, longitude)
    return np.where(longitude > start + 360, longitude - 360, later)


def turns_to(longitude: float, middle: float) -> float:
    """Return by how many degrees, a multiple of 360, to move a longitude to be nearest another."""
    return 360.0 * round((middle - longitude) / 360)
