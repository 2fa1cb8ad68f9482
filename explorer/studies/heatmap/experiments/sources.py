"""Where the samples of an experiment come from, and the regions of a check-in file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from explorer.geography.region import PlaneRegion, Region
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.studies.heatmap.experiments.samples import Sample, count_points

UNITED_STATES = (0.0, -135.0, 50.0, -60.0)
"""The paper's box: latitudes 0…50, longitudes −135…−60."""
PARTITION = 300
"""Cells on a side of the paper's partition of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where users are counted.

    Attributes
    ----------
    name : str
        ``S,W,N,E`` in degrees, or what made data are called.
    region : Region or None
        None of made data.
    image : str or None
        Of points in pictures: which.
    """

    name: str
    region: Region | None = None
    image: str | None = None

    @property
    def sides_km(self) -> tuple[float, float] | None:
        """Width and height in kilometres; on a plane that is not the Earth in its unit.

        None of pictures, whose rows have columns named after kilometres.
        """
        return None if self.region is None or self.image is not None else self.region.sides


class Source(Protocol):
    """Gives samples of users."""

    @property
    def data(self) -> str:
        """What stands for the data in every trial; other data have another."""

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return the sample with this number of so many users (None: all) on a 2^ℓ grid.

        Raises
        ------
        ValueError
            If there is nobody.
        """


def place_of(region: Region) -> Place:
    """Return a region as a place; its name has at most seven decimals, as many as count."""
    return Place(",".join(degrees(side) for side in region.declared), region)


def degrees(value: float) -> str:
    """Write degrees to 10⁻⁷, without zeros at the end."""
    return np.format_float_positional(round(value, 7) + 0.0, trim="-")


def picture_places(data: Any, number: int, name: str) -> list[Place]:
    """Return the first so many images of a table of points, padded to a square, as places.

    Raises
    ------
    ValueError
        If its points do not lie in images.
    """
    if data.plane is None or not data.images:
        raise ValueError(
            f"{name}: {data.basename} has no points in images; name a table of (image, user, x, y) "
            "and its range by --plane 320x240"
        )
    region = PlaneRegion.padded(data.plane)
    return [Place(image, region, image) for image in data.images[:number]]


def busiest_places(data: Any, number: int) -> list[Place]:
    """Return the so many cells with most users of the paper's partition, most first.

    Their sides are rounded to 10⁻⁷ degrees. This looks at the check-ins: curator only.

    Raises
    ------
    ValueError
        If there are not so many with a user.
    """
    cells = data.busiest_cells(UNITED_STATES, PARTITION, number, by="users")
    if len(cells) < number:
        raise ValueError(
            f"{data.basename}: {len(cells)} of the cells in latitudes 0 to 50 and longitudes "
            f"−135 to −60 have a check-in, not {number}; ask for fewer with --regions, or name a "
            "region with --region S,W,N,E"
        )
    return [place_of(Region(*(round(side, 7) for side in cell.box))) for cell in cells]


def data_of(checkins: Any) -> str:
    """Return what stands for check-ins: the same file counted in another unit is other data."""
    found = str(checkins.fingerprint)
    return found if checkins.unit == "user" else f"{found}-{checkins.unit}"


class CheckinSource:
    """Samples of the users of an open check-in file.

    Parameters
    ----------
    checkins : CheckinData
    data_seed : int
        Key of the sample number 0; sample number i has data_seed + i.
    check : callable
        Called now and then; may raise to stop.
    """

    def __init__(
        self, checkins: Any, data_seed: int = 0, check: Callable[[], None] = lambda: None
    ) -> None:
        self._checkins = checkins
        self._data_seed = data_seed
        self._check = check
        self._last: tuple[object, Any] = (None, None)

    @property
    def data(self) -> str:
        """The file's fingerprint, and its privacy unit if that is not a user."""
        return data_of(self._checkins)

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return the users with the smallest hashes under the number's seed, or all."""
        assert place.region is not None
        box, seed = place.region.box, self._data_seed + number
        asked = (box, users, None if users is None else seed, place.image)
        image = {} if place.image is None else {"image": place.image}
        if self._last[0] != asked:
            points = self._checkins.points(
                box, users=users, data_seed=seed, check=self._check, **image
            )
            self._last = (asked, points)
        points = self._last[1]
        if not points.users_used:
            raise ValueError(
                f"{place.name}: nobody checked in there; name another region with --region S,W,N,E"
            )
        return count_points(points, box, level, rule)
