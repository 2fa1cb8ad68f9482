"""Overlays of a map in pixels: city names, scale bar, region box, marks.

Names and bars are drawn once into pixmaps (text with a halo is slow) and only copied while the
heatmap below changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)

from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import KM_PER_DEGREE, scale_bars
from explorer.geography.region import Box, Region, scale_bars_for
from explorer.studies.base.study import Overlay
from explorer.ui.base.theme import MAP_DARK, MapStyle
from explorer.ui.map.layers import dot_pixels
from explorer.ui.map.tools import PixelBox

MARGIN = 3.0
LABELS_AT_MOST = 40


@dataclass(frozen=True)
class Stamp:
    """A pixmap and the position of its top left corner in logical pixels."""

    pixmap: QPixmap
    x: float
    y: float


class TextPainter:
    """Creates pixmaps of text with a halo and caches them."""

    def __init__(self) -> None:
        self._built: dict[tuple[str, str, str, float], QPixmap] = {}

    def text(self, text: str, font: QFont, style: MapStyle, ratio: float) -> QPixmap:
        """Return the pixmap of a text at a device pixel ratio."""
        key = (text, font.key(), style.theme, ratio)
        if key not in self._built:
            if len(self._built) > 600:
                self._built.clear()
            metrics = QFontMetricsF(font)
            width = metrics.horizontalAdvance(text) + 2 * MARGIN
            height = metrics.height() + 2 * MARGIN
            path = QPainterPath()
            path.addText(QPointF(MARGIN, MARGIN + metrics.ascent()), font, text)
            pixmap = blank(width, height, ratio)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            halo = QPen(style.halo, 3.0)
            halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.strokePath(path, halo)
            painter.setPen(style.label)
            painter.setFont(font)
            painter.drawText(QPointF(MARGIN, MARGIN + metrics.ascent()), text)
            painter.end()
            self._built[key] = pixmap
        return self._built[key]


def blank(width: float, height: float, ratio: float) -> QPixmap:
    """Return a transparent pixmap of a size in logical pixels."""
    pixmap = QPixmap(max(1, round(width * ratio)), max(1, round(height * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap


def city_stamps(
    box: Box,
    width: float,
    height: float,
    covered: PixelBox | None,
    texts: TextPainter,
    font: QFont,
    style: MapStyle,
    ratio: float,
) -> list[Stamp]:
    """Return dots and names of the largest cities in view that do not overlap.

    Parameters
    ----------
    box : Box
        South, west, north, east in view.
    width, height : float
        Size of the view in pixels.
    covered : PixelBox or None
        Rectangle of the heatmap (see `in_ink`).
    """
    metrics = QFontMetricsF(font)
    line = metrics.height() + 4
    separation = (min(1.0, 60.0 / max(width, 1)), min(1.0, 1.6 * line / max(height, 1)))
    south, west, north, east = box
    taken: list[QRectF] = []
    stamps: list[Stamp] = []
    for city in shipped_cities().visible(box, LABELS_AT_MOST, separation):
        x = (city.longitude - west) / (east - west) * width
        y = (north - city.latitude) / (north - south) * height
        wide = metrics.horizontalAdvance(city.name) + 2 * MARGIN
        areas = [QRectF(left, y - line / 2 - MARGIN, wide, line) for left in (x + 3, x - 3 - wide)]
        crosses = [covered is not None and _within(area, covered) is None for area in areas]
        # To the right of the dot, unless that crosses the heatmap's edge and the left does not.
        for area in areas[:: -1 if crosses == [True, False] else 1]:
            left = area.left()
            fits = left >= 0 and left + wide <= width and area.top() >= 0
            fits = fits and area.bottom() <= height - 34
            if fits and not any(area.adjusted(-4, 0, 4, 0).intersects(other) for other in taken):
                taken.append(area.united(QRectF(x - 3, y - 3, 6, 6)))
                name = partial(texts.text, city.name, font, ratio=ratio)
                dot, text = _dot(style, ratio), name(style=style)
                top = y - text.height() / ratio / 2
                stamps.append(in_ink(dot, lambda: _dot(MAP_DARK, ratio), x - 4, y - 4, covered))
                stamps.append(in_ink(text, partial(name, style=MAP_DARK), left, top, covered))
                break
    return stamps


def in_ink(
    found: QPixmap, bright: Callable[[], QPixmap], x: float, y: float, covered: PixelBox | None
) -> Stamp:
    """Return a pixmap in the map's text colour, and in a bright one where it lies on a heatmap.

    All colour maps begin dark. A text across the heatmap's edge changes colour there.

    Parameters
    ----------
    found : QPixmap
        In the map's text colour.
    bright : callable
        The same in the colour of `MAP_DARK`.
    covered : PixelBox or None
        Rectangle of the heatmap.
    """
    ratio = found.devicePixelRatio()
    area = QRectF(x, y, found.width() / ratio, found.height() / ratio)
    within = covered is not None and _within(area, covered)
    if covered is None or within is False:
        return Stamp(found, x, y)
    if within:
        return Stamp(bright(), x, y)
    both = QPixmap(found)
    painter = QPainter(both)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    painter.setClipRect(_rect(covered).translated(-x, -y))
    painter.drawPixmap(QPointF(0, 0), bright())
    painter.end()
    return Stamp(both, x, y)


def _rect(box: PixelBox) -> QRectF:
    return QRectF(QPointF(box.left, box.top), QPointF(box.right, box.bottom))


def _within(area: QRectF, box: PixelBox) -> bool | None:
    """Return whether a rectangle lies within a box; None if it crosses its edge."""
    rect = _rect(box)
    return True if rect.contains(area) else None if rect.intersects(area) else False


_dots: dict[tuple[str, float], QPixmap] = {}


def _dot(style: MapStyle, ratio: float) -> QPixmap:
    if (style.theme, ratio) not in _dots:
        pixmap = blank(8, 8, ratio)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(style.halo, 1.4))
        painter.setBrush(style.label)
        painter.drawEllipse(QPointF(4, 4), 2.2, 2.2)
        painter.end()
        _dots[style.theme, ratio] = pixmap
    return _dots[style.theme, ratio]


def scale_bar(
    region: Region | None,
    degrees_per_pixel: float,
    width: float,
    texts: TextPainter,
    font: QFont,
    style: MapStyle,
    ratio: float,
) -> QPixmap:
    """Return the scale bar, km above and miles below its line.

    Planes other than the Earth have one bar in their unit.

    Parameters
    ----------
    region : Region or None
        Latitude at which the map is true to scale.
    degrees_per_pixel : float
        Degrees of latitude per pixel; at that latitude a pixel covers the same distance in both
        directions.
    """
    if region is not None and region.plane is not None:
        metric, imperial = scale_bars_for(region, width * degrees_per_pixel, 0.3)
    else:
        metric, imperial = scale_bars(width * degrees_per_pixel * KM_PER_DEGREE, 0.3)
    above = texts.text(metric.label, font, style, ratio)
    below = texts.text(imperial.label, font, style, ratio)
    long, short = metric.share * width, imperial.share * width
    high = above.height() / ratio
    middle = high - 1
    wide = max(long, short, above.width() / ratio, below.width() / ratio) + 8
    pixmap = blank(wide, 2 * high, ratio)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for pen in (QPen(style.halo, 4.0), QPen(style.label, 1.5)):
        painter.setPen(pen)
        painter.drawLine(QPointF(3, middle), QPointF(3 + max(long, short), middle))
        painter.drawLine(QPointF(3, middle - 5), QPointF(3, middle + 5))
        painter.drawLine(QPointF(3 + long, middle - 5), QPointF(3 + long, middle))
        if imperial.label:
            painter.drawLine(QPointF(3 + short, middle), QPointF(3 + short, middle + 5))
    painter.drawPixmap(QPointF(4, 0), above)
    painter.drawPixmap(QPointF(4, high - 3), below)
    painter.end()
    return pixmap


def rect_of(box: Box) -> QRectF:
    """Convert a box of degrees to a rectangle whose top is its south."""
    south, west, north, east = box
    return QRectF(west, south, east - west, north - south)


def paint_region(painter: QPainter, box: PixelBox, style: MapStyle, handles: bool) -> None:
    """Draw the outline of the region, with handles if it can be resized."""
    rect = _rect(box)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.region, 1))
    painter.drawRect(rect)
    if handles:
        painter.setBrush(style.background)
        for x, y in box.handles:
            painter.drawRect(QRectF(x - 4, y - 4, 8, 8))


def paint_outline(
    painter: QPainter, outline: Sequence[tuple[float, float]], style: MapStyle
) -> None:
    """Draw a ring of a polygon region, in pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.region, 1.5))
    painter.drawPolygon([QPointF(x, y) for x, y in outline])
    painter.restore()


def paint_rubber_band(painter: QPainter, box: PixelBox, style: MapStyle, refused: bool) -> None:
    """Draw the box of a running drag; dashed and filled with red if invalid.

    A valid one is not filled, so that it does not tint the map inside.
    """
    colour = QColor("#d0342c") if refused else style.region
    fill = QColor(colour)
    fill.setAlpha(36 if refused else 0)
    painter.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
    painter.setBrush(fill)
    painter.drawRect(_rect(box))


def paint_mark(painter: QPainter, pixels: PixelBox) -> None:
    """Outline a cell in black and white, which is visible on every colour."""
    grow = max(0.0, 4 - (pixels.right - pixels.left) / 2)
    rect = QRectF(
        QPointF(pixels.left - grow, pixels.top - grow),
        QPointF(pixels.right + grow, pixels.bottom + grow),
    )
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((QColor(255, 255, 255), 3), (QColor(0, 0, 0), 1)):
        painter.setPen(QPen(colour, width))
        painter.drawRect(rect)


def paint_value(painter: QPainter, cell: PixelBox, text: str, size: QSize) -> None:
    """Write a value above and to the right of a cell, or where it stays inside the pane."""
    if not text:
        return
    metrics = painter.fontMetrics()
    wide, high = metrics.horizontalAdvance(text) + 10.0, metrics.height() + 2.0
    left = cell.right + 8 if cell.right + 8 + wide <= size.width() else cell.left - 8 - wide
    top = cell.top - 8 - high if cell.top - 8 - high >= 0 else cell.bottom + 8
    area = QRectF(max(0.0, left), min(top, size.height() - high), wide, high)
    painter.fillRect(area, QColor(0, 0, 0, 200))
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)


DOT = 2
"""Side in pixels of a point without number."""


def overlay_stamp(
    overlay: Overlay,
    covered: PixelBox,
    width: float,
    height: float,
    font: QFont,
    style: MapStyle,
    ratio: float,
) -> Stamp:
    """Return the marks of a map as a picture of the whole pane.

    Parameters
    ----------
    covered : PixelBox
        Rectangle of the map.
    width, height : float
        Size of the pane.
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
        _draw_numbers(painter, x, y, font, style)
    else:
        image = _image(dot_pixels(_counts(x, y, width, height), style.region))
        painter.drawImage(QRectF(0, 0, DOT * image.width(), DOT * image.height()), image)
    painter.end()
    return Stamp(pixmap, 0.0, 0.0)


def _draw_numbers(
    painter: QPainter, x: np.ndarray, y: np.ndarray, font: QFont, style: MapStyle
) -> None:
    """Draw a few points as discs with numbers."""
    painter.setFont(font)
    radius = 0.62 * painter.fontMetrics().height()
    for number, (right, down) in enumerate(zip(x.tolist(), y.tolist(), strict=True), 1):
        area = QRectF(right - radius, down - radius, 2 * radius, 2 * radius)
        painter.setBrush(style.background)
        painter.setPen(QPen(style.label, 1.5))
        painter.drawEllipse(QPointF(right, down), radius, radius)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, str(number))


def _counts(x: np.ndarray, y: np.ndarray, width: float, height: float) -> np.ndarray:
    """Return the number of points in squares of the pane, row 0 at the top.

    A single picture: a hundred thousand points are painted as fast as ten.
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
