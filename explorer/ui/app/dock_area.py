"""Central area of the window with docks and left side panel; layout of narrow windows."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QApplication,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QScrollArea,
    QScrollBar,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import card
from explorer.ui.panels.guarantee import GuaranteePanel, GuaranteeRail
from explorer.ui.panels.parameters import ParametersPanel
from explorer.ui.panels.presets import PresetBar, QuestionHeader

LAYOUT_VERSION = 1
WIDTHS = [275, 272]
"""Initial widths of the left and right docks."""
RAIL_WIDTH = 1160
"""Width of the window up to which the guarantee is a strip: three columns cut names off."""
LEAST_WIDTH = 1020
"""Of all columns where the guarantee is a strip, whichever pages are built by now."""


class _ScrollBar(QScrollBar):
    """Scroll bar that keeps its space and is disabled (not drawn) if there is nothing to scroll."""

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        super().sliderChange(change)
        if change is QAbstractSlider.SliderChange.SliderRangeChange:
            self.setEnabled(self.maximum() > self.minimum())


class DockArea(QMainWindow):
    """Dock area inside the window, so that another page can replace it as a whole.

    Attributes
    ----------
    docks : dict of str to QDockWidget
        Docks that can be moved, detached and hidden: not the row of tabs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks)
        self.docks: dict[str, QDockWidget] = {}
        self._plain = QByteArray()
        self._unseen: bytes | None = None
        """Layout that was restored but never shown; Qt would save it with zero size."""
        self._seen = False
        self._aside: bytes | None = None
        """Layout before the docks were hidden for a full-size tab; None otherwise."""
        self._hidden: list[QDockWidget] = []
        self._unfolded: bytes | None = None
        """Layout before a dock was collapsed; None otherwise."""
        self._folded: QDockWidget | None = None

    def set_central_pages(self, tabs: QTabBar, pages: QStackedWidget) -> None:
        """Set the central pages, with their tabs in a row above them and the left dock.

        The row is a dock that stays in its place: the right dock has the whole height beside it.
        """
        self.setCentralWidget(pages)
        self._tabs = QDockWidget(tabs.accessibleName(), self)
        self._tabs.setObjectName("dock-tabs")
        self._tabs.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
        self._tabs.setTitleBarWidget(QWidget())
        self._tabs.toggleViewAction().setVisible(False)
        row = QHBoxLayout(line := QWidget())
        row.setContentsMargins(16, 0, 0, 1)  # an empty title has a height of -1
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetMinAndMaxSize)
        row.addWidget(tabs)
        self._tabs.setWidget(line)
        self._place_tabs()

    def add_dock(self, key: str, content: QWidget, area: Qt.DockWidgetArea, title: QWidget) -> None:
        """Add a dock named by its key; its title is also the handle to drag it by."""
        dock = self.docks[key] = QDockWidget(key.capitalize(), self)
        dock.setObjectName(f"dock-{key}")
        dock.setTitleBarWidget(title)
        dock.setWidget(content)
        dock.setAllowedAreas(~Qt.DockWidgetArea.TopDockWidgetArea)
        self.addDockWidget(area, dock)

    def begin(self) -> None:
        """Store the present layout as the default one."""
        self._spread()
        self._plain = self.saveState(LAYOUT_VERSION)

    def reset(self) -> None:
        """Restore the default layout."""
        self._aside, self._hidden = None, []
        self.fold(None)
        self._restore(self._plain)
        for dock in self.docks.values():
            dock.show()
        self._spread()

    def restore(self, layout: bytes) -> None:
        """Restore a layout returned by `saved`."""
        self.fold(None)
        self._restore(QByteArray(layout))
        self._unseen = None if self.isVisible() else layout

    def saved(self) -> bytes:
        """Return the layout, or the one before docks were hidden."""
        layout = self._unseen or self._aside or self._unfolded
        return layout or bytes(self.saveState(LAYOUT_VERSION).data())

    def fold(self, key: str | None) -> bool:
        """Collapse a dock, or with None restore the collapsed one; return whether one was visible.

        The saved layout still contains it.
        """
        before = self._folded
        if key is None:
            self._unfolded, self._folded = None, None
            if before is not None and self._aside is None:
                before.show()
                self._spread()  # the narrow window took from both columns
            elif before is not None:
                self._hidden.append(before)
            return before is not None
        dock = self.docks[key]
        if before is not None or dock.isHidden():
            return before is not None
        self._unfolded, self._folded = self.saved(), dock
        dock.hide()
        self._spread()
        return True

    @property
    def docks_hidden(self) -> bool:
        """Whether the docks are hidden for a full-size tab."""
        return self._aside is not None

    def hide_docks(self, aside: bool) -> None:
        """Hide the docks for a full-size tab, or show them again."""
        if aside and self._aside is None:
            self._aside = self.saved()
            self._hidden = [dock for dock in self.docks.values() if not dock.isHidden()]
            for dock in self._hidden:
                dock.hide()
        elif not aside and self._aside is not None:
            for dock in self._hidden:
                dock.show()
            self._aside, self._hidden = None, []

    def minimumSizeHint(self) -> QSize:
        """Return the least size; where it is narrow the guarantee is a strip."""
        return QSize(LEAST_WIDTH, super().minimumSizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        """Use the visible layout from now on; the first time, apply the default widths."""
        super().showEvent(event)
        if self._unseen is None and not self._seen:
            self._spread()
        self._unseen, self._seen = None, True

    def _restore(self, layout: QByteArray) -> None:
        self.restoreState(layout, LAYOUT_VERSION)
        for dock in self.docks.values():
            if self.dockWidgetArea(dock) is Qt.DockWidgetArea.TopDockWidgetArea:
                self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        self._place_tabs()

    def _place_tabs(self) -> None:
        """Place the row of tabs; older layouts have none, and store the corners, too."""
        self.setCorner(Qt.Corner.TopRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, self._tabs)
        self._tabs.show()

    def _spread(self) -> None:
        self.resizeDocks(list(self.docks.values()), WIDTHS, Qt.Orientation.Horizontal)


class DockTitle(QWidget):
    """Title row of a dock: drag it to move the dock, double-click it to detach the dock.

    Parameters
    ----------
    content : QWidget
        Shown at its left end.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setObjectName("dock-title")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setToolTip("Drag to move this pane; double-click to detach it or put it back")
        row = QHBoxLayout(self)
        row.setContentsMargins(9, 3, 12, 0)
        row.addWidget(content)
        row.addStretch(1)


class LeftSide(QWidget):
    """Left side: current question, presets, and tabs for parameters and data.

    Attributes
    ----------
    tabs : QTabWidget
        Tabs for parameters and data.
    data_page : QScrollArea
        Page of the data panel; empty until the map exists.
    """

    def __init__(
        self, question: QuestionHeader, presets: PresetBar, parameters: ParametersPanel
    ) -> None:
        super().__init__()
        self.data_page = QScrollArea(widgetResizable=True)
        self.data_page.setVerticalScrollBar(_ScrollBar())
        self.data_page.setFrameShape(QFrame.Shape.NoFrame)
        self.data_page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.data_page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # The scroll bar always takes its space: fields appear and disappear during a drag, and a
        # changing width would move the slider under the pointer and change its value.
        self.data_page.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setObjectName("sides")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(parameters, "Parameters")
        self.tabs.addTab(self.data_page, "Data")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 2, 7, 8)
        column.setSpacing(6)
        for part in (question, presets, tabs := card(self.tabs)):
            column.addWidget(part)
        column.setStretchFactor(tabs, 1)
        column.addStrut(236)  # wider if a parameter row needs it
        self._column = column
        self.card: QWidget | None = None

    def place_card(self, card: QWidget, shown: bool) -> None:
        """Place a card between presets and parameters."""
        self.card = card
        card.hide()  # before it is inserted, else a layout keeps room for it
        self._column.insertWidget(2, card)
        card.setVisible(shown)


_DOCK = "guarantee"
_WIDTH = 268


class PanelOverlay(QFrame):
    """Frame on top of the plot that holds the panel; closed by Esc."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("over")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 1, 1, 1)
        self.hide()


class CompactLayout(QObject):
    """Shows the guarantee panel in its dock or, in narrow windows, as a strip.

    Parameters
    ----------
    dock_area : DockArea
    panel : GuaranteePanel
        Placed in its dock.
    """

    def __init__(self, dock_area: DockArea, panel: GuaranteePanel) -> None:
        super().__init__(dock_area)
        self._dock_area, self._panel = dock_area, panel
        self.rail = GuaranteeRail(panel)
        self.rail.hide()
        self.rail.clicked.connect(self.toggle)
        self.rail.setParent(dock_area)
        self.overlay = PanelOverlay(dock_area)
        self._before: QWidget | None = None
        """Widget that had the focus before the panel was opened."""
        self.overlay.installEventFilter(self)
        dock_area.installEventFilter(self)

    @property
    def on(self) -> bool:
        """Whether the window has no space for three columns."""
        return self._dock_area.window().width() <= RAIL_WIDTH

    def fit(self) -> None:
        """Switch between strip and dock according to the width."""
        dock = self._dock_area.docks[_DOCK]
        alone = self._dock_area.docks_hidden
        if self.on and not alone and self.rail.isHidden():
            self.rail.setVisible(self._dock_area.fold(_DOCK))
        elif self.rail.isVisible() and (not self.on or alone):
            self._close()
            self.rail.hide()
            self._dock_area.fold(None)
        dock.toggleViewAction().setEnabled(not self.on)
        self._place()

    def toggle(self) -> None:
        """Open or close the panel over the plot; in wide windows, show its dock."""
        if not self.on:
            self._dock_area.docks[_DOCK].show()
            self._panel.in_full.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.overlay.isVisible():
            self._close()
        else:
            self._before = QApplication.focusWidget()
            self.overlay.column.addWidget(self._panel)
            self._place()
            self.overlay.show()
            self.overlay.raise_()
            self.rail.setChecked(True)
            self._panel.show()
            self._panel.in_full.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the dock area; close at Esc."""
        kind = event.type()
        if watched is self._dock_area and kind in (QEvent.Type.Resize, QEvent.Type.Show):
            self.fit()
        pressed = event.key() if isinstance(event, QKeyEvent) else None
        if watched is self.overlay and (kind, pressed) == (QEvent.Type.KeyPress, Qt.Key.Key_Escape):
            self._close()
            return True
        return super().eventFilter(watched, event)

    def _close(self) -> None:
        self.rail.setChecked(False)
        if self.overlay.isHidden():
            return
        self.overlay.hide()
        self._dock_area.docks[_DOCK].setWidget(self._panel)
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()

    def _place(self) -> None:
        """Place the strip at the edge and the panel left of it, over the full height."""
        area, height = self._dock_area, self._dock_area.height()
        strip = self.rail.sizeHint().width() if self.rail.isVisible() else 0
        area.setContentsMargins(0, 0, strip, 0)
        self.rail.setGeometry(area.width() - strip, 0, strip, height)
        self.overlay.setGeometry(area.width() - strip - _WIDTH, 0, _WIDTH, height)
