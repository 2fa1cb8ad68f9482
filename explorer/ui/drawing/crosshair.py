"""What the curves say under the pointer."""

import pyqtgraph as pg
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QWidget


class Crosshair:
    """Two thin lines in a view and a small table beside the pointer.

    Parameters
    ----------
    view : ViewBox
    parent : QWidget
        On which the table floats.
    """

    def __init__(self, view: pg.ViewBox, parent: QWidget) -> None:
        self._parent = parent
        self._lines = [pg.InfiniteLine(angle=angle, movable=False) for angle in (90, 0)]
        for line in self._lines:
            line.setZValue(20)
            line.hide()
            view.addItem(line, ignoreBounds=True)
        self.table = QLabel(parent, textFormat=Qt.TextFormat.RichText)
        self.table.setObjectName("readout")
        self.table.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.table.hide()

    def set_colour(self, colour: str) -> None:
        """Draw the lines in this colour."""
        for line in self._lines:
            line.setPen(pg.mkPen(colour, width=1, style=Qt.PenStyle.DotLine))

    def show(self, at: QPoint, x: float, y: float, text: str) -> None:
        """Stand at a point of the view (and of the parent widget) with this text."""
        self._lines[0].setPos(x)
        self._lines[1].setPos(y)
        for line in self._lines:
            line.show()
        self.table.setText(text)
        self.table.adjustSize()
        size, room = self.table.size(), self._parent.size()
        left = at.x() + 16
        if left + size.width() > room.width() - 4:
            left = at.x() - 16 - size.width()
        top = at.y() + 14
        if top + size.height() > room.height() - 4:
            top = at.y() - 14 - size.height()
        self.table.move(max(left, 4), max(top, 4))
        self.table.show()

    def hide(self) -> None:
        """Go away until shown again."""
        for line in self._lines:
            line.hide()
        self.table.hide()
