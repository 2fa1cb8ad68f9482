"""Help ▸ Self-test: page that runs the checks of this installation."""

import html

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QProgressBar,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.compute_tasks import SelfCheck, SelfCheckProgress, run_self_check
from explorer.studies.guarantees.checks import NOTE, Check
from explorer.ui.app.context import WindowContext
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label

INTRODUCTION = (
    "Golden values must come out again, tiny cases are enumerated completely, bounds from below "
    "are held against those from above, and mechanisms are run on two neighbouring data sets and "
    "held against what they promise."
)


class ChecksPage(QDialog):
    """Page that shows the results of the checks; `show_found` updates it.

    Signals
    -------
    wanted
        The checks should run.
    unwanted
        The checks should stop.
    """

    wanted = Signal()
    unwanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("checks-page")
        self.setWindowTitle("Self-test")
        self.text = QTextBrowser()
        self.text.setAccessibleName("What was checked")
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Checks done")
        self.progress.setTextVisible(False)
        self.run = QPushButton("&Run the checks")
        self.cancel = QPushButton("Cance&l")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.run, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.cancel, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 10)
        layout.addWidget(plain_label(INTRODUCTION, word_wrap=True))
        layout.addWidget(self.text)
        layout.addWidget(self.progress)
        layout.addWidget(plain_label(NOTE, word_wrap=True))
        layout.addWidget(buttons)
        self.resize(760, 640)
        self.run.clicked.connect(self._begin)
        self.cancel.clicked.connect(self._stop)
        self.show_rest()

    def _begin(self) -> None:
        self.run.setEnabled(False)
        self.cancel.setEnabled(True)
        self.text.setHtml("<p>Running…</p>")
        self.progress.setRange(0, 0)
        self.wanted.emit()

    def _stop(self) -> None:
        self.unwanted.emit()
        self.show_rest()

    def show_found(self, so_far: SelfCheckProgress) -> None:
        """Show the results so far."""
        self.progress.setRange(0, so_far.total)
        self.progress.setValue(len(so_far.found))
        self.text.setHtml(page_html(so_far))

    def show_rest(self, sentence: str = "") -> None:
        """Show that nothing runs, with a reason if there is one."""
        if self.progress.maximum() == 0:
            self.progress.setRange(0, 1)
        self.run.setEnabled(True)
        self.cancel.setEnabled(False)
        if sentence:
            self.text.append(html.escape(sentence))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop the checks."""
        self._stop()
        super().closeEvent(event)


def page_html(so_far: SelfCheckProgress) -> str:
    """Return the results grouped as HTML."""
    failed = sum(not item.passed for item in so_far.found)
    done = len(so_far.found)
    parts = [f"<p><b>{done - failed} of {done} passed"]
    parts.append(f"; {so_far.total - done} to come" if done < so_far.total else "")
    parts.append("</b></p>")
    for group in dict.fromkeys(item.group for item in so_far.found):
        rows = (_row(item) for item in so_far.found if item.group == group)
        parts.append(f"<h3>{group}</h3><table cellpadding='3'>{''.join(rows)}</table>")
    return "".join(parts)


def _row(item: Check) -> str:
    mark = "✓" if item.passed else "✗"
    name, text = html.escape(item.name), html.escape(item.said)
    return f"<tr><td>{mark}</td><td>{name}</td><td>{text}</td></tr>"


class SelfTest(QObject):
    """Runs the checks for the page, which is built on first use."""

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.page: ChecksPage | None = None
        self._job = LatestJob("checks", self, preempt_after_s=0)
        self._job.progress.connect(lambda _, found: self._show(found))
        self._job.done.connect(lambda _, found: self._finish(found))
        self._job.failed.connect(lambda _, error: self._fail(error))

    def open(self) -> None:
        """Show the page."""
        if self.page is None:
            self.page = ChecksPage(self._window)
            self.page.wanted.connect(self._run)
            self.page.unwanted.connect(self._job.cancel)
        self.page.show()
        self.page.raise_()
        self.page.activateWindow()

    def close(self) -> None:
        """End the thread."""
        self._job.close()

    def _run(self) -> None:
        service = self._window.service

        def run(task: Task) -> SelfCheckProgress:
            result: SelfCheckProgress = service.call(
                run_self_check, SelfCheck(), task.check, task.report
            )
            return result

        self._job.submit("checks", run)

    def _show(self, results: SelfCheckProgress) -> None:
        if self.page is not None:
            self.page.show_found(results)

    def _finish(self, results: SelfCheckProgress) -> None:
        self._show(results)
        if self.page is not None:
            self.page.show_rest()

    def _fail(self, error: Exception) -> None:
        if self.page is not None:
            self.page.show_rest(explain(error, "check").sentence)
