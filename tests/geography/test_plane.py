"""Planes that are not the Earth: what is declared, how positions are kept, their regions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from explorer.geography.coordinates import format_along, format_place
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion, Region, region_of, scale_bars_for


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("320x240", "320x240:px:down"),
        (" 320 × 240 : px", "320x240:px:down"),
        ("1.5x2:mm", "1.5x2:mm:up"),
        ("0,0,10,5:m:down", "10x5:m:down"),
        ("-5,0,5,12.25:m:up", "-5,0,5,12.25:m:up"),
    ],
)
def test_a_plane_is_read_and_written(text: str, canonical: str) -> None:
    plane = Plane.parse(text)
    assert plane.text == canonical
    assert Plane.parse(canonical) == plane


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("320", "320x240:px"),
        ("320x", "can't be read"),
        ("0x5", "is empty"),
        ("5,5,1,9", "is empty"),
        ("nanx3", "finite"),
        ("3x3:px:left", "can't be read"),
        ("3x3:two words", "short word"),
        ("3x3:<b>", "short word"),
        ("1e9,1e9,1000000001,1000000001", "too far from 0"),
        ("1x0.33333333333333", "multiples of it"),
    ],
)
def test_a_plane_that_makes_no_sense_is_refused_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="plane: ") as error:
        Plane.parse(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("320x240", Fraction(1, 10**6)),  # 320 / 2·10⁹ = 1.6·10⁻⁷
        ("200x200", Fraction(1, 10**7)),  # exactly 10⁻⁷: the least that will do
        ("201x1", Fraction(1, 10**6)),
        ("1x200:m", Fraction(1, 10**7)),
        ("1x1:side", Fraction(1, 10**9)),
        ("4000000000x10:nm", Fraction(10)),
    ],
)
def test_the_step_is_the_least_power_of_ten_that_fits(text: str, step: Fraction) -> None:
    plane = Plane.parse(text)
    assert plane.step == step
    longest = Fraction(max(plane.right - plane.left, plane.high - plane.low))
    assert longest / step <= 2 * 10**9 < longest / (step / 10)


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.integers(-3, 3))
def test_every_range_fits_into_32_bits(width: int, height: int, power: int) -> None:
    plane = Plane.parse(f"{width}e{power}x{height}e{power}:u")
    assert max(plane.right, plane.high) / plane.step < 2**31


def test_y_goes_down_in_pictures_and_comes_back() -> None:
    plane = Plane.parse("320x240")
    assert PlaneRegion.whole(plane).box == (-240.0, 0.0, 0.0, 320.0)
    assert PlaneRegion.whole(plane).declared == (0.0, 0.0, 240.0, 320.0)
    assert region_of((10, 20, 30, 40), plane.text).declared == (10, 20, 30, 40)
    assert PlaneRegion.whole(Plane.parse("320x240:mm")).box == (0.0, 0.0, 240.0, 320.0)
    assert region_of((10, 20, 30, 40)) == Region(10, 20, 30, 40)


def test_a_picture_lies_in_the_upper_left_corner_of_its_padded_square() -> None:
    padded = PlaneRegion.padded(Plane.parse("320x240"))
    assert padded.declared == (0.0, 0.0, 512.0, 512.0)
    assert padded.sides == (512.0, 512.0)


def test_regions_have_one_unit_and_no_kilometres() -> None:
    region = PlaneRegion.whole(Plane.parse("320x240"))
    assert (region.sides, region.unit, region.aspect) == ((320.0, 240.0), "px", 1.0)
    with pytest.raises(TypeError, match="no kilometres"):
        _ = region.width_km
    with pytest.raises(TypeError, match="no kilometres"):
        _ = region.height_km
    metric, other = scale_bars_for(region, 320.0)
    assert (metric.label, other.label) == ("50 px", "")
    assert metric.share == 50 / 320
    assert region.words == "x 0…320 px, y 0…240 px"
    assert format_place(-40.0, 12.5, 1, region.plane) == "x 12.5 px, y 40.0 px"
    assert format_along(-40.0, 0, "lat", region.plane) == "40 px"
    assert format_along(0.0, 0, "lat", region.plane) == "0 px"


def test_a_region_far_from_the_plane_is_refused() -> None:
    plane = Plane.parse("320x240")
    with pytest.raises(ValueError, match=r"beyond .*, x 0…320 px"):
        PlaneRegion(-240, 400, 0, 500, plane)
    with pytest.raises(ValueError, match="must grow"):
        PlaneRegion.whole(plane).at((0, 0, 0, 1))
    with pytest.raises(ValueError, match="beyond"):
        PlaneRegion.whole(plane).at((-1e6, 0, 0, 320))
