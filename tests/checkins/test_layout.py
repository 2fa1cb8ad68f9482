"""The layout: order, storage, and the same rows as the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import CheckinData, Reason, layout as layouts, open_checkins
from explorer.checkins.layout import Layout, WorkingSets
from explorer.checkins.sampling import hash_ids, sample_key
from explorer.privacy.heatmaps.row_pass import cells_of_rows, count_rows
from explorer.studies.base.study import Cancelled
from explorer.user_rows import BoxFilter, GridBox

USERS, ROWS = 60, 3000
BOX = (40.0, -74.0, 41.0, -73.0)


def lines(seed: int = 3) -> list[str]:
    rng = np.random.default_rng(seed)
    user = rng.integers(0, USERS, ROWS)
    lat = np.round(rng.uniform(39.5, 41.5, ROWS), 7)
    lon = np.round(rng.uniform(-74.5, -72.5, ROWS), 7)
    seconds = rng.integers(0, 10**6, ROWS)
    when = np.datetime64("2010-01-01T00:00:00") + seconds
    return [
        f"{u}\t{t}Z\t{a:.7f}\t{o:.7f}\t{i}"
        for i, (u, t, a, o) in enumerate(zip(user, when, lat, lon, strict=True))
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("layout") / "made.txt"
    file.write_text("\n".join(lines()))
    return file


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def data(path: Path, cache: Path) -> Iterator[CheckinData]:
    with open_checkins(path, cache_dir=cache) as opened:
        yield opened


@pytest.mark.full
def test_rows_lie_in_the_order_of_the_users_hashes(data: CheckinData) -> None:
    layout = data.layout()
    rows_of: dict[int, list[list[str]]] = {}
    for line in lines():
        fields = line.split("\t")
        rows_of.setdefault(int(fields[0]), []).append(fields)
    ids = sorted(rows_of)
    hashes = hash_ids(map(str, ids), sample_key(0))
    assert layout.hashes.tolist() == sorted(hashes[:, 0].tolist())
    assert hashes[layout.users, 0].tolist() == layout.hashes.tolist()
    at = 0
    for number, place in enumerate(layout.users):
        mine = rows_of[ids[place]]
        rows = slice(at, at := at + len(mine))
        assert layout.offsets[number : number + 2].tolist() == [rows.start, rows.stop]
        assert layout.y[rows].tolist() == [round(Fraction(m[2]) * 10**7) for m in mine]
        assert layout.x[rows].tolist() == [round(Fraction(m[3]) * 10**7) for m in mine]
        assert layout.t is not None
        seconds = [np.datetime64(m[1][:-1]) - np.datetime64("2000-01-01") for m in mine]
        assert layout.t[rows].tolist() == [s / np.timedelta64(1, "s") for s in seconds]
        assert layout.boxes[number].tolist() == [
            layout.y[rows].min(),
            layout.x[rows].min(),
            layout.y[rows].max(),
            layout.x[rows].max(),
        ]
    assert (layout.weight, layout.image) == (None, None)
    assert (layout.y.dtype, layout.hashes.dtype) == (np.int32, np.uint64)


def test_the_first_users_are_the_smaller_sample(data: CheckinData) -> None:
    """A prefix of the layout is a sample of whole users, and that of the database's definition."""
    layout = data.layout()
    found = count_rows(layout.rows, BoxFilter(layout.edges(BOX)), 4, most=9)
    points = data.points(BOX, users=9)
    ids = np.unique([int(line.split("\t")[0]) for line in lines()])
    hashed = hash_ids(map(str, ids), sample_key(0))
    there = np.unique([int(r[0]) for r in inside()])
    order = np.lexsort((hashed[:, 1], hashed[:, 0]))
    chosen = [ids[i] for i in order if ids[i] in there][:9]
    assert sum(int(r[0]) in chosen for r in inside()) == points.rows == found.rows
    assert points.users_used == found.used == 9
    assert points.users_in_region == found.present == len(there)


def inside() -> list[list[str]]:
    rows = (line.split("\t") for line in lines())
    return [r for r in rows if BOX[0] <= float(r[2]) <= BOX[2] and BOX[1] <= float(r[3]) <= BOX[3]]


@pytest.mark.parametrize("start", [None, "2010-01-04T03:00:00Z"])
def test_the_pass_gives_the_integers_of_one_query(data: CheckinData, start: str | None) -> None:
    """⌊2⁴⁰/t⌋ of every row, summed by DuckDB over the stored Parquet rows."""
    where, values = data._inside(BOX, start, None, None)
    side = 16
    query = (
        f"WITH r AS (SELECT user_id, CAST(round(lat * 1e7) AS BIGINT) y, "
        f"CAST(round(lon * 1e7) AS BIGINT) x FROM {data._rows} WHERE {where}), "
        "n AS (SELECT user_id, count(*) t FROM r GROUP BY user_id) "
        f"SELECT least((y - 400000000) * {side} // 10000000, {side - 1}) AS i, "
        f"least((x + 740000000) * {side} // 10000000, {side - 1}) AS j, "
        "sum(1099511627776 // t)::BIGINT AS s FROM r JOIN n USING (user_id) GROUP BY i, j"
    )
    want = {(i, j): s for i, j, s in data._fetchall(query, values)}
    points = data.points(BOX, start)
    found = count_rows(points.selection.layout.rows, points.selection.where, 4)
    grid: dict[tuple[int, int], int] = {}
    for i in range(side):
        for j in range(side):
            code = cells_of_rows(np.array([i]), np.array([j]), GridBox(0, 0, side, side), 4)[0]
            if found.cells[code]:
                grid[i, j] = int(found.cells[code])
    assert grid == want


@pytest.mark.full
def test_it_is_made_once_and_opened_again(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_checkins(path, cache_dir=tmp_path) as data:
        first = data.layout()
        folder = data._entry.file("layout")
        assert sorted(p.name for p in data._entry.folder.glob("*layout*")) == ["layout"]
        assert not first.y.flags.writeable  # mapped
    monkeypatch.setattr(Layout, "build", lambda *_: pytest.fail("made again"))
    with open_checkins(path, cache_dir=tmp_path) as data:
        again = data.layout()
        assert np.array_equal(first.y, again.y)
        assert np.array_equal(first.offsets, again.offsets)
        assert (again.step, again.origin) == (first.step, first.origin)
    monkeypatch.undo()

    y = first.y.copy()
    for damage in ("y.npy", "layout.json", "offsets.npy"):  # a bit flips: it is made again
        content = bytearray((folder / damage).read_bytes())
        content[-3] ^= 1
        (folder / damage).write_bytes(bytes(content))
        with pytest.raises(ValueError, match=r"changed|Expecting|delimiter"):
            Layout.open(folder)
        with open_checkins(path, cache_dir=tmp_path) as data:
            assert np.array_equal(y, data.layout().y)
        assert np.array_equal(y, Layout.open(folder).y)


def test_without_room_on_the_disk_memory_will_do(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Layout, folder: Path) -> Layout:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Layout, "save", full)
    with open_checkins(path, cache_dir=tmp_path) as data:
        assert data.points(BOX).rows == len(inside())


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = np.zeros(0, np.int32)
    layout = Layout.build(empty, empty, empty, None, None, None, np.zeros((0, 2), np.uint64))
    assert layout.save(tmp_path / "layout").rows.users == 0
    monkeypatch.setattr(np, "save", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        layout.save(tmp_path / "other")
    assert [p.name for p in tmp_path.iterdir()] == ["layout"]


def test_working_sets_change_no_number(data: CheckinData) -> None:
    """A box is dragged out of its surroundings, back and far into one corner."""
    layout = data.layout()
    sets = WorkingSets(data._entry.file("layout"), lambda: layout)
    taken = set()
    boxes = [(40.1 + d, -73.9 + d, 40.2 + d, -73.8 + d) for d in np.arange(0, 0.9, 0.03)]
    boxes += [(39.6, -74.4, 41.4, -72.6), (40.5, -73.5, 40.51, -73.49), boxes[0]]
    for box in boxes:
        edges = layout.edges(box)
        near = sets.around(edges, None)
        taken.add(id(near))
        for most in (None, 7):
            found = count_rows(near.rows, BoxFilter(edges), 5, most)
            want = count_rows(layout.rows, BoxFilter(layout.edges(box)), 5, most)
            assert np.array_equal(found.cells, want.cells)
            assert (found.present, found.rows) == (want.present, want.rows)
    assert 3 < len(taken) < len(boxes) / 2
    whole = sets.around(layout.edges((39.6, -74.4, 41.4, -72.6)), None)
    assert len(whole.y) == len(layout.y)
    small = sets.around(layout.edges((40.5, -73.5, 40.51, -73.49)), None)
    assert len(small.y) < len(layout.y) / 10


def test_times_that_do_not_fit_are_set_aside_one_by_one(write: Callable[..., Path]) -> None:
    good = "1\t2010-01-01T00:00:00Z\t40.5\t-73.5\t0"
    years = (1931, 1932, 2067, 2068)
    rows = [f"2\t{year}-06-01T00:00:00Z\t40.5\t-73.5\t{year}" for year in years]
    with open_checkins(write("\n".join([good, *rows])), cache_dir=None) as data:
        assert data.report.rejected == {Reason.BAD_TIME: 2}
        layout = data.layout()
        assert layout.t is not None
        assert len(layout.t) == 3
        assert layout.t.min() < -(2**31) * 0.99 + 10**7 * 2
        assert data.points(BOX, "1932-01-01", "1933-01-01").rows == 1
        assert data.points(BOX, "1000-01-01", "2999-01-01").rows == 3


def test_fractions_of_seconds_are_rounded_down(write: Callable[..., Path]) -> None:
    rows = [f"{i}\t2010-01-01T00:00:0{i}.9Z\t40.5\t-73.5\t0" for i in range(3)]
    rows.append("3\t1999-12-31T23:59:59.5Z\t40.5\t-73.5\t0")
    with open_checkins(write("\n".join(rows)), cache_dir=None) as data:
        assert data.points(BOX, "2010-01-01T00:00:01Z", "2010-01-01T00:00:02Z").rows == 1
        assert data.points(BOX, "2010-01-01T00:00:01.95Z", "2010-01-01T00:00:02.1Z").rows == 1
        assert data.points(BOX, end="2000-01-01").rows == 1
        layout = data.layout()
        assert layout.t is not None
        assert -1 in layout.t.tolist()
        for start, end in (("2010-01-01T00:00:01.95Z", None), (None, "2000-01-01T00:00:00.7Z")):
            assert data.points(BOX, start, end).rows == data.density(BOX, 1, 1, start, end).sum()


def test_every_answer_has_the_same_edge(write: Callable[..., Path]) -> None:
    """More than seven decimals are rounded before anything is asked of them."""
    rows = [
        "1\t2010-01-01T00:00:00Z\t40.00000004\t-73.5\t0",
        "2\t2010-01-01T00:00:00Z\t39.99999996\t-73.5\t0",
        "3\t2010-01-01T00:00:00Z\t39.99999994\t-73.5\t0",
    ]
    with open_checkins(write("\n".join(rows)), cache_dir=None) as data:
        assert data.extent == (39.9999999, -73.5, 40.0, -73.5)
        assert data.points(BOX).lat.tolist() == [40.0, 40.0]
        assert data.density(BOX, 2, 2).sum() == 2
        assert sum(cell.rows for cell in data.busiest_cells(BOX)) == 2


def test_an_old_entry_gets_its_layout(path: Path, tmp_path: Path) -> None:
    with open_checkins(path, cache_dir=tmp_path) as data:
        entry = data._entry.folder
    assert not (entry / "layout").exists()  # nobody asked yet: as it was before there were any
    files = json.loads((entry / "report.json").read_text())["files"]
    with open_checkins(path, cache_dir=tmp_path) as data:
        assert data._entry.folder == entry
        assert data.points(BOX).rows == len(inside())
    assert (entry / "layout" / "layout.json").exists()
    assert json.loads((entry / "report.json").read_text())["files"] == files


def test_of_many_rows_surroundings_are_taken_out_at_rest(
    data: CheckinData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole layout answers until they are there; they move on before the box leaves them."""
    monkeypatch.setattr(layouts, "FEW_ROWS", 0)
    monkeypatch.setattr(layouts, "_CHUNK_SIZE", 500)
    layout = data.layout()
    sets = WorkingSets(data._entry.file("layout"), lambda: layout)
    checks: list[int] = []
    box = layout.edges((40.1, -73.9, 40.2, -73.8))
    wide, high = box.east - box.west, box.north - box.south
    moved = GridBox(box.south + high, box.west + wide, box.north + high, box.east + wide)
    beyond = GridBox(box.south, box.west + 3 * wide, box.north, box.east + 3 * wide)
    assert sets.around(box, None) is sets.whole()

    def give_way() -> None:
        checks.append(len(checks))
        if len(checks) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        sets.cache_surroundings(box, give_way)
    assert sets.around(box, None) is sets.whole()
    sets.cache_surroundings(box, lambda: checks.append(len(checks)))
    assert len(checks) > 4
    first = sets.around(box, None)
    assert len(first.y) < ROWS
    sets.cache_surroundings(box, give_way)
    assert sets.around(box, None) is first  # there already
    assert sets.around(moved, None) is first
    assert sets.around(beyond, None) is sets.whole()
    sets.cache_surroundings(moved, lambda: None)  # at the edge of the first ones
    second = sets.around(moved, None)
    assert second is not first
    for edges, rows in ((box, first), (moved, second)):
        want = count_rows(layout.rows, BoxFilter(edges), 5)
        found = count_rows(rows.rows, BoxFilter(edges), 5, bits=want.bits)
        assert np.array_equal(found.cells, want.cells)
        around = layout.rows.mask(BoxFilter(edges.widened()))
        at_once = layout.subset(*layout.rows.inside(around))
        for name in layouts.ARRAYS:
            np.testing.assert_array_equal(getattr(rows, name), getattr(at_once, name))
    assert sets.around(layout.edges((39.6, -74.4, 41.4, -72.6)), None) is sets.whole()


@pytest.mark.parametrize("sampled", [{}, {"users": 7}, {"users": 500}, {"share": Fraction(1, 3)}])
def test_pieces_are_the_rows_of_all(data: CheckinData, sampled: dict[str, Any]) -> None:
    points = data.points(BOX, "2010-01-02T00:00:00Z", None, **sampled)
    pieces = list(points.pieces(200))
    found, each, _ = points.selection.indices()
    some, of_users = map(np.concatenate, zip(*points.selection.pieces(200), strict=True))
    np.testing.assert_array_equal(some, found)
    np.testing.assert_array_equal(of_users, each[: len(of_users)])
    assert not each[len(of_users) :].any()
    lat, lon = (np.concatenate([piece[i] for piece in pieces]) for i in (1, 2))
    assert sorted(zip(lat, lon, strict=True)) == sorted(zip(points.lat, points.lon, strict=True))
    users = sum(len(np.unique(user)) for user, _, _ in pieces)
    assert users == points.users_used
