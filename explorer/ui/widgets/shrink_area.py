"""Scroll area that takes the height of its content where there is space."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

MIN_LINES = 2


class ShrinkArea(QScrollArea):
    """Area as high as its content if there is space, else a few lines that scroll.

    Shown and hidden together with its content.

    Parameters
    ----------
    content : QWidget
        Its height depends on its width.
    parent : QWidget
        Without a parent it opens as a window until a layout takes it.
    """

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Layouts never shrink a widget below its height for width, so this has none.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        inner = content.sizePolicy()
        inner.setVerticalPolicy(QSizePolicy.Policy.Preferred)  # may be below the size hint
        content.setSizePolicy(inner)
        hidden = content.isHidden()
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        content.setVisible(not hidden)
        self.setVisible(not hidden)

    def sizeHint(self) -> QSize:
        """Return the size without scrolling."""
        width = max(self.width(), self._content.minimumSizeHint().width())
        return QSize(width, self._content.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return the height of a few lines, or less for shorter content."""
        least = MIN_LINES * self.fontMetrics().lineSpacing() + 12
        return QSize(self._content.minimumSizeHint().width(), min(least, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the height at another width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def viewportEvent(self, event: QEvent) -> bool:
        """Update the height when the content changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().viewportEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the visibility of the content."""
        changes = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
        if watched is self._content and event.type() in changes:
            self.setVisible(not self._content.isHidden())
        return super().eventFilter(watched, event)
