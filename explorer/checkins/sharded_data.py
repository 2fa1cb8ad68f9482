"""Opened check-ins of a data set larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.cache import Entry
from explorer.checkins.data import CheckinData
from explorer.checkins.database import SharedConnection, connect, parquet_table
from explorer.checkins.layout import ARRAYS, Layout
from explorer.checkins.memory import allow_files
from explorer.checkins.model import Box, Cell, IndexArray
from explorer.checkins.queries import cell_sides
from explorer.checkins.sampling import HashArray, fetched_hashes, limit_of, under
from explorer.checkins.selection import RowSelection, SelectedRows, ShardedRows
from explorer.checkins.sharding import LAYOUT, USERS, shard_folder
from explorer.checkins.sources import DataFiles
from explorer.user_rows import BoxFilter


class ShardedData(CheckinData):
    """Check-ins stored in shards. Methods may be called from any thread.

    Attributes
    ----------
    shards : tuple of Layout
        Memory-mapped; ascending in the hashes of their users.
    """

    def __init__(self, entry: Entry, files: DataFiles, known_synthetic: frozenset[str]) -> None:
        self._load_metadata(entry, files, known_synthetic)
        self.larger_than_memory = True
        facts = self._settings["shards"]
        allow_files(len(ARRAYS) << facts["bits"])
        numbers = range(1 << facts["bits"])
        self._places = tuple(shard_folder(entry.folder, number) / LAYOUT for number in numbers)
        self.shards = tuple(Layout.open(place) for place in self._places)
        self.rows = sum(len(shard.y) for shard in self.shards)
        self.users = sum(len(shard.users) for shard in self.shards)
        if self.rows != self.report.kept:
            raise ValueError("the cached rows are not those of the report")
        self.extent: Box = tuple(facts["extent"])
        self.first_time, self.last_time = facts["times"] or (None, None)
        self._spill = entry.file("spill")
        self._con = connect()
        self._connection = SharedConnection(self._con, self.basename)
        self._seeded: tuple[int, list[HashArray]] | None = None
        self._only: BoxFilter | None = None
        if "once" in self._settings:
            box, start, end = self._settings["once"]
            self._only = BoxFilter(
                self.shards[0].edges(box, self._turn), *self._seconds(start, end)
            )
            self.region_only, self.larger_than_memory = True, False

    def points(  # type: ignore[override]
        self,
        box: Box,
        start: str | None = None,
        end: str | None = None,
        users: int | None = None,
        data_seed: int = 0,
        share: Fraction | None = None,
        check: Callable[[], None] = lambda: None,
        image: str | None = None,
    ) -> ShardedRows:
        """Return the check-ins inside a closed box, of all or of sampled users.

        As `CheckinData.points`, shard by shard.
        """
        self._connection.check_open()
        limit = self._check_sample(users, share)
        self._image_index(image)
        where = self._where(box, start, end)
        # Sampling is resolved eagerly: `check` belongs to this call and must not be retained.
        if data_seed and (users, share) != (None, None):
            hashes = self._shard_hashes(data_seed, check)
            if limit is None:
                limit = self._limit(where, users or 0, hashes, check)
            choose = partial(under, limit=limit)

            def ranked(number: int) -> RowSelection:
                return RowSelection.ranked(self.shards[number], where, hashes[number], choose)

            found = [self._piece(partial(ranked, number)) for number in range(len(self.shards))]
        else:
            found, left = [], users
            for shard in self.shards:
                among = None if share is None else shard.users_below(share)
                found.append(self._piece(partial(RowSelection, shard, where, left, among)))
                if left is not None:
                    check()
                    left -= found[-1].users_used
        all_users = (users, share) == (None, None)
        return ShardedRows(
            self.basename,
            self.shards[0].step,
            self.users,
            tuple(found),
            all_users,
            self._row_cache,
            self.region_only,
            self._places if all_users and not self.region_only else (),
        )

    def _where(self, box: Box, start: str | None, end: str | None) -> BoxFilter:
        """Return the filter; raise if a region query did not read those rows."""
        edges, only = self.shards[0].edges(box, self._turn), self._only
        where = BoxFilter(edges, *self._seconds(start, end))
        if only is not None and not (
            only.holds(where) and (self.shards[0].t is not None or not where.timed)
        ):
            raise ValueError(
                f"{self.basename} was asked once, about another region or time range; ask again, "
                "or open the whole"
            )
        return where

    def _piece(self, find: Callable[[], RowSelection]) -> SelectedRows:
        return SelectedRows(find, self.users, self._row_cache)

    def _limit(
        self, where: BoxFilter, users: int, hashes: list[HashArray], check: Callable[[], None]
    ) -> int:
        """Return the upper limit of the hashes of so many users inside."""
        inside = [np.empty((0, 2), np.uint64)]
        for shard, ranks in zip(self.shards, hashes, strict=True):
            check()
            _, each = shard.rows.inside(shard.rows.mask(where))
            inside.append(ranks[shard.users[np.flatnonzero(each)]])
        return limit_of(np.concatenate(inside), users)

    def layout(self) -> Layout:
        """Raise ValueError: all rows together may exceed memory; use `shards`."""
        raise ValueError(f"{self.basename} lies in shards; ask each of them")

    def density(
        self,
        box: Box,
        columns: int,
        rows: int,
        start: str | None = None,
        end: str | None = None,
        image: str | None = None,
    ) -> IndexArray:
        """Return the number of check-ins per cell (see `CheckinData.density`)."""
        grid = np.zeros(rows * columns, np.uint32)
        for cells, _ in self._cells(box, columns, rows, start, end, image):
            grid += np.bincount(cells, minlength=rows * columns).astype(np.uint32)
        return grid.reshape(rows, columns)

    def busiest_cells(
        self,
        box: Box,
        partition: int = 300,
        top: int = 30,
        start: str | None = None,
        end: str | None = None,
        by: str = "rows",
        image: str | None = None,
    ) -> tuple[Cell, ...]:
        """Return the cells with most check-ins or users (see `CheckinData.busiest_cells`)."""
        size = partition * partition
        counts = {"rows": np.zeros(size, np.int64), "users": np.zeros(size, np.int64)}
        for cells, users in self._cells(box, partition, partition, start, end, image):
            counts["rows"] += np.bincount(cells, minlength=size)
            counts["users"] += np.bincount(np.unique(users * size + cells) % size, minlength=size)
        most = np.lexsort((np.arange(size), -counts[by]))[:top]
        return tuple(
            Cell(cell_sides(box, partition, i), int(counts["rows"][i]), int(counts["users"][i]))
            for i in most[counts["rows"][most] > 0].tolist()
        )

    def _cells(
        self,
        box: Box,
        columns: int,
        rows: int,
        start: str | None,
        end: str | None,
        image: str | None,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the cells of each shard's rows inside, and their users."""
        self._image_index(image)
        where = self._where(box, start, end)
        edges = where.edges
        high, wide = edges.north - edges.south, edges.east - edges.west
        if not (high and wide):
            raise ValueError(f"box: {box} has no area to divide into cells")
        for shard in self.shards:
            found, each = shard.rows.inside(shard.rows.mask(where))
            row = (shard.y[found].astype(np.int64) - edges.south) * rows // high
            column = (edges.eastwards(shard.x[found]) - edges.west) * columns // wide
            cells = np.minimum(row, rows - 1) * columns + np.minimum(column, columns - 1)
            yield cells, np.repeat(np.arange(len(each)), each)

    def _user_files(self) -> list[Path]:
        numbers = range(len(self.shards))
        return [shard_folder(self._entry.folder, number) / USERS for number in numbers]

    def _shard_hashes(self, seed: int, check: Callable[[], None]) -> list[HashArray]:
        """Return every shard's hashes under a seed, in the order of `Layout.users`.

        They are kept for the last seed: 16 bytes a user.
        """
        with self._lock:
            known = self._seeded
        if known is None or known[0] != seed:
            found = []
            for file in self._user_files():
                with self._connection.cursor() as cursor:
                    names = cursor.execute(f"SELECT name FROM {parquet_table(file)}")
                    found.append(fetched_hashes(names, seed, check))
            known = (seed, found)
            with self._lock:
                self._seeded = known
        return known[1]
