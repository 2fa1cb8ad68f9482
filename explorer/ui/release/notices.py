"""What stands above the pages: notices, and what was interrupted with what can be done about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from explorer.ui.base.styled import styled_label

Offer = tuple[str, Callable[[], object]]
"""A button's text, and what it does."""


class Notices(QWidget):
    """Sentences below each other, some with buttons; hidden where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(12, 6, 12, 0)

    def show_rows(
        self, notices: Iterable[str], offered: Iterable[tuple[str, Sequence[Offer]]]
    ) -> None:
        """Show notices first, then what there is to do."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for notice in notices:
            self._rows.addWidget(styled_label("notes", notice, word_wrap=True))
        for said, offers in offered:
            self._rows.addWidget(_row(said, offers))
        self.setVisible(self._rows.count() > 0)


def _row(said: str, offers: Sequence[Offer]) -> QWidget:
    row = QHBoxLayout(widget := QWidget())
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(styled_label("", said, word_wrap=True), 1)
    for text, does in offers:
        button = QPushButton(text)
        button.setAccessibleName(f"{text}: {said}")
        button.clicked.connect(lambda _=False, does=does: does())
        row.addWidget(button)
    return widget
