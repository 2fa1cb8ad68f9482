"""Opening of check-in files by commands: columns, reading options, planes, regions, images."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.options import parse_pair
from explorer.files import read_bounded

if TYPE_CHECKING:
    from explorer.checkins import CheckinData, Mapping, Preview, Progress
    from explorer.checkins.model import Question
    from explorer.checkins.sources import SniffedSource
    from explorer.engine.executors.base import Executor
    from explorer.engine.runtime import StudyRuntime
    from explorer.figures.pages.backdrop import BackgroundFile
    from explorer.geography.plane import Plane
    from explorer.geography.region import Region
    from explorer.release.mechanisms.adaptive import PriorMasses
    from explorer.studies.base.study import Value
    from explorer.user_rows import Box


DECIMALS = {"point": ".", "comma": ","}
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}


KEYS = (
    "delimiter",
    "header",
    "decimal",
    "encoding",
    "time_format",
    "zone",
    "crs",
    "layer",
    "unit",
    "unpack",
)


OF_DIALECT = ("layer", "unpack")
"""Keys of reading options that belong to the dialect; the others are fields of a mapping."""


COLUMN_FIELDS = ("user", "time", "lat", "lon", "location", "weight", "image")
"""Fields of a mapping that ``--columns`` gives."""


OPTIONS = {
    "time_format": ("--time-format", "EXAMPLE"),
    "zone": ("--time-zone", "NAME"),
    "decimal": ("--decimal", "point|comma"),
    "encoding": ("--encoding", "NAME"),
    "crs": ("--crs", "EPSG:NUMBER"),
    "layer": ("--layer", "NAME"),
    "unit": ("--unit", "user|row|file"),
    "plane": ("--plane", "320x240, or --picture FILE"),
}
"""Field of a mapping or dialect that is no column → its option and the option's metavar."""

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

ALL = "all"


PADDED = "padded"
"""Instead of a region: the square of the next power of two around a plane."""

MIN_MEMORY = 500_000_000
MAX_HEADER_LINE = 100_000


class OpenQuestions(click.ClickException):
    """Questions about a file with the options that answer them, one line each."""

    exit_code = 2

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def open_file(
    stack: ExitStack,
    files: tuple[Path, ...],
    columns: dict[str, str] | None,
    *,
    use_cache: bool,
    quiet: bool,
    plane: Plane | None = None,
    reading: dict[str, Any] | None = None,
    memory: int | None = None,
    executor: Callable[[Sequence[Path]], Executor | None] = lambda _: None,
    once: dict[str, Any] | None = None,
) -> tuple[CheckinData, Region | None]:
    """Open check-ins with progress; return them and a suggested region, if known.

    Parameters
    ----------
    stack : ExitStack
    files : tuple of Path
        Several files, or a folder of them, are one data set.
    columns : dict or None
        As returned by `parse_columns`.
    use_cache, quiet : bool
    plane : Plane, optional
    reading : dict, optional
        As returned by `reading_arguments`.
    memory : int, optional
        Bytes that an import may use.
    executor : callable
        Returns the executor of an import (`open_any_size`).
    once : dict, optional
        Arguments of `query_region`, for a single query without an import.

    Raises
    ------
    CheckinError
        Naming file, problem and remedy.
    OpenQuestions
        If columns or formats must be given as options.
    """
    from explorer.checkins.workers import warm_workers

    if files != (Path("sample"),):
        warm_workers(1, *files)  # starts while this process imports the readers
    from explorer.checkins import MappingNeeded
    from explorer.checkins.cache import sweep
    from explorer.checkins.region_query import REGION_QUERY_NOTE, query_region
    from explorer.engine.large_import import open_any_size
    from explorer.engine.paths import checkins_cache
    from explorer.geography.region import Region
    from explorer.resources import resource_path, samples

    if files == (Path("sample"),) and not files[0].exists():
        files = (stack.enter_context(resource_path(samples()[0].file)),)
    progress = None if quiet or not sys.stderr.isatty() else _show_progress
    folder = checkins_cache()
    sweep(folder)  # removes leftovers of killed commands
    mapping = dialect = sniffed = None
    if columns is not None or plane is not None or reading:
        with _unpack_questions():
            sniffed, mapping = _mapping_for(files, columns or {}, plane, reading or {})
        dialect = sniffed.preview.dialect
    opening: Callable[..., CheckinData] = partial(
        open_any_size,
        cache_dir=folder if use_cache else None,
        use_cache=use_cache,
        say=lambda size: click.echo(size.notice, err=True),
        executor=executor,
        known_synthetic=frozenset(s.sha256 for s in samples() if s.synthetic),
    )
    if once is not None:
        opening = partial(query_region, **once)
        if not quiet:
            click.echo(REGION_QUERY_NOTE, err=True)
    try:
        with _unpack_questions():
            data = opening(
                files,
                mapping=mapping,
                dialect=dialect,
                progress=progress,
                memory=memory,
                sniffed=sniffed,
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
def _unpack_questions() -> Iterator[None]:
    """Translate `UnpackNeeded` to a question about the option --unpack.

    Raises
    ------
    OpenQuestions
    """
    from explorer.checkins.errors import UnpackNeeded

    try:
        yield
    except UnpackNeeded as error:
        raise OpenQuestions([f"{error} Give --unpack."]) from None


def _mapping_for(
    files: tuple[Path, ...], columns: dict[str, str], plane: Plane | None, reading: dict[str, Any]
) -> tuple[SniffedSource, Mapping]:
    """Inspect a file; return also its guessed mapping, corrected by the options."""
    from explorer.checkins import SniffSettings, sniff_source
    from explorer.checkins.parsing.ambiguities import remaining_questions
    from explorer.checkins.parsing.guess_columns import with_columns

    fields = {key: value for key, value in reading.items() if key not in OF_DIALECT}
    settings = SniffSettings(
        **{key: reading[key] for key in SniffSettings._fields if key in reading}
    )
    sniffed = sniff_source(files, settings)
    preview = sniffed.preview
    columns_given: dict[str, int | None] = {}
    for role, name in columns.items():
        if not name:
            columns_given[role] = None
        elif preview.columns.count(name) > 1:
            numbers = [str(i) for i, one in enumerate(preview.columns, 1) if one == name]
            raise ValueError(
                f"{preview.basename}: several columns are called {name!r}; give the number of the "
                f"one for {role}: {' or '.join(numbers)}"
            )
        elif name in preview.columns:
            columns_given[role] = preview.columns.index(name)
        elif name.isdecimal() and 1 <= int(name) <= len(preview.columns):
            columns_given[role] = int(name) - 1
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
    columns_given |= _without_user(preview, columns_given, reading.get("unit"))
    for order in (order for order in ("latlon", "lonlat") if order in columns_given):
        both = columns_given.pop(order)
        columns_given |= {"lat": both, "lon": both}
        fields["order"] = order
    mapping = replace(with_columns(preview, columns_given), **fields)
    if plane is not None:
        mapping = replace(mapping, plane=plane.text, crs=None)
    elif "crs" in fields:
        mapping = replace(mapping, plane=None, image=None)
    elif mapping.image is not None:
        # images belong to points in a plane, so that its range must be given
        mapping = replace(mapping, plane="")
    given = {*columns_given, *reading, *(("plane", "crs") if plane is not None else ())}
    open_ones = remaining_questions(preview, mapping, given)
    if open_ones:
        raise OpenQuestions([question_line(preview, one) for one in open_ones])
    return sniffed, mapping


def _without_user(
    preview: Preview, columns_given: dict[str, int | None], unit: str | None
) -> dict[str, int | None]:
    """Return {"user": None} if the privacy unit excludes a user column, else {}.

    Raises
    ------
    ValueError
        If columns and privacy unit contradict each other.
    """
    if unit is None:
        if "user" in columns_given and columns_given["user"] is None:
            raise ValueError(
                f"{preview.basename}: without a user column say what is protected: --unit row or "
                "--unit file"
            )
        return {}
    user = columns_given.get("user", preview.mapping.user)
    if user is not None:
        remedy = "leave out --unit"
        if "user" not in columns_given:
            remedy += ", or give --columns user= if it names no person or device"
        raise ValueError(
            f"{preview.basename}: --unit {unit} is for files without a user column, but "
            f"{column_name(preview, user)} is one; {remedy}"
        )
    return {"user": None}


def _show_progress(progress: Progress) -> None:
    """Update the progress line on a terminal."""
    text = f"{progress.stage}: {progress.rows:,} rows, {progress.bytes_done / 1e6:.1f} MB"
    if progress.seconds_left is not None:
        text += f", {progress.seconds_left:.0f} s left"
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def print_columns(data: CheckinData) -> None:
    """Print the columns in use, counted from 1, and the report's notes to standard error.

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


def extent_of(data: CheckinData) -> Region:
    """Return a box around all check-ins.

    Raises
    ------
    ValueError
        If there are no rows, or they span too many degrees of longitude.
    """
    from explorer.geography.region import Region

    if not data.rows or data.extent is None:
        raise ValueError(f"{data.basename}: no row was kept; see the counts of rejected rows")
    south, west, north, east = data.extent
    margin = 1e-6 + 1e-3 * max(north - south, east - west)
    try:
        # An extent across the antimeridian has east > 180 already.
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


def record_view(data: CheckinData) -> None:
    """Record a view of check-ins in the user's ledger, whose certificates state the count.

    If that fails, a warning is printed and the command goes on.
    """
    if not data.synthetic:
        _record(lambda log: log.record_view(data))


def count_values(values: Collection[str]) -> None:
    """Record a view of the files that a study reads, given as the values of its parameters."""
    if values:
        _record(lambda log: log.record_file_views({v.rpartition("#")[2]: None for v in values}))


def _record(record: Callable[[Any], object]) -> None:
    # imported here: commands start without the release package
    from explorer.release import access_log
    from explorer.release.errors import ReleaseError

    try:
        record(access_log)
    except (ReleaseError, OSError) as error:
        click.echo(
            f"The view of these data could not be recorded ({error}); a certificate about them "
            "will not count it.",
            err=True,
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


def _decimal(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    return None if raw is None else DECIMALS[raw]


def _header_row(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> int | None:
    if raw is None or raw == "none":
        return None if raw is None else 0
    if not raw.isdecimal() or not 1 <= int(raw) <= MAX_HEADER_LINE:
        raise click.BadParameter(f"{raw!r} is not the number of a line, from 1, or none")
    return int(raw)


def _time_format(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.times import format_of_example

    try:
        return None if raw is None else format_of_example(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _zone(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins import CheckinError
    from explorer.checkins.parsing.times import zone_name

    try:
        return None if raw is None else zone_name(raw)
    except CheckinError as error:
        raise click.BadParameter(str(error)) from error


def _encoding(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.encodings import codec_of

    try:
        return None if raw is None else codec_of(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _unit(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    return None if raw == "user" else raw


def _crs(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> str | None:
    from explorer.checkins.parsing.crs import WGS_84, canonical_crs

    try:
        return None if raw is None else canonical_crs(raw) or WGS_84
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def reading_options(command: Any) -> Any:
    """Add the options."""
    options: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--delimiter",
            type=click.Choice(list(DELIMITERS)),
            callback=lambda _ctx, _option, raw: DELIMITERS.get(raw),
            help="Character between two fields of text. Default: detected from the first rows.",
        ),
        click.option(
            "--header-row",
            "header",
            metavar="LINE|none",
            callback=_header_row,
            help="Number of the line with the names of the columns, counted from 1; lines before "
            "it are not read. Default: detected.",
        ),
        click.option(
            "--decimal",
            type=click.Choice(list(DECIMALS)),
            callback=_decimal,
            help="Decimal sign of numbers. Default: detected from the first rows.",
        ),
        click.option(
            "--encoding",
            callback=_encoding,
            metavar="NAME",
            help="Encoding of the text, such as utf-8, windows-1252, shift_jis, gb18030 or "
            "utf-16-le. Default: detected.",
        ),
        click.option(
            "--time-format",
            callback=_time_format,
            metavar="EXAMPLE",
            help="A time as the file writes it, such as '31.12.2024 23:59', '12/31/2024 11:59 "
            "PM' or 20241231; or iso, epoch_s, epoch_ms, epoch_us, epoch_ns, excel_1900, "
            "excel_1904. Default: detected from the first rows.",
        ),
        click.option(
            "--time-zone",
            "zone",
            callback=_zone,
            metavar="NAME",
            help="Time zone of times without an offset, such as Europe/Vienna [UTC]. Of an "
            "ambiguous time the first is taken; a skipped time is read with the offset before the "
            "change.",
        ),
        click.option(
            "--crs",
            callback=_crs,
            metavar="EPSG:NUMBER",
            help="Reference system of x (easting) and y (northing), such as EPSG:25832, from which "
            "they are converted to degrees; E7 for degrees times ten million. Default: the one "
            "stated by the file, or degrees.",
        ),
        click.option(
            "--layer",
            metavar="NAME",
            help="Layer (GeoPackage) or sheet (Excel) with the check-ins.",
        ),
        click.option(
            "--unpack",
            is_flag=True,
            callback=lambda _ctx, _option, raw: raw or None,
            help="Read a .gz file or workbook that unpacks to more than 1,000 times its size: only "
            "if you trust it.",
        ),
        click.option(
            "--unit",
            type=click.Choice(["user", "row", "file"]),
            callback=_unit,
            help="Privacy unit: all rows with one value of the user column [user]; or, only "
            "without such a column, every row (users with many rows are protected less) or the "
            "whole file (its map is nearly pure noise).",
        ),
    )
    return reduce(lambda made, option: option(made), reversed(options), command)


def reading_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove the reading options from the arguments and return those that were given."""
    result = {key: arguments.pop(key) for key in KEYS}
    return {key: value for key, value in result.items() if value is not None}


def question_line(preview: Preview, question: Question) -> str:
    """Return a question with its candidate answers as options, on one line."""
    answers = [
        f"{one.text}{f' (such as {one.example})' if one.example else ''}: "
        + _option(preview, one.fields)
        for one in question.candidates
    ]
    roles = ",".join(f"{role}=COLUMN" for role in question.fields if role in COLUMN_FIELDS)
    options = [" ".join(OPTIONS[name]) for name in question.fields if name in OPTIONS]
    other = " ".join([*([f"--columns {roles}"] if roles else []), *options])
    ending = f"Otherwise give {other}." if answers else f"Give {other}."
    about = [
        question.title,
        question.text,
        *([f"{'; '.join(answers)}."] if answers else []),
        ending,
    ]
    return f"{preview.basename}: {' '.join(about)}"


def _option(preview: Preview, fields: Sequence[tuple[str, Any]]) -> str:
    """Return the options for an answer; columns whose names can't be typed are numbered."""
    from explorer.checkins.parsing.times import COUNTED, example_of

    no_user = "unit" in dict(fields)  # the option --unit implies that there is no user column
    roles = [
        (role, column)
        for role, column in fields
        if role in COLUMN_FIELDS and not (no_user and role == "user")
    ]
    order = dict(fields).get("order")
    if order is not None:  # one column holds both coordinates
        roles = [(order, dict(fields)["lat"])]
    typed = ",".join(f"{role}={column_name(preview, column)}" for role, column in roles)
    options = [f"--columns {quote(typed)}"] if roles else []
    for name, value in fields:
        if name in OPTIONS:
            example = name == "time_format" and value not in COUNTED
            text = example_of(value) if example else str(value)
            options.append(f"{OPTIONS[name][0]} {quote(text)}")
    return " ".join(options)


def column_name(preview: Preview, column: int | None) -> str:
    """Return a column for ``--columns``: its name, or its number from 1."""
    if column is None:
        return ""
    name = preview.columns[column]
    typable = name.isprintable() and not set(",=") & set(name) and not name.isdecimal()
    return name if typable and preview.columns.count(name) == 1 else str(column + 1)


def parse_memory(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> int | None:
    """Return bytes from ``2GB`` or ``900MB`` (an option's callback)."""
    if raw is None:
        return None
    result = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", raw, re.IGNORECASE | re.ASCII)
    size = float(result[1]) * 1000 ** (1 + "KMGT".index(result[2].upper())) if result else 0
    if size < MIN_MEMORY:
        raise click.BadParameter(f"{raw!r} is not a size of 500MB or more, such as 2GB")
    return round(size)


memory_option = click.option(
    "--memory",
    callback=parse_memory,
    metavar="SIZE",
    help="Memory limit for opening check-ins, e.g. 2GB; rows that exceed it are sorted on disk "
    "first. Default: a quarter of the free memory, at most 8GB.",
)


@dataclass(frozen=True)
class Backdrop:
    """The picture behind a map: path, bytes, and the plane that it spans in pixels."""

    path: Path
    data: bytes
    plane: Plane


def parse_plane(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> Plane | None:
    """Parse a plane (an option's callback)."""
    from explorer.geography.plane import Plane

    if raw is None:
        return None
    try:
        return Plane.parse(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def read_picture(
    _ctx: click.Context, _option: click.Parameter, path: Path | None
) -> Backdrop | None:
    """Read the picture behind the map (an option's callback)."""
    from explorer.figures.pages.backdrop import MAX_BYTES, size_of
    from explorer.geography.plane import Plane

    if path is None:
        return None
    try:
        data = read_bounded(path, MAX_BYTES)
        width, height = size_of(data, path.name)
    except OSError as fault:
        raise click.BadParameter(f"{path.name} can't be read ({fault.strerror})") from fault
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return Backdrop(path, data, Plane(0.0, 0.0, float(width), float(height)))


def read_backgrounds(
    _ctx: click.Context, _option: click.Parameter, paths: tuple[Path, ...]
) -> tuple[BackgroundFile, ...]:
    """Describe the files behind the map of the Earth (an option's callback)."""
    if not paths:
        return ()
    from explorer.bounded import call
    from explorer.figures.pages.backdrop import BackgroundFile
    from explorer.geography.background import MEMORY, describe

    found = []
    for path in paths:
        try:
            about = call(describe, str(path.absolute()), name=path.name, memory=MEMORY)
        except (OSError, ValueError) as error:
            raise click.BadParameter(str(error)) from error
        found.append(BackgroundFile(str(path.absolute()), path.name, about.credit))
    return tuple(found)


background_option = click.option(
    "--background",
    "backgrounds",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=read_backgrounds,
    metavar="FILE",
    help="Your own file behind the map: raster MBTiles, PMTiles or GeoTIFF, or lines and areas of "
    "GeoPackage, GeoJSON or Shapefile; may be repeated, the first lies lowest. Its credit is "
    "written on the page.",
)


def parse_polygon(ctx: click.Context, _option: click.Parameter, raw: str | None) -> Any:
    """Return the region with a polygon from a file or typed points (an option's callback)."""
    from explorer.bounded import call
    from explorer.geography.background import MEMORY, outline
    from explorer.geography.region import PolygonRegion, parse_rings
    from explorer.polygon import MAX_POINTS

    if raw is None:
        return None
    try:
        path = Path(raw)
        if ";" not in raw and path.is_file():
            found = call(outline, str(path.absolute()), name=path.name, memory=MEMORY)
            if found.moved:
                raise ValueError(
                    f"{path.name} has {found.points:,} points. A region takes at most "
                    f"{MAX_POINTS:,}: simplify it with ogr2ogr -simplify, or open it in the window "
                    f"(its edge would move by at most {math.ceil(found.moved):,} m)"
                )
            rings = found.rings
        elif ";" not in raw:
            raise ValueError(f"there is no file {raw}; give one, or points as LAT,LON;LAT,LON;…")
        else:
            rings = parse_rings(raw)
        return PolygonRegion.of(rings)
    except (OSError, ValueError) as error:
        raise click.BadParameter(str(error)) from error


polygon_option = click.option(
    "--polygon",
    callback=parse_polygon,
    metavar="FILE|LAT,LON;…",
    help="Count check-ins inside this polygon only, on a map of the box around it: the areas of a "
    "GeoJSON, GeoPackage or Shapefile, or at least 3 points in degrees. A | begins a further ring: "
    "another area, or a hole.",
)


plane_option = click.option(
    "--plane",
    is_eager=True,
    callback=parse_plane,
    metavar="WxH[:UNIT[:down|up]]",
    help="x and y of the file are not degrees, but in this range: 320x240 is x 0…320, y 0…240 "
    "pixels, y downwards; or XMIN,YMIN,XMAX,YMAX:mm:up. Default with --picture: its size.",
)


picture_option = click.option(
    "--picture",
    is_eager=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=read_picture,
    metavar="PNG|JPEG",
    help="Picture behind the map of a plane that is not the Earth; it spans the whole range.",
)


image_option = click.option(
    "--image",
    metavar=f"NAME|{ALL}",
    help="Image whose points are used, in a file with a column of images; all: each in turn, and "
    "the mean of their metrics.",
)


def declared_plane(ctx: click.Context) -> Plane | None:
    """Return the plane declared by the options parsed so far."""
    picture = ctx.params.get("picture")
    plane: Plane | None = ctx.params.get("plane") or (picture.plane if picture else None)
    return plane


def images_of(data: CheckinData, name: str | None) -> tuple[str | None, ...]:
    """Return the selected images; (None,) for a file without images.

    Raises
    ------
    ValueError
        If an image must be selected, or does not exist.
    """
    some = ", ".join(data.images[:8]) + " …" * (len(data.images) > 8)
    if not data.images:
        if name is not None:
            raise ValueError(f"{data.basename} has no column with images; leave out --image")
        return (None,)
    if name is None:
        raise ValueError(
            f"{data.basename} has points in several images: name one with --image, or {ALL}; "
            f"there are {some}"
        )
    if name == ALL:
        return data.images
    if name not in data.images:
        raise ValueError(f"{data.basename} has no image {name!r}; there are {some}")
    return (name,)


def parse_region(ctx: click.Context, _option: click.Parameter, raw: str | None) -> Any:
    """Parse a region from four comma-separated degrees (an option's callback)."""
    if raw is None:
        return None
    from explorer.geography.region import region_of

    plane, sides = declared_plane(ctx), []
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


def region_in(plane: Plane, raw: str, sides: list[float]) -> Region:
    """Parse XMIN,YMIN,XMAX,YMAX of a plane, or return its padded square.

    Raises
    ------
    ValueError
        If the text is neither.
    """
    from explorer.geography.region import PlaneRegion

    if raw.strip() == PADDED:
        return PlaneRegion.padded(plane)
    if len(sides) != 4:
        raise ValueError(f"{raw!r} is not XMIN,YMIN,XMAX,YMAX or {PADDED}")
    left, low, right, high = sides
    return PlaneRegion.whole(plane).at(plane.turned((low, left, high, right)))


PRIOR_FILES = {"checkins": "prior_checkins", "grid": "prior_grid"}
"""Kind of a prior on the command line → parameter of the map that holds its file."""


RELEASE_PRIORS = (*PRIOR_FILES, "cities", "release")
"""Kinds of public maps of a release."""
Priors = tuple[tuple[str, str], ...]
"""Kind and file, or id, of every prior that is given."""


def _parse_priors(
    _ctx: click.Context, option: click.Parameter, raw: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return kind and file, or id, of every prior; the metavar of the option lists the forms."""
    forms = str(option.metavar).split("|")
    kinds = {form.partition(":")[0]: ":" in form for form in forms}
    found = []
    for one in raw:
        kind, _, rest = one.partition(":")
        if kinds.get(kind) is not bool(rest):
            raise click.BadParameter(f"{one!r} is none of {', '.join(forms)}")
        if (kind, rest) in found:
            raise click.BadParameter(f"{one} is given twice; leave one out")
        found.append((kind, rest))
    if ("none", "") in found and len(found) > 1:
        raise click.BadParameter("none goes with no other prior")
    return tuple(found)


_WHAT_PRIORS_ARE = (
    "A public map for the mechanism adaptive-prior; may be given several times, also of a kind. "
    "Check-ins of other people, a grid of people (GeoTIFF, or CSV with columns lat, lon, value), "
    "the population of cities (default){more}. It must be chosen without the data; people in it "
    "are not protected."
)
experiment_prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    callback=_parse_priors,
    metavar="checkins:FILE|grid:FILE|cities|none",
    help=_WHAT_PRIORS_ARE.format(more=""),
)
map_prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    callback=_parse_priors,
    metavar="checkins:FILE|grid:FILE|cities|release:ID|none",
    help=_WHAT_PRIORS_ARE.format(
        more=", or an earlier release of --ledger about these people: used while ε is at most "
        "twice its ε, and both add up"
    ),
)


release_prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    callback=_parse_priors,
    metavar="checkins:FILE|grid:FILE|cities|release:ID",
    help="A public map for heatmap.adaptive/2; may be given several times: check-ins or a grid of "
    "other people (GeoTIFF, or CSV with columns lat, lon, value), the population of cities, or an "
    "earlier release about the same people with at least half of this one's ε. By giving a file "
    "you declare that it is public and was chosen without the data; people in it are not "
    "protected.",
)


def public_prior(kind: str, path: str, box: Box, level: int) -> PriorMasses:
    """Return what a file, or the bundled cities, put into the cells of a map.

    Parameters
    ----------
    kind : str
        Of `RELEASE_PRIORS`, except a release.
    path : str
        "" for the cities.
    box : (south, west, north, east)
        In degrees.
    level : int
        ℓ of the 2^ℓ × 2^ℓ cells.

    Raises
    ------
    BadParameter
        If it can't be read, or has no mass in the box.
    """
    from explorer.engine.release_priors import public_map
    from explorer.engine.runtime import StudyRuntime

    runtime = StudyRuntime()
    try:
        return public_map(runtime, (kind, path, box, level), lambda: None)
    except (OSError, ValueError) as error:
        raise click.BadParameter(str(error), param_hint="--prior") from error
    finally:
        runtime.close()


def prior_values(
    runtime: StudyRuntime, priors: Priors, mechanisms: Collection[str]
) -> dict[str, Value]:
    """Return the map's parameters of priors, their files opened; empty if none are given.

    Earlier releases are added by `with_releases`.

    Raises
    ------
    BadParameter
        If a file can't be opened, or no mechanism takes priors.
    """
    from explorer.engine.runtime import typed_value
    from explorer.studies.base.study import parameter
    from explorer.studies.heatmap.mechanisms import MECHANISMS, PRIORS
    from explorer.studies.registry import get_study

    if not priors:
        return {}
    takers = [key for key, row in MECHANISMS.items() if set(PRIORS) <= set(row.uses)]
    if not set(takers) & set(mechanisms):
        raise click.BadParameter(
            f"only {' and '.join(takers)} takes a prior: choose this mechanism",
            param_hint="--prior",
        )
    values: dict[str, Value] = {"prior_cities": ("cities", "") in priors}
    for kind, key in PRIOR_FILES.items():
        declared = parameter(get_study("heatmap"), key)
        paths = [rest for given, rest in priors if given == kind]
        try:
            files = [str(typed_value(runtime, declared, path)) for path in paths]
            values[key] = declared.parse("/".join(files))
        except (OSError, ValueError) as error:
            raise click.BadParameter(str(error), param_hint="--prior") from error
    return values


def release_values(
    stack: ExitStack, runtime: StudyRuntime, priors: Priors, ledger: Path | None, data: str
) -> dict[str, Value]:
    """Return the map's parameter of earlier releases; empty if none are given.

    Parameters
    ----------
    stack : ExitStack
        At whose end the releases' maps are deleted again.
    runtime : StudyRuntime
    priors : tuple
    ledger : Path or None
        None for the user's own.
    data : str
        Fingerprint of the map's check-ins.

    Raises
    ------
    BadParameter
        If one is not in the ledger, or can't complete the map.
    """
    from explorer.engine.release_priors import write_release
    from explorer.release.errors import ReleaseError
    from explorer.studies.base.study import parameter
    from explorer.studies.registry import get_study

    releases = [rest for kind, rest in priors if kind == "release"]
    if not releases:
        return {}
    declared = parameter(get_study("heatmap"), "prior_release")
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="privacy-explorer-")))
    try:
        paths = [write_release(ledger, release, [data], folder) for release in releases]
        files = "/".join(runtime.add_file(path) for path in paths)
        return {declared.key: declared.parse(files)}
    except (OSError, ReleaseError, ValueError) as error:
        raise click.BadParameter(str(error), param_hint="--prior") from error
