"""The Map workspace: true and private heatmaps, repeated draws, tools and error metrics."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QMessageBox, QVBoxLayout, QWidget

from explorer.bounded import call
from explorer.engine.compute.latest import Delivery
from explorer.engine.service import AnswerRunner, StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.figures.view_state import ViewState
from explorer.geography.background import MEMORY, outline
from explorer.geography.cities import City
from explorer.geography.region import Box, Region
from explorer.geography.vectors import Outline
from explorer.polygon import MAX_POINTS
from explorer.studies.base.study import Fidelity, Origin, Request, Result
from explorer.studies.heatmap.parameters import ERROR, OF_DRAWS
from explorer.studies.registry import study_info, study_infos
from explorer.ui.base.errors import Banner, Problem, explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.playback import InputWatcher
from explorer.ui.base.theme import map_style_for
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.map import tool_bar
from explorer.ui.map.backgrounds import (
    Backdrop,
    BackgroundBar,
    BackgroundMenu,
    Backgrounds,
    ink_for,
)
from explorer.ui.map.camera import beside, on_earth, overlap
from explorer.ui.map.contributions import Contributions, UsersLine
from explorer.ui.map.layers import Dots, prepare_tiles
from explorer.ui.map.metrics import HowGood, MetricsStrip
from explorer.ui.map.pane import KEY_ZOOM
from explorer.ui.map.panes import MapPanes, PaneChooser
from explorer.ui.map.places import PlaceField, box_of
from explorer.ui.map.preview import HINT, PreviewStack
from explorer.ui.map.tool_bar import ToolBar
from explorer.ui.map.tools import PointsTool, RegionDrag, RegionPointsDialog
from explorer.ui.map.utility.toggle import MapHeadline, UtilityToggle
from explorer.ui.panels.data import DataPanel

MARGINS = (0, 3, 7, 8)
"""Of the page, in pixels: left, top, right, bottom."""
CARD_HEIGHT, PLACE_WIDTH, SIGN_WIDTH = 82, 150, 30
FRAME_S = 0.04
"""Shortest time between two draws: 25 per second."""


class Play(QObject):
    """Requests one draw after the other; the next only after the last has arrived.

    The session is not changed: afterwards its seed applies again. Any input except on the starter
    buttons stops the animation.

    Signals
    -------
    drawn(Result)
        Result of another draw.
    stopped()
        Emitted also after an error.
    """

    drawn = Signal(object)
    stopped = Signal()
    _delivered = Signal(object)

    def __init__(self, service: StudyService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._worker: AnswerRunner | None = None
        self._asked: Request | None = None
        self._generation = 0
        self._asked_at = 0.0
        self._input = InputWatcher(self)
        self._input.input_received.connect(self.stop)
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._ask)
        self._delivered.connect(self._receive)

    @property
    def playing(self) -> bool:
        """Whether the animation runs."""
        return self._asked is not None

    @property
    def seed(self) -> int | None:
        """Seed of the last requested draw."""
        return None if self._asked is None else self._asked.seed

    def start(self, request: Request, *starters: QWidget) -> None:
        """Start with the seed after a request's; input to the starters does not stop it."""
        if self._worker is None:
            self._worker = self._service.answers("play", self._delivered.emit)
        self._asked = replace(request, fidelity=Fidelity.COARSE)
        self._input.watch(*starters)
        self._ask()

    def stop(self) -> None:
        """Stop if running."""
        if self._asked is None or self._worker is None:
            return
        self._asked = None
        self._next.stop()
        self._worker.cancel()
        self._input.rest()
        self.stopped.emit()

    def close(self) -> None:
        """Stop everything and wait for the thread."""
        self.stop()
        if self._worker is not None:
            self._worker.close()

    def _ask(self) -> None:
        if self._asked is None or self._worker is None:
            return
        self._asked = replace(self._asked, seed=(self._asked.seed + 1) % 2**31)
        self._asked_at = time.perf_counter()
        self._generation = self._worker.submit(self._asked)

    def _receive(self, delivery: Delivery) -> None:
        if self._asked is None or delivery.generation != self._generation:
            return
        result = delivery.result
        if delivery.error is not None:
            self.stop()
        elif result is not None and not result.early and not self._next.isActive():
            self._generation += 1  # refined results of this draw are not needed
            self.drawn.emit(result)
            rest = FRAME_S - (time.perf_counter() - self._asked_at)
            self._next.start(max(0, round(1e3 * rest)))


OUTLINE_FILES = "Areas (*.geojson *.json *.gpkg *.shp);;All files (*)"
PREPARE_AFTER_MS = 300
"""Delay after the first show before tiles are built; until then the first picture needs the
interpreter."""


class MapWorkspace(Workspace):
    """Linked panes with tool bar and metrics.

    Signals
    -------
    result_shown(Result)
        Emitted after a result is shown.
    """

    result_shown = Signal(object)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        controller: StudyController,
        data_controller: DataController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._controller = controller
        self._data = data_controller
        self._pending_box: Box | None = None
        self._went_home = self._prepared = self._had_background = False
        self.setAccessibleName("Map")
        self.panes = MapPanes()
        self.metrics = MetricsStrip()
        self.banner = Banner(self, Qt.Edge.BottomEdge)
        self.preview = PreviewStack(self.panes, self.banner, data_controller, controller)
        self.preview.currentChanged.connect(lambda _page: self.exportable_changed.emit())
        self.dots = Dots(data_controller, self)
        self.region_drag = RegionDrag(session, self.panes, self.banner, self)
        self.beside = PaneChooser(session, self._map_study)
        self.play = Play(service, self)
        self._prepare = LatestJob("preparing the basemap", self)
        self.points_dialog: RegionPointsDialog | None = None
        self.simpler: QMessageBox | None = None
        self._outlines = LatestJob("reading a region", self)
        self._outlines.done.connect(self._outline_read)
        self._outlines.failed.connect(
            lambda _, error: self.banner.show_problem(explain(error, "region"))
        )
        self._soon = QTimer(self, singleShot=True)
        self._soon.setInterval(PREPARE_AFTER_MS)
        self._soon.timeout.connect(lambda: self._prepare.submit("tiles", lambda _: prepare_tiles()))
        self.maps = QWidget()
        self.maps.setAccessibleName("Maps")
        self.users = UsersLine()
        self.users.use_all.connect(self.use_all_users)
        self.utility = UtilityToggle(session, service, self.banner, self.maps, self)
        self.exported, self.answer = self.utility.exported, MapHeadline(self.utility)
        self.contributions = Contributions(self.users, self.utility.action, self)
        self.backdrop = Backdrop(service, self.banner, self)
        self.backdrop.changed.connect(lambda: self.panes.set_picture(self.backdrop.pixels))
        self.backgrounds = Backgrounds(self.banner, self)
        self.backgrounds.changed.connect(self._follow_backgrounds)
        self.backgrounds.drawn.connect(self.panes.set_background)
        self.panes.coarse.clicked.connect(self.backgrounds.choose)
        self.places = PlaceField(self.panes)
        self.places.chosen.connect(self.show_place)
        self._make_actions()
        self.background_bar = BackgroundBar(self.backgrounds, self.lines_action)
        self.panes.add_credit(self.background_bar.credit)
        self.how_good = HowGood(self.metrics, self.users)
        self.tools = self._tools()
        self.offer = self.tools.offer
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        box = QVBoxLayout(self)
        box.setContentsMargins(*MARGINS)
        box.setSpacing(4)
        for part in (self.answer, self.tools):
            box.addWidget(part)
        box.addWidget(self.maps, 1)
        below = QHBoxLayout()
        below.setSpacing(8)
        for card, share in ((self.how_good, 6), (self.background_bar, 5)):
            card.setFixedHeight(CARD_HEIGHT)
            card.setMinimumWidth(1)
            below.addWidget(card, share)
        column = QVBoxLayout(self.maps)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.preview, 1)
        column.addLayout(below)
        column.addWidget(self.metrics)
        column.addWidget(self.contributions)
        self.preview.around = (
            self.answer,
            self.tools,
            self.how_good,
            self.background_bar,
            self.metrics,
            self.contributions,
        )
        self.utility.append_to(box)
        self.panes.region_tool_left.connect(lambda: self.region_action.setChecked(False))
        self.panes.looked.connect(self.dots.set_view)
        self.panes.looked.connect(self.backgrounds.set_view)
        self.panes.menu_requested.connect(self.beside.fill_pane)
        self.play.drawn.connect(self._show_draw)
        self.play.stopped.connect(self._play_stopped)
        self.dots.ready.connect(self.panes.set_dots)
        controller.result_ready.connect(self._show)
        controller.failed.connect(self._failed)
        data_controller.loaded.connect(self._loaded)
        data_controller.reread.connect(self._loaded)
        session.changed.connect(self._state_changed)
        self._follow_selection(session.state)
        self._follow_panes()
        self._show_seed()

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window, with its data panel."""
        page = cls(window.session, window.service, window.answers["map"], window.data, window)
        page.side_panel = panel = DataPanel(window.session, window.data, page, page)
        window.answers["map"].failed.connect(panel.time_play.stop)
        reading = page._outlines
        window.activity.watch("outline", "reading a region", reading.busy_changed, reading.cancel)
        page.utility.join(window)
        page.remember_backgrounds(window)
        return page

    @property
    def view_box(self) -> Box:
        """Box in view."""
        return self.panes.box

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return headline, tabs, actions, tools, maps and cards, or curves."""
        below = (self.preview, self.how_good, self.background_bar)
        curves = () if self.utility.view is None else (self.utility.view,)
        return (self.answer, *self.tools.in_order, self.banner, *below, *curves)

    def view_actions(self) -> list[QAction]:
        """Return the actions for the View menu; separators end groups."""
        # The action of a menu is asked for anew: Python's object of it may not outlive the call.
        return [a.menuAction() if isinstance(a, QMenu) else a for a in self._view_actions]

    @property
    def unread(self) -> bool:
        """Whether the preview of a file is shown."""
        return self.preview.picture is not None

    def view_state(self) -> ViewState:
        """Return the view of the map, for exports and the saved session."""
        return ViewState(
            theme=self.panes.style_of_map.theme,
            surfaces=self.panes.keys if self.current_result else (),
            colour_map=self.panes.colour_map,
            linked_scale=self.panes.linked,
            map_box=self.panes.box,
            show_basemap=self.lines_action.isChecked(),
            show_cities=self.cities_action.isChecked(),
            show_contributions=self.contributions.action.isChecked(),
            picture=self.backdrop.value or self.backdrop.awaited,
            backgrounds=self.backgrounds.values,
            heatmap_opacity=self.backgrounds.opacity,
        )

    def apply_view_state(self, state: ViewState) -> None:
        """Restore a view."""
        self.linked_action.setChecked(state.linked_scale)
        self.lines_action.setChecked(state.show_basemap)
        self.cities_action.setChecked(state.show_cities)
        self.contributions.action.setChecked(state.show_contributions)
        self._colour_actions[state.colour_map].setChecked(True)
        self.panes.set_colour_map(state.colour_map)
        self.backdrop.restore(state.picture)
        self.backgrounds.restore(state.backgrounds, state.heatmap_opacity)
        if state.map_box is not None:
            self._went_home = True
            if self.isVisible():
                self.panes.look_at(state.map_box)
            else:
                self._pending_box = state.map_box

    def show_refused(self, values: str) -> None:
        """Say that the answer is still for these values."""
        self.answer.show_old(values)

    def close_workspace(self) -> None:
        """Stop background work before the window closes."""
        if isinstance(self.side_panel, DataPanel):
            self.side_panel.close_panel()
        self._session.changed.disconnect(self._state_changed)
        self.play.close()
        self.dots.close()
        self.backdrop.close()
        self.backgrounds.close()
        self._outlines.close()
        self.utility.close_view()
        self._soon.stop()
        self._prepare.close()

    def remember_backgrounds(self, window: WorkspaceHost) -> None:
        """Keep the files opened behind the map in a window's saved session."""
        store = window.session_store
        self.backgrounds.known = tuple(store.backgrounds)
        note = store.note_backgrounds
        self.backgrounds.known_changed.connect(lambda: note(self.backgrounds.known))

    def _follow_backgrounds(self) -> None:
        active = self.backgrounds.active
        if active and not self._had_background:
            self.lines_action.setChecked(False)  # the coarse outline beside true coasts misleads
        self._had_background = active
        self.panes.set_opacity(self.backgrounds.opacity if active else None)

    def set_region_box(self, box: Box) -> None:
        """Set a region as one undo step, or show why it is invalid."""
        self.region_drag.set_box(box)

    def go_home(self) -> None:
        """Fit the region, else the data, else the world."""
        selection, data = self._session.state.selection, self._data.current
        box = None if data is None else data.extent
        self.panes.home(box if selection is None else selection.region.box)

    def show_extent(self) -> None:
        """Fit all check-ins."""
        if self._data.current is not None:
            aspect = self.panes.camera.aspect
            self.panes.home(self._data.current.extent)
            self.panes.camera.set_aspect(aspect)

    def _end_others(self, own: QAction, on: bool) -> None:
        """Switch the other tools off."""
        if on:
            for action in (self.region_action, self.polygon_action, self.measure_action):
                if action is not own:
                    action.setChecked(False)

    def _set_points(self, tool: PointsTool, on: bool) -> None:
        """Switch a tool that sets points on or off."""
        tool.set_active(on)
        if on:
            next(iter(self.panes.panes.values())).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _close_polygon(self, points: Sequence[tuple[float, float]]) -> None:
        if self.region_drag.set_outline([points], Origin.DRAWN):
            self.polygon_action.setChecked(False)

    def type_points(self) -> None:
        """Open the dialog for the corners of a polygon."""
        selection = self._session.state.selection
        if selection is None or not on_earth(selection.region):
            return
        dialog = self.points_dialog = RegionPointsDialog(selection.region, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.entered.connect(lambda rings: self._take_outline(rings, Origin.TYPED))
        dialog.open()

    def choose_outline(self) -> None:
        """Ask for a file with the outline of the region."""
        name, _ = QFileDialog.getOpenFileName(
            self, "Region from a file", str(Path.home()), OUTLINE_FILES
        )
        if name:
            self.open_outline(name)

    def open_outline(self, path: str) -> None:
        """Read the outline of the region from a file."""
        self._outlines.submit(
            path,
            lambda task: call(
                outline, path, name=Path(path).name, memory=MEMORY, cancelled=task.cancelled
            ),
        )

    def _outline_read(self, path: str, found: Outline) -> None:
        """Take the outline of a file, a simpler one only if the user wants it."""
        take = partial(self._take_outline, found.rings, Origin.TYPED)
        if not found.moved:
            take()
            return
        box = self.simpler = QMessageBox(self.window())
        box.setWindowTitle("Region from file")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(
            f"{Path(path).name} has {found.points:,} points, and a region takes at most "
            f"{MAX_POINTS:,}.\n\nA simpler outline has {sum(map(len, found.rings)):,} points and "
            f"lies within {math.ceil(found.moved):,} m of this one. Check-ins that close to the "
            "edge may be counted on the other side."
        )
        use = box.addButton("&Use the simpler outline", QMessageBox.ButtonRole.AcceptRole)
        keep = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(keep)
        use.clicked.connect(lambda *_: take())
        box.finished.connect(self._simpler_answered)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _simpler_answered(self, _button: int) -> None:
        self.simpler = None

    def _take_outline(self, rings: Sequence[Sequence[tuple[float, float]]], origin: Origin) -> None:
        if self.region_drag.set_outline(rings, origin):
            self.go_home()

    def edit_polygon(self) -> None:
        """Go on drawing the present polygon: take corners back, set others, close it.

        One of several rings is edited as a list of points.
        """
        selection = self._session.state.selection
        rings = selection.region.rings if selection is not None else ()
        if len(rings) > 1:
            self.type_points()
        elif rings:
            self.polygon_action.setChecked(True)
            self.panes.outline.begin_with([(lon, lat) for lat, lon in rings[0]])

    def use_box(self) -> None:
        """Replace a polygon by the box around it."""
        self.region_drag.use_box()

    def find_place(self) -> None:
        """Open the field that finds places."""
        self.utility.action.setChecked(False)
        self.places.open()

    def show_place(self, city: City) -> None:
        """Zoom to a town or position; the region stays as it is."""
        self._went_home = True
        self._pending_box = None if self.isVisible() else box_of(city)
        if self.isVisible():
            self.panes.look_at(box_of(city))

    def new_noise(self) -> None:
        """Draw the demonstration noise again."""
        study = self._map_study()
        seed = self._session.state.request_of(study).seed
        self._session.set_seed((seed + 1) % 2**31, study)

    def set_playing(self, playing: bool) -> None:
        """Start or stop the noise animation."""
        if playing:
            self.play.start(self._session.request(self._map_study()), self.play_button)
        else:
            self.play.stop()

    def use_all_users(self) -> None:
        """Use all users instead of a sample, as one undo step."""
        selection = self._session.state.selection
        if selection is not None:
            self._session.set_selection(replace(selection, users=None, share=None))

    # Actions ---------------------------------------------------------------------------------

    def _make_actions(self) -> None:
        action = partial(tool_bar.make_action, self)
        self.region_action = action("Choose &region", "R", "Drag a box on the map", True)
        self.region_action.toggled.connect(self.panes.set_editing)
        self.polygon_action = action(
            "Draw polygon", "P", "Click corners, or arrows and Enter; Esc ends", True
        )
        self.points_action = action("T&ype points…", (), "The region as a list of lat, lon")
        self.points_action.triggered.connect(lambda *_: self.type_points())
        self.outline_action = action(
            "Region from file…", (), "The areas of a GeoJSON, GeoPackage or Shapefile"
        )
        self.outline_action.triggered.connect(lambda *_: self.choose_outline())
        self.box_action = action(
            "Use the polygon’s bo&x", (), "Count all check-ins in the box around the polygon"
        )
        self.box_action.triggered.connect(lambda *_: self.use_box())
        self.home_action = action("Fit re&gion", ("0", "Home"), "Show the whole region")
        self.home_action.triggered.connect(self.go_home)
        self.extent_action = action("Show &all check-ins", (), "Show the data's extent")
        self.extent_action.triggered.connect(self.show_extent)
        self.place_action = action("&Find a place…", "Ctrl+F", "Zoom to a town, or to lat, lon")
        self.place_action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self.place_action.triggered.connect(self.find_place)
        self.measure_action = action(
            "Measure distance", "M", "Click points, or arrows and Enter; Esc ends", True
        )
        for own, tool in (
            (self.region_action, None),
            (self.polygon_action, self.panes.outline),
            (self.measure_action, self.panes.measure),
        ):
            own.toggled.connect(partial(self._end_others, own))
            if tool is not None:
                own.toggled.connect(partial(self._set_points, tool))
                tool.changed.connect(lambda own=own, tool=tool: own.setChecked(tool.active))
        self.panes.outline.closed.connect(self._close_polygon)
        self.zoom_in_action = action("Zoom &in", ("+", "="), "Or turn the wheel")
        self.zoom_in_action.triggered.connect(lambda: self.panes.camera.zoom(KEY_ZOOM))
        self.zoom_out_action = action("Zoom &out", "-", "Or turn the wheel")
        self.zoom_out_action.triggered.connect(lambda: self.panes.camera.zoom(1 / KEY_ZOOM))
        self.noise_action = action("&New noise", "N", "Draw the preview noise again")
        self.noise_action.triggered.connect(self.new_noise)
        self.play_action = action(
            "&Play draws", (), "Draw the noise again and again; any click or key stops it", True
        )
        self.play_action.toggled.connect(self.set_playing)
        self.error_action = action(
            "&Error per cell", (), "Standard deviation of each cell over the draws", True
        )
        self.error_action.triggered.connect(lambda shown: self.beside.show(ERROR, shown))
        self.region_menu = QMenu("Draw region", self)
        self.region_menu.addActions(
            [
                self.region_action,
                self.polygon_action,
                self.points_action,
                self.outline_action,
                self.box_action,
            ]
        )
        self.add_menu = QMenu("Add a map be&side", self)
        self.add_menu.menuAction().setObjectName("add-map")
        self.add_menu.aboutToShow.connect(lambda: self.beside.fill_add(self.add_menu))
        ticked = partial(tool_bar.ticked_action, self)
        top = "0 to the maximum of the true map"
        self.linked_action = ticked("One &colour scale for all maps", top, self.panes.set_linked)
        self.lines_action = ticked("Coasts and &borders", "", self.panes.set_lines_visible)
        self.people_action = ticked(
            "Legend in people",
            "People per km² instead of shares; exports keep shares",
            self.panes.set_in_people,
        )
        self.cities_action = ticked("City na&mes", "", self.panes.set_cities_visible)
        self.dots_action = ticked(
            "Check-ins as &dots (curator only)",
            "Every kept check-in, beyond the region too, in the true pane alone",
            self.dots.set_enabled,
        )
        self.background_menu = BackgroundMenu(
            self.backgrounds, self, self.lines_action.isChecked, self.lines_action.setChecked
        )
        self.background_action = action(
            "Open bac&kground…", (), "Tiles, a GeoTIFF, lines or areas of your own behind the map"
        )
        self.background_action.triggered.connect(self.backgrounds.choose)
        choose = self.panes.set_colour_map
        self._colour_actions = tool_bar.colour_actions(self, lambda name, *_: choose(name))
        self._view_actions: list[QAction | QMenu] = [
            self.home_action,
            self.extent_action,
            self.place_action,
            self.measure_action,
            self.zoom_in_action,
            self.zoom_out_action,
            tool_bar.separator(self),
            self.region_action,
            self.polygon_action,
            self.points_action,
            self.outline_action,
            self.box_action,
            tool_bar.separator(self),
            self.noise_action,
            self.play_action,
            self.utility.action,
            self.contributions.action,
            tool_bar.separator(self),
            self.add_menu,
            self.error_action,
            tool_bar.separator(self),
            self.linked_action,
            self.people_action,
            self.lines_action,
            self.cities_action,
            self.dots_action,
            self.background_action,
            self.background_menu.menu,
            tool_bar.separator(self),
            *self._colour_actions.values(),
        ]

    def _tools(self) -> ToolBar:
        button = tool_bar.action_button
        noise = button(self.noise_action, "New &noise")
        self.play_button = button(self.play_action, "▶ Play draws")
        self.draw_button = tool_bar.menu_button(
            "&Draw region", "Draw another region on the map (R)", "Draw region", self.region_menu
        )
        self.add_button = tool_bar.menu_button(
            "Add map", "Show another map beside", "Add a map beside", self.add_menu
        )
        self.places.field.setFixedWidth(PLACE_WIDTH)
        signs = button(self.zoom_out_action, "−"), button(self.zoom_in_action, "+")
        for sign in signs:
            sign.setFixedWidth(SIGN_WIDTH)
            sign.setStyleSheet("padding: 0px;")
        tools = (
            self.places.field,
            *signs,
            button(self.home_action, "Fit re&gion"),
            button(self.measure_action, "&Measure"),
            self.draw_button,
        )
        rows = ToolBar(self.utility.action, (noise, self.play_button), tools, self.add_button)
        self.utility.space_changed.connect(self._follow_panes)
        self.utility.page_changed.connect(rows.show_page)
        return rows

    # Session, answers, data ------------------------------------------------------------------

    def _map_study(self) -> str:
        """Return the study shown here: the current one, else the first of its kind."""
        front = self._session.state.study
        if study_info(front).workspace == "map":
            return front
        return next(c.id for c in study_infos() if c.workspace == "map")

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if not self._concerned(state, old):
            return
        self.play.stop()
        if state.selection != old.selection:
            self._follow_selection(state)
            moved = state.selection is not None and (
                old.selection is None or state.selection.data != old.selection.data
            )
            if moved:
                self._show_new_data()
            elif (
                state.selection is not None
                and self.region_drag.before is None
                and not self._in_view(state.selection.region)
            ):
                # After undo, a recipe or a restored session the region must be in view.
                self.go_home()
        self._follow_panes()
        self._show_seed()

    def _concerned(self, state: SessionState, old: SessionState) -> bool:
        """Return whether a change is one of the maps: no slider of a question about curves is."""
        own = self._map_study()
        of_maps = (state.study, state.selection, state.which, state.requests.get(own))
        return of_maps != (old.study, old.selection, old.which, old.requests.get(own))

    def _in_view(self, region: Region) -> bool:
        drawn = beside(region.box, region, self.panes.camera.longitude)
        return overlap(drawn, self.panes.box)

    def _follow_panes(self) -> None:
        """Show the panes of the request."""
        most = self.utility.max_panes
        self.panes.set_keys(self.beside.keys[:most])
        for header in self.panes.headers.values():
            header.set_changeable(bool(self.beside.choices()))
        self.error_action.setChecked(ERROR in self.beside.names)
        there = self._session.state.selection is not None
        room = there and not self.beside.full and len(self.panes.keys) < most
        self.add_button.setEnabled(room)
        self.error_action.setEnabled(room or (there and self.error_action.isChecked()))

    def _follow_selection(self, state: SessionState) -> None:
        selection = state.selection
        self.region_drag.show_region()
        self.dots.set_data(self._data.current, selection)
        earth = on_earth(selection.region if selection is not None else None)
        self.backgrounds.set_on_earth(earth)
        self.users.follow(selection)
        if selection is None:
            self._clear()
            self._show_hint(HINT)
        for action in (self.region_action, self.noise_action, self.extent_action, self.play_action):
            action.setEnabled(selection is not None)
        for action in (self.polygon_action, self.points_action, self.outline_action):
            action.setEnabled(selection is not None and earth)
        outlined = selection is not None and selection.region.polygon is not None
        self.box_action.setEnabled(outlined)
        for action in (
            self.lines_action,
            self.cities_action,
            self.background_action,
            self.place_action,
        ):
            action.setEnabled(earth)
        self.background_menu.menu.setEnabled(earth)

    def _clear(self) -> None:
        self.current_result = None
        for part in (self.panes, self.metrics, self.contributions, self.answer):
            part.clear()
        if self._session.state.selection is not None:
            self.answer.show_computing()  # so that the maps have their final height at once

    def _show_new_data(self) -> None:
        self._clear()
        self.banner.settled("hint")
        self._went_home = self.isVisible()
        if self.isVisible():
            self._lay_out()
            self.go_home()

    def _lay_out(self) -> None:
        """Give the panes their final size now."""
        parts = (self, self.maps, self.preview, self.panes)
        for layout in (part.layout() for part in parts):
            if layout is not None:
                layout.activate()

    def _loaded(self, _data: object) -> None:
        # The file may have been reread with other columns: same request, another result.
        self._clear()
        self.dots.set_data(self._data.current, self._session.state.selection)
        self.utility.request_again()
        self._controller.refresh()

    @property
    def seed(self) -> int:
        """Seed of the noise shown: the same seed gives the same map."""
        playing = self.play.seed
        if playing is not None:
            return playing
        return self._session.state.request_of(self._map_study()).seed

    def _show_seed(self) -> None:
        tip = f"Draw the preview noise again (N). Now seed {self.seed}."
        self.noise_action.setToolTip(tip)

    def _show(self, result: Result, _elapsed_ms: float) -> None:
        self.current_result = result
        if not self.play.playing:
            self._show_maps(result)
        self.users.show_result(result)
        self.contributions.show_result(result)
        self.result_shown.emit(result)

    def _show_maps(self, result: Result) -> None:
        self.panes.show_result(result)
        self.metrics.show_result(result)
        self.answer.show_result(result)

    def _show_draw(self, result: Result) -> None:
        """Show a draw of the animation; averages over draws stay."""
        at_rest = self.current_result
        averaged = () if at_rest is None else (s for s in at_rest.surfaces if s.key in OF_DRAWS)
        self._show_maps(replace(result, surfaces=(*result.surfaces, *averaged)))
        self._show_seed()

    def _play_stopped(self) -> None:
        self.play_action.setChecked(False)
        if self.current_result is not None:
            self._show_maps(self.current_result)
        self._show_seed()

    def _failed(self, _error: Exception) -> None:
        # The window shows the error; the metrics are no longer valid.
        self.metrics.set_trailing()

    def _show_hint(self, sentence: str) -> None:
        self.banner.show_problem(Problem("hint", sentence))

    # Qt --------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the map when its size is known."""
        super().showEvent(event)
        self._follow_device()
        if not self._prepared:
            self._prepared = True
            self._soon.start()
        self._lay_out()
        if self._pending_box is not None:
            self.panes.look_at(self._pending_box)
            self._pending_box = None
        elif not self._went_home:
            self.go_home()
        self._went_home = True

    def changeEvent(self, event: QEvent) -> None:
        """Draw lines of backgrounds in the theme's colour."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "backgrounds"):
            self._follow_device()

    def _follow_device(self) -> None:
        ground = map_style_for(self.palette()).background
        self.backgrounds.set_device(
            self.devicePixelRatioF(),
            ink_for(self.palette()),
            (ground.red(), ground.green(), ground.blue()),
        )

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the region tool when another tab is selected."""
        super().hideEvent(event)
        self.play.stop()
        for action in (self.region_action, self.polygon_action, self.measure_action):
            action.setChecked(False)
