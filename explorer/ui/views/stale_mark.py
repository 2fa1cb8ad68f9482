"""A line that says that what is drawn answers another question, and shows it."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtWidgets import QLabel, QWidget

from explorer.ui.widgets.dimmed import OPACITY, dim

LAST = "This is the last answer there was, not one to the present question."
UPDATING = "Updating… These curves and numbers are about other values."


class StaleMark(QLabel):
    """Hidden while plot and numbers are about the present question.

    Parameters
    ----------
    view : pyqtgraph.ViewBox
        Where curves are drawn.
    numbers : sequence of QWidget
    """

    def __init__(self, view: pg.ViewBox, numbers: Sequence[QWidget]) -> None:
        super().__init__(LAST, objectName="notes")
        self._view, self._numbers = view, numbers
        self.hide()

    def mark(self, stale: bool, updating: bool) -> None:
        """Mark what is drawn, or take the mark away; `updating` if an answer is on its way."""
        self.setText(UPDATING if updating else LAST)
        self.setVisible(stale)
        self._view.setOpacity(OPACITY if stale else 1.0)
        for part in self._numbers:
            dim(part, stale)
