"""What reading a file finds beside its rows: blank, malformed and continued lines, and damage."""

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.checkins.line_ranges import LineArray, LineRanges, merged
from explorer.checkins.model import Reason

EXAMPLES = 20
"""Lines of each reason that a report shows."""

EXAMPLE_LENGTH = 500
"""Characters of a line that a report shows."""


@dataclass
class Damage:
    """What is wrong with an archive.

    Attributes
    ----------
    notes : list of str
        Sentences for the person who opened it: what was read, and how far it can be trusted.
    cut : bool
        Whether the contents end where they should not, so that a last line may be half a line.
    """

    notes: list[str] = field(default_factory=list)
    cut: bool = False


class MalformedLines:
    """Lines that must not reach the reader, each with its reason: 9 bytes a line."""

    def __init__(self) -> None:
        self.ranges = LineRanges()
        self._lines = array("q")
        self._codes = array("B")

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: int, reason: Reason) -> None:
        """Add a line after all others."""
        self.ranges.add(line)
        self._lines.append(line)
        self._codes.append(reason.code)

    def follow(self, others: "MalformedLines", shift: int) -> None:
        """Add the lines of another file, so much further on."""
        self.ranges.follow(others.ranges, shift)
        lines, codes = others.arrays()
        self._lines.frombytes((lines + shift).tobytes())
        self._codes.frombytes(codes.tobytes())

    def arrays(self) -> tuple[LineArray, np.ndarray[Any, np.dtype[np.uint8]]]:
        """Return numbers and codes."""
        return np.array(self._lines, np.int64), np.array(self._codes, np.uint8)


@dataclass
class Scan:
    """What a pass over the lines found.

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
        sha256 of the file as it is on disk; empty if it was not asked for.
    damage : Damage
        What is wrong with an archive.
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
        """Return ranges (start, length) of all lines that are no rows to the reader, ascending."""
        return merged(self.blank, self.malformed.ranges, self.joined, self.names, self.before)

    def follow(self, part: "Scan") -> None:
        """Add what was found in a file whose lines come after all others."""
        shift = self.lines
        self.blank.follow(part.blank, shift)
        self.joined.follow(part.joined, shift)
        self.names.follow(part.names, shift)
        self.before.follow(part.before, shift)
        self.malformed.follow(part.malformed, shift)
        self.lines += part.lines

    def not_copied(self) -> tuple[LineArray, LineArray]:
        """Return ranges (start, length) of the lines below the names that a copy lacks."""
        return merged(self.malformed.ranges, self.joined, self.dropped)
