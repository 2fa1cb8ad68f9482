"""Attack page: inference about one person, and an audit of the release code."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.release.attack import AuditResult, Membership, averaging, membership
from explorer.release.errors import ParameterError
from explorer.release.plan import Plan
from explorer.release.rounding import rounded_up
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import best_chance, times_in_100
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.fields import read_epsilon
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_table import NumberTable

DRAWS = (1, 4, 25, 100)
RUNS = (200, 1000, 10_000)
USERS = 40
"""Number of synthetic users of an audit."""
NO_PLAN = "Choose what is released and ε in the release; the audit runs that code."


class TradeoffPlot(QWidget):
    """Trade-off curve: missed detections against false alarms of membership tests.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.curve: Membership | None = None
        self.audit: AuditResult | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return a square size."""
        return QSize(380, 360)

    def show_curve(self, curve: Membership, audit: AuditResult | None) -> None:
        """Show the claimed curve and the test results of an audit."""
        self.curve, self.audit = curve, audit
        text = f"No test is below the curve: least total error {at_least(curve.best_total_error)}"
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, curve and points."""
        painter, colours = QPainter(self), self._theme.plot
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        box = QRectF(self.rect()).adjusted(2.4 * line, 8, -10, -2.4 * line)
        side = min(box.width(), box.height())
        box = QRectF(box.left(), box.top(), side, side)
        painter.fillRect(box, QColor(colours.axes))
        painter.setPen(QPen(QColor(colours.frame), 1))
        painter.drawRect(box)
        painter.setPen(QColor(colours.text))
        below = QRectF(box.left(), box.bottom() + 3, side, line)
        middle, right = Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, "0")
        painter.drawText(below, right, "1")
        painter.drawText(below.translated(0, line), middle, "false alarms")
        painter.save()
        painter.translate(box.left() - 4, box.bottom())
        painter.rotate(-90)
        painter.drawText(QRectF(0, -line - 2, side, line), middle, "misses")
        painter.restore()

        def at(x: float, y: float) -> QPointF:
            return QPointF(box.left() + x * side, box.bottom() - y * side)

        painter.setPen(QPen(QColor(colours.grid), 1.2))
        painter.drawLine(at(0, 1), at(1, 0))
        if self.curve is not None:
            pairs = zip(self.curve.false_alarms.tolist(), self.curve.misses.tolist(), strict=True)
            painter.setPen(QPen(QColor(colours.curves[0]), 2))
            painter.drawPolyline(QPolygonF([at(x, y) for x, y in pairs]))
        if self.audit is not None:
            pairs = zip(self.audit.false_alarms.tolist(), self.audit.misses.tolist(), strict=True)
            painter.setPen(QPen(QColor(colours.curves[1]), 4))
            painter.drawPoints([at(x, y) for x, y in pairs])
        painter.end()


class AttackPage(QWidget):
    """Averaging, membership inference, and an audit of the release code on synthetic users.

    Signals
    -------
    audit_asked(int, int)
        Number of runs and of synthetic users.
    """

    audit_requested = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self._audit: AuditResult | None = None
        self.epsilon = QLineEdit("1")
        self.epsilon.setAccessibleName("ε of the attacked release")
        self.epsilon.setMaximumWidth(110)
        self.epsilon.textEdited.connect(lambda _: self._show())
        self.message = styled_label("sentence", word_wrap=True)
        self.averages = NumberTable("Averages of demonstration draws")
        self.plot = TradeoffPlot(theme)
        self.runs = ChoiceBox("Runs with the person and without")
        self.runs.setMinimumContentsLength(18)
        self.runs.offer([(str(k), f"{k:,} runs a side") for k in RUNS], str(RUNS[0]))
        self.button = QPushButton("Audit the running code")
        self.button.clicked.connect(
            lambda: self.audit_requested.emit(int(str(self.runs.currentData())), USERS)
        )
        self.found = styled_label("muted", NO_PLAN, word_wrap=True)
        left = QVBoxLayout()
        row = QHBoxLayout()
        row.addWidget(styled_label("heading", "ε"))
        row.addWidget(self.epsilon)
        row.addStretch(1)
        tries = QHBoxLayout()
        tries.addWidget(self.runs)
        tries.addWidget(self.button)
        tries.addStretch(1)
        left.addLayout(row)
        left.addWidget(styled_label("heading", "Averaging k preview draws of a count"))
        left.addWidget(self.averages)
        left.addWidget(
            styled_label(
                "muted",
                "Each draw costs ε, so k draws cost kε. That is why the noise of a release is "
                "drawn once.",
                word_wrap=True,
            )
        )
        left.addWidget(styled_label("heading", "Is one person in the data?"))
        left.addWidget(self.message)
        left.addWidget(styled_label("heading", "Audit on synthetic people"))
        left.addLayout(tries)
        left.addWidget(self.found)
        left.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addLayout(left, 1)
        layout.addWidget(self.plot, 1)
        self._show()

    def show_plan(self, plan: Plan | None) -> None:
        """Analyse the plan of the wizard, if complete."""
        if plan is not None and (
            self._plan is None
            or plan.parameters() != self._plan.parameters()
            or plan.epsilon != self._plan.epsilon
        ):
            self._audit = None
            self.epsilon.setText(rounded_up(plan.epsilon))
            self.found.setText(
                f"Runs {plan.mechanism.label} as planned, on {USERS} synthetic people "
                "with and without one of them."
            )
        self._plan = plan
        self.button.setEnabled(plan is not None)
        if plan is None:
            self.found.setText(NO_PLAN)
        self._show()

    def show_audit(self, audit: AuditResult) -> None:
        """Show the result of an audit."""
        self._audit = audit
        verdict = (
            "more than the claim: repeat it (1 in 100 by chance)"
            if audit.fails
            else ("within the claim")
        )
        self.found.setText(
            f"{audit.runs:,} runs a side prove ε ≥ {at_least(max(audit.shown, 0.0))}, of "
            f"{at_most(audit.claim)} claimed: {verdict}. Dots: what tests came to."
        )
        self._show()

    def show_busy(self, busy: bool) -> None:
        """Show that the audit runs."""
        self.button.setText("Running…" if busy else "Audit the running code")
        self.button.setEnabled(not busy and self._plan is not None)

    def _show(self) -> None:
        try:
            epsilon = read_epsilon(self.epsilon.text())
        except ParameterError:
            self.message.setText("Give ε, such as 1.")
            return
        self.averages.set_table(
            ("Draws k", "sd of the average", "True price"),
            [
                (str(one.draws), nearest(one.sd), f"ε = {rounded_up(one.epsilon)}")
                for one in averaging(epsilon, DRAWS)
            ],
        )
        row = self.averages.verticalHeader().defaultSectionSize()
        self.averages.setFixedHeight((len(DRAWS) + 1) * row + 14)
        curve = membership(epsilon)
        chance = times_in_100(best_chance(float(epsilon)))
        # Rounded down: 100 times a lower bound may be rounded up.
        total = math.nextafter(100 * curve.best_total_error, 0.0)
        self.message.setText(
            "Any test for one person has a total error (false alarms + misses) of at least "
            f"{at_least(total)} %; the best guess is right at most {chance} % of the time. One "
            "noisy count attains it."
        )
        same = self._audit is not None and self._plan is not None
        self.plot.show_curve(curve, self._audit if same else None)
