"""Text field for a number, and parsing and display of typed numbers."""

import html
import math
import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QToolTip

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number

_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?(e[+-]?\d+)?")
_POWER = re.compile(
    r"(?:(?P<mantissa>[+-]?\d*\.?\d+)\s*[x×·*]\s*)?(?P<sign>[+-]?)10\s*(?:\^|\*\*)\s*"
    r"(?P<exponent>[+-]?\d+(?:\.\d+)?)"
)


def parse_number(text: str) -> float:
    """Parse a number as written in papers, programs and letters.

    ``1e-8``, ``10^6``, ``2.5·10^-3``, ``10⁻⁸``, ``1_000_000``, ``1,000,000``, ``1 000 000`` and the
    decimal comma of ``0,5`` are understood. ``1,000`` is a thousand.

    Raises
    ------
    ValueError
        If it is not a finite number.
    """
    if not text.strip():
        raise ValueError("nothing is typed here; give a number")
    cleaned = re.sub(r"(?<=[\d^*])([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"^\1", text.strip().lower())
    cleaned = cleaned.translate(_PLAIN).replace("^^", "^")
    cleaned = re.sub(r"(?<=\d)[_ \u00a0\u202f'](?=\d{3})", "", cleaned)
    if _GROUPED.fullmatch(cleaned):
        cleaned = cleaned.replace(",", "")
    elif cleaned.count(",") == 1 and "." not in cleaned:
        cleaned = cleaned.replace(",", ".")
    power = _POWER.fullmatch(cleaned)
    try:
        if power:
            mantissa = float(power["mantissa"] or 1) * (-1 if power["sign"] == "-" else 1)
            number = (
                float(f"{mantissa!r}e{power['exponent']}")
                if _whole(power["exponent"])
                else (mantissa * 10 ** float(power["exponent"]))
            )
        else:
            number = float(cleaned)
    except (ValueError, OverflowError):
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()!r} is not a finite number")
    return number


def _whole(exponent: str) -> bool:
    return "." not in exponent


def rich(text: str) -> str:
    """Convert text to HTML, with subscripts after underscores: ``λ_max``."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", html.escape(text))


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
