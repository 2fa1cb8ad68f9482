"""Questions that the beginning of a file leaves open."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from explorer.checkins.errors import printable
from explorer.checkins.model import Candidate, Mapping, Preview, Question
from explorer.checkins.parsing.crs import candidates, points_of
from explorer.checkins.parsing.numbers import Rows, number
from explorer.checkins.parsing.times import (
    distinguishing_value,
    meaning_of,
    shown_moment,
    time_formats,
)

NO_USER = (
    Candidate("no column: one row is protected", (("user", None), ("unit", "row"))),
    Candidate("no column: the whole file is protected", (("user", None), ("unit", "file"))),
)
"""Answers for a file without a user column, offered last."""

_SHOWN = 40
"""Maximum length of displayed names and values."""


@dataclass(frozen=True)
class Table:
    """The beginning of a file and its current interpretation.

    Attributes
    ----------
    columns : sequence of str
    rows : sequence of sequence of str
        The inspected rows, without the header.
    mapping : Mapping
    decimal : str
    named : int
        How many columns the header names; 0 without one.
    serials : str
        As in `Preview`.
    """

    columns: Sequence[str]
    rows: Rows
    mapping: Mapping
    decimal: str
    named: int
    serials: str = ""

    def values(self, column: int) -> list[str]:
        """Return the values of a column."""
        return [row[column] for row in self.rows if column < len(row)]

    def name(self, *columns: int) -> str:
        """Return the display names of columns."""
        return ", ".join(printable(self.columns[column][:_SHOWN]) for column in columns)


def _date_order(table: Table) -> Question | None:
    """Return the question whether day or month comes first in dates."""
    time = table.mapping.time
    if time is None:
        return None
    values = table.values(time)
    formats = time_formats(values, table.decimal, table.serials)
    if len(formats) < 2:
        return None
    example = distinguishing_value(values, formats, table.decimal) or values[0].strip()
    return Question(
        "time_format",
        "How are the dates written?",
        f"“{printable(example[:_SHOWN])}” in the column “{table.name(time)}” may be "
        f"{' or '.join(map(meaning_of, formats))}, and the rows looked at do not tell which, or "
        "not all the same: say how dates are written.",
        ("time_format",),
        tuple(
            Candidate(
                meaning_of(form),
                (("time_format", form),),
                printable(f"{example[:_SHOWN]} = {shown_moment(example, form, table.decimal)}"),
            )
            for form in formats
        ),
    )


def _system(table: Table) -> Question | None:
    """Return the question for the reference system of coordinates that are not degrees."""
    mapping = table.mapping
    if mapping.crs or mapping.planar or mapping.order:
        return None
    if mapping.lat is None or mapping.lon is None:
        return None
    read = partial(number, decimal=table.decimal)
    likely = candidates(points_of(table.rows, mapping.lat, mapping.lon, read))
    if mapping.crs is None and not likely:
        return None
    return Question(
        "crs",
        "In which reference system are the coordinates?",
        "The coordinates are not degrees, and the file does not say in which reference system they "
        "are; say which" + ("." if likely else ", such as EPSG:25832."),
        ("crs",),
        tuple(Candidate(f"{name} ({words})", (("crs", name),)) for name, words in likely),
    )


def _plane(table: Table) -> Question | None:
    """Return the question for the range of x and y of another plane."""
    if table.mapping.plane != "":
        return None
    return Question(
        "plane",
        "Which range do x and y have?",
        "They are not degrees: declare which range they have, by a width and a height or by the "
        "picture they lie in. It is not taken from the data, because it would reveal something "
        "about them.",
        ("plane",),
    )


OF_THE_MAPPING: dict[str, Callable[[Table], Question | None]] = {
    "time_format": _date_order,
    "crs": _system,
    "plane": _plane,
}
"""Keys of the questions that depend on the mapping and are derived again when it changes."""


def _column_question(
    asking: Iterable[Callable[[Table], Question | None]], table: Table
) -> list[Question]:
    return [question for ask in asking if (question := ask(table)) is not None]


def open_questions(table: Table, guessed_questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return all open questions: the given ones and those about the mapping."""
    if 0 < table.named < len(table.columns):
        guessed_questions = [one for one in guessed_questions if one.key != "position"]
        guessed_questions.append(_too_few_names(table))
    return (*guessed_questions, *_column_question(OF_THE_MAPPING.values(), table))


def _too_few_names(table: Table) -> Question:
    return Question(
        "position",
        "Which columns hold the position?",
        f"The header names {table.named} columns, but most lines have {len(table.columns)} "
        "fields. If commas stand in numbers and between fields, save the file with semicolons or "
        "with quotes around the numbers; else say which column holds what.",
        ("lat", "lon"),
        (),
        None,
    )


def remaining_questions(
    preview: Preview, mapping: Mapping, given: Collection[str]
) -> tuple[Question, ...]:
    """Return the questions still open after some were answered.

    Parameters
    ----------
    preview : Preview
    mapping : Mapping
        With the answers.
    given : collection of str
        The fields of the mapping and the dialect that were given, even if as guessed.
    """
    named = len(preview.columns) if preview.has_header else 0
    table = Table(
        preview.columns,
        preview.sample,
        mapping,
        preview.dialect.decimal,
        named,
        preview.serials,
    )
    first = [one for one in preview.questions if one.key not in OF_THE_MAPPING]
    anew = _column_question(OF_THE_MAPPING.values(), table)
    return tuple(one for one in (*first, *anew) if not one.answered_by(given))
