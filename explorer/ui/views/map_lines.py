"""Coasts and borders of a pane, as fine as the view needs.

Measured for a pane of 356 × 565 pixels in city view: the finest level as one path of 74,000 points
costs 1.1 ms a repaint, because Qt clips every segment; in tiles of 20 degrees, of which it skips
those out of view, 0.1 ms. Tiles are built once for each level, are shared by all panes and are
never rebuilt while panning.
"""

from __future__ import annotations

import pyqtgraph as pg
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.geography.basemap import Level
from explorer.ui.views.map_style import basemap

Z = 2.0
TILES = {"110m": 360, "50m": 30, "10m": 20}
"""Degrees on a side of a tile; levels that this table does not know are one tile."""

_paths: dict[str, tuple[QPainterPath, ...]] = {}


def tile_paths(level: Level) -> tuple[QPainterPath, ...]:
    """Return a level's lines as one path a tile; a line is in every tile that it touches."""
    if level.name not in _paths:
        side = TILES.get(level.name, 360)
        paths = []
        for south in range(-90, 90, min(side, 180)):
            across = level.within((south, -181, south + min(side, 180), 181))
            strip = Level(level.name, level.degrees, *across)
            for west in range(-180, 180, side):
                lon, lat = strip.within((south, west, south + min(side, 180), west + side))
                if lon.size:
                    paths.append(
                        arrayToQPath(lon.astype(float), lat.astype(float), connect="finite")
                    )
        _paths[level.name] = tuple(paths)
    return _paths[level.name]


def prepare_tiles() -> None:
    """Build the tiles of all levels; to be called in a thread, so that no zoom has to wait."""
    for level in basemap().levels:
        tile_paths(level)


class MapLines:
    """The lines of one pane: items of the level in view are visible, the others are not.

    Parameters
    ----------
    view : ViewBox
        In degrees.
    """

    def __init__(self, view: pg.ViewBox) -> None:
        self._view = view
        self._items: dict[str, list[QGraphicsPathItem]] = {}
        self._visible = True
        self._pen = QPen()
        self.level = ""

    @property
    def pen(self) -> QPen:
        """What lines are drawn with."""
        return self._pen

    @property
    def visible(self) -> bool:
        """Whether lines are shown."""
        return self._visible

    def set_colour(self, colour: QColor) -> None:
        """Draw in another colour."""
        self._pen = QPen(colour)
        self._pen.setCosmetic(True)
        self._pen.setWidth(1)  # any other width costs tens of milliseconds a repaint
        for items in self._items.values():
            for item in items:
                item.setPen(self._pen)

    def set_visible(self, visible: bool) -> None:
        """Show or hide the lines."""
        self._visible = visible
        for item in self._items.get(self.level, ()):
            item.setVisible(visible)

    def show_level(self, level: Level) -> None:
        """Turn to a level of detail; nothing happens if it is in view already."""
        if level.name == self.level:
            return
        for item in self._items.get(self.level, ()):
            item.setVisible(False)
        self.level = level.name
        if level.name not in self._items:
            self._items[level.name] = [self._item(path) for path in tile_paths(level)]
        for item in self._items[level.name]:
            item.setVisible(self._visible)

    def items(self) -> list[QGraphicsPathItem]:
        """Return the items of the level in view."""
        return list(self._items.get(self.level, ()))

    def _item(self, path: QPainterPath) -> QGraphicsPathItem:
        item = QGraphicsPathItem(path)
        item.setPen(self._pen)
        item.setZValue(Z)
        item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        # Not by addItem, which asks every item what it can do: hundreds of tiles then take 20 ms.
        item.setParentItem(self._view.childGroup)
        return item
