"""Places on the map: search by name or position, and the note on the coarse outline."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.geography.cities import shipped_cities
from explorer.ui.map.places import box_of, found_places, position_of
from tests.ui.map_page import MapPage


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Brooklyn", "Brooklyn"),
        ("brook", "Brooklyn"),
        ("REYKJAVIK", "Reykjavík"),
        ("paulo", "São Paulo"),
        ("London, CA", "London"),
        ("york c", "New York City"),
    ],
)
def test_towns_by_name(text: str, name: str) -> None:
    first = found_places(text)[0]
    assert first.name == name
    if "," in text:
        assert first.country == "CA"


def test_whole_names_come_before_larger_towns_that_begin_so() -> None:
    names = [city.name for city in found_places("York")]
    assert names[0] == "York"
    assert "New York City" in names
    people = [city.population for city in found_places("New")]
    assert people == sorted(people, reverse=True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("40.7, -74", (40.7, -74.0)),
        ("−33.9°, 151.2°", (-33.9, 151.2)),
        ("1 2", (1.0, 2.0)),
        ("91, 2", None),
        ("1, 181", None),
        ("1", None),
        ("Paris", None),
    ],
)
def test_positions(text: str, place: tuple[float, float] | None) -> None:
    found = position_of(text)
    assert (None if found is None else (found.latitude, found.longitude)) == place


def test_a_name_with_a_wrong_letter_is_suggested() -> None:
    similar = shipped_cities().similar("Brokln")
    assert similar is not None
    assert similar.name == "Brooklyn"
    assert shipped_cities().similar("Xqzwv") is None


def test_ctrl_f_zooms_by_keyboard_and_keeps_the_region(map_page: MapPage) -> None:
    region, places = map_page.region, map_page.map.places
    map_page.map.place_action.trigger()
    assert not places.isVisible()
    QTest.keyClicks(places.field, "brookl")
    assert places.isVisible()
    assert places.rows.item(0).text().startswith("Brooklyn, US")
    QTest.keyClick(places.field, Qt.Key.Key_Return)
    assert not places.isVisible()
    south, west, north, east = map_page.map.panes.box
    city = found_places("brookl")[0]
    inner = box_of(city)
    assert south <= inner[0] < inner[2] <= north
    assert west <= inner[1] < inner[3] <= east
    assert (north - south) < 3 * (inner[2] - inner[0])
    assert map_page.region == region
    map_page.map.place_action.trigger()
    assert places.field.selectedText() == "brookl"
    QTest.keyClicks(places.field, "Brokln")
    assert "Brooklyn" in places.note.text()
    before = map_page.map.panes.box
    QTest.keyClick(places.field, Qt.Key.Key_Return)
    assert places.isVisible()
    QTest.keyClick(places.field, Qt.Key.Key_Escape)
    assert not places.isVisible()
    assert map_page.map.panes.box == before


def test_the_outline_is_called_coarse_near_a_city(map_page: MapPage) -> None:
    panes = map_page.map.panes
    geometry = panes.readout.geometry()
    for degrees, lines, coarse in ((0.5, True, True), (40.0, True, False), (0.5, False, False)):
        map_page.map.lines_action.setChecked(lines)
        panes.look_at((40.0, 10.0, 40.0 + degrees / 2, 10.0 + degrees / 2))
        assert panes.coarse.isVisible() is coarse
        assert panes.readout.geometry() == geometry


def test_ctrl_k_finds_places(open_window, settled) -> None:
    window = open_window(study="amplification")
    settled(window)
    window.menus.finder.open("reykjav")
    palette = window.menus.finder.palette
    entry = palette.current
    assert entry.name == "Reykjavík, IS"
    palette.choose()
    south, west, north, east = window.workspaces["map"].panes.box
    assert south < 64.13 < north
    assert west < -21.9 < east
