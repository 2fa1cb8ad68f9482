"""Data model of check-in files: mappings, dialects, previews, questions, reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from explorer.geography.plane import Plane
from explorer.user_rows import Box as Box


class CoordinateKind(Protocol):
    """Properties of a `Mapping` that descriptions of reasons depend on."""

    @property
    def planar(self) -> bool:
        """Whether positions are in a plane that is not the Earth."""
        ...

    @property
    def image(self) -> int | None:
        """Column of the image a row belongs to."""
        ...


class Reason(StrEnum):
    """Reasons for rejecting a row; a row with several faults counts under the first."""

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
    THOUSANDS = "thousands"
    NO_GEOMETRY = "no_geometry"
    NOT_A_POINT = "not_a_point"
    NOT_CONVERTED = "not_converted"
    FORMULA = "formula"
    NOT_A_RECORD = "not_a_record"

    @property
    def code(self) -> int:
        """Stored code of the reason; 0 is a valid row."""
        return list(Reason).index(self) + 1

    @property
    def sentence(self) -> str:
        """Description for users."""
        return _SENTENCES[self]

    def describe(self, mapping: CoordinateKind) -> str:
        """Return the description for users, for a file read with this mapping."""
        text = self.sentence
        for words, on_a_plane in _ON_A_PLANE if mapping.planar else ():
            text = text.replace(words, on_a_plane)
        image = mapping.image is not None and self is Reason.BLANK_FIELD
        return text.replace("user,", "user, image,") if image else text

    @staticmethod
    def of(code: int) -> Reason:
        """Return the reason of a stored code."""
        return list(Reason)[code - 1]


_SENTENCES = {
    Reason.TOO_MANY_FIELDS: "has more fields than the other lines",
    Reason.TOO_FEW_FIELDS: "has fewer fields than the other lines",
    Reason.BLANK_FIELD: "user, time, latitude, longitude or weight is blank",
    Reason.BAD_TIME: "the time can't be read, or its year is outside 1932–2067",
    Reason.NOT_A_NUMBER: "latitude or longitude is not a number",
    Reason.NOT_FINITE: "latitude or longitude is infinite or not a number (NaN)",
    Reason.ZERO_ZERO: "the position is (0, 0), which devices report when they don't know it",
    Reason.OUT_OF_RANGE: "latitude is outside −90…90 or longitude outside −180…180",
    Reason.BAD_WEIGHT: "the weight is not a positive number between 10⁻¹⁰⁰ and 10¹⁰⁰",
    Reason.DUPLICATE: "repeats an earlier row: same user, time, latitude, longitude and location",
    Reason.LINE_TOO_LONG: "is longer than 1 MB",
    Reason.INVALID_BYTES: "holds bytes that are not valid in the file's encoding",
    Reason.CONTROL_CHARACTER: "holds a control character: NUL, stray carriage return or separator",
    Reason.BROKEN_QUOTES: "has a double quote inside a field, or one that is never closed: "
    "write a quote inside quotes twice",
    Reason.CUT_OFF: "is cut off where the archive breaks",
    Reason.X_OUTSIDE: "x lies outside the declared range: correct it, or declare a wider one",
    Reason.Y_OUTSIDE: "y lies outside the declared range: correct it, or declare a higher one",
    Reason.THOUSANDS: "a number has separators of thousands: write it without them, as 1234.5",
    Reason.NO_GEOMETRY: "has no geometry, or an empty one",
    Reason.NOT_A_POINT: "the geometry is a line, an area or several points; a check-in is one",
    Reason.NOT_CONVERTED: "x and y lie outside what their reference system is made for",
    Reason.NOT_A_RECORD: "is not a JSON object with named values",
    Reason.FORMULA: "a cell in use has a formula without its result: save it in a spreadsheet",
}
_ON_A_PLANE = (("latitude or longitude", "x or y"), ("latitude, longitude", "x, y"))


FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IndexArray = np.ndarray[Any, np.dtype[np.uint32]]


class Format(StrEnum):
    """Text formats and Parquet."""

    SNAP = "snap"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


E7 = "E7"
"""`Mapping.crs` of degrees of WGS 84 times ten million, as in ``latitudeE7``."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Columns by role, counted from 0, and how their values are read; None for no column.

    Attributes
    ----------
    user, lat, lon : int or None
        Needed before a file can be loaded.
    time, location, weight : int or None
        Without a time column nothing is a duplicate; without a weight every row counts 1.
    time_format : str
        ``"iso"`` (offsets honoured, none means UTC), ``"epoch_s"``, ``"epoch_ms"``, ``"epoch_us"``,
        ``"epoch_ns"``, ``"excel_1900"``, ``"excel_1904"`` (serial dates of a spreadsheet), or a
        strptime format.
    zone : str or None
        IANA name of the time zone of times without an offset; None means UTC.
    decimal : str or None
        Decimal sign, if the user chose one; else it is detected.
    encoding : str or None
        Text encoding, if the user chose one; else it is detected.
    delimiter : str or None
        Character between fields, if the user chose one; else it is detected.
    header : int or None
        Line with the names of the columns, from 1, if the user chose one, or 0 for none; else it
        is detected.
    plane : str or None
        The plane that is not the Earth as `explorer.geography.plane.Plane.text`; empty while its
        range is not declared. Then `lat` and `lon` are the columns of y and x.
    image : int or None
        Of such a plane: which picture a row is about.
    order : str or None
        Where one column holds both coordinates, so that `lat` and `lon` are the same: ``latlon`` or
        ``lonlat``.
    crs : str or None
        The reference system that `lon` (x, easting) and `lat` (y, northing) are converted from,
        such as ``EPSG:25832``; `E7` for degrees times ten million; None for degrees of WGS 84,
        empty while it is not known.
    unit : str or None
        The privacy unit of a file without a user column: ``"row"`` (every row is a user of its
        own) or ``"file"`` (all rows are one user). None with a user column, whose values are the
        users, and while the question is open.
    """

    user: int | None = None
    time: int | None = None
    lat: int | None = None
    lon: int | None = None
    location: int | None = None
    weight: int | None = None
    time_format: str = "iso"
    # Part of cache keys only if they are set, so that entries of earlier versions stay valid.
    plane: str | None = field(default=None, repr=False)
    image: int | None = field(default=None, repr=False)
    zone: str | None = field(default=None, repr=False)
    decimal: str | None = field(default=None, repr=False)
    encoding: str | None = field(default=None, repr=False)
    crs: str | None = field(default=None, repr=False)
    unit: str | None = field(default=None, repr=False)
    order: str | None = field(default=None, repr=False)
    delimiter: str | None = field(default=None, repr=False)
    header: int | None = field(default=None, repr=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """Required columns that are not assigned."""
        names = ("user", "y", "x") if self.planar else ("user", "latitude", "longitude")
        user = self.user if self.unit is None else self.unit
        pairs = zip(names, (user, self.lat, self.lon), strict=True)
        return tuple(name for name, result in pairs if result is None)

    @property
    def may_repeat(self) -> bool:
        """Whether rows can be duplicates: there is a time, and users may have several rows."""
        return self.time is not None and self.unit != "row"

    @property
    def planar(self) -> bool:
        """Whether positions are in a plane that is not the Earth."""
        return self.plane is not None

    @property
    def plane_there(self) -> Plane | None:
        """The plane, if its range is declared."""
        return Plane.parse(self.plane) if self.plane else None

    def stored(self) -> dict[str, Any]:
        """Return the fields as JSON values; later additions only if they are set."""
        return {k: v for k, v in asdict(self).items() if k not in _LATER_FIELDS or v is not None}

    @property
    def settings(self) -> list[str]:
        """Settings that distinguish cache entries."""
        later = [f"{name}={self.stored()[name]}" for name in _LATER_FIELDS if name in self.stored()]
        return [repr(self), *later]

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns in use, each once."""
        names = (name for name in COLUMN_FIELDS if name != "lon" or not self.order)
        used = (getattr(self, name) for name in names)
        return tuple(column for column in used if column is not None)


COLUMN_FIELDS = ("user", "time", "lat", "lon", "location", "weight", "image")
"""Fields of a mapping that are columns."""

_LATER_FIELDS = (
    "plane",
    "image",
    "zone",
    "decimal",
    "encoding",
    "crs",
    "unit",
    "order",
    "delimiter",
    "header",
)
"""Fields added later; left out of cache keys unless they are set, so that keys stay."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How text is split into fields.

    Attributes
    ----------
    format : str
        A `Format`, or the key of another reader.
    delimiter : str
        One character; empty if it is no text.
    encoding : str
        A codec of `explorer.checkins.parsing.encodings.NAMES`.
    has_header : bool
        Whether there is a line with names above the rows.
    quoted : bool
        Whether double quotes enclose fields. Never in SNAP text.
    compressed : bool
        Whether the file is a gzip archive.
    line_end : str
        A newline (with or without a carriage return before it), or a lone carriage return.
    decimal : str
        Decimal sign: a point or, unless it delimits fields, a comma.
    layer : str
        Which layer or sheet, in files that may have several.
    lines_before_header : int
        Physical lines of text above the header that are no rows, blank ones included: titles,
        comments, ``sep=;``. Without a header, lines above the rows.
    header_lines : int
        Physical lines of the header; several if a quoted name holds a line end.
    lines_after_header : int
        Lines that are not blank between header and rows: units, or names again.
    unpack : bool
        Whether the user confirmed that the file may unpack to any multiple of its size.
    """

    format: str
    delimiter: str
    encoding: str = "utf-8"
    has_header: bool = False
    quoted: bool = False
    compressed: bool = False
    line_end: str = "\n"
    decimal: str = "."
    layer: str = field(default="", repr=False)  # see `Mapping.plane`
    lines_before_header: int = 0
    header_lines: int = 1
    lines_after_header: int = 0
    unpack: bool = field(default=False, repr=False, compare=False)  # not how fields are read

    @property
    def reader(self) -> str:
        """Key of the reader (`readers.READERS`) for such files."""
        return "text" if self.format in (Format.SNAP, Format.CSV, Format.TSV) else self.format

    @property
    def lines_above(self) -> int:
        """Number of physical lines above the first row, without blank ones around the header."""
        header = self.header_lines if self.has_header else 0
        return self.lines_before_header + header + self.lines_after_header

    @property
    def needs_copy(self) -> bool:
        """Whether the reader needs a converted copy of the file."""
        decoded = self.encoding not in ("utf-8", "utf-8-sig")
        return self.compressed or decoded or self.line_end != "\n"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer to a question about a file.

    Attributes
    ----------
    text : str
        Names of columns, or a setting in words.
    fields : tuple of (str, object)
        Fields of `Mapping` or `Dialect` that the answer sets, with their values.
    example : str
        A value from the file, or how such a value is read.
    """

    text: str
    fields: tuple[tuple[str, Any], ...]
    example: str = ""

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns named by the answer, counted from 0, each once."""
        indices = (value for name, value in self.fields if name in COLUMN_FIELDS)
        return tuple(dict.fromkeys(column for column in indices if column is not None))


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a file that must be answered before loading.

    Attributes
    ----------
    key : str
        ``user``, ``position``, ``time``, ``time_format``, ``crs``, ``plane`` or ``layer``; new
        kinds of questions add their own.
    title : str
        The question, on one line.
    text : str
        Reason for the question.
    fields : tuple of str
        Fields of `Mapping` or `Dialect`; the question is answered once all of them are given.
    candidates : tuple of Candidate
        The likeliest first; there may be other answers, and there may be none here.
    preselected : int or None
        Index of the candidate that a dialog selects until the user confirms it.
    """

    key: str
    title: str
    text: str
    fields: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    preselected: int | None = 0

    @property
    def suggestion(self) -> Candidate | None:
        """The preselected candidate."""
        if self.preselected is None or self.preselected >= len(self.candidates):
            return None
        return self.candidates[self.preselected]

    def suggests(self, fields: Sequence[tuple[str, Any]]) -> Question:
        """Return the question with the candidate preselected that sets these fields, if any."""
        matches = [i for i, one in enumerate(self.candidates) if one.fields == tuple(fields)]
        return replace(self, preselected=matches[0]) if matches else self

    def answered_by(self, given: Collection[str]) -> bool:
        """Return whether the given fields answer the question."""
        answers = (self.fields, *([name for name, _ in one.fields] for one in self.candidates))
        return any(set(given).issuperset(fields) for fields in answers)

    @property
    def sentence(self) -> str:
        """Title, reason and likely answers on one line."""
        likely = "; ".join(one.text for one in self.candidates)
        return f"{self.title} {self.text}" + (f" Perhaps {likely}." if likely else "")


def with_suggestions(mapping: Mapping, questions: Sequence[Question]) -> Mapping:
    """Return a mapping completed with the preselected answers to questions."""
    suggestions = (question.suggestion for question in questions)
    fields = dict(pair for one in suggestions if one is not None for pair in one.fields)
    return replace(mapping, **{k: v for k, v in fields.items() if k in asdict(mapping)})


@dataclass(frozen=True, slots=True)
class Preview:
    """Result of inspecting the beginning of a file.

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
        Guess from the names, and then the contents, of columns. Columns with an open question are
        not mapped; `suggested` has the preselected answers, too.
    confidence : float
        Share of the inspected rows that are valid with the guess, 0…1; 0 if a needed column is
        missing.
    problems : tuple of str
        Doubts about the file, as sentences.
    added : int
        Number of columns, at the end, that come from the names of folders.
    questions : tuple of Question
        Open questions: the mapping must not be used without the answers.
    layers : tuple of str
        Layers or sheets that may contain check-ins, if there are several.
    sample : tuple of tuple of str
        All rows that were inspected, including `rows`.
    serials : str
        In a spreadsheet, the `Mapping.time_format` of dates without a format.
    encoding_confidence : float
        How sure the detection of the encoding is, 0…1; 1 if it was given or needs no detection.
    header_line : int
        Line of text with the names of the columns, from 1; 0 if there is none.
    lines : tuple of (int, str)
        Number, from 1, and beginning of the lines of text that may be chosen as header.
    """

    basename: str
    size: int
    dialect: Dialect
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    mapping: Mapping
    confidence: float
    problems: tuple[str, ...] = ()
    added: int = 0
    questions: tuple[Question, ...] = ()
    layers: tuple[str, ...] = ()
    sample: tuple[tuple[str, ...], ...] = field(default=(), repr=False, compare=False)
    serials: str = ""
    encoding_confidence: float = 1.0
    header_line: int = 0
    lines: tuple[tuple[int, str], ...] = field(default=(), repr=False, compare=False)

    @property
    def suggested(self) -> Mapping:
        """The mapping with the preselected answers to the open questions."""
        return with_suggestions(self.mapping, self.questions)

    def question(self, key: str) -> Question | None:
        """Return the open question of a kind, if there is one."""
        return next((one for one in self.questions if one.key == key), None)

    @property
    def format(self) -> str:
        """Format of the rows."""
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
    """Progress of a load.

    Attributes
    ----------
    stage : str
        The current step, as text of a label.
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
    """A rejected line: its number (from 1) and text (cut at 500 characters).

    Of several files, `part` names the one that the line is in.
    """

    line: int
    text: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class PartReport:
    """Line counts of one of several files; fields as in `LoadReport`.

    Always ``physical_lines = header + before_header + blank + kept + rejected + continued``.
    """

    name: str
    physical_lines: int
    header: int
    blank: int
    kept: int
    rejected: int
    continued: int
    before_header: int = 0


@dataclass(frozen=True)
class LoadReport:
    """Line counts and notes of a load.

    Always ``physical_lines = header + before_header + blank + kept + Σ rejected + continued``.

    Attributes
    ----------
    physical_lines : int
        Lines in the decompressed file; a last line without an end counts. Rows for Parquet.
    header : int
        Lines with the names of columns: one a file, or several if a name holds a line end.
    blank : int
        Lines with nothing on them.
    kept : int
    rejected : dict of Reason to int
        Only reasons that occurred, in the order of `Reason`.
    examples : dict of Reason to tuple of Example
        The first lines of each reason.
    notes : tuple of str
        What else happened: truncated archive, encoding.
    continued : int
        Lines that continue a quoted field begun on the line before (quoted CSV only, else 0).
    seconds : float
        How long loading took.
    parts : tuple of PartReport
        Of several files, in order; empty of one.
    before_header : int
        Lines around the header that are no rows: titles, comments, ``sep=;``, units.
    naive_times : int
        Valid rows whose time has no offset from UTC.
    merged_ids : int
        Ids that are another spelling of one that is counted.
    """

    physical_lines: int
    header: int
    blank: int
    kept: int
    rejected: dict[Reason, int]
    examples: dict[Reason, tuple[Example, ...]]
    notes: tuple[str, ...] = ()
    continued: int = 0
    seconds: float = 0.0
    parts: tuple[PartReport, ...] = ()
    before_header: int = 0
    naive_times: int = 0
    merged_ids: int = 0

    @property
    def accounted(self) -> int:
        """Sum of all categories; must equal `physical_lines`."""
        above = self.header + self.before_header
        return above + self.blank + self.kept + self.total_rejected + self.continued

    @property
    def total_rejected(self) -> int:
        """Number of rejected lines."""
        return sum(self.rejected.values())


@dataclass(frozen=True, slots=True)
class Cell:
    """A grid cell with its counts. Computed from real data: not private."""

    box: Box
    rows: int
    users: int
