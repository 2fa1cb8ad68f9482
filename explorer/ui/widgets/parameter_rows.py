"""Input rows for parameters, one class per kind."""

import html
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.parameters import RELEASED, files_of, names_of
from explorer.studies.base.phrases import names_unit
from explorer.studies.base.study import Kind, Parameter, Value
from explorer.ui.base.playback import RunButton
from explorer.ui.base.styled import styled_label
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel
from explorer.ui.widgets.number_slider import NumberSlider
from explorer.ui.widgets.value_field import EXAMPLES, ValueField, rich

SHORT_EXAMPLES = "Try 200k or 2e5."
"""Instead of `EXAMPLES` where there is little space."""
_TABLE_LINES = 5


class ParameterRow(QWidget):
    """Base class of rows that show and edit a parameter.

    Signals
    -------
    edited(object, bool)
        New value, and whether it is part of a running gesture.
    refused(str)
        Why what is typed is not used; empty once it is mended.
    gesture_ended()
    """

    edited = Signal(object, bool)
    gesture_ended = Signal()
    refused = Signal(str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.setObjectName(f"parameter-{parameter.key}")
        self.setToolTip(_tooltip(parameter))

    @abstractmethod
    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""

    def stops(self) -> list[QWidget]:
        """Return the widgets that Tab stops at, in order."""
        inside = (w for w in self.findChildren(QWidget) if w.window() is self.window())
        return [w for w in inside if w.focusPolicy() & Qt.FocusPolicy.TabFocus]

    def show_error(self, why: str) -> None:
        """Show why a value is invalid."""

    def mark_swept(self, swept: bool) -> None:
        """Mark the parameter on the x axis."""

    def show_unit(self, unit: str) -> None:
        """Show a unit that depends on another parameter."""


class NumberRow(ParameterRow):
    """Run button, label, number field, and slider with labelled ends."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        p = parameter
        self.label = label_of(p)
        self.swept = styled_label("tag", "x axis")
        self.swept.setToolTip("This parameter is on the x axis; the vertical line marks its value.")
        self.swept.hide()
        self.field = ValueField(self._checked)
        self.field.setFixedWidth(88)
        self.field.setAccessibleName(f"{p.symbol} {p.name}, value")
        self.field.set_help(_tooltip(p))
        self.slider = NumberSlider(p)
        self.slider.setAccessibleName(f"{p.symbol} {p.name}, slider")
        self._told: float | None = None
        self._describe(p.low)
        self.label.setBuddy(self.field)
        self.run = RunButton(f"{p.symbol} {p.name}".strip())

        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(4)
        top.addWidget(self.run)
        top.addWidget(self.label, 1)
        top.addWidget(self.field)
        beside = QWidget()
        ends = QHBoxLayout(beside)
        ends.setContentsMargins(2, 0, 2, 0)
        for side, number in (("low", p.low), ("high", p.high)):
            end = styled_label("faint", _end(p, side, number))
            ends.addWidget(end)
            self.high_end = end
            if side == "low":
                ends.addStretch(1)
                ends.addWidget(self.swept)
                ends.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 3, 0, 4)
        layout.setSpacing(1)
        layout.addLayout(top)
        keeps = self.slider.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self.slider.setSizePolicy(keeps)
        self.either: list[QPushButton] = []
        """One for each number that a typed text could be, in the slider's place."""
        self._track = QGridLayout()
        self._track.addWidget(self.slider, 0, 0, 1, 2)
        layout.addLayout(self._track)
        # What is wrong takes the place of the ends, so that nothing moves.
        self.reason = FixedSizeLabel()
        self.reason.setObjectName("reason")
        self._below = QStackedLayout()
        layout.addLayout(self._below)  # before its widgets: without parent the first is shown
        self._below.addWidget(beside)
        self._below.addWidget(self.reason)

        self.field.refused.connect(self._show_reason)
        self.field.entered.connect(lambda number: self.edited.emit(number, False))
        self.field.stepped.connect(self.slider.step)
        self.slider.number_moved.connect(self._moved)
        self.slider.gesture_ended.connect(self.gesture_ended)

    def stops(self) -> list[QWidget]:
        """Return field, slider and run button."""
        middle: Sequence[QWidget] = self.either or [self.slider]
        return [self.field, *middle, self.run]

    def _checked(self, number: float) -> float:
        """Validate a typed number; errors are sentences without the option's key."""
        low, high = self.parameter.low, self.parameter.high
        if not low <= number <= high:
            raise ValueError(f"Choose a value from {format_number(low)} to {format_number(high)}.")
        try:
            checked = self.parameter.parse(number)
        except ValueError as error:
            why = str(error).removeprefix(f"{self.parameter.key}: ")
            raise ValueError(f"{why[:1].upper()}{why[1:]}.") from None
        assert not isinstance(checked, str)
        return checked

    def _show_reason(self, why: str) -> None:
        """Show below the slider why what is typed is not used, or the ends again.

        Of two numbers that it could be, one is chosen in the slider's place.
        """
        for button in self.either:
            button.deleteLater()
        readings = self.field.readings if why else ()
        self.either = [QPushButton(format_number(number)) for number in readings]
        before: QWidget = self.field
        for place, (button, number) in enumerate(zip(self.either, readings, strict=True)):
            button.setFixedHeight(self.slider.height())
            button.setStyleSheet("padding: 0")
            button.clicked.connect(partial(self.field.take, number))
            self._track.addWidget(button, 0, place)
            self.setTabOrder(before, button)
            before = button
        self.slider.setVisible(not readings)
        short = f"{why.partition('?')[0]}?" if readings else why.replace(EXAMPLES, SHORT_EXAMPLES)
        self.reason.setText(short)
        self.reason.setToolTip(why)
        self._below.setCurrentIndex(int(bool(why)))
        self.refused.emit(why)

    def _describe(self, number: float) -> None:
        """Set the accessible description: ``ε₀, local privacy, 2, more private to the left``."""
        if number == self._told:
            return  # called for each row with every slider move
        self._told, p = number, self.parameter
        sides = {"low": "more private to the left", "high": "more private to the right"}
        side = sides.get(p.more_private, "")
        text = format_number(number, digits=PARAMETER_DIGITS)
        words = ", ".join(filter(None, (p.symbol, p.name, text, side)))
        more = " ".join(filter(None, (p.help, "" if side else direction(p))))
        self.slider.setAccessibleDescription(f"{words}. {more}")

    def _moved(self, number: float) -> None:
        self.field.set_number(number)
        self._describe(number)
        self.edited.emit(number, True)

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        assert not isinstance(value, str)
        self.slider.set_number(value)
        self.field.set_number(value)
        self._describe(value)

    def show_error(self, why: str) -> None:
        """Show why a value is invalid."""
        self.field.reject(why)

    def mark_swept(self, swept: bool) -> None:
        """Mark the parameter on the x axis."""
        self.swept.setVisible(swept)

    def show_unit(self, unit: str) -> None:
        """Show a unit that depends on another parameter."""
        p = replace(self.parameter, unit=unit)
        self.high_end.setText(_end(p, "high", p.high))
        self.slider.set_unit(unit)
        self.setToolTip(_tooltip(p))
        self.field.set_help(_tooltip(p))


class ChoiceRow(ParameterRow):
    """Label and combo box."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.label = label_of(parameter)
        self.box = ChoiceBox(parameter.name)
        for value, words in parameter.choices:
            self.box.addItem(words, value)
        self.label.setBuddy(self.box)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.setSpacing(3)
        layout.addWidget(self.label)
        layout.addWidget(self.box)
        self.box.activated.connect(lambda i: self.edited.emit(self.box.itemData(i), False))

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        self.box.setCurrentIndex(self.box.findData(value))


class FlagRow(ParameterRow):
    """Check box."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        name = " ".join(filter(None, (parameter.symbol, parameter.name)))
        self.box = CheckBox(name[:1].upper() + name[1:])
        self.box.setAccessibleName(parameter.name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.addWidget(self.box)
        self.box.clicked.connect(lambda checked: self.edited.emit(checked, False))

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        self.box.setChecked(bool(value))


class TableField(QPlainTextEdit):
    """Text field for rows of numbers; Ctrl+Return or leaving it applies them, Tab moves on."""

    def __init__(self, take: Callable[[], None]) -> None:
        super().__init__()
        self._take = take
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _TABLE_LINES + 14)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Apply at Ctrl+Return."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._take()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Apply when the focus leaves."""
        super().focusOutEvent(event)
        self._take()


class TableRow(ParameterRow):
    """Label, text field with one row per line, apply button and error message."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._value = ""
        self.label = label_of(parameter)
        self.field = TableField(self.take)
        self.field.setAccessibleName(f"{parameter.name}, one row a line")
        self.label.setBuddy(self.field)
        self.button = QPushButton("Use these numbers")
        self.button.setAccessibleName(f"Use {parameter.name}")
        self.button.setToolTip("Ctrl+Return does the same")
        self.error = styled_label("notes", word_wrap=True)
        self.error.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.setSpacing(3)
        for widget in (self.label, self.field, self.button, self.error):
            layout.addWidget(widget)
        self.button.clicked.connect(self.take)

    def take(self) -> None:
        """Emit the typed value, if it is valid and differs from the present one."""
        try:
            value = self.parameter.parse(self.field.toPlainText())
        except ValueError as error:
            self.show_error(str(error).removeprefix(f"{self.parameter.key}, "))
            return
        self.error.hide()
        if value != self._value:
            self._value = str(value)
            self.edited.emit(value, False)

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        self._value = str(value)
        self.error.hide()
        with QSignalBlocker(self.field):
            self.field.setPlainText("\n".join(row.strip() for row in self._value.split(";")))

    def show_error(self, why: str) -> None:
        """Show why the numbers are invalid; the text stays."""
        self.error.setText(why[:1].upper() + why[1:])
        self.error.show()


def _end(p: Parameter, side: str, number: float) -> str:
    """Return the label at an end of the slider."""
    words = format_number(number)
    if p.unit and side == "high" and not names_unit(p.name, p.unit) and not _long(p.unit):
        words += f" {p.unit}"
    if p.more_private == side:
        words = f"{words} · more private" if side == "low" else f"more private · {words}"
    return words


def _long(unit: str) -> bool:
    """Whether a unit is too long for the slider's end and stands beside the name."""
    return len(unit) > 7


def label_of(p: Parameter) -> QLabel:
    """Return the label of a parameter: symbol and name."""
    symbol = f"<b>{rich(p.symbol)}</b>&nbsp; " if p.symbol else ""
    name = p.name if p.symbol else p.name[:1].upper() + p.name[1:]
    if _long(p.unit):
        name += f" ({p.unit})"
    label = QLabel(symbol + html.escape(name), textFormat=Qt.TextFormat.RichText)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    label.setMinimumWidth(60)
    label.setWordWrap(True)
    return label


def direction(p: Parameter) -> str:
    """Return the more private direction, unless the help states it."""
    if not p.numeric or "more private" in p.help:
        return ""
    if p.more_private:
        return f"{'Smaller' if p.more_private == 'low' else 'Larger'} is more private."
    if p.group == "simulation":
        return "Changes nothing about privacy."
    return "Neither direction is always more private."


def _tooltip(p: Parameter) -> str:
    parts = [f"<b>{rich(' '.join(filter(None, (p.symbol, p.name))))}</b>"]
    parts.append(html.escape(" ".join(filter(None, (p.help, direction(p))))))
    if p.numeric and not isinstance(p.default, str):
        unit = f" {html.escape(p.unit)}" if p.unit else ""
        parts.append(
            f"From {format_number(p.low)} to {format_number(p.high)}{unit}; "
            f"starts at {format_number(p.default)}."
        )
    return "<p style='white-space:normal'>" + "<br>".join(parts) + "</p>"


class FileRow(ParameterRow):
    """File name, with buttons to open and clear; accepts dropped files.

    `chosen` passes on a selected path; once the file is read, the receiver sets the parameter or
    calls `show_error`.

    Signals
    -------
    chosen(Path)
    """

    chosen = Signal(object)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.folder = ""
        self._value = ""
        what = "folder" if self.wants_folder else "file"
        self.label = label_of(parameter)
        self.shown = self._shown(what)
        self.open_button = QPushButton("Open…")
        self.open_button.setAccessibleName(f"Open {parameter.name}")
        self.open_button.setToolTip(f"Choose a {what} ({self.kinds}), or drop it here")
        self.clear_button = QPushButton("Clear")
        self.clear_button.setAccessibleName(f"Clear {parameter.name}")
        self.clear_button.setToolTip(f"Do without a {what}")
        self.error = styled_label("notes", word_wrap=True)
        self.error.hide()
        self.label.setBuddy(self.shown)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(6)
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.clear_button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.setSpacing(3)
        layout.addWidget(self.label)
        layout.addWidget(self.shown)
        layout.addLayout(buttons)
        layout.addWidget(self.error)
        self.setAcceptDrops(True)
        self.shown.setAcceptDrops(False)  # drops on it are handled by the row
        self.open_button.clicked.connect(self.choose)
        self.clear_button.clicked.connect(self._clear)

    def _shown(self, what: str) -> QWidget:
        """Return a new widget that shows what is open."""
        self.field = QLineEdit(readOnly=True)
        self.field.setPlaceholderText(f"no {what}")
        self.field.setAccessibleName(f"{self.parameter.name}, name of the {what}")
        return self.field

    def _clear(self) -> None:
        self.edited.emit("", False)

    def with_file(self, file: str) -> str:
        """Return the parameter's value with a file that was read."""
        return file

    @property
    def wants_folder(self) -> bool:
        """Whether a folder is required."""
        return not self.parameter.suffixes

    @property
    def kinds(self) -> str:
        """Accepted files as text."""
        return "a folder of files" if self.wants_folder else " ".join(self.parameter.suffixes)

    def choose(self) -> None:
        """Ask for a file or folder."""
        if self.wants_folder:
            path = QFileDialog.getExistingDirectory(
                self, f"Open {self.parameter.name}", self.folder
            )
        else:
            patterns = " ".join(f"*{suffix}" for suffix in self.parameter.suffixes)
            path, _ = QFileDialog.getOpenFileName(
                self,
                f"Open {self.parameter.name}",
                self.folder,
                f"{self.parameter.name[:1].upper()}{self.parameter.name[1:]} ({patterns});;"
                "All files (*)",
            )
        if path:
            self.take(Path(path))

    def take(self, path: Path) -> None:
        """Emit a chosen path of the right kind, or show why it is not."""
        if self.wants_folder and not path.is_dir():
            self.show_error(f"{path.name} is not a folder; choose the folder that holds the files.")
        elif not self.wants_folder and path.is_dir():
            self.show_error(f"{path.name} is a folder; choose a file ({self.kinds}).")
        else:
            self.folder = str(path.parent)
            self.show_busy(path.name)
            self.chosen.emit(path)

    def show_busy(self, name: str) -> None:
        """Show that a file is being read."""
        self.error.hide()
        self.field.setText(f"reading {name} …")
        self.open_button.setEnabled(False)

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        if value != self._value:
            self.error.hide()
        self._value = str(value)
        name, _, digest = self._value.rpartition("#")
        with QSignalBlocker(self.field):
            self.field.setText(name)
        self.field.setCursorPosition(0)
        self.field.setToolTip(f"sha256 {digest}" if name else "")
        self.clear_button.setEnabled(bool(name))
        self.open_button.setEnabled(True)

    def show_error(self, why: str) -> None:
        """Show why a file was refused; the former one stays."""
        self.show_value(self._value)
        self.error.setText(why)
        self.error.show()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept a single file or folder."""
        if len(_paths(event.mimeData())) == 1:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the dropped file."""
        paths = _paths(event.mimeData())
        if len(paths) == 1:
            event.acceptProposedAction()
            self.take(Path(paths[0]))


class _FileList(QListWidget):
    """List of file names as high as its rows; Delete removes the current one."""

    removed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def fit(self) -> None:
        """Take the height of the rows."""
        height = max(self.sizeHintForRow(0), self.fontMetrics().height())
        self.setFixedHeight(self.count() * height + 2 * self.frameWidth() + 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the current row at Delete."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)


class FilesRow(FileRow):
    """Names of several files, with buttons to add one and to remove the selected one."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.open_button.setText("Add…")
        self.open_button.setAccessibleName(f"Add to {parameter.name}")
        self.clear_button.setText("Remove")
        self.clear_button.setAccessibleName(f"Remove from {parameter.name}")
        self.clear_button.setToolTip("Do without the selected one (Delete)")
        self.list.removed.connect(self._clear)
        self.list.currentRowChanged.connect(lambda _: self._enable())
        self.show_value("")

    def _shown(self, what: str) -> QWidget:
        self.list = _FileList()
        self.list.setAccessibleName(f"{self.parameter.name}, list of {what}s")
        return self.list

    def _clear(self) -> None:
        files, row = list(files_of(self._value)), self.list.currentRow()
        if 0 <= row < len(files):
            del files[row]
            self.edited.emit("/".join(files), False)

    def with_file(self, file: str) -> str:
        """Return the parameter's value with one more file."""
        return "/".join(dict.fromkeys((*files_of(self._value), file)))

    def show_busy(self, name: str) -> None:
        """Show that a file is being read."""
        self.error.hide()
        self._list([*names_of(self._value), f"reading {name} …"])
        self.open_button.setEnabled(False)

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything; the selected row stays, or its place."""
        if value != self._value:
            self.error.hide()
        self._value = str(value)
        self._list(names_of(self._value))
        for row, file in enumerate(files_of(self._value)):
            name, _, digest = file.rpartition("#")
            self.list.item(row).setToolTip(f"{name}\nsha256 {digest}")
        self._enable()

    def _list(self, names: Iterable[str]) -> None:
        row = max(self.list.currentRow(), 0)
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems([name.removesuffix(RELEASED) for name in names])
            self.list.setCurrentRow(min(row, self.list.count() - 1))
        self.list.fit()
        self.list.setVisible(self.list.count() > 0)

    def _enable(self) -> None:
        files = files_of(self._value)
        self.open_button.setEnabled(len(files) < self.parameter.most_files)
        self.clear_button.setEnabled(0 <= self.list.currentRow() < len(files))


class ReleasesRow(FilesRow):
    """Earlier releases of a ledger, which are chosen from a menu.

    Signals
    -------
    listed(Path or None)
        The releases of a ledger should be offered, None for the user's own.
    release_chosen(Path or None, str)
        Ledger and id of a release to add.
    """

    listed = Signal(object)
    release_chosen = Signal(object, str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.setAcceptDrops(False)
        self.open_button.setToolTip("Choose a release of a ledger")
        self.menu = QMenu(self)

    def choose(self) -> None:
        """Ask for the releases of the user's own ledger."""
        self.listed.emit(None)

    def offer(self, ledger: Path | None, releases: Sequence[tuple[str, str]], none: str) -> None:
        """Open the menu of releases: id and text of each, or why there is none."""
        self.menu.clear()
        for release, text in releases:
            action = self.menu.addAction(text.replace("&", "&&"))
            action.triggered.connect(lambda _=False, release=release: self._choose(ledger, release))
        if not releases:
            self.menu.addAction(none.replace("&", "&&")).setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction("Other ledger…").triggered.connect(self._other)
        self.menu.popup(self.open_button.mapToGlobal(self.open_button.rect().bottomLeft()))

    def _choose(self, ledger: Path | None, release: str) -> None:
        self.show_busy(f"release {release}")
        self.release_chosen.emit(ledger, release)

    def _other(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Open a ledger", self.folder, "Ledgers (*.sqlite);;All files (*)"
        )
        if path:
            self.folder = str(Path(path).parent)
            self.listed.emit(Path(path))


def _paths(mime: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]


def make_row(parameter: Parameter) -> ParameterRow:
    """Return the row for a parameter's kind."""
    kinds: dict[Kind, type[ParameterRow]] = {
        Kind.CHOICE: ChoiceRow,
        Kind.FLAG: FlagRow,
        Kind.FILE: FileRow,
        Kind.TABLE: TableRow,
    }
    if parameter.most_files > 1:
        return (ReleasesRow if RELEASED in parameter.suffixes else FilesRow)(parameter)
    return kinds.get(parameter.kind, NumberRow)(parameter)
