"""Labels whose text may change often without a new layout of the window."""

import bisect

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import (
    QEnterEvent,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.ui.base.styled import follow_links, has_labels, link_labels

MIN_WIDTH_PX = 40
_HIGHEST = 16_777_215


class SelectableLabel(QLabel):
    """Plain label whose text can be selected while the pointer is over it.

    One that is always selectable has a document, which takes ten times as long to measure and is
    painted twice, since it asks to be painted again once it is laid out.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Let the text be selected."""
        self._use(Qt.TextInteractionFlag.TextSelectableByMouse)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Let the text be painted fast again, unless some of it is selected."""
        if not self.hasSelectedText():
            self._use(Qt.TextInteractionFlag.NoTextInteraction)
        super().leaveEvent(event)

    def _use(self, flags: Qt.TextInteractionFlag) -> None:
        if self.textFormat() == Qt.TextFormat.PlainText:
            self.setTextInteractionFlags(flags)


class FixedSizeText(QWidget):
    """Wrapped label that requests a new layout only when its height changes.

    Errata labels in the text are links.

    A `QLabel` requests a new layout for each text; a panel of ten then costs 3 ms for every value
    of a moving slider.

    Parameters
    ----------
    name : str
        Object name of the inner label, for the style sheet.
    parent : QWidget, optional
    lines : int
        Number of lines that it always takes; longer texts are cut at a word, whole in the tool tip.
        0 for as many as the text needs.
    """

    def __init__(self, name: str = "", parent: QWidget | None = None, *, lines: int = 0) -> None:
        super().__init__(parent)
        self._lines = lines
        self._least = 0
        self._count = 0
        """Words of the last text that was cut."""
        self._text = ""
        self._heights: dict[int, int] = {}
        """Heights by width: a layout asks several times, at 0.5 ms each."""
        self._measured = (0, 0)
        """Last width, and the text height by font metrics."""
        self._label = SelectableLabel(self)
        self._label.setWordWrap(True)
        self._label.setObjectName(name)
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
        if self._lines:
            self._clamp()
            return
        links = has_labels(text)
        if links != (self._label.textFormat() == Qt.TextFormat.RichText):
            self._set_links(links)
        self._label.setText(link_labels(text).replace("\n", "<br>") if links else text)
        if links or self._height_moved():
            self._heights.clear()
            if self.heightForWidth(self.width()) != self.height():
                self.updateGeometry()

    def set_least_lines(self, lines: int) -> None:
        """Set the number of lines that the widget takes even if its text needs fewer."""
        if lines != self._least:
            self._least = lines
            self._heights.clear()
            self.updateGeometry()

    def _clamp(self) -> None:
        """Show as many words as the lines hold."""
        metrics, space = self._label.fontMetrics(), QRect(0, 0, max(self.width(), 1), _HIGHEST)
        most = self._lines * (metrics.lineSpacing() + 1)  # a line is rounded up

        def overflows(text: str) -> bool:
            return metrics.boundingRect(space, Qt.TextFlag.TextWordWrap, text).height() > most

        shown = self._text
        if overflows(shown):
            words = shown.split(" ")

            def cut_after(count: int) -> bool:
                return overflows(" ".join(words[: count + 1]) + " …")

            # A new number rarely changes how many words there is room for.
            count = min(self._count, len(words))
            if (count and cut_after(count - 1)) or not cut_after(count):
                count = bisect.bisect_left(range(len(words)), True, key=cut_after)
            self._count = count
            shown = " ".join(words[:count]) + " …"
        self._label.setText(shown)
        self._label.setToolTip(self._text if shown != self._text else "")

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
        plain = flags.NoTextInteraction
        self._label.setTextInteractionFlags(flags.TextBrowserInteraction if links else plain)
        follow_links(self._label)

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped text at a width."""
        if self._lines:
            return self._lines * (self._label.fontMetrics().lineSpacing() + 1)
        if width not in self._heights:
            least = self._least * self._label.fontMetrics().lineSpacing()
            self._heights[width] = max(self._label.heightForWidth(width), least)
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with another font."""
        self._heights.clear()
        self._measured = (0, 0)
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        """Return the label's preferred size."""
        if self._lines:
            return QSize(8 * MIN_WIDTH_PX, self.heightForWidth(0))
        return self._label.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        height = self.heightForWidth(0) if self._lines else self.fontMetrics().height()
        return QSize(MIN_WIDTH_PX, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Resize the label."""
        self._label.setGeometry(self.rect())
        super().resizeEvent(event)
        if self._lines:
            self._clamp()
            return
        if self.heightForWidth(self.width()) > self.height():
            self.updateGeometry()  # the layout caches heights of former texts


class FixedSizeLabel(QWidget):
    """Single-line label whose size never depends on its text; long texts are elided.

    With `smallest` below 1 they are written smaller first, down to that share of the font's size.

    A `QLabel` requests a new layout for each text; a whole workspace would then be laid out and
    painted sixty times a second during a drag.
    """

    def __init__(
        self,
        text: str = "",
        alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        smallest: float = 1.0,
    ) -> None:
        super().__init__()
        self._smallest = smallest
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
        painter = QPainter(self)  # uses the widget's colour and font
        needed = self.fontMetrics().horizontalAdvance(text) if self._smallest < 1 else 0
        if needed > width:
            font = smaller_font(self.font(), text, width, self._smallest)
            painter.setFont(font)
            if _width_at(1.0, font, text) <= width:
                self._fitting = (text, width, text)
        if self._fitting[:2] != (text, width):
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
            self._fitting = (text, width, shown)
        alignment = Qt.AlignmentFlag.AlignVCenter | self._alignment
        painter.drawText(self.rect(), alignment, self._fitting[2])

    def changeEvent(self, event: QEvent) -> None:
        """Measure again with another font."""
        self._fitting = ("", 0, "")
        super().changeEvent(event)


def smaller_font(font: QFont, text: str, width: int, smallest: float) -> QFont:
    """Return a font in which a text is at most so wide, down to a share of its size."""
    found = QFont(font)
    share = min(width / max(QFontMetrics(font).horizontalAdvance(text), 1), 1.0)
    while share > smallest and _width_at(share, font, text) > width:
        share -= 0.02  # glyphs have whole pixels: widths are not proportional to sizes
    found.setPointSizeF(font.pointSizeF() * max(share, smallest))
    return found


def _width_at(share: float, font: QFont, text: str) -> int:
    """Return the width of a text in pixels at a share of the font's size."""
    smaller = QFont(font)
    smaller.setPointSizeF(font.pointSizeF() * share)
    return QFontMetrics(smaller).horizontalAdvance(text)
