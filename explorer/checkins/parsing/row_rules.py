"""Rules that the rows of a table must meet: SQL that types and validates them, and explanations."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping as Table, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from explorer.checkins.database import identifier, quote, read_file
from explorer.checkins.model import E7, Mapping, Reason
from explorer.checkins.parsing.crs import FUNCTION, MissingLibrary, canonical_crs
from explorer.checkins.parsing.numbers import (
    BLANKS,
    LATITUDE_FIRST,
    NO_BREAK,
    POINT,
    THOUSANDS,
    coordinate_in,
    has_thousands,
    number,
    short_enough,
)
from explorer.checkins.parsing.quoted import LINE_SEPARATOR
from explorer.checkins.parsing.streams import MAX_LINE
from explorer.checkins.parsing.times import (
    COUNTED,
    FIRST_YEAR,
    ISO_PATTERN,
    LAST_YEAR,
    MAX_MICROSECONDS,
    NAIVE_ISO_PATTERN,
    PLAIN_ISO_PATTERN,
    fold_seconds,
    pattern_of,
    reads_time,
    takes_zone,
    time_fault,
)
from explorer.geography.plane import Plane
from explorer.user_rows import MAX_MARKS, ZERO_WIDTH, id_text

NULL_MARKER = "\n"
"""NULL marker that no field can equal, so that NULL means a missing field."""

TEXT_ID = 255
"""Code of a valid row whose user id is not an integer; the file is read again with text ids."""

EMPTY_MAPPING: Table[Any, Any] = MappingProxyType({})

_WITH_Z, _WITHOUT_Z = "____-__-__T__:__:__Z", "____-__-__ __:__:__"
"""Fields of these shapes are cast as they are, since comparing with a pattern takes longer: what
the database then reads as a time fits `ISO_PATTERN` too."""


def text_source(path: Path, delimiter: str, skip: int, width: int, parallel: bool = True) -> str:
    """Return a table expression of text columns ``c0…c{width-1}`` and ``extra``.

    Everything is read as text: a reader's own casts accept too much (``1_000``, 12.7 as 13).
    """
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width)) + ", 'extra': 'VARCHAR'"
    return (
        f"read_csv({read_file(path)}, delim={quote(delimiter)}, quote='', escape='', "
        f"auto_detect=false, header=false, skip={skip}, strict_mode=false, null_padding=true, "
        f"nullstr={quote(NULL_MARKER)}, store_rejects=true, rejects_limit=0, "
        f"max_line_size={MAX_LINE + 16}, parallel={parallel}, compression='none', "
        f"columns={{{columns}}})"
    )


def with_added(table: str, width: int, added: Sequence[str | None]) -> str:
    """Return a table expression with constant text columns appended."""
    if not added:
        return table
    columns = (
        f"{'NULL::VARCHAR' if text is None else quote(text)} AS c{i}"
        for i, text in enumerate(added, width)
    )
    return f"(SELECT *, {', '.join(columns)} FROM {table})"


def with_instants(
    source: str, column: str, spelling: str, decimal: str = ".", zone: str | None = None
) -> str:
    """Return a table expression with a column ``instant``, parsed as `times.moment` does.

    Times without an offset are of a time zone (UTC if None), by `zones.RULE`; it is NULL where
    the text is no time.
    """
    if zone is None or not takes_zone(spelling):
        return f"(SELECT *, {_instant(column, spelling, decimal)} AS instant FROM {source})"
    instant, naive = _instant(column, spelling, decimal), "true"
    if spelling == "iso":
        naive = f"({column} LIKE {quote(_WITHOUT_Z)} OR {_fits(column, NAIVE_ISO_PATTERN)})"
    wall = f"CASE WHEN {naive} THEN CAST({instant} AS TIMESTAMP) END"
    stated = f"CASE WHEN NOT {naive} THEN {instant} END"
    # Of a time that is shown twice the database takes the later instant.
    name, later = quote(zone), "later"
    for seconds in fold_seconds(zone):
        first = f"(later - INTERVAL {seconds} SECOND)"
        later = f"CASE WHEN timezone({name}, {first}) = wall THEN {first} ELSE {later} END"
    return (
        f"(SELECT *, coalesce(stated, {later}) AS instant FROM "
        f"(SELECT *, timezone({name}, wall) AS later FROM "
        f"(SELECT *, {wall} AS wall, {stated} AS stated FROM {source})))"
    )


def _instant(column: str, spelling: str, decimal: str) -> str:
    """Return SQL for a double; NULL for invalid text (``1_000`` is invalid)."""
    if spelling in COUNTED:
        epoch = COUNTED[spelling]
        scale, most = epoch.microseconds / epoch.step, MAX_MICROSECONDS / epoch.step
        value = number_expression(column, decimal)
        return (
            f"CASE WHEN {short_enough(column)} AND abs({value} * {scale!r}) < {most!r} "
            f"THEN make_timestamptz(CAST(round({value} * {scale!r}) AS BIGINT) * {epoch.step} "
            f"+ {epoch.start * 10**6}) END"
        )
    if spelling == "iso":
        # a cast accepts more than the pattern: names of zones, offsets that do not exist, "epoch"
        usual = f"{column} LIKE {quote(_WITH_Z)} OR {column} LIKE {quote(_WITHOUT_Z)}"
        cast = f"try_cast({column} AS TIMESTAMPTZ)"
        rewritten = rf"regexp_replace({column}, {quote(ISO_PATTERN)}, '\1\2\3')"
        return (
            f"coalesce(CASE WHEN {usual} THEN {cast} END, "
            f"CASE WHEN {_fits(column, PLAIN_ISO_PATTERN)} THEN {cast} "
            f"WHEN {_fits(column, ISO_PATTERN)} THEN try_cast({rewritten} AS TIMESTAMPTZ) END)"
        )
    text = f"translate({column}, '{NO_BREAK}', '  ')"
    if spelling.endswith("%z"):
        text = f"regexp_replace({text}, 'Z *$', '+0000')"
    return (
        f"CASE WHEN {_fits(column, pattern_of(spelling))} "
        f"THEN CAST(try_strptime({text}, {quote(spelling)}) AS TIMESTAMPTZ) END"
    )


def _fits(column: str, pattern: str) -> str:
    return f"({short_enough(column)} AND regexp_full_match({column}, {quote(pattern)}))"


def naive_test(column: str, spelling: str) -> str:
    """Return SQL for whether a time lacks an offset from UTC."""
    if spelling != "iso":
        return str(takes_zone(spelling)).lower()
    return (
        f"CASE WHEN {column} LIKE {quote(_WITH_Z)} THEN false WHEN {column} LIKE "
        f"{quote(_WITHOUT_Z)} THEN true ELSE {_fits(column, NAIVE_ISO_PATTERN)} END"
    )


_SHOWN = "".join(f"\\x{{{ord(c):04X}}}" for c in ZERO_WIDTH)
_BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace())


def id_expression(column: str) -> str:
    """Return SQL for the canonical user id, as `explorer.user_rows.id_text`."""
    # A mark has two bytes and more. `\p{M}{129}` itself takes over .1 s to compile, in every query,
    # and some 20 µs a row.
    seen = f"regexp_replace({column}, '[{_SHOWN}]', '', 'g')"
    others_blank = f"regexp_replace({seen}, '\\P{{M}}+', ' ', 'g')"
    few_marks = (
        f"(strlen({column}) <= {2 * MAX_MARKS} "
        f"OR NOT regexp_matches({others_blank}, '[^ ]{{{MAX_MARKS + 1}}}'))"
    )
    return (
        f"CASE WHEN regexp_full_match({column}, '[!-~]([ -~]*[!-~])?') THEN {column} "
        f"WHEN {few_marks} THEN trim(nfc_normalize({seen}), {quote(_BLANKS)}) END"
    )


def number_expression(column: str, decimal: str = ".") -> str:
    """Return SQL for a double; NULL for invalid text (``1_000`` is invalid)."""
    if decimal == ",":
        return (
            f"CASE WHEN NOT contains({column}, '_') AND NOT contains({column}, '.') "
            f"AND {short_enough(column)} THEN try_cast(replace({column}, ',', '.') AS DOUBLE) END"
        )
    return (
        f"CASE WHEN NOT contains({column}, '_') AND {short_enough(column)} "
        f"THEN try_cast({column} AS DOUBLE) END"
    )


def coordinate_expression(column: str, order: str, role: str) -> str:
    """Return SQL for the latitude or longitude of a field with both; else NULL."""
    place = 1 if (order == LATITUDE_FIRST) == (role == "lat") else 2
    return (
        f"CASE WHEN {short_enough(column)} THEN "
        f"try_cast(regexp_extract({column}, {quote(f'^(?i:{POINT})$')}, {place}) AS DOUBLE) END"
    )


def typed_rows(
    source: str,
    mapping: Mapping,
    width: int | None,
    integers: bool = False,
    decimal: str = ".",
    joined: bool = False,
    extra: str = "",
    fault: str = "",
    typed: Table[Any, str] = EMPTY_MAPPING,
    noted: bool = False,
    row_id: str = "",
) -> str:
    """Return a query of ``user_id, time, lat, lon, same, weight, code`` in file order.

    For a plane that is not the Earth, lat and lon are y and x as whole numbers of its step, and
    there may be a column ``image``.

    ``same`` is a 64-bit hash of user, time, latitude, longitude and location: duplicates agree in
    it, and rows that agree in all but the location differ in it (but for a chance of 2⁻⁶⁴). The
    tests that valid rows pass come first and are cheap; the exact reason is computed only for the
    others.

    Parameters
    ----------
    source : str
        Table expression with text columns ``c0…``.
    mapping : Mapping
        With user, lat and lon.
    width : int or None
        Number of fields a line must have; None if every row is known to have it.
    integers : bool
        Whether user ids become 64-bit integers; a row whose id is not the usual spelling of one
        (``007``, ``12.7``) then gets the code `TEXT_ID`.
    decimal : str
        Decimal sign.
    joined : bool
        Whether fields may have several lines, with `LINE_SEPARATOR` between them.
    extra : str
        A further column of the source to include; empty for none.
    fault : str
        A column with the code of another reason to reject a row, which takes precedence, or NULL.
    typed : mapping of int to str
        SQL of the value of each column that has its final type already: user ids BIGINT (only with
        `integers`), times TIMESTAMPTZ, numbers DOUBLE.
    noted : bool
        Whether to include the id's text if ids are compared in another form (``spelt``), and
        whether the time has no offset (``naive``).
    row_id : str
        SQL of the id of each row if every row is a user; by default all rows of a file without a
        user column have one id, which `number_rows` replaces.
    """

    def text(column: int | None) -> str:
        return f"CAST({typed[column]} AS VARCHAR)" if column in typed else f"c{column}"

    def number(column: int | None) -> str:
        return typed[column] if column in typed else number_expression(f"c{column}", decimal)

    lat, lon = text(mapping.lat), text(mapping.lon)
    user = text(mapping.user) if mapping.unit is None else None
    time = None if mapping.time is None else text(mapping.time)
    weight = None if mapping.weight is None else text(mapping.weight)
    place = "''" if mapping.location is None else f"coalesce(c{mapping.location}, '')"
    image, plane = None if mapping.image is None else f"c{mapping.image}", mapping.plane_there
    needed = [c for c in (user, time, lat, lon, weight, image) if c is not None]

    # '!' is the first printable character; texts that sort before it may be blank
    read = f"replace({user}, {quote(LINE_SEPARATOR)}, chr(10))" if joined else user or ""
    if user is None:
        user_id, known = row_id or ("1::BIGINT" if integers else "'1'"), "true"
    elif mapping.user in typed:
        user_id, known = typed[mapping.user], "u IS NOT NULL"
    else:
        user_id = f"try_cast({user} AS BIGINT)" if integers else id_expression(read)
        known = f"CAST(u AS VARCHAR) = {user}" if integers else "u >= '!'"
    fine = [known, *_inside(plane), *([f"{image} >= '!'"] if image else [])]
    faults: list[tuple[str, Reason]] = []
    if fault:
        fine.append(f"{fault} IS NULL")
    if width is not None:
        fine += ["extra IS NULL", f"c{width - 1} IS NOT NULL"]
        faults.append(("extra IS NOT NULL", Reason.TOO_MANY_FIELDS))
        faults.append((f"c{width - 1} IS NULL", Reason.TOO_FEW_FIELDS))
    blank = " OR ".join(f"{c} IS NULL OR trim({c}) = ''" for c in needed)
    if user is not None and not integers and mapping.user not in typed:
        blank += " OR u IS NULL OR u = ''"
    faults.append((blank, Reason.BLANK_FIELD))
    if time is not None:
        first, last = f"TIMESTAMPTZ '{FIRST_YEAR}-01-01'", f"TIMESTAMPTZ '{LAST_YEAR + 1}-01-01'"
        fine += [f"t >= {first}", f"t < {last}"]
        faults.append((f"t IS NULL OR t < {first} OR t >= {last}", Reason.BAD_TIME))
    numbers = [c for c in (weight, *(() if mapping.order else (lat, lon))) if c is not None]
    grouped = (
        " OR ".join(f"regexp_full_match(trim({c}), {quote(THOUSANDS)})" for c in numbers) or "false"
    )
    unread = "y IS NULL OR x IS NULL" + (" OR w IS NULL" if weight is not None else "")
    faults.append((f"({unread}) AND ({grouped})", Reason.THOUSANDS))
    faults.append(("y IS NULL OR x IS NULL", Reason.NOT_A_NUMBER))
    if mapping.crs:
        faults.append(("isinf(y)", Reason.NOT_CONVERTED))
    faults.append(("NOT isfinite(y) OR NOT isfinite(x)", Reason.NOT_FINITE))
    if plane is None:
        faults.append(("y = 0 AND x = 0", Reason.ZERO_ZERO))
        faults.append(("abs(y) > 90 OR abs(x) > 180", Reason.OUT_OF_RANGE))
    else:
        outside = (Reason.Y_OUTSIDE, Reason.X_OUTSIDE)
        faults += [(f"NOT {test}", why) for test, why in zip(_inside(plane), outside, strict=True)]
    if weight is not None:
        fine.append(f"w BETWEEN {MIN_WEIGHT!r} AND {MAX_WEIGHT!r}")
        faults.append(
            (f"w IS NULL OR w NOT BETWEEN {MIN_WEIGHT!r} AND {MAX_WEIGHT!r}", Reason.BAD_WEIGHT)
        )
    code = (
        f"CASE WHEN {' AND '.join(fine)} THEN 0 "
        + (f"WHEN {fault} IS NOT NULL THEN {fault} " if fault else "")
        + " ".join(f"WHEN {test} THEN {why.code}" for test, why in faults)
        + (f" WHEN NOT coalesce({known}, false) THEN {TEXT_ID}" if integers else "")
        + " ELSE 0 END"
    )
    instant = "NULL::TIMESTAMPTZ"
    if mapping.time in typed:
        instant = typed[mapping.time]
    elif time is not None:
        source = with_instants(source, time, mapping.time_format, decimal, mapping.zone)
        instant = "instant"
    mass = "1.0::DOUBLE" if weight is None else number(mapping.weight)
    y, x = number(mapping.lat), number(mapping.lon)
    if mapping.order:
        y, x = (coordinate_expression(lat, mapping.order, role) for role in ("lat", "lon"))
    if mapping.crs == E7:
        y, x = f"({y} / 1e7)", f"({x} / 1e7)"
    elif mapping.crs:
        source = f"(SELECT *, {FUNCTION}({y}, {x}) AS place FROM {source})"
        y, x = "place.y", "place.x"
    lat, lon = ("y", "x") if plane is None else (_steps("y", plane), _steps("x", plane))
    notes = ""
    if noted:
        spelt = "NULL" if integers or user is None else f"CASE WHEN u <> {read} THEN {read} END"
        naive = "false" if time is None else naive_test(time, mapping.time_format)
        notes = f", {spelt}::VARCHAR AS spelt, coalesce({naive}, false) AS naive"
    same = ", ".join(filter(None, (f"u, t, {lat}, {lon}, {place}", image)))
    return (
        f"SELECT u AS user_id, t AS time, {lat} AS lat, {lon} AS lon, "
        f"hash({same}) AS same, "
        f"w AS weight, ({code})::UTINYINT AS code{f', {image} AS image' if image else ''}"
        f"{f', {extra}' if extra else ''}{notes} "
        f"FROM (SELECT *, {user_id} AS u, {instant} AS t, {y} AS y, {x} AS x, {mass} AS w "
        f"FROM {source})"
    )


def _inside(plane: Plane | None) -> tuple[str, ...]:
    """Return the SQL conditions for valid y and x; (0, 0) on the Earth is invalid."""
    if plane is None:
        return "abs(y) <= 90", "abs(x) <= 180", "(y <> 0 OR x <> 0)"
    low, high, left, right = plane.low, plane.high, plane.left, plane.right
    return f"(y BETWEEN {low!r} AND {high!r})", f"(x BETWEEN {left!r} AND {right!r})"


def _steps(name: str, plane: Plane) -> str:
    """Return SQL for the nearest step of a plane; NULL for invalid numbers."""
    step = plane.step
    factor = f"* {step.denominator}" if step < 1 else f"/ {step.numerator}e0"
    return f"try_cast(round({name} {factor}) AS BIGINT)"


_POINT = r"^(?:MULTI)?POINT(?: Z| M| ZM)? \(+([^ ,()]+) ([^ ,()]+)[^,]*\)+$"
"""A point with any further coordinates, or a collection of one point, as WKT."""

_DEGREES = ("EPSG:4326", "EPSG:4979", "OGC:CRS84", "OGC:CRS84H")
"""Names of WGS 84, from which nothing is converted."""


@dataclass(frozen=True)
class TextColumns:
    """Columns of a table, each as SQL of its text.

    Attributes
    ----------
    names : tuple of str
    texts : tuple of str
        If there are geometries, the first two are y (latitude, northing) and x of their points.
    fault : str
        SQL of a code of `Reason` for rows that are no points, else NULL; empty without geometries.
    shape : str
        SQL of the geometry of such rows, for messages.
    crs : str or None
        Reference system of the geometries as described by the database; None without geometries.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    fault: str = ""
    shape: str = "NULL"
    crs: str | None = None

    @property
    def select(self) -> str:
        """Text columns ``c0…``; with geometries also ``fault`` and ``shape``."""
        columns = [f"{text} AS c{i}" for i, text in enumerate(self.texts)]
        if self.fault:
            columns += [f"{self.fault} AS fault", f"{self.shape} AS shape"]
        return ", ".join(columns)

    @property
    def cells(self) -> str:
        """The text columns of `select` only."""
        return ", ".join(f"c{i}" for i in range(len(self.texts)))

    def fault_of(self, mapping: Mapping) -> str:
        """Return the fault column; empty if positions are not geometries."""
        return "fault" if self.fault and {mapping.lat, mapping.lon} & {0, 1} else ""

    @property
    def line(self) -> str:
        """Comma-separated cells of a row of `select`."""
        cells = ", ".join(f"coalesce(c{i}, '')" for i in range(len(self.texts)))
        return f"concat_ws(',', {cells}{', shape' if self.fault else ''})"


def text_columns(described: Iterable[tuple[str, str]], degrees: bool | None = None) -> TextColumns:
    """Return the columns of a table as text.

    Parameters
    ----------
    described : iterable of (name, type)
        As the database describes it; ``POINT('…')``, with a reference system as in its own
        ``GEOMETRY('…')``, is a structure of x and y.
    degrees : bool or None
        Whether geometries are in degrees, which decides the names of their columns; None derives it
        from their type.
    """
    columns = list(described)
    there = next(((n, t) for n, t in columns if t.startswith(("GEOMETRY", "POINT"))), None)
    plain = [name for name, _ in columns if there is None or name != there[0]]
    texts = [f"CAST({identifier(name)} AS VARCHAR)" for name in plain]
    if there is None:
        return TextColumns(tuple(plain), tuple(texts))
    kind, _, type_argument = there[1].partition("(")
    crs = type_argument.removeprefix("'").removesuffix("')").replace("''", "'")
    if degrees is None:
        degrees = known_system(crs) is None
    text = f"ST_AsText({identifier(there[0])})"
    if kind == "POINT":
        x, y = (f"struct_extract({identifier(there[0])}, '{side}')" for side in "xy")
        text = f"('POINT (' || {x} || ' ' || {y} || ')')"
    usual, words = f"starts_with({text}, 'POINT (')", f"substr({text}, 8, len({text}) - 8)"

    def coordinate(place: int) -> str:
        """Most are plain points, for which there is no need of a regular expression."""
        return (
            f"CASE WHEN {usual} THEN split_part({words}, ' ', {place}) "
            f"ELSE nullif(regexp_extract({text}, '{_POINT}', {place}), '') END"
        )

    point = f"({usual} OR regexp_matches({text}, '{_POINT}'))"
    fault = (
        f"CASE WHEN {point} THEN NULL WHEN {text} IS NULL OR ends_with({text}, 'EMPTY') "
        f"THEN {Reason.NO_GEOMETRY.code} ELSE {Reason.NOT_A_POINT.code} END::UTINYINT"
    )
    names = ("latitude", "longitude") if degrees else ("y", "x")
    shape = f"CASE WHEN NOT {point} THEN {text} END"
    return TextColumns((*names, *plain), (coordinate(2), coordinate(1), *texts), fault, shape, crs)


def known_system(text: str | None) -> str | None:
    """Return the `Mapping.crs` name of a reference system as described by a file.

    Parameters
    ----------
    text : str or None
        A name such as ``EPSG:25832``, PROJJSON or well-known text.

    Returns
    -------
    str or None
        None for WGS 84; empty if unknown.
    """
    name = (text or "").strip()
    if name.startswith("{"):
        try:
            known = json.loads(name).get("id") or {}
        except ValueError:
            known = {}
        if known:
            name = f"{known.get('authority')}:{known.get('code')}"
    if name.upper() in _DEGREES:
        return None
    if not name:
        return ""
    try:
        return canonical_crs(name)
    except MissingLibrary:
        return name if len(name) < 40 else ""
    except ValueError:
        return ""


MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100
"""Beyond these, sums of weights or of their squares may lose precision."""


class CellFault(NamedTuple):
    """Fault and remedy of an invalid cell.

    Attributes
    ----------
    what : str
        The fault, in words that follow the cell's name: ``latitude is empty``.
    remedy : str
        What to do, in the imperative.
    """

    what: str
    remedy: str


EMPTY = "fill it in, or leave it: the row will be rejected"
UNKNOWN_POSITION = CellFault(
    "(0, 0) is what devices report when they don't know where they are",
    "correct the position, or leave it: the row will be rejected",
)


def bad_cells(
    row: Sequence[str], mapping: Mapping, decimal: str = ".", width: int | None = None
) -> dict[int, CellFault]:
    """Return the invalid cells of a row by column.

    The same rules as loading, cell by cell; a row without any is valid unless it repeats another.

    Parameters
    ----------
    row : sequence of str
    mapping : Mapping
    decimal : str
        Decimal sign.
    width : int, optional
        Expected number of fields; not checked if omitted.
    """
    bad: dict[int, CellFault] = {}
    if width is not None and len(row) != width:
        remedy = "look for a separator inside a field; put quotes around that field"
        what = f"the row has {len(row)} fields where others have {width}"
        bad[min(len(row), width)] = CellFault(what, remedy)

    def cell(column: int) -> str:
        return row[column].strip(BLANKS) if column < len(row) else ""

    for name, needed in (("user", mapping.user), ("image", mapping.image)):
        if needed is not None and not (id_text(cell(needed)) if name == "user" else cell(needed)):
            bad.setdefault(needed, CellFault(f"the {name} is empty", EMPTY))
    places = []
    for name, column, low, high in limits(mapping):
        if column is None:
            continue
        value = number(cell(column), decimal)
        if mapping.order:
            value = coordinate_in(cell(column), mapping.order, name[:3])
        if value is None:
            bad.setdefault(column, _no_number(name, cell(column), decimal))
        elif not low <= value <= high:
            bad.setdefault(column, _outside(name, cell(column), value, low, high))
        elif value == 0:
            places.append(column)
    if len(places) == 2 and not mapping.planar:
        bad.update(dict.fromkeys(places, UNKNOWN_POSITION))
    time = mapping.time
    if time is not None:
        text = row[time] if time < len(row) else ""
        if not cell(time):
            bad.setdefault(time, CellFault("the time is empty", EMPTY))
        elif not reads_time(text, mapping.time_format, decimal):
            bad.setdefault(time, CellFault(*time_fault(text, mapping.time_format, decimal)))
    if mapping.weight is not None:
        text = cell(mapping.weight)
        value = number(text, decimal)
        if value is None:
            bad.setdefault(mapping.weight, _no_number("weight", text, decimal))
        elif not MIN_WEIGHT <= value <= MAX_WEIGHT:
            what = f"the weight {text[:20]} is not a positive number".replace("-", "−")
            bad.setdefault(mapping.weight, CellFault(what, "give how many check-ins the row is"))
    return bad


def _no_number(name: str, text: str, decimal: str) -> CellFault:
    """Return why a field is not a number."""
    if not text:
        return CellFault(f"the {name} is empty", EMPTY)
    other = {".": ",", ",": "."}[decimal]
    signs = {".": "point", ",": "comma"}
    if number(text, other) is not None:
        return CellFault(
            f"the {name} has a {signs[other]} where the file has decimal {signs[decimal]}s",
            f"write it with a {signs[decimal]}, or choose the {signs[other]} as decimal mark",
        )
    if has_thousands(text):
        return CellFault(
            f"the {name} has separators of thousands",
            f"write it without them, as 1234{decimal}5",
        )
    return CellFault(f"the {name} is no number", f"write it as a number, such as 48{decimal}2081")


def _outside(name: str, text: str, value: float, low: float, high: float) -> CellFault:
    """Return the fault of a number outside its range."""
    side, end = ("above", high) if value > high else ("below", low)
    remedy = "correct it"
    if name in ("latitude", "longitude"):
        remedy += ", or look whether latitude and longitude are swapped"
    return CellFault(f"the {name} {text[:20]} is {side} {end:g}".replace("-", "−"), remedy)


def limits(mapping: Mapping) -> Iterator[tuple[str, int | None, float, float]]:
    """Yield name, column, minimum and maximum of both coordinates."""
    plane = mapping.plane_there
    if plane is not None:
        yield "y", mapping.lat, plane.low, plane.high
        yield "x", mapping.lon, plane.left, plane.right
    elif mapping.crs == E7:
        yield "latitude", mapping.lat, -90e7, 90e7
        yield "longitude", mapping.lon, -180e7, 180e7
    elif mapping.planar or mapping.crs is not None:
        yield "y", mapping.lat, -math.inf, math.inf
        yield "x", mapping.lon, -math.inf, math.inf
    else:
        yield "latitude", mapping.lat, -90, 90
        yield "longitude", mapping.lon, -180, 180
