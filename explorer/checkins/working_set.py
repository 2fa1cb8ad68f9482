"""Layout of open check-ins, and a cached working set around the current region."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.layout import Layout
from explorer.checkins.queries import EPOCH
from explorer.checkins.sampling import HashArray
from explorer.geography.plane import Plane
from explorer.user_rows import EARTH_STEP, GridBox, steps

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
