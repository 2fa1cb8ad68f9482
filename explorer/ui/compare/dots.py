"""Item delegate that draws the values of a comparison as dots on a common scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from explorer.figures.comparison import ComparedRow, axis_of, share_of
from explorer.figures.style import Theme

DOTS_ROLE = Qt.ItemDataRole.UserRole + 1
_RADIUS, _EDGE = 4.0, 12.0


@dataclass(frozen=True)
class Dots:
    """Dots of one row, in shares of the axis.

    Attributes
    ----------
    own : float or None
    span : (float, float) or None
        Error bar.
    others : tuple of float
        Values of the same statement at other settings.
    colour : int
        Index of the theme's curve colour.
    """

    own: float | None
    span: tuple[float, float] | None
    others: tuple[float, ...]
    colour: int


def dots_of(rows: Sequence[ComparedRow], place: int) -> Dots | None:
    """Return the position of a row's value on the common scale of its measure."""
    row = rows[place]
    alike = [
        r for r in rows if (r.quantity, r.unit) == (row.quantity, row.unit) and r.value is not None
    ]
    if row.value is None or not alike:
        return None
    axis = axis_of(alike)
    span = None
    if row.low is not None and row.high is not None:
        span = (share_of(row.low, axis), share_of(row.high, axis))
    statement = (row.study, row.short)
    named = [(r.study, r.short) for r in alike]
    others = tuple(
        share_of(r.value, axis)
        for r, name in zip(alike, named, strict=True)
        if r is not row and name == statement and r.value is not None
    )
    colour = list(dict.fromkeys(named)).index(statement)
    return Dots(share_of(row.value, axis), span, others, colour)


class DotsDelegate(QStyledItemDelegate):
    """Paints the `Dots` stored under `DOTS_ROLE`."""

    theme: Theme | None = None

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw axis, rings of other settings, error bar and dot."""
        super().paint(painter, option, index)
        dots, theme = index.data(DOTS_ROLE), self.theme
        if not isinstance(dots, Dots) or theme is None:
            return
        area = QRectF(option.rect).adjusted(_EDGE, 0, -_EDGE, 0)

        def place(share: float) -> QPointF:
            return QPointF(area.left() + share * area.width(), area.center().y())

        colour = QColor(theme.curves[dots.colour % len(theme.curves)])
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.drawLine(place(0.0), place(1.0))
        painter.setPen(QPen(colour, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for share in dots.others:
            painter.drawEllipse(place(share), _RADIUS, _RADIUS)
        if dots.span is not None:
            painter.setPen(QPen(colour, 2))
            painter.drawLine(*map(place, dots.span))
        if dots.own is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(place(dots.own), _RADIUS, _RADIUS)
        painter.restore()
