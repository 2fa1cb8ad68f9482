"""What stands on the axes of a bounds plot."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.study import (
    Kind,
    Parameter,
    Request,
    Scale,
    Study,
    Sweep,
    default_sweep,
    parameter,
    quantity,
    with_unit,
)
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.widgets.choice_box import ChoiceBox
from explorer.ui.widgets.value_field import ValueField


def axis_words(symbol: str, name: str, unit: str = "") -> str:
    """Return an axis' or a choice's words: ``T  rounds (rounds)``."""
    return "  ".join(filter(None, (symbol, name))) + (
        f" ({unit})" if unit and unit not in name else ""
    )


def log_button(tip: str) -> QToolButton:
    """Return a toggle for a logarithmic axis."""
    return tool_button("log", tip, tip, checkable=True)


class YAxisBar(QWidget):
    """Above the plot: the quantity, its scale, back to the whole.

    Signals
    -------
    log_chosen(bool)
    reset_wanted()
    """

    log_chosen = Signal(bool)
    reset_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: tuple[str, str, bool] | None = None
        self.quantity = ChoiceBox("Quantity on the y axis")
        self.quantity.setMaximumWidth(420)
        self.quantity.setMinimumContentsLength(5)
        self.log = log_button("Logarithmic y axis")
        tip = "Show the whole sweep again (double-click the plot, or 0)"
        self.reset = tool_button("↺", tip, "Reset view")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 0)
        label = QLabel("<b>y</b>")
        label.setBuddy(self.quantity)
        for widget, stretch in ((label, 0), (self.quantity, 100), (self.log, 0)):
            layout.addWidget(widget, stretch)
        layout.addStretch(1)
        layout.addWidget(self.reset)
        self._layout = layout
        self.quantity.activated.connect(lambda i: session.set_quantity(self.quantity.itemData(i)))
        self.log.clicked.connect(self.log_chosen)
        self.reset.clicked.connect(self.reset_wanted)

    def add_button(self, text: str, action: QAction, tip: str) -> QToolButton:
        """Offer an action before the button that resets the view."""
        key = action.shortcut().toString()
        with_key = f"{tip} ({key})" if key else tip
        button = tool_button(text, with_key, tip, checkable=action.isCheckable())
        button.clicked.connect(lambda _=False: action.trigger())
        action.changed.connect(lambda: self._follow(button, action))
        self._layout.insertWidget(self._layout.count() - 1, button)
        return button

    @staticmethod
    def _follow(button: QToolButton, action: QAction) -> None:
        button.setChecked(action.isChecked())
        button.setEnabled(action.isEnabled())

    def show_request(self, study: Study, request: Request, y_log: bool) -> None:
        """Show what a request has on its y axis."""
        shown = (study.id, request.quantity, y_log)
        if shown == self._shown:
            return
        self._shown = shown
        items = [(q.key, axis_words(q.symbol, q.name, q.unit)) for q in study.quantities]
        self.quantity.offer(items, request.quantity)
        self.log.setChecked(y_log)


class XAxisBar(QWidget):
    """Below the plot: the swept parameter, its range and scale."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._study: Study | None = None
        self._shown: tuple[str, str, Sweep | None, tuple[str, ...]] | None = None
        self._left: dict[tuple[str, str], Sweep] = {}
        self.parameter = ChoiceBox("Parameter on the x axis")
        self.parameter.setMaximumWidth(360)
        self.log = log_button("Logarithmic x axis")
        self.low = ValueField(lambda x: self._checked_end(x, "low"))
        self.high = ValueField(lambda x: self._checked_end(x, "high"))
        self.low.setAccessibleName("Start of the x axis")
        self.high.setAccessibleName("End of the x axis")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 8)
        label = QLabel("<b>x</b>")
        label.setBuddy(self.parameter)
        layout.addWidget(label)
        layout.addWidget(self.parameter, 3)
        layout.addWidget(self.log)
        layout.addStretch(1)
        for words, field in (("from", self.low), ("to", self.high)):
            layout.addWidget(styled_label("muted", words))
            field.setFixedWidth(92)
            layout.addWidget(field)
        self.parameter.activated.connect(lambda i: self._choose(self.parameter.itemData(i)))
        self.log.clicked.connect(self._choose_scale)
        self.low.entered.connect(lambda x: self._change(low=float(x)))
        self.high.entered.connect(lambda x: self._change(high=float(x)))

    def show_request(self, study: Study, request: Request) -> None:
        """Show what a request has on its x axis."""
        self._study = study
        sweep, values = request.sweep, dict(request.values)
        keys = quantity(study, request.quantity).sweeps if sweep is not None else ()
        swept = [with_unit(parameter(study, key), values) for key in keys]
        shown = (study.id, request.quantity, sweep, tuple(p.unit for p in swept))
        if shown == self._shown:
            return
        self._shown = shown
        self.setVisible(sweep is not None)
        if sweep is None:
            return
        self._left[study.id, sweep.key] = sweep
        items = [(p.key, axis_words(p.symbol, p.name, p.unit)) for p in swept]
        self.parameter.offer(items, sweep.key)
        p = parameter(study, sweep.key)
        self.log.setChecked(sweep.scale is Scale.LOG)
        self.log.setEnabled(sweep.low > 0)
        whole = p.kind is Kind.INTEGER
        self.low.set_number(round(sweep.low) if whole else sweep.low)
        self.high.set_number(round(sweep.high) if whole else sweep.high)
        for field in (self.low, self.high):
            field.set_help(f"Between {p.low:g} and {p.high:g}")

    def _present(self) -> tuple[Parameter, Sweep]:
        assert self._study is not None
        sweep = self._session.request(self._study.id).sweep
        assert sweep is not None
        return parameter(self._study, sweep.key), sweep

    def _checked_end(self, number: float, end: str) -> float:
        p, sweep = self._present()
        low, high = (number, sweep.high) if end == "low" else (sweep.low, number)
        if not p.low <= number <= p.high:
            raise ValueError(f"{p.symbol} runs from {p.low:g} to {p.high:g}")
        if not low < high:
            raise ValueError(f"the axis must grow: {low:g} is not below {high:g}")
        if sweep.scale is Scale.LOG and low <= 0:
            raise ValueError("a logarithmic axis starts above 0")
        return p.clamp(number)

    def _choose(self, key: str) -> None:
        assert self._study is not None
        before = self._left.get((self._study.id, key))
        self._session.set_sweep(before or default_sweep(self._study, key))

    def _choose_scale(self, log: bool) -> None:
        self._change(scale=Scale.LOG if log else Scale.LINEAR)

    def _change(self, **changes: Any) -> None:
        self._session.set_sweep(replace(self._present()[1], **changes))
