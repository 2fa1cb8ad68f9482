"""Scale bars of round length and coordinates in words."""

import math
from dataclasses import dataclass

from explorer.geography.distance import KM_PER_MILE
from explorer.geography.plane import Plane
from explorer.geography.region import KM_PER_DEGREE, Region, written_longitude

FEET_PER_MILE = 5280


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """One bar: how long, in km (a plane's unit) and as a share of the view's width; its label."""

    km: float
    share: float
    label: str


def round_length(longest: float) -> float:
    """Return the largest of 1, 2, 5 × 10^k that is not longer than a length (> 0).

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
    """Choose a metric and an imperial scale bar for a view.

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


def bars_of(
    region: Region, degrees: float, longest_share: float = 0.25
) -> tuple[ScaleBar, ScaleBar]:
    """Choose the scale bars of a view so many degrees wide that is true to scale at a region.

    On a plane that is not the Earth there is one, in its unit (the second has no length and no
    label), and the view is so wide in that.
    """
    if region.plane is None:
        # The flat map is true to scale at the region's middle latitude.
        return scale_bars(degrees * KM_PER_DEGREE / region.aspect, longest_share)
    length = round_length(degrees * longest_share)
    bar = ScaleBar(length, length / degrees, f"{length:,g} {region.unit}")
    return bar, ScaleBar(0.0, 0.0, "")


def format_place(
    latitude: float, longitude: float, decimals: int, plane: Plane | None = None
) -> str:
    """Write a position of the Earth, or of a plane: ``x 12.5 px, y 40.0 px``."""
    if plane is None:
        return format_coordinates(latitude, written_longitude(longitude), decimals)
    x, y = (_signed(value, decimals) for value in (longitude, plane.y(latitude)))
    return f"x {x} {plane.unit}, y {y} {plane.unit}"


def format_along(value: float, decimals: int, axis: str, plane: Plane | None = None) -> str:
    """Write one coordinate as `format_degrees`, or x (``lon``) or y (``lat``) of a plane."""
    if plane is None:
        return format_degrees(written_longitude(value) if axis == "lon" else value, decimals, axis)
    number = _signed(plane.y(value) if axis == "lat" else value, decimals)
    return f"{number} {plane.unit}"


def _signed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def format_coordinates(latitude: float, longitude: float, decimals: int = 3) -> str:
    """Write a position as one reads it on a map: ``40.713° N 74.006° W``.

    A number that rounds to zero carries no side: 0.000° is neither north nor south.
    """
    return f"{_with_side(latitude, decimals, 'N', 'S')} {_with_side(longitude, decimals, 'E', 'W')}"


def format_degrees(value: float, decimals: int, axis: str) -> str:
    """Write one coordinate; `axis` is ``"lat"`` or ``"lon"``.

    Raises
    ------
    ValueError
        If the axis is neither.
    """
    if axis not in ("lat", "lon"):
        raise ValueError(f"axis: {axis!r} is neither lat nor lon")
    return _with_side(value, decimals, *("NS" if axis == "lat" else "EW"))


def coordinate_decimals(degrees_per_pixel: float) -> int:
    """Return how many decimals of a degree a pixel is worth, 0 to 6."""
    if not (math.isfinite(degrees_per_pixel) and degrees_per_pixel > 0):
        return 3
    return min(6, max(0, math.ceil(-math.log10(degrees_per_pixel))))


def _with_side(value: float, decimals: int, positive: str, negative: str) -> str:
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return f"{text}°"
    return f"{text}° {positive if value > 0 else negative}"
