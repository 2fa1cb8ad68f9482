"""Check-ins across the antimeridian equal the same check-ins turned elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import CheckinData, open_checkins
from explorer.checkins.region_query import query_region
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.large_import import open_any_size
from explorer.figures.tables import point_rows
from explorer.geography.region import PolygonRegion, Region, geometry, region_of, wrap_box
from explorer.polygon import Polygon
from explorer.privacy.heatmaps import aggregate, row_pass
from explorer.studies.base.study import Fidelity, Selection, default_request
from explorer.studies.heatmap.study import HeatmapStudy
from explorer.user_rows import TURN, Box, GridBox
from tests.engine.test_large_import import SMALL
from tests.studies.test_heatmap import FakeContext

HERE, TURNED = 10.0, 178.0
"""Where the data are, and where so after a turn: across 180°."""
SIDES = (-19.5, 0.7, -15.1, 5.3)
"""South, west, north, east; longitudes from the place of the data."""
USERS, ROWS = 60, 3000


def box_at(place: float) -> Box:
    south, west, north, east = SIDES
    return (south, place + west, north, place + east)


def rows_at(place: float) -> str:
    """Return a file of check-ins whose longitudes begin at a place."""
    rng = np.random.default_rng(12)
    lat = rng.integers(-200_000_000, -150_000_000, ROWS)
    lon = rng.integers(0, 60_000_000, ROWS)
    # on both edges, on 180° itself after the turn, and one step beside each
    lon[:8] = [
        7_000_000,
        6_999_999,
        53_000_000,
        53_000_001,
        20_000_000,
        20_000_000,
        20_000_001,
        19_999_999,
    ]
    lon = lon + round(place * 10**7)
    lon = np.where(lon > TURN // 2, lon - TURN, lon)
    lon[5] = -TURN // 2 if place == TURNED else lon[5]  # the other name of 180°
    users = rng.integers(0, USERS, ROWS)
    lines = ["user,time,lat,lon"]
    lines += [
        f"u{user},2020-01-{1 + i % 28:02d}T08:00:{i % 60:02d}Z,{y / 1e7:.7f},{x / 1e7:.7f}"
        for i, (user, y, x) in enumerate(zip(users, lat, lon, strict=True))
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[float, Path]:
    folder = tmp_path_factory.mktemp("turned")
    found = {}
    for place in (HERE, TURNED):
        found[place] = folder / f"from-{place:g}.csv"
        found[place].write_text(rows_at(place))
    return found


@pytest.fixture(scope="module")
def both(files: dict[float, Path]) -> Iterator[dict[float, CheckinData]]:
    with (
        open_checkins(files[HERE], cache_dir=None) as here,
        open_checkins(files[TURNED], cache_dir=None) as turned,
    ):
        yield {HERE: here, TURNED: turned}


def answers(data: CheckinData, place: float) -> dict[str, Any]:
    """Return whatever is asked of a region, places left out."""
    box = box_at(place)
    points = data.points(box, "2020-01-03T00:00:00Z", users=40)
    user, lat, lon, weight = points.user, points.lat, points.lon, points.weight
    cells = aggregate(user, lat, lon, weight, box, 6)
    cells_found = data.busiest_cells(box, 20, 5)
    return {
        "counted": (points.rows, points.users_used, points.users_in_region),
        "cells": (cells.codes.tolist(), cells.masses.tolist()),
        "east": np.rint((lon - place) * 10**7).astype(int).tolist(),
        "density": data.density(box, 40, 30).tolist(),
        "busiest": [(cell.rows, cell.users) for cell in cells_found],
        "where": [
            np.round(np.subtract(c.box, (0, place, 0, place)), 7).tolist() for c in cells_found
        ],
    }


def test_answers_turn_with_the_data(both: dict[float, CheckinData]) -> None:
    assert answers(both[TURNED], TURNED) == answers(both[HERE], HERE)
    assert answers(both[HERE], HERE)["counted"][0] > 1000


def test_the_extent_is_across_the_antimeridian(both: dict[float, CheckinData]) -> None:
    south, west, north, east = both[TURNED].extent
    assert (south, north) == both[HERE].extent[::2]
    assert (west, east) == pytest.approx([side + 168 for side in both[HERE].extent[1::2]])
    assert east > 180


@pytest.mark.full
@pytest.mark.parametrize("compiled", [False, True])
def test_a_pass_over_rows_finds_the_same(
    both: dict[float, CheckinData], compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_pass, "_compiled", None)
    if compiled:
        row_pass.compile_pass()
    found = []
    for place, data in both.items():
        part = data.points(box_at(place)).selection
        counted = row_pass.count_rows(part.layout.rows, part.where, 5)
        found.append((counted.cells.tolist(), counted.present, counted.rows))
    assert found[0] == found[1]
    assert found[0][2] > 1000


@pytest.mark.full
def test_shards_and_asking_once_give_the_same(
    files: dict[float, Path], both: dict[float, CheckinData], tmp_path: Path
) -> None:
    want = answers(both[HERE], HERE)
    with query_region(files[TURNED], box_at(TURNED), "2020-01-03T00:00:00Z") as once:
        points = once.points(box_at(TURNED), "2020-01-03T00:00:00Z", users=40)
        assert (points.rows, points.users_used, points.users_in_region) == want["counted"]
        inner = (-19.0, -179.0, -16.0, -177.0)  # wholly behind the antimeridian
        rows = both[HERE].points((-19.0, 13.0, -16.0, 15.0), "2020-01-03T00:00:00Z").rows
        assert once.points(inner, "2020-01-03T00:00:00Z").rows == rows > 100
    with open_any_size(
        files[TURNED], cache_dir=tmp_path, executor=lambda _: InPlaceExecutor(), **SMALL
    ) as data:
        assert data.larger_than_memory
        assert data.extent == both[TURNED].extent
        assert data.density(box_at(TURNED), 40, 30).sum() == np.sum(want["density"])
        points = data.points(box_at(TURNED), "2020-01-03T00:00:00Z", users=40)
        assert (points.rows, points.users_used, points.users_in_region) == want["counted"]


def outline_at(place: float) -> Polygon:
    """A triangle that fills the upper half of the box."""
    south, west, north, east = Region(*box_at(place)).box
    return PolygonRegion.of([[(south, west), (north, east), (north, west)]]).polygon


def rows_inside(data: CheckinData, place: float, **asked: Any) -> tuple[int, int, int]:
    points = data.points(box_at(place), polygon=outline_at(place), **asked)
    return points.rows, points.users_used, points.users_in_region


def test_a_polygon_drops_rows_and_users_outside(both: dict[float, CheckinData]) -> None:
    data = both[HERE]
    columns = data.points(box_at(HERE))
    step = 10**7
    inside = outline_at(HERE).holds(np.rint(columns.lat * step), np.rint(columns.lon * step))
    users = len(np.unique(columns.user[inside]))
    assert 0 < inside.sum() < len(inside)
    for place in (HERE, TURNED):
        assert rows_inside(both[place], place) == (inside.sum(), users, users)
        assert rows_inside(both[place], place, users=5)[1:] == (5, users)


@pytest.mark.parametrize("place", [HERE, TURNED])
def test_areas_and_holes_add_up(both: dict[float, CheckinData], place: float) -> None:
    south, west, north, east = Region(*box_at(place)).box
    middle, east_of = (south + north) / 2, west + (east - west) / 3
    whole = [(south, west), (south, east_of), (north, east_of), (north, west)]
    hole = [(south + 1, west + 0.2), (south + 1, west + 0.9), (middle, west + 0.5)]
    other = [(south, east - 1), (south, east), (middle, east)]

    def rows(*rings: list[tuple[float, float]]) -> int:
        region = PolygonRegion.of(rings)
        return both[place].points(region.box, polygon=region.polygon).rows

    assert rows(hole) > 0 < rows(other)
    assert rows(whole, hole, other) == rows(whole) - rows(hole) + rows(other)


@pytest.mark.full
def test_a_polygon_is_the_same_in_shards_and_asked_once(
    files: dict[float, Path], both: dict[float, CheckinData], tmp_path: Path
) -> None:
    asked = {"start": "2020-01-03T00:00:00Z", "users": 7}
    want = rows_inside(both[HERE], HERE, **asked)
    with query_region(files[TURNED], box_at(TURNED), timed=True) as once:
        assert rows_inside(once, TURNED, **asked) == want
    with open_any_size(
        files[TURNED], cache_dir=tmp_path, executor=lambda _: InPlaceExecutor(), **SMALL
    ) as data:
        assert data.larger_than_memory
        assert rows_inside(data, TURNED, **asked) == want


@pytest.mark.parametrize("mechanism", ["adaptive", "pyramid"])
def test_a_map_is_the_same_with_the_same_seed(
    mechanism: str, both: dict[float, CheckinData]
) -> None:
    found = []
    for place, data in both.items():
        asked = replace(
            default_request(
                HeatmapStudy(),
                mechanism=mechanism,
                resolution=64,
                epsilon=4.0,
                beside="true,centres,points",
            ),
            selection=Selection("f" * 64, Region(*box_at(place))),
            seed=3,
            fidelity=Fidelity.COARSE,
        )
        found.append(list(HeatmapStudy().answer(asked, FakeContext(data)))[-1])
    here, turned = found
    for key in ("true", "private"):
        np.testing.assert_array_equal(here.surface(key).values, turned.surface(key).values)
    for key in ("similarity", "pearson", "kl"):
        assert here.readout(key).value == turned.readout(key).value
    for key in ("emd", "emd_km"):
        assert here.readout(key).low == pytest.approx(turned.readout(key).low, rel=1e-9)
        assert here.readout(key).high == pytest.approx(turned.readout(key).high, rel=1e-9)
    # centres and noisy points, as they are written
    for key, least in (("centres", 2), ("points", 1000)):
        at, there = ([lon for _, _, lon, _ in point_rows(one.surface(key))] for one in found)
        assert len(at) >= least
        assert all(-180 <= lon <= 180 for lon in there)
        assert np.subtract(there, at) % 360 == pytest.approx(TURNED - HERE, abs=1e-6)


def test_a_region_is_written_with_its_west_above_its_east() -> None:
    fiji = region_of((-20.0, 177.0, -15.0, -178.0))
    assert fiji.box == (-20.0, 177.0, -15.0, 182.0)
    assert fiji.declared == (-20.0, 177.0, -15.0, -178.0)
    assert fiji == Region(-20.0, -183.0, -15.0, -178.0) == fiji.at(fiji.box)
    assert fiji.width_km == pytest.approx(region_of((-20.0, 10.0, -15.0, 15.0)).width_km)
    assert region_of((-20.0, 177.0, -15.0, -180.0)).declared == (-20.0, 177.0, -15.0, 180.0)
    east = region_of((0.0, 100.0, 1.0, -177.1234567))
    assert east.declared == (0.0, 100.0, 1.0, -177.1234567)
    for wrong in (
        (0.0, 10.0, 1.0, 10.0),
        (0.0, 10.0, 1.0, 9.0),
        (0.0, 177.0, 1.0, 183.0),
        (0.0, -181.0, 1.0, -170.0),
        (0.0, 1.0, 1.0, -178.9),
    ):
        with pytest.raises(ValueError, match=r"longitude|wide"):
            region_of(wrong)


def test_180_degrees_east_and_west_are_one_longitude() -> None:
    half = TURN // 2
    for edges in (GridBox(0, half - 10, 9, half, TURN), GridBox(0, -half, 9, 10 - half, TURN)):
        inside = [any(a <= x <= b for a, b in edges.spans) for x in (half, -half, 0, half - 11)]
        assert inside == [True, True, False, False]
    whole = GridBox(0, -half, 9, half, TURN)
    assert whole.spans == ((-half, half),)
    plane = GridBox(0, half - 10, 9, half + 10)
    assert plane.spans == ((half - 10, half + 10),)
    across = GridBox(0, half - 10, 9, half + 10, TURN)
    assert across.holds(GridBox(1, -half, 8, 10 - half, TURN))
    assert across.eastwards(np.array([half, -half, 5 - half])).tolist() == [half, half, half + 5]


def test_a_cell_across_the_antimeridian_is_written_in_two_parts() -> None:
    assert wrap_box((Fraction(0), Fraction(177), Fraction(1), Fraction(179))) == (0, 177, 1, 179)
    assert wrap_box((0, 180, 1, 182)) == (0, -180, 1, -178)
    cell = wrap_box((0, 179, 1, 181))
    assert cell == (0, 179, 1, -179)
    found = geometry(cell)
    assert found["type"] == "MultiPolygon"
    assert [ring[0] for (ring,) in found["coordinates"]] == [[179, 0], [-180, 0]]
    assert [ring[2] for (ring,) in found["coordinates"]] == [[180, 1], [-179, 1]]
    assert geometry((0, 179, 1, 180))["type"] == "Polygon"
