"""Keys that bring tabs to the front and the focus from pane to pane."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from explorer.ui.app.context import WindowContext

_MOST_TABS = 9


class Panes(QObject):
    """Knows what F6 goes round in, and where the focus was in each.

    Parameters
    ----------
    window : WindowContext
    """

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self._left: dict[QWidget, QWidget] = {}
        """Pane → what had the focus in it last."""

    def tab_actions(self) -> list[QAction]:
        """Return an action for each tab, in the order of the bar, with its key."""
        tabs, actions = self._window.tabs, []
        for place in range(min(tabs.count(), _MOST_TABS)):
            action = QAction(f"{tabs.tabText(place)} tab", self._window)
            action.setShortcut(f"Ctrl+{place + 1}")
            action.setStatusTip(tabs.tabToolTip(place))
            action.triggered.connect(partial(self._window.show_tab, place))
            actions.append(action)
        return actions

    def go(self, by: int) -> None:
        """Give the focus to the next pane (1) or the one before (-1)."""
        panes = [pane for pane in self._window.focus_areas() if pane.isVisible()]
        focus = QApplication.focusWidget()
        here = next((n for n, p in enumerate(panes) if focus and _inside(p, focus)), None)
        if focus is not None and here is not None:
            self._left[panes[here]] = focus
        if panes:
            start = here if here is not None else (-1 if by > 0 else 0)
            for step in range(1, len(panes) + 1):
                if self._enter(panes[(start + by * step) % len(panes)]):
                    return

    def _enter(self, pane: QWidget) -> bool:
        """Give the focus to what had it in a pane, or to the first that takes it; say if one did.

        A pane's focus proxy is what the pane is for.
        """
        last, main = self._left.get(pane), pane.focusProxy()
        for widget in filter(None, (last, main, pane, *_chain(pane))):
            if _inside(pane, widget) and _takes_focus(widget):
                widget.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return False


def _inside(pane: QWidget, widget: QWidget) -> bool:
    return pane is widget or pane.isAncestorOf(widget)


def _takes_focus(widget: QWidget) -> bool:
    by_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(by_tab) and widget.isVisible() and widget.isEnabled()


def _chain(pane: QWidget) -> list[QWidget]:
    """Return the widgets of a pane in the order in which Tab visits them."""
    found: list[QWidget] = []
    widget = pane.nextInFocusChain()
    while widget is not None and widget is not pane:
        if pane.isAncestorOf(widget):
            found.append(widget)
        widget = widget.nextInFocusChain()
    return found
