"""Which presets are listed: by words, paper, and how what comes out compares."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.gallery.entries import STATUSES, IndexEntry, short_paper
from explorer.ui.gallery.gallery import verdict_colour
from explorer.ui.widgets.check_box import CheckBox

WIDTH = 214


class Filters(QWidget):
    """A field for words, a tick box a paper and one a sign.

    Signals
    -------
    changed()
        Other entries pass.
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
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.words)
        layout.addSpacing(4)
        layout.addWidget(styled_label("heading", "Paper"))
        layout.addLayout(self._papers_box)
        layout.addSpacing(6)
        layout.addWidget(styled_label("heading", "Comes out"))
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

    def set_entries(self, entries: list[IndexEntry]) -> None:
        """Offer the papers of these entries, with how many there are of each."""
        for paper, count in Counter(entry.paper for entry in entries).items():
            if paper not in self.papers:
                box = self.papers[paper] = self._box("")
                box.setToolTip(paper)
                box.setAccessibleName(paper)
                self._papers_box.addWidget(box)
            short = short_paper(paper).replace("&", "&&")
            self.papers[paper].setText(f"{short}  {count}")

    def passes(self, entry: IndexEntry) -> bool:
        """Return whether an entry is to be listed."""
        status = self.statuses.get(entry.item.status)
        return (
            self.papers[entry.paper].isChecked()
            and (status is None or status.isChecked())
            and entry.has(self.words.text())
        )

    def retheme(self) -> None:
        """Colour the signs as the verdicts are."""
        for sign, box in self.statuses.items():
            palette = box.palette()
            palette.setColor(palette.ColorRole.WindowText, verdict_colour(sign, self._theme.chrome))
            box.setPalette(palette)
