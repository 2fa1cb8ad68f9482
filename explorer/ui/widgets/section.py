"""Collapsible section with a heading."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget


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
        self.heading.setAccessibleName(self._title)
        self.heading.setAccessibleDescription(
            "unfolded: Left folds it" if self.open else "folded: Right unfolds it"
        )
