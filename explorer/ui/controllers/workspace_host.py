"""What workspaces know of the window; without what they themselves are made of."""

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
    from explorer.ui.controllers.study_controller import StudyController


class WorkspaceHost(QMainWindow):
    """The part of the main window that its workspaces use.

    Attributes
    ----------
    answers : dict of str to StudyController
        What answers the studies of a workspace, by its key.

    Signals
    -------
    export_asked(Exported)
        Something that is not the answer in front is to be exported.
    """

    export_asked = Signal(object)

    session: Session
    service: StudyService
    theme: Theme
    files: FileController
    data: DataController
    answers: dict[str, StudyController]
    activity: Activity

    @abstractmethod
    def show_status(self, text: str) -> None:
        """Show what was done in the status bar, for a while."""

    @abstractmethod
    def show_study(self, study_id: str, parameter: str = "") -> None:
        """Bring a study to the front, from tabs of tools too."""

    @abstractmethod
    def show_tool(self, key: str) -> None:
        """Bring a tab that is about no one question to the front."""

    @abstractmethod
    def show_problem(self, problem: Problem) -> None:
        """Show what went wrong in the banner."""
