"""Heatmaps from quadtree levels: the paper's algorithm, and least squares on whole levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.budget_schedule import start_level
from explorer.privacy.heatmaps.integers import RESOLUTION
from explorer.privacy.heatmaps.least_squares_fit import LevelCounts, fit
from explorer.privacy.heatmaps.measurement import Measurement, descend, largest
from explorer.privacy.heatmaps.quadtree import SparseMap, children
from explorer.privacy.heatmaps.reconstruction import reconstruct
from explorer.privacy.noise.demonstration import IntArray
from explorer.privacy.releases.budgets import level_split
from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import (
    UNIT,
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
from explorer.release.mechanisms.contributions import MAX_UNITS, heatmap_counts
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields, epsilon_units, single_part

GAMMA_SQUARED = Fraction(1, 2)
"""A level has 1/√2 of the ε of the one above."""
MAX_KEPT = 4096
MAX_SIDE = 1024


@dataclass(frozen=True, slots=True)
class PaperParameters:
    """Parsed parameters: w cells are kept per level, B is the units, Δ = 2^level."""

    area: Area
    level: int
    last: int
    kept: int
    units: int

    @property
    def start(self) -> int:
        """First level q, whose cells are all read: the largest with 4^q ≤ w."""
        return min(start_level(self.kept, self.level), self.last)

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters() | {
            "side": 1 << self.level,
            "last_level": self.last,
            "kept": self.kept,
            "units": self.units,
        }


@dataclass(frozen=True, slots=True)
class PyramidParameters:
    """Parsed parameters: n₀ is an assumed number of users, never taken from the data."""

    area: Area
    level: int
    start: int
    assumed_users: int
    units: int

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters() | {
            "side": 1 << self.level,
            "start_level": self.start,
            "assumed_users": self.assumed_users,
            "units": self.units,
        }

    def last(self, epsilon: Fraction) -> int:
        """Return L = ½·log₂(ε·n₀) to the nearest whole number, in q…ℓ."""
        reach = epsilon * self.assumed_users
        # ½ log₂ x ≥ L − ½ is x ≥ 2^(2L−1).
        return max(
            (level for level in range(self.start, self.level + 1) if reach >= _half_power(level)),
            default=self.start,
        )


def _half_power(level: int) -> Fraction:
    return Fraction(4**level, 2)


class PaperHeatmap(ReleaseMechanism[PaperParameters]):
    """Heatmap by the paper's algorithm (Ghazi and others 2022), keeping w cells per level.

    Privacy
    -------
    Each user's rows in the box become whole numbers z ≥ 0 of cells with the total B (or 0), so that
    adding or removing a user changes the counts of each level by B in ℓ1. Every cell that is read
    gets discrete Laplace noise of scale B/ε_i, fresh for each: what is read of one level is
    ε_i-DP, whichever cells those are; which cells are read on the next depends on earlier noisy
    numbers only. The ε_i add up. Not read is as not released: leaving out cells by noisy numbers is
    post-processing of having read all.
    """

    id: ClassVar[str] = "heatmap.paper/1"
    label: ClassVar[str] = "Heatmap, pyramid with selection"
    privacy: ClassVar[str] = (
        "One user changes each level's counts by B in all; the levels' ε add up, and noisy numbers "
        "alone decide which cells are read."
    )

    def parse(self, parameters: Mapping[str, Any]) -> PaperParameters:
        """Parse parameters."""
        fields = Fields(self.id, parameters, (*AREA_FIELDS, "side", "last_level", "kept", "units"))
        level = fields.side(2 * MAX_SIDE)
        return PaperParameters(
            Area.of(fields, needs_box=True),
            level,
            min(fields.whole("last_level", level, 0, 30), level),
            fields.whole("kept", 20, 1, MAX_KEPT),
            fields.whole("units", RESOLUTION, 1, MAX_UNITS),
        )

    def reads(self, p: PaperParameters) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: PaperParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the levels, each with 1/√2 of the ε of the one above."""
        return _level_parts(epsilon, p.start, p.last, p.units)

    def max_numbers(self, p: PaperParameters, epsilon: Fraction) -> int:
        """Return the maximum number of stored integers."""
        whole = 1 << 2 * p.start
        return 3 * (whole + 4 * max(whole, p.kept) * (p.last - p.start))

    def draw(
        self, records: UserRecords, p: PaperParameters, epsilon: Fraction, random_bytes: RandomBytes
    ) -> Output:
        """Read level by level; stored is [level, Morton code, noisy number] of every reading."""
        parts, bits = self.parts(p, epsilon), bits_of(random_bytes)
        counts = heatmap_counts(records, p.area, p.level, p.units)
        stored: list[list[int]] = []

        def read(level: int, cells: IntArray) -> NDArray[np.float64]:
            share = parts[level - p.start].epsilon
            result = noisy(counts.at(level, cells), p.units, share, bits)
            stored.extend([level, *pair] for pair in zip(cells.tolist(), result, strict=True))
            return _in_users(result, p.units)

        descend(read, p.start, p.last, p.kept)
        return Output({"readings": stored}, (len(stored), 3))

    def expected_error(self, p: PaperParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the errors of readings, in users."""
        return _level_errors(self.parts(p, epsilon), p.start, p.units)

    def shown(self, output: Mapping[str, Any], p: PaperParameters, epsilon: Fraction) -> Shown:
        """Return the non-negative map nearest to the readings."""
        solution = reconstruct(self.measured(output, p))
        blocks = solution.blocks().on(p.level)
        return Shown(
            blocks.normalised().grid(),
            solution.total,
            steps=(
                "The map without negative values that is nearest to the noisy counts, in the norm "
                "of the heatmap paper (Ghazi and others 2022), is divided by its total.",
            ),
        )

    def measured(self, output: Mapping[str, Any], p: PaperParameters) -> Measurement:
        """Return the read and the selected cells, which above the deepest level have read children.

        Raises
        ------
        ValueError
            If a reading is missing.
        """
        levels: dict[int, dict[int, int]] = {}
        for level, cell, value in output["readings"]:
            levels.setdefault(level, {})[cell] = value
        codes, values, selected = [], [], []
        cells = np.arange(4**p.start, dtype=np.int64)
        for level in range(p.start, p.last + 1):
            result = levels.get(level, {})
            if missing := [cell for cell in cells.tolist() if cell not in result]:
                raise ValueError(f"readings: that of level {level}, cell {missing[0]} is missing")
            codes.append(cells)
            values.append(_in_users([result[cell] for cell in cells.tolist()], p.units))
            if level == p.start:
                selected.append(np.ones(len(cells), bool))
            elif level == p.last:
                selected.append(largest(values[-1], cells, p.kept))
            else:
                below = levels.get(level + 1, {})
                selected.append(
                    np.array([4 * cell in below for cell in cells.tolist()], dtype=bool)
                )
            cells = children(cells[selected[-1]])
        return Measurement(p.last, p.start, tuple(codes), tuple(values), tuple(selected))


class PyramidHeatmap(ReleaseMechanism[PyramidParameters]):
    """Heatmap fitted by least squares to all cells of some levels.

    Privacy
    -------
    Each user's rows in the box become whole numbers z ≥ 0 of cells with the total B (or 0), so that
    adding or removing a user changes the counts of each level by B in ℓ1. Discrete Laplace noise of
    scale B/ε_i on every cell makes a level ε_i-DP; the ε_i add up. Which levels are read depends on
    ε and on a number of users that is typed. The fit is post-processing.
    """

    id: ClassVar[str] = "heatmap.pyramid/1"
    label: ClassVar[str] = "Heatmap, all cells of some levels"
    privacy: ClassVar[str] = (
        "One user changes each level's counts by B in all; the levels' ε add up, and which levels "
        "are read does not depend on the data."
    )

    def parse(self, parameters: Mapping[str, Any]) -> PyramidParameters:
        """Parse parameters."""
        own = (*AREA_FIELDS, "side", "start_level", "assumed_users", "units")
        fields = Fields(self.id, parameters, own)
        level = fields.side(MAX_SIDE)
        return PyramidParameters(
            Area.of(fields, needs_box=True),
            level,
            min(fields.whole("start_level", 2, 0, 6), level),
            fields.whole("assumed_users", None, 1, 10**10),
            fields.whole("units", RESOLUTION, 1, MAX_UNITS),
        )

    def reads(self, p: PyramidParameters) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: PyramidParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the levels, each with 1/√2 of the ε of the one above."""
        return _level_parts(epsilon, p.start, p.last(epsilon), p.units)

    def max_numbers(self, p: PyramidParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers."""
        return 1 + sum(1 << 2 * level for level in range(p.start, p.last(epsilon) + 1))

    def draw(
        self,
        records: UserRecords,
        p: PyramidParameters,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Read all cells of all levels; stored are their noisy numbers in Morton order."""
        bits = bits_of(random_bytes)
        counts = heatmap_counts(records, p.area, p.level, p.units)
        levels = [
            noisy(counts.at(level, np.arange(4**level)), p.units, part.epsilon, bits)
            for level, part in enumerate(self.parts(p, epsilon), p.start)
        ]
        return Output({"first_level": p.start, "levels": levels}, (sum(map(len, levels)),))

    def expected_error(self, p: PyramidParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the errors of readings, in users."""
        return _level_errors(self.parts(p, epsilon), p.start, p.units)

    def shown(self, output: Mapping[str, Any], p: PyramidParameters, epsilon: Fraction) -> Shown:
        """Return the map of the least-squares fit."""
        parts = self.parts(p, epsilon)
        values = tuple(_in_users(level, p.units) for level in output["levels"])
        variances = tuple(2.0 / float(part.epsilon) ** 2 for part in parts)
        result = fit(LevelCounts(p.start, values, variances))
        drawn = result.on(p.level)
        dense = drawn.normalised().grid() if isinstance(drawn, SparseMap) else drawn / drawn.sum()
        return Shown(
            dense,
            result.total,
            steps=(
                "A map is fitted to the noisy counts of all levels by weighted least squares, "
                "replaced by the nearest map without negative values, and divided by its total.",
            ),
        )


def _level_parts(epsilon: Fraction, start: int, last: int, units: int) -> tuple[Part, ...]:
    if start == last:
        return single_part(f"counts in cells of level {last}", epsilon, units)
    whole = epsilon_units(epsilon)
    split = list(level_split(whole, GAMMA_SQUARED, start, last))
    if split[-1] < 1:
        raise ParameterError(
            "epsilon", f"level {last} would get less than 2^-40", "give more, or read fewer levels"
        )
    # what rounding down has left, in whole units
    split[0] += whole - sum(split)
    return tuple(
        Part(f"counts in cells of level {level}", share * UNIT, units)
        for level, share in enumerate(split, start)
    )


def _level_errors(parts: tuple[Part, ...], start: int, units: int) -> list[dict[str, Any]]:
    return [
        noise_error(
            f"number of users in a cell of level {level}", part.epsilon, part.sensitivity, units
        )
        for level, part in enumerate(parts, start)
    ]


def _in_users(values: list[int], units: int) -> NDArray[np.float64]:
    """Return noisy integers in units of users; Python's integer division rounds correctly."""
    return np.array([value / units for value in values], dtype=float)
