"""The generator: the sample is what the README says, and larger files keep their shape."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import re
import shlex
import sys
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

DATASETS = Path(__file__).parents[2] / "datasets"
LINE = re.compile(
    rb"\d+\t20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ\t-?\d+\.\d{6}\t-?\d+\.\d{6}\t\d+"
)


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generator", DATASETS / "generate_checkins.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


generator = _load()
SPAN = (date(2009, 11, 1), date(2010, 5, 1))


def _text(users: int, rows: int, seed: int) -> bytes:
    return b"".join(generator.generate(users, rows, seed, *SPAN))


def _rows(text: bytes) -> list[tuple[int, datetime, float, float, int]]:
    rows = []
    for line in text.splitlines():
        user, time, lat, lon, place = line.decode().split("\t")
        rows.append((int(user), datetime.fromisoformat(time), float(lat), float(lon), int(place)))
    return rows


def test_sample_is_made_again_by_its_command(tmp_path: Path) -> None:
    readme = (DATASETS / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(
        r"^    python datasets/generate_checkins.py (.*--users 700.*)$", readme, re.M
    )
    arguments = shlex.split(command)
    arguments[-1] = str(tmp_path / "again.txt.gz")
    assert generator.main(arguments) == 0
    (entry,) = json.loads((DATASETS / "samples.json").read_text())["samples"]
    shipped = (DATASETS / entry["file"]).read_bytes()
    assert hashlib.sha256(shipped).hexdigest() == entry["sha256"]
    again = gzip.decompress((tmp_path / "again.txt.gz").read_bytes())
    assert hashlib.sha256(again).hexdigest() == entry["content_sha256"]
    assert again == gzip.decompress(shipped)
    assert entry["sha256"] in readme
    assert entry["content_sha256"] in readme
    assert shipped[4:8] == bytes(4), "a gzip time would make the file differ every time"


def test_sample_holds_what_the_window_needs() -> None:
    (entry,) = json.loads((DATASETS / "samples.json").read_text())["samples"]
    shipped = DATASETS / entry["file"]
    assert shipped.stat().st_size < 700_000
    rows = _rows(gzip.decompress(shipped.read_bytes()))
    south, west, north, east = entry["suggested_region"]
    inside = [r for r in rows if south <= r[2] <= north and west <= r[3] <= east]
    january = {r[0] for r in inside if (r[1].year, r[1].month) == (2010, 1)}
    counts = sorted(Counter(r[0] for r in rows).values())
    assert (len(rows), len(counts)) == (34_000, 700)
    assert len({r[0] for r in inside}) == 509
    assert len(january) == 412
    assert (counts[350], counts[-1]) == (17, 2425)


@pytest.mark.parametrize(
    ("users", "rows"), [(1, 1), (1, 1000), (3, 3), (400, 20_000), (5000, 9000)]
)
def test_format_order_and_counts(users: int, rows: int) -> None:
    text = _text(users, rows, seed=5)
    lines = text.splitlines()
    assert len(lines) == rows
    assert all(LINE.fullmatch(line) for line in lines)
    parsed = _rows(text)
    assert {r[0] for r in parsed} == set(range(users))
    keys = [(r[0], -r[1].timestamp()) for r in parsed]
    assert keys == sorted(set(keys)), "users ascending, newest first, no second twice"
    low, high = datetime(2009, 10, 31, tzinfo=UTC), datetime(2010, 5, 2, tzinfo=UTC)
    assert all(low <= r[1] < high for r in parsed)
    assert all(-90 <= r[2] <= 90 and -180 <= r[3] <= 180 for r in parsed)


def test_places_have_one_position_each() -> None:
    positions: dict[int, tuple[float, float]] = {}
    for _, _, lat, lon, place in _rows(_text(3000, 30_000, seed=2)):
        assert positions.setdefault(place, (lat, lon)) == (lat, lon)


def test_seed_decides() -> None:
    assert _text(50, 500, seed=1) == _text(50, 500, seed=1)
    assert _text(50, 500, seed=1) != _text(50, 500, seed=2)


def test_rhythm_and_tail() -> None:
    rows = _rows(_text(2000, 60_000, seed=3))
    hours = np.zeros(24)
    for _, time, lat, lon, _ in rows:
        if 40 < lat < 41.2 and -74.5 < lon < -73:
            hours[(time.hour - 5) % 24] += 1
    assert hours[2:6].sum() < 0.05 * hours.sum(), "New York sleeps before it gets up"
    assert hours[17:23].sum() > 0.3 * hours.sum()
    counts = np.array(sorted(Counter(r[0] for r in rows).values()))
    assert counts[-20:].sum() > 0.1 * counts.sum(), "one user in a hundred writes a tenth"
    assert np.median(counts) < 0.6 * counts.mean()


def test_spots_stay_narrow_and_all_cities_appear() -> None:
    seen = set()
    cities = {
        "Austin": (30.3, -97.7),
        "London": (51.5, -0.1),
        "Tokyo": (35.68, 139.73),
        "Sydney": (-33.88, 151.2),
        "São Paulo": (-23.56, -46.65),
    }
    for _, _, lat, lon, _ in _rows(_text(2000, 40_000, seed=4)):
        seen |= {c for c, (a, o) in cities.items() if abs(a - lat) < 0.2 and abs(o - lon) < 0.2}
        # The Upper Bay between Governors Island and Staten Island is open water.
        assert not (40.655 < lat < 40.68 and -74.06 < lon < -74.03)
    assert seen == set(cities)


@pytest.mark.parametrize(
    ("users", "rows", "seed"), [(0, 5, 1), (6, 5, 1), (1, 1001, 1), (5, 10, -1)]
)
def test_refuses(users: int, rows: int, seed: int) -> None:
    with pytest.raises(ValueError, match=r"users=|seed="):
        next(generator.generate(users, rows, seed, *SPAN))
    with pytest.raises(ValueError, match="14 days"):
        next(generator.generate(5, 10, 1, date(2010, 1, 1), date(2010, 1, 2)))


def test_command_line_reports_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main(["--rows", "10", "--users", "20", str(tmp_path / "x.txt")]) == 1
    assert "users=20, rows=10" in capsys.readouterr().err
    assert generator.main(["--rows", "120", str(tmp_path / "no" / "x.txt")]) == 1
    assert generator.main(["--rows", "120", "--seed", "1", str(tmp_path / "x.txt")]) == 0
    assert len((tmp_path / "x.txt").read_bytes().splitlines()) == 120
