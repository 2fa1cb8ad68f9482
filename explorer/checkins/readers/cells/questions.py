"""What the beginning of a file leaves open: each question is one function of a table."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from explorer.checkins.errors import printable
from explorer.checkins.model import Candidate, Mapping, Preview, Question
from explorer.checkins.readers.cells.numbers import Rows, matched, number
from explorer.checkins.readers.cells.swapped import looks_swapped
from explorer.checkins.readers.cells.times import (
    meaning_of,
    shown_moment,
    time_formats,
    told_apart,
)
from explorer.checkins.readers.places.guess_reference import candidates, points_of

_CLOCK = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2})?\s*", re.ASCII)
NO_USER = (
    Candidate("there is no such column, one row is protected", (("user", None), ("unit", "row"))),
    Candidate(
        "there is no such column, the whole file is protected", (("user", None), ("unit", "file"))
    ),
)
"""Answers of a file without a column of persons; the last candidates of the question."""

_SHOWN = 40
"""Letters of a name or value that are shown."""


@dataclass(frozen=True)
class Table:
    """The beginning of a file and how it is read so far.

    Attributes
    ----------
    columns : sequence of str
    rows : sequence of sequence of str
        The rows that are judged, without the header.
    mapping : Mapping
    decimal : str
    named : int
        How many columns the header names; 0 without one.
    """

    columns: Sequence[str]
    rows: Rows
    mapping: Mapping
    decimal: str
    named: int

    def values(self, column: int) -> list[str]:
        """Return the fields of a column."""
        return [row[column] for row in self.rows if column < len(row)]

    def example(self, *columns: int) -> str:
        """Return the first fields of these columns in a row where none is blank."""
        for row in self.rows:
            cells = [row[column].strip() for column in columns if column < len(row)]
            if len(cells) == len(columns) and all(cells):
                return printable(", ".join(cells)[:_SHOWN])
        return ""

    def name(self, *columns: int) -> str:
        """Return the names of columns as they can be shown."""
        return ", ".join(printable(self.columns[column][:_SHOWN]) for column in columns)

    def candidate(self, **fields: int | None) -> Candidate:
        """Return the answer that these roles have these columns."""
        columns = tuple(column for column in fields.values() if column is not None)
        return Candidate(self.name(*columns), tuple(fields.items()), self.example(*columns))


def _user(table: Table) -> Question | None:
    """Ask whose rows they are, where no column is known to say it."""
    if table.mapping.user is not None:
        return None
    return Question(
        "user", "Which column names the person or device?",
        "No column is known to hold that.", ("user",), NO_USER, None,
    )  # fmt: skip


def _position(table: Table) -> Question | None:
    """Ask where rows lie, where no columns are known to say it."""
    mapping = table.mapping
    pair = {"lat": mapping.lat, "lon": mapping.lon}
    there = (table.candidate(**pair),) if None not in pair.values() else ()
    ask = partial(
        Question, "position", "Which columns hold latitude and longitude?",
        fields=("lat", "lon"), candidates=there,
    )  # fmt: skip
    if 0 < table.named < len(table.columns):
        return ask(
            f"The header names {table.named} columns, but most lines have {len(table.columns)} "
            "fields. If commas stand in numbers and between fields, save the file with semicolons "
            "or with quotes around the numbers; else say which column holds what."
        )
    if not there:
        return ask("No columns are known to hold them.")
    if reason := looks_swapped(table.rows, mapping, table.decimal):
        turned = table.candidate(lat=mapping.lon, lon=mapping.lat)
        return ask(reason, candidates=(turned, *there))
    return None


def _time(table: Table) -> Question | None:
    """Ask for the times where a column beside the dates holds the times of day."""
    time = table.mapping.time
    if time is None or len(time_formats(table.values(time), table.decimal)) > 1:
        return None
    clock = _other_clock(table, time)
    if not clock:
        return None
    days = table.candidate(time=time)
    return Question(
        "time", "Which column holds the time?",
        f"Times of day stand in a column of their own, “{printable(clock[:_SHOWN])}”, which is "
        "not read beside the dates: put both into one column, or go on with days only.",
        ("time",), (days, Candidate("there is no time", (("time", None),))),
    )  # fmt: skip


def _date_order(table: Table) -> Question | None:
    """Ask what comes first in a date, where it may be the day or the month."""
    time = table.mapping.time
    if time is None:
        return None
    values = table.values(time)
    formats = time_formats(values, table.decimal)
    if len(formats) < 2:
        return None
    example = told_apart(values, formats, table.decimal) or values[0].strip()
    return Question(
        "time_format", "How are the dates written?",
        f"“{printable(example[:_SHOWN])}” in the column “{table.name(time)}” may be "
        f"{' or '.join(map(meaning_of, formats))}, and no row looked at tells which: say how dates "
        "are written.",
        ("time_format",),
        tuple(
            Candidate(
                meaning_of(form), (("time_format", form),),
                printable(f"{example[:_SHOWN]} = {shown_moment(example, form, table.decimal)}"),
            )
            for form in formats
        ),
    )  # fmt: skip


def _system(table: Table) -> Question | None:
    """Ask for the reference system of coordinates that are no degrees."""
    mapping = table.mapping
    if mapping.crs != "" or mapping.lat is None or mapping.lon is None:
        return None
    read = partial(number, decimal=table.decimal)
    likely = candidates(points_of(table.rows, mapping.lat, mapping.lon, read))
    return Question(
        "crs", "In which reference system are the coordinates?",
        "The coordinates are no degrees, and the file does not say in which reference system they "
        "are; say which" + ("." if likely else ", such as EPSG:25832."),
        ("crs",),
        tuple(Candidate(f"{name} ({words})", (("crs", name),)) for name, words in likely),
    )  # fmt: skip


def _plane(table: Table) -> Question | None:
    """Ask for the range of x and y in a plane that is not the Earth."""
    if table.mapping.plane != "":
        return None
    return Question(
        "plane", "Which range do x and y have?",
        "They are no degrees: declare which range they have, by a width and a height or by the "
        "picture they lie in. It is not taken from the data, because it would tell of them.",
        ("plane",),
    )  # fmt: skip


OF_THE_FILE: tuple[Callable[[Table], Question | None], ...] = (_user, _position, _time)
"""Questions about which column is which, asked once about the first guess."""

OF_THE_MAPPING: dict[str, Callable[[Table], Question | None]] = {
    "time_format": _date_order, "crs": _system, "plane": _plane,
}  # fmt: skip
"""Questions, by key, about how chosen columns are read: asked anew when others are chosen."""


def _asked(asking: Iterable[Callable[[Table], Question | None]], table: Table) -> list[Question]:
    return [question for ask in asking if (question := ask(table)) is not None]


def open_questions(table: Table) -> tuple[Question, ...]:
    """Return what the beginning of a file leaves open."""
    return (*_asked(OF_THE_FILE, table), *_asked(OF_THE_MAPPING.values(), table))


def remaining_questions(
    preview: Preview, mapping: Mapping, given: Collection[str]
) -> tuple[Question, ...]:
    """Return the questions that are open after some of them were answered.

    Parameters
    ----------
    preview : Preview
    mapping : Mapping
        With the answers.
    given : collection of str
        The fields of the mapping and the dialect that were given, even if as guessed.
    """
    named = len(preview.columns) if preview.has_header else 0
    table = Table(preview.columns, preview.sample, mapping, preview.dialect.decimal, named)
    first = [one for one in preview.questions if one.key not in OF_THE_MAPPING]
    anew = _asked(OF_THE_MAPPING.values(), table)
    return tuple(one for one in (*first, *anew) if not one.answered_by(given))


def _other_clock(table: Table, time: int) -> str:
    """Return the name of a column of times of day beside one of dates, or nothing."""
    if any(":" in v or len(v.strip()) > len("31-Dec-2024") for v in table.values(time)):
        return ""
    some = [row for row in table.rows[:50] if len(row) == len(table.columns)]
    free = [i for i in range(len(table.columns)) if some and i not in table.mapping.columns]
    clocks = (i for i in free if all(matched(_CLOCK, row[i]) for row in some))
    return next((table.columns[i] for i in clocks), "")
