"""Preview of a file that is being opened: region and map from part of its rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from explorer.checkins.map_preview import MapPreview, map_previews
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.checkins.readers.base import Sample
from explorer.geography.projection import aspect_at
from explorer.geography.region import Box, PlaneRegion, Region
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Origin

SIDE = 0.35
"""Degrees of latitude of a first region: a city."""
SMALLEST = 0.002
"""Degrees; check-ins at a single place still get a box around it."""
CELLS = 240
FEWEST = 20
"""Check-ins that a city must have; of fewer no map can be made out."""


class Rows(Protocol):
    """Check-ins, or some of them."""

    @property
    def extent(self) -> Box:
        """South, west, north, east."""
        ...

    def density(self, box: Box, columns: int, rows: int) -> np.ndarray:
        """Return how many lie in each cell."""
        ...


def first_region(data: Rows) -> tuple[Region, Origin]:
    """Return a city-sized box around the densest area, or all of a smaller extent; and which.

    The choice looks at the real data, so it is not private.

    Parameters
    ----------
    data : CheckinData or MapPreview
        With at least one row. Asked from a worker: two aggregated queries.
    """
    south, west, north, east = data.extent
    high, wide = max(north - south, SMALLEST), max(east - west, SMALLEST)
    aspect = aspect_at((south + north) / 2)
    if high <= SIDE and wide <= SIDE * aspect:
        middle = (south + north) / 2, (west + east) / 2
        return _boxed(*middle, high * 1.04, wide * 1.04), Origin.EXTENT
    # The extent may be a point in one direction; a query needs a box.
    whole = (south, west, south + high, west + wide)
    busiest, _ = _densest(data, whole, (high / CELLS, wide / CELLS))
    # The city may reach over the busiest cell's sides.
    aspect = aspect_at(min(max((busiest[0] + busiest[2]) / 2, -89.0), 89.0))
    side = (SIDE, SIDE * aspect)
    around = (
        busiest[0] - side[0],
        busiest[1] - side[1],
        busiest[2] + side[0],
        busiest[3] + side[1],
    )
    city, inside = _densest(data, around, side)
    if inside < FEWEST and wide * 1.04 <= 180:
        # Check-ins that are few and far between: no part of them makes a map.
        return _boxed(south + high / 2, west + wide / 2, high * 1.04, wide * 1.04), Origin.EXTENT
    south, west, north, east = city
    return _boxed((south + north) / 2, (west + east) / 2, *side), Origin.FIRST


def _densest(data: Rows, box: Box, size: tuple[float, float]) -> tuple[Box, int]:
    """Return the window of about so many degrees (tall, wide) with most check-ins in a box.

    And how many these are.
    """
    south, west, north, east = box
    tall, wide = (north - south) / CELLS, (east - west) / CELLS
    rows = min(max(round(size[0] / tall), 1), CELLS)
    columns = min(max(round(size[1] / wide), 1), CELLS)
    sums = np.zeros((CELLS + 1, CELLS + 1), np.int64)
    sums[1:, 1:] = data.density(box, CELLS, CELLS).astype(np.int64).cumsum(0).cumsum(1)
    inside = (
        sums[rows:, columns:]
        - sums[:-rows, columns:]
        - sums[rows:, :-columns]
        + sums[:-rows, :-columns]
    )
    row, column = (int(i) for i in np.unravel_index(int(inside.argmax()), inside.shape))
    window = (
        south + row * tall,
        west + column * wide,
        south + (row + rows) * tall,
        west + (column + columns) * wide,
    )
    return window, int(inside[row, column])


def _boxed(latitude: float, longitude: float, high: float, wide: float) -> Region:
    """Return a region of a size around a middle, moved to lie between the poles."""
    high, wide = min(high, 180.0), min(wide, 180.0)
    south = min(max(latitude - high / 2, -90.0), 90.0 - high)
    west = longitude - wide / 2
    # Six decimals are a tenth of a metre, and what the panel's fields can show.
    sides = (round(float(side), 6) for side in (south, west, south + high, west + wide))
    return Region(*sides)


GRACE_S = 0.3
"""How long a load waits for the first picture, which would take longer beside it."""

_SAID = {
    Sample.USERS: "{share} read, estimate",
    Sample.ROWS: "{share} read: rows, not yet users",
    Sample.BEGINNING: "beginning of the file, {share} read",
}


@dataclass(frozen=True)
class EarlyPicture:
    """An estimate of a true map; for its curator's eyes, and for nothing else.

    Attributes
    ----------
    region : Region
    values : ndarray of float64, shape (n, n)
        Shares of the users' weight, row 0 south.
    label : str
        What it is made of.
    """

    region: Region
    values: np.ndarray
    label: str


@contextmanager
def looking(
    path: Path,
    head: Preview,
    mapping: Mapping | None,
    dialect: Dialect | None,
    region: Region | None,
    report: Callable[[EarlyPicture], None],
    cancelled: Callable[[], bool],
) -> Iterator[None]:
    """Report ever better pictures of a file from a thread of its own, until the block is left.

    Parameters
    ----------
    path, head, mapping, dialect
        As in `map_previews`.
    region : Region or None
        What to draw; None chooses as after the load.
    report : callable
        Called in the thread.
    cancelled : callable
        Asked every few milliseconds; true stops.
    """
    ended, shown = threading.Event(), threading.Event()

    def unwanted() -> bool:
        return ended.is_set() or cancelled()

    def work() -> None:
        try:
            for look in map_previews(path, head, mapping, dialect, unwanted):
                picture = _picture(look, mapping or head.mapping, region)
                if picture is not None and not unwanted():
                    report(picture)
                    shown.set()
        except Exception:  # no estimate then; what is wrong, the load will say
            pass
        finally:
            shown.set()

    thread = threading.Thread(target=work, name="looking into check-ins")
    thread.start()
    try:
        shown.wait(GRACE_S)
        yield
    finally:
        ended.set()
        thread.join()


def _picture(look: MapPreview, mapping: Mapping, region: Region | None) -> EarlyPicture | None:
    plane = mapping.plane_there
    if region is None:
        region = first_region(look)[0] if plane is None else PlaneRegion.whole(plane)
    values = look.picture(region.box)
    if values is None:
        return None
    share = f"{format_number(100 * look.share, digits=1)} %"
    return EarlyPicture(region, values, _SAID[look.sample].format(share=share))
