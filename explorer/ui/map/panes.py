"""Grid of up to six map panes with common camera, colours and pointer; its cells, their menu."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from explorer.engine.session.session import Session
from explorer.figures.colour_maps import (
    COLOUR_MAPS,
    DIFFERENCE_SCALE,
    ERROR_SCALE,
    MAPS_SCALE,
    colour_limits,
    colour_table,
    diverging_table,
    scale_of,
)
from explorer.geography.region import Box, Region
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Result, ScalarResult, Surface
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap.parameters import (
    CENTRES,
    CHOICES,
    DIFFERENCE,
    ERROR,
    MADE_BY,
    MOST,
    PRIVATE,
    QUANTILES,
    TRUE,
    beside as named,
    is_map,
    is_private,
    pane_keys,
    surface_key,
)
from explorer.studies.heatmap.text import AVERAGE_ERROR, SYNTHETIC, in_unit
from explorer.studies.registry import get_study
from explorer.ui.base.styled import plain_label, plain_tip, tool_button
from explorer.ui.base.theme import MAP_LIGHT, map_style_for
from explorer.ui.map.backgrounds import Picture
from explorer.ui.map.camera import WORLD_BOX, MapCamera, cell_of, cell_words, place_words
from explorer.ui.map.colour_bar import ColourBar, People, SharedBars, format_share
from explorer.ui.map.layers import dot_pixels
from explorer.ui.map.pane import MIN_PANE_WIDTHS, MapPane
from explorer.ui.map.tools import MeasureTool, PolygonTool
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText

MAX_COLUMNS, MAX_ROWS = 3, 2
_SLOT_ROWS = 5
"""Grid rows of a slot; the third holds the map."""
MIN_WIDTH_OF_MANY = (120, 96)
"""Width in pixels of more than two panes."""
CITY_DEGREES = 1.5
"""Widest view, in degrees of longitude, in which the built-in outline is coarse."""
COARSE = "Coarse outline: add a background…"
COMPUTING = "computing…"
_SCALES = {DIFFERENCE: DIFFERENCE_SCALE, ERROR: ERROR_SCALE}
"""Colour scales of panes other than maps."""


class MapPanes(QWidget):
    """Linked panes with colour bars and a line for the values at the pointer.

    Signals
    -------
    region_dragged(object), region_drawn(object), region_tool_left()
        Emitted by any pane.
    looked(object, float, float)
        Box in view and size of a pane in pixels, after each move or resize.
    menu_requested(str, QMenu)
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
        self.style_of_map = MAP_LIGHT
        self._surfaces: dict[str, Surface] = {}
        """Of the panes shown."""
        self._known: dict[str, Surface] = {}
        """All of the last result: also of panes that the window is too small for at present."""
        self._tops: dict[str, float] = {}
        self._linked, self._colours = True, COLOUR_MAPS[0]
        self._pointer: tuple[float, float] | None = None
        self._picture: np.ndarray | None = None
        self._background: Picture | None = None
        self._opacity: float | None = None
        self.dots: tuple[np.ndarray, Box] | None = None
        self._region: Region | None = None
        self._users: float | None = None
        self._in_people = True
        self.measure = MeasureTool(self)
        self.outline = PolygonTool(self)
        for tool in (self.measure, self.outline):
            tool.changed.connect(self._read_out)
        self._editing, self._answered, self._lines, self._cities = False, False, True, True
        self._fitted: tuple[Box, float, tuple[float, ...]] | None = None
        self.slots: dict[str, Slot] = {}
        self._spare: list[Slot] = []
        self.shared_bars = SharedBars(self)
        self.readout = FixedSizeLabel()
        self.readout.setAccessibleDescription("Position and values under the pointer")
        self.coarse = tool_button(
            COARSE,
            "The built-in outline shows no streets: open tiles or lines of your own behind the map",
            COARSE,
            quiet=True,
        )
        self.coarse.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.coarse.setStyleSheet("padding: 0px 4px;")
        self._aside = QStackedWidget()
        self._aside.addWidget(self.coarse)
        self._line = QWidget()
        line = QHBoxLayout(self._line)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.readout, 1)
        line.addWidget(self._aside)
        self._line.setFixedHeight(self.coarse.sizeHint().height())
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
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
        self._surfaces = {key: s for key, s in self._known.items() if key in keys}
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
        pane.set_background(self._background)
        pane.set_opacity(self._opacity)
        pane.set_tools(self.measure, self.outline)
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
        for place, slot in enumerate(self.slots.values()):
            row, column = _SLOT_ROWS * (place // columns), place % columns
            for offset, widget in enumerate(slot.widgets()):
                grid.addWidget(widget, row + offset, column)
            slot.pane.setMinimumSize(*(MIN_PANE_WIDTHS if number <= 2 else MIN_WIDTH_OF_MANY))
            slot.header.show()
            slot.stamp.setVisible(slot.stamped)
            slot.pane.show()
            slot.caption.show()
            slot.bar.setVisible(not self._linked)
        for column in range(MAX_COLUMNS):
            grid.setColumnStretch(column, int(column < columns))
        below = _SLOT_ROWS * MAX_ROWS
        for row in range(below + 2):
            grid.setRowStretch(row, int(row % _SLOT_ROWS == 2 and row < _SLOT_ROWS * rows))
        grid.addWidget(self.shared_bars, below, 0, 1, columns)
        grid.addWidget(self._line, below + 1, 0, 1, columns)
        self.shared_bars.setVisible(self._linked)
        self.shared_bars.arrange(Counter(_SCALES.get(key, MAPS_SCALE) for key in self.slots))
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
        self._known = {s.key: s for s in result.surfaces}
        surfaces = {key: s for key, s in self._known.items() if key in self.slots}
        self._answered = True
        counted = next((item.value for item in result.readouts if item.key == "users_used"), None)
        if counted != self._users:
            self._users = counted
            self._measure()
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
        self._surfaces, self._known, self._answered = {}, {}, False
        for slot in self.slots.values():
            slot.pane.clear_surface()
            slot.set_stamp("")
            slot.clear_caption()
            slot.bar.set_scale(0.0, False)
        self.shared_bars.show_scale({}, ())
        self._read_out()

    def top(self, key: str) -> float:
        """Return the end of a pane's colour scale: for maps the true maximum while linked."""
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
        for slot in self.slots.values():
            slot.set_colours(name)
        self._colour_bars()

    def _colour_bars(self) -> None:
        """Give the common bars the colours of the panes."""
        for key, slot in self.slots.items():
            bar = self.shared_bars.bars[_SCALES.get(key, MAPS_SCALE)]
            bar.set_colours(slot.pane.colours_of_bar)

    def _measure(self) -> None:
        surfaces = self._surfaces
        limits = colour_limits(tuple(surfaces.values()), self._linked)
        self._tops = dict(zip(surfaces, limits, strict=True))
        if not surfaces:
            return
        unit = self._unit(next(iter(surfaces.values())))
        self.shared_bars.set_people(unit)
        for key, surface in surfaces.items():
            self.slots[key].bar.set_people(unit)
            self.slots[key].bar.set_scale(self._tops[key], False, surface.diverging)
        if self._linked:
            coloured = [s for s in surfaces.values() if s.overlay is None]
            ends = {scale_of(s): self._tops[key] for key, s in surfaces.items()}
            self.shared_bars.show_scale(ends, coloured)

    def _unit(self, surface: Surface) -> People | None:
        """Return the unit of people of a surface; None while shares are shown."""
        users = self._users if self._in_people else None
        return None if not users else People.of(users, surface)

    def set_in_people(self, in_people: bool) -> None:
        """Write people, per km² on the Earth, or shares of the total."""
        if in_people != self._in_people:
            self._in_people = in_people
            self._measure()
            self._read_out()

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

    def set_background(self, picture: Picture | None) -> None:
        """Show a picture of the user's own files behind all maps; None for none."""
        self._background = picture
        for slot in self.all_slots:
            slot.pane.set_background(picture)
            if self._opacity is not None:
                slot.bar.set_colours(slot.pane.colours_of_bar)
        if self._opacity is not None:
            self._colour_bars()

    def set_opacity(self, opacity: float | None) -> None:
        """Let the background show through heatmaps; None for opaque ones."""
        if opacity != self._opacity:
            self._opacity = opacity
            for slot in self.all_slots:
                slot.pane.set_opacity(opacity)
                slot.bar.set_colours(slot.pane.colours_of_bar)
            self._colour_bars()
            self._note_coarse()

    def add_credit(self, credit: QWidget) -> None:
        """Show the credit of backgrounds where the note on the outline stands without them."""
        self._aside.insertWidget(0, credit)
        self._note_coarse()

    def set_editing(self, editing: bool) -> None:
        """Switch the region tool on or off."""
        self._editing = editing
        for slot in self.all_slots:
            slot.pane.set_editing(editing)

    def set_lines_visible(self, visible: bool) -> None:
        """Show or hide coasts and borders."""
        self._lines = visible
        self._note_coarse()
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
        self._note_coarse()
        # The map moved under a resting pointer.
        under = next((p.pointed_at for p in self.panes.values() if p.pointed_at), None)
        if under is not None:
            self._hover(under)
        self.looked.emit(pane.box, float(pane.width()), float(pane.height()))

    def _note_coarse(self) -> None:
        """Say that the built-in outline is coarse where a view is of a city."""
        _, west, _, east = self._first.box
        earth = self._region is None or self._region.plane is None
        coarse = self._lines and earth and self._opacity is None and east - west < CITY_DEGREES
        self._aside.setCurrentIndex(self._aside.count() - 1 if coarse else 0)
        self._aside.setVisible(coarse or self._aside.count() > 1)

    # Pointer ---------------------------------------------------------------------------------

    def _hover(self, position: tuple[float, float] | None) -> None:
        self._pointer = position
        self._read_out()

    def _read_out(self) -> None:
        """Show position and values under the pointer, and mark the cell in all panes.

        While a tool sets points its text is shown instead.
        """
        tool = next((tool for tool in (self.measure, self.outline) if tool.active), None)
        if tool is not None:
            for pane in self.panes.values():
                pane.mark(None)
            plane = None if self._region is None else self._region.plane
            self.readout.setText(tool.words(plane))
            return
        if self._pointer is None:
            for pane in self.panes.values():
                pane.mark(None)
            self.readout.setText("Hover over the map to see coordinates and cell values.")
            return
        longitude, latitude = self._pointer
        place = place_words(self._pointer, self.camera.scale, self._region)
        few = len(self._surfaces) <= 3
        values: dict[str, str] = {}
        text: list[str] = []
        where, unit_name, cell_box = "", "", None
        for key, surface in self._surfaces.items():
            cell = cell_of(surface, longitude, latitude)
            if cell is None:
                continue
            row, column, cell_box = cell
            where = where or cell_words(row, column, self._region)
            share, unit = float(surface.values[row, column]), self._unit(surface)
            if unit is None:
                number = values[key] = format_share(share, like=self.top(key))
            else:
                number, unit_name = unit.format(share), unit.unit
                values[key] = f"{number} {unit_name}"
            if key == DIFFERENCE and share > 0:
                number = f"+{number}"
            text.append(f"{key.partition(':')[2] or key} {number}")
        for key, slot in self.slots.items():
            slot.pane.mark(cell_box, values.get(key, ""))
        known = " ".join(filter(None, (", ".join(text), unit_name)))
        # With many values some would be cut off after the position.
        parts = (place, known, where) if few else (known, place, where)
        self.readout.setText("  ·  ".join(filter(None, parts)))

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
        style = map_style_for(self.palette())
        if style is self.style_of_map:
            return
        self.style_of_map = style
        for slot in self.all_slots:
            slot.pane.set_style(style)
            slot.bar.set_colours(slot.pane.colours_of_bar)
        self._colour_bars()
        self._draw_dots()


BESIDE, MECHANISM = "beside", "mechanism"
WITHOUT_TRUTH = "Hide the true map"


_GROUPS = {
    "add_remove": "Other mechanisms",
    "replace": "Simulated without a curator",
    "metric": "Points",
}
"""Headings of mechanisms, by what their ε is stated for."""


def group_of(name: str) -> str:
    """Return the heading above a surface in menus."""
    if name in QUANTILES:
        return "Spread of the draws"
    if name in (TRUE, DIFFERENCE, ERROR):
        return "True map, curator only"
    mechanism = MECHANISMS.get(MADE_BY.get(name, name))
    return _GROUPS["metric" if mechanism is None else mechanism.neighbouring]


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
        self._fill_groups(menu, self.show)

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
            self._fill_groups(menu, partial(self.replace, old))
            menu.addSeparator()
        words = WITHOUT_TRUTH if old == TRUE else "Close this map"
        menu.addAction(words).triggered.connect(lambda: self.show(old, False))

    def _choose(self, mechanism: str) -> None:
        self._session.set_value(MECHANISM, mechanism, self._study())

    def _fill_groups(self, menu: QMenu, do: Callable[[str], None]) -> None:
        """Append the surfaces that are not shown, by group, each below a heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, label in self._offered():
            groups.setdefault(group_of(name), []).append((name, label))
        for group, entries in groups.items():
            if menu.actions():
                menu.addSeparator()
            menu.addAction(group).setEnabled(False)
            for name, label in entries:
                self._entry(menu, name, label, partial(do, name))

    def _entry(
        self, menu: QMenu, name: str, label: str, do: Callable[[], None], now: bool | None = None
    ) -> None:
        action = menu.addAction(label)
        action.setToolTip("Curator only" if name in (TRUE, DIFFERENCE, ERROR) else "")
        action.setCheckable(now is not None)
        action.setChecked(bool(now))
        action.triggered.connect(lambda *_: do())


_LEFT_OUT = re.compile(r", ε = [^,]*| \(.*\)| of \d+ draws")
"""Omitted from a title without space: parts common to all maps or explained in the tool tip."""
HEADER_HEIGHT, STAMP_HEIGHT, CAPTION_HEIGHT = 19, 36, 17


class PaneHeader(QWidget):
    """Title of a pane: its kind in bold and what is drawn, with a menu button.

    Where the second part does not fit it omits ε, which is the same for all maps.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = self._drawn = ""
        self.title = plain_label()
        font = QFont(self.title.font())
        font.setWeight(QFont.Weight.Bold)
        self.title.setFont(font)
        self.detail = FixedSizeLabel()
        self.detail.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.menu = QMenu(self)
        self.button = tool_button("▾", name="Change or close this map", quiet=True)
        self.button.setStyleSheet(
            "QToolButton { padding: 0 4px; } QToolButton::menu-indicator { image: none; }"
        )
        self.button.setMenu(self.menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        row.addWidget(self.title)
        row.addWidget(self.detail, 1)
        row.addWidget(self.button)
        for widget in (self, self.button):
            widget.setFixedHeight(HEADER_HEIGHT)

    def set_changeable(self, changeable: bool) -> None:
        """Show the button if other surfaces are available."""
        self.button.setVisible(changeable)

    def set_title(self, text: str) -> None:
        """Set the title: kind and, after a colon, what is drawn."""
        if text == self._title:
            return
        self._title = text
        kind, _, self._drawn = text.partition(": ")
        if kind != self.title.text():
            self.title.setText(kind)
        self.title.setAccessibleName(text)
        for widget in (self.title, self.detail):
            widget.setToolTip(plain_tip(text))
        self.button.setAccessibleName(f"Change or close: {text}")
        self.button.setToolTip("Show another map here, or close this one")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self.detail.fontMetrics().horizontalAdvance(self._drawn) <= self.detail.width()
        self.detail.setText(self._drawn if fits else _LEFT_OUT.sub("", self._drawn))


def short_title(label: str) -> str:
    """Return a surface's label without the word common to all titles."""
    return label.replace(" heatmap", "", 1)


_CURATOR_ONLY = (
    "curator only:",
    "based on the real data",
    "Drawn from the real check-ins, without accounting: only who holds the data may see it.",
)
_PREVIEW = (
    "preview only – not private,",
    "do not share",
    "The noise comes from a seed, so the noise can be drawn again. For planning only; do not "
    "publish.",
)
_CAPTIONS = {DIFFERENCE: "red: too many, blue: too few"}
DIGITS = 3
"""Significant digits of an error, as in the headline."""
PEOPLE, CHECKINS = "users_used", "checkins"
"""Scalar results shown below the true map."""
OF_CENTRES = ("centres_cost", "centres_true", "centres_emd", "centres_kappa")
"""Scalar results whose notes describe a pane of centres; the first two are shown below it."""
_TITLES = {PRIVATE: "Private", **dict(CHOICES), TRUE: "True"}


def title_of(key: str) -> str:
    """Return the title of a pane before its surface is known."""
    return _TITLES.get(key.partition(":")[2] or key, key)


class Slot:
    """Widgets of one pane, reused for other surfaces."""

    def __init__(self, camera: MapCamera, parent: QWidget) -> None:
        self.key = ""
        self._stamped = False
        self.pane = MapPane(camera, "", parent)
        self.header = PaneHeader(parent)
        self.stamp = FixedSizeText("pane-stamp", parent, lines=2)
        """Who may see the picture, above it."""
        self.stamp.setFixedHeight(STAMP_HEIGHT)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setRetainSizeWhenHidden(True)
        self.stamp.setSizePolicy(policy)
        self.caption = FixedSizeLabel(smallest=0.85)
        self.caption.setParent(parent)
        self.caption.setFixedHeight(CAPTION_HEIGHT)
        self.bar = ColourBar("Colour scale", parent)
        # Equal panes show equal boxes, independent of their headers.
        self.header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.bar.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.pane.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def take(self, key: str, colours: str) -> None:
        """Use for another surface, which is not known yet."""
        self.key = key
        title = title_of(key)
        self.header.set_title(title)
        self.pane.setAccessibleName(f"{title}, {self._kind[0].rstrip(':,')}")
        self.bar.setAccessibleName(f"Colour scale: {title}")
        self.clear_caption()
        self.caption.setToolTip("")
        self.caption.setEnabled(True)
        font = QFont(self.header.detail.font())
        font.setBold(is_map(key) and key != TRUE)
        self.caption.setFont(font)
        muted = not font.bold()
        self.caption.setForegroundRole(
            QPalette.ColorRole.PlaceholderText if muted else QPalette.ColorRole.WindowText
        )
        self.pane.set_dots(None, None)
        self.set_stamp("")
        self.pane.clear_surface()
        self.set_colours(colours)

    def set_colours(self, name: str) -> None:
        """Set a colour map by name; differences have their own."""
        self.pane.set_colours(self.table(name), self.key == DIFFERENCE)
        self.bar.set_colours(self.pane.colours_of_bar)

    def table(self, name: str) -> np.ndarray:
        """Return the colours that this pane uses of a colour map."""
        return diverging_table() if self.key == DIFFERENCE else colour_table(name)

    def show_surface(self, surface: Surface, top: float) -> None:
        """Show a surface on a scale that ends at `top`."""
        assert surface.region is not None
        bottom = -top if surface.diverging else 0.0
        self.pane.set_surface(surface.values, surface.region, top, bottom)
        self.pane.set_overlay(surface.overlay)
        self.set_stamp(surface.stamp)
        self.header.set_title(short_title(surface.label))

    @property
    def _kind(self) -> tuple[str, str, str]:
        """Two lines of the stamp and their explanation."""
        return _PREVIEW if is_private(self.key) else _CURATOR_ONLY

    def set_stamp(self, text: str) -> None:
        """Show the stamp of a picture, in two lines; empty hides it."""
        first, second, tip = self._kind
        self.stamp.setText(f"{first}\n{text if text == SYNTHETIC else second}")
        self.stamp.setToolTip(plain_tip(f"{text}\n{tip}"))
        self._stamped = bool(text)
        self.stamp.setVisible(self._stamped)

    def show_readouts(self, known: Mapping[str, ScalarResult], region: Region | None) -> None:
        """Show the error of this draw below it; if not known yet the former stays, greyed."""
        if self.key == CENTRES:
            there = [known[key] for key in OF_CENTRES if key in known]
            notes = [item.note for item in there]
            self.caption.setText("; ".join(notes[:2]))
            self.caption.setToolTip("\n\n".join(notes))
            exact = any(item.curator_only for item in there)
            self.caption.setAccessibleDescription("curator only" if exact else "")
            return
        if self.key == TRUE:
            self._show_counts(known)
        if not is_map(self.key) or self.key == TRUE:
            return
        far = self.key.replace(PRIVATE, in_unit(AVERAGE_ERROR, region), 1)
        item = known.get(far)
        value = None if item is None else item.value
        distance = "" if value is None else nearest(value, DIGITS)
        if item is not None and distance:
            self.caption.setText(f"average error {distance} {item.unit} (this map)")
        self.caption.setEnabled(bool(distance))

    @property
    def stamped(self) -> bool:
        """Whether there is a picture with a stamp."""
        return self._stamped

    def clear_caption(self) -> None:
        """Show the caption of a pane without a result."""
        self.caption.setText(_CAPTIONS.get(self.key, ""))

    def _show_counts(self, known: Mapping[str, ScalarResult]) -> None:
        """Show how many people and check-ins the map has; if not known yet the former stay."""
        counts = [known[key].value for key in (PEOPLE, CHECKINS) if key in known]
        there = len(counts) == 2 and None not in counts
        if there:
            self.caption.setText(f"{counts[0]:,.0f} people, {counts[1]:,.0f} check-ins")
        self.caption.setEnabled(there)

    def widgets(self) -> tuple[QWidget, ...]:
        """Return the widgets from top to bottom."""
        return (self.header, self.stamp, self.pane, self.caption, self.bar)

    def hide(self) -> None:
        """Hide all widgets."""
        for widget in self.widgets():
            widget.hide()
