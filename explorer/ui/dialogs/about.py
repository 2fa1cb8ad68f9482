"""Dialogs of the Help menu: about, glossary, keyboard and mouse, errata."""

from __future__ import annotations

import html
import re
from typing import ClassVar

from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QPalette, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer import __author__, __licence__, __version__
from explorer.studies.errata import Erratum, errata, text
from explorer.studies.glossary import TERMS
from explorer.ui.base.styled import SCHEME, link_labels

CREDITS = """
<h3>Privacy Explorer {version}</h3>
<p>See privacy trade-offs before you commit to them.<br>
© {authors}. {licence}: use, change and share it under the terms of <i>LICENSE</i>; it comes
without any warranty. How to cite it: <i>CITATION.cff</i>.</p>
<p>Differential privacy, local differential privacy, privacy accounting, shuffle model, metric
privacy, heatmap, visualization.</p>
<p><b>Map</b>: made with Natural Earth (public domain); borders between US states from the
United States Census Bureau (public domain); both by way of <i>world-atlas</i> and
<i>us-atlas</i>, © 2013–2019 Michael Bostock (ISC).<br>
<b>City names</b>: GeoNames, geonames.org, CC BY 4.0.<br>
<b>Digits to train on</b>: Alpaydin and Kaynak, <i>Optical recognition of handwritten digits</i>,
1998, UCI Machine Learning Repository, CC BY 4.0.<br>
<b>Curve colours</b>: Okabe and Ito, <i>Color universal design</i>.</p>
<p>Built on Qt for Python, pyqtgraph, NumPy, SciPy, DuckDB, CVXPY, Numba and Matplotlib.
The licences of map data and digits lie beside them in <i>LICENSES.md</i>.</p>
"""
KEYS = (
    (
        "Everywhere",
        (
            (
                "Ctrl+Z, Ctrl+Shift+Z",
                "undo, redo: parameters, axes, pins, comparison, region, seed",
            ),
            ("Ctrl+O, Ctrl+Shift+O", "open check-ins, open an exported file's recipe"),
            ("Ctrl+E, Ctrl+Shift+C, Ctrl+Alt+P", "export, copy the picture, print"),
            ("Ctrl+Shift+L", "copy the question as a link; Ctrl+K takes one"),
            ("Ctrl+1, Ctrl+2, …", "choose a tab, in the order of the bar"),
            ("Ctrl+G", "show the guarantee; in a narrow window over the plot, and hide it again"),
            ("F6, Shift+F6", "next pane, previous pane: parameters, plot, curves, guarantee"),
            ("Ctrl+K", "find a question, figure, parameter, command or term; eps0 = 2 sets it"),
            ("Esc", "cancel what the status bar names first; end the tour"),
            ("F1, ?", "about the current question, this list"),
        ),
    ),
    (
        "Sliders",
        (
            ("← →, Page, Home, End", "move; with Shift ten times finer"),
            ("wheel", "moves a focused slider only"),
        ),
    ),
    (
        "Typed values",
        (
            ("1e-8, 10^-8, 1,000,000", "are all accepted"),
            ("Enter, Esc", "accept the value, discard it"),
            ("↑ ↓", "one step of the slider"),
        ),
    ),
    (
        "Plot",
        (
            ("← →, with Shift finer", "move the line at the slider"),
            ("↑ ↓, Esc", "select a curve (drawn bold and read out), or none"),
            ("X, Y", "menu of the axis: quantity, scale, range"),
            ("drag, wheel, Ctrl+arrows, + −", "pan and zoom; the right button scales one axis"),
            ("double-click, 0", "show the whole range again"),
            ("drag the vertical line", "change the parameter on the x axis"),
            ("Ctrl+L", "solve for a target; drag the horizontal line to move it"),
            (
                "Ctrl+P, Ctrl+D",
                "pin the curves, add the numbers to the comparison (Shift: go there)",
            ),
        ),
    ),
    (
        "Curves below the plot",
        (
            ("click, Return", "draw the curve bold, or as the others"),
            ("double-click, S", "show it alone, or all again"),
            ("right click, menu key", "claim, hide, pin, copy value or source, add to Compare"),
        ),
    ),
    (
        "Headings and tables",
        (
            ("← →, Space", "collapse and expand a group of parameters"),
            ("Ctrl+C, menu key", "copy the table or what is selected; as Markdown, LaTeX or CSV"),
        ),
    ),
    ("Comparison", (("Alt+↑, Alt+↓, Delete", "move the selected rows, remove them"),)),
    (
        "Map",
        (
            ("drag, wheel, arrows, + −", "pan and zoom all panes together"),
            ("M", "measure a distance: click, or arrows and Enter; Backspace takes a point back"),
            ("P", "draw a polygon: click, or arrows and Enter; the first point closes it"),
            ("Ctrl+F", "find a town, or a position typed as lat, lon"),
            ("R, N, 0", "choose a region, draw new noise, show the whole region"),
        ),
    ),
)


def about_dialog(parent: QWidget) -> QDialog:
    """Return a dialog with version and credits."""
    text = CREDITS.format(version=__version__, authors=__author__, licence=__licence__)
    return _dialog("About Privacy Explorer", text, parent)


def keys_dialog(parent: QWidget) -> QDialog:
    """Return a dialog with keyboard and mouse commands."""
    rows = []
    for title, entries in KEYS:
        rows.append(f"<tr><td colspan='2'><b>{title}</b></td></tr>")
        rows += [
            f"<tr><td style='padding:1px 18px 1px 10px'>{keys}</td><td>{does}</td></tr>"
            for keys, does in entries
        ]
    words = _page("Keyboard and mouse", f"<table>{''.join(rows)}</table>")
    words.setMinimumHeight(520)  # the rest scrolls: dialogs fit 680 pixels
    return _around("Keyboard and mouse", words, parent)


def words_dialog(parent: QWidget, key: str = "") -> QDialog:
    """Return the glossary dialog, scrolled to a term."""
    words = _page(
        "Glossary",
        "".join(
            f"<p><a name='{term.key}'></a><b>{term.name}</b>: {html.escape(term.means)}</p>"
            for term in TERMS.values()
        ),
    )
    words.setMinimumHeight(420)
    dialog = _around("Glossary", words, parent)
    if key:
        words.scrollToAnchor(key)
    return dialog


def _page(name: str, text: str) -> QTextBrowser:
    page = QTextBrowser()
    page.setAccessibleName(name)
    page.setHtml(text)
    return page


WIDTH_PX = 620


def _dialog(title: str, text: str, parent: QWidget) -> QDialog:
    words = QLabel(text, wordWrap=True, textFormat=Qt.TextFormat.RichText)
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
    return _around(title, words, parent)


def _around(title: str, words: QWidget, parent: QWidget) -> QDialog:
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    layout = QVBoxLayout(dialog)
    layout.setContentsMargins(20, 16, 20, 14)
    layout.addWidget(words)
    layout.addWidget(buttons)
    dialog.setMinimumWidth(WIDTH_PX)
    high = layout.totalHeightForWidth(WIDTH_PX)  # -1 if it does not depend on the width
    dialog.resize(WIDTH_PX, max(high, layout.totalSizeHint().height()))
    return dialog


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
