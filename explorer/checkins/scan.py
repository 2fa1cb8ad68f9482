"""Line accounting of a pass over a file: blank, malformed and continued lines, damage."""

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.checkins.model import Reason

LineArray = np.ndarray[Any, np.dtype[np.int64]]


class LineRanges:
    """Ascending line numbers stored as ranges; 16 bytes per contiguous range."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._lengths = array("q")
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def add(self, start: int, length: int = 1) -> None:
        """Add lines starting at a number."""
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
        """Append shifted lines of another set; all must be larger than these."""
        starts, lengths = others.arrays()
        self._starts.frombytes((starts + shift).tobytes())
        self._lengths.frombytes(lengths.tobytes())
        self._total += len(others)

    def arrays(self) -> tuple[LineArray, LineArray]:
        """Return starts and lengths of the ranges."""
        return np.array(self._starts, np.int64), np.array(self._lengths, np.int64)


def merge_ranges(*parts: LineRanges) -> tuple[LineArray, LineArray]:
    """Return the ascending ranges of several disjoint sets."""
    pairs = [part.arrays() for part in parts]
    starts = np.concatenate([start for start, _ in pairs])
    lengths = np.concatenate([length for _, length in pairs])
    order = np.argsort(starts, kind="stable")
    return starts[order], lengths[order]


def shifts(starts: LineArray, lengths: LineArray) -> tuple[LineArray, LineArray]:
    """Return for which rows how many non-row lines lie before.

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
    """Return how many lines of the ranges are ≤ a line number."""
    place = int(np.searchsorted(starts, line, side="right"))
    if not place:
        return 0
    inside = min(line - int(starts[place - 1]) + 1, int(lengths[place - 1]))
    return int(lengths[: place - 1].sum()) + inside


EXAMPLES = 20
"""Maximum number of examples per reason in a report."""

EXAMPLE_LENGTH = 500
"""Maximum length of an example in characters."""


@dataclass
class Damage:
    """Damage found in an archive.

    Attributes
    ----------
    notes : list of str
        Sentences for the user: which part was read, and whether it can be trusted.
    cut : bool
        Whether the contents end where they should not, so that a last line may be half a line.
    """

    notes: list[str] = field(default_factory=list)
    cut: bool = False


class MalformedLines:
    """Lines withheld from the reader, each with its reason; 9 bytes per line."""

    def __init__(self) -> None:
        self.ranges = LineRanges()
        self._lines = array("q")
        self._codes = array("B")

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: int, reason: Reason) -> None:
        """Append a line, larger than all others."""
        self.ranges.add(line)
        self._lines.append(line)
        self._codes.append(reason.code)

    def follow(self, others: "MalformedLines", shift: int) -> None:
        """Append the shifted lines of another file."""
        self.ranges.follow(others.ranges, shift)
        lines, codes = others.arrays()
        self._lines.frombytes((lines + shift).tobytes())
        self._codes.frombytes(codes.tobytes())

    def arrays(self) -> tuple[LineArray, np.ndarray[Any, np.dtype[np.uint8]]]:
        """Return line numbers and reason codes."""
        return np.array(self._lines, np.int64), np.array(self._codes, np.uint8)


@dataclass
class Scan:
    """Result of a pass over the lines of a file.

    Attributes
    ----------
    lines : int
        Physical lines; a last line without an end counts.
    blank : LineRanges
        Lines with nothing on them.
    dropped : LineRanges
        Those of them that are not in a copy.
    malformed : MalformedLines
        Lines that must not reach the reader.
    joined : LineRanges
        Lines that continue a quoted field begun on an earlier line; they are no rows of their own.
    names : LineRanges
        The lines with the names of the columns, if there are any.
    before : LineRanges
        Other lines above the first row that are not blank: titles, comments, units.
    malformed_texts : dict of int to bytes
        Beginnings of the first malformed lines of each reason.
    checkpoints : list of (int, int)
        Lines before a block, and where it begins in the file the reader is given.
    fingerprint : str
        sha256 of the file as it is on disk; empty if it was not requested.
    damage : Damage
        Damage of an archive.
    """

    lines: int = 0
    blank: LineRanges = field(default_factory=LineRanges)
    dropped: LineRanges = field(default_factory=LineRanges)
    malformed: MalformedLines = field(default_factory=MalformedLines)
    joined: LineRanges = field(default_factory=LineRanges)
    names: LineRanges = field(default_factory=LineRanges)
    before: LineRanges = field(default_factory=LineRanges)
    malformed_texts: dict[int, bytes] = field(default_factory=dict)
    checkpoints: list[tuple[int, int]] = field(default_factory=list)
    fingerprint: str = ""
    damage: Damage = field(default_factory=Damage)

    def skipped(self) -> tuple[LineArray, LineArray]:
        """Return ascending ranges (start, length) of all lines that the reader does not see."""
        return merge_ranges(self.blank, self.malformed.ranges, self.joined, self.names, self.before)

    def follow(self, part: "Scan") -> None:
        """Append the result of a file whose lines follow."""
        shift = self.lines
        self.blank.follow(part.blank, shift)
        self.joined.follow(part.joined, shift)
        self.names.follow(part.names, shift)
        self.before.follow(part.before, shift)
        self.malformed.follow(part.malformed, shift)
        self.lines += part.lines

    def not_copied(self) -> tuple[LineArray, LineArray]:
        """Return ranges (start, length) of the lines below the header missing in a copy."""
        return merge_ranges(self.malformed.ranges, self.joined, self.dropped)
