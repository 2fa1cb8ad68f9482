"""Detects coordinates of images and other planes, and their limits."""

import math
from collections.abc import Callable, Iterator, Sequence

from explorer.checkins.model import E7, Mapping

_PLANAR: dict[str, tuple[str, ...]] = {
    "lon": ("x", "xcoord", "xpx", "xpixel", "gazex", "fixationx", "fixx", "posx"),
    "lat": ("y", "ycoord", "ypx", "ypixel", "gazey", "fixationy", "fixy", "posy"),
    "image": (
        "image",
        "imageid",
        "img",
        "imgid",
        "picture",
        "pictureid",
        "stimulus",
        "stimulusid",
        "frame",
        "scene",
    ),
}
"""Names of columns with image coordinates, letters only."""


def planar_columns(
    places: dict[str, int], rows: Sequence[Sequence[str]], number: Callable[[str], float | None]
) -> dict[str, int] | None:
    """Return the columns of x, y and image if they clearly are not degrees; else None.

    That is so if rows are about images, or if most of them do not lie on the globe: names alone
    do not tell, because x and y may be degrees, too.
    """
    found = {
        role: next(places[word] for word in known if word in places)
        for role, known in _PLANAR.items()
        if any(word in places for word in known)
    }
    if not {"lat", "lon"} <= set(found) or "lat" in places or "latitude" in places:
        return None
    if "image" in found:
        return found
    y = [n for row in rows if (n := number(row[found["lat"]])) is not None]
    x = [n for row in rows if (n := number(row[found["lon"]])) is not None]
    off = sum(abs(b) > 90 or abs(a) > 180 for a, b in zip(x, y, strict=False))
    return found if 2 * off > len(rows) > 0 else None


def limits(mapping: Mapping) -> Iterator[tuple[str, int | None, float, float]]:
    """Yield name, column, minimum and maximum of both coordinates."""
    plane = mapping.plane_there
    if plane is not None:
        yield "y", mapping.lat, plane.low, plane.high
        yield "x", mapping.lon, plane.left, plane.right
    elif mapping.crs == E7:
        yield "latitude", mapping.lat, -90e7, 90e7
        yield "longitude", mapping.lon, -180e7, 180e7
    elif mapping.planar or mapping.crs is not None:
        yield "y", mapping.lat, -math.inf, math.inf
        yield "x", mapping.lon, -math.inf, math.inf
    else:
        yield "latitude", mapping.lat, -90, 90
        yield "longitude", mapping.lon, -180, 180
