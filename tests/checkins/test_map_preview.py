"""Map previews: which rows they sample, and how close they are to the full map."""

from __future__ import annotations

import gzip
import io
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest

from datasets.generate_checkins import main as generate
from explorer.checkins import LoadCancelled, map_preview, open_checkins, sniff
from explorer.checkins.database import quote
from explorer.checkins.map_preview import map_previews
from explorer.checkins.model import Dialect, Format
from explorer.checkins.readers import parquet
from explorer.checkins.readers.base import Sample, evenly_spaced
from explorer.checkins.readers.text import BlockReader

BOX = (40.55, -74.10, 40.90, -73.75)
SNAP = Dialect(Format.SNAP, "\t")


@pytest.fixture(scope="module")
def snap(tmp_path_factory) -> Path:
    """A file sorted by user, larger than those that are not looked into."""
    path = tmp_path_factory.mktemp("look") / "snap.txt"
    generate(["--users", "6000", "--rows", "240000", "--seed", "5", str(path)])
    rows: dict[str, list[str]] = {}
    for line in path.read_text().splitlines(keepends=True):
        user, rest = line.split("\t", 1)
        rows.setdefault(user, []).append(rest)
    # As in the public files: who came first, checks in most.
    eager = sorted(rows.values(), key=len, reverse=True)
    path.write_text("".join(f"{i}\t{rest}" for i, rests in enumerate(eager) for rest in rests))
    assert path.stat().st_size > 3 * 4_000_000
    return path


@pytest.fixture(scope="module")
def finest(snap: Path) -> np.ndarray:
    """The map of all users of it: 128 × 128 shares."""
    with open_checkins(snap, cache_dir=None) as data:
        points = data.points(BOX)
    return users_map(points.user, points.lat, points.lon, 128)


@pytest.fixture(scope="module")
def whole(finest: np.ndarray) -> np.ndarray:
    """The same: 32 × 32 shares."""
    return finest.reshape(32, 4, 32, 4).sum((1, 3))


def looks_at(path: Path, **how):
    """Look at a file whose questions have the preselected answers: it is sorted by user."""
    head = sniff(path)
    return map_previews(path, head, head.suggested, **how)


def users_map(user: np.ndarray, lat: np.ndarray, lon: np.ndarray, side: int) -> np.ndarray:
    south, west, north, east = BOX
    row = np.minimum(((lat - south) / (north - south) * side).astype(int), side - 1)
    column = np.minimum(((lon - west) / (east - west) * side).astype(int), side - 1)
    _, user = np.unique(user, return_inverse=True)
    grid = np.zeros((side, side))
    np.add.at(grid, (row, column), 1 / np.bincount(user)[user])
    return grid / grid.sum()


def distance(one: np.ndarray, other: np.ndarray) -> float:
    side = min(one.shape[0], other.shape[0])

    def coarse(grid: np.ndarray) -> np.ndarray:
        step = grid.shape[0] // side
        return grid.reshape(side, step, side, step).sum((1, 3))

    return float(np.abs(coarse(one) - coarse(other)).sum() / 2)


def first(path: Path) -> tuple[Sample, float, np.ndarray | None]:
    looks = looks_at(path)
    look = next(looks)
    found = look.sample, look.share, look.picture(BOX)
    looks.close()
    return found


# Whole users -----------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_user_is_in_as_many_blocks_whatever_its_rows(header, quoted, end) -> None:
    """Blocks at every place of the file, around its end too: the chance is the block's length."""
    rows_of = {"1": 1, "2": 9, "3": 2, "7": 40, "11": 1, "12": 5, "100": 3}
    names = "user,lat,lon" + end if header else ""
    spelt = '"{}"' if quoted else "{}"
    lines = [
        f"{spelt.format(user)},{48 + i}.5,11" + end
        for user, rows in rows_of.items()
        for i in range(rows)
    ]
    text = (names + "".join(lines)).encode()
    dialect = Dialect(Format.CSV, ",", has_header=header, quoted=quoted)
    reader = BlockReader(io.BytesIO(text), len(text), dialect, 0, lambda: None)
    assert reader.first == len(names)
    length, room = 37, len(text) - reader.first
    counted = dict.fromkeys(rows_of, 0)
    for place in range(room):
        start, stop = reader.first + place, reader.first + place + length
        found = [reader.whole_users(start, min(stop, len(text)))]
        if stop > len(text):
            found.append(reader.whole_users(reader.first, stop - room))
        seen = [reader.user(line) for block in found for line in block.splitlines(keepends=True)]
        for user, rows in rows_of.items():
            assert seen.count(user.encode()) in (0, rows)
            counted[user] += seen.count(user.encode()) == rows
    assert set(counted.values()) == {length}


def test_without_the_rule_heavy_users_are_found_more_often() -> None:
    lines = ["1,48,11\n"] + ["2,48,11\n"] * 40 + ["3,48,11\n"]
    text = "".join(lines).encode()
    reader = BlockReader(io.BytesIO(text), len(text), Dialect(Format.CSV, ","), 0, lambda: None)
    seen = [reader.lines(at, at + 16) for at in range(len(text) - 16)]
    assert sum(b"2," in block for block in seen) > 10 * sum(b"1," in block for block in seen)


@pytest.mark.full
def test_users_are_followed_over_the_end_of_a_block_and_no_further(snap: Path) -> None:
    size = snap.stat().st_size
    with snap.open("rb") as file:
        reader = BlockReader(file, size, SNAP, 0, lambda: None)
        block = reader.whole_users(size // 3, size // 3 + 20_000)
    rows = [line.split("\t", 1)[0] for line in block.decode().splitlines()]
    every = [line.split("\t", 1)[0] for line in snap.read_text().splitlines()]
    users = set(rows)
    assert len(rows) == sum(user in users for user in every)


def test_parts_never_overlap_and_lie_evenly() -> None:
    portions = evenly_spaced(100, 1_000_100, 64, 300)
    every = sorted(start for portion in portions for start in portion)
    assert [len(portion) for portion in portions] == [64, 64, 128, 256]
    assert min(b - a for a, b in pairwise(every)) >= 600
    gaps = np.diff(portions[0])
    assert gaps.max() - gaps.min() <= 1
    assert evenly_spaced(0, 6400, 64, 60) == []


# Files -----------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_sorted_file_is_nearer_to_the_whole_than_its_head(snap: Path, whole) -> None:
    sample, share, picture = first(snap)
    assert sample is Sample.USERS
    assert 0.02 <= share <= 0.1
    assert picture.sum() == pytest.approx(1)
    head = snap.read_bytes()[: int(share * snap.stat().st_size)].decode().splitlines()[:-1]
    fields = [line.split("\t") for line in head]
    user = np.array([int(f[0]) for f in fields])
    lat, lon = (np.array([float(f[i]) for f in fields]) for i in (2, 3))
    south, west, north, east = BOX
    inside = (lat >= south) & (lat <= north) & (lon >= west) & (lon <= east)
    of_head = users_map(user[inside], lat[inside], lon[inside], 32)
    coarse = picture.shape[0]
    of_head = of_head.reshape(coarse, 32 // coarse, coarse, 32 // coarse).sum((1, 3))
    assert distance(picture, whole) < distance(of_head, whole)


@pytest.mark.full
def test_it_comes_nearer_with_every_look(snap: Path, finest) -> None:
    shares, far = [], []
    for look in looks_at(snap):
        shares.append(look.share)
        far.append(distance(look.picture(BOX), finest))
        assert look.sample is Sample.USERS
    assert len(shares) >= 2
    assert shares == sorted(shares)
    assert shares[-1] > 1.9 * shares[0]
    assert far[-1] < 0.25


def test_a_file_in_order_of_time_gives_rows(snap: Path, tmp_path: Path) -> None:
    lines = snap.read_text().splitlines(keepends=True)
    path = tmp_path / "by_time.txt"
    path.write_text("".join(sorted(lines, key=lambda line: line.split("\t")[1])))
    sample, _, picture = first(path)
    assert sample is Sample.ROWS
    assert picture.sum() == pytest.approx(1)


@pytest.mark.full
def test_an_archive_gives_its_beginning(snap: Path, tmp_path: Path) -> None:
    path = tmp_path / "snap.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(snap.read_bytes())
    sample, share, picture = first(path)
    assert sample is Sample.BEGINNING
    assert 0 < share < 1
    assert picture.sum() == pytest.approx(1)


@pytest.mark.full
@pytest.mark.parametrize("group", [2048, 10_000_000])
def test_parquet_gives_whole_users(snap: Path, tmp_path: Path, whole, group: int) -> None:
    path = as_parquet(snap, tmp_path / "x.parquet", "", group)
    every = duckdb.sql(
        f"SELECT hash(u) AS h, count(*) AS n FROM (SELECT CAST(user_id AS VARCHAR) AS u "
        f"FROM read_parquet({quote(str(path))})) GROUP BY h"
    ).fetchall()
    counts = dict(every)
    with_looks = looks_at(path)
    look = next(with_looks)
    assert look.sample is Sample.USERS
    assert look.share < 0.1
    assert distance(look.picture(BOX), whole) < 0.4
    kept = look._con.execute("SELECT user_id, count(*) FROM looked_at GROUP BY 1").fetchall()
    with_looks.close()
    assert len(kept) >= map_preview.FEWEST_USERS
    assert all(counts[user] == n or n > parquet.READ_ON for user, n in kept)


def test_parquet_in_order_of_time_gives_rows(snap: Path, tmp_path: Path) -> None:
    path = as_parquet(snap, tmp_path / "t.parquet", "ORDER BY time", 2048)
    sample, _, picture = first(path)
    assert sample is Sample.ROWS
    assert picture.sum() == pytest.approx(1)


def as_parquet(snap: Path, path: Path, order: str, group: int) -> Path:
    columns = (
        "{'user_id': 'BIGINT', 'time': 'TIMESTAMP', 'latitude': 'DOUBLE', 'longitude': 'DOUBLE', "
        "'location': 'BIGINT'}"
    )
    duckdb.sql(
        f"COPY (SELECT * FROM read_csv({quote(str(snap))}, delim='\t', header=false, "
        f"columns={columns}) {order}) TO {quote(str(path))} (FORMAT parquet, ROW_GROUP_SIZE "
        f"{group}, COMPRESSION uncompressed)"
    )
    return path


def test_few_heavy_users_give_rows(tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    line = "{}\t2010-01-{:02d}T12:00:{:02d}Z\t{:.6f}\t-73.9\t7\n"
    path.write_text(
        "".join(
            line.format(user, 1 + i % 28, i % 60, 40.6 + i / 1e6)
            for user in range(5)
            for i in range(25_000)
        )
    )
    sample, _, picture = first(path)
    assert sample is Sample.ROWS
    assert picture.sum() == pytest.approx(1)


@pytest.mark.full
def test_names_that_are_patterns_are_the_file_itself(snap: Path, tmp_path: Path) -> None:
    text = snap.read_text()
    (tmp_path / "x1.txt").write_text(text.replace("\t40.", "\t10."))
    table = as_parquet(tmp_path / "x1.txt", tmp_path / "x1.parquet", "", 2048)
    assert first(table)[2] is None
    there = as_parquet(snap, tmp_path / "there.parquet", "", 2048).read_bytes()
    for name in ("x[1]", "x*"):
        path = tmp_path / f"{name}.txt"
        path.write_text(text)
        assert first(path)[2] is not None, name
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(there)
        assert first(path)[2] is not None, name


def test_a_small_file_is_not_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("1\t2010-01-01T12:00:00Z\t40.7\t-73.9\t7\n" * 100)
    assert list(looks_at(path)) == []


def test_looking_stops_when_told_and_leaves_nothing(snap: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    stop: list[bool] = []
    looks = looks_at(snap, cancelled=lambda: bool(stop))
    next(looks)
    assert list(tmp_path.iterdir())
    stop.append(True)
    with pytest.raises(LoadCancelled):
        next(looks)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_malformed_lines_and_header_do_no_harm(snap: Path, tmp_path: Path) -> None:
    lines = snap.read_text().splitlines()
    for at in range(50, len(lines), 97):
        lines[at] = lines[at].replace("\t40.", "\tnowhere ")
    body = "".join(
        '"{}","{}",{},{},{}\n'.format(*line.split("\t")) + "\n" * (place % 500 == 0)
        for place, line in enumerate(lines)
    )
    path = tmp_path / "quoted.csv"
    path.write_text("user,time,latitude,longitude,location\n" + body)
    sample, _, picture = first(path)
    assert sample is Sample.USERS
    assert picture.sum() == pytest.approx(1)
