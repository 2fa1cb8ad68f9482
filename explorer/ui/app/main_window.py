"""The main window: connects panels, workspaces and controllers.

The parts are imported in `MainWindow.build`, after `WindowFrame` has been painted.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QDropEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from explorer.studies.registry import get_study, study_info, study_infos
from explorer.ui.app.frame import WindowFrame, first_map_study
from explorer.ui.app.tab_order import focus_by_tab, tab_stops
from explorer.ui.base.errors import explain
from explorer.ui.base.lazy_tabs import IdleTasks, PageStack
from explorer.ui.base.startup_tuning import MAKE_AHEAD
from explorer.ui.controllers.activity import duration_words, progress_words

if TYPE_CHECKING:
    from pathlib import Path

    from explorer.checkins import CheckinData, Progress
    from explorer.engine.service import StudyService
    from explorer.engine.session.recipe import Recipe
    from explorer.engine.session.session import Session, SessionState
    from explorer.studies.base.study import Request, Result
    from explorer.ui.controllers.workspace import Workspace
    from explorer.ui.map.workspace import MapWorkspace
    from explorer.ui.panels.data import DataPanel


def state_words(result: Result) -> str:
    """Return whether a result is complete, for the status bar."""
    return "Complete" if result.complete else "Computing…"


class MainWindow(WindowFrame):
    """The main window.

    Signals
    -------
    answered(Result)
        Emitted after a result of the current study is shown.
    """

    answered = Signal(object)

    def build(self, session: Session, service: StudyService) -> None:
        """Build everything behind the start page."""
        from explorer.ui.app import parts

        self.setAcceptDrops(True)
        self.dock_area = parts.DockArea()
        self.session, self.service = session, service
        self._answered_as: tuple[Request, bool] | None = None
        """What was answered last, and whether completely."""
        session.changed.connect(self._make_front)  # before a controller has a result for it
        self.answers = {
            key: parts.StudyController(session, service, key, self) for key in parts.OF_STUDIES
        }
        self.data = parts.DataController(session, service, self)
        self.parameter_files = parts.ParameterFiles(service, self)
        self.files = parts.FileController(session, service, self.data, self.session_store, self)
        self.output = parts.ExportActions(self)
        self.tabs, self.pages = QTabBar(drawBase=False, expanding=False), PageStack()
        self.tabs.setAccessibleName("Workspaces")
        self.workspaces = parts.tabs_of(self, self.tabs, self.pages, parts.OF_STUDIES)
        self.tools = parts.tabs_of(self, self.tabs, self.pages, parts.TOOLS)
        self.dock_area.set_central_pages(self.tabs, self.pages)
        self.start.set_dock_area(
            self.dock_area
        )  # before any part of it queries the width of the window
        self._make_front(session.state, None)
        self._build_docks()
        self.menus = parts.Menus(self, self.output)
        self.drop_overlay = parts.DropOverlay(self, service, self.theme)
        self._connect()
        self.dock_area.begin()
        self._state_changed(session.state, None)
        for key in self.workspaces:
            self._workspace_built(key)
        self.workspaces.made = self._workspace_built
        self.tools.made = self._tool_built
        ahead = (*self.workspaces.pieces(), *self.tools.pieces()) if MAKE_AHEAD else ()
        ahead = (parts.warm_readers, *ahead)
        # Reading the data and the first result need the interpreter and both cores.
        self._idle = IdleTasks(ahead, self, held=lambda: self.current_result is None and self.busy)
        self.built = True
        if not self.start.shown:
            self.tabs.setFocus()  # no field takes the keys of a page
        if self.isVisible():
            self._idle.begin()

    # Building

    def _build_docks(self) -> None:
        from explorer.ui.app import parts

        self.question = parts.QuestionHeader(self.session, self.show_all)
        self.study_page = parts.HelpWindow(
            self.session, self.service.runtime.worker, self.theme, self
        )
        self.presets = parts.PresetBar(self.session, self.study_page.open_page)
        self.parameters = parts.ParametersPanel(self.session, self.parameter_files, self.answers)
        self.guarantee = parts.GuaranteePanel(self.theme)
        left = parts.LeftSide(self.question, self.presets, self.parameters)
        self.left_side, self.sides, self.data_page = left, left.tabs, left.data_page
        self.sides.setCornerWidget(parts.ChangedParameters(self.session))
        self.guarantee.setMinimumWidth(222)
        for key, content, area, title in (
            ("question", left, Qt.DockWidgetArea.LeftDockWidgetArea, self.question.all),
            (
                "guarantee",
                self.guarantee,
                Qt.DockWidgetArea.RightDockWidgetArea,
                parts.styled_label("dock-name", "GUARANTEE"),
            ),
        ):
            self.dock_area.add_dock(key, content, area, parts.DockTitle(title))
        self.docks = self.dock_area.docks
        self.compact_layout = parts.CompactLayout(self.dock_area, self.guarantee)

    def _connect(self) -> None:
        from explorer.ui.app import parts

        for key, controller in self.answers.items():
            controller.failed.connect(lambda error, key=key: self._failed(key, error))
            controller.busy_changed.connect(lambda busy, key=key: self._busy_changed(key, busy))
            controller.stale_changed.connect(lambda stale, key=key: self._stale(key, stale))
            doing = f"computing {parts.OF_STUDIES[key].title.lower()}"
            self.activity.watch(key, doing, controller.busy_changed, controller.cancel, last=True)
            self.parameters.reopened.connect(controller.refresh)
        for key, files in (("files", self.parameter_files), ("recipe", self.files)):
            self.activity.watch(key, "reading a file", files.busy_changed, files.cancel)
        self.activity.watch("data", "opening check-ins", self.data.busy_changed, self.data.cancel)
        exporter = self.output.controller
        self.activity.watch("export", "exporting", exporter.busy_changed, exporter.cancel)
        exporter.progress.connect(lambda done: self.activity.share("export", done))
        self.output.message.connect(self.show_status)
        self.status_row.aside.clicked.connect(lambda: self.data_panel.show_report())
        self.guarantee.review_requested.connect(self.output.review)
        self.guarantee.claim_requested.connect(self._claim)
        self.guarantee.release.clicked.connect(lambda: self.show_tool("release"))
        self.data.progress.connect(self._loading)
        self.data.loaded.connect(self._loaded)
        # Asked here: a file may be opened before the map and its panel exist.
        self.data.mapping_needed.connect(
            lambda request: self.data_panel.ask_mapping(request, self.session_store)
        )
        self.data.import_requested.connect(lambda request: self.data_panel.ask_import(request))
        self.data.unpack_requested.connect(lambda request: self.data_panel.ask_unpack(request))
        self.data.failed.connect(lambda error: self.show_problem(explain(error, "data")))
        self.data.busy_changed.connect(lambda _: self._claim_nothing())
        self.files.problem.connect(self.show_problem)
        self.session_store.save_failed.connect(
            lambda error: self.show_problem(explain(error, "session"))
        )
        self.files.followed.connect(self._followed)
        self.files.opened.connect(self._opened)
        self.files.background.connect(self._open_background)
        self.session.changed.connect(self._state_changed)
        self.tabs.currentChanged.connect(self.pages.setCurrentIndex)
        self.pages.currentChanged.connect(self.tabs.setCurrentIndex)
        self.pages.currentChanged.connect(self._tab_selected)

    def _workspace_built(self, key: str) -> None:
        page = self.workspaces[key]
        if page.side_panel is not None:
            self.data_page.setWidget(page.side_panel)
            self._place_data(self.data_panel)
        self.session_store.page_built(key)
        self.menus.add_workspace(key, page)
        # Connected after the page's own slot: these read the result from the page.
        self.answers[key].result_ready.connect(partial(self._answered, key))
        page.exportable_changed.connect(self._exportable_changed)
        self.parameters.refused.connect(page.show_refused)

    def _place_data(self, panel: DataPanel) -> None:
        """Place the card of the check-ins and the region beside the parameters."""
        self.left_side.place_card(panel.card, get_study(self.session.state.study).needs_data)
        region = panel.region_box
        self.parameters.insert(first_map_study(), "mechanism", region, region.stops())
        panel.card.open_requested.connect(lambda: self.menus.action("open").trigger())
        panel.card.part_requested.connect(self._show_data_part)
        region.sides_requested.connect(partial(self._show_data_part, "region"))

    def _show_data_part(self, key: str) -> None:
        """Show a part of the data panel and focus it."""
        self.sides.setCurrentWidget(self.data_page)
        part = self.data_panel.part(key)
        self.data_page.ensureWidgetVisible(part)
        stops = [stop for stop in tab_stops(self, (part,)) if part.isAncestorOf(stop)]
        if stops:
            focus_by_tab(stops[0], Qt.FocusReason.OtherFocusReason)

    def _tool_built(self, key: str) -> None:
        self.tools[key].status_changed.connect(self._status_changed)

    # Public interface

    @property
    def tool(self) -> Workspace | None:
        """The tool tab in front, or None; built on demand."""
        key = self.tools.key_at(self.pages.currentIndex())
        return None if key is None else self.tools[key]

    @property
    def data_panel(self) -> DataPanel:
        """Data panel; built with the map if needed."""
        return cast("DataPanel", self.workspaces["map"].side_panel)

    @property
    def workspace(self) -> Workspace:
        """Workspace of the current study."""
        return self.workspaces[self._front_key()]

    @property
    def current_result(self) -> Result | None:
        """Current result, if it belongs to the current study."""
        result = self.workspace.current_result
        return result if result and result.request.study == self.session.state.study else None

    @property
    def busy(self) -> bool:
        """Whether anything is being loaded or computed."""
        reading = (self.data.busy, self.parameter_files.busy, self.files.busy)
        return any((*reading, self.guarantee.behind, *(c.busy for c in self.answers.values())))

    def show_study(self, study_id: str, parameter: str = "") -> None:
        """Show a study; with a parameter, focus its row."""
        self.start.leave()
        self.session.set_study(study_id)
        self.pages.setCurrentWidget(self.workspace)
        if parameter:
            self.parameters.reveal(parameter)

    def show_tool(self, key: str) -> None:
        """Show a tool tab."""
        self.start.leave()
        self.pages.setCurrentWidget(self.tools[key])

    def show_tab(self, place: int) -> None:
        """Show the tab at an index."""
        self.start.leave()
        self.tabs.setCurrentIndex(place)

    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return the areas that F6 cycles through, from left to right; some may be hidden."""
        if self.start.shown:
            return (self.start.stack,)
        page = self.tool or self.workspace
        right = (self.compact_layout.overlay, self.compact_layout.rail, self.docks["guarantee"])
        tour = filter(None, (self.menus.tour.card,))
        return (*tour, self.docks["question"], *page.focus_areas(), *right)

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return the areas that Tab goes through, in order."""
        last = (self.banner, self.status_row, self.menuBar())
        if not self.built or self.start.shown:
            return (*self.start.tab_areas(), *last)
        page = self.tool or self.workspace
        left = (
            self.parameters,
            *filter(None, (self.left_side.card,)),
            self.data_page,
            self.presets,
            self.question,
            self.docks["question"],
        )
        right = (self.compact_layout.overlay, self.compact_layout.rail, self.docks["guarantee"])
        inside = self.guarantee.tab_areas()
        return (*left, *page.tab_areas(), page, *inside, *right, self.tabs, *last)

    def _claim(self, key: str) -> None:
        """Choose the claimed bound of the answer whose guarantee is shown."""
        result = self.guarantee.result
        if result is not None:
            self.session.set_claim((result.request.study, result.request.quantity), key)

    def show_guarantee(self) -> None:
        """Show the guarantee: its dock or, in narrow windows, toggle it over the plot."""
        self.start.leave()
        self.compact_layout.toggle()

    def show_all(self) -> None:
        """Show the start page."""
        self.start.show()

    def start_tour(self, step: str = "") -> None:
        """Start the tour at a step, the first by default."""
        self.menus.tour.start(step)

    def open_palette(self, typed: str = "") -> None:
        """Open the command palette."""
        if not self.built:
            self.start.dock_area_requested.emit()
        self.menus.finder.open(typed)

    def reset_layout(self) -> None:
        """Restore the default layout of docks and tabs."""
        self.dock_area.reset()
        self.compact_layout.fit()

    def restore_layout(self, layout: bytes) -> None:
        """Restore a layout returned by `saved_layout`."""
        self.dock_area.restore(layout)

    def saved_layout(self) -> bytes:
        """Return the layout of the docks."""
        return self.dock_area.saved()

    # Slots: session and tabs

    def _make_front(self, state: SessionState, _old: SessionState | None) -> None:
        self.workspaces[study_info(state.study).workspace]

    def _front_key(self) -> str:
        return study_info(self.session.state.study).workspace

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is not None and old.study == state.study:
            if state.looks != old.looks:
                self._show_beside()
            return
        self.pages.setCurrentWidget(self.workspace)
        needs_data = get_study(state.study).needs_data
        self.sides.setTabVisible(1, needs_data)
        self.guarantee.release.setVisible(needs_data)
        if self.left_side.card is not None:
            self.left_side.card.setVisible(needs_data)
        self._show_data()
        result = self.current_result
        self.answer_state.setText("" if result is None else state_words(result))
        if result is None:
            self._claim_nothing()
            self.badge.hide()
        self._show_beside()
        self._stale(self._front_key(), self.answers[self._front_key()].stale)
        self.setWindowTitle(f"{study_info(state.study).name} – Privacy Explorer")

    def _tab_selected(self, index: int) -> None:
        """Select the last study of the chosen workspace."""
        key = self.workspaces.key_at(index) or self._front_key()
        self.dock_area.hide_docks(self.tool is not None and self.tool.alone)
        self._status_changed()
        self.compact_layout.fit()
        if not self.tool and key != self._front_key():
            last = self.workspaces[key].current_result
            of_kind = [c.id for c in study_infos() if c.workspace == key]
            if last is not None and last.request.study in of_kind:
                self.session.set_study(last.request.study)
            elif of_kind:
                self.session.set_study(of_kind[0])
        self.menus.update()

    def _followed(self, recipe: Recipe) -> None:
        """Restore the view in which a recipe was exported."""
        self.banner.settled("recipe")
        self.start.leave()
        if recipe.view:
            from explorer.ui.app import parts

            self.workspace.apply_view_state(parts.ViewState.from_dict(recipe.view))
        if recipe.grid is not None:
            self.show_tool("sweep")
            self.tools["sweep"].follow_recipe()
        self.session.end_gesture()

    def _exportable_changed(self) -> None:
        """Clear texts about the old result while a new file is previewed."""
        unread = bool(self.why_no_export())
        self.guarantee.set_stale(unread, True)
        if unread:
            self.status_row.show_stamp("")
        else:
            self._show_beside()
        self.menus.update()

    # Slots: controllers

    def _answered(self, key: str, result: Result, elapsed_ms: float) -> None:
        self.banner.settled("answer")
        self.activity.share(key, None if result.complete else result.progress, result.coming)
        if key != self._front_key():
            return
        known = self._answered_as == (result.request, True)
        self._answered_as = (result.request, result.complete)
        if not (known and result.complete):  # a number that was added later changes no state
            self.answer_state.setText(state_words(result))
            self.answer_state.setToolTip(f"Computed in {duration_words(elapsed_ms)}")
        if not self.workspace.unread:  # the result belongs to the old file
            self._show_beside()
        self.menus.update()
        self.answered.emit(result)

    def _busy_changed(self, key: str, busy: bool) -> None:
        """Show whether the result was stopped early; expire messages about older ones."""
        if key == self._front_key():
            self._claim_nothing()
        if busy:
            self.banner.mark_stale("answer")
            return
        result = self.current_result
        if result is None or result.complete or key != self._front_key():
            return
        if result.request == self.answers[key].request and not self.banner.isVisible():
            self.answer_state.setText("Stopped early")

    def _claim_nothing(self) -> None:
        """Clear the guarantee while there is no result."""
        if self.current_result is not None:
            return
        state = self.session.state
        self.guarantee.clear(
            coming=self.answers[self._front_key()].busy or self.data.busy,
            needs_file=get_study(state.study).needs_data and state.selection is None,
        )

    def _stale(self, key: str, stale: bool) -> None:
        if key == self._front_key():
            self.guarantee.set_stale(stale, self.answers[key].busy)

    def _show_beside(self) -> None:
        """Update the panels for the current result.

        The result is the workspace's own, so that panels match its headline. They wait for the
        curve of a number that comes alone: it has neither guarantee nor metric space.
        """
        result = self.current_result
        if result is None or result.curve_follows:
            return
        request = result.request
        claim = self.session.state.claim_of(request.study, request.quantity)
        self.guarantee.show_result(result, claim)
        self.parameters.show_result(result)
        self._show_stamp(result)

    def _show_stamp(self, result: Result | None) -> None:
        """Show the stamp of the current result, or that of a tool that stands alone."""
        tool = self.tool
        if tool is not None and tool.alone:
            self.status_row.show_stamp(tool.stamp, tool.stamp_tone)
        elif result is None or self.workspace.unread:
            self.status_row.show_stamp("")
        else:
            self.status_row.show_stamp(result.stamp or "curator only" * result.curator_only)

    def _status_changed(self) -> None:
        """Show stamp and data of the tab in front."""
        self._show_data()
        self._show_stamp(self.current_result)

    def _failed(self, key: str, error: Exception) -> None:
        if key == self._front_key():
            self.answer_state.setText("No answer")
            from explorer.ui.app import parts

            problem = explain(error, "answer")
            if isinstance(error, parts.FileNotOpenError):
                value, ask = error.value, self.parameters.ask_for
                problem = replace(problem, remedy="Open…", do=lambda: ask(value))
            self.show_problem(problem)

    def _loading(self, progress: Progress) -> None:
        self.activity.progress("data", *progress_words(progress))

    def _opened(self) -> None:
        """Switch to the map after the user opened check-ins, if the current study uses none."""
        if self.tool is None and not get_study(self.session.state.study).needs_data:
            self.show_study("heatmap")

    def _open_background(self, path: Path) -> None:
        """Show the map with a file of tiles, lines or areas behind it."""
        if not get_study(self.session.state.study).needs_data:
            self.show_study("heatmap")
        cast("MapWorkspace", self.workspaces["map"]).backgrounds.open([path])

    def _loaded(self, data: CheckinData) -> None:
        if not data.synthetic:  # the sample may replace a file that could not be opened
            self.banner.settled("data")
        self._show_data()

    def _show_data(self) -> None:
        """Show the name of the check-ins if the study uses them, or the state of a tool."""
        tool = self.tool
        if tool is not None and tool.alone:
            self.status_row.show_data(tool.status, None, alone=True)
            return
        used = get_study(self.session.state.study).needs_data
        shown = (self.data.title, self.data.current) if used else ("", None)
        self.status_row.show_data(*shown)

    def showEvent(self, event: QShowEvent) -> None:
        """Build the other workspaces soon after the first picture."""
        super().showEvent(event)
        if self.built:
            self._idle.begin()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open dropped files; several files or a folder form one data set."""
        from explorer.ui.app import parts

        if paths := parts.paths_in(event.mimeData()):
            event.acceptProposedAction()
            self.files.open_any(*paths)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take a drag back with Escape, else cancel work or end the tour; Ctrl+Tab turns the tabs.

        A focused widget that takes these keys has precedence.
        """
        keys = QKeySequence.StandardKey
        by = event.matches(keys.NextChild) - event.matches(keys.PreviousChild)
        escape = event.key() == Qt.Key.Key_Escape
        if escape and QApplication.mouseButtons() and self.session.in_gesture:
            self.session.end_gesture(cancelled=True)
        elif (escape and self.activity.escape()) or (
            escape and self.built and self.menus.tour.end()
        ):
            event.accept()
        elif by and self.built and not self.start.shown:
            self.show_tab((self.tabs.currentIndex() + by) % self.tabs.count())
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop all work, then close."""
        event.accept()
        if not self.built:
            self.session_store.close()
            self.left.emit()
            return
        self._idle.stop()
        self.pages.currentChanged.disconnect()  # pages change while they are deleted
        self.session_store.close()
        self.output.close()
        self.files.close()
        self.drop_overlay.close_jobs()
        self.data.close()
        self.parameter_files.close()
        for controller in self.answers.values():
            controller.close()
        self.study_page.end()
        self.menus.close()
        for page in (*self.workspaces.all_built(), *self.tools.all_built()):
            page.close_workspace()
        self.session.changed.disconnect()
        self.service.close()
