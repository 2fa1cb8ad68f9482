"""Text field for a number."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QToolTip

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.ui.widgets.numbers import parse_number


class ValueField(QLineEdit):
    """Field for a number with validation.

    Parameters
    ----------
    check : callable
        Converts the typed number to the value to use; its ValueError is shown.

    Signals
    -------
    entered(object)
        Valid number that differs from the former one.
    stepped(int)
        Up (1) or down (−1) key.
    """

    entered = Signal(object)
    stepped = Signal(int)

    def __init__(self, check: Callable[[float], float]) -> None:
        super().__init__()
        self._check = check
        self._number: float | None = None
        self._help = ""
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setProperty("wrong", False)
        self.editingFinished.connect(self._finish)

    @property
    def number(self) -> float | None:
        """Last valid number; None before the first."""
        return self._number

    def set_help(self, text: str) -> None:
        """Set the tool tip shown while the text is valid."""
        self._help = text
        self.setToolTip(text)

    def set_number(self, number: float) -> None:
        """Show a number; text being typed stays unless the number changed."""
        if number == self._number and type(number) is type(self._number):
            return  # called for each field with every slider move
        if number == self._number and (self.isModified() or self.property("wrong")):
            return
        self._number = number
        self._show()

    def reject(self, why: str) -> None:
        """Mark the text as invalid, with the reason."""
        self._mark(True)
        self.setToolTip(why)
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), why, self)

    def _show(self) -> None:
        text = format_number(self._number, digits=PARAMETER_DIGITS, typeset=False)
        self.setText(text)  # also for equal texts: clears the undo history of what was typed
        self.setCursorPosition(0)
        self.setModified(False)
        self._mark(False)

    def _finish(self) -> None:
        if not self.isModified():
            return
        try:
            number = self._check(parse_number(self.text()))
        except ValueError as error:
            self.reject(str(error))
            return
        changed = number != self._number
        self._number = number
        self._show()
        if changed:
            self.entered.emit(number)

    def _mark(self, wrong: bool) -> None:
        if wrong != self.property("wrong"):
            self.setProperty("wrong", wrong)
            self.style().unpolish(self)
            self.style().polish(self)
        if not wrong:
            self.setToolTip(self._help)

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window, except while text is being edited."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and (
                (event.matches(QKeySequence.StandardKey.Undo) and not self._typed_to_undo())
                or (event.matches(QKeySequence.StandardKey.Redo) and not self.isRedoAvailable())
            )
        ):
            event.ignore()
            return False
        return super().event(event)

    def _typed_to_undo(self) -> bool:
        return self.isModified() and self.isUndoAvailable()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the field's own keys."""
        if event.key() == Qt.Key.Key_Escape and (self.isModified() or self.property("wrong")):
            self._show()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not self.isModified():
            self.stepped.emit(1 if event.key() == Qt.Key.Key_Up else -1)
        else:
            super().keyPressEvent(event)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.selectAll()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select all when focused by key."""
        super().focusInEvent(event)
        if event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        ):
            self.selectAll()
