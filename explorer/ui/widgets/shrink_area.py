"""Scroll area that takes the height of its content where there is space."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

LEAST_LINES = 2


class ShortArea(QScrollArea):
    """As high as what is in it where there is room, else a few lines of it that scroll.

    Comes and goes with what is in it.

    Parameters
    ----------
    content : QWidget
        Its height depends on its width.
    parent : QWidget
        Without one it would show as a window until a layout takes it.
    """

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # A layout makes nothing less high than its height for a width, so there is none.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        inner = content.sizePolicy()
        inner.setVerticalPolicy(QSizePolicy.Policy.Preferred)  # else never less than its own hint
        content.setSizePolicy(inner)
        hidden = content.isHidden()
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        content.setVisible(not hidden)
        self.setVisible(not hidden)

    def sizeHint(self) -> QSize:
        """Return the size at which nothing scrolls."""
        width = max(self.width(), self._content.minimumSizeHint().width())
        return QSize(width, self._content.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return the height of a few lines, or less where there is less."""
        least = LEAST_LINES * self.fontMetrics().lineSpacing() + 12
        return QSize(self._content.minimumSizeHint().width(), min(least, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height at another width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def viewportEvent(self, event: QEvent) -> bool:
        """Ask for another height when what is in it does."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().viewportEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Come and go with what is in it."""
        changes = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
        if watched is self._content and event.type() in changes:
            self.setVisible(not self._content.isHidden())
        return super().eventFilter(watched, event)
