"""Check-ins grouped by user as integer columns, and selection of rows by box and time.

Coordinates are integer numbers of steps (1e-7 degree on the Earth) and times are whole seconds, so
that every component selects the same rows for a region.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.polygon import Polygon

EARTH_STEP = Fraction(1, 10**7)
"""Step of stored positions in degrees: exact for seven decimals, off by at most 6 mm."""

TURN = 360 * EARTH_STEP.denominator
"""Full circle of longitude in steps. Stored longitudes lie within ±TURN/2."""

Box = tuple[float, float, float, float]
"""South, west, north, east in degrees, or in the unit of another plane.

Across the antimeridian the east is above 180, so that west < east.
"""

MAX_MARKS = 128
"""Combining marks on one letter of an id. Written languages have a few; sorting them, as normal
forms do, takes a time that grows with the square of their number (100 s for 200 kB)."""

Whole = NDArray[np.int64]
Small = NDArray[np.int32]

_MAX_RATIO = 12
"""Sides of cached surroundings over those of a box: 3 at first; above 12 they are taken anew."""
_INT32 = np.iinfo(np.int32)

ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
"""Invisible characters without width."""
_NO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))


def compose_nfc(text: str) -> str | None:
    """Return a text in Unicode normal form C, in time linear in its length.

    None if a letter has more than `MAX_MARKS` combining marks: such text is no id.
    """
    if text.isascii():
        return text
    if len(text) > MAX_MARKS and any(
        marks and sum(1 for _ in run) > MAX_MARKS
        for marks, run in groupby(text, lambda c: unicodedata.category(c)[0] == "M")
    ):
        return None
    return unicodedata.normalize("NFC", text)


def id_text(text: str) -> str | None:
    """Return the canonical form of a user id, by which ids are compared, counted and hashed.

    White space around it and characters without width are left out, and letters are in Unicode's
    normal form C. None if `compose_nfc` refuses it, empty if nothing is left.
    """
    if text.isascii():
        return text.strip()
    result = compose_nfc(text.translate(_NO_WIDTH))
    return None if result is None else result.strip()


def round_to_steps(values: Any, step: Fraction = EARTH_STEP) -> NDArray[np.float64]:
    """Return coordinates in steps, rounded, as float64; NaN stays NaN."""
    values = np.asarray(values, dtype=float)
    scaled = values * step.denominator if step < 1 else values / step.numerator
    nearest: NDArray[np.float64] = np.rint(scaled)
    return nearest


def steps(values: Any, step: Fraction = EARTH_STEP) -> Whole:
    """Return coordinates as integer numbers of steps; the inverse is `positions`."""
    return round_to_steps(values, step).astype(np.int64)


def positions(whole: Any, step: Fraction = EARTH_STEP) -> NDArray[np.float64]:
    """Return the coordinates of integer numbers of steps.

    Each is rounded once: 3 steps of 0.1 equal the literal 0.3.
    """
    whole = np.asarray(whole)
    scaled = whole / step.denominator if step < 1 else whole * float(step.numerator)
    result: NDArray[np.float64] = scaled + 0.0  # −0 becomes a plain 0
    return result


def snap(box: Box, step: Fraction = EARTH_STEP) -> Box:
    """Return a box with its sides rounded to whole steps."""
    south, west, north, east = positions(steps(box, step), step).tolist()
    return south, west, north, east


@dataclass(frozen=True, slots=True)
class GridBox:
    """A closed box with sides in whole steps.

    Attributes
    ----------
    south, west, north, east : int
        East is above TURN/2 if the box crosses the antimeridian.
    turn : int
        TURN on the Earth, where x and x ± TURN are one longitude; 0 on a plane.

    Raises
    ------
    ValueError
        If nothing can lie in it.
    """

    south: int
    west: int
    north: int
    east: int
    turn: int = 0

    def __post_init__(self) -> None:
        if not (self.south <= self.north and self.west <= self.east):
            raise ValueError(f"box: {self} is empty; give south, west, north, east")

    @classmethod
    def of(
        cls,
        box: Box,
        step: Fraction = EARTH_STEP,
        origin: tuple[int, int] = (0, 0),
        turn: int = 0,
    ) -> GridBox:
        """Return a box in steps from an origin (y, x)."""
        south, west, north, east = steps(box, step).tolist()
        y, x = origin
        return cls(south - y, west - x, north - y, east - x, turn)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First and last stored x of each part of the box.

        There are two parts if it crosses the antimeridian or ends at it: ±180° are one longitude.
        """
        whole, half = (self.west, self.east), self.turn // 2
        if not half or (self.west > -half and self.east < half):
            return (whole,)
        low, high = max(self.west, -half), min(self.east, half)
        moved = (
            (max(low_, -half), min(high_, half))
            for low_, high_ in (
                (self.west - self.turn, self.east - self.turn),
                (self.west + self.turn, self.east + self.turn),
            )
        )
        others = (span for span in moved if span[0] <= span[1])
        return ((low, high), *(s for s in others if not (low <= s[0] and s[1] <= high)))

    def eastwards(self, x: NDArray[Any]) -> Whole:
        """Return stored x shifted by full circles so that they increase from west to east.

        Rows outside the box may be moved by a full circle.
        """
        whole = x.astype(np.int64)
        if len(self.spans) == 1:
            return whole
        whole[whole < self.west] += self.turn
        whole[whole > self.east] -= self.turn
        return whole

    def widened(self, parts: int = 1) -> GridBox:
        """Return the box extended on each side by 1/parts of its size."""
        high, wide = (self.north - self.south) // parts, (self.east - self.west) // parts
        return GridBox(
            self.south - high, self.west - wide, self.north + high, self.east + wide, self.turn
        )

    def suits(self, other: GridBox) -> bool:
        """Return whether another box is inside this one and not much smaller."""
        high, wide = other.north - other.south, other.east - other.west
        large = (
            self.north - self.south > _MAX_RATIO * high
            and self.east - self.west > _MAX_RATIO * wide
        )
        return self.holds(other) and not large

    def holds(self, other: GridBox) -> bool:
        """Return whether another box is inside this one."""
        inside = self.south <= other.south and self.north >= other.north
        return inside and any(
            self.west <= other.west + turn and self.east >= other.east + turn
            for turn in (0, self.turn, -self.turn)
        )


@dataclass(frozen=True, slots=True)
class BoxFilter:
    """A closed box, perhaps a polygon in it, and a half-open time range.

    Attributes
    ----------
    edges : GridBox
    start, end : int or None
        Seconds; rows with start ≤ t < end are inside.
    polygon : Polygon or None
        Rows outside it are outside, too; in steps, x growing from the box's west.
    """

    edges: GridBox
    start: int | None = None
    end: int | None = None
    polygon: Polygon | None = None

    @property
    def timed(self) -> bool:
        """Whether the time range is limited."""
        return self.start is not None or self.end is not None

    def holds(self, other: BoxFilter) -> bool:
        """Return whether another filter selects a subset of this one."""
        late = self.start is None or (other.start is not None and other.start >= self.start)
        soon = self.end is None or (other.end is not None and other.end <= self.end)
        shape = self.polygon is None or self.polygon == other.polygon
        return late and soon and shape and self.edges.holds(other.edges)

    def limits(self) -> tuple[Small, Small]:
        """Return the smallest and largest (y, x, t) inside, clipped to 32 bits."""
        start = _INT32.min if self.start is None else self.start
        end = _INT32.max if self.end is None else self.end - 1
        sides = self.edges
        low = np.clip([sides.south, sides.west, start], _INT32.min, _INT32.max)
        high = np.clip([sides.north, sides.east, end], _INT32.min, _INT32.max)
        return low.astype(np.int32), high.astype(np.int32)


@dataclass(frozen=True)
class UserRows:
    """Columns of check-ins with the rows of each user adjacent.

    Attributes
    ----------
    y, x : ndarray of int32, shape (rows,)
        Steps northwards and eastwards.
    t : ndarray of int32, shape (rows,), or None
        Seconds; None without times.
    starts, ends : ndarray of int64, shape (users,)
        A user's rows are those from its start up to, and without, its end, where the next one's
        start.
    """

    y: Small
    x: Small
    t: Small | None
    starts: Whole
    ends: Whole

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.starts)

    def of(self, users: slice) -> UserRows:
        """Return a contiguous range of users."""
        return UserRows(self.y, self.x, self.t, self.starts[users], self.ends[users])

    def cut(self, users: slice) -> UserRows:
        """Return a contiguous, non-empty range of users with their rows only."""
        first, end = int(self.starts[users][0]), int(self.ends[users][-1])
        rows = slice(first, end)
        return UserRows(
            self.y[rows],
            self.x[rows],
            None if self.t is None else self.t[rows],
            self.starts[users] - first,
            self.ends[users] - first,
        )

    def pieces(self, size: int) -> Iterator[slice]:
        """Yield slices of users with at most `size` rows, or of a single user."""
        first = 0
        while first < self.users:
            end = int(np.searchsorted(self.ends, self.starts[first] + size, "right"))
            yield slice(first, first := max(end, first + 1))

    def mask(self, where: BoxFilter) -> NDArray[np.bool_]:
        """Return a boolean mask of the rows inside a filter.

        Raises
        ------
        ValueError
            If the filter has a time range and the rows have no times.
        """
        low, high = where.limits()
        mask: NDArray[np.bool_] = np.zeros(len(self.x), bool)
        for west, east in where.edges.spans:
            ends = np.clip((west, east), _INT32.min, _INT32.max).astype(np.int32)
            mask |= (self.x >= ends[0]) & (self.x <= ends[1])
        mask &= (self.y >= low[0]) & (self.y <= high[0])
        if where.timed:
            if self.t is None:
                raise ValueError("rows: they have no times; choose no time range")
            mask &= (self.t >= low[2]) & (self.t <= high[2])
        if where.polygon is not None:
            near = np.flatnonzero(mask)
            mask[near] = where.polygon.holds(self.y[near], where.edges.eastwards(self.x[near]))
        return mask

    def inside(self, mask: NDArray[np.bool_]) -> tuple[Whole, Whole]:
        """Return the rows of a mask, user by user, and the number of rows of each user."""
        result = np.flatnonzero(mask)
        first, last = np.searchsorted(result, self.starts), np.searchsorted(result, self.ends)
        if self.users:
            result = result[first[0] : last[-1]]
        return result, last - first
