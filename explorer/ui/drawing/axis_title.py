"""The title of a plot's axis, which is the axis' menu."""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

_OPENS = " ▾"
_FRAME, _AROUND = 24, 8
"""Pixels of a title beside its words, and above and below them."""
_GAP = 2
"""Pixels between a title and the edge of the plot."""


class AxisTitle(QToolButton):
    """What stands on an axis; a click, Space or the axis' letter offers what else may.

    Parameters
    ----------
    axis : str
        ``x`` or ``y``.
    parent : QWidget
        The plot, which places it.

    Signals
    -------
    chosen(str)
        Key of what is wanted on the axis.
    log_chosen(bool)
    range_wanted()
    resized()
        Other words stand there.

    Attributes
    ----------
    axis : str
    current : str
        Key of what stands on the axis; empty for nothing.
    log, range : QAction
    """

    chosen = Signal(str)
    log_chosen = Signal(bool)
    range_wanted = Signal()
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
        self._room = 0
        self._offered: tuple[tuple[str, str], ...] = ()
        self.current = ""
        menu = self._menu = QMenu(self)
        menu.setAccessibleName(f"Axis {axis}")
        menu.aboutToShow.connect(self._fill)
        self.log = QAction("Logarithmic", self, checkable=True)
        self.log.triggered.connect(self.log_chosen)
        self.range = QAction("Range…", self)
        self.range.triggered.connect(self.range_wanted)
        self.setMenu(menu)
        font = self.font()
        font.setBold(True)
        self.setFont(font)
        self.setText(_OPENS)

    @property
    def keys(self) -> list[str]:
        """Keys of what may stand there, in the order of the menu."""
        return [key for key, _ in self._offered]

    def offer(self, items: Sequence[tuple[str, str]], key: str, log: bool) -> None:
        """Offer these (key, words), one of which stands there on a scale."""
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
        self.fit(self._room)
        self.resized.emit()

    def choose(self, key: str) -> None:
        """Choose what stands on the axis, as its menu does."""
        self.chosen.emit(key)

    def _fill(self) -> None:
        """Write the menu, when it is opened: what may stand there follows every slider."""
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

    def fit(self, room: int) -> None:
        """Be as wide as the words need, and at most this many pixels."""
        self._room = room
        metrics = self.fontMetrics()
        left = room - _FRAME - metrics.horizontalAdvance(_OPENS)
        text = metrics.elidedText(self._words, Qt.TextElideMode.ElideMiddle, left) + _OPENS
        if text != self.text():
            self.setText(text)
        wide = self.sizeHint().width()
        self.resize(max(min(wide, room), 1), metrics.height() + _AROUND)


class AxisTitles:
    """The titles of a plot: one above its left end, one below its right end.

    Parameters
    ----------
    plot : QWidget
        On which they stand.
    view : ViewBox
        Its inner part.

    Attributes
    ----------
    y, x : AxisTitle
    height : int
        Pixels that the plot is to keep free for each.
    """

    def __init__(self, plot: QWidget, view: pg.ViewBox) -> None:
        self._plot, self._view = plot, view
        self.y, self.x = AxisTitle("y", plot), AxisTitle("x", plot)
        self.height = self.y.fontMetrics().height() + _AROUND + _GAP
        for title in (self.y, self.x):
            title.resized.connect(self.place)

    def place(self) -> None:
        """Put both where they belong."""
        for title in (self.y, self.x):
            title.fit(self._plot.width() - 2 * _GAP)
        self.y.move(_GAP, _GAP)
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
