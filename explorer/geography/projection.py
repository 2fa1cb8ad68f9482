"""Equirectangular projection, true to scale along one latitude, and its scale bars.

Longitudes and latitudes stay straight and evenly spaced, so a grid that divides degrees evenly is
a grid on the screen; only the ratio of the two units depends on the latitude.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.coordinates import KM_PER_DEGREE, KM_PER_MILE
from explorer.geography.region import Region

FloatArray = NDArray[np.floating[Any]]


def aspect_at(latitude: float) -> float:
    """Return the ratio of a drawn degree of latitude to one of longitude, 1/cos(latitude).

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


def first_longitude(west: float, east: float) -> float:
    """Return the start of the 360° of longitude in which a view shows each place once.

    Parameters
    ----------
    west, east : float
        Sides of the view in degrees. It may reach beyond ±180: 181 is then 179° W. Of a view wider
        than 360° it is the part around its middle.
    """
    if west >= -180 and east <= 180:
        return -180.0
    return west if east - west <= 360 else (west + east) / 2 - 180


def wrap_longitudes(longitude: FloatArray, start: float) -> FloatArray:
    """Shift longitudes by 360° into [start, start + 360]."""
    later = np.where(longitude < start, longitude + 360, longitude)
    return np.where(longitude > start + 360, longitude - 360, later)


def turn_offset(longitude: float, middle: float) -> float:
    """Return the multiple of 360° that moves a longitude nearest to another."""
    return 360.0 * round((middle - longitude) / 360)


FEET_PER_MILE = 5280


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """A scale bar: length in km (or a plane's unit), share of the view's width, label."""

    km: float
    share: float
    label: str


def round_length(longest: float) -> float:
    """Return the largest of 1, 2, 5 × 10^k that does not exceed a length (> 0).

    Raises
    ------
    ValueError
        If the length is not a finite number above 0.
    """
    if not (math.isfinite(longest) and longest > 0):
        raise ValueError(f"longest: {longest!r} must be a finite number above 0")
    exponent = math.floor(math.log10(longest))
    # Rounding in log10 may put an exact power of ten one decade off: look around it.
    steps = [m * 10.0**e for e in range(exponent - 1, exponent + 2) for m in (1, 2, 5)]
    return max(step for step in steps if step <= longest * (1 + 1e-12))


def scale_bars(view_km: float, longest_share: float = 0.25) -> tuple[ScaleBar, ScaleBar]:
    """Return a metric and an imperial scale bar for a view.

    Parameters
    ----------
    view_km : float
        What the full width of the view spans along its middle latitude, in km, > 0.
    longest_share : float
        The most of the width that a bar may take, in (0, 1].

    Returns
    -------
    metric, imperial : ScaleBar
        Labels in km (m below 1 km) and mi (ft below 0.1 mi).

    Raises
    ------
    ValueError
        If a number is outside its range.
    """
    if not 0 < longest_share <= 1:
        raise ValueError(f"longest_share: {longest_share:g} is outside (0, 1]")
    km = round_length(view_km * longest_share)
    metric = ScaleBar(km, km / view_km, f"{km:,g} km" if km >= 1 else f"{km * 1000:g} m")
    miles = round_length(view_km * longest_share / KM_PER_MILE)
    if miles >= 0.1:
        label = f"{miles:,g} mi"
    else:
        feet = round_length(view_km * longest_share / KM_PER_MILE * FEET_PER_MILE)
        miles, label = feet / FEET_PER_MILE, f"{feet:,g} ft"
    return metric, ScaleBar(miles * KM_PER_MILE, miles * KM_PER_MILE / view_km, label)


def scale_bars_for(
    region: Region, degrees: float, longest_share: float = 0.25
) -> tuple[ScaleBar, ScaleBar]:
    """Return the scale bars of a view this many degrees wide, centred on a region.

    On a plane that is not the Earth there is one, in its unit (the second has no length and no
    label), and the view is so wide in that.
    """
    if region.plane is None:
        # The flat map is true to scale at the region's middle latitude.
        return scale_bars(degrees * KM_PER_DEGREE / region.aspect, longest_share)
    length = round_length(degrees * longest_share)
    bar = ScaleBar(length, length / degrees, f"{length:,g} {region.unit}")
    return bar, ScaleBar(0.0, 0.0, "")
