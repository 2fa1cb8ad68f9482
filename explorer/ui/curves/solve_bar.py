"""The row that asks for which value of a parameter a curve reaches a target."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.widgets.choice_box import ChoiceBox
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.value_field import ValueField

_LINES = 2
"""Of what was found; in a narrow window the rest is in the tool tip."""


class SolveBar(QWidget):
    """Solve for [parameter] so that [curve] = [target].

    Signals
    -------
    wanted()
        Enter in the target's field, or the button.
    target_set(float)
        Another target was typed; it is not solved for before it is `wanted`.
    stepped(int)
        The up (1) or down (−1) key in the target's field.
    chosen()
        Another parameter or curve was chosen.
    left()
        Escape: the bar may go.
    """

    wanted = Signal()
    target_set = Signal(float)
    stepped = Signal(int)
    chosen = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.parameter = ChoiceBox("Parameter to solve for")
        self.curve = ChoiceBox("Curve that is to reach the target")
        for box in (self.parameter, self.curve):
            box.setMinimumContentsLength(5)
        self.target = ValueField(float)
        self.target.setAccessibleName("Target of the curve")
        self.target.set_help(
            "What the curve is to be. Enter solves; the up and down keys, or dragging the "
            "target line in the plot, solve as they move it."
        )
        self.target.setFixedWidth(92)
        self.button = tool_button("Solve", "Find the parameter's value and move its slider there")
        self.said = FixedSizeText("muted")
        self.said.setAccessibleName("What solving found")
        # Room for what is found from the start: neither row nor plot moves when it comes.
        self.said.setFixedHeight(_LINES * self.said.fontMetrics().lineSpacing())
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        words = QLabel("<b>Solve</b> for", textFormat=Qt.TextFormat.RichText)
        words.setBuddy(self.parameter)
        so_that = styled_label("muted", "so that")
        so_that.setBuddy(self.curve)
        equals = styled_label("muted", "=")
        equals.setBuddy(self.target)
        for widget, stretch in (
            (words, 0),
            (self.parameter, 2),
            (so_that, 0),
            (self.curve, 3),
            (equals, 0),
            (self.target, 0),
            (self.button, 0),
        ):
            row.addWidget(widget, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 6)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(self.said)
        self.parameter.activated.connect(lambda _: self.chosen.emit())
        self.curve.activated.connect(lambda _: self.chosen.emit())
        self.target.entered.connect(lambda y: self.target_set.emit(float(y)))
        self.target.stepped.connect(self.stepped)
        self.target.editingFinished.connect(self._entered)
        self.button.clicked.connect(lambda _=False: self.wanted.emit())

    def offer(
        self,
        parameters: Sequence[tuple[str, str]],
        parameter: str,
        curves: Sequence[tuple[str, str]],
        curve: str,
    ) -> None:
        """Offer these (key, words), one of each chosen."""
        self.parameter.offer(parameters, parameter)
        self.curve.offer(curves, curve)
        for box in (self.parameter, self.curve):
            box.setToolTip(box.currentText())
        usable = bool(parameters) and bool(curves)
        for widget in (self.parameter, self.curve, self.target, self.button):
            widget.setEnabled(usable)

    def show_message(self, text: str) -> None:
        """Write what was found, or nothing."""
        self.said.setText(text)
        self.said.setToolTip(text)

    def _entered(self) -> None:
        """Solve when the editing ended by Enter; leaving the field by Tab only sets the target."""
        if self.target.hasFocus() and not self.target.property("wrong"):
            self.wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Act on the keys that are this widget's own."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
