"""The SQL that reads text into typed rows, each with the code of what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from explorer.checkins.database import quote
from explorer.checkins.model import Mapping, Reason
from explorer.checkins.streams import MAX_LINE

ABSENT = "\x1b"
"""What a field must hold to be read as NULL: never. So NULL means that there was no field."""

FIRST_YEAR, LAST_YEAR = 1900, 2199


def text_source(path: Path, delimiter: str, header: bool, width: int, parallel: bool = True) -> str:
    """Return a table expression with columns ``c0…c{width-1}`` and ``extra``, all text.

    Everything is read as text: a reader's own casts accept too much (``1_000``, 12.7 as 13).
    """
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width)) + ", 'extra': 'VARCHAR'"
    return (
        f"read_csv({quote(path)}, delim={quote(delimiter)}, quote='', escape='', "
        f"auto_detect=false, header={header}, strict_mode=false, null_padding=true, "
        f"nullstr={quote(ABSENT)}, store_rejects=true, rejects_limit=0, "
        f"max_line_size={MAX_LINE + 16}, parallel={parallel}, compression='none', "
        f"columns={{{columns}}})"
    )


def time_expression(column: str, spelling: str) -> str:
    """Return SQL for a UTC instant, NULL where the text is none."""
    if spelling == "iso":
        # words such as 'epoch' are instants to DuckDB, so a time must begin with a digit
        return (
            f"CASE WHEN ltrim({column}) BETWEEN '0' AND ':' "
            f"THEN try_cast({column} AS TIMESTAMPTZ) END::TIMESTAMP"
        )
    if spelling.startswith("epoch_"):
        scale = {"epoch_s": 1e6, "epoch_ms": 1e3, "epoch_us": 1.0}[spelling]
        value = number_expression(column)
        return (
            f"CASE WHEN isfinite({value}) AND abs({value} * {scale}) < 8e15 "
            f"THEN make_timestamp(CAST(round({value} * {scale}) AS BIGINT)) END"
        )
    instant = f"try_strptime(trim({column}), {quote(spelling)})"
    return f"CAST({instant} AS TIMESTAMPTZ)::TIMESTAMP" if "%z" in spelling else instant


def number_expression(column: str) -> str:
    """Return SQL for a double, NULL where the text is none (``1_000`` is none)."""
    return f"CASE WHEN NOT contains({column}, '_') THEN try_cast({column} AS DOUBLE) END"


def typed_rows(source: str, mapping: Mapping, width: int | None) -> str:
    """Return a query of ``user_id, time, lat, lon, location, weight, code`` in file order.

    Parameters
    ----------
    source : str
        Table expression with text columns ``c0…``.
    mapping : Mapping
        With user, lat and lon.
    width : int or None
        Number of fields a line must have; None if every row has as many (Parquet).
    """
    user, lat, lon = f"c{mapping.user}", f"c{mapping.lat}", f"c{mapping.lon}"
    time = None if mapping.time is None else f"c{mapping.time}"
    weight = None if mapping.weight is None else f"c{mapping.weight}"
    location = None if mapping.location is None else f"c{mapping.location}"
    needed = [c for c in (user, time, lat, lon, weight) if c is not None]

    whens: list[tuple[str, Reason]] = []
    if width is not None:
        whens.append(("extra IS NOT NULL", Reason.TOO_MANY_FIELDS))
        whens.append((f"c{width - 1} IS NULL", Reason.TOO_FEW_FIELDS))
    whens.append(
        (" OR ".join(f"{c} IS NULL OR trim({c}) = ''" for c in needed), Reason.BLANK_FIELD)
    )
    if time is not None:
        whens.append(
            (
                f"t IS NULL OR NOT isfinite(t) OR t < TIMESTAMP '{FIRST_YEAR}-01-01' "
                f"OR t >= TIMESTAMP '{LAST_YEAR + 1}-01-01'",
                Reason.BAD_TIME,
            )
        )
    whens.append(("y IS NULL OR x IS NULL", Reason.NOT_A_NUMBER))
    whens.append(("NOT isfinite(y) OR NOT isfinite(x)", Reason.NOT_FINITE))
    whens.append(("y = 0 AND x = 0", Reason.ZERO_ZERO))
    whens.append(("abs(y) > 90 OR abs(x) > 180", Reason.OUT_OF_RANGE))
    if weight is not None:
        whens.append(("w IS NULL OR NOT isfinite(w) OR w <= 0", Reason.BAD_WEIGHT))
    code = "CASE " + " ".join(f"WHEN {test} THEN {why.code}" for test, why in whens) + " ELSE 0 END"

    instant = "NULL::TIMESTAMP" if time is None else time_expression(time, mapping.time_format)
    mass = "1.0::DOUBLE" if weight is None else number_expression(weight)
    place = "''" if location is None else f"coalesce({location}, '')"
    return (
        f"SELECT {user} AS user_id, t AS time, y AS lat, x AS lon, {place} AS location, "
        f"w AS weight, ({code})::UTINYINT AS code "
        f"FROM (SELECT *, {instant} AS t, {number_expression(lat)} AS y, "
        f"{number_expression(lon)} AS x, {mass} AS w FROM {source})"
    )
