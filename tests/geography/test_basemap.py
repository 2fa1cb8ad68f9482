import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from explorer.geography.basemap import MAGIC, Level, clip_lines, read_basemap
from tests.geography.resources import FOLDER, basemap, converter


def encode(lines, quantum=0.01, degrees=360.0, name="110m"):
    return converter().encode([(name, quantum, degrees, lines)])


@st.composite
def grids(draw):
    """Lines of whole numbers whose steps fit the format's 16 bits."""
    shapes = draw(st.lists(st.integers(2, 6), min_size=1, max_size=5))
    limits = np.array([18000, 9000])
    return [
        draw(hnp.arrays(np.int64, (m, 2), elements=st.integers(-16000, 16000))).clip(
            -limits, limits
        )
        for m in shapes
    ]


@given(grids())
def test_what_the_script_writes_is_what_is_read(lines):
    level = read_basemap(encode(lines)).levels[0]
    parts = np.split(level.lon, np.flatnonzero(np.isnan(level.lon)) + 1)[:-1]
    assert len(parts) == len(lines)
    stacked = np.vstack([np.vstack([line * 0.01, [[np.nan, np.nan]]]) for line in lines])
    np.testing.assert_allclose(level.lon, stacked[:, 0], atol=2e-5)
    np.testing.assert_allclose(level.lat, stacked[:, 1], atol=2e-5)
    assert level.lon.dtype == level.lat.dtype == np.float32


def test_the_shipped_map_is_whole_and_small():
    levels = basemap().levels
    assert [level.name for level in levels] == ["110m", "50m", "10m"]
    assert (FOLDER / "basemap.bin").stat().st_size <= 250_000
    for level in levels:
        np.testing.assert_array_equal(np.isnan(level.lon), np.isnan(level.lat))
        assert np.isnan(level.lon[-1])
        assert not (np.isnan(level.lon[:-1]) & np.isnan(level.lon[1:])).any()
        assert np.nanmax(np.abs(level.lon)) <= 180
        assert np.nanmax(np.abs(level.lat)) <= 90
        # No line crosses the map from edge to edge, and none runs along its edge.
        assert np.nanmax(np.abs(np.diff(level.lon))) < 180
        edge = np.abs(level.lon) == 180
        along = np.abs(np.diff(level.lat))[edge[:-1] & edge[1:]]
        # A point within half a quantum of 180° is rounded onto it; longer runs would be artefacts.
        assert along.max(initial=0) < 0.1


@pytest.mark.parametrize(
    ("latitude", "longitude", "degrees"),
    [
        (51.0, 1.4, 0.25),  # Strait of Dover
        (40.70, -74.02, 0.05),  # the Battery, New York
        (37.81, -122.48, 0.06),  # Golden Gate
        (-34.36, 18.47, 0.06),  # Cape of Good Hope
        (35.0, 139.87, 0.2),  # Boso peninsula
    ],
)
def test_known_coasts_are_where_they_should_be(latitude, longitude, degrees):
    level = basemap().levels[-1]
    distance = np.hypot(
        (level.lon - longitude) * np.cos(np.radians(latitude)), level.lat - latitude
    )
    assert np.nanmin(distance) < degrees


@pytest.mark.parametrize("index", [1, 2])
def test_state_borders_are_there_and_on_the_right_parallel(index):
    # Kansas–Nebraska runs along 40° N from −102.05 to −95.3.
    lon, lat = basemap().levels[index].within((39.9, -101.5, 40.1, -96.0))
    along = np.abs(lat - 40.0) < 0.02
    assert lon[along].min() <= -101.5
    assert lon[along].max() >= -96.0


def test_level_choice_goes_from_coarse_to_fine():
    chosen = [basemap().level_for(d).name for d in (1000, 360, 76, 75, 20, 8, 0.1)]
    assert chosen == ["110m", "110m", "110m", "50m", "50m", "10m", "10m"]


box_numbers = st.tuples(
    st.floats(-89, 89), st.floats(-179, 179), st.floats(0.05, 40), st.floats(0.05, 60)
)


@given(box_numbers)
def test_within_keeps_exactly_the_segments_that_touch(numbers):
    south, west, tall, wide = numbers
    box = (south, west, south + tall, west + wide)
    level = basemap().levels[0]

    def segments(lon, lat):
        joined = np.isfinite(lon[:-1]) & np.isfinite(lon[1:])
        ends = np.stack([lon[:-1], lat[:-1], lon[1:], lat[1:]], 1)[joined]
        return {tuple(row) for row in ends.tolist()}

    everything = np.array(sorted(segments(level.lon, level.lat)))
    touches = (
        (everything[:, [0, 2]].min(1) <= box[3])
        & (everything[:, [0, 2]].max(1) >= box[1])
        & (everything[:, [1, 3]].min(1) <= box[2])
        & (everything[:, [1, 3]].max(1) >= box[0])
    )
    assert segments(*level.within(box)) == set(map(tuple, everything[touches].tolist()))


def test_within_an_empty_stretch_of_ocean_is_empty():
    lon, lat = basemap().levels[0].within((-45, -130, -40, -120))
    assert lon.size == lat.size == 0


def test_within_breaks_between_runs():
    nan = np.nan
    level = Level(
        "x", 1.0, np.array([0, 1, 5, 1, 0, nan], "f4"), np.array([0, 0, 0, 1, 1, nan], "f4")
    )
    lon, lat = level.within((-1, -1, 2, 2))
    np.testing.assert_array_equal(lon, np.array([0, 1, 5, 1, 0, nan], "f4"))
    lon, lat = level.within((-1, -1, 2, 0.5))
    np.testing.assert_array_equal(lon, np.array([0, 1, nan, 1, 0, nan], "f4"))
    np.testing.assert_array_equal(lat, np.array([0, 0, nan, 1, 1, nan], "f4"))


def test_clipping_cuts_at_the_edges_and_keeps_lines_whole():
    lon = np.array([-1, 0.5, 0.5, 3, np.nan, 0.2, 0.4, np.nan, 5, 6, np.nan], "f4")
    lat = np.array([0.5, 0.5, 0.75, 0.75, np.nan, -1, 2, np.nan, 0, 1, np.nan], "f4")
    x, y = clip_lines(lon, lat, (0, 0, 1, 1))
    nan = np.nan
    np.testing.assert_allclose(
        x, [0, 0.5, 0.5, 1, nan, 0.2 + 0.2 / 3, 0.2 + 0.4 / 3, nan], atol=1e-7
    )
    np.testing.assert_allclose(y, [0.5, 0.5, 0.75, 0.75, nan, 0, 1, nan], atol=1e-7)


@given(hnp.arrays(np.float64, (12, 2), elements=st.floats(-3, 3, width=16)), st.integers(1, 10))
def test_clipped_lines_hold_exactly_the_points_inside(points, gap):
    points[gap] = np.nan
    lon, lat = points.T
    x, y = clip_lines(lon, lat, (-1, -2, 1, 2))
    assert np.nanmax(np.abs(np.append(x, 0))) <= 2 + 1e-9
    assert np.nanmax(np.abs(np.append(y, 0))) <= 1 + 1e-9

    def length(lon, lat, samples=400):
        """Length inside the box, by walking every segment in small steps."""
        t = (np.arange(samples) + 0.5) / samples
        total = 0.0
        for a, b in zip(np.c_[lon, lat][:-1], np.c_[lon, lat][1:], strict=True):
            walk = a + t[:, None] * (b - a)
            inside = (np.abs(walk[:, 0]) <= 2) & (np.abs(walk[:, 1]) <= 1)
            total += np.hypot(*(b - a)) * inside.mean() if np.isfinite(a + b).all() else 0.0
        return total

    kept = np.hypot(np.diff(x), np.diff(y))
    assert np.nansum(kept) == pytest.approx(length(lon, lat), abs=0.3)


def test_clipping_nothing_gives_nothing():
    for lines in (np.empty(0, "f4"), np.array([5.0], "f4"), np.array([5.0, 6.0, np.nan], "f4")):
        x, y = clip_lines(lines, lines, (0, 0, 1, 1))
        assert x.size == y.size == 0


good = [np.array([[0, 0], [10, 10], [20, 0]]), np.array([[-5, 5], [5, 5]])]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not start"),
        (b"PNG", "does not start"),
        (MAGIC + b"not zlib", "damaged"),
        (MAGIC, "cut short"),
        (MAGIC + zlib.compress(b"no json\n"), "damaged"),
        (MAGIC + zlib.compress(b'{"levels": []}\n'), "does not end"),
        (MAGIC + zlib.compress(b'{"levels": [{"name": 1}]}\n'), "damaged"),
        (
            MAGIC
            + zlib.compress(
                b'{"levels":[{"name":"a","quantum":1,"degrees":1,"lines":9,"points":99}]}\n'
            ),
            "ends before",
        ),
    ],
)
def test_damaged_files_are_refused_in_words(data, words):
    with pytest.raises(ValueError, match=words):
        read_basemap(data)


def test_a_truncated_or_extended_file_is_refused():
    data = encode(good)
    with pytest.raises(ValueError, match="basemap:"):
        read_basemap(data[:-3])
    body = zlib.decompress(data[len(MAGIC) :])
    for broken in (body[:-1], body + b"\0"):
        with pytest.raises(ValueError, match="basemap:"):
            read_basemap(MAGIC + zlib.compress(broken))


def test_points_off_the_globe_and_unordered_levels_are_refused():
    with pytest.raises(ValueError, match="leaves the globe"):
        read_basemap(encode([np.array([[0, 0], [0, 10000]])]))
    with pytest.raises(ValueError, match="coarse to fine"):
        read_basemap(converter().encode([("a", 0.01, 1.0, good), ("b", 0.01, 2.0, good)]))


def test_lines_over_the_antimeridian_end_at_both_edges():
    line = np.array([[178.0, 10.0], [-178.0, 14.0], [-170.0, 14.0]])
    first, second = converter().split_at_antimeridian(line)
    np.testing.assert_allclose(first, [[178, 10], [180, 12]])
    np.testing.assert_allclose(second, [[-180, 12], [-178, 14], [-170, 14]])


def test_simplification_stays_within_its_tolerance():
    rng = np.random.default_rng(3)
    line = np.cumsum(rng.normal(0, 0.02, (400, 2)), axis=0)
    short = converter().simplify(line, lambda p: np.full(len(p), 0.05))
    assert 2 < len(short) < len(line) / 2
    np.testing.assert_array_equal(short[[0, -1]], line[[0, -1]])
    a, b = short[:-1], short[1:]
    for point in line:
        t = np.clip(((point - a) * (b - a)).sum(1) / ((b - a) ** 2).sum(1), 0, 1)
        assert np.hypot(*(point - a - t[:, None] * (b - a)).T).min() <= 0.0501
