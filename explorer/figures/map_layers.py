"""The shipped basemap and city names, read when first asked for."""

from functools import cache

from explorer.geography.basemap import Basemap, read_basemap
from explorer.geography.cities import Cities, read_cities
from explorer.resources import resource_bytes


@cache
def shipped_basemap() -> Basemap:
    """Return the lines of coasts and borders that ship with the program."""
    return read_basemap(resource_bytes("basemap.bin"))


@cache
def shipped_cities() -> Cities:
    """Return the names of cities that ship with the program."""
    return read_cities(resource_bytes("cities.tsv.z"))
