"""Numbers around the plot: scalar results beside it, tables and diagram below it."""

import html
import math

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.figures import style
from explorer.figures.tables import empty_texts, wide_table
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import format_interval, format_number
from explorer.studies.base.study import Diagram, Node, Result, ScalarResult, Table
from explorer.studies.registry import get_study
from explorer.ui.base.styled import styled_label, tool_button, with_titles
from explorer.ui.bounds.legend import LEGEND_COLUMNS, Legend
from explorer.ui.bounds.reference_curves import PinList
from explorer.ui.widgets.fixed_size_text import FixedSizeText, SelectableLabel
from explorer.ui.widgets.number_table import NumberTable

_HEAD = 8.0
_PAD = 7.0
_APART = 13.0
"""Distance between two arrows that join the same boxes."""


class DiagramView(QWidget):
    """Widget that draws a `Diagram` in the available space."""

    def __init__(self) -> None:
        super().__init__()
        self._diagram = Diagram((), ())
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def show_diagram(self, diagram: Diagram, title: str) -> None:
        """Show a diagram, with a text version for screen readers."""
        self._diagram = diagram
        self.setMinimumWidth(30 * self.fontMetrics().averageCharWidth())
        self.setAccessibleName(title)
        text = [f"{a.start} to {a.end}: {a.text}" for a in diagram.arrows]
        self.setAccessibleDescription("; ".join(text))
        self.setToolTip("<p>" + "<br>".join(text) + "</p>")
        self.update()

    def boxes(self) -> dict[str, QRectF]:
        """Return the rectangles of the boxes in pixels."""
        metrics = QFontMetricsF(self.font())
        rectangles = {}
        for node in self._diagram.nodes:
            lines = node.text.split("\n")
            width = max(metrics.horizontalAdvance(line) for line in lines) + 2 * _PAD
            height = len(lines) * metrics.lineSpacing() + _PAD
            x = _PAD + width / 2 + node.x * max(self.width() - width - 2 * _PAD, 0.0)
            y = height / 2 + 2 + (1.0 - node.y) * max(self.height() - height - 4, 0.0)
            rectangles[node.key] = QRectF(x - width / 2, y - height / 2, width, height)
        return rectangles

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the boxes and arrows."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        theme = style.DARK if palette.base().color().lightness() < 128 else style.LIGHT
        ink = palette.color(QPalette.ColorRole.WindowText)
        boxes = self.boxes()
        for node in self._diagram.nodes:
            self._draw_box(painter, node, boxes[node.key], QColor(theme.grid), ink)
        seen: dict[frozenset[str], int] = {}
        for arrow in self._diagram.arrows:
            ends = frozenset((arrow.start, arrow.end))
            turn = seen[ends] = seen.get(ends, 0) + 1
            several = sum(frozenset((a.start, a.end)) == ends for a in self._diagram.arrows) > 1
            shift = (turn - 1.5) * _APART if several else 0.0
            line = _between(boxes[arrow.start], boxes[arrow.end], shift)
            colour = ink if arrow.holds else QColor(theme.curves[1])
            self._draw_arrow(painter, *line, colour)
            self._draw_text(painter, *line, arrow.text, shift, ink)
        painter.end()

    def _draw_box(
        self, painter: QPainter, node: Node, box: QRectF, border: QColor, ink: QColor
    ) -> None:
        painter.setPen(QPen(border, 1))
        painter.setBrush(self.palette().base())
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(ink)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, node.text)

    def _draw_arrow(self, painter: QPainter, start: QPointF, end: QPointF, ink: QColor) -> None:
        painter.setPen(QPen(ink, 1.2))
        painter.drawLine(start, end)
        angle = math.atan2(end.y() - start.y(), end.x() - start.x())
        sides = [angle + math.pi - 0.4, angle + math.pi + 0.4]
        head = [
            end,
            *(QPointF(end.x() + _HEAD * math.cos(a), end.y() + _HEAD * math.sin(a)) for a in sides),
        ]
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(head))

    def _draw_text(
        self, painter: QPainter, start: QPointF, end: QPointF, text: str, shift: float, ink: QColor
    ) -> None:
        metrics = QFontMetricsF(self.font())
        width, height = metrics.horizontalAdvance(text), metrics.lineSpacing()
        middle = QLineF(start, end).center()
        if abs(end.x() - start.x()) > abs(end.y() - start.y()):
            corner = QPointF(middle.x() - width / 2, middle.y() - height - 1)
        else:
            # Labels stand inside the column; with two arrows each has one line.
            left = middle.x() > self.width() / 2
            x = start.x() - shift + (-1 if left else 1) * (abs(shift) + 6) - left * width
            lower = math.copysign(0.55, shift) * height if shift else 0.0
            corner = QPointF(x, middle.y() + lower - height / 2)
        painter.setPen(ink)
        painter.drawText(QRectF(corner.x(), corner.y(), width + 1, height), 0, text)


def _between(a: QRectF, b: QRectF, shift: float) -> tuple[QPointF, QPointF]:
    """Return an arrow between the edges of two boxes in the same row or column."""
    if abs(a.center().x() - b.center().x()) > abs(a.center().y() - b.center().y()):
        right = b.center().x() > a.center().x()
        y = (a.center().y() + b.center().y()) / 2 + shift
        first, second = (a.right(), b.left()) if right else (a.left(), b.right())
        return QPointF(first, y), QPointF(second, y)
    down = b.center().y() > a.center().y()
    x = (a.center().x() + b.center().x()) / 2 + shift
    first, second = (a.bottom(), b.top()) if down else (a.top(), b.bottom())
    return QPointF(x, first), QPointF(x, second)


STALE_MS = 250
"""Delay after which a table that the newest result does not have yet is greyed."""
_EDGES = {"low": Role.LOWER, "high": Role.UPPER}
"""The ends of a band are rounded outwards."""


class _TablePage(QWidget):
    """One table of the study with its caption."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._shown: Table | None = None
        self.view = NumberTable(table.title)
        self.note = FixedSizeText("faint")
        self.diagram = DiagramView()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.setSpacing(4)
        beside = QHBoxLayout()
        beside.addWidget(self.diagram, 3)
        beside.addWidget(self.view, 2)
        layout.addLayout(beside, 1)
        layout.addWidget(self.note)

    def show_table(self, table: Table) -> None:
        if table == self._shown:
            return
        self._shown = table
        self.diagram.setVisible(table.diagram is not None)
        if table.diagram is not None:
            self.diagram.show_diagram(table.diagram, table.title)
        self.view.title, self.view.note = table.title, table.note
        self.view.setAccessibleName(table.title)
        self.view.setAccessibleDescription(table.note)
        self.view.set_table(table.columns, table.rows, roles=table.roles)
        self.note.setText(table.note)
        if self.note.isHidden() == bool(table.note):
            self.note.setVisible(bool(table.note))


class PlotTables(QTabWidget):
    """Tabs below the plot; a table is updated only while visible.

    Tables come with complete results only: while a slider moves, those of the last result stay, and
    are greyed if the next take long.

    Parameters
    ----------
    legend : LegendArea
        First tab: legend and scalar results.
    import_curve : QAction
        Receives a button beside the tabs.
    here : QWidget
        Says what the values of the legend are for; stands at the right of the tabs.
    """

    def __init__(self, legend: "LegendArea", import_curve: QAction, here: QWidget) -> None:
        super().__init__(documentMode=True)
        self.setObjectName("below")
        self.setAccessibleName("Legend and tables")
        self.tabBar().setDrawBase(False)
        self.tabBar().setExpanding(False)
        self.setUsesScrollButtons(True)
        self._result: Result | None = None
        self._x_symbol = "x"
        self._subject: tuple[str, str] | None = None
        self._fresh = False
        self._pages: dict[str, _TablePage] = {}
        self._tables: dict[str, Table] = {}
        self._late = QTimer(self, singleShot=True)
        self._late.setInterval(STALE_MS)
        self._late.timeout.connect(self._grey)
        self.numbers = NumberTable("All numbers of the plot")
        self._of_legend = NumberTable("Legend")
        """The legend as a table, which is never shown: its menu copies it."""
        self._of_legend.setParent(self)
        self._of_legend.hide()
        self._of_legend.menu.aboutToShow.connect(
            lambda: self._of_legend.set_table(LEGEND_COLUMNS, legend.curves.table())
        )
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.addWidget(self.numbers)
        self.addTab(legend, "Legend")
        self.addTab(page, "Numbers")
        self.setTabToolTip(1, "x and every curve's y, as a table")
        tip = "Copy the table, or what is selected of it (Ctrl+C)"
        self.copy_button = tool_button("Copy as …", tip, link=True)
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        words, tip = import_curve.text().replace("&", ""), import_curve.toolTip()
        self.import_button = tool_button(words, tip, words, link=True)
        self.import_button.clicked.connect(lambda _=False: import_curve.trigger())
        corner = QWidget()
        beside = QHBoxLayout(corner)
        beside.setContentsMargins(0, 0, 14, 0)  # ends where the values do
        beside.setSpacing(4)
        for widget in (self.copy_button, self.import_button, here):
            beside.addWidget(widget)
        self.setCornerWidget(corner, Qt.Corner.TopRightCorner)
        self.currentChanged.connect(self._turned)
        self._turned()

    def show_result(self, result: Result, x_symbol: str) -> None:
        """Show the tables of a result; `x_symbol` names the first column."""
        self._result, self._x_symbol = result, x_symbol
        self._fresh = False
        subject = (result.request.study, result.request.quantity)
        keys = [t.key for t in result.tables]
        coming = subject == self._subject and not result.complete and set(keys) < set(self._pages)
        self._subject = subject
        if not coming and keys != list(self._pages):
            self._rebuild(result.tables)
        for table in result.tables:
            self._tables[table.key] = table
            place = self.indexOf(self._pages[table.key])
            if self.tabText(place) != table.title:
                self.setTabText(place, table.title)
        if not coming:
            self._late.stop()
        elif not self._late.isActive():
            self._late.start()
        self._refresh()

    def show_known(self, known: bool) -> None:
        """Grey the numbers while they are those of an earlier answer, and copy none of them."""
        self.numbers.setEnabled(known)
        if self.currentIndex() == 1:
            self.copy_button.setEnabled(known)

    def page(self, key: str) -> NumberTable:
        """Return the view of a table of the study."""
        return self._pages[key].view

    def table_in_front(self) -> NumberTable | None:
        """Return the visible table; None while the legend is shown."""
        if self.currentIndex() == 1:
            return self.numbers
        page = self.currentWidget()
        return page.view if isinstance(page, _TablePage) else None

    def _rebuild(self, tables: tuple[Table, ...]) -> None:
        while (page := self.widget(2)) is not None:
            self.removeTab(2)
            page.deleteLater()
        self._pages, self._tables = {}, {}
        for table in tables:
            self._pages[table.key] = _TablePage(table)
            self.addTab(self._pages[table.key], table.title)

    def _turned(self, *_: object) -> None:
        view = self.table_in_front() or self._of_legend
        self.copy_button.setEnabled(view.isEnabled())
        self.copy_button.setMenu(view.menu)
        self._fresh = False
        self._refresh()

    def _refresh(self) -> None:
        """Update the visible table."""
        if self._result is None or self._fresh or self.currentIndex() == 0:
            return
        self._fresh = True
        page = self.currentWidget()
        if not isinstance(page, _TablePage):
            self._show_numbers(self._result)
            self.show_known(not self._result.outdated)
            return
        key = next(key for key, there in self._pages.items() if there is page)
        page.show_table(self._tables[key])
        if self._known(key):
            self._enable(page, True)

    def _grey(self) -> None:
        """Grey out tables of the former result until there are new ones."""
        for key, page in self._pages.items():
            self._enable(page, self._known(key))

    def _known(self, key: str) -> bool:
        """Return whether the newest result has a table."""
        return self._result is not None and any(t.key == key for t in self._result.tables)

    def _enable(self, page: _TablePage, known: bool) -> None:
        page.view.setEnabled(known)
        if page is self.currentWidget():
            self.copy_button.setEnabled(known)

    def _show_numbers(self, result: Result) -> None:
        keys, numbers = wide_table(result.series)
        known = {s.key: s for s in result.series}
        study = get_study(result.request.study)
        names, tips = [self._x_symbol], ["Values on the x axis"]
        roles: list[Role | None] = [None]
        for key in keys[1:]:
            series = known.get(key) or known[key.rpartition(":")[0]]
            edge = "" if key in known else key.rpartition(":")[2]
            ending = f", {edge}" if edge else ""
            name = study.short_name(series.key, series.label)
            names.append(f"{series.role.glyph} {name}{ending}")
            tip = f"{series.label}{ending} ({series.role.value}); {series.reference}"
            tips.append("\n".join([with_titles(tip), *empty_texts(series, result.series)]))
            roles.append(_EDGES.get(edge, series.role))
        rows = [[None if math.isnan(v) else v for v in row] for row in numbers.tolist()]
        self.numbers.title = ""
        self.numbers.set_table(names, rows, tips, roles)


_WIDGETSIZE_MAX = 16_777_215
"""Qt's constant for an unlimited size."""


def readout_text(item: ScalarResult) -> str:
    """Return the number or interval of a scalar result with unit and role symbol."""
    glyph = f"{item.role.glyph} " if item.role is not None else ""
    if item.value is not None:
        text = glyph + format_number(item.value, item.role)
    elif item.low is not None and item.high is not None:
        text = format_interval(item.low, item.high)
    else:  # the tooltip states the reason; infinity itself can be shown
        return "infinite" if item.note.startswith("infinite") else "–"
    return f"{text} {item.unit}".rstrip()


def readout_tip(item: ScalarResult) -> str:
    """Return the explanation of a scalar result as rich text; empty for none."""
    lines = []
    if item.role is not None:
        lines.append(f"{item.role.glyph} {item.role.value}")
    if item.note:
        lines.append(html.escape(item.note))
    if item.curator_only:
        lines.append("Curator only: computed from real data without accounting.")
    return "<p>" + "<br>".join(lines) + "</p>" if lines else ""


class _Number(SelectableLabel):
    """Label that grows when needed and never shrinks.

    A label of fixed size does not trigger a new layout of the workspace. Its size hint, which lays
    out a document, is computed only for texts longer than all before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._written = ""
        self._longest = 0

    def write(self, text: str) -> None:
        """Set the text."""
        if text == self._written:
            return
        self._written = text
        self.setText(text)
        length = self.fontMetrics().horizontalAdvance(text)
        if length > self._longest:
            self._longest = length
            self.setFixedSize(self.sizeHint().expandedTo(self.minimumSize()))

    def reset(self) -> None:
        """Reset the size: other results are shown from now on."""
        self._written, self._longest = "", 0
        self.setText("")
        self.setMinimumSize(0, 0)
        self.setMaximumSize(_WIDGETSIZE_MAX, _WIDGETSIZE_MAX)


class ReadoutsTable(QWidget):
    """Grid of labels and numbers; unused rows are reused."""

    def __init__(self, title: str = "Numbers") -> None:
        super().__init__()
        self.setAutoFillBackground(True)  # opaque, as the legend
        self._keys: list[str] = []
        self._cells: list[tuple[QLabel, _Number]] = []
        self._built: list[tuple[QLabel, _Number]] = []
        self._shown: list[ScalarResult | None] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(styled_label("heading", title), 0, 0, 1, 2)

    def show_readouts(self, readouts: tuple[ScalarResult, ...]) -> None:
        """Show scalar results."""
        if self.isHidden() == bool(readouts):
            self.setVisible(bool(readouts))
        if [r.key for r in readouts] != self._keys:
            self._rebuild(readouts)
        for (label, number), item, before in zip(self._cells, readouts, self._shown, strict=True):
            if item == before:
                continue
            if before is None or item.label != before.label:
                label.setText(item.label)
            number.write(readout_text(item))
            tip = readout_tip(item)
            if tip != number.toolTip():
                for cell in (label, number):
                    cell.setToolTip(tip)
        self._shown = list(readouts)

    def preferred_width(self) -> int:
        """Return the width at which nothing is elided; 0 without results.

        Unlike the layout's own hint it includes rows that were just created and are shown only by
        the event loop.
        """
        if not self._cells:
            return 0
        labels = max(label.sizeHint().width() for label, _ in self._cells)
        numbers = max(number.minimumWidth() for _, number in self._cells)
        return labels + numbers + self._grid.horizontalSpacing()

    def text_of(self, key: str) -> str:
        """Return the text beside the label of a scalar result."""
        return self._cells[self._keys.index(key)][1].text()

    def _rebuild(self, readouts: tuple[ScalarResult, ...]) -> None:
        while len(self._built) < len(readouts):
            label, number = styled_label("muted"), _Number()
            self._built.append((label, number))
            for column, cell in enumerate((label, number)):
                self._grid.addWidget(cell, len(self._built), column)
        self._keys = [r.key for r in readouts]
        self._cells, self._shown = self._built[: len(readouts)], [None] * len(readouts)
        for place, (label, number) in enumerate(self._built):
            number.reset()
            for cell in (label, number):
                if cell.isHidden() == (place < len(readouts)):
                    cell.setVisible(place < len(readouts))


_SIDE_BY_SIDE = 620
"""Width in pixels from which legend and numbers stand side by side."""


class LegendArea(QScrollArea):
    """Legend (`curves`), pins and scalar results."""

    def __init__(self, legend: Legend, pins: PinList, readouts: ReadoutsTable) -> None:
        super().__init__(widgetResizable=True)
        self.curves, self._readouts = legend, readouts
        inner = QWidget()
        # Rows that do not fit are scrolled to, not squeezed.
        inner.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        self._columns.setContentsMargins(14, 6, 14, 8)
        self._columns.setSpacing(28)
        curves = QVBoxLayout()
        curves.setSpacing(0)
        curves.addWidget(pins)
        curves.addWidget(legend)
        curves.addStretch(1)
        self._columns.addLayout(curves, 1)
        self._columns.addWidget(readouts, 0, Qt.AlignmentFlag.AlignTop)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its rows take the focus, and scroll it
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    @property
    def side_by_side(self) -> bool:
        """Whether the numbers stand beside the legend."""
        return self._columns.direction() is QBoxLayout.Direction.LeftToRight

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt to the new size."""
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Place the numbers beside the legend if both fit, else below."""
        wanted = self.curves.preferred_width() + self._readouts.preferred_width() + 70
        wide = self.width() >= max(_SIDE_BY_SIDE, wanted)
        if wide != self.side_by_side:
            direction = QBoxLayout.Direction
            self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
            self._columns.setSpacing(28 if wide else 10)
