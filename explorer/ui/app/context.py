"""Interface of the main window for menus, export and dialogs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from explorer.ui.controllers.workspace import WorkspaceHost

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDockWidget, QMenu, QTabWidget, QWidget

    from explorer.studies.base.study import Result
    from explorer.ui.app.dock_area import DockArea
    from explorer.ui.base.errors import Banner
    from explorer.ui.controllers.session_store import SessionStore
    from explorer.ui.controllers.workspace import Workspace
    from explorer.ui.dialogs.help_window import HelpWindow


class WindowContext(WorkspaceHost):
    """The part of the main window that its menus and its export use.

    Attributes
    ----------
    titles : dict of str to QMenu
        The menus of the bar.
    desk : Desk
        All that belongs to the question in front.
    built : bool
        Whether there is more than the start page.
    """

    titles: dict[str, QMenu]
    desk: DockArea
    built: bool
    keeper: SessionStore
    banner: Banner
    docks: dict[str, QDockWidget]
    tabs: QTabWidget
    study_page: HelpWindow

    @property
    @abstractmethod
    def workspace(self) -> Workspace:
        """The workspace of the study in front."""

    @property
    @abstractmethod
    def tool(self) -> Workspace | None:
        """The workspace in front, if it is none of studies; made now if it is not there yet."""

    @property
    @abstractmethod
    def current_result(self) -> Result | None:
        """The answer in front, if it belongs to the study in front."""

    @property
    def shown_result(self) -> Result | None:
        """The answer in front with what is pinned beside it."""
        result = self.current_result
        return None if result is None else self.workspace.shown_result(result)

    def why_no_export(self) -> str:
        """Return why what is in front can't be exported or copied now; empty if it can."""
        return "" if self.tool else self.workspace.why_no_export()

    @abstractmethod
    def find_anything(self, typed: str = "") -> None:
        """Open the palette of everything that has a name."""

    @abstractmethod
    def show_tool(self, key: str) -> None:
        """Bring a tab that is about no one question to the front."""

    @abstractmethod
    def show_tab(self, place: int) -> None:
        """Bring a tab to the front."""

    @abstractmethod
    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return what the focus goes round in by F6, from left to right; some may be hidden."""

    @abstractmethod
    def show_guarantee(self) -> None:
        """Show what is promised: its dock or, where there is no room, over the plot or away."""

    @abstractmethod
    def show_all(self) -> None:
        """Show the page with all questions."""

    @abstractmethod
    def reset_layout(self) -> None:
        """Put docks and tabs back to where they were at first."""
