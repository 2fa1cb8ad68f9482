"""Base class of workspaces (tabs of results), and their interface of the window."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QWidget

from explorer.figures.export_policy import EARLY
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Request, Result

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


UNREAD = "A picture of a part of the file is never exported: wait until every row is read."


@dataclass(frozen=True)
class Exported:
    """What is exported in place of the answer in front.

    Attributes
    ----------
    result : Result
    view : ViewState
    asked : Request
        What its recipe asks again.
    told : mapping of JSON values
        What else its recipe says.
    """

    result: Result
    view: ViewState
    asked: Request
    told: Mapping[str, Any] = field(default_factory=dict)


class Workspace(QWidget):
    """A tab of results. `explorer.ui.app.workspaces` lists them.

    Signals
    -------
    exportable_changed()
        `why_no_export` may say something else, though no answer came.

    Attributes
    ----------
    current_result : Result or None
        The newest answer shown.
    side_panel : QWidget or None
        What stands beside the parameters while a study of data is in front.
    view_of_question : bool
        Whether `view_state` is about the question in front, not about the workspace.
    alone : bool
        Whether it has the window to itself: no panel tells of the study in front beside it.
    exported : callable
        Returns what File ▸ Export… writes in place of the answer while that is in front, or None.
    offer : callable
        Shows buttons for actions of the menus, by their names there, if it has room for any.
    """

    exportable_changed = Signal()

    current_result: Result | None = None
    side_panel: QWidget | None = None
    view_of_question = False
    alone = False
    exported: Callable[[], Exported | None] = staticmethod(lambda: None)
    offer: Callable[[Mapping[str, QAction]], None] = staticmethod(lambda _: None)

    @classmethod
    @abstractmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Return the workspace of a window."""

    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return what the focus goes round in by F6; a focus proxy gets it first."""
        return (self,)

    def view_actions(self) -> list[QAction]:
        """Return what the View menu offers for this workspace."""
        return []

    def view_state(self) -> ViewState:
        """Return how what is shown is looked at, for exports and the saved session."""
        return ViewState()

    def apply_view_state(self, view: ViewState) -> None:
        """Look at what is shown in this way."""

    def restore_view(self, view: ViewState) -> None:
        """Show a saved session's view, without what the session itself holds."""
        self.apply_view_state(view)

    @property
    def unread(self) -> bool:
        """Whether it shows a file about which nothing is answered yet."""
        return False

    def why_no_export(self) -> str:
        """Return why nothing of this can be exported or copied now; empty if it can."""
        if self.unread:
            return UNREAD
        result = self.current_result
        return EARLY if result is not None and result.early else ""

    def shown_result(self, result: Result) -> Result:
        """Return an answer with all that is drawn beside it."""
        return result

    def export_file(self) -> None:
        """Ask for a file and write what is shown; only of a workspace that shows no study."""

    def copy(self, fmt: str) -> None:
        """Put what is shown on the clipboard; only of a workspace that shows no study."""

    def show_part(self, key: str) -> None:
        """Bring a part to the front; only of a workspace that has some in a menu."""

    def follow_recipe(self) -> None:
        """Show what a recipe that was opened asks; only of a workspace that shows no study."""

    def close_workspace(self) -> None:
        """End what runs and disconnect from the session; the window closes."""
