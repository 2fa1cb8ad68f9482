"""The list of questions that can be asked."""

import html

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem

from explorer.engine.session.session import Session, SessionState
from explorer.studies.registry import Card, card, cards

_ID = Qt.ItemDataRole.UserRole


class QuestionList(QListWidget):
    """All studies of the registry by family; choosing one brings it to the front.

    Made from cards alone, so that showing it imports no study. The study in front shows its
    question below its name.

    Signals
    -------
    clicked_on(str)
        Id of a study, also of the one in front.
    """

    clicked_on = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setObjectName("questions")
        self.setAccessibleName("Questions")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(96)
        family = ""
        for study in cards():
            if study.family != family:
                family = study.family
                self._add_heading(family)
            self._add(study)
        self._fit()
        self.currentItemChanged.connect(self._chosen)
        self.itemClicked.connect(self._clicked)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def row_of(self, study_id: str) -> int:
        """Return the row of a study (headings have rows too); −1 if it was added since."""
        rows = (i for i in range(self.count()) if self.item(i).data(_ID) == study_id)
        return next(rows, -1)

    def sizeHint(self) -> QSize:
        """Return what shows every question, up to about a third of a window."""
        wanted = sum(self.item(i).sizeHint().height() for i in range(self.count())) + 6
        return QSize(240, min(wanted, 250))

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.88)
        item.setFont(font)
        self.addItem(item)

    def _add(self, study: Card) -> None:
        item = QListWidgetItem()
        item.setData(_ID, study.id)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{study.name}: {study.question}")
        item.setToolTip(f"<p>{html.escape(study.question)}</p>")
        words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        words.setContentsMargins(14, 3, 8, 3)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.addItem(item)
        self.setItemWidget(item, words)
        self._write(item)

    def _write(self, item: QListWidgetItem) -> None:
        study = card(item.data(_ID))
        text = html.escape(study.name)
        if study.id == self._session.state.study:
            question = html.escape(study.question)
            text = f"<b>{text}</b><br><span style='font-size:small'>{question}</span>"
        words = self.itemWidget(item)
        assert isinstance(words, QLabel)
        words.setText(text)

    def _fit(self) -> None:
        """Give every question the height its words need at the present width."""
        # As if the scroll bar were there: whether it is depends on these heights.
        width = max(self.width() - self.verticalScrollBar().sizeHint().width() - 20, 160)
        for i in range(self.count()):
            item = self.item(i)
            words = self.itemWidget(item)
            if words is None:
                height = self.fontMetrics().height() + 6
            else:
                height = words.heightForWidth(width) + 2
            item.setSizeHint(QSize(width, height))
        self.doItemsLayout()  # at once: who scrolls next must find the rows where they will be

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Take the words along, also when scrolled before anything was ever drawn."""
        super().scrollContentsBy(dx, dy)
        self.updateEditorGeometries()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._fit()
        self.scrollToItem(self.currentItem())

    def _chosen(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if item is not None and item.data(_ID) != self._session.state.study:
            self._session.set_study(item.data(_ID))

    def _clicked(self, item: QListWidgetItem) -> None:
        if item.data(_ID) is not None:
            self.clicked_on.emit(item.data(_ID))

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is not None and old.study == state.study:
            return
        for i in range(self.count()):
            if self.item(i).data(_ID) is not None:
                self._write(self.item(i))
        self._fit()
        row = self.row_of(state.study)
        if self.currentRow() != row:
            self.setCurrentRow(row)
        if row >= 0:
            self.scrollToItem(self.item(row))
