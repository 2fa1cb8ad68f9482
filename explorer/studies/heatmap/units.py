"""The privacy unit: whose presence a map hides, and how texts name it.

Texts are written for users. `worded_for` puts them into the words of another unit, so that a
mechanism states its guarantee once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from explorer.studies.base.request import Unit
from explorer.studies.base.study import Condition, Guarantee, Request


@dataclass(frozen=True, slots=True)
class UnitWords:
    """How texts name a privacy unit.

    Attributes
    ----------
    one : str
        A unit as text: ``one user``.
    protects : str
        What is protected, with ``{column}`` for the column whose values are the users.
    remark : str
        What a reader of the map must know; empty for users.
    """

    one: str
    protects: str
    remark: str = ""


UNITS = {
    Unit.USER: UnitWords(
        "one user",
        "one user (one value of {column}): all their check-ins inside region and time range",
    ),
    Unit.ROW: UnitWords(
        "one row",
        "one row: a single check-in. A person with many rows is protected less",
        "One row is protected, because the file has no user column: a person with many rows is "
        "protected less.",
    ),
    Unit.FILE: UnitWords(
        "the whole file",
        "the whole file: all its check-ins inside region and time range. The map is nearly pure "
        "noise",
        "The whole file is protected, because it has no user column: all its check-ins together "
        "weigh at most 1, so that the map is nearly pure noise.",
    ),
}
"""How texts name each privacy unit."""

THE_USER_COLUMN = "the user column"
"""Stands for the name of the column where nothing private may stand: a file without a header that
is read as if it had one has somebody's id for a name."""

_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        r"one user leaves and another comes",
        "one row leaves and another comes",
        "the whole file is replaced by another",
    ),
    (
        r"at most one of the sampled users is exchanged for another",
        "at most one of the sampled rows is exchanged for another",
        "the whole file is exchanged for another",
    ),
    (
        r"a user's check-ins are replaced by any others",
        "a row's check-in is replaced by any other",
        "the file's check-ins are replaced by any others",
    ),
    (
        r"where they checked in most often \(of equal ones the first in Z-order\)",
        "where it lies",
        "where most of its check-ins lie (of equal ones the first in Z-order)",
    ),
    (r"the cells they checked in to", "the cell it lies in", "the cells they lie in"),
    (
        r"their check-ins inside region and time range share it",
        "its check-in inside region and time range carries it",
        "its check-ins inside region and time range share it",
    ),
    (
        r"The number of users is not published",
        "The number of rows is not published",
        "Whether the file has check-ins is not published",
    ),
    (r"their check-ins", "its check-in", "its check-ins"),
    (r"no check-ins instead", "no check-in instead", "no check-ins instead"),
    (r"\bany one user\b", "any one row", "the whole file"),
    (r"\bone user\b", "one row", "the whole file"),
    (r"\b(each|every) user\b", r"\1 row", "the whole file"),
    (r"\b(Each|Every) user\b", r"\1 row", "The whole file"),
    (r"\ba user\b", "a row", "the file"),
    (r"\bthe user\b", "the row", "the file"),
    (r"\bThe user\b", "The row", "The file"),
    (r"\busers\b", "rows", "files"),
    (r"\bUsers\b", "Rows", "Files"),
    (r"\buser\b", "row", "file"),
)
"""Pattern → what stands there if rows are protected, and if the whole file is; in this order."""


def unit_of(request: Request) -> Unit:
    """Return the privacy unit of a request's check-ins; users if it has none."""
    return Unit.USER if request.selection is None else request.selection.unit


def worded_for(text: str, unit: Unit) -> str:
    """Return a text about users in the words of another privacy unit."""
    if unit is Unit.USER:
        return text
    for pattern, row, file in _WORDS:
        text = re.sub(pattern, row if unit is Unit.ROW else file, text)
    return text


def guarantee_in_unit(found: Guarantee, unit: Unit, of_users: bool, column: str) -> Guarantee:
    """Return a guarantee in the words of a privacy unit.

    Parameters
    ----------
    found : Guarantee
        In words for users.
    unit : Unit
    of_users : bool
        Whether the mechanism protects users, and not single points.
    column : str
        Name of the user column; empty where it may not be named.
    """
    # Columns without names are called "column 1".
    named = f"column {column.removeprefix('column ')}" if column else THE_USER_COLUMN
    protects = UNITS[unit].protects.replace("{column}", named) if of_users else found.unit
    return replace(
        found,
        unit=protects,
        add_remove=worded_for(found.add_remove, unit),
        replace_one=worded_for(found.replace_one, unit),
        trust=worded_for(found.trust, unit),
        sentence=worded_for(found.sentence, unit),
        beside=worded_for(found.beside, unit),
    )


def condition_in_unit(found: Condition, unit: Unit) -> Condition:
    """Return a condition in the words of a privacy unit."""
    return replace(
        found,
        text=worded_for(found.text, unit),
        margin=worded_for(found.margin, unit),
        short=worded_for(found.short, unit),
    )
