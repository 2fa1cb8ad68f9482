"""Command palette (Ctrl+K): ranked text search over all entries."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QMainWindow,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)

from explorer.ui.base.styled import styled_label

PREFIX, WORD, WORDS, INSIDE, SUBSEQUENCE = range(5)
"""Ranks, best first: prefix of the name; prefix of a word; every typed word is the prefix of a word
of name or description; substring; subsequence."""


@lru_cache(maxsize=4096)
def fold_text(text: str) -> str:
    """Return the normalised text for comparison: ``ε₀ (local)`` becomes ``epsilon0 local``."""
    letters = []
    for letter in unicodedata.normalize("NFKD", text.casefold()):
        name = unicodedata.name(letter, "")
        if name.startswith("GREEK SMALL LETTER"):
            letters.append(name.rpartition(" ")[2].lower())
        elif letter.isalnum():
            letters.append(letter)
        elif not unicodedata.combining(letter):
            letters.append(" ")
    return " ".join("".join(letters).split())


def rank(query: str, names: tuple[str, ...], more: str = "") -> int | None:
    """Return the rank of an entry for a query: 0 is best, None does not match.

    Parameters
    ----------
    query : str
        Text as typed; an empty one matches everything.
    names : tuple of str
        Name and short names.
    more : str
        Description.
    """
    typed = fold_text(query)
    called = [fold_text(name) for name in names]
    words = " ".join((*called, fold_text(more))).split()
    fits: tuple[Callable[[], bool], ...] = (
        lambda: any(name.startswith(typed) for name in called),
        lambda: any(f" {typed}" in f" {name}" for name in called),
        lambda: all(any(word.startswith(part) for word in words) for part in typed.split()),
        lambda: any(typed in name for name in called),
        lambda: any(_in_order(typed.replace(" ", ""), name) for name in called),
    )
    return next((place for place, fit in enumerate(fits) if fit()), None)


def _in_order(letters: str, name: str) -> bool:
    """Whether a name has all letters, in their order, with others between them."""
    left = iter(name)
    return all(letter in left for letter in letters)


MAX_ROWS = 60
WIDTH, HEIGHT = 640, 430
KEY = "Ctrl+K"
PLACEHOLDER = "Search questions, figures, commands"
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class EntryKind(IntEnum):
    """Kinds of entries, in the order of equal ranks."""

    QUESTION = 0
    FIGURE = 1
    PARAMETER = 2
    COMMAND = 3
    WORD = 4
    PLACE = 5


@dataclass(frozen=True)
class Entry:
    """Entry of the palette.

    Attributes
    ----------
    key : str
        Stable key.
    kind : Found
    name : str
    detail : str
        Description in one sentence.
    do : callable
        Called when the entry is chosen.
    also : tuple of str
        Other names.
    near : bool
        Whether it belongs to the current study.
    assign : callable or None
        Called with the text after ``=``; raises ValueError or OSError.
    words : str
        Further words by which it is found, as those of the description are.
    """

    key: str
    kind: EntryKind
    name: str
    detail: str
    do: Callable[[], object]
    also: tuple[str, ...] = ()
    near: bool = False
    assign: Callable[[str], object] | None = None
    words: str = ""


Source = Callable[[], Iterable[Entry]]


def matching(typed: str, entries: Sequence[Entry], recent: Sequence[str]) -> list[Entry]:
    """Return matching entries, best first; ties by recent use, then the current study.

    With ``eps0 = 2`` only parameters match, and choosing one sets it.
    """
    query, equals, value = (part.strip() for part in typed.partition("="))
    order = {key: place for place, key in enumerate(recent)}
    ranked = []
    for place, entry in enumerate(entries):
        if equals and (entry.assign is None or not query):
            continue
        fit = rank(query, (entry.name, *entry.also), f"{entry.detail} {entry.words}")
        if fit is not None:
            last = order.get(entry.key, len(order))
            ranked.append(((fit, last, not entry.near, entry.kind, place), entry))
    best = [entry for _, entry in sorted(ranked, key=lambda pair: pair[0])][:MAX_ROWS]
    return [_assigning(entry, value) for entry in best] if equals and value else best


def _assigning(entry: Entry, value: str) -> Entry:
    """Return the entry that sets a parameter."""
    assign = entry.assign
    assert assign is not None
    symbol = entry.name.split(" · ", maxsplit=1)[0]
    return replace(entry, name=f"{symbol} = {value}", do=lambda: assign(value))


class Palette(QDialog):
    """Search field and list of matches; Enter runs an entry, Esc closes.

    Signals
    -------
    chosen(str)
        Key of the entry that was run.
    """

    chosen = Signal(str)

    def __init__(self, parent: QMainWindow) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._around = parent
        self.setObjectName("palette")
        self.setAccessibleName("Find anything")
        self.field = QLineEdit(placeholderText=PLACEHOLDER)
        self.field.setAccessibleName(PLACEHOLDER)
        self.rows = QTreeWidget(columnCount=2)
        self.rows.setRootIsDecorated(False)
        self.rows.setUniformRowHeights(True)
        self.rows.setAccessibleName("What fits")
        self.rows.setHeaderHidden(True)
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.header().setStretchLastSection(False)
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.about = styled_label("muted", word_wrap=True)
        self.about.setMinimumHeight(2 * self.about.fontMetrics().lineSpacing())
        column = QVBoxLayout(self)
        for part in (self.field, self.rows, self.about):
            column.addWidget(part)
        column.setStretch(1, 1)
        self._entries: list[Entry] = []
        self._shown: list[Entry] = []
        self._recent: Sequence[str] = ()
        self._sources: list[Source] = []
        self.direct: Callable[[str], Entry | None] = lambda _typed: None
        """Returns an entry for a typed text (a link), or None."""
        self.more: Callable[[str], Iterable[Entry]] = lambda _typed: ()
        """Returns entries that are looked up for a typed text (places), shown last."""
        self._more = QTimer(self)
        self._more.setInterval(0)
        self._more.timeout.connect(self._read_on)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.rows.currentItemChanged.connect(self._tell)
        self.rows.itemClicked.connect(self.choose)

    @property
    def current(self) -> Entry | None:
        """Entry that Enter runs."""
        row = self.rows.indexOfTopLevelItem(self.rows.currentItem())
        return self._shown[row] if 0 <= row < len(self._shown) else None

    @property
    def reading(self) -> bool:
        """Whether sources are still being read."""
        return bool(self._sources)

    def open_with(self, sources: Sequence[Source], recent: Sequence[str], typed: str = "") -> None:
        """Open; the first source is read now, the others while idle."""
        window = self._around
        self.resize(min(WIDTH, window.width() - 40), min(HEIGHT, window.height() - 60))
        self.move(window.mapToGlobal(QPoint((window.width() - self.width()) // 2, 34)))
        self._recent, self._sources = tuple(recent), list(sources)
        self._entries = list(self._sources.pop(0)())
        self.field.setText(typed)
        self._search()
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self._more.start()

    def choose(self, *_: object) -> None:
        """Run the current entry and close; stay open if it fails."""
        entry = self.current
        if entry is None:
            return
        self.hide()  # first, because it may open a dialog or take the focus
        try:
            entry.do()
        except (ValueError, OSError) as error:
            self.show()
            self._say(str(error))
            return
        self.chosen.emit(entry.key)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading sources."""
        self._more.stop()
        super().hideEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list and run entries while the focus stays in the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _MOVES:
                self.rows.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.choose()
                return True
        return super().eventFilter(watched, event)

    def _read_on(self) -> None:
        """Read one more source while idle."""
        if self._sources:
            self._entries += self._sources.pop(0)()
            self._search()
        if not self._sources:
            self._more.stop()

    def _search(self, *_: object) -> None:
        before, moved = self.current, self.sender() is self._more
        typed = self.field.text()
        direct = self.direct(typed)
        found = matching(typed, self._entries, self._recent)
        self._shown = [direct] if direct else (found + list(self.more(typed)))[:MAX_ROWS]
        self.rows.clear()
        kinds = [entry.kind.name.capitalize() for entry in self._shown]
        items = [QTreeWidgetItem([e.name, k]) for e, k in zip(self._shown, kinds, strict=True)]
        self.rows.addTopLevelItems(items)
        keys = [entry.key for entry in self._shown]
        keep = keys.index(before.key) if moved and before and before.key in keys else 0
        if items:
            self.rows.setCurrentItem(items[keep])
        else:
            self._say(
                "searching…"
                if self._sources
                else "No results. Try another word, such as “shuffle” or “heatmap”."
            )

    def _tell(self, *_: object) -> None:
        entry = self.current
        if entry is not None:
            self._say(entry.detail, f"{entry.name}, {entry.kind.name.lower()}: {entry.detail}")

    def _say(self, words: str, spoken: str = "") -> None:
        """Show a message below the list, also as description of the field."""
        self.about.setText(words)
        self.field.setAccessibleDescription(spoken or words)
