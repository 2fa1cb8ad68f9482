"""Labels whose text may change often without a new layout of the window."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.ui.base.styled import follow_links, has_labels, link_labels, plain_label

MIN_WIDTH_PX = 40
_HIGHEST = 16_777_215


class FixedSizeText(QWidget):
    """Wrapped label that requests a new layout only when its height changes.

    Errata labels in the text are links.

    A `QLabel` requests one for each text; a panel of ten then costs 3 ms for every value of a
    moving slider.

    Parameters
    ----------
    name : str
        Object name of the inner label, for the style sheet.
    """

    def __init__(self, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._heights: dict[int, int] = {}
        """Heights by width: a layout asks several times, at 0.5 ms each."""
        self._measured = (0, 0)
        """Last width, and the text height by font metrics."""
        self._label = plain_label(parent=self, word_wrap=True)
        self._label.setObjectName(name)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumWidth(MIN_WIDTH_PX)

    def text(self) -> str:
        """Return the text."""
        return self._text

    def setText(self, text: str) -> None:
        """Set the text."""
        if text == self._text:
            return
        self._text = text
        links = has_labels(text)
        if links != (self._label.textFormat() == Qt.TextFormat.RichText):
            self._set_links(links)
        self._label.setText(link_labels(text).replace("\n", "<br>") if links else text)
        if links or self._height_moved():
            self._heights.clear()
            if self.heightForWidth(self.width()) != self.height():
                self.updateGeometry()

    def _height_moved(self) -> bool:
        """Whether the height may differ from that of the former text.

        The label lays out a document several times; font metrics break the same lines in an eighth
        of the time. Heights at other widths are computed again.
        """
        width, before = self.width(), self._measured
        space = QRect(0, 0, width, _HIGHEST)
        lines = self._label.fontMetrics().boundingRect(space, Qt.TextFlag.TextWordWrap, self._text)
        self._measured = (width, lines.height())
        if self._measured != before or width not in self._heights:
            return True
        self._heights = {width: self._heights[width]}
        return False

    def _set_links(self, links: bool) -> None:
        """Use rich text only if there are links: plain text is laid out faster."""
        form, flags = Qt.TextFormat, Qt.TextInteractionFlag
        self._label.setTextFormat(form.RichText if links else form.PlainText)
        reading = flags.TextSelectableByMouse
        self._label.setTextInteractionFlags(flags.TextBrowserInteraction if links else reading)
        follow_links(self._label)

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped text at a width."""
        if width not in self._heights:
            self._heights[width] = self._label.heightForWidth(width)
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with another font."""
        self._heights.clear()
        self._measured = (0, 0)
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        """Return the label's preferred size."""
        return self._label.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(MIN_WIDTH_PX, self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Resize the label."""
        self._label.setGeometry(self.rect())
        super().resizeEvent(event)
        if self.heightForWidth(self.width()) > self.height():
            self.updateGeometry()  # the layout caches heights of former texts


class FixedSizeLabel(QWidget):
    """Single-line label whose size never depends on its text; long texts are elided.

    A `QLabel` requests a new layout for each text; a whole workspace would then be laid out and
    painted sixty times a second during a drag.
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
        """Last text and width with the elided text."""
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return the full text."""
        return self._text

    def setText(self, text: str) -> None:
        """Set the text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line; the layout sets the width."""
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 12, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the elided text."""
        text, width = self._text, self.width()
        if self._fitting[:2] != (text, width):
            shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
            self._fitting = (text, width, shown)
        painter = QPainter(self)  # uses the widget's colour and font
        alignment = Qt.AlignmentFlag.AlignVCenter | self._alignment
        painter.drawText(self.rect(), alignment, self._fitting[2])

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with another font."""
        self._fitting = ("", 0, "")
        super().changeEvent(event)
