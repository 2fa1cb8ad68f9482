"""Check box and combo box with marks that the style sheet cannot draw; time zone field."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, Qt, QTimeZone, Signal
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QLineEdit,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QToolTip,
    QWidget,
)

from explorer.checkins.parsing.times import RULE


class ChoiceBox(QComboBox):
    """Combo box that may be narrower than its longest entry and ignores the wheel unless focused.

    Parameters
    ----------
    name : str
        Name for screen readers.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setProperty("flat", True)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.cut = ""

    def offer(self, items: Sequence[tuple[Any, str]], chosen: object) -> None:
        """Set the entries (key, text) and the selected key."""
        if [(self.itemData(i), self.itemText(i)) for i in range(self.count())] != list(items):
            self.clear()
            for key, words in items:
                self.addItem(words, key)
        self.setCurrentIndex(self.findData(chosen))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the choice only if focused; otherwise the wheel scrolls the page."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw with elided text and a chevron."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        whole = option.currentText
        option.currentText = option.fontMetrics.elidedText(
            whole, Qt.TextElideMode.ElideRight, field.width() - 8
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        paint_chevron(self)
        self.cut = whole if option.currentText != whole else ""

    def event(self, event: QEvent) -> bool:
        """Show the full text as tool tip if elided."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.cut:
            tip = f"{self.cut}\n{self.toolTip()}".strip()
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)


def paint_chevron(widget: QWidget) -> None:
    """Draw the chevron of a combo box at a widget's right end."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    palette = widget.palette()
    colour = palette.placeholderText() if widget.isEnabled() else palette.mid()
    painter.setPen(QPen(colour.color(), 1.6))
    x, y = widget.width() - 13.0, widget.height() / 2 - 1.5
    painter.drawPolyline(QPolygonF([QPointF(x - 4, y), QPointF(x, y + 4), QPointF(x + 4, y)]))


class CheckBox(QCheckBox):
    """Check box that draws its own tick."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the tick."""
        super().paintEvent(event)
        if not self.isChecked():
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        part = QStyle.SubElement.SE_CheckBoxIndicator
        box = self.style().subElementRect(part, option, self).toRectF()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().highlightedText().color(), 1.8))
        painter.drawPolyline(
            QPolygonF(
                [
                    box.topLeft() + QPointF(x * box.width(), y * box.height())
                    for x, y in ((0.24, 0.52), (0.43, 0.70), (0.77, 0.31))
                ]
            )
        )


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
        self.setToolTip(f"For times without an offset, such as Europe/Vienna. {RULE}")
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
