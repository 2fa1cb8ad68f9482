"""Actions of the map and their tool bar, in one or two rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QResizeEvent
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
    """Return a button that opens a menu, in the tab order."""
    button = tool_button(text, tip, name)
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


SPACING, ASIDE_SPACING = 4, 12


class ToolBar(QWidget):
    """Tool bar; in small windows tabs above it replace the button that opens a view.

    Widgets that do not fit move up beside the tabs, and some buttons remain in the menu only.

    Parameters
    ----------
    opens : QWidget
        Button of the view, first in the row.
    action : QAction
        Its action; checked while the view is open.
    left, right : iterable of QWidget
    aside : sequence of QWidget
        Moved up first; otherwise the last on the left and the first on the right.
    spare : sequence of QWidget
        Some of the left that the menu contains too: hidden next.
    """

    def __init__(
        self,
        opens: QWidget,
        action: QAction,
        left: Iterable[QWidget],
        right: Iterable[QWidget],
        aside: tuple[QWidget, QWidget],
        spare: Iterable[QWidget],
    ) -> None:
        super().__init__()
        self.setAccessibleName("Map tools")
        # All of it fits beside both panels of a window 1280 pixels wide.
        self.setStyleSheet("QToolButton { padding: 4px 6px; }")
        self._opens, self._action, self._aside, self._spare = opens, action, aside, tuple(spare)
        self._left, self._right = (opens, *left), tuple(right)
        self._small = False
        self._fitted: object = None
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Maps or Which ε?")
        for title in ("Maps", action.text().replace("&", "")):
            self.tabs.addTab(title)
        self.tabs.currentChanged.connect(lambda index: action.setChecked(bool(index)))
        action.toggled.connect(lambda shown: self.tabs.setCurrentIndex(int(shown)))
        action.toggled.connect(self._fit)
        box = QVBoxLayout(self)
        box.setContentsMargins(4, 2, 4, 2)
        box.setSpacing(2)
        self._upper, self._lower = QWidget(), QWidget()
        for row in (self._upper, self._lower):
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            line.setSpacing(ASIDE_SPACING if row is self._upper else SPACING)
            # Minimum width 0: what does not fit is placed elsewhere.
            row.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.setMinimumWidth(1)
            box.addWidget(row)
        self._lay_out(aside_above=False)
        self._fit()

    def set_small(self, small: bool) -> None:
        """Show tabs instead of the button, or the button."""
        self._small = small
        self._fit()

    @property
    def _needed(self) -> int:
        """Width of a single row with everything."""
        shown = (*self._left[self._small :], *self._right)
        widths = [widget.sizeHint().width() + SPACING for widget in (*shown, *self._aside)]
        return sum(widths) + SPACING

    def _fit(self, *_: object) -> None:
        """Arrange the widgets for the present width."""
        over = self._needed - (self.width() - 8)
        above = self._small or over > 0
        over -= above * sum(widget.sizeHint().width() + SPACING for widget in self._aside)
        open_alone = self._small and self._action.isChecked()
        fitted = (self._small, above, over > 0, open_alone)
        if fitted == self._fitted:
            return
        self._fitted = fitted
        self._lay_out(above)
        self.tabs.setVisible(self._small)
        self._opens.setVisible(not self._small)
        for widget in self._spare:
            widget.setVisible(not over > 0)
        self._upper.setVisible(above)
        self._lower.setVisible(not open_alone)

    def _lay_out(self, aside_above: bool) -> None:
        users, seed = self._aside
        rows = (
            (self._upper, (self.tabs, None, *(self._aside if aside_above else ()))),
            (
                self._lower,
                (
                    *self._left,
                    *(() if aside_above else (users,)),
                    None,
                    *(() if aside_above else (seed,)),
                    *self._right,
                ),
            ),
        )
        for row, widgets in rows:
            line = row.layout()
            assert isinstance(line, QHBoxLayout)
            while line.count():
                line.takeAt(0)
            for widget in widgets:
                if widget is None:
                    line.addStretch(1)
                else:
                    line.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follow the available width."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Follow longer texts."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)
