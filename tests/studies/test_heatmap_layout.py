"""The map of an open file: counted from its layout, and drawn coarser while something moves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import CheckinData, layout as layouts, open_checkins
from explorer.checkins.selection import SelectedRows
from explorer.geography.region import Region
from explorer.privacy.heatmaps import SparseMap, aggregate, compare
from explorer.privacy.heatmaps.evaluation import block_sums
from explorer.studies.base.study import Fidelity, Selection
from explorer.studies.heatmap.contributions import requested_rule
from explorer.studies.heatmap.run import Counted, counts_of, points_of
from explorer.studies.heatmap.study import HeatmapStudy
from explorer.studies.heatmap.text import EARLY, stamp
from tests.studies.test_heatmap import FakeContext, request_for

REGION = Region(40.1, -73.9, 40.9, -73.1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckinData]:
    rng = np.random.default_rng(8)
    place = np.column_stack([rng.uniform(40, 41, 4000), rng.uniform(-74, -73, 4000)])
    lines = [
        f"{rng.integers(0, 90)}\t2010-01-{1 + i % 28:02d}T00:00:00Z\t{y:.7f}\t{x:.7f}\t{i}"
        for i, (y, x) in enumerate(place)
    ]
    folder: Path = tmp_path_factory.mktemp("map")
    (folder / "made.txt").write_text("\n".join(lines))
    with open_checkins(folder / "made.txt", cache_dir=None) as opened:
        yield opened


def context_of(data: CheckinData) -> Any:
    return FakeContext(data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"users": 12},
        {"users": 12, "data_seed": 4},
        {"share": 0.4},
        {"users": 10**6},
        {"share": 0.4, "data_seed": 3},
        {"start": "2010-01-05", "end": "2010-01-20T12:00:00Z"},
    ],
)
@pytest.mark.parametrize("weights", ["checkins", "cells"])
def test_the_maps_counts_are_those_of_its_rows(
    data: CheckinData, chosen: dict[str, Any], weights: str
) -> None:
    request = replace(request_for(weights=weights), selection=Selection("f" * 64, REGION, **chosen))
    context, counted = context_of(data), Counted.of_request(request)
    assert request.selection is not None
    points = points_of(request.selection, context)
    counts = counts_of(counted, points, 6, context)
    share = chosen.get("share")
    taken: SelectedRows = data.points(
        REGION.box,
        chosen.get("start"),
        chosen.get("end"),
        chosen.get("users"),
        chosen.get("data_seed", 0),
        None if share is None else Fraction(repr(share)),
    )
    want = aggregate(
        taken.user, taken.lat, taken.lon, taken.weight, REGION.box, 6, requested_rule(request)
    )
    for name in ("codes", "masses", "users", "rows"):
        assert np.array_equal(getattr(counts, name), getattr(want, name)), name
    for name in ("users_in_file", "users_in_region", "users_used", "rows"):
        assert getattr(points, name) == getattr(taken, name), name
    assert points.users_used == len(np.unique(taken.user))


def test_no_row_is_taken_out_for_the_map(
    data: CheckinData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SelectedRows, "_read", lambda _: pytest.fail("rows were taken out"))
    request = replace(request_for(mechanism="adaptive"), selection=Selection("f" * 64, REGION))
    *_, last = HeatmapStudy().answer(request, context_of(data))
    assert last.complete
    assert last.readout("users_used").value == 90


@pytest.mark.full
def test_a_fine_map_is_drawn_coarser_while_it_moves(data: CheckinData) -> None:
    asked = replace(
        request_for(resolution=1024, mechanism="pyramid"), selection=Selection("f" * 64, REGION)
    )
    context = context_of(data)
    live = list(HeatmapStudy().answer(asked, context))
    assert [r.complete for r in live] == [True]
    assert live[0].readout("similarity").value is None
    assert "at rest" in live[0].readout("similarity").note
    # The answers after these have the exact distances of so fine a map.
    full = HeatmapStudy().answer(replace(asked, fidelity=Fidelity.FULL), context)
    first, rest = itertools.islice(full, 2)
    assert not first.complete
    assert np.array_equal(first.surface("private").values, live[0].surface("private").values)
    for key in ("private", "true"):
        coarse, fine = live[0].surface(key).values, rest.surface(key).values
        assert (coarse.shape, fine.shape) == ((512, 512), (1024, 1024))
        near = compare(coarse.astype(float), block_sums(fine.astype(float), 512))
        assert near.similarity > 0.97
    assert live[0].readout("cells_read").value == rest.readout("cells_read").value
    few = asked.with_value("resolution", 512)
    assert next(iter(HeatmapStudy().answer(few, context))).surface("true").values.shape == (
        512,
        512,
    )


@pytest.mark.parametrize("mechanism", ["adaptive", "pyramid", "integers"])
def test_where_counting_takes_long_the_first_users_are_drawn_first(
    data: CheckinData, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    monkeypatch.setattr(layouts, "SLOW_S", 1e-9)
    monkeypatch.setattr(data._row_cache, "seconds_a_row", 0.0)
    context = context_of(data)
    request = replace(request_for(mechanism=mechanism), selection=Selection("f" * 64, REGION))
    first = list(HeatmapStudy().answer(request, context))
    assert "of users" not in first[0].surface("private").label  # nobody knows how long it takes
    seconds = data._row_cache.seconds_a_row
    assert seconds > 0
    monkeypatch.setattr(layouts, "QUICK_S", seconds * 1000)  # a quarter of the rows
    moved = Region(40.1, -73.9, 40.8, -73.2)
    request = replace(request, selection=Selection("f" * 64, moved))
    early, *others = HeatmapStudy().answer(request, context)
    same = list(HeatmapStudy().answer(request.with_value("epsilon", 2.0), context))
    for result in (*others, *same):  # all were counted: exact, and known from then on
        assert all("of users" not in s.label for s in result.surfaces)
    if mechanism == "integers":  # needs everybody's rows
        assert "of users" not in early.surface("private").label
        return
    assert early.surface("private").label.endswith("% of users")
    assert early.surface("true").label.endswith("% of users")
    assert (early.complete, early.fidelity) == (False, Fidelity.COARSE)
    assert all(r.value is None for r in early.readouts)
    assert early.notes == (EARLY,)
    assert early.early
    assert not any(r.early for r in (*first, *others, *same))
    # noise for one user beside users who count for several: for nobody else's eyes
    assert all(s.curator_only for s in early.surfaces)
    assert {early.stamp, *(s.stamp for s in early.surfaces)} == {stamp(False, curator_only=True)}
    exact = others[-1].surface("true").values
    assert not np.array_equal(early.surface("true").values, exact)
    near = compare(exact.astype(float), early.surface("true").values.astype(float))
    assert near.similarity > 0.5


def test_samples_are_never_drawn_of_fewer(
    data: CheckinData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, "SLOW_S", 0.0)
    monkeypatch.setattr(data._row_cache, "seconds_a_row", 1.0)
    assert data.points(REGION.box).preview_selection() is not None
    assert data.points(REGION.box, users=5).preview_selection() is None
    assert data.points(REGION.box, share=Fraction(1, 2)).preview_selection() is None


def test_the_first_users_come_with_all_their_rows(data: CheckinData) -> None:
    layout = data.layout()
    first = layout.first(1000)
    users = first.rows.users
    assert 0 < users < layout.rows.users
    assert first.offsets.tolist() == layout.offsets[: users + 1].tolist()
    assert len(first.y) == layout.offsets[users] <= 1000 < layout.offsets[users + 1]
    assert layout.first(0).rows.users == 1


def test_coarser_blocks_add_up() -> None:
    rng = np.random.default_rng(2)
    whole = SparseMap(
        4, np.array([1, 2, 3, 4, 4, 4]), np.array([0, 4, 23, 96, 97, 255]), rng.random(6)
    )
    for level in range(5):
        coarse = whole.coarsened(level)
        assert coarse.level == level
        assert coarse.grid() == pytest.approx(block_sums(whole.grid(), 1 << level))
    assert whole.coarsened(6).grid().sum() == pytest.approx(whole.masses.sum())
