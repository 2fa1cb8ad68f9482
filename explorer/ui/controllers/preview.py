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
from explorer.geography.coordinates import aspect_at
from explorer.geography.region import Box, PlaneRegion, Region
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Origin

REGION_SIDE_DEG = 0.35
"""Height of an initial region in degrees of latitude: a city."""
MIN_SIDE_DEG = 0.002
"""Minimum height in degrees, for check-ins at a single place."""
CELLS = 240
MIN_CHECKINS = 20
"""Minimum number of check-ins in a city-sized region."""


class Rows(Protocol):
    """Check-ins, or part of them."""

    @property
    def extent(self) -> Box:
        """South, west, north, east."""
        ...

    def density(self, box: Box, columns: int, rows: int) -> np.ndarray:
        """Return the number of check-ins in each cell."""
        ...


def first_region(data: Rows) -> tuple[Region, Origin]:
    """Return a city-sized box around the densest area, or the whole extent if small.

    The choice depends on the true data, so it is not private.

    Parameters
    ----------
    data : CheckinData or MapPreview
        At least one row. Called in a worker: two aggregated queries.
    """
    south, west, north, east = data.extent
    high, wide = max(north - south, MIN_SIDE_DEG), max(east - west, MIN_SIDE_DEG)
    aspect = aspect_at((south + north) / 2)
    if high <= REGION_SIDE_DEG and wide <= REGION_SIDE_DEG * aspect:
        middle = (south + north) / 2, (west + east) / 2
        return _box_around(*middle, high * 1.04, wide * 1.04), Origin.EXTENT
    # The extent may have zero size in one direction; a query needs a box.
    whole = (south, west, south + high, west + wide)
    busiest, _ = _densest(data, whole, (high / CELLS, wide / CELLS))
    # The city may extend beyond the busiest cell.
    aspect = aspect_at(min(max((busiest[0] + busiest[2]) / 2, -89.0), 89.0))
    side = (REGION_SIDE_DEG, REGION_SIDE_DEG * aspect)
    around = (
        busiest[0] - side[0],
        busiest[1] - side[1],
        busiest[2] + side[0],
        busiest[3] + side[1],
    )
    city, inside = _densest(data, around, side)
    if inside < MIN_CHECKINS and wide * 1.04 <= 180:
        # Check-ins that are too sparse for a city-sized map.
        return _box_around(
            south + high / 2, west + wide / 2, high * 1.04, wide * 1.04
        ), Origin.EXTENT
    south, west, north, east = city
    return _box_around((south + north) / 2, (west + east) / 2, *side), Origin.FIRST


def _densest(data: Rows, box: Box, size: tuple[float, float]) -> tuple[Box, int]:
    """Return the window of the given size in degrees with the most check-ins, and their number.

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


def _box_around(latitude: float, longitude: float, high: float, wide: float) -> Region:
    """Return a region of a size around a centre, limited at the poles."""
    high, wide = min(high, 180.0), min(wide, 180.0)
    south = min(max(latitude - high / 2, -90.0), 90.0 - high)
    west = longitude - wide / 2
    # Six decimals are a tenth of a metre, the precision of the panel's fields.
    sides = (round(float(side), 6) for side in (south, west, south + high, west + wide))
    return Region(*sides)


GRACE_S = 0.3
"""How long a load waits for the first preview, which is slower in parallel."""

_SAMPLE_TEXTS = {
    Sample.USERS: "{share} read, estimate",
    Sample.ROWS: "{share} read: rows, not yet users",
    Sample.BEGINNING: "beginning of the file, {share} read",
}


@dataclass(frozen=True)
class PreviewPicture:
    """Preview: estimate of a true map, curator only.

    Attributes
    ----------
    region : Region
    values : ndarray of float64, shape (n, n)
        Share of the users' weight per cell, row 0 in the south.
    label : str
        Rows on which it is based.
    """

    region: Region
    values: np.ndarray
    label: str


@contextmanager
def background_previews(
    path: Path,
    head: Preview,
    mapping: Mapping | None,
    dialect: Dialect | None,
    region: Region | None,
    report: Callable[[PreviewPicture], None],
    cancelled: Callable[[], bool],
) -> Iterator[None]:
    """Compute successive previews of a file in a thread while the block runs.

    Parameters
    ----------
    path, head, mapping, dialect
        As in `first_looks`.
    region : Region or None
        Region to draw; None chooses it as after the load.
    report : callable
        Called in the thread.
    cancelled : callable
        Polled every few milliseconds; true stops.
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
        except Exception:  # no preview; the load reports the error
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


def _picture(look: MapPreview, mapping: Mapping, region: Region | None) -> PreviewPicture | None:
    plane = mapping.plane_there
    if region is None:
        region = first_region(look)[0] if plane is None else PlaneRegion.whole(plane)
    values = look.picture(region.box)
    if values is None:
        return None
    share = f"{format_number(100 * look.share, digits=1)} %"
    return PreviewPicture(region, values, _SAMPLE_TEXTS[look.sample].format(share=share))
