"""Synthetic users: mixtures of Gaussians, and points distributed like fixations on pictures.

The generator is keyed by a hash of the description, the number of users and the number of the set,
so that the data are the same everywhere. Choices that the paper leaves open are recorded in the
description.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.heatmap.experiments.samples import UNIT_SQUARE, Sample, count_points
from explorer.studies.heatmap.experiments.sources import Place
from explorer.user_rows import EARTH_STEP

FILLED_GRID = 256
"""Cells on a side of the grid whose filled share a mixture is described by."""
MOST_POINTS = 8192
"""Points a user at most."""
FILLED_SHARES = (0.04, 0.15, 0.3, 0.75)
"""Of the cells that mixtures of more and more, and wider, Gaussians fill."""


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
    """Users who draw their points from a mixture of Gaussians.

    Means are uniform in [.1, .9]², axes random, s.d. along each axis uniform in a range; points
    outside the unit square are drawn again. All users have the same number of points: the least
    with which a share of the cells of a 256 × 256 grid holds one.

    Attributes
    ----------
    components : int
    share : float
        In (0, 1).
    spread : (low, high)
        Range of the s.d., in sides of the square.
    seed : int
    """

    components: int
    share: float
    spread: tuple[float, float]
    seed: int = 0

    @property
    def data(self) -> str:
        """What is made, in words."""
        low, high = self.spread
        return (
            f"mixtures of {self.components} Gaussians, s.d. {low:g} to {high:g}, filling "
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
        users = _named(users)
        rng = generator(self.data, users, number)
        means = rng.uniform(0.1, 0.9, (self.components, 2))
        spread = rng.uniform(*self.spread, (self.components, 2))
        angle = rng.uniform(0, math.pi, self.components)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

        def draw(count: int) -> FloatArray:
            k = rng.integers(self.components, size=count)
            scaled = rng.standard_normal((count, 2)) * spread[k]
            return np.asarray(means[k] + np.einsum("abn,nb->na", turn[:, :, k], scaled))

        wanted = math.ceil(self.share * FILLED_GRID**2)
        first = np.full(FILLED_GRID**2, MOST_POINTS)  # whose how many-th point was first in a cell
        drawn: list[FloatArray] = []
        total = 0
        while np.count_nonzero(first < total) < wanted:
            if total >= MOST_POINTS:
                raise ValueError(f"{self.data}: {MOST_POINTS} points a user do not fill so much")
            more = max(16, total)
            points = in_unit_square(draw, users * more).reshape(users, more, 2)
            cell = (points * FILLED_GRID).astype(np.int64)
            place_in_turn = np.broadcast_to(total + np.arange(more), (users, more))
            np.minimum.at(first, cell[..., 0] * FILLED_GRID + cell[..., 1], place_in_turn)
            drawn.append(points)
            total += more
        enough = int(np.partition(first, wanted - 1)[wanted - 1]) + 1
        return _counted(np.concatenate(drawn, axis=1)[:, :enough], level, rule)


@dataclass(frozen=True, slots=True)
class Gazes:
    """Points where people might look in pictures: a few things, and the middle.

    Of a user's points 60 % lie around one of four things (uniform in the middle 80 % of the
    picture, s.d. .04 of its sides), 40 % around the middle (s.d. .18); outside the picture they are
    drawn again. The picture, 320 × 240 pixels, lies in the corner of a square of 512.
    """

    points_a_user: int = 20
    seed: int = 0

    @property
    def data(self) -> str:
        """What is made, in words."""
        return f"gaze-like, {self.points_a_user} points a user, 320 × 240 of 512², seed {self.seed}"

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a picture of its own for every place; the number changes who looks."""
        users = _named(users)
        things = generator(self.data, place.name).uniform(0.1, 0.9, (4, 2))
        rng = generator(self.data, place.name, users, number)

        def draw(count: int) -> FloatArray:
            at_thing = rng.random(count) < 0.6
            middle = np.where(at_thing[:, None], things[rng.integers(4, size=count)], 0.5)
            spread = np.where(at_thing, 0.04, 0.18)
            return np.asarray(middle + rng.standard_normal((count, 2)) * spread[:, None])

        points = in_unit_square(draw, users * self.points_a_user)
        points *= (320 / 512, 240 / 512)
        return _counted(points.reshape(users, self.points_a_user, 2), level, rule)


def generator(*name: object) -> np.random.Generator:
    """Return random numbers that depend on what they are called and on nothing else."""
    digest = hashlib.sha256("\n".join(map(str, name)).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def in_unit_square(draw: Callable[[int], FloatArray], count: int) -> FloatArray:
    """Return so many points (x, y) of a sampler, those outside [0, 1)² drawn again."""
    found = np.empty((0, 2))
    while missing := count - len(found):
        points = draw(missing)
        inside = ((points >= 0) & (points < 1)).all(axis=1)
        found = np.concatenate([found, points[inside]])
    return found


def _named(users: int | None) -> int:
    if users is None:
        raise ValueError("users: made data have as many as are asked for; give a number, not all")
    return users


def _counted(points: FloatArray, level: int, rule: Contribution) -> Sample:
    """Return the sample of points of shape (users, points, 2)."""
    users, each, _ = points.shape
    user = np.repeat(np.arange(users), each)
    x, y = points.reshape(-1, 2).T
    return count_points(Points(user, y, x), UNIT_SQUARE, level, rule)
