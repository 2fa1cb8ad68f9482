"""The Figures workspace: preset cards with thumbnails, grouped by paper, filters and details."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFont,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session
from explorer.figures.captions import parameter_text
from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.figures.style import DASHES, Theme as PlotTheme, theme
from explorer.privacy.core.bound import Role
from explorer.resources import resource_bytes
from explorer.studies.base.help_page import Preset
from explorer.studies.base.result import Mark
from explorer.studies.base.study import Study, parameter, preset_request, with_unit
from explorer.studies.registry import get_study, study_infos
from explorer.ui.base.styled import follow_links, link_labels, styled_label
from explorer.ui.base.theme import Palette, Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.panels.presets import follow_preset
from explorer.ui.widgets.boxes import CheckBox

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


def paint(painter: QPainter, box: QRectF, drawn: Thumbnail | None, plot: PlotTheme) -> None:
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


STATUSES = {
    "=": "as printed",
    "≠": "differs",
    "+": "beyond the paper",
    "▷": "run it to compare",
    "?": "not reproduced here",
}
"""Verdicts by sign, in the order of the check boxes."""


@dataclass(frozen=True, slots=True)
class PresetEntry:
    """A preset in the list.

    Attributes
    ----------
    study_id, study_name : str
    paper : str
        Heading of its group.
    item : Preset
    settings : str
        Parameter values.
    """

    study_id: str
    study_name: str
    paper: str
    item: Preset
    settings: str

    @property
    def verdict(self) -> str:
        """Comparison with the published value, with its sign; empty if not stated."""
        return f"{self.item.status} {self.item.verdict}".strip()

    @property
    def spoken(self) -> str:
        """Text for screen readers."""
        sign = STATUSES.get(self.item.status, "")
        text = ": ".join(filter(None, (sign, self.item.verdict)))
        return ", ".join(filter(None, (self.item.name, self.study_name, text)))

    def has(self, words: str) -> bool:
        """Return whether its texts contain each word, ignoring case."""
        item = self.item
        texts = (
            item.name,
            item.verdict,
            item.about,
            item.published,
            item.computed,
            self.study_name,
            self.paper,
        )
        there = "\n".join(texts).casefold()
        return all(word in there for word in words.casefold().split())


_AUTHORS = re.compile(r"(?P<names>.+?) (?P<year>(?:19|20)\d\d)\b")


def short_paper(paper: str) -> str:
    """Return ``Girgis et al. 2021`` for a paper with authors; other texts unchanged."""
    match = _AUTHORS.match(paper)
    if match is None:
        return paper
    names = re.split(r", | & | and ", match["names"])
    first = names[0] if len(names) == 1 else f"{names[0]} et al."
    return f"{' & '.join(names) if len(names) == 2 else first} {match['year']}"


def entries_of(study: Study) -> list[PresetEntry]:
    """Return the entries of a study, grouped under its first paper."""
    paper = study.references[0].paper if study.references else study.name
    return [PresetEntry(study.id, study.name, paper, p, _settings(study, p)) for p in study.presets]


def _settings(study: Study, item: Preset) -> str:
    request = preset_request(study, item)
    swept = request.sweep.key if request.sweep is not None else ""
    return " · ".join(
        parameter_text(with_unit(parameter(study, key), request.unit_values), request[key])
        for key, _ in item.values
        if key != swept
    )


GAP = 10
MIN_CARD_WIDTH = 172
CARD_PICTURE = 84
PAD = 9
LINES = 4
"""Maximum number of lines for name and verdict."""
SIZES = (1.0, 0.94, 0.88)
"""Font sizes; the first at which both fit is used."""
STEPS_OF = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop


def verdict_colour(status: str, colours: Palette) -> str:
    """Return the colour of a verdict by its sign."""
    return {"=": colours.good, "+": colours.good, "≠": colours.warn}.get(status, colours.muted)


class Card(QAbstractButton):
    """Card of one preset: thumbnail, name, verdict. One card is selected and in the tab order.

    Signals
    -------
    stepped(int, int)
        An arrow key was pressed: columns to the right, rows down.
    opened()
        Double click or Enter.
    """

    stepped = Signal(int, int)
    opened = Signal()

    def __init__(self, entry: PresetEntry, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.entry, self._theme = entry, theme
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(entry.spoken)
        self.setAccessibleDescription(entry.item.about)
        self.setToolTip(f"<p>{html.escape(entry.item.about)}</p>")

    def sizeHint(self) -> QSize:
        """Return the size for thumbnail, name and verdict."""
        lines = LINES * QFontMetricsF(self._bold()).lineSpacing()
        return QSize(MIN_CARD_WIDTH, round(CARD_PICTURE + lines + 2.6 * PAD))

    def _bold(self, size: float = 1.0) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        font.setPointSizeF(size * font.pointSizeF())
        return font

    def nextCheckState(self) -> None:
        """Stay selected when clicked again."""
        self.setChecked(True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the preset."""
        event.accept()
        self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move with the arrow keys, open with Enter."""
        if event.key() in STEPS_OF:
            self.stepped.emit(*STEPS_OF[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Draw the hover state."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the hover state."""
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card."""
        colours, item = self._theme.chrome, self.entry.item
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = self.isChecked()
        edge = colours.accent if selected or self.underMouse() else colours.border
        painter.setPen(QPen(QColor(edge), 2.0 if selected else 1.0))
        painter.setBrush(QColor(colours.accent_soft if selected else colours.field))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.text), 1.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(3, 3, -3, -3), 5, 5)
        width = self.width() - 2 * PAD
        box = QRectF(PAD, PAD, width, CARD_PICTURE)
        paint(painter, box, thumbnail(self.entry.study_id, item.key), self._theme.plot)
        space = QRectF(
            PAD, box.bottom() + 0.5 * PAD, width, self.height() - CARD_PICTURE - 2.2 * PAD
        )
        name, verdict = item.name, self.entry.verdict
        for size in SIZES:
            painter.setFont(self._bold(size))
            metrics = QFontMetricsF(painter.font())
            above = metrics.boundingRect(space, _WRAPPED, name).height()
            below = metrics.boundingRect(space, _WRAPPED, verdict).height()
            if above + below <= space.height():
                break
        painter.setPen(QColor(colours.text))
        painter.drawText(space, _WRAPPED, name)
        painter.setPen(QColor(verdict_colour(item.status, colours)))
        painter.drawText(space.adjusted(0, above, 0, 0), _WRAPPED, verdict)


class Gallery(QScrollArea):
    """Grid of the cards that pass the filter; arrow keys select.

    Signals
    -------
    chosen(IndexEntry or None)
    opened(IndexEntry)
    """

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._theme = theme
        self._page = QWidget()
        self.setWidget(self._page)
        self.cards: list[Card] = []
        self.front: Card | None = None
        self._headings: dict[str, QLabel] = {}
        self._rows: list[list[Card]] = []
        self._shown: set[Card] = set()

    def add(self, entries: list[PresetEntry]) -> None:
        """Create cards for more entries; `show_only` places them."""
        for entry in entries:
            card = Card(entry, self._theme, self._page)
            card.clicked.connect(lambda _on=False, card=card: self.choose(card))
            card.stepped.connect(self._step)
            card.opened.connect(lambda card=card: self._open(card))
            card.hide()
            self.cards.append(card)
            if entry.paper not in self._headings:
                heading = styled_label("heading")
                heading.setParent(self._page)
                self._headings[entry.paper] = heading

    def show_only(self, entries: list[PresetEntry]) -> None:
        """Show the cards of some entries, grouped by paper."""
        keep = {id(entry) for entry in entries}
        self._shown = {card for card in self.cards if id(card.entry) in keep}
        for card in self.cards:
            card.setVisible(card in self._shown)
        self._arrange()
        if self.front not in self._shown:
            first = next((card for row in self._rows for card in row), None)
            self.choose(first, focus=False)

    def choose(self, card: Card | None, focus: bool = True) -> None:
        """Select a card; None for none."""
        if self.front is not None:
            self.front.setChecked(False)
            self.front.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.front = card
        if card is not None:
            card.setChecked(True)
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            if focus:
                card.setFocus(Qt.FocusReason.OtherFocusReason)
                self.ensureWidgetVisible(card, 0, GAP + 24)
        self.chosen.emit(card.entry if card is not None else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place as many cards per row as fit."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        width = self.viewport().width() - 2 * GAP
        columns = max(1, (width + GAP) // (MIN_CARD_WIDTH + GAP))
        each = (width - (columns - 1) * GAP) // columns
        self._rows = []
        y = GAP // 2
        for paper, heading in self._headings.items():
            cards = [c for c in self.cards if c.entry.paper == paper]
            shown = [c for c in cards if c in self._shown]
            heading.setVisible(bool(shown))
            if not shown:
                continue
            count = f"{len(shown)}" if len(shown) == len(cards) else f"{len(shown)} of {len(cards)}"
            metrics = heading.fontMetrics()
            space = width - metrics.horizontalAdvance(f"  ·  {count}  ")
            named = metrics.elidedText(paper, Qt.TextElideMode.ElideRight, space)
            heading.setText(f"{named}  ·  {count}")
            heading.setToolTip(paper)
            heading.setGeometry(GAP, y, width, heading.sizeHint().height())
            y += heading.height() + GAP // 2
            height = shown[0].sizeHint().height()
            for start in range(0, len(shown), columns):
                row = shown[start : start + columns]
                for place, card in enumerate(row):
                    card.setGeometry(GAP + place * (each + GAP), y, each, height)
                self._rows.append(row)
                y += height + GAP
            y += GAP // 2
        self._page.setMinimumHeight(y)

    def _step(self, right: int, down: int) -> None:
        """Select the next card: sideways across rows, up and down in the same column."""
        if self.front is None:
            return
        at = next(i for i, row in enumerate(self._rows) if self.front in row)
        column = self._rows[at].index(self.front)
        if right:
            flat = [card for row in self._rows for card in row]
            place = flat.index(self.front) + right
            if 0 <= place < len(flat):
                self.choose(flat[place])
        elif 0 <= at + down < len(self._rows):
            row = self._rows[at + down]
            self.choose(row[min(column, len(row) - 1)])

    def _open(self, card: Card) -> None:
        self.choose(card)
        self.opened.emit(card.entry)


DETAIL_WIDTH = 240
DETAIL_PICTURE = 138


class _Picture(QWidget):
    """Enlarged thumbnail."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.entry: PresetEntry | None = None
        self.setFixedHeight(DETAIL_PICTURE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the thumbnail."""
        if self.entry is not None:
            drawn = thumbnail(self.entry.study_id, self.entry.item.key)
            box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            paint(QPainter(self), box, drawn, self._theme.plot)


class Detail(QWidget):
    """Details of the selected entry, with *Open*.

    Signals
    -------
    opened(IndexEntry)
    """

    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._entry: PresetEntry | None = None
        self.setFixedWidth(DETAIL_WIDTH)
        self.name = styled_label("sentence", word_wrap=True)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.name.setStyleSheet("font-weight: 600")
        self.origin = styled_label("muted", word_wrap=True)
        self.picture = _Picture(theme)
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.words.setAccessibleName("About the chosen figure")
        follow_links(self.words)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 6, 0)
        column.setSpacing(8)
        for widget in (self.name, self.origin, self.picture, self.words):
            column.addWidget(widget)
        column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the text inside takes the focus
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self.open = QPushButton("Open (Enter)")
        self.open.setDefault(True)
        self.open.clicked.connect(lambda: self.opened.emit(self._entry))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 3, 10, 10)
        layout.addWidget(area, 1)
        layout.addWidget(self.open)

    def show_entry(self, entry: PresetEntry | None) -> None:
        """Show an entry; None if no entry passes the filter."""
        self._entry = self.picture.entry = entry
        self.open.setEnabled(entry is not None)
        self.picture.setVisible(entry is not None)
        self.name.setText("No figure matches the filter." if entry is None else entry.item.name)
        self.origin.setText("" if entry is None else f"{entry.study_name} · {entry.paper}")
        self._write()
        self.picture.update()

    def retheme(self) -> None:
        """Apply the theme's colours."""
        self._write()
        self.picture.update()

    def _write(self) -> None:
        if self._entry is None:
            self.words.setText("")
            return
        item, parts = self._entry.item, []
        if self._entry.verdict:
            colour = verdict_colour(item.status, self._theme.chrome)
            message = html.escape(self._entry.verdict)
            parts.append(f"<span style='color:{colour}; font-weight:600'>{message}</span>")
        summary = (
            ("The paper says", item.published),
            ("Result here", item.computed),
            ("Shows", item.about),
            ("Set", self._entry.settings),
        )
        parts += [f"<b>{title}</b><br>{link_labels(text)}" for title, text in summary if text]
        self.words.setText("".join(f"<p style='margin:0 0 9px 0'>{part}</p>" for part in parts))


WIDTH = 214


class Filters(QWidget):
    """Search field, and check boxes for papers and verdicts.

    Signals
    -------
    changed()
        The filter changed.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedWidth(WIDTH)
        self.words = QLineEdit()
        self.words.setPlaceholderText("Filter: figure 2, 14× …")
        self.words.setAccessibleName("Filter figures")
        self.words.textChanged.connect(self.changed)
        self.papers: dict[str, CheckBox] = {}
        self.statuses: dict[str, CheckBox] = {}
        self._papers_box = QVBoxLayout()
        self._papers_box.setSpacing(5)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 3, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.words)
        layout.addSpacing(4)
        layout.addWidget(styled_label("heading", "Paper"))
        layout.addLayout(self._papers_box)
        layout.addSpacing(6)
        layout.addWidget(styled_label("heading", "Result"))
        for sign, words in STATUSES.items():
            box = self.statuses[sign] = self._box(f"{sign} {words}")
            box.setAccessibleName(words)
            layout.addWidget(box)
        layout.addStretch(1)
        self.retheme()

    def _box(self, text: str) -> CheckBox:
        box = CheckBox(text)
        box.setChecked(True)
        box.toggled.connect(lambda _on: self.changed.emit())
        return box

    def set_entries(self, entries: list[PresetEntry]) -> None:
        """Set the papers of the entries, with their counts."""
        for paper, count in Counter(entry.paper for entry in entries).items():
            if paper not in self.papers:
                box = self.papers[paper] = self._box("")
                box.setToolTip(paper)
                box.setAccessibleName(paper)
                self._papers_box.addWidget(box)
            short = short_paper(paper).replace("&", "&&")
            self.papers[paper].setText(f"{short}  {count}")

    def passes(self, entry: PresetEntry) -> bool:
        """Return whether an entry passes the filter."""
        status = self.statuses.get(entry.item.status)
        return (
            self.papers[entry.paper].isChecked()
            and (status is None or status.isChecked())
            and entry.has(self.words.text())
        )

    def retheme(self) -> None:
        """Colour the signs like the verdicts."""
        for sign, box in self.statuses.items():
            palette = box.palette()
            palette.setColor(palette.ColorRole.WindowText, verdict_colour(sign, self._theme.chrome))
            box.setPalette(palette)


class FiguresWorkspace(Workspace):
    """Lists presets and opens them. Studies are imported one at a time when the tab is shown."""

    alone = True

    def __init__(
        self,
        session: Session,
        theme: Theme,
        show_study: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._theme, self._show_study = session, theme, show_study
        self.filters, self.gallery, self.detail = Filters(theme), Gallery(theme), Detail(theme)
        self.entries: list[PresetEntry] = []
        self._listed: set[str] = set()
        self._next = QTimer(self, singleShot=True)
        self._next.setInterval(0)
        self._next.timeout.connect(self._list_next)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filters)
        layout.addWidget(self.gallery, 1)
        layout.addWidget(self.detail)
        self.filters.changed.connect(self._filter)
        self.gallery.chosen.connect(self.detail.show_entry)
        self.gallery.opened.connect(self.open)
        self.detail.opened.connect(self.open)
        theme.changed.connect(self._retheme)
        self.detail.show_entry(None)

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""
        return cls(window.session, window.theme, window.show_study, window)

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return filter, figures and details."""
        filters = self.filters
        return (filters.words, *filters.papers.values(), filters, self.gallery, self.detail)

    @property
    def listing(self) -> bool:
        """Whether studies are still being listed."""
        return self._next.isActive()

    def open(self, entry: PresetEntry) -> None:
        """Show a preset with its study."""
        follow_preset(self._session, entry.item, entry.study_id)
        self._show_study(entry.study_id)

    def showEvent(self, event: QShowEvent) -> None:
        """List the remaining studies."""
        super().showEvent(event)
        self._next.start()
        self.filters.words.setFocus()

    def minimumSizeHint(self) -> QSize:
        """Return a small size: docks are hidden while this tab is in front."""
        return QSize(240, 200)

    def close_workspace(self) -> None:
        """Stop listing."""
        self._next.stop()

    def _list_next(self) -> None:
        info = next((c for c in study_infos() if c.id not in self._listed), None)
        if info is None:
            return
        self._listed.add(info.id)
        more = entries_of(get_study(info.id))
        self.entries += more
        self.gallery.add(more)
        self.filters.set_entries(self.entries)
        self._filter()
        if self.isVisible():
            self._next.start()

    def _filter(self) -> None:
        self.gallery.show_only([e for e in self.entries if self.filters.passes(e)])

    def _retheme(self) -> None:
        self.filters.retheme()
        self.detail.retheme()
        for card in self.gallery.cards:
            card.update()
