"""Pictures of rehearsals, the bar of the budget, and texts on the expected error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.figures.pages.released import Released
from explorer.geography.basemap import lines_in, shipped_basemap
from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import round_length
from explorer.geography.region import Box, Region, scale_bars_for
from explorer.privacy.core.bound import FloatArray
from explorer.release.mechanisms.base import Shown
from explorer.studies.base.numbers import nearest
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.theme import Palette, Theme

MAX_BARS = 12


class SmallPicture(QWidget):
    """Picture of an output: a map, a number or bars; empty if there is none.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: Shown | None = None
        self._image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return a small size."""
        return QSize(84, 96)

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return self.sizeHint()

    def show_output(self, shown: Shown | None, peak: float = 0.0) -> None:
        """Set the picture; None clears it. A peak of 0 means the map's own maximum."""
        self.shown, self._image = shown, QImage()
        if shown is not None and shown.grid is not None:
            top = peak or float(shown.grid.max()) or 1.0
            levels = np.clip(shown.grid[::-1] / top * 255, 0, 255).astype(np.uint8)
            pixels = np.ascontiguousarray(colour_table(COLOUR_MAPS[0])[levels], np.uint8)
            rows, columns = pixels.shape[:2]
            form = QImage.Format.Format_RGB888
            self._image = QImage(pixels.tobytes(), columns, rows, 3 * columns, form).copy()
        self.setAccessibleName(_words(shown))
        self.setToolTip(_words(shown))
        self.update()

    def show_grid(self, grid: FloatArray, peak: float, words: str) -> None:
        """Show a map under another name."""
        self.show_output(Shown(grid), peak)
        self.setAccessibleName(words)
        self.setToolTip(words)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture."""
        painter, colours = QPainter(self), self._theme.chrome
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(box, QColor(self._theme.plot.axes))
        if self.shown is None:
            painter.setPen(QColor(colours.border))
            painter.drawRect(box)
        elif not self._image.isNull():
            side = min(box.width(), box.height())
            square = QRectF(0, 0, side, side)
            square.moveCenter(box.center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(square, self._image)
        elif len(self.shown.table) == 1:
            painter.setPen(QColor(colours.text))
            value = nearest(self.shown.table[0][1])
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, value)
        else:
            self._paint_bars(painter, box.adjusted(4, 4, -4, -4))
        painter.end()

    def _paint_bars(self, painter: QPainter, box: QRectF) -> None:
        assert self.shown is not None
        values = [max(value, 0.0) for _, value in self.shown.table[:MAX_BARS]]
        top, step = max(values, default=0.0) or 1.0, box.width() / max(len(values), 1)
        for place, value in enumerate(values):
            high = value / top * box.height()
            bar = QRectF(box.left() + place * step, box.bottom() - high, step - 2, high)
            painter.fillRect(bar, QColor(self._theme.plot.curves[0]))


def _words(shown: Shown | None) -> str:
    if shown is None:
        return "No rehearsal yet"
    if shown.grid is not None:
        return f"Rehearsed map of {shown.grid.shape[0]} × {shown.grid.shape[1]} cells"
    few = ", ".join(f"{name} {nearest(value)}" for name, value in shown.table[:4])
    return f"Rehearsed: {few}"


class BudgetBar(QWidget):
    """Bar of the budget: earlier releases, this one, and the rest.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.spent: Sequence[float] = ()
        self.asked = 0.0
        self.setFixedHeight(max(10, self.fontMetrics().height() * 3 // 4))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_shares(self, spent: Sequence[float], asked: float, text: str) -> None:
        """Set the shares of earlier releases and of this one."""
        self.spent, self.asked = spent, asked
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw one segment per release, separated by gaps."""
        painter, colours = QPainter(self), self._theme.chrome
        width, height, at = float(self.width()), float(self.height()), 0.0
        painter.fillRect(self.rect(), QColor(colours.border))
        over = sum(self.spent) + self.asked > 1 + 1e-12
        for share in self.spent:
            part = QRectF(at, 0, max(share * width - 1, 1), height)
            painter.setOpacity(0.6)
            painter.fillRect(part, QColor(colours.muted))
            at += share * width
        painter.setOpacity(1.0)
        part = QRectF(at, 0, min(self.asked * width, width - at), height)
        painter.fillRect(part, QColor(colours.bad if over else colours.accent))
        painter.end()


class RegionPicture(QWidget):
    """Box of a region over coasts, borders and cities, whose edges can be moved; shows no data.

    An edge is dragged with the mouse. Up and Down move the north edge, Left and Right the east
    edge; with Shift they move the south and the west edge.

    Parameters
    ----------
    theme : Theme
    parent : QObject
        Owner of the thread that reads the basemap.

    Signals
    -------
    edited(str)
        The box as ``south, west, north, east``, after an edge was moved.

    Attributes
    ----------
    size_text : str
        Width and height of the box; "" if there is none.
    """

    edited = Signal(str)

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__()
        self._theme = theme
        self._region: Region | None = None
        self._view: Box = (0.0, 0.0, 0.0, 0.0)
        self._background = _Background()
        self._dragged: frozenset[str] = frozenset()
        """Edges that the mouse drags; meanwhile the view stays."""
        self.size_text = ""
        self.job = LatestJob("region picture", parent)
        self.job.done.connect(self._show_background)
        self.setMinimumSize(100, 120)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Region: none")
        self.setAccessibleDescription(
            "Up and Down move the north edge, Left and Right the east edge; with Shift they move "
            "the south and the west edge."
        )
        theme.changed.connect(self.update)

    def show_box(self, text: str) -> None:
        """Show the box of a text ``south, west, north, east``; an invalid one clears it."""
        try:
            south, west, north, east = map(float, text.split(","))
            region = Region(south, west, north, east)
        except ValueError:
            region = None
        if region == self._region:
            return
        self._region, self.size_text = region, ""
        if region is not None:
            self.size_text = f"{nearest(region.width_km, 3)} × {nearest(region.height_km, 3)} km"
            if not self._dragged:
                self._fit(region)
        self.setAccessibleName(f"Region: {self.size_text or 'none'}")
        self.update()

    def _fit(self, region: Region) -> None:
        """Fit the view to a region, with a margin, and read the background of the view."""
        width, height = _width(region), region.north - region.south
        self._view = view = (
            region.south - height / 5,
            region.west - width / 5,
            region.north + height / 5,
            region.west + width * 6 / 5,
        )
        self._background = _Background()
        self.job.submit(view, lambda _task: _background_of(view))

    def _show_background(self, view: object, background: _Background) -> None:
        if view == self._view:
            self._background = background
            self.update()

    @property
    def size_km(self) -> tuple[float, float] | None:
        """Width and height of the box in km; None if there is none."""
        region = self._region
        return None if region is None else (region.width_km, region.height_km)

    @property
    def _degrees_per_pixel(self) -> tuple[float, float]:
        """Degrees of longitude and of latitude per pixel."""
        assert self._region is not None
        south, west, north, east = self._view
        aspect = self._region.aspect
        scale = min(self.width() * aspect / (east - west), self.height() / (north - south))
        return aspect / scale, 1 / scale

    def _place(self, lon: float, lat: float) -> QPointF:
        """Return the pixel of a place."""
        south, west, north, east = self._view
        per_x, per_y = self._degrees_per_pixel
        return QPointF(
            self.width() / 2 + (lon - (west + east) / 2) / per_x,
            self.height() / 2 - (lat - (south + north) / 2) / per_y,
        )

    def edge_points(self) -> dict[str, QPointF]:
        """Return the middle of each edge in pixels; empty without a region."""
        if self._region is None:
            return {}
        south, west, north = self._region.south, self._region.west, self._region.north
        east = west + _width(self._region)
        return {
            "south": self._place((west + east) / 2, south),
            "west": self._place(west, (south + north) / 2),
            "north": self._place((west + east) / 2, north),
            "east": self._place(east, (south + north) / 2),
        }

    def _edges_at(self, at: QPointF) -> frozenset[str]:
        """Return the edges near a pixel: none, one, or two at a corner."""
        points = self.edge_points()
        if not points:
            return frozenset()
        box = QRectF(points["west"].x(), points["north"].y(), 0, 0)
        box.setRight(points["east"].x())
        box.setBottom(points["south"].y())
        if not box.adjusted(-_NEAR, -_NEAR, _NEAR, _NEAR).contains(at):
            return frozenset()
        far = {
            "west": abs(at.x() - box.left()),
            "east": abs(at.x() - box.right()),
            "north": abs(at.y() - box.top()),
            "south": abs(at.y() - box.bottom()),
        }
        return frozenset(edge for edge, pixels in far.items() if pixels <= _NEAR)

    def _move(self, edges: dict[str, float]) -> None:
        """Move edges to degrees, so that the box keeps at least some pixels."""
        region = self._region
        if region is None:
            return
        per_x, per_y = self._degrees_per_pixel
        south, west, north = region.south, region.west, region.north
        east = west + _width(region)
        if "south" in edges:
            south = max(min(edges["south"], north - _LEAST_PIXELS * per_y), -90.0)
        if "north" in edges:
            north = min(max(edges["north"], south + _LEAST_PIXELS * per_y), 90.0)
        if "west" in edges:
            west = min(max(edges["west"], east - 360), east - _LEAST_PIXELS * per_x)
        if "east" in edges:
            east = max(min(edges["east"], west + 360), west + _LEAST_PIXELS * per_x)
        # as many decimals as a pixel needs, and no more than a release reads
        digits = min(max(math.ceil(-math.log10(min(per_x, per_y))), 0), 7)
        moved = {"south": south, "west": _wrapped(west), "north": north, "east": _wrapped(east)}
        kept = (region.south, region.west, region.north, region.east)
        texts = [
            _decimal(moved[edge], digits) if edge in edges else _decimal(before, 7)
            for edge, before in zip(moved, kept, strict=True)
        ]
        self.edited.emit(", ".join(texts))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the edges under the mouse."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragged = self._edges_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag edges, or show which could be dragged."""
        at = event.position()
        if not self._dragged:
            edges = self._edges_at(at)
            self.setCursor(_CURSORS.get(edges, Qt.CursorShape.ArrowCursor))
            return
        south, west, north, east = self._view
        per_x, per_y = self._degrees_per_pixel
        lon = (west + east) / 2 + (at.x() - self.width() / 2) * per_x
        lat = (south + north) / 2 - (at.y() - self.height() / 2) * per_y
        self._move({edge: lat if edge in ("south", "north") else lon for edge in self._dragged})

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End a drag and fit the view to the region."""
        if self._dragged:
            self._dragged = frozenset()
            if self._region is not None:
                self._fit(self._region)
                self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move an edge by a hundredth of the box."""
        region, key = self._region, Qt.Key(event.key())
        if region is None or key not in _ARROWS:
            super().keyPressEvent(event)
            return
        far, near, sign = _ARROWS[key]
        edge = near if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else far
        east = region.west + _width(region)
        before = {"south": region.south, "west": region.west, "north": region.north, "east": east}
        size = region.north - region.south if far == "north" else _width(region)
        self._move({edge: before[edge] + sign * size / 100})
        event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw lines, names and box."""
        painter, colours = QPainter(self), self._theme.chrome
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(frame, QColor(colours.field))
        painter.setPen(QColor(colours.accent if self.hasFocus() else colours.border))
        painter.drawRect(frame)
        region = self._region
        if region is None:
            painter.setPen(QColor(colours.muted))
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, "no region yet")
            painter.end()
            return
        painter.setClipRect(frame)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours.edge))
        _draw_lines(painter, self._background.lines, self._place)
        painter.setPen(QPen(QColor(colours.accent), 2))
        fill = QColor(colours.accent)
        fill.setAlpha(20)
        painter.setBrush(fill)
        corner = self._place(region.west, region.north)
        other = self._place(region.west + _width(region), region.south)
        painter.drawRect(QRectF(corner, other))
        painter.setPen(QColor(colours.text))
        painter.setBrush(QColor(colours.text))
        for name, lon, lat in self._background.cities:
            at = self._place(lon, lat)
            painter.drawEllipse(at, 1.5, 1.5)
            width = painter.fontMetrics().horizontalAdvance(name)
            beside = 4 if at.x() + 4 + width <= frame.right() else -4 - width
            painter.drawText(at + QPointF(beside, 4), name)
        painter.end()


_NEAR = 6
"""Pixels from an edge within which the mouse drags it."""
_LEAST_PIXELS = 8
"""Least size of a box that is dragged, in pixels."""
_ARROWS = {
    Qt.Key.Key_Up: ("north", "south", 1),
    Qt.Key.Key_Down: ("north", "south", -1),
    Qt.Key.Key_Right: ("east", "west", 1),
    Qt.Key.Key_Left: ("east", "west", -1),
}
"""Edge that an arrow key moves, the one with Shift, and the direction."""
_CURSORS = {
    **dict.fromkeys(map(frozenset, (["west"], ["east"])), Qt.CursorShape.SizeHorCursor),
    **dict.fromkeys(map(frozenset, (["south"], ["north"])), Qt.CursorShape.SizeVerCursor),
    **dict.fromkeys(
        map(frozenset, (["north", "west"], ["south", "east"])), Qt.CursorShape.SizeFDiagCursor
    ),
    **dict.fromkeys(
        map(frozenset, (["north", "east"], ["south", "west"])), Qt.CursorShape.SizeBDiagCursor
    ),
}
"""Cursor over edges."""
_MOST_CITIES = 6


def _width(region: Region) -> float:
    """Return the width of a region in degrees, also across the antimeridian."""
    return (region.east - region.west) % 360 or 360.0


def _wrapped(lon: float) -> float:
    """Return a longitude in [-180, 180]."""
    return lon if -180 <= lon <= 180 else (lon + 180) % 360 - 180


def _decimal(value: float, digits: int) -> str:
    """Return a decimal without trailing zeros and without a negative zero."""
    return np.format_float_positional(round(value, digits) + 0.0, trim="-")


@dataclass(frozen=True, eq=False)
class _Background:
    """Coasts, borders and cities of a view.

    Attributes
    ----------
    lines : tuple of two ndarray
        Longitudes and latitudes, separated by NaN.
    cities : tuple of (str, float, float)
        Name, longitude and latitude.
    """

    lines: tuple[FloatArray, FloatArray] = (np.empty(0), np.empty(0))
    cities: tuple[tuple[str, float, float], ...] = ()


def _background_of(view: Box) -> _Background:
    """Return the background of a view."""
    lines = lines_in(shipped_basemap().level_for(view[3] - view[1]), view)
    cities = shipped_cities().visible(view, _MOST_CITIES, (0.4, 0.06))
    named = tuple((city.name, city.longitude, city.latitude) for city in cities)
    return _Background(lines, named)  # type: ignore[arg-type]


_LEGEND, _BAR, _LEGEND_GAP = 28, 12, 8
"""Height of the legend of a bare map, that of its colours, and space above it, in pixels."""
_TICKS = 5
_NAME_HALO = 2.5


def unit_of(what: Released) -> tuple[float, str]:
    """Return the factor from the share in a cell to people, and the unit of the legend.

    Without an estimated number of people above 0 the unit is a share in percent. The estimate of a
    small population can be negative, because it is made of noisy numbers.
    """
    region, grid = what.region, what.grid
    assert grid is not None
    if what.total is None or what.total <= 0:
        return 100.0, "% of all people per cell"
    if region is None:
        return what.total, "people per cell"
    area = region.width_km * region.height_km / grid.size
    return what.total / area, "people per km²"


def bare_map(
    what: Released, size: tuple[int, int], ratio: float, colours: Palette, font: QFont
) -> QImage:
    """Draw a released map with coasts, places, scale and legend, without page and notes.

    May run in any thread.

    Parameters
    ----------
    what : Released
        With a grid.
    size : tuple of int
        Width and height in pixels of the screen.
    """
    assert what.grid is not None
    width, height = size
    image = QImage(QSize(*size) * ratio, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    region, grid = what.region, what.grid
    rows, columns = grid.shape
    aspect = columns / rows if region is None else region.width_km / region.height_km
    high = height - _LEGEND - _LEGEND_GAP
    wide = min(float(width), high * aspect)
    area = QRectF(0, 0, wide, wide / aspect)
    area.moveLeft((width - wide) / 2)
    factor, _ = unit_of(what)
    top = float(grid.max())
    top = top if top > 0 else 1.0
    levels = np.clip(grid[::-1] / top * 255, 0, 255).astype(np.uint8)
    table = colour_table(COLOUR_MAPS[0])
    pixels = np.ascontiguousarray(table[levels], np.uint8)
    cells = QImage(pixels.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888)
    legend = QRectF(0, height - _LEGEND, width, _BAR)
    # Ended on errors as well: a painter that outlives its image crashes the program.
    with QPainter(image) as painter:
        painter.setFont(font)
        painter.drawImage(area, cells)
        if region is not None:
            _draw_places(painter, area, region)
        _draw_legend(painter, legend, table, top * factor, colours)
    return image


def _draw_places(painter: QPainter, area: QRectF, region: Region) -> None:
    """Draw coasts, borders, cities and a scale bar in white over a map."""
    south, west, north, east = region.south, region.west, region.north, region.west + _width(region)
    background = _background_of((south, west, north, east))

    def place(lon: float, lat: float) -> QPointF:
        return QPointF(
            area.left() + (lon - west) / (east - west) * area.width(),
            area.top() + (north - lat) / (north - south) * area.height(),
        )

    painter.save()
    painter.setClipRect(area)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    line_colour = QColor("white")
    line_colour.setAlpha(190)
    painter.setPen(QPen(line_colour, 1))
    _draw_lines(painter, background.lines, place)
    for name, lon, lat in background.cities:
        at = place(lon, lat)
        text_width = painter.fontMetrics().horizontalAdvance(name)
        beside = 5 if at.x() + 5 + text_width <= area.right() else -5 - text_width
        _draw_text(painter, at + QPointF(beside, 4), name)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor("white"))
        painter.drawEllipse(at, 2.0, 2.0)
    bar, _ = scale_bars_for(region, east - west)
    left, bottom = area.left() + 14, area.bottom() - 14
    right = left + bar.share * area.width()
    painter.setPen(QPen(QColor("white"), 1.5))
    painter.drawPolyline(
        [
            QPointF(left, bottom - 5),
            QPointF(left, bottom),
            QPointF(right, bottom),
            QPointF(right, bottom - 5),
        ]
    )
    middle = (left + right - painter.fontMetrics().horizontalAdvance(bar.label)) / 2
    _draw_text(painter, QPointF(max(middle, left + 2), bottom - 8), bar.label)
    painter.restore()


def _draw_text(painter: QPainter, at: QPointF, text: str) -> None:
    """Draw white text with a dark halo."""
    path = QPainterPath()
    path.addText(at, painter.font(), text)
    painter.strokePath(path, QPen(QColor("#14181d"), _NAME_HALO))
    painter.fillPath(path, QColor("white"))


def _draw_lines(
    painter: QPainter,
    lines: tuple[FloatArray, FloatArray],
    place: Callable[[float, float], QPointF],
) -> None:
    """Draw lines whose coordinates are separated by NaN."""
    line: list[QPointF] = []
    for lon, lat in zip(*(part.tolist() for part in lines), strict=True):
        if lon == lon:
            line.append(place(lon, lat))
        else:
            painter.drawPolyline(line)
            line = []
    painter.drawPolyline(line)


def _draw_legend(
    painter: QPainter, bar: QRectF, table: np.ndarray, top: float, colours: Palette
) -> None:
    """Draw the colours from 0 to a value with its round numbers below."""
    strip = np.ascontiguousarray(table[:, :3], np.uint8)
    image = QImage(strip.tobytes(), len(strip), 1, 3 * len(strip), QImage.Format.Format_RGB888)
    painter.drawImage(bar, image)
    painter.setPen(QColor(colours.text))
    step = round_length(top / (_TICKS - 1))
    values = [step * k for k in range(int(top / step + 1e-9) + 1)]
    end = nearest(top, 2)
    metrics = painter.fontMetrics()
    last = bar.right() - metrics.horizontalAdvance(end)
    base = bar.bottom() + metrics.ascent() + 2
    painter.drawText(QPointF(last, base), end)
    free = bar.left() - 1.0
    for value in values:
        text = nearest(value, 2)
        x = bar.left() + value / top * bar.width()
        width = metrics.horizontalAdvance(text)
        start = min(max(x - width / 2, bar.left()), bar.right() - width)
        if start > free and start + width + 8 < last:
            painter.drawText(QPointF(start, base), text)
            free = start + width + 8


def error_lines(errors: Sequence[dict[str, Any]], most: int) -> list[str]:
    """Return the noise scale as text; for many quantities first, maximum, minimum, last."""
    few = list(errors)
    if len(few) > most:
        by_width = sorted(few, key=lambda one: int(one["half_width"]))
        selected = (few[0], by_width[-1], by_width[0], few[-1])
        few = [one for one in few if any(one is kept for kept in selected)]
    result: list[str] = []
    before = None
    for one in few:
        chance = Fraction(one["probability"])
        if chance != before:
            result.append(f"In {float(100 * chance):g} % of cases within:")
            before = chance
        result.append(f"{one['quantity']}: ±{int(one['half_width']):,}")
    return result


def spread(shown: Sequence[Shown]) -> str:
    """Return the spread of dry runs as text."""
    totals = [output.total for output in shown if output.total is not None]
    if totals:
        low, high = min(totals), max(totals)
        return f"Fitted number of people: {round(low):,} to {round(high):,}."
    first = [output.table for output in shown if output.table]
    if not first or first[0][0][0].startswith("Choice"):
        return ""
    name, values = first[0][0][0], [table[0][1] for table in first]
    return f"{name}: {round(min(values), 3):,} to {round(max(values), 3):,}."
