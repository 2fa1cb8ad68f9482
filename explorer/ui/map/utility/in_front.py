"""The answer above the maps: which ε is enough, once that was looked for; else of this draw."""

from __future__ import annotations

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import answer_of
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.curves.answer_strip import AnswerStrip
from explorer.ui.map.utility.toggle import WhichToggle

LINES = 2
"""Of the answer at least; its badge keeps its place too: maps are not to move with its words."""


class MapAnswer(AnswerStrip):
    """Follows the pictures and *Which ε?*; away while there is neither.

    What a newer picture does not know yet stays, in grey.
    """

    def __init__(self, which: WhichToggle) -> None:
        super().__init__()
        self._which = which
        self._drawn: Result | None = None
        self._of_which = False
        self.text.setMinimumHeight(LINES * self.text.fontMetrics().lineSpacing() + 2)
        policy = self.badge.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.badge.setSizePolicy(policy)
        which.spoke.connect(self._say)
        self.clear()

    def clear(self) -> None:
        """Say nothing (no data)."""
        self._drawn = None
        if self._which.spoken is None:
            self.show_none()

    def show_result(self, result: Result, found: Claimed | None = None) -> None:
        """Show what an answer says, if nobody looked for the ε."""
        self._drawn = result
        self._say()

    def _say(self) -> None:
        told, drawn = self._which.spoken, self._drawn
        if told is None and drawn is not None:
            answer = answer_of(get_study(drawn.request.study), drawn, None)
            if answer is None and (self._of_which or self.isHidden()):
                self.show_computing()
            self.set_trailing(answer is None)
        else:
            answer = told
        if answer is not None:
            self.show_answer(answer)
            self.set_trailing(False)
            self._of_which = told is not None
