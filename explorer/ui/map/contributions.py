"""Number of users in the map, and histogram of contributions per user (curator only)."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from explorer.figures.pages.maps import HISTOGRAM_BARS, HISTOGRAM_TITLE
from explorer.figures.style import THEMES
from explorer.figures.table_copy import format_table
from explorer.studies.base.study import Result, Selection, Table
from explorer.studies.heatmap import text
from explorer.studies.heatmap.contributions import ALL, BIAS, HISTOGRAM
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.base.theme import map_style_for
from explorer.ui.map.metrics import CURATOR
from explorer.ui.map.tool_bar import make_action
from explorer.ui.widgets.fixed_size_text import FixedSizeText

COUNTED = "Counted from the check-ins: for the curator only, and in no export without the true map."

COUNTS = ("users_used", "users_in_region", "users_in_file")
"""Scalar results: users in the map, available users, users in the file."""

CONTRIBUTE = "What users contribute"
BUTTON_TIP = f"{CONTRIBUTE}: how many check-ins, in how many cells (U)."


class UsersLine(QWidget):
    """``All 2,237 users``, or ``200 of 2,237 users · use all``; the number is a button.

    Signals
    -------
    use_all()
    """

    use_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = tool_button("", f"{BUTTON_TIP} {COUNTED}", CONTRIBUTE, checkable=True)
        self.label.setProperty("quiet", True)
        self.label.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.point = plain_label("·")
        tip = "Draw the map of all users in place of a sample"
        self.button = tool_button("use all", tip, "Use all users", quiet=True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.use_all)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, 0)
        row.setSpacing(4)
        for widget in (self.label, self.point, self.button):
            row.addWidget(widget)
        self.follow(None)

    def follow(self, selection: Selection | None) -> None:
        """Offer all users while a sample is used."""
        sampled = selection is not None and selection.sampled
        self.point.setVisible(sampled)
        self.button.setVisible(sampled)
        if selection is None:
            self.label.setText("")
        self.label.setVisible(bool(self.label.text()))

    def show_result(self, result: Result) -> None:
        """Show the number of users in the map."""
        try:
            used, there, known = (result.readout(key).value for key in COUNTS)
        except KeyError:
            if not result.early:
                self.label.setText("")
            self.label.setEnabled(False)  # greyed: value of the former result
            return
        self.label.setEnabled(True)
        selection = result.request.selection
        sampled = selection is not None and selection.sampled
        users = "user" if there == 1 else "users"
        text = f"{used:,.0f} of {there:,.0f} {users}" if sampled else f"All {there:,.0f} {users}"
        if text != self.label.text():
            self.label.setText(text)
            self.label.setAccessibleName(f"{CONTRIBUTE}: {text}")
            self.label.setVisible(True)
        font = self.label.font()
        if font.bold() != sampled:
            font.setBold(sampled)
            self.label.setFont(font)
        # Width for all users of the file: the maps must not move while a region is dragged.
        metrics = self.label.fontMetrics()
        widest = f"All {known or there:,.0f} users"
        more = metrics.horizontalAdvance(widest) - metrics.horizontalAdvance(text)
        self.label.setMinimumWidth(0 if sampled else self.label.sizeHint().width() + more)


HISTOGRAM_HEIGHT = 160
"""Size of the histogram in pixels."""
EDGE = 8


class Bars(QWidget):
    """Two bars per bin: users by number of check-ins, and by number of cells."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table: Table | None = None
        self.cap = ALL
        self.setMinimumHeight(HISTOGRAM_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(400, HISTOGRAM_HEIGHT)

    def show_table(self, table: Table | None, cap: int) -> None:
        """Show a histogram and the contribution cap."""
        self.table, self.cap = table, cap
        lines = []
        for low, high, *users in table.rows if table is not None else ():
            size = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
            counts = ", ".join(
                f"{kind}: {n:,.0f} users" for kind, n in zip(HISTOGRAM_BARS, users, strict=True)
            )
            lines.append(f"{size} {counts}")
        self.setToolTip("\n".join([*lines, "", CURATOR]) if lines else "")
        self.setAccessibleName("Histogram of what users contribute, curator only")
        self.setAccessibleDescription("; ".join(lines))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the widget."""
        if self.table is None:
            return
        theme = THEMES[map_style_for(self.palette()).theme]
        painter = QPainter(self)
        if not self.isEnabled():
            painter.setOpacity(0.4)
        line = painter.fontMetrics().height()
        colours = [QColor(theme.curves[i]) for i in range(2)]
        rows = [tuple(float(v or 0) for v in row) for row in self.table.rows]
        most = max(max(users) for _, _, *users in rows)
        label = f"{most:,.0f} users"
        left = painter.fontMetrics().horizontalAdvance(label) + 2 * EDGE
        area = QRectF(left, line + 4, self.width() - left - EDGE, self.height() - 2 * line - 8)
        slot = min(area.width() / len(rows), 60.0)
        widest = painter.fontMetrics().horizontalAdvance(f"{rows[-1][1]:,.0f}") + EDGE
        every = max(1, math.ceil(widest / slot))
        painter.setPen(QColor(theme.text))
        painter.drawText(QPointF(EDGE, area.top() + line / 2), label)
        painter.drawText(QPointF(EDGE, area.bottom()), "0")
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        for i, (_, high, *users) in enumerate(rows):
            x = area.left() + i * slot
            for part, (n, colour) in enumerate(zip(users, colours, strict=True)):
                tall = area.height() * n / most
                bar = QRectF(x + slot * (0.1 + 0.4 * part), area.bottom() - tall, slot * 0.4, tall)
                painter.fillRect(bar, colour)
            if i % every == 0:
                under = QRectF(x - slot, area.bottom() + 2, 3 * slot, line)
                painter.drawText(under, Qt.AlignmentFlag.AlignHCenter, f"{high:,.0f}")
        self._draw_legend(painter, QPointF(area.left(), line - 2), colours)
        if self.cap < rows[-1][1]:
            self._draw_cap(painter, area, slot)

    def _draw_legend(self, painter: QPainter, at: QPointF, colours: list[QColor]) -> None:
        for kind, colour in zip(HISTOGRAM_BARS, colours, strict=True):
            painter.fillRect(QRectF(at.x(), at.y() - 9, 10, 10), colour)
            painter.drawText(at + QPointF(14, 0), kind)
            at += QPointF(30 + painter.fontMetrics().horizontalAdvance(kind), 0)
        painter.drawText(at, HISTOGRAM_TITLE)

    def _draw_cap(self, painter: QPainter, area: QRectF, slot: float) -> None:
        """Draw a line at the cap; contributions to the right of it are truncated."""
        x = slot * (math.log2(self.cap) + 1)
        pen = QPen(painter.pen().color(), 1.5, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawLine(area.topLeft() + QPointF(x, 0), area.bottomLeft() + QPointF(x, 0))
        label = f"k = {self.cap:,}"
        metrics = painter.fontMetrics()
        box = QRectF(0, 0, metrics.horizontalAdvance(label) + 6, metrics.height())
        box.moveTopLeft(area.topLeft() + QPointF(x + 3, 0))
        painter.fillRect(box, self.palette().window())
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)


class Contributions(QWidget):
    """Histogram with text, opened by the number of users above the maps.

    Parameters
    ----------
    users : UsersLine
        Button that toggles it.
    instead_of : QAction
        Widget in the same place: opening one closes the other.
    parent : QWidget
        Widget in which the action is active.
    """

    def __init__(self, users: UsersLine, instead_of: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName("What users contribute, curator only")
        self._result: Result | None = None
        self.action = make_action(
            parent, "&What users contribute", "U", "How many check-ins, curator only", True
        )
        self.badge = styled_label("badge", "curator only")
        self.badge.setToolTip(CURATOR)
        self.sentence = FixedSizeText()
        self.copy = tool_button("Copy CSV", "Copy the histogram as CSV: for the curator only")
        self.copy.clicked.connect(self.copy_csv)
        self.bars = Bars()
        message = QVBoxLayout()
        row = QHBoxLayout()
        row.addWidget(self.badge)
        row.addStretch(1)
        row.addWidget(self.copy)
        message.addLayout(row)
        message.addWidget(self.sentence)
        message.addStretch(1)
        box = QHBoxLayout(self)
        box.setContentsMargins(6, 2, 6, 2)
        box.addWidget(self.bars, 3)
        box.addLayout(message, 2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()
        self.action.toggled.connect(self.setVisible)
        self.action.toggled.connect(users.label.setChecked)
        users.label.toggled.connect(self.action.setChecked)
        for one, other in ((self.action, instead_of), (instead_of, self.action)):
            one.toggled.connect(lambda shown, other=other: shown and other.setChecked(False))

    def show_result(self, result: Result) -> None:
        """Show the values of a result; values not known yet stay, greyed."""
        table = next((t for t in result.tables if t.key == HISTOGRAM), None)
        self.setEnabled(table is not None)
        if table is None:
            nobody = any(r.key == "similarity" and r.value is None for r in result.readouts)
            if result.complete and nobody:
                self.clear()
            return
        self._result = result
        notes = {item.key: item.note for item in result.readouts}
        self.sentence.setText(" ".join(filter(None, (table.note, notes.get(BIAS, "")))))
        self.bars.show_table(table, int(result.request["cap"]))

    def clear(self) -> None:
        """Clear (no data)."""
        self._result = None
        self.sentence.setText("")
        self.bars.show_table(None, ALL)

    def copy_csv(self) -> None:
        """Copy the histogram with its stamp."""
        table = self.bars.table
        if table is None or self._result is None:
            return
        synthetic = self._result.stamp == text.stamp(True, curator_only=True)
        about = [text.stamp(synthetic, curator_only=True), table.title, table.note]
        numbers = format_table(table.columns, table.rows, "csv")
        QGuiApplication.clipboard().setText("".join(f"# {line}\n" for line in about) + numbers)
