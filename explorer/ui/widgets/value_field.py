"""Text field for a number."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QToolTip

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.ui.widgets.numbers import parse_number


class ValueField(QLineEdit):
    """Shows a number, takes another one, and says why it will not take some.

    Parameters
    ----------
    check : callable
        Turns the number typed into the one to keep; its ValueError is shown to the user.

    Signals
    -------
    entered(object)
        A checked number, when it differs from the one shown before.
    stepped(int)
        The up (1) or down (−1) key.
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
        """The number shown, or taken last; None before there was one."""
        return self._number

    def set_help(self, text: str) -> None:
        """Set the tooltip shown while nothing is wrong."""
        self._help = text
        self.setToolTip(text)

    def set_number(self, number: float) -> None:
        """Show a number; text that is just being typed stays unless the number changed."""
        if number == self._number and type(number) is type(self._number):
            return  # asked of every field with every move of any slider
        if number == self._number and (self.isModified() or self.property("wrong")):
            return
        self._number = number
        self._show()

    def reject(self, why: str) -> None:
        """Mark what was typed as wrong and say why."""
        self._mark(True)
        self.setToolTip(why)
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), why, self)

    def _show(self) -> None:
        text = format_number(self._number, digits=PARAMETER_DIGITS, typeset=False)
        self.setText(text)  # also the same text: what was typed can't be brought back by undo
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
        """Leave undo and redo to the program, except while something is being typed."""
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
        """Act on the keys that are this widget's own."""
        if event.key() == Qt.Key.Key_Escape and (self.isModified() or self.property("wrong")):
            self._show()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not self.isModified():
            self.stepped.emit(1 if event.key() == Qt.Key.Key_Up else -1)
        else:
            super().keyPressEvent(event)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.selectAll()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select everything when reached by key."""
        super().focusInEvent(event)
        if event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        ):
            self.selectAll()
