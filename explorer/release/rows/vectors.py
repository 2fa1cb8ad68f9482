"""Vectorised parsing of plainly written values, and numbering of user ids.

Other values are parsed one by one by `values`. The results equal those of `values`, which a test
checks; this module only adds speed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.release.rows.format import MAX_OFFSET, MIN_OFFSET
from explorer.release.rows.values import MAX_TIME, MIN_TIME, Whole, zone_offset

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

PADDING = 64
"""Zero bytes appended to a block, so that fixed-width reads stay inside it."""

_LONGEST = 24
_DIGITS = 18
_LOW_BYTES = np.array([(1 << 8 * k) - 1 for k in range(9)], dtype=np.uint64)
_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], dtype=np.int64)


class Block(NamedTuple):
    """Complete rows of a file.

    Attributes
    ----------
    raw : bytes
        The rows and `PADDING` zero bytes.
    values : ndarray of uint8
        The same bytes.
    """

    raw: bytes
    values: Bytes

    @classmethod
    def of(cls, raw: bytes) -> Block:
        """Return rows as a block."""
        padded = raw + bytes(PADDING)
        return cls(padded, np.frombuffer(padded, dtype=np.uint8))


class Wholes(NamedTuple):
    """An integer per row (0 if unreadable) and whether it is readable."""

    values: NDArray[np.int64]
    readable: Mask


class Decimals(NamedTuple):
    """Digits of every row as an integer, number of digits after the point, and validity."""

    digits: NDArray[np.int64]
    behind: NDArray[np.int64]
    plain: Mask


def plain_decimals(block: Block, starts: Places, ends: Places, mark: int = 46) -> Decimals:
    """Parse decimals of at most `_DIGITS` digits with optional sign and decimal mark."""
    first = block.values[starts]
    negative = first == ord("-")
    at = starts + (negative | (first == ord("+")))
    longest = int(min((ends - at).max(initial=0), _LONGEST))
    plain = (ends - at <= _LONGEST) & (ends > at)
    digits = np.zeros(len(starts), dtype=np.int64)
    count = np.zeros(len(starts), dtype=np.int8)
    behind = np.zeros(len(starts), dtype=np.int8)
    pointed = np.zeros(len(starts), dtype=np.bool_)
    for _ in range(longest):
        live = at < ends
        char = block.values[at]
        value = char - np.uint8(48)  # non-digits wrap around to ≥ 10
        digit = (value < 10) & live
        point = (char == mark) & live
        plain &= digit | ~live | (point & ~pointed)
        np.multiply(digits, 10, out=digits, where=digit)
        np.add(digits, value, out=digits, where=digit)
        count += digit
        behind += digit & pointed
        pointed |= point
        at += live
    plain &= (count > 0) & (count <= _DIGITS)
    np.negative(digits, out=digits, where=negative)
    return Decimals(digits, behind.astype(np.int64), plain)


def coordinates(
    block: Block, starts: Places, ends: Places, most: int, mark: int, slow: Whole
) -> Wholes:
    """Parse degrees within ±most, rounded to 10⁻⁷ degrees, ties to even."""
    digits, behind, plain = plain_decimals(block, starts, ends, mark)
    power = 10 ** np.arange(_DIGITS + 1, dtype=np.int64)
    cut = np.maximum(behind - 7, 0)
    # at most four digits before the point, so that nothing exceeds 64 bits
    plain &= np.abs(digits) < power[np.minimum(behind + 4, _DIGITS)]
    beyond = np.abs(digits) > most * power[np.minimum(behind, 15)]
    divisor = power[np.minimum(cut, _DIGITS)]
    whole, rest = np.divmod(np.where(plain, digits, 0), divisor)
    twice = 2 * rest
    whole += (twice > divisor) | ((twice == divisor) & (whole & 1 == 1))
    values = whole * power[np.minimum(np.maximum(7 - behind, 0), 7)]
    # with more than 15 digits after the point, the slow parser decides
    deep = behind > 15
    readable = plain & ~deep & ~beyond
    return _rest(block, starts, ends, Wholes(values, readable), ~plain | deep, slow)


def unix_times(block: Block, starts: Places, ends: Places, unit: int, slow: Whole) -> Wholes:
    """Parse times in units of 1/unit seconds since 1970."""
    digits, behind, plain = plain_decimals(block, starts, ends)
    plain &= behind == 0
    seconds = digits // unit
    readable = plain & (seconds >= MIN_TIME) & (seconds <= MAX_TIME)
    return _rest(block, starts, ends, Wholes(seconds, readable), ~plain, slow)


def iso_times(block: Block, starts: Places, ends: Places, zone: tzinfo, slow: Whole) -> Wholes:
    """Parse times like ``2010-10-12T00:21:28``, with optional fraction and offset."""
    chars, length = block.values, ends - starts
    plain = length >= 19

    def number(at: Places | int, width: int) -> NDArray[np.int64]:
        nonlocal plain
        result = np.zeros(len(starts), dtype=np.int64)
        for k in range(width):
            value = chars[places + at + k] - np.uint8(48)
            plain = plain & (value < 10)
            result *= 10
            result += value
        return result

    places = np.where(plain, starts, 0)  # values of other rows are not used
    for at, wanted in ((4, b"-"), (7, b"-"), (10, b"T "), (13, b":"), (16, b":")):
        char = chars[places + at]
        plain = plain & ((char == wanted[0]) | (char == wanted[-1]))
    year, month, day = number(0, 4), number(5, 2), number(8, 2)
    hour, minute, second = number(11, 2), number(14, 2), number(17, 2)
    tail, plain = _after_fraction(chars, starts, ends, plain)
    ahead, stated, plain = _offsets(chars, tail, ends, plain)
    right = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    right &= day <= _DAYS[np.where(right, month, 1)] + (leap & (month == 2))
    right &= (hour <= 23) & (minute <= 59) & (second <= 59)
    local = _days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    right &= plain & (local >= MIN_TIME) & (local <= MAX_TIME)
    unstated = np.flatnonzero(right & ~stated)
    if len(unstated):
        distinct, which = np.unique(local[unstated], return_inverse=True)
        if zone.utcoffset(None) is None:
            offsets = np.array([zone_offset(int(t), zone) for t in distinct], dtype=np.int64)
        else:
            offsets = np.full(len(distinct), zone_offset(0, zone), dtype=np.int64)
        ahead[unstated] = offsets[which]
    seconds = local - ahead
    readable = right & (seconds >= MIN_TIME) & (seconds <= MAX_TIME)
    return _rest(block, starts, ends, Wholes(seconds, readable), ~plain, slow)


def other_times(block: Block, starts: Places, ends: Places, slow: Whole) -> Wholes:
    """Parse times one by one."""
    nothing = np.zeros(len(starts), dtype=np.int64)
    none = nothing.astype(np.bool_)
    return _rest(block, starts, ends, Wholes(nothing, none), ~none, slow)


def same_as_before(block: Block, starts: Places, ends: Places) -> Mask:
    """Return for every row whether its bytes equal those of the previous row; False if long."""
    length = ends - starts
    same = np.zeros(len(starts), dtype=np.bool_)
    same[1:] = (length[1:] == length[:-1]) & (length[1:] <= PADDING)
    for at in range(0, min(int(length.max(initial=0)), PADDING), 8):
        left = np.clip(length - at, 0, 8)
        word = low_bytes(block, np.where(left > 0, starts + at, 0), left)
        same[1:] &= word[1:] == word[:-1]
    return same


def low_bytes(block: Block, starts: Places, lengths: Places) -> NDArray[np.uint64]:
    """Return up to eight bytes of each value as a little-endian integer."""
    # overlapping 8-byte windows at all positions of the block
    words = np.ndarray(len(block.raw) - 7, dtype="<u8", buffer=block.raw, strides=(1,))
    result: NDArray[np.uint64] = words[starts] & _LOW_BYTES[lengths]
    return result


def _after_fraction(chars: Bytes, starts: Places, ends: Places, plain: Mask) -> tuple[Places, Mask]:
    """Return the positions after fractional seconds, and the updated validity."""
    tail = np.where(plain, starts + 19, ends)
    parted = (tail < ends) & (chars[tail] == ord("."))
    if not parted.any():
        return tail, plain
    tail = tail + parted
    first = tail.copy()
    for _ in range(9):
        tail += parted & (tail < ends) & (chars[tail] - np.uint8(48) < 10)
    return tail, plain & (~parted | (tail > first))


def _offsets(
    chars: Bytes, tail: Places, ends: Places, plain: Mask
) -> tuple[NDArray[np.int64], Mask, Mask]:
    """Return UTC offsets in seconds, whether one is stated, and the updated validity."""
    left = ends - tail
    char = chars[tail]
    utc = (left == 1) & (char == ord("Z"))
    signed = (left == 5) | (left == 6)
    signed &= (char == ord("+")) | (char == ord("-"))
    ahead = np.zeros(len(tail), dtype=np.int64)
    if signed.any():
        at = np.where(signed, tail, 0)
        colon = signed & (left == 6)
        good = ~colon | (chars[at + 3] == ord(":"))
        parts = []
        for places in (at + 1, at + 3 + colon):
            tens, ones = chars[places] - np.uint8(48), chars[places + 1] - np.uint8(48)
            good &= (tens < 10) & (ones < 10)
            parts.append(tens.astype(np.int64) * 10 + ones)
        seconds = parts[0] * 3600 + parts[1] * 60
        seconds = np.where(char == ord("-"), -seconds, seconds)
        signed &= good & (parts[1] <= 59)
        signed &= (seconds >= MIN_OFFSET) & (seconds <= MAX_OFFSET)
        ahead = np.where(signed, seconds, 0)
    plain = plain & ((left == 0) | utc | signed)
    return ahead, utc | signed, plain


def _days(
    year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return days since 1970-01-01 in the Gregorian calendar."""
    late = month <= 2
    y = year - late
    era, of_era = np.divmod(y, 400)
    of_year = (153 * (month + np.where(late, 9, -3)) + 2) // 5 + day - 1
    result: NDArray[np.int64] = (
        era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
    )
    return result


def _rest(
    block: Block, starts: Places, ends: Places, fast: Wholes, others: Mask, slow: Whole
) -> Wholes:
    """Parse the remaining rows one by one."""
    readable = fast.readable
    values = np.where(readable, fast.values, 0)
    rows = np.flatnonzero(others)
    places = zip(rows.tolist(), starts[rows].tolist(), ends[rows].tolist(), strict=True)
    for row, first, end in places:
        value = slow(block.raw[first:end])
        readable[row] = value is not None
        values[row] = value or 0
    return Wholes(values, readable)


WholeReader = Callable[[Block, Places, Places], Wholes]


MAX_SPELLINGS = 1 << 20
"""Maximum number of cached spellings."""
_MAX_PACKED_LENGTH = 7
"""Ids up to this length are compared as one 64-bit number, with the length in the top byte."""

Codes = NDArray[np.int32]


class UserNumbers:
    """Assigns numbers to user ids in order of first occurrence.

    Parameters
    ----------
    text : callable
        Decodes an id; None or "" if it can't be read. Ids with equal texts are the same user.
    """

    def __init__(self, text: Callable[[bytes], str | None]) -> None:
        self._text = text
        self._numbers: dict[str, int] = {}
        self._spelt: dict[bytes, int] = {}
        self._keys = np.zeros(0, dtype=np.uint64)
        self._codes: Codes = np.zeros(0, dtype=np.int32)

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids."""
        return tuple(self._numbers)

    def codes(self, block: Block, starts: Places, ends: Places) -> Codes:
        """Return the user number of every row; −1 where the id can't be read."""
        new = np.flatnonzero(~same_as_before(block, starts, ends))
        first, end = starts[new], ends[new]
        result = np.empty(len(new), dtype=np.int32)
        short = end - first <= _MAX_PACKED_LENGTH
        result[short] = self._of_short(block, first[short], end[short])
        for k in np.flatnonzero(~short).tolist():
            result[k] = self._code(block.raw[first[k] : end[k]])
        return np.repeat(result, np.diff(np.append(new, len(starts))))

    def _of_short(self, block: Block, starts: Places, ends: Places) -> Codes:
        """Return the numbers of short ids from a sorted table, adding new spellings to it."""
        length = ends - starts
        keys = low_bytes(block, starts, length) | length.astype(np.uint64) << np.uint64(56)
        at = np.searchsorted(self._keys, keys)
        known = np.zeros(len(keys), dtype=np.bool_)
        inside = np.flatnonzero(at < len(self._keys))
        known[inside] = self._keys[at[inside]] == keys[inside]
        others, first = np.unique(keys[~known], return_index=True)
        if len(others):
            rows = np.flatnonzero(~known)[first]
            # numbers follow the order of occurrence, not the sort order
            codes = np.empty(len(others), dtype=np.int32)
            for k in np.argsort(rows).tolist():
                row = rows[k]
                codes[k] = self._code(block.raw[starts[row] : ends[row]])
            places = np.searchsorted(self._keys, others)
            self._keys = np.insert(self._keys, places, others)
            self._codes = np.insert(self._codes, places, codes)
            at = np.searchsorted(self._keys, keys)
        return self._codes[at]

    def _code(self, raw: bytes) -> int:
        code = self._spelt.get(raw)
        if code is None:
            text = self._text(raw)
            code = self._numbers.setdefault(text, len(self._numbers)) if text else -1
            if len(self._spelt) >= MAX_SPELLINGS:
                self._spelt.clear()
            self._spelt[raw] = code
        return code
