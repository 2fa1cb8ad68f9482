"""Axis titles and axis menus of the Bounds plot."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QToolButton, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.phrases import names_unit
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
from explorer.ui.plot.axes import AxisTitle
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.widgets.value_field import ValueField

_RESET = "↺ Reset view"
_OFFERED = {"copy-link": "Copy &link", "export": "E&xport…"}
"""Actions that also have a button, with its text."""


def axis_words(symbol: str, name: str, unit: str = "") -> str:
    """Return the text of an axis or choice: ``T  rounds (rounds)``."""
    return "  ".join(filter(None, (symbol, name))) + (
        f" ({unit})" if unit and not names_unit(name, unit) else ""
    )


class RangeBox(QFrame):
    """Popup with two fields for the range of an axis; Esc closes it.

    Parameters
    ----------
    title : AxisTitle
        Name of the axis.
    check : callable
        Called with a number and its end (``low``, ``high``); returns the number to use, or raises
        ValueError.
    change : callable
        Called with the new ``low`` or ``high``.
    """

    def __init__(
        self,
        title: AxisTitle,
        check: Callable[[float, str], float],
        change: Callable[..., object],
    ) -> None:
        super().__init__(title, Qt.WindowType.Popup)
        self._title = title
        self.setObjectName("card")
        self.low = ValueField(lambda x: check(x, "low"))
        self.high = ValueField(lambda x: check(x, "high"))
        self.low.entered.connect(lambda x: change(low=float(x)))
        self.high.entered.connect(lambda x: change(high=float(x)))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 8, 10, 8)
        for words, end, field in (("from", "Start", self.low), ("to", "End", self.high)):
            field.setAccessibleName(f"{end} of the {title.axis} axis")
            field.setFixedWidth(92)
            row.addWidget(styled_label("muted", words))
            row.addWidget(field)
        title.range_requested.connect(self.open)

    def open(self) -> None:
        """Open above the title, inside the plot."""
        self.adjustSize()
        above = self._title.axis == "x"
        high = -self.height() if above else self._title.height()
        self.move(
            self._title.mapToGlobal(
                QPoint(self._title.width() - self.width(), high) if above else QPoint(0, high)
            )
        )
        self.show()
        self.low.setFocus(Qt.FocusReason.ShortcutFocusReason)


class ActionRow(QWidget):
    """Row above the plot: actions on the result, and reset of the view.

    Without space for all texts that of the last button is shortened.
    """

    def __init__(self) -> None:
        super().__init__()
        tip = "Show the whole range again (double-click the plot, or 0)"
        self.reset = tool_button(_RESET, tip, "Reset view")
        self._whole = True
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._left = 0
        """Number of buttons on the left."""
        self._layout.addStretch(1)
        self._layout.addWidget(self.reset)
        self._layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)

    @property
    def buttons(self) -> list[QWidget]:
        """Buttons from left to right."""
        items = (self._layout.itemAt(place) for place in range(self._layout.count()))
        return [button for item in items if item and (button := item.widget()) is not None]

    def add_button(self, text: str, action: QAction, tip: str, last: bool = False) -> QToolButton:
        """Add a button for an action, on the left or, if `last`, at the right end."""
        key = action.shortcut().toString()
        with_key = f"{tip} ({key})" if key else tip
        button = tool_button(text, with_key, tip, checkable=action.isCheckable())
        button.clicked.connect(lambda _=False: action.trigger())
        action.changed.connect(lambda: self._follow(button, action))
        self._layout.insertWidget(self._layout.count() - 1 if last else self._left, button)
        self._left += not last
        return button

    def minimumSizeHint(self) -> QSize:
        """Return the size with the shortened text."""
        full = self._layout.minimumSize()
        shorter = self.fontMetrics().horizontalAdvance(_RESET[1:]) if self._whole else 0
        return QSize(full.width() - shorter, full.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the last text if there is no space for it."""
        super().resizeEvent(event)
        needed = self.minimumSizeHint().width() + self.fontMetrics().horizontalAdvance(_RESET[1:])
        self._whole = self.width() >= needed
        self.reset.setText(_RESET if self._whole else _RESET[:1])

    def offer(self, actions: Mapping[str, QAction]) -> None:
        """Add buttons for menu actions."""
        for key, words in _OFFERED.items():
            self.add_button(
                words, actions[key], actions[key].statusTip() or words.replace("&", ""), last=True
            )

    @staticmethod
    def _follow(button: QToolButton, action: QAction) -> None:
        button.setChecked(action.isChecked())
        button.setEnabled(action.isEnabled())


class YAxis(QObject):
    """Menu of the y axis: quantity, scale and range; the range belongs to the view only."""

    def __init__(self, session: Session, plot: BoundsPlot) -> None:
        super().__init__(plot)
        self._plot = plot
        self._shown: tuple[str, str, bool] | None = None
        self.title = plot.titles.y
        self.title.chosen.connect(session.set_quantity)
        self.range = RangeBox(self.title, self._checked, self._change)
        self.title.range_requested.connect(self._fill)

    def show_request(self, study: Study, request: Request, y_log: bool) -> None:
        """Show the y axis of a request."""
        shown = (study.id, request.quantity, y_log)
        if shown == self._shown:
            return
        self._shown = shown
        items = [(q.key, axis_words(q.symbol, q.name, q.unit)) for q in study.quantities]
        self.title.offer(items, request.quantity, y_log)

    def _fill(self) -> None:
        low, high = self._plot.data_ranges()[1]
        self.range.low.set_number(low)
        self.range.high.set_number(high)

    def _checked(self, number: float, end: str) -> float:
        low, high = self._plot.data_ranges()[1]
        low, high = (number, high) if end == "low" else (low, number)
        _check_ends(low, high, self._plot.y_log)
        return number

    def _change(self, **ends: float) -> None:
        x, (low, high) = self._plot.data_ranges()
        kept = x if self._plot.user_view else None
        self._plot.set_data_ranges(kept, (ends.get("low", low), ends.get("high", high)))
        self._plot.view_changed.emit()


class XAxis(QObject):
    """Menu of the x axis: swept parameter, range and scale."""

    def __init__(self, session: Session, plot: BoundsPlot) -> None:
        super().__init__(plot)
        self._session = session
        self._study: Study | None = None
        self._shown: tuple[str, str, Sweep | None, tuple[str, ...]] | None = None
        self._left: dict[tuple[str, str], Sweep] = {}
        self.title = plot.titles.x
        self.title.chosen.connect(self._choose)
        self.title.log_selected.connect(self._choose_scale)
        self.range = RangeBox(self.title, self._checked, self._change)

    def show_request(self, study: Study, request: Request) -> None:
        """Show the x axis of a request."""
        self._study = study
        sweep, values = request.sweep, dict(request.values)
        keys = quantity(study, request.quantity).sweeps if sweep is not None else ()
        swept = [with_unit(parameter(study, key), values) for key in keys]
        shown = (study.id, request.quantity, sweep, tuple(p.unit for p in swept))
        if shown == self._shown:
            return
        self._shown = shown
        self.title.setVisible(sweep is not None)
        if sweep is None:
            return
        self._left[study.id, sweep.key] = sweep
        items = [(p.key, axis_words(p.symbol, p.name, p.unit)) for p in swept]
        self.title.offer(items, sweep.key, sweep.scale is Scale.LOG)
        p = parameter(study, sweep.key)
        self.title.log.setEnabled(sweep.low > 0)
        whole = p.kind is Kind.INTEGER
        self.range.low.set_number(round(sweep.low) if whole else sweep.low)
        self.range.high.set_number(round(sweep.high) if whole else sweep.high)
        for field in (self.range.low, self.range.high):
            field.set_help(f"Between {p.low:g} and {p.high:g}")

    def _present(self) -> tuple[Parameter, Sweep]:
        assert self._study is not None
        sweep = self._session.request(self._study.id).sweep
        assert sweep is not None
        return parameter(self._study, sweep.key), sweep

    def _checked(self, number: float, end: str) -> float:
        p, sweep = self._present()
        low, high = (number, sweep.high) if end == "low" else (sweep.low, number)
        if not p.low <= number <= p.high:
            raise ValueError(f"{p.symbol} runs from {p.low:g} to {p.high:g}")
        _check_ends(low, high, sweep.scale is Scale.LOG)
        return p.clamp(number)

    def _choose(self, key: str) -> None:
        assert self._study is not None
        before = self._left.get((self._study.id, key))
        self._session.set_sweep(before or default_sweep(self._study, key))

    def _choose_scale(self, log: bool) -> None:
        self._change(scale=Scale.LOG if log else Scale.LINEAR)

    def _change(self, **changes: Any) -> None:
        self._session.set_sweep(replace(self._present()[1], **changes))


def _check_ends(low: float, high: float, log: bool) -> None:
    """Raise ValueError if an axis cannot have this range."""
    if not low < high:
        raise ValueError(f"the axis must grow: {low:g} is not below {high:g}")
    if log and low <= 0:
        raise ValueError("a logarithmic axis starts above 0")
