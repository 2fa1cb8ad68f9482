"""The pass over rows in the order of users: whole-number masses of every cell of a box.

It runs in numpy. Once `compile_pass` was called it runs in numba, several times faster and with the
same numbers; numba takes long to import and would hold up a window, so only processes that compute
and nothing else call that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.pyramid.fixed_point import (
    cells_of_rows,
    mass_bits,
    reciprocal,
    row_masses,
)
from explorer.privacy.heatmaps.pyramid.morton import encode
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import Edges, UserRows, Where


@dataclass(frozen=True)
class CountedRows:
    """What a pass found.

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
        """Return what a pass finds that counts the users of both; no user is in both."""
        return CountedRows(
            self.cells + other.cells,
            self.bits,
            self.present + other.present,
            self.used + other.used,
            self.rows + other.rows,
        )


_PIECE = 500_000
"""Rows counted between two checks: some 2 ms."""


def count_all(
    rows: UserRows, where: Where, level: int, bits: int, check: Callable[[], None] = lambda: None
) -> CountedRows:
    """Count all users as `count_rows`, and call `check` now and then, which may raise to stop."""
    found = CountedRows(np.zeros(4**level, np.int64), bits, 0, 0, 0)
    for users in rows.pieces(max(_PIECE, 4 * 4**level)):  # cells are added up for each piece, too
        found += count_rows(rows.cut(users), where, level, bits=bits)
        check()
    return found


def count_rows(
    rows: UserRows,
    where: Where,
    level: int,
    most: int | None = None,
    among: int | None = None,
    bits: int | None = None,
) -> CountedRows:
    """Add up the users' normalised distributions over the cells of a box.

    Adding or removing one user changes the cells by at most 2^b in ℓ1, at every level: what a user
    adds depends on nobody else but by b, and t · ⌊2^b/t⌋ ≤ 2^b. With `most` a user may push another
    out of the sample: then it is at most twice as much.

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
        If the box has no area, or too many steps for exact columns, or a time range is asked for
        and there are no times.
    """
    if where.timed and rows.t is None:
        raise ValueError("rows: they have no times; choose no time range")
    most = rows.users if most is None else most
    among = rows.users if among is None else among
    bits = mass_bits(rows.users) if bits is None else bits
    return (_compiled or _in_numpy)(rows, where, level, most, among, bits)


def _in_numpy(
    rows: UserRows, where: Where, level: int, most: int, among: int, bits: int
) -> CountedRows:
    found, each = rows.inside(rows.marked(where))
    present = int(np.count_nonzero(each))
    each = each[:among]
    each = each[each > 0][:most]
    found = found[: int(each.sum())]
    codes = cells_of_rows(rows.y[found], rows.x[found], where.edges, level)
    cells = np.zeros(4**level, np.int64)
    np.add.at(cells, codes, np.repeat(row_masses(each, bits), each))
    return CountedRows(cells, bits, present, len(each), len(found))


_compiled: Callable[[UserRows, Where, int, int, int, int], CountedRows] | None = None
_compiling = threading.Lock()


def compile_pass() -> None:
    """Have the passes of this process run in numba from now on.

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
        from explorer.privacy.heatmaps.pyramid.compiled_pass import walk

        def compiled(
            rows: UserRows, where: Where, level: int, most: int, among: int, bits: int
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
            found = walk(
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
            )
            return CountedRows(cells, bits, *map(int, found))

        one = np.zeros(1, np.int32)
        rows = UserRows(one, one, one, np.zeros(1, np.int64), np.ones(1, np.int64))
        compiled(rows, Where(Edges(0, 0, 1, 1), 0, 1), 1, 1, 1, 1)
        _compiled = compiled


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that can't be written to.

    Arrays and memory maps then are of one type to numba, and the loop is compiled once.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
