"""Result page: released output and certificate; publish, export, withdraw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QDate, QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.link import certificate_link
from explorer.figures.pages.released import Released, released_bytes
from explorer.files import write_whole
from explorer.release.exact_json import canonical, sha256
from explorer.release.ledger.differencing import overlaps
from explorer.release.messages import result_text
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme, is_narrow
from explorer.ui.release.controller import Result
from explorer.ui.release.draft import LedgerState, attacker_text
from explorer.ui.release.files import (
    CERTIFICATES,
    EXPORTS,
    certificate_rows,
    draw_release,
    export_certificate,
    export_output,
    name_of,
)
from explorer.ui.release.summary_panel import bare_map, unit_of
from explorer.ui.release.wizard import Card, reserved_label, row_of, set_lines
from explorer.ui.widgets.boxes import CheckBox

_DPI = 110
_LEAST = 200
STATES = {
    "committed": "Only a published release can be exported. Publishing enters the certificate’s "
    "checksum in the ledger; any later change to it is then noticed.",
    "published": "Published{day}. Any later change to the certificate is noticed.",
    "withdrawn": "Withdrawn. The cost of {cost} stays spent.",
}


_FACTS = {"Average error": 1, "Cost": 1, "Protection": 2, "Overlap": 1, "Choices": 3}
"""Names of the facts of a result, and the lines that each may take."""


def _facts(result: Result, ledger: LedgerState, error: str) -> tuple[str, ...]:
    """Return the texts of `_FACTS`."""
    plan, release = result.plan, result.release
    account = ledger.account(ledger.charged(release.population))
    cost = f"ε = {rounded_up(plan.epsilon)}"
    if account is not None and account.gate == "sum":
        left, budget = rounded_down(account.remaining), rounded_down(account.budget)
        cost = f"{rounded_up(plan.epsilon)} of {budget}; {left} remains"
    counted = [] if account is None else ledger.releases_of(account.population)
    others = [r for r in counted if r.id != release.id]
    met = overlaps(plan.parameters(), plan.epsilon, others)
    overlap = "No overlap with another release is known."
    if met:
        last = met[-1]
        overlap = f"Overlaps release {last.release.seq}; together ε = {rounded_up(last.total)}."
    declared = plan.declared
    chosen = " ".join(declared.conditions)
    if declared.independent_of_data:
        chosen = "They were made without looking at the data. The certificate says so."
    return (
        error or "not rehearsed",
        cost,
        attacker_text(plan.epsilon),
        overlap,
        chosen,
    )


def _day(iso: str) -> str:
    """Return `` on 27 November 2026`` for a date; "" if there is none."""
    date = QDate.fromString(iso[:10], Qt.DateFormat.ISODate)
    return f" on {QLocale.c().toString(date, 'd MMMM yyyy')}" if date.isValid() else ""


class ResultPicture(QLabel):
    """Shows a map bare, anything else as the page of an export, rendered for the present size.

    Parameters
    ----------
    theme : Theme
    worker : LatestJob
        Renders in a thread.
    """

    def __init__(self, theme: Theme, worker: LatestJob) -> None:
        super().__init__("drawing…", textFormat=Qt.TextFormat.PlainText)
        self._theme, self._worker = theme, worker
        self.what: Released | None = None
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(240, 180)
        self.setAccessibleName("What was released")
        worker.done.connect(self._show)
        worker.failed.connect(lambda _, error: self.setText(f"{error}."))
        theme.changed.connect(self.redraw)

    def show_released(self, what: Released | None) -> None:
        """Show another output."""
        self.what = what
        self.redraw()

    def redraw(self) -> None:
        """Render at the present size."""
        if self.what is None:
            return
        ratio = self.devicePixelRatioF()
        if self.what.grid is not None:
            size = (max(self.width(), _LEAST), max(self.height(), _LEAST))
            bare = partial(bare_map, self.what, size, ratio, self._theme.chrome, self.font())
            self._worker.submit(self, lambda _task: bare())
            return
        size = (max(round(self.width() * ratio), _LEAST), max(round(self.height() * ratio), _LEAST))
        draw = partial(
            released_bytes,
            self.what,
            "png",
            size_px=size,
            dpi=_DPI * ratio,
            theme_name=self._theme.name,
        )
        self._worker.submit(self, lambda _task: draw())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Render again."""
        super().resizeEvent(event)
        self.redraw()

    def _show(self, key: object, content: object) -> None:
        if key is not self:
            return
        picture = QPixmap()
        if isinstance(content, QImage):
            picture = QPixmap.fromImage(content)
        elif isinstance(content, bytes):
            picture.loadFromData(QByteArray(content))
            picture.setDevicePixelRatio(self.devicePixelRatioF())
        self.setPixmap(picture)


class ResultPage(QWidget):
    """A stored output with its certificate.

    Signals
    -------
    publish_asked(Result)
    withdraw_asked(Result)
    message(str)
        Message for the status bar.
    failed(Exception)
    state_changed(str)
        State of the release that is shown now.
    """

    publish_requested = Signal(object)
    withdraw_requested = Signal(object)
    message = Signal(str)
    failed = Signal(object)
    state_changed = Signal(str)

    def __init__(self, theme: Theme, folder: Callable[[], str]) -> None:
        super().__init__()
        self.result: Result | None = None
        self._folder = folder
        self._drawing = LatestJob("released picture", self, preempt_after_s=0)
        self._writing = LatestJob("released file", self)
        self._writing.done.connect(lambda path, _: self.message.emit(f"{path.name} is written."))
        self._writing.failed.connect(lambda _, error: self.failed.emit(error))
        self.picture = ResultPicture(theme, self._drawing)
        self.picture.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sentence = reserved_label("", 3)
        self.facts = {name: reserved_label("", lines) for name, lines in _FACTS.items()}
        self.state = reserved_label("", 3)
        self._publishing = False
        self.publish = QPushButton("P&ublish")
        self.publish.setObjectName("door")
        self.publish.setFixedWidth(150)
        self.export_button = QPushButton("E&xport…")
        self.certificate = QPushButton("&Certificate…")
        self.link = QPushButton("Copy lin&k to certificate")
        self.link.clicked.connect(self._copy_link)
        self.blocks = CheckBox("Blocks as measured")
        self.blocks.setToolTip("Shows the cells without smoothing. Exported maps are smoothed.")
        self.blocks.toggled.connect(lambda _: self._show_picture())
        self.withdraw = QPushButton("&Withdraw…")
        self.withdraw.setFixedWidth(150)
        self.sections: list[tuple[str, str]] = []
        """Headings and texts of the certificate."""
        self._unit = ""
        left = Card("Release", self.blocks)
        left.add(self.picture)
        left.rows.setStretch(1, 1)
        self.heading = left.title
        about = Card("Result")
        grid = QGridLayout(facts := QWidget())
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for place, (name, label) in enumerate(self.facts.items()):
            grid.addWidget(styled_label("muted", name), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, place, 1)
        about.add(self.sentence, facts)
        about.rows.addStretch(1)
        publish = Card("Publish")
        publish.add(row_of(self.state, self.publish))
        use = Card("Use the release")
        buttons = QHBoxLayout()
        for button in (self.export_button, self.certificate, self.link):
            button.setMinimumWidth(112)
            buttons.addWidget(button)
        buttons.addStretch(1)
        use.rows.addLayout(buttons)
        self.use_note = reserved_label("faint", 1)
        use.add(self.use_note)
        withdraw = Card("Withdraw")
        listed = "The ledger then lists the release as withdrawn. Its cost stays spent."
        withdraw.add(row_of(styled_label("", listed, word_wrap=True), self.withdraw))
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(about, 1)
        for card in (publish, use, withdraw):
            right.addWidget(card)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(left, 2)
        layout.addLayout(right, 3)
        self.publish.clicked.connect(self._publish)
        self.withdraw.clicked.connect(lambda: self.withdraw_requested.emit(self.result))
        self.export_button.clicked.connect(self.export)
        self.certificate.clicked.connect(self._certificate)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the cards for a small window or a usual one."""
        super().resizeEvent(event)
        narrow = is_narrow(self)
        for card in self.findChildren(Card):
            card.set_narrow(narrow=narrow)
        set_lines(self.state, 4 if narrow else 3)
        self._show_heading()

    def focus_start(self) -> None:
        """Focus the picture, so that a key held down cannot publish; once published, *Export*."""
        published = self.export_button.isEnabled()
        (self.export_button if published else self.picture).setFocus()

    def close_page(self) -> None:
        """Stop the threads."""
        self._drawing.close()
        self._writing.close()

    def show_result(self, result: Result, ledger: LedgerState, error: str = "") -> None:
        """Show a stored output.

        Parameters
        ----------
        result : Result
        ledger : LedgerState
            As read after the release.
        error : str
            Average error in the rehearsals of its plan; "" if there were none.
        """
        self.result = result
        state = result.release.state
        self.sentence.setText(result_text(result.plan))
        for label, text in zip(self.facts.values(), _facts(result, ledger, error), strict=True):
            label.setText(text)
            label.setToolTip(text)
        cost = rounded_up(result.plan.epsilon)
        day = _day(str(result.certificate.get("issued", "")))
        self.state.setText(STATES.get(state, state).format(day=day, cost=cost))
        self.sections = [
            (title, "\n".join(statements))
            for title, statements in certificate_rows(dict(result.certificate))
        ]
        published = state == "published"
        self.withdraw.setEnabled(state != "withdrawn")
        for button in (self.export_button, self.certificate, self.link):
            button.setEnabled(published)
            button.setToolTip("" if published else "Publish first: files carry the certificate")
        if self._publishing or self.publish.hasFocus():
            # Before the button is disabled: Qt would move the focus on, finally to Withdraw.
            (self.export_button if published else self.picture).setFocus()
        self._publishing = False
        self.publish.setText("✓ Published" if published else "P&ublish")
        self.use_note.setText(
            "Exported files carry the certificate, not the name or the size of your file."
            if published
            else "Available after publishing."
        )
        self.publish.setEnabled(state == "committed")
        is_map = result.plan.mechanism.id.startswith("heatmap")
        self.blocks.setEnabled(is_map)
        if not is_map:
            with QSignalBlocker(self.blocks):
                self.blocks.setChecked(False)
        self._show_picture()
        self.state_changed.emit(state)

    def _show_picture(self) -> None:
        """Draw the output, smoothed or as measured."""
        if self.result is None:
            return
        what = draw_release(self.result, blocks=self.blocks.isChecked())
        self._unit = "" if what.grid is None else unit_of(what)[1]
        self._show_heading()
        self.picture.show_released(what)

    def _show_heading(self) -> None:
        """Show number and unit; in a small window the unit is in the tool tip."""
        if self.result is None:
            return
        number = f"Release {self.result.release.seq}"
        whole = " · ".join(filter(None, (number, self._unit)))
        self.heading.setText(number if is_narrow(self) else whole)
        self.heading.setToolTip(whole)
        self.picture.setAccessibleDescription(whole)

    def _copy_link(self) -> None:
        """Put the link to the certificate on the clipboard."""
        assert self.result is not None
        digest = sha256(canonical(dict(self.result.certificate)))
        QGuiApplication.clipboard().setText(certificate_link(self.result.release.id, digest))
        self.message.emit("The link to the certificate is on the clipboard.")

    def _publish(self) -> None:
        """Publish once, even if the button is pressed repeatedly."""
        if not self._publishing:
            self._publishing = True
            self.publish_requested.emit(self.result)

    def publishing_failed(self) -> None:
        """Allow another attempt."""
        self._publishing = False

    def export(self) -> None:
        """Ask for a file and export the published output."""
        assert self.result is not None
        start = f"release-{self.result.release.id}"
        self._write("Export what was released", start, EXPORTS, export_output)

    def _certificate(self) -> None:
        assert self.result is not None
        start = name_of(self.result, "json").removesuffix(".json")
        self._write("Write the certificate", start, CERTIFICATES, export_certificate)

    def _write(
        self,
        title: str,
        start: str,
        offered: Mapping[str, str],
        make: Callable[[Result, Path], bytes],
    ) -> None:
        result = self.result
        filters = {f"{words} (*.{suffix})": suffix for words, suffix in offered.items()}
        first = next(iter(filters.values()))
        selected, taken = QFileDialog.getSaveFileName(
            self, title, str(Path(self._folder()) / f"{start}.{first}"), ";;".join(filters)
        )
        if not selected or result is None:
            return
        path = Path(selected)
        if path.suffix.lower().removeprefix(".") not in (*offered.values(), "tiff"):
            path = path.with_name(f"{path.name}.{filters.get(taken, first)}")

        def work(_task: Task) -> None:
            write_whole(path, make(result, path))

        self._writing.submit(path, work)
