import zlib

import pytest
from hypothesis import given, strategies as st

from explorer.geography.cities import read_cities
from tests.geography.resources import FOLDER, cities

NEW_YORK = (40.4, -74.5, 41.1, -73.5)


def test_the_shipped_list_is_small_and_ordered():
    assert (FOLDER / "cities.tsv.z").stat().st_size <= 200_000
    assert len(cities()) > 10_000
    people = cities().population
    assert (people[:-1] >= people[1:]).all()


@pytest.mark.parametrize(
    ("name", "country", "lat", "lon"),
    [
        ("New York City", "US", 40.714, -74.006),
        ("Paris", "FR", 48.853, 2.349),
        ("São Paulo", "BR", -23.548, -46.636),
        ("Tokyo", "JP", 35.690, 139.692),
        ("Sydney", "AU", -33.868, 151.207),
    ],
)
def test_known_cities_are_where_they_are(name, country, lat, lon):
    found = [
        cities()[i]
        for i, n in enumerate(cities().names)
        if n == name and cities().countries[i] == country
    ]
    assert any(abs(c.latitude - lat) < 0.05 and abs(c.longitude - lon) < 0.05 for c in found)


def test_the_largest_city_of_the_view_comes_first():
    shown = cities().visible(NEW_YORK, 8)
    assert shown[0].name == "New York City"
    assert len(shown) == 8
    assert [c.population for c in shown] == sorted((c.population for c in shown), reverse=True)


@given(
    st.floats(-60, 60),
    st.floats(-170, 150),
    st.floats(0.2, 30),
    st.integers(0, 25),
    st.floats(0.02, 0.3),
)
def test_names_are_in_view_apart_and_none_could_be_added(south, west, size, limit, apart):
    box = (south, west, south + size, west + size)
    shown = cities().visible(box, limit, (apart, apart / 2))
    assert len(shown) <= limit
    x = [(c.longitude - west) / size / apart for c in shown]
    y = [(c.latitude - south) / size / (apart / 2) for c in shown]
    for i in range(len(shown)):
        assert south <= shown[i].latitude <= south + size
        assert west <= shown[i].longitude <= west + size
        for j in range(i):
            assert abs(x[i] - x[j]) >= 1 or abs(y[i] - y[j]) >= 1
    if len(shown) < limit:
        everything = cities()
        for k in range(0, len(everything), 37):
            city = everything[k]
            if south <= city.latitude <= south + size and west <= city.longitude <= west + size:
                u = (city.longitude - west) / size / apart
                v = (city.latitude - south) / size / (apart / 2)
                near = any(abs(u - a) < 1 and abs(v - b) < 1 for a, b in zip(x, y, strict=True))
                assert near


def test_no_city_in_the_open_sea_and_none_when_none_is_wanted():
    assert cities().visible((-45, -130, -40, -120), 10) == []
    assert cities().visible(NEW_YORK, 0) == []


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="empty"):
        cities().visible((41.0, -74.0, 40.0, -73.0), 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Paris\tFR\t48.9\t2.3\t2000000\nLyon\tFR", "line 2"),
        ("Paris\tFR\tnorth\t2.3\t2000000", "line 1"),
        ("Paris\tFR\t148.9\t2.3\t2000000", "outside the globe"),
        ("Paris\tFR\tnan\t2.3\t2000000", "outside the globe"),
    ],
)
def test_bad_lines_are_named(text, words):
    with pytest.raises(ValueError, match=words):
        read_cities(zlib.compress(text.encode()))


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", zlib.compress(b"\xff\xfe"), zlib.compress(b"a")[:-2]]
)
def test_damaged_files_are_refused(data):
    with pytest.raises(ValueError, match="cities:"):
        read_cities(data)
