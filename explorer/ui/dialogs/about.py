"""About, glossary, and keyboard and mouse help."""

import html

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer import __author__, __licence__, __version__
from explorer.studies.glossary import TERMS

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
            ("Ctrl+G", "what is promised; in a narrow window over the plot, and away again"),
            ("F6, Shift+F6", "next pane, pane before: parameters, plot, curves, guarantee"),
            ("Ctrl+K", "find a question, figure, parameter, command or word; eps0 = 2 sets it"),
            ("Esc", "stop what runs"),
            ("F1, ?", "about the question in front, this list"),
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
            ("1e-8, 10^-8, 1,000,000", "are all understood"),
            ("Enter, Esc", "take the value, give it up"),
            ("↑ ↓", "one step of the slider"),
        ),
    ),
    (
        "Plot",
        (
            ("← →, with Shift finer", "move the line at the slider"),
            ("↑ ↓, Esc", "choose a curve, drawn bold and read out, or none"),
            ("X, Y", "menu of the axis: what is on it, logarithmic or not, range"),
            ("drag, wheel, Ctrl+arrows, + −", "pan and zoom; the right button scales one axis"),
            ("double-click, 0", "show the whole again"),
            ("drag the vertical line", "is the slider of the parameter on the x axis"),
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
            ("← →, Space", "fold and unfold a group of parameters"),
            ("Ctrl+C, menu key", "copy the table or what is selected; as Markdown, LaTeX or CSV"),
        ),
    ),
    ("Comparison", (("Alt+↑, Alt+↓, Delete", "move the selected rows, remove them"),)),
    (
        "Map",
        (
            ("drag, wheel, arrows, + −", "pan and zoom all panes together"),
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
        "Words",
        "".join(
            f"<p><a name='{term.key}'></a><b>{term.name}</b>: {html.escape(term.means)}</p>"
            for term in TERMS.values()
        ),
    )
    words.setMinimumHeight(420)
    dialog = _around("Words", words, parent)
    if key:
        words.scrollToAnchor(key)
    return dialog


def _page(name: str, text: str) -> QTextBrowser:
    page = QTextBrowser()
    page.setAccessibleName(name)
    page.setHtml(text)
    return page


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
    dialog.setMinimumWidth(620)
    dialog.adjustSize()
    return dialog
