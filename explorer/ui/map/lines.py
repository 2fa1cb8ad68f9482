"""Coasts and borders of a pane, as fine as the view needs.

Measured for a pane of 356 × 565 pixels in city view: the finest level as one path of 74,000 points
costs 1.1 ms a repaint, because Qt clips every segment; in tiles of 20 degrees, of which it skips
those out of view, 0.1 ms. Tiles are built once for each level, are shared by all panes and are
never rebuilt while panning. A pane takes those that come into its view: all of the finest level
would keep the first picture of a remembered city view waiting for 25 ms.
"""

from __future__ import annotations

import math
from itertools import product

import pyqtgraph as pg
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.figures.map_layers import shipped_basemap
from explorer.geography.basemap import Level
from explorer.geography.projection import drawn_from
from explorer.geography.region import Box

Z = 2.0
TILES = {"110m": 360, "50m": 30, "10m": 20}
"""Degrees on a side of a tile; levels that this table does not know are one tile."""

Tile = tuple[int, int]
"""Row and column of a tile, counted from the south and from −180°.

Columns below 0 and beyond the last are those of the same lines a turn further.
"""

_paths: dict[tuple[str, Tile], QPainterPath | None] = {}


def tile_path(level: Level, tile: Tile, near: Level | None = None) -> QPainterPath | None:
    """Return the lines of a level that touch a tile, as one path; None if there are none.

    `near` is a part of the level with all that touches the tile, to look only there.
    """
    if (level.name, tile) not in _paths:
        high, wide = _sides(level)
        south, west = -90 + tile[0] * high, -180 + tile[1] * wide
        lon, lat = (near or level).within((south, west, south + high, west + wide))
        path = arrayToQPath(lon.astype(float), lat.astype(float), connect="finite")
        _paths[level.name, tile] = path if lon.size else None
    return _paths[level.name, tile]


def tile_paths(level: Level) -> tuple[QPainterPath, ...]:
    """Return a level's lines as one path a tile; a line is in every tile that it touches."""
    high, wide = _sides(level)
    paths = []
    for row in range(180 // high):
        south = -90 + row * high
        strip = Level(level.name, level.degrees, *level.within((south, -181, south + high, 181)))
        paths += [tile_path(level, (row, column), strip) for column in range(360 // wide)]
    return tuple(path for path in paths if path is not None)


def tiles_in(level: Level, box: Box) -> tuple[range, range]:
    """Return rows and columns of the tiles that a view (south, west, north, east) shows."""
    (high, wide), (south, west, north, east) = _sides(level), box
    start = drawn_from(west, east)
    first, last = max(west, start) + 180, min(east, start + 360) + 180
    return (
        range(max(int((south + 90) // high), 0), min(int((north + 90) // high) + 1, 180 // high)),
        range(int(first // wide), math.ceil(last / wide)),
    )


def _sides(level: Level) -> tuple[int, int]:
    """Return how many degrees high and wide a level's tiles are."""
    side = TILES.get(level.name, 360)
    return min(side, 180), side


def prepare_tiles() -> None:
    """Build the tiles of all levels; to be called in a thread, so that no move has to wait."""
    for level in shipped_basemap().levels:
        tile_paths(level)


class MapLines:
    """The lines of one pane: items of the level in view are visible, those of others are not.

    Parameters
    ----------
    view : ViewBox
        In degrees.
    """

    def __init__(self, view: pg.ViewBox) -> None:
        self._view = view
        self._items: dict[str, dict[Tile, QGraphicsPathItem | None]] = {}
        self._shown: tuple[str, range, range] | None = None
        self._wanted = self._on_earth = True
        self._pen = QPen()
        self.level = ""

    @property
    def pen(self) -> QPen:
        """What lines are drawn with."""
        return self._pen

    @property
    def visible(self) -> bool:
        """Whether lines are shown."""
        return self._wanted and self._on_earth

    def set_colour(self, colour: QColor) -> None:
        """Draw in another colour."""
        self._pen = QPen(colour)
        self._pen.setCosmetic(True)
        self._pen.setWidth(1)  # any other width costs tens of milliseconds a repaint
        for name in self._items:
            for item in self._of(name):
                item.setPen(self._pen)

    def set_visible(self, visible: bool) -> None:
        """Show or hide the lines."""
        self._wanted = visible
        self._follow()

    def set_on_earth(self, on_earth: bool) -> None:
        """Show no lines while the map is none of the Earth."""
        if on_earth != self._on_earth:
            self._on_earth = on_earth
            self._follow()

    def _follow(self) -> None:
        for item in self.items():
            item.setVisible(self.visible)
        self._hide_copies()

    def _hide_copies(self) -> None:
        """Hide lines beyond ±180 that an earlier view showed and this one does not."""
        if self._shown is None:
            return
        name, _, columns = self._shown
        for (_, column), item in self._items[name].items():
            if item is not None and item.x() != 0:
                item.setVisible(self.visible and column in columns)

    def show_level(self, level: Level, box: Box) -> None:
        """Turn to a level of detail and take those of its tiles that a view shows.

        Nothing happens if they are there already.
        """
        shown = (level.name, *tiles_in(level, box))
        if shown == self._shown:
            return
        self._shown = shown
        if level.name != self.level:
            for item in self.items():
                item.setVisible(False)
            self.level = level.name
            for item in self.items():
                item.setVisible(self.visible)
        tiles = self._items.setdefault(level.name, {})
        for tile in product(*shown[1:]):
            if tile not in tiles:
                turns, column = divmod(tile[1], 360 // _sides(level)[1])
                path = tile_path(level, (tile[0], column))
                tiles[tile] = None if path is None else self._item(path, 360.0 * turns)
        self._hide_copies()

    def items(self) -> list[QGraphicsPathItem]:
        """Return the items of the level in view."""
        return self._of(self.level)

    def _of(self, name: str) -> list[QGraphicsPathItem]:
        return [item for item in self._items.get(name, {}).values() if item is not None]

    def _item(self, path: QPainterPath, right: float) -> QGraphicsPathItem:
        item = QGraphicsPathItem(path)
        item.setPos(right, 0.0)
        item.setPen(self._pen)
        item.setZValue(Z)
        item.setVisible(self.visible)
        item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        # Not by addItem, which asks every item what it can do: hundreds of tiles then take 20 ms.
        item.setParentItem(self._view.childGroup)
        return item
