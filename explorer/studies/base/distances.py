"""Keys of map distances in the unit of the region, and a note on padded regions."""

from explorer.geography.region import PlaneRegion, Region

FAR, LOSS = "emd", "loss"
"""Numbers that are also given in the map's unit."""


def in_unit(name: str, region: Region | None) -> str:
    """Return the key of a distance in the unit of a region: in kilometres on the Earth.

    Without a region (no check-ins yet) it is the Earth's.
    """
    return f"{name}_km" if region is None or region.plane is None else f"{name}_unit"


def padding(region: Region) -> str:
    """Return a note on a region that extends beyond its plane's range; empty if it does not."""
    plane = region.plane
    if plane is None:
        return ""
    south, west, north, east = PlaneRegion.whole(plane).box
    inside = south <= region.south and west <= region.west
    if inside and region.north <= north and region.east <= east:
        return ""
    return (
        f"The map reaches beyond the declared range ({plane.sentence}). Everybody knows that "
        "nothing lies there; the mechanism reads those cells like all others, so noise may put "
        "mass there, which counts as error."
    )
