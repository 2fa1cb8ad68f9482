"""Building blocks of the wizard's pages: cards, input fields and rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.fields import CHOICE_LABELS, Field
from explorer.ui.widgets.boxes import ChoiceBox

NOT_SELECTED = "choose…"
IN_A_ROW = 4


class Card(QFrame):
    """Frame with a heading and rows.

    Parameters
    ----------
    title : str
        "" for no heading.
    badge : str
        Text beside the heading.
    *actions : QWidget
        Widgets at the right end of the heading.
    """

    def __init__(self, title: str, *actions: QWidget, badge: str = "") -> None:
        super().__init__()
        self.setObjectName("card")
        self.rows = QVBoxLayout(self)
        self.set_narrow(narrow=False)
        if not title:
            return
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title = bold_label(title)
        head.addWidget(self.title)
        if badge:
            head.addWidget(styled_label("badge", badge))
        head.addStretch(1)
        for action in actions:
            head.addWidget(action)
        self.rows.addLayout(head)

    def set_narrow(self, *, narrow: bool) -> None:
        """Set the margins for a small window or a usual one."""
        self.rows.setContentsMargins(*((10, 4, 10, 5) if narrow else (14, 8, 14, 10)))
        self.rows.setSpacing(3 if narrow else 6)

    def add(self, *parts: QWidget) -> None:
        """Stack parts vertically."""
        for part in parts:
            self.rows.addWidget(part)


def bold_label(text: str, points: int = 0) -> QLabel:
    """Return a bold label; a size of 0 means the usual one."""
    label = styled_label("", text)
    font = label.font()
    font.setBold(True)
    if points:
        font.setPointSize(points)
    label.setFont(font)
    return label


def reserved_label(name: str, lines: int, text: str = "") -> QLabel:
    """Return a label with word wrap that always takes the height of some lines."""
    label = styled_label(name, text, word_wrap=True)
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    label.setMinimumWidth(60)
    set_lines(label, lines)
    return label


def set_lines(label: QLabel, lines: int) -> None:
    """Give a label the height of some lines."""
    label.setFixedHeight(label.fontMetrics().lineSpacing() * lines + 2)


def labelled(text: str, part: QWidget) -> QWidget:
    """Place a label above a part."""
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    label = styled_label("faint", text)
    label.setBuddy(part)
    column.addWidget(label)
    column.addWidget(part)
    return widget


def mark_wrong(part: QWidget, *, wrong: bool) -> None:
    """Draw a field with a red frame, or as usual."""
    if bool(part.property("wrong")) != wrong:
        part.setProperty("wrong", wrong)
        part.style().unpolish(part)
        part.style().polish(part)


class PhaseList(QWidget):
    """Phases of a release side by side: done, current and later ones, with a bar while it runs.

    Parameters
    ----------
    theme : Theme
    phases : sequence of (str, str)
        Name and note of each.

    Attributes
    ----------
    current : int
        Index of the running phase; -1 for none.
    """

    def __init__(self, theme: Theme, phases: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._theme, self._phases, self.current = theme, phases, -1
        self.titles = [bold_label(title) for title, _ in phases]
        self._marks = [styled_label("") for _ in phases]
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)  # no share: the duration depends on the noise
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.bar.setStyleSheet("QProgressBar { border: none; min-height: 6px; max-height: 6px; }")
        self.bar.setAccessibleName("The release is running")
        keep = self.bar.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(keep)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for place, (mark, title, (_, note)) in enumerate(
            zip(self._marks, self.titles, phases, strict=True)
        ):
            mark.setFixedSize(20, 20)
            mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(mark, 0, 2 * place)
            grid.addWidget(title, 0, 2 * place + 1)
            grid.addWidget(reserved_label("faint", 2, note), 1, 2 * place + 1)
            grid.setColumnStretch(2 * place + 1, 1)
        grid.addWidget(self.bar, 2, 0, 1, 2 * len(phases))
        theme.changed.connect(lambda: self.show_phase(self.current))
        self.show_phase(-1)

    def show_phase(self, current: int) -> None:
        """Show which phase is running; -1 for none."""
        self.current = current
        self.bar.setVisible(current >= 0)
        colours = self._theme.chrome
        for place, (mark, title) in enumerate(zip(self._marks, self.titles, strict=True)):
            done, now = place < current, place == current
            mark.setText("✓" if done else str(place + 1))
            text = colours.on_accent if now else colours.good if done else colours.muted
            edge = colours.accent if now else colours.good if done else colours.edge
            back = colours.accent if now else "transparent"
            mark.setStyleSheet(
                f"color: {text}; background: {back}; border: 1px solid {edge}; border-radius: 10px;"
            )
            word = "running" if now else "done" if done else "not begun"
            title.setAccessibleName(f"{self._phases[place][0]}: {word}")


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
        self._fields: list[Field] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(1)
        for column in range(in_a_row):
            self._grid.setColumnStretch(column, 1)

    def offer(self, fields: Sequence[Field], text_of: Callable[[str], str]) -> None:
        """Show fields with their texts; the same fields keep their widgets and the focus."""
        if list(fields) == self._fields:
            self.show_texts(text_of)
            return
        self._fields = list(fields)
        for part in (*self._labels, *self.edits.values()):
            self._grid.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.edits, self._labels = {}, []
        row = column = 0
        for field in fields:
            wide = min(field.width, self._columns)
            if column + wide > self._columns:
                row, column = row + 2, 0
            label = styled_label("faint", field.label)
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
        edit.setPlaceholderText(field.example and f"for example: {field.example}")
        edit.textEdited.connect(lambda text, key=field.key: self.typed.emit(key, text))
        return edit

    def _choice(self, field: Field) -> ChoiceBox:
        box = ChoiceBox(field.label)
        labels = {choice: CHOICE_LABELS.get(choice, choice) for choice in field.choices}
        first = NOT_SELECTED if field.needed else f"{labels[field.standard]} (usual)"
        items = [("", first), *labels.items()]
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
