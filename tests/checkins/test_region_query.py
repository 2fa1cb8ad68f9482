"""Region queries give the answers of opened check-ins, and read no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from explorer.checkins import (
    CheckinError,
    LoadCancelled,
    Progress,
    Reason,
    open_checkins,
    region_query,
)
from explorer.checkins.data import CheckinData, StoredData
from explorer.checkins.database import written_file
from explorer.checkins.region_query import query_region
from explorer.geography.region import Region
from explorer.privacy.heatmaps.counts import BY_CHECKINS
from explorer.studies.heatmap.run import count_shards
from tests.studies.context import Context

BOX = (40.0, -74.5, 41.0, -73.0)
RANGE = {"start": "2010-01-03T00:00:00Z", "end": "2010-01-20T00:00:00Z"}
ASKED: list[dict[str, Any]] = [
    {},
    RANGE,
    {"users": 30},
    {"users": 30, "data_seed": 5},
    {"share": Fraction(1, 3)},
]

PARTS = 3
ROWS = 900
_MADE = """
SELECT i, 1 + hash(same) % 60 AS person, 40 + (hash(same + 1) % 12000) / 1e4 AS north,
    -74.6 + (hash(same + 2) % 20000) / 1e4 AS east,
    TIMESTAMP '2010-01-01 12:00:00' + to_seconds(same * 2500) AS instant
FROM (SELECT i, CASE WHEN i % 40 = 3 THEN i - 3 ELSE i END AS same FROM range({first}, {last}) r(i))
"""
"""Every fortieth row is by whom, where and when the third one before it is."""

KINDS = {
    "as they are": "person::BIGINT AS user, timezone('UTC', instant) AS time, north AS lat, "
    "east AS lon",
    "ids of text": "'person ' || person AS user, timezone('UTC', instant) AS time, north AS lat, "
    "east AS lon",
    "short numbers": "person::INTEGER AS user, instant AS time, north::FLOAT AS lat, "
    "east::FLOAT AS lon",
    "all text": "person::VARCHAR AS user, strftime(instant, '%Y-%m-%dT%H:%M:%SZ') AS time, "
    "north::VARCHAR AS lat, east::VARCHAR AS lon",
    "without times": "person::BIGINT AS user, north AS lat, east AS lon",
    "with faults": "CASE WHEN i % 11 <> 1 THEN person END AS user, CASE WHEN i % 7 <> 1 THEN "
    "timezone('UTC', instant) END AS time, CASE i % 13 WHEN 1 THEN 'nan'::DOUBLE WHEN 2 THEN NULL "
    "ELSE north END AS lat, east AS lon",
    "weighted, at places": "person::BIGINT AS user, timezone('UTC', instant) AS time, "
    "north AS lat, east AS lon, 'place ' || (i % 3) AS location, 0.5 + i % 4 AS weight",
    "far times": "person::BIGINT AS user, timezone('UTC', CASE WHEN i % 9 = 4 THEN "
    "TIMESTAMP '1850-05-05 00:00:00' ELSE instant END) AS time, north AS lat, east AS lon",
}


def made(folder: Path, columns: str) -> Path:
    """Write a folder of Parquet files."""
    folder.mkdir()
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for part in range(PARTS):
            rows = _MADE.format(first=part * ROWS // PARTS, last=(part + 1) * ROWS // PARTS)
            con.execute(
                f"COPY (SELECT {columns} FROM ({rows}) ORDER BY i) "
                f"TO {written_file(folder / f'part-{part}.parquet')} (FORMAT parquet)"
            )
    return folder


def counted(data: CheckinData, asked: dict[str, Any]) -> tuple[Any, ...]:
    """Return cells as whole numbers, and users and rows."""
    points = data.points(BOX, **asked)
    parts = getattr(points, "parts", (points,))
    together = (
        points
        if len(parts) > 1
        else SimpleNamespace(parts=parts, places=(), users_in_file=parts[0].users_in_file)
    )
    found = count_shards(together, Region(*BOX), 6, BY_CHECKINS, Context())
    kept = (points.users_in_region, points.users_used, points.rows)
    return (found.codes.tolist(), found.masses.tolist(), *kept)


def only(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what of a question limits the rows that are read."""
    return {key: asked.get(key) for key in ("start", "end")}


def check_alike(source: Path, asked_of: Sequence[dict[str, Any]] = ASKED[:2]) -> CheckinData:
    """Compare all answers with those of opened check-ins."""
    few = query_region(source, BOX)
    with open_checkins(source, cache_dir=None) as whole:
        for asked in asked_of:
            if whole.has_times or asked is not RANGE:
                limits = only(asked)
                again = query_region(source, BOX, **limits) if any(limits.values()) else few
                assert counted(again, asked) == counted(whole, asked), asked
                assert again.region_only
                assert (again.rows, again.columns) == (
                    whole.points(BOX, **limits).rows,
                    whole.columns,
                )
                if again is not few:
                    again.close()
        assert np.array_equal(few.density(BOX, 20, 30), whole.density(BOX, 20, 30))
        assert few.busiest_cells(BOX, 9, 4) == whole.busiest_cells(BOX, 9, 4)
    return few


@pytest.mark.full
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ids of text"])
def test_the_same_numbers_as_of_opened_check_ins(kind: str, tmp_path: Path) -> None:
    asked = ASKED if kind == "as they are" else ASKED[:2]
    data = check_alike(made(tmp_path / "x[1]'s", KINDS[kind]), asked)
    with data:
        again = data.report.rejected.get(Reason.DUPLICATE, 0)
        assert (again > 0) == (kind != "without times")
        assert data.report.notes == (region_query.REGION_QUERY_NOTE,)
        assert data.report.accounted == data.report.physical_lines
        with StoredData.of(data).open() as elsewhere:  # another process has it, too
            assert counted(elsewhere, {}) == counted(data, {})


@pytest.mark.full
def test_times_are_read_only_where_they_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(region_query, "needs_worker", lambda _: False)  # where it can be counted
    columns = KINDS["as they are"]
    asked: list[bool] = []
    rows = region_query.RegionReader.rows

    def noted(self: Any, timed: bool) -> Any:
        asked.append(timed)
        return rows(self, timed)

    monkeypatch.setattr(region_query.RegionReader, "rows", noted)
    query_region(made(tmp_path / "again", columns), BOX).close()
    assert asked == [True]  # people are seen at one place twice among the first rows
    monkeypatch.setattr(region_query, "_PROBED", 1)
    query_region(tmp_path / "again", BOX).close()
    assert asked == [True, False, True]
    fresh = made(tmp_path / "never", columns.replace("north AS lat", "north + i / 1e7 AS lat"))
    query_region(fresh, BOX).close()
    assert asked == [True, False, True, False]
    query_region(fresh, BOX, timed=True).close()
    query_region(
        made(tmp_path / "far", KINDS["far times"]), BOX
    ).close()  # some are to be set aside
    assert asked[4:] == [True, True]


@pytest.mark.full
def test_text_folders_and_archives(tmp_path: Path) -> None:
    source = made(tmp_path / "parquet", KINDS["as they are"])
    text = tmp_path / "text"
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for part in range(PARTS):
            (text / f"year={2010 + part}").mkdir(parents=True)
            suffix = "csv.gz" if part == 1 else "csv"
            con.execute(
                f"COPY (FROM '{source}/part-{part}.parquet') TO "
                f"'{text}/year={2010 + part}/part.{suffix}' (HEADER)"
            )
    check_alike(text).close()


@pytest.mark.full
def test_parts_of_other_types_have_the_same_users(tmp_path: Path) -> None:
    folder = made(tmp_path / "mixed", KINDS["as they are"])
    made(tmp_path / "other", KINDS["short numbers"].replace("person::INTEGER", "person::VARCHAR"))
    (tmp_path / "other" / "part-1.parquet").replace(folder / "part-1.parquet")
    check_alike(folder).close()


def test_another_region_or_range_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "rows", KINDS["as they are"])
    with query_region(folder, BOX, **RANGE) as data:
        assert data.points((40.2, -74.0, 40.6, -73.5), **RANGE).rows
        for box, times in (((40.0, -75.0, 41.0, -73.0), RANGE), (BOX, {})):
            with pytest.raises(ValueError, match="only another region"):
                data.points(box, **times)
            with pytest.raises(ValueError, match="only another region"):
                data.density(box, 4, 4, **times)
    with (
        query_region(made(tmp_path / "b", KINDS["without times"]), BOX) as data,
        pytest.raises(ValueError, match="no times"),
    ):
        data.points(BOX, **RANGE)
    with query_region(folder, (-10.0, -10.0, -9.0, -9.0)) as nobody:
        assert (nobody.rows, nobody.points((-10.0, -10.0, -9.0, -9.0)).users_in_region) == (0, 0)


@pytest.mark.full
def test_the_fingerprint_is_that_of_opened_check_ins(tmp_path: Path) -> None:
    folder = made(tmp_path / "rows", KINDS["as they are"])
    with (
        open_checkins(folder, cache_dir=None) as whole,
        query_region(folder, BOX, fingerprint=True) as data,
        query_region(folder, BOX) as untaken,
    ):
        assert (data.fingerprint, untaken.fingerprint) == (whole.fingerprint, "")


def left_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """Have temporary files made in a folder; return what lists them."""
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return lambda: list(folder.iterdir())


def test_too_many_rows_and_damage_and_cancel_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_in(tmp_path / "temporary", monkeypatch)
    folder = made(tmp_path / "rows", KINDS["ids of text"])
    seen: list[Progress] = []
    with pytest.raises(LoadCancelled):
        query_region(folder, BOX, progress=seen.append, cancelled=lambda: bool(seen))
    assert seen[-1].stage == "Reading"
    with monkeypatch.context() as little:
        little.setattr(region_query, "needs_worker", lambda _: False)
        little.setattr(region_query, "max_rows_in_memory", lambda _: 100)
        with pytest.raises(CheckinError, match=r"more than 100 rows"):
            query_region(folder, BOX)
    part = folder / "part-1.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:200] + bytes(400) + whole[600:])
    with pytest.raises(CheckinError, match=r"part-.* damaged Parquet"):
        query_region(folder, BOX)
    assert not left()
