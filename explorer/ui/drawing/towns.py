"""Towns by which a place on the Earth is named."""

from explorer.figures.map_layers import shipped_cities
from explorer.geography.region import Box, Region

_THERE_KM = 1.0


def near_town(latitude: float, longitude: float) -> str:
    """Return the nearest town, and how far it is unless that is less than a kilometre."""
    town, km = shipped_cities().nearest(latitude, longitude)
    return town.name if km < _THERE_KM else f"{town.name}, {km:,.0f} km"


def town_of(box: Box) -> str:
    """Return the largest town in a box of degrees, else the one nearest to its middle."""
    south, west, north, east = box
    largest = shipped_cities().visible(box, 1)
    if largest:
        return largest[0].name
    return f"nearest town: {near_town((south + north) / 2, (west + east) / 2)}"


def region_town(region: Region) -> str:
    """Return the town that names a region; nothing in a plane that is not the Earth."""
    return "" if region.plane is not None else town_of(region.box)
