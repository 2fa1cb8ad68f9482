"""Layers below the heatmap: background picture, raw check-ins, coasts and borders.

Measured for a pane of 356 × 565 pixels in city view: the finest level as one path of 74,000 points
costs 1.1 ms a repaint, because Qt clips every segment; in tiles of 20 degrees, of which it skips
those out of view, 0.1 ms. Tiles are built once per level, are shared by all panes and are never
rebuilt while panning. A pane adds tiles as they come into view: adding all of the finest level
would delay the first picture of a restored city view by 25 ms.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.figures.colour_maps import translucent
from explorer.geography.basemap import Level, shipped_basemap
from explorer.geography.coordinates import first_longitude
from explorer.geography.region import Box, PlaneRegion, Region
from explorer.studies.base.study import Selection
from explorer.ui.base.jobs import LatestJob
from explorer.ui.controllers.data_controller import DataController

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


Z = 2.0
TILES = {"110m": 360, "50m": 30, "10m": 20}
"""Side of a tile in degrees, by level; other levels are one tile."""

Tile = tuple[int, int]
"""Row and column of a tile, counted from the south and from −180°.

Columns below 0 and beyond the last repeat the lines one turn further.
"""

_paths: dict[tuple[str, Tile], QPainterPath | None] = {}


def tile_path(level: Level, tile: Tile, near: Level | None = None) -> QPainterPath | None:
    """Return the lines of a level that touch a tile as one path; None if there are none.

    `near` is a subset of the level that contains all lines of the tile.
    """
    if (level.name, tile) not in _paths:
        high, wide = _sides(level)
        south, west = -90 + tile[0] * high, -180 + tile[1] * wide
        lon, lat = (near or level).within((south, west, south + high, west + wide))
        path = arrayToQPath(lon.astype(float), lat.astype(float), connect="finite")
        _paths[level.name, tile] = path if lon.size else None
    return _paths[level.name, tile]


def tile_paths(level: Level) -> tuple[QPainterPath, ...]:
    """Return one path per tile; a line belongs to each tile that it touches."""
    high, wide = _sides(level)
    paths = []
    for row in range(180 // high):
        south = -90 + row * high
        strip = Level(level.name, level.degrees, *level.within((south, -181, south + high, 181)))
        paths += [tile_path(level, (row, column), strip) for column in range(360 // wide)]
    return tuple(path for path in paths if path is not None)


def tiles_in(level: Level, box: Box) -> tuple[range, range]:
    """Return rows and columns of the tiles in a view (south, west, north, east)."""
    (high, wide), (south, west, north, east) = _sides(level), box
    start = first_longitude(west, east)
    first, last = max(west, start) + 180, min(east, start + 360) + 180
    return (
        range(max(int((south + 90) // high), 0), min(int((north + 90) // high) + 1, 180 // high)),
        range(int(first // wide), math.ceil(last / wide)),
    )


def _sides(level: Level) -> tuple[int, int]:
    """Return height and width of a level's tiles in degrees."""
    side = TILES.get(level.name, 360)
    return min(side, 180), side


def prepare_tiles() -> None:
    """Build the tiles of all levels; called in a thread so that panning does not wait."""
    for level in shipped_basemap().levels:
        tile_paths(level)


class MapLines:
    """Lines of one pane; only items of the current level are visible.

    Parameters
    ----------
    view : ViewBox
        View in degrees.
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
        """Pen of the lines."""
        return self._pen

    @property
    def visible(self) -> bool:
        """Whether lines are shown."""
        return self._wanted and self._on_earth

    def set_colour(self, colour: QColor) -> None:
        """Set the colour."""
        self._pen = QPen(colour)
        self._pen.setCosmetic(True)
        self._pen.setWidth(1)  # any other width costs tens of milliseconds per repaint
        for name in self._items:
            for item in self._of(name):
                item.setPen(self._pen)

    def set_visible(self, visible: bool) -> None:
        """Show or hide the lines."""
        self._wanted = visible
        self._follow()

    def set_on_earth(self, on_earth: bool) -> None:
        """Hide the lines for planes other than the Earth."""
        if on_earth != self._on_earth:
            self._on_earth = on_earth
            self._follow()

    def _follow(self) -> None:
        for item in self.items():
            item.setVisible(self.visible)
        self._hide_copies()

    def _hide_copies(self) -> None:
        """Hide lines beyond ±180 that are no longer in view."""
        if self._shown is None:
            return
        name, _, columns = self._shown
        for (_, column), item in self._items[name].items():
            if item is not None and item.x() != 0:
                item.setVisible(self.visible and column in columns)

    def show_level(self, level: Level, box: Box) -> None:
        """Select a level of detail and add its tiles in view.

        Does nothing if they exist already.
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
        """Return the items of the current level."""
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
        # Not by addItem, which inspects each item: hundreds of tiles then take 20 ms.
        item.setParentItem(self._view.childGroup)
        return item


PICTURE_Z = -1
"""Stacking order of the picture: below dots, heatmap and lines."""


class HeatmapItem(pg.ImageItem):
    """A heatmap, cut off at the outline of a polygon region."""

    def __init__(self) -> None:
        super().__init__(axisOrder="row-major")
        self._outline: QPainterPath | None = None

    def set_outline(self, region: Region) -> None:
        """Cut off at the polygon of the heatmap's region; nothing of a box."""
        south, west, north, east = region.box
        path = QPainterPath()  # filled by the even-odd rule
        for ring in region.rings:
            corners = [
                QPointF((lon - west) / (east - west), (lat - south) / (north - south))
                for lat, lon in ring
            ]
            path.addPolygon(QPolygonF(corners))
            path.closeSubpath()
        self._outline = path if region.rings else None
        self.update()

    def paint(self, painter: QPainter, *args: Any) -> None:
        """Draw the cells inside."""
        if self._outline is None:
            super().paint(painter, *args)
            return
        painter.save()
        path = QTransform.fromScale(self.width(), self.height()).map(self._outline)
        painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
        super().paint(painter, *args)
        painter.restore()


class PictureItem(pg.ImageItem):
    """Background picture of a pane, and heatmap colours that let it show through."""

    def __init__(self, view: Any) -> None:
        super().__init__(axisOrder="row-major")
        self.pixels: np.ndarray | None = None
        self.setZValue(PICTURE_Z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setVisible(False)
        view.addItem(self, ignoreBounds=True)

    def show_picture(self, pixels: np.ndarray | None, region: Region | None) -> None:
        """Show a picture over the whole plane of a region; none on the Earth.

        Pixels are uint8 of shape (rows, columns, 3), row 0 the lowest.
        """
        self.pixels = pixels
        plane = None if region is None else region.plane
        self.setVisible(pixels is not None and plane is not None)
        if pixels is not None and plane is not None:
            self.setImage(pixels, autoLevels=False, levels=(0, 255))
            south, west, north, east = PlaneRegion.whole(plane).box
            self.setRect(QRectF(west, south, east - west, north - south))

    def through(self, table: np.ndarray, diverging: bool) -> np.ndarray:
        """Return a colour map made transparent for the picture; unchanged without one."""
        return translucent(table, diverging) if self.isVisible() else table


DOT = 3
"""Side of a dot in pixels."""
REST_MS = 80
"""Time without camera movement before check-ins are counted again."""
MARGIN = 0.5
"""Margin counted beyond each side of the view, so that panning shows dots at once."""


def dot_pixels(counts: np.ndarray, colour: QColor) -> np.ndarray:
    """Convert counts to an RGBA picture (uint8); denser cells are more opaque (logarithmic)."""
    pixels = np.empty((*counts.shape, 4), np.uint8)
    pixels[..., :3] = colour.red(), colour.green(), colour.blue()
    most = max(int(counts.max(initial=0)), 1)
    strength = 90 + 165 * np.log1p(counts) / np.log1p(most)
    pixels[..., 3] = np.where(counts > 0, strength, 0).astype(np.uint8)
    return pixels


def _rows_of(selection: Selection | None) -> tuple[str | None, ...] | None:
    """Return the selection to count, wherever the rows lie."""
    return None if selection is None else (selection.start, selection.end, selection.image)


class Dots(QObject):
    """Counts the check-ins in view when the view has come to rest.

    Signals
    -------
    ready(object, object)
        Counts of shape (rows, columns), row 0 south, and their box; (None, None) without data.
    """

    ready = Signal(object, object)

    def __init__(self, files: DataController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files = files
        self._data: CheckinData | None = None
        self._selection: Selection | None = None
        self._view: tuple[Box, float, float] | None = None
        self._shown: tuple[object, ...] | None = None
        self._enabled = True
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._count)
        self._job = LatestJob("counting check-ins", self)
        self._job.done.connect(self._counted)
        self._job.failed.connect(lambda *_: None)  # the data set was closed meanwhile

    def set_data(self, data: CheckinData | None, selection: Selection | None) -> None:
        """Use another data set, time range or image."""
        rows, before = _rows_of(selection), self._selection
        same = before is not None and rows == _rows_of(before)
        if data is self._data and same:
            return
        self._data, self._selection = data, selection
        self._shown = None
        if data is None:
            self.ready.emit(None, None)
        self._rest.start()

    def set_view(self, box: Box, width: float, height: float) -> None:
        """Follow the camera; sizes in pixels."""
        self._view = (box, width, height)
        if self._enabled and self._data is not None:
            self._rest.start()

    def set_enabled(self, enabled: bool) -> None:
        """Enable or disable counting."""
        self._enabled = enabled
        self._shown = None
        if enabled:
            self._rest.start()
        else:
            self.ready.emit(None, None)

    def close(self) -> None:
        """Stop and wait for the thread."""
        self._rest.stop()
        self._job.close()

    def _count(self) -> None:
        if not self._enabled or self._data is None or self._view is None:
            return
        (south, west, north, east), width, height = self._view
        high, wide = (north - south) * MARGIN, (east - west) * MARGIN
        plane = self._data.plane
        start = first_longitude(west - wide, east + wide)
        least = (-90.0, start, 90.0, start + 360)
        if plane is not None:
            least = PlaneRegion.whole(plane).box
        box = (
            max(south - high, least[0]),
            max(west - wide, least[1]),
            min(north + high, least[2]),
            min(east + wide, least[3]),
        )
        columns = max(1, round((box[3] - box[1]) / (east - west) * width / DOT))
        rows = max(1, round((box[2] - box[0]) / (north - south) * height / DOT))
        if not (box[0] < box[2] and box[1] < box[3]):
            return
        data, selected = self._data, self._selection
        selection = (
            (None,) * 3 if selected is None else (selected.start, selected.end, selected.image)
        )
        key = (id(data), box, columns, rows, *selection)
        if key == self._shown:
            return
        question = (data, "density", box, columns, rows, *selection)
        self._job.submit(key, lambda task: (self._files.ask(task, *question), box, data))

    def _counted(
        self, key: tuple[object, ...], counted: tuple[np.ndarray, Box, CheckinData]
    ) -> None:
        counts, box, data = counted
        if self._enabled and data is self._data:
            self._shown = key
            self.ready.emit(counts, box)
