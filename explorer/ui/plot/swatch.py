"""Legend swatch of a curve."""

from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.figures.style import SeriesStyle
from explorer.studies.base.study import Mark
from explorer.ui.plot.curves import DOT_SIZE, PATTERNS, SYMBOLS, pen_of


class Swatch(QWidget):
    """Sample of a series: a line, a dot with error bar, bars or an area."""

    def __init__(self) -> None:
        super().__init__()
        self.style_shown: SeriesStyle | None = None
        self.mark = Mark.LINE
        self.banded = False
        self.setFixedSize(QSize(34, 14))

    def set_style(self, style: SeriesStyle, mark: Mark = Mark.LINE, banded: bool = False) -> None:
        """Set style and mark, with or without band or error bar."""
        if (style, mark, banded) != (self.style_shown, self.mark, self.banded):
            self.style_shown, self.mark, self.banded = style, mark, banded
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the swatch."""
        style = self.style_shown
        if style is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = pen_of(style, ratio=self.devicePixelRatioF())
        middle = QRectF(self.rect()).center().y()
        if self.mark is Mark.DOTS:
            self._paint_dot(painter, style, middle)
        elif self.mark is Mark.BARS:
            for left, height in ((4, 8), (14, 12), (24, 5)):
                bar = QRectF(left, self.height() - height - 1, 7, height)
                _fill(painter, style, bar, 70, 150)
                painter.setPen(QPen(pen.color(), 1.2))
                painter.drawRect(bar)
        else:
            inside = QRectF(1, 1, self.width() - 2, self.height() - 2)
            if self.mark is Mark.AREA:
                _fill(painter, style, inside, 36, 105)
                middle = 1.5
            elif self.banded:
                _fill(painter, style, inside, 45, 0)
            painter.setPen(pen)
            painter.drawLine(QPointF(1, int(middle)), QPointF(self.width() - 1, int(middle)))

    def _paint_dot(self, painter: QPainter, style: SeriesStyle, middle: float) -> None:
        x, colour = self.width() / 2, QColor(style.colour)
        painter.setPen(QPen(colour, 1.3))
        if self.banded:
            painter.drawLine(QPointF(x, 1), QPointF(x, self.height() - 1))
            for y in (1.0, self.height() - 1.0):
                painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.translate(x, middle)
        painter.scale(DOT_SIZE, DOT_SIZE)
        painter.drawPath(Symbols[SYMBOLS[style.marker]])


def _fill(painter: QPainter, style: SeriesStyle, area: QRectF, wash: int, strength: int) -> None:
    colour = QColor(style.colour)
    colour.setAlpha(wash)
    painter.fillRect(area, colour)
    if strength:
        colour.setAlpha(strength)
        painter.fillRect(area, QBrush(colour, PATTERNS[style.hatch]))


class ElidedLabel(QLabel):
    """Line of text, elided in the middle."""

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setMinimumWidth(40)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_strong(self, strong: bool) -> None:
        """Set bold or normal weight."""
        font = self.font()
        if font.bold() != strong:
            font.setBold(strong)
            self.setFont(font)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        fitting = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, self.width()
        )
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, fitting)
