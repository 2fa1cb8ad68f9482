"""Window that shows the pages of the user guide."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer.resources import resource_bytes

PAGES = (
    "quick-start",
    "map",
    "curves",
    "files",
    "releases",
    "command-line",
    "cluster",
    "numbers",
)
"""Names of the pages in reading order; each is the file ``guide/NAME.md`` of the resources."""


def page_text(name: str) -> str:
    """Return a page of the user guide as Markdown.

    Raises
    ------
    KeyError
        If there is no page of that name.
    """
    if name not in PAGES:
        raise KeyError(name)
    return resource_bytes(f"guide/{name}.md").decode("utf-8")


class UserGuide(QDialog):
    """List of the guide's pages beside the text of the current one.

    Links between pages open the page here; links to the web open in the user's browser.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("user-guide")
        self.setWindowTitle("User guide")
        self.pages = QListWidget()
        self.pages.setAccessibleName("Pages")
        self.text = QTextBrowser()
        self.text.setOpenLinks(False)
        self.text.setAccessibleName("User guide")
        for name in PAGES:
            title = page_text(name).partition("\n")[0].removeprefix("# ")
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.pages.addItem(item)
        self.pages.setFixedWidth(self.pages.sizeHintForColumn(0) + 40)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        columns = QHBoxLayout()
        columns.addWidget(self.pages)
        columns.addWidget(self.text, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 10)
        layout.addLayout(columns)
        layout.addWidget(buttons)
        self.resize(900, 680)
        self.pages.currentItemChanged.connect(self._write)
        self.text.anchorClicked.connect(self._follow)
        self.pages.setCurrentRow(0)

    def open_page(self, name: str = "") -> None:
        """Show the window, at a page if one is named."""
        if name:
            self.pages.setCurrentRow(PAGES.index(name))
        self._write()  # the theme's colours may have changed
        self.show()
        self.raise_()
        self.activateWindow()
        self.text.setFocus()

    def _write(self, *_: object) -> None:
        name = self.pages.currentItem().data(Qt.ItemDataRole.UserRole)
        dialect = QTextDocument.MarkdownFeature.MarkdownDialectGitHub
        self.text.document().setMarkdown(page_text(name), dialect)
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def _follow(self, url: QUrl) -> None:
        name = url.path().removesuffix(".md")
        if not url.scheme() and name in PAGES:
            self.open_page(name)
        elif url.scheme() == "https":
            QDesktopServices.openUrl(url)
