"""A line of text that changes often without making the window lay itself out again."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget


class FixedSizeLabel(QWidget):
    """Like a label, but its size never depends on its text: too long a text is elided.

    A `QLabel` whose text changes asks its layout anew, and a whole workspace is then laid out and
    painted sixty times a second while a slider is dragged.
    """

    def __init__(
        self,
        text: str = "",
        alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        super().__init__()
        self._alignment = alignment
        self._text = text
        self._fitting: tuple[str, int, str] = ("", 0, "")
        """Text and width of last time, and what of it fitted."""
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return what is written, unabridged."""
        return self._text

    def setText(self, text: str) -> None:
        """Write something else."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line; the width is the layout's."""
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 12, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Write the text, or as much of it as fits."""
        text, width = self._text, self.width()
        if self._fitting[:2] != (text, width):
            shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
            self._fitting = (text, width, shown)
        painter = QPainter(self)  # in the widget's colour and font
        alignment = Qt.AlignmentFlag.AlignVCenter | self._alignment
        painter.drawText(self.rect(), alignment, self._fitting[2])

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with another font."""
        self._fitting = ("", 0, "")
        super().changeEvent(event)
