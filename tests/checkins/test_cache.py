"""The cache: reuse, detection of stale or damaged entries, size limit, locks."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from explorer.checkins import (
    Mapping,
    Progress,
    cache,
    cache_size,
    clear_cache,
    loading,
    open_checkins,
)
from tests.checkins.conftest import good

Write = Callable[..., Path]
ROWS = [*(good(i) for i in range(40)), "bad", good(0)]


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "user" / "cache"


def loads(path: Path, cache_dir: Path, **options: object) -> bool:
    """Open and close; return whether the file was read (and not only the cache)."""
    seen: list[Progress] = []
    folders = set(cache_dir.glob("*")) if cache_dir.exists() else set()
    with open_checkins(path, cache_dir=cache_dir, progress=seen.append, **options) as data:  # type: ignore[arg-type]
        assert data.rows
    return bool(set(cache_dir.glob("*")) - folders)


def test_reopened_data_is_the_same(write: Write, cache_dir: Path) -> None:
    path = write("\n".join(ROWS))
    names = (
        "report",
        "fingerprint",
        "rows",
        "users",
        "extent",
        "first_time",
        "last_time",
        "size",
    )
    with open_checkins(path, cache_dir=cache_dir) as data:
        first = {name: getattr(data, name) for name in names}
    with open_checkins(path, cache_dir=cache_dir) as again:
        assert {name: getattr(again, name) for name in names} == first
        assert again.points(again.extent).rows == 40


def test_a_cached_file_is_not_inspected_again(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only for the same request to the same version about the same state of the file."""
    path = write("\n".join(ROWS))
    with open_checkins(path, cache_dir=cache_dir) as data:
        first = data.report, data.fingerprint, data.mapping
    inspected: list[object] = []
    inspect = loading.sniff_source

    def counted(*args: Any) -> Any:
        inspected.append(args)
        return inspect(*args)

    monkeypatch.setattr(loading, "sniff_source", counted)
    with open_checkins(path, cache_dir=cache_dir) as again:
        assert (again.report, again.fingerprint, again.mapping) == first
    assert not inspected
    loads(path, cache_dir, mapping=first[2])
    assert len(inspected) == 1
    monkeypatch.setattr(loading, "__version__", "another")
    loads(path, cache_dir)
    assert len(inspected) == 2
    monkeypatch.undo()
    monkeypatch.setattr(loading, "sniff_source", counted)
    path.write_text("\n".join(ROWS[1:]))
    assert loads(path, cache_dir)
    assert len(inspected) == 3


def test_only_the_owner_may_look(write: Write, cache_dir: Path) -> None:
    loads(write("\n".join(ROWS)), cache_dir)
    assert stat.S_IMODE(cache_dir.stat().st_mode) == 0o700
    for folder in cache_dir.iterdir():
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_but_what_is_needed_is_kept(write: Write, cache_dir: Path) -> None:
    loads(write("\n".join(f"u{row}" for row in ROWS)), cache_dir)
    (entry,) = cache_dir.iterdir()
    assert sorted(p.name for p in entry.iterdir()) == [
        "aside.parquet",
        "duplicates.parquet",
        "lock",
        "report.json",
        "rows.parquet",
        "users.parquet",
    ]
    assert cache_size(cache_dir) == sum(p.stat().st_size for p in entry.iterdir())


def test_a_changed_file_is_read_again(write: Write, cache_dir: Path) -> None:
    path = write("\n".join(ROWS))
    assert loads(path, cache_dir)
    assert not loads(path, cache_dir)
    before = path.stat()
    path.write_text(path.read_text().replace("40.5", "41.5"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time
    assert loads(path, cache_dir)
    os.utime(path)
    assert loads(path, cache_dir)


def test_other_settings_are_another_entry(write: Write, cache_dir: Path) -> None:
    path = write("\n".join(ROWS))
    assert loads(path, cache_dir)
    assert loads(path, cache_dir, detect_duplicates=False)
    assert loads(path, cache_dir, mapping=Mapping(0, None, 2, 3))
    assert not loads(path, cache_dir)


def test_without_cache_nothing_is_left(write: Write, cache_dir: Path) -> None:
    with open_checkins(write("\n".join(ROWS)), cache_dir=cache_dir, use_cache=False) as data:
        assert data.rows == 40
    assert not cache_dir.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("rows.parquet", b""),
        ("rows.parquet", b"garbage"),
        ("users.parquet", None),
        ("report.json", b"garbage"),
    ],
)
def test_a_damaged_entry_is_made_anew(
    write: Write, cache_dir: Path, name: str, damage: bytes | None
) -> None:
    path = write("\n".join(ROWS))
    loads(path, cache_dir)
    (entry,) = cache_dir.iterdir()
    if damage is None:
        (entry / name).unlink()
    else:
        (entry / name).write_bytes(damage)
    with open_checkins(path, cache_dir=cache_dir) as data:
        assert data.rows == data.points(data.extent).rows == 40
    assert not loads(path, cache_dir)


def test_rows_changed_within_the_cache_are_not_believed(write: Write, cache_dir: Path) -> None:
    """A whole Parquet file with as many rows for as many users, and other coordinates."""
    path = write("\n".join(ROWS))
    with open_checkins(path, cache_dir=cache_dir) as data:
        true = data.points(data.extent)
    (entry,) = cache_dir.iterdir()
    rows, moved = entry / "rows.parquet", entry / "moved"
    duckdb.sql(f"SELECT * REPLACE (-lat AS lat) FROM '{rows}'").write_parquet(str(moved))
    moved.replace(rows)
    with open_checkins(path, cache_dir=cache_dir) as data:
        assert np.array_equal(data.points(data.extent).lat, true.lat)


@pytest.mark.full
def test_the_oldest_go_first_but_never_what_is_open(write: Write, cache_dir: Path) -> None:
    paths = [write("\n".join([*ROWS, good(50 + i)]), f"{i}.txt") for i in range(4)]
    for path in paths[1:]:
        loads(path, cache_dir)
        time.sleep(0.01)
    with open_checkins(paths[0], cache_dir=cache_dir) as held:
        time.sleep(0.01)
        assert not loads(paths[1], cache_dir)  # used: now the youngest
        one = cache_size(cache_dir) // 4
        cache.evict(cache_dir, capacity=2 * one + one // 2)
        assert not loads(paths[0], cache_dir)
        assert not loads(paths[1], cache_dir)
        assert loads(paths[2], cache_dir)
        assert clear_cache(cache_dir) > 0
        assert held.points(held.extent).rows == held.rows
        assert len(list(cache_dir.iterdir())) == 1
    clear_cache(cache_dir)
    assert cache_size(cache_dir) == 0
    assert list(cache_dir.iterdir()) == []


@pytest.mark.full
def test_the_cap_is_kept_at_every_load(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CAPACITY", 1)
    for i in range(3):
        loads(write("\n".join([*ROWS, good(60 + i)]), f"{i}.txt"), cache_dir)
    assert len(list(cache_dir.iterdir())) == 1  # the last, which was open when room was made


def test_left_by_a_crash(cache_dir: Path) -> None:
    cache_dir.mkdir(parents=True)
    old, young = cache_dir / "building-old", cache_dir / "building-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "rows.parquet").write_text("half")
    os.utime(old, (0, 0))
    assert cache.sweep(cache_dir) == 4
    assert not old.exists()
    assert young.exists()  # perhaps somebody has only just begun


def test_clearing_what_is_not_there(tmp_path: Path) -> None:
    assert clear_cache(tmp_path / "never") == 0
    assert cache_size(tmp_path / "never") == 0


def test_two_opened_at_once_share_an_entry(write: Write, cache_dir: Path) -> None:
    path = write("\n".join(ROWS))
    with (
        open_checkins(path, cache_dir=cache_dir) as one,
        open_checkins(path, cache_dir=cache_dir) as two,
    ):
        one.close()
        assert two.points(two.extent).rows == 40
    assert len(list(cache_dir.iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_done_without(write: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with open_checkins(write("\n".join(ROWS)), cache_dir=tmp_path / "file" / "cache") as data:
        assert data.rows == 40
