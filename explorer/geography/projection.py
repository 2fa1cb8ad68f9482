"""The flat map: equirectangular, true to scale along one latitude.

Longitudes and latitudes stay straight and evenly spaced, so a grid that divides degrees evenly is
a grid on the screen; only the ratio of the two units depends on the latitude.
"""

import math


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
