"""Base class of workspaces (tabs of results)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from explorer.figures.export import PREVIEW_REFUSED
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Request, Result

if TYPE_CHECKING:
    from explorer.ui.controllers.workspace_host import WorkspaceHost


NO_PARTIAL_EXPORT = (
    "A picture of a part of the file is never exported: wait until every row is read."
)


@dataclass(frozen=True)
class Exported:
    """Export that replaces the current result.

    Attributes
    ----------
    result : Result
    view : ViewState
    asked : Request
        Request of its recipe.
    told : mapping of JSON values
        Further entries of its recipe.
    """

    result: Result
    view: ViewState
    asked: Request
    told: Mapping[str, Any] = field(default_factory=dict)


class Workspace(QWidget):
    """Base class of workspaces, listed in `explorer.ui.app.workspaces`.

    Signals
    -------
    exportable_changed()
        `why_no_export` may have changed without a new result.
    status_changed()
        `status`, `stamp` or `stamp_tone` changed; only of workspaces that stand alone.

    Attributes
    ----------
    current_result : Result or None
        Newest result shown.
    side_panel : QWidget or None
        Panel beside the parameters for studies that use data.
    view_of_question : bool
        Whether `view_state` belongs to the current study rather than to the workspace.
    alone : bool
        Whether it takes the full width: docks are hidden while it is in front.
    status, stamp : str
        Left and right texts of the status bar while a workspace that stands alone is in front.
    stamp_tone : str
        Tone of the stamp: "" (a warning), ``plain`` or ``good``.
    exported : callable
        Returns what File ▸ Export… writes instead of the result, or None.
    offer : callable
        Receives menu actions by name, to show buttons for them.
    """

    exportable_changed = Signal()
    status_changed = Signal()

    current_result: Result | None = None
    side_panel: QWidget | None = None
    view_of_question = False
    alone = False
    status = stamp = stamp_tone = ""
    exported: Callable[[], Exported | None] = staticmethod(lambda: None)
    offer: Callable[[Mapping[str, QAction]], None] = staticmethod(lambda _: None)

    @classmethod
    @abstractmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""

    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return the areas that F6 cycles through; a focus proxy is preferred."""
        return (self,)

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return the parts that Tab goes through, in order; the rest follows in Qt's order."""
        return ()

    def view_actions(self) -> list[QAction]:
        """Return the actions for the View menu."""
        return []

    def view_state(self) -> ViewState:
        """Return the present view, for exports and the saved session."""
        return ViewState()

    def apply_view_state(self, view: ViewState) -> None:
        """Apply a view."""

    def restore_view(self, view: ViewState) -> None:
        """Apply the view of a saved session, except for what the session itself holds."""
        self.apply_view_state(view)

    @property
    def unread(self) -> bool:
        """Whether it previews a file without any result yet."""
        return False

    def why_no_export(self) -> str:
        """Return why the view cannot be exported or copied now; empty if it can."""
        if self.unread:
            return NO_PARTIAL_EXPORT
        result = self.current_result
        return PREVIEW_REFUSED if result is not None and result.early else ""

    def shown_result(self, result: Result) -> Result:
        """Return a result with everything drawn beside it."""
        return result

    def export_file(self) -> None:
        """Ask for a file and export the view; only for tools."""

    def copy(self, fmt: str) -> None:
        """Copy the view to the clipboard; only for tools."""

    def show_part(self, key: str) -> None:
        """Show a part of the workspace named in a menu; only for tools."""

    def follow_recipe(self) -> None:
        """Apply an opened recipe; only for tools."""

    def show_refused(self, values: str) -> None:
        """Say that the answer is still for these values, in place of refused ones; empty: none."""

    def close_workspace(self) -> None:
        """Stop work and disconnect from the session before the window closes."""
