"""Grid of preset cards, grouped by paper, and the entries it shows."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QScrollArea, QWidget

from explorer.figures.captions import parameter_text
from explorer.studies.base.help_page import Preset
from explorer.studies.base.study import Study, parameter, preset_request, with_unit
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Palette, Theme
from explorer.ui.gallery.thumbnails import paint, thumbnail

STATUSES = {
    "=": "as printed",
    "≠": "differs",
    "+": "beyond the paper",
    "▷": "run it to compare",
    "?": "not reproduced",
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
PICTURE = 84
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
        return QSize(MIN_CARD_WIDTH, round(PICTURE + lines + 2.6 * PAD))

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
        width = self.width() - 2 * PAD
        box = QRectF(PAD, PAD, width, PICTURE)
        paint(painter, box, thumbnail(self.entry.study_id, item.key), self._theme.plot)
        space = QRectF(PAD, box.bottom() + 0.5 * PAD, width, self.height() - PICTURE - 2.2 * PAD)
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
