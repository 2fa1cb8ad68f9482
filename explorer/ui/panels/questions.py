"""Which question is in front, and the way to all others."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.engine.session.session import Session, SessionState
from explorer.figures.captions import parameter_text
from explorer.studies.base.face import essential_keys
from explorer.studies.base.study import parameter, with_unit
from explorer.studies.registry import get_study, study_info
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.panels.presets import preset_in_front

TOLD = 2
"""Parameters that tell what somebody was at; beside a preset's name, one less."""


class QuestionHeader(QWidget):
    """Name and question of the study in front, below a button that leads to all questions.

    Parameters
    ----------
    session : Session
    show_all : callable
        Shows all questions.
    """

    def __init__(self, session: Session, show_all: Callable[[], object]) -> None:
        super().__init__()
        self.all = tool_button("‹ All questions", "All questions (Alt+Home)", quiet=True)
        self.all.clicked.connect(lambda: show_all())
        self.name = styled_label("subtitle", word_wrap=True)
        self.question = styled_label("muted", word_wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 0, 12, 0)
        column.setSpacing(2)
        column.addWidget(self.all, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.name)
        column.addWidget(self.question)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            shown = study_info(state.study)
            self.name.setText(shown.name)
            self.question.setText(shown.question)


def state_words(state: SessionState) -> str:
    """Say in a line what is asked: the question, its preset, its first parameters."""
    study, request = get_study(state.study), state.request
    shown = preset_in_front(state) if study.presets else None
    words = [study_info(state.study).name] + ([shown.name] if shown else [])
    values = dict(request.values)
    for key in essential_keys(study, request)[: TOLD - len(words) + 1]:
        words.append(parameter_text(with_unit(parameter(study, key), values), values[key]))
    return ", ".join(words)[:200]
