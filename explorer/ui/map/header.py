"""What stands above a pane: its title, what kind of picture it is, and a menu to change it."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from explorer.ui.base.styled import plain_label, plain_tip, tool_button
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel

_LEFT_OUT = re.compile(r", ε = [^,]*| \(.*\)| of \d+ draws")
"""Of a title without room: what is the same for all maps, and what the tool tip explains."""
_GAP = 14
"""Pixels of a header that are neither title, badge nor button."""


class PaneHeader(QWidget):
    """Title of a pane, a badge that says what kind of picture it is, and a button with a menu.

    The title comes first: where both do not fit side by side the badge takes its short form, then
    the title what stands after its colon; at last the badge is a word and the title leaves out ε,
    which is the same for all maps.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._badges: tuple[str, ...] = ("",)
        self._title = ""
        self.title = FixedSizeLabel()
        font = QFont(self.title.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.title.setFont(font)
        self.badge = plain_label()
        self.badge.setObjectName("badge")
        self.badge.setStyleSheet("padding: 2px 5px;")
        self.menu = QMenu(self)
        self.button = tool_button("▾", name="Change or close this map", quiet=True)
        self.button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self.button.setMenu(self.menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 2, 0)
        row.setSpacing(4)
        row.addWidget(self.title, 1)
        row.addWidget(self.badge)
        row.addWidget(self.button)

    def set_kind(self, badges: tuple[str, ...], tip: str) -> None:
        """Say what kind of picture it is, in ever shorter words, and what that means."""
        self._badges, badge = badges, badges[0]
        self.badge.setText(badge)
        self.badge.setToolTip(tip)
        self.badge.setAccessibleName(badge)

    def set_changeable(self, changeable: bool) -> None:
        """Show the button, if something else can be shown here."""
        if self.button.isHidden() is changeable:
            self.button.setVisible(changeable)
            self._choose_form()

    def set_title(self, text: str) -> None:
        """Write another title."""
        if text != self._title:
            self._title = text
            self.title.setToolTip(plain_tip(text))
            self.button.setAccessibleName(f"Change or close: {text}")
            self.button.setToolTip("Show something else here, or close this map")
            self._choose_form()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._choose_form()

    def _choose_form(self) -> None:
        long, *shorter = self._badges
        room = self.width() - _GAP
        room -= 0 if self.button.isHidden() else self.button.sizeHint().width() + 4
        rest = self._title.partition(": ")[2] or self._title
        forms = [(long, self._title), *((badge, self._title) for badge in shorter[:1])]
        forms += [(badge, rest) for badge in shorter]
        forms += [(self._badges[-1], _LEFT_OUT.sub("", rest))]
        metrics = QFontMetrics(self.title.font())
        badge, title = next(
            (
                form
                for form in forms
                if self._badge_width(form[0]) + metrics.horizontalAdvance(form[1]) <= room
            ),
            forms[-1],
        )
        if badge != self.badge.text():
            self.badge.setText(badge)
        self.title.setText(title)
        self.title.setAccessibleName(self._title)

    def _badge_width(self, text: str) -> int:
        metrics = self.badge.fontMetrics()
        frame = self.badge.sizeHint().width() - metrics.horizontalAdvance(self.badge.text())
        return frame + metrics.horizontalAdvance(text)


def short_title(label: str) -> str:
    """Return a surface's label without the word that every pane's title would share."""
    first, colon, rest = label.partition(" heatmap: ")
    return f"{first}: {rest}" if colon else label
