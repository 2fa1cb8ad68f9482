"""The words check-in files are described in: columns, previews, reports, point sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from explorer.geography.plane import Plane

Box = tuple[float, float, float, float]
"""South, west, north, east in degrees."""

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IndexArray = np.ndarray[Any, np.dtype[np.uint32]]


class Format(StrEnum):
    """How the rows of a file are written."""

    SNAP = "snap"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


class Reason(StrEnum):
    """Why a row is rejected; a row failing several checks is counted under the first."""

    TOO_MANY_FIELDS = "too_many_fields"
    TOO_FEW_FIELDS = "too_few_fields"
    BLANK_FIELD = "blank_field"
    BAD_TIME = "bad_time"
    NOT_A_NUMBER = "not_a_number"
    NOT_FINITE = "not_finite"
    ZERO_ZERO = "zero_zero"
    OUT_OF_RANGE = "out_of_range"
    BAD_WEIGHT = "bad_weight"
    DUPLICATE = "duplicate"
    LINE_TOO_LONG = "line_too_long"
    INVALID_BYTES = "invalid_bytes"
    CONTROL_CHARACTER = "control_character"
    BROKEN_QUOTES = "broken_quotes"
    CUT_OFF = "cut_off"
    X_OUTSIDE = "x_outside"
    Y_OUTSIDE = "y_outside"

    @property
    def code(self) -> int:
        """The number under which a row of this reason is stored; 0 is a kept row."""
        return list(Reason).index(self) + 1

    @property
    def sentence(self) -> str:
        """What is wrong with such a row, for people."""
        return _SENTENCES[self]

    def said(self, mapping: Mapping) -> str:
        """Return what is wrong with such a row of a file read this way, for people."""
        text = self.sentence
        for words, on_a_plane in _ON_A_PLANE if mapping.planar else ():
            text = text.replace(words, on_a_plane)
        image = mapping.image is not None and self is Reason.BLANK_FIELD
        return text.replace("user,", "user, image,") if image else text

    @staticmethod
    def of(code: int) -> Reason:
        """Return the reason stored under a code."""
        return list(Reason)[code - 1]


_SENTENCES = {
    Reason.TOO_MANY_FIELDS: "has more fields than the other lines",
    Reason.TOO_FEW_FIELDS: "has fewer fields than the other lines",
    Reason.BLANK_FIELD: "user, time, latitude, longitude or weight is blank",
    Reason.BAD_TIME: "the time can't be read, or its year is outside 1900–2199",
    Reason.NOT_A_NUMBER: "latitude or longitude is not a number",
    Reason.NOT_FINITE: "latitude or longitude is infinite or not a number (NaN)",
    Reason.ZERO_ZERO: "the position is (0, 0), which devices report when they don't know it",
    Reason.OUT_OF_RANGE: "latitude is outside −90…90 or longitude outside −180…180",
    Reason.BAD_WEIGHT: "the weight is not a positive number between 10⁻¹⁰⁰ and 10¹⁰⁰",
    Reason.DUPLICATE: "repeats an earlier row: same user, time, latitude, longitude and location",
    Reason.LINE_TOO_LONG: "is longer than 1 MB",
    Reason.INVALID_BYTES: "holds bytes that are not valid in the file's encoding",
    Reason.CONTROL_CHARACTER: "holds a control character: NUL, stray carriage return or separator",
    Reason.BROKEN_QUOTES: "has a double quote inside a field, or one that is never closed",
    Reason.CUT_OFF: "is cut off where the archive breaks",
    Reason.X_OUTSIDE: "x lies outside the declared range: correct it, or declare a wider one",
    Reason.Y_OUTSIDE: "y lies outside the declared range: correct it, or declare a higher one",
}
_ON_A_PLANE = (("latitude or longitude", "x or y"), ("latitude, longitude", "x, y"))


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which column holds what, counted from 0; None where there is no such column.

    Attributes
    ----------
    user, lat, lon : int or None
        Needed before a file can be loaded.
    time, location, weight : int or None
        Without a time column nothing is a duplicate; without a weight every row counts 1.
    time_format : str
        ``"iso"`` (offsets honoured, none means UTC), ``"epoch_s"``, ``"epoch_ms"``, ``"epoch_us"``,
        or a strptime format.
    plane : str or None
        The plane that is not the Earth as `explorer.geography.plane.Plane.text`; empty while its
        range is not declared. Then `lat` and `lon` are the columns of y and x.
    image : int or None
        Of such a plane: which picture a row is about.
    """

    user: int | None = None
    time: int | None = None
    lat: int | None = None
    lon: int | None = None
    location: int | None = None
    weight: int | None = None
    time_format: str = "iso"
    # Not in what keys of the cache are made of unless they are there: old entries stay valid.
    plane: str | None = field(default=None, repr=False)
    image: int | None = field(default=None, repr=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """Needed columns that nobody has named yet."""
        names = ("user", "y", "x") if self.planar else ("user", "latitude", "longitude")
        pairs = zip(names, (self.user, self.lat, self.lon), strict=True)
        return tuple(name for name, column in pairs if column is None)

    @property
    def planar(self) -> bool:
        """Whether positions lie in a plane that is not the Earth."""
        return self.plane is not None

    @property
    def plane_there(self) -> Plane | None:
        """The plane, once its range is declared."""
        return Plane.parse(self.plane) if self.plane else None

    def stored(self) -> dict[str, Any]:
        """Return the fields as JSON values; those of planes only for planes."""
        kept = asdict(self)
        for name in ("plane", "image"):
            if kept[name] is None:
                del kept[name]
        return kept

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns in use."""
        used = (
            self.user, self.time, self.lat, self.lon, self.location, self.weight, self.image
        )  # fmt: skip
        return tuple(column for column in used if column is not None)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How text turns into fields.

    Attributes
    ----------
    format : str
        A `Format`, or the key of another reader.
    delimiter : str
        One character; empty if it is no text.
    encoding : str
        ``utf-8``, ``utf-8-sig``, ``utf-16`` or ``latin-1``.
    has_header : bool
        Whether the first line that isn't blank holds names.
    quoted : bool
        Whether double quotes enclose fields. Never in SNAP text.
    compressed : bool
        Whether the file is a gzip archive.
    line_end : str
        A newline (with or without a carriage return before it), or a lone carriage return.
    decimal : str
        What stands before a number's fraction: a point or, unless it delimits fields, a comma.
    """

    format: str
    delimiter: str
    encoding: str = "utf-8"
    has_header: bool = False
    quoted: bool = False
    compressed: bool = False
    line_end: str = "\n"
    decimal: str = "."

    @property
    def reader(self) -> str:
        """The key of the reader (`readers.READERS`) that reads such files."""
        return "text" if self.format in (Format.SNAP, Format.CSV, Format.TSV) else self.format

    @property
    def needs_copy(self) -> bool:
        """Whether the reader can't be given the file as it is."""
        return self.compressed or self.encoding in ("utf-16", "latin-1") or self.line_end != "\n"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a look at the beginning of a file says about it.

    Attributes
    ----------
    basename : str
    size : int
        Bytes on disk.
    dialect : Dialect
    columns : tuple of str
        Names from the header, or ``column 1``, ``column 2``, ….
    rows : tuple of tuple of str
        The first rows (at most 50) as text, without the header.
    mapping : Mapping
        The best guess, by name first and content second.
    confidence : float
        Share of the rows looked at that the guess would keep, 0…1; 0 if a needed column is
        missing.
    problems : tuple of str
        What somebody should look at, in sentences.
    """

    basename: str
    size: int
    dialect: Dialect
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    mapping: Mapping
    confidence: float
    problems: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """How the rows are written."""
        return self.dialect.format

    @property
    def delimiter(self) -> str:
        """The character between two fields."""
        return self.dialect.delimiter

    @property
    def encoding(self) -> str:
        """How bytes turn into characters."""
        return self.dialect.encoding

    @property
    def has_header(self) -> bool:
        """Whether the first line holds names."""
        return self.dialect.has_header


@dataclass(frozen=True, slots=True)
class Progress:
    """How far loading has come.

    Attributes
    ----------
    stage : str
        What is being done, in words for a label.
    rows : int
        Lines seen so far.
    bytes_done, bytes_total : int
        Of the file on disk.
    seconds_left : float or None
        Estimate; None while there is nothing to estimate from.
    fraction : float
        Share of the whole work done, 0…1.
    """

    stage: str
    rows: int
    bytes_done: int
    bytes_total: int
    seconds_left: float | None
    fraction: float


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Example:
    """One line that was rejected: its number (from 1) and text (cut at 500 characters)."""

    line: int
    text: str


@dataclass(frozen=True)
class LoadReport:
    """What became of every line.

    Always ``physical_lines = header + blank + kept + Σ set_aside + continued``.

    Attributes
    ----------
    physical_lines : int
        Lines in the decompressed file; a last line without an end counts. Rows for Parquet.
    header : int
        0 or 1.
    blank : int
        Lines with nothing on them.
    kept : int
    set_aside : dict of Reason to int
        Only reasons that occurred, in the order of `Reason`.
    examples : dict of Reason to tuple of Example
        The first lines of each reason.
    notes : tuple of str
        What else happened: truncated archive, encoding.
    continued : int
        Lines that continue a quoted field begun on the line before (quoted CSV only, else 0).
    seconds : float
        How long loading took.
    """

    physical_lines: int
    header: int
    blank: int
    kept: int
    set_aside: dict[Reason, int]
    examples: dict[Reason, tuple[Example, ...]]
    notes: tuple[str, ...] = ()
    continued: int = 0
    seconds: float = 0.0

    @property
    def accounted(self) -> int:
        """Lines of which it is known what became of them: all, or the load has failed."""
        return self.header + self.blank + self.kept + self.total_set_aside + self.continued

    @property
    def total_set_aside(self) -> int:
        """Lines rejected for any reason."""
        return sum(self.set_aside.values())


@dataclass(frozen=True)
class PointSet:
    """Check-ins inside a region and a time range, of all or of some sampled users.

    The region is closed: a row exactly on its northern or eastern edge is inside, and belongs to
    the last cell of any grid laid over the region.

    Attributes
    ----------
    user : ndarray of uint32, shape (rows,)
        Dense index 0…users_used−1 of the row's user, in the order of the user ids (numeric if all
        ids are whole numbers, else by code point).
    lat, lon : ndarray of float64, shape (rows,)
        Degrees; of another plane y (−y where it goes down) and x in its unit.
    weight : ndarray of float64, shape (rows,)
        1 where the file has no weights.
    users_in_file, users_in_region, users_used : int
        Users with ≥ 1 kept row at all; inside region and time range; sampled of these.
    """

    user: IndexArray
    lat: FloatArray
    lon: FloatArray
    weight: FloatArray
    users_in_file: int
    users_in_region: int
    users_used: int

    @property
    def rows(self) -> int:
        """Check-ins in the set."""
        return int(self.lat.size)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a partition and how busy it is. Computed from real data: not private."""

    box: Box
    rows: int
    users: int
