"""Points in a picture: range declared, no geographic texts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from explorer.engine.error_curves import ErrorCurves
from explorer.engine.session.utility_settings import UtilitySettings
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion
from explorer.studies.base.study import Origin
from tests.planes import OF_THE_EARTH, gaze_table, picture

PLANE = Plane.parse("320x240")


def asked(window: Any, qtbot: Any) -> Any:
    """Wait for the mapping dialog and return it."""
    panel = window.workspaces["map"].side_panel
    qtbot.waitUntil(lambda: panel.dialog("mapping") is not None)
    return panel.dialog("mapping")


def said_by(root: QWidget) -> list[str]:
    """Return all texts of widgets, including accessible ones."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        found += [widget.accessibleName(), widget.accessibleDescription(), widget.toolTip()]
        if isinstance(widget, QLabel | QLineEdit):
            found.append(widget.text())
    return [text for text in found if text]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return gaze_table(tmp_path / "gaze.csv")


@pytest.fixture
def gazing(open_window: Any, qtbot: Any, table: Path, settled: Any) -> Any:
    """The window with the table open, in 320 × 240 pixels."""
    window = open_window(data=table, values=(("resolution", "16"),))
    dialog = asked(window, qtbot)
    assert "declare which range they have" in dialog.request.reason
    assert dialog.plane.is_on
    assert not dialog.load_button.isEnabled()
    assert "Declare the range" in dialog.verdict.text()
    dialog.plane.take_picture(picture(table.parent / "park.png"))
    assert dialog.plane.text == PLANE.text
    for card in (dialog.position, dialog.time):
        card.button.click()
    assert dialog.load_button.isEnabled()
    dialog._accept()
    qtbot.waitUntil(lambda: window.session.state.selection is not None)
    settled(window)
    return window


def _ends_of_the_region_are_x_and_y(gazing: Any) -> None:
    panel = gazing.workspaces["map"].side_panel
    panel.sides["north"].entered.emit(120.0)  # y to
    region = gazing.session.state.selection.region
    assert region.declared == (0.0, 0.0, 120.0, 320.0)
    assert region.plane == PLANE
    assert gazing.session.state.selection.region_from == (Origin.TYPED,) * 4
    gazing.workspaces["map"].set_region_box((-100.0, 10.0, -50.0, 60.0))
    assert gazing.session.state.selection.region.declared == (50.0, 10.0, 100.0, 60.0)
    assert gazing.session.state.selection.region_origin is Origin.DRAWN
    panel.sides["south"].entered.emit(40.0)  # y from: the upper end, which is north
    origins = gazing.session.state.selection.region_from
    assert origins == (Origin.DRAWN, Origin.DRAWN, Origin.TYPED, Origin.DRAWN)


def _a_map_of_the_earth_afterwards_is_one(gazing: Any, settled: Any, qtbot: Any) -> None:
    page = gazing.workspaces["map"]
    gazing.files.open_sample()
    qtbot.waitUntil(lambda: gazing.session.state.selection.region.plane is None)
    settled(gazing)
    assert page.panes.panes["true"].lines.visible
    assert not page.panes.panes["true"].picture.isVisible()
    assert page.metrics.cells["emd_km"].title.text().startswith("EMD, km")
    assert page.side_panel.region_size.text().endswith("km")
    assert page.side_panel.plane.isHidden()
    assert page.lines_action.isEnabled()


def test_a_map_in_pixels(gazing: Any, qtbot: Any, settled: Any) -> None:
    page, panel = gazing.workspaces["map"], gazing.workspaces["map"].side_panel
    selection = gazing.session.state.selection
    assert selection.region == PlaneRegion.whole(PLANE)
    assert selection.region_origin is Origin.TYPED
    assert selection.image == "park"
    qtbot.waitUntil(lambda: page.backdrop.name == "park.png")
    pane = page.panes.panes["true"]
    assert pane.picture.isVisible()
    assert not pane.lines.visible
    assert page.metrics.cells["emd_km"].title.text().startswith("EMD, px")
    assert panel.region_size.text() == "320.0 px × 240.0 px"
    assert [field.text() for field in panel.sides.values()] == ["0", "240", "0", "320"]
    page.panes._hover((12.0, -30.0))
    assert "x 12" in page.panes.readout.text()
    assert "y 30" in page.panes.readout.text()
    for widget in (page.panes, page.metrics, panel):
        assert not [text for text in said_by(widget) if OF_THE_EARTH.search(text)]
    # One image at a time.
    first = page.current_result.surface("true").values
    panel.plane.image.setCurrentIndex(1)
    panel.plane.image.activated.emit(1)
    assert gazing.session.state.selection.image == "sea"
    second = settled(gazing).surface("true").values
    # park is viewed on the left, sea on the right.
    halves = [values[:, :8].sum() > values[:, 8:].sum() for values in (first, second)]
    assert halves == [True, False]
    _ends_of_the_region_are_x_and_y(gazing)
    _a_map_of_the_earth_afterwards_is_one(gazing, settled, qtbot)


def test_the_picture_is_behind_exports_and_comes_back(
    gazing: Any, qtbot: Any, open_window: Any, settled: Any, table: Path, tmp_path: Path
) -> None:
    page = gazing.workspaces["map"]
    qtbot.waitUntil(lambda: page.backdrop.name == "park.png")
    view = page.view_state()
    assert view.picture.startswith("park.png#")
    recipe = gazing.output.recipe(gazing.current_result, gazing.data.current, view)
    assert recipe["selection"]["plane"] == PLANE.text
    assert not OF_THE_EARTH.search(json.dumps(recipe))
    gazing.close()
    again = open_window()
    settled(again)
    back = again.workspaces["map"]
    assert again.session.state.selection.region == PlaneRegion.whole(PLANE)
    qtbot.waitUntil(lambda: back.backdrop.value == view.picture)
    assert back.panes.panes["private"].picture.isVisible()
    south, west, north, east = back.panes.box
    assert south <= -240 < 0 <= north
    assert west <= 0 < 320 <= east


def test_other_people_who_look_at_pictures_stand_in(
    gazing: Any, qtbot: Any, table: Path, tmp_path: Path
) -> None:
    """The stand-in users lie in the map's plane; the image of the same name is used."""
    gazing.session.set_which(replace(UtilitySettings(), open=True, measure="similarity"), "open")
    page = gazing.workspaces["map"]
    view = page.utility.view

    def judged_on(path: Path) -> ErrorCurves:
        view.evaluate_on(str(path))
        qtbot.waitUntil(
            lambda: (
                view.answer is not None
                and view.answer.question.judged_on == str(path)
                and view.answer.finished
            )
        )
        return view.answer

    same = gaze_table(tmp_path / "alike.csv", users=12, images=("lake", "park"))
    other = gaze_table(tmp_path / "other.csv", users=12, images=("lake", "sky"))
    alike = judged_on(same)
    assert alike.users == 12
    assert "12 users" in view.headline.beside
    assert not OF_THE_EARTH.search(view.headline.beside)
    # park is the second image there, viewed on the right; lake, the first, on the left.
    assert [c.mean[-1] for c in judged_on(other).curves] != [c.mean[-1] for c in alike.curves]
    view.evaluate_on(str(table))
    qtbot.waitUntil(lambda: not page.banner.isHidden())
    assert "own file" in page.banner.text.text()
    far = tmp_path / "degrees.csv"
    far.write_text("user,lat,lon\n" + "".join(f"u{i % 25},{40 + i / 99},-74\n" for i in range(50)))
    view.evaluate_on(str(far))
    qtbot.waitUntil(lambda: "degrees.csv" in page.banner.text.text())
