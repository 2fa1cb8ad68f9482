"""The row at the bottom of the window: how far the answer is, what runs, of which data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.controllers.activity import Activity, ActivityBar
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


class StatusRow(QWidget):
    """What is shown of the answer in front, in one row.

    A row of its own because the status bar lets items overlap and cuts the first.

    Attributes
    ----------
    answer : FixedSizeLabel
        How good the answer is and how long it took.
    data : QLabel
        The check-ins that it is about, if it is about any.
    aside : QToolButton
        How many rows of them were rejected, if any: a click is to show which. They are rows about
        people, so nothing shows them by itself.
    badge : QLabel
        What must be said of it wherever it is shown; hidden if nothing must.
    """

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self.answer = FixedSizeLabel()
        self.answer.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.answer.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.answer.setFixedWidth(
            self.answer.fontMetrics().horizontalAdvance("coarse · 9,999 ms…") + 4
        )
        self.data = styled_label("muted")
        self.data.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.aside = tool_button(
            "", "What was kept of the file, what was rejected and why", quiet=True
        )
        self.aside.hide()
        self.badge = styled_label("badge")
        self.badge.hide()
        self.hint = styled_label("faint", "F6 next pane · ? keys")
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 6, 0)
        line.setSpacing(14)
        line.addWidget(self.answer)
        line.addWidget(ActivityBar(activity))
        line.addWidget(self.hint)
        line.addWidget(self.data, 1)
        line.addWidget(self.aside)
        line.addWidget(self.badge)

    def show_stamp(self, stamp: str) -> None:
        """Show what must be said of the answer; nothing if that is empty."""
        if stamp != self.badge.text():
            self.badge.setText(stamp)
        if self.badge.isHidden() == bool(stamp):
            self.badge.setVisible(bool(stamp))

    def show_data(self, title: str, data: CheckinData | None) -> None:
        """Name check-ins, or none, and say how much of them was rejected."""
        self.data.setText(title)
        self.hint.setVisible(not title)  # there is room for one of them
        count = data.report.total_set_aside if data is not None else 0
        self.aside.setText(f"{count:,} row{'s' * (count != 1)} rejected · Show…")
        self.aside.setVisible(count > 0)
