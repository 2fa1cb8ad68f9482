"""True and private heatmap side by side: one camera, one colour scale, one pointer."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.geography.region import Box, Region
from explorer.geography.scale_bar import coordinate_decimals, format_coordinates
from explorer.studies.base.study import Result, Surface
from explorer.ui.drawing.map_style import LIGHT, style_for
from explorer.ui.map.camera import WORLD, MapCamera
from explorer.ui.map.colour_bar import ColourBar, format_share
from explorer.ui.map.dots import dot_pixels
from explorer.ui.map.pane import MapPane
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel

KEYS = ("true", "private")
_GAP = 14
"""Pixels of a header that are neither title nor badge."""


class PaneHeader(QWidget):
    """Title of a pane and a badge that says what kind of picture it is.

    The title comes first: where both do not fit side by side the badge takes its short form, then
    the title what stands after its colon.
    """

    def __init__(
        self, title: str, badge: str, short: str, tip: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._badges = (badge, short)
        self._title = title
        self.title = FixedSizeLabel(title)
        font = QFont(self.title.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.title.setFont(font)
        self.badge = QLabel(badge)
        self.badge.setObjectName("badge")
        self.badge.setToolTip(tip)
        self.badge.setAccessibleName(badge)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 2, 0)
        row.addWidget(self.title, 1)
        row.addWidget(self.badge)

    def set_title(self, text: str) -> None:
        """Write another title."""
        if text != self._title:
            self._title = text
            self.title.setToolTip(text)
            self._choose_form()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._choose_form()

    def _choose_form(self) -> None:
        long, short = self._badges
        room = self.width() - _GAP - QFontMetrics(self.title.font()).horizontalAdvance(self._title)
        badge = long if self._badge_width(long) <= room else short
        if badge != self.badge.text():
            self.badge.setText(badge)
        rest = self._title.partition(": ")[2]
        self.title.setText(rest if rest and self._badge_width(badge) > room else self._title)
        self.title.setAccessibleName(self._title)

    def _badge_width(self, text: str) -> int:
        metrics = self.badge.fontMetrics()
        frame = self.badge.sizeHint().width() - metrics.horizontalAdvance(self.badge.text())
        return frame + metrics.horizontalAdvance(text)


class MapPanes(QWidget):
    """The linked panes, their colour bars and the line that reads out the pointer.

    Signals
    -------
    region_drawn(object), region_tool_left()
        From whichever pane.
    looked(object, float, float)
        Box in view and a pane's size in pixels, after every move of the camera or resize.
    """

    region_drawn = Signal(object)
    region_tool_left = Signal()
    looked = Signal(object, float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.camera = MapCamera(self)
        self.style_of_map = LIGHT
        self._surfaces: dict[str, Surface] = {}
        self._tops: dict[str, float] = {}
        self._linked = True
        self._colours = COLOUR_MAPS[0]
        self._pointer: tuple[float, float] | None = None
        self._dots: tuple[np.ndarray, Box] | None = None
        self.panes = {
            "true": MapPane(self.camera, "True heatmap, curator only"),
            "private": MapPane(self.camera, "Private heatmap, demonstration noise"),
        }
        self.headers = {
            "true": PaneHeader(
                "True heatmap",
                "curator only",
                "curator",
                "Drawn from the real check-ins without any noise. Only who holds the data may "
                "see it.",
            ),
            "private": PaneHeader(
                "Private heatmap",
                "demonstration noise",
                "demo noise",
                "The noise comes from the seed shown, so that it can be drawn again: good for "
                "looking, not for a release.",
            ),
        }
        self.bars = {
            "true": ColourBar("Colour scale", self),
            "private": ColourBar("Colour scale of the private map", self),
        }
        self.readout = FixedSizeLabel()
        self.readout.setAccessibleDescription("Position and values under the pointer")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(4, 2, 4, 2)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(2)
        for column, key in enumerate(KEYS):
            pane = self.panes[key]
            self._grid.addWidget(self.headers[key], 0, column)
            self._grid.addWidget(pane, 1, column)
            self._grid.setColumnStretch(column, 1)
            # Equal panes show equal boxes, whatever their headers would like.
            self.headers[key].setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            pane.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
            pane.hovered.connect(self._hover)
            pane.region_drawn.connect(self.region_drawn)
            pane.region_tool_left.connect(self.region_tool_left)
        self._grid.setRowStretch(1, 1)
        self._grid.addWidget(self.readout, 3, 0, 1, 2)
        self._place_bars()
        self.panes["true"].resized.connect(self._looked)
        self.camera.changed.connect(self._looked)
        self.set_colour_map(self._colours)
        self._restyle()
        self._read_out()

    # Surfaces and colours --------------------------------------------------------------------

    def show_result(self, result: Result) -> None:
        """Show an answer's surfaces; those that are on the screen already are left alone."""
        surfaces = {s.key: s for s in result.surfaces if s.key in self.panes}
        changed = [
            key
            for key, s in surfaces.items()
            if key not in self._surfaces or self._surfaces[key].values is not s.values
        ]
        if not changed and surfaces.keys() == self._surfaces.keys():
            return
        self._surfaces = surfaces
        self._measure()
        for key in self.panes:
            if key in surfaces:
                self._draw(key)
            else:
                self.panes[key].clear_surface()
        if self._pointer is not None:
            self._read_out()

    def clear(self) -> None:
        """Show no heatmap (no data)."""
        self._surfaces = {}
        for key, pane in self.panes.items():
            pane.clear_surface()
            pane.set_stamp("")
            self.bars[key].set_scale(0.0, False)
        self._read_out()

    def top(self, key: str) -> float:
        """Return where a pane's colour scale ends: the true map's maximum while linked."""
        shared = "true" if self._linked and self._tops.get("true") else key
        # A map of nothing still needs a scale above 0.
        return self._tops.get(shared) or self._tops.get(key) or 1.0

    @property
    def linked(self) -> bool:
        """Whether the panes share one colour scale."""
        return self._linked

    @property
    def colour_map(self) -> str:
        """Name of the colour map."""
        return self._colours

    def set_linked(self, linked: bool) -> None:
        """Share one colour scale, or give every pane its own."""
        if linked == self._linked:
            return
        self._linked = linked
        self._place_bars()
        for key in self._surfaces:
            self.panes[key].set_top(self.top(key))
        self._scale_bars()

    def set_colour_map(self, name: str) -> None:
        """Choose a colour map by name."""
        self._colours = name
        table = colour_table(name)
        for key in self.panes:
            self.panes[key].set_colours(table)
            self.bars[key].set_colours(table)

    def _measure(self) -> None:
        self._tops = {key: float(s.values.max(initial=0)) for key, s in self._surfaces.items()}
        self._scale_bars()

    def _draw(self, key: str) -> None:
        surface = self._surfaces[key]
        assert surface.region is not None
        self.panes[key].set_surface(surface.values, surface.region, self.top(key))
        self.panes[key].set_stamp(surface.stamp)
        self.headers[key].set_title(short_title(surface.label))

    def _scale_bars(self) -> None:
        if not self._surfaces:
            return
        end = self.top("true")
        beyond = self._linked and self._tops.get("private", 0.0) > end * (1 + 1e-6)
        self.bars["true"].set_scale(end, beyond)
        self.bars["private"].set_scale(self.top("private"), False)

    def _place_bars(self) -> None:
        for bar in self.bars.values():
            self._grid.removeWidget(bar)
        self._grid.addWidget(self.bars["true"], 2, 0, 1, 2 if self._linked else 1)
        self.bars["private"].setVisible(not self._linked)
        if not self._linked:
            self._grid.addWidget(self.bars["private"], 2, 1)

    # Region, dots, camera --------------------------------------------------------------------

    def set_region(self, region: Region | None) -> None:
        """Outline the region in every pane and draw the map true to its middle latitude."""
        for pane in self.panes.values():
            pane.set_region(region)
        if region is not None:
            self.camera.set_aspect(region.aspect)

    def set_editing(self, editing: bool) -> None:
        """Switch the region tool on or off."""
        for pane in self.panes.values():
            pane.set_editing(editing)

    def set_dots(self, counts: np.ndarray | None, box: Box | None) -> None:
        """Show counts of check-ins as dots, in the true pane alone."""
        self._dots = None if counts is None or box is None else (counts, box)
        self._draw_dots()

    def _draw_dots(self) -> None:
        pane = self.panes["true"]
        if self._dots is None:
            pane.set_dots(None, None)
        else:
            pane.set_dots(dot_pixels(self._dots[0], self.style_of_map.region), self._dots[1])

    def home(self, box: Box | None) -> None:
        """Show a box as large as it fits, the world without one."""
        pane = self.panes["true"]
        self.camera.fit(box or WORLD, pane.width(), pane.height(), 0.06 if box else 0.0)

    def look_at(self, box: Box) -> None:
        """Show a box without a margin (a saved view)."""
        pane = self.panes["true"]
        aspect = self.camera.aspect
        self.camera.fit(box, pane.width(), pane.height(), 0.0)
        self.camera.set_aspect(aspect)

    @property
    def box(self) -> Box:
        """South, west, north, east in view."""
        return self.panes["true"].box

    def _looked(self) -> None:
        pane = self.panes["true"]
        # The map moved below a pointer that stays.
        under = next((p.pointed_at for p in self.panes.values() if p.pointed_at), None)
        if under is not None:
            self._hover(under)
        self.looked.emit(pane.box, float(pane.width()), float(pane.height()))

    # Pointer ---------------------------------------------------------------------------------

    def _hover(self, position: tuple[float, float] | None) -> None:
        self._pointer = position
        self._read_out()

    def _read_out(self) -> None:
        """Write position and values under the pointer, and mark the cell in every pane."""
        if self._pointer is None:
            for pane in self.panes.values():
                pane.mark(None)
            self.readout.setText("Point at the map for coordinates and the values of a cell.")
            return
        longitude, latitude = self._pointer
        parts = [
            format_coordinates(
                latitude,
                (longitude + 180) % 360 - 180,
                coordinate_decimals(self.camera.scale),
            )
        ]
        cell_box = None
        for key, surface in self._surfaces.items():
            found = cell_of(surface, longitude, latitude)
            if found is None:
                continue
            row, column, cell_box = found
            if len(parts) == 1:
                parts.append(f"cell {column + 1}, {row + 1} from the south-west")
            who = "true (curator only)" if surface.curator_only else key
            share = format_share(float(surface.values[row, column]), like=self.top("true"))
            parts.append(f"{who} {share}")
        for pane in self.panes.values():
            pane.mark(cell_box)
        self.readout.setText("   ·   ".join(parts))

    # Theme -----------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the panes equally wide to the pixel, so that they show the same box."""
        super().resizeEvent(event)
        margins = self._grid.contentsMargins()
        inner = event.size().width() - 2 * margins.left() - self._grid.horizontalSpacing()
        margins.setRight(margins.left() + inner % 2)
        self._grid.setContentsMargins(margins)

    def changeEvent(self, event: QEvent) -> None:
        """Follow palette and font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._restyle()

    def _restyle(self) -> None:
        style = style_for(self.palette())
        if style is self.style_of_map:
            return
        self.style_of_map = style
        for pane in self.panes.values():
            pane.set_style(style)
        self._draw_dots()


def cell_of(surface: Surface, longitude: float, latitude: float) -> tuple[int, int, Box] | None:
    """Return row, column and box of the cell of a surface at a position; None outside."""
    assert surface.region is not None
    south, west, north, east = surface.region.box
    if not (south <= latitude <= north and west <= longitude <= east):
        return None
    rows, columns = surface.values.shape
    row = min(int((latitude - south) / (north - south) * rows), rows - 1)
    column = min(int((longitude - west) / (east - west) * columns), columns - 1)
    high, wide = (north - south) / rows, (east - west) / columns
    box = (
        south + row * high,
        west + column * wide,
        south + (row + 1) * high,
        west + (column + 1) * wide,
    )
    return row, column, box


def short_title(label: str) -> str:
    """Return a surface's label without the word that every pane's title would share."""
    first, colon, rest = label.partition(" heatmap: ")
    return f"{first}: {rest}" if colon else label
