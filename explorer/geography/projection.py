"""The flat map: equirectangular, true to scale along one latitude.

Longitudes and latitudes stay straight and evenly spaced, so a grid that divides degrees evenly is
a grid on the screen; only the ratio of the two units depends on the latitude.
"""

from __future__ import annotations

import math

from explorer.geography.region import Box


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


def fit_box(box: Box, width: float, height: float, margin: float = 0.0) -> Box:
    """Widen a box of degrees about its centre so that it fills a view of a given shape.

    Parameters
    ----------
    box : tuple of float
        South, west, north, east; south < north, west < east.
    width, height : float
        Shape of the view in any one unit (pixels, inches), > 0.
    margin : float
        Room to leave around the box, as a share of its size on every side, ≥ 0.

    Returns
    -------
    tuple of float
        South, west, north, east of the view. It may reach beyond ±180° or ±90°, where there is
        nothing to draw.

    Raises
    ------
    ValueError
        If the box is empty or the view has no size.
    """
    south, west, north, east = box
    if not (south < north and west < east):
        raise ValueError(f"box: south, west, north, east = {box} is empty")
    if not (width > 0 and height > 0 and margin >= 0):
        raise ValueError(
            f"width, height: {width:g} × {height:g} must be above 0, margin at least 0"
        )
    grow = 1 + 2 * margin
    wide, tall = (east - west) * grow, (north - south) * grow
    middle = (south + north) / 2
    # Degrees of longitude over degrees of latitude that exactly fill the view.
    shape = width / height * aspect_at(max(-90.0, min(90.0, middle)))
    wide, tall = max(wide, tall * shape), max(tall, wide / shape)
    centre = (west + east) / 2
    return (middle - tall / 2, centre - wide / 2, middle + tall / 2, centre + wide / 2)
