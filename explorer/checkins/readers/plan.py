"""What is to be read, and how: fixed before a load begins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from explorer.checkins.model import Dialect, Mapping
from explorer.checkins.readers.line_scanner import WIDE
from explorer.checkins.readers.quoted import RowShape


@dataclass(frozen=True)
class Plan:
    """One file and how it is read.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    path : Path
        Where it can be read; perhaps a link.
    dialect : Dialect
    mapping : Mapping
        With user (or unit), lat and lon.
    width : int
        Fields of a line.
    duplicates : bool
        Whether rows that repeat an earlier one are rejected.
    fingerprint : bool
        Whether the sha256 is taken.
    added : tuple of (str or None)
        Columns behind the fields, the same in every row: what the file's folders are called.
    text_ids : bool
        Whether user ids stay text even if all are whole numbers.
    part : int
        Which of several files it is, from 0.
    """

    name: str
    path: Path
    dialect: Dialect
    mapping: Mapping
    width: int
    duplicates: bool
    fingerprint: bool
    added: tuple[str | None, ...] = ()
    text_ids: bool = False
    part: int = 0

    def at(self, path: Path) -> Plan:
        """Return the same plan for a path that leads to the same file."""
        return replace(self, path=path)

    @property
    def wide(self) -> bool:
        """Whether fields are counted by the pass over the lines, and the last ones not read."""
        return self.width > WIDE

    @property
    def fields_read(self) -> int:
        """How many fields of a line are given to the reader."""
        mapped = max(c for c in self.mapping.columns if c < self.width) + 1
        return mapped if self.wide else self.width

    @property
    def shape(self) -> RowShape:
        """What a line looks like that is a row."""
        mapping, dialect = self.mapping, self.dialect
        assert mapping.lat is not None
        assert mapping.lon is not None
        plane, limits = mapping.plane_there, (90.0, 180.0)
        if mapping.crs:
            limits = math.inf, math.inf
        if plane is not None:
            limits = max(-plane.low, plane.high), max(-plane.left, plane.right)
        if mapping.order:
            return RowShape(self.width, dialect.delimiter, dialect.decimal)
        degrees = ((mapping.lat, limits[0]), (mapping.lon, limits[1]))
        return RowShape(self.width, dialect.delimiter, dialect.decimal, degrees)
