"""The command `window`: opens the window, or writes a screenshot of it."""

from pathlib import Path
from typing import Any

import click

from explorer.cli import completion
from explorer.cli.opening import parse_region
from explorer.cli.options import parse_pair, parse_size, study_options
from explorer.cli.running import report_written


@click.command("window")
@click.option(
    "--study",
    metavar="STUDY",
    help="Which question to open with.",
    shell_complete=completion.studies(),
)
@click.option("--data", type=click.Path(path_type=Path), help="Check-ins to open; else the sample.")
@study_options(
    "Set a parameter.", "Open with a figure or example of the paper.", "What is on the y axis."
)
@click.option(
    "--region",
    callback=parse_region,
    metavar="LATMIN,LONMIN,LATMAX,LONMAX",
    help="Box of degrees to look at.",
)
@click.option("--users", type=click.IntRange(min=1), help="Sample so many users.")
@click.option("--seed", type=int, help="Of demonstration noise.")
@click.option("--recipe", type=click.Path(path_type=Path), help="An exported file to go back to.")
@click.option("--link", metavar="LINK", help="What Edit ▸ Copy link copied, to ask again.")
@click.option(
    "--screenshot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Draw off screen, write the picture and end.",
)
@click.option(
    "--size", metavar="WxH", default="1280x800", show_default=True, help="Of the window, in points."
)
@click.option(
    "--scale",
    type=click.Choice(["1", "2"]),
    default="1",
    show_default=True,
    help="Pixels to a point in a screenshot.",
)
@click.option(
    "--start-page/--no-start-page",
    default=None,
    help="Begin with all questions; else where nothing above names one.",
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
    users: int | None,
    seed: int | None,
    recipe: Path | None,
    link: str | None,
    screenshot: Path | None,
    size: str,
    scale: str,
    start_page: bool | None,
    theme: str,
) -> int:
    """Open the window; with --screenshot, draw it off screen, save the picture and end."""
    from explorer.ui.app.launch import run_window
    from explorer.ui.app.options import WindowOptions

    code = run_window(
        WindowOptions(
            study=study,
            data=data,
            values=tuple(parse_pair(item, "--set") for item in settings),
            preset=preset,
            quantity=quantity,
            region=region,
            users=users,
            seed=seed,
            recipe=recipe,
            link=link,
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
