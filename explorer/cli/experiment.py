"""The command `experiment`: many draws of several mechanisms, summarised."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from explorer.cli import completion
from explorer.cli.cluster import check_data, cluster_options, many_workers, workers_option
from explorer.cli.opening import (
    experiment_prior_option,
    image_option,
    images_of,
    memory_option,
    open_file,
    parse_columns,
    parse_region,
    plane_option,
    print_columns,
    prior_values,
    reading_arguments,
    reading_options,
    record_view,
)
from explorer.cli.options import check_folder, parse_pair, parse_size, picture_options
from explorer.cli.running import Progress, report_written
from explorer.figures.formats import Kind, of_kind
from explorer.files import write_whole

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.executors.cluster import Cluster
    from explorer.engine.experiments import Progress as RunProgress
    from explorer.engine.runtime import StudyRuntime
    from explorer.geography.region import Region
    from explorer.studies.heatmap.experiments.figures import Figure
    from explorer.studies.heatmap.experiments.plan import Point
    from explorer.studies.heatmap.experiments.report_curves import OwnPoints
    from explorer.studies.heatmap.experiments.samples import Place


QUALITY = "heatmap-quality"
DRAWS = 10
WITH_PRIOR = ("adaptive-prior",)
"""Mechanisms that run without being named only if there is a prior."""
KEPT = "top_percent"
"""Parameter that takes a list: each value is a curve of the mechanisms that read it."""
OWN = ("epsilon", "resolution", "users")
"""Options that also replace a figure's values."""
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
@image_option
@click.option(
    "--region",
    "typed",
    multiple=True,
    callback=_regions,
    metavar="S,W,N,E",
    help="Box in degrees; may be repeated. With --plane: XMIN,YMIN,XMAX,YMAX, or padded; default: "
    "the whole plane.",
)
@click.option(
    "--regions",
    type=click.IntRange(1, 90_000),
    metavar="N",
    help="Use the N cells with most users, of a grid of 300 × 300 over latitudes 0 to 50 and "
    "longitudes −135 to −60.",
)
@click.option(
    "--users",
    default="200",
    show_default=True,
    callback=_users,
    metavar="N|all,…",
    help="Number of users per region, those with the smallest hashes of their ids.",
)
@click.option(
    "--data-seed", type=int, default=0, show_default=True, help="Key of the hashes of user ids."
)
@click.option(
    "--mechanisms",
    callback=_mechanisms,
    metavar="KEY,…",
    help="Mechanisms of the map. Default: all, adaptive-prior only with --prior; for a figure, "
    "those of the figure.",
)
@click.option(
    "--epsilon",
    default=".1,.5,1,2,5,10",
    show_default=True,
    callback=_list_callback("epsilon"),
    metavar="E,…",
    help="ε, privacy of the map.",
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
@experiment_prior_option
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Another parameter of the map."
)
@click.option(
    "--draws",
    type=click.IntRange(1, 100_000),
    metavar="D",
    help="Number of noise draws, the same for all mechanisms. Default: 10; for a figure, as in the "
    "paper.",
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
    help="Write the rows with every setting (.csv), the output of --json (.json), a picture of the "
    "means over all runs with their 95 % intervals (.png .svg .pdf), or these as a table in LaTeX "
    "(.tex).",
)
@click.option(
    "--overlay",
    "overlaid",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.csv",
    help="Draw points of your own into the picture: columns x and emd, similarity, pearson or kl, "
    "perhaps with ends such as emd_low and emd_high, a name and a panel. Rows of one name and x "
    "are runs, drawn as their mean with Student's 95 % interval. May be repeated.",
)
@picture_options("1600x1200")
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
    overlaid: tuple[Path, ...],
    size: str,
    dpi: int,
    theme: str,
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
    from explorer.engine.experiments import document_of, run_points
    from explorer.engine.runtime import StudyRuntime
    from explorer.figures.pages.experiment import document_json, experiment_bytes

    if as_list:
        click.echo(_list())
        return
    figure = _find_figure(ctx, name)
    fixed, lists = _fixed_parameters(arguments["settings"], figure)
    thresholds = lists.pop(KEPT, None)
    if figure is not None:
        figure = _with_values(ctx, figure, lists, arguments)
    pixels = parse_size(size, dpi)
    _check_output(output, figure, arguments)
    own = _own_points(overlaid, output)
    if arguments["data"] is not None:
        check_data(cluster)
    with ExitStack() as stack:
        executor = many_workers(stack, cluster, workers, quiet)
        runtime = StudyRuntime()
        stack.callback(runtime.close)
        fixed |= _priors(runtime, figure, arguments)
        data = _open_data(stack, arguments, quiet)
        points = _points(figure, data, fixed, thresholds, seed, arguments)
        printer = ProgressPrinter(Progress(quiet))
        try:
            report = run_points(points, seed, executor, runtime.context(), printer, figure)
        except KeyboardInterrupt:
            printer.end(stopped=True)
            raise
        printer.end(stopped=False)
        changed = [] if figure is None else _changed(ctx, figure)
        settings = {"seed": seed, "data_seed": arguments["data_seed"], **fixed}
        if thresholds is not None:
            settings[KEPT] = thresholds
        if figure is not None:
            settings |= {**{key: arguments[key] for key in OWN if key in changed}, **lists}
        document = document_of(str(name), figure, data, settings, report, changed)
    if output is not None:
        picture = {"size_px": pixels, "dpi": dpi, "theme_name": theme, "overlay": own}
        suffix = output.suffix.lower().removeprefix(".")
        write_whole(output, experiment_bytes(document, suffix, **picture))
        report_written(output)
    click.echo(document_json(document) if as_json else as_table(document), nl=not as_json)


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
    refused = () if figure is None else tuple(key for key in (*SWEPT, "users") if key not in OWN)
    if not takes_data:
        refused += ("data", "columns", "plane", "image", "typed", "regions", "data_seed")
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
    if "regions" in given and "plane" in given:
        raise click.BadParameter("is about the Earth; leave out --plane", param_hint="--regions")
    if figure is None and not {"typed", "regions", "plane"} & set(given):
        raise click.BadParameter(
            "name regions by --region S,W,N,E, or take the busiest cells by --regions N",
            param_hint="--region",
        )
    return figure


def _fixed_parameters(
    settings: tuple[str, ...], figure: Figure | None
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return the parameters of --set, and those that take a list of values.

    A list may be given of the share of cells kept, and of what a figure has on its x axis. Raises
    BadParameter for those with their own options.
    """
    from explorer.studies.base.study import parameter
    from explorer.studies.registry import get_study

    own = {"mechanism": "--mechanisms", **({} if figure else {key: f"--{key}" for key in SWEPT})}
    taken = {key for panel in figure.panels for key in panel.keys} if figure else set()
    on_axis = {panel.axis for panel in figure.panels} - {*OWN, "filled"} if figure else set()
    if figure is not None:
        own |= {key: f"--{key}" for key in OWN if key != "users"}
    fixed: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    for key, raw in (parse_pair(item, "--set") for item in settings):
        if key in own:
            raise click.BadParameter(f"{key} has an option: {own[key]}", param_hint="--set")
        if key in taken - on_axis:
            raise click.BadParameter(f"{key} is set by the figure", param_hint="--set")
        try:
            p = parameter(get_study("heatmap"), key)
            if key in on_axis or key == KEPT:
                lists[key] = [p.parse(item.strip()) for item in raw.split(",")]
            else:
                fixed[key] = p.parse(raw)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--set") from error
    return fixed, lists


def _changed(ctx: click.Context, figure: Figure) -> list[str]:
    """Return the options in place of what a figure says of itself, by name."""
    options = (*OWN, "settings", "mechanisms", "draws", "typed", "regions", "image")
    named = {"settings": "set", "typed": "region"}
    given = [key for key in options if ctx.get_parameter_source(key) is ParameterSource.COMMANDLINE]
    if ctx.params["draws"] == figure.draws and "draws" in given:
        given.remove("draws")
    return [named.get(key, key) for key in given]


def _with_values(
    ctx: click.Context, figure: Figure, lists: dict[str, list[Any]], arguments: dict[str, Any]
) -> Figure:
    """Return the figure at the values of --epsilon, --resolution, --users and --set."""
    given = {
        key: arguments[key]
        for key in OWN
        if ctx.get_parameter_source(key) is ParameterSource.COMMANDLINE
    }
    for key, values in {**given, **lists}.items():
        try:
            figure = figure.with_values({key: values})
        except ValueError as error:
            option = f"--{key}" if key in OWN else "--set"
            raise click.BadParameter(str(error), param_hint=option) from error
    return figure


def _priors(
    runtime: StudyRuntime, figure: Figure | None, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return the parameters of --prior, its files opened."""
    chosen = arguments["mechanisms"] or (WITH_PRIOR if figure is None else ())
    return prior_values(runtime, arguments["priors"], chosen)


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
    thresholds: list[float] | None,
    seed: int,
    arguments: dict[str, Any],
) -> list[Point]:
    """Return the points of the experiment."""
    from explorer.studies.heatmap.experiments.figures import (
        check_users,
        figure_places,
        figure_points,
        quality_points,
        synthetic_sources,
    )
    from explorer.studies.heatmap.experiments.samples import (
        CheckinSource,
        Source,
        busiest_places,
        place_of,
    )
    from explorer.studies.heatmap.mechanisms import MECHANISMS

    where: list[tuple[Place, Source]] = []
    if data is not None:
        typed, image = arguments["typed"], arguments["image"]
        if figure is not None and not (typed or image):
            places = figure_places(figure, data, arguments["regions"] or 0)
        elif data.plane is not None or image is not None:
            places = _on_plane(figure, data, arguments)
        else:
            places = [place_of(region) for region in typed] or busiest_places(
                data, arguments["regions"] or 1
            )
        if figure is not None:
            check_users(figure, data, places)
        source = CheckinSource(data, arguments["data_seed"])
        where = [(place, source) for place in places]
    if figure is not None:
        mechanisms = arguments["mechanisms"] or figure.compared
        draws = arguments["draws"] or figure.draws
        where = where or synthetic_sources(figure, seed)
        return list(figure_points(figure, where, mechanisms, draws, fixed, thresholds))
    axes = {key: arguments[key] for key in SWEPT}
    left_out = () if arguments["priors"] else WITH_PRIOR
    ranked = tuple(
        key for key, mechanism in MECHANISMS.items() if mechanism.comparable and key not in left_out
    )
    mechanisms = arguments["mechanisms"] or ranked
    draws = arguments["draws"] or DRAWS
    return list(
        quality_points(where, mechanisms, arguments["users"], draws, axes, fixed, thresholds or ())
    )


def _on_plane(figure: Figure | None, data: CheckinData, arguments: dict[str, Any]) -> list[Place]:
    """Return the regions and images of a plane that an experiment takes.

    A figure takes the padded plane, heatmap quality the whole one, unless regions are named; and
    the named image or all.
    """
    from explorer.geography.region import PlaneRegion
    from explorer.studies.heatmap.experiments.samples import plane_places

    image, typed = arguments["image"], arguments["typed"]
    if data.plane is None:
        raise ValueError(f"{data.basename} has no points in images; leave out --image")
    whole = PlaneRegion.whole if figure is None else PlaneRegion.padded
    return plane_places(typed or [whole(data.plane)], images_of(data, image))


SHOWN = ("emd", "emd_low", "emd_high", "emd_km", "similarity", "pearson", "kl")


class ProgressPrinter:
    """Prints how far an experiment is.

    Parameters
    ----------
    progress : Progress
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begun = False
        self.kept = ""
        """How many trials are kept; empty before the first."""

    def __call__(self, news: RunProgress) -> None:
        """Print the number of counted rows, then of trials."""
        progress = self._progress
        if not news.total:
            progress.counted(news.counted, news.rows)
            return
        self.kept = f"{news.done:,} of {news.total:,} trials are kept"
        if not self._begun:
            progress.end()
            for line in news.short:
                click.echo(line, err=True)
            progress.begin(news.done, news.total)
        else:
            progress.at(news.done, news.total)
        self._begun = True

    def end(self, stopped: bool) -> None:
        """Clear the progress line, and say what is kept of a stopped run."""
        self._progress.end()
        if stopped and self.kept:
            click.echo(f"{self.kept}; the same command goes on from there", err=True)


PICTURES = (".png", ".svg", ".pdf")
OUTPUTS = tuple(f".{form.suffix}" for form in reversed(of_kind(Kind.EXPERIMENT)))


def _check_output(output: Path | None, figure: Figure | None, arguments: dict[str, Any]) -> None:
    """Raise BadParameter if a file can't be written, before anything is run."""
    if output is None:
        return
    suffix = output.suffix.lower()
    if suffix not in OUTPUTS:
        raise click.BadParameter(
            f"{output.name!r}: the extension chooses the format, one of {' '.join(OUTPUTS)}",
            param_hint="--output",
        )
    varied = [key for key in (*SWEPT, "users") if len(arguments[key]) > 1]
    if figure is None and suffix in PICTURES and len(varied) > 1:
        options = " and ".join(f"--{key}" for key in varied)
        raise click.BadParameter(
            f"a picture has one x axis, and {options} have several values each; give several of "
            "one, or write .csv or .tex",
            param_hint="--output",
        )
    if figure is None and suffix in PICTURES and varied == ["users"] and None in arguments["users"]:
        raise click.BadParameter(
            "all is no place on the axis of a picture; give numbers of users", param_hint="--users"
        )
    check_folder(output, "--output")


def _own_points(files: tuple[Path, ...], output: Path | None) -> tuple[OwnPoints, ...]:
    """Return the points of the files of --overlay."""
    from explorer.studies.heatmap.experiments.report_curves import read_points

    if files and (output is None or output.suffix.lower() not in PICTURES):
        raise click.BadParameter(
            f"needs a picture: --output FILE, one of {' '.join(PICTURES)}", param_hint="--overlay"
        )
    own: list[OwnPoints] = []
    for path in files:
        try:
            own += read_points(path)
        except (OSError, ValueError) as error:
            raise click.BadParameter(str(error), param_hint="--overlay") from error
    return tuple(own)


def as_table(document: dict[str, Any]) -> str:
    """Return the rows as a table for a terminal."""
    from explorer.studies.base.numbers import nearest
    from explorer.studies.heatmap.experiments.report_curves import verdict_lines

    rows = document["rows"]
    heads = ["region", "mechanism", "epsilon", "users", "draws"]
    if any(row[KEPT] is not None for row in rows):
        heads.insert(2, KEPT)
    # Kilometres are nowhere but on the Earth.
    shown = [key for key in SHOWN if key != "emd_km" or any(row[key] is not None for row in rows)]
    if "axis" in rows[0]:
        heads += ["axis", "x"]
    lines = [[*heads, *shown]]
    for row in rows:
        measured = ("–" if row[key] is None else nearest(row[key]) for key in shown)
        cells = ("–" if row[key] is None else str(row[key]) for key in heads)
        lines.append([*cells, *measured])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = [
        "  ".join(f"{cell:{w}}" for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    said = verdict_lines(document)
    return "\n".join([*(line.rstrip() for line in table), *said, document["stamp"]])
