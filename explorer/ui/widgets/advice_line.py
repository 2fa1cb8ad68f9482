"""What is recommended for a parameter, below its row, and a link to take it."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from explorer.studies.base.study import Advice, Value

TAKE = "take"


class AdviceLine(QLabel):
    """A sentence and, where something else is chosen, a link.

    Signals
    -------
    taken(str, object)
        Key and value of what is to be set.
    """

    taken = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.setObjectName("muted")
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._advice: Advice | None = None
        self.linkActivated.connect(self._take)
        self.hide()

    def show_advice(self, advice: Advice, chosen: Value) -> None:
        """Say what is recommended where another is chosen, and what to expect of any."""
        self._advice = advice
        parts = [html.escape(advice.caution)] if advice.caution else []
        if chosen != advice.value:
            parts.insert(0, f'{html.escape(advice.reason)} <a href="{TAKE}">Use it</a>')
        text = "<br>".join(parts)
        if text != self.text():
            self.setText(text)
        if self.isHidden() == bool(text):
            self.setVisible(bool(text))

    def _take(self, _link: str) -> None:
        if self._advice is not None:
            self.taken.emit(self._advice.key, self._advice.value)
