"""The Figures workspace: filters, cards and details of presets."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable
from typing import Self

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
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
from explorer.studies.registry import get_study, study_infos
from explorer.ui.base.styled import follow_links, link_labels, styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.gallery.gallery import (
    STATUSES,
    Gallery,
    PresetEntry,
    entries_of,
    paint,
    short_paper,
    thumbnail,
    verdict_colour,
)
from explorer.ui.panels.presets import follow_preset
from explorer.ui.widgets.boxes import CheckBox

DETAIL_WIDTH = 240
PICTURE = 138


class _Picture(QWidget):
    """Enlarged thumbnail."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.entry: PresetEntry | None = None
        self.setFixedHeight(PICTURE)

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
        layout.setContentsMargins(10, 8, 10, 10)
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
        layout.setContentsMargins(12, 8, 8, 8)
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
