"""The list of questions that can be asked."""

from __future__ import annotations

import html

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QSizePolicy, QWidget

from explorer.engine.session import Session, SessionState
from explorer.studies.model import Study
from explorer.studies.registry import get_study, study_ids

_ID = Qt.ItemDataRole.UserRole


class QuestionList(QListWidget):
    """All studies of the registry; choosing one brings it to the front."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("questions")
        self.setAccessibleName("Questions")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for study_id in study_ids():
            self._add(get_study(study_id))
        self._fit()
        self.currentItemChanged.connect(self._chosen)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def close_panel(self) -> None:
        """Stop listening."""
        self._session.changed.disconnect(self._state_changed)

    def _add(self, study: Study) -> None:
        item = QListWidgetItem()
        item.setData(_ID, study.id)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{study.name}: {study.question}")
        references = "<br>".join(html.escape(str(r)) for r in study.references)
        item.setToolTip(f"<p>{html.escape(study.question)}</p><p>{references}</p>")
        words = QLabel(
            f"<b>{html.escape(study.name)}</b><br>"
            f"<span style='font-size:small'>{html.escape(study.question)}</span>"
        )
        words.setTextFormat(Qt.TextFormat.RichText)
        words.setWordWrap(True)
        words.setContentsMargins(10, 5, 8, 5)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.addItem(item)
        self.setItemWidget(item, words)

    def _fit(self) -> None:
        """Give every question the height its words need at the present width."""
        total = 0
        width = max(self.viewport().width(), 180)
        for i in range(self.count()):
            item = self.item(i)
            height = self.itemWidget(item).heightForWidth(width - 4) + 4
            item.setSizeHint(QSize(width - 4, height))
            total += height
        self.setFixedHeight(min(total + 4, 260))

    def resizeEvent(self, event: object) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _chosen(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if item is not None and item.data(_ID) != self._session.state.study:
            self._session.set_study(item.data(_ID))

    def _state_changed(self, state: SessionState, _old: SessionState | None) -> None:
        for i in range(self.count()):
            if self.item(i).data(_ID) == state.study and self.currentRow() != i:
                self.setCurrentRow(i)
