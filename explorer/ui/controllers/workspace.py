"""What a workspace, a tab of results, is to the window, and what it knows of the window."""

from typing import Self

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result
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
    """

    session: Session
    service: StudyService
    theme: Theme
    files: FileController
    data: DataController
    answers: dict[str, StudyController]
    activity: Activity

    def show_status(self, text: str) -> None:
        """Show what was done in the status bar, for a while."""
        raise NotImplementedError

    def show_problem(self, problem: Problem) -> None:
        """Show what went wrong in the banner."""
        raise NotImplementedError


class Workspace(QWidget):
    """A tab of results. `explorer.ui.shell.workspaces` lists them.

    Attributes
    ----------
    current_result : Result or None
        The newest answer shown.
    side_panel : QWidget or None
        What stands beside the parameters while a study of data is in front.
    view_of_question : bool
        Whether `view_state` is about the question in front, not about the workspace.
    """

    current_result: Result | None = None
    side_panel: QWidget | None = None
    view_of_question = False

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Return the workspace of a window."""
        raise NotImplementedError

    def view_actions(self) -> list[QAction]:
        """Return what the View menu offers for this workspace."""
        return []

    def view_state(self) -> ViewState:
        """Return how what is shown is looked at, for exports and the saved session."""
        return ViewState()

    def apply_view_state(self, view: ViewState) -> None:
        """Look at what is shown in this way."""

    def shown_result(self, result: Result) -> Result:
        """Return an answer with all that is drawn beside it."""
        return result

    def export_file(self) -> None:
        """Ask for a file and write what is shown; only of a workspace that shows no study."""

    def copy(self, fmt: str) -> None:
        """Put what is shown on the clipboard; only of a workspace that shows no study."""

    def close_workspace(self) -> None:
        """End what runs and disconnect from the session; the window closes."""
