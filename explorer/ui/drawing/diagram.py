"""Boxes and the arrows between them, with their text: what follows from what."""

import math

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.figures import style
from explorer.studies.base.study import Diagram, Node

_HEAD = 8.0
_PAD = 7.0
_APART = 13.0
"""Between two arrows that join the same boxes."""


class DiagramView(QWidget):
    """A picture of a `Diagram`, as large as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._diagram = Diagram((), ())
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def show_diagram(self, diagram: Diagram, title: str) -> None:
        """Show a diagram; a screen reader gets it as text."""
        self._diagram = diagram
        self.setMinimumWidth(30 * self.fontMetrics().averageCharWidth())
        self.setAccessibleName(title)
        said = [f"{a.start} to {a.end}: {a.text}" for a in diagram.arrows]
        self.setAccessibleDescription("; ".join(said))
        self.setToolTip("<p>" + "<br>".join(said) + "</p>")
        self.update()

    def boxes(self) -> dict[str, QRectF]:
        """Return where the boxes stand, in pixels from the upper left corner."""
        metrics = QFontMetricsF(self.font())
        found = {}
        for node in self._diagram.nodes:
            lines = node.text.split("\n")
            width = max(metrics.horizontalAdvance(line) for line in lines) + 2 * _PAD
            height = len(lines) * metrics.lineSpacing() + _PAD
            x = _PAD + width / 2 + node.x * max(self.width() - width - 2 * _PAD, 0.0)
            y = height / 2 + 2 + (1.0 - node.y) * max(self.height() - height - 4, 0.0)
            found[node.key] = QRectF(x - width / 2, y - height / 2, width, height)
        return found

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        theme = style.DARK if palette.base().color().lightness() < 128 else style.LIGHT
        ink = palette.color(QPalette.ColorRole.WindowText)
        boxes = self.boxes()
        for node in self._diagram.nodes:
            self._draw_box(painter, node, boxes[node.key], QColor(theme.grid), ink)
        seen: dict[frozenset[str], int] = {}
        for arrow in self._diagram.arrows:
            ends = frozenset((arrow.start, arrow.end))
            turn = seen[ends] = seen.get(ends, 0) + 1
            several = sum(frozenset((a.start, a.end)) == ends for a in self._diagram.arrows) > 1
            shift = (turn - 1.5) * _APART if several else 0.0
            line = _between(boxes[arrow.start], boxes[arrow.end], shift)
            colour = ink if arrow.holds else QColor(theme.curves[1])
            self._draw_arrow(painter, *line, colour)
            self._draw_text(painter, *line, arrow.text, shift, ink)
        painter.end()

    def _draw_box(
        self, painter: QPainter, node: Node, box: QRectF, border: QColor, ink: QColor
    ) -> None:
        painter.setPen(QPen(border, 1))
        painter.setBrush(self.palette().base())
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(ink)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, node.text)

    def _draw_arrow(self, painter: QPainter, start: QPointF, end: QPointF, ink: QColor) -> None:
        painter.setPen(QPen(ink, 1.2))
        painter.drawLine(start, end)
        angle = math.atan2(end.y() - start.y(), end.x() - start.x())
        sides = [angle + math.pi - 0.4, angle + math.pi + 0.4]
        head = [
            end,
            *(QPointF(end.x() + _HEAD * math.cos(a), end.y() + _HEAD * math.sin(a)) for a in sides),
        ]
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(head))

    def _draw_text(
        self, painter: QPainter, start: QPointF, end: QPointF, text: str, shift: float, ink: QColor
    ) -> None:
        metrics = QFontMetricsF(self.font())
        width, height = metrics.horizontalAdvance(text), metrics.lineSpacing()
        middle = QLineF(start, end).center()
        if abs(end.x() - start.x()) > abs(end.y() - start.y()):
            corner = QPointF(middle.x() - width / 2, middle.y() - height - 1)
        else:
            # Beside the column, on the inner side; of two arrows one line of text each.
            left = middle.x() > self.width() / 2
            x = start.x() - shift + (-1 if left else 1) * (abs(shift) + 6) - left * width
            lower = math.copysign(0.55, shift) * height if shift else 0.0
            corner = QPointF(x, middle.y() + lower - height / 2)
        painter.setPen(ink)
        painter.drawText(QRectF(corner.x(), corner.y(), width + 1, height), 0, text)


def _between(a: QRectF, b: QRectF, shift: float) -> tuple[QPointF, QPointF]:
    """Return an arrow from the edge of one box to that of another, both in a row or a column."""
    if abs(a.center().x() - b.center().x()) > abs(a.center().y() - b.center().y()):
        right = b.center().x() > a.center().x()
        y = (a.center().y() + b.center().y()) / 2 + shift
        first, second = (a.right(), b.left()) if right else (a.left(), b.right())
        return QPointF(first, y), QPointF(second, y)
    down = b.center().y() > a.center().y()
    x = (a.center().x() + b.center().x()) / 2 + shift
    first, second = (a.bottom(), b.top()) if down else (a.top(), b.bottom())
    return QPointF(x, first), QPointF(x, second)
