"""Paints the small picture of a preset in the theme's colours."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.figures.style import DASHES, Theme
from explorer.studies.base.result import Mark
from explorer.ui.gallery.thumbnails import STEPS, Line, Thumbnail

_INSIDE = 5.0
"""Pixels between frame and curves."""


def paint(painter: QPainter, box: QRectF, drawn: Thumbnail | None, plot: Theme) -> None:
    """Paint a small picture into a rectangle; axes alone where there is none."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if drawn is not None and drawn.cells is not None:
        _paint_map(painter, box, drawn)
    else:
        painter.fillRect(box, QColor(plot.axes))
        inside = box.adjusted(_INSIDE, _INSIDE, -_INSIDE, -_INSIDE)
        for line in drawn.lines if drawn is not None else ():
            _paint_line(painter, inside, line, QColor(line.colour(plot.name)))
        painter.setPen(QPen(QColor(plot.frame), 1.0))
        painter.drawPolyline(QPolygonF([box.topLeft(), box.bottomLeft(), box.bottomRight()]))
    painter.restore()


def _paint_map(painter: QPainter, box: QRectF, drawn: Thumbnail) -> None:
    assert drawn.cells is not None
    shades = colour_table(COLOUR_MAPS[0])[drawn.cells[::-1]]
    pixels = np.ascontiguousarray(shades, np.uint8)
    rows, columns = pixels.shape[:2]
    image = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
    painter.fillRect(box, QColor(*map(int, colour_table(COLOUR_MAPS[0])[0])))
    side = min(box.width(), box.height())
    middle = QRectF(0, 0, side, side)
    middle.moveCenter(box.center())
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(middle, image)


def _paint_line(painter: QPainter, inside: QRectF, line: Line, colour: QColor) -> None:
    points = [
        QPointF(
            inside.left() + inside.width() * x / STEPS,
            inside.bottom() - inside.height() * y / STEPS,
        )
        if y >= 0
        else None
        for x, y in zip(line.x, line.y, strict=True)
    ]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if line.mark is Mark.DOTS:
        painter.setPen(QPen(colour, 3.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawPoints([p for p in points if p is not None])
        return
    if line.mark is Mark.BARS:
        painter.setPen(QPen(colour, 3.0))
        for point in points:
            if point is not None:
                painter.drawLine(QPointF(point.x(), inside.bottom()), point)
        return
    pen = QPen(colour, 1.6)
    if DASHES[line.role]:
        pen.setDashPattern(DASHES[line.role])
    painter.setPen(pen)
    for run in _runs(points):
        if len(run) == 1:
            painter.drawEllipse(run[0], 1.2, 1.2)
        else:
            painter.drawPolyline(QPolygonF(run))


def _runs(points: list[QPointF | None]) -> list[list[QPointF]]:
    """Return points that follow each other without a gap."""
    runs: list[list[QPointF]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
