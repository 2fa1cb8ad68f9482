"""Summary beside the plan: guarantee, expected error, dry run and budget."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.release.dry_run import STAMP
from explorer.release.mechanisms.base import Shown
from explorer.release.messages import PROMISE, sentence
from explorer.release.plan import Plan
from explorer.release.rounding import rounded_up
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import MAX_USEFUL_CHANCE, best_chance, shown_odds, times_in_100
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.panels.guarantee import OddsBar
from explorer.ui.release.draft import LedgerState

MAX_BARS = 12


class SmallPicture(QWidget):
    """Picture of an output: a map, a number or bars; empty if there is none.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: Shown | None = None
        self._image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return a small square size."""
        return QSize(84, 84)

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return self.sizeHint()

    def show_output(self, shown: Shown | None) -> None:
        """Set the picture; None clears it."""
        self.shown, self._image = shown, QImage()
        if shown is not None and shown.grid is not None:
            top = float(shown.grid.max()) or 1.0
            levels = np.clip(shown.grid[::-1] / top * 255, 0, 255).astype(np.uint8)
            pixels = np.ascontiguousarray(colour_table(COLOUR_MAPS[0])[levels], np.uint8)
            rows, columns = pixels.shape[:2]
            form = QImage.Format.Format_RGB888
            self._image = QImage(pixels.tobytes(), columns, rows, 3 * columns, form).copy()
        self.setAccessibleName(_words(shown))
        self.setToolTip(_words(shown))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture."""
        painter, colours = QPainter(self), self._theme.chrome
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(box, QColor(self._theme.plot.axes))
        if self.shown is None:
            painter.setPen(QColor(colours.border))
            painter.drawRect(box)
        elif not self._image.isNull():
            side = min(box.width(), box.height())
            square = QRectF(0, 0, side, side)
            square.moveCenter(box.center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(square, self._image)
        elif len(self.shown.table) == 1:
            painter.setPen(QColor(colours.text))
            value = nearest(self.shown.table[0][1])
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, value)
        else:
            self._paint_bars(painter, box.adjusted(4, 4, -4, -4))
        painter.end()

    def _paint_bars(self, painter: QPainter, box: QRectF) -> None:
        assert self.shown is not None
        values = [max(value, 0.0) for _, value in self.shown.table[:MAX_BARS]]
        top, step = max(values, default=0.0) or 1.0, box.width() / max(len(values), 1)
        for place, value in enumerate(values):
            high = value / top * box.height()
            bar = QRectF(box.left() + place * step, box.bottom() - high, step - 2, high)
            painter.fillRect(bar, QColor(self._theme.plot.curves[0]))


def _words(shown: Shown | None) -> str:
    if shown is None:
        return "No rehearsal yet"
    if shown.grid is not None:
        return f"Rehearsed map of {shown.grid.shape[0]} × {shown.grid.shape[1]} cells"
    few = ", ".join(f"{name} {nearest(value)}" for name, value in shown.table[:4])
    return f"Rehearsed: {few}"


class BudgetBar(QWidget):
    """Bar of the budget: earlier releases, this one, and the rest.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.spent: Sequence[float] = ()
        self.asked = 0.0
        self.setFixedHeight(max(10, self.fontMetrics().height() * 3 // 4))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_shares(self, spent: Sequence[float], asked: float, text: str) -> None:
        """Set the shares of earlier releases and of this one."""
        self.spent, self.asked = spent, asked
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw one segment per release, separated by gaps."""
        painter, colours = QPainter(self), self._theme.chrome
        width, height, at = float(self.width()), float(self.height()), 0.0
        painter.fillRect(self.rect(), QColor(colours.border))
        over = sum(self.spent) + self.asked > 1 + 1e-12
        for share in self.spent:
            part = QRectF(at, 0, max(share * width - 1, 1), height)
            painter.setOpacity(0.6)
            painter.fillRect(part, QColor(colours.muted))
            at += share * width
        painter.setOpacity(1.0)
        part = QRectF(at, 0, min(self.asked * width, width - at), height)
        painter.fillRect(part, QColor(colours.bad if over else colours.accent))
        painter.end()


WIDTH = 300
MAX_ERRORS = 4
VISIBILITY_NOTES = (
    "Everyone: the picture, ε, box and settings, this program’s version. Nobody: how many people "
    "there are, the true map, the noise."
)
IF_INTERRUPTED = (
    "Before noise is drawn the ledger has it, so it counts. If the power fails: prepared and not "
    "drawn is given back or goes on; interrupted while drawn counts as spent; finished is here."
)


class SummaryPanel(QScrollArea):
    """Right side of the plan page.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFixedWidth(WIDTH)
        self.odds, self.bar = styled_label("odds"), OddsBar(theme)
        self.promise = styled_label("", word_wrap=True)
        self.together = styled_label("notes", word_wrap=True)
        self.off = styled_label("muted", word_wrap=True)
        self.preview = styled_label("muted", word_wrap=True)
        self.pictures = [SmallPicture(theme) for _ in range(3)]
        self.good = styled_label("", word_wrap=True)
        column = QVBoxLayout(inner := QWidget())
        column.setContentsMargins(14, 10, 12, 10)
        column.setSpacing(5)
        pictures = QHBoxLayout()
        pictures.setSpacing(5)
        for picture in self.pictures:
            pictures.addWidget(picture)
        for part in (
            styled_label("heading", "WHAT WILL BE PROMISED"),
            self.odds,
            self.bar,
            self.promise,
            self.together,
            _heading("How far off"),
            self.off,
            _heading("How it may look"),
            self.preview,
            pictures,
            self.good,
            _heading("Who sees what"),
            styled_label("muted", VISIBILITY_NOTES, word_wrap=True),
            _heading("If the power fails"),
            styled_label("muted", IF_INTERRUPTED, word_wrap=True),
        ):
            if isinstance(part, QHBoxLayout):
                column.addLayout(part)
            else:
                column.addWidget(part)
        column.addStretch(1)
        self.setWidget(inner)
        self.show_plan(None, LedgerState, "")  # type: ignore[arg-type]  # not looked at
        self.show_rehearsals((), 0)

    def show_plan(self, plan: Plan | None, ledger: LedgerState, population: str) -> None:
        """Show the guarantee and expected error of a plan; None if incomplete."""
        for part in (self.odds, self.bar, self.together):
            part.setVisible(plan is not None)
        if plan is None:
            self.promise.setText(PROMISE)
            self.off.setText("Known once what is released and ε are typed.")
            return
        chance = best_chance(float(plan.epsilon))
        shown = shown_odds(chance)
        useful = chance < MAX_USEFUL_CHANCE
        self.odds.setText(shown if useful else "No useful promise")
        self.odds.setAccessibleName(f"Odds at most {shown}")
        self.bar.show_chance(chance, f"At most {shown}")
        self.promise.setText(
            "Whoever sees it and thought it 50 : 50 that one person is in the data is right at "
            f"most {times_in_100(chance)} times in 100."
        )
        self.promise.setToolTip(PROMISE)
        spent = Fraction(0)
        account = ledger.account(population)
        if account is not None:
            spent = account.spent_epsilon
        self.together.setVisible(bool(spent))
        if spent:
            total = shown_odds(best_chance(float(spent + plan.epsilon)))
            self.together.setText(
                f"With all earlier releases together at most {total} "
                f"(ε {rounded_up(spent + plan.epsilon)})."
            )
        errors = plan.mechanism.expected_error(plan.own_parameters, plan.epsilon)
        self.off.setText("\n".join(error_lines(errors)))

    def show_rehearsals(self, shown: Sequence[Shown], users: int) -> None:
        """Show the results of dry runs, or none."""
        for picture, output in zip(self.pictures, [*shown, *[None] * 3][:3], strict=True):
            picture.show_output(output)
        if not shown:
            self.preview.setText(
                "Rehearse: three draws on made-up people, as many as you expect. What the real "
                "file gives is never previewed."
            )
            self.good.hide()
            return
        self.preview.setText(f"Three rehearsals on {users:,} made-up people. {sentence(STAMP)}")
        self.good.setText(spread(shown))
        self.good.setVisible(bool(self.good.text()))


def _heading(text: str) -> QLabel:
    label = styled_label("", text)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    label.setContentsMargins(0, 6, 0, 0)
    return label


def error_lines(errors: Sequence[dict[str, Any]]) -> list[str]:
    """Return the noise scale as text; for many quantities first, maximum, minimum, last."""
    few = list(errors)
    if len(few) > MAX_ERRORS:
        by_width = sorted(few, key=lambda one: int(one["half_width"]))
        selected = (few[0], by_width[-1], by_width[0], few[-1])
        few = [one for one in few if any(one is kept for kept in selected)]
    result: list[str] = []
    before = None
    for one in few:
        chance = Fraction(one["probability"])
        if chance != before:
            result.append(f"{chance.numerator} times in {chance.denominator} within:")
            before = chance
        result.append(f"{one['quantity']}: ±{int(one['half_width']):,}")
    return result


def spread(shown: Sequence[Shown]) -> str:
    """Return the spread of dry runs as text."""
    totals = [output.total for output in shown if output.total is not None]
    if totals:
        low, high = min(totals), max(totals)
        return f"Fitted number of people: {round(low):,} to {round(high):,}."
    first = [output.table for output in shown if output.table]
    if not first or first[0][0][0].startswith("Choice"):
        return ""
    name, values = first[0][0][0], [table[0][1] for table in first]
    return f"{name}: {round(min(values), 3):,} to {round(max(values), 3):,}."
