"""What the view *Which ε?* is made of, before anything happens in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.error_curves import HERE, SAMPLE, THEORY, Answer, Question
from explorer.engine.session.which_view import WhichView, judged_on_words
from explorer.studies.base.numbers import nearest
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments import which_words as words
from explorer.studies.heatmap.experiments.error_curves import AXES, MEASURES, Measure
from explorer.studies.heatmap.experiments.judging import MADE, axes_on
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.map.utility.plot import ErrorPlot
from explorer.ui.widgets.choice_box import ChoiceBox
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.value_field import ValueField

MORE_DRAWS = 100
FILE = "file"
SIDE_LETTERS = 40
STATISTICS = ((words.OFTEN, "9 of 10 draws"), (words.MEAN, "mean of draws"))
JUDGED = (
    (HERE, "these check-ins"),
    (SAMPLE, "synthetic people"),
    (FILE, "a public file…"),
    *((key, people.name) for key, people in MADE.items()),
    (THEORY, "theory (no data)"),
)


def stamp_of(question: Question) -> str:
    """Return what stands on the numbers of an answer: what is proved looks at nothing."""
    return "" if question.proved else text.stamp(False, curator_only=True)


def csv_of(answer: Answer) -> str:
    """Return the numbers of all curves as CSV, stamped."""
    asked = answer.question
    about = [f"judged on: {judged_on_words(asked.judged_on)}", f"{answer.users} users"]
    about += [f"{key} = {value}" for key, value in asked.request.values]
    axis, measure = AXES[asked.axis], asked.shown_measure
    return words.as_csv(answer.curves, axis, measure, stamp_of(asked), about)


class Parts:
    """Plot, menus, table and buttons, laid out in a widget."""

    def __init__(self, owner: QWidget) -> None:
        self.plot = ErrorPlot()
        self.measure = ChoiceBox("What is measured")
        self.statistic = ChoiceBox("What of the draws is shown")
        self.statistic.setToolTip(
            "9 of 10 draws: what nine of ten draws are at least as good as; the band is 10–90 % of "
            "draws.\nMean of draws: the band is the 95 % interval of the mean."
        )
        self.axis = ChoiceBox("What is on the x axis")
        self.judged = ChoiceBox("Judge on")
        self.judged.setToolTip(
            "These check-ins: a look at the data, for planning alone.\nA stand-in: people who have "
            "nothing to do with them, as many as n₀ says, in a square as large as this region; of "
            "several images in a file those of the one called like the map's, or of the first.\n"
            "Made data: drawn anew as a figure of the paper describes them.\n"
            "Theory: what is proved of the error for n₀ users, where anything is."
        )
        self.boxes = {
            "measure": self.measure,
            "statistic": self.statistic,
            "axis": self.axis,
            "judged_on": self.judged,
        }
        self.field = ValueField(_checked_target)
        self.field.setAccessibleName("Target: what one can live with")
        self.field.setFixedWidth(58)
        self.field.set_help("The error that one can live with in 9 of 10 draws; also drag the line")
        self.needs, self.unit = plain_label("ε for"), plain_label()
        self.needs.setBuddy(self.field)
        self.table = NumberTable("ε for the target in 9 of 10 draws, curator only")
        self.table.setSelectionBehavior(NumberTable.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(NumberTable.SelectionMode.SingleSelection)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setMinimumHeight(5 * self.table.verticalHeader().defaultSectionSize() + 34)
        self.state = styled_label("muted", word_wrap=True)
        self.use = tool_button("Use ε", "Set mechanism and ε of the map")
        self.sure = tool_button(
            "Make sure", "Search for an ε that is enough and one that is not, 95 % sure"
        )
        self.more = tool_button(f"{MORE_DRAWS} draws", "Draw more often at every point")
        self.stop = tool_button("Cancel", "Stop computing; what is there is kept")
        self.copy = tool_button("Copy CSV", "Copy the numbers of all curves; curator only")
        self.export = tool_button("Export…", "Write these curves as a picture or their numbers")
        self._lay_out(owner)

    def name_measures(self, question: Question) -> None:
        """Offer the measures in the unit of what the map lies in."""
        named = [replace(question, measure=key).shown_measure for key in MEASURES]
        self.measure.offer([(m.key, m.name) for m in named], question.measure)

    def offer(self, which: WhichView) -> None:
        """Show what is chosen among what can be; what is proved is so of the mean alone."""
        known = which.judged_on in dict(JUDGED)
        proved = which.judged_on == THEORY
        axes = [(axis.key, f"over {axis.symbol}") for axis in axes_on(which.judged_on)]
        self.statistic.offer(STATISTICS, words.MEAN if proved else which.statistic)
        self.statistic.setEnabled(not proved)
        self.axis.offer(axes, which.axis)
        self.judged.offer(JUDGED, which.judged_on if known else FILE)

    def show_field(self, shown: bool, question: Question) -> None:
        """Show the field of the target, or hide it."""
        self.name_measures(question)
        for widget in (self.needs, self.field, self.unit):
            widget.setVisible(shown)

    def show_lines(
        self,
        measure: Measure,
        target: float,
        lines: Sequence[words.Line],
        picked: str,
        question: Question,
    ) -> None:
        """Show which ε each mechanism needs for a target, one of them picked."""
        of = dict(STATISTICS)[words.MEAN if question.proved else words.OFTEN]
        self.unit.setText(f"{measure.unit}, {of}".lstrip(" ,"))
        value = measure.written(nearest(target, words.DIGITS))
        self.table.title = f"ε for {value}, {of}"
        self.table.note = stamp_of(question)
        self.table.set_table(("mechanism", "ε"), [(x.title, x.words) for x in lines])
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for place, line in enumerate(lines):
            if line.mechanism == picked:
                self.table.selectRow(place)

    def show_use(self, epsilon: float | None, mechanism: str) -> None:
        """Offer an ε, and a mechanism where it is another than the map's."""
        name = "" if epsilon is None else f" = {nearest(epsilon, 6)}"
        self.use.setText(f"Use ε{name}" + f", {mechanism}" * bool(mechanism))
        self.use.setEnabled(epsilon is not None)

    def show_state(self, answer: Answer | None, busy: bool, able: bool, more: bool) -> None:
        """Say how far the curves are, and offer to stop, to go on and to draw more."""
        unfinished = answer is None or not answer.finished
        self.stop.setText("Cancel" if busy else "Go on")
        self.stop.setEnabled(busy or (unfinished and able))
        self.more.setEnabled(more)
        for button in (self.copy, self.export):
            button.setEnabled(answer is not None)
        if answer is None or answer.question.proved:
            self.state.setText("computing…" if busy else "")
            return
        how = "computing…" if busy else "stopped" if unfinished else "finished"
        self.state.setText(words.how_far(answer.curves, answer.done, answer.total, how))

    def _lay_out(self, owner: QWidget) -> None:
        top = QHBoxLayout()
        top.setSpacing(6)
        said = plain_label("Judge on")
        said.setBuddy(self.judged)
        shares = (self.measure, 5), (self.statistic, 5), (self.axis, 4), (self.judged, 5)
        for box, share in shares:
            box.setMinimumContentsLength(3)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setMinimumWidth(60)
            if box is self.judged:
                top.addWidget(said)
            top.addWidget(box, share)
        buttons = QGridLayout()
        buttons.setSpacing(4)
        rows = (self.use,), (self.sure, self.more), (self.copy, self.export)
        for place, buttons_of in enumerate(rows):
            for i, button in enumerate(buttons_of):
                buttons.addWidget(button, place, i * 6 // len(buttons_of), 1, 6 // len(buttons_of))
        for button in (self.stop, *(button for buttons_of in rows for button in buttons_of)):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        side = QVBoxLayout()
        side.setSpacing(4)
        wanted = QHBoxLayout()
        wanted.setSpacing(5)
        for widget in (self.needs, self.field, self.unit):
            wanted.addWidget(widget)
        wanted.addStretch(1)
        side.addLayout(wanted)
        side.addWidget(self.table, 1)
        how_far = QHBoxLayout()
        how_far.addWidget(self.state, 2)
        how_far.addWidget(self.stop, 1)
        side.addLayout(how_far)
        side.addLayout(buttons)
        column = QVBoxLayout(owner)
        column.setContentsMargins(4, 0, 4, 0)
        column.setSpacing(2)
        column.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.plot, 1)
        beside = QWidget()
        beside.setLayout(side)
        side.setContentsMargins(0, 0, 0, 0)
        beside.setFixedWidth(beside.fontMetrics().averageCharWidth() * SIDE_LETTERS)
        row.addWidget(beside)
        column.addLayout(row, 1)


def _checked_target(value: float) -> float:
    if not value > 0:
        raise ValueError("the target must be above 0")
    return value
