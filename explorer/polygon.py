"""Simple polygons in whole steps: checks, bounding box, and which points lie inside.

Coordinates are whole numbers, so that every test is exact. A point is inside by the even-odd rule
with half-open edges: of polygons that divide an area among them, each point belongs to exactly one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

MAX_POINTS = 1000
"""Most corners of a polygon."""
_MAX_SPAN = 1 << 31
"""Below this extent the products of the tests stay within 64 bits."""
_CHUNK = 1 << 19
"""Points that are tested at once."""
_EDGES = 64
"""Edges that are tested against all at once: their products stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A polygon whose edges meet at its corners only.

    Attributes
    ----------
    points : tuple of (y, x)
        Corners in order, in steps northwards and eastwards; the last is joined to the first. Across
        the antimeridian x goes on growing.

    Raises
    ------
    ValueError
        If it has under 3 or over `MAX_POINTS` corners, crosses or touches itself, or has no area.
    """

    points: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        number = len(self.points)
        if number < 3:
            raise ValueError("A region needs at least 3 points.")
        if number > MAX_POINTS:
            raise ValueError(
                f"The region has {number:,} points. A region takes at most {MAX_POINTS:,}: "
                "simplify it, for example with ogr2ogr -simplify."
            )
        south, west, north, east = self.box
        if max(north - south, east - west) >= _MAX_SPAN:
            raise ValueError("The region is too large. Choose one that is at most 180° wide.")
        if south == north or west == east:
            raise ValueError("The points of the region lie on one line. Move one of them.")
        crossing = _first_crossing(np.array(self.points, np.int64))
        if crossing is not None:
            first, second = crossing
            raise ValueError(f"The region crosses itself between points {first} and {second}.")

    @property
    def box(self) -> tuple[int, int, int, int]:
        """South, west, north, east."""
        y, x = zip(*self.points, strict=True)
        return min(y), min(x), max(y), max(x)

    @property
    def slabs(self) -> Slabs:
        """The edges by latitude, for tests of many points."""
        return _slabs(self.points)

    def holds(self, y: NDArray[Any], x: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which points lie inside.

        Parameters
        ----------
        y, x : array of int, shape (n,)
            Steps; x grows from the polygon's west, as its corners do. Points outside the bounding
            box are outside.
        """
        result: NDArray[np.bool_] = np.empty(len(y), bool)
        for begin in range(0, len(y), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            result[part] = self.slabs.hold(y[part].astype(np.int64), x[part].astype(np.int64))
        return result

    def touched(self, rows: int, columns: int) -> NDArray[np.bool_]:
        """Return which cells of a grid over the bounding box have a point of the polygon.

        Returns
        -------
        ndarray of bool, shape (rows, columns)
            Row 0 south, column 0 west. A cell that an edge only touches may be among them.
        """
        south, west, north, east = self.box
        y, x = np.array(self.points, float).T
        y, x = (y - south) * rows / (north - south), (x - west) * columns / (east - west)
        change = np.zeros((rows, columns + 1), np.int32)
        for y1, x1, y2, x2 in np.stack([y, x, np.roll(y, -1), np.roll(x, -1)], axis=1).tolist():
            low, high = min(y1, y2), max(y1, y2)
            band = np.arange(min(int(low), rows - 1), min(int(high), rows - 1) + 1)
            part = np.clip(np.stack([band, band + 1]), low, high)
            across = np.array([[x1], [x2]]) + 0 * part
            if y1 != y2:
                across = x1 + (x2 - x1) * (part - y1) / (y2 - y1)
            left, right = across.min(axis=0).astype(int), across.max(axis=0).astype(int)
            np.add.at(change, (band, np.minimum(left, columns - 1)), 1)
            np.add.at(change, (band, np.minimum(right, columns - 1) + 1), -1)
        edges = change.cumsum(axis=1)[:, :-1] > 0
        middle_y = south + (np.arange(rows) + 0.5) * (north - south) / rows
        middle_x = west + (np.arange(columns) + 0.5) * (east - west) / columns
        grid = np.meshgrid(np.rint(middle_y), np.rint(middle_x), indexing="ij")
        inside = self.holds(grid[0].ravel(), grid[1].ravel()).reshape(rows, columns)
        return np.asarray(edges | inside)


@dataclass(frozen=True, eq=False)
class Slabs:
    """Edges of a polygon by the slabs between the latitudes of its corners.

    Attributes
    ----------
    levels : ndarray of int64, shape (m + 1,)
        Distinct y of the corners, ascending; slab i is levels[i] ≤ y < levels[i + 1].
    starts : ndarray of int64, shape (m + 1,)
        Slab i has the edges starts[i] … starts[i + 1] − 1.
    edges : ndarray of int64, shape (k, 4)
        y and x of the lower end, y and x of the upper end.
    """

    levels: Whole
    starts: Whole
    edges: Whole

    def hold(self, y: Whole, x: Whole) -> NDArray[np.bool_]:
        """Return which points lie inside (see `Polygon.holds`)."""
        slab = np.searchsorted(self.levels, y, "right") - 1
        inside: NDArray[np.bool_] = np.zeros(len(y), bool)
        left = np.flatnonzero((slab >= 0) & (slab < len(self.levels) - 1))
        within = (x >= self.edges[:, [1, 3]].min()) & (x <= self.edges[:, [1, 3]].max())
        left = left[within[left]]
        edge, end = self.starts[slab[left]], self.starts[slab[left] + 1]
        while len(left):
            y1, x1, y2, x2 = self.edges[edge].T
            inside[left] ^= (x2 - x1) * (y[left] - y1) > (x[left] - x1) * (y2 - y1)
            edge = edge + 1
            more = edge < end
            left, edge, end = left[more], edge[more], end[more]
        return inside

    def moved(self, east: int) -> Slabs:
        """Return the edges moved eastwards."""
        return Slabs(self.levels, self.starts, self.edges + np.array([0, east, 0, east]))


@lru_cache(maxsize=8)
def _slabs(points: tuple[tuple[int, int], ...]) -> Slabs:
    closed = (*points, points[0])
    edges = np.array([(*min(a, b), *max(a, b)) for a, b in pairwise(closed) if a[0] != b[0]])
    levels = np.unique(edges[:, 0])
    levels = np.unique(np.concatenate([levels, edges[:, 2]]))
    first, last = np.searchsorted(levels, edges[:, 0]), np.searchsorted(levels, edges[:, 2])
    each = last - first
    slab = np.repeat(first, each) + np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    order = np.argsort(slab, kind="stable")
    starts = np.searchsorted(slab[order], np.arange(len(levels)))
    return Slabs(levels, starts.astype(np.int64), np.repeat(edges, each, axis=0)[order])


def _first_crossing(points: Whole) -> tuple[int, int] | None:
    """Return the numbers of the ends, from 1, of the first edge that meets an earlier one.

    Neighbouring edges meet at their common corner, and nowhere else unless one runs back along the
    other.
    """
    points = points - points.min(axis=0)  # products of the tests then stay within 64 bits
    end, number = np.roll(points, -1, axis=0), len(points)
    low, high = np.minimum(points, end), np.maximum(points, end)
    split = _divided(points, end)
    meets = np.tri(number, k=-2, dtype=bool)  # each pair once, without neighbours
    meets[-1, 0] = False  # neighbours, too
    meets &= split
    meets &= split.T
    for axis in (0, 1):
        meets &= low[:, None, axis] <= high[:, axis]
        meets &= low[:, axis] <= high[:, None, axis]
    along = end - points
    before = np.roll(along, 1, axis=0)
    # Rounded scalar products do: only their sign counts.
    back = (before.astype(float) * along).sum(axis=1) < 0
    back &= before[:, 0] * along[:, 1] == before[:, 1] * along[:, 0]
    later: NDArray[np.bool_] = np.asarray(meets.any(axis=1))
    later[1:] |= back[1:]
    later[-1] |= back[0]
    if not later.any():
        return None
    worst = int(later.argmax())
    return worst + 1, (worst + 1) % number + 1


def _divided(begin: Whole, end: Whole) -> NDArray[np.bool_]:
    """Return whether the line through edge i (row) meets edge j (column).

    The products may overflow before the last subtraction; the difference is exact, because it lies
    within 64 bits.
    """
    number = len(begin)
    divided = np.empty((number, number), bool)
    for first in range(0, number, _EDGES):
        part = slice(first, first + _EDGES)
        dy, dx = (end[part] - begin[part]).T[:, :, None]
        y, x = begin[part].T[:, :, None]
        turn = dy * begin[:, 1] - dx * begin[:, 0] - (dy * x - dx * y)
        left, right = turn > 0, turn < 0
        beside = left & np.roll(left, -1, axis=1)
        beside |= right & np.roll(right, -1, axis=1)
        np.logical_not(beside, out=divided[part])
    return divided
