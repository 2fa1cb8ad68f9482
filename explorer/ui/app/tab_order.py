"""Order in which Tab and F6 move the focus through the window.

Qt orders widgets by creation, skips what stands beside a focus proxy, and most of the window is
built late. Here the order is read from lists of areas at every key press.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget

if TYPE_CHECKING:
    from explorer.ui.app.context import WindowContext

_MAX_TABS = 9
_MARGIN = 8
"""Pixels that stay visible around a widget that was scrolled to."""


def stops_tab(widget: QWidget) -> bool:
    """Whether Tab may stop at a widget now."""
    by_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return by_tab and widget.focusProxy() is None and widget.isVisible() and widget.isEnabled()


def focus_chain(window: QWidget) -> list[QWidget]:
    """Return all widgets of a window in Qt's order."""
    last = window.previousInFocusChain()
    chain = [window]
    # Not once around: the window would become the last one's child, and nothing can undo that.
    while chain[-1] is not last and (widget := chain[-1].nextInFocusChain()) is not None:
        chain.append(widget)
    _restore_parents(window)
    return chain[1:]


def _restore_parents(widget: QWidget) -> None:
    """Make the Python objects of a widget's children belong to it again.

    `QWidget.nextInFocusChain` makes the object it returns the child of the one it was called of:
    with any widget that is deleted, all menus and actions behind it in the chain would be taken for
    deleted too.
    """
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    for child in widget.findChildren(QWidget, options=direct):
        _restore_parents(child)


def tab_stops(window: QWidget, areas: Sequence[QWidget]) -> list[QWidget]:
    """Return where Tab stops in a window, in order.

    A widget belongs to the innermost area around it; areas come in the order given, their widgets
    in Qt's order, and what is in no area last.
    """
    rank = {area: place for place, area in enumerate(areas)}
    focus = QApplication.focusWidget()
    placed: list[tuple[int, QWidget]] = []
    for widget in focus_chain(window):
        if (widget is focus or stops_tab(widget)) and widget.window() is window:
            around: QWidget | None = widget
            while around is not None and around not in rank:
                around = around.parentWidget()
            placed.append((len(rank) if around is None else rank[around], widget))
    placed.sort(key=lambda pair: pair[0])
    return [widget for _, widget in placed]


def focus_by_tab(widget: QWidget, reason: Qt.FocusReason) -> None:
    """Focus a widget and scroll to it."""
    widget.setFocus(reason)
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea) and around.widget() is not None:
            inside = around.widget()
            if inside is not None and inside.isAncestorOf(widget):
                corner = widget.mapTo(inside, QPoint(0, 0))
                if widget.height() <= around.viewport().height():
                    around.ensureWidgetVisible(widget, _MARGIN, _MARGIN)
                else:
                    around.ensureVisible(corner.x(), corner.y(), _MARGIN, _MARGIN)
        around = around.parentWidget()


def move_focus(window: QWidget, areas: Sequence[QWidget], forward: bool) -> bool:
    """Focus the next or previous stop of a window; return whether there is one."""
    stops, focus = tab_stops(window, areas), QApplication.focusWidget()
    if not stops:
        return False
    by = 1 if forward else -1
    here = stops.index(focus) if focus in stops else (-1 if forward else 0)
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    target = stops[(here + by) % len(stops)]
    focus_by_tab(target, reason)
    links = Qt.TextInteractionFlag.LinksAccessibleByKeyboard
    # To its first or last link. What has none, such as a picture, is a stop itself.
    if isinstance(target, QLabel) and target.hasFocus() and target.textInteractionFlags() & links:
        key = Qt.Key.Key_Tab if forward else Qt.Key.Key_Backtab
        pressed = QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(target, pressed)
    return True


class FocusAreas(QObject):
    """Moves the focus between the areas of the window (F6) and remembers it in each.

    Parameters
    ----------
    window : WindowContext
    """

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self._left: dict[QWidget, QWidget] = {}
        """Last focused widget of each area."""

    def tab_actions(self) -> list[QAction]:
        """Return an action with shortcut for each tab."""
        tabs, actions = self._window.tabs, []
        for place in range(min(tabs.count(), _MAX_TABS)):
            action = QAction(f"{tabs.tabText(place)} tab", self._window)
            action.setShortcut(f"Ctrl+{place + 1}")
            action.setStatusTip(tabs.tabToolTip(place))
            action.triggered.connect(partial(self._window.show_tab, place))
            actions.append(action)
        return actions

    def go(self, by: int) -> None:
        """Focus the next (1) or previous (-1) area."""
        panes = [pane for pane in self._window.focus_areas() if pane.isVisible()]
        focus = QApplication.focusWidget()
        here = next((n for n, p in enumerate(panes) if focus and _inside(p, focus)), None)
        if focus is not None and here is not None:
            self._left[panes[here]] = focus
        if panes:
            start = here if here is not None else (-1 if by > 0 else 0)
            stops = tab_stops(self._window, self._window.tab_areas())
            for step in range(1, len(panes) + 1):
                if self._enter(panes[(start + by * step) % len(panes)], stops):
                    return

    def _enter(self, pane: QWidget, stops: Sequence[QWidget]) -> bool:
        """Focus the last widget that had the focus in an area, or else its main or first one.

        The focus proxy of an area is its main widget. Returns whether there is one.
        """
        within = [widget for widget in stops if _inside(pane, widget)]
        for widget in filter(None, (self._left.get(pane), pane.focusProxy(), *within)):
            if widget in within:
                focus_by_tab(widget, Qt.FocusReason.TabFocusReason)
                return True
        return False


def _inside(pane: QWidget, widget: QWidget) -> bool:
    return pane is widget or pane.isAncestorOf(widget)
