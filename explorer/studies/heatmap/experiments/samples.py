"""Samples of users for experiments: their counts, and the check-ins or generators they come from.

Tasks of trials are small plain JSON; the counts of a sample are in a file named after its content,
which a process opens once. Generators of synthetic users are keyed by a hash of their description,
the number of users and the number of the set, so that the data are the same everywhere. Choices
that the paper leaves open are recorded in the description.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from explorer.files import write_whole
from explorer.geography.region import PlaneRegion, Region
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import CellCounts, UserCells, aggregate, one_cell_each, user_cells
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.heatmap.priors import Prior
from explorer.user_rows import EARTH_STEP, Box

UNIT_SQUARE: Box = (0.0, 0.0, 1.0, 1.0)
VISITS = ("user", "codes", "visits")
"""Arrays of `UserCells`."""


@dataclass(frozen=True)
class Sample:
    """Users in a region, counted.

    Attributes
    ----------
    counts : CellCounts
        Every user's mass of 1, distributed over their points by a contribution rule.
    votes : CellCounts
        Every user once, in one cell: `one_cell_each`.
    visits : UserCells
        Visits of every user to every cell, for mechanisms that users run themselves.
    """

    counts: CellCounts
    votes: CellCounts
    visits: UserCells

    @property
    def arrays(self) -> dict[str, Any]:
        """Return all fields as arrays by name."""
        arrays = {}
        for name in ("counts", "votes"):
            part: CellCounts = getattr(self, name)
            arrays[f"{name}_codes"] = part.codes.astype("<i8")
            arrays[f"{name}_masses"] = part.masses.astype("<f8")
            arrays[f"{name}_shape"] = np.array([part.level, part.users, part.rows], dtype="<i8")
        for name in VISITS:
            arrays[f"visits_{name}"] = getattr(self.visits, name).astype("<i8")
        return arrays


def count_points(points: Any, box: Box, level: int, rule: Contribution = BY_CHECKINS) -> Sample:
    """Return the sample of some points, as in a `SelectedRows`, on a grid over a box."""
    arguments = (points.user, points.lat, points.lon, points.weight, box, level)
    step = points.step
    return Sample(
        aggregate(*arguments, rule, step),
        one_cell_each(*arguments, rule.cap, step),
        user_cells(*arguments, rule, step),
    )


def digest_of(sample: Sample) -> str:
    """Return the sha256 of the content of a sample."""
    total = hashlib.sha256()
    for name, array in sample.arrays.items():
        total.update(f"{name} {array.size}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def write_sample(sample: Sample, folder: Path) -> str:
    """Write a sample into a folder, unless it is there, and return its digest."""
    from io import BytesIO

    digest = digest_of(sample)
    path = _path(folder, digest)
    if not path.exists():
        packed = BytesIO()
        np.savez(packed, **sample.arrays)
        write_whole(path, packed.getvalue())
    return digest


def open_sample(folder: Path, digest: str) -> Sample:
    """Return a sample that `write_sample` wrote.

    Raises
    ------
    OSError
        If there is none.
    ValueError
        If its content has changed.
    """
    with np.load(_path(folder, digest), allow_pickle=False) as stored:
        parts = [
            CellCounts(
                int(stored[f"{name}_shape"][0]),
                stored[f"{name}_codes"].astype(np.int64),
                stored[f"{name}_masses"].astype(np.float64),
                int(stored[f"{name}_shape"][1]),
                int(stored[f"{name}_shape"][2]),
            )
            for name in ("counts", "votes")
        ]
        arrays = (stored[f"visits_{name}"].astype(np.int64) for name in VISITS)
        visits = UserCells(parts[0].level, *arrays)
    sample = Sample(parts[0], parts[1], visits)
    if digest_of(sample) != digest:
        raise ValueError(f"the counts {digest[:12]}… have been changed; run the experiment again")
    return sample


def _path(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.npz"


def write_prior(masses: FloatArray, folder: Path) -> str:
    """Write the masses of a prior into a folder, unless they are there, and return their digest."""
    from io import BytesIO

    digest = _digest_of_masses(masses)
    path = _path_of_prior(folder, digest)
    if not path.exists():
        packed = BytesIO()
        np.save(packed, masses)
        write_whole(path, packed.getvalue())
    return digest


@lru_cache(maxsize=8)
def open_prior(folder: str, digest: str) -> Prior:
    """Return a prior whose masses `write_prior` wrote; the last few stay open.

    Raises
    ------
    OSError
        If there is none.
    ValueError
        If its content has changed.
    """
    masses = np.load(_path_of_prior(Path(folder), digest), allow_pickle=False)
    if _digest_of_masses(masses) != digest:
        raise ValueError(f"the prior {digest[:12]}… has been changed; run the experiment again")
    return Prior((digest,), masses)


def _digest_of_masses(masses: FloatArray) -> str:
    return hashlib.sha256(masses.astype("<f8").tobytes()).hexdigest()


def _path_of_prior(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.npy"


UNITED_STATES = (0.0, -135.0, 50.0, -60.0)
"""The paper's box: latitudes 0…50, longitudes −135…−60."""
PARTITION = 300
"""Cells on a side of the paper's partition of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Region in which users are counted.

    Attributes
    ----------
    name : str
        ``S,W,N,E`` in degrees, or a name of synthetic data.
    region : Region or None
        None for synthetic data.
    image : str or None
        Name of the image, for points in pictures.
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
    """Source of samples of users."""

    @property
    def data(self) -> str:
        """Identifies the data in every trial."""

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
    return Place(_sides(region), region)


def degrees(value: float) -> str:
    """Format degrees to 10⁻⁷, without trailing zeros."""
    return np.format_float_positional(round(value, 7) + 0.0, trim="-")


def plane_places(regions: Sequence[Region], images: Sequence[str | None]) -> list[Place]:
    """Return regions of a plane in some of its images (None: points in no image) as places."""
    return [
        Place(" in ".join(filter(None, (_sides(region), image))), region, image)
        for image in images
        for region in regions
    ]


def _sides(region: Region) -> str:
    """Return the name of a region: its sides as they are declared; of a plane x before y."""
    south, west, north, east = region.declared
    sides = region.declared if region.plane is None else (west, south, east, north)
    return ",".join(degrees(side) for side in sides)


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

    Their sides are rounded to 10⁻⁷ degrees. Computed from the check-ins: for the curator only.

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
    """Return the identifier of check-ins: the fingerprint, and the privacy unit if not a user."""
    fingerprint = str(checkins.fingerprint)
    return fingerprint if checkins.unit == "user" else f"{fingerprint}-{checkins.unit}"


class CheckinSource:
    """Samples of the users of an open check-in file.

    Parameters
    ----------
    checkins : CheckinData
    data_seed : int
        Seed of sample number 0; sample number i has data_seed + i.
    check : callable
        Called repeatedly; may raise to stop.
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
        polygon = place.region.polygon
        points_key = (box, polygon, users, None if users is None else seed, place.image)
        parts = {"image": place.image, "polygon": polygon}
        given = {name: part for name, part in parts.items() if part is not None}
        if self._last[0] != points_key:
            points = self._checkins.points(
                box, users=users, data_seed=seed, check=self._check, **given
            )
            self._last = (points_key, points)
        points = self._last[1]
        if not points.users_used:
            raise ValueError(
                f"{place.name}: nobody checked in there; name another region with --region S,W,N,E"
            )
        return count_points(points, box, level, rule)


FILLED_GRID = 256
"""Cells on a side of the grid of which mixtures fill a share."""
MAX_POINTS_A_USER = 8192
"""Largest number of points a user."""
FILLED_SHARES = (0.04, 0.15, 0.3, 0.75)
"""Shares of cells filled by mixtures of more, and wider, Gaussians."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points in the unit square, with the names of `explorer.checkins.SelectedRows`."""

    user: IntArray
    lat: FloatArray
    lon: FloatArray
    weight: None = None
    step: ClassVar[Fraction] = EARTH_STEP


@dataclass(frozen=True, slots=True)
class Mixtures:
    """Users with points drawn from a mixture of Gaussians.

    Means are uniform in [.1, .9]², axes random, s.d. along each axis uniform in a range; points
    outside the unit square are drawn again. All users have the same number of points: the least
    with which a share of the cells of a 256 × 256 grid holds one.

    Attributes
    ----------
    components : int or tuple of int
        Of several numbers the samples take turns.
    share : float
        In (0, 1).
    spread : (low, high)
        Range of the s.d., in sides of the square.
    seed : int
    """

    components: int | tuple[int, ...]
    share: float
    spread: tuple[float, float]
    seed: int = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of Gaussians of successive samples."""
        return self.components if isinstance(self.components, tuple) else (self.components,)

    @property
    def gaussians(self) -> str:
        """Text of the number of Gaussians: ``5 or 10 Gaussians``."""
        return f"{' or '.join(map(str, self.numbers))} Gaussians"

    @property
    def data(self) -> str:
        """Description of the generator."""
        low, high = self.spread
        return (
            f"mixtures of {self.gaussians}, s.d. {low:g} to {high:g}, filling "
            f"{self.share:g} of 256 × 256 cells, seed {self.seed}"
        )

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return the users of a mixture of its own for every number (see `Source.sample`)."""
        users = _number_of_users(users)
        rng = generator(self.data, users, number)
        components = self.numbers[number % len(self.numbers)]
        means = rng.uniform(0.1, 0.9, (components, 2))
        spread = rng.uniform(*self.spread, (components, 2))
        angle = rng.uniform(0, math.pi, components)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

        def draw(count: int) -> FloatArray:
            k = rng.integers(components, size=count)
            scaled = rng.standard_normal((count, 2)) * spread[k]
            return np.asarray(means[k] + np.einsum("abn,nb->na", turn[:, :, k], scaled))

        cells = math.ceil(self.share * FILLED_GRID**2)
        first = np.full(
            FILLED_GRID**2, MAX_POINTS_A_USER
        )  # whose how many-th point was first in a cell
        batches: list[FloatArray] = []
        total = 0
        while np.count_nonzero(first < total) < cells:
            if total >= MAX_POINTS_A_USER:
                raise ValueError(
                    f"{self.data}: {MAX_POINTS_A_USER} points a user do not fill so much"
                )
            more = max(16, total)
            points = in_unit_square(draw, users * more).reshape(users, more, 2)
            cell = (points * FILLED_GRID).astype(np.int64)
            place_in_turn = np.broadcast_to(total + np.arange(more), (users, more))
            np.minimum.at(first, cell[..., 0] * FILLED_GRID + cell[..., 1], place_in_turn)
            batches.append(points)
            total += more
        enough = int(np.partition(first, cells - 1)[cells - 1]) + 1
        return _count(np.concatenate(batches, axis=1)[:, :enough], level, rule)


@dataclass(frozen=True, slots=True)
class Gazes:
    """Points distributed like fixations on pictures: around four objects and the middle.

    Of a user's points 60 % lie around one of four objects (uniform in the middle 80 % of the
    picture, s.d. .04 of its sides), 40 % around the middle (s.d. .18); outside the picture they are
    drawn again. The picture, 320 × 240 pixels, lies in the corner of a square of 512.
    """

    points_a_user: int = 20
    seed: int = 0

    @property
    def data(self) -> str:
        """Description of the generator."""
        return f"gaze-like, {self.points_a_user} points a user, 320 × 240 of 512², seed {self.seed}"

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a sample on the picture of a place; the number selects the users."""
        users = _number_of_users(users)
        things = generator(self.data, place.name).uniform(0.1, 0.9, (4, 2))
        rng = generator(self.data, place.name, users, number)

        def draw(count: int) -> FloatArray:
            at_thing = rng.random(count) < 0.6
            middle = np.where(at_thing[:, None], things[rng.integers(4, size=count)], 0.5)
            spread = np.where(at_thing, 0.04, 0.18)
            return np.asarray(middle + rng.standard_normal((count, 2)) * spread[:, None])

        points = in_unit_square(draw, users * self.points_a_user)
        points *= (320 / 512, 240 / 512)
        return _count(points.reshape(users, self.points_a_user, 2), level, rule)


def generator(*name: object) -> np.random.Generator:
    """Return a random generator that is seeded by names and nothing else."""
    digest = hashlib.sha256("\n".join(map(str, name)).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def in_unit_square(draw: Callable[[int], FloatArray], count: int) -> FloatArray:
    """Return so many points (x, y) of a sampler, those outside [0, 1)² drawn again."""
    result = np.empty((0, 2))
    while missing := count - len(result):
        points = draw(missing)
        inside = ((points >= 0) & (points < 1)).all(axis=1)
        result = np.concatenate([result, points[inside]])
    return result


def _number_of_users(users: int | None) -> int:
    if users is None:
        raise ValueError("users: made data have as many as are asked for; give a number, not all")
    return users


def _count(points: FloatArray, level: int, rule: Contribution) -> Sample:
    """Return the sample of points of shape (users, points, 2)."""
    users, each, _ = points.shape
    user = np.repeat(np.arange(users), each)
    x, y = points.reshape(-1, 2).T
    return count_points(Points(user, y, x), UNIT_SQUARE, level, rule)
