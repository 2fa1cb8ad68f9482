"""Points, centres, squares and borders in files: drawn where they lie, and as numbers."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from explorer.figures import captions
from explorer.figures.colour_maps import colour_limits
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Origin, Overlay, Result, ScalarResult, Surface
from tests.figures.reading import BOTH, numbers, words_of
from tests.figures.samples import RECIPE, REGION, STAMP, file_bytes, hot_map, maps

PLACES = np.array([[0.25, 0.75], [0.5, 0.5], [0.9, 0.1]])
SHARES = np.array([0.5, 0.375, 0.125])
CENTRES = Overlay(
    PLACES,
    SHARES,
    True,
    np.array([[0.5, 0.5, 0.2], [0.1, 0.9, 0.1]]),
    np.array([[0.0, 0.6, 1.0, 0.6]]),
)
NOISY = Overlay(PLACES)


def with_overlay(overlay: Overlay, came_from: Origin = Origin.TYPED) -> Result:
    """Return a result with a further private map, whose one full cell must not set any scale."""
    result = maps(came_from=came_from)
    result = replace(
        result, request=result.request.with_value("beside", "true,centres").with_value("centres", 3)
    )
    drawn = Surface(
        "centres",
        "3 centres of pyramid, ε = 1",
        hot_map(0, 0, 16),
        REGION,
        False,
        f"demonstration noise — {STAMP}",
        overlay=overlay,
        source="private",
    )
    near = ScalarResult("centres_cost", "Mean distance to the nearest centre", 1.25, unit="km")
    return replace(result, surfaces=(*result.surfaces, drawn), readouts=(*result.readouts, near))


def written(result: Result, fmt: str, *surfaces: str) -> bytes:
    return file_bytes(result, ViewState.for_result(result, surfaces=surfaces), RECIPE, fmt)


def test_a_table_of_centres_alone_has_a_row_each() -> None:
    text = written(with_overlay(CENTRES), "csv", "centres").decode()
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    assert rows[0] == ["map", "number", "lat", "lon", "share"]
    assert [row[:2] for row in rows[1:]] == [["centres", str(i)] for i in (1, 2, 3)]
    found = np.array([[float(cell) for cell in row[2:]] for row in rows[1:]])
    south, west, north, east = REGION.box
    np.testing.assert_allclose(found[:, 0], south + PLACES[:, 0] * (north - south))
    np.testing.assert_allclose(found[:, 1], west + PLACES[:, 1] * (east - west))
    np.testing.assert_array_equal(found[:, 2], SHARES)
    # With cells beside them the table is one of cells.
    both = written(with_overlay(CENTRES), "csv", "private", "centres").decode()
    assert "lon,private,centres" in both


@pytest.mark.parametrize("overlay", [CENTRES, NOISY])
def test_geojson_has_a_point_for_each(overlay: Overlay) -> None:
    made = json.loads(written(with_overlay(overlay), "geojson", "private", "centres"))
    points = [f for f in made["features"] if f["geometry"]["type"] == "Point"]
    assert [f["properties"]["number"] for f in points] == [1, 2, 3]
    assert {f["properties"]["map"] for f in points} == {"centres"}
    lon, lat = np.array([f["geometry"]["coordinates"] for f in points]).T
    south, west, north, east = REGION.box
    np.testing.assert_allclose((lat - south) / (north - south), PLACES[:, 0])
    np.testing.assert_allclose((lon - west) / (east - west), PLACES[:, 1])
    shares = [f["properties"]["share"] for f in points]
    assert shares == (SHARES.tolist() if overlay is CENTRES else [None] * 3)
    document = json.loads(written(with_overlay(overlay), "json", "centres"))
    assert [p["number"] for p in document["surfaces"][0]["points"]] == [1, 2, 3]


@pytest.mark.full
def test_where_the_place_may_not_be_told_centres_are_shares_of_the_way() -> None:
    result = with_overlay(CENTRES, Origin.DRAWN)
    text = written(result, "csv", "centres").decode()
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    assert rows[0] == ["map", "number", "north", "east", "share"]
    assert [float(cell) for cell in rows[1][2:4]] == PLACES[0].tolist()
    for fmt in ("png", "svg", "pdf"):
        assert written(result, fmt, "centres")


@pytest.mark.parametrize("fmt", ["svg", "pdf"])
def test_centres_bear_their_numbers(fmt: str) -> None:
    words = words_of(written(with_overlay(CENTRES), fmt, "centres"), fmt)
    for number in ("1", "2", "3"):
        assert f" {number} " in f" {words} "
    assert "3 centres" in words  # computed anew by the export policy
    assert "nearest centre = 1.25" in words
    assert "per cell" not in words  # no colours, and so no scale of them


def test_squares_are_as_large_as_their_mass_and_in_their_place() -> None:
    from xml.etree import ElementTree

    svg = written(with_overlay(CENTRES), "svg", "centres")
    group = next(g for g in ElementTree.fromstring(svg).iter() if g.get("id") == "squares")
    paths = [p.get("d") for p in group.iter() if p.tag.endswith("path")]
    sizes = [np.ptp(numbers(path.replace("\n", " ")), axis=0) for path in paths]
    assert len(sizes) == 2
    np.testing.assert_allclose(sizes[0], 2 * sizes[1], rtol=1e-3)


@pytest.mark.full
def test_what_has_no_colours_sets_no_scale() -> None:
    true, private, drawn = with_overlay(CENTRES).surfaces
    for shown in ((true, private, drawn), (private, drawn)):
        plain = tuple(s for s in shown if s.overlay is None)
        for linked in (True, False):
            limits = colour_limits(shown, linked)
            assert limits[: len(plain)] == colour_limits(plain, linked)
    one, other = (written(with_overlay(o), "png", *BOTH) for o in (CENTRES, NOISY))
    assert one == other  # and leaves other maps alone


def test_what_is_drawn_of_a_map_is_no_further_one() -> None:
    result = with_overlay(CENTRES)
    for surfaces in (("private", "centres"), ("private",), ("centres",)):
        view = ViewState.for_result(result, surfaces=surfaces)
        assert captions.private_maps(result, view) == 1
        assert captions.spending(result, view, {}) == ""
    text = written(result, "csv", "private", "centres").decode()
    assert "one noisy map" in text


def test_many_points_do_not_make_a_drawing_megabytes_long() -> None:
    rng = np.random.default_rng(1)
    made = written(with_overlay(Overlay(rng.random((50_000, 2)))), "svg", "centres")
    assert len(made) < 1_500_000
