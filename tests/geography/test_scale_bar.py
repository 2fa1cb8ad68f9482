import math

import pytest
from hypothesis import given, strategies as st

from explorer.geography.coordinates import (
    coordinate_decimals,
    format_coordinates,
    format_degrees,
    round_length,
    scale_bars,
)


@pytest.mark.parametrize(
    ("longest", "length"),
    [(1, 1), (1.99, 1), (2, 2), (4.99, 2), (5, 5), (9.99, 5), (10, 10), (1000, 1000), (0.3, 0.2)],
)
def test_lengths_are_one_two_five(longest, length):
    assert round_length(longest) == pytest.approx(length)


@pytest.mark.full
@given(st.floats(1e-6, 1e9))
def test_round_length_is_the_largest_that_fits(longest):
    length = round_length(longest)
    assert length <= longest * (1 + 1e-9)
    assert length > longest / 2.5 * (1 - 1e-9)
    digits = length / 10 ** math.floor(math.log10(length) + 1e-9)
    assert min(abs(digits - m) for m in (1, 2, 5)) < 1e-9


@pytest.mark.parametrize(
    ("view_km", "metric", "imperial"),
    [
        (84.0, "20 km", "10 mi"),
        (40_000.0, "10,000 km", "5,000 mi"),
        (4.0, "1 km", "0.5 mi"),
        (2.0, "500 m", "0.2 mi"),
        (0.4, "100 m", "200 ft"),
    ],
)
def test_labels(view_km, metric, imperial):
    assert tuple(bar.label for bar in scale_bars(view_km)) == (metric, imperial)


@given(st.floats(1e-3, 5e4), st.floats(0.05, 1))
def test_bars_fit_and_are_true_to_scale(view_km, longest):
    for bar in scale_bars(view_km, longest):
        assert 0 < bar.share <= longest * (1 + 1e-9)
        assert bar.share > longest / 2.6
        assert bar.share * view_km == pytest.approx(bar.km)
        number, unit = bar.label.replace(",", "").split()
        km = {"km": 1.0, "m": 1e-3, "mi": 1.609344, "ft": 0.0003048}[unit]
        assert float(number) * km == pytest.approx(bar.km)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_lengths_out_of_range_are_refused(value):
    with pytest.raises(ValueError, match="longest"):
        round_length(value)


def test_share_out_of_range_is_refused():
    with pytest.raises(ValueError, match="longest_share"):
        scale_bars(10, 1.5)


def test_coordinates_in_words():
    assert format_coordinates(40.7128, -74.006) == "40.713° N 74.006° W"
    assert format_coordinates(-33.8688, 151.2093, 1) == "33.9° S 151.2° E"
    assert format_coordinates(0.0, -0.0001) == "0.000° 0.000°"
    assert format_degrees(-5, 0, "lon") == "5° W"
    assert format_degrees(5, 0, "lat") == "5° N"
    with pytest.raises(ValueError, match="axis"):
        format_degrees(5, 0, "x")


def test_decimals_follow_the_pixel():
    assert coordinate_decimals(1.0) == 0
    assert coordinate_decimals(0.5) == 1
    assert coordinate_decimals(0.001) == 3
    assert coordinate_decimals(1e-12) == 6
    assert coordinate_decimals(math.nan) == 3
