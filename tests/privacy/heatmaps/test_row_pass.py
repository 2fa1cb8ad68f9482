"""The pass over rows: whole numbers equal to a plain enumeration, whoever computes them."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.polygon import Polygon
from explorer.privacy.heatmaps import row_pass
from explorer.privacy.heatmaps.quadtree import encode
from explorer.privacy.heatmaps.row_pass import (
    CountedRows,
    FirstUsers,
    compile_pass,
    count_all,
    count_rows,
    lines,
    mass_bits,
    row_masses,
)
from explorer.user_rows import EARTH_STEP, BoxFilter, GridBox, UserRows, positions, snap, steps

Histories = list[list[tuple[int, int, int]]]
BOX = GridBox(-3, -2, 6, 9)

places = st.tuples(st.integers(-6, 9), st.integers(-6, 12), st.integers(0, 5))
histories = st.lists(st.lists(places, min_size=1, max_size=6), min_size=1, max_size=8)
times = st.none() | st.integers(-1, 6)


@pytest.fixture(scope="module", params=["numpy", "numba"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "numba":
        compile_pass()
    kept = row_pass._compiled
    row_pass._compiled = kept if request.param == "numba" else None
    yield request.param
    row_pass._compiled = kept


def rows_of(people: Histories) -> UserRows:
    flat = np.array([row for history in people for row in history], np.int32).reshape(-1, 3)
    ends = np.cumsum([len(history) for history in people]).astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(people)]
    y, x, t = (np.ascontiguousarray(column) for column in flat.T)
    return UserRows(y, x, t, starts, ends)


def enumerated(
    people: Histories, where: BoxFilter, level: int, most: int, among: int, bits: int = 40
) -> tuple[dict[int, int], int, int, int]:
    """The definition, in Python's whole numbers."""
    box, side, polygon = where.edges, 1 << level, where.polygon
    cells: dict[int, int] = {}
    present = used = rows = 0
    for number, history in enumerate(people):
        inside = [
            (y, x)
            for y, x, t in history
            if box.south <= y <= box.north
            and box.west <= x <= box.east
            and (where.start is None or where.start <= t)
            and (where.end is None or t < where.end)
            and (polygon is None or polygon.holds(np.array([y]), np.array([x]))[0])
        ]
        present += bool(inside)
        if not inside or used == most or number >= among:
            continue
        used, rows = used + 1, rows + len(inside)
        for y, x in inside:
            row = min((y - box.south) * side // (box.north - box.south), side - 1)
            column = min((x - box.west) * side // (box.east - box.west), side - 1)
            code = int(encode(np.array([row]), np.array([column]))[0])
            cells[code] = cells.get(code, 0) + 2**bits // len(inside)
    return cells, present, used, rows


def as_dict(found: CountedRows) -> tuple[dict[int, int], int, int, int]:
    cells = {int(c): int(found.cells[c]) for c in np.flatnonzero(found.cells)}
    return cells, found.present, found.used, found.rows


OUTLINE = Polygon((((-3, 0), (6, -2), (2, 3), (6, 9), (0, 7)),))
AREAS = Polygon(
    (((-3, 0), (2, 0), (2, 7), (-3, 7)), ((-2, 1), (1, 1), (1, 5)), ((4, 0), (6, 0), (6, 9)))
)
"""Two areas with nothing between them in latitude; one has a hole."""


@given(
    histories,
    times,
    times,
    st.integers(0, 4),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from([None, OUTLINE, AREAS]),
)
def test_the_pass_is_the_definition(
    engine: str,
    people: Histories,
    start: int | None,
    end: int | None,
    level: int,
    most: int,
    among: int,
    polygon: Polygon | None,
) -> None:
    where = BoxFilter(BOX, start, end, polygon)
    found = count_rows(rows_of(people), where, level, most, among)
    assert found.bits == 40
    assert as_dict(found) == enumerated(people, where, level, most, among)


@pytest.mark.full
@given(histories, st.integers(0, 3), st.data())
def test_one_user_moves_the_map_by_one_at_most(
    engine: str, people: Histories, level: int, data: st.DataObject
) -> None:
    where = BoxFilter(BOX)
    who = data.draw(st.integers(0, len(people) - 1))
    others = people[:who] + people[who + 1 :]
    with_all = count_rows(rows_of(people), where, level).cells
    without = count_rows(rows_of(others), where, level, bits=40).cells
    assert np.abs(with_all - without).sum() <= 1 << 40


def test_numba_and_numpy_give_the_same_numbers_of_many_rows(engine: str) -> None:
    rng = np.random.default_rng(5)
    each = rng.integers(1, 40, 3000)
    ends = np.cumsum(each)
    y = rng.integers(-900_000_000, 900_000_001, ends[-1]).astype(np.int32)
    x = rng.integers(-1_800_000_000, 1_800_000_001, ends[-1]).astype(np.int32)
    t = rng.integers(-(2**31), 2**31, ends[-1]).astype(np.int32)
    rows = UserRows(y, x, t, ends - each, ends)
    for box in (
        GridBox(-900_000_000, -1_800_000_000, 900_000_000, 1_800_000_000),
        GridBox(-3_000_000_000, -7, 1, 5_000_000_000),
    ):
        outline = (
            Polygon(
                (((box.north, box.west), (box.south, box.west + 10**9), (box.north, box.west + 1)),)
            )
            if box.west < -10
            else None
        )
        for where in (
            BoxFilter(box),
            BoxFilter(box, -(2**31), 5),
            BoxFilter(box, 2**40),
            BoxFilter(box, -(2**30), 5, outline),
        ):
            found = count_rows(rows, where, 9)
            want = row_pass._in_numpy(rows, where, 9, 3000, 3000, 40)
            assert np.array_equal(found.cells, want.cells)
            assert (found.present, found.used, found.rows) == (want.present, want.used, want.rows)


def test_memory_maps_compile_nothing_anew(tmp_path: Any) -> None:
    compile_pass()
    walk = row_pass.compiled_walk()
    rows = rows_of([[(0, 0, 1)], [(5, 5, 2), (1, 1, 3)]])
    mapped = {}
    for name in ("y", "x", "t", "starts", "ends"):
        np.save(tmp_path / f"{name}.npy", getattr(rows, name))
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    before = len(walk.signatures)
    for asked in (rows, UserRows(**mapped), UserRows(rows.y, rows.x, None, rows.starts, rows.ends)):
        assert count_rows(asked, BoxFilter(BOX), 3).rows == 3
        assert count_rows(asked, BoxFilter(BOX, polygon=OUTLINE), 3).rows == 2
    assert len(walk.signatures) == before == 1


def test_nobody_compiles_unasked() -> None:
    code = (
        "import sys, numpy as np\n"
        "from explorer.privacy.heatmaps.row_pass import count_rows\n"
        "from explorer.user_rows import *\n"
        "one = np.zeros(1, np.int32)\n"
        "rows = UserRows(one, one, None, np.zeros(1, np.int64), np.ones(1, np.int64))\n"
        "assert count_rows(rows, BoxFilter(GridBox(0, 0, 1, 1)), 1).rows == 1\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@given(st.integers(1, 3_600_000_000), st.integers(0, 12), st.data())
def test_columns_are_exact(span: int, level: int, data: st.DataObject) -> None:
    side = 1 << level
    k = data.draw(st.integers(0, side))
    near = span * k // side  # either side of a cell's edge
    offsets = data.draw(st.lists(st.integers(0, span), max_size=20)) + [
        min(max(near + d, 0), span) for d in (-1, 0, 1)
    ]
    want = [min(o * side // span, side - 1) for o in offsets]
    assert lines(np.array(offsets, np.int64), span, side).tolist() == want


def test_columns_are_exact_up_to_their_limit() -> None:
    """Spans of prime lengths and of neighbours of powers of two, where quotients are closest."""
    generator = random.Random(4)
    for side, span in ((4096, 2**38 - 1), (64, 2**44 - 17), (4096, 3_599_999_993), (2**20, 10**9)):
        edges = [span * generator.randrange(side) // side + d for d in (0, 1) for _ in range(2000)]
        want = [min(o * side // span, side - 1) for o in edges]
        assert lines(np.array(edges), span, side).tolist() == want
    with pytest.raises(ValueError, match="too many"):
        lines(np.array([0]), 2**40, 1024)
    with pytest.raises(ValueError, match="no area"):
        lines(np.array([0]), 0, 4)


@given(st.integers(1, 2**40))
def test_masses_of_all_users_fit(users: int) -> None:
    bits = mass_bits(users)
    assert users << bits < 2**63
    assert bits == 40 if users < 2**23 else bits == 62 - (users - 1).bit_length()


@given(st.integers(1, 10**9))
def test_a_users_mass_is_at_most_one(rows: int) -> None:
    mass = int(row_masses(np.array([rows]))[0])
    assert 2**40 - rows < mass * rows <= 2**40


def test_a_time_range_needs_times(engine: str) -> None:
    rows = rows_of([[(0, 0, 0)]])
    with pytest.raises(ValueError, match="no times"):
        count_rows(UserRows(rows.y, rows.x, None, rows.starts, rows.ends), BoxFilter(BOX, 0), 1)


@given(st.integers(-1_800_000_000, 1_800_000_000))
def test_seven_decimals_come_back(whole: int) -> None:
    typed = float(f"{whole / 10**7:.7f}")
    assert steps(typed).tolist() == whole
    assert positions(np.array([whole]))[0] == typed
    assert snap((typed, typed, typed, typed)) == (typed,) * 4


def test_boxes_are_snapped_to_steps() -> None:
    assert snap((0.12345674, -0.00000001, 1.99999999, 3.0)) == (0.1234567, 0.0, 2.0, 3.0)
    assert snap((0.3, 0.1, 12.0, 7.4), Fraction(1, 10)) == (0.3, 0.1, 12.0, 7.4)
    assert GridBox.of((0.5, -1.0, 1.0, 2.0), EARTH_STEP, (5, -5)) == GridBox(
        4_999_995, -9_999_995, 9_999_995, 20_000_005
    )
    with pytest.raises(ValueError, match="empty"):
        GridBox(1, 0, 0, 1)


numbers = st.none() | st.integers(0, 9)


@given(histories, times, times, st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_more_and_fewer_users_are_counted_from_the_last_ones(
    engine: str, people: Histories, start: int | None, end: int | None, asked: list[Any]
) -> None:
    rows, first = rows_of(people), FirstUsers()
    for where in (BoxFilter(BOX, start, end), BoxFilter(GridBox(-1, -1, 5, 6))):
        for most, among in asked:
            found = first.count(rows, where, 2, most, among, 40)
            want = count_rows(rows, where, 2, most, among, 40)
            assert as_dict(found) == as_dict(want)


def test_who_is_counted_already_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    people = [[(int(y), int(x), 0) for y, x in rng.integers(-2, 6, (3, 2))] for _ in range(100)]
    rows, first, looked_at = rows_of(people), FirstUsers(), []
    for most in (50, 50):
        first.count(rows, BoxFilter(BOX), 2, most)

    def watched(rows: UserRows, *asked: Any, **named: Any) -> CountedRows:
        looked_at.append(rows.users)
        return count_rows(rows, *asked, **named)

    monkeypatch.setattr(row_pass, "count_rows", watched)
    for most in (53, 51, 51, 60):
        first.count(rows, BoxFilter(BOX), 2, most)
    assert sum(looked_at) < 40


def test_all_users_are_counted_in_pieces_and_the_counting_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    users = rng.integers(0, 60, 3_000)
    order = np.argsort(users, kind="stable")
    ends = np.searchsorted(users[order], np.unique(users), "right")
    starts = np.concatenate([[0], ends[:-1]])
    y, x, t = rng.integers(0, 1_000, (3, 3_000)).astype(np.int32)
    rows, where = UserRows(y, x, t, starts, ends), BoxFilter(GridBox(100, 100, 900, 800), 50, 950)
    want = count_rows(rows, where, 2, bits=40)
    monkeypatch.setattr(row_pass, "_CHUNK_ROWS", 120)
    checks: list[int] = []
    found = count_all(rows, where, 2, 40, lambda: checks.append(1))
    assert len(checks) > 20
    np.testing.assert_array_equal(found.cells, want.cells)
    assert replace(found, cells=want.cells) == want
    assert [rows.cut(s).users for s in rows.pieces(1)] == [1] * 60  # never less than a user

    def stop() -> None:
        raise InterruptedError

    first = FirstUsers()
    with pytest.raises(InterruptedError):
        first.count(rows, where, 2, bits=40, check=stop)
    np.testing.assert_array_equal(first.count(rows, where, 2, bits=40).cells, want.cells)
    nobody = UserRows(y[:0], x[:0], None, starts[:0], ends[:0])
    assert count_all(nobody, BoxFilter(GridBox(0, 0, 1, 1)), 1, 40).rows == 0
