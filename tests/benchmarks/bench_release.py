"""What a release takes, from its plan to the written map: `python -m tests.benchmarks release`.

Made check-ins of 60 a user: 100,000, and 6.4 million, as many as the largest public file has, a
user's rows together as they are there, and in no order. Measured is the adaptive heatmap at
Δ = 256: the ledger, the process that reads and draws, certificate, and the map as CSV.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from explorer.files import write_whole
from explorer.release.outputs import OutputDocument, as_csv
from explorer.release.pipeline import LedgerLocation, plan_release, publish
from explorer.release.plan import TEXTS, plan_from_json
from explorer.release.subprocess_runner import draw_in_subprocess
from tests.benchmarks.table import Row, at_most, sized

SMALL, LARGE, A_USER, RUNS = sized((100_000, 6_400_000, 60, 3), (2_000, 3_000, 60, 1))
SIDE = sized(256, 16)
CASES = sized(((SMALL, 2, True), (LARGE, 15, True), (LARGE, 15, False)), ((SMALL, 2, False),))
"""Rows, the most seconds, and whether a user's rows stand together."""
_AT_ONCE = 200_000


def run() -> list[Row]:
    """Measure."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows, limit, order in CASES:
            path = _write(folder / "rows.txt", rows, order)
            said = "" if order else ", users in no order"
            taken = min(_release(folder, path) for _ in range(RUNS))
            found.append(at_most(f"heatmap, Δ 256, {rows:,} rows{said}", taken, limit, "s"))
            if rows == SMALL:
                taken = min(_command(folder, path) for _ in range(RUNS))
                found.append(Row(f"the same as a command, {rows:,} rows", taken, None, "s", None))
    return found


def _write(path: Path, rows: int, together: bool) -> Path:
    """Write made check-ins: user, time, latitude, longitude, place, by tabs."""
    rng = np.random.default_rng(1)
    user = rng.integers(0, rows // A_USER, rows)
    if together:
        user.sort()
    with path.open("w", encoding="utf-8") as file:
        for some in np.array_split(user, max(1, rows // _AT_ONCE)):
            seconds = rng.integers(1_240_000_000, 1_290_000_000, len(some))
            times = np.datetime_as_string(seconds.astype("datetime64[s]"))
            lat, lon = rng.uniform(40.5, 40.9, len(some)), rng.uniform(-74.25, -73.7, len(some))
            place = rng.integers(0, 100_000, len(some))
            lines = zip(some.tolist(), times, lat.tolist(), lon.tolist(), place, strict=True)
            file.write("".join(f"{u}\t{t}Z\t{y:.10f}\t{x:.10f}\t{p}\n" for u, t, y, x, p in lines))
    return path


def _plan(population: str, path: Path) -> dict[str, Any]:
    parameters = {
        "box": ["40.5", "-74.25", "40.9", "-73.7"],
        "side": SIDE,
        "columns": ["user", "time", "lat", "lon", "place"],
        "delimiter": "tab",
    }
    declared: dict[str, Any] = {name: name for name in TEXTS}
    return {
        "schema": "privacy-explorer/plan/1",
        "population": population,
        "data": str(path),
        "mechanism": {"id": "heatmap.adaptive/1", "parameters": parameters, "epsilon": "1/1"},
        "declared": declared | {"independent_of_data": True, "conditions": []},
    }


def _release(folder: Path, path: Path) -> float:
    """Return the seconds of one release."""
    place = LedgerLocation(folder / "ledger.sqlite", folder / "ledgers.json")
    with place.open() as ledger:
        population = ledger.open_population("sum", Fraction(1), "people")
        ledger.known.record_population(_hash(path), population)  # a new account each time
    plan = plan_from_json(_plan(population, path))
    begin = time.perf_counter()
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw_in_subprocess(place, plan, release)
    with place.open() as ledger:
        publish(ledger, plan, release)
        stored = ledger.output(release)
    write_whole(folder / "map.csv", as_csv(OutputDocument(plan, stored, f"certificate {release}")))
    return time.perf_counter() - begin


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _command(folder: Path, path: Path) -> float:
    """Return the seconds of the command, from its start to its end."""
    place = LedgerLocation(folder / "command.sqlite", folder / "command.json")
    place.ledger.unlink(missing_ok=True)
    place.settings.unlink(missing_ok=True)
    with place.open() as ledger:
        population = ledger.open_population("sum", Fraction(1), "people")
    plan = folder / "PLAN.json"
    plan.write_text(json.dumps(_plan(population, path)), encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from explorer.release.ledger import settings\n"
        f"settings.default_settings = lambda: Path({str(place.settings)!r})\n"
        "from explorer.cli import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    script = folder / "command.py"
    script.write_text(f"if __name__ == '__main__':\n    {code.replace(chr(10), chr(10) + '    ')}")
    words = ["release", str(plan), "--spend", "1/1", "--ledger", str(place.ledger)]
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, str(script), *words, "--out", str(folder / "map.csv")],
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begin
