"""Factories for labels, tool buttons and texts with links to errata; announcements of texts.

Qt's Python stubs do not know the properties set here as constructor arguments.
"""

import html

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QVBoxLayout, QWidget

from explorer.studies.errata import LABEL, explain_labels


def plain_label(
    text: str = "", parent: QWidget | None = None, *, word_wrap: bool = False
) -> QLabel:
    """Return a label that shows text literally; by default Qt renders ``<h1>`` as HTML."""
    return QLabel(text, parent, wordWrap=word_wrap, textFormat=Qt.TextFormat.PlainText)


def plain_tip(text: str) -> str:
    """Return a tooltip that shows text literally."""
    if "<" not in text:
        return text
    return f"<p>{html.escape(text)}</p>".replace("\n", "<br>")


def styled_label(name: str, text: str = "", *, word_wrap: bool = False) -> QLabel:
    """Return a plain label with an object name for the style sheet."""
    label = plain_label(text, word_wrap=word_wrap)
    label.setObjectName(name)
    return label


def tool_button(
    text: str,
    tip: str = "",
    name: str = "",
    *,
    quiet: bool = False,
    link: bool = False,
    checkable: bool = False,
) -> QToolButton:
    """Return a tool button; `name` is for screen readers.

    `quiet` means no frame, `link` the colour of links, too.
    """
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(name)
    button.setProperty("quiet", quiet or link)
    if link:
        button.setObjectName("link")
    button.setCheckable(checkable)
    return button


def card(content: QWidget, margin: int = 1) -> QFrame:
    """Return a frame with rounded corners around a widget; `margin` in pixels."""
    frame = QFrame()
    frame.setObjectName("card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(margin, margin, margin, margin)
    column.addWidget(content)
    return frame


SCHEME = "errata"


def link_labels(text: str) -> str:
    """Convert plain text to HTML in which errata labels are links."""
    return LABEL.sub(rf"<a href='{SCHEME}:\1'>\1</a>", html.escape(text))


def has_labels(text: str) -> bool:
    """Whether a text contains an erratum's label."""
    return LABEL.search(text) is not None


def with_titles(text: str) -> str:
    """Append the titles of errata to a tool tip, where links cannot be used."""
    return "\n".join(filter(None, (text, explain_labels(text))))


def follow_links(label: QLabel) -> None:
    """Enable the links of a label for mouse and keyboard."""
    label.setOpenExternalLinks(True)  # passed to the handler of the scheme, `dialogs.errata`


ANNOUNCE_MS = 700
"""Delay after the last change, in milliseconds."""


class Announcer(QTimer):
    """Announces the latest text about a widget to screen readers, if it is visible.

    Signals
    -------
    message(str)
        The announced text.
    """

    message = Signal(str)

    def __init__(self, about: QWidget) -> None:
        super().__init__(about, singleShot=True)
        self._about = about
        self._words = ""
        self.timeout.connect(self._say)

    def say(self, words: str, after_ms: int = ANNOUNCE_MS) -> None:
        """Announce a text after a delay; a newer text replaces it."""
        self._words = words
        self.start(after_ms)

    def _say(self) -> None:
        if self._about.isVisible() and self._words:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._about, self._words))
            self.message.emit(self._words)
