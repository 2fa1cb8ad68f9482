"""Which part of a map a pane shows."""

import math

from explorer.geography.region import Box, Region

MARGIN = 0.04
"""Room around the region, as a share of its size, where the view does not say what it shows."""
POLE = 90.0


def filling(box: Box, shape: float, on_earth: bool) -> Box:
    """Return a box that reaches further around the same middle, as wide to its height as asked.

    On the Earth it ends at the poles and after a turn.
    """
    south, west, north, east = box
    high, wide = north - south, east - west
    if wide < shape * high:
        grow = min(shape * high, max(360.0 if on_earth else math.inf, wide)) - wide
        return south, west - grow / 2, north, east + grow / 2
    grow = wide / shape - high
    south, north = south - grow / 2, north + grow / 2
    if not on_earth:
        return south, west, north, east
    # The map ends at the poles: what is missing on one side goes to the other.
    south, north = (
        max(-POLE, south - max(0.0, north - POLE)),
        min(POLE, north + max(0.0, -POLE - south)),
    )
    return min(south, box[0]), west, max(north, box[2]), east


def around(region: Region) -> Box:
    """Return a region with a margin."""
    south, west, north, east = region.box
    high, wide = MARGIN * (north - south), MARGIN * (east - west)
    return south - high, west - wide, north + high, east + wide


def overlap(one: Box, other: Box) -> Box:
    """Return what two boxes share; turned inside out, and so empty, if they share nothing."""
    south, west = max(one[0], other[0]), max(one[1], other[1])
    return south, west, min(one[2], other[2]), min(one[3], other[3])
