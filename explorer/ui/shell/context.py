"""What menus, export and pages know of the window that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDockWidget, QMainWindow, QScrollArea

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session
from explorer.studies.base.study import Result
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.activity import Activity
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.file_controller import FileController
from explorer.ui.controllers.session_store import SessionStore
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.dialogs.help_window import HelpWindow
from explorer.ui.panels.status import StatusRow

if TYPE_CHECKING:
    from explorer.ui.compare.workspace import CompareWorkspace
    from explorer.ui.curves.workspace import BoundsWorkspace
    from explorer.ui.map.workspace import MapWorkspace
    from explorer.ui.panels.data import DataPanel


class WindowContext(QMainWindow):
    """The part of the main window that its menus, its export and its pages use."""

    session: Session
    service: StudyService
    theme: Theme
    keeper: SessionStore
    files: FileController
    data: DataController
    answers: dict[str, StudyController]
    activity: Activity
    banner: Banner
    docks: dict[str, QDockWidget]
    study_page: HelpWindow
    status_row: StatusRow
    data_page: QScrollArea
    data_panel: DataPanel

    @property
    def workspace(self) -> MapWorkspace | BoundsWorkspace:
        """The workspace in front."""
        raise NotImplementedError

    @property
    def compare(self) -> CompareWorkspace:
        """The Compare tab's page; made now if it is not there yet."""
        raise NotImplementedError

    @property
    def comparing(self) -> bool:
        """Whether the Compare tab is in front."""
        raise NotImplementedError

    @property
    def current_result(self) -> Result | None:
        """The answer in front, if it belongs to the study in front."""
        raise NotImplementedError

    @property
    def shown_result(self) -> Result | None:
        """The answer in front with what is pinned beside it."""
        raise NotImplementedError

    def show_status(self, text: str) -> None:
        """Show what was done in the status bar, for a while."""
        raise NotImplementedError

    def show_problem(self, problem: Problem) -> None:
        """Show what went wrong in the banner."""
        raise NotImplementedError

    def show_study(self, study_id: str) -> None:
        """Bring a study to the front, from the Compare tab too."""
        raise NotImplementedError

    def reset_layout(self) -> None:
        """Put docks and tabs back to where they were at first."""
        raise NotImplementedError
