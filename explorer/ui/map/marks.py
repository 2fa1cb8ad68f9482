"""What is drawn on a map above its cells, in pixels: points, numbered centres, squares, borders."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen

from explorer.studies.base.study import Overlay
from explorer.ui.drawing.map_style import MapStyle
from explorer.ui.map.dots import dot_pixels
from explorer.ui.map.overlay import Stamp, blank
from explorer.ui.map.region_tool import PixelBox

DOT = 2
"""Pixels on a side of a point that bears no number."""


def overlay_stamp(
    overlay: Overlay,
    covered: PixelBox,
    width: float,
    height: float,
    font: QFont,
    style: MapStyle,
    ratio: float,
) -> Stamp:
    """Return a map's overlay as a picture of the whole pane.

    Parameters
    ----------
    covered : PixelBox
        Where the map lies.
    width, height : float
        Of the pane.
    """
    across, up = covered.right - covered.left, covered.bottom - covered.top
    pixmap = blank(width, height, ratio)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    fill = QColor(style.region)
    fill.setAlpha(180)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    for row, column, side in overlay.squares.tolist():
        x, y = covered.left + column * across, covered.bottom - row * up
        painter.drawRect(QRectF(x - side * across / 2, y - side * up / 2, side * across, side * up))
    lines = [
        QLineF(
            covered.left + a * across,
            covered.bottom - r * up,
            covered.left + b * across,
            covered.bottom - s * up,
        )
        for r, a, s, b in overlay.borders.tolist()
    ]
    for colour, wide in ((style.halo, 3.5), (style.label, 1.5)):
        painter.setPen(QPen(colour, wide))
        painter.drawLines(lines)
    x = covered.left + overlay.points[:, 1] * across
    y = covered.bottom - overlay.points[:, 0] * up
    if overlay.numbered:
        _numbered(painter, x, y, font, style)
    else:
        image = _image(dot_pixels(_counts(x, y, width, height), style.region))
        painter.drawImage(QRectF(0, 0, DOT * image.width(), DOT * image.height()), image)
    painter.end()
    return Stamp(pixmap, 0.0, 0.0)


def _numbered(
    painter: QPainter, x: np.ndarray, y: np.ndarray, font: QFont, style: MapStyle
) -> None:
    """Draw few points, each as a disc with its number."""
    painter.setFont(font)
    radius = 0.62 * painter.fontMetrics().height()
    for number, (right, down) in enumerate(zip(x.tolist(), y.tolist(), strict=True), 1):
        room = QRectF(right - radius, down - radius, 2 * radius, 2 * radius)
        painter.setBrush(style.background)
        painter.setPen(QPen(style.label, 1.5))
        painter.drawEllipse(QPointF(right, down), radius, radius)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, str(number))


def _counts(x: np.ndarray, y: np.ndarray, width: float, height: float) -> np.ndarray:
    """Return how many points lie in squares of the pane, row 0 at the top.

    A picture for all of them: a hundred thousand take no longer to paint than ten.
    """
    columns, rows = max(1, int(width) // DOT), max(1, int(height) // DOT)
    column, row = (x // DOT).astype(np.int64), (y // DOT).astype(np.int64)
    seen = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    return np.bincount(row[seen] * columns + column[seen], minlength=rows * columns).reshape(
        rows, columns
    )


def _image(pixels: np.ndarray) -> QImage:
    rows, columns, _ = pixels.shape
    return QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
