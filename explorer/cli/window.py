"""The command `window`: opens the window, or writes a screenshot of it."""

from pathlib import Path
from typing import Any

import click

from explorer.cli import completion
from explorer.cli.opening import parse_region, polygon_option
from explorer.cli.options import parse_pair, parse_size, study_options
from explorer.cli.running import report_written
from explorer.ui.app.options import TOUR_STEPS


@click.command("window")
@click.option(
    "--study",
    metavar="STUDY",
    help="Study to open with.",
    shell_complete=completion.studies(),
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Check-ins to open. Default: the sample."
)
@study_options(
    "Set a parameter.",
    "Start from a figure or example of the paper.",
    "Quantity on the y axis. Default: the first.",
)
@click.option(
    "--region",
    callback=parse_region,
    metavar="LATMIN,LONMIN,LATMAX,LONMAX",
    help="Box in degrees to show.",
)
@polygon_option
@click.option(
    "--users",
    type=click.IntRange(min=1),
    help="Maximum number of users, those with the smallest hashes of their ids.",
)
@click.option("--seed", type=int, help="Seed of demonstration noise.")
@click.option(
    "--recipe", type=click.Path(path_type=Path), help="Open the recipe of an exported file."
)
@click.option("--link", metavar="LINK", help="Open a link copied with Edit ▸ Copy link.")
@click.option(
    "--tour",
    type=click.Choice(TOUR_STEPS),
    help="Open with this step of the tour.",
)
@click.option(
    "--screenshot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Draw the window off screen, write the picture and exit.",
)
@click.option(
    "--size",
    metavar="WxH",
    default="1280x800",
    show_default=True,
    help="Size of the window in points.",
)
@click.option(
    "--scale",
    type=click.Choice(["1", "2"]),
    default="1",
    show_default=True,
    help="Pixels per point in a screenshot.",
)
@click.option(
    "--start-page/--no-start-page",
    default=None,
    help="Open with the start page. Default: only if no other option names a question.",
)
@click.option(
    "--theme",
    type=click.Choice(["light", "dark", "system"]),
    default="system",
    show_default=True,
    help="Colours of the window.",
)
def window_command(
    study: str | None,
    data: Path | None,
    settings: tuple[str, ...],
    preset: str | None,
    quantity: str | None,
    region: Any,
    polygon: Any,
    users: int | None,
    seed: int | None,
    recipe: Path | None,
    link: str | None,
    tour: str | None,
    screenshot: Path | None,
    size: str,
    scale: str,
    start_page: bool | None,
    theme: str,
) -> int:
    """Open the window, or write a picture of it with --screenshot."""
    from explorer.ui.app.launch import run_window
    from explorer.ui.app.options import WindowOptions

    for path in filter(None, (data, recipe)):
        if not path.exists():  # refused before the window is made, which takes seconds
            raise ValueError(f"{path.name} does not exist; check its name and folder.")
    code = run_window(
        WindowOptions(
            study=study,
            data=data,
            values=tuple(parse_pair(item, "--set") for item in settings),
            preset=preset,
            quantity=quantity,
            region=polygon or region,
            users=users,
            seed=seed,
            recipe=recipe,
            link=link,
            tour=tour,
            screenshot=screenshot,
            size=parse_size(size),
            scale=int(scale),
            start_page=start_page,
            theme=theme,
        )
    )
    if screenshot is not None and code == 0:
        report_written(screenshot)
    return code
