"""Which columns are taken, asked about or missed: a corpus of header lines is opened and scored.

Usage: python -m tests.headers HEADERS.json

Each entry has the fields ``id``, ``place`` ([latitude, longitude, spread in degrees] or a key of
`PLACES`), ``columns`` (each a name and the kind of its values), ``expect`` (for user, lat, lon and
time a column's name, ``ask`` or ``none``) and perhaps ``delimiter``, ``decimal``, ``quote_all``,
``before`` (lines before the header), ``also`` (other right names of the user) and ``either``
(asking is right, too). The values are made: 15 persons with 4 rows each.
"""

from __future__ import annotations

import csv
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from explorer.checkins import CheckinError, Preview, sniff

PERSONS, TURNS = 15, 4
START = datetime(2022, 6, 12, 2, 13, 20, tzinfo=UTC)
PLACES = {"vienna": (48.21, 16.37, 0.1), "rio": (-22.91, -43.2, 0.1), "sea": (-45.3, -21.7, 0.5)}
ROLES = ("user", "lat", "lon", "time")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """What the values of one row are made from: its number, person, time and position."""

    number: int
    person: int
    at: datetime
    lat: float
    lon: float
    draw: random.Random
    comma: bool

    def real(self, value: float, digits: int) -> str:
        """Return a number with the file's decimal mark."""
        text = f"{value:.{digits}f}"
        return text.replace(".", ",") if self.comma else text

    def hexes(self, length: int) -> str:
        """Return random hexadecimal digits."""
        return "".join(self.draw.choice("0123456789abcdef") for _ in range(length))

    def dms(self, value: float, wide: int) -> str:
        """Return degrees, minutes, seconds and thousandths run together."""
        whole, rest = divmod(abs(value), 1)
        return f"{int(whole):0{wide}}{int(rest * 60):02}{int(rest * 3600 % 60):02}123"

    def clock(self, form: str) -> str:
        """Return the row's time in a format."""
        return f"{self.at:{form}}"


def _choice(*words: str) -> Callable[[Row], str]:
    return lambda row: row.draw.choice(words)


def _fixed(length: int, letters: str) -> Callable[[Row], str]:
    """Return what makes a text that is always the same for a person."""
    return lambda row: "".join(
        random.Random(f"{letters}{row.person}").choice(letters) for _ in range(length)
    )


MAKERS: dict[str, Callable[[Row], str]] = {
    "person_id_int": lambda r: str(1000 + 37 * r.person),
    "person_id_text": lambda r: f"anna{r.person:02}",
    "person_name": lambda r: f"Anna {'ABCDEFGHIJKLMNO'[r.person]}berg",
    "person_email": lambda r: f"anna{r.person:02}@example.org",
    "phone": lambda r: f"+4366{7_000_000 + r.person}",
    "device_id": _fixed(16, "0123456789abcdef"),
    "imei": _fixed(15, "123456789"),
    "mac": lambda r: ":".join(f"{(r.person * k) % 256:02x}" for k in (7, 11, 13, 17, 19, 23)),
    "vehicle_id": lambda r: str(412_000 + 91 * r.person),
    "record_id": lambda r: str(880_001 + 3 * r.number),
    "uuid": lambda r: "-".join(r.hexes(n) for n in (8, 4, 4, 4, 12)),
    "hash": lambda r: r.hexes(40),
    "row_number": lambda r: str(r.number),
    "trip_id": lambda r: str(7000 + 10 * r.person + r.number // PERSONS // 2),
    "station_id": lambda r: str(300 + r.draw.randrange(20)),
    "station_name": lambda r: f"Station {r.draw.randrange(20)}",
    "lat": lambda r: r.real(r.lat, 6),
    "lon": lambda r: r.real(r.lon, 6),
    "lat_unsigned": lambda r: r.real(abs(r.lat), 6),
    "lon_unsigned": lambda r: r.real(abs(r.lon), 6),
    "lat_e7": lambda r: str(round(r.lat * 1e7)),
    "lon_e7": lambda r: str(round(r.lon * 1e7)),
    "lat_semicircle": lambda r: str(round(r.lat * 2**31 / 180)),
    "lon_semicircle": lambda r: str(round(r.lon * 2**31 / 180)),
    "lat_dms_int": lambda r: r.dms(r.lat, 2),
    "lon_dms_int": lambda r: r.dms(r.lon, 3),
    "lat_hemisphere": lambda r: f"{abs(r.lat):010.6f}{'NS'[r.lat < 0]}",
    "lon_hemisphere": lambda r: f"{abs(r.lon):011.6f}{'EW'[r.lon < 0]}",
    "hemisphere_ns": lambda r: "NS"[r.lat < 0],
    "hemisphere_ew": lambda r: "EW"[r.lon < 0],
    "x_projected": lambda r: r.real(500_000 + (r.lon % 6 - 3) * 70_000, 2),
    "y_projected": lambda r: r.real(abs(r.lat) * 110_900, 2),
    "wkt_point": lambda r: f"POINT ({r.lon:.6f} {r.lat:.6f})",
    "wkt_line": lambda r: f"[[{r.lon:.6f},{r.lat:.6f}],[{r.lon + 0.1:.6f},{r.lat + 0.1:.6f}]]",
    "latlon_text": lambda r: f"{r.lat:.6f}, {r.lon:.6f}",
    "latlon_paren": lambda r: f"({r.lat:.6f}, {r.lon:.6f})",
    "lonlat_text": lambda r: f"[{r.lon:.6f}, {r.lat:.6f}]",
    "geohash": lambda r: "".join(r.draw.choice("0123456789bcdefghjkmnpqrs") for _ in range(7)),
    "grid": lambda r: str(r.draw.randrange(1, 201)),
    "iso_time": lambda r: r.clock("%Y-%m-%d %H:%M:%S"),
    "iso_time_z": lambda r: r.clock("%Y-%m-%dT%H:%M:%SZ"),
    "epoch_s": lambda r: str(int(r.at.timestamp())),
    "epoch_ms": lambda r: str(int(r.at.timestamp() * 1000)),
    "epoch_ns": lambda r: str(int(r.at.timestamp()) * 10**9),
    "date": lambda r: r.clock("%Y-%m-%d"),
    "date_dmy": lambda r: r.clock("%d.%m.%Y" if r.comma else "%d/%m/%Y"),
    "time_of_day": lambda r: r.clock("%H:%M:%S"),
    "yyyymmdd": lambda r: r.clock("%Y%m%d"),
    "local_time_dmy": lambda r: r.clock("%d.%m.%Y %H:%M" if r.comma else "%d/%m/%Y %H:%M:%S"),
    "local_time_mdy": lambda r: r.clock("%m/%d/%Y %I:%M:%S %p"),
    "year": lambda r: r.clock("%Y"),
    "month": lambda r: str(r.at.month),
    "day": lambda r: str(r.at.day),
    "hour": lambda r: str(r.at.hour),
    "speed": lambda r: r.real(r.draw.uniform(0, 60), 1),
    "altitude": lambda r: r.real(r.draw.uniform(5, 400), 1),
    "accuracy": lambda r: r.real(r.draw.uniform(3, 60), 1),
    "number": lambda r: r.real(r.draw.uniform(0, 50), 2),
    "money": lambda r: r.real(r.draw.uniform(1, 90), 2),
    "count": lambda r: str(r.draw.randrange(40)),
    "flag": lambda r: str(r.draw.randrange(2)),
    "category": _choice("alpha", "beta", "gamma", "delta"),
    "city": _choice("Northville", "Easton", "Southport", "Westfield"),
    "country": _choice("AA", "BB"),
    "species": _choice("Grus grus", "Larus fuscus", "Quercus robur"),
    "gender": _choice("F", "M"),
    "postcode": lambda r: str(10_000 + 10 * r.draw.randrange(12)),
    "text": lambda r: f"street {r.draw.randrange(1, 900)}",
    "url": lambda r: f"https://example.org/{880_001 + 3 * r.number}",
    "ip": lambda r: f"192.0.2.{r.draw.randrange(1, 250)}",
    "age": lambda r: str(18 + 4 * r.person),
    "empty": lambda _: "",
}


def text_of(entry: Entry) -> str:
    """Return the file of an entry: lines before the header, the header, 60 rows."""
    draw = random.Random(entry["id"])
    place = entry.get("place", "vienna")
    south, west, spread = PLACES.get(place, PLACES["vienna"]) if isinstance(place, str) else place
    homes = [(draw.uniform(-1, 1) * spread, draw.uniform(-1, 1) * spread) for _ in range(PERSONS)]
    out = io.StringIO()
    quoting: Any = csv.QUOTE_ALL if entry.get("quote_all") else csv.QUOTE_MINIMAL
    writer = csv.writer(
        out, delimiter=entry.get("delimiter", ","), quoting=quoting, lineterminator="\n"
    )
    writer.writerow([column["name"] for column in entry["columns"]])
    order = [p for _ in range(TURNS) for p in draw.sample(range(PERSONS), PERSONS)]
    for number, person in enumerate(order):
        north, east = homes[person]
        at = START + timedelta(minutes=540 * number + draw.randrange(500), seconds=number % 60)
        cells = []
        for place_in_row, column in enumerate(entry["columns"]):
            row = Row(
                number,
                person,
                at + timedelta(minutes=7 * place_in_row),
                south + north + draw.gauss(0, 0.2) * spread,
                west + east + draw.gauss(0, 0.2) * spread,
                draw,
                entry.get("decimal") == "comma",
            )
            cells.append(MAKERS[column["kind"]](row))
        writer.writerow(cells)
    return "".join(f"{line}\n" for line in entry.get("before", ())) + out.getvalue()


@dataclass
class Score:
    """What is wrong with how files are opened.

    Attributes
    ----------
    wrong : list of str
        Silently taken columns that are not the right ones, and files that cannot be opened.
    needless : list of str
        Entries without any question in them that are asked about.
    plain : int
        How many of those there are.
    """

    wrong: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)
    plain: int = 0

    def add(self, entry: Entry, preview: Preview) -> None:
        """Judge what a preview says of an entry."""
        expect, mapping = entry["expect"], preview.mapping
        asked = bool(preview.questions or mapping.missing) or preview.confidence <= 0.5
        taken = {
            role: "none" if (i := getattr(mapping, role)) is None else preview.columns[i]
            for role in ROLES
        }
        right = {role: {name.strip()} for role, name in expect.items()}
        right["user"] |= {name.strip() for name in entry.get("also", ())}
        if not asked:
            for role in ROLES:
                if role == "time" and expect[role] == "ask":
                    continue
                if taken[role] not in right[role]:
                    self.wrong.append(f"{entry['id']}: {role} {taken[role]}, not {expect[role]}")
        named = all(expect[role] not in ("ask", "none") for role in ROLES)
        if named and not entry.get("either"):
            self.plain += 1
            if asked:
                keys = ", ".join(question.key for question in preview.questions)
                self.needless.append(f"{entry['id']}: {keys or 'cannot be read'}")


def score(entries: list[Entry], folder: Path) -> Score:
    """Write the file of each entry, open it as the commands do, and judge what is taken."""
    found = Score()
    for entry in entries:
        path = folder / f"{entry['id']}.csv"
        path.write_text(text_of(entry), encoding="utf-8", newline="")
        try:
            preview = sniff(path)
        except CheckinError as error:
            found.wrong.append(f"{entry['id']}: {error}")
        else:
            found.add(entry, preview)
    return found


def main(corpus: str) -> int:
    """Score a corpus; the exit code is 0 if nothing is silently wrong and few are asked for."""
    entries = json.loads(Path(corpus).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        found = score(entries, Path(folder))
    for line in (*found.wrong, *(f"needless: {one}" for one in found.needless)):
        print(line)
    share = len(found.needless) / max(1, found.plain)
    print(
        f"{len(entries)} header lines: {len(found.wrong)} silently wrong; "
        f"{len(found.needless)} of {found.plain} asked about needlessly ({share:.0%})"
    )
    return int(bool(found.wrong) or share > 0.15)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
