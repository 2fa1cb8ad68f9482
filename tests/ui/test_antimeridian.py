"""Map panes across the antimeridian."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from explorer.geography.region import Region
from tests.ui.map_page import MapPage, opened
from tests.ui.test_map import drag


@pytest.fixture
def fiji(qtbot, tmp_path: Path) -> Iterator[MapPage]:
    """Check-ins from 177° E to 176.5° W, 20 of each of 10 users around the antimeridian."""
    rng = np.random.default_rng(4)
    lon = np.concatenate([rng.uniform(179.8, 180.2, 190), rng.uniform(177, 183.5, 10)])
    lines = ["user,time,lat,lon"]
    for i, (x, y) in enumerate(zip(lon, rng.uniform(-17.2, -16.8, 200), strict=True)):
        lines.append(f"{i % 10},2020-01-01T08:00:00Z,{y:.5f},{x - 360 * (x > 180):.5f}")
    path = tmp_path / "fiji.csv"
    path.write_text("\n".join(lines) + "\n")
    with opened(qtbot) as map_page:
        map_page.load(path)
        map_page.session.set_value("resolution", "64", "heatmap")
        map_page.answered()
        yield map_page


def region_of(map_page: MapPage) -> Region:
    selection = map_page.session.state.selection
    assert selection is not None
    return selection.region


@pytest.mark.full
def test_the_map_goes_on_behind_the_antimeridian(fiji: MapPage, qtbot) -> None:
    region = region_of(fiji)
    assert region.west < 180 < region.east  # densest part, chosen at start
    result = fiji.answered()
    assert result.readout("users_in_region").value == 10
    fields = {side: float(field.text()) for side, field in fiji.panel.sides.items()}
    assert fields["west"] > 179 > -179 > fields["east"]
    panes, data = fiji.map.panes, fiji.data.current
    assert data.extent[1] < 180 < data.extent[3] < 184
    fiji.map.show_extent()
    qtbot.waitUntil(lambda: panes.dots is not None and int(panes.dots[0].sum()) == data.rows)
    pane = panes.panes["true"]
    assert pane.box[1] < data.extent[1] < data.extent[3] < pane.box[3]
    assert any(item.pos().x() == 360 for item in pane.lines.items())
    # The same place from the other side: the map is drawn in the current view.
    panes.camera.look_at(-180.0, region.mid_latitude, panes.camera.scale)
    assert pane.box[1] < -180
    middle = region.west - 360 + (region.east - region.west) / 2
    assert pane.image_box[1] < middle < pane.image_box[3]
    pane._mouse_moved(QPointF(*pane.to_pixels(middle, region.mid_latitude)))
    assert pane.marked_text
    cell = pane._pixels(pane._drawn_cell(pane.marked))
    assert cell.left <= pane.pointer.x() <= cell.right


@pytest.mark.full
def test_a_region_is_drawn_moved_and_typed_across_it(fiji: MapPage, qtbot) -> None:
    camera, pane = fiji.map.panes.camera, fiji.map.panes.panes["true"]
    camera.look_at(-180.0, -17.0, 0.02)
    fiji.map.region_action.setChecked(True)
    drag(pane, (0.1, 0.1), (0.9, 0.9))
    drawn = region_of(fiji)
    assert 170 < drawn.west < 180 < drawn.east < 190
    drag(pane, (0.5, 0.5), (0.6, 0.5))
    moved = region_of(fiji)
    assert moved.west > drawn.west
    assert moved.east - moved.west == pytest.approx(drawn.east - drawn.west, abs=1e-6)
    west = fiji.panel.sides["west"]
    west.selectAll()
    qtbot.keyClicks(west, "177")
    qtbot.keyClick(west, Qt.Key.Key_Return)
    assert region_of(fiji).west == 177
    assert region_of(fiji).east == moved.east
    fiji.answered()
    fiji.session.undo()
    assert region_of(fiji) == moved
