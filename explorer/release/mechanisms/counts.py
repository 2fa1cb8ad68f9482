"""Counts of users: in every cell of a map, and in one box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.heatmaps.quadtree import all_codes
from explorer.release.mechanisms.base import (
    UNCHANGED_STEP,
    Output,
    Part,
    Plain,
    RandomBytes,
    Reads,
    ReleaseMechanism,
    Shown,
    UserRecords,
    bits_of,
    noise_error,
    noisy,
)
from explorer.release.mechanisms.contributions import one_cell_counts, user_count
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields, single_part

MAX_SIDE = 1024


@dataclass(frozen=True, slots=True)
class CellCountParameters:
    """Parsed parameters: Δ = 2^level."""

    area: Area
    level: int

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters() | {"side": 1 << self.level}


@dataclass(frozen=True, slots=True)
class UserCountParameters:
    """Parsed parameters."""

    area: Area

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters()


class CellCounts(ReleaseMechanism[CellCountParameters]):
    """Number of users per map cell, each user counted in the cell of most of their rows.

    Privacy
    -------
    A user adds 1 to the count of one cell (that with most of their rows in the box, the first in
    Morton order among equals) or to none: ℓ1-sensitivity 1. Discrete Laplace noise of scale 1/ε on
    every cell gives ε for adding or removing a user.
    """

    id: ClassVar[str] = "counts.cells/1"
    label: ClassVar[str] = "People per cell"
    privacy: ClassVar[str] = "One user changes one cell's count by 1."

    def parse(self, parameters: Mapping[str, Any]) -> CellCountParameters:
        """Parse parameters."""
        fields = Fields(self.id, parameters, (*AREA_FIELDS, "side"))
        return CellCountParameters(Area.of(fields, needs_box=True), fields.side(MAX_SIDE))

    def reads(self, p: CellCountParameters) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: CellCountParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the single measurement."""
        return single_part("counts in cells", epsilon, 1)

    def max_numbers(self, p: CellCountParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers."""
        return 1 << 2 * p.level

    def draw(
        self,
        records: UserRecords,
        p: CellCountParameters,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Draw noisy counts; stored row by row from the south-west."""
        counts = one_cell_counts(records, p.area, p.level)[all_codes(p.level).ravel()]
        result = noisy(counts, 1, epsilon, bits_of(random_bytes))
        return Output({"cells": result}, (1 << p.level, 1 << p.level))

    def expected_error(self, p: CellCountParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the error of a cell's count."""
        return [noise_error("number of users in a cell", epsilon, 1)]

    def shown(self, output: Mapping[str, Any], p: CellCountParameters, epsilon: Fraction) -> Shown:
        """Return a map of the counts with negative ones set to 0."""
        side = 1 << p.level
        grid = np.array([float(value) for value in output["cells"]]).reshape(side, side)
        clipped = np.maximum(grid, 0.0)
        mass = clipped / clipped.sum() if clipped.any() else np.full_like(clipped, 1 / clipped.size)
        steps = ("Negative counts are set to 0, and the counts are divided by their total.",)
        return Shown(mass, float(grid.sum()), steps=steps)


class UserCount(ReleaseMechanism[UserCountParameters]):
    """Number of users with a row in a box and a time range.

    Privacy
    -------
    A user adds 1 or 0: sensitivity 1. Discrete Laplace noise of scale 1/ε gives ε for adding or
    removing a user.
    """

    id: ClassVar[str] = "count.users/1"
    label: ClassVar[str] = "Number of people"
    privacy: ClassVar[str] = "One user changes the count by 1."

    def parse(self, parameters: Mapping[str, Any]) -> UserCountParameters:
        """Parse parameters; without a box all rows count."""
        return UserCountParameters(
            Area.of(Fields(self.id, parameters, AREA_FIELDS), needs_box=False)
        )

    def reads(self, p: UserCountParameters) -> Reads:
        """Return the columns of box and time range."""
        return p.area.reads()

    def parts(self, p: UserCountParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the single measurement."""
        return single_part("count of users", epsilon, 1)

    def max_numbers(self, p: UserCountParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers."""
        return 1

    def draw(
        self,
        records: UserRecords,
        p: UserCountParameters,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Draw and store the noisy count."""
        counts = user_count(records, p.area)
        (result,) = noisy(counts, 1, epsilon, bits_of(random_bytes))
        return Output({"noisy_users": result}, (1,))

    def expected_error(self, p: UserCountParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the error of the count."""
        return [noise_error("number of users", epsilon, 1)]

    def shown(self, output: Mapping[str, Any], p: UserCountParameters, epsilon: Fraction) -> Shown:
        """Return a table with the count."""
        users = float(output["noisy_users"])
        return Shown(table=(("People", users),), steps=(UNCHANGED_STEP,))
