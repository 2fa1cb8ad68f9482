"""Parsing of mechanism parameters, with the box and time range that select rows.

Integers are JSON numbers; fractions and decimals are texts, so that they are exact. Errors name the
field and a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.releases.means import exact_decimal
from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import (
    LAPLACE,
    UNIT,
    BoolArray,
    Part,
    Plain,
    Reads,
    UserRecords,
)
from explorer.release.rows.format import FORMAT_KEYS, LAT, LON, TIME
from explorer.user_rows import EARTH_STEP, TURN, GridBox

MAX_TEXTS = 10_000
"""Maximum length of a list."""
MAX_EPSILON = 10**9
"""Far beyond any useful ε; keeps the numbers of the samplers within floats."""
MAX_FRACTION = 400
"""Maximum length of a fraction."""

NO_TEXTS = ("user", "time", "lat", "lon")
"""Columns with a fixed meaning, which are no columns of texts."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (1900, 2200)
_RATIO = re.compile(r"[0-9]+/[0-9]+", re.ASCII)
_MAX_NAME_LENGTH = 60


class Fields:
    """The parameters of one mechanism.

    Parameters
    ----------
    mechanism : str
        Its id.
    given : mapping
    own : tuple of str
        Names of all parameters except those of the file format.

    Raises
    ------
    ParameterError
        If there is an unknown parameter.
    """

    def __init__(self, mechanism: str, given: Mapping[str, Any], own: tuple[str, ...]) -> None:
        unknown = [name for name in given if name not in own and name not in FORMAT_KEYS]
        if unknown:
            raise ParameterError(
                brief(unknown[0])[1:-1],
                f"is not a parameter of {mechanism}",
                f"leave it out; it has {', '.join(own)}",
            )
        self._given = given

    def has(self, name: str) -> bool:
        """Return whether a parameter is given."""
        return self._given.get(name) is not None

    def whole(self, name: str, default: int | None, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ParameterError(
                name, f"{brief(value)} is not a whole number from {low} to {high}", "give one"
            )
        return value

    def side(self, most: int) -> int:
        """Return ℓ of ``side``, the cells along a side: a power of two."""
        value = self.whole("side", None, 2, most)
        if value & (value - 1):
            raise ParameterError("side", f"{value} is not a power of two", "give 64, 128 or 256")
        return value.bit_length() - 1

    def fraction(self, name: str, default: str | None, low: Fraction, high: Fraction) -> Fraction:
        """Return a fraction or decimal strictly between two numbers."""
        text = self._value(name, default)
        try:
            if not isinstance(text, str) or len(text) > MAX_FRACTION:
                raise ValueError
            value = Fraction(text) if _RATIO.fullmatch(text) else exact_decimal(name, text)
        except (ValueError, ZeroDivisionError):
            raise ParameterError(
                name, f"{brief(text)} is not a fraction", 'give a text like "3/10"'
            ) from None
        if not low < value < high:
            raise ParameterError(name, f"{brief(text)} is not between {low} and {high}", "give one")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, at least one."""
        return _texts(name, self._value(name, None))

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        value = self._value(name, None)
        if not isinstance(value, str) or not value:
            raise ParameterError(name, f"{brief(value)} is not a text", "give one")
        return value

    def columns(self, name: str) -> tuple[str, ...]:
        """Return names of columns of texts, each once."""
        result = self.texts(name)
        for column in result:
            if column in NO_TEXTS or not column:
                raise ParameterError(
                    name, f"{brief(column)} is not a column of texts", "give the name of one"
                )
        if len(set(result)) < len(result):
            raise ParameterError(name, "are not all different", "give each once")
        return result

    def decimals(self, name: str, count: int | None = None) -> tuple[tuple[str, Fraction], ...]:
        """Return decimals as typed and as fractions, `count` of them or at least one."""
        texts = self.texts(name)
        if count is not None and len(texts) != count:
            raise ParameterError(name, f"has {len(texts)} entries", f"give {count} decimals")
        try:
            return tuple((text, exact_decimal(name, text)) for text in texts)
        except ValueError:
            raise ParameterError(
                name,
                "has an entry that is not a decimal of at most 40 digits",
                'give texts like "40.7"',
            ) from None

    def wholes(self, name: str, count: int, low: int, high: int) -> tuple[int, ...]:
        """Return a list of `count` integers in [low, high]."""
        values = self._value(name, None)
        if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != count:
            raise ParameterError(
                name, f"{brief(values)} is not a list of {count} numbers", "give one"
            )
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ParameterError(
                    name, f"{brief(value)} is not a whole number from {low} to {high}", "give one"
                )
        return tuple(values)

    def time(self, name: str) -> int:
        """Return a time in whole seconds since 1970; one without an offset is in UTC."""
        text = self.text(name)
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                name, f"{brief(text)} is not a time", 'give one like "2026-01-31T12:00:00Z"'
            ) from None
        since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime(
            1970, 1, 1, tzinfo=UTC
        )
        if since.microseconds or not _YEARS[0] <= when.year < _YEARS[1]:
            raise ParameterError(
                name,
                f"{brief(text)} is not a whole second of the years {_YEARS[0]} to {_YEARS[1]}",
                "give one",
            )
        return since.days * 86_400 + since.seconds

    def _value(self, name: str, default: Any) -> Any:
        value = self._given.get(name)
        if value is not None:
            return value
        if default is None:
            raise ParameterError(name, "is missing", "give it")
        return default


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ParameterError(name, f"{brief(values)} is not a list of texts", "give one")
    if not 1 <= len(values) <= MAX_TEXTS:
        raise ParameterError(name, f"has {len(values)} entries", f"give 1 to {MAX_TEXTS}")
    for value in values:
        if not isinstance(value, str):
            raise ParameterError(name, f"{brief(value)} is not a text", "put it in quotes")
    return tuple(values)


def single_part(
    name: str, epsilon: Fraction, sensitivity: int, noise: str = LAPLACE
) -> tuple[Part, ...]:
    """Return the measurement of a mechanism with a single one, which has exactly ε.

    Raises
    ------
    ParameterError
        As `epsilon_units`.
    """
    epsilon_units(epsilon)
    return (Part(name, Fraction(epsilon), sensitivity, noise),)


def epsilon_units(epsilon: Fraction) -> int:
    """Return ε in units of 2⁻⁴⁰, rounded down, for splitting.

    Raises
    ------
    ParameterError
        If the result is 0, or ε is above `MAX_EPSILON`.
    """
    if not isinstance(epsilon, Fraction | int) or isinstance(epsilon, bool):
        raise ParameterError("epsilon", f"{brief(epsilon)} is not a fraction", "give one like 1/2")
    if epsilon > MAX_EPSILON:
        raise ParameterError("epsilon", f"is above {MAX_EPSILON}", "give less")
    units = epsilon // UNIT
    if units < 1:
        raise ParameterError("epsilon", "is below 2^-40", "give more")
    return int(units)


def text_of(value: Fraction) -> str:
    """Return a fraction in the notation of certificates."""
    return f"{value.numerator}/{value.denominator}"


def time_text(seconds: int) -> str:
    """Return a time in the notation of certificates."""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def brief(value: object) -> str:
    """Return a value for an error message, truncated."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of over 30 digits"
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= _MAX_NAME_LENGTH else f"{text[:_MAX_NAME_LENGTH]}…'"


def check_columns(columns: Sequence[str], reads: Reads, mechanism: str) -> None:
    """Raise ParameterError if a column that a mechanism reads is not among those declared."""
    for name in (LAT, LON) * reads.places + (TIME,) * reads.times + reads.texts:
        if name not in columns:
            raise ParameterError(
                "columns",
                f"has no {name!r}, which {mechanism} reads",
                "name the file's columns in their order, this one among them",
            )


AREA_FIELDS = ("box", "start", "end")
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
