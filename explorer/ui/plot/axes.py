"""Plot axes with labels that never overlap, axis titles with menus, and the full view range."""

import math
from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number, power_of_ten
from explorer.studies.base.study import Mark
from explorer.ui.plot.curves import DOT_SIZE, Extent
from explorer.ui.plot.labels import ProgressText

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def linear_ticks(
    low: float, high: float, max_labels: float, whole: bool = False
) -> tuple[list[float], list[float]]:
    """Return major and minor ticks of a linear axis.

    Parameters
    ----------
    low, high : float
        Ends, low < high.
    max_labels : float
        Maximum number of labels.
    whole : bool
        Whether ticks are integers only.
    """
    span = high - low
    raw = max(span / max(max_labels, 1.0), 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(raw))
    steps = [s * power for s in _STEPS if not whole or s * power % 1 == 0]
    step = next(s for s in steps if s >= raw * (1 - 1e-9))
    major = _multiples(low, high, step)
    if whole:
        return major, _multiples(low, high, 1.0) if 1 < step <= 10 else []
    fifth = step / (5 if round(step / 10 ** math.floor(math.log10(step)), 3) in (1, 5) else 4)
    minor = [x for x in _multiples(low, high, fifth) if not _near(x, major, fifth)]
    return major, minor


def log_ticks(low: float, high: float, max_labels: float) -> tuple[list[float], list[float]]:
    """Return major and minor ticks of a logarithmic axis, as exponents of ten.

    Decades are labelled, or every second or third one if there are many; within fewer than two
    decades 2 and 5 are too; within half a decade ticks are those of a linear axis.
    """
    max_labels = max(max_labels, 1.0)
    if high - low < 0.5:
        major, minor = linear_ticks(10**low, 10**high, max_labels)
        return ([math.log10(x) for x in major if x > 0], [math.log10(x) for x in minor if x > 0])
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    every = max(1, math.ceil((last - first + 1) / max_labels))
    decades = [float(e) for e in range(first, last + 1)]
    major = [e for e in decades if e % every == 0]
    if every > 1:
        return major, [e for e in decades if e % every]
    within = [
        e + math.log10(digit)
        for e in range(first - 1, last + 1)
        for digit in range(2, 10)
        if low <= e + math.log10(digit) <= high
    ]
    for digits in ((2, 5), (3,)):
        wanted = [x for x in within if round(10 ** (x % 1)) in digits]
        if len(major) <= 2 and len(major) + len(wanted) <= max_labels:
            major = sorted(major + wanted)
            break
    if high - low > 6:
        return major, []
    return major, [x for x in within if x not in major]


def nice_range(low: float, high: float, log: bool) -> tuple[float, float]:
    """Return the ends of an axis that shows low…high and is stable under small changes.

    On a logarithmic axis low and high are exponents; ends are 1, 2 or 5 times a power of ten
    (beyond three decades powers of ten only).
    """
    if log:
        if high - low > 3:
            return math.floor(low), max(math.ceil(high), math.floor(low) + 1)
        stops = [
            e + m
            for e in range(math.floor(low) - 1, math.ceil(high) + 2)
            for m in (0.0, math.log10(2), math.log10(5))
        ]
        below = max(s for s in stops if s <= low + 1e-12)
        above = min(s for s in stops if s >= high - 1e-12)
        return (below, above) if above > below else (below, below + math.log10(2))
    if high <= low:
        low, high = (low - 0.5 * abs(low) or -1.0, high + 0.5 * abs(high) or 1.0)
    if low >= 0 and low < 0.6 * high:
        low = 0.0
    power = 10.0 ** math.floor(math.log10(high - low))
    step = power / 5 if (high - low) / power < 3 else power / 2
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def hull(ranges: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the union of ranges; 0 to 1 without any."""
    return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else (0.0, 1.0)


def pad_ends(
    low: float, high: float, first: float, last: float, share: float
) -> tuple[float, float]:
    """Return the ends of an axis, extended so that marks at `first` and `last` are not cut.

    Parameters
    ----------
    low, high : float
        Ends of the axis.
    first, last : float
        Positions of the outermost marks; positions beyond the ends have no effect.
    share : float
        Share of the axis covered by half a mark.
    """
    margin = (high - low) * share
    below = first - margin if low <= first < low + margin else low
    above = last + margin if high - margin < last <= high else high
    return below, above


def _power_label(exponent: float) -> str:
    """Return a tick's label on a logarithmic axis: ``0.01``, ``1,000``, ``10⁵``, ``2×10⁵``."""
    if -3 <= exponent < 4:
        return format_number(float(f"{10**exponent:.6g}"), digits=PARAMETER_DIGITS)
    whole = math.floor(exponent + 1e-9)
    digits = float(f"{10 ** (exponent - whole):.6g}")
    power = power_of_ten(whole)
    return power if digits == 1 else f"{digits:g}×{power}"


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _near(x: float, others: list[float], step: float) -> bool:
    return any(abs(x - other) < 0.01 * step for other in others)


_LINE_PX = 18.0
"""Distance in pixels of a label from a mark that it would touch."""


class ValueAxis(pg.AxisItem):
    """Axis item with the ticks of the functions above.

    On a logarithmic axis the view's coordinates are exponents of ten.

    Parameters
    ----------
    orientation : str
    titled : bool
        Whether the title is drawn beside it; otherwise another widget shows it.

    Signals
    -------
    redrawn()
        The picture changed.
    """

    redrawn = Signal()

    def __init__(self, orientation: str, titled: bool = True) -> None:
        super().__init__(orientation, maxTickLength=-5)
        self._titled = titled
        self.log = self.whole = False
        self._left_out: float | None = None
        self._covered: tuple[QRectF, QRectF, QRectF] | None = None
        """Former geometry of axis and view, with the bounding rectangle computed for it."""
        self.enableAutoSIPrefix(False)
        self.setStyle(autoExpandTextSpace=False, tickTextOffset=6, hideOverlappingLabels=False)
        if orientation == "left":
            self.setStyle(tickTextWidth=52)
        else:
            self.setStyle(tickTextHeight=16)

    def update(self, *area: object) -> None:
        """Ask for another picture of the axis."""
        super().update(*area)
        self.redrawn.emit()

    def set_log(self, log: bool) -> None:
        """Interpret the view's coordinates as exponents of ten, or as values."""
        if log != self.log:
            self.log = log
            self.picture = None
            self.update()

    def set_whole(self, whole: bool) -> None:
        """Label integers only, for counts."""
        if whole != self.whole:
            self.whole = whole
            self.picture = None
            self.update()

    def leave_out(self, at: float | None) -> None:
        """Write no label within a line of text of a coordinate, where a mark stands instead."""
        if at != self._left_out:
            self._left_out = at
            self.picture = None
            self.update()

    def set_words(self, text: str, colour: str) -> None:
        """Set the title, centred so that it does not jump when it changes."""
        if self._titled:
            self.setLabel(text, color=colour)
            self.resizeEvent()
        else:
            self.labelText = text

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle; labels at the ends extend beyond the axis."""
        view = self.linkedView()
        place = (self.geometry(), view.geometry() if view is not None else QRectF())
        if self._covered is None or self._covered[:2] != place:
            self._covered = (*place, super().boundingRect().adjusted(-30, -10, 30, 10))
        return self._covered[2]

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        """Return major and minor ticks."""
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            return []
        max_labels = size / (60 if self.orientation == "bottom" else 34)
        if self.log:
            major, minor = log_ticks(low, high, max_labels)
        else:
            major, minor = linear_ticks(low, high, max_labels, self.whole)
        return [(1.0, major), (None, minor)]

    def tickStrings(self, values: list[float], _scale: float, spacing: float | None) -> list[str]:
        """Return the labels of major ticks; empty for minor ones."""
        if spacing is None:
            return []
        labels = [
            _power_label(v) if self.log else format_number(v, digits=PARAMETER_DIGITS)
            for v in values
        ]
        if self._left_out is None:
            return labels
        low, high = self.range
        size = self.height() if self.orientation == "left" else self.width()
        near = _LINE_PX * (high - low) / max(size, 1.0)
        return [
            "" if abs(v - self._left_out) < near else label
            for v, label in zip(values, labels, strict=True)
        ]


DEEPEST_DECADES = 15
"""Maximum number of decades of a logarithmic y axis."""
_HALF_A_DOT = DOT_SIZE / 2 + 2
"""Distance in pixels between the centre of a dot and the frame."""


def whole_view(
    extents: Sequence[tuple[Mark, Extent]],
    ends: tuple[float, float] | None,
    before: Sequence[Sequence[float]],
    size: tuple[float, float],
    below: float,
    y_log: bool,
) -> list[list[float]]:
    """Return the ends of x and y, in view coordinates, that show the whole sweep and all curves.

    Bars take no additional space: a map of 8 levels has none up to the 11th.

    Parameters
    ----------
    extents : sequence of (Mark, Extent)
        Series of the visible curves.
    ends : (float, float) or None
        Ends of the sweep.
    before : (x ends, y ends)
        Present ranges: y is kept if there is nothing to show.
    size : (float, float)
        Size of the view in pixels.
    below : float
        Height in pixels to keep free below the curves.
    y_log : bool
    """
    extents = [(mark, result) for mark, result in extents if math.isfinite(result[0])]
    sides = [e[:2] for mark, e in extents if mark is not Mark.LINE]
    marks = {mark for mark, _ in extents}
    counted = Mark.BARS in marks and Mark.LINE not in marks
    if ends is not None and not counted and all(map(math.isfinite, ends)):
        sides.append(ends)
    x0, x1 = hull(sides or [e[:2] for _, e in extents])
    x1 = x1 if x1 > x0 else x0 + 1.0
    dots = [e for mark, e in extents if mark is Mark.DOTS]
    if dots:
        left, right = hull([e[:2] for e in dots])
        x0, x1 = pad_ends(x0, x1, left, right, _HALF_A_DOT / max(size[0], 100.0))
    if not extents:
        return [[x0, x1], list(before[1])]
    low, high = hull([e[2:] for _, e in extents])
    if y_log:
        low = max(low, high - DEEPEST_DECADES)
    low, high = nice_range(low, high, y_log)
    height = max(size[1] - below, 1.0)
    if dots:
        down, up = hull([e[2:] for e in dots])
        low, high = pad_ends(low, high, down, up, _HALF_A_DOT / max(height, 100.0))
    return [[x0, x1], [low - (high - low) * below / height, high]]


_OPENS = " ▾"
_FRAME, _AROUND = 24, 8
"""Padding of a title in pixels."""
_GAP, _EDGE = 2, 14
"""Distance in pixels of a title, and of the progress, from the edge of the plot."""


class AxisTitle(QToolButton):
    """Title of an axis with a menu, opened by a click, Space or the axis' letter.

    Parameters
    ----------
    axis : str
        ``x`` or ``y``.
    parent : QWidget
        Plot that places it.

    Signals
    -------
    chosen(str)
        Key of the chosen entry.
    log_chosen(bool)
    range_requested()
    resized()
        The title changed.

    Attributes
    ----------
    axis : str
    current : str
        Key of the present entry; empty for none.
    log, range : QAction
    """

    chosen = Signal(str)
    log_selected = Signal(bool)
    range_requested = Signal()
    resized = Signal()

    def __init__(self, axis: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("axis-title")
        self.setProperty("quiet", True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.axis = axis
        self.setAccessibleName(f"{axis} axis")
        self._words = ""
        self._space = 0
        self._offered: tuple[tuple[str, str], ...] = ()
        self.current = ""
        menu = self._menu = QMenu(self)
        menu.setAccessibleName(f"Axis {axis}")
        menu.aboutToShow.connect(self._fill)
        self.log = QAction("Logarithmic", self, checkable=True)
        self.log.triggered.connect(self.log_selected)
        self.range = QAction("Range…", self)
        self.range.triggered.connect(self.range_requested)
        self.setMenu(menu)
        font = self.font()
        font.setBold(True)
        self.setFont(font)
        self.setText(_OPENS)

    @property
    def keys(self) -> list[str]:
        """Keys of the entries in the order of the menu."""
        return [key for key, _ in self._offered]

    def offer(self, items: Sequence[tuple[str, str]], key: str, log: bool) -> None:
        """Set the entries (key, text), the present one and its scale."""
        self._offered, self.current = tuple(items), key
        self.log.setChecked(log)
        self._words = next((words for offered, words in items if offered == key), "")
        scale = "logarithmic" if log else "linear"
        self.setAccessibleName(f"{self.axis} axis: {self._words}, {scale}")
        self.setToolTip(
            f"{self._words}. What is on the {self.axis} axis, its scale and its range"
            f" ({self.axis.upper()} in the plot)"
        )
        self._words += " · log" * log
        self.fit(self._space)
        self.resized.emit()

    def choose(self, key: str) -> None:
        """Choose an entry, as the menu does."""
        self.chosen.emit(key)

    def _fill(self) -> None:
        """Fill the menu when it opens: entries change with every slider."""
        menu = self._menu
        menu.clear()
        for key, words in self._offered:
            action = menu.addAction(words.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(key == self.current)
            action.setData(key)
            action.triggered.connect(lambda _=False, key=key: self.choose(key))
        menu.addSeparator()
        menu.addActions([self.log, self.range])

    def fit(self, max_width: int) -> None:
        """Fit the width to the title, up to a maximum in pixels."""
        self._space = max_width
        metrics = self.fontMetrics()
        left = max_width - _FRAME - metrics.horizontalAdvance(_OPENS)
        text = metrics.elidedText(self._words, Qt.TextElideMode.ElideRight, left) + _OPENS
        if text != self.text():
            self.setText(text)
        wide = self.sizeHint().width()
        self.resize(max(min(wide, max_width), 1), metrics.height() + _AROUND)


class AxisTitles:
    """Titles of a plot: y above its left end, x below its right end; progress beside y.

    Parameters
    ----------
    plot : QWidget
        Widget that contains them.
    view : ViewBox
        Its plot area.

    Attributes
    ----------
    y, x : AxisTitle
    progress : ProgressText
        How many of the curves are up to date.
    height : int
        Reserve space in pixels for each.
    """

    def __init__(self, plot: QWidget, view: pg.ViewBox) -> None:
        self._plot, self._view = plot, view
        self.y, self.x = AxisTitle("y", plot), AxisTitle("x", plot)
        self.progress = ProgressText(plot)
        self.height = self.y.fontMetrics().height() + _AROUND + _GAP
        for title in (self.y, self.x):
            title.resized.connect(self.place)

    def place(self) -> None:
        """Place both."""
        for title in (self.y, self.x):
            title.fit(self._plot.width() - 2 * _GAP)
        self.y.move(_GAP, _GAP)
        left, end = _GAP + self.y.width(), self._plot.width() - _EDGE
        self.progress.setGeometry(left, _GAP, max(end - left, 0), self.y.height())
        right = round(self._view.sceneBoundingRect().right())
        low = self._plot.height() - self.x.height() - _GAP
        self.x.move(max(right - self.x.width(), _GAP), low)

    def open(self, key: Qt.Key) -> bool:
        """Open the menu of the axis with this letter; return whether there is one."""
        title = {Qt.Key.Key_X: self.x, Qt.Key.Key_Y: self.y}.get(key)
        if title is None or title.isHidden():
            return False
        title.showMenu()
        return True
