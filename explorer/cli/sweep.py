"""The command `sweep`: evaluates a study over a grid of up to three further parameters."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer.cli import completion
from explorer.cli.bounds import StudyCommand, bounds_request
from explorer.cli.cluster import check_data, cluster_options, many_workers, workers_option
from explorer.cli.options import check_folder, parse_size, picture_options, study_options
from explorer.cli.running import Progress, open_host, print_bytes, report_written
from explorer.figures.formats import ExportFormat, Kind, by_suffix, suffixes

if TYPE_CHECKING:
    from explorer.engine.executors.base import Executor
    from explorer.engine.executors.cluster import Cluster
    from explorer.engine.runtime import StudyRuntime
    from explorer.studies.base.grid import Grid, GridAnswer
    from explorer.studies.base.study import Request


@click.command("sweep", cls=StudyCommand)
@click.argument("study", metavar="STUDY", shell_complete=completion.studies("bounds"))
@click.option(
    "--over",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="A list, n=1e4,1e5, or a range of N values with both ends, eps0=A:B:N; :lin or :log "
    "after it overrides the parameter's scale. Up to three times: columns, rows, pages.",
    shell_complete=completion.of_study(completion.parameters, "="),
)
@click.option(
    "--colours", is_flag=True, help="The third parameter's values as colours of one curve."
)
@click.option(
    "--curve",
    metavar="CURVE",
    default="",
    help="Curve for --colours. Default: the first that may be claimed.",
)
@click.option(
    "--sweep",
    metavar="KEY=A:B:N",
    help="Parameter on the x axis of every plot, as in the command bounds.",
    shell_complete=completion.of_study(completion.sweeps, "="),
)
@study_options(
    "Another parameter, the same in every plot.",
    "Start from a figure or example of the paper.",
    "Quantity on the y axis. Default: the first that can be swept over the parameter of --sweep.",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Repeat simulations N times and show the mean and its 95 % interval.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**53),
    default=0,
    show_default=True,
    help="Seed of the first trial; those of the others are derived from it.",
)
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"Write the table or the plots ({suffixes(Kind.GRID)}); default CSV on stdout.",
)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@picture_options("1600x1200")
@cluster_options
def sweep_command(
    study: str,
    over: tuple[str, ...],
    colours: bool,
    curve: str,
    sweep: str | None,
    settings: tuple[str, ...],
    preset: str | None,
    quantity: str | None,
    trials: int,
    seed: int,
    workers: int,
    as_json: bool,
    output: Path | None,
    quiet: bool,
    size: str,
    dpi: int,
    theme: str,
    cluster: Cluster | None,
) -> int:
    """Compute a study's curves over a grid of up to three further parameters.

    For example: privacy-explorer sweep shuffle-rdp --over eps0=0.5:4:4 --over n=1e5,1e6
    --output grid.parquet

    Progress is printed to standard error. Finished answers survive Ctrl+C, and the same command
    continues. A table has a row per point.
    """
    from explorer.engine.session.recipe import Recipe
    from explorer.figures.grid import GridJob, rendered_grid, shown_quantity
    from explorer.figures.view_state import ViewState
    from explorer.files import write_whole
    from explorer.studies.base.grid import Grid, axes_of
    from explorer.studies.base.study import Scale
    from explorer.studies.registry import get_study

    pixels = parse_size(size, dpi)
    form = _format(output, as_json)
    if len(over) < 3 and (colours or curve):
        raise click.BadParameter("colours need a third --over", param_hint="--colours")
    study_used = get_study(study)
    if study_used.needs_data:
        raise ValueError(
            f"study {study!r} draws a map; 'experiment heatmap-quality' runs it over lists of its "
            "parameters"
        )
    with ExitStack() as stack:
        host = open_host(stack)
        request = bounds_request(host, study_used, settings, quantity, sweep, preset)
        request = replace(request, seed=seed)
        grid = Grid(over, trials, colours)
        axes_of(study_used, request, grid)
        if host.files():
            check_data(cluster)
        executor = many_workers(stack, cluster, workers, quiet)
        answer = run_grid(stack, host, request, grid, executor, Progress(quiet, "answers"))
    if curve and curve not in [s.key for s in answer.series]:
        there = ", ".join(s.key for s in answer.series)
        raise click.BadParameter(
            f"there is no curve {curve!r}; there are {there}", param_hint="--curve"
        )
    view = ViewState(
        theme=theme,
        x_log=request.sweep is not None and request.sweep.scale is Scale.LOG,
        y_log=shown_quantity(answer).scale is Scale.LOG,
    )
    recipe = Recipe(request, view=view.to_dict(), grid=grid).to_dict()
    job = GridJob(answer, view, recipe, form, curve, size_px=pixels, dpi=dpi)
    if output is not None:
        write_whole(output, rendered_grid(job))
        report_written(output)
    if as_json:
        from explorer.figures.grid import grid_document

        click.echo(json.dumps(grid_document(job), ensure_ascii=False, indent=1, allow_nan=False))
    elif output is None:
        print_bytes(rendered_grid(job))
    return 0


def _format(output: Path | None, as_json: bool) -> ExportFormat:
    """Return the export format; raise BadParameter if the file can't be written."""
    if output is None:
        return by_suffix("json" if as_json else "csv", Kind.GRID)
    try:
        form = by_suffix(output.suffix, Kind.GRID)
    except ValueError as error:
        raise click.BadParameter(f"{output.name!r}: {error}", param_hint="--output") from None
    check_folder(output, "--output")
    return form


def run_grid(
    stack: ExitStack,
    host: StudyRuntime,
    request: Request,
    grid: Grid,
    executor: Executor,
    progress: Progress,
) -> GridAnswer:
    """Compute the unknown cells of a grid and return its answer."""
    from explorer.engine.experiments import Checkpoint, trials_file
    from explorer.engine.grid_runner import GridRunner

    runner = GridRunner(request, grid, host.files())
    checkpoint = Checkpoint(trials_file())
    stack.callback(checkpoint.close)
    try:
        for i, _ in enumerate(runner.run(executor, checkpoint)):
            if not i:
                progress.begin(runner.known, runner.answer.total)
            progress.at(runner.answer.done, runner.answer.total)
    except KeyboardInterrupt:
        progress.end()
        click.echo(
            f"{runner.answer.done:,} of {runner.answer.total:,} answers are stored; the same "
            "command continues from there",
            err=True,
        )
        raise
    progress.end()
    return runner.answer
