"""The pass over the first users of the same rows, made from the last one.

While the number of users is dragged, rows, box and time range stay: the users that come are added
to the cells and those that go are taken off. Sums of whole numbers do not depend on their order, so
that the cells are those of a pass over all that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy.heatmaps.pyramid.fixed_point import mass_bits
from explorer.privacy.heatmaps.pyramid.row_pass import CountedRows, count_rows
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import UserRows, Where


@dataclass(frozen=True)
class _Last:
    rows: UserRows
    where: Where
    level: int
    bits: int
    there: IntArray
    upto: int
    found: CountedRows

    def same(self, rows: UserRows, where: Where, level: int, bits: int) -> bool:
        same_rows = self.rows.y is rows.y and self.rows.users == rows.users
        return same_rows and (self.where, self.level, self.bits) == (where, level, bits)


class FirstUsers:
    """Counts as `count_rows`, from what it counted last; may be asked from any thread."""

    def __init__(self) -> None:
        self._asked: tuple[object, ...] = ()
        self._last: _Last | None = None

    def count(
        self,
        rows: UserRows,
        where: Where,
        level: int,
        most: int | None = None,
        among: int | None = None,
        bits: int | None = None,
    ) -> CountedRows:
        """Return what `count_rows` returns, whose parameters these are.

        Who is inside is told of each user only when the same rows are asked for twice.
        """
        bits = mass_bits(rows.users) if bits is None else bits
        asked = (id(rows.y), where, level, bits)
        again, self._asked = asked == self._asked, asked
        last = self._last
        if last is not None and not last.same(rows, where, level, bits):
            last = self._last = None
        if not again or (most, among) == (None, None):
            return count_rows(rows, where, level, most, among, bits)
        if last is None:
            _, each = rows.inside(rows.marked(where))
            nobody = CountedRows(np.zeros(4**level, np.int64), bits, 0, 0, 0)
            last = _Last(rows, where, level, bits, np.flatnonzero(each), 0, nobody)
        self._last = last = _moved(last, most, among)
        return last.found


def _moved(last: _Last, most: int | None, among: int | None) -> _Last:
    """Return the same of other first users."""
    there, found = last.there, last.found
    used = len(there) if among is None else int(np.searchsorted(there, among))
    used = used if most is None else min(used, most)
    upto = int(there[used - 1]) + 1 if used else 0
    between = last.rows.of(slice(*sorted((upto, last.upto))))
    sign = 1 if upto >= last.upto else -1
    change = count_rows(between, last.where, last.level, bits=last.bits)
    now = CountedRows(
        found.cells + sign * change.cells, last.bits, len(there), used,
        found.rows + sign * change.rows,
    )  # fmt: skip
    return replace(last, upto=upto, found=now)
