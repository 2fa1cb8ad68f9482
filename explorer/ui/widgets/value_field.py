"""Text field for a number, and parsing and display of typed numbers."""

import html
import math
import re
from collections.abc import Callable
from decimal import Decimal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QToolTip

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number

_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_FRACTIONS = {"½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4, "⅛": 1 / 8}
_SCALES = {"k": 3, "K": 3, "M": 6, "%": -2}
"""Powers of ten of what may follow a number."""
_SCALED = re.compile(r"([^kKM%/]*\d)\s*([kKM%])")
_QUOTIENT = re.compile(r"([^/]*\d)\s*/\s*([^/]*\d)")
_EITHER = re.compile(r"([+-]?[1-9]\d{0,2})[.,](\d{3})")
"""A number with one separator before three digits."""
_GROUPED_BY_DOTS = re.compile(r"[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?(e[+-]?\d+)?")
_POWER = re.compile(
    r"(?:(?P<mantissa>[+-]?\d*\.?\d+)\s*[x×·*]\s*)?(?P<sign>[+-]?)10\s*(?:\^|\*\*)\s*"
    r"(?P<exponent>[+-]?\d+(?:\.\d+)?)"
)

EXAMPLES = "Type a number such as 200000, 200k or 2e5."


class EitherNumberError(ValueError):
    """What is typed could be two numbers.

    Attributes
    ----------
    readings : tuple of float
        Both, the smaller first.
    """

    def __init__(self, question: str, remedy: str, *readings: float) -> None:
        super().__init__(f"{question} {remedy}")
        self.readings = readings


def parse_number(text: str, decimal_comma: bool = False) -> float:
    """Parse a number as written in papers, programs and letters.

    ``200k``, ``1M``, ``1e-8``, ``10^6``, ``2.5·10^-3``, ``10⁻⁸``, ``1/3``, ``½``, ``50 %``,
    ``1_000_000``, ``1,000,000``, ``1 000 000`` and the decimal comma of ``0,5`` are understood.

    Parameters
    ----------
    text : str
    decimal_comma : bool
        Whether the user's language writes ``0,5`` and ``1.000.000``. Else ``1,000`` is a thousand
        and ``50.000`` is fifty; with it both could be either, and are refused.

    Raises
    ------
    ValueError
        If it is not a finite number; `EitherNumberError` if it could be two.
    """
    typed = text.strip()
    if not typed:
        raise ValueError("Enter a number.")
    if typed in _FRACTIONS:
        return _FRACTIONS[typed]
    if (scaled := _SCALED.fullmatch(typed)) is not None:
        # In floating point 4.1 times a million is no whole number.
        plain = Decimal(repr(parse_number(scaled[1], decimal_comma)))
        return _finite(float(plain.scaleb(_SCALES[scaled[2]])), typed)
    if (quotient := _QUOTIENT.fullmatch(typed)) is not None:
        number, over = (parse_number(part, decimal_comma) for part in quotient.groups())
        return _finite(number / over if over else math.inf, typed)
    cleaned = re.sub(r"(?<=[\d^*])([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"^\1", typed.lower())
    cleaned = cleaned.translate(_PLAIN).replace("^^", "^")
    cleaned = re.sub(r"(?<=\d)[_ \u00a0\u202f'](?=\d{3})", "", cleaned)
    if decimal_comma and (either := _EITHER.fullmatch(cleaned)) is not None:
        head, tail = either.groups()
        small, large = float(f"{head}.{tail}"), head + tail
        unlike = head if tail == "000" else f"{head},{tail}0"  # more than three digits: no group
        raise EitherNumberError(
            f"{typed}: {format_number(small)} or {format_number(int(large))}?",
            f"Type {unlike} or {large}.",
            small,
            int(large),
        )
    if _GROUPED_BY_DOTS.fullmatch(cleaned):
        cleaned = cleaned.replace(".", "").replace(",", ".")
    elif _GROUPED.fullmatch(cleaned):
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
        number = math.nan
    return _finite(number, typed)


def _finite(number: float, text: str) -> float:
    if not math.isfinite(number):
        raise ValueError(f"Cannot read {text}. {EXAMPLES}")
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
    refused(str)
        Why the text is invalid; empty once it is valid again.
    """

    entered = Signal(object)
    stepped = Signal(int)
    refused = Signal(str)

    def __init__(self, check: Callable[[float], float]) -> None:
        super().__init__()
        self._check = check
        self._number: float | None = None
        self._help = ""
        self.readings: tuple[float, ...] = ()
        """The two numbers that a refused text could be."""
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

    def reject(self, why: str, readings: tuple[float, ...] = ()) -> None:
        """Mark the text as invalid, with the reason and the two numbers that it could be."""
        self.readings = readings
        self._mark(True)
        self.setToolTip(why)
        self.refused.emit(why)
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
            number = parse_number(self.text(), self.locale().decimalPoint() == ",")
        except ValueError as error:
            self.reject(str(error), getattr(error, "readings", ()))
        else:
            self.take(number)

    def take(self, number: float) -> None:
        """Use a number as if it was typed."""
        try:
            number = self._check(number)
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
                self.refused.emit("")
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
