"""Centres and noisy points on the map: shown, updated, exported."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QFileDialog

from explorer.figures.recipes import read_recipe
from tests.ui.map_page import MapPage, made_checkins, opened
from tests.ui.small_map import SMALL_MAP
from tests.ui.test_panes import choose


@pytest.fixture(scope="module")
def checkins(tmp_path_factory):
    return made_checkins(tmp_path_factory.mktemp("drawings"))


@pytest.fixture
def map_page(qtbot, checkins) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        map_page.load(checkins)
        map_page.session.set_value("resolution", "32", "heatmap")
        map_page.answered()
        yield map_page


def inked(image: QImage, colour: QColor, x: float, y: float) -> bool:
    """Return whether a pixel is nearer to a colour than to the background."""
    found = image.pixelColor(round(x), round(y))
    return sum(abs(a - b) for a, b in zip(found.getRgb()[:3], colour.getRgb()[:3], strict=True)) < 9


@pytest.mark.full
def test_centres_are_drawn_where_they_lie_and_follow_k(map_page: MapPage) -> None:
    choose(map_page.map.add_menu, "Centres (k-median)")
    panes = map_page.map.panes
    assert panes.keys == ("true", "private", "centres")
    result = map_page.answered()
    pane, overlay = panes.panes["centres"], result.surface("centres").overlay
    assert len(overlay.points) == 5
    pane.set_cities_visible(False)
    image = pane.grab().toImage()
    south, west, north, east = map_page.region.box
    for row, column in overlay.points.tolist():
        x, y = pane.to_pixels(west + column * (east - west), south + row * (north - south))
        ring = 0.62 * pane.fontMetrics().height()
        dark = [
            image.pixelColor(round(x + dx), round(y)).lightness() for dx in np.arange(-ring, ring)
        ]
        assert min(dark) < 130 < max(dark)  # light disc with its number
    assert pane.image.opacity() == 0
    assert panes.panes["private"].image.opacity() == 1
    map_page.session.set_value("centres", 9, "heatmap")
    assert len(map_page.answered().surface("centres").overlay.points) == 9
    assert panes.headers["centres"].title.accessibleName().startswith("9 centres of")


@pytest.mark.full
def test_how_far_the_nearest_is_stands_below_with_what_only_the_curator_knows(
    map_page: MapPage,
) -> None:
    map_page.session.set_value("beside", "true,centres", "heatmap")
    slot = map_page.map.panes.slots
    map_page.qtbot.waitUntil(
        lambda: (
            map_page.answered().request["beside"] == "true,centres"
            and "centres_true" in {r.key for r in map_page.map.current_result.readouts}
        )
    )
    result, caption = map_page.map.current_result, slot["centres"].caption
    assert not caption.isHidden()
    for key in ("centres_cost", "centres_true", "centres_emd"):
        assert result.readout(key).note in caption.toolTip()
    assert "nearest" in caption.toolTip()
    assert "curator" in caption.accessibleDescription()


@pytest.mark.full
def test_points_stand_beside_and_the_pane_is_used_again_for_a_heatmap(map_page: MapPage) -> None:
    choose(map_page.map.add_menu, "Noisy points, as points")
    result = map_page.answered()
    panes = map_page.map.panes
    pane, overlay = panes.panes["points"], result.surface("points").overlay
    pane.set_cities_visible(False)
    pane.set_lines_visible(False)
    image, style = pane.grab().toImage(), panes.style_of_map
    south, west, north, east = map_page.region.box
    seen = 0
    for row, column in overlay.points[:200].tolist():
        x, y = pane.to_pixels(west + column * (east - west), south + row * (north - south))
        inside = 0 <= x < image.width() and 0 <= y < image.height()
        seen += inside and not inked(image, style.background, min(x, image.width() - 1), y)
    assert seen > 150
    choose(panes.headers["points"].menu, "Laplace baseline")
    map_page.answered()
    assert panes.panes["private:laplace"].image.opacity() == 1
    assert panes.panes["private:laplace"].overlay is None


def test_centres_leave_the_window_without_what_is_the_curators(
    open_window, settled, qtbot, monkeypatch, tmp_path
) -> None:
    window = open_window(study="heatmap", values=(*SMALL_MAP, ("beside", "true,centres")))
    settled(window)
    path = tmp_path / "centres.geojson"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    window.menus.actions["export"].trigger()
    dialog = window.output.dialog
    dialog.format.setCurrentIndex(dialog.format.findData("geojson"))
    dialog.true_map.setChecked(False)
    with qtbot.waitSignal(window.output.controller.done):
        dialog.save.click()
    text = path.read_text(encoding="utf-8")
    assert text.count('"Point"') == 5
    assert read_recipe(path)["private_only"]
    for secret in ("truly", "OPT", "earth mover", "centres_true"):
        assert secret not in text
    assert "Mean distance" in text
