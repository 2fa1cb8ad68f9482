"""Building blocks of the plan page: numbered steps and input rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.draft import Point
from explorer.ui.release.fields import Field
from explorer.ui.widgets.boxes import ChoiceBox

NOT_SELECTED = "choose…"
IN_A_ROW = 4


class StepCard(QFrame):
    """One of the five steps: state (✓ or ✗), title and message.

    Parameters
    ----------
    number : int
    title : str
    theme : Theme
    hint : str
        Text beside the title.
    """

    def __init__(self, number: int, title: str, theme: Theme, hint: str = "") -> None:
        super().__init__()
        self._theme, self._name = theme, f"{number} {title}"
        self.ok = False
        self.setObjectName("card")
        self.mark, self.title = plain_label("✗"), styled_label("", self._name)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.mark.setFont(font)
        self.message = styled_label("muted", word_wrap=True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)  # may contain a file's text
        self.message.setMinimumWidth(120)
        self.rows = QVBoxLayout()
        self.rows.setSpacing(4)
        # The message stands beside the title, so that all five steps fit without scrolling.
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.title, 0, Qt.AlignmentFlag.AlignTop)
        if hint:
            head.addWidget(styled_label("muted", hint), 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.message, 1)
        self.rows.addLayout(head)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 5, 12, 6)
        layout.setSpacing(12)
        layout.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(self.rows, 1)

    def add(self, *parts: QWidget) -> None:
        """Stack parts vertically."""
        for part in parts:
            self.rows.addWidget(part)

    def show_point(self, point: Point) -> None:
        """Show whether the step is complete, with a message."""
        self.ok = point.ok
        colours = self._theme.chrome
        colour = colours.good if point.ok else colours.bad
        self.mark.setText("✓" if point.ok else "✗")
        self.mark.setStyleSheet(f"color: {colour};")
        self.message.setStyleSheet("" if point.ok else f"color: {colours.bad};")
        self.message.setText(point.message)
        state = "answered" if point.ok else "not answered"
        self.mark.setAccessibleName(f"{self._name}: {state}")
        self.setAccessibleName(f"{self._name}: {state}. {point.message}")


class TypedFields(QWidget):
    """Fields of a mechanism or a file, several per row.

    Signals
    -------
    typed(str, str)
        Key of a field and its text.
    """

    typed = Signal(str, str)

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        super().__init__()
        self._columns = in_a_row
        self.edits: dict[str, QLineEdit | ChoiceBox] = {}
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(1)
        for column in range(in_a_row):
            self._grid.setColumnStretch(column, 1)

    def offer(self, fields: Sequence[Field], text_of: Callable[[str], str]) -> None:
        """Show fields with their texts."""
        for part in (*self._labels, *self.edits.values()):
            self._grid.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.edits, self._labels = {}, []
        row = column = 0
        for field in fields:
            wide = 2 if len(field.example) > 22 else 1
            if column + wide > self._columns:
                row, column = row + 2, 0
            label = styled_label("faint", field.label + (" (optional)" if not field.needed else ""))
            edit = self._choice(field) if field.choices else self._edit(field)
            label.setBuddy(edit)
            edit.setToolTip(field.tip)
            self._grid.addWidget(label, row, column, 1, wide)
            self._grid.addWidget(edit, row + 1, column, 1, wide)
            self.edits[field.key] = edit
            self._labels.append(label)
            column += wide
        self.show_texts(text_of)

    def show_texts(self, text_of: Callable[[str], str]) -> None:
        """Set the texts without emitting a signal."""
        for key, edit in self.edits.items():
            text = text_of(key)
            with QSignalBlocker(edit):
                if isinstance(edit, ChoiceBox):
                    edit.setCurrentIndex(max(edit.findData(text), 0))
                elif edit.text() != text:
                    edit.setText(text)

    def _edit(self, field: Field) -> QLineEdit:
        edit = QLineEdit()
        edit.setAccessibleName(field.label)
        edit.setPlaceholderText(field.example and f"such as {field.example}")
        edit.textEdited.connect(lambda text, key=field.key: self.typed.emit(key, text))
        return edit

    def _choice(self, field: Field) -> ChoiceBox:
        box = ChoiceBox(field.label)
        items = [("", NOT_SELECTED), *((choice, choice) for choice in field.choices)]
        box.offer(items, "")
        box.currentIndexChanged.connect(
            lambda _, key=field.key, box=box: self.typed.emit(key, box.currentData())
        )
        return box


def row_of(wide: QWidget, *others: QWidget, first: bool = True) -> QWidget:
    """Place parts side by side; the wide one is first or last."""
    widget = QWidget()
    row = QHBoxLayout(widget)
    row.setContentsMargins(0, 0, 0, 0)
    for part in (wide, *others) if first else (*others, wide):
        row.addWidget(part, int(part is wide))
    return widget
