"""How text is read, where a file does not tell: decimal mark, dates by example, time zone."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from explorer.checkins import Mapping, Preview

DECIMALS = {"point": ".", "comma": ","}
KEYS = ("decimal", "time_format", "zone", "crs", "layer")
"""The options below, which are fields of a mapping; but for the layer."""

ANSWERS = {
    "time_format": "Give --time-format with an example whose day is above 12, such as {}.",
    "time": "Give --columns time=COLUMN, or time= to leave times out.",
    "lat": "Give --columns lat=COLUMN,lon=COLUMN.",
    "crs": "Give --crs EPSG:NUMBER.",
    "layer": "Give --layer NAME.",
}
"""Field of the mapping → the option that answers an open question about it."""


def _decimal(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    return None if raw is None else DECIMALS[raw]


def _time_format(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.readers.cells.times import format_of_example

    try:
        return None if raw is None else format_of_example(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _zone(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins import CheckinError
    from explorer.checkins.readers.cells.zones import zone_name

    try:
        return None if raw is None else zone_name(raw)
    except CheckinError as error:
        raise click.BadParameter(str(error)) from error


def _crs(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.readers.places.reference import WGS_84, canonical

    try:
        return None if raw is None else canonical(raw) or WGS_84
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
            "--time-format",
            callback=_time_format,
            metavar="EXAMPLE",
            help="A time as the file writes it, such as '31.12.2024 23:59' or '12/31/2024 11:59 "
            "PM'; or iso, epoch_s, epoch_ms, epoch_us. Default: told from the first rows.",
        ),
        click.option(
            "--time-zone",
            "zone",
            callback=_zone,
            metavar="NAME",
            help="Time zone of times without an offset, such as Europe/Vienna [UTC]. A time that "
            "the clocks show twice is the later one; one that they skip is read as if they had "
            "not been put forward yet.",
        ),
        click.option(
            "--crs",
            callback=_crs,
            metavar="EPSG:NUMBER",
            help="Reference system that x (easting) and y (northing) are in, such as EPSG:25832; "
            "they are converted to degrees. Default: what the file says, or degrees.",
        ),
        click.option(
            "--layer",
            metavar="NAME",
            help="Which layer (GeoPackage) or sheet (Excel) holds the check-ins.",
        ),
    )
    return reduce(lambda made, option: option(made), reversed(options), command)


def chosen_reading(asked: dict[str, Any]) -> dict[str, str]:
    """Return which of the options were given, taken out of all that was."""
    found = {key: asked.pop(key) for key in KEYS}
    return {key: value for key, value in found.items() if value is not None}


def answered(mapping: Mapping, preview: Preview, given: set[str]) -> Mapping:
    """Return a mapping unless a question of the preview is open that no option answers.

    Parameters
    ----------
    mapping : Mapping
    preview : Preview
    given : set of str
        Fields of the mapping that were given.

    Raises
    ------
    ValueError
        With the question, and the option that answers it.
    """
    if "lon" in given:
        given = given | {"lat"}
    if "time" in given and mapping.time != preview.mapping.time:
        given = given | {"time_format"}
    for field, question in preview.questions.items():
        if field not in given:
            raise ValueError(f"{preview.basename}: {question} {answer(preview, field)}")
    return mapping


def answer(preview: Preview, field: str) -> str:
    """Return which option answers a question."""
    from explorer.checkins.readers.cells.times import example_of

    return ANSWERS[field].format(" or ".join(f"'{example_of(f)}'" for f in preview.time_formats))
