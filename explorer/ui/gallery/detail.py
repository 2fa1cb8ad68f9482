"""What a paper says of the chosen preset, and what comes out here."""

from __future__ import annotations

import html

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.gallery.entries import IndexEntry
from explorer.ui.gallery.gallery import verdict_colour
from explorer.ui.gallery.picture import paint
from explorer.ui.gallery.thumbnails import thumbnail
from explorer.ui.widgets.links import follow_links, linked

WIDTH = 240
PICTURE = 138


class _Picture(QWidget):
    """The small picture, larger."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.entry: IndexEntry | None = None
        self.setFixedHeight(PICTURE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw."""
        if self.entry is not None:
            drawn = thumbnail(self.entry.study_id, self.entry.item.key)
            box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            paint(QPainter(self), box, drawn, self._theme.plot)


class Detail(QWidget):
    """The chosen entry in words, and *Open*.

    Signals
    -------
    opened(IndexEntry)
    """

    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._entry: IndexEntry | None = None
        self.setFixedWidth(WIDTH)
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
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self.open = QPushButton("Open (Enter)")
        self.open.setDefault(True)
        self.open.clicked.connect(lambda: self.opened.emit(self._entry))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 10)
        layout.addWidget(area, 1)
        layout.addWidget(self.open)

    def show_entry(self, entry: IndexEntry | None) -> None:
        """Tell of an entry; of none if no entry passes the filter."""
        self._entry = self.picture.entry = entry
        self.open.setEnabled(entry is not None)
        self.picture.setVisible(entry is not None)
        self.name.setText("Nothing passes the filter." if entry is None else entry.item.name)
        self.origin.setText("" if entry is None else f"{entry.study_name} · {entry.paper}")
        self._write()
        self.picture.update()

    def retheme(self) -> None:
        """Take the theme's colours."""
        self._write()
        self.picture.update()

    def _write(self) -> None:
        if self._entry is None:
            self.words.setText("")
            return
        item, parts = self._entry.item, []
        if self._entry.verdict:
            colour = verdict_colour(item.status, self._theme.chrome)
            said = html.escape(self._entry.verdict)
            parts.append(f"<span style='color:{colour}; font-weight:600'>{said}</span>")
        told = (
            ("The paper says", item.published),
            ("Comes out here", item.computed),
            ("Shows", item.about),
            ("Set", self._entry.settings),
        )
        parts += [f"<b>{title}</b><br>{linked(text)}" for title, text in told if text]
        self.words.setText("".join(f"<p style='margin:0 0 9px 0'>{part}</p>" for part in parts))
