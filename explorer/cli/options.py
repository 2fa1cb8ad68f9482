"""Options and parsers shared by the commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli import completion
from explorer.figures.formats import MM_PER_INCH, PAPER_SIZES_MM, PARTS, by_suffix

if TYPE_CHECKING:
    pass


Decorator = Callable[[Any], Any]


def together(*options: Decorator) -> Decorator:
    """Return several options as one decorator; help lists them in this order."""
    return lambda command: reduce(
        lambda decorated, option: option(decorated), reversed(options), command
    )


def study_options(settings: str, preset: str, quantity: str) -> Decorator:
    """Return the options for parameters, preset and quantity of a study, with their help."""
    return together(
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help=settings,
            shell_complete=completion.of_study(completion.parameters, "="),
        ),
        click.option(
            "--preset",
            metavar="KEY",
            help=preset,
            shell_complete=completion.of_study(completion.presets),
        ),
        click.option(
            "--quantity",
            metavar="KEY",
            help=quantity,
            shell_complete=completion.of_study(completion.quantities),
        ),
    )


def picture_options(size: str) -> Decorator:
    """Return the options of a picture, with its default size."""
    return together(
        click.option(
            "--size",
            metavar="WxH|WxHmm|column|page",
            default=size,
            show_default=True,
            help="Size in pixels; in millimetres at --dpi; or a paper's column or page width.",
        ),
        click.option(
            "--dpi",
            type=click.IntRange(30, 1200),
            default=150,
            show_default=True,
            help="Dots per inch; text keeps its size in inches.",
        ),
        click.option(
            "--theme",
            type=click.Choice(["light", "dark"]),
            default="light",
            show_default=True,
            help="Colours of the picture.",
        ),
    )


without_option = click.option(
    "--without",
    "left_out",
    multiple=True,
    type=click.Choice(PARTS),
    help="Omit this part of the picture; may be repeated. Stamps and map credits always stay.",
)


def parse_pair(text: str, option: str, empty: bool = False) -> tuple[str, str]:
    """Split ``KEY=VALUE``; the value may be empty if `empty` is true.

    Raises
    ------
    BadParameter
        Naming the option.
    """
    key, separator, value = text.partition("=")
    if not (separator and key and (value or empty)):
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=option)
    return key.strip(), value.strip()


def parse_size(text: str, dpi: int | None = None) -> tuple[int, int]:
    """Return width and height in pixels from ``1280x800``.

    With `dpi` the text may also be a size in millimetres, ``88x62mm``, or the name of one in
    `PAPER_SIZES_MM`.

    Raises
    ------
    BadParameter
        If it is none of these, or too small or large for a picture.
    """
    typed, forms, at, per = text.lower(), "1280x800", "", 1.0
    if dpi is not None:
        forms += ", 88x62mm, column or page"
        if typed in PAPER_SIZES_MM:
            typed = "{}x{}mm".format(*PAPER_SIZES_MM[typed])
        if typed.endswith("mm"):
            typed, at, per = typed.removesuffix("mm"), f" at {dpi} dpi", dpi / MM_PER_INCH
    try:
        width, height = (round(per * int(side)) for side in typed.split("x"))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not WIDTHxHEIGHT, e.g. {forms}", param_hint="--size"
        ) from None
    if not (200 <= width <= 20_000 and 150 <= height <= 20_000):
        raise click.BadParameter(
            f"{text!r}{at} is outside 200x150 … 20000x20000 pixels", param_hint="--size"
        )
    return width, height


def check_output(output: Path | None, *, maps: bool = False) -> None:
    """Raise BadParameter if an output of maps or curves can't be written."""
    if output is None:
        return
    try:
        missing = by_suffix(output.suffix, maps=maps).missing
    except ValueError as error:
        raise click.BadParameter(f"{output.name!r}: {error}", param_hint="--output") from None
    if missing:
        raise click.BadParameter(missing, param_hint="--output")
    check_folder(output, "--output")


def check_folder(path: Path | None, option: str) -> None:
    """Raise BadParameter if the folder of a file does not exist."""
    if path is not None and not path.resolve().parent.is_dir():
        raise click.BadParameter(
            f"the folder {str(path.parent)!r} does not exist; create it first", param_hint=option
        )
