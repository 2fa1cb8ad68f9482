"""The shipped basemap and city names, loaded on first use."""

from functools import cache

from explorer.geography.basemap import Basemap, read_basemap
from explorer.geography.cities import Cities, read_cities
from explorer.resources import resource_bytes


@cache
def shipped_basemap() -> Basemap:
    """Return the shipped lines of coasts and borders."""
    return read_basemap(resource_bytes("basemap.bin"))


@cache
def shipped_cities() -> Cities:
    """Return the shipped names of cities."""
    return read_cities(resource_bytes("cities.tsv.z"))
