"""Central area of the window with its dock widgets, and the left side panel."""

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QScrollArea,
    QScrollBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.panels.parameters import ParametersPanel
from explorer.ui.panels.presets import PresetBar, QuestionHeader

LAYOUT_VERSION = 1
WIDTHS = [276, 268]
"""Of the docks at first, left and right."""


class _ScrollBar(QScrollBar):
    """Keeps its place, and is not enabled (so not drawn) where there is nothing to scroll."""

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        super().sliderChange(change)
        if change is QAbstractSlider.SliderChange.SliderRangeChange:
            self.setEnabled(self.maximum() > self.minimum())


class DockArea(QMainWindow):
    """Docks around a middle, within the window, so that another page can take the place of all.

    Attributes
    ----------
    docks : dict of str to QDockWidget
    """

    def __init__(self) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks)
        self.docks: dict[str, QDockWidget] = {}
        self._plain = QByteArray()
        self._unseen: bytes | None = None
        """A layout restored and never laid out: Qt would save one of no size."""
        self._seen = False
        self._aside: bytes | None = None
        """The layout before docks were put out of the way; None while they are not."""
        self._hidden: list[QDockWidget] = []
        self._unfolded: bytes | None = None
        """The layout before a dock was folded away; None while none is."""
        self._folded: QDockWidget | None = None

    def set_middle(self, tabs: QWidget) -> None:
        """Put tabs in the middle; `beside` is the row that they stand in."""
        self.beside = QHBoxLayout(middle := QWidget())
        self.beside.setContentsMargins(0, 0, 0, 0)
        self.beside.setSpacing(0)
        self.beside.addWidget(tabs, 1)
        self.setCentralWidget(middle)

    def add_dock(self, key: str, content: QWidget, area: Qt.DockWidgetArea) -> None:
        """Put something into a dock that is called like its key."""
        dock = self.docks[key] = QDockWidget(key.capitalize(), self)
        dock.setObjectName(f"dock-{key}")
        dock.setWidget(content)
        self.addDockWidget(area, dock)

    def begin(self) -> None:
        """Take the present layout for the plain one."""
        self._spread()
        self._plain = self.saveState(LAYOUT_VERSION)

    def reset(self) -> None:
        """Put docks back to where they were at first."""
        self._aside, self._hidden = None, []
        self.fold(None)
        self.restoreState(self._plain, LAYOUT_VERSION)
        for dock in self.docks.values():
            dock.show()
        self._spread()

    def restore(self, layout: bytes) -> None:
        """Put docks where they were when `saved` was called."""
        self.fold(None)
        self.restoreState(QByteArray(layout), LAYOUT_VERSION)
        self._unseen = None if self.isVisible() else layout

    def saved(self) -> bytes:
        """Return where the docks are, or were before they were put out of the way."""
        kept = self._unseen or self._aside or self._unfolded
        return kept or bytes(self.saveState(LAYOUT_VERSION).data())

    def fold(self, key: str | None) -> bool:
        """Hide a dock for want of room, or show again the one that was; return if one was shown.

        The saved layout goes on to have it.
        """
        before = self._folded
        if key is None:
            self._unfolded, self._folded = None, None
            if before is not None and self._aside is None:
                before.show()
            elif before is not None:
                self._hidden.append(before)
            return before is not None
        dock = self.docks[key]
        if before is not None or dock.isHidden():
            return before is not None
        self._unfolded, self._folded = self.saved(), dock
        dock.hide()
        return True

    @property
    def is_aside(self) -> bool:
        """Whether docks are out of the way of what stands alone."""
        return self._aside is not None

    def stand_aside(self, aside: bool) -> None:
        """Put docks out of the way of what stands alone, or bring them back."""
        if aside and self._aside is None:
            self._aside = self.saved()
            self._hidden = [dock for dock in self.docks.values() if not dock.isHidden()]
            for dock in self._hidden:
                dock.hide()
        elif not aside and self._aside is not None:
            for dock in self._hidden:
                dock.show()
            self._aside, self._hidden = None, []

    def showEvent(self, event: QShowEvent) -> None:
        """From now on the layout is what is seen; at first it is the plain one at this size."""
        super().showEvent(event)
        if self._unseen is None and not self._seen:
            self._spread()
        self._unseen, self._seen = None, True

    def _spread(self) -> None:
        self.resizeDocks(list(self.docks.values()), WIDTHS, Qt.Orientation.Horizontal)


class LeftSide(QWidget):
    """The question in front, its figures, and its parameters and data as tabs.

    Attributes
    ----------
    tabs : QTabWidget
        Parameters and data.
    data_page : QScrollArea
        Of the data; empty until there is a map.
    """

    def __init__(
        self, question: QuestionHeader, presets: PresetBar, parameters: ParametersPanel
    ) -> None:
        super().__init__()
        self.data_page = QScrollArea(widgetResizable=True)
        self.data_page.setVerticalScrollBar(_ScrollBar())
        self.data_page.setFrameShape(QFrame.Shape.NoFrame)
        self.data_page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Fields come and go while a slider is dragged: with a bar that came too, the slider would
        # change its width below the pointer, and stand for another value.
        self.data_page.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setObjectName("sides")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(parameters, "Parameters")
        self.tabs.addTab(self.data_page, "Data")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(4)
        for part in (question, presets, self.tabs):
            column.addWidget(part)
        column.setStretchFactor(self.tabs, 1)
        column.addStrut(236)  # more where a row of the study in front needs it
