"""A file of a release read in the plainest way there is: what the fast reader must agree with."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from zoneinfo import ZoneInfo

LONGEST = 1 << 20
CODECS = {
    "utf-8": "utf-8",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
}
DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
ENDS = {"lf": "\n", "cr": "\r"}
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
    quotes: bool = False,
    comma: bool = False,
    trailing: bool = False,
    row_end: str = "lf",
) -> list[Row]:
    """Read all rows that can be read, in the file's order."""
    found = []
    for line in lines_of(data, encoding, row_end):
        cells = split(line, DELIMITERS[delimiter], encoding, quotes)
        if cells is None or sum(map(len, line)) > LONGEST:
            continue
        if trailing and text(cells.pop(), encoding) != "":
            continue
        if len(cells) != len(columns):
            continue
        texts = {name: text(cell, encoding) for name, cell in zip(columns, cells, strict=True)}
        names = all(
            (texts[c] or "").casefold() == c for c in columns if columns == ["user"] or c != "user"
        )
        user = texts.pop("user")
        if not user:
            continue
        lat, lon, when = (texts.pop(name, None) for name in ("lat", "lon", "time"))
        lat, lon = (pointed(one, comma) for one in (lat, lon))
        at = seconds(pointed(when, comma)) if unix else moment(when, zone)
        row = Row(user, degrees(lat, 90), degrees(lon, 180), at, tuple(texts.values()))
        placed = {"lat", "lon", "time"} & set(columns)
        if header and (row.lat is row.lon is row.time is None if placed else names):
            continue
        found.append(row)
    return found


def lines_of(data: bytes, encoding: str, row_end: str) -> list[list[bytes]]:
    """Return the characters of each row as they are stored: bytes, of UTF-16 pairs of them."""
    width = 2 if encoding.startswith("utf-16") else 1
    end = ENDS[row_end].encode(CODECS[encoding])
    lines: list[list[bytes]] = [[]]
    for at in range(0, len(data), width):
        if data[at : at + width] == end:
            lines.append([])
        else:
            lines[-1].append(data[at : at + width])
    if not lines[-1]:
        lines.pop()
    return lines


def split(line: list[bytes], delimiter: str, encoding: str, quotes: bool) -> list[bytes] | None:
    """Return the fields of a row, None if a quote is left open."""
    codec = CODECS[encoding]
    between, quote, carriage = (one.encode(codec) for one in (delimiter, '"', "\r"))
    white = {one.encode(codec) for one in " \t\r\n\v\f"} - {between}
    mark = "\ufeff".encode(codec) if encoding.startswith("utf") else None
    if line and line[-1] == carriage:
        line = line[:-1]
    cells, at = [], 0
    while True:
        k = at
        while k < len(line):
            if line[k] in white:
                k += 1
            elif mark and b"".join(line[k : k + (3 if encoding == "utf-8" else 1)]) == mark:
                k += 3 if encoding == "utf-8" else 1
            else:
                break
        if quotes and k < len(line) and line[k] == quote:
            held, k = [], k + 1
            while k < len(line) and (line[k] != quote or line[k : k + 2] == [quote, quote]):
                held.append(line[k])
                k += 2 if line[k] == quote else 1
            if k == len(line):
                return None
            k += 1
            while k < len(line) and line[k] in white:
                k += 1
            if k < len(line) and line[k] != between:
                return None
        else:
            k = at
            while k < len(line) and line[k] != between:
                k += 1
            held = line[at:k]
        cells.append(b"".join(held))
        if k == len(line):
            return cells
        at = k + 1


def pointed(said: str | None, comma: bool) -> str | None:
    """Return a number with a point; None if it has one where it should have a comma."""
    if not comma or said is None:
        return said
    return None if "." in said else said.replace(",", ".")


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
        if minutes > 59 or not -720 <= int(f"{offset[0][0]}{60 * hours + minutes}") <= 840:
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
