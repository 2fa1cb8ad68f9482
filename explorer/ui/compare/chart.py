"""The numbers of a comparison as dots with error bars, one axis for each thing measured."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.figures.comparison import ComparedRow, value_text
from explorer.figures.style import Theme
from explorer.studies.base.numbers import format_number

_ROW, _HEAD, _SCALE, _GAP = 20, 24, 22, 12
_LOG_FROM = 30.0
"""A logarithmic axis from this ratio of the largest to the smallest number on."""
Group = tuple[str, list[tuple[int, ComparedRow]]]
"""What is measured, and the rows that measure it with their numbers in the table, from 1."""


def groups(rows: Sequence[ComparedRow]) -> list[Group]:
    """Return rows that have numbers under what they measure, unit included.

    Numbers of different things never stand on one axis.
    """
    found: dict[str, list[tuple[int, ComparedRow]]] = {}
    for number, row in enumerate(rows, start=1):
        if row.value is not None or (row.low is not None and row.high is not None):
            unit = f" [{row.unit}]" if row.unit else ""
            found.setdefault(row.quantity + unit, []).append((number, row))
    return list(found.items())


def axis_of(rows: Sequence[ComparedRow]) -> tuple[float, float, bool]:
    """Return the ends of the axis for some rows, and whether it is logarithmic."""
    numbers = [x for row in rows for x in (row.value, row.low, row.high) if x is not None]
    low, high = min(numbers), max(numbers)
    if low > 0 and high / low >= _LOG_FROM:
        return 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)), True
    low = min(low, 0.0)
    return low, high if high > low else low + 1.0, False


class CompareChart(QWidget):
    """Draws the groups below each other; as high as they need."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: list[Group] = []
        self._theme: Theme | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Chart of the comparison; the table holds the same numbers")

    def set_theme(self, theme: Theme) -> None:
        """Take over the colours of a theme."""
        self._theme = theme
        self.update()

    def show_rows(self, rows: Sequence[ComparedRow]) -> None:
        """Draw these rows."""
        self._groups = groups(rows)
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room that all groups take."""
        height = sum(_HEAD + _ROW * len(rows) + _SCALE + _GAP for _, rows in self._groups)
        return QSize(400, max(height, 1))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw."""
        theme = self._theme
        if theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = 0.0
        for title, rows in self._groups:
            top = self._paint_group(painter, theme, title, rows, top)

    def _paint_group(
        self, painter: QPainter, theme: Theme, title: str, rows: list[tuple[int, ComparedRow]],
        top: float,
    ) -> float:  # fmt: skip
        low, high, log = axis_of([row for _, row in rows])
        statements = list(dict.fromkeys((row.study, row.statement) for _, row in rows))
        letters = painter.fontMetrics()
        numbers = max(letters.horizontalAdvance(value_text(row)) for _, row in rows)
        left, right = 0.42 * self.width(), self.width() - max(76.0, numbers + 12.0)

        def place(number: float) -> float:
            if log:
                share = math.log(max(number, low) / low) / math.log(high / low)
            else:
                share = (number - low) / (high - low)
            return left + share * (right - left)

        def write(area: QRectF, text: str, colour: str, side: Qt.AlignmentFlag) -> None:
            fitting = letters.elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
            painter.setPen(QColor(colour))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | side, fitting)

        at_left, at_right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        write(QRectF(0, top, self.width(), _HEAD), title, theme.muted, at_left)
        top += _HEAD
        bottom = top + _ROW * len(rows)
        painter.setPen(QPen(QColor(theme.grid), 1))
        for end in (left, right):
            painter.drawLine(QPointF(end, top), QPointF(end, bottom))
        for place_below, (number, row) in enumerate(rows):
            middle = top + _ROW * (place_below + 0.5)
            band = QRectF(0, middle - _ROW / 2, left - 10, _ROW)
            write(band, f"{number}  {row.statement} · {row.study}", theme.text, at_left)
            colour = QColor(
                theme.curves[statements.index((row.study, row.statement)) % len(theme.curves)]
            )
            painter.setPen(QPen(QColor(theme.grid), 1))
            painter.drawLine(QPointF(left, middle), QPointF(right, middle))
            if row.low is not None and row.high is not None:
                painter.setPen(QPen(colour, 2))
                ends = place(row.low), place(row.high)
                painter.drawLine(QPointF(ends[0], middle), QPointF(ends[1], middle))
                for x in ends:
                    painter.drawLine(QPointF(x, middle - 4), QPointF(x, middle + 4))
            if row.value is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                painter.drawEllipse(QPointF(place(row.value), middle), 4, 4)
            area = QRectF(right + 6, middle - _ROW / 2, self.width() - right - 6, _ROW)
            write(area, value_text(row), theme.text, at_right)
        painter.setPen(QColor(theme.muted))
        self._paint_scale(painter, low, high, log, left, right, bottom)
        return bottom + _SCALE + _GAP

    def _paint_scale(
        self, painter: QPainter, low: float, high: float, log: bool, left: float, right: float,
        top: float,
    ) -> None:  # fmt: skip
        for x, number, side in (
            (left, low, Qt.AlignmentFlag.AlignLeft),
            (right - 120, high, Qt.AlignmentFlag.AlignRight),
        ):
            area = QRectF(x, top, 120, _SCALE)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | side, format_number(number))
        if log:
            middle = QRectF(left, top, right - left, _SCALE)
            painter.drawText(middle, Qt.AlignmentFlag.AlignCenter, "logarithmic")
