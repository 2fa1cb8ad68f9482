"""Aggregation of rows sorted by user: whole-number masses of every cell of a box.

**Fixed point.** A user's mass of 1 is 2^40, and sums of whole numbers do not depend on their order:
the same rows always give the same map.

The pass runs in numpy. Once `compile_pass` was called it runs in numba, several times faster and
with the same numbers; numba takes long to import and would hold up a window, so only processes that
compute and nothing else call that.

**Updates when the number of users changes.** While the number of users is dragged, rows, box and
time range stay: the users that come are added to the cells and those that go are taken off. Sums of
whole numbers do not depend on their order, so that the cells are those of a pass over all that is
asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.polygon import Slabs
from explorer.privacy.heatmaps.quadtree import encode
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import BoxFilter, GridBox, UserRows

BITS = 40
"""A user's mass of 1 is 2^40, as long as all users' together stay below 2^63."""
MAX_WEIGHT = 1 << 22
"""Of check-ins with whole-number weights: 2^40 times it is below 2^63."""
_MAX_PRODUCT = 2.0**50
_CHUNK_ROWS = 500_000
"""Rows counted between two checks: some 2 ms."""
_compiling = threading.Lock()
_CHUNK = 4096
"""Users processed together: their rows stay in the nearer caches."""


def lines(offset: NDArray[Any], span: int, side: int) -> IntArray:
    """Return ⌊offset · side / span⌋, exactly and without dividing whole numbers, at most side − 1.

    It is ⌊(offset · side + ½) · fl(1/span)⌋ in double precision: the exact quotient keeps ½/span
    from every whole number, relatively more than 2⁻⁵¹ while side · span < 2⁵⁰, and the two
    roundings move it by less than 2⁻⁵².

    Parameters
    ----------
    offset : array of int
        From the southern or western edge, in [0, span].
    span : int
        Length of the box.
    side : int
        Cells along it.

    Raises
    ------
    ValueError
        If the span is below 1, or side · span 2^50 or more.
    """
    index = ((offset * float(side) + 0.5) * reciprocal(span, side)).astype(np.int64)
    return np.minimum(index, side - 1)


def reciprocal(span: int, side: int) -> float:
    """Return 1/span in double precision, if `lines` is exact with it."""
    if span < 1:
        raise ValueError("box: it has no area to divide into cells; choose a larger one")
    if side * span >= _MAX_PRODUCT:
        raise ValueError(f"box: {span} steps are too many for {side} exact columns; take fewer")
    return 1.0 / span


def cells_of_rows(y: NDArray[Any], x: NDArray[Any], edges: GridBox, level: int) -> IntArray:
    """Return the Morton codes of the cells that rows inside a box lie in.

    The northern and eastern sides themselves belong to the last row and column.
    """
    side = 1 << level
    row = lines(y.astype(np.int64) - edges.south, edges.north - edges.south, side)
    column = lines(edges.eastwards(x) - edges.west, edges.east - edges.west, side)
    return encode(row, column)


def mass_bits(users: int) -> int:
    """Return b: a mass of 1 is 2^b, so that the masses of so many users add up to less than 2^63.

    Below 2^23 users b is always 40. Beyond, one user more can change it and with it
    all roundings, so that there is no sensitivity: good for a screen, not for a release.
    """
    return BITS if users < 1 << (63 - BITS) else 62 - (users - 1).bit_length()


def row_masses(totals: NDArray[Any], bits: int = BITS) -> IntArray:
    """Return ⌊2^b/t⌋: the weight of each of a user's t check-ins.

    Together they weigh at most 2^b, and less than t below it.
    """
    masses: IntArray = np.int64(1 << bits) // totals.astype(np.int64)
    return masses


@dataclass(frozen=True)
class CountedRows:
    """Result of a pass over rows.

    Attributes
    ----------
    cells : ndarray of int64, shape (4^level,)
        Σ_users n(u, c) · ⌊2^b/t(u)⌋ in Morton order, where n of a user's t check-ins inside lie in
        cell c.
    bits : int
        b.
    present, used : int
        Users with a check-in inside; those of them that are counted.
    rows : int
        Check-ins that are counted.
    """

    cells: IntArray
    bits: int
    present: int
    used: int
    rows: int

    def __add__(self, other: CountedRows) -> CountedRows:
        """Return the result of a pass over the users of both; no user is in both."""
        return CountedRows(
            self.cells + other.cells,
            self.bits,
            self.present + other.present,
            self.used + other.used,
            self.rows + other.rows,
        )


def count_all(
    rows: UserRows,
    where: BoxFilter,
    level: int,
    bits: int,
    check: Callable[[], None] = lambda: None,
) -> CountedRows:
    """Count all users as `count_rows`, and call `check` now and then, which may raise to stop."""
    total = CountedRows(np.zeros(4**level, np.int64), bits, 0, 0, 0)
    for users in rows.pieces(
        max(_CHUNK_ROWS, 4 * 4**level)
    ):  # cells are added up for each piece, too
        total += count_rows(rows.cut(users), where, level, bits=bits)
        check()
    return total


def count_rows(
    rows: UserRows,
    where: BoxFilter,
    level: int,
    most: int | None = None,
    among: int | None = None,
    bits: int | None = None,
) -> CountedRows:
    """Add up the users' normalised distributions over the cells of a box.

    Adding or removing one user changes the cells by at most 2^b in ℓ1, at every level: what a user
    adds depends on other users through b alone, and t · ⌊2^b/t⌋ ≤ 2^b. With `most` a user may push
    another out of the sample: then it is at most twice as much.

    Parameters
    ----------
    rows : UserRows
    where : Where
    level : int
        The box has 2^level × 2^level cells.
    most : int or None
        So many of the users inside are counted, the first; None counts all.
    among : int or None
        Only so many users are counted, the first of all, inside or not; None counts all.
    bits : int or None
        b; that of as many users as there are rows for if left out.

    Raises
    ------
    ValueError
        If the box has no area, or too many steps for exact columns, or a time range is given
        and there are no times.
    """
    if where.timed and rows.t is None:
        raise ValueError("rows: they have no times; choose no time range")
    most = rows.users if most is None else most
    among = rows.users if among is None else among
    bits = mass_bits(rows.users) if bits is None else bits
    return (_compiled or _in_numpy)(rows, where, level, most, among, bits)


def _in_numpy(
    rows: UserRows, where: BoxFilter, level: int, most: int, among: int, bits: int
) -> CountedRows:
    inside, each = rows.inside(rows.mask(where))
    present = int(np.count_nonzero(each))
    each = each[:among]
    each = each[each > 0][:most]
    inside = inside[: int(each.sum())]
    codes = cells_of_rows(rows.y[inside], rows.x[inside], where.edges, level)
    cells = np.zeros(4**level, np.int64)
    np.add.at(cells, codes, np.repeat(row_masses(each, bits), each))
    return CountedRows(cells, bits, present, len(each), len(inside))


_compiled: Callable[[UserRows, BoxFilter, int, int, int, int], CountedRows] | None = None


def compile_pass() -> None:
    """Run the passes of this process in numba from now on.

    That takes seconds the first time, and half of one where the machine code is kept on disk.

    Raises
    ------
    ImportError
        If there is no numba. Passes then go on in numpy, with the same numbers.
    """
    global _compiled
    with _compiling:
        if _compiled is not None:
            return
        walk = compiled_walk()

        def count(
            rows: UserRows, where: BoxFilter, level: int, most: int, among: int, bits: int
        ) -> CountedRows:
            side, edges = 1 << level, where.edges
            per_row = reciprocal(edges.north - edges.south, side)
            per_column = reciprocal(edges.east - edges.west, side)
            spread = encode(np.zeros(1, np.int64), np.arange(side))
            cells = np.zeros(4**level, np.int64)
            times = rows.y[:0] if rows.t is None else rows.t
            x, west = rows.x, edges.west
            low, high = where.limits()
            if len(edges.spans) > 1:  # counted from the west; −1 is outside
                offset = edges.eastwards(x) - west
                x = np.where((offset < 0) | (offset > edges.east - west), -1, offset)
                x, west, low[1], high[1] = x.astype(np.int32), 0, 0, edges.east - west
            slabs = NO_SLABS
            if where.polygon is not None:
                slabs = where.polygon.slabs.moved(west - edges.west)
            totals = walk(
                *(_read_only(c) for c in (rows.y, x, times, rows.starts, rows.ends)),
                low,
                high,
                where.timed,
                np.array([edges.south, west], float),
                np.array([per_row, per_column]),
                spread,
                most,
                among,
                1 << bits,
                cells,
                slabs.levels,
                slabs.starts,
                slabs.edges,
            )
            return CountedRows(cells, bits, *map(int, totals))

        one = np.zeros(1, np.int32)
        rows = UserRows(one, one, one, np.zeros(1, np.int64), np.ones(1, np.int64))
        count(rows, BoxFilter(GridBox(0, 0, 1, 1), 0, 1), 1, 1, 1, 1)
        _compiled = count


@cache
def compiled_walk() -> Any:
    """Return the loop of the pass, compiled by numba on its first call. Imports numba."""
    from numba.extending import register_jitable

    from explorer.privacy.core.compiled import compiled

    register_jitable(_in_polygon)
    return compiled(_walk, nogil=True)


NO_SLABS = Slabs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 4), np.int64))
"""Of no polygon."""


def _in_polygon(y: Any, x: Any, levels: Any, begins: Any, edges: Any) -> bool:
    """Return whether a point lies inside, as `Slabs.hold`."""
    if y < levels[0] or y >= levels[-1]:
        return False
    slab = np.searchsorted(levels, y, "right") - 1
    inside = False
    for edge in range(begins[slab], begins[slab + 1]):
        y1, x1, y2, x2 = edges[edge, 0], edges[edge, 1], edges[edge, 2], edges[edge, 3]
        if (x2 - x1) * (y - y1) > (x - x1) * (y2 - y1):
            inside = not inside
    return inside


def _walk(  # type: ignore[no-untyped-def]
    y,
    x,
    t,
    starts,
    ends,
    low,
    high,
    timed,
    origin,
    per_step,
    spread,
    most,
    among,
    one,
    cells,
    levels,
    begins,
    edges,
):
    """Add one/t of every check-in to its cell; return users inside, users counted and their rows.

    Counting comes first, without branches, so that it is done several rows at once; the second walk
    over a user's rows finds them in the nearest cache.
    """
    south, west, first = low[0], low[1], low[2]
    north, east, last = high[0], high[1], high[2]
    y0, x0 = origin[0], origin[1]
    per_row, per_column = per_step[0], per_step[1]
    side, fenced = spread.size, levels.size > 0
    present, used, rows = 0, 0, 0
    for user in range(starts.size):
        begin, end = starts[user], ends[user]
        count = 0
        if fenced:
            for i in range(begin, end):
                if y[i] < south or y[i] > north or x[i] < west or x[i] > east:
                    continue
                if timed and (t[i] < first or t[i] > last):
                    continue
                count += _in_polygon(np.int64(y[i]), np.int64(x[i]), levels, begins, edges)
        elif timed:
            for i in range(begin, end):
                count += (
                    (y[i] >= south)
                    & (y[i] <= north)
                    & (x[i] >= west)
                    & (x[i] <= east)
                    & (t[i] >= first)
                    & (t[i] <= last)
                )
        else:
            for i in range(begin, end):
                count += (y[i] >= south) & (y[i] <= north) & (x[i] >= west) & (x[i] <= east)
        if count == 0:
            continue
        present += 1
        if used == most or user >= among:
            continue
        used += 1
        rows += count
        mass = one // count
        for i in range(begin, end):
            if y[i] < south or y[i] > north or x[i] < west or x[i] > east:
                continue
            if timed and (t[i] < first or t[i] > last):
                continue
            if fenced and not _in_polygon(np.int64(y[i]), np.int64(x[i]), levels, begins, edges):
                continue
            # exact: see `lines`
            row = int(((y[i] - y0) * side + 0.5) * per_row)
            column = int(((x[i] - x0) * side + 0.5) * per_column)
            row, column = min(row, side - 1), min(column, side - 1)
            cells[(spread[row] << 1) | spread[column]] += mass
    return present, used, rows


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that can't be written to.

    Arrays and memory maps then are of one type to numba, and the loop is compiled once.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class _State:
    """State of the last count: users before `upto`, those inside the box in `there`.

    Who is inside is known of the users before `known`; `present` is how many are of all.
    """

    rows: UserRows
    where: BoxFilter
    level: int
    bits: int
    present: int
    there: IntArray
    known: int
    upto: int
    found: CountedRows

    def same(self, rows: UserRows, where: BoxFilter, level: int, bits: int) -> bool:
        same_rows = self.rows.y is rows.y and self.rows.users == rows.users
        return same_rows and (self.where, self.level, self.bits) == (where, level, bits)


class FirstUsers:
    """Counts as `count_rows`, updating the previous count. Thread-safe."""

    def __init__(self) -> None:
        self._last: _State | None = None

    def count(
        self,
        rows: UserRows,
        where: BoxFilter,
        level: int,
        most: int | None = None,
        among: int | None = None,
        bits: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> CountedRows:
        """Return the result of `count_rows`, which has the same parameters.

        The first count of some rows is a full pass. While all users are counted,
        `check` is called every few milliseconds and may raise to stop.
        """
        bits = mass_bits(rows.users) if bits is None else bits
        last = self._last
        again = last is not None and last.same(rows, where, level, bits)
        everybody = (most, among) == (None, None)
        if last is None or not again or everybody:
            counted = (
                count_all(rows, where, level, bits, check)
                if everybody
                else count_rows(rows, where, level, most, among, bits)
            )
            if not again:
                nobody, none = np.zeros(0, np.int64), _empty_count(level, bits, counted.present)
                self._last = _State(rows, where, level, bits, counted.present, nobody, 0, 0, none)
            return counted
        self._last = last = _move(_locate_users(last, most, among), most, among)
        return last.found


def _empty_count(level: int, bits: int, present: int) -> CountedRows:
    return CountedRows(np.zeros(4**level, np.int64), bits, present, 0, 0)


def _locate_users(last: _State, most: int | None, among: int | None) -> _State:
    """Return the state with as many users located inside the box as are needed."""
    rows, known = last.rows, last.known
    end = rows.users if among is None else min(among, rows.users)
    pieces, inside = [last.there], len(last.there)
    while known < end and (most is None or inside < most):
        to = min(known + _CHUNK, rows.users)
        chunk = rows.cut(slice(known, to))
        _, each = chunk.inside(chunk.mask(last.where))
        pieces.append(known + np.flatnonzero(each))
        known, inside = to, inside + len(pieces[-1])
    return replace(last, there=np.concatenate(pieces), known=known)


def _move(last: _State, most: int | None, among: int | None) -> _State:
    """Return the state for another number of first users."""
    there = last.there
    used = len(there) if among is None else int(np.searchsorted(there, among))
    used = used if most is None else min(used, most)
    upto = int(there[used - 1]) + 1 if used else 0
    if upto < last.upto / 2:  # fewer are counted anew than would be taken off
        last = replace(last, upto=0, found=_empty_count(last.level, last.bits, last.present))
    sign = 1 if upto >= last.upto else -1
    between = last.rows.of(slice(*sorted((upto, last.upto))))
    change, previous = count_rows(between, last.where, last.level, bits=last.bits), last.found
    cells, rows = previous.cells + sign * change.cells, previous.rows + sign * change.rows
    now = CountedRows(cells, last.bits, last.present, used, rows)
    return replace(last, upto=upto, found=now)
