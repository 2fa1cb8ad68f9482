"""A check box whose edge and tick are seen in light and dark alike."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QCheckBox, QStyle, QStyleOptionButton


class CheckBox(QCheckBox):
    """Draws the tick for which the style sheet, which draws the box, has no picture."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw."""
        super().paintEvent(event)
        if not self.isChecked():
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        part = QStyle.SubElement.SE_CheckBoxIndicator
        box = self.style().subElementRect(part, option, self).toRectF()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().highlightedText().color(), 1.8))
        painter.drawPolyline(
            QPolygonF(
                [
                    box.topLeft() + QPointF(x * box.width(), y * box.height())
                    for x, y in ((0.24, 0.52), (0.43, 0.70), (0.77, 0.31))
                ]
            )
        )
