"""A file of a release read in the plainest way there is: what the fast reader must agree with."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from zoneinfo import ZoneInfo

LONGEST = 1 << 20
CODECS = {"utf-8": "utf-8", "latin-1": "latin-1", "windows-1252": "cp1252"}
DELIMITERS = {"tab": b"\t", "comma": b",", "semicolon": b";", "pipe": b"|", "space": b" "}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
ISO = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?", re.ASCII
)


@dataclass(frozen=True)
class Row:
    user: str
    lat: int | None
    lon: int | None
    time: int | None
    texts: tuple[str | None, ...]


def rows_of(
    data: bytes,
    columns: list[str],
    delimiter: str,
    header: bool = False,
    encoding: str = "utf-8",
    zone: str = "UTC",
    unix: bool = False,
) -> list[Row]:
    """Read all rows that can be read, in the file's order."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    found = []
    for line in lines:
        cells = line.split(DELIMITERS[delimiter])
        if len(cells) != len(columns) or len(line) > LONGEST:
            continue
        texts = {name: text(cell, encoding) for name, cell in zip(columns, cells, strict=True)}
        names = all(
            (texts[c] or "").casefold() == c for c in columns if columns == ["user"] or c != "user"
        )
        user = texts.pop("user")
        if not user:
            continue
        lat, lon, when = (texts.pop(name, None) for name in ("lat", "lon", "time"))
        at = seconds(when) if unix else moment(when, zone)
        row = Row(user, degrees(lat, 90), degrees(lon, 180), at, tuple(texts.values()))
        placed = {"lat", "lon", "time"} & set(columns)
        if header and (row.lat is row.lon is row.time is None if placed else names):
            continue
        found.append(row)
    return found


def text(cell: bytes, encoding: str) -> str | None:
    try:
        found = cell.decode(CODECS[encoding])
    except UnicodeDecodeError:
        return None
    return unicodedata.normalize("NFC", found.strip().strip("\ufeff").strip())


def number(said: str | None) -> Decimal | None:
    if said is None or not NUMBER.fullmatch(said):
        return None
    mantissa, _, power = said.lower().partition("e")
    if sum(c.isdigit() for c in mantissa) > 40 or abs(int(power or 0)) > 40:
        return None
    return Decimal(said)


def degrees(said: str | None, most: int) -> int | None:
    value = number(said)
    if value is None or abs(value) > most:
        return None
    with localcontext() as context:
        context.prec = 200
        return int((value * 10**7).to_integral_value(ROUND_HALF_EVEN))


def seconds(said: str | None) -> int | None:
    value = number(said)
    if value is None:
        return None
    with localcontext() as context:
        context.prec = 200
        return in_time(int(value.to_integral_value(ROUND_FLOOR)))


def in_time(value: int) -> int | None:
    first = datetime(1, 1, 2, tzinfo=UTC).timestamp()
    last = datetime(9999, 12, 30, tzinfo=UTC).timestamp()
    return value if first <= value <= last else None


def moment(said: str | None, zone: str) -> int | None:
    if said is None or not ISO.fullmatch(said):
        return None
    day, clock = said[:10], re.sub(r"\.\d+", "", said[11:])
    offset = re.search(r"(Z|[+-]\d\d(:?\d\d)?)$", clock)
    at = (clock[: offset.start()] if offset else clock).split(":") if clock else []
    try:
        parts = [int(part) for part in (*day.split("-"), *at)]
        local = datetime(*parts)  # type: ignore[arg-type]
    except ValueError:
        return None
    if in_time(int(local.replace(tzinfo=UTC).timestamp())) is None:
        return None
    if offset is None:
        local = local.replace(tzinfo=_zone(zone))
    elif offset[0] == "Z":
        local = local.replace(tzinfo=UTC)
    else:
        digits = offset[0].replace(":", "")
        hours, minutes = int(digits[1:3]), int(digits[3:] or 0)
        if hours > 23 or minutes > 59:
            return None
        sign = -1 if digits[0] == "-" else 1
        local = local.replace(tzinfo=timezone(sign * timedelta(hours=hours, minutes=minutes)))
    ahead = local.utcoffset()
    assert ahead is not None
    naive = local.replace(tzinfo=UTC)
    return in_time(int(naive.timestamp()) - int(ahead.total_seconds()))


def _zone(name: str) -> tzinfo:
    if name.startswith(("+", "-")):
        return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
    return ZoneInfo(name)
