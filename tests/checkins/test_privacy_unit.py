"""Files without a user column: each row is a user, or all rows are one."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import CheckinError, Mapping, Reason, open_checkins
from explorer.checkins.data import CheckinData
from explorer.checkins.database import connect, written_file
from explorer.checkins.region_query import query_region
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.large_import import open_any_size

BOX = (40.0, -75.0, 41.5, -73.0)
ROWS = 700
BAD = 50
"""Every so many rows have a latitude that can't be read."""
READ = Mapping(time=0, lat=1, lon=2)
ASKED: tuple[dict[str, Any], ...] = (
    {},
    {"users": 40},
    {"users": 40, "data_seed": 3},
    {"share": Fraction(1, 4)},
    {"start": "2010-01-05T00:00:00Z", "end": "2010-01-20T00:00:00Z"},
)


def mapping(unit: str) -> Mapping:
    return Mapping(time=0, lat=1, lon=2, unit=unit)


def row(i: int) -> str:
    lat = "?" if i % BAD == 1 else f"{40 + (i * 7 % 100) / 100:.4f}"
    return f"2010-01-{1 + i % 28:02}T12:00:00Z,{lat},{-74 - (i * 13 % 90) / 100:.4f}"


def text(first: int = 0, last: int = ROWS) -> str:
    return "\n".join(["time,lat,lon", *map(row, range(first, last)), ""])


def csv(folder: Path) -> Path:
    path = folder / "rows.csv"
    path.write_text(text())
    return path


def packed(folder: Path) -> Path:
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(text().encode()))
    return path


def parquet(folder: Path) -> Path:
    source, path = csv(folder), folder / "rows.parquet"
    con = connect()
    con.execute(
        "COPY (SELECT time, CASE WHEN lat <> '?' THEN lat::DOUBLE END AS lat, lon::DOUBLE AS lon "
        f"FROM read_csv('{source}', all_varchar=true, parallel=false)) TO {written_file(path)} "
        "(FORMAT parquet)"
    )
    con.close()
    return path


def parts(folder: Path) -> Path:
    place = folder / "parts"
    place.mkdir()
    for part in range(3):
        ends = part * ROWS // 3, (part + 1) * ROWS // 3
        (place / f"part-{part}.csv").write_text(text(*ends))
    return place


SOURCES = {"csv": csv, "gzip": packed, "parquet": parquet, "parts": parts}


def counted(data: CheckinData, **asked: Any) -> tuple[list[Any], int]:
    """Return positions of the chosen rows, sorted, and how many users were used."""
    points = data.points(BOX, **asked)
    found: list[tuple[float, float]] = []
    for part in getattr(points, "parts", (points,)):
        for _user, lat, lon in part.pieces():
            found += zip(np.round(lat, 7).tolist(), np.round(lon, 7).tolist(), strict=True)
    return sorted(found), points.users_used


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "unit"),
    [("csv", "row"), ("gzip", "file"), ("parquet", "row"), ("parts", "row"), ("parts", "file")],
)
def test_units_are_the_same_in_memory_in_shards_and_asked_once(
    tmp_path: Path, kind: str, unit: str
) -> None:
    source = SOURCES[kind](tmp_path)
    kept = sum(i % BAD != 1 for i in range(ROWS))
    how: dict[str, Any] = {"mapping": mapping(unit), "cache_dir": None}
    small: dict[str, Any] = {"in_memory": 10, "shard_rows": 200, "memory": 900_000_000}
    with (
        open_checkins(source, **how) as whole,
        open_any_size(source, **how, **small, executor=lambda _: InPlaceExecutor()) as sharded,
        query_region(source, BOX, mapping=mapping(unit), timed=True) as once,
    ):
        assert sharded.larger_than_memory
        assert once.region_only
        for data in (whole, sharded):
            assert (data.unit, data.names.get("user")) == (unit, None)
            assert data.report.kept == kept == data.rows
            assert data.users == (kept if unit == "row" else 1)
        for asked in ASKED:
            expected = counted(whole, **asked)
            assert counted(sharded, **asked) == expected
            assert counted(once, **asked) == expected
        everybody, chosen = counted(whole), counted(whole, users=40)
        assert everybody[1] == (kept if unit == "row" else 1)
        assert chosen[1] == (40 if unit == "row" else 1)
        assert len(chosen[0]) == (40 if unit == "row" else kept)


def test_equal_rows_are_duplicates_of_one_user_and_two_units_else(
    write: Callable[..., Path],
) -> None:
    path = write("time,lat,lon\n" + 3 * (row(2) + "\n"), "twice.csv")
    with open_checkins(path, mapping("row"), cache_dir=None) as data:
        assert (data.rows, data.users, data.report.rejected) == (3, 3, {})
    with open_checkins(path, mapping("file"), cache_dir=None) as data:
        assert (data.rows, data.users) == (1, 1)
        assert data.report.rejected == {Reason.DUPLICATE: 2}


def test_the_same_file_is_cached_once_for_each_unit(tmp_path: Path) -> None:
    path, cache = csv(tmp_path), tmp_path / "cache"
    for _ in range(2):
        for unit, users in (("row", ROWS - ROWS // BAD), ("file", 1)):
            with open_checkins(path, mapping(unit), cache_dir=cache) as data:
                assert (data.unit, data.users) == (unit, users)
                assert data.columns["unit"] == unit
                assert data.columns["names"] == {"time": "time", "lat": "lat", "lon": "lon"}


def test_a_unit_beside_a_user_column_is_refused(tmp_path: Path) -> None:
    both = Mapping(user=0, lat=1, lon=2, unit="row")
    with pytest.raises(CheckinError):
        open_checkins(csv(tmp_path), both, cache_dir=None)


def test_names_of_columns_are_told_as_they_can_be_shown(write: Callable[..., Path]) -> None:
    name = "who" + "o" * 200
    path = write(f'"{name}\u202e",time,lat,lon\nu,{row(2)}\n', "named.csv")
    with open_checkins(path, Mapping(0, 1, 2, 3), cache_dir=None) as data:
        assert data.unit == "user"
        assert data.names == {"user": name[:80], "time": "time", "lat": "lat", "lon": "lon"}
        assert "unit" not in data.columns


def test_stored_mappings_without_a_unit_stay_as_they_were() -> None:
    assert "unit" not in READ.stored()
    assert mapping("row").stored()["unit"] == "row"
    assert len({tuple(m.settings) for m in (READ, mapping("row"), mapping("file"))}) == 3
