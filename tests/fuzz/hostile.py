"""Mutated binary and structured files: each is read or refused in a sentence, within bounds.

Small valid files of every kind that a bounded worker or a bounded pass reads: check-ins as Parquet,
Excel, GeoPackage, GeoJSON, JSON, GPX and KML, recipes inside exported pictures and tables, and idx
files of digits. Of each, bits are flipped, blocks repeated or taken out, the end cut off, and
lengths set to extreme values; inside archives too, whose checksums are then right again. Memory is
that of this process and of its workers, looked at every 20 ms.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import tempfile
import threading
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import psutil

from explorer.checkins import open_checkins, sniff
from explorer.figures.formats import recipe_formats
from explorer.figures.recipes import MEMORY as RECIPE_MEMORY, read_recipe
from explorer.studies.cldp_sgd.data import MAX_IDX, read_idx
from tests.fuzz.mutate import changed_bytes
from tests.fuzz.outcome import Outcome
from tests.waiting import time_limit

MEMORY = 512_000_000
"""Bytes that a worker may hold: the least that the program itself gives one."""
PASSED = 100_000_000
"""Bytes beyond a bound until a worker that is watched every 10 ms has ended."""
SLOW_S = 20.0
MAX_SAID = 700
WATCH_S = 0.02
ROWS = 40

Read = Callable[[Path], None]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    name : str
        Of a file; its end is how the program is used to see such files.
    make : callable
        Returns the bytes of a valid one.
    read : callable
        Reads a file as the program does.
    own_bytes : int
        Bytes that this process, in which no worker's bound holds, may grow by.
    """

    name: str
    make: Callable[[], bytes]
    read: Read
    own_bytes: int = MEMORY


def _opened(path: Path) -> None:
    seen = sniff(path)
    mapping = seen.mapping
    # Where something is asked, whoever opens the file would answer.
    if mapping.lat is None and {"latitude", "longitude"} <= set(seen.columns):
        lat, lon = map(seen.columns.index, ("latitude", "longitude"))
        mapping = replace(mapping, lat=lat, lon=lon)
    if mapping.user is None:
        mapping = replace(mapping, unit="row")
    with open_checkins(path, mapping, cache_dir=None) as data:
        report = data.report
        if report.accounted != report.physical_lines:
            raise AssertionError(f"{report.accounted} of {report.physical_lines} accounted for")


def _recipe(path: Path) -> None:
    if not isinstance(read_recipe(path), dict):
        raise AssertionError("a recipe that is no object")


def _digits(path: Path) -> None:
    read_idx(path)


def _table(kind: str) -> bytes:
    """Return check-ins written by the usual library of a format."""
    import pandas

    from tests.checkins.layered_files import write_as

    times = pandas.date_range("2024-05-01", periods=ROWS, freq="min", tz="UTC")
    table = pandas.DataFrame(
        {
            "user": [f"u{i % 4}" for i in range(ROWS)],
            "time": times,
            "latitude": [48.2 + i / 1000 for i in range(ROWS)],
            "longitude": 16.3,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        return write_as(kind, table, Path(folder)).read_bytes()


def _records(name: str) -> bytes:
    rows = [(f"2024-05-01T00:{i:02}:00Z", round(48.2 + i / 1000, 3), 16.3) for i in range(ROWS)]
    match name:
        case "gpx":
            points = [f'<trkpt lat="{y}" lon="{x}"><time>{t}</time></trkpt>' for t, y, x in rows]
            return (
                '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Run'
                f"</name><trkseg>{''.join(points)}</trkseg></trk></gpx>"
            ).encode()
        case "kml":
            places = [
                f"<Placemark><TimeStamp><when>{t}</when></TimeStamp><Point><coordinates>{x},{y}"
                "</coordinates></Point></Placemark>"
                for t, y, x in rows
            ]
            return (
                '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
                f"{''.join(places)}</Document></kml>"
            ).encode()
        case "takeout.json":
            found = [
                {"latitudeE7": round(1e7 * y), "longitudeE7": round(1e7 * x), "timestamp": t}
                for t, y, x in rows
            ]
            return json.dumps({"locations": found}).encode()
    objects = [
        json.dumps({"who": {"user": f"u{i % 4}"}, "time": t, "lat": y, "lon": x, "tags": ["a", i]})
        for i, (t, y, x) in enumerate(rows)
    ]
    return (f"[{','.join(objects)}]" if name == "json" else "\n".join(objects)).encode()


def _exported(suffix: str) -> bytes:
    from tests.figures.samples import RECIPE, exported_map

    if suffix == "parquet":  # of a grid, not of a map
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"x": [1.0, 2.0]}, metadata={"recipe": json.dumps(RECIPE)})
        pq.write_table(table, file := io.BytesIO())
        return file.getvalue()
    return exported_map(RECIPE, suffix)


def _idx(pack: bool) -> bytes:
    data = b"\0\0\x08\x03" + b"".join(n.to_bytes(4) for n in (6, 8, 8)) + bytes(range(192)) * 2
    return gzip.compress(data, mtime=0) if pack else data


def kinds() -> list[Kind]:
    """Return every kind of file, in turns of check-ins, recipes and digits."""
    tables = [
        Kind(f"case.{suffix}", lambda suffix=suffix: _table(suffix), _opened)
        for suffix in ("parquet", "xlsx", "gpkg", "geojson", "geojsonl", "geo.parquet")
    ]
    records = [
        Kind(f"case.{suffix}", lambda suffix=suffix: _records(suffix), _opened)
        for suffix in ("json", "jsonl", "takeout.json", "gpx", "kml")
    ]
    recipes = [
        Kind(f"recipe.{suffix}", lambda suffix=suffix: _exported(suffix), _recipe)
        for suffix in dict.fromkeys(f.suffix for f in recipe_formats())
    ]
    digits = [
        Kind("digits-idx3-ubyte", lambda: _idx(pack=False), _digits, 2 * MAX_IDX),
        Kind("digits-idx3-ubyte.gz", lambda: _idx(pack=True), _digits, 2 * MAX_IDX),
    ]
    return [*tables, *records, *digits, *recipes]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return a file with something wrong in it; at times inside its archive's members."""
    if rng.random() < 0.6:
        if data[:2] == b"\x1f\x8b":
            return gzip.compress(_changed(gzip.decompress(data), rng), mtime=0)
        if data[:2] == b"PK":
            return _changed_member(data, rng)
    return _changed(data, rng)


def _changed_member(data: bytes, rng: random.Random) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        parts = old.infolist()
        spoilt = rng.choice(parts)
        for part in parts:
            content = old.read(part)
            new.writestr(part.filename, _changed(content, rng) if part is spoilt else content)
    return file.getvalue()


def _changed(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    match rng.randrange(4):
        case 0 | 1:
            return changed_bytes(data, rng)
        case 2:
            for _ in range(rng.choice((1, 1, 2, 4))):
                _change_length(found, rng)
        case _:
            begin, end = sorted((rng.randrange(len(found) + 1), rng.randrange(len(found) + 1)))
            end = min(end, begin + 4096)
            found[begin:begin] = found[begin:end] * rng.choice((1, 2, 30))
    return bytes(found)


def _change_length(found: bytearray, rng: random.Random) -> None:
    """Set some bytes near the beginning, the end or elsewhere, as numbers in headers are."""
    width = rng.choice((1, 2, 4, 4, 8))
    near = min(len(found), rng.choice((64, 512, len(found))))
    at = rng.randrange(max(near - width, 1))
    if rng.random() < 0.4:
        at = max(len(found) - width - at, 0)
    top = 1 << (8 * width)
    value = rng.choice(
        (0, 1, top - 1, top // 2, top // 2 - 1, rng.randrange(top), len(found) % top)
    )
    found[at : at + width] = value.to_bytes(width, rng.choice(("little", "big")))


class _Peak:
    """The most memory that this process and each of its workers held while it is looked at."""

    def __init__(self) -> None:
        self.worker = self.own = 0
        self._before = psutil.Process().memory_info().rss
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        this = psutil.Process()
        while not self._over.wait(WATCH_S):
            self.own = max(self.own, this.memory_info().rss - self._before)
            for child in this.children():
                try:
                    self.worker = max(self.worker, child.memory_info().rss)
                except psutil.Error:
                    continue  # ended since it was listed


def run(count: int, seed: int) -> Outcome:
    """Read `count` mutated files, of all kinds in turn, and each kind once as it was made."""
    outcome, known = Outcome(), kinds()
    made: dict[str, bytes] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("explorer.checkins.workers.database_bytes", lambda: MEMORY),
        warnings.catch_warnings(),
    ):
        for i in range(count):
            rng = random.Random(f"{seed} {i}")
            kind = known[i % len(known)]
            path = Path(folder, kind.name)
            if kind.name not in made:
                made[kind.name] = kind.make()
                path.write_bytes(made[kind.name])
                found = _tried(kind, path)
                if found != "read":
                    outcome.faults.append(f"{kind.name}, as it was made: {found}")
                outcome.counts[f"made: {kind.name}"] += 1
            path.write_bytes(mutated(made[kind.name], rng))
            found = _tried(kind, path)
            if found in ("read", "refused"):
                outcome.counts[f"{kind.name}: {found}"] += 1
            else:
                outcome.faults.append(f"{seed} {i} ({kind.name}): {found}")
    return outcome


def _tried(kind: Kind, path: Path) -> str:
    """Return ``read``, ``refused`` or what went wrong."""
    began, found = time.monotonic(), "read"
    with _Peak() as peak, warnings.catch_warnings():
        warnings.simplefilter("error")  # a library's warning would stand beside the sentence
        try:
            kind.read(path)
        except ValueError as error:
            found = _no_sentence(error, path) or "refused"
        except Exception as error:
            step = traceback.extract_tb(error.__traceback__)[-1]
            found = f"{error!r:.300} in {step.name}, line {step.lineno}"
    took = time.monotonic() - began
    if took > time_limit(SLOW_S):
        return f"took {took:.0f} s ({found})"
    if peak.worker > max(MEMORY, RECIPE_MEMORY) + PASSED:
        return f"a worker held {peak.worker / 1e6:,.0f} MB ({found})"
    if peak.own > kind.own_bytes + PASSED:
        return f"this process grew by {peak.own / 1e6:,.0f} MB ({found})"
    return found


def _no_sentence(error: ValueError, path: Path) -> str:
    """Return what is wrong with a refusal; empty if it is one sentence that names the file."""
    said = str(error)
    if isinstance(error, UnicodeError) or not said.isprintable() or not 0 < len(said) <= MAX_SAID:
        return f"no sentence: {said[:300]!r}"
    if path.name not in said:
        return f"does not name the file: {said[:300]!r}"
    if str(path.parent) in said:
        return f"names the folder: {said[:300]!r}"
    return ""
