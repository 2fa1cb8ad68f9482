"""The command `bounds`: evaluates a study as curves, or solves for a parameter."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer.cli import completion
from explorer.cli.cluster import check_data, cluster_options
from explorer.cli.opening import count_values
from explorer.cli.options import (
    check_output,
    parse_pair,
    parse_size,
    picture_options,
    study_options,
    without_option,
)
from explorer.cli.running import (
    compute,
    export,
    open_host,
    print_bytes,
    recipe_of,
    report_written,
)
from explorer.figures.animation_frames import FRAMES, MAX_FRAMES, Over
from explorer.figures.formats import Kind, by_suffix, of_kind, suffixes

if TYPE_CHECKING:
    from explorer.engine.executors.cluster import Cluster
    from explorer.engine.runtime import StudyRuntime
    from explorer.engine.session.imported_curves import ImportedCurve
    from explorer.figures.export import ExportJob
    from explorer.studies.base.study import Request, Result, Study, Sweep


MAX_POINTS = 100_000
_REVIEWER = {"text": "txt", "latex": "tex", "pdf": "pdf"}
"""Option value of `--reviewer` → file suffix."""


class StudyCommand(click.Command):
    """A command whose help includes the parameters of the study in its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the study before click handles ``--help``."""
        from explorer.studies.registry import study_ids

        ctx.meta[completion.NAMED] = next((word for word in args if word in study_ids()), None)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the study's declaration."""
        from explorer.cli.studies import declaration
        from explorer.studies.registry import get_study, study_infos

        super().format_options(ctx, formatter)
        if ctx.meta[completion.NAMED] is not None:
            for heading, rows in declaration(get_study(ctx.meta[completion.NAMED])):
                with formatter.section(heading):
                    formatter.write_dl([(key, text.replace("\n", ". ")) for key, text in rows])
        else:
            with formatter.section("Studies (STUDY --help lists parameters, curves and presets)"):
                formatter.write_dl(
                    [(c.id, c.question) for c in study_infos() if c.workspace == "bounds"]
                )


@click.command("bounds", cls=StudyCommand)
@click.argument("study", metavar="STUDY", shell_complete=completion.studies("bounds"))
@click.option(
    "--sweep",
    metavar="KEY=A:B:N[:lin|log]",
    help="Put a parameter on the x axis: N points from A to B on its own scale.",
    shell_complete=completion.of_study(completion.sweeps, "="),
)
@study_options(
    "Fix a parameter.",
    "Start from the values of a preset, such as a figure of a paper.",
    "Quantity on the y axis. Default: the first that can be swept over the parameter of --sweep.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of simulations.")
@click.option(
    "--solve",
    metavar="KEY",
    help="Find the value of this parameter at which a curve reaches --target.",
    shell_complete=completion.of_study(completion.parameters),
)
@click.option(
    "--for", "series", metavar="CURVE", help="Curve for --solve. Default: the claimed one."
)
@click.option("--target", type=float, metavar="Y", help="Value on the y axis for --solve.")
@click.option(
    "--claim",
    metavar="CURVE",
    default="",
    help="State this bound as the result. Default: the tightest valid one.",
)
@click.option(
    "--hide",
    "hidden",
    metavar="CURVE",
    multiple=True,
    help="Hide this curve in the picture; may be repeated.",
)
@click.option("--x-range", metavar="A:B", help="Ends of a picture's x axis, in its unit.")
@click.option("--y-range", metavar="A:B", help="Ends of a picture's y axis, in its unit.")
@click.option(
    "--curves",
    "own_files",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    multiple=True,
    help="Draw the curves of a CSV file as baselines: x, y, name, role, or x and a column per "
    "curve; intervals as low and high, or ±, with their meaning: ± (s.d.); may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result of --solve as JSON.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Write the curves ({suffixes(Kind.NUMBERS)}) or their plot ({suffixes(Kind.PICTURE)}), "
    f"with --animate frames of it ({suffixes(Kind.ANIMATION, maps=True)}); default CSV on stdout.",
)
@click.option(
    "--animate",
    metavar="KEY",
    help="Animate a parameter over its range.",
    shell_complete=completion.of_study(completion.parameters),
)
@click.option(
    "--frames",
    type=click.IntRange(2, MAX_FRAMES),
    default=FRAMES,
    show_default=True,
    help="Number of frames of an animation.",
)
@click.option(
    "--reviewer",
    type=click.Choice(["text", "latex", "pdf"]),
    help="Write a summary for reviewers instead: definition, numbers, conditions, settings and "
    "recipe; as PDF (requires --output) one page with the plot.",
)
@picture_options("1600x1000")
@without_option
@cluster_options
def bounds_command(
    study: str,
    sweep: str | None,
    settings: tuple[str, ...],
    preset: str | None,
    quantity: str | None,
    seed: int,
    solve: str | None,
    series: str | None,
    target: float | None,
    claim: str,
    hidden: tuple[str, ...],
    x_range: str | None,
    y_range: str | None,
    own_files: tuple[Path, ...],
    as_json: bool,
    output: Path | None,
    animate: str | None,
    frames: int,
    reviewer: str | None,
    size: str,
    dpi: int,
    theme: str,
    left_out: tuple[str, ...],
    cluster: Cluster | None,
) -> int:
    """Compute a study's curves.

    For example: privacy-explorer bounds shuffle-rdp --sweep T=1:1e6:100 --set eps0=2
    --output out.csv

    Or find the parameter for a target: privacy-explorer bounds shuffle-rdp --solve eps0
    --for theorem1 --target 1

    Parameters, curves and presets of a study: privacy-explorer bounds shuffle-rdp --help
    """
    from explorer.engine.session.imported_curves import imported_to_list, with_imported_curves
    from explorer.figures.animation_frames import Animation, with_frames
    from explorer.figures.export import ExportJob, render
    from explorer.figures.view_state import ViewState
    from explorer.studies.base.claims import check_claim, evaluate_claim
    from explorer.studies.registry import get_study

    pixels = parse_size(size, dpi)
    moving = [f.suffix for f in of_kind(Kind.ANIMATION, maps=True)]
    if animate and (output is None or output.suffix.lower().removeprefix(".") not in moving):
        raise click.BadParameter(
            f"needs --output FILE, one of {suffixes(Kind.ANIMATION, maps=True)}",
            param_hint="--animate",
        )
    if reviewer is None:
        check_output(output, maps=animate is not None)
    elif reviewer == "pdf" and output is None:
        raise click.BadParameter("a PDF needs --output FILE.pdf", param_hint="--reviewer")
    study_used = get_study(study)
    if study_used.needs_data:
        raise ValueError(f"study {study!r} draws a map; use the command {study!r} instead")
    with ExitStack() as stack:
        host = open_host(stack, cluster)
        request = bounds_request(host, study_used, settings, quantity, sweep, preset)
        request = replace(request, seed=seed)
        if host.files():
            check_data(cluster)
        if claim:
            check_claim(study_used, request.quantity, claim)
        if (solve, series, target) == (None, None, None) and as_json:
            raise click.BadParameter(
                "prints what --solve finds; curves are JSON with --output FILE.json",
                param_hint="--json",
            )
        if (solve, series, target) != (None, None, None):
            if series is None and solve is not None and target is not None:
                series = claimed_series(host, request, claim)
            return _print_solution(host, request, solve, series, target, as_json=as_json)
        result = compute(host, request)
        if not any(series.present.any() for series in result.series):
            reasons = dict.fromkeys(s.undefined_reason for s in result.series if s.undefined_reason)
            raise ValueError(f"nothing can be drawn: {'; '.join(reasons) or 'no curve'}")
        own = _own_curves(host, request, own_files)
        result = with_imported_curves(result, own)
        known = [series.key for series in result.series]
        if unknown := [key for key in hidden if key not in known]:
            raise ValueError(
                f"--hide: {unknown[0]!r} is no curve here; there are {', '.join(known)}"
            )
        view = ViewState.for_result(
            result,
            theme=theme,
            claim=claim,
            hidden=(*hidden, *_beyond_preset(study_used, preset, result, hidden)),
            left_out=left_out,
            own=tuple(imported_to_list(own)),
        )
        view = replace(
            view,
            x_range=_axis_range("x-range", x_range, view.x_log),
            y_range=_axis_range("y-range", y_range, view.y_log),
        )
        claim_result = evaluate_claim(result, claim)
        if claim_result is not None and output is not None:
            click.echo(claim_result.line, err=True)
        if reviewer is not None:
            _write_reviewer(
                ExportJob(
                    result,
                    view,
                    recipe_of(result, view, None).to_dict(),
                    by_suffix(_REVIEWER[reviewer], Kind.REVIEWER),
                    output,
                )
            )
        elif output is None:
            recipe = recipe_of(result, view, None).to_dict()
            print_bytes(render(ExportJob(result, view, recipe, by_suffix("csv"))))
        else:
            animation = Animation(Over.PARAMETER, frames, key=animate) if animate else Animation()
            animated = partial(with_frames, animation=animation, answer=host.answer)
            export(result, view, None, output, pixels, dpi, animated)
    return 0


def _beyond_preset(
    study: Study, preset_key: str | None, result: Result, hidden: tuple[str, ...]
) -> list[str]:
    """Return the curves that a preset does not draw, apart from hidden ones and imported ones."""
    from explorer.studies.base.study import preset

    drawn = preset(study, preset_key).curves if preset_key is not None else ()
    known = [s.key for s in result.series if not s.own]
    if not set(drawn) & set(known):
        return []
    return [key for key in known if key not in drawn and key not in hidden]


def _axis_range(name: str, typed: str | None, log: bool) -> tuple[float, float] | None:
    """Parse the ends of an axis, ``A:B``; None if they are not given."""
    if typed is None:
        return None
    try:
        low, high = map(float, typed.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(high - low) and low < high and (low > 0 or not log)):
        raise click.BadParameter(
            f"{typed!r} is no range; give two numbers, A:B, with A below B"
            + (" and above 0, since the axis is logarithmic" if log else ""),
            param_hint=f"--{name}",
        )
    return low, high


def _write_reviewer(job: ExportJob) -> None:
    """Write the reviewer's summary to the job's file, or to standard output."""
    from explorer.figures.export import render
    from explorer.files import write_whole

    content = render(job)
    if job.path is None:
        print_bytes(content)
    else:
        write_whole(job.path, content)
        report_written(job.path)


def _own_curves(
    host: StudyRuntime, request: Request, files: Sequence[Path]
) -> tuple[ImportedCurve, ...]:
    """Return the curves of files; rows that can't be drawn are reported on standard error."""
    from explorer.engine.session.imported_curves import merge_imported, plot_of, read_curves

    own: tuple[ImportedCurve, ...] = ()
    for path in files:
        read = read_curves(host, (path, plot_of(request)), None)
        own = merge_imported(own, read.curves)
        for row in read.rejected:
            click.echo(f"not drawn: {row}", err=True)
    return own


def claimed_series(host: StudyRuntime, request: Request, claim: str) -> str | None:
    """Return the key of the claimed series; None if there is none."""
    from explorer.studies.base.claims import evaluate_claim

    result = None if claim else evaluate_claim(compute(host, request))
    return claim or (result.series.key if result is not None else None)


def bounds_request(
    host: StudyRuntime,
    study: Study,
    settings: Sequence[str],
    quantity_key: str | None,
    sweep: str | None,
    preset_key: str | None = None,
) -> Request:
    """Build a request from command-line options, starting from a preset if one is named.

    Files named by parameters are opened on the host, which is recorded as a view of them.

    Raises
    ------
    ValueError
        Naming key, value and the allowed values.
    OSError
        If a file can't be read.
    """
    from explorer.engine.runtime import typed_value
    from explorer.studies.base.study import (
        default_request,
        default_sweep,
        parameter,
        preset,
        preset_request,
        quantity,
    )

    if preset_key is None:
        request = default_request(study)
    else:
        request = preset_request(study, preset(study, preset_key))
    for key, raw in (parse_pair(item, "--set") for item in settings):
        request = request.with_value(key, typed_value(host, parameter(study, key), raw))
    count_values(host.files())
    if quantity_key is not None:
        request = replace(request, quantity=quantity(study, quantity_key).key, sweep=None)
    if sweep is not None:
        request = replace(request, sweep=parse_sweep(study, sweep))
        if quantity_key is None:
            request = replace(request, quantity=_swept_quantity(study, request))
    allowed = quantity(study, request.quantity).sweeps
    if request.sweep is None and allowed:
        request = replace(request, sweep=default_sweep(study, allowed[0]))
    if request.sweep is not None and request.sweep.key not in allowed:
        raise ValueError(
            f"--sweep: {request.quantity!r} of {study.id} can be swept over "
            f"{', '.join(allowed)}, not over {request.sweep.key!r}"
        )
    return request


def _swept_quantity(study: Study, request: Request) -> str:
    """Return the request's quantity, or the first one that can be swept over the x axis."""
    assert request.sweep is not None
    able = [q.key for q in study.quantities if request.sweep.key in q.sweeps]
    return request.quantity if request.quantity in able or not able else able[0]


def parse_sweep(study: Study, text: str) -> Sweep:
    """Parse a sweep: ``KEY=A:B:N``, ``KEY=A:B:N:lin`` or ``KEY=A:B:N:log``."""
    from explorer.studies.base.study import Scale, Sweep, parameter

    key, spec = parse_pair(text, "--sweep")
    p = parameter(study, key)
    parts = spec.split(":")
    try:
        low, high, points = float(parts[0]), float(parts[1]), int(float(parts[2]))
        scale = Scale(parts[3]) if len(parts) > 3 else p.scale
        if len(parts) > 4:
            raise ValueError
    except (IndexError, ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is not KEY=A:B:N or KEY=A:B:N:lin or KEY=A:B:N:log", param_hint="--sweep"
        ) from None
    if points > MAX_POINTS:
        raise ValueError(f"--sweep: {points} points; at most {MAX_POINTS}")
    p.grid(low, high, points, scale)
    return Sweep(key, low, high, points, scale)


def _print_solution(
    host: StudyRuntime,
    request: Request,
    key: str | None,
    series: str | None,
    target: float | None,
    *,
    as_json: bool,
) -> int:
    """Find the value of a parameter at which a curve is the target, and print it.

    The value alone goes to standard output (or everything, as JSON), the sentence to standard
    error. Returns the exit code: 1 if the target can't be reached.

    Raises
    ------
    BadParameter
        If one of the three options is missing.
    ValueError
        If the parameter or curve does not exist.
    """
    from explorer.engine.solving import SolveGoal, solution_sentence, solve

    if key is None or series is None or target is None:
        raise click.BadParameter("--solve KEY, --for CURVE and --target Y go together")
    result = solve(host, SolveGoal(request, series, key, target), lambda: None)
    words = solution_sentence(result)
    if as_json:
        document = {
            "study": request.study,
            "values": {k: v for k, v in request.values if k != key},
            "parameter": key,
            "value": result.value,
            "possible": result.possible,
            "series": series,
            "role": result.role.value,
            "quantity": request.quantity,
            "target": target,
            "reached": result.reached if math.isfinite(result.reached) else None,
            "nearest": result.nearest,
            "other_crossings": list(result.others),
            "sentence": words,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    elif result.value is not None:
        click.echo(str(result.value))
    if not as_json or not result.possible:
        click.echo(words, err=True)
    return 0 if result.possible else 1
