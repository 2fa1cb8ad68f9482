"""A few words at a place of a plot, on a ground of their own."""

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QGuiApplication, QPainter
from PySide6.QtWidgets import QGraphicsItem

_MARGIN = 4.0


class PlotLabel(pg.GraphicsObject):
    """One line of text, upright and as big whatever part of the plot is shown.

    A `pyqtgraph.TextItem` lays out a document for each new text and draws a polygon below it, which
    takes as long as four curves.

    Parameters
    ----------
    view : ViewBox
        In whose coordinates it stands.
    depth : float
        Its place above or below the other items.
    anchor : (float, float)
        Which place of the tag stands where it is put: (0, 0) is its upper left corner.
    """

    def __init__(self, view: pg.ViewBox, depth: float, anchor: tuple[float, float]) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)
        self.setZValue(depth)
        self._text = ""
        self._anchor = anchor
        self._font = QGuiApplication.font()
        self._metrics = QFontMetricsF(self._font)
        self._area = QRectF()
        self._start = QPointF()
        self._colour, self._ground = QColor(), QBrush()
        view.addItem(self, ignoreBounds=True)

    def text(self) -> str:
        """Return what is written."""
        return self._text

    def set_look(self, colour: str, ground: QColor) -> None:
        """Write in this colour on that one."""
        self._colour, self._ground = QColor(colour), QBrush(ground)
        self.update()

    def set_text(self, text: str) -> None:
        """Write something else."""
        if text != self._text:
            self._text = text
            self._measure()

    def set_anchor(self, anchor: tuple[float, float]) -> None:
        """Let another place of the tag stand where it is put."""
        if anchor != self._anchor:
            self._anchor = anchor
            self._measure()

    def _measure(self) -> None:
        metrics = self._metrics
        width = metrics.horizontalAdvance(self._text) + 2 * _MARGIN
        height = metrics.height() + 2 * _MARGIN
        self.prepareGeometryChange()
        self._area = QRectF(-self._anchor[0] * width, -self._anchor[1] * height, width, height)
        self._start = self._area.topLeft() + QPointF(_MARGIN, _MARGIN + metrics.ascent())
        self.update()

    def boundingRect(self) -> QRectF:
        """Return what is drawn over, in pixels from where it stands."""
        return self._area

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw."""
        painter.fillRect(self._area, self._ground)
        painter.setFont(self._font)
        painter.setPen(self._colour)
        painter.drawText(self._start, self._text)
