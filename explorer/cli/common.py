"""What the commands share: reading options, opening files, running studies, writing results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli import completion
from explorer.cli.planes import PADDED, declared, region_in
from explorer.cli.reading import OF_DIALECT, OpenQuestions, column_name, question_line
from explorer.figures.formats import PARTS, by_suffix

if TYPE_CHECKING:
    from explorer.checkins import CheckinData, Dialect, Mapping, Preview, Progress
    from explorer.engine.executors.base import Executor
    from explorer.engine.executors.cluster import Cluster
    from explorer.engine.runtime.runtime import StudyRuntime
    from explorer.engine.session.recipe import Recipe
    from explorer.figures.export_job import ExportJob
    from explorer.figures.view_state import ViewState
    from explorer.geography.plane import Plane
    from explorer.geography.region import Region
    from explorer.studies.base.study import Request, Result
Decorator = Callable[[Any], Any]
COLUMN_ROLES = (
    "user",
    "time",
    "lat",
    "lon",
    "latlon",
    "lonlat",
    "location",
    "weight",
    "x",
    "y",
    "image",
)
ALIASES = {"x": "lon", "y": "lat"}
"""Of planes that are not the Earth."""
NEEDED_ROLES = ("user", "lat", "lon")
COLUMNS_OPTION = "Give --columns ROLE=COLUMN,…; an empty COLUMN, as in time=, leaves it out."


def together(*options: Decorator) -> Decorator:
    """Return several options as one decorator; help lists them in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def study_options(settings: str, preset: str, quantity: str) -> Decorator:
    """Return the options that say what is asked of a study, with the help of each."""
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
    """Return the options that say how a picture looks, whose size is this by default."""
    return together(
        click.option("--size", metavar="WxH", default=size, show_default=True, help="In pixels."),
        click.option(
            "--dpi",
            type=click.IntRange(30, 1200),
            default=150,
            show_default=True,
            help="Dots per inch; letters keep their size in inches.",
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
    help="Leave this out of the picture; may be repeated. Stamps and map credits stay.",
)


def parse_region(ctx: click.Context, _option: click.Parameter, raw: str | None) -> Any:
    """Return the region that four comma-separated degrees describe (an option's callback)."""
    from explorer.geography.region import region_of

    if raw is None:
        return None
    plane, sides = declared(ctx), []
    for side in raw.split(",") if plane is None or raw.strip() != PADDED else ():
        try:
            sides.append(float(side))
        except ValueError:
            raise click.BadParameter(
                f"{side.strip()!r} is not a number of degrees; give LATMIN,LONMIN,LATMAX,LONMAX, "
                "such as 40.5,-74.3,41.0,-73.6"
                if plane is None
                else f"{side.strip()!r} is not a number; give XMIN,YMIN,XMAX,YMAX, or {PADDED}"
            ) from None
    if plane is not None:
        try:
            return region_in(plane, raw, sides)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    if len(sides) != 4:
        raise click.BadParameter(
            f"{raw!r} has {len(sides)} number{'s' * (len(sides) != 1)}; give "
            "LATMIN,LONMIN,LATMAX,LONMAX"
        )
    try:
        return region_of((sides[0], sides[1], sides[2], sides[3]))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def parse_pair(text: str, option: str, empty: bool = False) -> tuple[str, str]:
    """Split ``KEY=VALUE``, perhaps without a value, or say which option has something else."""
    key, separator, value = text.partition("=")
    if not (separator and key and (value or empty)):
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=option)
    return key.strip(), value.strip()


def parse_size(text: str) -> tuple[int, int]:
    """Return width and height in pixels from ``1280x800``."""
    try:
        width, height = (int(side) for side in text.lower().split("x"))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not WIDTHxHEIGHT, e.g. 1280x800", param_hint="--size"
        ) from None
    if not (200 <= width <= 20_000 and 150 <= height <= 20_000):
        raise click.BadParameter(f"{text!r} is outside 200x150 … 20000x20000", param_hint="--size")
    return width, height


def check_output(output: Path | None, *, maps: bool = False) -> None:
    """Refuse an output, of maps or of curves, that can't be written before any work is done."""
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
    """Refuse a file whose folder does not exist."""
    if path is not None and not path.resolve().parent.is_dir():
        raise click.BadParameter(
            f"the folder {str(path.parent)!r} does not exist; create it first", param_hint=option
        )


def parse_columns(
    _ctx: click.Context, _option: click.Parameter, raw: tuple[str, ...]
) -> dict[str, str] | None:
    """Return role → column name or number from ``user=id,lat=3`` (an option's callback).

    ``time=`` leaves the times out: the name is then empty. The option may be repeated.
    """
    if not raw:
        return None
    named: dict[str, str] = {}
    for item in (item for one in raw for item in one.split(",")):
        role, name = parse_pair(item, "--columns", empty=True)
        role = ALIASES.get(role, role)
        if named.setdefault(role, name) != name:
            raise click.BadParameter(f"{role} is given twice: {named[role]} and {name}")
    unknown = sorted(set(named) - set(COLUMN_ROLES))
    if unknown:
        raise click.BadParameter(
            f"{', '.join(unknown)}: columns can hold {', '.join(COLUMN_ROLES)}"
        )
    both = [role for role in ("latlon", "lonlat") if role in named]
    if both and (len(both) > 1 or {"lat", "lon"} & set(named)):
        raise click.BadParameter(f"{both[0]} is one column with both coordinates; give it alone")
    needed = [role for role in (*NEEDED_ROLES, *both) if named.get(role) == "" and role != "user"]
    if needed:
        raise click.BadParameter(
            f"{needed[0]}= names no column; a check-in needs {', '.join(NEEDED_ROLES)}"
        )
    return named


def open_file(
    stack: ExitStack,
    files: tuple[Path, ...],
    columns: dict[str, str] | None,
    *,
    use_cache: bool,
    quiet: bool,
    plane: Plane | None = None,
    reading: dict[str, str] | None = None,
    memory: int | None = None,
    executor: Callable[[Sequence[Path]], Executor | None] = lambda _: None,
    once: dict[str, Any] | None = None,
) -> tuple[CheckinData, Region | None]:
    """Open check-ins with progress; return them and the region to look at first, if known.

    Several files, or a folder of them, are one data set. `reading` is what `chosen_reading` has.
    What is slow is said beforehand; an import may use `memory` bytes, and runs on what `executor`
    returns (see `open_any_size`). `once` is what `query_region` is told of the only question.

    Raises
    ------
    CheckinError
        Naming the file, what is wrong with it and what to do.
    """
    from explorer.checkins.workers import warm_workers

    if files != (Path("sample"),):
        warm_workers(1, *files)  # it starts while this process imports the readers
    from explorer.checkins import MappingNeeded
    from explorer.checkins.cache import sweep
    from explorer.checkins.region_query import ONCE, query_region
    from explorer.engine.large_import import open_any_size
    from explorer.engine.paths import checkins_cache
    from explorer.geography.region import Region
    from explorer.resources import resource_path, samples

    if files == (Path("sample"),) and not files[0].exists():
        files = (stack.enter_context(resource_path(samples()[0].file)),)
    progress = None if quiet or not sys.stderr.isatty() else _show_progress
    folder = checkins_cache()
    sweep(folder)  # rows that a killed command left behind
    mapping, dialect = None, None
    if columns is not None or plane is not None or reading:
        with _asking():
            mapping, dialect = _wanted(files, columns or {}, plane, reading or {})
    opening: Callable[..., CheckinData] = partial(
        open_any_size,
        cache_dir=folder if use_cache else None,
        use_cache=use_cache,
        say=lambda size: click.echo(size.said, err=True),
        executor=executor,
        known_synthetic=frozenset(s.sha256 for s in samples() if s.synthetic),
    )
    if once is not None:
        opening = partial(query_region, **once)
        if not quiet:
            click.echo(ONCE, err=True)
    try:
        with _asking():
            data = opening(
                files, mapping=mapping, dialect=dialect, progress=progress, memory=memory
            )
    except MappingNeeded as error:
        preview = error.preview
        lines = [
            question_line(preview, one)
            for one in preview.questions
            if mapping is None or one.key == "encoding"
        ]
        raise OpenQuestions(lines or [f"{error} {COLUMNS_OPTION}"]) from error
    finally:
        if progress is not None:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    suggested = {s.sha256: Region(*s.suggested_region) for s in samples()}
    return data, suggested.get(data.fingerprint)


@contextmanager
def _asking() -> Iterator[None]:
    """Let a file that unpacks to far more than its size be confirmed by an option.

    Raises
    ------
    OpenQuestions
    """
    from explorer.checkins.errors import UnpackNeeded

    try:
        yield
    except UnpackNeeded as error:
        raise OpenQuestions([f"{error} Give --unpack."]) from None


def say_columns(data: CheckinData) -> None:
    """Write to standard error which columns were used, counted from 1, and the report's notes.

    For the curator only.
    """
    named = [
        f"{role} = {name} ({getattr(data.mapping, role) + 1})" for role, name in data.names.items()
    ]
    if data.unit != "user":
        named.insert(0, f"no user column (unit {data.unit})")
    click.echo(f"{data.basename}: columns used: {', '.join(named)}", err=True)
    for note in data.report.notes:
        click.echo(f"{data.basename}: {note}", err=True)


def _wanted(
    files: tuple[Path, ...], columns: dict[str, str], plane: Plane | None, reading: dict[str, str]
) -> tuple[Mapping, Dialect]:
    """Return the guessed mapping of a file with what is named put right, and how it is read."""
    from explorer.checkins import find_files, sniff_files
    from explorer.checkins.parsing.ambiguities import remaining_questions
    from explorer.checkins.parsing.guess_columns import with_columns

    fields = {key: value for key, value in reading.items() if key not in OF_DIALECT}
    layer = reading.get("layer")
    preview = sniff_files(
        find_files(files),
        None,
        reading.get("encoding"),
        None,
        reading.get("decimal"),
        layer,
        bool(reading.get("unpack")),
    )
    chosen: dict[str, int | None] = {}
    for role, name in columns.items():
        if not name:
            chosen[role] = None
        elif preview.columns.count(name) > 1:
            numbers = [str(i) for i, one in enumerate(preview.columns, 1) if one == name]
            raise ValueError(
                f"{preview.basename}: several columns are called {name!r}; give the number of the "
                f"one for {role}: {' or '.join(numbers)}"
            )
        elif name in preview.columns:
            chosen[role] = preview.columns.index(name)
        elif name.isdecimal() and 1 <= int(name) <= len(preview.columns):
            chosen[role] = int(name) - 1
        else:
            names = ", ".join(preview.columns)
            wrong = (
                ""
                if names.isascii() or not preview.delimiter
                else (
                    f". If letters of these names are wrong, give another --encoding than "
                    f"{preview.encoding}"
                )
            )
            raise ValueError(
                f"{preview.basename}: there is no column {name!r} for {role}; there are "
                f"{names}{wrong}"
            )
    chosen |= _without_user(preview, chosen, reading.get("unit"))
    for order in (order for order in ("latlon", "lonlat") if order in chosen):
        both = chosen.pop(order)
        chosen |= {"lat": both, "lon": both}
        fields["order"] = order
    mapping = replace(with_columns(preview, chosen), **fields)  # type: ignore[arg-type]
    if plane is not None:
        mapping = replace(mapping, plane=plane.text, crs=None)
    elif "crs" in fields:
        mapping = replace(mapping, plane=None, image=None)
    elif mapping.image is not None:
        # a column of images belongs to points in a plane: so its range is asked for
        mapping = replace(mapping, plane="")
    given = {*chosen, *reading, *(("plane", "crs") if plane is not None else ())}
    open_ones = remaining_questions(preview, mapping, given)
    if open_ones:
        raise OpenQuestions([question_line(preview, one) for one in open_ones])
    return mapping, preview.dialect


def _without_user(
    preview: Preview, chosen: dict[str, int | None], unit: str | None
) -> dict[str, int | None]:
    """Return that there is no user column where the privacy unit says so.

    Raises
    ------
    ValueError
        If there is one.
    """
    if unit is None:
        if "user" in chosen and chosen["user"] is None:
            raise ValueError(
                f"{preview.basename}: without a user column say what is protected: --unit row or "
                "--unit file"
            )
        return {}
    user = chosen.get("user", preview.mapping.user)
    if user is not None:
        remedy = "leave out --unit"
        if "user" not in chosen:
            remedy += ", or give --columns user= if it names no person or device"
        raise ValueError(
            f"{preview.basename}: --unit {unit} is for files without a user column, but "
            f"{column_name(preview, user)} is one; {remedy}"
        )
    return {"user": None}


def _show_progress(progress: Progress) -> None:
    """Keep one line on a terminal up to date."""
    text = f"{progress.stage}: {progress.rows:,} rows, {progress.bytes_done / 1e6:.1f} MB"
    if progress.seconds_left is not None:
        text += f", {progress.seconds_left:.0f} s left"
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def open_host(
    stack: ExitStack, cluster: Cluster | None = None, *, quiet: bool = False
) -> StudyRuntime:
    """Return a host that closes with the stack and works on a cluster, if one is named.

    Raises
    ------
    RuntimeError
        If the cluster can't be used; the message says why and what to do.
    """
    from explorer.engine.runtime.runtime import StudyRuntime

    host = StudyRuntime()
    stack.callback(host.close)
    if cluster is not None:
        host.computing.use(cluster, calls_too=True)
        state = host.computing.connect(lambda: None).state()
        if not quiet:
            click.echo(state, err=True)
    return host


def compute(host: StudyRuntime, request: Request, *, quiet: bool = False) -> Result:
    """Return a request's final result, saying on a terminal how far it is."""
    from explorer.engine.runtime.runtime import final_result

    if quiet or not sys.stderr.isatty():
        return final_result(host, request)
    print("\r\x1b[Kcomputing …", end="", file=sys.stderr, flush=True)
    try:
        return final_result(host, request, on_result=_show_share)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show_share(result: Result) -> None:
    """Say how much of a computation is done."""
    if result.progress is not None and not result.complete:
        text = f"\r\x1b[Kcomputing … {result.progress:.0%}"
        print(text, end="", file=sys.stderr, flush=True)


def recipe_of(result: Result, view: ViewState, data: CheckinData | None) -> Recipe:
    """Return the recipe of a result under a view."""
    from explorer.engine.session.recipe import Recipe

    if data is None:
        return Recipe(result.request, view=view.to_dict())
    columns = data.columns
    return Recipe(result.request, data.basename, view=view.to_dict(), columns=columns)


def export(
    result: Result,
    view: ViewState,
    data: CheckinData | None,
    output: Path,
    pixels: tuple[int, int],
    dpi: int,
    animated: Callable[[ExportJob], ExportJob] = lambda job: job,
    quiet: bool = False,
    backdrop: bytes = b"",
) -> None:
    """Write a result in the format that the file's extension names, and say so.

    `animated` gives a job the frames that its format shows; on a terminal it is said how far they
    are.
    """
    from explorer.figures.export_job import ExportJob, rendered
    from explorer.files import write_whole

    recipe = recipe_of(result, view, data).to_dict()
    form = by_suffix(output.suffix)
    report = (lambda _: None) if quiet or not sys.stderr.isatty() else _show_drawn
    job = ExportJob(
        result, view, recipe, form, output, pixels, dpi, backdrop=backdrop, report=report
    )
    try:
        write_whole(output, rendered(animated(job)))
    finally:
        if report is _show_drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    say_written(output)


def _show_drawn(share: float) -> None:
    """Say how much of an animation is done."""
    print(f"\r\x1b[Kframes … {share:.0%}", end="", file=sys.stderr, flush=True)


def say_written(path: Path) -> None:
    """Say on standard error which file was written; standard output is for numbers."""
    click.echo(f"written: {path} ({_size(path.stat().st_size)})", err=True)


def _size(count: int) -> str:
    """Write a number of bytes for reading: ``812 bytes``, ``81 kB``, ``2.4 MB``."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"


def extent_of(data: CheckinData) -> Region:
    """Return a box around all check-ins, or say how to choose one."""
    from explorer.geography.region import Region

    if not data.rows or data.extent is None:
        raise ValueError(f"{data.basename}: no row was kept; see the counts of rejected rows")
    south, west, north, east = data.extent
    margin = 1e-6 + 1e-3 * max(north - south, east - west)
    try:
        # An extent across the antimeridian has an east above 180 already.
        return Region(
            max(-90.0, south - margin),
            max(-180.0, west - margin),
            min(90.0, north + margin),
            min(180.0, east + margin) if east <= 180 else east + margin,
        )
    except ValueError as error:
        raise ValueError(
            f"{data.basename}: its check-ins span {east - west:.0f}° of longitude; "
            "choose a part with --region LATMIN,LONMIN,LATMAX,LONMAX"
        ) from error
