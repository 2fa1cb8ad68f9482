"""Collapsible section with a heading, and a scroll area that may shrink to a few lines."""

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget


class _Heading(QPushButton):
    """Space or Return toggles, Left collapses, Right expands."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the heading's own keys."""
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.setChecked(key == Qt.Key.Key_Right)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.toggle()
        else:
            super().keyPressEvent(event)
            return
        event.accept()


class Section(QWidget):
    """Heading with a collapsible body.

    Parameters
    ----------
    title : str

    Signals
    -------
    folded(bool)
        Whether the body is hidden now; emitted for the user's actions only.
    """

    folded = Signal(bool)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self.heading = _Heading()
        self.heading.setObjectName("section")
        self.heading.setCheckable(True)
        self.heading.setChecked(True)
        self.heading.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.heading.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.body = QWidget()
        self.rows = QVBoxLayout(self.body)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.heading)
        layout.addWidget(self.body)
        self.heading.toggled.connect(self._toggled)
        self._write_heading()

    @property
    def open(self) -> bool:
        """Whether the body is shown."""
        return self.heading.isChecked()

    def set_open(self, shown: bool) -> None:
        """Show or hide the body without emitting a signal."""
        if shown != self.open:
            with QSignalBlocker(self.heading):
                self.heading.setChecked(shown)
            self.body.setVisible(shown)
            self._write_heading()

    def set_title(self, title: str) -> None:
        """Set the title."""
        if title != self._title:
            self._title = title
            self._write_heading()

    def _toggled(self, shown: bool) -> None:
        self.body.setVisible(shown)
        self._write_heading()
        self.folded.emit(not shown)

    def _write_heading(self) -> None:
        self.heading.setText(f"{'▾' if self.open else '▸'}  {self._title}")
        self.heading.setAccessibleName(self._title.replace("&", ""))
        self.heading.setAccessibleDescription(
            "expanded; Left collapses it" if self.open else "collapsed; Right expands it"
        )


MIN_LINES, _PADDING = 2, 17
"""Lines that are always seen, and the height around them in pixels."""


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
        least = MIN_LINES * self.fontMetrics().lineSpacing() + _PADDING
        return QSize(self._content.minimumSizeHint().width(), min(least, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the height at another width."""
        super().resizeEvent(event)
        # With a bar the text is narrower and higher, so that it would go on needing the bar.
        policy = Qt.ScrollBarPolicy
        fits = self.height() >= self.sizeHint().height()
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOff if fits else policy.ScrollBarAsNeeded
        )
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
