"""Public box and time range that select the rows of a release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import Plain, Reads
from explorer.release.mechanisms.fields import Fields, time_text
from explorer.release.user_records import BoolArray, UserRecords
from explorer.user_rows import EARTH_STEP, TURN, GridBox

WHERE = ("box", "start", "end")
_SIDES = (("south", 90), ("west", 180), ("north", 90), ("east", 180))


@dataclass(frozen=True, slots=True)
class Area:
    """A closed box in whole steps of 10⁻⁷ degrees and a half-open time range, each or none.

    Attributes
    ----------
    box : tuple of str
        South, west, north, east in degrees as typed; empty if there is none.
    edges : GridBox or None
        Across the antimeridian, east exceeds 180°.
    start, end : int or None
        Seconds; rows with start ≤ t < end are selected.
    """

    box: tuple[str, ...]
    edges: GridBox | None
    start: int | None
    end: int | None

    @classmethod
    def of(cls, fields: Fields, *, needs_box: bool) -> Area:
        """Parse ``box``, ``start`` and ``end``.

        Raises
        ------
        ParameterError
        """
        box, edges = _box(fields) if needs_box or fields.has("box") else ((), None)
        start, end = (fields.time(name) if fields.has(name) else None for name in ("start", "end"))
        if start is not None and end is not None and not start < end:
            raise ParameterError("end", "is not after start", "exchange them")
        return cls(box, edges, start, end)

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        result: dict[str, Plain] = {"box": list(self.box)} if self.box else {}
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None:
                result[name] = time_text(value)
        return result

    @property
    def timed(self) -> bool:
        """Whether there is a time range."""
        return self.start is not None or self.end is not None

    def reads(self, *texts: str, numbers: bool = False) -> Reads:
        """Return the columns needed, with further columns of texts or of decimals."""
        return Reads(self.edges is not None, self.timed, texts, numbers)

    def mask(self, records: UserRecords) -> BoolArray:
        """Return for every row, independently, whether it is selected."""
        result = np.ones(records.rows, bool)
        if (sides := self.edges) is not None:
            assert records.lat is not None
            assert records.lon is not None
            assert records.placed is not None
            result &= records.placed
            result &= (records.lat >= sides.south) & (records.lat <= sides.north)
            lon = sides.eastwards(records.lon)
            result &= (lon >= sides.west) & (lon <= sides.east)
        if self.timed:
            assert records.time is not None
            assert records.timed is not None
            result &= records.timed
            if self.start is not None:
                result &= records.time >= self.start
            if self.end is not None:
                result &= records.time < self.end
        return result


def _box(fields: Fields) -> tuple[tuple[str, ...], GridBox]:
    given = fields.decimals("box", 4)
    whole = []
    for (name, most), (text, value) in zip(_SIDES, given, strict=True):
        steps: Fraction = value / EARTH_STEP
        if steps.denominator != 1:
            raise ParameterError(
                "box", f"{text} has more than seven decimals", "leave out the rest"
            )
        if abs(value) > most:
            raise ParameterError("box", f"{name} {text} is outside ±{most}", "give degrees")
        whole.append(int(steps))
    south, west, north, east = whole
    if not (south < north and west != east):
        raise ParameterError("box", "has no area", "give south, west, north, east; south < north")
    if west > east:
        east += TURN
        if 2 * (east - west) > TURN:
            raise ParameterError(
                "box",
                "is wider than 180° where it crosses the antimeridian, as west > east",
                "give south, west, north, east",
            )
    return tuple(text for text, _ in given), GridBox(south, west, north, east, TURN)
