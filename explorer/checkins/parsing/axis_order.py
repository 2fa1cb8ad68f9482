"""Detects swapped latitude and longitude by the positions of towns."""

from functools import cache
from typing import Any

import numpy as np

from explorer.checkins.model import Mapping
from explorer.checkins.parsing.numbers import Rows, number
from explorer.geography.cities import Cities, read_cities
from explorer.resources import resource_bytes

_LOOKED_AT = 24
_NEAR_KM = 50.0
_MOST, _FEW = 0.8, 0.2

Array = np.ndarray[Any, np.dtype[np.float64]]


@cache
def _towns() -> Cities:
    return read_cities(resource_bytes("cities.tsv.z"))


_SWAPPED = "Latitude and longitude seem to be swapped: "


def _degrees(rows: Rows, mapping: Mapping, decimal: str) -> tuple[Array, Array] | None:
    """Return latitudes and longitudes of sampled rows; None if they are not degrees."""
    if mapping.lat is None or mapping.lon is None or mapping.planar or mapping.crs:
        return None
    if mapping.order:
        return None
    last = max(mapping.lat, mapping.lon)
    found = [
        (lat, lon)
        for row in rows
        if last < len(row)
        and (lat := number(row[mapping.lat], decimal)) is not None
        and (lon := number(row[mapping.lon], decimal)) is not None
        and abs(lat) <= 180
        and abs(lon) <= 180
    ]
    if not found:
        return None
    lat, lon = np.array(found[:: -(-len(found) // _LOOKED_AT)]).T
    return lat, lon


def beyond_the_poles(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if most latitudes exceed ±90 and fit swapped; else an empty text."""
    there = _degrees(rows, mapping, decimal)
    if there is None:
        return ""
    fits, fits_turned = (np.mean(np.abs(values) <= 90) for values in there)
    if fits < _FEW and fits_turned > _MOST:
        return _SWAPPED + "most latitudes are beyond the poles. Choose their columns the other way."
    return ""


def looks_swapped(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if latitude and longitude seem swapped; else an empty text.

    They do if hardly any of the first rows lies near a town, and most do the other way round; or
    if most latitudes are beyond the poles and would be degrees the other way round.
    """
    there, reason = _degrees(rows, mapping, decimal), beyond_the_poles(rows, mapping, decimal)
    if there is None or reason:
        return reason
    lat, lon = there
    fits, fits_turned = np.mean(np.abs(lat) <= 90), np.mean(np.abs(lon) <= 90)
    if min(fits, fits_turned) < _MOST or _near_towns(lat, lon) >= _FEW:
        return ""
    near = _near_towns(lon, lat)
    if near < _MOST:
        return ""
    return _SWAPPED + (
        f"hardly any of the first rows lies near a town, but {near:.0%} do the other way round. "
        "Choose their columns the other way, or as they are if this is meant."
    )


def _near_towns(lat: Array, lon: Array) -> float:
    """Return the share of positions near a town."""
    towns = _towns()
    places = zip(lat.tolist(), lon.tolist(), strict=True)
    return float(np.mean([towns.nearest(*place)[1] <= _NEAR_KM for place in places]))
