"""Polygon regions: which points lie inside, what is refused, and what a file or text gives."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, strategies as st

from explorer.geography.background import outline
from explorer.geography.coordinates import KM_PER_DEGREE
from explorer.geography.region import PolygonRegion, parse_rings, written_rings
from explorer.polygon import MAX_POINTS, Polygon, _slabs

Corner = tuple[int, int]
corners = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=3, max_size=9, unique=True
)
GRID = np.array([(y, x) for y in range(-8, 9) for x in range(-8, 9)])


def polygon(points: list[Corner]) -> Polygon | None:
    try:
        return Polygon((tuple(points),))
    except ValueError:
        return None


def inside(points: list[Corner]) -> set[Corner]:
    """Return the points of a grid inside any closed line, also one that crosses itself."""
    held = _slabs((tuple(points),)).hold(GRID[:, 0], GRID[:, 1])
    return set(map(tuple, GRID[held].tolist()))


def by_definition(points: list[Corner], y: int, x: int) -> bool:
    """The even-odd rule with exact fractions: edges from their lower end up, without the upper."""
    crossed = 0
    for (y1, x1), (y2, x2) in pairwise([*points, points[0]]):
        if (y1 <= y) != (y2 <= y):
            crossed += x < x1 + Fraction((x2 - x1) * (y - y1), y2 - y1)
    return crossed % 2 == 1


@given(corners)
def test_points_are_inside_by_the_definition(points: list[Corner]) -> None:
    assume(len({y for y, _ in points}) > 1)
    expected = {(y, x) for y, x in GRID.tolist() if by_definition(points, y, x)}
    assert inside(points) == expected
    assert inside(points[::-1]) == inside(points[1:] + points[:1]) == expected


@given(corners, st.integers(2, 8))
def test_a_cut_gives_each_point_to_exactly_one_part(points: list[Corner], last: int) -> None:
    """A cut that runs outside is added to one part and taken from the other."""
    last = min(last, len(points) - 1)
    parts = points[: last + 1], points[last:] + points[:1]
    assume(all(len({y for y, _ in part}) > 1 for part in (*parts, points)))
    assert inside(parts[0]) ^ inside(parts[1]) == inside(points)


def test_squares_side_by_side_share_no_point() -> None:
    squares = [
        inside([(y, x), (y, x + 4), (y + 4, x + 4), (y + 4, x)]) for y in (-4, 0) for x in (-4, 0)
    ]
    assert [len(square) for square in squares] == [16] * 4
    assert len(set.union(*squares)) == 64


def crosses(points: list[Corner]) -> bool:
    """Whether two edges meet elsewhere than at a common corner, with exact arithmetic."""
    edges = list(pairwise([*points, points[0]]))

    def turn(a: Corner, b: Corner, c: Corner) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on(a: Corner, b: Corner, c: Corner) -> bool:
        return turn(a, b, c) == 0 and all(
            min(a[i], b[i]) <= c[i] <= max(a[i], b[i]) for i in (0, 1)
        )

    for i, (a, b) in enumerate(edges):
        for c, d in edges[:i]:
            common = {a, b} & {c, d}
            if not common:
                signs = turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0
                if signs or on(a, b, c) or on(a, b, d) or on(c, d, a) or on(c, d, b):
                    return True
            elif any(on(a, b, p) for p in {c, d} - common) or any(
                on(c, d, p) for p in {a, b} - common
            ):
                return True
    return False


@given(corners, st.sampled_from([1, (2**31 - 1) // 12]))
def test_exactly_the_polygons_that_meet_themselves_are_refused(
    points: list[Corner], step: int
) -> None:
    """With the large step the products of the tests leave 64 bits on the way."""
    far = [(y * step, x * step + x % 2) for y, x in points]
    assert (polygon(far) is None) == crosses(far)


def test_a_crossing_is_named_by_its_points() -> None:
    bow = [(0.0, 0.0), (1.0, 1.0), (1.0, 2.0), (0.5, 2.0), (1.0, 0.0)]
    with pytest.raises(ValueError, match="crosses itself between points 4 and 5"):
        PolygonRegion.of([bow])
    with pytest.raises(ValueError, match="at least 3 points"):
        PolygonRegion.of([bow[:2]])
    with pytest.raises(ValueError, match="at least 3 points"):
        PolygonRegion.of([[(0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)]])
    with pytest.raises(ValueError, match="on one line"):
        PolygonRegion.of([[(0.0, 0.0), (0.0, 1.0), (0.0, 2.0)]])
    with pytest.raises(ValueError, match="1,001 points"):
        PolygonRegion.of([[(float(np.sin(a)), float(np.cos(a))) for a in np.arange(1001) / 200]])
    with pytest.raises(ValueError, match=r"Point 2 .* latitude, then longitude"):
        PolygonRegion.of([[(0.0, 0.0), (-120.0, 40.0), (1.0, 1.0)]])


def test_the_largest_number_of_points_is_accepted() -> None:
    angles = np.arange(MAX_POINTS) * 2 * np.pi / MAX_POINTS
    circle = PolygonRegion.of([list(zip(np.sin(angles), np.cos(angles), strict=True))])
    assert circle.polygon.number == MAX_POINTS
    rng = np.random.default_rng(1)
    y, x = rng.integers(-12_000_000, 12_000_001, (2, 20_000))
    radius = np.hypot(y, x) / 1e7
    held = circle.polygon.holds(y, x)
    assert held[radius < 0.9999].all()
    assert not held[radius > 1.0001].any()


def test_a_polygon_lies_in_its_box_and_is_written_and_read_again() -> None:
    points = [(40.7, -74.02), (40.88, -73.93), (40.8, -73.9)]
    region = PolygonRegion.of([[*points, points[0]]])
    assert region.box == (40.7, -74.02, 40.88, -73.9)
    assert region.rings == (tuple(points),)
    assert PolygonRegion.of(parse_rings(written_rings(region))) == region
    assert region.at(region.box).polygon is None


def test_a_polygon_lies_across_the_antimeridian() -> None:
    west = PolygonRegion.of([[(-20.0, 177.0), (-20.0, -178.0), (-15.0, -178.0), (-15.0, 177.0)]])
    assert west.box == (-20.0, 177.0, -15.0, 182.0)
    assert west.declared == (-20.0, 177.0, -15.0, -178.0)
    assert PolygonRegion.of(west.rings) == west
    turned = [(lat, lon if lon > 0 else lon + 360) for lat, lon in west.rings[0]]
    assert PolygonRegion.of([turned]) == west
    with pytest.raises(ValueError, match="round a pole"):
        PolygonRegion.of([[(80.0, 0.0), (80.0, 120.0), (80.0, -120.0)]])
    with pytest.raises(ValueError, match="wide"):
        PolygonRegion.of([[(0.0, -100.0), (10.0, 0.0), (0.0, 100.0), (-10.0, 0.0)]])


@given(corners, st.integers(1, 7), st.integers(1, 7))
def test_cells_with_a_point_inside_are_drawn(points: list[Corner], rows: int, columns: int) -> None:
    found = polygon(points)
    assume(found)
    south, west, north, east = found.box
    touched = found.touched(rows, columns)
    fine = [(i + 0.5) / 40 for i in range(40)]
    scale = 10**6
    large = Polygon((tuple((scale * y, scale * x) for y, x in points),))
    for up in fine:
        y = np.full(40, round(scale * (south + up * (north - south))))
        x = np.rint(scale * (west + np.array(fine) * (east - west))).astype(int)
        for across, is_inside in zip(fine, large.holds(y, x), strict=True):
            assert touched[int(up * rows), int(across * columns)] or not is_inside
    assert touched.any()


def test_a_triangle_draws_half_of_the_cells() -> None:
    touched = Polygon((((0, 0), (80, 80), (80, 0)),)).touched(8, 8)
    expected = np.arange(8)[:, None] >= np.arange(8)
    assert (touched >= expected).all()
    assert touched.sum() <= expected.sum() + 7  # cells that the diagonal only touches


def test_typed_points_that_cannot_be_read_are_named() -> None:
    first = [(40.7, -74.0), (40.8, -73.9), (40.6, -73.8)]
    assert parse_rings("40.7, -74\n\n40.8 -73.9; 40.6°, -73.8°") == [first]
    assert parse_rings("40.7,-74;40.8,-73.9;40.6,-73.8|1,2; 3,4\n|\n5,6") == [
        first,
        [(1.0, 2.0), (3.0, 4.0)],
        [(5.0, 6.0)],
    ]
    with pytest.raises(ValueError, match="point 2, 40,8, -73,9"):
        parse_rings("40.7, -74\n40,8, -73,9")


def square(south: int, west: int, side: int) -> tuple[Corner, ...]:
    return (south, west), (south, west + side), (south + side, west + side), (south + side, west)


def test_a_ring_in_another_is_a_hole_and_one_in_that_an_area() -> None:
    nested = Polygon((square(0, 0, 12), square(2, 2, 8), square(4, 4, 4), square(20, 0, 4)))
    assert nested.holes == (False, True, False, False)
    assert nested.box == (0, 0, 24, 12)
    y, x = (side.ravel() for side in np.meshgrid(np.arange(24), np.arange(12), indexing="ij"))
    assert nested.holds(y, x).sum() == 144 - 64 + 16 + 16
    assert Polygon(nested.rings[::-1]).holes == nested.holes[::-1]


def test_areas_may_touch_and_share_an_edge() -> None:
    side_by_side = (square(0, 0, 4), square(0, 4, 4), square(4, 2, 4))
    assert Polygon(side_by_side).holes == (False,) * 3
    corner = (square(0, 0, 4), square(4, 4, 4))
    assert Polygon(corner).holes == (False,) * 2
    # A hole that touches its area with one corner.
    assert Polygon((square(0, 0, 8), ((0, 4), (3, 5), (3, 3)))).holes == (False, True)


@pytest.mark.parametrize(
    "other",
    [
        square(2, 2, 4),  # crosses
        square(0, 0, 4),  # the same
        ((0, 0), (0, 2), (4, 2), (4, 0)),  # inside, along an edge
        ((-4, 2), (2, 0), (8, 2), (2, 4)),  # through corners and beyond
        ((-1, -1), (5, 5), (5, -1)),  # through two corners
    ],
)
def test_areas_that_overlap_are_refused(other: tuple[Corner, ...]) -> None:
    for rings in ((square(0, 0, 4), other), (other, square(0, 0, 4))):
        with pytest.raises(ValueError, match="Rings 1 and 2 of the region overlap"):
            Polygon(rings)


few_corners = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=3, max_size=4, unique=True
).filter(lambda points: polygon(points) is not None)


def edges_meet(one: list[Corner], two: list[Corner]) -> bool:
    """Whether an edge of one ring has a point in common with an edge of the other."""

    def turn(a: Corner, b: Corner, c: Corner) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on(a: Corner, b: Corner, c: Corner) -> bool:
        return turn(a, b, c) == 0 and all(
            min(a[i], b[i]) <= c[i] <= max(a[i], b[i]) for i in (0, 1)
        )

    return any(
        (turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0)
        or on(a, b, c)
        or on(a, b, d)
        or on(c, d, a)
        or on(c, d, b)
        for a, b in pairwise([*one, one[0]])
        for c, d in pairwise([*two, two[0]])
    )


@given(few_corners, few_corners)
def test_rings_that_do_not_meet_are_nested_as_their_corners_are(
    one: list[Corner], two: list[Corner]
) -> None:
    assume(not edges_meet(one, two))
    both = Polygon((tuple(one), tuple(two)))
    assert both.holes == (by_definition(two, *one[0]), by_definition(one, *two[0]))
    held = both.holds(GRID[:, 0], GRID[:, 1])
    assert set(map(tuple, GRID[held].tolist())) == inside(one) ^ inside(two)


@given(few_corners, few_corners)
def test_rings_that_are_accepted_never_overlap(one: list[Corner], two: list[Corner]) -> None:
    """By area, exactly: of the quarter cells of a fine grid those in both are all of one ring."""
    try:
        both = Polygon((tuple(one), tuple(two)))
    except ValueError:
        return
    fine = np.array([(y, x) for y in range(-41, 42, 2) for x in range(-41, 42, 2)])
    shares = [
        set(
            map(
                tuple,
                fine[_slabs((tuple((6 * y, 6 * x) for y, x in ring),)).hold(*fine.T)].tolist(),
            )
        )
        for ring in (one, two)
    ]
    common = shares[0] & shares[1]
    assert len(common) == (min(map(len, shares)) if any(both.holes) else 0)


def test_rings_lie_on_the_same_side_of_the_earth() -> None:
    """As GeoJSON cuts an area at 180°."""
    west = [(-18.0, 177.0), (-18.0, 180.0), (-16.0, 180.0), (-16.0, 177.0)]
    east = [(-18.0, -180.0), (-18.0, -179.0), (-16.0, -179.0), (-16.0, -180.0)]
    for rings in ((west, east), (east, west)):
        region = PolygonRegion.of(rings)
        assert region.box == (-18.0, 177.0, -16.0, 181.0)
        assert region.declared == (-18.0, 177.0, -16.0, -179.0)
        assert PolygonRegion.of(parse_rings(written_rings(region))) == region
    with pytest.raises(ValueError, match="Ring 2 of the region needs at least 3 points"):
        PolygonRegion.of((west, east[:2]))
    with pytest.raises(ValueError, match="Point 1 of ring 2 of the region"):
        PolygonRegion.of((west, [(-100.0, 0.0)]))


def wiggly(points: int, seed: int, radius: float = 0.2) -> np.ndarray:
    """Return longitudes and latitudes of a ring like a coast, closed."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, points, endpoint=False)
    waves = sum(
        rng.normal() / k * np.cos(k * angles + rng.uniform(0, 7)) for k in (2, 3, 5, 9, 17, 40, 90)
    )
    far = radius * (1 + 0.1 * waves)
    ring = np.stack([-74 + far * np.cos(angles), 40.7 + far * np.sin(angles)], axis=1)
    return np.concatenate([ring, ring[:1]])


@pytest.mark.parametrize("seed", range(4))
def test_a_file_with_too_many_points_has_a_simpler_outline_near_its_own(
    tmp_path: Path, seed: int
) -> None:
    shell, hole = wiggly(5000, seed), wiggly(3000, seed + 100, 0.05)
    path = tmp_path / "city.geojson"
    rings = [ring.tolist() for ring in (shell, hole)]
    path.write_text(json.dumps({"type": "Polygon", "coordinates": rings}))
    found = outline(str(path), cancelled=lambda: False)
    assert found.points == 8000
    region = PolygonRegion.of(found.rings)
    assert MAX_POINTS * 0.8 <= region.polygon.number <= MAX_POINTS
    assert region.polygon.holes == (False, True)
    scale = 1000 * KM_PER_DEGREE * np.array([np.cos(np.radians(40.7)), 1])
    for own, simpler in zip((shell, hole), found.rings, strict=True):
        line = shapely.LinearRing(np.array(simpler)[:, ::-1] * scale)
        away = shapely.distance(line, shapely.points(own * scale))
        assert away.max() <= found.moved * 1.01
    assert 0 < found.moved < 100


def test_a_file_with_few_points_keeps_them_all(tmp_path: Path) -> None:
    ring = wiggly(MAX_POINTS, 1)
    path = tmp_path / "city.geojson"
    path.write_text(json.dumps({"type": "Polygon", "coordinates": [ring.tolist()]}))
    found = outline(str(path), cancelled=lambda: False)
    assert (found.points, found.moved) == (MAX_POINTS, 0.0)
    np.testing.assert_array_equal(np.array(found.rings[0])[:, ::-1], ring[:-1])


def test_many_small_areas_have_no_simpler_outline(tmp_path: Path) -> None:
    squares = [
        [[[x, y], [x + 0.5, y], [x + 0.5, y + 0.5], [x, y + 0.5], [x, y]]]
        for x in range(40)
        for y in range(10)
    ]
    path = tmp_path / "islands.geojson"
    path.write_text(json.dumps({"type": "MultiPolygon", "coordinates": squares}))
    with pytest.raises(ValueError, match=r"1,600 points.* no simpler outline"):
        outline(str(path), cancelled=lambda: False)
