"""The command that draws a private heatmap of a file of check-ins."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.cluster import check_data, cluster_options
from explorer.cli.common import (
    check_folder,
    check_output,
    compute,
    export,
    extent_of,
    open_file,
    open_host,
    parse_columns,
    parse_region,
    parse_size,
    picture_options,
    say_columns,
    say_written,
    without_option,
)
from explorer.cli.heatmap_summary import BATCH, as_text, beside_the_paper, heatmap_summary
from explorer.cli.memory import memory_option
from explorer.cli.planes import (
    ALL,
    Backdrop,
    batch_summary,
    image_option,
    images_of,
    picture_option,
    plane_option,
)
from explorer.cli.reading import chosen_reading, reading_options
from explorer.cli.release.looks import record_view
from explorer.figures.animation.frames import FRAMES, MOST_FRAMES, OF_MAPS, OF_TIME, Over
from explorer.figures.formats import Kind, suffixes

if TYPE_CHECKING:
    from explorer.engine.executors.cluster import Cluster
    from explorer.geography.plane import Plane
    from explorer.geography.region import Region
    from explorer.studies.base.study import Parameter


class StudyCommand(click.Command):
    """A command with an option for every parameter of the heatmap study."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's help, then what files it reads."""
        from explorer.checkins.readers import all_readers

        super().format_help_text(ctx, formatter)
        formats = " or ".join(reader.name for reader in all_readers())
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(
                f"FILE is {formats}; the word sample stands for the bundled synthetic one. "
                "Several files, or a folder of them, are one data set: lines are numbered in each, "
                "and folders called NAME=VALUE are columns."
            )

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, then the study's, then --help."""
        from explorer.studies.registry import get_study

        *own, usage = super().get_params(ctx)
        return [*own, *(_option(p) for p in get_study("heatmap").parameters), usage]


def _option(p: Parameter) -> click.Option:
    """Return the command-line option of a declared parameter."""
    from explorer.studies.base.parameters import Kind as ParameterKind

    described = ", ".join(filter(None, (p.symbol, p.name))) + f": {p.help}"
    if p.numeric:
        described += f" [{p.low:g}…{p.high:g}{' ' + p.unit if p.unit else ''}]"

    def parse(_ctx: click.Context, _option: click.Parameter, raw: object) -> Any:
        try:
            return p.parse(raw)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    words = "|".join(value for value, _ in p.choices) or p.kind.value.upper()
    if p.kind is ParameterKind.SEVERAL:
        described += f" At most {p.high:g} of {words.replace('|', ', ')}."
        words = "NAME,…"
    return click.Option(
        [f"--{p.key.replace('_', '-')}", p.key],
        default=str(p.default),
        show_default=True,
        metavar=words,
        help=described,
        callback=parse,
    )


@click.command("heatmap", cls=StudyCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--region",
    callback=parse_region,
    metavar="LATMIN,LONMIN,LATMAX,LONMAX",
    help="Box of degrees; west above east, as 177 and -178, is across 180°. Default: the sample's, "
    "or the extent of the check-ins. Of a --plane: "
    "XMIN,YMIN,XMAX,YMAX, or padded (the square of the next power of two); default: all of it.",
)
@plane_option
@picture_option
@image_option
@click.option(
    "--preset",
    "preset_key",
    metavar="gowalla|brightkite",
    help="The heatmap paper's region and months; prints the counts it reports beside ours.",
)
@click.option("--start", metavar="UTC", help="Use check-ins from this instant on (ISO 8601).")
@click.option("--end", metavar="UTC", help="Use check-ins before this instant (ISO 8601).")
@click.option(
    "--users",
    type=click.IntRange(min=1),
    help="At most so many users, those with the smallest hashes of their ids. Default: all.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="This share of the users (0.1 is a tenth), by the hash of their ids.",
)
@click.option(
    "--data-seed", type=int, default=0, show_default=True, help="Public key of these hashes."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of demonstration noise.")
@click.option(
    "--columns",
    multiple=True,
    callback=parse_columns,
    metavar="ROLE=COLUMN,…",
    help="Which column holds what, by name or number from 1, where the guess is wrong: "
    "user, time, lat, lon, location, weight; latlon or lonlat for both coordinates in one column. "
    "Nothing behind the = leaves that out: time=.",
)
@reading_options
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Write the map ({suffixes(Kind.PICTURE, maps=True)}), its numbers "
    f"({suffixes(Kind.NUMBERS, maps=True)}) or frames of it one after the other "
    f"({suffixes(Kind.ANIMATION, maps=True)}).",
)
@click.option(
    "--animate",
    metavar="|".join((*OF_MAPS, "KEY")),
    default=Over.DRAWS.value,
    show_default=True,
    help="What differs from frame to frame of an animation: the noise, or a window of time that "
    "moves on, or one that grows, over --start to --end or all times there are, or the parameter "
    "KEY (epsilon, …), from one end of its range to the other. Every frame spends ε again.",
)
@click.option(
    "--frames",
    type=click.IntRange(2, MOST_FRAMES),
    default=FRAMES,
    show_default=True,
    help="How many an animation has.",
)
@click.option(
    "--panes",
    type=click.Choice(["both", "private", "true", "centres", "points"]),
    default="both",
    show_default=True,
    help="Which heatmaps the file shows: the private one and what stands beside it, private ones "
    "alone, or one that stands beside: the true one, which is for the curator only, or centres or "
    "points, of which CSV then has a row each. Without the true map nothing that tells of the "
    "check-ins is written or printed.",
)
@picture_options("1600x900")
@without_option
@click.option("--json", "as_json", is_flag=True, help="Print metrics, timings and counts as JSON.")
@click.option(
    "--set-aside",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.csv",
    help="Write every rejected row, with its line number and the reason.",
)
@memory_option
@click.option(
    "--once",
    is_flag=True,
    help="Read only what lies in the --region, straight from the files, and keep nothing: for one "
    "question about data larger than memory. Rows elsewhere are not checked line by line.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor keep the cached check-ins.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@cluster_options
def heatmap_command(
    files: tuple[Path, ...],
    region: Region | None,
    plane: Plane | None,
    picture: Backdrop | None,
    image: str | None,
    preset_key: str | None,
    start: str | None,
    end: str | None,
    users: int | None,
    share: float | None,
    data_seed: int,
    seed: int,
    columns: dict[str, str] | None,
    output: Path | None,
    animate: str,
    frames: int,
    panes: str,
    size: str,
    dpi: int,
    theme: str,
    left_out: tuple[str, ...],
    as_json: bool,
    set_aside: Path | None,
    memory: int | None,
    once: bool,
    no_cache: bool,
    quiet: bool,
    cluster: Cluster | None,
    **values: Any,
) -> None:
    """Draw the differentially private heatmap of a file of check-ins (demonstration noise)."""
    from explorer.checkins.presets import preset
    from explorer.figures.animation.frames import Animation, with_frames
    from explorer.figures.view_state import ViewState
    from explorer.geography.region import PlaneRegion, Region
    from explorer.studies.base.request import Unit
    from explorer.studies.base.study import Origin, Selection, all_sides, default_request
    from explorer.studies.registry import get_study

    pixels, reading = parse_size(size), chosen_reading(values)
    if panes not in ("both", "private", *values["beside"].split(",")):
        what = "the true map" if panes == "true" else "the map of them"
        raise click.BadParameter(f"needs {what}: --beside {panes}", param_hint="--panes")
    if users is not None and share is not None:
        raise click.BadParameter("choose --users or --share", param_hint="--share")
    came = Origin.PUBLIC if region is None else Origin.TYPED
    timed = Origin.PUBLIC if start is end is None else Origin.TYPED
    plane = plane or (picture.plane if picture else None)
    if plane is not None and "crs" in reading:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--crs")
    if plane is not None and preset_key is not None:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--preset")
    if image == ALL and (output is not None or panes == "private"):
        which = "--output" if output is not None else "--panes"
        raise click.BadParameter("is for one image: name it with --image", param_hint=which)
    paper = None if preset_key is None else preset(preset_key)
    if paper is not None:
        region = region or Region(*paper.box)
        start, end = start or paper.start, end or paper.end
    check_output(output, maps=True)
    check_data(cluster)
    if set_aside is not None and set_aside.suffix.lower() != ".csv":
        raise click.BadParameter("give it a name that ends with .csv", param_hint="--set-aside")
    check_folder(set_aside, "--set-aside")
    only = None
    if once:
        _check_once(region, plane, image, set_aside, cluster)
        assert region is not None
        only = {
            "box": region.box,
            "start": start,
            "end": end,
            "timed": animate in OF_TIME,
            "fingerprint": as_json or output is not None,  # the recipe names the files by it
        }
    with ExitStack() as stack:
        host = open_host(stack, cluster, quiet=quiet)
        data, suggested = open_file(
            stack,
            files,
            columns,
            use_cache=not no_cache,
            quiet=quiet,
            plane=plane,
            reading=reading,
            memory=memory,
            executor=partial(host.computing.for_import, check=lambda: None),
            once=only,
        )
        if not quiet and panes != "private":
            say_columns(data)
        record_view(data)
        host.add_data(data)
        if set_aside is not None:
            data.export_rejected(set_aside)
            say_written(set_aside)
        box = region or suggested
        if plane is not None:
            box, came = region or PlaneRegion.whole(plane), Origin.TYPED
        if box is None:
            box, came = extent_of(data), Origin.EXTENT
        selection = Selection(
            data.fingerprint,
            box,
            start,
            end,
            users,
            data_seed,
            share,
            all_sides(came),
            timed,
            unit=Unit(data.unit),
        )
        question = default_request(get_study("heatmap"), **values)
        named = host.add_file(picture.path) if picture is not None else ""
        summaries: dict[str, dict[str, Any]] = {}
        for name in images_of(data, image):
            selection = replace(selection, image=name)
            request = replace(question, selection=selection, seed=seed)
            result = compute(host, request, quiet=quiet)
            shown = tuple(
                s.key
                for s in result.surfaces
                if panes == "both" or s.key == panes or (panes == "private" and not s.curator_only)
            )
            view = ViewState.for_result(
                result, theme=theme, surfaces=shown, picture=named, left_out=left_out
            )
            summary = summaries[name or ""] = heatmap_summary(result, data, view)
        if image == ALL:
            summary = batch_summary(summaries, BATCH)
        if paper is not None and panes != "private":
            summary["paper"] = beside_the_paper(data, selection, paper)
        if output is not None:
            backdrop = picture.data if picture is not None else b""
            over = Over(animate) if animate in OF_MAPS else Over.PARAMETER
            animation = Animation(over, frames, data.first_time, data.last_time, animate)
            animated = partial(with_frames, animation=animation, answer=host.answer)
            export(result, view, data, output, pixels, dpi, animated, quiet, backdrop)
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False, indent=1))
    else:
        click.echo(as_text(summary))


def _check_once(
    region: Region | None,
    plane: Plane | None,
    image: str | None,
    set_aside: Path | None,
    cluster: Cluster | None,
) -> None:
    """Refuse what a question that is asked once does not tell."""
    if region is None:
        raise click.BadParameter("needs to know where: give --region", param_hint="--once")
    others = {"--plane": plane, "--image": image, "--set-aside": set_aside, "--cluster": cluster}
    for option, given in others.items():
        if given is not None:
            why = "reads the rows of one region of the Earth, on this machine, and keeps nothing"
            raise click.BadParameter(f"{why}; leave out {option}", param_hint="--once")
