"""Backgrounds behind the map: drawn, listed, credited, kept in session, views and exports."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table, diverging_table, over_background
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import by_suffix
from explorer.figures.view_state import ViewState
from explorer.ui.map.backgrounds import BUILT_IN, ink_for
from tests.geography.backgrounds import tile_png, tiles_of, write_geojson, write_mbtiles
from tests.ui.map_page import MapPage
from tests.ui.small_map import SMALL_MAP

BLUE = (10, 20, 250)


@pytest.fixture
def blue_tiles(tmp_path):
    return write_mbtiles(
        tmp_path / "blue.mbtiles", [(0, 0, 0, tile_png(BLUE))], attribution="© Blue &amp; co"
    )


def opened_background(page: MapPage, *paths) -> None:
    backgrounds = page.map.backgrounds
    more = len(backgrounds.listed) + len(paths)

    def all_drawn(picture) -> bool:
        return picture is not None and len(backgrounds.listed) == more

    # Listed and drawn may be one turn of the event loop: the signal is waited for from before.
    with page.qtbot.waitSignal(backgrounds.drawn, check_params_cb=all_drawn):
        backgrounds.open(paths)


def pixel(pane, x: int, y: int) -> tuple[int, int, int]:
    colour = pane.grab().toImage().pixelColor(x, y)
    return colour.red(), colour.green(), colour.blue()


def test_a_file_is_drawn_behind_every_map(map_page: MapPage, blue_tiles) -> None:
    panes = list(map_page.map.panes.panes.values())
    before = [pixel(pane, 3, 3) for pane in panes]
    opened_background(map_page, blue_tiles)
    assert BLUE not in before
    assert [pixel(pane, 3, 3) for pane in panes] == [BLUE, BLUE]
    bar = map_page.map.background_bar
    assert bar.isVisible()
    assert bar.credit.text() == "© Blue & co"
    assert not map_page.map.lines_action.isChecked()
    # A pixel within the region, where nobody is: the map is transparent at 0.
    pane = panes[0]
    region = map_page.region
    x, y = pane.to_pixels(region.west, region.north)
    inside = pixel(pane, round(x) + 4, round(y) + 4)
    assert np.abs(np.subtract(inside, BLUE)).max() < 40


def test_hiding_and_taking_off_the_list_bring_the_plain_map_back(
    map_page: MapPage, blue_tiles
) -> None:
    pane = next(iter(map_page.map.panes.panes.values()))
    plain, table = pixel(pane, 3, 3), pane.image.lut
    opened_background(map_page, blue_tiles)
    assert pane.image.lut.shape == (256, 4)
    (tick,) = map_page.map.background_bar.ticks.values()
    tick.setFocus()
    QTest.keyClick(tick, Qt.Key.Key_Space)
    assert pixel(pane, 3, 3) == plain
    assert np.array_equal(pane.image.lut, table)
    assert map_page.map.view_state().backgrounds == ()
    QTest.keyClick(tick, Qt.Key.Key_Delete)
    assert map_page.map.background_bar.ticks == {}
    assert not map_page.map.background_bar.slider.isEnabled()
    assert map_page.map.backgrounds.listed == ()


def test_the_slider_sets_the_opacity_of_heatmaps(map_page: MapPage, blue_tiles) -> None:
    opened_background(map_page, blue_tiles)
    pane = next(iter(map_page.map.panes.panes.values()))
    assert pane.image.lut[255, 3] == round(0.75 * 255)
    map_page.map.background_bar.slider.setValue(20)
    assert pane.image.lut[255, 3] == round(0.2 * 255)
    assert map_page.map.view_state().heatmap_opacity == 0.2


def test_the_scale_runs_towards_the_contrast_of_the_background(map_page: MapPage, tmp_path) -> None:
    pane = next(iter(map_page.map.panes.panes.values()))
    ends = []
    for name, colour in (("dark", (20, 25, 30)), ("light", (240, 240, 235))):
        path = write_mbtiles(tmp_path / f"{name}.mbtiles", [(0, 0, 0, tile_png(colour))])
        opened_background(map_page, path)
        ends.append(pane.image.lut[255, :3].astype(int).sum())
        map_page.map.backgrounds.clear()
    assert ends[0] > 300 > ends[1]  # bright on dark tiles, dark on light ones


def test_the_picture_follows_the_camera(map_page: MapPage, tmp_path) -> None:
    opened_background(map_page, write_mbtiles(tmp_path / "a.mbtiles", tiles_of(range(4))))
    pane = next(iter(map_page.map.panes.panes.values()))
    first = pane.behind.pos()
    with map_page.qtbot.waitSignal(map_page.map.backgrounds.drawn):
        map_page.map.panes.camera.pan(10, 5)
        assert (pane.behind.pos() - first).toTuple() == pytest.approx((10, 5), abs=1)
        map_page.map.panes.camera.zoom(3)
        assert pane.behind.transform().m11() == pytest.approx(3, rel=1e-6)
    # At rest it is copied pixel by pixel.
    map_page.qtbot.waitUntil(lambda: pane.behind.transform().isIdentity())


def test_bad_files_are_explained(map_page: MapPage, tmp_path) -> None:
    path = write_mbtiles(tmp_path / "v.mbtiles", [(0, 0, 0, b"\x1f\x8b")], format="pbf")
    map_page.map.backgrounds.open([path, tmp_path / "none.tif"])
    map_page.qtbot.waitUntil(lambda: map_page.map.banner.problem is not None)
    assert map_page.map.banner.problem.source == "background"
    assert map_page.map.backgrounds.listed == ()


@pytest.mark.full
def test_lines_lie_above_pictures(map_page: MapPage, blue_tiles, tmp_path) -> None:
    line = {"type": "LineString", "coordinates": [[-170, 0], [170, 1]]}
    opened_background(map_page, write_geojson(tmp_path / "l.geojson", line))
    opened_background(map_page, blue_tiles)
    names = [entry.name for entry in map_page.map.backgrounds.listed]
    assert names == ["blue.mbtiles", "l.geojson"]


def test_a_view_finds_its_files_where_they_were(map_page: MapPage, blue_tiles) -> None:
    backgrounds = map_page.map.backgrounds
    opened_background(map_page, blue_tiles)
    state = map_page.map.view_state()
    backgrounds.clear()
    with map_page.qtbot.waitSignal(backgrounds.drawn, check_params_cb=lambda p: p is not None):
        map_page.map.apply_view_state(ViewState.from_dict(state.to_dict()))
    again = map_page.map.view_state()
    assert again.map_box == pytest.approx(state.map_box, abs=1e-9)  # through the view's own scale
    assert replace(again, map_box=state.map_box) == state
    backgrounds.clear()
    blue_tiles.unlink()
    map_page.map.apply_view_state(state)
    map_page.qtbot.waitUntil(lambda: map_page.map.banner.problem is not None)
    assert map_page.map.banner.problem.remedy == "Choose…"
    assert [entry.path for entry in backgrounds.listed] == [""]
    assert state.backgrounds == map_page.map.view_state().backgrounds  # the name is kept


def test_the_menu_offers_none_built_in_open_and_recent(map_page: MapPage, blue_tiles) -> None:
    opened_background(map_page, blue_tiles)
    menu = map_page.map.background_menu.menu

    def texts() -> list[str]:
        menu.aboutToShow.emit()
        return [action.text().replace("&", "") for action in menu.actions() if action.text()]

    assert texts() == ["None", BUILT_IN, "blue.mbtiles", "Open file…"]
    menu.actions()[0].trigger()
    assert texts() == ["None", BUILT_IN, "Open file…", "blue.mbtiles"]
    assert not map_page.map.lines_action.isChecked()
    menu.actions()[1].trigger()
    assert map_page.map.lines_action.isChecked()
    with map_page.qtbot.waitSignal(map_page.map.backgrounds.drawn):
        texts()
        menu.actions()[-1].trigger()


def test_views_without_backgrounds_are_stored_as_before() -> None:
    assert not {"backgrounds", "heatmap_opacity"} & set(ViewState().to_dict())
    with pytest.raises(ValueError, match="backgrounds"):
        ViewState(backgrounds=("a#b",) * 7)


@pytest.mark.parametrize("dark", [False, True])
def test_colours_over_a_background_are_clear_at_zero(dark) -> None:
    for name in COLOUR_MAPS:
        table = over_background(colour_table(name), False, dark, 0.8)
        assert table[0, 3] == 0
        assert table[255, 3] == round(0.8 * 255)
        assert (np.diff(table[:, 3].astype(int)) >= 0).all()
        lightness = table[:, :3].astype(float) @ [0.21, 0.72, 0.07]
        assert (lightness[255] > lightness[1]) == dark
    both = over_background(diverging_table(), True, dark, 0.8)
    assert both[127:129, 3].max() < 10
    assert both[0, 2] > both[0, 0]  # blue below 0
    assert both[255, 0] > both[255, 2]


def test_lines_are_visible_in_both_themes() -> None:
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Window, "#101010")
    dark = ink_for(palette).colour
    palette.setColor(QPalette.ColorRole.Window, "#f0f0f0")
    assert min(dark) > max(ink_for(palette).colour)


@pytest.mark.full
def test_exports_show_and_credit_it(map_page: MapPage, blue_tiles) -> None:
    opened_background(map_page, blue_tiles)
    result, view = map_page.map.current_result, map_page.map.view_state()
    job = ExportJob(
        result,
        view,
        {"view": view.to_dict()},
        by_suffix("png"),
        size_px=(700, 500),
        dpi=100,
        backgrounds=map_page.map.backgrounds.files(view.backgrounds),
    )
    colours = Image.open(io.BytesIO(render(job))).convert("RGB").getcolors(1_000_000)
    assert max(n for n, colour in colours if colour == BLUE) > 1000
    without = render(replace(job, backgrounds=()))
    colours = Image.open(io.BytesIO(without)).convert("RGB").getcolors(1_000_000)
    assert BLUE not in [colour for _, colour in colours]
    drawing = render(replace(job, format=by_suffix("svg"))).decode()
    assert "© Blue &amp; co" in drawing
    assert str(blue_tiles.parent) not in drawing


def test_a_restart_shows_the_same_background(open_window, settled, qtbot, blue_tiles) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    page = window.workspaces["map"]
    with qtbot.waitSignal(page.backgrounds.drawn, check_params_cb=lambda p: p is not None):
        page.backgrounds.open([blue_tiles])
    value = page.backgrounds.values
    window.close()
    window = open_window()
    page = window.workspaces["map"]
    qtbot.waitUntil(lambda: page.backgrounds.active)
    assert page.backgrounds.values == value
    assert page.backgrounds.credits == ("© Blue & co",)
