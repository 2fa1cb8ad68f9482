"""A partitioned folder larger than memory, beside DuckDB's plain SQL, pandas and Polars.

Set ``PRIVACY_EXPLORER_BENCH_ROWS`` for another number of rows than 100 million. Made Parquet files
in order of time, 40 rows a user, 15 % of them away from home. The question is the map's statistic
(sum over users of their share in each of 256² cells) of a city box and of the world. Each run is a
process of its own, so that its peak memory is its own; that of an import is of all its processes.
Memory is what is private to a process: pages of a file that is mapped can be dropped.

Of 100 million made rows no two of a user are at one place, so that times need not be read to find
duplicates, nor does the SQL read them. Of 50 million two are: asked once, all is then read again.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.table import Row, at_most, program, sized

ROWS = int(os.environ.get("PRIVACY_EXPLORER_BENCH_ROWS", sized(100_000_000, 4_000)))
FEW = sized(10_000_000, 4_000)
"""Rows for pandas and Polars, which read all of them."""
PARTS = sized(16, 1)
TICK_S = 0.01
"""What processor times are counted in."""
LIMIT_MB = 2000
IMPORTED, ONCE = 0.5, 1.3
"""Issue 12: of the time of the SQL, after the import and asked once."""

_BOXES = {"city": (40.4, -74.4, 41.0, -73.5), "world": (-90.0, -180.0, 90.0, 180.0)}
_SIDE = 256

_MADE = """
COPY (
    WITH drawn AS (SELECT i, (hash(i) % {users})::BIGINT AS u, hash(i + 1) % 100 AS away FROM
        range({first}, {last}) r(i)),
    placed AS (SELECT *, hash(CASE WHEN away < 15 THEN i ELSE u END) AS place,
        (hash(u) % 10) = 0 AND away >= 15 AS here FROM drawn)
    SELECT u AS user, TIMESTAMPTZ '2010-01-01 00:00:00+00' + to_seconds(i // {rate}) AS time,
        round(CASE WHEN here THEN 40.7 ELSE 25 + place % 3500 / 1e2 END
            + (hash(i + 2) % 20000)::BIGINT / 1e5 - 0.1, 6) AS lat,
        round(CASE WHEN here THEN -73.95 ELSE -125 + place % 16500 / 1e2 END
            + (hash(i + 3) % 20000)::BIGINT / 1e5 - 0.1, 6) AS lon
    FROM drawn JOIN placed USING (i, u, away) ORDER BY i
) TO '{path}' (FORMAT parquet)
"""

_PEAK = """
import json, os, sys, threading, time
from pathlib import Path
import psutil
folder, asked = Path(sys.argv[1]), json.loads(sys.argv[2])
south, west, north, east = asked["box"]
side, peak, running, watching = 256, 0, True, 0.0
def private(process):
    try:
        return process.memory_full_info().uss
    except psutil.Error:
        return 0
def watch():
    global peak, watching
    me = psutil.Process()
    while running:
        peak = max(peak, sum(private(p) for p in [me, *me.children(recursive=True)]))
        watching = time.thread_time()
        time.sleep(0.1)
def spent():
    times = os.times()
    spent = times.user + times.system + times.children_user + times.children_system
    return spent - watching  # looking at all its pages takes longer, the more a process has
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
def report(**facts):
    global running
    running = False
    watcher.join()
    print(json.dumps({**facts, "peak": peak / 1e6}))
"""

_SQL = (
    _PEAK
    + """
import duckdb
con = duckdb.connect(config={"memory_limit": f"{asked['limit']}MB", "threads": os.cpu_count()})
con.execute(f"SET temp_directory = '{asked['spill']}'")
con.execute("SET enable_progress_bar = false")  # it would be printed where the answer is
box = f"lat BETWEEN {south} AND {north} AND lon BETWEEN {west} AND {east}"
row = f"least(floor((lat - ({south})) / ({north - south}) * {side}), {side - 1})"
column = f"least(floor((lon - ({west})) / ({east - west}) * {side}), {side - 1})"
start, cpu = time.perf_counter(), spent()
cells = con.execute(
    f"WITH inside AS MATERIALIZED (SELECT user, {row}::INT * {side} + {column}::INT AS cell "
    f"FROM read_parquet('{folder}/*.parquet') WHERE {box}), "
    "totals AS (SELECT user, count(*) AS t FROM inside GROUP BY user) "
    "SELECT cell, sum((1099511627776 // t)::BIGINT)::BIGINT AS mass "
    "FROM inside JOIN totals USING (user) GROUP BY cell").fetchnumpy()
report(seconds=time.perf_counter() - start, cpu=spent() - cpu, mass=int(cells["mass"].sum()))
"""
)

_FRAMES = {
    "pandas": """
import pandas
read = lambda: pandas.read_parquet(folder, columns=["user", "lat", "lon"])
""",
    "Polars": """
import polars
read = lambda: polars.read_parquet(f"{folder}/*.parquet", columns=["user", "lat", "lon"])
""",
}
_COUNTED = {
    "pandas": """
start, cpu = time.perf_counter(), spent()
rows = read()
rows = rows[rows.lat.between(south, north) & rows.lon.between(west, east)]
row = ((rows.lat - south) / (north - south) * side).astype("int64").clip(upper=side - 1)
column = ((rows.lon - west) / (east - west) * side).astype("int64").clip(upper=side - 1)
mass = 2**40 // rows.groupby("user").user.transform("size")
cells = mass.groupby(row * side + column).sum()
report(seconds=time.perf_counter() - start, cpu=spent() - cpu, mass=int(cells.sum()))
""",
    "Polars": """
start, cpu = time.perf_counter(), spent()
rows = read()
col = polars.col
rows = rows.filter(col("lat").is_between(south, north) & col("lon").is_between(west, east))
row = ((col("lat") - south) / (north - south) * side).cast(int).clip(upper_bound=side - 1)
column = ((col("lon") - west) / (east - west) * side).cast(int).clip(upper_bound=side - 1)
cells = rows.with_columns(mass=2**40 // polars.len().over("user"), cell=row * side + column)
cells = cells.group_by("cell").agg(col("mass").sum())
report(seconds=time.perf_counter() - start, cpu=spent() - cpu, mass=int(cells["mass"].sum()))
""",
}

_IMPORT = (
    _PEAK
    + """
from explorer.engine.large_import import open_any_size
start, cpu = time.perf_counter(), spent()
data = open_any_size(folder, cache_dir=Path(asked["cache"]), memory=asked["limit"] * 1_000_000,
                     in_memory=asked["rows"] // 2)
facts = dict(seconds=time.perf_counter() - start, cpu=spent() - cpu, rows=data.rows,
             shards=len(data.shards), workers=0)
data.close()
report(**facts)
"""
)

_ASK = (
    _PEAK
    + """
from explorer.engine.large_import import open_any_size
from explorer.studies.heatmap.run import counted_rows
from explorer.privacy.heatmaps.row_pass import compile_pass
compile_pass()
data = open_any_size(folder, cache_dir=Path(asked["cache"]), memory=asked["limit"] * 1_000_000,
                     in_memory=asked["rows"] // 2)
box = (south, west, north, east)
found = []
for _ in range(3):
    start, cpu = time.perf_counter(), spent()
    cells = counted_rows(data.points(box).parts, 8)
    found.append((time.perf_counter() - start, spent() - cpu))
seconds, cpu = min(found)
mass = int(cells.cells.sum())
data.close()
report(seconds=seconds, cpu=cpu, mass=mass)
"""
)


_ASK_ONCE = (
    _PEAK
    + """
from explorer.checkins.region_query import query_region
from explorer.studies.heatmap.run import counted_rows
from explorer.privacy.heatmaps.row_pass import compile_pass
compile_pass()
box = (south, west, north, east)
start, cpu = time.perf_counter(), spent()
data = query_region(folder, box, memory=asked["limit"] * 1_000_000)
cells = counted_rows(data.points(box).parts, 8)
seconds, cpu = time.perf_counter() - start, spent() - cpu
facts = dict(mass=int(cells.cells.sum()), rows=data.rows)
data.close()
report(seconds=seconds, cpu=cpu, **facts)
"""
)


def _child(code: str, folder: Path, **asked: Any) -> dict[str, float]:
    said = program(code, folder, json.dumps(asked), settings={"OPENBLAS_NUM_THREADS": "1"})
    facts: dict[str, float] = json.loads(said.splitlines()[-1])
    return facts


def made(folder: Path, rows: int) -> Path:
    """Write a folder of so many rows."""
    import duckdb

    folder.mkdir()
    con = duckdb.connect()
    for part in range(PARTS):
        first, last = part * rows // PARTS, (part + 1) * rows // PARTS
        con.execute(
            _MADE.format(
                users=rows // 40,
                first=first,
                last=last,
                rate=max(rows // (90 * 86400), 1),
                path=folder / f"part-{part:02}.parquet",
            )
        )
    con.close()
    return folder


def asked_once(folder: Path, asked: dict[str, Any]) -> list[Row]:
    """Return what a question asked once takes beside the SQL: the best of five runs each.

    One after the other, so that a machine that slows down slows both.
    """
    runs: dict[str, list[dict[str, float]]] = {"SQL": [], "ours": []}
    for _ in range(sized(5, 1)):
        runs["SQL"].append(_child(_SQL, folder, **asked))
        runs["ours"].append(_child(_ASK_ONCE, folder, **asked))
    if len({one["mass"] for both in runs.values() for one in both}) != 1:
        raise AssertionError(f"asked once: {runs}")
    sql, ours = (min(one["cpu"] for one in runs[name]) for name in ("SQL", "ours"))
    peak = {name: max(one["peak"] for one in both) for name, both in runs.items()}
    note, memory = f"{ours:.2f} s against {sql:.2f} s of CPU", f"{peak['SQL']:.0f} MB with SQL"
    return [
        at_most("city, asked once / SQL", ours / max(sql, TICK_S), ONCE, "×", note),
        at_most("city, asked once: memory", peak["ours"], LIMIT_MB, "MB", memory),
    ]


def run() -> list[Row]:
    """Return the table."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-large-") as place:
        base = Path(place)
        folder = made(base / "rows", ROWS)
        asked = {
            "limit": LIMIT_MB,
            "spill": str(base / "spill"),
            "cache": str(base / "cache"),
            "rows": ROWS,
            "box": _BOXES["city"],
        }
        whole = _child(_IMPORT, folder, **asked)
        size = f"{whole['rows'] / 1e6:g} M rows"
        found.append(Row(f"import of {size}: seconds", whole["seconds"], None, "s", None))
        found.append(at_most("import: peak memory of all processes", whole["peak"], LIMIT_MB, "MB"))
        for name, box in list(_BOXES.items())[: sized(None, 1)]:
            asked["box"] = box
            sql = _child(_SQL, folder, **asked)
            ours = _child(_ASK, folder, **asked)
            if ours["mass"] != sql["mass"]:
                raise AssertionError(f"{name}: {ours['mass']} is not {sql['mass']}")
            note = f"{ours['cpu']:.2f} s against {sql['cpu']:.2f} s of CPU"
            ratio = ours["cpu"] / max(sql["cpu"], TICK_S)
            found.append(at_most(f"{name}, after the import / SQL", ratio, IMPORTED, "×", note))
            memory = f"{sql['peak']:.0f} MB with SQL"
            found.append(
                at_most(f"{name}, after the import: memory", ours["peak"], LIMIT_MB, "MB", memory)
            )
        asked["box"] = _BOXES["city"]
        found += asked_once(folder, asked)
        few = folder
        if ROWS > FEW:
            few = made(base / "few", FEW)
            asked |= {"cache": str(base / "few cache"), "rows": FEW}
        ours = _child(_ASK, few, **asked)
        for name, reading in _FRAMES.items():
            if find_spec(name.lower()) is None:
                what = f"city, {name}: not measured, it is not installed"
                found.append(Row(what, float("nan"), None, "×", None))
                continue
            theirs = _child(_PEAK + reading + _COUNTED[name], few, **asked)
            note = f"{theirs['cpu']:.2f} s of CPU, {theirs['peak']:.0f} MB"
            ratio = ours["cpu"] / max(theirs["cpu"], TICK_S)
            found.append(Row(f"city, {name}, after the import / it", ratio, None, "×", None, note))
    return found
