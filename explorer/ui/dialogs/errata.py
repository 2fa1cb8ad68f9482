"""Errata window, opened from the menu or by a link to an entry."""

from __future__ import annotations

import html
import re
from typing import ClassVar

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QPalette, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer.studies.errata import Erratum, errata, text
from explorer.ui.base.styled import SCHEME, link_labels

_STYLE = """
h2 {{ margin-top: 20px; }} h3 {{ margin-top: 16px; margin-bottom: 3px; }}
p {{ margin-top: 2px; margin-bottom: 4px; line-height: 125%; }} td {{ padding: 2px 10px 2px 0; }}
body, h2, h3, p {{ color: {text}; }}
"""


class ErrataPage(QDialog):
    """Errata window; built on first use."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("errata-page")
        self.setWindowTitle("Errata of the papers")
        self.search = QLineEdit(placeholderText="Search: a label, a theorem, a word")
        self.search.setAccessibleName("Search the errata")
        self.text = QTextBrowser()
        self.text.setOpenLinks(False)
        self.text.setAccessibleName("Errata of the papers")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 10)
        layout.addWidget(self.search)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
        self.resize(720, 680)
        self.search.textChanged.connect(self._write)
        self.text.anchorClicked.connect(lambda url: self.show_entry(url.path()))
        self._write()

    def open_page(self, label: str = "") -> None:
        """Show the page, optionally at an entry."""
        self._write()  # in the current theme's colours
        self.show()
        self.raise_()
        self.activateWindow()
        if label:
            self.show_entry(label)
        self.text.setFocus()

    def show_entry(self, label: str) -> None:
        """Scroll to an entry."""
        self.search.clear()
        self.text.scrollToAnchor(label)
        at = self.text.document().find(f"{label} ·")
        if not at.isNull():
            at.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            self.text.setTextCursor(at)
            self.text.scrollToAnchor(label)

    def _write(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.Text).name()
        self.text.document().setDefaultStyleSheet(_STYLE.format(text=colour))
        self.text.setHtml(page_html(self.search.text()))


def page_html(wanted: str = "") -> str:
    """Return the page as HTML: all entries, or those that contain every word."""
    words = wanted.lower().split()
    if not words:
        head, _, _ = text().partition("\n## ")
        return _head(head) + "".join(_papers())
    matching = [e for e in errata().values() if all(w in _plain(e).lower() for w in words)]
    count = f"<p>{len(matching)} of {len(errata())} entries</p>"
    return count + "".join(map(_entry, matching))


def _head(source: str) -> str:
    """Parse introduction, paragraphs and table of our Markdown subset."""
    parts = []
    for block in source.strip().split("\n\n"):
        if block.startswith("# "):
            parts.append(f"<h2>{html.escape(block[2:])}</h2>")
        elif block.startswith("|"):
            rows = [row.strip("|").split("|") for row in block.splitlines()]
            cells = (
                "".join(f"<td>{_inline(cell.strip())}</td>" for cell in row)
                for row in (rows[0], *rows[2:])
            )
            parts.append("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
        else:
            parts.append(f"<p>{_inline(' '.join(block.split()))}</p>")
    return "".join(parts)


def _papers() -> list[str]:
    """Return papers, introductions and their entries."""
    parts = []
    sections = re.split(r"^## ", text(), flags=re.MULTILINE)[1:]
    for section in sections:
        name, _, rest = section.partition("\n")
        intro = rest.partition("### ")[0].strip()
        parts.append(
            f"<h2>{html.escape(name)}</h2>" + (f"<p>{_inline(intro)}</p>" if intro else "")
        )
        stem = name.partition(":")[0]
        parts += [_entry(e) for e in errata().values() if e.label.startswith(f"{stem}-")]
    return parts


def _inline(source: str) -> str:
    """Convert code and emphasis of one line of Markdown to HTML."""
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(source))
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", shown)


def _entry(item: Erratum) -> str:
    return (
        f"<h3><a name='{item.label}'></a>{item.label} · {html.escape(item.title)}</h3>"
        f"<p><b>Printed:</b> {link_labels(item.printed)}</p>"
        f"<p><b>Right:</b> {link_labels(item.right)}</p>"
        f"<p><b>Why:</b> {link_labels(item.why)}</p>"
    )


def _plain(item: Erratum) -> str:
    return " ".join((item.label, item.title, item.printed, item.right, item.why))


class Errata(QObject):
    """Opens the errata page of a window; built on first use.

    Any text of the window may link to entries. Qt passes such links to the handler registered for
    their scheme, which is that of the window opened last.
    """

    _followed: ClassVar[Errata | None] = None

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.page: ErrataPage | None = None
        # The stubs expect bytes; PySide accepts a method's name as text only.
        QDesktopServices.setUrlHandler(SCHEME, self, "follow")  # type: ignore[arg-type]
        Errata._followed = self

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Show the entry of a link."""
        self.open(url.path())

    def open(self, label: str = "") -> None:
        """Show the page, optionally at an entry."""
        if self.page is None:
            self.page = ErrataPage(self._window)
        self.page.open_page(label)

    def close(self) -> None:
        """Unregister the link handler."""
        if Errata._followed is self:
            QDesktopServices.unsetUrlHandler(SCHEME)
            Errata._followed = None
