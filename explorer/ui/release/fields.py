"""Input fields per mechanism: names, hints and conversion to plan parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.exact_json import read_amount
from explorer.release.mechanisms import MECHANISMS
from explorer.release.plan import FORMAT_CHOICES, PLACED, check_format

EXAMPLE = "heatmap.adaptive/1"
"""Texts of the example plan."""
PEOPLE = "assumed_users"
"""n₀: number of synthetic users, and a parameter of some mechanisms."""


def _text(text: str) -> str:
    return text


def _list(text: str) -> list[str]:
    """Split at semicolons if there are any, else at commas."""
    return [part.strip() for part in text.split(";" if ";" in text else ",")]


def _whole(text: str) -> int | str:
    """Return an integer; other texts are returned unchanged and refused by the mechanism."""
    digits = text.replace(",", "").replace("\u202f", "")
    return int(digits) if re.fullmatch(r"\d{1,30}", digits) else text


def _wholes(text: str) -> list[int | str]:
    return [_whole(part) for part in re.split(r"[,×x\s]+", text.strip())]


@dataclass(frozen=True)
class Field:
    """An input field.

    Attributes
    ----------
    key : str
        Key in a plan.
    label : str
    example : str
        Example value, which also shows the format.
    read : callable
        Converts the text to the parameter.
    needed : bool
        Whether it is required.
    tip : str
    choices : tuple of str
        Choices; empty for free text.
    standard : str
        Value used if nothing is chosen.
    width : int
        In columns of fields.
    """

    key: str
    label: str
    example: str
    read: Callable[[str], Any] = _text
    needed: bool = True
    tip: str = ""
    choices: tuple[str, ...] = ()
    standard: str = ""
    width: int = 1


_BOX = Field(
    "box",
    "Box",
    "40.55, -74.10, 40.90, -73.75",
    _list,
    tip="South, west, north, east in degrees. Choose it from general knowledge, not from the data.",
    width=2,
)
_TIMES = (
    Field("start", "From", "2026-01-01T00:00:00Z", needed=False, tip="Only rows from this time on"),
    Field(
        "end",
        "Until (not included)",
        "2026-02-01T00:00:00Z",
        needed=False,
        tip="Only rows before this time",
    ),
)
_SIDE = Field(
    "side", "Cells per side", "64", _whole, tip="A power of two from 2 to 1024, such as 256"
)
_LAST = Field("last_level", "Finest level", "5", _whole, False, "Of the tree of squares")
_FIRST = Field("start_level", "First level", "2", _whole, False, "Of the tree of squares")
_UNITS = Field("units", "Units B", "10000", _whole, False, "In how many parts a user is divided")
_WHERE = (
    Field("box", _BOX.label, _BOX.example, _list, False, _BOX.tip, width=2),
    *_TIMES,
)

_TREE = (
    _BOX,
    _SIDE,
    *_TIMES,
    _FIRST,
    _LAST,
    Field("share", "Share of ε", "3/10", needed=False, tip="That a reading spends"),
    Field("threshold", "Threshold", "10", needed=False, tip="From which a cell is divided"),
    _UNITS,
)
OF_MECHANISM: Mapping[str, tuple[Field, ...]] = {
    "heatmap.adaptive/1": _TREE,
    "heatmap.adaptive/2": _TREE,
    "heatmap.paper/1": (
        _BOX,
        _SIDE,
        *_TIMES,
        _LAST,
        Field("kept", "Cells kept", "20", _whole, False, "On each level"),
        _UNITS,
    ),
    "heatmap.pyramid/1": (_BOX, _SIDE, *_TIMES, _FIRST, _UNITS),
    "counts.cells/1": (_BOX, Field("side", _SIDE.label, "16", _whole, tip=_SIDE.tip), *_TIMES),
    "count.users/1": _WHERE,
    "select.region/1": (
        _BOX,
        Field("grid", "Rows and columns", "4, 4", _wholes),
        *_TIMES,
        Field("chosen", "Regions to choose", "1", _whole, False, "Each costs its part of ε"),
    ),
    "histogram/1": (
        Field("value_column", "Column", "kind", tip="One of the file’s columns"),
        Field("values", "Its values", "food, shop, park", _list, False, "Or edges of numbers"),
        Field("edges", "Edges of bins", "", _list, False, "0, 10, 20: for a column of numbers"),
        *_WHERE,
        _UNITS,
    ),
    "mean/1": (
        Field("value_columns", "Columns", "amount", _list, tip="One of the file’s columns"),
        Field("low", "Lowest values", "0", _list, tip="Smaller ones count as this"),
        Field("high", "Highest values", "100", _list, tip="Larger ones count as this"),
        *_WHERE,
        Field("count_share", "Share for the count", "1/5", needed=False, tip="Of ε"),
        _UNITS,
    ),
}
"""Fields by mechanism, required ones first."""
KIND_NOTES = {
    "heatmap.adaptive/1": "Small cells where many people are, large cells elsewhere: the smallest "
    "error for most data.",
    "heatmap.adaptive/2": "Smoother inside large cells, which public maps of where people are can "
    "fill.",
    "heatmap.paper/1": "On each level only the cells with the most people are divided further.",
    "heatmap.pyramid/1": "All cells of some levels get noise, whether people are there or not.",
    "counts.cells/1": "A noisy number of people for every cell, without any fitting.",
    "count.users/1": "One noisy number: how many people are in the region and time.",
    "select.region/1": "Names of regions with many people; no numbers are released.",
    "histogram/1": "How many people there are for each value of a column.",
    "mean/1": "Averages of columns that hold numbers.",
}
"""What a mechanism releases, for the curator."""
PEOPLE_FIELD = Field(
    PEOPLE,
    "Expected number of people",
    "500",
    tip="Your estimate of the number of people; used only for rehearsals. The program never counts "
    "them.",
)
TAKE_PEOPLE = ("heatmap.pyramid/1",)
"""Mechanisms with n₀ as a parameter."""
TAKE_MAPS = ("heatmap.adaptive/2",)
"""Mechanisms that public maps can complete."""

FORMAT = (
    Field("delimiter", "Delimiter", "", choices=FORMAT_CHOICES["delimiter"]),
    Field(
        "header",
        "Header row",
        "",
        choices=FORMAT_CHOICES["header"],
        tip="yes: rows in which no place and no time can be read are left out; a first row that "
        "is somebody’s is read like any other",
    ),
    Field(
        "quotes",
        "Quotes",
        "",
        needed=False,
        choices=FORMAT_CHOICES["quotes"],
        tip="double: a field may stand in double quotes, inside one row",
        standard="none",
    ),
    Field(
        "decimal",
        "Decimal mark",
        "",
        needed=False,
        choices=FORMAT_CHOICES["decimal"],
        standard="point",
    ),
    Field(
        "trailing_delimiter",
        "Trailing delimiter",
        "",
        needed=False,
        choices=FORMAT_CHOICES["trailing_delimiter"],
        standard="no",
    ),
    Field(
        "row_end",
        "Line ends",
        "",
        needed=False,
        choices=FORMAT_CHOICES["row_end"],
        tip="lf: LF or CR LF; cr: CR alone",
        standard="lf",
    ),
    Field(
        "encoding",
        "Text encoding",
        "",
        needed=False,
        choices=FORMAT_CHOICES["encoding"],
        standard="utf-8",
    ),
    Field(
        "time_format",
        "Time format",
        "iso",
        needed=False,
        tip="iso, unix, unix-ms or %d.%m.%Y %H:%M",
        standard="iso",
    ),
    Field(
        "time_zone",
        "Time zone",
        "Europe/Vienna",
        needed=False,
        tip="Of times that state no offset, such as UTC or Europe/Vienna",
        width=2,
    ),
    Field(
        "columns",
        "Columns in order (use the names user, time, lat, lon; any name for the others)",
        "user, time, lat, lon",
        _list,
        tip="List the columns in order: a name for every field of a row",
        width=5,
    ),
)
"""Declared format of the file; nothing is inferred from the file."""
CHOICE_LABELS = {
    "semicolon": "; semicolon",
    "comma": ", comma",
    "pipe": "| pipe",
    "point": ". point",
    "lf": "LF or CR LF",
    "cr": "CR",
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16, low byte first",
    "utf-16-be": "UTF-16, high byte first",
    "latin-1": "Latin-1",
    "latin-9": "Latin-9",
    "windows-1252": "Windows-1252",
}
"""Labels of values of the format that are not their own label."""
STATED = (
    Field("title", "Title", "Where card holders were", needed=False),
    Field("curator", "Published by", "City statistics office", needed=False),
    Field("description", "Description", "Visits, January to June 2026", needed=False),
    Field("intended_use", "Intended use", "Planning of bus routes", needed=False),
    Field("label", "Name of the data", "", needed=False),
    Field("period", "Period of the data", "", needed=False),
    Field("region", "Region of the data", "", needed=False),
    Field("source_type", "Kind of source", "", needed=False),
)
"""Curator's statements; all optional."""
EVALUATED = (
    Field(
        "model and trust",
        "NIST 800-226: model and trust",
        "",
        needed=False,
        tip="Who is trusted with what; left empty: central, the curator holds the raw file",
    ),
    Field(
        "utility and bias",
        "NIST 800-226: utility and bias",
        "",
        needed=False,
        tip="For whom the result is rougher, such as small groups",
    ),
    Field(
        "data security",
        "NIST 800-226: data security",
        "",
        needed=False,
        tip="How the raw file is kept, and who gets at it",
    ),
)
"""Statements that the program cannot check. Not part of PLAN.json, whose schema is fixed."""
CERTIFIED = (*STATED, *EVALUATED)


def example_of(mechanism: str) -> dict[str, str]:
    """Return the texts of an example for a mechanism."""
    texts = {field.key: field.example for field in OF_MECHANISM[mechanism] if field.needed}
    if mechanism == "histogram/1":
        texts["values"] = "food, shop, park"
    return {**texts, "mechanism": mechanism, "epsilon": "1/2", PEOPLE: "500"}


LABELS = {
    field.key: field.label
    for fields in (*OF_MECHANISM.values(), FORMAT, STATED, EVALUATED)
    for field in fields
} | {
    "epsilon": "ε",
    PEOPLE: "Expected number of people",
    "columns": "Columns",
    "priors": "Public maps",
}


def read_epsilon(text: str) -> Fraction:
    """Parse ε from a decimal number or a fraction.

    Raises
    ------
    ParameterError
        If it is neither, or 0.
    """
    typed = text.strip().replace(",", ".")
    if not typed:
        raise ParameterError("mechanism.epsilon", "is not typed yet", "give one like 0.5 or 1/2")
    try:
        amount = read_amount(typed, "ε")
    except ReleaseError:
        amount = Fraction(0)
    if not amount:
        raise ParameterError("mechanism.epsilon", f"{text!r} is no ε", "give one like 0.5 or 1/2")
    return amount


def read_people(text: str) -> int:
    """Parse n₀.

    Raises
    ------
    ParameterError
        If it is not a valid number of users.
    """
    users = _whole(text.strip())
    if not isinstance(users, int) or not 1 <= users <= 1_000_000:
        raise ParameterError("n₀", "is not a number of synthetic people", "give 1 to 1,000,000")
    return users


def read_own(mechanism: str, typed: Mapping[str, str]) -> dict[str, Any]:
    """Parse the parameters of a mechanism; empty texts mean defaults."""
    parameters: dict[str, Any] = {}
    for field in OF_MECHANISM[mechanism]:
        text = typed.get(field.key, "").strip()
        if text:
            parameters[field.key] = field.read(text)
    if mechanism in TAKE_PEOPLE and typed.get(PEOPLE, "").strip():
        parameters[PEOPLE] = _whole(typed[PEOPLE].strip())
    return parameters


def read_format(typed: Mapping[str, str]) -> dict[str, Any]:
    """Parse the declared file format.

    Raises
    ------
    ParameterError
        If a required value is missing or invalid.
    """
    declared = {f.key: f.read(typed[f.key].strip()) for f in FORMAT if typed.get(f.key, "").strip()}
    for field in FORMAT:
        if field.needed and field.key not in declared:
            raise ParameterError(
                field.key, "is not declared yet", "nothing is found out from the file"
            )
    check_format(declared)
    return declared


def any_format(mechanism: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a format with all columns of a mechanism, for synthetic users."""
    reads = MECHANISMS[mechanism].reads(MECHANISMS[mechanism].parse(own))
    return {"columns": list(dict.fromkeys((*PLACED, *reads.texts))), "delimiter": "tab"}
