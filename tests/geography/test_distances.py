import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.geography.distance import (
    EARTH_RADIUS_KM,
    great_circle_km,
    km_per_degree_longitude,
)
from explorer.geography.projection import aspect_at, fit_box
from explorer.geography.region import KM_PER_DEGREE, Region

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)


@pytest.mark.parametrize(
    ("a", "b", "km"),
    [
        ((0, 0), (0, 1), KM_PER_DEGREE),
        ((0, 0), (0, 180), math.pi * EARTH_RADIUS_KM),
        ((90, 0), (-90, 77), math.pi * EARTH_RADIUS_KM),
        ((0, 179), (0, -179), 2 * KM_PER_DEGREE),
        # Rosetta Code's example, rescaled from R = 6372.8 to the mean radius.
        ((36.12, -86.67), (33.94, -118.40), 2887.2599506 * 6371.0088 / 6372.8),
    ],
)
def test_known_distances(a, b, km):
    assert great_circle_km(*a, *b) == pytest.approx(km, rel=1e-9)


@given(latitudes, longitudes, latitudes, longitudes)
def test_agrees_with_the_chord_through_space(lat1, lon1, lat2, lon2):
    def unit(lat, lon):
        phi, lam = math.radians(lat), math.radians(lon)
        return np.array(
            [math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)]
        )

    u, v = unit(lat1, lon1), unit(lat2, lon2)
    # Kahan's formula for the angle, accurate everywhere.
    angle = 2 * math.atan2(float(np.linalg.norm(u - v)), float(np.linalg.norm(u + v)))
    measured = float(great_circle_km(lat1, lon1, lat2, lon2))
    assert measured == pytest.approx(angle * EARTH_RADIUS_KM, rel=1e-9, abs=1e-6)
    assert measured == pytest.approx(float(great_circle_km(lat2, lon2, lat1, lon1)), abs=1e-9)


@given(latitudes, longitudes, longitudes)
def test_nearly_antipodal_points_keep_their_digits(lat, lon, turn):
    offset = 1e-4
    measured = float(great_circle_km(lat, lon, -lat, lon + 180 + offset))
    expected = math.pi * EARTH_RADIUS_KM - offset * KM_PER_DEGREE * math.cos(math.radians(lat))
    assert measured == pytest.approx(expected, abs=1e-6)


def test_broadcasts():
    out = great_circle_km(np.zeros((3, 1)), 0.0, np.zeros(2), [1.0, 2.0])
    assert out.shape == (3, 2)
    np.testing.assert_allclose(out[1], [KM_PER_DEGREE, 2 * KM_PER_DEGREE])


def test_degree_of_longitude_shrinks_with_the_cosine():
    assert km_per_degree_longitude(0) == pytest.approx(111.195, abs=1e-3)
    assert km_per_degree_longitude(60) == pytest.approx(KM_PER_DEGREE / 2)
    with pytest.raises(ValueError, match="latitude: 91"):
        km_per_degree_longitude(91)


def test_aspect_is_that_of_a_region():
    region = Region(40.0, -75.0, 42.0, -73.0)
    assert aspect_at(region.mid_latitude) == pytest.approx(region.aspect)
    assert aspect_at(0) == 1
    assert aspect_at(90) == aspect_at(-90) == pytest.approx(1 / math.cos(math.radians(89)))
    with pytest.raises(ValueError, match="latitude"):
        aspect_at(float("nan"))


@given(
    st.floats(-80, 79),
    st.floats(-179, 100),
    st.floats(0.01, 40),
    st.floats(0.01, 70),
    st.floats(1, 5000),
    st.floats(1, 5000),
    st.floats(0, 0.5),
)
def test_fitted_box_covers_centres_and_has_the_shape_of_the_view(
    south, west, tall, wide, width, height, margin
):
    north, east = min(south + tall, 90.0), west + wide
    s, w, n, e = fit_box((south, west, north, east), width, height, margin)
    slack = 1e-9 * (1 + abs(e) + abs(n))
    assert s <= south + slack
    assert w <= west + slack
    assert n >= north - slack
    assert e >= east - slack
    assert (s + n) / 2 == pytest.approx((south + north) / 2, abs=1e-6)
    assert (w + e) / 2 == pytest.approx((west + east) / 2, abs=1e-6)
    aspect = aspect_at((south + north) / 2)
    assert (e - w) / ((n - s) * aspect) == pytest.approx(width / height, rel=1e-6)
    filled = min((n - s) / (north - south), (e - w) / (east - west))
    assert filled == pytest.approx(1 + 2 * margin, rel=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [((1, 0, 1, 1), 1, 1), ((0, 1, 1, 1), 1, 1), ((0, 0, 1, 1), 0, 1), ((0, 0, 1, 1), 1, 1, -0.1)],
)
def test_impossible_views_are_refused(arguments):
    with pytest.raises(ValueError, match=r"box|width"):
        fit_box(*arguments)
