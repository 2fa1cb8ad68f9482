"""Interface of the main window for its workspaces.

The window frame derives from it, and is painted before studies and numpy are imported.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMainWindow

if TYPE_CHECKING:
    from explorer.engine.service import StudyService
    from explorer.engine.session.session import Session
    from explorer.ui.base.errors import Problem
    from explorer.ui.base.theme import Theme
    from explorer.ui.controllers.activity import Activity
    from explorer.ui.controllers.data_controller import DataController
    from explorer.ui.controllers.file_controller import FileController
    from explorer.ui.controllers.session_store import SessionStore
    from explorer.ui.controllers.study_controller import StudyController


class WorkspaceHost(QMainWindow):
    """Part of the main window that its workspaces use.

    Attributes
    ----------
    answers : dict of str to StudyController
        Study controllers by key of the workspace.

    Signals
    -------
    export_asked(Exported)
        Open the export dialog for something other than the current result.
    """

    export_requested = Signal(object)

    session: Session
    service: StudyService
    theme: Theme
    files: FileController
    data: DataController
    answers: dict[str, StudyController]
    activity: Activity
    session_store: SessionStore

    @abstractmethod
    def show_status(self, text: str) -> None:
        """Show a message in the status bar for a while."""

    @abstractmethod
    def show_study(self, study_id: str, parameter: str = "") -> None:
        """Show a study, also from tool tabs."""

    @abstractmethod
    def show_tool(self, key: str) -> None:
        """Show a tool tab."""

    @abstractmethod
    def show_problem(self, problem: Problem) -> None:
        """Show a problem in the banner."""
