"""Columns of check-ins sorted by the keyed hash of the user, as used for counting.

Any prefix of the users is a uniform sample of users with their whole histories, because the hash
(`explorer.checkins.sampling`, seed 0) is independent of their positions. `WorkingSets` has the
layout of open check-ins, and a part of it around the current region.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from explorer.checkins.cache import checksum_of, checksums
from explorer.checkins.queries import EPOCH
from explorer.checkins.sampling import HashArray, threshold
from explorer.geography.plane import Plane
from explorer.user_rows import (
    EARTH_STEP,
    BoxFilter,
    GridBox,
    Small,
    UserRows,
    Whole,
    positions,
    steps,
)

_FACTS = "layout.json"
_VERSION = 1
_MAX_USEFUL_SHARE = 0.5
"""Share of all rows above which a working set saves nothing."""
LAYOUT = "layout"
"""Folder of a cache entry, or of a shard, with its layout."""

_CHUNK_SIZE = 500_000
"""Rows processed between two calls of `check`: about 5 ms."""


@dataclass(frozen=True)
class Layout:
    """Columns of check-ins, grouped by user, each user's rows in file order.

    Attributes
    ----------
    y, x : ndarray of int32, shape (rows,)
        Whole numbers of `step` from `origin`, northwards and eastwards.
    t : ndarray of int32, shape (rows,), or None
        Whole seconds since 2000-01-01 UTC, rounded down, of the years that
        `explorer.checkins.parsing.row_rules` lets pass; None without times.
    weight : ndarray of float64, shape (rows,), or None
        None where every row counts 1.
    image : ndarray of int32, shape (rows,), or None
        Which picture a row is about, as an index.
    offsets : ndarray of int64, shape (users + 1,)
        Where each user's rows begin, and where the last one's end.
    hashes : ndarray of uint64, shape (users,)
        The first 64 bits of the users' hashes under seed 0, ascending.
    boxes : ndarray of int32, shape (users, 4)
        Least y, least x, largest y and largest x of each user.
    users : ndarray of int64, shape (users,)
        Each user's place in the order of the ids.
    step : Fraction
        Degrees, or another plane's unit.
    origin : (y, x)
        In steps; (0, 0) on the Earth.
    """

    y: Small
    x: Small
    t: Small | None
    weight: NDArray[np.float64] | None
    image: Small | None
    offsets: Whole
    hashes: HashArray
    boxes: Small
    users: Whole
    step: Fraction = EARTH_STEP
    origin: tuple[int, int] = (0, 0)

    @classmethod
    def build(
        cls,
        user: NDArray[Any],
        y: Small,
        x: Small,
        t: Small | None,
        weight: NDArray[np.float64] | None,
        image: Small | None,
        hashes: HashArray,
        step: Fraction = EARTH_STEP,
        origin: tuple[int, int] = (0, 0),
    ) -> Self:
        """Sort rows by their users' hashes.

        Parameters
        ----------
        user : array of int, shape (rows,)
            Each row's user, by place in the order of the ids.
        y, x, t, weight, image
            Columns in the order of the file.
        hashes : ndarray of uint64, shape (users, 2)
            Upper and lower half of each user's hash, in the order of the ids: of equal ones the
            smaller id goes first. Every user has a row.
        step, origin
            As the attributes.
        """
        from scipy.sparse import csr_array

        users = np.lexsort((hashes[:, 1], hashes[:, 0]))
        place = np.empty(len(users), np.int32)
        place[users] = np.arange(len(users), dtype=np.int32)
        # A sparse matrix of users × rows is made by a counting sort, in compiled code and stable:
        # 0.1 s for 6 million rows, without numba. It takes positions along: to
        # gather y and x in that order afterwards takes longer than the sort.
        rows = np.arange(len(user), dtype=np.int32)
        places = y.astype(np.int64) << 32 | x.astype(np.uint32)
        sorted_ = csr_array((places, (place[user], rows)), shape=(len(users), len(user)))
        order, offsets = sorted_.indices, sorted_.indptr.astype(np.int64)
        y, x = (sorted_.data >> 32).astype(np.int32), sorted_.data.astype(np.int32)
        begin = offsets[:-1]
        boxes = (
            np.column_stack(
                [
                    np.minimum.reduceat(y, begin),
                    np.minimum.reduceat(x, begin),
                    np.maximum.reduceat(y, begin),
                    np.maximum.reduceat(x, begin),
                ]
            )
            if len(users)
            else np.zeros((0, 4), np.int32)
        )
        t, weight, image = (None if c is None else c[order] for c in (t, weight, image))
        return cls(y, x, t, weight, image, offsets, hashes[users, 0], boxes, users, step, origin)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a stored layout by memory-mapping its arrays.

        Raises
        ------
        ValueError, KeyError, OSError
            If there are none, or they have changed.
        """
        stored = json.loads((folder / _FACTS).read_bytes())
        facts, files = stored["facts"], stored["files"]
        if facts["version"] != _VERSION or checksum_of(facts, files) != stored["checksum"]:
            raise ValueError("the stored layout is of another version, or has changed")
        if checksums(folder, sorted(files)) != files:
            raise ValueError("the stored layout has changed")
        arrays: dict[str, Any] = {
            name: _map_array(folder / f"{name}.npy") if f"{name}.npy" in files else None
            for name in ARRAYS
        }
        y, x = facts["origin"]
        return cls(**arrays | {"step": Fraction(facts["step"]), "origin": (y, x)})

    def save(self, folder: Path) -> Self:
        """Store the arrays in a folder, atomically, and return them memory-mapped.

        Raises
        ------
        OSError
            If it can't be written.
        """
        # of a name that `cache.sweep` clears away if this process is killed
        new = Path(tempfile.mkdtemp(prefix="spill-layout-", dir=folder.parent))
        try:
            names = []
            for name in ARRAYS:
                if (array := getattr(self, name)) is not None:
                    np.save(new / f"{name}.npy", array, allow_pickle=False)
                    names.append(f"{name}.npy")
            facts = {"version": _VERSION, "step": str(self.step), "origin": self.origin}
            files = checksums(new, sorted(names))
            whole = {"facts": facts, "files": files, "checksum": checksum_of(facts, files)}
            (new / _FACTS).write_text(json.dumps(whole))
            if folder.exists():
                shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(
                OSError
            ):  # another process was faster: then its files are used
                new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        return self.open(folder)

    @property
    def rows(self) -> UserRows:
        """Columns for selecting rows."""
        return UserRows(self.y, self.x, self.t, self.offsets[:-1], self.offsets[1:])

    def edges(self, box: tuple[float, float, float, float], turn: int = 0) -> GridBox:
        """Return a box in steps from the origin; `turn` as in `GridBox`."""
        return GridBox.of(box, self.step, self.origin, turn)

    def positions(
        self, rows: Any = slice(None), edges: GridBox | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return latitudes (y) and longitudes (x) of rows.

        With the edges of a box longitudes grow through it: above 180 behind the antimeridian.
        """
        (y0, x0), step = self.origin, self.step
        y, x = self.y[rows].astype(np.int64), self.x[rows]
        x = x.astype(np.int64) if edges is None else edges.eastwards(x)
        return positions(y + y0, step), positions(x + x0, step)

    def users_below(self, share: Fraction) -> int:
        """Return how many of the first users lie below a share of all hashes.

        The first 64 bits decide: of 2^64 / n files of n users one has a user in whose place the
        other 64 bits would decide otherwise.
        """
        limit = -(-threshold(share) >> 64)
        return (
            int(np.count_nonzero(self.hashes < np.uint64(limit)))
            if limit < 2**64
            else len(self.users)
        )

    def subset(self, indices: Whole, each: Whole) -> Layout:
        """Return a layout of selected rows, without users that have none.

        Parameters
        ----------
        found, each
            Which rows, user by user, and how many of each user.
        """
        there = np.flatnonzero(each)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(each[there])])
        return self._part(indices, there, offsets)

    def first(self, rows: int) -> Layout:
        """Return the first users with about `rows` rows: a uniform sample of users."""
        users = max(int(np.searchsorted(self.offsets, rows, "right")) - 1, 1)
        end = int(self.offsets[: users + 1][-1])
        return self._part(slice(end), slice(users), self.offsets[: users + 1])

    def _part(self, rows: Whole | slice, users: Whole | slice, offsets: Whole) -> Layout:
        """Return a layout of given rows and users."""
        return Layout(
            self.y[rows],
            self.x[rows],
            None if self.t is None else self.t[rows],
            None if self.weight is None else self.weight[rows],
            None if self.image is None else self.image[rows],
            offsets,
            self.hashes[users],
            self.boxes[users],
            self.users[users],
            self.step,
            self.origin,
        )

    def of_image(self, image: int) -> Layout:
        """Return the rows of one image."""
        assert self.image is not None
        return self.subset(*self.rows.inside(self.image == image))

    def near(self, edges: GridBox, check: Callable[[], None] = lambda: None) -> Layout:
        """Return the rows of a box extended by its own size on each side: its working set.

        It is this layout itself where that holds most of the rows. `check` is called every few
        milliseconds and may raise to stop.
        """
        rows, where = self.rows, BoxFilter(edges.widened())
        parts, taken = [self._part(slice(0), slice(0), self.offsets[:1])], 0
        for users in rows.pieces(_CHUNK_SIZE):
            some = rows.cut(users)
            inside, each = some.inside(some.mask(where))
            taken += len(inside)
            if taken > _MAX_USEFUL_SHARE * len(self.y):
                return self
            there = np.flatnonzero(each)
            ends = np.cumsum(each[there]) + (taken - len(inside))
            parts.append(self._part(inside + self.offsets[users.start], there + users.start, ends))
            check()
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ARRAYS
            if getattr(self, name) is not None
        }
        return replace(self, **joined)


ARRAYS = tuple(f.name for f in fields(Layout) if f.name not in ("step", "origin"))
"""Fields stored as one memory-mapped file each."""


def _map_array(path: Path) -> NDArray[Any]:
    """Memory-map an array; an empty one is read, because it cannot be mapped."""
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:
        return np.asarray(np.load(path, allow_pickle=False))


SLOW_S, QUICK_S = 0.012, 0.005
"""A pass over all rows that takes longer than the first number is preceded by a pass over the first
users that takes the second, in seconds.

While a map is dragged, the next region waits for the previous answer: two passes and the drawing
must fit into the permitted delay of 66 ms.
"""
FEW_ROWS = 500_000
"""Working sets of fewer rows are extracted on demand (5 ms); of more rows, when idle.
"""


class WorkingSets:
    """Provides layouts that contain a requested region. Thread-safe.

    Parameters
    ----------
    folder : Path
        Folder of the whole layout.
    make : callable
        Computes it if it is missing or damaged.
    """

    def __init__(self, folder: Path, make: Callable[[], Layout]) -> None:
        self._folder = folder
        self._make = make
        self._lock = threading.Lock()
        self._whole: Layout | None = None
        self._near: _Near | None = None
        self._closed = False

    def close(self) -> None:
        """Wait for a layout being written, and prevent further ones."""
        with self._lock:
            self._closed = True

    def whole(self) -> Layout:
        """Return the layout of fetched rows.

        Raises
        ------
        ValueError
            If they were closed before.
        """
        with self._lock:
            if self._whole is None:
                if self._closed:
                    raise ValueError("these check-ins have been closed; open them again")
                try:
                    self._whole = Layout.open(self._folder)
                except (OSError, ValueError, KeyError, TypeError):  # not there, or damaged
                    built = self._make()
                    try:
                        self._whole = built.save(self._folder)
                    except OSError:  # disk full: hold it in memory
                        self._whole = built
            return self._whole

    def around(self, edges: GridBox, image: int | None) -> Layout:
        """Return a layout with all rows of a box, and possibly more.

        Cached surroundings usually contain a box that is being dragged, so that answers take a few
        milliseconds. For many rows only `cache_surroundings` extracts them; without them the whole
        layout is returned.
        """
        near = self._near
        if near is not None and near.image == image and near.edges.suits(edges):
            return near.rows
        whole = self.whole()
        if image is None and len(whole.y) > FEW_ROWS:
            return whole
        rows = whole if image is None else whole.of_image(image)
        self._near = near = _Near(image, edges.widened(), rows.near(edges))
        return near.rows

    def cache_surroundings(self, edges: GridBox, check: Callable[[], None]) -> None:
        """Cache the surroundings of a box, unless cached ones reach far beyond it.

        Call when idle, before the box is dragged: concurrently it would delay answers.
        `check` is called every few milliseconds and may raise to stop.
        """
        whole, near = self.whole(), self._near
        far = (
            near is not None
            and near.image is None
            and near.edges.suits(edges)
            and near.edges.holds(edges.widened(2))
        )
        if not far and len(whole.y) > FEW_ROWS:
            self._near = _Near(None, edges.widened(), whole.near(edges, check))

    def first_users(self, edges: GridBox, seconds_a_row: float) -> Layout | None:
        """Return the first users, if counting the surroundings of a box takes too long."""
        whole, near = self.whole(), self._near
        known = near is not None and near.image is None and near.edges.suits(edges)
        rows = len(near.rows.y) if near is not None and known else len(whole.y)
        few = quick_rows(rows, seconds_a_row)
        return None if few is None else whole.first(few)


def quick_rows(rows: int, seconds_a_row: float) -> int | None:
    """Return the number of rows counted quickly; None if all can be counted quickly."""
    return None if rows * seconds_a_row <= SLOW_S else int(QUICK_S / seconds_a_row)


@dataclass(frozen=True, slots=True)
class _Near:
    image: int | None
    edges: GridBox
    rows: Layout


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns fetched from the stored rows.

    Attributes
    ----------
    rows : int
    plane : Plane or None
    timed, weighted : bool
    images : tuple of str
        In the order that rows name them by; empty without a column of them.
    """

    rows: int
    plane: Plane | None
    timed: bool
    weighted: bool
    images: tuple[str, ...]

    @property
    def query(self) -> tuple[str, list[Any]]:
        """SQL of the columns, and its values."""
        columns = ["user_id", "lat", "lon"]
        columns += ["epoch_us(time) AS t"] * self.timed + ["weight"] * self.weighted
        if not self.images:
            return ", ".join(columns), []
        columns.append("list_position(?::VARCHAR[], image) - 1 AS image")
        return ", ".join(columns), [list(self.images)]

    def layout(
        self, pieces: Iterable[dict[str, Any]], keys: np.ndarray[Any, Any], hashes: HashArray
    ) -> Layout:
        """Return the layout of fetched rows.

        Parameters
        ----------
        pieces : iterable of dict
            The columns, some rows after the other.
        keys : array of int
            The users' keys, ascending, and
        hashes : ndarray of uint64, shape (users, 2)
            their hashes under seed 0.
        """
        plane, step, origin = self.plane, EARTH_STEP, (0, 0)
        if plane is not None:
            step = plane.step
            south, west, _, _ = plane.turned((plane.low, plane.left, plane.high, plane.right))
            y0, x0 = steps((south, west), step).tolist()
            origin = (y0, x0)
        user = np.empty(self.rows, np.int32)
        y, x, t, image = np.empty((4, self.rows), np.int32)
        weight = np.empty(self.rows if self.weighted else 0)
        at = 0
        for layout in pieces:
            to = slice(at, at := at + len(layout["user_id"]))
            user[to] = np.searchsorted(keys, layout["user_id"])
            y[to] = steps(layout["lat"], step) - origin[0]
            x[to] = steps(layout["lon"], step) - origin[1]
            if self.timed:
                t[to] = layout["t"] // 1_000_000 - int(EPOCH.timestamp())
            if self.weighted:
                weight[to] = layout["weight"]
            if self.images:
                image[to] = layout["image"]
        return Layout.build(
            user,
            y,
            x,
            t if self.timed else None,
            weight if (weight != 1).any() else None,
            image if self.images else None,
            hashes,
            step,
            origin,
        )
