"""The command `heatmap`: private heatmap of a check-in file, with metrics and recipe."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.cluster import check_data, cluster_options
from explorer.cli.opening import (
    ALL,
    Backdrop,
    Priors,
    background_option,
    extent_of,
    image_option,
    images_of,
    map_prior_option,
    memory_option,
    open_file,
    parse_columns,
    parse_region,
    picture_option,
    plane_option,
    polygon_option,
    print_columns,
    prior_values,
    reading_arguments,
    reading_options,
    record_view,
    release_values,
)
from explorer.cli.options import (
    check_folder,
    check_output,
    parse_size,
    picture_options,
    without_option,
)
from explorer.cli.running import compute, export, open_host, recipe_of, report_written
from explorer.figures.animation_frames import FRAMES, MAX_FRAMES, OF_MAPS, OF_TIME, Over
from explorer.figures.formats import Kind, suffixes

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.checkins.public_files import Preset
    from explorer.engine.executors.cluster import Cluster
    from explorer.figures.pages.backdrop import BackgroundFile
    from explorer.figures.view_state import ViewState
    from explorer.geography.plane import Plane
    from explorer.geography.region import Region
    from explorer.studies.base.study import Parameter, Result, Selection


class StudyCommand(click.Command):
    """A command with an option for every parameter of the heatmap study."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's help, then the file formats it reads."""
        from explorer.checkins.readers import all_readers

        super().format_help_text(ctx, formatter)
        *most, last = [reader.name for reader in all_readers()]
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(
                f"FILE is {', '.join(most)} or {last}; the word sample stands for the bundled "
                "synthetic one. Several files, or a folder of them, are one data set: lines are "
                "numbered in each, and folders called NAME=VALUE are columns."
            )

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, then the study's, then --help."""
        from explorer.studies.heatmap.mechanisms import PRIORS
        from explorer.studies.registry import get_study

        *own, usage = super().get_params(ctx)
        declared = (p for p in get_study("heatmap").parameters if p.key not in PRIORS)
        return [*own, *map(_option, declared), usage]  # priors: --prior


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
    help="Box in degrees; it crosses 180° if west is above east, such as 177 and -178. Default: "
    "the sample's box, or the extent of the check-ins. With --plane: XMIN,YMIN,XMAX,YMAX, or "
    "padded (the square of the next power of two); default: the whole plane.",
)
@polygon_option
@plane_option
@picture_option
@background_option
@image_option
@map_prior_option
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The ledger with the releases of --prior release:ID. Default: the one in the user's data "
    "folder.",
)
@click.option(
    "--preset",
    "preset_key",
    metavar="gowalla|brightkite",
    help="The heatmap paper's region and months; prints its reported counts next to ours.",
)
@click.option("--start", metavar="UTC", help="Use check-ins from this instant on (ISO 8601).")
@click.option("--end", metavar="UTC", help="Use check-ins before this instant (ISO 8601).")
@click.option(
    "--users",
    type=click.IntRange(min=1),
    help="Maximum number of users, those with the smallest hashes of their ids. Default: all.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of the users (0.1 is a tenth), selected by the hash of their ids.",
)
@click.option(
    "--data-seed",
    type=int,
    default=0,
    show_default=True,
    help="Public key of the hashes of user ids.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of demonstration noise.")
@click.option(
    "--columns",
    multiple=True,
    callback=parse_columns,
    metavar="ROLE=COLUMN,…",
    help="Columns by role, as name or number from 1, if the guess is wrong: "
    "user, time, lat, lon, location, weight; latlon or lonlat for both coordinates in one column. "
    "An empty value omits the role: time=.",
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
    help="What an animation varies: the noise, or a window of time that moves or grows from "
    "--start to --end (default: all times), or the parameter KEY (epsilon, …) over its range. "
    "Every frame spends ε again.",
)
@click.option(
    "--frames",
    type=click.IntRange(2, MAX_FRAMES),
    default=FRAMES,
    show_default=True,
    help="Number of frames of an animation.",
)
@click.option(
    "--panes",
    type=click.Choice(["both", "private", "true", "centres", "points"]),
    default="both",
    show_default=True,
    help="Heatmaps in the file: the private map and the one beside it (both), private maps only, "
    "or only the one beside it: the true map (for the curator only), centres or points (a CSV has "
    "one row for each). Without the true map, nothing else that depends on the check-ins is "
    "written or printed.",
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
    help="Read only rows in the --region, directly from the files, and cache nothing: for a single "
    "query of data larger than memory. Other rows are not validated.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of check-ins.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@cluster_options
def heatmap_command(
    files: tuple[Path, ...],
    region: Region | None,
    polygon: Region | None,
    plane: Plane | None,
    picture: Backdrop | None,
    backgrounds: tuple[BackgroundFile, ...],
    image: str | None,
    priors: Priors,
    ledger: Path | None,
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
    from explorer.checkins.public_files import preset
    from explorer.engine.runtime import file_value
    from explorer.figures.animation_frames import Animation, with_frames
    from explorer.figures.view_state import ViewState
    from explorer.geography.region import PlaneRegion, Region
    from explorer.studies.base.request import Unit
    from explorer.studies.base.study import Origin, Selection, all_sides, default_request
    from explorer.studies.registry import get_study

    pixels, reading = parse_size(size, dpi), reading_arguments(values)
    if polygon is not None and region is not None:
        raise click.BadParameter("choose --region or --polygon", param_hint="--polygon")
    region = polygon or region
    if panes not in ("both", "private", *values["beside"].split(",")):
        what = "the true map" if panes == "true" else "the map of them"
        raise click.BadParameter(f"needs {what}: --beside {panes}", param_hint="--panes")
    if users is not None and share is not None:
        raise click.BadParameter("choose --users or --share", param_hint="--share")
    origin = Origin.PUBLIC if region is None else Origin.TYPED
    timed = Origin.PUBLIC if start is end is None else Origin.TYPED
    plane = plane or (picture.plane if picture else None)
    if plane is not None and "crs" in reading:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--crs")
    if plane is not None and polygon is not None:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--polygon")
    if plane is not None and backgrounds:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--background")
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
        shown = (values["mechanism"], *values["beside"].split(","))
        values |= prior_values(host, priors, shown)
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
            print_columns(data)
        record_view(data)
        host.add_data(data)
        values |= release_values(stack, host, priors, ledger, data.fingerprint)
        if set_aside is not None:
            data.export_rejected(set_aside)
            report_written(set_aside)
        box = region or suggested
        if plane is not None:
            box, origin = region or PlaneRegion.whole(plane), Origin.TYPED
        if box is None:
            box, origin = extent_of(data), Origin.EXTENT
        selection = Selection(
            data.fingerprint,
            box,
            start,
            end,
            users,
            data_seed,
            share,
            all_sides(origin),
            timed,
            unit=Unit(data.unit),
        )
        question = default_request(get_study("heatmap"), **values)
        named = host.add_file(picture.path) if picture is not None else ""
        behind = tuple(file_value(Path(file.path)) for file in backgrounds)
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
                result,
                theme=theme,
                surfaces=shown,
                picture=named,
                backgrounds=behind,
                show_basemap=not behind,  # its coarse outline misleads beside true coasts
                left_out=left_out,
            )
            summary = summaries[name or ""] = heatmap_summary(result, data, view)
        if image == ALL:
            summary = batch_summary(summaries, BATCH)
        if paper is not None and panes != "private":
            summary["paper"] = paper_comparison(data, selection, paper)
        if output is not None:
            backdrop = picture.data if picture is not None else b""
            over = Over(animate) if animate in OF_MAPS else Over.PARAMETER
            animation = Animation(over, frames, data.first_time, data.last_time, animate)
            animated = partial(with_frames, animation=animation, answer=host.answer)
            export(result, view, data, output, pixels, dpi, animated, quiet, backdrop, backgrounds)
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
    """Raise BadParameter for options that --once excludes."""
    if region is None:
        raise click.BadParameter(
            "needs to know where: give --region or --polygon", param_hint="--once"
        )
    others = {"--plane": plane, "--image": image, "--set-aside": set_aside, "--cluster": cluster}
    for option, given in others.items():
        if given is not None:
            why = "reads the rows of one region of the Earth, on this machine, and keeps nothing"
            raise click.BadParameter(f"{why}; leave out {option}", param_hint="--once")


SCHEMA = "privacy-explorer-heatmap/1"


BATCH = "privacy-explorer-heatmap-images/1"


METRICS = ("similarity", "pearson", "kl", "emd")
"""In addition to the distance in the map's unit."""


SENTENCES = {
    "loss_sentence": "loss",
    "noise_warning": "noise_level",
    "weights_sentence": "weights_bias",
}
"""Entry of the metrics → key of the readout with its note."""


def heatmap_summary(result: Result, data: CheckinData, view: ViewState) -> dict[str, Any]:
    """Return counts, metrics and the recipe of a heatmap as JSON values.

    Without the non-private map, all values that are not private are null.
    """
    from explorer.figures.export import apply_export_policy
    from explorer.figures.tables import points_document

    there = result.request.selection
    unit = "km" if there is None or there.region.plane is None else "unit"
    result, view, recipe = apply_export_policy(
        result, view, recipe_of(result, view, data).to_dict()
    )
    private_only = bool(recipe.get("private_only"))
    numbers = {r.key: r for r in result.readouts}
    return {
        "schema": SCHEMA,
        "stamp": result.stamp,
        "unit": "user" if there is None else there.unit.value,
        **(dict.fromkeys(CURATORS) if private_only else _curator_part(result, data)),
        "metrics_on": LEFT_OUT if private_only else METRICS_ON,
        "epsilon_per_level": {
            key.removeprefix("epsilon_level_"): r.value
            for key, r in numbers.items()
            if key.startswith("epsilon_level_")
        },
        "prior_weights": {
            key.removeprefix("prior_weight_level_"): r.value
            for key, r in numbers.items()
            if key.startswith("prior_weight_level_")
        },
        "centres": [
            point
            for surface in result.surfaces
            if surface.overlay is not None and surface.overlay.numbered
            for point in points_document(surface)["points"]
        ],
        f"centres_{unit}": numbers["centres_cost"].value if "centres_cost" in numbers else None,
        "guarantee": _guarantee_part(result),
        "conditions": [
            {"text": c.text, "holds": c.holds, "margin": c.margin} for c in result.conditions
        ],
        "notes": list(result.notes),
        "recipe": dict(recipe),
    }


CURATORS = ("columns", "rows", "users", "contributions", "metrics", "timings_ms", "seed")
"""Entries of the summary that are for the curator only."""


METRICS_ON = "filtered maps, sum-normalised, true against private; curator only"


LEFT_OUT = "left out: only the private map is shown"


def _curator_part(result: Result, data: CheckinData) -> dict[str, Any]:
    """Return counts, metrics and timings, for the curator only."""
    from explorer.studies.heatmap.contributions import histogram_of
    from explorer.studies.heatmap.text import AVERAGE_ERROR, FAR, in_unit

    report = data.report
    numbers = {r.key: r for r in result.readouts}
    region = result.request.selection.region if result.request.selection else None
    far, error = in_unit(FAR, region), in_unit(AVERAGE_ERROR, region)
    metrics: dict[str, float | str | None] = {key: numbers[key].value for key in (*METRICS, far)}
    metrics[error] = numbers[error].value if error in numbers else None
    if region is not None and region.plane is not None:
        metrics["unit"] = region.unit
    metrics["emd_lower"], metrics["emd_upper"] = numbers["emd"].low, numbers["emd"].high
    for key, readout in SENTENCES.items():
        metrics[key] = numbers[readout].note or None if readout in numbers else None
    return {
        "columns": columns_read(data),
        "rows": {
            "read": report.physical_lines - report.header - report.before_header,
            "before_header": report.before_header,
            "kept": report.kept,
            "blank": report.blank,
            "continued": report.continued,
            "set_aside": {str(reason): n for reason, n in report.rejected.items()},
            "merged_ids": report.merged_ids,
            "times_without_offset": report.naive_times,
            "zone": (data.mapping.zone or "UTC") if report.naive_times else None,
        },
        "users": {
            "in_file": None if data.region_only else _count(numbers["users_in_file"].value),
            "in_region": _count(numbers["users_in_region"].value),
            "used": _count(numbers["users_used"].value),
        },
        "contributions": histogram_of(result),
        "metrics": metrics,
        "timings_ms": dict(result.timings_ms),
        "seed": result.request.seed,
    } | ({"asked_once": " ".join(report.notes)} if data.region_only else {})


def _guarantee_part(result: Result) -> dict[str, str]:
    """Return the guarantee under both neighbouring relations."""
    keys = ("unit", "add_remove", "replace_one", "sentence")
    return {key: getattr(result.guarantee, key) for key in keys}


COLUMNS = ("user", "lat", "lon", "time")
"""Columns that are always listed, null if there is none; others are listed if used."""


def columns_read(data: CheckinData) -> dict[str, dict[str, Any] | None]:
    """Return names and indices (from 1) of the columns in use, for the curator only."""
    result: dict[str, dict[str, Any] | None] = dict.fromkeys(COLUMNS)
    for role, name in data.names.items():
        result[role] = {"name": name, "index": getattr(data.mapping, role) + 1}
    return result


def paper_comparison(data: CheckinData, selection: Selection, paper: Preset) -> dict[str, Any]:
    """Return the counts of the paper after its filter next to ours, without sampling."""
    region = selection.region
    whole = data.points(region.box, selection.start, selection.end, polygon=region.polygon)
    return {
        what: {"here": ours, "paper": theirs}
        for what, ours, theirs in paper.compare(whole.rows, whole.users_in_region)
    } | {"source": paper.reference}


def _count(value: float | None) -> int:
    return int(value or 0)


def as_text(summary: dict[str, Any]) -> str:
    """Return the summary as text for a terminal."""
    from explorer.studies.base.numbers import format_number, nearest
    from explorer.studies.base.request import Unit
    from explorer.studies.heatmap.guarantee import UNITS

    lines = _count_lines(summary) if summary["rows"] is not None else []
    for what, counts in summary.get("paper", {}).items():
        if what != "source":
            lines.append(f"{what}: {counts['here']:,}; the paper reports {counts['paper']:,}")
    lines += [
        f"centre {number}: {north:.5f}, {east:.5f}, nearest of {nearest(100 * share, 2)} %"
        for number, north, east, share in map(dict.values, summary.get("centres", ()))
    ]
    for key, unit in (("centres_km", "km"), ("centres_unit", _unit_of(summary))):
        if summary.get(key) is not None:
            away = format_number(summary[key])
            lines.append(f"{away} {unit} to the nearest centre on average")
    promise = summary["guarantee"]
    one = UNITS[Unit(summary["unit"])].one
    lines += [f"protects {promise['unit']}"]
    lines += [f"add or remove {one}: {promise['add_remove']}"]
    lines += [f"replace {one}: {promise['replace_one']}"]
    for item in summary["conditions"]:
        mark = {True: "✓", False: "✗", None: "○"}[item["holds"]]
        margin = f" ({item['margin']})" if item["margin"] else ""
        lines.append(f"{mark} {item['text']}{margin}")
    lines += summary["notes"]
    return "\n".join(filter(None, [*lines, summary["stamp"]]))


def _count_lines(summary: dict[str, Any]) -> list[str]:
    """Return counts and metrics, for the curator only."""
    from explorer.studies.base.numbers import format_interval, format_number

    rows, users, metrics = summary["rows"], summary.get("users"), summary["metrics"]
    units = f"{summary['unit']}s"
    in_file = "an unknown number" if users and users["in_file"] is None else ""
    aside = ", ".join(f"{n:,} {reason}" for reason, n in rows["set_aside"].items()) or "none"
    lines = [
        f"rows: {rows['kept']:,} kept of {rows['read']:,}; rejected: {aside}",
        *(
            [f"times without an offset: taken as those of {rows['zone']} (--time-zone)"]
            if rows.get("zone")
            else []
        ),
        *([f"ids merged: {rows['merged_ids']:,}"] if rows.get("merged_ids") else []),
        f"{units}: {users['used']:,} used of {users['in_region']:,} in the region "
        f"and {in_file or format(users['in_file'], ',')} in the file"
        if users is not None
        else f"images: {len(summary['images']):,}; means over them:",
    ]
    if summary.get("contributions") is not None:
        lines.append(f"contributions (curator only): {summary['contributions']['note']}")
    if metrics["similarity"] is not None:
        unit = metrics.get("unit")
        suffix, unit = ("km", "km") if unit is None else ("unit", unit)
        far, error = metrics[f"emd_{suffix}"], metrics.get(f"emd_blocks_{suffix}")
        if error is not None:
            lines.append(f"average error of this map (curator only): {format_number(error)} {unit}")
        distance = metrics["emd"]
        if distance is None:
            shown = format_interval(metrics["emd_lower"], metrics["emd_upper"]) + " of the side"
        else:
            shown = f"{format_number(distance)} of the side" + (
                "" if far is None else f", {format_number(far)} {unit}"
            )
        lines.append(
            f"against the truth (curator only): similarity "
            f"{format_number(metrics['similarity'])}, "
            f"earth mover's distance {shown}"
        )
        lines += filter(None, (metrics.get(key) for key in SENTENCES))
    return lines


def _unit_of(summary: dict[str, Any]) -> str:
    """Return the unit of the plane in a summary's recipe."""
    from explorer.geography.plane import Plane

    plane = summary.get("recipe", {}).get("selection", {}).get("plane")
    return Plane.parse(plane).unit if plane else ""


def batch_summary(summaries: dict[str, dict[str, Any]], schema: str) -> dict[str, Any]:
    """Return the summaries of several images as one, with the mean of their metrics."""
    first = next(iter(summaries.values()))
    shared = (
        "stamp",
        "unit",
        "columns",
        "rows",
        "metrics_on",
        "epsilon_per_level",
        "guarantee",
        "conditions",
    )
    names = [key for key, value in first["metrics"].items() if not isinstance(value, str)]
    means: dict[str, float | str | None] = {}
    for key in names:
        result = [one["metrics"][key] for one in summaries.values()]
        numbers = [value for value in result if isinstance(value, int | float)]
        means[key] = sum(numbers) / len(numbers) if numbers else None
    together = (
        f"Each map keeps its guarantee alone. Somebody who is in all {len(summaries)} images is "
        f"in {len(summaries)} maps: together they spend up to {len(summaries)} times ε."
    )
    notes = dict.fromkeys(note for one in summaries.values() for note in one["notes"])
    images = [
        {"image": name, **{key: one[key] for key in ("users", "metrics", "recipe")}}
        for name, one in summaries.items()
    ]
    return {
        "schema": schema,
        **{key: first[key] for key in shared},
        "metrics": means | {"unit": first["metrics"].get("unit")},
        "notes": [together, *notes],
        "images": images,
    }
