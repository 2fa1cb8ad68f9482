"""Parameters as they are typed or stand in a plan, read one by one; errors name field and remedy.

Whole numbers are JSON's; fractions and decimals are texts, so that nothing is rounded on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from explorer.privacy.releases.means import exact_decimal
from explorer.release.mechanisms.base import FILE_FORMAT, UNIT, ParameterError

MOST_TEXTS = 10_000
"""Entries of a list."""
LARGEST_FRACTION = 400
"""Characters of a fraction."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Fields:
    """The parameters of one mechanism.

    Parameters
    ----------
    mechanism : str
        Its id.
    given : mapping
    own : tuple of str
        All that it takes besides the file's format.

    Raises
    ------
    ParameterError
        If there is another.
    """

    def __init__(self, mechanism: str, given: Mapping[str, Any], own: tuple[str, ...]) -> None:
        unknown = [name for name in given if name not in own and name not in FILE_FORMAT]
        if unknown:
            raise ParameterError(
                f"{unknown[0]}: {mechanism} has no such parameter; it takes {', '.join(own)}"
            )
        self._given = given

    def has(self, name: str) -> bool:
        """Tell whether a parameter is given."""
        return self._given.get(name) is not None

    def whole(self, name: str, default: int | None, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ParameterError(f"{name}: give a whole number from {low} to {high}, not {value!r}")
        return value

    def side(self, most: int) -> int:
        """Return ℓ of ``side``, the cells along a side: a power of two."""
        value = self.whole("side", None, 2, most)
        if value & (value - 1):
            raise ParameterError(f"side: {value} is no power of two; take 64, 128 or 256")
        return value.bit_length() - 1

    def fraction(self, name: str, default: str | None, low: Fraction, high: Fraction) -> Fraction:
        """Return a fraction or decimal strictly between two numbers."""
        text = self._value(name, default)
        try:
            if not isinstance(text, str) or len(text) > LARGEST_FRACTION:
                raise ValueError
            value = exact_decimal(name, text) if "/" not in text else Fraction(text)
        except (ValueError, ZeroDivisionError):
            raise ParameterError(f'{name}: write a text like "3/10", not {text!r}') from None
        if not low < value < high:
            raise ParameterError(f"{name}: {text} is not between {low} and {high}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, at least one."""
        return _texts(name, self._value(name, None))

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        value = self._value(name, None)
        if not isinstance(value, str) or not value:
            raise ParameterError(f"{name}: give a text, not {value!r}")
        return value

    def decimals(self, name: str, count: int | None = None) -> tuple[tuple[str, Fraction], ...]:
        """Return decimals as they were typed and as fractions, so many or at least one."""
        texts = self.texts(name)
        if count is not None and len(texts) != count:
            raise ParameterError(f"{name}: give {count} decimals, not {len(texts)}")
        try:
            return tuple((text, exact_decimal(name, text)) for text in texts)
        except ValueError as error:
            raise ParameterError(str(error)) from None

    def wholes(self, name: str, count: int, low: int, high: int) -> tuple[int, ...]:
        """Return a list of so many whole numbers in [low, high]."""
        values = self._value(name, None)
        if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != count:
            raise ParameterError(f"{name}: give a list of {count} whole numbers, not {values!r}")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ParameterError(f"{name}: {value!r} is no whole number from {low} to {high}")
        return tuple(values)

    def time(self, name: str) -> int:
        """Return a time in whole seconds since 1970; one without an offset is in UTC."""
        text = self.text(name)
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                f'{name}: {text!r} is no time; write one like "2026-01-31T12:00:00Z"'
            ) from None
        since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime(
            1970, 1, 1, tzinfo=UTC
        )
        if since.microseconds:
            raise ParameterError(f"{name}: {text!r} is no whole second; leave out what follows it")
        return since.days * 86_400 + since.seconds

    def _value(self, name: str, default: Any) -> Any:
        value = self._given.get(name)
        if value is not None:
            return value
        if default is None:
            raise ParameterError(f"{name}: is missing; give it")
        return default


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ParameterError(f"{name}: give a list of texts, not {values!r}")
    if not 1 <= len(values) <= MOST_TEXTS:
        raise ParameterError(f"{name}: give 1 to {MOST_TEXTS} texts, not {len(values)}")
    for value in values:
        if not isinstance(value, str):
            raise ParameterError(f"{name}: {value!r} is no text; put it in quotes")
    return tuple(values)


def epsilon_units(epsilon: Fraction) -> int:
    """Return ε in whole units of 2⁻⁴⁰, rounded down.

    Raises
    ------
    ParameterError
        If none is left.
    """
    if not isinstance(epsilon, Fraction | int) or isinstance(epsilon, bool):
        raise ParameterError(f"epsilon: {epsilon!r} is no exact fraction; give one like 1/2")
    units = epsilon // UNIT
    if units < 1:
        raise ParameterError(f"epsilon: {epsilon} is below 2^-40; give more")
    return int(units)


def text_of(value: Fraction) -> str:
    """Return a fraction as certificates write it."""
    return f"{value.numerator}/{value.denominator}"


def time_text(seconds: int) -> str:
    """Return a time as certificates write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
