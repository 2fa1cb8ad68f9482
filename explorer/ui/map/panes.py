"""Grid of up to six map panes with common camera, colours and pointer, and their menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QMenu, QWidget

from explorer.engine.session.session import Session
from explorer.figures.colour_maps import COLOUR_MAPS, colour_limits, colour_table
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Result, Surface
from explorer.studies.heatmap.parameters import (
    CENTRES,
    DIFFERENCE,
    ERROR,
    MOST,
    PRIVATE,
    TRUE,
    beside as named,
    is_map,
    pane_keys,
    surface_key,
)
from explorer.studies.registry import get_study
from explorer.ui.map.camera import WORLD_BOX, MapCamera
from explorer.ui.map.cells import cell_of, cell_words, place_words
from explorer.ui.map.colour_bar import ColourBar, SharedBars, format_share
from explorer.ui.map.layers import dot_pixels
from explorer.ui.map.pane import MIN_PANE_WIDTHS, MapPane
from explorer.ui.map.slot import PaneHeader, Slot
from explorer.ui.plot.map_style import LIGHT, style_for
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel

MAX_COLUMNS, MAX_ROWS = 3, 2
_SLOT_ROWS = 5
"""Grid rows of a slot; the third holds the map."""
MIN_WIDTH_OF_MANY = (120, 96)
"""Width in pixels of more than two panes."""
COMPUTING = "computing…"


class MapPanes(QWidget):
    """Linked panes with colour bars and a line for the values at the pointer.

    Signals
    -------
    region_dragged(object), region_drawn(object), region_tool_left()
        Emitted by any pane.
    looked(object, float, float)
        Box in view and size of a pane in pixels, after each move or resize.
    menu_wanted(str, QMenu)
        The menu of the pane with that key is about to open and must be filled.
    arranged()
        The set of panes changed.
    """

    region_dragged = Signal(object)
    region_drawn = Signal(object)
    region_tool_left = Signal()
    looked = Signal(object, float, float)
    menu_requested = Signal(str, object)
    arranged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.camera = MapCamera(self)
        self.style_of_map = LIGHT
        self._surfaces: dict[str, Surface] = {}
        self._tops: dict[str, float] = {}
        self._linked, self._colours = True, COLOUR_MAPS[0]
        self._pointer: tuple[float, float] | None = None
        self._picture: np.ndarray | None = None
        self.dots: tuple[np.ndarray, Box] | None = None
        self._region: Region | None = None
        self._editing, self._answered, self._lines, self._cities = False, False, True, True
        self._fitted: tuple[Box, float, tuple[float, ...]] | None = None
        self.slots: dict[str, Slot] = {}
        self._spare: list[Slot] = []
        self.shared_bars = SharedBars(self)
        self.readout = FixedSizeLabel()
        self.readout.setAccessibleDescription("Position and values under the pointer")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(4, 2, 4, 2)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(2)
        self.camera.changed.connect(self._looked)
        self.set_keys((TRUE, PRIVATE))
        self.set_colour_map(self._colours)
        self._restyle()
        self._read_out()

    # Which panes there are -------------------------------------------------------------------

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the surfaces shown, in order."""
        return tuple(self.slots)

    @property
    def panes(self) -> dict[str, MapPane]:
        """Panes by surface key, in order."""
        return {key: slot.pane for key, slot in self.slots.items()}

    @property
    def headers(self) -> dict[str, PaneHeader]:
        """Headers of the panes."""
        return {key: slot.header for key, slot in self.slots.items()}

    @property
    def bars(self) -> dict[str, ColourBar]:
        """Colour bar of each pane, shown while they have separate scales."""
        return {key: slot.bar for key, slot in self.slots.items()}

    def set_keys(self, keys: tuple[str, ...]) -> None:
        """Show panes for surfaces; those without data are empty."""
        if keys == self.keys:
            return
        fitted = self._fitted
        if self.slots and (fitted is None or fitted[2] != self.camera.place):
            fitted = (self.box, 0.0, self.camera.place)
        before = self.slots
        self._spare += [slot for key, slot in before.items() if key not in keys]
        self.slots = {}
        for key in keys:
            slot = before.get(key) or (self._spare.pop(0) if self._spare else self._new_slot())
            if slot.key != key:
                slot.take(key, self._colours)
            self.slots[key] = slot
        for slot in self._spare:
            slot.key = ""
            slot.hide()
        self._surfaces = {key: s for key, s in self._surfaces.items() if key in keys}
        self._arrange()
        self._measure()
        self._redraw()
        self._draw_dots()
        if fitted is not None and self.isVisible():
            self._grid.activate()
            self._fit(fitted[0], fitted[1], self.camera.aspect)
        self._read_out()
        self.arranged.emit()

    def _new_slot(self) -> Slot:
        slot = Slot(self.camera, self)
        pane = slot.pane
        pane.set_style(self.style_of_map)
        pane.set_region(self._region)
        pane.set_editing(self._editing)
        pane.set_lines_visible(self._lines)
        pane.set_cities_visible(self._cities)
        pane.set_picture(self._picture)
        pane.hovered.connect(self._hover)
        pane.region_dragged.connect(self.region_dragged)
        pane.region_drawn.connect(self.region_drawn)
        pane.region_tool_left.connect(self.region_tool_left)
        pane.resized.connect(lambda: self._resized(pane))
        slot.header.menu.aboutToShow.connect(
            lambda: self.menu_requested.emit(slot.key, slot.header.menu)
        )
        return slot

    def _arrange(self) -> None:
        """Arrange the panes: up to three in a row, four to six in two rows."""
        grid, number = self._grid, len(self.slots)
        while grid.count():
            grid.takeAt(0)
        columns = self._columns
        rows = -(-number // columns)
        captions = sum(map(is_map, self.slots)) > 1 or CENTRES in self.slots
        for place, slot in enumerate(self.slots.values()):
            row, column = _SLOT_ROWS * (place // columns), place % columns
            for offset, widget in enumerate(slot.widgets()):
                grid.addWidget(widget, row + offset, column)
            slot.pane.setMinimumSize(*(MIN_PANE_WIDTHS if number <= 2 else MIN_WIDTH_OF_MANY))
            slot.header.show()
            slot.stamp.show()
            slot.pane.show()
            slot.caption.setVisible(captions)
            slot.bar.setVisible(not self._linked)
        for column in range(MAX_COLUMNS):
            grid.setColumnStretch(column, int(column < columns))
        below = _SLOT_ROWS * MAX_ROWS
        for row in range(below + 2):
            grid.setRowStretch(row, int(row % _SLOT_ROWS == 2 and row < _SLOT_ROWS * rows))
        grid.addWidget(self.shared_bars, below, 0, 1, columns)
        grid.addWidget(self.readout, below + 1, 0, 1, columns)
        self.shared_bars.setVisible(self._linked)
        self.shared_bars.difference.setVisible(DIFFERENCE in self.slots)
        self._even_out(self.width())

    @property
    def _columns(self) -> int:
        number = len(self.slots)
        return number if number <= 3 else -(-number // 2)

    @property
    def all_slots(self) -> tuple[Slot, ...]:
        """Slots in use and spare ones."""
        return (*self.slots.values(), *self._spare)

    @property
    def _first(self) -> MapPane:
        return next(iter(self.slots.values())).pane

    # Surfaces and colours --------------------------------------------------------------------

    def show_result(self, result: Result) -> None:
        """Show the surfaces of a result; unchanged ones are not redrawn."""
        surfaces = {s.key: s for s in result.surfaces if s.key in self.slots}
        self._answered = True
        before, self._surfaces = self._surfaces, surfaces
        same = surfaces.keys() == before.keys() and all(
            before[key].values is s.values for key, s in surfaces.items()
        )
        if not same:
            self._measure()
            self._redraw()
            if self._pointer is not None:
                self._read_out()
        self._caption(result)

    def _redraw(self) -> None:
        for key, slot in self.slots.items():
            if key in self._surfaces:
                slot.show_surface(self._surfaces[key], self.top(key))
            else:
                slot.pane.clear_surface(COMPUTING if self._answered else "")

    def _caption(self, result: Result) -> None:
        """Show the error below private panes; greyed while unknown."""
        known = {item.key: item for item in result.readouts}
        for slot in self.slots.values():
            slot.show_readouts(known, self._region)

    def clear(self) -> None:
        """Show no heatmap (no data)."""
        self._surfaces, self._answered = {}, False
        for slot in self.slots.values():
            slot.pane.clear_surface()
            slot.set_stamp("")
            slot.caption.setText("")
            slot.bar.set_scale(0.0, False)
        self.shared_bars.show_scale(0.0, ())
        self._read_out()

    def top(self, key: str) -> float:
        """Return the end of a pane's colour scale: the true map's maximum while linked."""
        return self._tops.get(key) or max(self._tops.values(), default=1.0)

    @property
    def linked(self) -> bool:
        """Whether the panes share one colour scale."""
        return self._linked

    @property
    def colour_map(self) -> str:
        """Name of the colour map."""
        return self._colours

    def set_linked(self, linked: bool) -> None:
        """Share one colour scale, or use one per pane."""
        if linked == self._linked:
            return
        self._linked = linked
        self._measure()
        self._arrange()
        self._redraw()

    def set_colour_map(self, name: str) -> None:
        """Choose a colour map by name."""
        self._colours = name
        self.shared_bars.maps.set_colours(colour_table(name))
        for slot in self.slots.values():
            slot.set_colours(name)

    def _measure(self) -> None:
        surfaces = self._surfaces
        limits = colour_limits(tuple(surfaces.values()), self._linked)
        self._tops = dict(zip(surfaces, limits, strict=True))
        if not surfaces:
            return
        for key, surface in surfaces.items():
            self.slots[key].bar.set_scale(self._tops[key], False, surface.diverging)
        if self._linked:
            coloured = [s for s in surfaces.values() if s.overlay is None]
            self.shared_bars.show_scale(max(self._tops.values()), coloured)

    # Region, dots, camera --------------------------------------------------------------------

    def set_region(self, region: Region | None, dragged: bool = False) -> None:
        """Outline the region in all panes; at rest, make the map true to its latitude."""
        self._region = region
        self.camera.set_plane(None if region is None else region.plane)
        for slot in self.all_slots:
            slot.pane.set_region(region)
        if region is not None and not dragged:
            self.camera.set_aspect(region.aspect)

    def set_picture(self, pixels: np.ndarray | None) -> None:
        """Show a background picture for planes other than the Earth; row 0 is the lowest."""
        self._picture = pixels
        for slot in self.all_slots:
            slot.pane.set_picture(pixels)

    def set_editing(self, editing: bool) -> None:
        """Switch the region tool on or off."""
        self._editing = editing
        for slot in self.all_slots:
            slot.pane.set_editing(editing)

    def set_lines_visible(self, visible: bool) -> None:
        """Show or hide coasts and borders."""
        self._lines = visible
        for slot in self.all_slots:
            slot.pane.set_lines_visible(visible)

    def set_cities_visible(self, visible: bool) -> None:
        """Show or hide city names."""
        self._cities = visible
        for slot in self.all_slots:
            slot.pane.set_cities_visible(visible)

    def set_dots(self, counts: np.ndarray | None, box: Box | None) -> None:
        """Show counts of check-ins as dots, in the true pane only."""
        self.dots = None if counts is None or box is None else (counts, box)
        self._draw_dots()

    def _draw_dots(self) -> None:
        if TRUE not in self.slots:
            return
        pane = self.slots[TRUE].pane
        if self.dots is None:
            pane.set_dots(None, None)
        else:
            pane.set_dots(dot_pixels(self.dots[0], self.style_of_map.region), self.dots[1])

    def home(self, box: Box | None) -> None:
        """Fit a box; the world for None."""
        self._fit(box or WORLD_BOX, 0.06 if box else 0.0)

    def look_at(self, box: Box) -> None:
        """Show a box without a margin (a saved view)."""
        self._fit(box, 0.0, self.camera.aspect)

    def _fit(self, box: Box, margin: float, aspect: float | None = None) -> None:
        """Fit a box with a margin, also when panes are added before the camera moves."""
        pane = self._first
        self.camera.fit(box, pane.width(), pane.height(), margin)
        if aspect is not None:
            self.camera.set_aspect(aspect)
        self._fitted = (box, margin, self.camera.place)

    @property
    def box(self) -> Box:
        """South, west, north, east in view."""
        return self._first.box

    def _resized(self, pane: MapPane) -> None:
        if self.slots and pane is self._first:
            self._looked()

    def _looked(self) -> None:
        if not self.slots:
            return
        pane = self._first
        # The map moved under a resting pointer.
        under = next((p.pointed_at for p in self.panes.values() if p.pointed_at), None)
        if under is not None:
            self._hover(under)
        self.looked.emit(pane.box, float(pane.width()), float(pane.height()))

    # Pointer ---------------------------------------------------------------------------------

    def _hover(self, position: tuple[float, float] | None) -> None:
        self._pointer = position
        self._read_out()

    def _read_out(self) -> None:
        """Show position and values under the pointer, and mark the cell in all panes."""
        if self._pointer is None:
            for pane in self.panes.values():
                pane.mark(None)
            self.readout.setText("Point at the map for coordinates and the values of a cell.")
            return
        longitude, latitude = self._pointer
        place = [place_words(self._pointer, self.camera.scale, self._region)]
        few = len(self._surfaces) <= 2
        values: dict[str, str] = {}
        text: list[str] = []
        cell_box = None
        for key, surface in self._surfaces.items():
            cell = cell_of(surface, longitude, latitude)
            if cell is None:
                continue
            row, column, cell_box = cell
            if not values:
                place.append(cell_words(row, column, self._region))
            values[key] = format_share(float(surface.values[row, column]), like=self.top(key))
            who = "true (curator only)" if key == TRUE and few else key.partition(":")[2] or key
            text.append(f"{who} {values[key]}")
        for key, slot in self.slots.items():
            slot.pane.mark(cell_box, values.get(key, ""))
        # With many values some would be cut off after the position.
        self.readout.setText(
            ("   ·   " if few else " · ").join([*place, *text] if few else [*text, *place])
        )

    # Theme -----------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the panes equally wide to the pixel, so that they show the same box."""
        super().resizeEvent(event)
        self._even_out(event.size().width())

    def _even_out(self, width: int) -> None:
        margins, columns = self._grid.contentsMargins(), self._columns
        inner = width - 2 * margins.left() - (columns - 1) * self._grid.horizontalSpacing()
        margins.setRight(margins.left() + inner % columns)
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
        for slot in self.all_slots:
            slot.pane.set_style(style)
        self._draw_dots()


BESIDE, MECHANISM = "beside", "mechanism"
WITHOUT_TRUTH = "Hide the true map"


class PaneChooser:
    """Edits the parameter ``beside`` of the heatmap study; each change is one undo step.

    Parameters
    ----------
    session : Session
    study : callable
        Returns the id of the current map study. Studies without the parameter have two panes.
    """

    def __init__(self, session: Session, study: Callable[[], str]) -> None:
        self._session, self._study = session, study

    def choices(self, key: str = BESIDE) -> dict[str, str]:
        """Return values and labels of a parameter of the study."""
        parameters = get_study(self._study()).parameters
        return next((dict(p.choices) for p in parameters if p.key == key), {})

    def _value(self, key: str) -> str:
        return str(dict(self._session.state.request_of(self._study()).values).get(key, TRUE))

    @property
    def names(self) -> tuple[str, ...]:
        """Surfaces shown beside the private map."""
        return named(self._value(BESIDE))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the surfaces shown, in the order of the panes."""
        return pane_keys(self._value(BESIDE))

    @property
    def full(self) -> bool:
        """Whether the maximum number is reached."""
        return len(self.names) >= MOST or not self.choices()

    def show(self, name: str, shown: bool = True) -> None:
        """Add a surface, or remove it."""
        if shown != (name in self.names):
            rest = [n for n in self.names if n != name]
            self._set((*rest, name) if shown else rest)

    def replace(self, old: str, new: str) -> None:
        """Show another surface in a pane."""
        self._set([new if name == old else name for name in self.names])

    def _set(self, names: tuple[str, ...] | list[str]) -> None:
        self._session.set_value(BESIDE, ",".join(names), self._study())

    def _offered(self) -> list[tuple[str, str]]:
        """Return the surfaces that are not shown."""
        shown = (*self.names, self._value(MECHANISM))
        return [(name, label) for name, label in self.choices().items() if name not in shown]

    def fill_add(self, menu: QMenu) -> None:
        """Fill the menu of surfaces to add."""
        menu.clear()
        for name, label in self._offered():
            self._entry(menu, name, label, partial(self.show, name))

    def fill_pane(self, key: str, menu: QMenu) -> None:
        """Fill the menu of a pane: other surfaces, and close."""
        menu.clear()
        if key == PRIVATE:
            now = self._value(MECHANISM)
            for name, label in self.choices(MECHANISM).items():
                self._entry(menu, name, label, partial(self._choose, name), name == now)
            return
        old = next((name for name in self.names if surface_key(name) == key), "")
        if old != TRUE:
            self._entry(menu, old, self.choices().get(old, old), lambda: None, True)
            for name, label in self._offered():
                self._entry(menu, name, label, partial(self.replace, old, name))
            menu.addSeparator()
        words = WITHOUT_TRUTH if old == TRUE else "Close this map"
        menu.addAction(words).triggered.connect(lambda: self.show(old, False))

    def _choose(self, mechanism: str) -> None:
        self._session.set_value(MECHANISM, mechanism, self._study())

    def _entry(
        self, menu: QMenu, name: str, label: str, do: Callable[[], None], now: bool | None = None
    ) -> None:
        if name in (DIFFERENCE, TRUE) and menu.actions():
            menu.addSeparator()  # surfaces of true data form a group of their own
        action = menu.addAction(label)
        action.setToolTip("Curator only" if name in (TRUE, DIFFERENCE, ERROR) else "")
        action.setCheckable(now is not None)
        action.setChecked(bool(now))
        action.triggered.connect(lambda *_: do())
