"""A data set larger than memory gives the same whole numbers as one in memory, killed or not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import CheckinError, LoadCancelled, Progress, Reason, open_checkins, sharding
from explorer.checkins.data import CheckinData
from explorer.checkins.database import connect, limit_memory
from explorer.checkins.selection import ShardedRows
from explorer.checkins.sharding import ImportSize
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.engine.large_import import open_any_size
from explorer.privacy.heatmaps.row_pass import CountedRows, count_rows, mass_bits
from tests import snapshots
from tests.waiting import time_limit

pytestmark = pytest.mark.full

CITY = (40.0, -74.5, 41.0, -73.0)
SMALL: dict[str, Any] = {"in_memory": 100, "shard_rows": 400, "memory": 900_000_000}


def made_folder(folder: Path, rows: int = 3000, parts: int = 4, seed: int = 1) -> Path:
    """Write a folder in order of time: every user in every part, duplicates across parts."""
    pick = random.Random(seed)
    folder.mkdir()
    lines = []
    for i in range(rows):
        user = f"{pick.randrange(500):03}" if i % 3 else f"person {pick.randrange(300)}"
        lat, lon = 40 + pick.random() * 1.2, -74.6 + pick.random() * 2
        day, second = 1 + i * 28 // rows, pick.randrange(60)
        lines.append(f"{user},2010-01-{day:02}T12:00:{second:02}Z,{lat:.7f},{lon:.7f},p{i}")
    lines[rows - 5] = lines[7]  # in the last part what the first one has
    lines[rows // 2] = lines[8]
    lines[rows // 3] = "x,2010-01-01T00:00:00Z,0,0,p"
    lines[rows - 2] = "1,2"
    for part in range(parts):
        own = lines[part * rows // parts : (part + 1) * rows // parts]
        text = "\n".join(["user,time,lat,lon,place", *own, ""])
        (folder / f"part-{part}.csv").write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "x[1]'s")


def counted(data: CheckinData, level: int = 6, **asked: Any) -> tuple[Any, ...]:
    """Return cells as whole numbers, and users and rows."""
    points = data.points(CITY, **asked)
    parts = points.parts if isinstance(points, ShardedRows) else (points,)
    bits = mass_bits(data.users)
    found: list[CountedRows] = []
    for one in parts:
        p = one.selection
        found.append(count_rows(p.layout.rows, p.where, level, p.most, p.among, bits))
    cells = np.sum([f.cells for f in found], axis=0)
    numbers = (points.users_in_region, points.users_used, points.rows)
    return (cells.tolist(), *numbers)


ASKED = [
    {},
    {"start": "2010-01-03T00:00:00Z", "end": "2010-01-20T00:00:00Z"},
    {"users": 57},
    {"users": 57, "data_seed": 5},
    {"users": 9999, "data_seed": 5},
    {"share": Fraction(1, 3)},
    {"share": Fraction(1, 3), "data_seed": 5},
]


def test_the_same_numbers_as_in_memory(folder: Path, tmp_path: Path) -> None:
    said: list[ImportSize] = []
    with (
        open_checkins(folder, cache_dir=None) as memory,
        open_any_size(folder, cache_dir=tmp_path / "cache", say=said.append, **SMALL) as shards,
    ):
        assert len(shards.shards) == 8
        snapshots.check(said[0].notice)
        for asked in ASKED:
            assert counted(shards, **asked) == counted(memory, **asked), asked
        for name in (
            "rows",
            "users",
            "first_time",
            "last_time",
            "fingerprint",
            "basename",
            "columns",
        ):
            assert getattr(shards, name) == getattr(memory, name), name
        assert shards.columns == memory.columns
        assert shards.extent == pytest.approx(memory.extent, abs=1e-7)
        assert np.array_equal(shards.density(CITY, 40, 30), memory.density(CITY, 40, 30))
        busiest = (CITY, 50, 5)
        for by in ("rows", "users"):
            ours, theirs = (d.busiest_cells(*busiest, by=by) for d in (shards, memory))
            assert [(c.rows, c.users) for c in ours] == [(c.rows, c.users) for c in theirs]
        assert shards.report.rejected == memory.report.rejected
        assert shards.report.rejected[Reason.DUPLICATE] == 2
        assert shards.report.examples == memory.report.examples
        assert shards.report.parts == memory.report.parts
        for data, name in ((shards, "a.csv"), (memory, "b.csv")):
            data.export_rejected(tmp_path / name)
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    # and again, from the cache
    said.clear()
    less = {**SMALL, "memory": 500_000_000, "shard_rows": 200}  # other programs need some now
    with open_any_size(folder, cache_dir=tmp_path / "cache", say=said.append, **less) as again:
        assert not said
        assert again.rows == shards.rows


FEW_FILES = """
import resource, sys
from pathlib import Path
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.large_import import open_any_size
from tests.engine.test_large_import import SMALL

resource.setrlimit(resource.RLIMIT_NOFILE, (48, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
small = {**SMALL, "shard_rows": 100, "executor": lambda _: InPlaceExecutor()}
with open_any_size(Path(sys.argv[1]), cache_dir=None, **small) as data:
    print(len(data.shards), data.rows)
"""


def test_more_shards_than_a_program_has_files_open_usually(tmp_path: Path) -> None:
    made = made_folder(tmp_path / "many", rows=400)
    ran = subprocess.run(
        [sys.executable, "-c", FEW_FILES, str(made)], capture_output=True, text=True, check=False
    )
    assert ran.stdout.split() == ["8", "396"], ran.stderr  # 7 files each are mapped


def test_cancel_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    cache, seen = tmp_path / "cache", list[Progress]()
    with pytest.raises(LoadCancelled):
        open_any_size(
            folder,
            cache_dir=cache,
            progress=seen.append,
            cancelled=lambda: bool(seen) and seen[-1].fraction > 0.65,
            **SMALL,
        )
    assert {p.stage for p in seen} == {"Sorting", "Ordering"}
    assert not list(cache.iterdir())


class _DiesOnce(EmbeddedExecutor):
    """Ends with this process' work half done, as `kill -9` would: nothing is cleared away."""

    left = 9

    def map(self, function: Callable[..., Any], tasks: Any, check: Any) -> Any:
        for found in super().map(function, tasks, check):
            yield found
            type(self).left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def die(folder: str, cache: str) -> None:
    open_any_size(Path(folder), cache_dir=Path(cache), executor=lambda _: _DiesOnce(2), **SMALL)


def test_killed_half_way_it_goes_on_from_there(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    code = "import sys; from tests.engine import test_large_import as t; t.die(*sys.argv[1:])"
    died = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(cache)], timeout=time_limit(60), check=False
    )
    assert died.returncode == -signal.SIGKILL
    (left,) = cache.glob("import-*")
    before = {p: p.stat().st_mtime_ns for p in left.glob("*/facts.json")}
    assert len(before) >= 9
    time.sleep(0.02)
    with (
        open_any_size(folder, cache_dir=cache, **SMALL) as resumed,
        open_checkins(folder, cache_dir=None) as memory,
    ):
        assert counted(resumed) == counted(memory)
        facts = resumed._entry.folder.glob("shard-*/facts.json")
        times = {p.parent.name: p.stat().st_mtime_ns for p in facts}
        for path, at in before.items():
            if path.parent.name in times:
                assert times[path.parent.name] == at, path
    assert not list(cache.glob("import-*"))


def test_a_part_that_differs_is_named_beforehand(folder: Path, tmp_path: Path) -> None:
    (folder / "part-9.csv").write_text("user,lat,lon\n" + "1,2,3\n" * 30)
    with pytest.raises(CheckinError, match=r"part-9\.csv differs") as error:
        open_any_size(folder, cache_dir=tmp_path / "cache", **SMALL)
    snapshots.check(error.value)
    assert not list((tmp_path / "cache").iterdir())


def test_no_room_on_the_disk_is_said_beforehand(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("explorer.checkins.sharding.shutil.disk_usage", lambda _: usage)
    with pytest.raises(CheckinError, match="Make room"):
        open_any_size(folder, cache_dir=tmp_path / "cache", **SMALL)


def test_few_rows_are_opened_at_once(folder: Path, tmp_path: Path) -> None:
    with open_any_size(folder, cache_dir=tmp_path / "cache") as data:
        assert not hasattr(data, "shards")


def test_more_rows_than_memory_holds_are_not_handed_out_and_without_a_cache_nothing_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_any_size(folder, cache_dir=None, **SMALL) as data:
        kept = data._entry.folder
        points = data.points(CITY)
        assert len(points.lat) == points.rows
        assert points.user.max() + 1 == points.users_used
        monkeypatch.setattr("explorer.checkins.selection.MAX_ROWS", 10)
        with pytest.raises(ValueError, match="smaller region"):
            _ = data.points(CITY).user
    assert not kept.exists()


def test_parts_are_read_where_the_database_spills_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made_folder(tmp_path / "rows", rows=800, parts=2)

    def spilling(scratch: Path | None, memory: int) -> Any:
        if scratch is None:  # the connection that writes a shard's ids
            return connect(None, memory)
        con = connect(scratch, 30_000_000)
        con.execute("CREATE TEMP TABLE large AS SELECT random() AS x FROM range(5_000_000)")
        assert any(scratch.iterdir())
        con.execute("DROP TABLE large")
        limit_memory(con, memory, 1_000_000_000)
        return con

    monkeypatch.setattr(sharding, "connect", spilling)
    with (
        open_any_size(
            folder, cache_dir=tmp_path / "cache", executor=lambda _: InPlaceExecutor(), **SMALL
        ) as shards,
        open_checkins(folder, cache_dir=None) as memory,
    ):
        assert counted(shards) == counted(memory)
