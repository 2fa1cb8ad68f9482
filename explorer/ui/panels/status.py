"""The row at the bottom of the window: how far the answer is, what runs, of which data."""

from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from explorer.ui.controllers.activity import Activity, ActivityBar
from explorer.ui.widgets.still_label import StillLabel


class StatusRow(QWidget):
    """What is shown of the answer in front, in one row.

    A row of its own because the status bar lets items overlap and cuts the first.

    Attributes
    ----------
    answer : StillLabel
        How good the answer is and how long it took.
    data : QLabel
        The check-ins that it is about, if it is about any.
    badge : QLabel
        What must be said of it wherever it is shown; hidden if nothing must.
    """

    def __init__(self, activity: Activity, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer = StillLabel()
        self.answer.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.answer.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.answer.setFixedWidth(
            self.answer.fontMetrics().horizontalAdvance("coarse · 9,999 ms…") + 4
        )
        self.data = QLabel(objectName="muted")
        self.data.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.badge = QLabel(objectName="badge")
        self.badge.hide()
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 6, 0)
        line.setSpacing(14)
        line.addWidget(self.answer)
        line.addWidget(ActivityBar(activity))
        line.addWidget(self.data, 1)
        line.addWidget(self.badge)
