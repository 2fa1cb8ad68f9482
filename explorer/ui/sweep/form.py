"""Form of a sweep: up to three parameters with their values, and the number of trials."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from explorer.studies.base.grid import MAX_TRIALS, Grid, parse_axis
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.study import Kind, Parameter, Request, Scale, Study, parameter, relevant
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox
from explorer.ui.widgets.value_field import ValueField

PLACES = ("Columns", "Rows", "Pages")
HELP = (
    "Values: a list, 1e4,1e5, or a range with both ends and a number of values, 0.5:4:8; :lin or "
    ":log behind a range overrides the parameter's scale"
)


def sweepable(study: Study, request: Request, chosen: Sequence[str]) -> list[Parameter]:
    """Return the parameters that can be swept: relevant and selected ones."""
    swept = "" if request.sweep is None else request.sweep.key
    taken = {swept, *(parameter(study, swept).replaces if swept else ())}
    values = dict(request.values)
    return [
        p
        for p in study.parameters
        if p.kind in (Kind.REAL, Kind.INTEGER, Kind.CHOICE, Kind.FLAG)
        and not p.axis_only
        and p.key not in taken
        and (p.key in chosen or relevant(p, values, request.quantity))
    ]


def initial_values(p: Parameter, request: Request) -> str:
    """Return initial values: all choices, or three numbers around the present one."""
    if p.kind is Kind.CHOICE:
        return ",".join(value for value, _ in p.choices)
    if p.kind is Kind.FLAG:
        return "no,yes"
    now = float(request[p.key])
    if p.scale is Scale.LOG:
        around = [now / 4, now, now * 4]
    else:
        step = 0.1 * (p.high - p.low)
        around = [now - step, now, now + step]
    values = dict.fromkeys(p.clamp(min(max(v, p.low), p.high)) for v in around)
    return ",".join(
        format_number(v, digits=PARAMETER_DIGITS, typeset=False).replace(",", "") for v in values
    )


class AxisRow(QObject):
    """One parameter and its values, in the form's grid.

    Signals
    -------
    changed()
        Changed by the user.
    """

    changed = Signal()

    def __init__(self, place: str) -> None:
        super().__init__()
        self.parameter = ChoiceBox(f"{place}: parameter")
        self.values = QLineEdit()
        self.values.setAccessibleName(f"{place}: values")
        self.values.setPlaceholderText("1e4,1e5 or 0.5:4:8")
        self.values.setToolTip(HELP)
        self.values.setProperty("wrong", False)
        self.count = styled_label("muted")
        self.count.setMinimumWidth(62)
        self.suggest: dict[str, str] = {}
        self.parameter.activated.connect(self._chosen)
        self.values.editingFinished.connect(self._edited)

    @property
    def text(self) -> str:
        """``KEY=VALUES``; empty if none is selected."""
        key = str(self.parameter.currentData() or "")
        return f"{key}={self.values.text().strip()}" if key else ""

    def show_text(self, text: str, study: Study) -> None:
        """Show ``KEY=VALUES`` with the number of values, or the error."""
        key, _, values = text.partition("=")
        self.parameter.setCurrentIndex(max(self.parameter.findData(key), 0))
        if self.values.text().strip() != values:
            self.values.setText(values)
        self.values.setModified(False)
        self.values.setEnabled(bool(key))
        self.count.setText("")
        why = ""
        if key:
            try:
                n = len(parse_axis(study, text).values)
                self.count.setText(f"{n} value{'s' * (n != 1)}")
            except ValueError as error:
                why = str(error)
                self.count.setText("✗")
        self.values.setToolTip(f"{why}\n{HELP}" if why else HELP)
        if bool(why) != self.values.property("wrong"):
            self.values.setProperty("wrong", bool(why))
            self.values.style().unpolish(self.values)
            self.values.style().polish(self.values)

    def _chosen(self, _: int) -> None:
        key = str(self.parameter.currentData() or "")
        self.values.setText(self.suggest.get(key, ""))
        self.values.setEnabled(bool(key))
        self.changed.emit()

    def _edited(self) -> None:
        if self.values.isModified():
            self.values.setModified(False)
            self.changed.emit()


class GridForm(QWidget):
    """Shows a grid and reports the user's changes.

    Signals
    -------
    changed(Grid)
    compute()
        *Compute*, or *Stop* while running.
    export()
    y_log(bool)
    curve(str)
        Curve shown by the colours.
    """

    changed = Signal(object)
    compute = Signal()
    export = Signal()
    y_log = Signal(bool)
    curve = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.about = styled_label("muted", word_wrap=True)
        self.rows = [AxisRow(place) for place in PLACES]
        self.third = ChoiceBox("Use of the third parameter")
        self.third.offer([("pages", "Pages"), ("colours", "Colours")], "pages")
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 3, 12, 0)
        grid.setVerticalSpacing(3)
        grid.addWidget(self.about, 0, 0, 1, 4)
        for i, row in enumerate(self.rows):
            label = plain_label(PLACES[i])
            label.setBuddy(row.parameter)
            grid.addWidget(self.third if i == 2 else label, i + 1, 0)
            for column, widget in enumerate((row.parameter, row.values, row.count)):
                grid.addWidget(widget, i + 1, column + 1)
            row.changed.connect(self._edited)
            row.values.returnPressed.connect(self.compute.emit)
        grid.setColumnStretch(1, 2)
        grid.setColumnStretch(2, 3)
        self.trials = ValueField(_whole)
        self.trials.setAccessibleName("Trials")
        self.trials.setFixedWidth(58)
        self.trials.set_help(
            "Number of simulations per value, each with another seed; the mean and its 95 % "
            "interval are shown"
        )
        self.trials.set_number(1)
        self.curves = ChoiceBox("Curve shown by the colours")
        self.curves.hide()
        self.log = CheckBox("log y")
        self.log.setAccessibleName("Logarithmic y axis")
        self.button = QPushButton("Compute")
        self.button.setToolTip(
            "Compute the values of the grid that are not known yet, in the background"
        )
        self.file = tool_button("Export…", "Write the table (CSV, Parquet, JSON) or the plots")
        below = QHBoxLayout()
        below.setSpacing(6)
        words = plain_label("Trials")
        words.setBuddy(self.trials)
        for widget in (words, self.trials, self.log, self.curves):
            below.addWidget(widget)
        below.addStretch(1)
        below.addWidget(self.file)
        below.addWidget(self.button)
        grid.addLayout(below, 4, 0, 1, 4)
        self.third.activated.connect(lambda _: self._edited())
        self.trials.entered.connect(lambda _: self._edited())
        self.log.clicked.connect(lambda on: self.y_log.emit(bool(on)))
        self.curves.activated.connect(lambda _: self.curve.emit(str(self.curves.currentData())))
        self.button.clicked.connect(lambda _=False: self.compute.emit())
        self.file.clicked.connect(lambda _=False: self.export.emit())

    def show_grid(self, study: Study, request: Request, grid: Grid) -> None:
        """Show a grid and the sweepable parameters of a study."""
        selected = [text.partition("=")[0] for text in grid.over]
        choices = sweepable(study, request, selected)
        items = [
            ("", "–"),
            *((p.key, "  ".join(filter(None, (p.symbol, p.name)))) for p in choices),
        ]
        suggest = {p.key: initial_values(p, request) for p in choices}
        for row, text in zip(self.rows, [*grid.over, "", "", ""], strict=False):
            row.suggest = suggest
            row.parameter.offer(items, text.partition("=")[0])
            row.show_text(text, study)
        self.third.setCurrentIndex(int(grid.colours))
        self.third.setEnabled(len(grid.over) > 2)
        self.trials.set_number(grid.trials)

    def set_busy(self, busy: bool) -> None:
        """Show the Stop button while running."""
        self.button.setText("Stop" if busy else "Compute")

    def typed(self) -> None:
        """Apply text being typed."""
        for row in self.rows:
            row.values.editingFinished.emit()

    def _edited(self) -> None:
        over = tuple(row.text for row in self.rows if row.text)
        colours = self.third.currentData() == "colours" and len(over) > 2
        self.changed.emit(Grid(over, int(self.trials.number or 1), colours))


def _whole(number: float) -> int:
    if number != round(number) or not 1 <= number <= MAX_TRIALS:
        raise ValueError(f"trials: give a whole number from 1 to {MAX_TRIALS:,}")
    return round(number)
