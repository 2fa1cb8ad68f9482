"""Loading 6.4 million check-ins: time and memory beside `pandas.read_csv` on the same file.

Each run is a process of its own, so that its peak memory is its own; time is taken inside, around
the call, imports excluded for both. Runs of us and of pandas take turns, and a ratio is that of the
medians. Set ``PRIVACY_EXPLORER_BENCH_FOLDER`` to keep the generated files (0.6 GB, and 4 GB more
for ten times the rows) between runs.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.table import Row, at_most, program, sized

ROWS = sized(6_400_000, 200)
USERS = sized(107_000, 20)
RUNS = sized(5, 1)

_PEAK = """
import json, sys, time
from pathlib import Path
def report(**facts):
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({**facts, "peak": int(peak.split()[1]) / 1024}))
path = Path(sys.argv[1])
"""

_OURS = (
    _PEAK
    + """
import threading
import duckdb
from explorer.checkins import open_checkins
full = sys.argv[3] == "full"
options = dict(cache_dir=Path(sys.argv[2]), detect_duplicates=full, fingerprint=full)
longest, running = 0.0, True
def beat():  # what an event loop in another thread of the process would feel
    global longest
    last = time.perf_counter()
    while running:
        time.sleep(0.002)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
thread = threading.Thread(target=beat)
if sys.argv[4] == "beat":
    thread.start()
start = time.perf_counter()
data = open_checkins(path, **options)
seconds = time.perf_counter() - start
running = False
rows = data.rows
data.close()
start = time.perf_counter()
open_checkins(path, **options).close()
report(seconds=seconds, reopen=time.perf_counter() - start, rows=rows, gap=longest)
"""
)

_PANDAS = (
    _PEAK
    + """
import pandas
names = ["user", "time", "lat", "lon", "location"]
start = time.perf_counter()
table = pandas.read_csv(path, sep="\\t", header=None, names=names, parse_dates=["time"])
report(seconds=time.perf_counter() - start, rows=len(table))
"""
)

_CANCEL = (
    _PEAK
    + """
import threading
import duckdb
from explorer.checkins import LoadCancelled, open_checkins
stop = threading.Event()
asked = []
def ask():
    asked.append(time.perf_counter())
    stop.set()
threading.Timer(float(sys.argv[3]), ask).start()
try:
    open_checkins(path, cache_dir=Path(sys.argv[2]), cancelled=stop.is_set)
except LoadCancelled:
    report(seconds=time.perf_counter() - asked[0])
else:
    report(seconds=float("inf"))
"""
)


def _child(code: str, *arguments: object) -> dict[str, float]:
    facts: dict[str, float] = json.loads(program(code, *arguments))
    return facts


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    kept = os.environ.get("PRIVACY_EXPLORER_BENCH_FOLDER")
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
    else:
        with tempfile.TemporaryDirectory(prefix="bench-loading-") as folder:
            yield Path(folder)


def _generated(folder: Path) -> Path:
    path = folder / "checkins.txt"
    if not path.exists():
        part = folder / "part.txt"
        generator = Path(__file__).parents[2] / "datasets" / "generate_checkins.py"
        options = ["--users", USERS, "--rows", ROWS, "--seed", 1, part]
        subprocess.run([sys.executable, generator, *map(str, options)], check=True)
        part.rename(path)
    return path


def _zipped(path: Path) -> Path:
    zipped = path.with_suffix(".txt.gz")
    if not zipped.exists():
        with path.open("rb") as source, gzip.open(zipped, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return zipped


def _tenfold(path: Path) -> Path:
    """The same rows ten times, each time a year further on, so that none is a duplicate."""
    large = path.with_name("tenfold.txt")
    if not large.exists():
        part = path.with_name("part.txt")
        with part.open("wb") as target:
            for copy in range(10):
                with path.open("rb") as source:
                    while lines := source.readlines(1 << 22):
                        block = b"".join(lines)
                        for year in (2008, 2009, 2010, 2011):
                            block = block.replace(b"\t%d-" % year, b"\t%d_" % (year + 4 * copy))
                        target.write(block.replace(b"_", b"-"))
        part.rename(large)
    return large


def run() -> list[Row]:
    """Measure; about four minutes on two cores."""
    rows: list[Row] = []
    with _folder() as folder:
        cache = folder / "cache"

        def ours(path: Path, kind: str, beat: str = "quiet") -> dict[str, float]:
            shutil.rmtree(cache, ignore_errors=True)
            return _child(_OURS, path, cache, kind, beat)

        plain = _generated(folder)
        reopened: list[float] = []
        peak_full = 0.0
        for path in (plain, _zipped(plain)):
            name = "".join(path.suffixes)
            path.read_bytes()  # both start with the file in memory
            pandas, lean, full = [], [], []
            for _ in range(RUNS):
                pandas.append(_child(_PANDAS, path))
                lean.append(ours(path, "lean"))
                full.append(ours(path, "full"))
            base = statistics.median(r["seconds"] for r in pandas)
            note = f"pandas {base:.2f} s"
            for kind, runs, limit in (
                ("without duplicates and hash", lean, 1.25),
                ("with duplicates and hash", full, 1.6),
            ):
                seconds = statistics.median(r["seconds"] for r in runs)
                rows.append(
                    at_most(
                        f"load {name} {kind}, time",
                        seconds / base,
                        limit,
                        "× pandas",
                        f"{seconds:.2f} s; {note}",
                    )
                )
                peak = max(r["peak"] for r in runs)
                theirs = min(r["peak"] for r in pandas)
                rows.append(
                    at_most(
                        f"load {name} {kind}, peak memory",
                        peak / theirs,
                        0.5,
                        "× pandas",
                        f"{peak:.0f} MB; pandas {theirs:.0f} MB",
                    )
                )
            reopened += [r["reopen"] for r in full]
            peak_full = peak_full or statistics.median(r["peak"] for r in full)
        rows.append(at_most("reopen from the cache", max(reopened), 0.5, "s", "worst of 10"))
        gap = min(ours(plain, "full", "beat")["gap"] for _ in range(sized(3, 1)))
        rows.append(at_most("longest gap of another thread while loading", gap * 1e3, 50, "ms"))
        stops = []
        for moment in sized((0.1, 0.3, 0.6, 0.9, 1.2), (0.01,)):
            shutil.rmtree(cache, ignore_errors=True)
            stops.append(_child(_CANCEL, plain, cache, moment)["seconds"])
        rows.append(
            at_most(
                "stop a load (5 moments), median",
                statistics.median(stops) * 1e3,
                50,
                "ms",
                f"worst {max(stops) * 1e3:.0f} ms",
            )
        )
        large = _tenfold(plain)
        ten = ours(large, "full")
        rows.append(
            at_most(
                "peak memory at ten times the rows",
                abs(ten["peak"] / peak_full - 1),
                0.2,
                "change",
                f"{ten['peak']:.0f} MB after {peak_full:.0f} MB; {ten['seconds']:.0f} s",
            )
        )
        rows.append(at_most("reopen ten times the rows", ten["reopen"], 0.5, "s"))
        shutil.rmtree(cache, ignore_errors=True)
    return rows
