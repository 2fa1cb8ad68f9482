"""The rows of buttons of a comparison: a parameter for all rows, order, copies."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from explorer.engine.session.comparison import Common
from explorer.figures.formats import Kind, of_kind
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.widgets.choice_box import ChoiceBox
from explorer.ui.widgets.value_field import ValueField


class CommonBar(QWidget):
    """Set [parameter] to [value] in all rows.

    Signals
    -------
    wanted(str, float)
        Set this parameter everywhere.
    update_wanted()
        Compute again what is missing.
    """

    wanted = Signal(str, float)
    update_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._common: dict[str, Common] = {}
        self.parameter = ChoiceBox("Parameter to set in all rows")
        self.parameter.setMaximumWidth(330)
        self.value = ValueField(float)
        self.value.setAccessibleName("Value in all rows")
        self.value.setFixedWidth(92)
        tip = "Give this parameter the same value in every row that has it"
        self.button = tool_button("Set for all", tip)
        self.update_all = tool_button("Update all", "Compute again what was cancelled or failed")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 0)
        words = plain_label("Set")
        words.setBuddy(self.parameter)
        to = styled_label("muted", "to")
        to.setBuddy(self.value)
        for widget, stretch in (
            (words, 0),
            (self.parameter, 3),
            (to, 0),
            (self.value, 0),
            (self.button, 0),
        ):
            row.addWidget(widget, stretch)
        row.addStretch(1)
        row.addWidget(self.update_all)
        self.parameter.activated.connect(lambda _: self._show_value())
        self.button.clicked.connect(lambda _=False: self._emit_wanted())
        self.value.returnPressed.connect(self._entered)
        self.update_all.clicked.connect(lambda _=False: self.update_wanted.emit())

    def offer(self, common: Sequence[Common], rows: int) -> None:
        """Offer these parameters of a comparison with so many rows."""
        before = self.parameter.currentData()
        self._common = {c.parameter.key: c for c in common}
        items = [
            (
                c.parameter.key,
                f"{'  '.join(filter(None, (c.parameter.symbol, c.parameter.name)))}"
                f" · {c.rows} of {rows} rows",
            )
            for c in common
        ]
        first = items[0][0] if items else ""
        self.parameter.offer(items, before if before in self._common else first)
        for widget in (self.parameter, self.value, self.button, self.update_all):
            widget.setEnabled(bool(items))
        self._show_value()

    def _show_value(self) -> None:
        chosen = self._common.get(self.parameter.currentData())
        if chosen is not None:
            self.value.set_number(chosen.value)
            self.value.set_help(chosen.parameter.help)

    def _entered(self) -> None:
        self.value.editingFinished.emit()
        self._emit_wanted()

    def _emit_wanted(self) -> None:
        key, number = self.parameter.currentData(), self.value.number
        if key is not None and number is not None and not self.value.property("wrong"):
            self.wanted.emit(key, float(number))


class RowsBar(QWidget):
    """Order, removal, copies and export.

    Signals
    -------
    moved(int)
        Selected rows up (−1) or down (1).
    removed()
        The selected rows are to go.
    emptied()
    copied(str)
        As ``md``, ``tex`` or ``csv``.
    exported()
    """

    moved = Signal(int)
    removed = Signal()
    emptied = Signal()
    copied = Signal(str)
    exported = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 4)

        def add(text: str, tip: str, emit: Callable[[], object]) -> QToolButton:
            button = tool_button(text, tip, tip)
            button.clicked.connect(lambda _=False: emit())
            row.addWidget(button)
            return button

        self.up = add("↑", "Move the selected rows up (Alt+Up)", lambda: self.moved.emit(-1))
        self.down = add("↓", "Move the selected rows down (Alt+Down)", lambda: self.moved.emit(1))
        self.remove = add("Remove", "Remove the selected rows (Delete)", self.removed.emit)
        self.empty = add("Remove all", "Remove all rows", self.emptied.emit)
        row.addStretch(1)
        self.copy = tool_button("Copy as", "Copy the table to the clipboard")
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.copy)
        for form in of_kind(Kind.COMPARISON):
            action = menu.addAction(form.name)
            action.triggered.connect(lambda _=False, key=form.suffix: self.copied.emit(key))
        self.copy.setMenu(menu)
        row.addWidget(self.copy)
        self.export = add("Export…", "Write the table to a file", self.exported.emit)

    def set_usable(self, rows: bool, chosen: bool) -> None:
        """Enable what there is something for."""
        for button in (self.empty, self.copy, self.export):
            button.setEnabled(rows)
        for button in (self.up, self.down, self.remove):
            button.setEnabled(chosen)
