"""Thumbnails of presets, stored as lines and cells and painted in the theme's colours.

``python resources/make_thumbnails.py`` writes them from answers with few points. As vectors they
are sharp at any scale.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.figures.style import DASHES, Theme, theme
from explorer.privacy.core.bound import Role
from explorer.resources import resource_bytes
from explorer.studies.base.result import Mark

STEPS = 1000
"""Resolution of a thumbnail's width and height."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of a thumbnail.

    Attributes
    ----------
    place : int
        Index of its colour in the legend.
    role : Role
    mark : Mark
    x, y : tuple of int
        From 0 (left, bottom) to `STEPS`; y is negative for missing values.
    """

    place: int
    role: Role
    mark: Mark
    x: tuple[int, ...]
    y: tuple[int, ...]

    def colour(self, theme_name: str) -> str:
        """Return its colour, as in the window."""
        colours = theme(theme_name).curves
        return colours[self.place % len(colours)]


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """Thumbnail of a preset: curves, or the cells of a map.

    Attributes
    ----------
    lines : tuple of Line
    cells : ndarray of uint8, shape (rows, columns), or None
        Colour indices of the cells; row 0 south.
    """

    lines: tuple[Line, ...] = ()
    cells: NDArray[np.uint8] | None = None


def thumbnail(study_id: str, key: str) -> Thumbnail | None:
    """Return the thumbnail of a preset; None if there is none."""
    entry = _entries().get(f"{study_id}/{key}")
    return None if entry is None else _read(entry)


@cache
def _entries() -> dict[str, Any]:
    entries: dict[str, Any] = json.loads(zlib.decompress(resource_bytes("thumbnails.json.z")))
    return entries


def _read(entry: dict[str, Any]) -> Thumbnail:
    if "cells" in entry:
        flat = np.frombuffer(base64.b64decode(entry["cells"]), np.uint8)
        return Thumbnail(cells=flat.reshape(entry["rows"], -1))
    lines = (
        Line(place, Role(role), Mark(mark), tuple(x), tuple(y))
        for place, role, mark, x, y in entry["lines"]
    )
    return Thumbnail(tuple(lines))


_INSIDE = 5.0
"""Margin in pixels between frame and curves."""


def paint(painter: QPainter, box: QRectF, drawn: Thumbnail | None, plot: Theme) -> None:
    """Paint a thumbnail into a rectangle; only axes if there is none."""
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
    """Return the runs of consecutive points."""
    runs: list[list[QPointF]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
