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


class Over(QFrame):
    """Holds the panel over the plot; Esc is to close it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("over")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 1, 1, 1)
        self.hide()


class CompactLayout(QObject):
    """Puts the guarantee where there is room for it.

    Parameters
    ----------
    desk : Desk
    panel : GuaranteePanel
        In its dock.
    """

    def __init__(self, desk: DockArea, panel: GuaranteePanel) -> None:
        super().__init__(desk)
        self._desk, self._panel = desk, panel
        self.rail = GuaranteeRail(panel)
        self.rail.hide()
        self.rail.clicked.connect(self.toggle)
        desk.beside.addWidget(self.rail)
        self.over = Over(desk)
        self._before: QWidget | None = None
        """What had the focus before the panel was opened."""
        self.over.installEventFilter(self)
        desk.installEventFilter(self)

    @property
    def on(self) -> bool:
        """Whether the window is as narrow as this."""
        return is_narrow(self._desk)

    def fit(self) -> None:
        """Be a strip or a dock, as there is room."""
        dock = self._desk.docks[_DOCK]
        alone = self._desk.is_aside
        if self.on and not alone and self.rail.isHidden():
            self.rail.setVisible(self._desk.fold(_DOCK))
        elif self.rail.isVisible() and (not self.on or alone):
            self._close()
            self.rail.hide()
            self._desk.fold(None)
        dock.toggleViewAction().setEnabled(not self.on)
        self._place()

    def toggle(self) -> None:
        """Open the panel over the plot, or close it; where there is room, show its dock."""
        if not self.on:
            self._desk.docks[_DOCK].show()
            self._panel.in_full.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.over.isVisible():
            self._close()
        else:
            self._before = QApplication.focusWidget()
            self.over.column.addWidget(self._panel)
            self._place()
            self.over.show()
            self.over.raise_()
            self.rail.setChecked(True)
            self._panel.show()
            self._panel.in_full.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the desk's size, and close at Esc."""
        kind = event.type()
        if watched is self._desk and kind in (QEvent.Type.Resize, QEvent.Type.Show):
            self.fit()
        pressed = event.key() if isinstance(event, QKeyEvent) else None
        if watched is self.over and (kind, pressed) == (QEvent.Type.KeyPress, Qt.Key.Key_Escape):
            self._close()
            return True
        return super().eventFilter(watched, event)

    def _close(self) -> None:
        self.rail.setChecked(False)
        if self.over.isHidden():
            return
        self.over.hide()
        self._desk.docks[_DOCK].setWidget(self._panel)
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()

    def _place(self) -> None:
        """Stand left of the strip, over all the height."""
        strip = self.rail.width() if self.rail.isVisible() else 0
        right = self._desk.width() - strip
        self.over.setGeometry(right - _WIDTH, 0, _WIDTH, self._desk.height())
