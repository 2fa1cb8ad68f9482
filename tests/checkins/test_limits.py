"""Limits of memory and time, and bit errors in the cache."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer import bounded
from explorer.checkins import (
    CheckinError,
    LoadCancelled,
    Reason,
    database,
    loading,
    memory,
    open_checkins,
    sniff,
)
from explorer.checkins.scan import LineRanges
from tests.checkins.conftest import good
from tests.waiting import time_limit

Write = Callable[..., Path]


def test_lines_without_end_are_kept_as_ranges() -> None:
    lines = LineRanges()
    tracemalloc.start()
    for block in range(100):
        import numpy as np

        lines.add_many(np.arange(10_000) + 10_000 * block + 1)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines) == 1_000_000
    assert [len(part) for part in lines.arrays()] == [1, 1]
    assert used < 100_000  # bytes; a million numbers would take 8 MB


def test_millions_of_blank_lines_are_counted(write: Write) -> None:
    text = good(0) + "\n" * 3_000_000 + good(1) + "\n"
    with open_checkins(write(text), cache_dir=None) as data:
        assert (data.rows, data.report.blank) == (2, 2_999_999)
        assert data.report.accounted == data.report.physical_lines == 3_000_001


@pytest.mark.parametrize("lines", [1, 5])
def test_too_many_columns_are_refused_at_once(write: Write, lines: int) -> None:
    path = write(("1.5," * 200_000 + "2\n") * lines, "wide.csv")
    begun = time.monotonic()
    with pytest.raises(CheckinError, match=r"wide\.csv .*20,000"):
        sniff(path)
    assert time.monotonic() - begun < time_limit(5)


@pytest.mark.full
def test_a_look_at_a_file_can_be_cancelled(write: Write) -> None:
    path = write(("1.5," * 3_000 + "2\n") * 12, "wide.csv")
    for after in (0, 1, 5, 50, 500):
        asked = 0

        def cancelled(after: int = after) -> bool:
            nonlocal asked
            asked += 1
            return asked > after

        with pytest.raises(LoadCancelled):
            sniff(path, cancelled=cancelled)
        assert asked == after + 1  # and nothing was done behind it


def test_memory_is_a_quarter_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_free_in_groups", "_free_in_process"):
        monkeypatch.setattr(memory, name, list)
    for free, allowed in ((1_000, 512), (8_000, 2_000), (20_000, 5_000), (400_000, 8_000)):
        monkeypatch.setattr(memory, "_free_in_machine", lambda free=free: free * memory.MB)
        assert memory.database_bytes() == allowed * memory.MB
    monkeypatch.setattr(memory, "_free_in_groups", lambda: [4_000 * memory.MB])
    assert memory.database_bytes() == 1_000 * memory.MB


@pytest.mark.parametrize("step", ["find_duplicates", "number_users", "store_rejected"])
def test_what_lacks_memory_is_done_again_with_more(
    write: Write, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    import duckdb

    real, allowed = getattr(loading, step), []
    limit = loading.limit_memory
    monkeypatch.setattr(
        loading, "limit_memory", lambda *args: allowed.append(args[1]) or limit(*args)
    )

    def lacking(*args: object) -> object:
        if not allowed:
            raise duckdb.OutOfMemoryException("could not allocate block of size 256 KiB")
        return real(*args)

    monkeypatch.setattr(loading, step, lacking)
    with open_checkins(
        write("\n".join(good(i % 40, f"u{i}") for i in range(50))), cache_dir=None
    ) as data:
        assert data.rows == 50
    assert len(allowed) == 1
    assert allowed[0] >= memory.MIN


def test_what_lacks_memory_still_is_reported_with_numbers(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    def lacking(*_: object) -> None:
        raise duckdb.OutOfMemoryException(
            "Out of Memory Error: could not allocate block of size 256.0 KiB "
            "(180.0 MiB/180.0 MiB used)"
        )

    monkeypatch.setattr(loading, "find_duplicates", lacking)
    with pytest.raises(CheckinError, match=r"memory .* 256\.0 KiB"):
        open_checkins(write(good(0)), cache_dir=tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.full
def test_little_memory_spills_into_the_cache_folder(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More names than fit into the memory allowed: sorted on the disk, and nothing of it stays."""
    monkeypatch.setattr("explorer.checkins.database.MEMORY_BASE", 4)
    monkeypatch.setattr("explorer.checkins.database.MEMORY_PER_THREAD", 12)
    rows, draw = 120_000, random.Random(1)
    text = "\n".join(
        f"{draw.randbytes(20).hex()}\t2010-01-01T00:00:00Z\t40.5\t-73.5\t{i}" for i in range(rows)
    )
    with open_checkins(write(text), cache_dir=tmp_path / "cache") as data:
        assert (data.rows, data.users) == (rows, rows)
        assert data.report.rejected.get(Reason.DUPLICATE) is None
    (entry,) = (tmp_path / "cache").iterdir()
    assert not [p for p in entry.iterdir() if p.name.startswith("spill")]


@pytest.mark.full
def test_flipped_bits_in_the_cache_move_no_check_in(write: Write, tmp_path: Path) -> None:
    rows = [
        f"u{i % 9}\t2010-01-01T00:00:{i % 60:02d}Z\t{40 + i / 997:.6f}\t-73.5\t{i}"
        for i in range(400)
    ]
    path, cache_dir = write("\n".join(rows)), tmp_path / "cache"
    with open_checkins(path, cache_dir=cache_dir) as data:
        true = data.points(data.extent)
    rng = random.Random(3)
    for i in range(6):
        (entry,) = cache_dir.iterdir()
        file = entry / rng.choice(["rows.parquet", "rows.parquet", "users.parquet", "report.json"])
        content = bytearray(file.read_bytes())
        place = rng.randrange(len(content))
        content[place] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
        with open_checkins(path, cache_dir=cache_dir) as data:
            found = data.points(data.extent)
            assert (found.lat == true.lat).all(), (i, file.name, place)
            assert (found.user == true.user).all()
            assert data.report.kept == 400


@pytest.mark.full
def test_parquet_of_one_large_row_group_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages are as large as a column, more than reading from file to file is allowed."""
    import duckdb

    monkeypatch.setattr(bounded, "_serving", 1 << 30)  # a worker would not know of the next
    monkeypatch.setattr(database, "streaming_bytes", lambda: 14_000_000)
    path = tmp_path / "one.parquet"
    duckdb.sql(
        "COPY (SELECT i // 20 AS user_id, 40 + random() / 10 AS latitude, "
        "-73.9 + random() / 10 AS longitude, hash(i) AS location FROM range(300000) AS t(i)) "
        f"TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 10000000, COMPRESSION uncompressed)"
    )
    with open_checkins(path, cache_dir=None, fingerprint=False) as data:
        assert data.rows == 300_000
