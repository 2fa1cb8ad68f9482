"""Text field for a time zone, with completion from the IANA list."""

from PySide6.QtCore import Qt, QTimeZone, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit

from explorer.checkins.parsing.times import RULE

UTC = "UTC"


class ZoneField(QLineEdit):
    """Time zone of times without offset; empty for UTC.

    Signals
    -------
    chosen(str or None)
        Name of a valid zone, or None for UTC.
    refused(str)
        Why the text is not a valid zone.
    """

    chosen = Signal(object)
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__(placeholderText=UTC)
        self.setAccessibleName("Time zone of times without an offset")
        self.setToolTip(
            f"Of times that say nothing about their offset, such as Europe/Vienna. {RULE}"
        )
        self._zones = {bytes(z.data()).decode() for z in QTimeZone.availableTimeZoneIds()}
        names = sorted(name for name in self._zones if name == UTC or "/" in name)
        completer = QCompleter([UTC, *names], self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.setCompleter(completer)
        completer.activated.connect(self._take)
        self.editingFinished.connect(lambda: self._take(self.text()))

    @property
    def zone(self) -> str | None:
        """The time zone as typed; None for UTC."""
        text = self.text().strip()
        return None if text in ("", UTC) else text

    @property
    def problem(self) -> str:
        """Error message; empty if valid."""
        if self.zone is None or self.zone in self._zones:
            return ""
        return (
            f"No time zone is called “{self.zone[:40]}”; take one of the list that opens "
            "while you type a city, such as Europe/Vienna."
        )

    def _take(self, text: str) -> None:
        self.setText(text)
        if self.problem:
            self.refused.emit(self.problem)
        else:
            self.chosen.emit(self.zone)
