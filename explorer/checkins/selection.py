"""Check-ins of a region, a time range and sampled users, selected lazily from layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from explorer.checkins.layout import Layout, quick_rows
from explorer.checkins.model import FloatArray, IndexArray
from explorer.checkins.sampling import HashArray
from explorer.user_rows import BoxFilter, Whole

Companion = TypeVar("Companion")

_CHUNK_SIZE = 200_000
"""Rows per piece: about 10 ms including their processing."""


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Which rows of a layout are selected.

    Attributes
    ----------
    layout : Layout
        Holds them, and perhaps more.
    where : BoxFilter
        Region and time range.
    most, among : int or None
        Maximum number of selected users, the first inside; and the number of the layout's first
        users considered. None means all.
    present : int or None
        Users inside, where the layout has none but the sampled ones.
    """

    layout: Layout
    where: BoxFilter
    most: int | None = None
    among: int | None = None
    present: int | None = None

    @classmethod
    def ranked(
        cls,
        layout: Layout,
        where: BoxFilter,
        hashes: HashArray,
        choose: Callable[[HashArray], np.ndarray[Any, np.dtype[np.intp]]],
    ) -> RowSelection:
        """Return a selection of users inside, sampled by other hashes than the layout's.

        Parameters
        ----------
        hashes : ndarray of uint64, shape (users of the file, 2)
            In the order of the ids.
        choose : callable
            From the hashes of those inside to the places of the chosen ones, ascending.
        """
        inside, each = layout.rows.inside(layout.rows.mask(where))
        there = np.flatnonzero(each)
        there = there[np.argsort(layout.users[there])]  # of equal hashes the smaller id goes first
        is_sampled = choose(hashes[layout.users[there]])
        used = np.zeros(len(each), bool)
        used[there[is_sampled]] = True
        sampled = layout.subset(inside[np.repeat(used, each)], np.where(used, each, 0))
        return cls(sampled, where, present=len(there))

    def indices(self) -> tuple[Whole, Whole, int]:
        """Return row indices by user, rows per user, and the number of users inside."""
        rows = self.layout.rows
        inside, each = rows.inside(rows.mask(self.where))
        used = np.flatnonzero(each)
        present = len(used)
        used = used[used < (len(each) if self.among is None else self.among)][: self.most]
        if len(used) < present:
            each[used[-1] + 1 if len(used) else 0 :] = 0  # it is the first ones that are taken
            inside = inside[: int(each.sum())]
        return inside, each, present

    def pieces(self, size: int) -> Iterator[tuple[Whole, Whole]]:
        """Yield row indices and rows per user in pieces of at most `size` rows.

        It ends when all that are taken were there.
        """
        rows, left = self.layout.rows, self.most
        for users in rows.pieces(size):
            if left == 0 or (self.among is not None and users.start >= self.among):
                return
            some = rows.cut(users)
            inside, each = some.inside(some.mask(self.where))
            if self.among is not None:
                each[max(self.among - users.start, 0) :] = 0
            if left is not None:
                there = np.flatnonzero(each)
                each[there[left:]] = 0
                left -= min(left, len(there))
            yield inside[: int(each.sum())] + int(rows.starts[users][0]), each


class SelectedRows:
    """Check-ins inside a region and time range, of all or of sampled users.

    The region is closed: a row exactly on its northern or eastern edge is inside, and belongs to
    the last cell of any grid over the region. Rows are searched on first use, so that counting does
    not wait for columns; only the rows of the last selection of a file are cached.

    Parameters
    ----------
    find : callable
        Returns the selected rows.
    users_in_file : int
        Users with at least one valid row in the whole data set.
    cache : RowCache
        Caches the rows.
    find_preview : callable or None
        From the seconds per row to the rows of the first users if counting all rows takes long,
        else to None.
    cache_surroundings : callable or None
        Extracts the rows around these, so that regions nearby are counted sooner; calls its
        argument regularly, which may raise to stop.
    """

    region_only = False

    def __init__(
        self,
        find: Callable[[], RowSelection],
        users_in_file: int,
        cache: RowCache,
        find_preview: Callable[[float], RowSelection | None] | None = None,
        cache_surroundings: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self.users_in_file = users_in_file
        self._surround = cache_surroundings
        self._find_preview = find_preview
        self._find = find
        self._cache = cache
        self._numbers: tuple[int, int, int] | None = None

    @property
    def selection(self) -> RowSelection:
        """Which rows of a layout are selected."""
        return self._cache.selection(self, self._find)

    def preview_selection(self) -> RowSelection | None:
        """Return the selection of the first users; None if counting all is fast or done."""
        if self._find_preview is None or self.counted:
            return None
        return self._find_preview(self._cache.seconds_a_row)

    def preview_took(self, rows: int, seconds: float) -> None:
        """Record how fast the rows of the first users were counted."""
        self._cache.took_at_most(rows, seconds)

    def cache_surroundings(self, check: Callable[[], None]) -> None:
        """Cache the rows around the region, to speed up nearby regions; call when idle.

        `check` is called every few milliseconds and may raise to stop.
        """
        if self._surround is not None:
            self._surround(check)

    @property
    def counted(self) -> bool:
        """Whether the rows have been counted."""
        return self._numbers is not None

    @property
    def user(self) -> IndexArray:
        """Dense index 0…users_used−1 of each row's user, uint32 of shape (rows,), ascending.

        Users are in the order of their ids (numeric if all are whole numbers, else by code point),
        a user's rows in that of the file.
        """
        return self._columns.user

    @property
    def lat(self) -> FloatArray:
        """Degrees, of shape (rows,); of another plane y (−y where it goes down) in its unit."""
        return self._columns.lat

    @property
    def lon(self) -> FloatArray:
        """Degrees, of shape (rows,); of another plane x in its unit.

        In a box across the antimeridian they grow from its west: 181 is 179° W.
        """
        return self._columns.lon

    @property
    def weight(self) -> FloatArray:
        """Shape (rows,); 1 where the file has no weights."""
        return self._columns.weight

    def pieces(
        self, size: int = _CHUNK_SIZE
    ) -> Iterator[tuple[IndexArray, FloatArray, FloatArray]]:
        """Yield each row's user, latitude and longitude, some users at a time.

        Users are numbered from 0 in each piece, in the order of the layout. This takes less time
        and memory than the columns of all rows.
        """
        part = self.selection
        for inside, each in part.pieces(size):
            user = np.repeat(np.arange(len(each), dtype=np.uint32), each)
            yield user, *part.layout.positions(inside, part.where.edges)

    @property
    def step(self) -> Fraction:
        """Unit of which coordinates are whole multiples."""
        return self.selection.layout.step

    @property
    def users_in_region(self) -> int:
        """Users with a row inside region and time range."""
        return self._counted[0]

    @property
    def users_used(self) -> int:
        """Users sampled of these."""
        return self._counted[1]

    @property
    def rows(self) -> int:
        """Check-ins in the set."""
        return self._counted[2]

    def cached(self, make: Callable[[], Companion]) -> Companion:
        """Return an object cached for all selections of the file, built on first use."""
        value: Companion = self._cache.companions.setdefault(make, make())
        return value

    def record_counts(self, present: int, used: int, rows: int, seconds: float = 0.0) -> None:
        """Record the counts of the selection, and the time they took."""
        if seconds:
            self._cache.seconds_a_row = seconds / max(len(self.selection.layout.y), 1)
        known = self.selection.present
        self._numbers = (present if known is None else known, used, rows)

    @property
    def _counted(self) -> tuple[int, int, int]:
        if self._numbers is None:
            inside, each, present = self.selection.indices()
            self.record_counts(present, int(np.count_nonzero(each)), len(inside))
        assert self._numbers is not None
        return self._numbers

    @property
    def _columns(self) -> _Columns:
        return self._cache.columns(self, self._read)

    def _read(self) -> _Columns:
        layout = self.selection.layout
        inside, each, present = self.selection.indices()
        there = np.flatnonzero(each)
        self.record_counts(present, len(there), len(inside))
        rank = np.empty(len(there), np.uint32)
        rank[np.argsort(layout.users[there])] = np.arange(len(there), dtype=np.uint32)
        user = np.repeat(rank, each[there])
        order = np.argsort(user, kind="stable")
        inside = inside[order]
        weight = np.ones(len(inside)) if layout.weight is None else layout.weight[inside]
        place = layout.positions(inside, self.selection.where.edges)
        return _Columns(user[order], *place, weight)


@dataclass(frozen=True, slots=True)
class _Columns:
    user: IndexArray
    lat: FloatArray
    lon: FloatArray
    weight: FloatArray


class RowCache:
    """Cache shared by the selections of one file.

    Attributes
    ----------
    seconds_a_row : float
        How long the last pass took; 0 before there was one.
    companions : dict
        Objects cached by other modules, by factory.
    """

    def __init__(self) -> None:
        self.seconds_a_row = 0.0
        self.companions: dict[Callable[[], Any], Any] = {}
        self.selection: Callable[[SelectedRows, Callable[[], RowSelection]], RowSelection] = _Last()
        self.columns: Callable[[SelectedRows, Callable[[], _Columns]], _Columns] = _Last()

    def took_at_most(self, rows: int, seconds: float) -> None:
        """Record the time per row if it is shorter: few rows may include waiting time."""
        if rows and self.seconds_a_row:
            self.seconds_a_row = min(self.seconds_a_row, seconds / rows)


class _Last:
    """A cache of one value with its owner."""

    def __init__(self) -> None:
        self._cache: tuple[Any, Any] = (None, None)

    def __call__(self, owner: Any, make: Callable[[], Any]) -> Any:
        """Return the owner's value, computed if the cached one is another owner's."""
        cache = self._cache
        if cache[0] is not owner:
            self._cache = cache = (owner, make())
        return cache[1]


MAX_ROWS = 20_000_000
"""Maximum number of check-ins returned as arrays: about 500 MB."""

SECONDS_A_ROW = 5e-9
"""Default time per row of a pass, as of rows in memory."""


@dataclass(frozen=True)
class ShardedRows:
    """Check-ins of several shards, with the interface of `SelectedRows`.

    Numbers are sums over the shards. Rows are returned, shard by shard, only if they fit into
    memory; counting iterates over the parts.

    Attributes
    ----------
    name : str
        Of the data set.
    step : Fraction
        Unit of which coordinates are whole multiples.
    users_in_file : int
    parts : tuple of SelectedRows
        Points of every shard, whose rows stay on the disk; the users of each have smaller hashes
        under seed 0 than those of the next.
    all_users : bool
        Whether they are not sampled.
    cache : RowCache
        Has the duration of the last pass.
    region_only : bool
        Whether users outside the region are unknown; `users_in_file` are then those of the region.
    places : tuple of Path
        Folder of the layout of each part; empty if parts contain fewer rows, or are temporary.
    """

    name: str
    step: Fraction
    users_in_file: int
    parts: tuple[SelectedRows, ...]
    all_users: bool
    cache: RowCache
    region_only: bool = False
    places: tuple[Path, ...] = ()

    @property
    def seconds(self) -> float:
        """Estimated seconds for counting in one process."""
        each = self.cache.seconds_a_row or SECONDS_A_ROW
        return each * sum(len(part.selection.layout.y) for part in self.parts)

    def preview_selection(self) -> RowSelection | None:
        """Return the selection of the first users; None if counting all is fast or done.

        They are of the first shard, which is a uniform sample of the users.
        """
        if not self.all_users or self.parts[-1].counted:
            return None
        layouts = [part.selection.layout for part in self.parts]
        seconds = self.cache.seconds_a_row or SECONDS_A_ROW
        rows = quick_rows(sum(len(layout.y) for layout in layouts), seconds)
        if rows is None:
            return None
        return RowSelection(layouts[0].first(rows), self.parts[0].selection.where)

    def preview_took(self, rows: int, seconds: float) -> None:
        """Record how fast the rows of the first users were counted."""
        self.cache.took_at_most(rows, seconds)

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
        column: IndexArray = self._columns[0]
        return column

    @property
    def lat(self) -> FloatArray:
        """Degrees; of another plane y in its unit."""
        column: FloatArray = self._columns[1]
        return column

    @property
    def lon(self) -> FloatArray:
        """Degrees; of another plane x in its unit."""
        column: FloatArray = self._columns[2]
        return column

    @property
    def weight(self) -> FloatArray:
        """1 where the file has no weights."""
        column: FloatArray = self._columns[3]
        return column

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        if self.rows > MAX_ROWS:
            raise ValueError(
                f"{self.name}: {self.rows:,} check-ins are requested as arrays, more than "
                f"{MAX_ROWS:,}; choose a smaller region or time range, or fewer users"
            )
        before, users, columns = 0, [np.empty(0, np.uint32)], []
        for part in self.parts:
            users.append(part.user + np.uint32(before))
            columns.append((part.lat, part.lon, part.weight))
            before += part.users_used
        lat, lon, weight = (np.concatenate(c) for c in zip(*columns, strict=True))
        return np.concatenate(users), lat, lon, weight
