"""Numbering of user ids in order of first occurrence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from explorer.release.rows.vectors import Block, Places, low_bytes, same_as_before

KEPT = 1 << 20
"""Maximum number of cached spellings."""
_SHORT = 7
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
        short = end - first <= _SHORT
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
            if len(self._spelt) >= KEPT:
                self._spelt.clear()
            self._spelt[raw] = code
        return code
