"""Why rows of check-in files are rejected."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Placed(Protocol):
    """What of a `Mapping` the words depend on."""

    @property
    def planar(self) -> bool:
        """Whether positions lie in a plane that is not the Earth."""
        ...

    @property
    def image(self) -> int | None:
        """The column of the picture that a row is about."""
        ...


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
    THOUSANDS = "thousands"
    NO_GEOMETRY = "no_geometry"
    NOT_A_POINT = "not_a_point"
    NOT_CONVERTED = "not_converted"
    FORMULA = "formula"
    NOT_A_RECORD = "not_a_record"

    @property
    def code(self) -> int:
        """The number under which a row of this reason is stored; 0 is a kept row."""
        return list(Reason).index(self) + 1

    @property
    def sentence(self) -> str:
        """What is wrong with such a row, for people."""
        return _SENTENCES[self]

    def said(self, mapping: Placed) -> str:
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
    Reason.BROKEN_QUOTES: "has a double quote inside a field, or one that is never closed",
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
