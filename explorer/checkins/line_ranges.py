"""Ascending line numbers of which there may be millions, kept as ranges."""

from array import array
from typing import Any

import numpy as np

LineArray = np.ndarray[Any, np.dtype[np.int64]]


class LineRanges:
    """Line numbers, added in ascending order; 16 bytes for every unbroken range of them."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._lengths = array("q")
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def add(self, start: int, length: int = 1) -> None:
        """Add the lines from one on."""
        self._total += length
        if self._starts and self._starts[-1] + self._lengths[-1] == start:
            self._lengths[-1] += length
        else:
            self._starts.append(start)
            self._lengths.append(length)

    def add_many(self, lines: LineArray) -> None:
        """Add lines, ascending and greater than all before."""
        if not lines.size:
            return
        first = np.concatenate([[0], np.flatnonzero(np.diff(lines) != 1) + 1])
        starts = lines[first].astype(np.int64)
        lengths = np.diff(first, append=lines.size).astype(np.int64)
        self.add(int(starts[0]), int(lengths[0]))
        self._starts.frombytes(starts[1:].tobytes())
        self._lengths.frombytes(lengths[1:].tobytes())
        self._total += int(lengths[1:].sum())

    def follow(self, others: "LineRanges", shift: int) -> None:
        """Add the lines of others, so much further on: all greater than these."""
        starts, lengths = others.arrays()
        self._starts.frombytes((starts + shift).tobytes())
        self._lengths.frombytes(lengths.tobytes())
        self._total += len(others)

    def arrays(self) -> tuple[LineArray, LineArray]:
        """Return where the ranges start, and how many lines each has."""
        return np.array(self._starts, np.int64), np.array(self._lengths, np.int64)


def merged(*parts: LineRanges) -> tuple[LineArray, LineArray]:
    """Return the ranges of several sets without a line in common, ascending."""
    pairs = [part.arrays() for part in parts]
    starts = np.concatenate([start for start, _ in pairs])
    lengths = np.concatenate([length for _, length in pairs])
    order = np.argsort(starts, kind="stable")
    return starts[order], lengths[order]


def shifts(starts: LineArray, lengths: LineArray) -> tuple[LineArray, LineArray]:
    """Return from which row on how many lines lie before a row that are no rows.

    Rows are numbered from 1, and the line of a row is its number plus the shift of the last step
    that is not above it.

    Parameters
    ----------
    starts, lengths : arrays
        Ranges of lines that are no rows, ascending.

    Returns
    -------
    (steps, shift) : arrays
        Steps ascending, each once.
    """
    after = np.cumsum(lengths)
    steps = starts - (after - lengths)
    last = np.diff(steps, append=np.iinfo(np.int64).max) != 0
    return steps[last], after[last]


def lines_up_to(starts: LineArray, lengths: LineArray, line: int) -> int:
    """Return how many lines of the ranges have a number up to this one."""
    place = int(np.searchsorted(starts, line, side="right"))
    if not place:
        return 0
    inside = min(line - int(starts[place - 1]) + 1, int(lengths[place - 1]))
    return int(lengths[: place - 1].sum()) + inside
