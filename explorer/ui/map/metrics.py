"""Error metrics of the private map against the true one, below the panes."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFont, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.geography.region import Region
from explorer.studies.base.numbers import at_most, format_interval, format_number
from explorer.studies.base.study import Fidelity, Result, ScalarResult
from explorer.studies.heatmap.contributions import BIAS as WEIGHTS_BIAS
from explorer.studies.heatmap.text import FAR, in_unit
from explorer.ui.base.styled import plain_label, styled_label, tool_button
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText

CARD_MARGINS = (14, 6, 14, 6)
"""Inside a card, in pixels: left, top, right, bottom."""
CURATOR = "Computed from the real check-ins: for the curator's eyes only, never part of a release."


@dataclass(frozen=True)
class Metric:
    """One metric: key of its scalar result, short title, explanation."""

    key: str
    title: str
    help: str


METRICS = (
    Metric(
        "similarity",
        "Similarity",
        "Mass that the two blurred maps have in common: Σ min(true, private), each map summing "
        "to 1. 1 is equal, 0 is disjoint; 1 − similarity is the total variation distance.",
    ),
    Metric(
        "pearson",
        "Pearson r",
        "Correlation coefficient of the two blurred maps over all cells: 1 is equal up to scale "
        "and an offset, 0 unrelated. A uniform map has none.",
    ),
    Metric(
        "kl",
        "KL (nats)",
        "Kullback–Leibler divergence of the private map from the true one, "
        "Σ true · ln(true / private), regularised with 2⁻⁵². 0 is equal; at most 36 (52 ln 2).",
    ),
    Metric(
        "emd",
        "EMD, unit square",
        "Earth mover's distance: how far mass must travel on average (|Δx| + |Δy|) to turn one "
        "map into the other, the region being a square of side 1. First a certified interval, "
        "then exact.",
    ),
    Metric(
        "emd_km",
        "EMD, km",
        "The same in kilometres: |Δx| · width + |Δy| · height of the region, the width taken at "
        "its middle latitude.",
    ),
)

FAR_CELL = METRICS[-1].key
"""Metrics whose title and explanation differ on planes other than the Earth."""


def _far(region: Region | None) -> Metric:
    if region is None or region.plane is None:
        return METRICS[-1]
    what = f"The same in {region.unit}: |Δx| · width + |Δy| · height of the region."
    return Metric(FAR_CELL, f"EMD, {region.unit}", what)


def format_readout(item: ScalarResult) -> str:
    """Format a number or its interval; empty if unknown."""
    if item.value is not None:
        return format_number(item.value, item.role)
    if item.low is not None and item.high is not None:
        return format_interval(item.low, item.high)
    return ""


class MetricCell(QFrame):
    """One metric with its title; greyed while it belongs to an earlier result."""

    def __init__(self, metric: Metric, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about = metric  # not "metric", which is a method of QWidget
        self.trailing = True
        self.title = FixedSizeLabel(metric.title)
        self.value = FixedSizeLabel("–")
        font = QFont(self.value.font())
        font.setPointSizeF(font.pointSizeF() * 1.15)
        font.setWeight(QFont.Weight.DemiBold)
        self.value.setFont(font)
        box = QVBoxLayout(self)
        box.setContentsMargins(6, 2, 6, 2)
        box.setSpacing(0)
        box.addWidget(self.title)
        box.addWidget(self.value)
        widest = "0.000 … 0.000" if metric.key.startswith("emd") else "1.234e-5"
        self.setMinimumWidth(
            max(
                self.value.fontMetrics().horizontalAdvance(widest),
                self.title.fontMetrics().horizontalAdvance(metric.title + " ="),
            )
            + 14
        )
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._describe("not computed yet")

    def show_readout(self, item: ScalarResult) -> None:
        """Show the value of the current result, or grey the former one."""
        text = format_readout(item)
        if not text and not item.note:
            self.set_trailing(True)
            return
        glyph = item.role.glyph if item.role is not None else ""
        self.title.setText(f"{self.about.title} {glyph}".rstrip())
        self.value.setText(text or "–")
        self.set_trailing(False)
        role = item.role.value if item.role is not None else ""
        if item.value is None and item.low is not None:
            role = "certified interval"
        notes = [part for part in (role, item.note) if part]
        self._describe(f"{text or 'none'} ({'; '.join(notes)})" if notes else text)

    def measured_in(self, metric: Metric) -> None:
        """Set title and explanation if they changed."""
        if metric != self.about:
            self.about = metric
            self.title.setText(metric.title)

    def set_trailing(self, trailing: bool) -> None:
        """Grey or ungrey the value."""
        if trailing != self.trailing:
            self.trailing = trailing
            self.value.setEnabled(not trailing)

    def clear(self) -> None:
        """Clear the value."""
        self.value.setText("–")
        self.title.setText(self.about.title)
        self.set_trailing(True)
        self._describe("not computed yet")

    def _describe(self, now: str) -> None:
        self.setAccessibleName(f"{self.about.title}: {now}")
        self._now = now

    def enterEvent(self, event: QEnterEvent) -> None:
        """Update the tool tip."""
        # Written on demand instead of sixty times a second.
        self.setToolTip(self.explanation)
        super().enterEvent(event)

    @property
    def explanation(self) -> str:
        """Text of the tool tip: value, relation to the truth, definition."""
        trailing = "\nGrey: belongs to an earlier picture." if self.trailing else ""
        return f"{self.about.title}: {self._now}{trailing}\n\n{self.about.help}\n\n{CURATOR}"


class LevelBars(QWidget):
    """Bars for the split of ε over the levels of the pyramid."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.levels: tuple[tuple[int, float], ...] = ()
        self.setFixedWidth(112)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)

    def show_levels(self, levels: tuple[tuple[int, float], ...]) -> None:
        """Show (level, ε) pairs, coarsest first."""
        if levels == self.levels:
            return
        self.levels = levels
        lines = [f"level {i} ({2**i} × {2**i} cells): ε = {at_most(e)}" for i, e in levels]
        text = "How ε is split over the levels that are measured:\n" + "\n".join(lines)
        self.setToolTip(text if levels else "")
        self.setAccessibleName(text if levels else "ε per level")
        self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(112, 36)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the widget."""
        painter = QPainter(self)
        metrics = painter.fontMetrics()
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(
            QRectF(2, 2, self.width(), metrics.height()), Qt.AlignmentFlag.AlignLeft, "ε per level"
        )
        if not self.levels:
            return
        top, bottom = metrics.height() + 4, self.height() - 4
        highest = max(e for _, e in self.levels)
        slot = min(14.0, (self.width() - 4) / len(self.levels))
        for index, (_, epsilon) in enumerate(self.levels):
            tall = max(1.0, (bottom - top) * epsilon / highest)
            painter.fillRect(
                QRectF(2 + index * slot, bottom - tall, max(1.0, slot - 2), tall),
                self.palette().color(QPalette.ColorRole.Highlight),
            )


LOSS, WARNING, DRAWS, BIAS = "loss", "noise_level", "draws_failed", "bias"
"""Scalar results whose notes are sentences."""
LOSS_HELP = (
    "Of the squares that the region is halved into again and again, the finest at which at most a "
    "quarter of the mass is wrong: how much must change its square, and how far on average, moved "
    "in the cheapest way."
)


LOSS_LINES = 3
"""Lines of the sentence, shown or not, so that the map does not move with it."""


class LossLine(QWidget):
    """Sentence on the loss, preceded by a warning if the map is too noisy."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.warning = styled_label("badge")
        self.sentence = FixedSizeText(lines=LOSS_LINES)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.warning, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.sentence, 1)
        self.clear()

    def show_result(self, result: Result) -> None:
        """Show the sentences of a result; those not known yet stay, greyed."""
        notes = {item.key: item.note for item in result.readouts}
        if LOSS not in notes:
            if result.fidelity is Fidelity.FULL:  # missing for now: it arrives at rest
                self.clear()
            self.set_trailing(True)
            return
        self.sentence.setText(notes[LOSS])
        selection = result.request.selection
        far = in_unit(LOSS, None if selection is None else selection.region)
        more = (notes.get(key, "") for key in (far, BIAS, WEIGHTS_BIAS))
        parts = (notes[LOSS], LOSS_HELP, *more, CURATOR)
        self.sentence.setToolTip("\n\n".join(filter(None, parts)))
        if DRAWS in notes:
            short, _, rest = notes.get(WARNING, "").partition(": ")
            self.warning.setText(short)
            self.warning.setToolTip("\n\n".join(filter(None, (rest, notes[DRAWS], CURATOR))))
            self.warning.setAccessibleDescription(rest)
            self.warning.setVisible(bool(short))
        self.set_trailing(False)
        self.setAccessibleName(" ".join(filter(None, (self.warning.text(), notes[LOSS]))))

    def set_trailing(self, trailing: bool) -> None:
        """Grey or ungrey the sentences."""
        if trailing == self.sentence.isEnabled():
            self.sentence.setEnabled(not trailing)
            self.warning.setEnabled(not trailing)

    def clear(self) -> None:
        """Clear the sentences."""
        self.sentence.setText("")
        self.warning.setText("")
        self.warning.hide()
        self.setAccessibleName("What is lost: not computed yet")


class MetricsStrip(QWidget):
    """Row of metrics, opened by *Numbers*; it may lag behind the picture.

    Attributes
    ----------
    loss : LossLine
        Sentence that sums them up, placed elsewhere.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Comparison of the private map with the true one, curator only")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(4, 0, 4, 0)
        self._grid.setSpacing(4)
        self._badge = plain_label("curator\nonly")
        self._badge.setObjectName("badge")
        self._badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._badge.setToolTip(CURATOR)
        self.cells = {metric.key: MetricCell(metric) for metric in METRICS}
        self.bars = LevelBars()
        self.loss = LossLine(self)
        self._two_rows: bool | None = None
        self._arrange(two_rows=False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _arrange(self, two_rows: bool) -> None:
        """Grid of one row, or of two if the window is too narrow."""
        if two_rows == self._two_rows:
            return
        self._two_rows = two_rows
        widgets = [*self.cells.values(), self.bars]
        columns = (len(widgets) + 1) // 2 if two_rows else len(widgets)
        self._grid.addWidget(self._badge, 0, 0, 2 if two_rows else 1, 1)
        for place, widget in enumerate(widgets):
            self._grid.addWidget(widget, place // columns, 1 + place % columns)
        for column in range(1, len(widgets) + 1):
            self._grid.setColumnStretch(column, int(column <= columns))
        self.updateGeometry()

    def _one_row_width(self) -> int:
        widgets = [self._badge, *self.cells.values(), self.bars]
        widths = [max(w.minimumWidth(), w.minimumSizeHint().width()) for w in widgets]
        return sum(widths) + 4 * (len(widgets) + 1)

    def minimumSizeHint(self) -> QSize:
        """Return the width of two rows."""
        height = self._grid.totalMinimumSize().height()
        return QSize(self._one_row_width() * 2 // 3, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose one or two rows."""
        super().resizeEvent(event)
        self._arrange(two_rows=self.width() < self._one_row_width())

    def show_result(self, result: Result) -> None:
        """Show the metrics of a result; those not known yet stay, greyed."""
        levels, selection = [], result.request.selection
        region = None if selection is None else selection.region
        for item in result.readouts:
            if item.key == in_unit(FAR, region):
                self.cells[FAR_CELL].measured_in(_far(region))
                self.cells[FAR_CELL].show_readout(item)
            elif item.key in self.cells:
                self.cells[item.key].show_readout(item)
            elif item.key.startswith("epsilon_level_") and item.value is not None:
                levels.append((int(item.key.rpartition("_")[2]), item.value))
        self.bars.show_levels(tuple(levels))
        self.loss.show_result(result)

    def set_trailing(self) -> None:
        """Grey all metrics: a newer result was requested."""
        self.loss.set_trailing(True)
        for cell in self.cells.values():
            cell.set_trailing(True)

    def clear(self) -> None:
        """Clear all metrics (no data)."""
        for cell in self.cells.values():
            cell.clear()
        self.bars.show_levels(())
        self.loss.clear()


class HowGood(QFrame):
    """Card with the sentence on the loss, the number of users, and *Numbers*.

    Parameters
    ----------
    metrics : MetricsStrip
        Shown by *Numbers*.
    users : QWidget
        Right of the title.
    """

    def __init__(self, metrics: MetricsStrip, users: QWidget) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName("How good is this map? Curator only")
        self.numbers = tool_button(
            "Numbers", "Similarity, correlation and distances", "Numbers", quiet=True
        )
        self.numbers.setCheckable(True)
        self.numbers.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.numbers.toggled.connect(metrics.setVisible)
        metrics.hide()
        head = QHBoxLayout()
        head.setSpacing(0)
        title = FixedSizeLabel("How good is this map?", smallest=0.7)
        title.setObjectName("card-title")
        head.addWidget(title, 1)
        head.addWidget(users)
        head.addWidget(self.numbers)
        box = QVBoxLayout(self)
        box.setContentsMargins(*CARD_MARGINS)
        box.setSpacing(0)
        box.addLayout(head)
        box.addWidget(metrics.loss)
        box.addStretch(1)
