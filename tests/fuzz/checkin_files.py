"""Check-in files made of known good rows, with faults between them and in their bytes."""

from __future__ import annotations

import gzip
import random
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from tests.fuzz.mutate import changed_bytes

Row = tuple[str, int | None, float, float, float]
"""User, microseconds since 1970 (None without times), latitude, longitude, weight."""

BEGIN = datetime(2010, 1, 1, tzinfo=UTC)
MANY = ((20_000, 0.001), (3_000, 0.02))
"""Numbers of rows, over several blocks of a pass, and how often they are tried."""

USERS = ("{}", "u{}", "-{}", "00{}", "Jörg {}", "名{}", "a b{}", "x'{}", "u_{}", "1.{}", "é{}")
SPELLINGS = {
    "iso": lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "epoch_s": lambda t: str(int(t.timestamp())),
    "epoch_ms": lambda t: str(int(t.timestamp()) * 1000),
    "%a %b %d %H:%M:%S %z %Y": lambda t: t.strftime("%a %b %d %H:%M:%S +0000 %Y"),
    "%d.%m.%Y %H:%M:%S": lambda t: t.strftime("%d.%m.%Y %H:%M:%S"),
    "%d/%m/%Y %H:%M:%S": lambda t: t.strftime("%d/%m/%Y %H:%M:%S"),
    "%m/%d/%Y %I:%M:%S %p": lambda t: t.strftime("%m/%d/%Y %I:%M:%S %p"),
}
HEADINGS = (
    {},
    {
        "user": "Kunde",
        "time": "Zeitpunkt",
        "lat": "Breite",
        "lon": "Länge [°]",
        "venue": "Ort",
        "weight": "Anzahl",
    },
    {
        "user": "Usuario",
        "time": "FECHA Y HORA",
        "lat": "Latitud",
        "lon": "Longitud",
        "venue": "lugar",
        "weight": "visitas",
    },
)
"""What columns are called in other languages; in English as they are."""


@dataclass(frozen=True)
class Made:
    """A file's text before any fault.

    Attributes
    ----------
    header : str
        Empty without one.
    lines : list of str
        A row each, without line ends.
    rows : list of Row
        What is to be read of them.
    quoted : bool
        Whether fields are in quotes.
    columns : dict of str to list
        The same by column, for Parquet.
    """

    header: str
    lines: list[str]
    rows: list[Row]
    quoted: bool
    columns: dict[str, list[object]]


def made(rng: random.Random) -> Made:
    """Return rows that every reader must agree on, written in some dialect."""
    count = next((n for n, share in MANY if rng.random() < share), rng.randint(20, 90))
    delimiter = rng.choice("\t\t,,;|")
    snap = delimiter == "\t" and rng.random() < 0.6
    quoted = not snap and delimiter != "\t" and rng.random() < 0.5
    decimal = "," if (delimiter in "\t;" or quoted) and rng.random() < 0.3 else "."
    weighted = not snap and rng.random() < 0.3
    timed = snap or rng.random() < 0.8
    spelling = rng.choice(["iso", "iso", "iso", *SPELLINGS]) if not snap else "iso"
    name = rng.choice(USERS)
    names = ["user", *(["time"] if timed else []), "lat", "lon", "venue"]
    names += ["weight"] if weighted else []
    if not snap:
        rng.shuffle(names)
    headings = rng.choice(HEADINGS)
    header = "" if snap else delimiter.join(headings.get(name, name) for name in names)
    lines, rows = [], []
    columns: dict[str, list[object]] = {n: [] for n in names}
    for i in range(count):
        time = BEGIN + timedelta(seconds=rng.randrange(40_000_000))
        lat = round(round(rng.uniform(10, 80) * rng.choice((1, -1)), 2) + i * 1e-7, 7)
        lon = round(rng.uniform(10, 170) * rng.choice((1, -1)), 5)
        weight = rng.randint(1, 9) / 2 if weighted else 1.0
        user = name.format(rng.randrange(12))
        venue = rng.choice(("shop", "café", f"{rng.randrange(16**8):x}", "a, b; c|d", '6" nails'))
        venue = venue if quoted else f"p{i}"
        fields = {
            "user": user,
            "time": SPELLINGS[spelling](time),
            "lat": f"{lat:.7f}".replace(".", decimal),
            "lon": f"{lon:.5f}".replace(".", decimal),
            "venue": venue,
            "weight": f"{weight:.1f}".replace(".", decimal),
        }
        for n in names:
            columns[n].append({"lat": lat, "lon": lon, "weight": weight}.get(n, fields[n]))
        lines.append(delimiter.join(_quoted(fields[n], quoted, rng) for n in names))
        instant = int(time.timestamp()) * 1_000_000 if timed else None
        rows.append((user, instant, lat, lon, weight))
    return Made(header, lines, rows, quoted, columns)


def _quoted(text: str, quoted: bool, rng: random.Random) -> str:
    needed = any(c in text for c in ',;|"')
    if quoted and (needed or rng.random() < 0.3):
        return '"' + text.replace('"', '""') + '"'
    return text


BAD = (
    "",
    "",
    "\r",
    "x",
    "\t",
    ",,,,",
    ";;;",
    '"',
    '""',
    'a"b',
    '"open',
    'close"',
    '"a""b',
    "\0",
    "é",
    "nan\tnan\tnan\tnan\tnan",
    "1\t2\t3",
    "9" * 400,
    "1e400,1e400,1e400",
    "\x1f",
    "\x1e\x1f",
    "#",
    '"1,2\t3',
    "𝄞",
    "\ufeff",
    "\\",
    '\\"',
    "'",
    "=1+1",
    "-",
    "0\t0\t0\t0\t0",
    "\u2028",
    "\x85",
)
"""Lines that are no rows."""


def spoilt(lines: list[str], rng: random.Random) -> list[bytes]:
    """Return lines with a few spoilt, doubled, moved or taken out, and others put between them."""
    found = [line.encode() for line in lines]
    for _ in range(rng.choice((0, 1, 2, 3, max(1, len(lines) // 8)))):
        at = rng.randrange(len(found) + 1)
        line = found[min(at, len(found) - 1)]
        match rng.randrange(6):
            case 0:
                found.insert(at, rng.choice(BAD).encode())
            case 1:
                found[min(at, len(found) - 1)] = changed_bytes(line, rng).replace(b"\n", b"")
            case 2:
                found.insert(at, line)
            case 3 if len(found) > 10:
                del found[min(at, len(found) - 1)]
            case 4:
                spot = rng.randrange(len(line) + 1)
                sign = rng.choice((b'"', b'"', b",", b"\0", b"\r", b"\xff", b"\x1f", b"\t", b";"))
                found[min(at, len(found) - 1)] = line[:spot] + sign + line[spot:]
            case _:
                some = b"" if rng.random() < 0.7 else b"z" * 1_100_000
                found[at:at] = [some] * rng.choice((1, 1, 3, 200) if not some else (1,))
    return found


def decompress(data: bytes) -> bytes:
    """Return all that can be decompressed of an archive, fed byte by byte."""
    out, unzip = b"", zlib.decompressobj(31)
    for i in range(len(data)):
        try:
            out += unzip.decompress(data[i : i + 1])
        except zlib.error:
            break
        if unzip.eof:
            break
    return out


def zipped(data: bytes, rng: random.Random) -> bytes:
    """Return an archive."""
    return gzip.compress(data, compresslevel=rng.choice((0, 1, 6, 9)), mtime=0)


def write_parquet(known: Made, path: Path, rng: random.Random) -> None:
    """Write the rows as Parquet, in one of the usual ways."""
    con = _database()
    names = list(known.columns)
    kinds = {"lat": "DOUBLE", "lon": "DOUBLE", "weight": "DOUBLE"}
    fields = ", ".join(f"{n} {kinds.get(n, 'VARCHAR')}" for n in names)
    con.execute(f"CREATE OR REPLACE TEMP TABLE made ({fields})")
    marks = ", ".join("?" for _ in names)
    con.executemany(
        f"INSERT INTO made VALUES ({marks})",
        [list(row) for row in zip(*known.columns.values(), strict=True)],
    )
    packed = rng.choice(("uncompressed", "snappy", "zstd", "lz4", "gzip"))
    con.execute(
        f"COPY made TO '{path}' (FORMAT parquet, COMPRESSION {packed}, ROW_GROUP_SIZE 2048)"
    )


@cache
def _database():
    import duckdb

    return duckdb.connect(config={"threads": 1})
