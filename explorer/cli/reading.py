"""How text is read, where a file does not tell: decimal mark, dates by example, time zone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from explorer.checkins import Preview
    from explorer.checkins.model import Question

DECIMALS = {"point": ".", "comma": ","}
KEYS = ("decimal", "encoding", "time_format", "zone", "crs", "layer", "unit", "unpack")
OF_DIALECT = ("layer", "unpack")
"""The options below, which are fields of a mapping; but for those of a dialect."""

COLUMN_FIELDS = ("user", "time", "lat", "lon", "location", "weight", "image")
"""Fields of a mapping that ``--columns`` gives."""

OPTIONS = {
    "time_format": ("--time-format", "EXAMPLE"),
    "zone": ("--time-zone", "NAME"),
    "decimal": ("--decimal", "point|comma"),
    "encoding": ("--encoding", "NAME"),
    "crs": ("--crs", "EPSG:NUMBER"),
    "layer": ("--layer", "NAME"),
    "unit": ("--unit", "user|row|file"),
    "plane": ("--plane", "320x240, or --picture FILE"),
}
"""Field of a mapping or dialect that is no column → the option that gives it, and its value."""


class OpenQuestions(click.ClickException):
    """What a file leaves open, and the options that answer it: one line for each question."""

    exit_code = 2

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def _decimal(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    return None if raw is None else DECIMALS[raw]


def _time_format(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.times import format_of_example

    try:
        return None if raw is None else format_of_example(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _zone(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins import CheckinError
    from explorer.checkins.parsing.times import zone_name

    try:
        return None if raw is None else zone_name(raw)
    except CheckinError as error:
        raise click.BadParameter(str(error)) from error


def _encoding(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.encodings import codec_of

    try:
        return None if raw is None else codec_of(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _unit(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    return None if raw == "user" else raw


def _crs(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.crs import WGS_84, canonical_crs

    try:
        return None if raw is None else canonical_crs(raw) or WGS_84
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def reading_options(command: Any) -> Any:
    """Add the options."""
    options: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--decimal",
            type=click.Choice(list(DECIMALS)),
            callback=_decimal,
            help="What stands before fractions in the file. Default: told from its first rows.",
        ),
        click.option(
            "--encoding",
            callback=_encoding,
            metavar="NAME",
            help="Encoding of the text, such as utf-8, windows-1252, shift_jis, gb18030 or "
            "utf-16-le. Default: detected.",
        ),
        click.option(
            "--time-format",
            callback=_time_format,
            metavar="EXAMPLE",
            help="A time as the file writes it, such as '31.12.2024 23:59', '12/31/2024 11:59 "
            "PM' or 20241231; or iso, epoch_s, epoch_ms, epoch_us, excel_1900, excel_1904. "
            "Default: told from the first rows.",
        ),
        click.option(
            "--time-zone",
            "zone",
            callback=_zone,
            metavar="NAME",
            help="Time zone of times without an offset, such as Europe/Vienna [UTC]. A time that "
            "the clocks show twice is the first of the two; one that they skip is read as if they "
            "had not been put forward yet.",
        ),
        click.option(
            "--crs",
            callback=_crs,
            metavar="EPSG:NUMBER",
            help="Reference system that x (easting) and y (northing) are in, such as EPSG:25832; "
            "they are converted to degrees; E7 for degrees times ten million. Default: what the "
            "file says, or degrees.",
        ),
        click.option(
            "--layer",
            metavar="NAME",
            help="Which layer (GeoPackage) or sheet (Excel) holds the check-ins.",
        ),
        click.option(
            "--unpack",
            is_flag=True,
            callback=lambda _ctx, _option, raw: raw or None,
            help="Read a .gz file or workbook that unpacks to more than 1,000 times its size: only "
            "if you trust it.",
        ),
        click.option(
            "--unit",
            type=click.Choice(["user", "row", "file"]),
            callback=_unit,
            help="What counts as one person and is protected as a whole: all rows with one value "
            "of the user column [user]; or, only where there is no such column, every row by "
            "itself (a person with many rows is protected less) or the whole file (its map is "
            "nearly pure noise).",
        ),
    )
    return reduce(lambda made, option: option(made), reversed(options), command)


def chosen_reading(asked: dict[str, Any]) -> dict[str, str]:
    """Return which of the options were given, taken out of all that was."""
    found = {key: asked.pop(key) for key in KEYS}
    return {key: value for key, value in found.items() if value is not None}


def question_line(preview: Preview, question: Question) -> str:
    """Return a question, its candidates and the options that answer it, on one line."""
    answers = [
        f"{one.text}{f' (such as {one.example})' if one.example else ''}: "
        + _option(preview, one.fields)
        for one in question.candidates
    ]
    roles = ",".join(f"{role}=COLUMN" for role in question.fields if role in COLUMN_FIELDS)
    options = [" ".join(OPTIONS[name]) for name in question.fields if name in OPTIONS]
    other = " ".join([*([f"--columns {roles}"] if roles else []), *options])
    ending = f"Otherwise give {other}." if answers else f"Give {other}."
    about = [
        question.title,
        question.text,
        *([f"{'; '.join(answers)}."] if answers else []),
        ending,
    ]
    return f"{preview.basename}: {' '.join(about)}"


def _option(preview: Preview, fields: Sequence[tuple[str, Any]]) -> str:
    """Return what to type for an answer; names that can't be typed are given by number."""
    from explorer.checkins.parsing.times import COUNTED, example_of

    no_user = "unit" in dict(fields)  # that option says that there is no such column
    roles = [
        (role, column)
        for role, column in fields
        if role in COLUMN_FIELDS and not (no_user and role == "user")
    ]
    order = dict(fields).get("order")
    if order is not None:  # one column holds both coordinates
        roles = [(order, dict(fields)["lat"])]
    typed = ",".join(f"{role}={column_name(preview, column)}" for role, column in roles)
    options = [f"--columns {quote(typed)}"] if roles else []
    for name, value in fields:
        if name in OPTIONS:
            example = name == "time_format" and value not in COUNTED
            text = example_of(value) if example else str(value)
            options.append(f"{OPTIONS[name][0]} {quote(text)}")
    return " ".join(options)


def column_name(preview: Preview, column: int | None) -> str:
    """Return what ``--columns`` calls a column: its name, or its number from 1."""
    if column is None:
        return ""
    name = preview.columns[column]
    typable = name.isprintable() and not set(",=") & set(name) and not name.isdecimal()
    return name if typable and preview.columns.count(name) == 1 else str(column + 1)
