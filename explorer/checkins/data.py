"""Opened check-ins, and the questions that can be asked of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.cache import Entry
from explorer.checkins.cache_entry import file_state, read_report
from explorer.checkins.database import POLL_SECONDS, connect, parquet_table
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import (
    Box,
    Cell,
    Dialect,
    IndexArray,
    Mapping,
    PointSet,
)
from explorer.checkins.queries import grid_cell, positions, rows_inside
from explorer.checkins.rejected import export
from explorer.checkins.rows import DUPLICATES, ROWS, USERS
from explorer.checkins.sampling import HashArray, below, fetched_hashes, smallest

QUERY_BYTES = 1_000_000_000
"""Above this, questions spill to disk; the arrays they are answered with come on top."""

_PIECE = 400_000
"""Rows of the file fetched at a time, where there are many."""

_BUSIEST = {"rows": "n", "users": "count(DISTINCT user_id)"}

_FEW_USERS = 2000
"""Up to so many sampled users are picked by the database; more are picked from all rows."""


class CheckinData:
    """Validated check-ins of one file. Every method may be called from any thread.

    Attributes
    ----------
    fingerprint : str
        sha256 of the file (of the archive, if compressed); empty if it was not taken.
    basename : str
        Name of the file without its folder; all that a recipe may tell.
    path : Path
        Where the file was, for exporting what was rejected. Never stored in a recipe.
    size : int
        Bytes of the file.
    synthetic : bool
        Whether the fingerprint is that of a bundled sample.
    report : LoadReport
    rows, users : int
        Kept rows, and users with at least one.
    first_time, last_time : str or None
        ISO 8601 UTC instants; None without a time column.
    extent : (south, west, north, east)
        Smallest box of degrees around all kept rows.
    has_times, has_weights : bool
    mapping : Mapping
    plane : Plane or None
        What positions lie in, if it is not the Earth: "degrees" are then its unit, and latitudes
        are y, with the sign turned where y goes down.
    images : tuple of str
        The pictures that rows are about, by code point; empty without a column of them.
    """

    def __init__(self, entry: Entry, path: Path, known_synthetic: frozenset[str]) -> None:
        stored = entry.read_report()
        self._entry = entry
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._cursors: list[Any] = []
        self._closed = False
        self._settings = stored
        self.path = path
        self.fingerprint: str = stored["fingerprint"]
        self.basename: str = stored["basename"]
        self.size: int = stored["size"]
        self.has_times: bool = stored["has_times"]
        self.has_weights: bool = stored["has_weights"]
        self.mapping = Mapping(**stored["mapping"])
        self.plane = self.mapping.plane_there
        self.images: tuple[str, ...] = ()
        self.report = read_report(stored["report"])
        self.synthetic = bool(self.fingerprint) and self.fingerprint in known_synthetic
        self._spill = entry.file(f"spill-{os.getpid()}-{id(self)}")
        self._con = connect(self._spill, QUERY_BYTES)
        try:
            self._con.execute(
                f"CREATE TABLE duplicates AS FROM {parquet_table(entry.file(DUPLICATES))}"
            )
            stored_rows = parquet_table(entry.file(ROWS), numbered=True)
            self._rows = f"(FROM {stored_rows} WHERE code = 0)"
            if self._con.execute("SELECT count(*) FROM duplicates").fetchone()[0]:
                self._rows = self._rows[:-1] + (
                    " AND file_row_number NOT IN (SELECT n FROM duplicates))"
                )
            if self.plane is not None:
                self._rows = f"(SELECT {positions(self.plane)} FROM {self._rows})"
            self._physical: int = self._con.execute(
                f"SELECT count(*) FROM {stored_rows}"
            ).fetchone()[0]
            self._keys = self._con.execute(
                f"SELECT user_id FROM {parquet_table(entry.file(USERS))}"
            ).fetchnumpy()["user_id"]
            south, west, north, east, rows, first, last = self._con.execute(
                "SELECT min(lat), min(lon), max(lat), max(lon), count(*), "
                f"strftime(min(time), '%Y-%m-%dT%H:%M:%SZ'), "
                f"strftime(max(time), '%Y-%m-%dT%H:%M:%SZ') FROM {self._rows}"
            ).fetchone()
            if self.mapping.image is not None:
                images = f"SELECT DISTINCT image FROM {self._rows} ORDER BY image"
                self.images = tuple(name for (name,) in self._con.execute(images).fetchall())
            if rows != self.report.kept:
                raise ValueError("the cached rows are not those of the report")
        except BaseException:
            self._con.close()
            raise
        self.extent: Box = (south, west, north, east)
        self.rows: int = rows
        self.users: int = int(self._keys.size)
        self._hashes: tuple[int, HashArray] | None = None
        self.first_time: str | None = first
        self.last_time: str | None = last

    @classmethod
    def from_entry(cls, entry: Entry, path: Path, known_synthetic: frozenset[str]) -> CheckinData:
        """Open what an entry of the cache holds; raises whatever is wrong with a damaged one."""
        return cls(entry, path, known_synthetic)

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
    ) -> PointSet:
        """Return the check-ins inside a closed box of degrees, of all or of sampled users.

        Users with at least one kept row inside box and time range are sampled by the keyed hash of
        their ids (`explorer.checkins.sampling`): either the so many with the smallest hashes (all,
        if fewer are there), or those whose hash lies below a share of all hashes.

        Parameters
        ----------
        box : (south, west, north, east)
        start, end : str or None
            ISO 8601 instants (UTC without an offset); rows with start ≤ time < end are used.
        users : int or None
            How many users; None takes all.
        data_seed : int
            Seed of the sample: the hash's public key.
        share : Fraction or None
            Which share of the users, above 0 and at most 1, in place of a number.
        check : callable
            Called now and then while ids are hashed; may raise to stop.
        image : str or None
            Which picture's rows; None takes all.

        Raises
        ------
        ValueError
            If a time range is given for a file without times, an instant can't be read, the box
            is empty, `users` is below 1, `share` is outside (0, 1], or both are given, or there is
            no such image.
        """
        if users is not None and users < 1:
            raise ValueError(f"users: {users} is below 1")
        if users is not None and share is not None:
            raise ValueError("users, share: choose one of them")
        where, values = self._inside(box, start, end, image)
        there = self._fetch(
            f"SELECT user_id, count(*) AS n FROM {self._rows} WHERE {where} "
            "GROUP BY user_id ORDER BY user_id",
            values,
        )
        chosen = there["user_id"]
        present = int(chosen.size)
        if share is not None:
            chosen = chosen[below(self._hashed(chosen, data_seed, check), share)]
        elif users is not None and users < present:
            chosen = chosen[smallest(self._hashed(chosen, data_seed, check), users)]
        query = f"SELECT user_id, lat, lon, weight FROM {self._rows} WHERE {where}"
        few = chosen.size <= _FEW_USERS and chosen.size < present
        if few:
            query += " AND user_id IN (SELECT unnest(?::BIGINT[]))"
            values.append(chosen.tolist())
        pieces = []
        for found in self._pieces(query, values, few or int(there["n"].sum()) <= _PIECE):
            ids = found.pop("user_id")
            user = np.searchsorted(chosen, ids).astype(np.uint32)
            if chosen.size < present and not few:
                keep = chosen[np.minimum(user, chosen.size - 1)] == ids
                user = user[keep]
                found = {name: column[keep] for name, column in found.items()}
            pieces.append((user, found["lat"], found["lon"], found["weight"]))
        user, lat, lon, weight = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return PointSet(user, lat, lon, weight, self.users, present, int(chosen.size))

    def density(
        self,
        box: Box,
        columns: int,
        rows: int,
        start: str | None = None,
        end: str | None = None,
        image: str | None = None,
    ) -> IndexArray:
        """Return how many check-ins fall into each cell of a grid over a box.

        Parameters
        ----------
        box : (south, west, north, east)
        columns, rows : int
        start, end, image : str or None

        Returns
        -------
        ndarray of uint32, shape (rows, columns)
            Row 0 south, column 0 west; the northern and eastern edges belong to the last cells.
            Rows are counted, whatever their weight.
        """
        where, values = self._inside(box, start, end, image)
        found = self._fetch(
            f"SELECT {grid_cell(box, columns, rows)} AS cell, count(*)::UINTEGER AS n "
            f"FROM {self._rows} WHERE {where} GROUP BY cell",
            values,
        )
        grid = np.zeros(rows * columns, dtype=np.uint32)
        grid[found["cell"]] = found["n"]
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

        With `by` = ``users`` those with most users. This looks at the real data and is not private;
        whoever shows it must say so. Ties go to the cell further south, then west.
        """
        south, west, north, east = box
        where, values = self._inside(box, start, end, image)
        cell = grid_cell(box, partition, partition)
        counted = self._fetchall(
            f"SELECT {cell} AS cell, count(*) AS n FROM {self._rows} WHERE {where} "
            f"GROUP BY cell ORDER BY {_BUSIEST[by]} DESC, cell LIMIT {int(top)}",
            values,
        )
        people = dict(
            self._fetchall(
                f"SELECT {cell} AS cell, count(DISTINCT user_id) FROM {self._rows} "
                f"WHERE {where} AND {cell} IN (SELECT unnest(?::INTEGER[])) GROUP BY cell",
                [*values, [index for index, _ in counted]],
            )
        )
        height, width = (north - south) / partition, (east - west) / partition
        cells = []
        for index, n in counted:
            row, column = divmod(index, partition)
            cells.append(
                Cell(
                    (
                        south + row * height,
                        west + column * width,
                        south + (row + 1) * height,
                        west + (column + 1) * width,
                    ),
                    n,
                    people[index],
                )
            )
        return tuple(cells)

    def export_set_aside(
        self, target: str | os.PathLike[str], cancelled: Callable[[], bool] | None = None
    ) -> int:
        """Write every row rejected as CSV: line number, reason, what is wrong, the line's text.

        The file is read again for the texts, and the target replaced only once all is written.

        Returns
        -------
        int
            Rows written.

        Raises
        ------
        CheckinError
            If the check-in file has gone or changed, or the target can't be written.
        LoadCancelled
            If `cancelled` said so.
        """
        try:
            changed = file_state(self.path) != self._settings["state"]
        except OSError:
            changed = True
        if changed:
            raise CheckinError(
                f"{self.basename} has been changed or moved since it was opened; open it again "
                "to export what was rejected."
            )
        stored = self._settings["dialect"]
        dialect = Dialect(**stored)
        with self._cursor() as cursor:
            return export(
                cursor, self._entry.folder, self.path, dialect, self.mapping, Path(target),
                cancelled,
            )  # fmt: skip

    def close(self) -> None:
        """Let go of database, cache and temporary files; twice does nothing.

        Questions that other threads are still asking are interrupted and raise there.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            while self._cursors:  # an interrupt before a question has begun is lost
                for cursor in self._cursors:
                    cursor.interrupt()
                self._idle.wait(POLL_SECONDS)
        self._con.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        self._entry.close()

    def __enter__(self) -> CheckinData:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hashed(self, keys: IndexArray, seed: int, check: Callable[[], None]) -> HashArray:
        """Return the hashes of some users' ids; everybody's are kept for the seed asked last."""
        with self._lock:
            known = self._hashes
        if known is None or known[0] != seed:
            with self._cursor() as cursor:
                file = parquet_table(self._entry.file(USERS))
                names = cursor.execute(f"SELECT name FROM {file} ORDER BY user_id")
                known = (seed, fetched_hashes(names, seed, check))
            with self._lock:
                self._hashes = known
        found: HashArray = known[1][np.searchsorted(self._keys, keys)]
        return found

    def _inside(
        self, box: Box, start: str | None, end: str | None, image: str | None
    ) -> tuple[str, list[Any]]:
        if (start is not None or end is not None) and not self.has_times:
            raise ValueError(f"{self.basename} has no times; choose no time range")
        if image is not None and image not in self.images:
            some = ", ".join(self.images[:5]) + " …" * (len(self.images) > 5)
            there = f"there are {some}" if self.images else "it has no column with images"
            raise ValueError(f"image: {self.basename} has no image {image!r}; {there}")
        where, values = rows_inside(box, start, end)
        return (where, values) if image is None else (f"{where} AND image = ?", [*values, image])

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a connection of one's own, which `close` interrupts."""
        with self._lock:
            if self._closed:
                raise ValueError(f"{self.basename} has been closed; open it again")
            cursor = self._con.cursor()
            self._cursors.append(cursor)
        try:
            yield cursor
        finally:
            with self._lock:
                self._cursors.remove(cursor)
                cursor.close()
                self._idle.notify_all()

    def _fetch(self, query: str, values: list[Any]) -> dict[str, Any]:
        """Return numeric columns as arrays; never ask for text this way (it blocks the window)."""
        with self._cursor() as cursor:
            found = cursor.execute(query, values).fetchnumpy()
        return {name: np.asarray(column) for name, column in found.items()}

    def _pieces(self, query: str, values: list[Any], whole: bool) -> Iterator[dict[str, Any]]:
        """Fetch a query over the rows at once, or some rows of the file at a time.

        Handing over arrays stops all other Python threads: a few milliseconds for a piece.
        """
        if whole:
            yield self._fetch(query, values)
            return
        for at in range(0, self._physical, _PIECE):
            part = f"{query} AND file_row_number >= {at} AND file_row_number < {at + _PIECE}"
            yield self._fetch(part, values)

    def _fetchall(self, query: str, values: list[Any]) -> list[tuple[Any, ...]]:
        with self._cursor() as cursor:
            rows: list[tuple[Any, ...]] = cursor.execute(query, values).fetchall()
        return rows
