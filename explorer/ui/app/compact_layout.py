"""Layout of windows up to 1024 pixels wide: the guarantee panel becomes a strip.

The strip opens the panel on top of the plot.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from explorer.ui.app.dock_area import DockArea
from explorer.ui.base.theme import is_narrow
from explorer.ui.panels.guarantee import GuaranteePanel, GuaranteeRail

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
        dock_area.beside.addWidget(self.rail)
        self.overlay = PanelOverlay(dock_area)
        self._before: QWidget | None = None
        """Widget that had the focus before the panel was opened."""
        self.overlay.installEventFilter(self)
        dock_area.installEventFilter(self)

    @property
    def on(self) -> bool:
        """Whether the window is narrow."""
        return is_narrow(self._dock_area)

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
        """Place the panel left of the strip, over the full height."""
        strip = self.rail.width() if self.rail.isVisible() else 0
        right = self._dock_area.width() - strip
        self.overlay.setGeometry(right - _WIDTH, 0, _WIDTH, self._dock_area.height())
