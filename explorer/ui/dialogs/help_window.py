"""Help windows: the page of a study with formulas and sources, and the user guide."""

import logging

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QImage,
    QPalette,
    QTextCursor,
    QTextDocument,
)
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

from explorer.engine.executors.base import Executor
from explorer.engine.session.session import Session, SessionState
from explorer.figures.picture import FormulaPicture, formula_pictures
from explorer.resources import resource_bytes
from explorer.studies.base.help_page import Formula
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Parameter, Study
from explorer.studies.registry import get_study
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import link_labels
from explorer.ui.base.theme import Theme

log = logging.getLogger("explorer")


class HelpWindow(QDialog):
    """Window that follows the current study; opened with F1.

    Text is shown at once; formulas are rendered by the worker process, the only one that imports
    the renderer.
    """

    def __init__(self, session: Session, worker: Executor, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("study-page")
        self._session, self._worker, self._theme = session, worker, theme
        self._drawn: dict[tuple[str, str], tuple[FormulaPicture, ...]] = {}
        self._as_typed = False
        self._closed = False
        self.text = QTextBrowser(openExternalLinks=False)
        self.text.setOpenLinks(False)
        self.text.anchorClicked.connect(QDesktopServices.openUrl)
        self.text.setAccessibleName("About this question")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 10)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
        self.resize(720, 680)
        self._job = LatestJob("formulas", self)
        self._job.done.connect(self._formulas_ready)
        self._job.failed.connect(self._formulas_failed)
        session.changed.connect(self._state_changed)
        theme.changed.connect(self.refresh)

    def open_page(self) -> None:
        """Show the page of the current study."""
        self.show()
        self.raise_()
        self.activateWindow()
        self.refresh()
        self.text.setFocus()

    def end(self) -> None:
        """Disconnect and wait for the thread."""
        if not self._closed:
            self._closed = True
            self._session.changed.disconnect(self._state_changed)
            self._job.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide; the page is kept."""
        event.accept()

    def refresh(self) -> None:
        """Write the page of the current study."""
        if not self.isVisible() or self._closed:
            return
        study = get_study(self._session.state.study)
        self.setWindowTitle(f"{study.name} – about this question")
        page = study.page
        colour = self.palette().color(QPalette.ColorRole.Text).name()
        key = (study.id, colour)
        pictures = self._drawn.get(key, ())
        self.text.document().setDefaultStyleSheet(_STYLE.format(text=colour))
        for place, picture in enumerate(pictures):
            image = QImage.fromData(picture.png)
            image.setDevicePixelRatio(image.width() / picture.width)
            self.text.document().addResource(
                QTextDocument.ResourceType.ImageResource, QUrl(f"formula:{place}"), image
            )
        self.text.setHtml(page_html(study, pictures, self._as_typed))
        if page is not None and page.formulas and not pictures:
            wanted = tuple(f.latex for f in page.formulas)
            self._job.submit(
                key,
                lambda task: self._worker.call(formula_pictures, (wanted, colour), task.check),
            )

    def _formulas_ready(self, key: tuple[str, str], pictures: tuple[FormulaPicture, ...]) -> None:
        self._drawn[key] = pictures
        place = self.text.verticalScrollBar().value()
        self.refresh()
        self.text.verticalScrollBar().setValue(place)

    def _formulas_failed(self, _key: object, error: Exception) -> None:
        log.warning("formulas not drawn: %s", error)
        self._as_typed = True
        self.text.setHtml(page_html(get_study(self._session.state.study), (), True))

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            self.refresh()


_STYLE = """
h2 {{ margin-bottom: 2px; }} h3 {{ margin-top: 16px; margin-bottom: 4px; }}
p {{ margin-top: 4px; margin-bottom: 6px; line-height: 125%; }}
li {{ margin-bottom: 5px; line-height: 125%; }} td {{ padding: 2px 12px 2px 0; }}
"""


def page_html(
    study: Study, pictures: tuple[FormulaPicture, ...] = (), as_typed: bool = False
) -> str:
    """Return a study's page as HTML; formulas without a picture are shown as typed."""
    page = study.page
    parts = [f"<h2>{link_labels(study.name)}</h2><p><i>{link_labels(study.question)}</i></p>"]
    if page is not None:
        parts += [f"<p>{link_labels(p)}</p>" for p in page.what]
        parts.append("<h3>What is assumed</h3>" + _list(page.assumptions))
        parts.append("<h3>Formulas</h3>")
        parts += [_formula(f, i, pictures, as_typed) for i, f in enumerate(page.formulas)]
    parts.append("<h3>Parameters</h3>")
    parts.append("<table>" + "".join(map(_parameter, study.parameters)) + "</table>")
    if page is not None and page.errata:
        parts.append("<h3>Where we differ from what is printed</h3>")
        parts += [f"<p>{link_labels(p)}</p>" for p in page.errata]
    if study.presets:
        parts.append("<h3>Presets</h3>")
        for item in study.presets:
            text = [item.about]
            text += [f"Paper: {item.published}"] * bool(item.published)
            text += [f"Here: {item.computed}"] * bool(item.computed)
            words = "<br>".join(link_labels(t) for t in text)
            parts.append(f"<p><b>{link_labels(item.name)}</b><br>{words}</p>")
    sources = page.sources if page is not None else study.references
    parts.append("<h3>Sources</h3>" + _list(tuple(dict.fromkeys(map(str, sources)))))
    return "".join(parts)


def _list(items: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{link_labels(item)}</li>" for item in items) + "</ul>"


def _formula(
    formula: Formula, place: int, pictures: tuple[FormulaPicture, ...], as_typed: bool
) -> str:
    if place < len(pictures):
        size = pictures[place]
        shown = f"<img src='formula:{place}' width='{size.width:.0f}' height='{size.height:.0f}'>"
    elif as_typed:
        shown = f"<code>{link_labels(formula.latex)}</code>"
    else:
        shown = "<i>is being drawn…</i>"
    return f"<p>{link_labels(formula.caption)}<br>{shown}</p>"


def _parameter(p: Parameter) -> str:
    domain = ""
    if p.numeric and not p.axis_only:
        unit = f" {p.unit}" if p.unit else ""
        domain = f"{format_number(p.low)} … {format_number(p.high)}{unit}"
    name = f"{p.symbol}, {p.name}" if p.symbol and p.symbol != p.name else p.name
    first, second, third = (link_labels(text) for text in (name, domain, p.help))
    return f"<tr><td><b>{first}</b></td><td>{second}</td><td>{third}</td></tr>"


PAGES = (
    "quick-start",
    "tour",
    "map",
    "curves",
    "files",
    "releases",
    "command-line",
    "cluster",
    "worst-case",
    "papers",
    "numbers",
)
"""Names of the pages in reading order; each is the file ``guide/NAME.md`` of the resources."""
PICTURE_WIDTH = 640
"""Width of a picture in a page, in device-independent pixels."""


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


class _GuideText(QTextBrowser):
    """Text of a page; reads its pictures from the resources."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return a picture of the guide, or what Qt finds."""
        picture = QUrl(name).path()
        if kind != QTextDocument.ResourceType.ImageResource.value or not picture:
            return super().loadResource(kind, name)
        image = QImage.fromData(resource_bytes(f"guide/{picture}"))
        image.setDevicePixelRatio(image.width() / PICTURE_WIDTH)
        return image


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
        self.text = _GuideText()
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
