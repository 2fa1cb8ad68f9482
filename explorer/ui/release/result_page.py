"""Result page: released output and certificate; publish, export, withdraw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.pages.released import Released, released_bytes
from explorer.files import write_whole
from explorer.release.messages import result_text
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.controller import Result
from explorer.ui.release.files import (
    CERTIFICATES,
    EXPORTS,
    certificate_rows,
    draw_release,
    export_certificate,
    export_output,
    name_of,
)

_DPI = 110
_LEAST = 200
_BESIDE = 380
STATES = {
    "committed": "Stored, not published yet. Publishing enters the certificate’s hash into the "
    "ledger; from then on any changed byte of it is noticed.",
    "published": "Published: output and certificate may leave.",
    "withdrawn": "Withdrawn: what it cost stays spent.",
}


class ResultPicture(QLabel):
    """Shows the page of an export, rendered for the present size.

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
        if key is self and isinstance(content, bytes):
            picture = QPixmap()
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
    """

    publish_requested = Signal(object)
    withdraw_requested = Signal(object)
    message = Signal(str)
    failed = Signal(object)

    def __init__(self, theme: Theme, folder: Callable[[], str]) -> None:
        super().__init__()
        self.result: Result | None = None
        self._folder = folder
        self._drawing = LatestJob("released picture", self, preempt_after_s=0)
        self._writing = LatestJob("released file", self)
        self._writing.done.connect(lambda path, _: self.message.emit(f"{path.name} is written."))
        self._writing.failed.connect(lambda _, error: self.failed.emit(error))
        self.picture = ResultPicture(theme, self._drawing)
        self.sentence = styled_label("answer-text", word_wrap=True)
        head = QFrame()
        head.setObjectName("answer")
        row = QHBoxLayout(head)
        row.setContentsMargins(14, 8, 12, 8)
        row.addWidget(self.sentence)
        self.state = styled_label("notes", word_wrap=True)
        self.state.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._publishing = False
        self.publish = QPushButton("Publish")
        self.publish.setObjectName("door")
        self.export_button = QPushButton("Export…")
        self.certificate = QPushButton("Certificate…")
        self.withdraw = QPushButton("Withdraw…")
        self.text = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setAccessibleName("Certificate")
        buttons = QHBoxLayout()
        for button in (self.publish, self.export_button, self.certificate):
            buttons.addWidget(button)
        # far from the publish button
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.withdraw)
        right = self._right = QVBoxLayout()
        right.setContentsMargins(8, 8, 12, 8)
        right.addWidget(self.state)
        right.addLayout(buttons)
        right.addWidget(self.text, 1)
        right.addLayout(last)
        beside = QWidget()
        beside.setLayout(right)
        beside.setFixedWidth(_BESIDE)
        left = QVBoxLayout()
        left.setContentsMargins(12, 8, 4, 8)
        left.addWidget(head)
        left.addWidget(self.picture, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(left, 1)
        layout.addWidget(beside)
        self.publish.clicked.connect(self._publish)
        self.withdraw.clicked.connect(lambda: self.withdraw_requested.emit(self.result))
        self.export_button.clicked.connect(self.export)
        self.certificate.clicked.connect(self._certificate)

    def close_page(self) -> None:
        """Stop the threads."""
        self._drawing.close()
        self._writing.close()

    def show_result(self, result: Result) -> None:
        """Show a stored output."""
        self.result = result
        state = result.release.state
        self.sentence.setText(result_text(result.plan))
        self._show_state(STATES.get(state, state))
        lines = [
            "\n".join((title.upper(), *statements))
            for title, statements in certificate_rows(dict(result.certificate))
        ]
        self.text.setPlainText("\n\n".join(lines))
        published = state == "published"
        self.withdraw.setEnabled(state != "withdrawn")
        for button in (self.export_button, self.certificate):
            button.setEnabled(published)
            button.setToolTip("" if published else "Publish first: files carry the certificate")
        if self._publishing or self.publish.hasFocus():
            # Before the button is disabled: Qt would move the focus on, finally to Withdraw.
            (self.export_button if published else self.text).setFocus()
        self._publishing = False
        self.publish.setText("✓ Published" if published else "Publish")
        self.publish.setEnabled(state == "committed")
        self.picture.show_released(draw_release(result))

    def _show_state(self, text: str) -> None:
        """Show the available actions; buttons keep their places."""
        margins = self._right.contentsMargins()
        width, heights = _BESIDE - margins.left() - margins.right(), []
        for one in (*STATES.values(), text):
            self.state.setText(one)
            heights.append(self.state.heightForWidth(width))
        self.state.setMinimumHeight(max(heights))

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
