"""A chip that says that what is shown answers another question; what it is about is drawn faintly.

It lies over a corner and not in a layout: nothing moves while it comes and goes.
"""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from explorer.ui.widgets.dimmed import OPACITY, dim

LAST = "This is the last answer there was, not one to the present question."
UPDATING = "updating…"
_MARGIN = 8


class StaleMark(QLabel):
    """Hidden while what is shown is about the present question.

    Parameters
    ----------
    over : QWidget
        Over whose upper right corner it lies.
    texts : sequence of QWidget
        What to draw faintly.
    view : pyqtgraph.ViewBox, optional
        Curves to draw faintly.
    """

    def __init__(
        self, over: QWidget, texts: Sequence[QWidget], view: pg.ViewBox | None = None
    ) -> None:
        super().__init__(over, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setObjectName("notes")
        self._texts, self._view = texts, view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def mark(self, stale: bool, updating: bool) -> None:
        """Mark what is shown, or take the mark away; `updating` if an answer is on its way."""
        self.setText(UPDATING if updating else LAST)
        self.setWordWrap(not updating)
        self._place()
        self.setVisible(stale)
        if self._view is not None:
            self._view.setOpacity(OPACITY if stale else 1.0)
        for part in self._texts:
            dim(part, stale)

    def _place(self) -> None:
        # Asked for anew: Python's handle of a scroll area's viewport may not outlive the call.
        over = self.parentWidget()
        room = (over.width() if over is not None else 0) - 2 * _MARGIN
        width = min(self.fontMetrics().horizontalAdvance(self.text()) + 28, room)
        wrapped = self.heightForWidth(width)
        self.resize(width, wrapped if wrapped > 0 else self.sizeHint().height())
        self.move(_MARGIN + room - width, _MARGIN)
        self.raise_()
