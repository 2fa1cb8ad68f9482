"""Both coordinates in one field: ``POINT (16.3 48.2)``, ``(48.2, 16.3)``, ``48.2, 16.3``."""

import re

from explorer.checkins.readers.cells.numbers import matched

LATITUDE_FIRST, LONGITUDE_FIRST = "latlon", "lonlat"
"""Values of `Mapping.order`."""

_NUMBER = r"([+-]?[0-9]{1,3}(?:[.][0-9]+)?)"
POINT = (
    r"\s*(?:(?:SRID=[0-9]+;)?\s*POINT\s*Z?)?\s*[(\[{]?\s*"
    + _NUMBER
    + r"\s*°?(?:\s*[,;]\s*|\s+)"
    + _NUMBER
    + r"\s*°?(?:[,; ]\s*[+-]?[0-9.]+)?\s*[)\]}]?\s*"
)
"""The regular expression, in what Python and the database have in common; case is ignored."""

_POINT = re.compile(POINT, re.IGNORECASE | re.ASCII)


def point_in(text: str) -> tuple[float, float] | None:
    """Return the two numbers of a field in their order, or None."""
    found = matched(_POINT, text)
    return None if found is None else (float(found[1]), float(found[2]))


def coordinate_in(text: str, order: str, role: str) -> float | None:
    """Return the latitude (``lat``) or longitude of a field with both, or None."""
    pair = point_in(text)
    return None if pair is None else pair[(order == LATITUDE_FIRST) == (role == "lon")]
