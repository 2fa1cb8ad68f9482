"""One pane of the map: a heatmap on the basemap, moved by the shared camera."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsPixmapItem, QWidget

from explorer.figures.colour_maps import over_background
from explorer.geography.basemap import shipped_basemap
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Overlay
from explorer.ui.base.theme import MAP_DARK, MAP_LIGHT, MapStyle
from explorer.ui.map.backgrounds import Picture
from explorer.ui.map.camera import MapCamera, beside, on_earth, plane_of
from explorer.ui.map.layers import HeatmapItem, MapLines, PictureItem
from explorer.ui.map.overlay import (
    Stamp,
    TextPainter,
    city_stamps,
    in_ink,
    overlay_stamp,
    paint_mark,
    paint_outline,
    paint_region,
    paint_rubber_band,
    paint_value,
    rect_of,
    scale_bar,
)
from explorer.ui.map.tools import (
    GRAB_PX,
    MIN_DRAG_PX,
    Grip,
    PixelBox,
    PointsTool,
    cursor_of,
    dragged_box,
    grip_at,
    paint_measure,
    usable,
)


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
        """Zoom in on a double click, or set a point of a line."""
        if event.button() == Qt.MouseButton.LeftButton and self._pane.sets_point(event.scenePos()):
            event.accept()
        elif event.double() and event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self._pane.wheel(event.scenePos(), 462)  # magnification 2


PAN_STEP = 0.15
"""Share of the pane that an arrow key moves."""
KEY_ZOOM = 1.5
MIN_PANE_WIDTHS = (180, 160)
"""Width in pixels of each of two panes."""
WHEEL_ZOOM = 1.0015
ARROWS = {
    int(Qt.Key.Key_Left): (-1, 0),
    int(Qt.Key.Key_Right): (1, 0),
    int(Qt.Key.Key_Up): (0, -1),
    int(Qt.Key.Key_Down): (0, 1),
}
"""Steps to the right and down."""
BEHIND = -1000.0
"""Stacking order of the background, which is in pixels: below the view in degrees."""

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
        self._style = MAP_LIGHT
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
        self.image = HeatmapItem()
        self.picture = PictureItem(self.view)
        self._colours: tuple[np.ndarray, bool] = (np.zeros((256, 3), np.uint8), False)
        self._shown_behind: Picture | None = None
        self._opacity: float | None = None
        self._tools: tuple[PointsTool, ...] = ()
        self.lines = MapLines(self.view)
        self.behind = QGraphicsPixmapItem()
        self.behind.setZValue(BEHIND)
        self.behind.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.behind.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        self.scene().addItem(self.behind)
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
        self.set_style(MAP_LIGHT)

    # What is shown ---------------------------------------------------------------------------

    def set_style(self, style: MapStyle) -> None:
        """Apply light or dark colours."""
        self._style = style
        self.setBackground(style.background)
        self.lines.set_colour(style.line)
        self.set_colours(*self._colours)
        self._look()

    def set_colours(self, table: np.ndarray, diverging: bool = False) -> None:
        """Set the colour map: uint8, shape (256, 3)."""
        self._colours = table, diverging
        self.image.setLookupTable(self.colours)
        self.viewport().update()

    @property
    def colours(self) -> np.ndarray:
        """The colour map as drawn, with opacity in front of a picture or background."""
        table, diverging = self._colours
        if self._opacity is None:
            return self.picture.through(table, diverging)
        return over_background(table, diverging, self._dark, self._opacity)

    @property
    def _dark(self) -> bool:
        """Whether what is behind heatmaps is dark."""
        picture = self._shown_behind
        return self._style.theme == "dark" if picture is None else picture.dark

    @property
    def colours_of_bar(self) -> np.ndarray:
        """The colour map as it looks in front of a ground as dark as the background."""
        table = self.colours
        if self._opacity is None:
            return self._colours[0]
        back = (MAP_DARK if self._dark else MAP_LIGHT).background
        ground = np.array([back.red(), back.green(), back.blue()])
        alpha = table[:, 3:] / 255
        return (table[:, :3] * alpha + ground * (1 - alpha)).round().astype(np.uint8)

    def set_background(self, picture: Picture | None) -> None:
        """Show a picture of the user's own files behind the map; None for none."""
        dark, self._shown_behind = self._dark, picture
        if dark != self._dark:
            self.set_colours(*self._colours)
        self.behind.setPixmap(QPixmap() if picture is None else picture.pixmap)
        self._place_background()

    def _place_background(self) -> None:
        """Move and scale the background to where its box is in view."""
        picture = self._shown_behind
        self.behind.setVisible(picture is not None and on_earth(self.region))
        if picture is not None:
            place, size = self._pixels(picture.box), picture.pixmap.deviceIndependentSize()
            across = (place.right - place.left) / size.width()
            down = (place.bottom - place.top) / size.height()
            if abs(across - 1) + abs(down - 1) < 1e-3:  # at rest it is copied pixel by pixel
                across = down = 1.0
                place = replace(place, left=round(place.left), top=round(place.top))
            self.behind.setPos(place.left, place.top)
            self.behind.setTransform(QTransform.fromScale(across, down))
        self.viewport().update()

    def set_opacity(self, opacity: float | None) -> None:
        """Let a background show through heatmaps; None for opaque ones."""
        if opacity != self._opacity:
            self._opacity = opacity
            self.set_colours(*self._colours)
            self._stamps = None

    def set_surface(self, values: np.ndarray, region: Region, top: float, low: float = 0.0) -> None:
        """Show a heatmap, scaled to its region and coloured from `low` to `top`."""
        self.waiting = ""
        if not (values is self._values and self.image.isVisible()) or (low, top) != self._levels:
            self._values, self._levels = values, (low, top)
            self.image.setImage(values, autoLevels=False, levels=self._levels)
            self.viewport().update()
        if (region, values.shape) != (self.surface_region, self._surface_shape):
            self.surface_region, self._surface_shape = region, values.shape
            self.image.set_outline(region)
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
        self._place_background()
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

    # Measuring and drawing a polygon ---------------------------------------------------------

    def set_tools(self, *tools: PointsTool) -> None:
        """Share the tools that set points."""
        self._tools = tools
        for tool in tools:
            tool.changed.connect(self.viewport().update)

    @property
    def _tool(self) -> PointsTool | None:
        """The tool that is on."""
        return next((tool for tool in self._tools if tool.active), None)

    def sets_point(self, position: QPointF) -> bool:
        """Set a point at a pixel; return whether a tool is on."""
        tool = self._tool
        if tool is not None:
            self._set_point(tool, self.to_degrees(position.x(), position.y()))
        return tool is not None

    def _set_point(self, tool: PointsTool, place: tuple[float, float]) -> None:
        """Add a point, or close the line at its first one."""
        if tool.points:
            (x, y), (first_x, first_y) = self.to_pixels(*place), self.to_pixels(*tool.points[0])
            near = max(abs(x - first_x), abs(y - first_y)) <= GRAB_PX
            if near and tool.close_at_first():
                return
        tool.add(place)

    def _tool_key(self, key: int, shift: bool) -> bool:
        """Move the cross, set or take back a point, or end; return whether the key did."""
        tool = self._tool
        if tool is None:
            return False
        middle = self.to_degrees(self.width() / 2, self.height() / 2)
        cursor = tool.cursor or middle
        if key in ARROWS:
            x, y = self.to_pixels(*cursor)
            step = 10 if shift else 1
            right, down = ARROWS[key]
            x = min(max(x + step * right, 0), self.width())
            y = min(max(y + step * down, 0), self.height())
            tool.set_cursor(self.to_degrees(x, y))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._set_point(tool, cursor)
        elif key == Qt.Key.Key_Backspace:
            tool.take_back()
        elif key == Qt.Key.Key_Escape:
            tool.set_active(False)
        else:
            return False
        return True

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
        self._place_background()
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
        where = covered
        if self._opacity is not None:
            covered = None  # heatmaps are light there on light maps
        if where is not None and self.overlay is not None:
            shown = [overlay_stamp(self.overlay, where, width, height, *arguments[1:])]
        if self._show_cities and on_earth(self.region):
            shown += city_stamps(self.box, width, height, covered, *arguments)
        bar = partial(scale_bar, self.region, self._camera.scale, width, _texts, font)
        result = bar(*arguments[2:])
        top = height - result.height() / result.devicePixelRatio() - 4
        return [
            *shown,
            in_ink(result, lambda: bar(MAP_DARK, arguments[3]), 8, top, covered),
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
        if self.region is not None and self.region.rings:
            turn = self._drawn(self.region)[1] - self.region.west
            for ring in self.region.rings:
                outline = [self.to_pixels(lon + turn, lat) for lat, lon in ring]
                paint_outline(painter, outline, self._style)
        elif self.region is not None:
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
        if (tool := self._tool) is not None and (line := tool.line):
            pixels = [self.to_pixels(*position) for position in line]
            paint_measure(painter, pixels, tool.label(plane_of(self.region)), self.width())
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
        if (tool := self._tool) is not None:
            tool.set_cursor(self.pointed_at)
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
        grip, box = Grip(), self._held_box
        if position is not None and box is not None:
            grip = grip_at(self._pixels(box), position.x(), position.y())
        self.viewport().setCursor(cursor_of(grip))

    @property
    def _held_box(self) -> Box | None:
        """The region's box as drawn, if it can be moved: a polygon cannot, a new box is drawn."""
        region = self.region
        return None if region is None or region.rings else self._drawn(region)

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
            before = self._held_box
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
        if self._tool_key(key, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)):
            event.accept()
            return
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
