"""Opened check-ins of one data set, in memory or in shards, and queries over them.

`StoredData` opens them in another process too; rows are never sent between processes.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.cache import Entry
from explorer.checkins.database import SharedConnection, connect, parquet_table
from explorer.checkins.errors import CheckinError
from explorer.checkins.layout import ARRAYS, LAYOUT, Columns, Layout, WorkingSets
from explorer.checkins.memory import allow_files
from explorer.checkins.model import (
    Box,
    Cell,
    Dialect,
    IndexArray,
    Mapping,
)
from explorer.checkins.parsing.times import FIRST_YEAR, LAST_YEAR
from explorer.checkins.queries import (
    LONGITUDES,
    cell_sides,
    grid_cell,
    longitudes_of,
    positions,
    rows_inside,
    seconds,
)
from explorer.checkins.rejected import export
from explorer.checkins.sampling import (
    HashArray,
    below,
    fetched_hashes,
    limit_of,
    smallest,
    threshold,
    under,
)
from explorer.checkins.selection import RowCache, RowSelection, SelectedRows, ShardedRows
from explorer.checkins.sharding import shard_folder
from explorer.checkins.sources import DataFiles
from explorer.checkins.store import DUPLICATES, ROWS, USERS, read_columns, read_report
from explorer.polygon import Polygon
from explorer.user_rows import TURN, BoxFilter

QUERY_BYTES = 1_000_000_000
"""Memory limit of queries in bytes; larger ones spill to disk."""

_CHUNK_SIZE = 400_000
"""Rows fetched at a time."""

_ORDER_COLUMNS = {"rows": "n", "users": "count(DISTINCT user_id)"}


class CheckinData:
    """Validated check-ins of one or several files. Methods may be called from any thread.

    Attributes
    ----------
    fingerprint : str
        sha256 of the file, or of names and sha256 of several; empty if it was not computed.
    basename : str
        Name of the file or folder without its location; the only name in recipes.
    files : DataFiles
        Paths of the files, for exporting rejected lines. Never stored in a recipe.
    size : int
        Bytes of the file.
    synthetic : bool
        Whether the fingerprint is that of a bundled sample.
    report : LoadReport
    rows, users : int
        Valid rows, and users with at least one.
    first_time, last_time : str or None
        ISO 8601 UTC instants; None without a time column.
    extent : (south, west, north, east)
        Smallest box of degrees around all valid rows.
    has_times, has_weights, larger_than_memory : bool
    region_only : bool
        Whether only one region's rows were read (`explorer.checkins.region_query`).
    mapping : Mapping
    columns : dict
        The mapping, the layer or sheet, and names of columns, as in recipes.
    unit : str
        The privacy unit: ``user``, ``row`` (each valid row is a user) or ``file`` (all rows are one
        user).
    names : dict of str to str
        Names of the columns in use, by the field of the mapping.
    plane : Plane or None
        Plane of the positions if it is not the Earth: "degrees" are then its unit, and latitudes
        are y, with opposite sign if y grows downwards.
    images : tuple of str
        Images of the rows, sorted by code point; empty without a column of images.
    """

    def __init__(self, entry: Entry, files: DataFiles, known_synthetic: frozenset[str]) -> None:
        self._load_metadata(entry, files, known_synthetic)
        self._spill = entry.file(f"spill-{os.getpid()}-{id(self)}")
        self._con = connect(self._spill, QUERY_BYTES)
        try:
            self._con.execute(
                f"CREATE TABLE duplicates AS FROM {parquet_table(entry.file(DUPLICATES))}"
            )
            stored_rows = parquet_table(entry.file(ROWS), numbered=True)
            self._rows = f"(FROM {stored_rows} WHERE code = 0)"
            if self._con.execute("SELECT count(*) FROM duplicates").fetchone()[0]:
                self._rows = self._rows[:-1] + " AND file_row_number NOT IN (FROM duplicates))"
            self._rows = f"(SELECT {positions(self.plane)} FROM {self._rows})"
            counted = f"SELECT count(*) FROM {stored_rows}"
            self._physical: int = self._con.execute(counted).fetchone()[0]
            users = parquet_table(entry.file(USERS))
            (self.users,) = self._con.execute(f"SELECT count(*) FROM {users}").fetchone()
            south, north, *lon, rows, first, last = self._con.execute(
                f"SELECT min(lat), max(lat), {LONGITUDES}, count(*), "
                f"strftime(min(time), '%Y-%m-%dT%H:%M:%SZ'), "
                f"strftime(max(time), '%Y-%m-%dT%H:%M:%SZ') FROM {self._rows}"
            ).fetchone()
            if self.mapping.image is not None:
                images = f"SELECT DISTINCT image FROM {self._rows} ORDER BY image"
                self.images = tuple(name for (name,) in self._con.execute(images).fetchall())
            if first and not f"{FIRST_YEAR}" <= first <= last < f"{LAST_YEAR + 1}":
                raise ValueError("the cached rows have times that are rejected by now")
            if rows != self.report.kept:
                raise ValueError("the cached rows are not those of the report")
        except BaseException:
            self._con.close()
            raise
        self._sets = WorkingSets(entry.file(LAYOUT), self._build_layout)
        self._connection = SharedConnection(self._con, self.basename, self._sets.close)
        west, east = longitudes_of(lon, self.plane)
        self.extent: Box = (south, west, north, east)
        self.rows: int = rows
        self._hashes: tuple[int, HashArray] | None = None
        self.first_time: str | None = first
        self.last_time: str | None = last

    def _load_metadata(
        self, entry: Entry, files: DataFiles, known_synthetic: frozenset[str]
    ) -> None:
        """Set the attributes that an entry's metadata determine."""
        stored = entry.read_report()
        self._entry = entry
        self._lock = threading.Lock()
        self._settings = stored
        self.files = files
        self.fingerprint: str = stored["fingerprint"]
        self.basename: str = stored["basename"]
        self.size: int = stored["size"]
        self.has_times: bool = stored["has_times"]
        self.has_weights: bool = stored["has_weights"]
        self.mapping = Mapping(**stored["mapping"])
        self.columns = read_columns(stored)
        self.unit: str = self.mapping.unit or "user"
        self.names: dict[str, str] = stored["names"]
        self.plane = self.mapping.plane_there
        self.images = ()
        self.report = read_report(stored["report"])
        self.larger_than_memory = self.region_only = False
        self.synthetic = bool(self.fingerprint) and self.fingerprint in known_synthetic
        self._row_cache = RowCache()

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """How the text of each file was split when it was opened."""
        return tuple(Dialect(**stored) for stored in self._settings.get("dialects", ()))

    @property
    def folder(self) -> Path:
        """Folder of the stored rows (`explorer.checkins.data`)."""
        return self._entry.folder

    def points(
        self,
        box: Box,
        start: str | None = None,
        end: str | None = None,
        users: int | None = None,
        data_seed: int = 0,
        share: Fraction | None = None,
        check: Callable[[], None] = lambda: None,
        image: str | None = None,
        polygon: Polygon | None = None,
    ) -> SelectedRows:
        """Return the check-ins inside a closed box of degrees, of all or of sampled users.

        Users with at least one valid row inside box and time range are sampled by the keyed hash of
        their ids (`explorer.checkins.sampling`): either `users` with the smallest hashes (all,
        if there are fewer), or those whose hash is below a share of all hashes.

        Parameters
        ----------
        box : (south, west, north, east)
        start, end : str or None
            ISO 8601 instants (UTC without an offset); rows with start ≤ time < end are used.
        users : int or None
            Number of users; None takes all.
        data_seed : int
            Seed of the sample: the hash's public key.
        share : Fraction or None
            Share of the users, above 0 and at most 1, instead of a number.
        check : callable
            Called regularly while ids are hashed for a seed other than 0; may raise to stop.
        image : str or None
            Only rows of this image; None takes all.
        polygon : Polygon or None
            Only rows inside it; in steps of the Earth, with the box around it.

        Raises
        ------
        ValueError
            If this has been closed, a time range is given for a file without times, an instant
            can't be read, the box is empty, `users` is below 1, `share` is outside (0, 1], or both
            are given, or there is no such image.
        """
        self._connection.check_open()
        self._check_sample(users, share)
        edges = self._sets.whole().edges(box, self._turn)
        where = BoxFilter(edges, *self._seconds(start, end), polygon)
        index = self._image_index(image)
        ranked = data_seed != 0 and (users is not None or share is not None)
        if ranked:
            self._user_hashes(data_seed, check)

        def choose(hashes: HashArray) -> Any:
            return smallest(hashes, users or 0) if share is None else below(hashes, share)

        def find() -> RowSelection:
            near = self._sets.around(edges, index)
            if ranked:
                return RowSelection.ranked(near, where, self._user_hashes(data_seed), choose)
            among = None if share is None else near.users_below(share)
            return RowSelection(near, where, users, among)

        def find_preview(seconds_a_row: float) -> RowSelection | None:
            first = self._sets.first_users(edges, seconds_a_row)
            return None if first is None else RowSelection(first, where)

        all_users = (users, share, index) == (None, None, None)
        return SelectedRows(
            find,
            self.users,
            self._row_cache,
            find_preview if all_users else None,
            partial(self._sets.cache_surroundings, edges) if index is None else None,
        )

    def layout(self) -> Layout:
        """Return all rows as a layout, built once and stored in the cache entry.

        Takes about a second for 10 million rows: must not be called in the interface's thread.
        """
        self._connection.check_open()
        return self._sets.whole()

    def density(
        self,
        box: Box,
        columns: int,
        rows: int,
        start: str | None = None,
        end: str | None = None,
        image: str | None = None,
    ) -> IndexArray:
        """Return the number of check-ins in each cell of a grid over a box.

        Parameters
        ----------
        box : (south, west, north, east)
        columns, rows : int
        start, end, image : str or None

        Returns
        -------
        ndarray of uint32, shape (rows, columns)
            Row 0 south, column 0 west; the northern and eastern edges belong to the last cells.
            Rows are counted without their weights.
        """
        where, values = self._inside(box, start, end, image)
        counts = self._fetch(
            f"SELECT {grid_cell(box, columns, rows, self.plane)} AS cell, count(*)::UINTEGER AS n "
            f"FROM {self._rows} WHERE {where} GROUP BY cell",
            values,
        )
        grid = np.zeros(rows * columns, dtype=np.uint32)
        grid[counts["cell"]] = counts["n"]
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
        """Return the cells of a partition × partition grid with most check-ins, busiest first.

        With `by` = ``users`` the cells with most users. The result is not private, which callers
        must state. Ties go to the cell further south, then west.
        """
        where, values = self._inside(box, start, end, image)
        cell = grid_cell(box, partition, partition, self.plane)
        counted = self._fetchall(
            f"SELECT {cell} AS cell, count(*) AS n FROM {self._rows} WHERE {where} "
            f"GROUP BY cell ORDER BY {_ORDER_COLUMNS[by]} DESC, cell LIMIT {int(top)}",
            values,
        )
        people = dict(
            self._fetchall(
                f"SELECT {cell} AS cell, count(DISTINCT user_id) FROM {self._rows} "
                f"WHERE {where} AND {cell} IN (SELECT unnest(?::INTEGER[])) GROUP BY cell",
                [*values, [index for index, _ in counted]],
            )
        )
        return tuple(
            Cell(cell_sides(box, partition, index), n, people[index]) for index, n in counted
        )

    def export_rejected(
        self, target: str | os.PathLike[str], cancelled: Callable[[], bool] | None = None
    ) -> int:
        """Write all rejected rows as CSV: line, reason, description, text.

        With several files, lines are numbered per file, and the first column is the file's name.
        The files are read again for the texts; the target is replaced when all is written.

        Returns
        -------
        int
            Rows written.

        Raises
        ------
        CheckinError
            If the check-in file is missing or was changed, or the target can't be written.
        LoadCancelled
            If `cancelled` returns True.
        """
        try:
            changed = self.files.states() != self._settings["state"]
        except OSError:
            changed = True
        if changed:
            raise CheckinError(
                f"{self.basename} has been changed or moved since it was opened; open it again "
                "to export what was rejected."
            )
        dialects = self.dialects
        with self._connection.cursor() as cursor:
            return export(
                cursor,
                self._entry.folder,
                self.files,
                self.report,
                dialects,
                self.mapping,
                Path(target),
                cancelled,
            )

    def close(self) -> None:
        """Close all files; running queries of other threads raise there. May be called twice."""
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        self._entry.close()

    def __enter__(self) -> CheckinData:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _build_layout(self) -> Layout:
        columns = Columns(self.rows, self.plane, self.has_times, self.has_weights, self.images)
        users = parquet_table(self._entry.file(USERS))
        keys = self._fetch(f"SELECT user_id FROM {users} ORDER BY user_id", [])["user_id"]
        return columns.layout(self._pieces(*columns.query), keys, self._user_hashes(0))

    def user_ids(self) -> Iterator[str]:
        """Yield the ids of all users as read, in batches that let other threads run.

        Raises
        ------
        ValueError
            If the data are closed meanwhile.
        """
        for file in self._user_files():
            with self._connection.cursor() as cursor:
                names = cursor.execute(f"SELECT name FROM {parquet_table(file)}")
                while rows := names.fetchmany(1000):
                    self._connection.check_open()
                    yield from (name for (name,) in rows)
                    time.sleep(0)

    def _user_files(self) -> list[Path]:
        return [self._entry.file(USERS)]

    def _user_hashes(self, seed: int, check: Callable[[], None] = lambda: None) -> HashArray:
        """Return the hashes of all users in the order of their ids, cached for the last seed."""
        with self._lock:
            known = self._hashes
        if known is None or known[0] != seed:
            with self._connection.cursor() as cursor:
                file = parquet_table(self._entry.file(USERS))
                names = cursor.execute(f"SELECT name FROM {file} ORDER BY user_id")
                known = (seed, fetched_hashes(names, seed, check))
            with self._lock:
                self._hashes = known
        return known[1]

    @property
    def _turn(self) -> int:
        """Full circle in steps of longitude; 0 on a plane."""
        return TURN if self.plane is None else 0

    def _seconds(self, start: str | None, end: str | None) -> tuple[int | None, int | None]:
        """Return start and end of a time range in seconds."""
        if (start, end) != (None, None) and not self.has_times:
            raise ValueError(f"{self.basename} has no times; choose no time range")
        first, last = (
            None if text is None else seconds(name, text)
            for name, text in (("start", start), ("end", end))
        )
        return first, last

    @staticmethod
    def _check_sample(users: int | None, share: Fraction | None) -> int | None:
        """Validate the size of a sample; return the limit of the hashes of a share, else None."""
        if users is not None and users < 1:
            raise ValueError(f"users: {users} is below 1")
        if users is not None and share is not None:
            raise ValueError("users, share: choose one of them")
        return None if share is None else threshold(share)

    def _image_index(self, image: str | None) -> int | None:
        if image is None:
            return None
        if image not in self.images:
            some = ", ".join(self.images[:5]) + " …" * (len(self.images) > 5)
            there = f"there are {some}" if self.images else "it has no column with images"
            raise ValueError(f"image: {self.basename} has no image {image!r}; {there}")
        return self.images.index(image)

    def _inside(
        self, box: Box, start: str | None, end: str | None, image: str | None
    ) -> tuple[str, list[Any]]:
        self._seconds(start, end)
        self._image_index(image)
        where, values = rows_inside(box, start, end, self.plane)
        return (where, values) if image is None else (f"{where} AND image = ?", [*values, image])

    def _fetch(self, query: str, values: list[Any]) -> dict[str, Any]:
        """Return numeric columns as arrays. Text would block the window for too long."""
        with self._connection.cursor() as cursor:
            columns = cursor.execute(query, values).fetchnumpy()
        return {name: np.asarray(column) for name, column in columns.items()}

    def _pieces(self, query: str, values: list[Any]) -> Iterator[dict[str, Any]]:
        """Yield columns of all rows, some rows of the file at a time.

        Handing over arrays stops all other Python threads: a few milliseconds for a piece.
        """
        for at in range(0, self._physical, _CHUNK_SIZE):
            part = f"file_row_number >= {at} AND file_row_number < {at + _CHUNK_SIZE}"
            yield self._fetch(f"SELECT {query} FROM {self._rows} WHERE {part}", values)

    def _fetchall(self, query: str, values: list[Any]) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            rows: list[tuple[Any, ...]] = cursor.execute(query, values).fetchall()
        return rows


class ShardedData(CheckinData):
    """Check-ins of a data set larger than memory, stored in shards.

    Methods may be called from any thread.

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
        polygon: Polygon | None = None,
    ) -> ShardedRows:
        """Return the check-ins inside a closed box, of all or of sampled users.

        As `CheckinData.points`, shard by shard.
        """
        self._connection.check_open()
        limit = self._check_sample(users, share)
        self._image_index(image)
        where = self._where(box, start, end, polygon)
        # Sampling is resolved eagerly: `check` belongs to this call and must not be retained.
        if data_seed and (users, share) != (None, None):
            hashes = self._shard_hashes(data_seed, check)
            if limit is None:
                limit = self._limit(where, users or 0, hashes, check)
            choose = partial(under, limit=limit)

            def ranked(number: int) -> RowSelection:
                return RowSelection.ranked(self.shards[number], where, hashes[number], choose)

            pieces = [self._piece(partial(ranked, number)) for number in range(len(self.shards))]
        else:
            pieces, left = [], users
            for shard in self.shards:
                among = None if share is None else shard.users_below(share)
                pieces.append(self._piece(partial(RowSelection, shard, where, left, among)))
                if left is not None:
                    check()
                    left -= pieces[-1].users_used
        all_users = (users, share) == (None, None)
        return ShardedRows(
            self.basename,
            self.shards[0].step,
            self.users,
            tuple(pieces),
            all_users,
            self._row_cache,
            self.region_only,
            self._places if all_users and not self.region_only else (),
        )

    def _where(
        self, box: Box, start: str | None, end: str | None, polygon: Polygon | None = None
    ) -> BoxFilter:
        """Return the filter; raise if a region query did not read those rows."""
        edges, only = self.shards[0].edges(box, self._turn), self._only
        where = BoxFilter(edges, *self._seconds(start, end), polygon)
        if only is not None and not (
            only.holds(where) and (self.shards[0].t is not None or not where.timed)
        ):
            raise ValueError(
                f"{self.basename}: only another region or time range was read; query this one, or "
                "open the whole data set"
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
        raise ValueError(f"{self.basename} is stored in shards; use those")

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
            inside, each = shard.rows.inside(shard.rows.mask(where))
            row = (shard.y[inside].astype(np.int64) - edges.south) * rows // high
            column = (edges.eastwards(shard.x[inside]) - edges.west) * columns // wide
            cells = np.minimum(row, rows - 1) * columns + np.minimum(column, columns - 1)
            yield cells, np.repeat(np.arange(len(each)), each)

    def _user_files(self) -> list[Path]:
        numbers = range(len(self.shards))
        return [shard_folder(self._entry.folder, number) / USERS for number in numbers]

    def _shard_hashes(self, seed: int, check: Callable[[], None]) -> list[HashArray]:
        """Return every shard's hashes under a seed, in the order of `Layout.users`.

        Those of the last seed are cached: 16 bytes a user.
        """
        with self._lock:
            known = self._seeded
        if known is None or known[0] != seed:
            hashes = []
            for file in self._user_files():
                with self._connection.cursor() as cursor:
                    names = cursor.execute(f"SELECT name FROM {parquet_table(file)}")
                    hashes.append(fetched_hashes(names, seed, check))
            known = (seed, hashes)
            with self._lock:
                self._seeded = known
        return known[1]


def open_entry(entry: Entry, files: DataFiles, known_synthetic: frozenset[str]) -> CheckinData:
    """Return the check-ins of a cache entry.

    Any exception means that the entry is damaged.
    """
    kind = ShardedData if "shards" in entry.read_report() else CheckinData
    return kind(entry, files, known_synthetic)


@dataclass(frozen=True, slots=True)
class StoredData:
    """Everything another process needs to open check-ins that are open in this one.

    Attributes
    ----------
    folder : Path
        Cache entry or temporary folder; it exists while the owner has it open.
    files : DataFiles
        The source files.
    synthetic : bool
        Whether the data are a bundled sample.
    """

    folder: Path
    files: DataFiles
    synthetic: bool

    @classmethod
    def of(cls, data: CheckinData) -> StoredData:
        """Return the reference to open check-ins."""
        return cls(data.folder, data.files, data.synthetic)

    def open(self) -> CheckinData:
        """Open the check-ins in this process too; raises any error of the folder.

        Closing them does not remove the folder, which belongs to the first process.
        """
        entry = Entry(self.folder, lasting=True)
        try:
            fingerprint = str(entry.read_report()["fingerprint"])
            known = frozenset({fingerprint}) if self.synthetic else frozenset()
            return open_entry(entry, self.files, known)
        except BaseException:
            entry.close()
            raise
