"""The parameters of the study in front, made only from what it declares."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from explorer.engine.session import Session, SessionState
from explorer.studies.model import Study, Value, relevant
from explorer.studies.registry import get_study
from explorer.ui.widgets.parameter_row import ParameterRow, make_row


class _Page(QWidget):
    """The rows of one study."""

    def __init__(self, study: Study, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, ParameterRow] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 8)
        layout.setSpacing(2)
        for parameter in study.parameters:
            if parameter.axis_only:
                continue
            row = self.rows[parameter.key] = make_row(parameter, self)
            layout.addWidget(row)
        layout.addStretch(1)


class ParametersPanel(QScrollArea):
    """Sliders and fields of the study in front; what it hears it writes to the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._pages: dict[str, _Page] = {}
        self._shown: tuple | None = None
        self._gestures = 0
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._stack = QStackedWidget()
        self.setWidget(self._stack)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def close_panel(self) -> None:
        """Stop listening."""
        self._session.changed.disconnect(self._state_changed)

    def row(self, key: str) -> ParameterRow:
        """Return the row of a parameter of the study in front."""
        return self._pages[self._session.state.study].rows[key]

    def minimumSizeHint(self) -> QSize:
        """Return a width at which nothing is cut off beside the scroll bar."""
        width = (
            self.widget().minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        )
        return QSize(width, 120)

    def _page(self, study: Study) -> _Page:
        if study.id not in self._pages:
            page = self._pages[study.id] = _Page(study)
            self._stack.addWidget(page)
            for key, row in page.rows.items():
                row.edited.connect(partial(self._edited, study.id, key))
                row.gesture_ended.connect(self._gesture_ended)
        return self._pages[study.id]

    def _edited(self, study_id: str, key: str, value: Value, in_gesture: bool) -> None:
        gesture = f"slide {study_id} {key} {self._gestures}" if in_gesture else None
        try:
            self._session.set_value(key, value, study_id, gesture)
        except ValueError as error:
            self._pages[study_id].rows[key].show_error(str(error))

    def _gesture_ended(self) -> None:
        self._gestures += 1
        self._session.end_gesture()

    def _state_changed(self, state: SessionState, _old: SessionState | None) -> None:
        study = get_study(state.study)
        request = state.request_of(study.id)
        page = self._page(study)
        if self._stack.currentWidget() is not page:
            self._stack.setCurrentWidget(page)
            self.verticalScrollBar().setValue(0)
        for key, row in page.rows.items():
            row.show_value(request[key])
        swept = request.sweep.key if request.sweep is not None else ""
        values = dict(request.values)
        shown = [k for k, r in page.rows.items() if relevant(r.parameter, values, request.quantity)]
        layout = (study.id, swept, shown)
        if layout != self._shown:
            self._shown = layout
            for key, row in page.rows.items():
                row.setVisible(key in shown)
                row.mark_swept(key == swept)
            self.updateGeometry()
