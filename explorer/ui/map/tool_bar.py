"""Actions of the map and their tool bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.colour_maps import COLOUR_MAPS
from explorer.ui.base.styled import tool_button


def make_action(
    owner: QWidget, text: str, keys: str | tuple[str, ...], tip: str, checkable: bool = False
) -> QAction:
    """Return an action of a widget, with shortcuts that its tool tip names."""
    action = QAction(text, owner)
    names = (keys,) if isinstance(keys, str) else keys
    action.setShortcuts([QKeySequence(name) for name in names])
    # Digits and signs must stay usable as input everywhere; letters are not part of numbers.
    wide = all(name.isalpha() and len(name) == 1 for name in names)
    action.setShortcutContext(
        Qt.ShortcutContext.WindowShortcut if wide else Qt.ShortcutContext.WidgetWithChildrenShortcut
    )
    action.setCheckable(checkable)
    plain = text.replace("&", "")
    action.setToolTip(
        (f"{plain}: {tip[:1].lower()}{tip[1:]}" if tip else plain)
        + (f" ({', '.join(names)})" if names else "")
    )
    owner.addAction(action)
    return action


def ticked_action(owner: QWidget, text: str, tip: str, do: Callable[[bool], None]) -> QAction:
    """Return a checkable action of a widget."""
    action = make_action(owner, text, (), tip, checkable=True)
    action.setChecked(True)
    action.toggled.connect(do)
    return action


def colour_actions(owner: QWidget, choose: Callable[[str], None]) -> dict[str, QAction]:
    """Return exclusive actions that select colours by name."""
    group, actions = QActionGroup(owner), {}
    for name in COLOUR_MAPS:
        action = actions[name] = make_action(owner, f"Colours: {name}", (), "", True)
        action.triggered.connect(lambda _=False, n=name: choose(n))
        group.addAction(action)
    actions[COLOUR_MAPS[0]].setChecked(True)
    return actions


def separator(owner: QWidget) -> QAction:
    """Return a separator line."""
    line = QAction(owner)
    line.setSeparator(True)
    return line


def action_button(action: QAction, short: str = "") -> QToolButton:
    """Return a button for an action, in the tab order, optionally with a shorter text."""
    if short:
        action.setIconText(short)
    button = QToolButton()
    button.setDefaultAction(action)
    button.setAccessibleName(action.text().replace("&", ""))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def menu_button(text: str, tip: str, name: str, menu: QMenu) -> QToolButton:
    """Return a button that opens a menu, in the tab order; its text ends with ▾."""
    button = tool_button(f"{text} ▾", tip, name)
    button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


ROW_HEIGHT, SPACING = 28, 8
_OFFERED = {"copy-link": "Copy &link", "export": "E&xport…"}
"""Menu actions that also have a button, with its text."""


def _follow(button: QToolButton, action: QAction) -> None:
    button.setEnabled(action.isEnabled())


class ToolBar(QWidget):
    """Tabs of the two pages with actions on the result, and below them the tools of the map.

    Parameters
    ----------
    action : QAction
        Checked while the second page is shown.
    of_maps : iterable of QWidget
        Buttons right of the tabs, for the maps only.
    tools : iterable of QWidget
    last : QWidget
        At the right end of the tools.
    """

    def __init__(
        self, action: QAction, of_maps: Iterable[QWidget], tools: Iterable[QWidget], last: QWidget
    ) -> None:
        super().__init__()
        self.setAccessibleName("Map tools")
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Maps or Utility")
        self.tabs.addTab("Maps")
        self.tabs.addTab("Utility")
        self.tabs.setTabToolTip(1, action.toolTip())
        self.tabs.setTabData(1, action)
        self.tabs.currentChanged.connect(lambda index: action.setChecked(bool(index)))
        action.toggled.connect(lambda shown: self.tabs.setCurrentIndex(int(shown)))
        self._of_maps = tuple(of_maps)
        self._offered: list[QWidget] = []
        self._of_tools = (*tools, last)
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        self._tools = QWidget()
        self._tools.setLayout(self._lower)
        # No row may keep a window from becoming narrower.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(1)
        self._upper.addWidget(self.tabs)
        self._upper.addStretch(1)
        for button in self._of_maps:
            self._add(self._upper, button)
        for tool in self._of_tools:
            if tool is last:
                self._lower.addStretch(1)
            self._add(self._lower, tool)
        box = self._rows = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 4)
        box.setSpacing(SPACING)
        box.addLayout(self._upper)
        box.addWidget(self._tools)
        for row in (self._upper, self._lower):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(SPACING)

    def offer(self, actions: Mapping[str, QAction]) -> None:
        """Add buttons for menu actions on the page in front, right of the others."""
        for key, text in _OFFERED.items():
            action = actions[key]
            button = tool_button(text, action.statusTip(), text.replace("&", ""))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(action.trigger)
            follow = partial(_follow, button, action)
            action.changed.connect(follow)
            follow()
            self._offered.append(button)
            self._add(self._upper, button)

    @property
    def in_order(self) -> tuple[QWidget, ...]:
        """Tabs, buttons and tools from the upper left."""
        return (self.tabs, *self._of_maps, *self._offered, *self._of_tools)

    def _add(self, row: QHBoxLayout, widget: QWidget) -> None:
        widget.setFixedHeight(ROW_HEIGHT)
        row.addWidget(widget)

    def show_page(self, second: bool) -> None:
        """Show the tools of one of the two pages."""
        for widget in (self._tools, *self._of_maps):
            widget.setVisible(not second)
        self._rows.activate()  # at once, so that no layout around it counts the hidden row
