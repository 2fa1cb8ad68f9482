"""Measuring distances on the map, and the legend in people."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from explorer.geography.coordinates import distance_km
from explorer.geography.plane import Plane
from explorer.ui.map.colour_bar import People
from explorer.ui.map.tools import length_of, length_words
from tests.ui.map_page import MapPage


@pytest.mark.parametrize(
    ("place", "other", "km"),
    [
        ((0, 0), (0, 180), 20015.11),
        ((90, 0), (-90, 50), 20015.11),
        ((48.8566, 2.3522), (51.5074, -0.1278), 343.56),  # Paris to London
        ((10, 179.5), (10, -179.5), 109.51),
        ((1, 2), (1, 2), 0),
    ],
)
def test_great_circles(place, other, km) -> None:
    assert distance_km(*place, *other) == pytest.approx(km, abs=0.01)


def test_lengths_of_lines() -> None:
    assert length_of([(0, 0), (0, 1), (0, 0)], None) == pytest.approx(2 * 111.195, abs=0.01)
    plane = Plane.parse("100x100:px")
    assert length_of([(0, 0), (3, 4)], plane) == 5
    words = [length_words(km, None) for km in (0.0123, 0.5, 1.2345, 98.76, 1234.5)]
    assert words == ["12 m", "500 m", "1.23 km", "98.8 km", "1,234 km"]


def test_clicks_and_keys_measure(map_page: MapPage) -> None:
    page, (pane, other) = map_page.map, map_page.map.panes.panes.values()
    region = map_page.region
    page.measure_action.trigger()
    assert pane.hasFocus()
    middle = QPoint(pane.width() // 2, pane.height() // 2)
    QTest.mouseClick(pane.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    tool = page.panes.measure
    assert tool.points == [pytest.approx(pane.to_degrees(middle.x(), middle.y()))]
    for _ in range(5):
        QTest.keyClick(pane, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(pane, Qt.Key.Key_Return)
    lon, lat = pane.to_degrees(middle.x() + 50, middle.y())
    start_lon, start_lat = tool.points[0]
    assert tool.points[1] == pytest.approx((lon, lat))
    km = distance_km(start_lat, start_lon, lat, lon)
    assert page.panes.readout.text().endswith(length_words(km, None))
    assert other.grab().toImage() != pane.grab().toImage()  # both draw it, over other maps
    QTest.keyClick(pane, Qt.Key.Key_Backspace)
    assert len(tool.points) == 1
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not page.measure_action.isChecked()
    assert tool.line == []
    assert map_page.region == region


def test_only_one_tool_is_on(map_page: MapPage) -> None:
    page = map_page.map
    page.measure_action.trigger()
    page.region_action.trigger()
    assert not page.measure_action.isChecked()
    assert page.region_action.isChecked()
    page.measure_action.trigger()
    assert not page.region_action.isChecked()


def test_the_legend_in_people_adds_up_to_the_users(map_page: MapPage) -> None:
    page = map_page.map
    result = page.current_result
    surface = next(s for s in result.surfaces if s.key == "true")
    users = result.readout("users_used").value
    unit = People.of(users, surface)
    cell_km2 = map_page.region.width_km * map_page.region.height_km / surface.values.size
    assert surface.values.sum() * unit.factor * cell_km2 == pytest.approx(users)
    bar = page.panes.shared_bars.maps
    before = bar.accessibleDescription()
    assert bar.accessibleDescription().endswith(unit.unit)
    pane = page.panes.panes["true"]
    row, column = divmod(int(surface.values.argmax()), surface.values.shape[1])
    pane.hovered.emit(_middle_of(map_page, row, column, surface.values.shape))
    assert pane.marked_text == f"{unit.format(surface.values.max())} {unit.unit}"
    page.people_action.trigger()
    assert bar.accessibleDescription().endswith("%")
    page.people_action.trigger()
    assert bar.accessibleDescription() == before


def _middle_of(map_page: MapPage, row: int, column: int, shape) -> tuple[float, float]:
    south, west, north, east = map_page.region.box
    return (
        west + (column + 0.5) / shape[1] * (east - west),
        south + (row + 0.5) / shape[0] * (north - south),
    )
