"""How far opening a file has come, in a slim line that does not stand in the way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from explorer.ui.base.styled import styled_label

if TYPE_CHECKING:
    from explorer.checkins import Progress


def format_progress(now: Progress) -> str:
    """Write how far a load is: rows, MB, seconds left."""
    parts = [now.stage]
    if now.rows:
        parts.append(f"{now.rows:,} rows")
    done, total = now.bytes_done / 1e6, now.bytes_total / 1e6
    parts.append(f"{done:,.0f} of {total:,.0f} MB" if total >= 10 else f"{total:.1f} MB")
    if now.seconds_left is not None:
        parts.append(f"{max(1, round(now.seconds_left))} s left")
    return " · ".join(parts)


def format_span(first: str | None, last: str | None) -> str:
    """Write a time span in days."""
    if first is None or last is None:
        return "no times in the file"
    begin, end = (datetime.fromisoformat(t).astimezone(UTC) for t in (first, last))
    return f"{begin.day} {begin:%b %Y} – {end.day} {end:%b %Y}"


class LoadBar(QWidget):
    """A slim line with progress and *Cancel* while a file is being opened."""

    cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False, maximum=1000)
        self.bar.setAccessibleName("Progress of opening the file")
        self.bar.setFixedHeight(14)
        self.text = styled_label("muted", word_wrap=True)
        self.button = QPushButton("Cancel")
        self.button.setToolTip("Stop; the data in use stays")
        self.button.clicked.connect(self.cancel)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(3)
        box.addWidget(self.name)
        box.addLayout(row)
        box.addWidget(self.text)
        self.hide()

    def start(self, name: str) -> None:
        """Show that a file is being opened."""
        self.name.setText(f"Opening {name} …")
        self.text.setText("")
        self.bar.setMaximum(0)
        self.button.setEnabled(True)
        self.show()

    def show_progress(self, now: Progress) -> None:
        """Show how far it is."""
        self.bar.setMaximum(1000)
        self.bar.setValue(round(1000 * now.fraction))
        self.text.setText(format_progress(now))
