"""The legend: what each curve is, how it is meant, and what it says at the slider."""

from __future__ import annotations

import html
from collections.abc import Collection

from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFont,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QSizePolicy, QWidget

from explorer.figures.geometry import FUNCTIONS
from explorer.figures.style import SeriesStyle
from explorer.studies.base.claims import Claimed
from explorer.studies.base.numbers import NEARLY, format_number
from explorer.studies.base.study import Mark, Series
from explorer.ui.base.styled import styled_label
from explorer.ui.curves.reading import COMPUTING
from explorer.ui.drawing.curves import DOT_SIZE, SYMBOLS, pen_of
from explorer.ui.drawing.filled import PATTERNS
from explorer.ui.widgets.check_box import CheckBox
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel
from explorer.ui.widgets.links import with_titles
from explorer.ui.widgets.numbers import rich

_WIDEST_NUMBER = "≈ 1.234×10⁻¹⁰⁰"
CLAIMED = "◆ "
"""Before the name of the curve that is claimed."""
_BESIDE_NAMES = 310
"""Pixels of a row beside the name: box, swatch, role, number."""


class Swatch(QWidget):
    """A little of the series as it is drawn: a line, a dot with its error bar, bars, an area."""

    def __init__(self) -> None:
        super().__init__()
        self.style_shown: SeriesStyle | None = None
        self.mark = Mark.LINE
        self.banded = False
        self.setFixedSize(QSize(34, 14))

    def set_style(self, style: SeriesStyle, mark: Mark = Mark.LINE, banded: bool = False) -> None:
        """Draw this style and mark, with a band or error bar or without."""
        if (style, mark, banded) != (self.style_shown, self.mark, self.banded):
            self.style_shown, self.mark, self.banded = style, mark, banded
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw."""
        style = self.style_shown
        if style is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = pen_of(style, ratio=self.devicePixelRatioF())
        middle = QRectF(self.rect()).center().y()
        if self.mark is Mark.DOTS:
            self._paint_dot(painter, style, middle)
        elif self.mark is Mark.BARS:
            for left, height in ((4, 8), (14, 12), (24, 5)):
                bar = QRectF(left, self.height() - height - 1, 7, height)
                _fill(painter, style, bar, 70, 150)
                painter.setPen(QPen(pen.color(), 1.2))
                painter.drawRect(bar)
        else:
            inside = QRectF(1, 1, self.width() - 2, self.height() - 2)
            if self.mark is Mark.AREA:
                _fill(painter, style, inside, 36, 105)
                middle = 1.5
            elif self.banded:
                _fill(painter, style, inside, 45, 0)
            painter.setPen(pen)
            painter.drawLine(QPointF(1, int(middle)), QPointF(self.width() - 1, int(middle)))

    def _paint_dot(self, painter: QPainter, style: SeriesStyle, middle: float) -> None:
        x, colour = self.width() / 2, QColor(style.colour)
        painter.setPen(QPen(colour, 1.3))
        if self.banded:
            painter.drawLine(QPointF(x, 1), QPointF(x, self.height() - 1))
            for y in (1.0, self.height() - 1.0):
                painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.translate(x, middle)
        painter.scale(DOT_SIZE, DOT_SIZE)
        painter.drawPath(Symbols[SYMBOLS[style.marker]])


def _fill(painter: QPainter, style: SeriesStyle, area: QRectF, wash: int, strength: int) -> None:
    colour = QColor(style.colour)
    colour.setAlpha(wash)
    painter.fillRect(area, colour)
    if strength:
        colour.setAlpha(strength)
        painter.fillRect(area, QBrush(colour, PATTERNS[style.hatch]))


class ElidedLabel(QLabel):
    """A line of text that ends in … where it does not fit."""

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setMinimumWidth(40)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_strong(self, strong: bool) -> None:
        """Write in bold letters or plain ones."""
        font = self.font()
        if font.bold() != strong:
            font.setBold(strong)
            self.setFont(font)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        fitting = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, self.width()
        )
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, fitting)


class _Row:
    """The widgets of one curve, which may become another one's."""

    def __init__(self, legend: Legend) -> None:
        self.key = ""
        self.check = CheckBox()
        self.swatch = Swatch()
        self.label = ElidedLabel()
        self.role = styled_label("muted")
        self.value = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.value.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.value.setFixedWidth(self.value.fontMetrics().horizontalAdvance(_WIDEST_NUMBER))
        self.check.clicked.connect(lambda on: legend.toggled.emit(self.key, on))
        self._described: tuple[object, ...] = ()
        self._claimed = self._tip = ""

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return (self.check, self.swatch, self.label, self.role, self.value)

    def show(self, shown: bool) -> None:
        for widget in self.widgets:
            if widget.isHidden() == shown:
                widget.setVisible(shown)

    def update(
        self,
        series: Series,
        style: SeriesStyle,
        visible: bool,
        value: float | None,
        here: bool,
        between: bool,
        claimed: str = "",
    ) -> None:
        self.swatch.set_style(style, series.mark, series.low is not None)
        self.check.setChecked(visible)
        if value is not None:
            near = f"{NEARLY} {format_number(value)}"
            words = near if between else format_number(value, series.role)
        else:  # what is no function of x has nothing to say of most x
            asked = here and (
                series.mark in FUNCTIONS
                or not series.present.any()
                or (series.infinite and not between)
            )
            words = ("infinite" if series.infinite else "not valid") if asked else ""
            words = COMPUTING if series.computing else words
        self.value.setText(words)
        self.value.setEnabled(value is not None)
        described = (series.label, series.role, series.note, series.undefined_reason,
                     series.present.all(), series.computing, bool(claimed))  # fmt: skip
        if described == self._described and claimed == self._claimed:
            return
        if described != self._described:
            self._describe(series, bool(claimed))
            self._described = described
        # The number claimed moves with every slider: of all this it changes the tool tip alone.
        self._claimed = claimed
        tip = self._tip + (f"<br><b>{html.escape(claimed)}</b>" if claimed else "")
        for widget in self.widgets:
            widget.setToolTip(f"<p>{tip}</p>")

    def _describe(self, series: Series, claimed: bool) -> None:
        """Write what stays while the values of a curve change."""
        self.check.setAccessibleName(f"show {series.label}")
        partly = not series.present.all() and not series.computing
        self.label.setText(CLAIMED * claimed + ("⊘ " if partly else "") + series.label)
        self.label.set_strong(claimed)
        self.role.setText(f"{series.role.glyph} {series.role.value}")
        self._tip = f"<b>{rich(series.label)}</b> ({series.role.value})"
        self._tip += "<br>" + html.escape(with_titles(str(series.reference))).replace("\n", "<br>")
        if series.note:
            self._tip += f"<br>{html.escape(series.note)}"
        if partly:
            self._tip += (
                f"<br>Absent where it does not hold: {html.escape(series.undefined_reason)}."
            )


class Legend(QWidget):
    """One row a curve.

    A row that is not needed waits to be another curve's: complete answers often have a curve more
    than coarse ones, and new widgets take longer than all the rest of drawing an answer.

    Signals
    -------
    toggled(str, bool)
        A curve's key and whether it is to be shown.
    claim_wanted(str)
        The key of the curve to claim; empty for the tightest valid bound.
    """

    toggled = Signal(str, bool)
    claim_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, _Row] = {}
        self._made: list[_Row] = []
        self._measured: tuple[tuple[str, ...], int] = ((), 0)
        """Font and names of last time, and the widest name's pixels."""
        self._claimable: Collection[str] = ()
        self._claim = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(2, 1)
        self.here = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.here.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.here.setFixedWidth(180)
        self.here.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        font = self.here.font()
        font.setWeight(QFont.Weight.DemiBold)
        self.here.setFont(font)
        self._title = styled_label("heading", "Curves")
        self._grid.addWidget(self._title, 0, 0, 1, 3)
        self._grid.addWidget(self.here, 0, 3, 1, 2)

    def show_series(
        self,
        series: tuple[Series, ...],
        styles: dict[str, SeriesStyle],
        hidden: frozenset[str],
        values: dict[str, float | None],
        here: str,
        between: Collection[str] = (),
        claim: tuple[Claimed | None, Collection[str]] = (None, ()),
    ) -> None:
        """Show these curves, their values and where those were read (``at T = 1000``).

        What was read `between` two computed points is no bound, whatever the curve is. `claim` is
        what is claimed, and the keys of the curves that may be.
        """
        found, self._claimable = claim
        self._claim = found.wanted if found is not None else ""
        claimed = found.series.key if found is not None else ""
        why = found.line if found is not None else ""
        if [s.key for s in series] != list(self._rows):
            self._rebuild([s.key for s in series])
        self.here.setText(here)
        for item in series:
            self._rows[item.key].update(
                item,
                styles[item.key],
                item.key not in hidden,
                values.get(item.key),
                bool(here),
                item.key in between,
                why if item.key == claimed else "",
            )

    def wanted_width(self, most: int = 380) -> int:
        """Return the width at which no name is cut, names counted up to so many pixels."""
        names = (self.font().key(), *(r.label.text() for r in self._rows.values()))
        if names != self._measured[0]:  # asked for every answer, and they seldom change
            metrics = self.fontMetrics()
            widest = max(map(metrics.horizontalAdvance, names[1:]), default=0)
            self._measured = (names, widest)
        return min(self._measured[1], most) + _BESIDE_NAMES

    def menu_for(self, key: str) -> QMenu | None:
        """Return what can be done with a curve; None if nothing can."""
        if key not in self._claimable:
            return None
        menu = QMenu(self)
        claim = menu.addAction("Claim this bound")
        claim.setEnabled(self._claim != key)
        claim.triggered.connect(lambda: self.claim_wanted.emit(key))
        tightest = menu.addAction("Claim the tightest valid bound")
        tightest.setEnabled(bool(self._claim))
        tightest.triggered.connect(lambda: self.claim_wanted.emit(""))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the curve under the pointer, or in focus."""
        y = event.pos().y()
        for key, row in self._rows.items():
            if row.label.geometry().top() - 2 <= y <= row.label.geometry().bottom() + 2:
                menu = self.menu_for(key)
                if menu is not None:
                    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
                    menu.popup(event.globalPos())
                return

    def row(self, key: str) -> _Row:
        """Return a curve's row."""
        return self._rows[key]

    def _rebuild(self, keys: list[str]) -> None:
        while len(self._made) < len(keys):
            row = _Row(self)
            self._made.append(row)
            for column, widget in enumerate(row.widgets):
                self._grid.addWidget(widget, len(self._made), column)
        for place, row in enumerate(self._made):
            row.show(place < len(keys))
        self._rows = dict(zip(keys, self._made, strict=False))
        for key, row in self._rows.items():
            row.key = key
