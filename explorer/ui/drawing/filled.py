"""Areas, bands and bars: filled shapes that keep their hatching whatever part is shown."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

from explorer.figures.geometry import runs

PATTERNS = {
    "/": Qt.BrushStyle.BDiagPattern,
    "\\": Qt.BrushStyle.FDiagPattern,
    "x": Qt.BrushStyle.DiagCrossPattern,
    "-": Qt.BrushStyle.HorPattern,
    "|": Qt.BrushStyle.VerPattern,
    "+": Qt.BrushStyle.CrossPattern,
    ".": Qt.BrushStyle.Dense6Pattern,
}
"""Qt's patterns for the signs of `explorer.figures.style.HATCHES`."""


class FilledItem(pg.GraphicsObject):
    """A shape with a wash, a hatch in pixels and an outline; stays in the scene, changes its path.

    Parameters
    ----------
    view : ViewBox
        In whose coordinates the path is.
    depth : float
        Its place above or below the other items.
    """

    def __init__(self, view: pg.ViewBox, depth: float) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._bounds = QRectF()
        self._wash = QBrush()
        self._hatch: QBrush | None = None
        self._outline = QPen(Qt.PenStyle.NoPen)
        self.setZValue(depth)
        view.addItem(self, ignoreBounds=True)

    def set_look(
        self,
        colour: str,
        wash: int,
        hatch: str = "",
        strength: int = 0,
        outline: QPen | None = None,
    ) -> None:
        """Choose wash (opacity of 255), hatch (a sign, its opacity) and outline."""
        fill, lines = QColor(colour), QColor(colour)
        fill.setAlpha(wash)
        lines.setAlpha(strength)
        self._wash = QBrush(fill)
        self._hatch = QBrush(lines, PATTERNS[hatch]) if hatch else None
        self._outline = outline if outline is not None else QPen(Qt.PenStyle.NoPen)
        self.update()

    def set_path(self, path: QPainterPath) -> None:
        """Fill this path from now on."""
        self.prepareGeometryChange()
        self._path = path
        self._bounds = path.boundingRect()
        self.update()

    @property
    def path(self) -> QPainterPath:
        """What is filled, in view coordinates."""
        return self._path

    def boundingRect(self) -> QRectF:
        """Return what is drawn over, in the view's coordinates."""
        return self._bounds

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw."""
        if self._path.isEmpty():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(self._path, self._wash)
        if self._hatch is not None:
            # Back to pixels: a pattern would be stretched with the view.
            self._hatch.setTransform(painter.transform().inverted()[0])
            painter.fillPath(self._path, self._hatch)
        if self._outline.style() != Qt.PenStyle.NoPen:
            painter.setPen(self._outline)
            painter.drawPath(self._path)


def between(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> QPainterPath:
    """Return what lies between two edges; each stretch without a NaN is a shape of its own."""
    path = QPainterPath()
    for run in runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
        xs = x[run]
        if len(xs) < 2:
            continue
        outline = np.column_stack([np.r_[xs, xs[::-1]], np.r_[high[run], low[run][::-1]]])
        path.addPolygon(QPolygonF([QPointF(*p) for p in outline.tolist()]))
        path.closeSubpath()
    return path


def columns(left: np.ndarray, right: np.ndarray, base: float, top: np.ndarray) -> QPainterPath:
    """Return bars from a base to their tops; none where a top or an edge is NaN."""
    path = QPainterPath()
    there = np.isfinite(left) & np.isfinite(right) & np.isfinite(top)
    for a, b, y in zip(left[there], right[there], top[there], strict=True):
        path.addRect(QRectF(QPointF(a, min(base, y)), QPointF(b, max(base, y))))
    return path
