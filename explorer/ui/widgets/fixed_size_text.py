"""Labels whose text may change often without a new layout of the window."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.ui.base.styled import plain_label
from explorer.ui.widgets.links import follow_links, has_labels, linked

NARROWEST = 40
_HIGHEST = 16_777_215


class FixedSizeText(QWidget):
    """A label whose layout is asked anew only when its text needs another height.

    Labels of errata in it are links.

    A `QLabel` asks with every text; a panel of ten of them then costs 3 ms for every value that a
    slider passes.

    Parameters
    ----------
    name : str
        Object name of the label inside, for the style sheet.
    """

    def __init__(self, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._heights: dict[int, int] = {}
        """Heights of the text at widths: a layout asks several times, each takes 0.5 ms."""
        self._measured = (0, 0)
        """Width of last time and how high the text was then by the font's own measure."""
        self._label = plain_label(parent=self, word_wrap=True)
        self._label.setObjectName(name)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumWidth(NARROWEST)

    def text(self) -> str:
        """Return what is written."""
        return self._text

    def setText(self, text: str) -> None:
        """Write something else."""
        if text == self._text:
            return
        self._text = text
        links = has_labels(text)
        if links != (self._label.textFormat() == Qt.TextFormat.RichText):
            self._set_links(links)
        self._label.setText(linked(text).replace("\n", "<br>") if links else text)
        if links or self._height_moved():
            self._heights.clear()
            if self.heightForWidth(self.width()) != self.height():
                self.updateGeometry()

    def _height_moved(self) -> bool:
        """Whether the text may have another height than the one before.

        The label lays a whole document out, several times; the font breaks the same lines in an
        eighth of the time. A height at another width is asked for anew.
        """
        width, before = self.width(), self._measured
        room = QRect(0, 0, width, _HIGHEST)
        lines = self._label.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self._text)
        self._measured = (width, lines.height())
        if self._measured != before or width not in self._heights:
            return True
        self._heights = {width: self._heights[width]}
        return False

    def _set_links(self, links: bool) -> None:
        """Write as HTML only where there is something to follow: plain text is laid out faster."""
        form, flags = Qt.TextFormat, Qt.TextInteractionFlag
        self._label.setTextFormat(form.RichText if links else form.PlainText)
        reading = flags.TextSelectableByMouse
        self._label.setTextInteractionFlags(flags.TextBrowserInteraction if links else reading)
        follow_links(self._label)

    def hasHeightForWidth(self) -> bool:
        """Return True: narrower text is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the text, wrapped at a width."""
        if width not in self._heights:
            self._heights[width] = self._label.heightForWidth(width)
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with other letters."""
        self._heights.clear()
        self._measured = (0, 0)
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        """Return the size the label would like."""
        return self._label.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(NARROWEST, self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the label all the room."""
        self._label.setGeometry(self.rect())
        super().resizeEvent(event)
        if self.heightForWidth(self.width()) > self.height():
            self.updateGeometry()  # the layout remembers heights of texts of before


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
