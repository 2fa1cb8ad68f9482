"""The command `experiment`: many draws of several mechanisms, summarised."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from explorer.cli import completion
from explorer.cli.cluster import check_data, cluster_options, many_workers, workers_option
from explorer.cli.opening import (
    memory_option,
    open_file,
    parse_columns,
    parse_region,
    plane_option,
    print_columns,
    reading_arguments,
    reading_options,
    record_view,
)
from explorer.cli.options import check_folder, parse_pair
from explorer.cli.running import Progress, report_written
from explorer.csv_rows import CsvRows

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.executors.base import Executor
    from explorer.engine.executors.cluster import Cluster
    from explorer.geography.region import Region
    from explorer.studies.heatmap.experiments.figures import Figure
    from explorer.studies.heatmap.experiments.plan import Point
    from explorer.studies.heatmap.experiments.samples import Place


QUALITY = "heatmap-quality"
DRAWS = 10
SWEPT = ("resolution", "sigma", "n0", "w", "epsilon")
"""Parameters of the map with an option for a list of values, the last varying fastest."""


def _list_callback(key: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Return an option callback that parses a comma-separated list of a map parameter."""

    def parse(_ctx: click.Context, _option: click.Parameter, raw: str) -> list[Any]:
        from explorer.studies.base.study import parameter
        from explorer.studies.registry import get_study

        p = parameter(get_study("heatmap"), key)
        try:
            return [p.parse(item.strip()) for item in raw.split(",")]
        except ValueError as error:
            raise click.BadParameter(f"{error}; give numbers with commas between") from error

    return parse


def _users(_ctx: click.Context, _option: click.Parameter, raw: str) -> list[int | None]:
    result: list[int | None] = []
    for item in (part.strip() for part in raw.split(",")):
        if item != "all" and not (item.isdecimal() and int(item)):
            raise click.BadParameter(
                f"{item!r} is not a number of users; give whole numbers above 0 or all, "
                "with commas between"
            )
        result.append(None if item == "all" else int(item))
    return result


def _mechanisms(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> list[str] | None:
    from explorer.studies.heatmap.mechanisms import MECHANISMS

    if raw is None:
        return None
    result = [item.strip() for item in raw.split(",")]
    there = [mechanism.key for mechanism in MECHANISMS.values() if mechanism.comparable]
    for key in result:
        if key not in MECHANISMS:
            raise click.BadParameter(f"there is no mechanism {key!r}; there are {', '.join(there)}")
        if key not in there:
            raise click.BadParameter(
                f"{key} promises a distance, not ε for a user, and can't be ranked with the "
                f"others; choose from {', '.join(there)}"
            )
    return list(dict.fromkeys(result))


def _regions(ctx: click.Context, option: click.Parameter, raw: tuple[str, ...]) -> list[Region]:
    return [parse_region(ctx, option, one) for one in raw]


@click.command("experiment")
@click.argument("name", metavar="NAME", required=False, shell_complete=completion.experiments)
@click.option("--list", "as_list", is_flag=True, help="List the experiments.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="Check-ins; sample for the bundled synthetic ones.",
)
@click.option(
    "--columns",
    multiple=True,
    callback=parse_columns,
    metavar="ROLE=COLUMN,…",
    help="Columns by role, as in the command heatmap.",
)
@reading_options
@plane_option
@click.option(
    "--region",
    "typed",
    multiple=True,
    callback=_regions,
    metavar="S,W,N,E",
    help="A box of degrees; may be given several times.",
)
@click.option(
    "--regions",
    type=click.IntRange(1, 90_000),
    metavar="N",
    help="The N cells with most users of 300 × 300 over latitudes 0 to 50, longitudes −135 to −60.",
)
@click.option(
    "--users",
    default="200",
    show_default=True,
    callback=_users,
    metavar="N|all,…",
    help="Number of users per region, those with the smallest hashes of their ids.",
)
@click.option("--data-seed", type=int, default=0, show_default=True, help="Key of these hashes.")
@click.option(
    "--mechanisms",
    callback=_mechanisms,
    metavar="KEY,…",
    help="Default: all of the map; for a figure those of the figure.",
)
@click.option(
    "--epsilon",
    default=".1,.5,1,2,5,10",
    show_default=True,
    callback=_list_callback("epsilon"),
    metavar="E,…",
    help="Privacy of the map.",
)
@click.option(
    "--resolution",
    default="256",
    show_default=True,
    callback=_list_callback("resolution"),
    metavar="N,…",
    help="Cells on a side of the map.",
)
@click.option(
    "--sigma",
    default=".02",
    show_default=True,
    callback=_list_callback("sigma"),
    metavar="S,…",
    help="Blur of the heatmaps that are compared, in sides of the map.",
)
@click.option(
    "--n0",
    default="200",
    show_default=True,
    callback=_list_callback("n0"),
    metavar="N,…",
    help="Assumed number of users.",
)
@click.option(
    "--w",
    default="20",
    show_default=True,
    callback=_list_callback("w"),
    metavar="N,…",
    help="Selected cells per level.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Another parameter of the map."
)
@click.option(
    "--draws",
    type=click.IntRange(1, 100_000),
    metavar="D",
    help="Draws of the noise, equal for all mechanisms. Default: 10; for a figure the paper's.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of noise and synthetic data."
)
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the rows with every setting (.csv), or the output of --json (.json).",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of check-ins.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@memory_option
@cluster_options
@click.pass_context
def experiment_command(
    ctx: click.Context,
    /,
    name: str | None,
    as_list: bool,
    seed: int,
    workers: int,
    as_json: bool,
    output: Path | None,
    quiet: bool,
    cluster: Cluster | None,
    **arguments: Any,
) -> None:
    """Run an experiment: errors of private heatmaps over many draws.

    For example: privacy-explorer experiment heatmap-quality --data sample
    --region 40.55,-74.10,40.90,-73.75 --mechanisms pyramid,least-squares --epsilon 1,2

    Progress is printed to standard error. Finished trials survive Ctrl+C, and the same command
    continues. The printed numbers are computed from the check-ins, for the curator only.
    """
    from explorer.studies.heatmap.experiments.plan import SCHEMA

    if as_list:
        click.echo(_list())
        return
    figure = _find_figure(ctx, name)
    fixed = _fixed_parameters(arguments["settings"], figure)
    _check_output(output)
    if arguments["data"] is not None:
        check_data(cluster)
    with ExitStack() as stack:
        executor = many_workers(stack, cluster, workers, quiet)
        data = _open_data(stack, arguments, quiet)
        points = _points(figure, data, fixed, seed, arguments)
        report = run_points(stack, points, seed, executor, Progress(quiet))
        about = {"experiment": name}
        if figure is not None:
            about |= {"title": figure.title, "expected": figure.expected}
        settings = {"seed": seed, "data_seed": arguments["data_seed"], **fixed}
        if data is not None:
            settings |= {"data": data.basename, "sha256": data.fingerprint}
        document = {
            "schema": SCHEMA,
            **about,
            "stamp": stamp_of(data),
            "settings": settings,
            **report,
        }
    if output is not None:
        _write(output, document)
    click.echo(document_json(document) if as_json else as_table(document))


def _list() -> str:
    """Return the experiments, a line each, with the data they need."""
    from explorer.studies.heatmap.experiments.figures import FIGURES

    lines = [(QUALITY, "Error of any mechanisms in any regions (check-ins)")]
    for figure in FIGURES.values():
        lines.append((figure.name, f"{figure.title} ({figure.needs})"))
    return "\n".join(f"{name:16} {text}" for name, text in lines)


def _find_figure(ctx: click.Context, name: str | None) -> Figure | None:
    """Return the figure with a name, None for heatmap quality; check the other options."""
    from explorer.studies.heatmap.experiments.figures import CHECKINS, EITHER, FIGURES

    if name is None:
        raise click.BadParameter("name an experiment; --list lists them", param_hint="NAME")
    figure = FIGURES.get(name)
    if figure is None and name != QUALITY:
        raise click.BadParameter(
            f"there is no experiment {name!r}; there are {', '.join((QUALITY, *FIGURES))}",
            param_hint="NAME",
        )
    given = {
        option.name: option.opts[0]
        for option in ctx.command.params
        if ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    }
    needs_data = figure is None or figure.needs == CHECKINS
    takes_data = needs_data or (figure is not None and figure.needs == EITHER and "data" in given)
    refused: tuple[str, ...] = () if figure is None else (*SWEPT, "users")
    if not takes_data:
        refused += ("data", "columns", "plane", "typed", "regions", "data_seed")
    elif figure is not None and not figure.regions:
        refused += ("typed", "regions")
    for key in refused:
        if key in given:
            raise click.BadParameter(
                f"{name} sets this itself; leave it out, or run {QUALITY}", param_hint=given[key]
            )
    if needs_data and "data" not in given:
        raise click.BadParameter(
            f"{name} is about check-ins: name their file, or sample", param_hint="--data"
        )
    if "typed" in given and "regions" in given:
        raise click.BadParameter("choose --region or --regions", param_hint="--regions")
    if figure is None and not {"typed", "regions"} & set(given):
        raise click.BadParameter(
            "name regions by --region S,W,N,E, or take the busiest cells by --regions N",
            param_hint="--region",
        )
    return figure


def _fixed_parameters(settings: tuple[str, ...], figure: Figure | None) -> dict[str, Any]:
    """Return the parameters of --set; raise BadParameter for those with their own options."""
    from explorer.studies.base.study import parameter
    from explorer.studies.registry import get_study

    own = {"mechanism": "--mechanisms", **({} if figure else {key: f"--{key}" for key in SWEPT})}
    taken = {key for panel in figure.panels for key in panel.keys} if figure else set()
    fixed = {}
    for key, raw in (parse_pair(item, "--set") for item in settings):
        if key in own:
            raise click.BadParameter(f"{key} has an option: {own[key]}", param_hint="--set")
        if key in taken:
            raise click.BadParameter(f"{key} is set by the figure", param_hint="--set")
        try:
            fixed[key] = parameter(get_study("heatmap"), key).parse(raw)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--set") from error
    return fixed


def _open_data(stack: ExitStack, arguments: dict[str, Any], quiet: bool) -> CheckinData | None:
    if arguments["data"] is None:
        return None
    data, _ = open_file(
        stack,
        (arguments["data"],),
        arguments["columns"],
        use_cache=not arguments["no_cache"],
        quiet=quiet,
        plane=arguments["plane"],
        reading=reading_arguments(arguments),
        memory=arguments["memory"],
    )
    stack.callback(data.close)
    if not quiet:
        print_columns(data)
    record_view(data)
    return data


def _points(
    figure: Figure | None,
    data: CheckinData | None,
    fixed: dict[str, Any],
    seed: int,
    arguments: dict[str, Any],
) -> list[Point]:
    """Return the points of the experiment."""
    from explorer.studies.heatmap.experiments.figures import (
        check_users,
        figure_points,
        mechanisms_of_paper,
        quality_points,
        synthetic_sources,
    )
    from explorer.studies.heatmap.experiments.samples import (
        CheckinSource,
        Source,
        busiest_places,
        picture_places,
        place_of,
    )
    from explorer.studies.heatmap.mechanisms import MECHANISMS

    where: list[tuple[Place, Source]] = []
    if data is not None:
        places = [place_of(region) for region in arguments["typed"]]
        if figure is not None and figure.pictures and not figure.regions:
            places = picture_places(data, figure.pictures, figure.name)
        places = places or busiest_places(
            data, arguments["regions"] or (figure.regions if figure else 1)
        )
        if figure is not None:
            check_users(figure, data, places)
        source = CheckinSource(data, arguments["data_seed"])
        where = [(place, source) for place in places]
    if figure is not None:
        mechanisms = arguments["mechanisms"] or figure.mechanisms or mechanisms_of_paper()
        draws = arguments["draws"] or figure.draws
        where = where or synthetic_sources(figure, seed)
        return list(figure_points(figure, where, mechanisms, draws, fixed))
    axes = {key: arguments[key] for key in SWEPT}
    ranked = tuple(key for key, mechanism in MECHANISMS.items() if mechanism.comparable)
    mechanisms = arguments["mechanisms"] or ranked
    draws = arguments["draws"] or DRAWS
    return list(quality_points(where, mechanisms, arguments["users"], draws, axes, fixed))


SHOWN = ("emd", "emd_low", "emd_high", "emd_km", "similarity", "pearson", "kl")


def run_points(
    stack: ExitStack, points: list[Point], seed: int, executor: Executor, progress: Progress
) -> dict[str, Any]:
    """Run the unknown trials of some points and return the report of all."""
    from explorer.engine.executors.base import task_key
    from explorer.engine.experiments import Checkpoint, find_trials, trials_file
    from explorer.studies.heatmap.experiments.plan import Trials, rows_of

    folder = stack.enter_context(executor.shared_folder())
    rows = []
    for row in rows_of(points, seed, folder):
        rows.append(row)
        progress.counted(len(rows), len(points))
    progress.end()
    arguments = {(row.point.place.name, row.users, row.point.users or 0) for row in rows}
    for name, there, wanted in sorted(arguments):
        if there < wanted:
            click.echo(f"{name} has {there:,} users of {wanted:,}; all are taken", err=True)
    trials = Trials.of(rows, task_key)
    checkpoint = Checkpoint(trials_file())
    stack.callback(checkpoint.close)
    results: dict[str, Any] = {}
    total = len(trials.by_key)
    try:
        for i, part in enumerate(find_trials(trials, executor, checkpoint, folder)):
            results |= part
            if i:
                progress.at(len(results), total)
            else:
                progress.begin(len(results), total)
    except KeyboardInterrupt:
        progress.end()
        click.echo(
            f"{len(results):,} of {total:,} trials are kept; the same command goes on from there",
            err=True,
        )
        raise
    progress.end()
    return trials.report(results)


def stamp_of(data: CheckinData | None) -> str:
    """Return the stamp of numbers computed from check-ins or from synthetic data."""
    from explorer.studies.heatmap.text import SYNTHETIC, stamp

    return SYNTHETIC if data is None else stamp(data.synthetic, curator_only=True)


def _check_output(output: Path | None) -> None:
    """Raise BadParameter if a file can't be written."""
    if output is not None and output.suffix.lower() not in (".csv", ".json"):
        raise click.BadParameter(
            f"{output.name!r} ends neither with .csv nor with .json", param_hint="--output"
        )
    check_folder(output, "--output")


def document_json(document: dict[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def _write(output: Path, document: dict[str, Any]) -> None:
    """Write a document as JSON, or its rows as CSV below comment lines with the rest."""
    from explorer.files import write_whole

    if output.suffix.lower() == ".json":
        text = document_json(document) + "\n"
    else:
        rest = {key: value for key, value in document.items() if not isinstance(value, list)}
        table = io.StringIO()
        rows = document["rows"]
        CsvRows(table).write_rows([rows[0], *([row[key] for key in rows[0]] for row in rows)])
        comments = "".join(f"# {key}: {_plain(value)}\n" for key, value in rest.items())
        text = comments + table.getvalue()
    write_whole(output, text.encode())
    report_written(output)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_table(document: dict[str, Any]) -> str:
    """Return the rows as a table for a terminal."""
    from explorer.studies.base.numbers import nearest

    rows = document["rows"]
    heads = ["region", "mechanism", "epsilon", "users", "draws"]
    if "axis" in rows[0]:
        heads += ["axis", "x"]
    lines = [[*heads, *SHOWN]]
    for row in rows:
        measured = ("–" if row[key] is None else nearest(row[key]) for key in SHOWN)
        lines.append([*(str(row[key]) for key in heads), *measured])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = [
        "  ".join(f"{cell:{w}}" for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join([*(line.rstrip() for line in table), document["stamp"]])
