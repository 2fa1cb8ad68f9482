"""One pane of the map: a heatmap on the basemap, moved by the shared camera."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from explorer.figures.map_layers import shipped_basemap
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
    SMALLEST,
    Grip,
    PixelBox,
    cursor_of,
    dragged_box,
    grip_at,
    usable,
)
from explorer.ui.plot.map_style import DARK, LIGHT, MapStyle


class PaneView(pg.ViewBox):
    """A view box that leaves mouse and keys to its pane."""

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
            self._pane.wheel(event.scenePos(), 462)  # twice as large


PAN_STEP = 0.15
"""Share of the pane that an arrow key moves."""
KEY_ZOOM = 1.5
LEAST = (180, 160)
"""Pixels of a pane where there are two."""
WHEEL_ZOOM = 1.0015

_texts = TextPainter()


class MapPane(pg.GraphicsView):
    """A heatmap, the basemap above it, check-ins as dots below it, and a pixel overlay.

    Signals
    -------
    hovered(object)
        (longitude, latitude) under the pointer, None when it leaves.
    region_dragged(object)
        Box of degrees that a drag with the region tool makes, if it is let go now.
    region_drawn(object)
        Box of degrees that it made in the end; None if it made none.
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
        self.setMinimumSize(*LEAST)
        self._camera = camera
        self._style = LIGHT
        self._stamps: list[Stamp] | None = []
        self._show_cities = True
        self._region: Region | None = None
        self._surface_region: Region | None = None
        self._surface_shape: tuple[int, ...] = ()
        self._image_box: Box | None = None
        self._values: np.ndarray | None = None
        self._levels = (0.0, 0.0)
        self._overlay: Overlay | None = None
        self._editing = False
        self._band: Box | None = None
        self._band_refused = False
        self._grip = Grip()
        self._held: tuple[Box | None, tuple[float, float]] = (None, (0.0, 0.0))
        self._marked: Box | None = None
        self._said = ""
        self._waiting = ""
        self._pointer: QPointF | None = None
        self._view = PaneView(self)
        self.setCentralItem(self._view)
        self._dots = pg.ImageItem(axisOrder="row-major")
        self._image = pg.ImageItem(axisOrder="row-major")
        self._picture = PictureItem(self._view)
        self._colours: tuple[np.ndarray, bool] = (np.zeros((256, 3), np.uint8), False)
        self._lines = MapLines(self._view)
        for z, item in enumerate((self._dots, self._image)):
            item.setZValue(z)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            self._view.addItem(item, ignoreBounds=True)
        self.setAntialiasing(False)
        # Left to itself each scene asks for its own repaint, and linked panes are then painted
        # in two rounds; every change below asks its viewport instead.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setViewportUpdateMode(self.ViewportUpdateMode.NoViewportUpdate)
        # Files dropped on the map are for the window.
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.scene().sigMouseMoved.connect(self._mouse_moved)
        camera.changed.connect(self._look)
        self.set_style(LIGHT)

    # What is shown ---------------------------------------------------------------------------

    def set_style(self, style: MapStyle) -> None:
        """Draw in light or dark colours."""
        self._style = style
        self.setBackground(style.background)
        self._lines.set_colour(style.line)
        self._look()

    def set_colours(self, table: np.ndarray, diverging: bool = False) -> None:
        """Set the colour map: uint8, shape (256, 3)."""
        self._colours = table, diverging
        self._image.setLookupTable(self._picture.through(table, diverging))
        self.viewport().update()

    def set_surface(self, values: np.ndarray, region: Region, top: float, low: float = 0.0) -> None:
        """Show a heatmap, its cells scaled to its region, coloured from `low` to `top`."""
        self._waiting = ""
        if not (values is self._values and self._image.isVisible()) or (low, top) != self._levels:
            self._values, self._levels = values, (low, top)
            self._image.setImage(values, autoLevels=False, levels=self._levels)
            self.viewport().update()
        if (region, values.shape) != (self._surface_region, self._surface_shape):
            self._surface_region, self._surface_shape = region, values.shape
            self._image_box = None  # an image of another shape has to be scaled anew
            self._look()
        if not self._image.isVisible():
            self._image.setVisible(True)
            self._look()

    def set_overlay(self, overlay: Overlay | None) -> None:
        """Draw something in place of the heatmap's colours."""
        if overlay is not self._overlay:
            self._overlay = overlay
            self._image.setOpacity(float(overlay is None))
            self._look()

    def clear_surface(self, waiting: str = "") -> None:
        """Show no heatmap, but what it waits for."""
        if self._image.isVisible() or waiting != self._waiting:
            self._waiting = waiting
            self._image.setVisible(False)
            self._look()

    def set_picture(self, pixels: np.ndarray | None) -> None:
        """Show a picture below everything where the map lies in a plane that is not the Earth."""
        self._picture.show_picture(pixels, self._region)
        self.set_colours(*self._colours)

    def set_dots(self, pixels: np.ndarray | None, box: Box | None) -> None:
        """Show check-ins as dots: uint8 RGBA of shape (rows, columns, 4), row 0 south."""
        self.viewport().update()
        if pixels is None or box is None:
            self._dots.setVisible(False)
            return
        self._dots.setImage(pixels, autoLevels=False)
        self._dots.setRect(rect_of(box))
        self._dots.setVisible(True)

    def set_region(self, region: Region | None) -> None:
        """Outline the region of interest; the Earth's lines and cities are on the Earth alone."""
        before, self._region = self._region, region
        if plane_of(before) != plane_of(region):
            self._stamps = None
            self.set_picture(self._picture.pixels)
        self._lines.set_on_earth(on_earth(region))
        self.viewport().update()

    def set_editing(self, editing: bool) -> None:
        """Switch the region tool on or off."""
        self._editing = editing
        self._band = None
        self._point(None)
        self.viewport().update()

    def set_lines_visible(self, visible: bool) -> None:
        """Show or hide coasts and borders."""
        self._lines.set_visible(visible)
        self.viewport().update()

    def set_cities_visible(self, visible: bool) -> None:
        """Show or hide city names."""
        self._show_cities = visible
        self._look()

    def mark(self, box: Box | None, said: str = "") -> None:
        """Outline the cell that the pointer is on, here or in a linked pane, and say its value."""
        if (box, said) != (self._marked, self._said):
            self._marked, self._said = box, said
            self.viewport().update()

    @property
    def filled(self) -> bool:
        """Whether it shows a heatmap."""
        return bool(self._image.isVisible())

    @property
    def said(self) -> str:
        """The value that is written beside the marked cell."""
        return self._said

    @property
    def box(self) -> Box:
        """South, west, north, east in view."""
        return self._camera.box(self.width(), self.height())

    @property
    def level(self) -> str:
        """Name of the basemap's level of detail in view."""
        return self._lines.level

    # Where it looks --------------------------------------------------------------------------

    def resizeEvent(self, event: Any) -> None:
        """Keep what is in view in step with the size."""
        super().resizeEvent(event)
        if hasattr(self, "_lines"):
            self._look()
            self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Follow palette and font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_lines"):
            self._look()

    def _look(self) -> None:
        south, west, north, east = self.box
        self._view.setRange(
            xRange=(west, east), yRange=(south, north), padding=0, disableAutoRange=True
        )
        self._lines.show_level(shipped_basemap().level_for(east - west), self.box)
        if self._surface_region is not None:
            drawn = self._drawn(self._surface_region)
            if drawn != self._image_box:
                self._image_box = drawn
                self._image.setRect(rect_of(drawn))
        # Written at the next paint: while the window is built the size changes many times.
        self._stamps = None
        self.viewport().update()

    def _stamp(self) -> list[Stamp]:
        font = QFont(self.font())
        font.setPointSizeF(max(7.5, font.pointSizeF() * 0.9))
        arguments = (_texts, font, self._style, self.devicePixelRatioF())
        width, height = self.width(), self.height()
        shown, covered = [], None
        if self._image.isVisible() and self._surface_region is not None:
            covered = self._pixels(self._drawn(self._surface_region))
        if covered is not None and self._overlay is not None:
            shown = [overlay_stamp(self._overlay, covered, width, height, *arguments[1:])]
        if self._show_cities and on_earth(self._region):
            shown += city_stamps(self.box, width, height, covered, *arguments)
        bar = partial(scale_bar, self._region, self._camera.scale, width, _texts, font)
        found = bar(*arguments[2:])
        top = height - found.height() / found.devicePixelRatio() - 4
        return [
            *shown,
            in_ink(found, lambda: bar(DARK, arguments[3]), 8, top, covered),
        ]

    # Painting above the scene ----------------------------------------------------------------

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Draw what lies above the map in pixels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self._marked is not None:
            paint_mark(painter, self._pixels(self._drawn_cell(self._marked)))
        if self._waiting:
            painter.setPen(self._style.label)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._waiting)
        if self._region is not None:
            paint_region(
                painter, self._pixels(self._drawn(self._region)), self._style, self._editing
            )
        if self._stamps is None:
            self._stamps = self._stamp()
        for stamp in self._stamps:
            painter.drawPixmap(QPointF(stamp.x, stamp.y), stamp.pixmap)
        if self._marked is not None:
            cell = self._drawn_cell(self._marked)
            paint_value(painter, self._pixels(cell), self._said, self.size())
        if self._band is not None:
            paint_rubber_band(painter, self._pixels(self._band), self._style, self._band_refused)
        if self.hasFocus():
            painter.setPen(QPen(self._style.region, 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 2, self.height() - 2))

    # Degrees and pixels ----------------------------------------------------------------------

    def _drawn(self, region: Region) -> Box:
        """Return the box of a region where it is drawn."""
        return beside(region.box, region, self._camera.longitude)

    def _drawn_cell(self, cell: Box) -> Box:
        """Return the box of a cell of the heatmap where it is drawn."""
        region = self._surface_region or self._region
        return cell if region is None else beside(cell, region, self._camera.longitude)

    def _pixels(self, box: Box) -> PixelBox:
        left, top = self.to_pixels(box[1], box[2])
        right, bottom = self.to_pixels(box[3], box[0])
        return PixelBox(left, top, right, bottom)

    def to_pixels(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Return where a position is on the pane."""
        south, west, north, east = self.box
        return (
            (longitude - west) / (east - west) * self.width(),
            (north - latitude) / (north - south) * self.height(),
        )

    def to_degrees(self, x: float, y: float) -> tuple[float, float]:
        """Return longitude and latitude of a pixel."""
        south, west, north, east = self.box
        return (
            west + x / max(self.width(), 1) * (east - west),
            north - y / max(self.height(), 1) * (north - south),
        )

    # Mouse and keys --------------------------------------------------------------------------

    def _mouse_moved(self, position: QPointF) -> None:
        self._pointer = position
        self._point(position)
        self.hovered.emit(self.pointed_at)

    @property
    def pointed_at(self) -> tuple[float, float] | None:
        """Longitude and latitude under the pointer; None while it is elsewhere."""
        if self._pointer is None:
            return None
        return self.to_degrees(self._pointer.x(), self._pointer.y())

    def leaveEvent(self, event: Any) -> None:
        """Emit that the pointer is gone."""
        # Not handed on to pyqtgraph's scene, which fails on a leave before any move.
        self._pointer = None
        self.hovered.emit(None)

    def _point(self, position: QPointF | None) -> None:
        """Show by the pointer's shape what a drag would do."""
        if not self._editing:
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
            return
        grip = Grip()
        if position is not None and self._region is not None:
            grip = grip_at(self._pixels(self._drawn(self._region)), position.x(), position.y())
        self.viewport().setCursor(cursor_of(grip))

    def wheel(self, position: QPointF, delta: float) -> None:
        """Zoom about a position of the pane; 120 is one notch."""
        self._camera.zoom(
            WHEEL_ZOOM**delta, position.x() - self.width() / 2, position.y() - self.height() / 2
        )

    def drag(self, event: Any) -> None:
        """Pan, or draw, move or pull the region."""
        position, start, last = event.scenePos(), event.buttonDownScenePos(), event.lastScenePos()
        if not self._editing or event.button() == Qt.MouseButton.MiddleButton:
            self._camera.pan(position.x() - last.x(), position.y() - last.y())
            return
        if event.isStart():
            before = self._drawn(self._region) if self._region is not None else None
            self._grip = grip_at(before and self._pixels(before), start.x(), start.y())
            # The region follows the drag: what is moved is where it was at the beginning.
            self._held = before, self.to_degrees(start.x(), start.y())
        before, begun = self._held
        box = dragged_box(before, self._grip, begun, self.to_degrees(position.x(), position.y()))
        if event.isFinish() and self._band is not None and position == last:
            box = self._band  # the map may have moved below a pointer that was kept still
        pixels = self._pixels(box)
        large = pixels.right - pixels.left >= SMALLEST and pixels.bottom - pixels.top >= SMALLEST
        self.viewport().update()
        if event.isFinish():
            self._band = None
            self.region_drawn.emit(box if large else None)
            return
        self._band, self._band_refused = box, not usable(box, self._region)
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
