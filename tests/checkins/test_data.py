"""Queries over opened check-ins, compared with brute force."""

from __future__ import annotations

import csv
import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.checkins import CheckinData, CheckinError, LoadCancelled, Reason, open_checkins
from tests.checkins.conftest import good

BOX = (40.0, -74.0, 41.0, -73.0)
Table = list[tuple[int, int, float, float]]


def table(rows: int = 4000, seed: int = 5) -> Table:
    rng = np.random.default_rng(seed)
    return [
        (
            int(60 * rng.random() ** 2),
            int(rng.integers(0, 40 * 86400)),
            round(float(rng.normal(40.5, 0.4)), 6),
            round(float(rng.normal(-73.5, 0.4)), 6),
        )
        for _ in range(rows)
    ]


def text(rows: Table, prefix: str = "") -> str:
    start = np.datetime64("2010-01-01T00:00:00")
    return "".join(
        f"{prefix}{u}\t{start + np.timedelta64(t, 's')}Z\t{y}\t{x}\t{i}\n"
        for i, (u, t, y, x) in enumerate(rows)
    )


ROWS = table()


@pytest.fixture(scope="module", params=["", "user-"], ids=["whole-number ids", "text ids"])
def data(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CheckinData]:
    path = tmp_path_factory.mktemp("data") / "rows.txt"
    path.write_text(text(ROWS, request.param))
    with open_checkins(path, cache_dir=path.parent / "cache") as opened:
        yield opened


def keyed_hash(user: str, seed: int) -> bytes:
    key = hashlib.blake2b(f"privacy-explorer sample {seed}".encode(), digest_size=32).digest()
    return hashlib.blake2b(user.encode(), digest_size=16, key=key).digest()


def inside(row: tuple[int, int, float, float], low: int = 0, high: int = 10**9) -> bool:
    return BOX[0] <= row[2] <= BOX[2] and BOX[1] <= row[3] <= BOX[3] and low <= row[1] < high


def by_user(rows: list[tuple[int, int, float, float]], dense: dict[int, int]) -> list[Any]:
    """Rows in the order of their users, each one's in that of the file."""
    return sorted((r for r in rows if r[0] in dense), key=lambda r: dense[r[0]])


def ranked(users: set[int], text_ids: bool) -> dict[int, int]:
    return {u: i for i, u in enumerate(sorted(users, key=str if text_ids else int))}


@pytest.fixture
def text_ids(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.callspec.params["data"])


def test_points_are_the_rows_inside(data: CheckinData, text_ids: bool) -> None:
    rows = [r for r in ROWS if inside(r)]
    dense = ranked({r[0] for r in rows}, text_ids)
    rows = by_user(rows, dense)
    points = data.points(BOX)
    assert points.user.dtype == np.uint32
    assert points.user.tolist() == [dense[r[0]] for r in rows]
    assert points.lat.tolist() == [r[2] for r in rows]
    assert points.lon.tolist() == [r[3] for r in rows]
    assert np.all(points.weight == 1)
    assert points.users_in_file == len({r[0] for r in ROWS})
    assert points.users_in_region == points.users_used == len(dense)


def test_time_range_is_half_open(data: CheckinData, text_ids: bool) -> None:
    low, high = 10 * 86400, 20 * 86400
    edge = [r for r in ROWS if inside(r, low, high)]
    edge = by_user(edge, ranked({r[0] for r in edge}, text_ids))
    points = data.points(BOX, "2010-01-11T00:00:00Z", "2010-01-21T02:00:00+02:00")
    assert points.lat.tolist() == [r[2] for r in edge]
    assert data.points(BOX, end="2010-01-01T00:00:00Z").rows == 0
    assert int(data.density(BOX, 4, 4, "2010-01-11", "2010-01-21").sum()) == len(edge)


@pytest.mark.parametrize("seed", [0, 1])
def test_sampled_users_are_those_of_the_smallest_hashes(
    data: CheckinData, text_ids: bool, seed: int
) -> None:
    rows = [r for r in ROWS if inside(r)]
    spelt = {r[0]: f"user-{r[0]}" if text_ids else str(r[0]) for r in rows}
    chosen = sorted(spelt, key=lambda u: (keyed_hash(spelt[u], seed), spelt[u]))[:9]
    names = ranked(set(chosen), text_ids)
    want = [(names[r[0]], r[2]) for r in by_user(rows, names)]
    points = data.points(BOX, users=9, data_seed=seed)
    assert points.users_used == 9
    assert list(zip(points.user.tolist(), points.lat.tolist(), strict=True)) == want


@pytest.mark.parametrize("share", ["1/10", "0.3", "1"])
def test_a_share_is_everyone_below_a_hash(data: CheckinData, text_ids: bool, share: str) -> None:
    rows = [r for r in ROWS if inside(r)]
    spelt = {r[0]: f"user-{r[0]}" if text_ids else str(r[0]) for r in rows}
    limit = int(Fraction(share) * 2**128)
    chosen = {u for u in spelt if int.from_bytes(keyed_hash(spelt[u], 5)) < limit}
    points = data.points(BOX, share=Fraction(share), data_seed=5)
    assert points.lat.tolist() == [r[2] for r in by_user(rows, ranked(chosen, text_ids))]
    assert (points.users_used, points.users_in_region) == (len(chosen), len(spelt))


def test_a_share_may_be_nobody(data: CheckinData) -> None:
    points = data.points(BOX, share=Fraction(1, 2**128))
    assert (points.rows, points.users_used) == (0, 0)


@pytest.mark.parametrize("share", [0, -1, 2])
def test_impossible_shares_are_refused(data: CheckinData, share: int) -> None:
    with pytest.raises(ValueError, match="share"):
        data.points(BOX, share=Fraction(share))
    with pytest.raises(ValueError, match="choose one"):
        data.points(BOX, users=3, share=Fraction(1, 2))


def test_hashing_can_be_stopped(data: CheckinData) -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        data.points(BOX, users=3, data_seed=987, check=stop)


def test_more_users_than_there_are(data: CheckinData) -> None:
    everybody = data.points(BOX)
    points = data.points(BOX, users=10_000)
    assert points.users_used == everybody.users_in_region < 10_000
    assert points.rows == everybody.rows


def test_the_file_is_read_in_pieces(data: CheckinData, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = data.layout()
    monkeypatch.setattr("explorer.checkins.data._CHUNK_SIZE", 700)
    pieces = data._build_layout()
    for name in ("y", "x", "t", "offsets", "hashes", "boxes", "users"):
        assert np.array_equal(getattr(whole, name), getattr(pieces, name)), name


def test_density_counts_every_row_once(data: CheckinData) -> None:
    grid = data.density(BOX, 7, 5)
    want = np.zeros((5, 7), dtype=int)
    for row in filter(inside, ROWS):
        want[min(int((row[2] - 40) / 1 * 5), 4), min(int((row[3] + 74) / 1 * 7), 6)] += 1
    assert grid.dtype == np.uint32
    assert grid.tolist() == want.tolist()


def test_busiest_cells(data: CheckinData) -> None:
    grid = data.density(BOX, 20, 20)
    cells = data.busiest_cells(BOX, partition=20, top=5)
    assert [c.rows for c in cells] == sorted(grid.ravel().tolist(), reverse=True)[:5]
    for cell in cells:
        south, west, north, east = cell.box
        row, column = round((south - 40) * 20), round((west + 74) * 20)
        assert grid[row, column] == cell.rows
        assert (north - south, east - west) == pytest.approx((0.05, 0.05))
        users = {
            r[0]
            for r in ROWS
            if inside(r) and int((r[2] - 40) * 20) == row and int((r[3] + 74) * 20) == column
        }
        assert cell.users == len(users)


def test_cells_with_most_users_are_others(data: CheckinData) -> None:
    every = data.busiest_cells(BOX, partition=20, top=400)
    by_users = data.busiest_cells(BOX, partition=20, top=5, by="users")
    assert [c.users for c in by_users] == sorted((c.users for c in every), reverse=True)[:5]
    assert set(by_users) <= set(every)


def test_many_threads_may_ask_at_once(data: CheckinData) -> None:
    want = data.density(BOX, 30, 30).tolist()
    answers: list[object] = []

    def ask() -> None:
        answers.extend(data.density(BOX, 30, 30).tolist() == want for _ in range(5))
        answers.append(data.points(BOX, users=5).users_used == 5)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 24


def test_refused_questions(data: CheckinData) -> None:
    with pytest.raises(ValueError, match="box"):
        data.points((41.0, -74.0, 40.0, -73.0))
    with pytest.raises(ValueError, match="users: 0"):
        data.points(BOX, users=0)
    with pytest.raises(ValueError, match="start: 'soon'"):
        data.points(BOX, start="soon")
    with pytest.raises(ValueError, match="at least 1"):
        data.density(BOX, 0, 5)


def test_points_on_the_outermost_edge_are_inside(write: Callable[..., Path]) -> None:
    corners = [(y, x) for y in (40.0, 41.0) for x in (-74.0, -73.0)]
    rows = [f"{i}\t2010-01-01T00:00:00Z\t{y}\t{x}\t0" for i, (y, x) in enumerate(corners)]
    outside = "9\t2010-01-01T00:00:00Z\t41.0000001\t-73.0\t0"
    with open_checkins(write("\n".join([*rows, outside])), cache_dir=None) as data:
        assert data.points(BOX).rows == 4
        assert data.density(BOX, 3, 3).tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 1]]


def test_an_empty_region(write: Callable[..., Path]) -> None:
    with open_checkins(write(good(1)), cache_dir=None) as data:
        empty = (0.0, 0.0, 1.0, 1.0)
        points = data.points(empty, users=5)
        assert (points.rows, points.users_in_region, points.users_used) == (0, 0, 0)
        assert not data.density(empty, 3, 3).any()
        assert data.busiest_cells(empty) == ()


def test_whole_number_ids_sort_by_value(write: Callable[..., Path]) -> None:
    ids = ("10", "9", "007", "-1")
    rows = [f"{u}\t2010-01-01T00:00:00Z\t40.{i}\t-73.5\t0" for i, u in enumerate(ids, 1)]
    with open_checkins(write("\n".join(rows)), cache_dir=None) as data:
        points = data.points(data.extent)
        assert points.user.tolist() == [0, 1, 2, 3]
        assert points.lat.tolist() == [40.4, 40.3, 40.2, 40.1]


def test_synthetic_only_if_known(write: Callable[..., Path]) -> None:
    path = write(good(1))
    with open_checkins(path, cache_dir=None) as data:
        assert not data.synthetic
        known = frozenset({data.fingerprint})
    with open_checkins(path, cache_dir=None, known_synthetic=known) as data:
        assert data.synthetic
    path.write_text(good(2))
    with open_checkins(path, cache_dir=None, known_synthetic=known) as data:
        assert not data.synthetic


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 3)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=15), st.booleans())
def test_exported_lines_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, plan: list[int], zipped: bool
) -> None:
    folder = tmp_path_factory.mktemp("export")
    kinds = [
        None,
        Reason.ZERO_ZERO,
        Reason.TOO_FEW_FIELDS,
        None,
        Reason.INVALID_BYTES,
        Reason.LINE_TOO_LONG,
    ]
    bad = [
        b"",
        b"1\t2010-01-01T00:00:00Z\t0\t0\t7",
        b'a "quoted", line',
        b"",
        b"\xff\t2010-01-01T00:00:00Z\t40\t-73\t1",
        b"y" * (3 << 19),
    ]
    lines = [good(i).encode() for i in range(3 * len(plan) + 3)]  # enough to know the layout by
    want = []
    for kind in plan:
        if kind == 0:
            lines.append(good(len(lines)).encode())
            continue
        lines.append(bad[kind])
        if kinds[kind] is not None:
            shown = bad[kind].decode(errors="replace")
            if kind == 5:
                shown = f"({len(bad[kind]) + 1} bytes)"
            want.append([str(len(lines)), str(kinds[kind]), shown])
    whole = b"\n".join(lines) + b"\n"
    path = folder / "rows.txt"
    path.write_bytes(gzip.compress(whole, 1) if zipped else whole)
    with open_checkins(path, cache_dir=None, detect_duplicates=False) as data:
        assert data.export_rejected(folder / "aside.csv") == len(want)
    with (folder / "aside.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["line", "reason", "what is wrong", "text"]
    assert [[line, reason, shown] for line, reason, _, shown in rows[1:]] == want
    assert sorted(p.name for p in folder.iterdir()) == ["aside.csv", "rows.txt"]


def test_export_refuses_a_changed_file(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("\n".join([good(1), "bad", good(2), good(3)]))
    with open_checkins(path, cache_dir=None) as data:
        with pytest.raises(LoadCancelled):
            data.export_rejected(tmp_path / "out.csv", cancelled=lambda: True)
        with pytest.raises(CheckinError, match="another folder"):
            data.export_rejected(tmp_path / "nowhere" / "out.csv")
        path.write_text("else")
        with pytest.raises(CheckinError, match="changed or moved"):
            data.export_rejected(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_export_from_parquet(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "rows.parquet"
    con = duckdb.connect()
    con.execute(
        "COPY (SELECT i % 5 AS user, 40 + i / 100 AS lat, "
        "CASE WHEN i % 4 = 1 THEN 500 ELSE -73.5 END AS lon FROM range(12) t(i)) "
        f"TO '{path}' (FORMAT parquet)"
    )
    con.close()
    with open_checkins(path, cache_dir=None) as data:
        assert data.export_rejected(tmp_path / "out.csv") == 3
    rows = list(csv.reader((tmp_path / "out.csv").read_text().splitlines()))
    assert [r[:2] for r in rows[1:]] == [[str(n), "out_of_range"] for n in (2, 6, 10)]
    assert rows[1][3] == "1,40.01,500.0"
