"""What the beginning of a file leaves open, and somebody must say before it is loaded."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from explorer.checkins.errors import printable
from explorer.checkins.model import Mapping
from explorer.checkins.readers.cells.numbers import Rows, number
from explorer.checkins.readers.cells.swapped import looks_swapped
from explorer.checkins.readers.cells.times import meaning_of, time_formats, told_apart
from explorer.checkins.readers.places.guess_reference import question

_CLOCK = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2})?\s*", re.ASCII)


def open_questions(
    columns: Sequence[str], rows: Rows, mapping: Mapping, decimal: str, named: int
) -> tuple[Mapping, tuple[str, ...], dict[str, str]]:
    """Return the guess with times as most rows have them, and what can't be told.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequence of str
        The first rows, without the header.
    mapping : Mapping
        The guess.
    decimal : str
    named : int
        How many columns the header names; 0 without one.

    Returns
    -------
    mapping : Mapping
    formats : tuple of str
        `Preview.time_formats`.
    questions : dict of str to str
        `Preview.questions`.
    """
    formats: tuple[str, ...] = ()
    questions: dict[str, str] = {}
    if 0 < named < len(columns):
        questions["lat"] = (
            f"The header names {named} columns, but most lines have {len(columns)} fields. If "
            "commas stand in numbers and between fields, save the file with semicolons or with "
            "quotes around the numbers; else say which column holds what."
        )
    if mapping.time is not None:
        values = [row[mapping.time] for row in rows if mapping.time < len(row)]
        formats = time_formats(values, decimal)
        if formats and mapping.time_format not in formats:
            mapping = replace(mapping, time_format=formats[0])
        if len(formats) > 1:
            example = told_apart(values)
            name = columns[mapping.time] if mapping.time is not None else ""
            questions["time_format"] = (
                f"“{printable(example[:40])}” in the column “{printable(name[:40])}” may be "
                f"{' or '.join(map(meaning_of, formats))}, and no row looked at tells which: say "
                "how dates are written."
            )
        elif clock := _other_clock(columns, rows, mapping, values):
            questions["time"] = (
                f"Times of day stand in a column of their own, “{printable(clock[:40])}”, which is "
                "not read beside the dates: put both into one column, or go on with days only."
            )
    if mapping.crs == "":
        questions["crs"] = question(mapping, rows, partial(number, decimal=decimal))
    if "lat" not in questions and (said := looks_swapped(rows, mapping, decimal)):
        questions["lat"] = said
    return mapping, formats, questions


def _other_clock(
    columns: Sequence[str], rows: Rows, mapping: Mapping, values: Sequence[str]
) -> str:
    """Return the name of a column of times of day beside one of dates, or nothing."""
    if any(":" in v or len(v.strip()) > len("31-Dec-2024") for v in values):
        return ""
    some = [row for row in rows[:50] if len(row) == len(columns)]
    for i, name in enumerate(columns):
        if some and i not in mapping.columns and all(_CLOCK.fullmatch(row[i]) for row in some):
            return name
    return ""
