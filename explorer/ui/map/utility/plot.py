"""Plot of the utility curves with a draggable target, and the controls around it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QFontMetricsF,
    QPainterPath,
    QPalette,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsPathItem,
    QGraphicsRectItem,
    QGraphicsSimpleTextItem,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
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
    DRAWS,
    MEASURES,
    SYNTHETIC_USERS,
    Axis,
    ErrorCurve,
    Measure,
    axes_of,
)
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
from explorer.ui.plot.curve_plot import BoundsPlot, TargetLine
from explorer.ui.plot.labels import PlotLabel
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.value_field import ValueField

NEAR_PX = 14.0
"""Maximum distance in pixels of a click from a point of a curve."""
APART_PX = 15.0
"""Vertical distance between names at the ends of curves."""
NAMES_PX = 26
"""Horizontal space for them in addition to their text."""
NAMES_BESIDE_PX = 400
"""Width in pixels from which names stand beside the axes, else inside."""
CHIP_SIDES = (0.0, 1.0, -0.7, 1.7)
"""Vertical anchors of the mark's label: below and above the mark, then further away."""
CHIP_DEPTH, CHIP_MARGIN = 20.0, 12.0
"""Stacking order of the chip of the target, and space beside its text in pixels."""
GROUND_ALPHA = 200
"""Opacity behind texts over curves."""
CHOSEN_WIDTH = 2.8
GREY = "grey"


class TargetErrorLine(TargetLine):
    """Line at the target; a chip on the axis, in place of the tick labels there, has its value."""

    words = ""

    def __init__(self, plot: BoundsPlot) -> None:
        super().__init__(plot)
        self.chip = QGraphicsPathItem()
        self.chip.setPen(Qt.PenStyle.NoPen)
        self.chip.setZValue(CHIP_DEPTH)
        self._text = QGraphicsSimpleTextItem(self.chip)
        self.chip.hide()
        plot.scene().addItem(self.chip)
        plot.view.sigResized.connect(self._place_label)

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        super().set_theme(replace(theme, stamp_text=theme.map_region))
        self.chip.setBrush(QColor(theme.map_region))
        self._text.setBrush(QColor(theme.axes))

    def show(self, target: float | None, symbol: str = "") -> None:
        """Show line and chip at a target; None hides them."""
        super().show(target, symbol)
        self.label.hide()
        self._place_label()

    def _place_label(self, *_: object) -> None:
        """Place the chip beside the axis, at the height of the line."""
        area, axis = self._plot.view.sceneBoundingRect(), self._plot.left
        at = self._plot.view.mapViewToScene(QPointF(0, self.line.value())).y()
        shown = self.target is not None and area.top() <= at <= area.bottom()
        self.chip.setVisible(shown)
        axis.leave_out(self.line.value() if shown else None)
        if not shown:
            return
        font = self._plot.font()
        font.setBold(True)
        self._text.setFont(font)
        self._text.setText(self.words)
        size = self._text.boundingRect()
        if size.width() + CHIP_MARGIN > area.left():  # the unit stands in the title
            self._text.setText(self.words.partition(" ")[0])
            size = self._text.boundingRect()
        path, width = QPainterPath(), size.width() + CHIP_MARGIN
        path.addRoundedRect(QRectF(0, 0, width, size.height() + 4), 3, 3)
        self.chip.setPath(path)
        self._text.setPos(CHIP_MARGIN / 2, 2)
        self.chip.setPos(max(area.left() - width - 3, 0.0), at - path.boundingRect().height() / 2)


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
        self.setMinimumSize(300, 130)
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
        for title in (self.titles.x, self.titles.y):
            title.hide()  # the boxes above the plot choose the axes
        self.view.sigRangeChanged.connect(self._place_names)
        self.view.sigResized.connect(self._place_names)
        for moved in (
            self.view.sigRangeChanged,
            self.view.sigResized,
            self.value_line.sigPositionChanged,
        ):
            moved.connect(self._keep_apart)

    def _place_label(self, *_: object) -> None:
        """Keep the label of the present value at the bottom, clear of the uniform map's."""
        super()._place_label()
        (x0, x1), (y0, _) = self.view.viewRange()
        at = self.value_line.value()
        self.line_label.set_anchor((float(at > x0 + 0.2 * (x1 - x0)), 1.0))
        self.line_label.setPos(at, y0)

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
        self.target.words = value
        self.target.show(target, measure.key)
        self._keep_apart()

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
        self._keep_apart()

    def _restyle(self, result: Result) -> None:
        super()._restyle(result)
        if self._chosen in self._styles and self._chosen in self.curves:
            bold = replace(self._styles[self._chosen], width=CHOSEN_WIDTH)
            self._styles[self._chosen] = bold
            self.curves[self._chosen].set_style(bold, self._theme.axes, self.devicePixelRatioF())

    def colour_of(self, mechanism: str) -> str:
        """Return the colour of a curve; "" if it is not drawn."""
        known = self._styles.get(mechanism)
        return "" if known is None else known.colour

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
        words = f"A uniform map would be off by {value}."
        self.grey_label.set_text(words if measure.low_is_good else f"A uniform map has {value}.")
        (x0, _), _ = self.view.viewRange()
        self.grey_label.set_anchor((0.0, 1.0 if measure.low_is_good else 0.0))
        self.grey_label.setPos(x0, level)

    def _keep_apart(self, *_: object) -> None:
        """Place each label at the first of its places where it lies on no other label."""
        if not hasattr(self, "met"):
            return
        (x0, x1), _ = self.view.viewRange()
        at, above = self.met.pos().x(), self.grey_label.anchor[1]
        sides = [(x0, 0.0), (x1, 1.0)]
        places = (
            (self.line_label, [(self.line_label.pos().x(), self.line_label.anchor)]),
            (self.met, [(at, (side, up)) for up in CHIP_SIDES for side in (0.0, 1.0)]),
            (self.grey_label, [(x, (side, up)) for up in (above, 1 - above) for x, side in sides]),
        )
        taken = [name.sceneBoundingRect() for name, _ in self._names]
        for label, possible in places:
            if not label.isVisible():
                continue
            for x, anchor in possible:
                label.set_anchor(anchor)
                label.setPos(x, label.pos().y())
                box = label.boundingRect().translated(label.scenePos())
                if not any(box.intersects(other) for other in taken):
                    break
            taken.append(box)

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
        self._keep_apart()

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
    return (Series(GREY, "uniform map", Role.BASELINE, x, grey, reference),)


MORE_DRAWS = 100
FILE = "file"
FIELD_HEIGHT, ROW_HEIGHT = 26, 19
TITLE_HEIGHT = 18
CHOICE_LETTERS = 16
TABLE_HEIGHT, SIDE_WIDTH = 185, 134
"""Height of the card with the table and width of its buttons, in pixels."""
STATISTICS = {words.TARGET_SHARE: "9 of 10 maps", words.MEAN: "mean of the runs"}
BANDS = {words.TARGET_SHARE: "band: 8 of 10 maps", words.MEAN: "band: 95 % interval"}
"""What the band of a curve shows, by the statistic that the curve shows."""
MARK_WIDTH, MARK_HEIGHT = 16, 3
"""Size in pixels of the line before the name of a mechanism in the table."""
CELL_PADDING = 13
"""Room beside the text of a cell, in pixels."""
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


class TitleBox(ChoiceBox):
    """Choice that looks like a title and is as wide as its text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setProperty("title", True)
        self.currentIndexChanged.connect(lambda _: self.updateGeometry())

    def sizeHint(self) -> QSize:
        """Return the size of the present text."""
        font = self.font()
        font.setBold(True)
        width = QFontMetricsF(font).horizontalAdvance(self.currentText())
        return QSize(round(width) + 34, TITLE_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return a small size: the text is elided."""
        return QSize(60, TITLE_HEIGHT)


class Parts:
    """Plot, menus, table and buttons with their layout."""

    def __init__(self, owner: QWidget) -> None:
        self.plot = ErrorPlot()
        self.measure = TitleBox("Error measure")
        self.statistic = TitleBox("Statistic of the runs")
        self.statistic.setToolTip(
            "9 of 10 maps: nine of ten maps have at most this error; the band is 10–90 % of the "
            "runs.\nMean of the runs: the band is the 95 % interval of the mean."
        )
        self.axis = TitleBox("Parameter on the x axis")
        self.bands = styled_label("faint")
        self.side = styled_label("faint")
        self.judged = ChoiceBox("Evaluate on")
        self.judged.setToolTip(
            "These check-ins: uses the real data; for planning only.\nA stand-in file: n₀ other "
            "people, in a square as large as this region. If the file has several images, the "
            "image with the name of the map's is used, or the first.\nSimulated data: drawn as a "
            "figure of the paper describes them.\nTheory: the proved error for n₀ users, if any."
        )
        self.boxes = {
            "measure": self.measure,
            "statistic": self.statistic,
            "axis": self.axis,
            "judged_on": self.judged,
        }
        self.field = ValueField(_checked_target)
        self.field.setAccessibleName("Acceptable error")
        self.field.setFixedWidth(58)
        self.field.set_help("Acceptable error in 9 of 10 maps; you can also drag the line")
        self.needs, self.unit = plain_label("Acceptable error"), plain_label()
        self.needs.setBuddy(self.field)
        self.table = NumberTable("ε for the target in 9 of 10 maps, curator only")
        self.table.set_plain(1)
        self.table.setSelectionBehavior(NumberTable.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(NumberTable.SelectionMode.SingleSelection)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.state = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.state.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.use = QPushButton("&Use ε")
        self.use.setObjectName("door")
        self.use.setToolTip("Set mechanism and ε of the map")
        self.sure = tool_button(
            "Verify with\nmore runs",
            "Search for an ε that is enough and one that is not, 95 % sure",
            "Verify with more runs",
        )
        self.more = tool_button(
            f"{MORE_DRAWS} runs per point", "Compute more runs per point", quiet=True
        )
        self.stop = tool_button("Continue", "Stop computing; the results so far are kept")
        self.stop.setMinimumWidth(self.stop.sizeHint().width() + 1)  # of the longer text
        self.copy = tool_button(
            "Copy CSV", "Copy the numbers of all curves; curator only", quiet=True
        )
        self.chance = styled_label("muted", word_wrap=True)
        self.interval = styled_label("muted")
        self._lay_out(owner)

    def name_measures(self, question: Question) -> None:
        """Set the measures in the unit of the map's plane."""
        named = [replace(question, measure=key).shown_measure for key in MEASURES]
        names = [(m.key, m.name[:1].upper() + m.name[1:]) for m in named]
        self.measure.offer(names, question.measure)
        shown = question.shown_measure
        kinds = [(key, statistic_text(key, shown)) for key in STATISTICS]
        self.statistic.offer(kinds, str(self.statistic.currentData()))

    def offer(self, which: UtilitySettings) -> None:
        """Show the choices; proved values exist for the mean only."""
        known = which.judged_on in dict(EVALUATED_ON)
        proved = which.judged_on == THEORY
        axes = [(axis.key, _axis_title(axis)) for axis in axes_of(which.judged_on)]
        statistic, measure = words.MEAN if proved else which.statistic, MEASURES[which.measure]
        self.statistic.offer([(key, statistic_text(key, measure)) for key in STATISTICS], statistic)
        self.statistic.setEnabled(not proved)
        self.bands.setText("" if proved else BANDS[statistic])
        self.axis.offer(axes, which.axis)
        self.side.setText(AXES["epsilon"].name * (which.axis == "epsilon"))
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
        errors: Mapping[str, str],
        now: str,
    ) -> None:
        """Show the ε that each mechanism needs for a target and its present error, one selected.

        Parameters
        ----------
        errors : mapping of str to str
            Mean of each mechanism at the map's settings.
        now : str
            Those settings: ``ε = 1``.
        """
        of = STATISTICS[words.MEAN if question.proved else words.TARGET_SHARE]
        self.unit.setText(measure.unit)
        value = measure.written(nearest(target, words.DIGITS))
        self.table.title = f"ε for {value}, {of}"
        self.table.note = stamp_of(question)
        unit = f", {measure.unit}" * bool(measure.unit)
        average = f"Average {words.quantity_name(measure)} at {now}{unit}"
        place = next((k for k, line in enumerate(lines) if line.mechanism == picked), -1)
        self.table.table.strong = place
        self.colour_lines(lines)
        rows = [(x.title, x.words, errors.get(x.mechanism, "")) for x in lines]
        titles = ("Mechanism", f"ε for {value} in {of}", average)
        self.table.set_table(titles, rows)
        header, font = self.table.horizontalHeader(), self.table.font()
        font.setBold(True)
        wide = QFontMetrics(font).horizontalAdvance
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):  # no wider than their texts, so that names are whole
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            least = header.fontMetrics().horizontalAdvance(titles[column])
            texts = max([least, *(wide(row[column]) for row in rows)])
            self.table.setColumnWidth(column, texts + CELL_PADDING)
        if place >= 0:
            self.table.selectRow(place)

    def colour_lines(self, lines: Sequence[words.Line]) -> None:
        """Draw a line in the colour of its curve before the name of each mechanism."""
        self.table.table.marks = [
            _line_mark(self.plot.colour_of(line.mechanism), self.table.devicePixelRatioF())
            for line in lines
        ]
        self.table.viewport().update()

    def show_use(self, epsilon: float | None, mechanism: str) -> None:
        """Offer an ε, with the mechanism if it differs from the map's."""
        name = "" if epsilon is None else f" = {nearest(epsilon, 6)}"
        self.use.setText(f"&Use ε{name}")
        tip = f"Set ε{name} on the map" + f" and the mechanism {mechanism}" * bool(mechanism)
        self.use.setToolTip(tip)
        self.use.setAccessibleName(f"Use ε{name}" + f", {mechanism}" * bool(mechanism))
        self.use.setEnabled(epsilon is not None)

    def show_state(
        self, answer: ErrorCurves | None, busy: bool, able: bool, more: bool, wanted: int
    ) -> None:
        """Show the progress of the curves, with buttons to stop, continue and draw more.

        `wanted` is the number of runs per point that were requested.
        """
        unfinished = answer is None or not answer.finished
        self.stop.setText("Cancel" if busy else "Continue")
        self.stop.setEnabled(busy or (unfinished and able))
        self.more.setEnabled(more)
        self.copy.setEnabled(answer is not None)
        proved = answer is not None and answer.question.proved
        runs = words.fewest_runs(() if answer is None else answer.curves)
        drawn = runs >= DRAWS and not proved
        self.interval.setText(f"Mean of {runs} runs, with its 95 % interval." if drawn else "")
        self.chance.setText(f"Estimates from {runs} runs differ by chance." if drawn else "")
        self.state.setText("" if proved else words.progress(runs, wanted, busy, unfinished))

    def _lay_out(self, owner: QWidget) -> None:
        for box in (self.judged, self.field):
            box.setFixedHeight(FIELD_HEIGHT)
        self.judged.setMinimumContentsLength(CHOICE_LETTERS)
        self.judged.setMinimumWidth(60)
        for title in (self.measure, self.statistic, self.axis):
            title.setFixedHeight(TITLE_HEIGHT)
        for button in (self.use, self.sure, self.more, self.stop, self.copy):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        evaluate = plain_label("Evaluate on")
        evaluate.setBuddy(self.judged)
        rows = (
            (styled_label("card-title", "Which ε is enough?"), self.state, self.stop),
            (self.needs, self.field, self.unit, evaluate, self.judged, None),
            (self.measure, self.statistic, self.bands, None),
            (None, self.axis, self.side, None),
        )
        head, fields, quantity, below = (_row(widgets) for widgets in rows)
        head.setStretch(1, 1)
        above, card = QFrame(), QVBoxLayout()
        for part in (head, fields, quantity):
            card.addLayout(part)
        card.setSpacing(4)
        card.addWidget(self.plot, 1)
        card.addLayout(below)
        table, under = QVBoxLayout(), _row((self.interval, None, self.more, self.copy))
        table.setSpacing(2)
        table.addWidget(self.table, 1)
        table.addLayout(under)
        side = QVBoxLayout()
        for button in (self.use, self.sure):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            side.addWidget(button)
        side.addWidget(self.chance)
        side.addStretch(1)
        buttons = QWidget()
        buttons.setLayout(side)
        buttons.setFixedWidth(SIDE_WIDTH)
        side.setContentsMargins(0, 0, 0, 0)
        lower, last = QFrame(), QHBoxLayout()
        last.setSpacing(14)
        last.addLayout(table, 1)
        last.addWidget(buttons)
        lower.setFixedHeight(TABLE_HEIGHT)
        # No row may keep a window from becoming narrower.
        for frame in (above, lower):
            frame.setMinimumWidth(1)
        column = QVBoxLayout(owner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for frame, inside, stretch in ((above, card, 1), (lower, last, 0)):
            frame.setObjectName("card")
            inside.setContentsMargins(14, 5, 14, 5)
            frame.setLayout(inside)
            column.addWidget(frame, stretch)


def _axis_title(axis: Axis) -> str:
    """Return symbol and name of an axis; that of ε names its direction, which stands beside it."""
    name = "privacy of the map" if axis.key == "epsilon" else axis.name
    return f"{axis.symbol}, {name}"


def _line_mark(colour: str, ratio: float) -> QPixmap:
    """Return a short line in a colour; "" leaves it empty."""
    mark = QPixmap(QSize(MARK_WIDTH, MARK_HEIGHT) * ratio)
    mark.setDevicePixelRatio(ratio)
    mark.fill(QColor(colour) if colour else Qt.GlobalColor.transparent)
    return mark


def _row(widgets: Sequence[QWidget | None]) -> QHBoxLayout:
    """Return a row; None is free space."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for widget in widgets:
        if widget is None:
            row.addStretch(1)
        else:
            row.addWidget(widget)
    return row


def _checked_target(value: float) -> float:
    if not value > 0:
        raise ValueError("the target must be above 0")
    return value
