"""The pass over the first users of the same rows, made from the last one.

While the number of users is dragged, rows, box and time range stay: the users that come are added
to the cells and those that go are taken off. Sums of whole numbers do not depend on their order, so
that the cells are those of a pass over all that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy.heatmaps.pyramid.fixed_point import mass_bits
from explorer.privacy.heatmaps.pyramid.row_pass import CountedRows, count_all, count_rows
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import UserRows, Where

_CHUNK = 4096
"""Users looked at together: their rows stay in the nearer caches."""


@dataclass(frozen=True)
class _Last:
    """What was counted last: the users before `upto`, of whom those inside are `there`.

    Who is inside is known of the users before `known`; `present` is how many are of all.
    """

    rows: UserRows
    where: Where
    level: int
    bits: int
    present: int
    there: IntArray
    known: int
    upto: int
    found: CountedRows

    def same(self, rows: UserRows, where: Where, level: int, bits: int) -> bool:
        same_rows = self.rows.y is rows.y and self.rows.users == rows.users
        return same_rows and (self.where, self.level, self.bits) == (where, level, bits)


class FirstUsers:
    """Counts as `count_rows`, from what it counted last; may be asked from any thread."""

    def __init__(self) -> None:
        self._last: _Last | None = None

    def count(
        self,
        rows: UserRows,
        where: Where,
        level: int,
        most: int | None = None,
        among: int | None = None,
        bits: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> CountedRows:
        """Return what `count_rows` returns, whose parameters these are.

        The first time that rows are asked for is a pass like any. While all users are counted,
        `check` is called every few milliseconds and may raise to stop.
        """
        bits = mass_bits(rows.users) if bits is None else bits
        last = self._last
        again = last is not None and last.same(rows, where, level, bits)
        everybody = (most, among) == (None, None)
        if last is None or not again or everybody:
            found = (
                count_all(rows, where, level, bits, check)
                if everybody
                else count_rows(rows, where, level, most, among, bits)
            )
            if not again:
                nobody, none = np.zeros(0, np.int64), _nothing(level, bits, found.present)
                self._last = _Last(rows, where, level, bits, found.present, nobody, 0, 0, none)
            return found
        self._last = last = _moved(_looked_at(last, most, among), most, among)
        return last.found


def _nothing(level: int, bits: int, present: int) -> CountedRows:
    return CountedRows(np.zeros(4**level, np.int64), bits, present, 0, 0)


def _looked_at(last: _Last, most: int | None, among: int | None) -> _Last:
    """Return the same, with who is inside known of as many users as are needed."""
    rows, known = last.rows, last.known
    end = rows.users if among is None else min(among, rows.users)
    pieces, inside = [last.there], len(last.there)
    while known < end and (most is None or inside < most):
        to = min(known + _CHUNK, rows.users)
        some = rows.cut(slice(known, to))
        _, each = some.inside(some.marked(last.where))
        pieces.append(known + np.flatnonzero(each))
        known, inside = to, inside + len(pieces[-1])
    return replace(last, there=np.concatenate(pieces), known=known)


def _moved(last: _Last, most: int | None, among: int | None) -> _Last:
    """Return the same of other first users."""
    there = last.there
    used = len(there) if among is None else int(np.searchsorted(there, among))
    used = used if most is None else min(used, most)
    upto = int(there[used - 1]) + 1 if used else 0
    if upto < last.upto / 2:  # fewer are counted anew than would be taken off
        last = replace(last, upto=0, found=_nothing(last.level, last.bits, last.present))
    sign = 1 if upto >= last.upto else -1
    between = last.rows.of(slice(*sorted((upto, last.upto))))
    change, found = count_rows(between, last.where, last.level, bits=last.bits), last.found
    cells, rows = found.cells + sign * change.cells, found.rows + sign * change.rows
    now = CountedRows(cells, last.bits, last.present, used, rows)
    return replace(last, upto=upto, found=now)
