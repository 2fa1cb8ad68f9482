"""Applies the window options: restores the session, opens data, takes the screenshot."""

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QBuffer, QByteArray, QObject, QTimer, Signal

from explorer.engine.runtime import FileNotOpenError, typed_value
from explorer.engine.service import StudyService
from explorer.engine.session.link import recipe_of
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import Session
from explorer.figures.recipes import read_recipe
from explorer.files import write_whole
from explorer.studies.base.help_page import Preset, sample_of
from explorer.studies.base.study import Origin, Value, all_sides, parameter, preset, preset_request
from explorer.studies.registry import get_study
from explorer.ui.app.main_window import MainWindow
from explorer.ui.app.options import SCREENSHOT_TIMEOUT_S, WindowOptions
from explorer.ui.base.errors import Problem, explain
from explorer.ui.controllers.session_store import SessionStore
from explorer.ui.panels.presets import look_of, utility_view_of

if TYPE_CHECKING:
    from explorer.ui.map.workspace import MapWorkspace

_POLL_MS = 20
FIRST_PANES = {"heatmap": {"beside": "true,difference"}}
"""Maps of a new session, by question: besides the private one."""
FIRST_PANES_WIDTH = 1280
"""Width in pixels of a window from which there is space for them."""


class Startup(QObject):
    """Applies the options to a new window.

    Parameters
    ----------
    options : WindowOptions
    session_store : SessionStore
        Loaded, except for the session itself.
    window : MainWindow
        Window to build.
    service : StudyService

    Attributes
    ----------
    exit_code : int
        1 if the requested view could not be drawn.

    Signals
    -------
    ended()
        Emitted when the screenshot was saved or failed.
    """

    ended = Signal()

    def __init__(
        self,
        options: WindowOptions,
        session_store: SessionStore,
        window: MainWindow,
        service: StudyService,
    ) -> None:
        super().__init__(window)
        self.options, self.session_store, self.window = options, session_store, window
        self.exit_code = 0
        self._first_data, self._opened = True, False
        self._preset: Preset | None = None
        self._settings: dict[str, Value] = {}
        self.service = service
        session_store.load_session()
        self.session = self._first_session()
        window.build(self.session, self.service)

    def begin(self) -> None:
        """Show the last view; `open_first` opens the data."""
        self.session_store.follow(self.window)
        self.window.data.loaded.connect(self._loaded)
        self.window.data.failed.connect(self._first_failed)
        if not self.window.start.shown:
            self.window.start.leave()
        if self.options.tour is not None:
            self.window.start_tour(self.options.tour)
        if self.options.screenshot is not None:
            self._begin_screenshot()

    def _first_session(self) -> Session:
        """Return the saved session with the options applied, without undo history."""
        # A restored session keeps its panes.
        wide = self.window.width() >= FIRST_PANES_WIDTH and not self.session_store.restored
        first_values = FIRST_PANES if wide else {}
        session = Session(self.session_store.state, first_values)
        study_id = self.options.study or _study_of(self.options)
        if study_id is not None:
            session.set_study(study_id)
        if self.options.preset is not None:
            study = get_study(session.state.study)
            self._preset = preset(study, self.options.preset)
            request = preset_request(study, self._preset)
            which, look = (
                utility_view_of(self._preset, session.state.which),
                look_of(study, self._preset),
            )
            session.follow(request, which=which, look=look)
        if self.options.quantity is not None:
            session.set_quantity(self.options.quantity)
        if self.options.values:
            study = get_study(session.state.study)
            self._settings = {
                key: typed_value(self.service.runtime, parameter(study, key), raw)
                for key, raw in self.options.values
            }
            session.set_values(self._settings)
        if self.options.seed is not None:
            session.set_seed(self.options.seed)
        return Session(session.state, first_values)

    def open_first(self) -> None:
        """Open the data and ask for the first answer, once."""
        if self._opened:
            return
        self._opened = True
        self.window.parameter_files.restored.connect(self._files_restored)
        self.window.parameter_files.restore(self.session_store.files)
        if not self.session_store.files:
            self._refresh()
        files, options = self.window.files, self.options
        if options.recipe is None and options.link is None:
            self._open_data()
            return
        files.followed.connect(self._reapply_settings)
        files.recognised.connect(self._open_data)
        if options.recipe is not None:
            files.open_recipe(options.recipe, coming=True)
        elif options.link is not None:
            files.open_link(options.link, coming=True)

    def _open_data(self) -> None:
        """Open the initial data, unless a recipe opens its own."""
        if self.options.recipe is not None or self.options.link is not None:
            self.window.files.recognised.disconnect(self._open_data)
        if self.options.data is not None:
            self.window.files.open_data(self.options.data, at_start=True)
        elif self.window.data.busy:
            return
        elif self.session_store.data_path is not None:
            self.window.files.open_data(self.session_store.data_source, at_start=True)
        else:
            self.window.files.open_sample()

    def _reapply_settings(self, recipe: Recipe) -> None:
        """Apply the parameter options on top of the recipe once it is restored."""
        self.window.files.followed.disconnect(self._reapply_settings)
        if self._settings and recipe.request.study == self.session.state.study:
            self.session.set_values(self._settings)

    def _refresh(self) -> None:
        for controller in self.window.answers.values():
            controller.refresh()

    def _files_restored(self, lost: list[str]) -> None:
        """Request the first result now that parameter files are open; report missing ones."""
        self._refresh()
        if lost:
            self.window.show_problem(
                Problem(
                    "answer",
                    f"{' and '.join(lost)} can no longer be found where it was, or was changed: "
                    "open it again, or clear it.",
                )
            )

    def _loaded(self, _data: object) -> None:
        """Apply the data options once, after the first load."""
        selection = self.session.state.selection
        if not self._first_data or selection is None:
            return
        self._first_data = False
        changed = selection
        if self.options.region is not None:
            typed = all_sides(Origin.TYPED)
            changed = replace(changed, region=self.options.region, region_from=typed)
        if self._preset is not None:
            changed = sample_of(self._preset, changed)
        if self.options.users is not None:
            changed = replace(changed, users=self.options.users, share=None)
        if changed == selection:
            return
        self.session.replace_data(changed)
        if self.options.region is not None:
            cast("MapWorkspace", self.window.workspaces["map"]).go_home()

    def _first_failed(self, _error: Exception) -> None:
        """Open the sample if the last data cannot be opened; the banner shows the reason."""
        if (
            self._first_data
            and self.session_store.data_path is not None
            and self.options.data is None
        ):
            self.session_store.note_data((), {})
            self.window.files.open_sample()

    # Screenshots

    def _begin_screenshot(self) -> None:
        self._deadline = time.monotonic() + SCREENSHOT_TIMEOUT_S
        self._quiet = 0
        self.window.files.problem.connect(lambda problem: self._fail(problem.sentence))
        for controller in self.window.answers.values():
            controller.failed.connect(lambda error: self._fail(self._answer_failed(error)))
        self.window.data.failed.connect(lambda error: self._fail(explain(error, "data").sentence))
        self.window.data.mapping_needed.connect(
            lambda request: self._fail(f"{request.preview.basename}: {request.reason}")
        )
        self.window.data.unpack_requested.connect(lambda request: self._fail(request.text))
        # There is no user to ask.
        self.window.data.import_requested.connect(self.window.data.agree)
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self._look)
        self._poll.start()

    def _answer_failed(self, error: Exception) -> str:
        sentence = explain(error, "answer").sentence
        if isinstance(error, FileNotOpenError):
            values = self.session.request().values
            key = next((key for key, value in values if value == error.value), "KEY")
            return f"{sentence} Name it with --set {key}=FILE"
        return sentence

    def _look(self) -> None:
        result = self.window.current_result
        settled = (
            not self.window.busy
            and self.window.data.current is not None
            and result is not None
            and result.complete
        )
        self._quiet = self._quiet + 1 if settled else 0
        if self._quiet >= 5:
            self._grab()
        elif time.monotonic() > self._deadline:
            self._fail(f"the picture was not ready after {SCREENSHOT_TIMEOUT_S:.0f} s")

    def _grab(self) -> None:
        self._poll.stop()
        assert self.options.screenshot is not None
        data = QByteArray()
        self.window.grab().save(QBuffer(data), "PNG")
        try:
            write_whole(self.options.screenshot, bytes(data.data()))
        except OSError as error:
            self._fail(explain(error, "export").sentence)
            return
        self.ended.emit()

    def _fail(self, why: str) -> None:
        if self.exit_code == 0:
            print(f"privacy-explorer: {why}", file=sys.stderr)
        self.exit_code = 1
        self._poll.stop()
        self.ended.emit()


def _study_of(options: WindowOptions) -> str | None:
    """Return the study of a recipe file or link; None if unreadable."""
    try:
        if options.recipe is not None:
            return recipe_from_dict(read_recipe(options.recipe)).request.study
        return None if options.link is None else str(recipe_of(options.link)["study"])
    except (ValueError, OSError):
        return None  # reported when it is opened
