"""Polygons in whole steps: checks, bounding box, and which points lie inside.

Coordinates are whole numbers, so that every test is exact. A point is inside by the even-odd rule
with half-open edges: of polygons that divide an area among them, each point belongs to exactly one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

MAX_POINTS = 1000
"""Most corners of a polygon."""
JOIN_AREAS = "Join them into one area first, for example with ST_Union in ogr2ogr -dialect sqlite."
"""What to do with areas that overlap."""
_MAX_SPAN = 1 << 31
"""Below this extent the products of the tests stay within 64 bits."""
_CHUNK = 1 << 19
"""Points that are tested at once."""
_EDGES = 64
"""Edges that are tested against all at once: their products stay in the processor's cache."""
_TIE = 1e-4
"""Edges that are nearer to each other than this, in steps, lie on one another."""
_TOO_LARGE = "The region is too large. Choose one that is at most 180° wide."

Ring = tuple[tuple[int, int], ...]
"""Corners (y, x) in order, in steps northwards and eastwards; the last is joined to the first."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """One or several areas, perhaps with holes, bounded by rings.

    Attributes
    ----------
    rings : tuple of Ring
        A ring inside another is a hole in it; one inside a hole is an area again. The edges of a
        ring meet at its corners only. Rings may touch or share edges, as neighbouring areas do,
        but not overlap. Across the antimeridian x goes on growing.

    Raises
    ------
    ValueError
        If there is no ring, one has under 3 corners, crosses or touches itself, or has no area, or
        two overlap; or if there are over `MAX_POINTS` corners.
    """

    rings: tuple[Ring, ...]

    def __post_init__(self) -> None:
        several = len(self.rings) > 1
        number = self.number
        if number > MAX_POINTS:
            raise ValueError(
                f"The region has {number:,} points. A region takes at most {MAX_POINTS:,}: "
                "simplify it, for example with ogr2ogr -simplify."
            )
        for place, ring in enumerate(self.rings or ((),), 1):
            name = f"ring {place} of the region" if several else "the region"
            begin = name.capitalize()
            if len(ring) < 3:
                raise ValueError(f"{begin if several else 'A region'} needs at least 3 points.")
            corners = np.array(ring, np.int64)
            lengths = np.ptp(corners, axis=0)
            if lengths.max() >= _MAX_SPAN:
                raise ValueError(_TOO_LARGE)
            if not lengths.all():
                raise ValueError(f"The points of {name} lie on one line. Move one of them.")
            crossing = _first_crossing(corners)
            if crossing is not None:
                first, second = crossing
                raise ValueError(f"{begin} crosses itself between points {first} and {second}.")
        if several:
            south, west, north, east = self.box
            if max(north - south, east - west) >= _MAX_SPAN:
                raise ValueError(_TOO_LARGE)
            _depths(self.rings)

    @property
    def number(self) -> int:
        """Number of corners."""
        return sum(map(len, self.rings))

    @property
    def box(self) -> tuple[int, int, int, int]:
        """South, west, north, east."""
        y, x = zip(*chain.from_iterable(self.rings), strict=True)
        return min(y), min(x), max(y), max(x)

    @property
    def holes(self) -> tuple[bool, ...]:
        """Whether each ring is a hole."""
        return tuple(depth % 2 == 1 for depth in _depths(self.rings))

    @property
    def slabs(self) -> Slabs:
        """The edges by latitude, for tests of many points."""
        return _slabs(self.rings)

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
        ends = np.array([(*a, *b) for ring in self.rings for a, b in _edges(ring)], float)
        ends -= [south, west, south, west]
        ends *= np.tile([rows / (north - south), columns / (east - west)], 2)
        change, turns = np.zeros((2, rows, columns + 1), np.int32)
        for y1, x1, y2, x2 in ends.tolist():
            low, high = min(y1, y2), max(y1, y2)
            band = np.arange(min(int(low), rows - 1), min(int(high), rows - 1) + 1)
            part = np.clip(np.stack([band, band + 1]), low, high)
            across = np.array([[x1], [x2]]) + 0 * part
            if y1 != y2:
                across = x1 + (x2 - x1) * (part - y1) / (y2 - y1)
                # Middles of cells right of the edge change sides.
                middle = np.arange(math.ceil(low - 0.5), math.ceil(high - 0.5))
                crossed = x1 + (x2 - x1) * (middle + 0.5 - y1) / (y2 - y1)
                np.add.at(turns, (middle, np.floor(crossed + 0.5).astype(int)), 1)
            left, right = across.min(axis=0).astype(int), across.max(axis=0).astype(int)
            np.add.at(change, (band, np.minimum(left, columns - 1)), 1)
            np.add.at(change, (band, np.minimum(right, columns - 1) + 1), -1)
        edges, inside = change.cumsum(axis=1) > 0, turns.cumsum(axis=1) % 2 == 1
        return np.asarray((edges | inside)[:, :-1])


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
            more = edge < end  # there may be no edge between two areas
            left, edge, end = left[more], edge[more], end[more]
            y1, x1, y2, x2 = self.edges[edge].T
            inside[left] ^= (x2 - x1) * (y[left] - y1) > (x[left] - x1) * (y2 - y1)
            edge = edge + 1
        return inside

    def moved(self, east: int) -> Slabs:
        """Return the edges moved eastwards."""
        return Slabs(self.levels, self.starts, self.edges + np.array([0, east, 0, east]))


def _edges(ring: Ring) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the edges of a ring, the last from its last corner to its first."""
    return pairwise((*ring, ring[0]))


@lru_cache(maxsize=8)
def _slabs(rings: tuple[Ring, ...]) -> Slabs:
    return _slabs_and_owners(rings)[0]


def _slabs_and_owners(rings: tuple[Ring, ...]) -> tuple[Slabs, list[int]]:
    """Return the edges by slabs, and to which ring each of them belongs."""
    ends = [
        (*min(a, b), *max(a, b), owner)
        for owner, ring in enumerate(rings)
        for a, b in _edges(ring)
        if a[0] != b[0]
    ]
    edges, owners = np.split(np.array(ends), [4], axis=1)
    levels = np.unique(edges[:, [0, 2]])
    first, last = np.searchsorted(levels, edges[:, 0]), np.searchsorted(levels, edges[:, 2])
    each = last - first
    slab = np.repeat(first, each) + np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    order = np.argsort(slab, kind="stable")
    starts = np.searchsorted(slab[order], np.arange(len(levels)))
    slabs = Slabs(levels, starts.astype(np.int64), np.repeat(edges, each, axis=0)[order])
    return slabs, np.repeat(owners[:, 0], each)[order].tolist()


@lru_cache(maxsize=8)
def _depths(rings: tuple[Ring, ...]) -> tuple[int, ...]:
    """Return in how many others each ring lies.

    Between two latitudes of corners edges do not cross. From west to east, a ring that is entered
    must be left before those around it are, and be inside as many everywhere.

    Raises
    ------
    ValueError
        If two overlap.
    """
    crossing = _crossing_rings(rings)
    if crossing is not None:
        raise _overlap(*crossing)
    slabs, owners = _slabs_and_owners(rings)
    depths: dict[int, int] = {}
    for low, high, begin, end in zip(
        slabs.levels[:-1], slabs.levels[1:], slabs.starts[:-1], slabs.starts[1:], strict=True
    ):
        y1, x1, y2, x2 = slabs.edges[begin:end].astype(float).T
        across = x1 + (x2 - x1) * ((low + high) / 2 - y1) / (y2 - y1)
        order = np.argsort(across, kind="stable")
        groups = np.cumsum(np.diff(across[order], prepend=-np.inf) > _TIE).tolist()
        inside: list[int] = []
        for _, group in groupby(zip(groups, order.tolist(), strict=True), itemgetter(0)):
            met = [owners[begin + edge] for _, edge in group]
            while inside and inside[-1] in met:
                met.remove(inside.pop())
            for ring in met:
                if (
                    len(met) > 1
                    or ring in inside
                    or depths.setdefault(ring, len(inside)) != len(inside)
                ):
                    other = next((one for one in (*met, *inside[::-1]) if one != ring), ring)
                    raise _overlap(ring, other)
                inside.append(ring)
    return tuple(depths[ring] for ring in range(len(rings)))


def _overlap(first: int, second: int) -> ValueError:
    first, second = sorted((first + 1, second + 1))
    return ValueError(f"Rings {first} and {second} of the region overlap. {JOIN_AREAS}")


def _crossing_rings(rings: tuple[Ring, ...]) -> tuple[int, int] | None:
    """Return two rings of which an edge crosses an edge of the other, if there are any."""
    begin = np.concatenate([np.array(ring, np.int64) for ring in rings])
    end = np.concatenate([np.roll(np.array(ring, np.int64), -1, axis=0) for ring in rings])
    owner = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    shift = begin.min(axis=0)
    begin, end = begin - shift, end - shift
    split = np.empty((len(begin), len(begin)), bool)
    for first in range(0, len(begin), _EDGES):
        part = slice(first, first + _EDGES)
        one, two = _sides(begin, end, part, begin), _sides(begin, end, part, end)
        split[part] = np.sign(one) * np.sign(two) < 0
    crosses = np.argwhere(split & split.T & (owner[:, None] < owner))
    return None if not len(crosses) else (int(owner[crosses[0, 0]]), int(owner[crosses[0, 1]]))


def _sides(begin: Whole, end: Whole, part: slice, points: Whole) -> Whole:
    """Return on which side of the line through each edge of a part (row) points lie: the sign.

    The products may overflow before the last subtraction; the difference is exact, because it lies
    within 64 bits.
    """
    dy, dx = (end[part] - begin[part]).T[:, :, None]
    y, x = begin[part].T[:, :, None]
    side: Whole = dy * points[:, 1] - dx * points[:, 0] - (dy * x - dx * y)
    return side


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
    """Return whether the line through edge i (row) meets edge j (column)."""
    number = len(begin)
    divided = np.empty((number, number), bool)
    for first in range(0, number, _EDGES):
        part = slice(first, first + _EDGES)
        turn = _sides(begin, end, part, begin)
        left, right = turn > 0, turn < 0
        beside = left & np.roll(left, -1, axis=1)
        beside |= right & np.roll(right, -1, axis=1)
        np.logical_not(beside, out=divided[part])
    return divided
