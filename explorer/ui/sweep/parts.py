"""The shared legend of small multiples, and the bar that turns their pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QListWidget, QListWidgetItem, QWidget

from explorer.figures.captions import legend_label
from explorer.figures.style import SeriesStyle
from explorer.studies.base.study import Series
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.drawing.curves import pen_of

_ICON = QSize(26, 10)
_LINES = 3
LEAST_COLUMN = 230
"""Pixels; what is longer is cut, and whole in its tool tip."""


class Legend(QListWidget):
    """Every curve once, with a tick that shows or hides it in all plots.

    Signals
    -------
    ticked(str, bool)
        Key of a curve, and whether it is to be shown.
    """

    ticked = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Curves")
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setIconSize(_ICON)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMaximumHeight(_LINES * (self.fontMetrics().height() + 8))
        self._listed: tuple[object, ...] = ()
        self.itemChanged.connect(self._changed)

    def show_curves(
        self,
        series: Sequence[Series],
        styles: Mapping[str, SeriesStyle],
        hidden: Collection[str],
        *,
        ticks: bool,
    ) -> None:
        """List these curves."""
        listed = (
            tuple((s.key, legend_label(s), s.note, styles[s.key]) for s in series),
            tuple(sorted(hidden)),
            ticks,
        )
        if listed == self._listed:
            return
        self._listed = listed
        chosen = self.chosen
        self.blockSignals(True)
        self.clear()
        for s in series:
            item = QListWidgetItem(_sample(styles[s.key]), legend_label(s))
            item.setData(Qt.ItemDataRole.UserRole, s.key)
            item.setToolTip("\n".join(filter(None, (legend_label(s), str(s.reference), s.note))))
            if ticks:
                shown = Qt.CheckState.Unchecked if s.key in hidden else Qt.CheckState.Checked
                item.setCheckState(shown)
            self.addItem(item)
            if s.key == chosen:
                self.setCurrentItem(item)
        self.blockSignals(False)
        self._fit()

    @property
    def chosen(self) -> str:
        """Key of the curve in front; empty where none is."""
        item = self.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have as many columns as are wide enough."""
        room = self.viewport().width() - 4
        high = self.fontMetrics().height() + 6
        self.setGridSize(QSize(room // max(1, room // LEAST_COLUMN), high))
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """Give each curve as much room as a column has: what is longer is cut."""
        self.blockSignals(True)
        for row in range(self.count()):
            self.item(row).setSizeHint(self.gridSize())
        self.blockSignals(False)

    def item_of(self, key: str) -> QListWidgetItem:
        """Return the line of a curve; KeyError if it is not listed."""
        for row in range(self.count()):
            if self.item(row).data(Qt.ItemDataRole.UserRole) == key:
                return self.item(row)
        raise KeyError(key)

    def _changed(self, item: QListWidgetItem) -> None:
        shown = item.checkState() is Qt.CheckState.Checked
        self.ticked.emit(str(item.data(Qt.ItemDataRole.UserRole)), shown)


class PageBar(QWidget):
    """‹ δ = 10⁻⁹ · page 1 of 3 ›.

    Signals
    -------
    stepped(int)
    """

    stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.before = tool_button("‹", "The page before (Page Up)", "The page before")
        self.after = tool_button("›", "The next page (Page Down)", "The next page")
        self.which = styled_label("heading")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        for widget in (self.before, self.which, self.after):
            row.addWidget(widget)
        row.addStretch(1)
        self.before.clicked.connect(lambda _=False: self.stepped.emit(-1))
        self.after.clicked.connect(lambda _=False: self.stepped.emit(1))

    def show_page(self, words: str, page: int, pages: int) -> None:
        """Say which of so many pages is shown."""
        self.which.setText(f"{words} · page {page + 1} of {pages}")
        self.before.setEnabled(page > 0)
        self.after.setEnabled(page < pages - 1)


def _sample(style: SeriesStyle) -> QIcon:
    """Return a piece of a curve."""
    picture = QPixmap(_ICON * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(QColor(0, 0, 0, 0))
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen_of(style))
    painter.drawLine(1, 5, 25, 5)
    painter.end()
    return QIcon(picture)
