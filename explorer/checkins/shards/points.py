"""Check-ins of a region, a time range and some users, shard by shard."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.chosen.points import Kept, Part, PointSet
from explorer.checkins.chosen.working_set import quick_rows
from explorer.checkins.model import FloatArray, IndexArray

MOST_ROWS = 20_000_000
"""Check-ins that are handed out as arrays: some 500 MB."""

SECONDS_A_ROW = 5e-9
"""Of a pass, before there was one: as of a region of all rows, already in memory."""


@dataclass(frozen=True)
class ShardedPoints:
    """The check-ins of several shards; what a `PointSet` says, of all of them.

    Numbers are sums of the shards'. Rows are handed out, shard after shard, only where they fit
    into memory; whoever counts asks the parts one after the other.

    Attributes
    ----------
    name : str
        Of the data set.
    step : Fraction
        What coordinates are whole multiples of.
    users_in_file : int
    parts : tuple of PointSet
        Points of every shard, whose rows stay on the disk; the users of each have smaller hashes
        under seed 0 than those of the next.
    everybody : bool
        Whether they are not sampled.
    kept : Kept
        How long the last pass took.
    asked_once : bool
        Whether users elsewhere are unknown; `users_in_file` are then those of the region.
    places : tuple of Path
        Where the layout of each part is kept; empty if parts hold less than that, or not for long.
    """

    name: str
    step: Fraction
    users_in_file: int
    parts: tuple[PointSet, ...]
    everybody: bool
    kept: Kept
    asked_once: bool = False
    places: tuple[Path, ...] = ()

    @property
    def seconds(self) -> float:
        """About how long counting them takes in one process."""
        each = self.kept.seconds_a_row or SECONDS_A_ROW
        return each * sum(len(part.part.layout.y) for part in self.parts)

    def early(self) -> Part | None:
        """Return where those of the first users are; None if all are counted soon, or were.

        They are of the first shard, which is a uniform sample of the users.
        """
        if not self.everybody or self.parts[-1].counted:
            return None
        layouts = [part.part.layout for part in self.parts]
        seconds = self.kept.seconds_a_row or SECONDS_A_ROW
        rows = quick_rows(sum(len(layout.y) for layout in layouts), seconds)
        if rows is None:
            return None
        return Part(layouts[0].first(rows), self.parts[0].part.where)

    def early_took(self, rows: int, seconds: float) -> None:
        """Remember how fast the rows of the first users were counted."""
        self.kept.took_at_most(rows, seconds)

    @property
    def users_in_region(self) -> int:
        """Users with a row inside region and time range."""
        return sum(part.users_in_region for part in self.parts)

    @property
    def users_used(self) -> int:
        """Users sampled of these."""
        return sum(part.users_used for part in self.parts)

    @property
    def rows(self) -> int:
        """Check-ins in the set."""
        return sum(part.rows for part in self.parts)

    @property
    def user(self) -> IndexArray:
        """Index of each row's user: in the order of the ids within a shard, shard after shard."""
        found: IndexArray = self._columns[0]
        return found

    @property
    def lat(self) -> FloatArray:
        """Degrees; of another plane y in its unit."""
        found: FloatArray = self._columns[1]
        return found

    @property
    def lon(self) -> FloatArray:
        """Degrees; of another plane x in its unit."""
        found: FloatArray = self._columns[2]
        return found

    @property
    def weight(self) -> FloatArray:
        """1 where the file has no weights."""
        found: FloatArray = self._columns[3]
        return found

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        if self.rows > MOST_ROWS:
            raise ValueError(
                f"{self.name}: {self.rows:,} check-ins are asked for one by one, more than "
                f"{MOST_ROWS:,}; choose a smaller region or time range, or fewer users"
            )
        before, users, columns = 0, [np.empty(0, np.uint32)], []
        for part in self.parts:
            users.append(part.user + np.uint32(before))
            columns.append((part.lat, part.lon, part.weight))
            before += part.users_used
        lat, lon, weight = (np.concatenate(c) for c in zip(*columns, strict=True))
        return np.concatenate(users), lat, lon, weight
