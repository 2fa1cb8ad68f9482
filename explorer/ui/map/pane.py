"""One pane of the map: a heatmap on the basemap, moved by the shared camera."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from explorer.geography.basemap import shipped_basemap
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Overlay
from explorer.ui.map.camera import MapCamera
from explorer.ui.map.cells import beside, on_earth, plane_of
from explorer.ui.map.layers import MapLines, PictureItem
from explorer.ui.map.overlay import (
    Stamp,
    TextPainter,
    city_stamps,
    in_ink,
    overlay_stamp,
    paint_mark,
    paint_region,
    paint_rubber_band,
    paint_value,
    rect_of,
    scale_bar,
)
from explorer.ui.map.region_tool import (
    MIN_DRAG_PX,
    Grip,
    PixelBox,
    cursor_of,
    dragged_box,
    grip_at,
    usable,
)
from explorer.ui.plot.map_style import DARK, LIGHT, MapStyle


class PaneView(pg.ViewBox):
    """View box that leaves mouse and keyboard to its pane."""

    def __init__(self, pane: Any) -> None:
        super().__init__(enableMenu=False, enableMouse=False, defaultPadding=0)
        self._pane = pane
        self.setAcceptHoverEvents(True)

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom."""
        self._pane.wheel(event.scenePos(), event.delta())
        event.accept()

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pan, or draw the region."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.accept()
            self._pane.drag(event)
        else:
            event.ignore()

    def mouseClickEvent(self, event: Any) -> None:
        """Zoom in on a double click."""
        if event.double() and event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self._pane.wheel(event.scenePos(), 462)  # magnification 2


PAN_STEP = 0.15
"""Share of the pane that an arrow key moves."""
KEY_ZOOM = 1.5
MIN_PANE_WIDTHS = (180, 160)
"""Width in pixels of each of two panes."""
WHEEL_ZOOM = 1.0015

_texts = TextPainter()


class MapPane(pg.GraphicsView):
    """Heatmap below the basemap, with dots, background picture and overlay.

    Signals
    -------
    hovered(object)
        (longitude, latitude) under the pointer; None when it leaves.
    region_dragged(object)
        Box of degrees of the running drag of the region tool.
    region_drawn(object)
        Final box of degrees; None if the drag made none.
    region_tool_left()
        Escape was pressed.
    resized()
    """

    hovered = Signal(object)
    region_dragged = Signal(object)
    region_drawn = Signal(object)
    region_tool_left = Signal()
    resized = Signal()

    def __init__(self, camera: MapCamera, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.setAccessibleName(name)
        self.setMinimumSize(*MIN_PANE_WIDTHS)
        self._camera = camera
        self._style = LIGHT
        self._stamps: list[Stamp] | None = []
        self._show_cities = True
        self.region: Region | None = None
        self.surface_region: Region | None = None
        self._surface_shape: tuple[int, ...] = ()
        self.image_box: Box | None = None
        self._values: np.ndarray | None = None
        self._levels = (0.0, 0.0)
        self.overlay: Overlay | None = None
        self._editing = False
        self._band: Box | None = None
        self._band_refused = False
        self._grip = Grip()
        self._held: tuple[Box | None, tuple[float, float]] = (None, (0.0, 0.0))
        self.marked: Box | None = None
        self._said = ""
        self.waiting = ""
        self.pointer: QPointF | None = None
        self.view = PaneView(self)
        self.setCentralItem(self.view)
        self.dots = pg.ImageItem(axisOrder="row-major")
        self.image = pg.ImageItem(axisOrder="row-major")
        self.picture = PictureItem(self.view)
        self._colours: tuple[np.ndarray, bool] = (np.zeros((256, 3), np.uint8), False)
        self.lines = MapLines(self.view)
        for z, item in enumerate((self.dots, self.image)):
            item.setZValue(z)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            self.view.addItem(item, ignoreBounds=True)
        self.setAntialiasing(False)
        # By itself each scene schedules its own repaint, and linked panes are painted in two
        # rounds; here each change updates its viewport instead.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setViewportUpdateMode(self.ViewportUpdateMode.NoViewportUpdate)
        # Files dropped on the map are handled by the window.
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.scene().sigMouseMoved.connect(self._mouse_moved)
        camera.changed.connect(self._look)
        self.set_style(LIGHT)

    # What is shown ---------------------------------------------------------------------------

    def set_style(self, style: MapStyle) -> None:
        """Apply light or dark colours."""
        self._style = style
        self.setBackground(style.background)
        self.lines.set_colour(style.line)
        self._look()

    def set_colours(self, table: np.ndarray, diverging: bool = False) -> None:
        """Set the colour map: uint8, shape (256, 3)."""
        self._colours = table, diverging
        self.image.setLookupTable(self.picture.through(table, diverging))
        self.viewport().update()

    def set_surface(self, values: np.ndarray, region: Region, top: float, low: float = 0.0) -> None:
        """Show a heatmap, scaled to its region and coloured from `low` to `top`."""
        self.waiting = ""
        if not (values is self._values and self.image.isVisible()) or (low, top) != self._levels:
            self._values, self._levels = values, (low, top)
            self.image.setImage(values, autoLevels=False, levels=self._levels)
            self.viewport().update()
        if (region, values.shape) != (self.surface_region, self._surface_shape):
            self.surface_region, self._surface_shape = region, values.shape
            self.image_box = None  # an image of another shape must be scaled again
            self._look()
        if not self.image.isVisible():
            self.image.setVisible(True)
            self._look()

    def set_overlay(self, overlay: Overlay | None) -> None:
        """Draw a substitute for the heatmap's colours."""
        if overlay is not self.overlay:
            self.overlay = overlay
            self.image.setOpacity(float(overlay is None))
            self._look()

    def clear_surface(self, waiting: str = "") -> None:
        """Show a waiting text instead of a heatmap."""
        if self.image.isVisible() or waiting != self.waiting:
            self.waiting = waiting
            self.image.setVisible(False)
            self._look()

    def set_picture(self, pixels: np.ndarray | None) -> None:
        """Show a background picture for planes other than the Earth."""
        self.picture.show_picture(pixels, self.region)
        self.set_colours(*self._colours)

    def set_dots(self, pixels: np.ndarray | None, box: Box | None) -> None:
        """Show check-ins as dots: uint8 RGBA of shape (rows, columns, 4), row 0 south."""
        self.viewport().update()
        if pixels is None or box is None:
            self.dots.setVisible(False)
            return
        self.dots.setImage(pixels, autoLevels=False)
        self.dots.setRect(rect_of(box))
        self.dots.setVisible(True)

    def set_region(self, region: Region | None) -> None:
        """Outline the region; lines and cities are shown on the Earth only."""
        before, self.region = self.region, region
        if plane_of(before) != plane_of(region):
            self._stamps = None
            self.set_picture(self.picture.pixels)
        self.lines.set_on_earth(on_earth(region))
        self.viewport().update()

    def set_editing(self, editing: bool) -> None:
        """Switch the region tool on or off."""
        self._editing = editing
        self._band = None
        self._point(None)
        self.viewport().update()

    def set_lines_visible(self, visible: bool) -> None:
        """Show or hide coasts and borders."""
        self.lines.set_visible(visible)
        self.viewport().update()

    def set_cities_visible(self, visible: bool) -> None:
        """Show or hide city names."""
        self._show_cities = visible
        self._look()

    def mark(self, box: Box | None, text: str = "") -> None:
        """Outline the cell under the pointer of any linked pane, with its value."""
        if (box, text) != (self.marked, self._said):
            self.marked, self._said = box, text
            self.viewport().update()

    @property
    def filled(self) -> bool:
        """Whether a heatmap is shown."""
        return bool(self.image.isVisible())

    @property
    def marked_text(self) -> str:
        """Value beside the marked cell."""
        return self._said

    @property
    def box(self) -> Box:
        """South, west, north, east in view."""
        return self._camera.box(self.width(), self.height())

    @property
    def level(self) -> str:
        """Name of the basemap's current level of detail."""
        return self.lines.level

    # Where it looks --------------------------------------------------------------------------

    def resizeEvent(self, event: Any) -> None:
        """Keep the view in step with the size."""
        super().resizeEvent(event)
        if hasattr(self, "lines"):
            self._look()
            self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Follow palette and font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "lines"):
            self._look()

    def _look(self) -> None:
        south, west, north, east = self.box
        self.view.setRange(
            xRange=(west, east), yRange=(south, north), padding=0, disableAutoRange=True
        )
        self.lines.show_level(shipped_basemap().level_for(east - west), self.box)
        if self.surface_region is not None:
            drawn = self._drawn(self.surface_region)
            if drawn != self.image_box:
                self.image_box = drawn
                self.image.setRect(rect_of(drawn))
        # Deferred to the next paint: the size changes many times while the window is built.
        self._stamps = None
        self.viewport().update()

    def _stamp(self) -> list[Stamp]:
        font = QFont(self.font())
        font.setPointSizeF(max(7.5, font.pointSizeF() * 0.9))
        arguments = (_texts, font, self._style, self.devicePixelRatioF())
        width, height = self.width(), self.height()
        shown, covered = [], None
        if self.image.isVisible() and self.surface_region is not None:
            covered = self._pixels(self._drawn(self.surface_region))
        if covered is not None and self.overlay is not None:
            shown = [overlay_stamp(self.overlay, covered, width, height, *arguments[1:])]
        if self._show_cities and on_earth(self.region):
            shown += city_stamps(self.box, width, height, covered, *arguments)
        bar = partial(scale_bar, self.region, self._camera.scale, width, _texts, font)
        result = bar(*arguments[2:])
        top = height - result.height() / result.devicePixelRatio() - 4
        return [
            *shown,
            in_ink(result, lambda: bar(DARK, arguments[3]), 8, top, covered),
        ]

    # Painting above the scene ----------------------------------------------------------------

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Draw the overlay."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self.marked is not None:
            paint_mark(painter, self._pixels(self._drawn_cell(self.marked)))
        if self.waiting:
            painter.setPen(self._style.label)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.waiting)
        if self.region is not None:
            paint_region(
                painter, self._pixels(self._drawn(self.region)), self._style, self._editing
            )
        if self._stamps is None:
            self._stamps = self._stamp()
        for stamp in self._stamps:
            painter.drawPixmap(QPointF(stamp.x, stamp.y), stamp.pixmap)
        if self.marked is not None:
            cell = self._drawn_cell(self.marked)
            paint_value(painter, self._pixels(cell), self._said, self.size())
        if self._band is not None:
            paint_rubber_band(painter, self._pixels(self._band), self._style, self._band_refused)
        if self.hasFocus():
            painter.setPen(QPen(self._style.region, 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 2, self.height() - 2))

    # Degrees and pixels ----------------------------------------------------------------------

    def _drawn(self, region: Region) -> Box:
        """Return the box of a region as drawn."""
        return beside(region.box, region, self._camera.longitude)

    def _drawn_cell(self, cell: Box) -> Box:
        """Return the box of a heatmap cell as drawn."""
        region = self.surface_region or self.region
        return cell if region is None else beside(cell, region, self._camera.longitude)

    def _pixels(self, box: Box) -> PixelBox:
        left, top = self.to_pixels(box[1], box[2])
        right, bottom = self.to_pixels(box[3], box[0])
        return PixelBox(left, top, right, bottom)

    def to_pixels(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Convert a position to pixels of the pane."""
        south, west, north, east = self.box
        return (
            (longitude - west) / (east - west) * self.width(),
            (north - latitude) / (north - south) * self.height(),
        )

    def to_degrees(self, x: float, y: float) -> tuple[float, float]:
        """Convert a pixel to longitude and latitude."""
        south, west, north, east = self.box
        return (
            west + x / max(self.width(), 1) * (east - west),
            north - y / max(self.height(), 1) * (north - south),
        )

    # Mouse and keys --------------------------------------------------------------------------

    def _mouse_moved(self, position: QPointF) -> None:
        self.pointer = position
        self._point(position)
        self.hovered.emit(self.pointed_at)

    @property
    def pointed_at(self) -> tuple[float, float] | None:
        """Longitude and latitude under the pointer; None if outside."""
        if self.pointer is None:
            return None
        return self.to_degrees(self.pointer.x(), self.pointer.y())

    def leaveEvent(self, event: Any) -> None:
        """Emit that the pointer left."""
        # Not passed to pyqtgraph's scene, which fails on a leave event before any move.
        self.pointer = None
        self.hovered.emit(None)

    def _point(self, position: QPointF | None) -> None:
        """Set the cursor for the drag that would start here."""
        if not self._editing:
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
            return
        grip = Grip()
        if position is not None and self.region is not None:
            grip = grip_at(self._pixels(self._drawn(self.region)), position.x(), position.y())
        self.viewport().setCursor(cursor_of(grip))

    def wheel(self, position: QPointF, delta: float) -> None:
        """Zoom about a position of the pane; 120 is one notch."""
        self._camera.zoom(
            WHEEL_ZOOM**delta, position.x() - self.width() / 2, position.y() - self.height() / 2
        )

    def drag(self, event: Any) -> None:
        """Pan, or draw, move or resize the region."""
        position, start, last = event.scenePos(), event.buttonDownScenePos(), event.lastScenePos()
        if not self._editing or event.button() == Qt.MouseButton.MiddleButton:
            self._camera.pan(position.x() - last.x(), position.y() - last.y())
            return
        if event.isStart():
            before = self._drawn(self.region) if self.region is not None else None
            self._grip = grip_at(before and self._pixels(before), start.x(), start.y())
            # The region follows the drag: the start values are used.
            self._held = before, self.to_degrees(start.x(), start.y())
        before, begun = self._held
        box = dragged_box(before, self._grip, begun, self.to_degrees(position.x(), position.y()))
        if event.isFinish() and self._band is not None and position == last:
            box = self._band  # the map may have moved under a resting pointer
        pixels = self._pixels(box)
        large = (
            pixels.right - pixels.left >= MIN_DRAG_PX and pixels.bottom - pixels.top >= MIN_DRAG_PX
        )
        self.viewport().update()
        if event.isFinish():
            self._band = None
            self.region_drawn.emit(box if large else None)
            return
        self._band, self._band_refused = box, not usable(box, self.region)
        if large and not self._band_refused:
            self.region_dragged.emit(box)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pan and zoom with the keyboard."""
        key = event.key()
        step_x, step_y = PAN_STEP * self.width(), PAN_STEP * self.height()
        moves: dict[int, tuple[float, float]] = {
            Qt.Key.Key_Left: (step_x, 0.0),
            Qt.Key.Key_Right: (-step_x, 0.0),
            Qt.Key.Key_Up: (0.0, step_y),
            Qt.Key.Key_Down: (0.0, -step_y),
        }
        if key in moves:
            self._camera.pan(*moves[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._camera.zoom(KEY_ZOOM)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self._camera.zoom(1 / KEY_ZOOM)
        elif key == Qt.Key.Key_Escape and self._editing:
            self.region_tool_left.emit()
        else:
            event.ignore()
            return
        event.accept()
