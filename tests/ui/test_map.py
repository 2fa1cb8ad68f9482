"""The Map workspace: panes, colours, pointer, region, noise."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGraphicsItem

from explorer.engine.runtime import first_result
from explorer.figures.view_state import ViewState
from explorer.geography.basemap import shipped_basemap
from explorer.geography.region import Region
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Fidelity, Result, ScalarResult, Surface
from explorer.ui.base.theme import MAP_LIGHT
from explorer.ui.map.colour_bar import format_share, round_step
from explorer.ui.map.layers import tile_paths
from explorer.ui.map.overlay import paint_rubber_band, rect_of
from explorer.ui.map.panes import cell_of
from explorer.ui.map.tools import Grip, PixelBox, dragged_box, grip_at
from tests.ui.dragging import Hand, drag_region, middle_of_region
from tests.ui.map_page import MapPage


def drag(pane, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag between places in shares of the pane with the left button."""
    port = pane.viewport()
    points = [
        QPoint(
            round((start[0] + (end[0] - start[0]) * t) * pane.width()),
            round((start[1] + (end[1] - start[1]) * t) * pane.height()),
        )
        for t in (0, 0.2, 0.5, 0.8, 1)
    ]
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    send(port, QEvent.Type.MouseMove, points[0], none, none)
    send(port, QEvent.Type.MouseButtonPress, points[0], left, left)
    for point in points[1:]:
        send(port, QEvent.Type.MouseMove, point, none, left)
    send(port, QEvent.Type.MouseButtonRelease, points[-1], left, none)


def send(port, kind, point: QPoint, button, buttons) -> None:
    """Send a mouse event; pyqtgraph handles at most one move every 10 ms."""
    QTest.qWait(15)
    event = QMouseEvent(
        kind,
        QPointF(point),
        QPointF(port.mapToGlobal(point)),
        button,
        buttons,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(port, event)


def test_both_panes_show_the_answer(map_page: MapPage) -> None:
    result = map_page.answered()
    for key in ("true", "private"):
        shown = map_page.map.panes.panes[key].image
        assert shown.isVisible()
        np.testing.assert_array_equal(shown.image, result.surface(key).values)
    assert "ε = 1" in map_page.map.panes.headers["private"].detail.text()
    assert map_page.map.panes.slots["true"].stamp.text().startswith("curator only")


def test_a_moved_epsilon_changes_the_private_pane_alone(map_page: MapPage) -> None:
    before = map_page.answered()
    map_page.session.set_value("epsilon", 5.0, "heatmap")
    after = map_page.answered()
    panes = map_page.map.panes.panes
    np.testing.assert_array_equal(panes["true"].image.image, before.surface("true").values)
    assert not np.array_equal(panes["private"].image.image, before.surface("private").values)
    np.testing.assert_array_equal(panes["private"].image.image, after.surface("private").values)


def test_real_data_are_stamped_above_either_pane(map_page: MapPage) -> None:
    """Stamps neither cover nor move the map."""
    map_page.answered()
    for key in ("true", "private"):
        slot = map_page.map.panes.slots[key]
        assert ("not private" if key == "private" else "curator only") in slot.stamp.text()
        assert slot.stamp.toolTip()
        before = slot.pane.geometry()
        assert slot.stamp.isVisible()
        assert slot.stamp.geometry().bottom() < before.top()
        slot.set_stamp("")
        assert slot.pane.geometry() == before


def test_panes_look_at_the_same_box(map_page: MapPage, qtbot) -> None:
    left, right = map_page.map.panes.panes.values()
    assert (left.width(), left.height()) == (right.width(), right.height())
    before = left.box
    drag(right, (0.5, 0.5), (0.7, 0.4))
    assert left.box == right.box
    width = before[3] - before[1]
    assert left.box[1] == pytest.approx(before[1] - 0.2 * width, abs=0.02 * width)
    left.wheel(left.mapToScene(QPoint(10, 10)), 240)
    assert left.box == right.box
    assert left.box[3] - left.box[1] < width
    for pane in (left, right):
        (west, east), (south, north) = pane.view.viewRange()
        assert (south, west, north, east) == pytest.approx(pane.box)


def test_the_map_fills_its_region_after_a_change_of_size_or_font(map_page: MapPage, qtbot) -> None:
    """Picture, lines and outline are drawn by the same view at every size."""

    def drawn_as_stated() -> bool:
        for pane in map_page.map.panes.panes.values():
            (west, east), (south, north) = pane.view.viewRange()
            if (south, west, north, east) != pytest.approx(pane.box, rel=1e-9):
                return False
            corner = pane.image.mapRectToScene(pane.image.boundingRect())
            if abs(corner.height() / corner.width() - 1) > 0.02:  # the region is a square in km
                return False
        return True

    assert drawn_as_stated()
    for size in ((1100, 520), (900, 800), (1400, 640)):
        map_page.widget.resize(*size)
        qtbot.waitUntil(drawn_as_stated)


def test_zooming_keeps_the_point_under_the_pointer(map_page: MapPage) -> None:
    pane = map_page.map.panes.panes["true"]
    before = pane.to_degrees(40, 70)
    pane.wheel(pane.mapToScene(QPoint(40, 70)), 360)
    assert pane.to_degrees(40, 70) == pytest.approx(before)


def test_keys_pan_zoom_and_reset(map_page: MapPage) -> None:
    pane = map_page.map.panes.panes["private"]
    home = pane.box
    pane.setFocus()
    QTest.keyClick(pane, Qt.Key.Key_Right)
    assert pane.box[1] > home[1]
    QTest.keyClick(pane, Qt.Key.Key_Up)
    assert pane.box[0] > home[0]
    QTest.keyClick(pane, Qt.Key.Key_Plus)
    assert pane.box[3] - pane.box[1] < home[3] - home[1]
    QTest.keyClick(pane, Qt.Key.Key_Minus)
    QTest.keyClick(pane, Qt.Key.Key_0)
    assert pane.box == pytest.approx(home)


def test_the_map_is_true_to_scale_at_the_region(map_page: MapPage) -> None:
    pane, region = map_page.map.panes.panes["true"], map_page.region
    left, top = pane.to_pixels(region.west, region.north)
    right, bottom = pane.to_pixels(region.east, region.south)
    drawn = (right - left) / (bottom - top)
    assert drawn == pytest.approx(region.width_km / region.height_km, rel=1e-6)


def test_level_of_detail_follows_the_zoom_and_panning_rebuilds_nothing(map_page: MapPage) -> None:
    pane = map_page.map.panes.panes["true"]
    assert pane.level == "10m"
    items = pane.lines.items()
    paths = [item.path() for item in items]
    map_page.map.panes.camera.pan(30, 20)
    assert pane.lines.items() == items
    assert [item.path() for item in items] == paths
    for item in items:
        assert item.isVisible()
        assert item.pen().isCosmetic()
        assert item.pen().widthF() == 1
        assert item.cacheMode() == QGraphicsItem.CacheMode.NoCache
    map_page.map.panes.home(None)
    assert pane.level == "110m"
    assert not any(item.isVisible() for item in items)
    assert all(item.isVisible() for item in pane.lines.items())
    map_page.map.lines_action.setChecked(False)
    assert not any(item.isVisible() for item in pane.lines.items())


@pytest.mark.full
def test_tiles_hold_every_line() -> None:
    for level in shipped_basemap().levels:
        segments = np.isfinite(level.lon[:-1]) & np.isfinite(level.lon[1:])
        drawn = set()
        for path in tile_paths(level):
            points = [path.elementAt(i) for i in range(path.elementCount())]
            drawn |= {
                (round(a.x, 3), round(a.y, 3), round(b.x, 3), round(b.y, 3))
                for a, b in pairwise(points)
                if b.isLineTo()
            }
        wanted = {
            tuple(round(float(v), 3) for v in four)
            for four in zip(
                level.lon[:-1][segments],
                level.lat[:-1][segments],
                level.lon[1:][segments],
                level.lat[1:][segments],
                strict=True,
            )
        }
        assert wanted <= drawn
        # pyqtgraph ends each line by a step of no length.
        assert all(four[:2] == four[2:] for four in drawn - wanted)


def test_one_colour_scale_ends_at_the_true_maximum(map_page: MapPage) -> None:
    result, panes = map_page.answered(), map_page.map.panes
    tops = {key: float(result.surface(key).values.max()) for key in ("true", "private")}
    for pane in panes.panes.values():
        assert tuple(pane.image.levels) == pytest.approx((0, tops["true"]))
    assert panes.shared_bars.maps.top == pytest.approx(tops["true"])
    assert panes.shared_bars.maps.beyond == (tops["private"] > tops["true"])
    assert panes.bars["private"].isHidden()
    map_page.map.linked_action.setChecked(False)
    for key, pane in panes.panes.items():
        assert tuple(pane.image.levels) == pytest.approx((0, tops[key]))
        assert panes.bars[key].top == pytest.approx(tops[key])
        assert panes.bars[key].isVisible()
        assert not panes.bars[key].beyond
    map_page.map.linked_action.setChecked(True)
    assert tuple(panes.panes["private"].image.levels) == pytest.approx((0, tops["true"]))


def test_the_pointer_reads_out_the_cell_in_every_pane(map_page: MapPage, qtbot) -> None:
    result, pane = map_page.answered(), map_page.map.panes.panes["private"]
    surface = result.surface("true")
    row, column = np.unravel_index(int(surface.values.argmax()), surface.values.shape)
    region, side = surface.region, surface.values.shape[0]
    longitude = region.west + (column + 0.5) / side * (region.east - region.west)
    latitude = region.south + (row + 0.5) / side * (region.north - region.south)
    x, y = pane.to_pixels(longitude, latitude)
    none = Qt.MouseButton.NoButton
    send(pane.viewport(), QEvent.Type.MouseMove, QPoint(round(x), round(y)), none, none)
    readout = map_page.map.panes.readout
    qtbot.waitUntil(lambda: "true " in readout.text())
    assert f"cell {column + 1}, {row + 1} " in readout.text()
    assert "private " in readout.text()
    assert "° N" in readout.text()
    for other in map_page.map.panes.panes.values():
        south, west, north, east = other.marked
        assert south < latitude < north
        assert west < longitude < east
    QApplication.sendEvent(pane, QEvent(QEvent.Type.Leave))
    assert "Hover" in readout.text()
    assert pane.marked is None


def test_cells_count_from_the_south_west() -> None:
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    surface = Surface("true", "", values, Region(0, 10, 4, 18), True)
    assert cell_of(surface, 10.1, 0.1) == (0, 0, (0, 10, 1, 12))
    assert cell_of(surface, 18.0, 4.0)[:2] == (3, 3)
    assert cell_of(surface, 12.5, 3.5)[:2] == (3, 1)
    assert cell_of(surface, 9.9, 1.0) is None


@pytest.mark.full
def test_a_region_is_dragged_moved_pulled_and_undone(map_page: MapPage) -> None:
    first = map_page.region
    map_page.map.region_action.trigger()
    pane = map_page.map.panes.panes["true"]
    drag(pane, (0.02, 0.02), (0.5, 0.5))
    drawn = map_page.region
    south, west, north, east = pane.box
    assert drawn.west == pytest.approx(west + 0.02 * (east - west), abs=0.01 * (east - west))
    assert drawn.south == pytest.approx(south + 0.5 * (north - south), abs=0.01 * (north - south))
    assert map_page.answered().surface("true").region == drawn
    assert map_page.panel.sides["west"].text() == f"{drawn.west:.6g}"

    drag(pane, (0.25, 0.25), (0.35, 0.3))  # by its centre
    moved = map_page.region
    assert moved.width_km == pytest.approx(drawn.width_km, rel=0.02)
    assert moved.west > drawn.west

    left, top = pane.to_pixels(moved.east, moved.south)
    drag(pane, (left / pane.width(), top / pane.height()), (0.9, 0.9))
    pulled = map_page.region
    assert pulled.west == pytest.approx(moved.west)
    assert pulled.north == pytest.approx(moved.north)
    assert pulled.east > moved.east
    for expected in (moved, drawn, first):
        map_page.session.undo()
        assert map_page.region == expected
        assert pane.region == expected
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not map_page.map.region_action.isChecked()


@pytest.mark.full
def test_both_panes_follow_a_region_that_is_dragged(map_page: MapPage, qtbot) -> None:
    first, shown = map_page.region, []

    def note(result) -> None:
        panes = map_page.map.panes.panes
        drawn = {pane.surface_region for pane in panes.values()}
        assert drawn == {result.request.selection.region}  # in its place, in both
        for pane in panes.values():
            image = pane.image
            assert image.mapRectToParent(image.boundingRect()) == rect_of(
                result.request.selection.region.box
            )
        shown.append(result.request.selection.region)

    map_page.map.result_shown.connect(note)
    map_page.map.region_action.trigger()
    pane = map_page.map.panes.panes["private"]
    camera, pixels = map_page.map.panes.camera.aspect, middle_of_region(pane)
    places, moves = [], drag_region(pane, QPointF(4.0, -9.0), 12)
    for _ in moves:
        places.append(map_page.region)
        if len(places) <= 12:
            assert (
                map_page.map.panes.camera.aspect == camera
            )  # the map does not move below the pointer
            assert middle_of_region(pane) == pytest.approx(
                (pixels[0] + 4 * len(places), pixels[1] - 9 * len(places)), abs=1
            )
            known = len(shown)
            qtbot.waitUntil(lambda known=known: len(shown) > known)
    assert len({*places}) == 12
    assert map_page.answered().surface("private").region == map_page.region == places[-1]
    assert len(shown) >= 12  # also during the drag
    assert shown == sorted(shown, key=[first, *places].index)  # never back to an older one
    assert map_page.map.panes.camera.aspect == map_page.region.aspect != camera
    exact = first_result(map_page.service.runtime, map_page.controller.request)
    for key, pane in map_page.map.panes.panes.items():
        np.testing.assert_array_equal(pane.image.image, exact.surface(key).values)
    map_page.session.undo()
    assert map_page.region == first


def test_a_region_stays_where_it_was_dragged_though_the_map_moves_before_the_release(
    map_page: MapPage, qtbot
) -> None:
    map_page.map.region_action.trigger()
    pane = map_page.map.panes.panes["private"]
    moves = drag_region(pane, QPointF(4.0, -9.0), 3)
    for _ in range(3):
        next(moves)
    dragged = map_page.region
    map_page.widget.resize(map_page.widget.width(), map_page.widget.height() - 60)
    qtbot.turns()
    next(moves)
    assert map_page.region == dragged


def test_the_maps_keep_still_while_the_answer_comes(map_page: MapPage, qtbot) -> None:
    map_page.measured()
    answer = map_page.map.answer
    assert answer.badge.isVisible()
    pane = map_page.map.panes.panes["private"]
    size = pane.size()
    answer.show_computing()
    qtbot.turns()
    assert not answer.badge.isVisible()
    assert pane.size() == size


def test_the_box_of_a_drag_covers_no_colour_unless_it_is_refused(qapp) -> None:
    for refused in (False, True):
        picture = QImage(60, 60, QImage.Format.Format_RGB32)
        picture.fill(QColor("#440154"))
        painter = QPainter(picture)
        paint_rubber_band(painter, PixelBox(10.0, 10.0, 50.0, 50.0), MAP_LIGHT, refused)
        painter.end()
        assert (picture.pixelColor(30, 30) != QColor("#440154")) == refused
        assert picture.pixelColor(11, 10) != picture.pixelColor(5, 5)


def test_a_drag_that_comes_to_nothing_leaves_the_region_as_it_was(map_page: MapPage, qtbot) -> None:
    first = map_page.session.state.selection
    map_page.map.region_action.trigger()
    pane = map_page.map.panes.panes["true"]
    hand = Hand(pane)
    for act, x in ((hand.move, 5), (hand.press, 5), (hand.move, 60), (hand.move, 6)):
        act(x, x)
        qtbot.wait(20)
    assert map_page.session.state.selection != first
    hand.release(6, 6)
    assert map_page.session.state.selection == first


def test_a_region_too_wide_is_refused_in_a_sentence(map_page: MapPage) -> None:
    before = map_page.region
    map_page.map.set_region_box((-10.0, -170.0, 20.0, 40.0))
    assert map_page.region == before
    assert "at most 180°" in map_page.map.banner.text.text()
    assert map_page.map.banner.isVisible()
    map_page.map.set_region_box((10.0, 0.0, 20.0, 15.0))
    assert not map_page.map.banner.isVisible()


def test_new_noise_is_another_draw_and_can_be_undone(map_page: MapPage) -> None:
    before = map_page.answered()
    map_page.panel.setFocus()
    QTest.keyClick(map_page.panel, Qt.Key.Key_N)
    assert map_page.map.seed == 1
    after = map_page.answered()
    assert not np.array_equal(after.surface("private").values, before.surface("private").values)
    np.testing.assert_array_equal(after.surface("true").values, before.surface("true").values)
    map_page.session.undo()
    assert map_page.map.seed == 0
    again = map_page.answered()
    np.testing.assert_array_equal(again.surface("private").values, before.surface("private").values)


def test_metrics_are_grey_until_they_belong_to_the_picture(map_page: MapPage) -> None:
    result = map_page.measured()
    cells = map_page.map.metrics.cells
    assert not any(cell.trailing for cell in cells.values())
    assert cells["similarity"].value.text() == format_number(result.readout("similarity").value)
    assert result.readout("emd").low is not None
    said = cells["similarity"].value.text()
    newer = replace(
        result,
        complete=False,
        readouts=tuple(
            replace(r, value=None, low=None, high=None) if r.key in cells else r
            for r in result.readouts
        ),
    )
    map_page.map._show(newer, 1.0)
    assert all(cell.trailing for cell in cells.values())
    assert cells["similarity"].value.text() == said
    assert not cells["similarity"].value.isEnabled()
    assert "earlier picture" in cells["similarity"].explanation
    map_page.map._show(result, 1.0)
    assert not any(cell.trailing for cell in cells.values())


def test_a_distance_is_an_interval_before_it_is_exact(map_page: MapPage) -> None:
    cell = map_page.map.metrics.cells["emd"]
    cell.show_readout(ScalarResult("emd", "", None, None, low=0.0812, high=0.0941))
    assert cell.value.text() == "0.0812 … 0.0941"
    assert "certified interval" in cell.explanation
    assert "curator" in cell.explanation


def test_budget_bars_show_the_levels(map_page: MapPage) -> None:
    levels = map_page.map.metrics.bars.levels
    assert sum(epsilon for _, epsilon in levels) == pytest.approx(1.0)
    assert [level for level, _ in levels] == list(range(2, 7))


def test_dots_are_the_check_ins_in_the_true_pane_alone(map_page: MapPage, qtbot) -> None:
    panes = map_page.map.panes.panes
    map_page.map.show_extent()
    data = map_page.data.current
    qtbot.waitUntil(
        lambda: (
            map_page.map.panes.dots is not None
            and int(map_page.map.panes.dots[0].sum()) == data.rows
        ),
    )
    assert panes["true"].dots.isVisible()
    assert panes["private"].dots.image is None
    map_page.map.dots_action.setChecked(False)
    assert not panes["true"].dots.isVisible()


def test_view_state_goes_round(map_page: MapPage) -> None:
    map_page.map.panes.camera.zoom(3.0, 20, 10)
    map_page.map.linked_action.setChecked(False)
    map_page.map.cities_action.setChecked(False)
    state = map_page.map.view_state()
    assert state.surfaces == ("true", "private")
    assert ViewState.from_dict(state.to_dict()) == state
    map_page.map.go_home()
    map_page.map.apply_view_state(ViewState(colour_map="inferno"))
    assert map_page.map.panes.colour_map == "inferno"
    assert map_page.map.linked_action.isChecked()
    map_page.map.apply_view_state(state)
    assert map_page.map.view_state().map_box == pytest.approx(state.map_box)
    assert replace(map_page.map.view_state(), map_box=None) == replace(state, map_box=None)


def test_a_dark_palette_makes_a_dark_map(map_page: MapPage) -> None:
    light = map_page.map.panes.panes["true"].lines.pen.color()
    palette = QPalette(map_page.widget.palette())
    palette.setColor(QPalette.ColorRole.Window, QColor("#14181d"))
    map_page.map.setPalette(palette)
    assert map_page.map.view_state().theme == "dark"
    assert map_page.map.panes.panes["true"].lines.pen.color() != light


def test_an_empty_region_has_a_picture_and_no_metrics(map_page: MapPage) -> None:
    map_page.map.set_region_box((-60.0, -30.0, -59.0, -29.0))
    result = map_page.answered()
    assert float(result.surface("true").values.max()) == 0
    assert map_page.map.panes.top("true") > 0
    assert map_page.map.metrics.cells["emd"].value.text() == "–"


def test_everything_has_a_name(map_page: MapPage) -> None:
    for pane in map_page.map.panes.panes.values():
        assert pane.accessibleName()
        assert pane.focusPolicy() == Qt.FocusPolicy.StrongFocus
    for action in map_page.map.view_actions():
        assert action.isSeparator() or (action.text() and action.toolTip())
    for cell in map_page.map.metrics.cells.values():
        assert cell.about.title in cell.accessibleName()


def test_results_of_another_kind_are_shown_without_a_true_pane(map_page: MapPage) -> None:
    result = map_page.answered()
    alone = Result(
        result.request, Fidelity.FULL, surfaces=(result.surface("private"),), complete=True
    )
    map_page.map._show(alone, 1.0)
    panes = map_page.map.panes
    assert not panes.panes["true"].image.isVisible()
    own = float(result.surface("private").values.max())
    assert panes.top("private") == pytest.approx(own)


def test_a_region_out_of_view_is_brought_into_view(map_page: MapPage) -> None:
    map_page.map.set_region_box((10.0, 100.0, 12.0, 102.0))
    south, west, north, east = map_page.map.panes.box
    assert south < 10 < 12 < north
    assert west < 100 < 102 < east
    map_page.session.undo()
    assert map_page.map.panes.box[3] < 0


def test_shares_are_written_alike() -> None:
    assert format_share(0.0) == "0"
    assert format_share(0.00123) == "0.123 %"
    assert format_share(1.7e-6) == "1.70 ppm"
    assert format_share(1.7e-6, like=0.001) == "0.000170 %"
    assert format_share(0.02, step=0.01) == "2 %"
    assert format_share(0.0005, step=0.0001) == "0.05 %"
    for top in (0.055, 1e-4, 3.3e-7, 1.0):
        step = round_step(top, 6)
        assert top / step <= 6
        assert top / step > 1


def test_drags_of_the_region_tool() -> None:
    box = PixelBox(100, 50, 300, 150)
    assert grip_at(box, 50, 50) == Grip()
    assert grip_at(box, 200, 100).whole
    assert grip_at(box, 101, 51) == Grip(west=True, north=True)
    assert grip_at(box, 299, 100) == Grip(east=True)
    assert grip_at(None, 200, 100).new
    degrees = (0.0, 0.0, 10.0, 20.0)
    assert dragged_box(degrees, Grip(), (3, 4), (1, 9)) == (4, 1, 9, 3)
    assert dragged_box(degrees, Grip(True, True, True, True), (0, 0), (5, -1)) == (-1, 5, 9, 25)
    assert dragged_box(degrees, Grip(east=True), (20, 5), (-4, 5)) == (0, -4, 10, 0)
    assert dragged_box(degrees, Grip(north=True, west=True), (0, 10), (2, 8)) == (0, 2, 8, 20)


@pytest.mark.full
def test_repaints_leave_the_reference_count_of_none_alone(map_page: MapPage) -> None:
    map_page.controller.cancel()
    pane = map_page.map.panes.panes["true"]
    pane.viewport().repaint()
    before = sys.getrefcount(None)
    for _ in range(200):
        pane.viewport().repaint()
    assert sys.getrefcount(None) > before - 50


def test_a_map_of_another_resolution_fills_the_same_region(map_page: MapPage) -> None:
    """Cells are rescaled when their number changes, not with the region alone."""
    pane, region = map_page.map.panes.panes["private"], Region(40.0, -74.0, 41.0, -73.0)
    found = []
    for side in (16, 64, 32):
        pane.set_surface(np.zeros((side, side), np.float32), region, 1.0)
        found.append(pane.image.mapRectToParent(pane.image.boundingRect()))
    assert found[0] == found[1] == found[2]
