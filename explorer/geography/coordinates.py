"""Conversion of degrees to kilometres on the mean sphere, and formatting of coordinates.

The sphere (IUGG mean radius 6371.0088 km) differs from the ellipsoid by at most 0.56 %, far less
than a grid cell.
"""

import math

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
    x, y = (_signed(value, decimals) for value in (longitude, plane.y(latitude)))
    return f"x {x} {plane.unit}, y {y} {plane.unit}"


def format_along(value: float, decimals: int, axis: str, plane: Plane | None = None) -> str:
    """Format one coordinate, of a plane as x (``lon``) or y (``lat``) in its unit."""
    if plane is None:
        return format_degrees(wrap_longitude(value) if axis == "lon" else value, decimals, axis)
    number = _signed(plane.y(value) if axis == "lat" else value, decimals)
    return f"{number} {plane.unit}"


def _signed(value: float, decimals: int) -> str:
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
