"""Actions of the map and the bar of tools above it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from explorer.figures.colour_maps import COLOUR_MAPS
from explorer.ui.base.styled import tool_button


def make_action(
    owner: QWidget, text: str, keys: str | tuple[str, ...], tip: str, checkable: bool = False
) -> QAction:
    """Return an action of a widget, with shortcuts and a tool tip that names them."""
    action = QAction(text, owner)
    names = (keys,) if isinstance(keys, str) else keys
    action.setShortcuts([QKeySequence(name) for name in names])
    # Digits and signs must stay typeable everywhere; a letter is no number.
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
    """Return an action of a widget that is switched on, and what switching does."""
    action = make_action(owner, text, (), tip, checkable=True)
    action.setChecked(True)
    action.toggled.connect(do)
    return action


def colour_actions(owner: QWidget, choose: Callable[[str], None]) -> dict[str, QAction]:
    """Return actions of which one is checked, that choose colours by name."""
    group, actions = QActionGroup(owner), {}
    for name in COLOUR_MAPS:
        action = actions[name] = make_action(owner, f"Colours: {name}", (), "", True)
        action.triggered.connect(lambda _=False, n=name: choose(n))
        group.addAction(action)
    actions[COLOUR_MAPS[0]].setChecked(True)
    return actions


def separator(owner: QWidget) -> QAction:
    """Return a line between groups of actions."""
    line = QAction(owner)
    line.setSeparator(True)
    return line


def action_button(action: QAction, short: str = "") -> QToolButton:
    """Return a button for an action, reached by Tab, with fewer words if they are given."""
    if short:
        action.setIconText(short)
    button = QToolButton()
    button.setDefaultAction(action)
    button.setAccessibleName(action.text().replace("&", ""))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def menu_button(text: str, tip: str, name: str, menu: QMenu) -> QToolButton:
    """Return a button that opens a menu, reached by Tab."""
    button = tool_button(text, tip, name)
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
