"""What the curves say under the pointer."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QWidget

AWAY = 24
"""Pixels between the pointer and the table."""
_MARGIN = 8
_ON_NEAREST = 1000
"""How much more a point of the nearest curve below the table counts."""


class Crosshair:
    """Two thin lines in a view and a small table in its emptiest corner.

    Parameters
    ----------
    view : ViewBox
    parent : QWidget
        On which the table floats.
    """

    def __init__(self, view: pg.ViewBox, parent: QWidget) -> None:
        self._view = view
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

    def show(
        self,
        at: QPoint,
        x: float,
        y: float,
        text: str,
        curves: Sequence[tuple[np.ndarray, np.ndarray]] = (),
        nearest: int | None = None,
    ) -> None:
        """Stand at a point of the view (and of the parent widget) with this text.

        Parameters
        ----------
        at : QPoint
        x, y : float
        text : str
        curves : sequence of (ndarray, ndarray)
            x and y of what is drawn, in view coordinates: the table keeps away from it,
        nearest : int or None
            most of all from this one.
        """
        self._lines[0].setPos(x)
        self._lines[1].setPos(y)
        for line in self._lines:
            line.show()
        self.table.setText(text)
        self.table.adjustSize()
        self.table.move(self._place(at, self.table.size(), curves, nearest))
        self.table.show()

    def _place(
        self,
        at: QPoint,
        size: QSize,
        curves: Sequence[tuple[np.ndarray, np.ndarray]],
        nearest: int | None,
    ) -> QPoint:
        """Return the upper left corner of the emptiest place that keeps off the pointer."""
        area = self._view.sceneBoundingRect()
        (x0, x1), (y0, y1) = self._view.viewRange()
        room = area.toRect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        right, low = room.right() - size.width(), room.bottom() - size.height()
        places = [
            QPoint(room.left(), room.top()),
            QPoint(right, room.top()),
            QPoint(room.left(), low),
            QPoint(right, low),
        ]
        points = [
            (
                area.left() + (xs - x0) / (x1 - x0) * area.width(),
                area.top() + (y1 - ys) / (y1 - y0) * area.height(),
            )
            for xs, ys in curves
        ]

        def covered(place: QPoint) -> int:
            box = QRect(place, size)
            return sum(
                (_ON_NEAREST if number == nearest else 1)
                * int(
                    np.count_nonzero(
                        (px >= box.left())
                        & (px <= box.right())
                        & (py >= box.top())
                        & (py <= box.bottom())
                    )
                )
                for number, (px, py) in enumerate(points)
            )

        free = [
            p for p in places if not QRect(p, size).adjusted(-AWAY, -AWAY, AWAY, AWAY).contains(at)
        ]
        if free:
            return min(free, key=covered)
        # The table is nearly as large as the plot: beside the pointer, on the roomier side.
        around = self.table.parentWidget()  # a view may have got another one meanwhile
        assert around is not None
        wide, high = around.width(), around.height()
        left = at.x() + AWAY if at.x() < wide / 2 else at.x() - AWAY - size.width()
        return QPoint(left, min(max(at.y() - size.height() // 2, 4), high - size.height() - 4))

    def hide(self) -> None:
        """Go away until shown again."""
        for line in self._lines:
            line.hide()
        self.table.hide()
