"""Interface of the main window for menus, export and dialogs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from explorer.ui.controllers.workspace_host import WorkspaceHost

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDockWidget, QMenu, QTabBar, QWidget

    from explorer.studies.base.study import Result
    from explorer.ui.app.dock_area import DockArea
    from explorer.ui.base.errors import Banner
    from explorer.ui.controllers.session_store import SessionStore
    from explorer.ui.controllers.workspace import Workspace
    from explorer.ui.dialogs.help_window import HelpWindow
    from explorer.ui.panels.parameters import ParametersPanel


class WindowContext(WorkspaceHost):
    """Part of the main window that its menus and its export use.

    Attributes
    ----------
    titles : dict of str to QMenu
        Menus of the menu bar.
    dock_area : DockArea
        Area of the docks and workspaces.
    built : bool
        Whether more than the start page has been built.
    """

    titles: dict[str, QMenu]
    dock_area: DockArea
    built: bool
    session_store: SessionStore
    banner: Banner
    docks: dict[str, QDockWidget]
    tabs: QTabBar
    study_page: HelpWindow
    parameters: ParametersPanel

    @property
    @abstractmethod
    def workspace(self) -> Workspace:
        """Workspace of the current study."""

    @property
    @abstractmethod
    def tool(self) -> Workspace | None:
        """The tool tab in front (Compare, Sweep, …), or None; built on demand."""

    @property
    @abstractmethod
    def current_result(self) -> Result | None:
        """Current result, if it belongs to the current study."""

    @property
    def shown_result(self) -> Result | None:
        """Current result together with its pinned curves."""
        result = self.current_result
        return None if result is None else self.workspace.shown_result(result)

    def why_no_export(self) -> str:
        """Return why the current view cannot be exported or copied; empty if it can."""
        return "" if self.tool else self.workspace.why_no_export()

    @abstractmethod
    def open_palette(self, typed: str = "") -> None:
        """Open the command palette."""

    @abstractmethod
    def show_tool(self, key: str) -> None:
        """Show a tool tab."""

    @abstractmethod
    def show_tab(self, place: int) -> None:
        """Show the tab at an index."""

    @abstractmethod
    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return the areas that F6 cycles through, from left to right; some may be hidden."""

    @abstractmethod
    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return the areas that Tab goes through, in order; inner ones may be listed too."""

    @abstractmethod
    def show_guarantee(self) -> None:
        """Show the guarantee: its dock or, in narrow windows, toggle it over the plot."""

    @abstractmethod
    def show_all(self) -> None:
        """Show the start page."""

    @abstractmethod
    def reset_layout(self) -> None:
        """Restore the default layout of docks and tabs."""

    @abstractmethod
    def start_tour(self, step: str = "") -> None:
        """Start the tour at a step, the first by default."""
