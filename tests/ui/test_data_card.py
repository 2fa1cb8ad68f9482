"""The card of the open check-ins and the region, beside the parameters of the map."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.geography.region import PolygonRegion
from explorer.studies.base.study import Origin
from tests.ui.small_map import SMALL_MAP

TRIANGLE = [(40.65, -74.0), (40.85, -74.0), (40.75, -73.85)]


@pytest.fixture
def window(open_window, settled, checkins):
    window = open_window(study="heatmap", values=SMALL_MAP, data=checkins, size=(1280, 800))
    window.activateWindow()
    settled(window)
    return window


def entries(box) -> list[str]:
    return [box.itemData(place) for place in range(box.count())]


def choose(box, key: str) -> None:
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())


def _tab_goes_from_the_parameters_over_the_region_to_the_card(window) -> None:
    panel, visited = window.data_panel, []
    window.parameters.enter()
    for _ in range(40):
        visited.append(QApplication.focusWidget())
        QTest.keyClick(visited[-1], "\t")
    order = [
        window.parameters.row("epsilon").field,
        *panel.region_box.stops(),
        panel.card.open,
        panel.card.people,
        panel.card.change,
        window.presets.button,
    ]
    places = [visited.index(widget) for widget in order]
    assert places == sorted(places)
    first = places[1]
    assert visited[first : first + 4] == panel.region_box.stops()


def test_the_card_is_reached_by_tab_and_counts_what_is_in_the_map(window, settled) -> None:
    _tab_goes_from_the_parameters_over_the_region_to_the_card(window)
    card, result = window.data_panel.card, window.current_result
    assert card.file.text() == "made.txt"
    people = result.readout("users_used").value
    assert card.people.text().startswith(f"All {people:,.0f} people")
    assert card.counts.text() == f"{result.readout('checkins').value:,.0f} check-ins"
    card.people.menu().aboutToShow.emit()
    assert card.all_action.isChecked()
    card.sample_action.trigger()
    assert window.data_panel.sample.isAncestorOf(QApplication.focusWidget())
    window.data_panel.sample.mode.setCurrentIndex(1)
    window.data_panel.sample.mode.activated.emit(1)
    result = settled(window)
    assert card.people.text().startswith(f"{result.readout('users_used').value:,.0f} sampled")
    card.all_action.trigger()
    assert not window.session.state.selection.sampled
    card.change.click()
    assert window.data_panel.time.isAncestorOf(QApplication.focusWidget())
    window.show_study("shuffle-rdp")
    assert not card.isVisible()
    window.show_study("heatmap")
    assert card.isVisible()


def test_the_region_is_chosen_and_edited_beside_the_parameters(window, settled) -> None:
    page, box = window.workspaces["map"], window.data_panel.region_box
    region = window.session.state.selection.region
    assert box.choice.currentText() == "Box, 39.02 × 38.92 km"
    assert entries(box.choice) == ["", "box", "polygon"]
    choose(box.choice, "box")
    assert page.region_action.isChecked()
    assert box.choice.currentData() == ""
    page.region_action.setChecked(False)
    box.edit.click()
    assert QApplication.focusWidget() is window.data_panel.sides["south"]
    window.sides.setCurrentIndex(0)
    box.links[1].click()
    assert page.points_dialog.isVisible()
    page.points_dialog.reject()

    page.region_drag.set_outline([TRIANGLE], Origin.TYPED)
    assert isinstance(window.session.state.selection.region, PolygonRegion)
    assert box.choice.currentText() == "Polygon, 3 points"
    assert entries(box.choice) == ["", "box", "polygon", "outer"]
    box.edit.click()
    tool = page.panes.outline
    assert tool.points == [(lon, lat) for lat, lon in TRIANGLE]
    tool.take_back()
    tool.add((-73.9, 40.75))
    tool.close_at_first()
    assert window.session.state.selection.region.rings[0][-1] == pytest.approx((40.75, -73.9))
    assert not page.polygon_action.isChecked()
    choose(box.choice, "outer")
    assert window.session.state.selection.region.polygon is None
    for _ in range(3):
        window.session.undo()
    assert window.session.state.selection.region == region
