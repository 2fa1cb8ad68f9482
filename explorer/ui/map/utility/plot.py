"""Plot of the utility curves with a draggable target, and the controls around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import (
    QGraphicsRectItem,
    QGraphicsSimpleTextItem,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.error_curves import HERE, SAMPLE, THEORY, ErrorCurves, Question
from explorer.engine.session.utility_settings import UtilitySettings, evaluation_words
from explorer.figures import style
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Fidelity, Result, Series
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments import utility_report as words
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    MEASURES,
    ErrorCurve,
    Measure,
)
from explorer.studies.heatmap.experiments.evaluation import SYNTHETIC_USERS, axes_of
from explorer.studies.heatmap.experiments.utility_report import (
    DIGITS,
    MEAN,
    TARGET_SHARE,
    Line,
    log_axis,
    reached_value,
    statistic_text,
)
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.plot.labels import PlotLabel
from explorer.ui.plot.target_line import TargetLine
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.value_field import ValueField

NEAR_PX = 14.0
"""Maximum distance in pixels of a click from a point of a curve."""
APART_PX = 15.0
"""Vertical distance between names at the ends of curves."""
NAMES_PX = 26
"""Horizontal space for them in addition to their text."""
NAMES_BESIDE_PX = 600
"""Width in pixels from which names stand beside the axes, else inside."""
GROUND_ALPHA = 200
"""Opacity behind texts over curves."""
CHOSEN_WIDTH = 2.8
GREY = "grey"


class TargetErrorLine(TargetLine):
    """Line at the target, labelled."""

    words = ""

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        super().set_theme(replace(theme, stamp_text=theme.map_region))

    def _place_label(self, *_: object) -> None:
        if self.target is None:
            return
        (x0, _), _ = self._plot.view.viewRange()
        self.label.set_anchor((0.0, 0.5))
        self.label.set_text(self.words)
        self.label.setPos(x0, self.line.value())


class ErrorPlot(BoundsPlot):
    """Error against ε or another parameter: one curve per mechanism.

    Signals
    -------
    point_chosen(str, float)
        Mechanism and x of the clicked point.
    """

    point_selected = Signal(str, float)

    def __init__(self) -> None:
        self._names: list[tuple[QGraphicsSimpleTextItem, pg.GraphicsObject]] = []
        self._answer: ErrorCurves | None = None
        self._chosen = ""
        super().__init__()
        self.setObjectName("error-plot")
        self.setAccessibleName("Error against ε, curator only")
        self.setMinimumSize(300, 190)
        names = [mechanism.title for mechanism in MECHANISMS.values() if mechanism.compared]
        bold = self.font()
        bold.setBold(True)
        self._space = max(map(QFontMetricsF(bold).horizontalAdvance, names)) + NAMES_PX
        self.target = TargetErrorLine(self)
        self.band = pg.LinearRegionItem(orientation="horizontal", movable=False)
        self.band.setZValue(0)
        for edge in self.band.lines:
            edge.hide()
        self.view.addItem(self.band, ignoreBounds=True)
        self.grey_label = PlotLabel(self.view, 13, (0.0, 0.0))
        self.marks = pg.ScatterPlotItem(size=9, pxMode=True)
        self.marks.setZValue(16)
        self.view.addItem(self.marks, ignoreBounds=True)
        self.met = PlotLabel(self.view, 16, (0.0, 0.0))
        for item in (self.band, self.grey_label, self.met):
            item.hide()
        self.scene().sigMouseClicked.connect(self._clicked)
        self.view.sigRangeChanged.connect(self._place_names)
        self.view.sigResized.connect(self._place_names)

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        super().set_theme(theme)
        self.target.set_theme(theme)
        wash = QColor(theme.stamp_text)
        wash.setAlpha(26)
        self.band.setBrush(wash)
        clear = QColor(theme.axes)
        clear.setAlpha(0)
        self.grey_label.set_look(theme.stamp_text, clear)
        ground = QColor(theme.axes)
        ground.setAlpha(GROUND_ALPHA)
        self.met.set_look(theme.text, ground)
        if self._answer is not None:
            self._draw_names()

    def show_answer(self, answer: ErrorCurves, chosen: str, statistic: str) -> None:
        """Show curves, that of the selected mechanism in bold."""
        axis, measure = AXES[answer.question.axis], answer.question.shown_measure
        self._answer, self._chosen = answer, chosen
        statistic = MEAN if answer.question.proved else statistic
        words = f"{measure.name}, {statistic_text(statistic, measure)}"
        self.set_axes(f"{axis.symbol}  {axis.name}", words, log_axis(axis), measure.log)
        series = tuple(series_of(curve, measure, statistic) for curve in in_table_order(answer))
        request = replace(
            answer.question.request,
            selection=None,
            sweep=None,
            quantity=f"{axis.key} {measure.key} {statistic}",
        )
        self.show_result(Result(request, Fidelity.FULL, series=(*series, *grey_series(answer))))
        self._show_grey(answer, measure)
        self._draw_names()

    def show_target(self, target: float | None, measure: Measure) -> None:
        """Place the target line; None hides it."""
        value = "" if target is None else measure.written(nearest(target, DIGITS))
        self.target.words = f"↕ I can live with {value}"
        self.target.show(target, measure.key)

    def show_met(self, lines: Sequence[Line], target: float | None, statistic: str) -> None:
        """Mark the intersections of curves and target."""
        spots, best = [], None
        proved = self._answer is not None and self._answer.question.proved
        for line in lines if target is not None and (proved or statistic == TARGET_SHARE) else ():
            if line.epsilon is None or line.words.startswith("below"):
                continue
            place = QPointF(math.log10(line.epsilon), self.target.line.value())
            best = best or (place, line)
            colour = (
                self._styles[line.mechanism].colour if line.mechanism in self._styles else "#888"
            )
            spots.append(
                {
                    "pos": (place.x(), place.y()),
                    "brush": pg.mkBrush(colour),
                    "pen": pg.mkPen(self._theme.axes, width=1.2),
                }
            )
        self.marks.setData(spots)
        self.met.setVisible(best is not None)
        if best is not None:
            self.met.set_text(f"ε {nearest(best[1].epsilon or 0.0, DIGITS)}")
            self.met.setPos(best[0])

    def _restyle(self, result: Result) -> None:
        super()._restyle(result)
        if self._chosen in self._styles and self._chosen in self.curves:
            bold = replace(self._styles[self._chosen], width=CHOSEN_WIDTH)
            self._styles[self._chosen] = bold
            self.curves[self._chosen].set_style(bold, self._theme.axes, self.devicePixelRatioF())

    def choose(self, mechanism: str) -> None:
        """Draw this mechanism's curve in bold."""
        if mechanism != self._chosen:
            self._chosen = mechanism
            if self.result is not None:
                self._restyle(self.result)
                self._draw_names()

    def _show_grey(self, answer: ErrorCurves, measure: Measure) -> None:
        grey = answer.grey
        flat = bool(grey.size and np.isfinite(grey).all() and np.ptp(grey) == 0)
        for item in (self.band, self.grey_label):
            item.setVisible(flat)
        if not flat:
            return
        level = math.log10(grey[0]) if self.y_log and grey[0] > 0 else float(grey[0])
        far = 1e6 if measure.low_is_good else -1e6
        self.band.setRegion(sorted((level, level + far)))
        value = measure.written(nearest(float(grey[0]), DIGITS))
        errs = "errs" if measure.low_is_good else "has"
        self.grey_label.set_text(f"an evenly grey map {errs} {value}")
        (x0, _), _ = self.view.viewRange()
        self.grey_label.set_anchor((0.0, 1.0 if measure.low_is_good else 0.0))
        self.grey_label.setPos(x0, level)

    # Names at the ends of curves ---------------------------------------------------------------

    def _draw_names(self) -> None:
        for name, stub in self._names:
            self.scene().removeItem(name)
            self.scene().removeItem(stub)
        self._names = []
        ground = QColor(self._theme.axes)
        ground.setAlpha(GROUND_ALPHA)
        for curve in in_table_order(self._answer) if self._answer is not None else ():
            known = np.isfinite(curve.mean)
            if not known.any():
                continue
            text = self.scene().addSimpleText(MECHANISMS[curve.mechanism].title)
            font = self.font()
            font.setBold(curve.mechanism == self._chosen)
            text.setFont(font)
            text.setBrush(QColor(self._theme.text))
            text.setData(0, curve.mechanism)
            under = QGraphicsRectItem(text.boundingRect(), text)
            under.setFlag(QGraphicsRectItem.GraphicsItemFlag.ItemStacksBehindParent)
            under.setPen(Qt.PenStyle.NoPen)
            under.setBrush(ground)
            pen = pg.mkPen(self._styles[curve.mechanism].colour, width=4)
            stub = self.scene().addLine(0, 0, 10, 0, pen)
            self._names.append((text, stub))
        self._place_names()

    def _place_names(self, *_: object) -> None:
        """Place names beside the ends of their curves without overlap."""
        area = self.view.sceneBoundingRect()
        if not self._names or area.height() <= 0:
            return
        wanted = []
        for name, stub in self._names:
            curve = self.curves.get(name.data(0))
            there = np.flatnonzero(np.isfinite(curve.y)) if curve is not None else np.empty(0, int)
            if curve is None or not there.size:
                continue
            end = self.view.mapViewToScene(QPointF(curve.x[there[-1]], curve.y[there[-1]]))
            wanted.append((min(max(end.y(), area.top()), area.bottom()), name, stub))
        wanted.sort(key=lambda item: item[0])
        y = -math.inf
        placed = []
        for at_y, name, stub in wanted:
            y = max(at_y, y + APART_PX)
            placed.append((y, name, stub))
        over = placed[-1][0] - area.bottom() if placed else 0.0
        limit = math.inf
        for y, name, stub in reversed(placed):  # shift up from the bottom edge
            y = min(y, limit, area.bottom()) if over > 0 else y
            limit = y - APART_PX
            box = name.boundingRect()
            left = area.right() + 22 if self._beside else area.right() - box.width() - 4
            # Inside there is space on the side of the end opposite to the curve.
            aside = 0.0 if self._beside else 10.0 if self.y_log else -10.0
            stub.setPos(left - 16, y + aside)
            name.setPos(left, y + aside - box.height() / 2)

    @property
    def _beside(self) -> bool:
        return bool(self.width() >= NAMES_BESIDE_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Reserve space for names beside the axes if wide enough."""
        super().resizeEvent(event)
        if hasattr(self, "met"):
            space = self._space if self._beside else 12
            self.centralWidget.layout().setContentsMargins(2, 6, space, 2)

    # Pointer -----------------------------------------------------------------------------------

    def _clicked(self, event: object) -> None:
        position = event.scenePos()  # type: ignore[attr-defined]
        if self._answer is None or not self.view.sceneBoundingRect().contains(position):
            return
        nearest_one = None
        for curve in self._answer.curves:
            drawn = self.curves.get(curve.mechanism)
            if drawn is None:
                continue
            for i in np.flatnonzero(np.isfinite(drawn.y)):
                away = self.view.mapViewToScene(QPointF(drawn.x[i], drawn.y[i])) - position
                distance = math.hypot(away.x(), away.y())
                if nearest_one is None or distance < nearest_one[0]:
                    nearest_one = distance, curve.mechanism, float(curve.x[i])
        if nearest_one is not None and nearest_one[0] <= NEAR_PX:
            self.point_selected.emit(nearest_one[1], nearest_one[2])


def in_table_order(answer: ErrorCurves) -> list[ErrorCurve]:
    """Return curves in the order of the mechanism table, so that colours are stable.

    Curves without proved values are left out.
    """
    known = [c for c in answer.curves if not (c.proved and np.isnan(c.mean).all())]
    return sorted(known, key=lambda curve: list(MECHANISMS).index(curve.mechanism))


def series_of(curve: ErrorCurve, measure: Measure, statistic: str) -> Series:
    """Return a curve with its band: 10–90 % of draws, or the 95 % interval of the mean."""
    if statistic == MEAN:
        y, low, high = curve.mean, curve.low, curve.high
    else:
        y, low, high = reached_value(curve, measure), curve.quantile(0.1), curve.quantile(0.9)
    low, high = np.where(np.isfinite(low), low, y), np.where(np.isfinite(high), high, y)
    mechanism = MECHANISMS[curve.mechanism]
    if curve.proved:
        role = Role.UPPER if measure.low_is_good else Role.LOWER
        return Series(
            curve.mechanism,
            mechanism.title,
            role,
            curve.x,
            y,
            mechanism.references[0],
            undefined_reason="nothing is proved" if np.isnan(y).any() else "",
        )
    return Series(
        curve.mechanism,
        mechanism.title,
        Role.ESTIMATE,
        curve.x,
        y,
        mechanism.references[0],
        low,
        high,
        "not computed yet" if np.isnan(y).any() else "",
        computing=True,
    )


def grey_series(answer: ErrorCurves) -> tuple[Series, ...]:
    """Return the error of the uniform map as a curve, if it is not constant."""
    grey = answer.grey
    if not grey.size or np.ptp(grey) == 0 or not np.isfinite(grey).all():
        return ()
    reference = MECHANISMS[answer.curves[0].mechanism].references[0]
    x = answer.curves[0].x
    return (Series(GREY, "evenly grey map", Role.BASELINE, x, grey, reference),)


MORE_DRAWS = 100
FILE = "file"
SIDE_LETTERS = 40
STATISTICS = ((words.TARGET_SHARE, "9 of 10 draws"), (words.MEAN, "mean of draws"))
EVALUATED_ON = (
    (HERE, "these check-ins"),
    (SAMPLE, "synthetic people"),
    (FILE, "a public file…"),
    *((key, people.name) for key, people in SYNTHETIC_USERS.items()),
    (THEORY, "theory (no data)"),
)


def stamp_of(question: Question) -> str:
    """Return the stamp of a result; proved values depend on no data."""
    return "" if question.proved else text.stamp(False, curator_only=True)


def csv_of(answer: ErrorCurves) -> str:
    """Return the values of all curves as CSV, stamped."""
    question = answer.question
    about = [f"judged on: {evaluation_words(question.judged_on)}", f"{answer.users} users"]
    about += [f"{key} = {value}" for key, value in question.request.values]
    axis, measure = AXES[question.axis], question.shown_measure
    return words.as_csv(answer.curves, axis, measure, stamp_of(question), about)


class Parts:
    """Plot, menus, table and buttons with their layout."""

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
        """Set the measures in the unit of the map's plane."""
        named = [replace(question, measure=key).shown_measure for key in MEASURES]
        self.measure.offer([(m.key, m.name) for m in named], question.measure)

    def offer(self, which: UtilitySettings) -> None:
        """Show the choices; proved values exist for the mean only."""
        known = which.judged_on in dict(EVALUATED_ON)
        proved = which.judged_on == THEORY
        axes = [(axis.key, f"over {axis.symbol}") for axis in axes_of(which.judged_on)]
        self.statistic.offer(STATISTICS, words.MEAN if proved else which.statistic)
        self.statistic.setEnabled(not proved)
        self.axis.offer(axes, which.axis)
        self.judged.offer(EVALUATED_ON, which.judged_on if known else FILE)

    def show_field(self, shown: bool, question: Question) -> None:
        """Show or hide the target field."""
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
        """Show the ε that each mechanism needs for a target, one selected."""
        of = dict(STATISTICS)[words.MEAN if question.proved else words.TARGET_SHARE]
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
        """Offer an ε, with the mechanism if it differs from the map's."""
        name = "" if epsilon is None else f" = {nearest(epsilon, 6)}"
        self.use.setText(f"Use ε{name}" + f", {mechanism}" * bool(mechanism))
        self.use.setEnabled(epsilon is not None)

    def show_state(self, answer: ErrorCurves | None, busy: bool, able: bool, more: bool) -> None:
        """Show the progress of the curves, with buttons to stop, continue and draw more."""
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
        message = plain_label("Judge on")
        message.setBuddy(self.judged)
        shares = (self.measure, 5), (self.statistic, 5), (self.axis, 4), (self.judged, 5)
        for box, share in shares:
            box.setMinimumContentsLength(3)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setMinimumWidth(60)
            if box is self.judged:
                top.addWidget(message)
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
