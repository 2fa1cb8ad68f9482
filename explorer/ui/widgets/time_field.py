"""A field for a date and time, as flat as the fields beside it."""

from PySide6.QtCore import Qt, QTimeZone
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QDateTimeEdit

from explorer.ui.widgets.choice_box import paint_chevron


class TimeField(QDateTimeEdit):
    """A UTC time to the minute, typed or picked from a calendar; ignores a passing wheel.

    Parameters
    ----------
    name : str
        For screen readers and as a tooltip.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setTimeZone(QTimeZone.utc())
        self.setDisplayFormat("yyyy-MM-dd HH:mm")
        self.setCalendarPopup(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the time only if focused: scrolling past must not."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw, with the chevron that lists of choices have."""
        super().paintEvent(event)
        paint_chevron(self)
