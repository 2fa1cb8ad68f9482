"""Dialog that computes the figures of the heatmap paper anew, with the verdicts on what it says."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.compute_tasks import run_function
from explorer.engine.experiments import (
    FigureData,
    FigureQuery,
    Progress,
    figure_data,
    run_figure,
)
from explorer.figures.formats import Kind
from explorer.figures.pages.experiment import experiment_bytes
from explorer.files import write_whole
from explorer.studies.base.numbers import seconds_left
from explorer.studies.heatmap.experiments.figures import FIGURES, Figure
from explorer.studies.heatmap.experiments.report_curves import experiment_label, verdict_table
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label, plain_tip, styled_label
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.dialogs.export import ask_for_file
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.number_table import NumberTable

MAX_DRAWS, MAX_SEED = 100_000, 2**31 - 1
DPI = 96
"""Dots per inch of the picture on a screen without scaling."""
REDRAW_MS = 150
EMPTY = (
    "Run computes the figure. Finished trials are kept: a run that was cancelled goes on from "
    "there, here and with the command experiment."
)
LOOKING, DRAWING = "Looking at the data…", "Drawing…"
RUN, RUN_FEWER = "&Run", "&Run with fewer users"


def few_users_text(found: FigureData) -> str:
    """Return what a run does where places have fewer users than the figure takes; "" if none do."""
    if not found.short:
        return ""
    have = "has" if len(found.short) == 1 else "have"
    text = f"{len(found.short)} of {len(found.details)} places {have} fewer users than the figure "
    text += "takes. "
    if found.users:
        return f"{text}Run draws it up to {found.users[-1]:,} users."
    return f"{text}Run takes all users there."


def progress_text(news: Progress, elapsed: float) -> str:
    """Return how far a run is: counted rows, then trials and the time left."""
    if not news.total:
        return f"Counting users: {news.counted:,} of {news.rows:,} rows"
    text = f"{news.done:,} of {news.total:,} trials"
    if news.known:
        text += f", {news.known:,} of them known already"
    left = seconds_left(elapsed, news.known, news.done, news.total)
    return text if left is None else f"{text}, {left:.0f} s left"


class Picture(QLabel):
    """Place of a picture.

    Signals
    -------
    resized()
    """

    resized = Signal()

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.setAccessibleName("Picture of the figure")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(360, 240)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Announce the new size."""
        super().resizeEvent(event)
        self.resized.emit()


class FiguresDialog(QDialog):
    """Lists the figures of the paper, and computes, shows and exports one.

    Closing it cancels a run, whose finished trials are kept.

    Parameters
    ----------
    window : WorkspaceHost

    Attributes
    ----------
    documents : dict of FigureQuery to dict
        Of what was computed, as the command ``experiment`` writes it.
    """

    def __init__(self, window: WorkspaceHost) -> None:
        super().__init__(window)
        self._window = window
        self.documents: dict[FigureQuery, dict[str, Any]] = {}
        self._users: dict[tuple[str, str], tuple[int, ...]] = {}
        """Numbers of users on the x axis in place of the paper's, by figure and check-ins."""
        self._began: float | None = None
        self._last: Progress | None = None
        self.setObjectName("paper-figures")
        self.setWindowTitle("Figures of the paper")
        self.job = LatestJob("figure of the paper", self, preempt_after_s=0.0)
        self.looking = LatestJob("data of a figure", self)
        self.drawing = LatestJob("drawing a figure", self)
        self.writing = LatestJob("writing a figure", self)
        self._redraw = QTimer(self, singleShot=True)
        self._redraw.setInterval(REDRAW_MS)
        self._build()
        self._connect()
        self.list.setCurrentRow(0)
        self.resize(min(1180, window.width()), min(740, window.height()))

    def _build(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName("Figures of the paper")
        self.list.setWordWrap(True)
        self.list.setSpacing(2)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for figure in FIGURES.values():
            item = QListWidgetItem(f"{experiment_label(figure.name)}: {figure.title}", self.list)
            item.setData(Qt.ItemDataRole.UserRole, figure.name)
            item.setToolTip(plain_tip(figure.expected))
        self.expected = plain_label(word_wrap=True)
        self.draws = QSpinBox(minimum=1, maximum=MAX_DRAWS)
        self.seed = QSpinBox(maximum=MAX_SEED)
        self.of_paper = styled_label("muted")
        settings = QGridLayout()
        settings.setColumnStretch(2, 1)
        for row, (field, name, tip) in enumerate(
            (
                (self.draws, "Draws", "Number of noise draws, each with a sample of its own"),
                (self.seed, "Seed", "Of noise and made data: the same seed gives the same figure"),
            )
        ):
            label = plain_label(f"&{name}")
            label.setBuddy(field)
            field.setAccessibleName(name)
            field.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
            field.setToolTip(tip)
            settings.addWidget(label, row, 0)
            settings.addWidget(field, row, 1)
        settings.addWidget(self.of_paper, 0, 2)
        self.data = plain_label(word_wrap=True)
        self.stamp = styled_label("notes", word_wrap=True)
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Trials done")
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1)
        keeps_room = self.progress.sizePolicy()
        keeps_room.setRetainSizeWhenHidden(True)
        self.progress.setSizePolicy(keeps_room)
        self.progress.hide()
        self.state = FixedSizeText("muted", lines=3)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 8, 0)
        column.addWidget(self.list, 1)
        column.addWidget(styled_label("heading", "What is expected"))
        column.addWidget(self.expected)
        column.addLayout(settings)
        column.addWidget(styled_label("heading", "Data"))
        column.addWidget(self.data)
        column.addWidget(self.stamp)
        column.addWidget(self.progress)
        column.addWidget(self.state)
        self.picture = Picture()
        self.verdicts = NumberTable("What the paper says, by measure")
        self.verdicts.set_plain(right_from=4)
        self.verdicts.setMinimumHeight(90)
        header = self.verdicts.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        shown = QSplitter(Qt.Orientation.Vertical)
        shown.addWidget(self.picture)
        shown.addWidget(self.verdicts)
        shown.setStretchFactor(0, 3)
        shown.setStretchFactor(1, 1)
        shown.setChildrenCollapsible(False)
        both = QHBoxLayout()
        side.setFixedWidth(300)
        both.addWidget(side)
        both.addWidget(shown, 1)
        self.run = QPushButton(RUN_FEWER)
        self.run.setMinimumWidth(self.run.sizeHint().width())
        self.run.setText(RUN)
        self.few = FixedSizeText("warning", lines=2)
        self.cancel = QPushButton("Cance&l")
        self.export = QPushButton("&Export…")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in (self.run, self.cancel, self.export):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        self.run.setDefault(True)
        layout = QVBoxLayout(self)
        layout.addLayout(both, 1)
        below = QHBoxLayout()
        below.addWidget(self.few, 1)
        below.addWidget(buttons)
        layout.addLayout(below)
        self.cancel.setEnabled(False)
        self.export.setEnabled(False)

    def _connect(self) -> None:
        window = self._window
        self.list.currentRowChanged.connect(lambda _: self._choose())
        self.run.clicked.connect(lambda _=False: self.start())
        self.cancel.clicked.connect(lambda _=False: self.stop())
        self.export.clicked.connect(lambda _=False: self.export_file())
        self.draws.valueChanged.connect(lambda _: self._show_document())
        self.seed.valueChanged.connect(lambda _: self._show_settings())
        self.finished.connect(lambda _: self.stop())
        self.job.progress.connect(lambda _, news: self._show_progress(news))
        self.job.done.connect(self._keep)
        self.job.failed.connect(lambda _, error: self._say(error))
        self.job.busy_changed.connect(self._busy_changed)
        self.looking.done.connect(self._show_data)
        self.looking.failed.connect(lambda _, error: self._no_data(error))
        self.drawing.done.connect(lambda _, content: self._show_picture(content))
        self.drawing.failed.connect(lambda _, error: self.picture.setText(_sentence(error)))
        self.writing.done.connect(lambda path, _: self._written(path))
        self.writing.failed.connect(lambda _, error: self._say(error))
        self._redraw.timeout.connect(self._draw)
        self.picture.resized.connect(self._redraw.start)
        window.theme.changed.connect(self._redraw.start)
        window.data.loaded.connect(lambda _: self._show_settings())
        window.activity.watch(
            "paper-figure", "computing a figure", self.job.busy_changed, self.stop
        )

    def open_page(self) -> None:
        """Show the dialog, for the check-ins that are open now."""
        self.show()
        self.raise_()
        self.activateWindow()
        self._look()

    def end(self) -> None:
        """Stop all work and wait."""
        self._redraw.stop()
        for job in (self.job, self.looking, self.drawing, self.writing):
            job.close()

    # What is asked

    @property
    def figure(self) -> Figure:
        """The selected figure."""
        return FIGURES[self.list.currentItem().data(Qt.ItemDataRole.UserRole)]

    @property
    def query(self) -> FigureQuery:
        """What Run computes."""
        data = self._window.data.current
        name, fingerprint = self.figure.name, "" if data is None else data.fingerprint
        users = self._users.get((name, fingerprint), ())
        return FigureQuery(name, fingerprint, self.draws.value(), self.seed.value(), users)

    def _choose(self) -> None:
        figure = self.figure
        self.expected.setText(figure.expected[0].upper() + figure.expected[1:] + ".")
        self.draws.setValue(figure.draws)
        self.of_paper.setText(f"in the paper {figure.draws}")
        self._show_settings()

    def _show_settings(self) -> None:
        """Show what was computed with these settings, and the data that they take."""
        self._show_document()
        self._look()

    def _look(self) -> None:
        """Find out what the figure would be computed from."""
        if not self.isVisible():
            return
        query, service = replace(self.query, users=()), self._window.service
        self.run.setEnabled(False)
        self.data.setText(LOOKING)
        self.data.setToolTip("")
        self.stamp.setText("")
        self._show_few("")
        self.looking.submit(query, lambda task: service.call(figure_data, query, task.check))

    def _show_data(self, asked: FigureQuery, found: FigureData) -> None:
        why = f". Not the open check-ins: {found.why}" if found.why else ""
        self.data.setText(f"{found.text}{why}.")
        self.data.setToolTip(plain_tip("\n".join(found.details)))
        self.stamp.setText(found.stamp)
        self._show_few(few_users_text(found), found.short)
        before, self._users[asked.figure, asked.data] = self.query, found.users
        if self.query != before:
            self._show_document()
        self.run.setEnabled(not self.job.busy)

    def _show_few(self, text: str, places: tuple[str, ...] = ()) -> None:
        """Show beside the button what a run does where users are missing, and ask for it there."""
        self.few.setText(text)
        self.few.setToolTip(plain_tip("\n".join(places)))
        self.run.setText(RUN_FEWER if text else RUN)

    def _no_data(self, error: Exception) -> None:
        self.data.setText(_sentence(error))

    # Runs

    def start(self) -> None:
        """Compute the missing trials of the figure."""
        query, service = self.query, self._window.service
        self._began = self._last = None
        self.progress.setRange(0, 0)
        self.state.setText("Starting…")

        def work(task: Task) -> dict[str, Any]:
            document: dict[str, Any] = service.call(run_figure, query, task.check, task.report)
            return document

        self.job.submit(query, work)

    def stop(self) -> None:
        """Cancel the run; finished trials are kept."""
        if self.job.cancel():
            self._rest()
            news = self._last
            kept = "" if news is None else f"{news.done:,} of {news.total:,} trials are kept. "
            self.state.setText(f"Cancelled. {kept}Run goes on from there.")

    def _busy_changed(self, busy: bool) -> None:
        self.cancel.setEnabled(busy)
        self.progress.setVisible(busy)
        for widget in (self.run, self.list, self.draws, self.seed):
            widget.setEnabled(not busy)

    def _rest(self) -> None:
        if self.progress.maximum() == 0:
            self.progress.setRange(0, 1)

    def _show_progress(self, news: Progress) -> None:
        now = time.monotonic()
        if news.total:
            self._began = now if self._began is None else self._began
            self._last = news
        self.progress.setRange(0, news.total or news.rows)
        self.progress.setValue(news.done if news.total else news.counted)
        text = progress_text(news, now - (self._began or now))
        self.state.setText(text)
        self._window.activity.share(
            "paper-figure", news.done / news.total if news.total else None, text
        )

    def _say(self, error: Exception) -> None:
        self._rest()
        self.state.setText(_sentence(error))

    # What came out

    def _keep(self, query: FigureQuery, document: dict[str, Any]) -> None:
        self._rest()
        self.state.setText(f"{self.state.text()}.")
        self.documents[query] = document
        self._show_document()

    @property
    def document(self) -> dict[str, Any] | None:
        """Document of the selected figure with its settings and the open check-ins."""
        return self.documents.get(self.query)

    def _show_document(self) -> None:
        document = self.document
        self.export.setEnabled(document is not None)
        self.drawing.cancel()
        self.picture.setText(EMPTY if document is None else DRAWING)
        columns, rows = ([], []) if document is None else verdict_table(document)
        self.verdicts.set_table(columns, rows)
        if document is not None:
            self.verdicts.title, self.verdicts.note = document["title"], document["stamp"]
        self._draw()

    def _draw(self) -> None:
        """Have the figure drawn at the size of its place."""
        document = self.document
        if document is None or not self.isVisible():
            return
        ratio = self.picture.devicePixelRatioF()
        size = round(self.picture.width() * ratio), round(self.picture.height() * ratio)
        theme = self._window.theme.name
        draw = partial(
            experiment_bytes, document, "png", size_px=size, dpi=DPI * ratio, theme_name=theme
        )
        service = self._window.service
        self.drawing.submit(size, lambda task: service.call(run_function, draw, task.check))

    def _show_picture(self, content: bytes) -> None:
        picture = QPixmap()
        picture.loadFromData(QByteArray(content))
        picture.setDevicePixelRatio(self.picture.devicePixelRatioF())
        self.picture.setPixmap(picture)
        if self.document is not None:
            said = self.document["title"], self.document["stamp"]
            self.picture.setAccessibleDescription("; ".join(said))

    def export_file(self) -> None:
        """Ask for a file and write the figure; the suffix selects the format."""
        if self.document is None:
            return
        start = Path(self._window.files.folder()) / self.document["experiment"]
        path = ask_for_file(self, "Export the figure", start, Kind.EXPERIMENT)
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write the figure, drawn on white, as the command does."""
        service, document = self._window.service, self.documents[self.query]
        content = partial(experiment_bytes, document, path.suffix.lower()[1:])

        def work(task: Task) -> None:
            data = service.call(run_function, content, task.check)
            task.check()
            write_whole(path, data)

        self.writing.submit(path, work)

    def _written(self, path: object) -> None:
        assert isinstance(path, Path)
        self._window.session_store.note_file(path)
        self.state.setText(f"Exported to {path.name}.")


def _sentence(error: Exception) -> str:
    return explain(error, "figure").sentence
