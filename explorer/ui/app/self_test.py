"""Runs what this installation is checked against when its page asks for it."""

from PySide6.QtCore import QObject

from explorer.engine.checking import Checked, Checking, checked
from explorer.ui.app.context import WindowContext
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.dialogs.checks_page import ChecksPage


class SelfTest(QObject):
    """The page of checks of a window, made when it is first asked for."""

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

        def run(task: Task) -> Checked:
            found: Checked = service.call(checked, Checking(), task.check, task.report)
            return found

        self._job.submit("checks", run)

    def _show(self, found: Checked) -> None:
        if self.page is not None:
            self.page.show_found(found)

    def _finish(self, found: Checked) -> None:
        self._show(found)
        if self.page is not None:
            self.page.show_rest()

    def _fail(self, error: Exception) -> None:
        if self.page is not None:
            self.page.show_rest(explain(error, "check").sentence)
