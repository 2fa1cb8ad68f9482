"""Degrees: kilometres, equirectangular projection, scale bars, and formatting as text.

Lengths are those of the mean sphere (IUGG radius 6371.0088 km), which differs from the ellipsoid by
at most 0.56 %, far less than a grid cell. The projection is true to scale along one latitude:
longitudes and latitudes stay straight and evenly spaced, so a grid that divides degrees evenly is a
grid on the screen; only the ratio of the two units depends on the latitude.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.plane import Plane

EARTH_RADIUS_KM = 6371.0088
"""IUGG mean radius."""
KM_PER_DEGREE = EARTH_RADIUS_KM * math.pi / 180
"""Length of one degree of latitude."""
KM_PER_MILE = 1.609344
"""International mile, exact."""


def wrap_longitude(degrees: float) -> float:
    """Return the equivalent longitude within ±180; values within ±180 are unchanged."""
    return degrees if abs(degrees) <= 180 else (degrees + 180) % 360 - 180


def format_place(
    latitude: float, longitude: float, decimals: int, plane: Plane | None = None
) -> str:
    """Format a position on the Earth or, with a plane, as ``x 12.5 px, y 40.0 px``."""
    if plane is None:
        return format_coordinates(latitude, wrap_longitude(longitude), decimals)
    x, y = (_sign(value, decimals) for value in (longitude, plane.y(latitude)))
    return f"x {x} {plane.unit}, y {y} {plane.unit}"


def format_along(value: float, decimals: int, axis: str, plane: Plane | None = None) -> str:
    """Format one coordinate, of a plane as x (``lon``) or y (``lat``) in its unit."""
    if plane is None:
        return format_degrees(wrap_longitude(value) if axis == "lon" else value, decimals, axis)
    number = _sign(plane.y(value) if axis == "lat" else value, decimals)
    return f"{number} {plane.unit}"


def _sign(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def format_coordinates(latitude: float, longitude: float, decimals: int = 3) -> str:
    """Format a position as ``40.713° N 74.006° W``.

    A value that rounds to zero has no hemisphere: ``0.000°``.
    """
    north = _with_hemisphere(latitude, decimals, "N", "S")
    return f"{north} {_with_hemisphere(longitude, decimals, 'E', 'W')}"


def format_degrees(value: float, decimals: int, axis: str) -> str:
    """Format one coordinate; `axis` is ``"lat"`` or ``"lon"``.

    Raises
    ------
    ValueError
        If the axis is neither.
    """
    if axis not in ("lat", "lon"):
        raise ValueError(f"axis: {axis!r} is neither lat nor lon")
    return _with_hemisphere(value, decimals, *("NS" if axis == "lat" else "EW"))


def coordinate_decimals(degrees_per_pixel: float) -> int:
    """Return the number of decimals of a degree that one pixel resolves, 0 to 6."""
    if not (math.isfinite(degrees_per_pixel) and degrees_per_pixel > 0):
        return 3
    return min(6, max(0, math.ceil(-math.log10(degrees_per_pixel))))


def _with_hemisphere(value: float, decimals: int, positive: str, negative: str) -> str:
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return f"{text}°"
    return f"{text}° {positive if value > 0 else negative}"


FloatArray = NDArray[np.floating[Any]]


def aspect_at(latitude: float) -> float:
    """Return the ratio of a drawn degree of latitude to one of longitude, 1/cos(latitude).

    Parameters
    ----------
    latitude : float
        Degrees, −90…90, of the middle of the view. Capped at 89° (a ratio of 57), as the ratio is
        infinite at the poles.

    Raises
    ------
    ValueError
        If the latitude is outside −90…90.
    """
    if not -90 <= latitude <= 90:
        raise ValueError(f"latitude: {latitude:g} is outside [-90, 90] degrees")
    return 1 / math.cos(math.radians(min(abs(latitude), 89.0)))


def distance_km(
    latitude: float, longitude: float, to_latitude: float, to_longitude: float
) -> float:
    """Return the great-circle distance of two positions in km (haversine formula)."""
    here, there = math.radians(latitude), math.radians(to_latitude)
    turned = math.radians(to_longitude - longitude)
    squared = (
        math.sin((there - here) / 2) ** 2
        + math.cos(here) * math.cos(there) * math.sin(turned / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(squared)))


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
    # Rounding in log10 may put an exact power of ten one decade off, so its neighbours are tried.
    steps = [m * 10.0**e for e in range(exponent - 1, exponent + 2) for m in (1, 2, 5)]
    return max(step for step in steps if step <= longest * (1 + 1e-12))


def scale_bars(view_km: float, longest_share: float = 0.25) -> tuple[ScaleBar, ScaleBar]:
    """Return a metric and an imperial scale bar for a view.

    Parameters
    ----------
    view_km : float
        Width of the view along its middle latitude, in km, > 0.
    longest_share : float
        Maximum length of a bar as a share of the width, in (0, 1].

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
