"""Start page: questions by topic, and start options."""

import html
import json
from collections.abc import Iterable
from functools import partial
from itertools import groupby

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QCursor,
    QDesktopServices,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTransform,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from explorer.resources import resource_bytes
from explorer.studies.catalog import START_OPTIONS, StartOption
from explorer.studies.glossary import TERMS, mark_terms
from explorer.studies.registry import StudyInfo, study_infos
from explorer.ui.base.styled import plain_tip, styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.widgets.boxes import CheckBox

SCHEME = "term"
TIP_WIDTH = 360
"""Width of a tool tip in device-independent pixels."""
_MARK = f"<a href='{SCHEME}:{{key}}' style='color:palette(text)'>{{word}}</a>"


def term_tip(key: str) -> str:
    """Return the tool tip of a glossary term as rich text, at most `TIP_WIDTH` wide."""
    term = TERMS[key]
    words = f"<b>{html.escape(term.name, False)}</b>: {html.escape(term.means, False)}"
    return f"<table width='{TIP_WIDTH - 30}'><tr><td>{words}</td></tr></table>"


def show_glossed(label: QLabel, rich: str) -> None:
    """Show rich text in a label; the first occurrence of each glossary term gets a tool tip.

    Other links stay and are opened by `QDesktopServices`.
    """
    label.setText(mark_terms(rich, _MARK))
    if not label.property("glossed"):
        label.setProperty("glossed", True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        label.setOpenExternalLinks(False)
        label.linkHovered.connect(partial(_show_hover, label))
        label.linkActivated.connect(partial(_follow_link, label))
    label.sizeHint()  # the document is created when the text is first measured
    for document in label.findChildren(QTextDocument):
        _dot(document)


def _show_hover(label: QWidget, address: str) -> None:
    scheme, _, key = address.partition(":")
    if scheme == SCHEME and key in TERMS:
        QToolTip.showText(QCursor.pos(), term_tip(key), label)
    else:
        QToolTip.hideText()


def _follow_link(label: QWidget, address: str) -> None:
    """Show a term's explanation, below the text if the pointer is elsewhere; open other links."""
    scheme, _, key = address.partition(":")
    if scheme != SCHEME:
        QDesktopServices.openUrl(QUrl(address))
    elif key in TERMS:
        at = QCursor.pos()
        if not label.rect().contains(label.mapFromGlobal(at)):
            at = label.mapToGlobal(QPoint(0, label.height()))
        QToolTip.showText(at, term_tip(key), label)


def _dot(document: QTextDocument) -> None:
    """Dot the underlines of terms, which HTML cannot express."""
    dotted = QTextCharFormat()
    dotted.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    block = document.begin()
    while block.isValid():
        pieces = block.begin()
        while not pieces.atEnd():
            piece = pieces.fragment()
            if piece.charFormat().anchorHref().startswith(f"{SCHEME}:"):
                cursor = QTextCursor(document)
                cursor.setPosition(piece.position())
                cursor.setPosition(
                    piece.position() + piece.length(), QTextCursor.MoveMode.KeepAnchor
                )
                cursor.mergeCharFormat(dotted)
            pieces += 1
        block = block.next()


MAX_PAGE_WIDTH = 1240
MIN_VISIT_WIDTH = 120
PICTURE = (150, 86)
FAR = 10_000
"""Position beyond every edge of the page."""
GO_ON = 2
"""Maximum number of recent studies listed."""
_STEPS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class _Picture(QWidget):
    """Small picture of a map or curves for a start option, from the study's defaults."""

    def __init__(self, name: str, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(*PICTURE)
        raw = resource_bytes(name)
        self._map, self._curves = QPixmap(), []
        if name.endswith(".png"):
            self._map.loadFromData(raw)
        else:
            self._curves = [QPolygonF([QPointF(x, y) for x, y in c]) for c in json.loads(raw)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it in the colours of plots."""
        painter, colours = QPainter(self), self._theme.plot
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._curves:
            inner = QRectF(self.rect()).adjusted(6, 5, -5, -5)
            painter.fillRect(inner, QColor(colours.axes))
            painter.setPen(QPen(QColor(colours.frame), 1.5))
            painter.drawPolyline([inner.topLeft(), inner.bottomLeft(), inner.bottomRight()])
            inner.adjust(2, 4, -2, -2)
            place = QTransform(inner.width(), 0, 0, -inner.height(), inner.x(), inner.bottom())
            for curve, colour in zip(self._curves, colours.curves, strict=False):
                painter.setPen(QPen(QColor(colour), 1.6))
                painter.drawPolyline(place.map(curve))
        else:
            painter.drawPixmap(self.rect(), self._map)


class _VisitButton(QPushButton):
    """Button whose text gives way to the width; the whole text is in the tool tip."""

    def __init__(self, words: str) -> None:
        super().__init__(autoDefault=False)
        self._words = words
        self.setAccessibleName(words)
        self.setToolTip(plain_tip(words))
        self.setText(words.replace("&", "&&"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size of the whole text."""
        hint, metrics = super().sizeHint(), self.fontMetrics()
        shown = metrics.horizontalAdvance(self.text().replace("&&", "&"))
        return QSize(hint.width() - shown + metrics.horizontalAdvance(self._words), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the size of a few letters."""
        hint = self.sizeHint()
        return QSize(min(MIN_VISIT_WIDTH, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the text to the width, at its end."""
        super().resizeEvent(event)
        metrics = self.fontMetrics()
        lacking = self.sizeHint().width() - self.width()
        space = metrics.horizontalAdvance(self._words) - max(lacking, 0)
        shown = metrics.elidedText(self._words, Qt.TextElideMode.ElideRight, space + 1)
        self.setText(shown.replace("&", "&&"))


class StartPage(QScrollArea):
    """Start options, recent work and all questions; built from the catalog, without any study.

    Parameters
    ----------
    theme : Theme
    at_start : bool
        Whether the check box is checked.

    Signals
    -------
    asked(str)
        ``open``, ``sample``, ``recipe``, ``figures``, ``tour``, ``file:PATH``, ``study:ID`` or
        ``study:ID/PARAMETER``.
    ticked(bool)
        Whether the page should be shown at start.
    """

    asked = Signal(str)
    ticked = Signal(bool)

    def __init__(self, theme: Theme, at_start: bool) -> None:
        super().__init__(widgetResizable=True)
        self.setObjectName("start")
        self.setAccessibleName("All questions")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._theme = theme
        self._abouts: list[tuple[QLabel, str]] = []
        self._walked: list[QWidget] = []
        self._past = QWidget()
        self._row = QHBoxLayout(self._past)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons take the focus, and scroll it
        self._page = QWidget()
        around = QHBoxLayout(self._page)
        around.addStretch(1)
        body = QWidget()
        body.setMaximumWidth(MAX_PAGE_WIDTH)
        around.addWidget(body, 100)
        around.addStretch(1)
        column = QVBoxLayout(body)
        column.setContentsMargins(28, 8, 28, 8)
        column.setSpacing(10)
        column.addLayout(self._head(at_start))
        row = QHBoxLayout()
        row.setSpacing(16)
        self._doors = [self._option(option) for option in START_OPTIONS]
        for door in self._doors:
            row.addWidget(door, 1)
        column.addLayout(row)
        column.addWidget(self._past)
        self._list = self._questions()
        column.addWidget(self._list, 1)
        self.setWidget(self._page)
        theme.changed.connect(self._write)
        self._write()

    @property
    def first(self) -> QWidget:
        """Initial focus: the button of the first start option."""
        return next(w for w in self._walked if w.objectName() == "door")

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return start options, recent work and questions, in the order of Tab."""
        return (*self._doors, self._past, self._list, self)

    def show_past(
        self, states: Iterable[tuple[str, str]], files: Iterable[tuple[str, str]]
    ) -> None:
        """Show recent studies and files as pairs of action and text."""
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                if widget in self._walked:
                    self._walked.remove(widget)
                widget.deleteLater()
        self._row.addWidget(QLabel("<b>Continue with</b>", textFormat=Qt.TextFormat.RichText))
        for action, words in (*list(states)[:GO_ON], *list(files)[:1]):
            visit = _VisitButton(words)
            visit.clicked.connect(partial(self.asked.emit, action))
            self._walk_to(visit)
            self._row.addWidget(visit)
        self._row.addWidget(self._button("Open recipe…", "recipe", "link"))
        self._row.addStretch(1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the focus with the arrow keys to the nearest widget in that direction."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = _STEPS.get(Qt.Key(event.key()))
            if step is not None and isinstance(watched, QWidget):
                self._walk(watched, *step)
                return True
        return super().eventFilter(watched, event)

    def _walk(self, start: QWidget, right: int, down: int) -> None:
        here = self._place(start)

        def cost(other: QWidget) -> tuple[bool, float]:
            """Return whether it is out of line, and its distance; infinite if not reachable."""
            there = self._place(other)
            way = there.center() - here.center()
            ahead = way.x() * right + way.y() * down
            line = here.adjusted(
                -FAR * abs(right), -FAR * abs(down), FAR * abs(right), FAR * abs(down)
            )
            across = abs(way.x() * down) + abs(way.y() * right)
            aside = not line.intersects(there)
            reached = ahead > 0 and other.isVisible() and not (aside and right)
            return aside, ahead + 2 * across if reached else float("inf")

        nearest = min(
            (w for w in self._walked if cost(w)[1] < float("inf")), key=cost, default=None
        )
        if nearest is not None:
            nearest.setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(nearest)

    def _place(self, widget: QWidget) -> QRect:
        return QRect(widget.mapTo(self._page, QPoint(0, 0)), widget.size())

    def _button(self, words: str, action: str, name: str = "") -> QPushButton:
        """Return a button that emits an action."""
        button = QPushButton(words, autoDefault=name == "door")
        button.setObjectName(name)
        button.clicked.connect(lambda: self.asked.emit(action))
        self._walk_to(button)
        return button

    def _walk_to(self, widget: QWidget) -> None:
        widget.installEventFilter(self)
        self._walked.append(widget)

    def _head(self, at_start: bool) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(2)
        grid.addWidget(styled_label("title", "What do you want to know?"), 0, 0)
        words = "Nothing leaves this computer. Every change can be undone (Ctrl+Z), every result "
        grid.addWidget(styled_label("muted", words + "exported."), 1, 0)
        grid.addWidget(self._button("Take the tour, six steps", "tour", "link"), 0, 1, 2, 1)
        tick = CheckBox("Show this page at start")
        tick.setChecked(at_start)
        tick.toggled.connect(self.ticked)
        self._walk_to(tick)
        grid.addWidget(tick, 0, 2, 2, 1, Qt.AlignmentFlag.AlignRight)
        grid.setHorizontalSpacing(18)
        grid.setColumnStretch(0, 1)
        return grid

    def _option(self, option: StartOption) -> QFrame:
        frame = QFrame()
        frame.setObjectName("card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(18, 14, 18, 12)
        column.setSpacing(7)
        column.addWidget(_Picture(option.picture, self._theme))
        column.addWidget(styled_label("subtitle", option.title))
        about = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._abouts.append((about, option.about))
        about.setMinimumHeight(2 * about.fontMetrics().lineSpacing())
        column.addWidget(about, 1)
        column.addSpacing(14)
        main = self._button(option.button, option.does, "door")
        main.setAccessibleDescription(f"{option.title}. {option.about}")
        column.addWidget(main, 0, Qt.AlignmentFlag.AlignLeft)
        more = QHBoxLayout()
        more.addStrut(main.fontMetrics().height() + 4)  # the doors' buttons stand in one line
        if option.other:
            more.addWidget(self._button(option.other, option.other_does, "link"))
        if option.hint:
            more.addWidget(styled_label("faint", option.hint))
        more.addStretch(1)
        column.addLayout(more)
        return frame

    def _questions(self) -> QFrame:
        frame = QFrame()
        frame.setObjectName("card")
        grid = QGridLayout(frame)
        grid.setContentsMargins(18, 12, 18, 12)
        grid.setHorizontalSpacing(24)
        families = [(name, list(of)) for name, of in groupby(study_infos(), lambda c: c.family)]
        count = sum(len(of) for _, of in families)
        title = QLabel(f"<b>All {count} questions</b>", textFormat=Qt.TextFormat.RichText)
        grid.addWidget(title, 0, 0, 1, len(families))
        for place, (family, of) in enumerate(families):
            column = QVBoxLayout()
            column.setSpacing(1)
            column.addWidget(styled_label("muted", family))
            for info in of:
                column.addSpacing(4)
                self._question(info, column)
            column.addStretch(1)
            grid.addLayout(column, 1, place)
            grid.setColumnStretch(place, 1)
        grid.setRowStretch(1, 1)
        return frame

    def _question(self, info: StudyInfo, column: QVBoxLayout) -> None:
        button = self._button(info.name.replace("&", "&&"), f"study:{info.id}", "link")
        button.setAccessibleDescription(info.question)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(styled_label("question", info.question, word_wrap=True))

    def _write(self) -> None:
        """Write texts with colours of their own."""
        for label, words in self._abouts:
            show_glossed(label, html.escape(words, quote=False))


def apart(action: str) -> tuple[str, str, str]:
    """Return action, object and detail of ``study:ID/PARAMETER``."""
    kind, _, rest = action.partition(":")
    subject, _, part = rest.partition("/") if kind == "study" else (rest, "", "")
    return kind, subject, part
