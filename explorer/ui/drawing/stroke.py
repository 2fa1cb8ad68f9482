"""Lines and hollow marks of curves: items that are cheap to move and to paint.

What `pyqtgraph` has for them works out its bounds anew several times a frame, which takes longer
than drawing. These say that they cover whatever part of the plot is shown: all of that is painted
again anyway when curves move.
"""

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import create_qpolygonf, ndarray_from_qpolygonf
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPen, QPolygonF

from explorer.figures.geometry import runs


class _OverAll(pg.GraphicsObject):
    """Something that may be drawn anywhere in the part of the plot that is shown."""

    def __init__(self, view: pg.ViewBox, depth: float) -> None:
        super().__init__()
        self._view = view
        self._shown = QRectF()
        self.setZValue(depth)
        view.addItem(self, ignoreBounds=True)

    def viewTransformChanged(self) -> None:
        """Cover the part that is shown now."""
        super().viewTransformChanged()
        shown = self._view.viewRect()
        if shown != self._shown:
            self.prepareGeometryChange()
            self._shown = shown

    def boundingRect(self) -> QRectF:
        """Return what is drawn over, in the view's coordinates."""
        return self._shown


class StrokeItem(_OverAll):
    """Joined points, left out where a coordinate is not finite; stays in the scene.

    Parameters
    ----------
    view : ViewBox
        In whose coordinates the points are.
    depth : float
        Its place above or below the other items.
    pairs : bool
        Whether the points are ends of separate pieces, two and two, instead of one line.

    Attributes
    ----------
    x, y : ndarray
        The points.
    pen : QPen
    """

    def __init__(self, view: pg.ViewBox, depth: float, pairs: bool = False) -> None:
        super().__init__(view, depth)
        self._pairs = pairs
        self._path = QPainterPath()
        self.x = self.y = np.empty(0)
        self.pen = QPen(Qt.PenStyle.NoPen)

    def set_pen(self, pen: QPen) -> None:
        """Draw with this pen from now on."""
        self.pen = pen
        self.update()

    def set_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Join these points from now on."""
        if not (len(x) or len(self.x)):
            return
        self.x, self.y = x, y
        path = QPainterPath()
        there = np.isfinite(x) & np.isfinite(y)
        if self._pairs:
            pieces = [slice(i, i + 2) for i in range(0, len(x), 2) if there[i : i + 2].all()]
        else:
            pieces = [slice(0, len(x))] if len(x) and there.all() else runs(there)
        for piece in pieces:
            path.addPolygon(_polygon(x[piece], y[piece]))
        self._path = path
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw."""
        if len(self.x):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self.pen)
            painter.drawPath(self._path)


class HollowMarks(_OverAll):
    """A few small circles, as big whatever part of the plot is shown.

    Parameters
    ----------
    view : ViewBox
        In whose coordinates their centres are.
    depth : float
        Their place above or below the other items.
    size : float
        Diameter in pixels.

    Attributes
    ----------
    points : list of QPointF
        Their centres.
    """

    def __init__(self, view: pg.ViewBox, depth: float, size: float) -> None:
        super().__init__(view, depth)
        self._circle = QRectF(-size / 2, -size / 2, size, size)
        self._pen, self._brush = QPen(), QBrush()
        self.points: list[QPointF] = []

    def set_look(self, pen: QPen, brush: QBrush) -> None:
        """Draw with this pen and fill with this brush from now on."""
        self._pen, self._brush = pen, brush
        self.update()

    def set_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Stand here from now on."""
        points = [QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]
        if points != self.points:
            self.points = points
            self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._pen)
        painter.setBrush(self._brush)
        to_pixels = painter.transform()
        painter.resetTransform()
        for point in self.points:
            painter.drawEllipse(self._circle.translated(to_pixels.map(point)))


def _polygon(x: np.ndarray, y: np.ndarray) -> QPolygonF:
    polygon: QPolygonF = create_qpolygonf(len(x))
    points = ndarray_from_qpolygonf(polygon)
    points[:, 0], points[:, 1] = x, y
    return polygon
