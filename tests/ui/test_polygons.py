"""A polygon as region: drawn by mouse and keys, typed, read from a file, undone and restored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from explorer.geography.region import PolygonRegion
from explorer.studies.base.study import Origin
from explorer.studies.heatmap.study import NOBODY
from tests.ui.map_page import MapPage


def corners_in(map_page: MapPage, *places: tuple[float, float]) -> list[QPoint]:
    """Return pixels of the first pane at shares of the region (right, up)."""
    south, west, north, east = map_page.region.box
    pane = next(iter(map_page.map.panes.panes.values()))
    return [
        QPoint(*map(round, pane.to_pixels(west + x * (east - west), south + y * (north - south))))
        for x, y in places
    ]


TRIANGLE = ((0.2, 0.2), (0.8, 0.3), (0.5, 0.8))


def test_a_polygon_is_drawn_by_clicks(map_page: MapPage) -> None:
    page, box = map_page.map, map_page.region
    pane, other = page.panes.panes.values()
    whole = map_page.measured().readout("users_used").value
    page.polygon_action.trigger()
    pixels = corners_in(map_page, *TRIANGLE)
    places = [pane.to_degrees(point.x(), point.y()) for point in pixels]
    for point in (*pixels, pixels[0] + QPoint(3, -3)):
        QTest.mouseClick(pane.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert not page.polygon_action.isChecked()
    region = map_page.region
    assert region == PolygonRegion.of([[(lat, lon) for lon, lat in places]])
    assert map_page.session.state.selection.region_origin is Origin.DRAWN
    result = map_page.measured()
    assert result.readout("users_used").value < whole
    assert result.surface("private").region == region
    south, west, north, east = region.box
    row, column = np.argwhere(~region.polygon.touched(64, 64))[0]
    across, up = (column + 0.5) / 64, (row + 0.5) / 64
    pane.hovered.emit((west + across * (east - west), south + up * (north - south)))
    assert pane.marked is None
    assert other.grab().toImage() != pane.grab().toImage()
    assert not map_page.panel.sides["south"].isEnabled()
    assert map_page.panel.region_size.text().startswith("Polygon, 3 points")
    map_page.panel.outline_buttons["Use its box"].click()
    assert map_page.region.box == region.box
    assert map_page.region.polygon is None
    map_page.session.undo()
    assert map_page.region == region
    map_page.session.undo()
    assert map_page.region == box


def test_a_polygon_is_drawn_by_keys(map_page: MapPage) -> None:
    page = map_page.map
    pane = next(iter(page.panes.panes.values()))
    page.polygon_action.trigger()
    assert pane.hasFocus()
    tool, shift = page.panes.outline, Qt.KeyboardModifier.ShiftModifier
    moves = ((Qt.Key.Key_Right, 4), (Qt.Key.Key_Up, 4), (Qt.Key.Key_Left, 4), (Qt.Key.Key_Down, 4))
    for key, times in moves:
        QTest.keyClick(pane, Qt.Key.Key_Return)
        for _ in range(times):
            QTest.keyClick(pane, key, shift)
    assert len(tool.points) == 4
    QTest.keyClick(pane, Qt.Key.Key_Backspace)
    assert page.panes.readout.text().startswith("Polygon, 3 points.")
    before = map_page.region
    QTest.keyClick(pane, Qt.Key.Key_Return)  # the cross is at the first point
    assert map_page.region != before
    assert list(map(len, map_page.region.rings)) == [3]
    assert not tool.active


def test_a_crossing_is_said_and_the_points_stay(map_page: MapPage) -> None:
    page, before = map_page.map, map_page.region
    pane = next(iter(page.panes.panes.values()))
    page.polygon_action.trigger()
    pixels = corners_in(map_page, (0.2, 0.2), (0.8, 0.8), (0.2, 0.8), (0.8, 0.2))
    for point in (*pixels, pixels[0]):
        QTest.mouseClick(pane.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert page.banner.problem.sentence == "The region crosses itself between points 3 and 4."
    assert (map_page.region, len(page.panes.outline.points)) == (before, 4)
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not page.polygon_action.isChecked()
    assert map_page.region == before
    page.polygon_action.trigger()
    page.region_action.trigger()
    assert not page.panes.outline.active


def test_points_are_typed_and_offered_again(map_page: MapPage) -> None:
    page = map_page.map
    south, west, north, east = map_page.region.box
    text = f"{south}, {west}\n{south}, {east}\n{north}, {east}"
    page.type_points()
    dialog = page.points_dialog
    assert dialog.edit.toPlainText() == ""
    dialog.edit.setPlainText(text.replace(",", ";", 1))
    dialog.use.click()
    assert "Cannot read point 1" in dialog.problem.text()
    dialog.edit.setPlainText(text)
    dialog.use.click()
    assert map_page.region.polygon is not None
    assert map_page.region.box == (south, west, north, east)
    assert map_page.session.state.selection.region_origin is Origin.TYPED
    page.type_points()
    assert page.points_dialog.edit.toPlainText().count("\n") == 2
    page.points_dialog.reject()


def test_a_file_gives_the_outline(map_page: MapPage, tmp_path: Path) -> None:
    page = map_page.map
    south, west, north, east = map_page.region.box
    ring = [[west, south], [east, south], [east, north], [west, south]]
    path = tmp_path / "district.geojson"
    path.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    page.open_outline(str(path))
    map_page.qtbot.waitUntil(lambda: map_page.region.polygon is not None)
    assert [list(point[::-1]) for point in map_page.region.rings[0]] == ring[:3]
    path.write_text(json.dumps({"type": "LineString", "coordinates": ring}))
    page.open_outline(str(path))
    map_page.qtbot.waitUntil(lambda: page.banner.problem is not None)
    assert "district.geojson has 1 " in page.banner.problem.sentence


def test_areas_with_holes_are_read_drawn_and_edited_as_points(
    map_page: MapPage, tmp_path: Path
) -> None:
    page, before = map_page.map, map_page.region
    pane = next(iter(page.panes.panes.values()))
    south, west, north, east = before.box

    def ring(*places: tuple[float, float]) -> list[list[float]]:
        return [
            [west + x * (east - west), south + y * (north - south)] for x, y in (*places, places[0])
        ]

    whole = ring((0.0, 0.0), (0.6, 0.0), (0.6, 1.0), (0.0, 1.0))
    hole = ring((0.2, 0.2), (0.4, 0.2), (0.4, 0.8), (0.2, 0.8))
    other = ring((0.8, 0.2), (1.0, 0.2), (1.0, 0.8))
    path = tmp_path / "districts.geojson"
    path.write_text(json.dumps({"type": "MultiPolygon", "coordinates": [[whole, hole], [other]]}))
    page.open_outline(str(path))
    map_page.qtbot.waitUntil(lambda: map_page.region.polygon is not None)
    region = map_page.region
    assert region.polygon.holes == (False, True, False)
    assert map_page.panel.region_size.text().startswith("Polygon, 11 points in 3 rings")
    result = map_page.measured()
    assert result.readout("checkins").value > 0
    # What is outside shows the background, in the hole as between the areas.
    shown = pane.grab().toImage()
    place = lambda x, y: QPoint(*map(round, pane.to_pixels(*ring((x, y))[0])))  # noqa: E731
    outside = {shown.pixel(place(*at)) for at in ((0.29, 0.52), (0.33, 0.41), (0.71, 0.52))}
    inside = {shown.pixel(place(*at)) for at in ((0.09, 0.52), (0.51, 0.47), (0.95, 0.45))}
    assert not outside & inside
    page.edit_polygon()
    dialog = page.points_dialog
    assert dialog.edit.toPlainText().count("\n|\n") == 2
    dialog.edit.setPlainText(dialog.edit.toPlainText().rpartition("\n|\n")[0])
    dialog.use.click()
    assert map_page.region.polygon.holes == (False, True)
    map_page.session.undo()
    assert map_page.region == region


def test_a_simpler_outline_is_taken_only_if_it_is_wanted(map_page: MapPage, tmp_path: Path) -> None:
    page, before = map_page.map, map_page.region
    south, west, north, east = before.box
    angles = np.linspace(0, 2 * np.pi, 4001)
    far = 0.9 + 0.02 * np.cos(200 * angles)
    x = (west + east) / 2 + (east - west) / 2 * far * np.cos(angles)
    y = (south + north) / 2 + (north - south) / 2 * far * np.sin(angles)
    path = tmp_path / "coast.geojson"
    ring = np.stack([x, y], axis=1).tolist()
    path.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    for wanted in (False, True):
        page.open_outline(str(path))
        map_page.qtbot.waitUntil(lambda: page.simpler is not None and page.simpler.isVisible())
        assert map_page.region == before
        box = page.simpler
        assert "4,000 points" in box.text()
        cancel = box.defaultButton()
        (use,) = (button for button in box.buttons() if button is not cancel)
        (use if wanted else cancel).click()
        assert page.simpler is None
        assert (map_page.region != before) == wanted
    assert map_page.region.polygon.number == 1000
    map_page.session.undo()
    assert map_page.region == before


def test_an_empty_polygon_is_said(map_page: MapPage) -> None:
    page, height = map_page.map, map_page.map.panes.height()
    page.region_drag.set_outline([[(-60.0, 0.0), (-60.0, 1.0), (-59.0, 0.5)]], Origin.TYPED)
    map_page.answered()
    map_page.qtbot.waitUntil(lambda: page.answer.text.text() == NOBODY)
    assert page.panes.height() == height
    map_page.session.undo()
    map_page.measured()
    map_page.qtbot.waitUntil(lambda: page.answer.text.text() != NOBODY)
