"""What must hold for everything a study shows, wherever its parameters stand."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenuBar,
    QSizePolicy,
    QTabBar,
    QTableWidget,
    QTextEdit,
    QWidget,
)

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Result
from explorer.ui.plot.labels import ElidedLabel
from explorer.ui.widgets.parameter_rows import ParameterRow
from tests.studies.checks import assert_sound

_NO_NUMBER = re.compile(r"\b(nan|NaN|None)\b|(?<![\w_])inf\b")


def of_result(result: Result) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    try:
        assert_sound(result)
    except AssertionError as error:
        (*_, place) = traceback.extract_tb(error.__traceback__)
        yield f"not sound: {place.line} ({error})"
    for s in result.series:
        if not isinstance(s.role, Role):
            yield f"{s.key} has no role"
        if not np.isfinite(s.x).all():
            yield f"{s.key} has no x in places"
    for surface in result.surfaces:
        if not np.isfinite(surface.values).all():
            yield f"map {surface.key} has no number in places"
    if not (result.series or result.surfaces):
        yield "there is nothing to draw"


def of_texts(root: QWidget) -> Iterator[str]:
    """Yield every visible text that shows a number that is none."""
    for label in root.findChildren(QLabel):
        if label.isVisible() and _NO_NUMBER.search(label.text()):
            yield f"a text says “{label.text()}”"


def of_plot(plot, result: Result) -> Iterator[str]:
    """Yield what of an answer is not on the plot as it should be."""
    drawn = {s.key for s in plot.result.series}
    for s in result.series:
        if s.key not in drawn:
            yield f"{s.key} is not drawn"
            continue
        curve = plot.curves[s.key]
        if s.key in plot.hidden:  # it is drawn when it is shown
            curve.set_visible(True)
            curve.set_visible(False)
        visible = s.present & ((s.y > 0) | (not plot.y_log)) & ((s.x > 0) | (not plot.x_log))
        if visible.any() and not np.isfinite(curve.extent).all():
            yield f"{s.key} is drawn nowhere: {curve.extent}"
        if np.isfinite(curve.y).any() and not s.present.any():
            yield f"{s.key} is drawn though absent"
    (x0, x1), (y0, y1) = plot.view.viewRange()
    if not (np.isfinite([x0, x1, y0, y1]).all() and x0 < x1 and y0 < y1):
        yield f"the axes show {plot.view.viewRange()}"
    if plot.grab().isNull():
        yield "no picture"


def of_fit(root: QWidget) -> Iterator[str]:
    """Yield every visible widget that is cut off, and every sideways scroll bar in use."""
    for area in root.findChildren(QAbstractScrollArea):
        own = isinstance(area, (pg.GraphicsView, QTextEdit, QTableWidget)) or not area.isVisible()
        if not own and area.horizontalScrollBar().maximum() > 0:
            name = area.objectName() or type(area).__name__
            yield f"{name} is {area.horizontalScrollBar().maximum()} pixels too narrow"
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, (QLabel, QAbstractButton)):
            continue
        if isinstance(widget.parent(), (QComboBox, QTableWidget)) or not widget.text():
            continue
        what = f"“{widget.text()}” in {type(widget.parent()).__name__}"
        size, hint = widget.size(), widget.sizeHint()
        if isinstance(widget, QLabel) and widget.wordWrap():
            if widget.heightForWidth(size.width()) > size.height():
                yield f"{what} is cut at {size.height()} pixels of height"
            continue
        may = widget.sizePolicy().horizontalPolicy() is QSizePolicy.Policy.Ignored
        may = may or isinstance(widget, ElidedLabel)  # see `of_names`
        if hint.width() > size.width() and not may:
            yield f"{what} has {size.width()} of {hint.width()} pixels of width"
        if hint.height() > size.height() + 1:
            yield f"{what} has {size.height()} of {hint.height()} pixels of height"
        place = widget.parentWidget().rect()
        if not place.contains(widget.geometry()):
            yield f"{what} sticks out of what it is in"


def of_names(root: QWidget) -> Iterator[str]:
    """Yield every name that is shortened: none may be from 1280×800 on; remarks may."""
    for label in root.findChildren(ElidedLabel):
        if label.property("shortened"):
            continue
        if label.isVisible() and label.sizeHint().width() > label.width():
            yield f"“{label.text()}” has {label.width()} of {label.sizeHint().width()} pixels"


def of_hover(plot) -> Iterator[str]:
    """Yield where the box beside the pointer has too many rows, or lies below the pointer."""
    area, box = plot.view.sceneBoundingRect(), plot.crosshair.table
    for across in (0.1, 0.5, 0.9):
        for down in (0.1, 0.5, 0.9):
            at = QPointF(area.left() + across * area.width(), area.top() + down * area.height())
            plot._pointer_moved(at)
            where = f"{across:.0%} across and {down:.0%} down"
            if not box.isVisible():
                continue
            if (rows := box.text().count("<tr>")) > MAX_ROWS:
                yield f"{where} the pointer is told {rows} curves"
            if box.geometry().contains(plot.mapFromScene(at)):
                yield f"{where} the box covers the pointer"
    plot.crosshair.hide()


ANSWER_WORDS, GUARANTEE_WORDS, BOUNDS_WORDS, MAP_WORDS = 55, 120, 390, 450
"""Most words to read at the defaults, numbers counted, on a screen of 1280×800."""
MAX_ROWS = 5
"""Of curves drawn, of those in the legend and of those in the box beside the pointer."""
MOST_SLIDERS = 4
PLOT_SHARE, PLOT_LEAST, LOW = 0.45, 260, 800
"""Of the window's height, which the plot has at least; pixels where the window is not so high."""
_WORD = re.compile(r"\S*\w\S*")
_TAG = re.compile(r"<[^<>]+>")


def words_of(root: QWidget) -> int:
    """Return how many words are written on what is visible in a widget."""
    texts: list[str] = []
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisible() or isinstance(widget.parent(), (QComboBox, QAbstractSpinBox)):
            continue
        if isinstance(widget, (QLabel, QAbstractButton, QLineEdit)):
            texts.append(widget.text())
        elif isinstance(widget, QComboBox):
            texts.append(widget.currentText())
        elif isinstance(widget, QTabBar):
            texts += [widget.tabText(i) for i in range(widget.count()) if widget.isTabVisible(i)]
        elif isinstance(widget, QMenuBar):
            texts += [action.text() for action in widget.actions()]
    return len(_WORD.findall(_TAG.sub(" ", "\n".join(texts))))


def of_room(window: QWidget) -> Iterator[str]:
    """Yield what there is too much of, or too little room for, at the defaults."""
    page, of_map = window.workspace, window.workspace is not window.workspaces["bounds"]
    for what, root, most in (
        ("the answer", page.answer, ANSWER_WORDS),
        ("the guarantee", window.guarantee, GUARANTEE_WORDS),
        ("the window", window, MAP_WORDS if of_map else BOUNDS_WORDS),
    ):
        if (count := words_of(root)) > most:
            yield f"{what} has {count} words, more than {most}"
    rows = [r for r in window.parameters.findChildren(ParameterRow) if r.isVisible()]
    if len(rows) > MOST_SLIDERS:
        yield f"{len(rows)} parameters stand in front"
    if of_map:
        return
    drawn = {s.key for s in page.current_result.series} - page.plot.hidden
    if len(drawn) > MAX_ROWS:
        yield f"{len(drawn)} curves are drawn"
    # A better number that is not claimed has a row beyond these, and that row the reason.
    rows = [row for row in page.legend.rows.values() if row.label.isVisible()]
    listed = [row for row in rows if not row.warning.text()]
    if len(listed) > MAX_ROWS:
        yield f"{len(listed)} curves are in the legend"
    yield from of_hover(page.plot)
    least = PLOT_SHARE * window.height() if window.height() >= LOW else PLOT_LEAST
    if page.plot.height() < least:
        yield f"the plot has {page.plot.height()} of {window.height()} pixels of height"


def of_window(window: QWidget) -> Iterator[str]:
    """Yield what is wrong with a window at its size; names may be shortened below 1280."""
    if window.width() >= 1280:
        yield from of_names(window)
    yield from of_room(window)
