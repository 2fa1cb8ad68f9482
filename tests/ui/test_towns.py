"""Towns that name the busiest cells and the region."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt

from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import KM_PER_DEGREE
from explorer.geography.region import Region
from explorer.ui.dialogs.busiest import COLUMNS, TOWN, near_town, region_town
from tests.ui.map_page import MapPage, opened


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


@pytest.mark.parametrize(
    ("lat", "lon", "name"),
    [(48.2085, 16.3721, "Vienna"), (-36.85, 174.76, "Auckland"), (64.14, -21.9, "Reykjavík")],
)
def test_the_nearest_town(lat: float, lon: float, name: str) -> None:
    town, km = shipped_cities().nearest(lat, lon)
    assert town.name == name
    assert km < 5
    assert near_town(lat, lon).startswith(name)


def test_the_nearest_is_the_nearest_of_all() -> None:
    """Also across the date line and near a pole; checked with vectors in space."""
    towns = shipped_cities()
    rng = np.random.default_rng(5)

    def unit(lat, lon):
        lat, lon = np.radians(lat), np.radians(lon)
        return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

    there = unit(towns.lat, towns.lon)
    radius = KM_PER_DEGREE * 180 / np.pi
    places = [
        *zip(rng.uniform(-90, 90, 40), rng.uniform(-180, 180, 40), strict=True),
        (0.0, 179.99),
        (0.0, -179.99),
        (89.9, 0.0),
    ]
    for lat, lon in places:
        km = radius * np.arccos(np.clip(unit(lat, lon) @ there, -1, 1))
        assert towns.nearest(lat, lon)[1] == pytest.approx(km.min(), abs=1e-3)


def test_a_region_is_named_by_its_largest_town() -> None:
    assert region_town(Region(47.9, 16.0, 48.4, 16.8)) == "Vienna"
    assert region_town(Region(-31.0, -21.0, -30.0, -20.0)).startswith("nearest town: ")


def test_the_busiest_cells_and_the_region_are_named(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "vienna.csv"
    rows = [f"u{i % 9},{48.1 + i / 400},{16.2 + i / 300}" for i in range(100)]
    path.write_text("\n".join(["user,lat,lon", *rows]))
    map_page.load(path)
    assert map_page.panel.region_town.text() == region_town(map_page.region)
    map_page.qtbot.mouseClick(map_page.panel.busiest_button, Qt.MouseButton.LeftButton)
    dialog = map_page.panel.dialog("busiest")
    map_page.qtbot.waitUntil(lambda: dialog.table.rowCount() > 0)
    place = COLUMNS.index(TOWN)
    assert not dialog.table.isColumnHidden(place)
    dialog.table.selectRow(0)
    south, west, north, east = dialog.chosen.box
    named = dialog.table.item(0, place).text()
    assert named == near_town((south + north) / 2, (west + east) / 2)
    map_page.qtbot.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert map_page.panel.region_town.text() == region_town(map_page.region)
