"""Cache of opened check-in files: removes old entries at start, clears it on request."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from explorer.checkins.cache import CacheUse, cache_size, cache_use, clear_cache, sweep
from explorer.checkins.memory import format_bytes
from explorer.engine.paths import checkins_cache
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob, Task


class CachedCheckins(QObject):
    """Inspects the cache in a thread and asks before removing anything.

    Attributes
    ----------
    question : QMessageBox or None
        The open question.
    """

    def __init__(
        self,
        window: QWidget,
        show_status: Callable[[str], None],
        show_problem: Callable[[Problem], None],
    ) -> None:
        super().__init__(window)
        self._window, self._show_status = window, show_status
        self.question: QMessageBox | None = None
        self._job = LatestJob("looking after cached check-ins", self)
        self._job.done.connect(lambda then, found: then(found))
        self._job.failed.connect(lambda _then, error: show_problem(explain(error, "cache")))

    def sweep(self) -> None:
        """Remove files left by killed processes, silently."""
        self._job.submit(lambda _nothing: None, lambda _task: sweep(checkins_cache()))

    def ask(self) -> None:
        """Show the size of the cache and ask whether to clear it."""
        self._job.submit(self._ask, lambda _task: cache_use(checkins_cache()))

    def close(self) -> None:
        """Wait for running work."""
        self._job.close()

    def _ask(self, use: CacheUse) -> None:
        if not use.size:
            self._show_status("Nothing is kept of check-ins that were opened.")
            return
        files = f"{use.files:,} check-in file{'s' * (use.files != 1)}"
        box = QMessageBox(self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Clear cached check-ins")
        box.setText(f"Remove {format_bytes(use.size)} that are kept of {files} opened before?")
        box.setInformativeText(
            "The files themselves stay where they are, and so does what is open now. A file that "
            "is opened again is read anew, which takes longer."
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        clear = box.addButton("Clear", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        clear.clicked.connect(self._clear)
        box.finished.connect(self._answered)
        self.question = box
        box.open()

    def _answered(self, _code: int) -> None:
        self.question = None

    def _clear(self) -> None:
        def work(_task: Task) -> tuple[int, int]:
            folder = checkins_cache()
            return clear_cache(folder), cache_size(folder)

        self._job.submit(self._cleared, work)

    def _cleared(self, found: tuple[int, int]) -> None:
        freed, left = map(format_bytes, found)
        stays = f"; {left} stay, in use by check-ins that are open" if found[1] else ""
        self._show_status(f"{freed} freed{stays}.")
