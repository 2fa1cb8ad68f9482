"""Selection of a region of a fixed public grid by its number of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.releases.selection import gap_quantile, permute_and_flip
from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import (
    UNCHANGED_STEP,
    UNIT,
    USUAL_PROBABILITY,
    Output,
    Part,
    Plain,
    RandomBytes,
    Reads,
    ReleaseMechanism,
    Shown,
    UserRecords,
    bits_of,
    error_of,
)
from explorer.release.mechanisms.contributions import region_counts
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields, epsilon_units, single_part

MAX_ALONG = 300


@dataclass(frozen=True, slots=True)
class Regions:
    """Parsed parameters: number of rows and columns of the grid, and of regions to select."""

    area: Area
    rows: int
    columns: int
    chosen: int

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        grid = [self.rows, self.columns]
        return self.area.as_parameters() | {"grid": grid, "chosen": self.chosen}


class RegionSelection(ReleaseMechanism[Regions]):
    """Regions of a grid with approximately the most users.

    Privacy
    -------
    Scores are numbers of users with any row in a region: a user adds 0 or 1 to each, all in one
    direction. Permute-and-flip with parameter ε/k is then ε/k-DP (see
    `explorer.privacy.releases.selection`), without the usual factor 2. Of k regions each is chosen
    among those left, by an own draw: which are left is known from what was chosen, and the k times
    ε/k add up.
    """

    id: ClassVar[str] = "select.region/1"
    label: ClassVar[str] = "Choice of a region"
    privacy: ClassVar[str] = (
        "One user adds 0 or 1 to every region's count, all in one direction; each choice costs its "
        "own ε."
    )

    def parse(self, parameters: Mapping[str, Any]) -> Regions:
        """Parse parameters; fewer regions are selected than there are."""
        fields = Fields(self.id, parameters, (*AREA_FIELDS, "grid", "chosen"))
        rows, columns = fields.wholes("grid", 2, 1, MAX_ALONG)
        if rows * columns < 2:
            raise ParameterError("grid", "one region leaves no choice", "give more rows or columns")
        count = fields.whole("chosen", 1, 1, min(rows * columns - 1, 1000))
        return Regions(Area.of(fields, needs_box=True), rows, columns, count)

    def reads(self, p: Regions) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: Regions, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the selections, with equal ε up to one unit."""
        if p.chosen == 1:
            return single_part("choice of region 1", epsilon, 1, "permute-and-flip")
        units, left = divmod(epsilon_units(epsilon), p.chosen)
        if units < 1:
            raise ParameterError("epsilon", "a choice would get less than 2^-40", "give more")
        return tuple(
            Part(f"choice of region {k}", (units + (k <= left)) * UNIT, 1, "permute-and-flip")
            for k in range(1, p.chosen + 1)
        )

    def max_numbers(self, p: Regions, epsilon: Fraction) -> int:
        """Return how many are stored."""
        return p.chosen

    def draw(
        self, records: UserRecords, p: Regions, epsilon: Fraction, random_bytes: RandomBytes
    ) -> Output:
        """Select regions; stored are their indices, row by row from the south-west."""
        bits = bits_of(random_bytes)
        scores = region_counts(records, p.area, p.rows, p.columns)
        left = np.arange(len(scores))
        result: list[int] = []
        for part in self.parts(p, epsilon):
            at = permute_and_flip(scores[left], part.epsilon, bits)
            result.append(int(left[at]))
            left = np.delete(left, at)
        return Output({"regions": result}, (p.chosen,))

    def expected_error(self, p: Regions, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return how many users a selected region may have fewer than the best one."""
        return [
            error_of(
                f"number of users by which region {k} is below the best one not yet chosen",
                gap_quantile(p.rows * p.columns - k + 1, part.epsilon, 1 - USUAL_PROBABILITY),
            )
            for k, part in enumerate(self.parts(p, epsilon), 1)
        ]

    def shown(self, output: Mapping[str, Any], p: Regions, epsilon: Fraction) -> Shown:
        """Return the regions by row and column, and a map of them."""
        grid = np.zeros((p.rows, p.columns))
        table = []
        for k, region in enumerate(output["regions"], 1):
            row, column = divmod(region, p.columns)
            grid[row, column] = 1 / p.chosen
            name = f"Choice {k}: row {row + 1} from the south, column {column + 1} from the west"
            table.append((name, float(region)))
        return Shown(grid, table=tuple(table), steps=(UNCHANGED_STEP,))
