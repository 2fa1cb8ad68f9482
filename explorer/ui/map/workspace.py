"""The Map workspace: true and private heatmaps, repeated draws, tools and error metrics."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Self

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from explorer.engine.compute.latest import Delivery
from explorer.engine.service import AnswerRunner, StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.figures.view_state import ViewState
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Fidelity, Request, Result
from explorer.studies.heatmap.parameters import ERROR, OF_DRAWS
from explorer.studies.registry import study_info, study_infos
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.playback import InputWatcher
from explorer.ui.base.styled import plain_label
from explorer.ui.controllers.backdrop import Backdrop
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.map import tool_bar
from explorer.ui.map.cells import beside, on_earth, overlap
from explorer.ui.map.contributions import Contributions, UsersLine
from explorer.ui.map.layers import Dots, prepare_tiles
from explorer.ui.map.metrics import MetricsStrip
from explorer.ui.map.pane import KEY_ZOOM
from explorer.ui.map.panes import MapPanes, PaneChooser
from explorer.ui.map.preview import HINT, PreviewStack
from explorer.ui.map.region_tool import RegionDrag
from explorer.ui.map.tool_bar import ToolBar
from explorer.ui.map.utility.toggle import MAX_NARROW_PANES, MapHeadline, UtilityToggle
from explorer.ui.panels.data import DataPanel

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
        self._went_home = self._prepared = False
        self.setAccessibleName("Map")
        self.panes = MapPanes()
        self.metrics = MetricsStrip()
        self.banner = Banner()
        self.preview = PreviewStack(self.panes, self.banner, data_controller, controller)
        self.preview.currentChanged.connect(lambda _page: self.exportable_changed.emit())
        self.dots = Dots(data_controller, self)
        self.region_drag = RegionDrag(session, self.panes, self.banner, self)
        self.beside = PaneChooser(session, self._map_study)
        self.play = Play(service, self)
        self._prepare = LatestJob("preparing the basemap", self)
        self._soon = QTimer(self, singleShot=True)
        self._soon.setInterval(PREPARE_AFTER_MS)
        self._soon.timeout.connect(lambda: self._prepare.submit("tiles", lambda _: prepare_tiles()))
        self.seed_label = plain_label()
        self.seed_label.setToolTip("Seed of the demonstration noise: the same seed, the same draw.")
        self.users = UsersLine()
        self.users.use_all.connect(self.use_all_users)
        self.utility = UtilityToggle(
            session, service, self.banner, self.metrics, self.preview, self
        )
        self.exported, self.answer = self.utility.exported, MapHeadline(self.utility)
        self.contributions = Contributions(self.users, self.utility.action, self)
        self.backdrop = Backdrop(service, self.banner, self)
        self.backdrop.changed.connect(lambda: self.panes.set_picture(self.backdrop.pixels))
        self._make_actions()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 2)
        box.setSpacing(2)
        for part in (self.answer, self._tools(), self.banner, self.preview, self.metrics):
            box.addWidget(part, int(part is self.preview))
        box.addWidget(self.contributions)
        self.utility.append_to(box)
        self.panes.region_tool_left.connect(lambda: self.region_action.setChecked(False))
        self.panes.looked.connect(self.dots.set_view)
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
        page.utility.join(window)
        return page

    @property
    def view_box(self) -> Box:
        """Box in view."""
        return self.panes.box

    def view_actions(self) -> list[QAction]:
        """Return the actions for the View menu; separators end groups."""
        return list(self._view_actions)

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
        if state.map_box is not None:
            self._went_home = True
            if self.isVisible():
                self.panes.look_at(state.map_box)
            else:
                self._pending_box = state.map_box

    def close_workspace(self) -> None:
        """Stop background work before the window closes."""
        if isinstance(self.side_panel, DataPanel):
            self.side_panel.close_panel()
        self._session.changed.disconnect(self._state_changed)
        self.play.close()
        self.dots.close()
        self.backdrop.close()
        self.utility.close_view()
        self._soon.stop()
        self._prepare.close()

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
        self.home_action = action("Reset &view", ("0", "Home"), "Show the whole region")
        self.home_action.triggered.connect(self.go_home)
        self.extent_action = action("Show &all check-ins", (), "Show the data's extent")
        self.extent_action.triggered.connect(self.show_extent)
        self.zoom_in_action = action("Zoom &in", ("+", "="), "Zoom in; also the wheel")
        self.zoom_in_action.triggered.connect(lambda: self.panes.camera.zoom(KEY_ZOOM))
        self.zoom_out_action = action("Zoom &out", "-", "Zoom out; also the wheel")
        self.zoom_out_action.triggered.connect(lambda: self.panes.camera.zoom(1 / KEY_ZOOM))
        self.noise_action = action("&New noise", "N", "Draw the demonstration noise again")
        self.noise_action.triggered.connect(self.new_noise)
        self.play_action = action(
            "&Play draws", (), "Draw after draw of the noise; any click or key stops it", True
        )
        self.play_action.toggled.connect(self.set_playing)
        self.error_action = action(
            "&Error per cell", (), "How much each cell varies from draw to draw", True
        )
        self.error_action.triggered.connect(lambda shown: self.beside.show(ERROR, shown))
        self.add_menu = QMenu("Add a map be&side", self)
        self.add_menu.aboutToShow.connect(lambda: self.beside.fill_add(self.add_menu))
        ticked = partial(tool_bar.ticked_action, self)
        top = "0 to the maximum of the true map"
        self.linked_action = ticked("One &colour scale for all maps", top, self.panes.set_linked)
        self.lines_action = ticked("Coasts and &borders", "", self.panes.set_lines_visible)
        self.cities_action = ticked("City na&mes", "", self.panes.set_cities_visible)
        self.dots_action = ticked(
            "Check-ins as &dots (curator only)",
            "Every kept check-in, beyond the region too, in the true pane alone",
            self.dots.set_enabled,
        )
        choose = self.panes.set_colour_map
        self._colour_actions = tool_bar.colour_actions(self, lambda name, *_: choose(name))
        self._view_actions = [
            self.home_action,
            self.extent_action,
            self.zoom_in_action,
            self.zoom_out_action,
            tool_bar.separator(self),
            self.region_action,
            self.noise_action,
            self.play_action,
            self.utility.action,
            self.contributions.action,
            tool_bar.separator(self),
            self.add_menu.menuAction(),
            self.error_action,
            tool_bar.separator(self),
            self.linked_action,
            self.lines_action,
            self.cities_action,
            self.dots_action,
            tool_bar.separator(self),
            *self._colour_actions.values(),
        ]

    def _tools(self) -> ToolBar:
        self.add_button = tool_bar.menu_button(
            "+ Map", "Show another map beside", "Add a map beside", self.add_menu
        )
        self.play_button = tool_bar.action_button(self.play_action, "▶ Play")
        short = (
            (self.utility.action, ""),
            (self.region_action, "Region"),
            (self.zoom_in_action, "+"),
            (self.zoom_out_action, "−"),
            (self.home_action, "Reset"),
        )
        utility, *left = [tool_bar.action_button(*pair) for pair in short]
        left += [self.add_button, tool_bar.action_button(self.error_action, "Error")]
        right = tool_bar.action_button(self.noise_action, "Noise"), self.play_button
        aside = self.users, self.seed_label
        rows = ToolBar(utility, self.utility.action, left, right, aside, left[1:3])
        self.utility.small_changed.connect(rows.set_small)
        self.utility.small_changed.connect(lambda _: self._follow_panes())
        return rows

    # Session, answers, data ------------------------------------------------------------------

    def _map_study(self) -> str:
        """Return the study shown here: the current one, else the first of its kind."""
        front = self._session.state.study
        if study_info(front).workspace == "map":
            return front
        return next(c.id for c in study_infos() if c.workspace == "map")

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
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

    def _in_view(self, region: Region) -> bool:
        drawn = beside(region.box, region, self.panes.camera.longitude)
        return overlap(drawn, self.panes.box)

    def _follow_panes(self) -> None:
        """Show the panes of the request."""
        most = MAX_NARROW_PANES if self.utility.narrow else None
        self.panes.set_keys(self.beside.keys[:most])
        for header in self.panes.headers.values():
            header.set_changeable(bool(self.beside.choices()))
        self.error_action.setChecked(ERROR in self.beside.names)
        there = self._session.state.selection is not None
        room = there and not self.beside.full and len(self.panes.keys) != most
        self.add_button.setEnabled(room)
        self.error_action.setEnabled(room or (there and self.error_action.isChecked()))

    def _follow_selection(self, state: SessionState) -> None:
        selection = state.selection
        self.region_drag.show_region()
        self.dots.set_data(self._data.current, selection)
        self.users.follow(selection)
        if selection is None:
            self._clear()
            self._show_hint(HINT)
        for action in (self.region_action, self.noise_action, self.extent_action, self.play_action):
            action.setEnabled(selection is not None)
        for action in (self.lines_action, self.cities_action):
            action.setEnabled(on_earth(selection.region if selection is not None else None))

    def _clear(self) -> None:
        self.current_result = None
        for part in (self.panes, self.metrics, self.contributions, self.answer):
            part.clear()

    def _show_new_data(self) -> None:
        self._clear()
        self.banner.settled("hint")
        self._went_home = self.isVisible()
        if self.isVisible():
            self.go_home()

    def _loaded(self, _data: object) -> None:
        # The file may have been reread with other columns: same request, another result.
        self._clear()
        self.dots.set_data(self._data.current, self._session.state.selection)
        self.utility.request_again()
        self._controller.refresh()

    def _show_seed(self) -> None:
        seed = self.play.seed
        if seed is None:
            seed = self._session.state.request_of(self._map_study()).seed
        self.seed_label.setText(f"seed {seed}")

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
        if not self._prepared:
            self._prepared = True
            self._soon.start()
        # The panes have their final size only now.
        for layout in (self.layout(), self.panes.layout()):
            if layout is not None:
                layout.activate()
        if self._pending_box is not None:
            self.panes.look_at(self._pending_box)
            self._pending_box = None
        elif not self._went_home:
            self.go_home()
        self._went_home = True

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the region tool when another tab is selected."""
        super().hideEvent(event)
        self.play.stop()
        self.region_action.setChecked(False)
