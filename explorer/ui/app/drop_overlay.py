"""Overlay shown while a file is dragged over the window; states whether it can be opened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMargins, QMimeData, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragMoveEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from explorer import checkins
from explorer.engine.service import StudyService
from explorer.figures.recipes import read_exported
from explorer.geography.background import lies_behind
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.file_controller import paths_in

WIDEST, EDGE = 520, 4
CHECKING_FILE = "Checking the file …"
RECIPE = "It holds a recipe: the result that it shows is restored."
BACKGROUND = "It becomes a background of the map."
ASKED = "You will be asked for the columns."


class DropOverlay(QWidget):
    """Covers a window and checks dragged files in a thread.

    Parameters
    ----------
    window : QWidget
        Window that accepts the drops.
    service : StudyService
    theme : Theme

    Signals
    -------
    looked()
        Emitted when it is known whether the files can be opened.
    """

    looked = Signal()

    def __init__(self, window: QWidget, service: StudyService, theme: Theme) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._covered, self._service, self._theme = window, service, theme
        self.title = self.detail = ""
        self.can_open: bool | None = None
        """Whether the files can be opened; None while unknown."""
        self._job = LatestJob("looking at what is dragged", self, preempt_after_s=0.0)
        self._job.done.connect(lambda _key, detail: self._show(True, detail))
        self._job.failed.connect(
            lambda _key, error: self._show(False, explain(error, "data").sentence)
        )
        self.hide()
        window.installEventFilter(self)

    def close_jobs(self) -> None:
        """Stop the job and wait for the thread."""
        self._job.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show while files are dragged over the window; files that cannot be opened are refused."""
        if isinstance(event, QDragEnterEvent):
            if not paths_in(event.mimeData()):
                return False
            self._begin(event.mimeData())
            event.acceptProposedAction()
            return True
        if isinstance(event, QDragMoveEvent) and self.isVisible():
            event.setAccepted(self.can_open is not False)
            return True
        if event.type() in (QEvent.Type.DragLeave, QEvent.Type.Drop):
            self._job.cancel()
            self.hide()
        return False

    def _begin(self, mime: QMimeData) -> None:
        paths = tuple(map(Path, paths_in(mime)))
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        self._name = paths[0].name[:60] + more
        self._show(None, CHECKING_FILE)
        self._job.submit(paths, lambda task: self._look(paths, task))
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()

    def _look(self, paths: tuple[Path, ...], task: Task) -> str:
        """Return what opening the files does; raises if they cannot be opened."""
        if len(paths) == 1 and lies_behind(paths[0]):
            return BACKGROUND
        if len(paths) == 1 and not paths[0].is_dir():
            request = (paths[0], None)
            if self._service.call(read_exported, request, task.check) is not None:
                return RECIPE
        files = checkins.find_files(paths, task.cancelled)
        preview = checkins.sniff_files(files, cancelled=task.cancelled)
        if not preview.confidence or preview.questions:
            return ASKED
        return f"Check-ins: {preview.confidence:.0%} of the first rows can be read."

    def _show(self, can_open: bool | None, detail: str) -> None:
        self.can_open, self.detail = can_open, detail
        can = f"{self._name} can't be opened" if can_open is False else f"Drop to open {self._name}"
        self.title = can
        self.setAccessibleName(f"{self.title}. {detail}")
        self.update()
        if can_open is not None:
            self.looked.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a frame with the effect of a drop in the middle."""
        colours = self._theme.chrome
        edge = QColor({None: colours.accent, True: colours.good, False: colours.bad}[self.can_open])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(colours.window)
        veil.setAlpha(150)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(edge, EDGE))
        inside = self.rect().marginsRemoved(QMargins(EDGE, EDGE, EDGE, EDGE))
        painter.drawRoundedRect(inside, 8, 8)
        wide = min(WIDEST, self.width() - 40)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
        bold = painter.font()
        bold.setBold(True)
        parts = []
        for font, text in ((bold, self.title), (painter.font(), self.detail)):
            painter.setFont(font)
            space = QRect(0, 0, wide - 40, self.height())
            parts.append((font, text, painter.boundingRect(space, flags, text).height()))
        high = sum(height for *_, height in parts) + 48
        box = QRect((self.width() - wide) // 2, (self.height() - high) // 2, wide, high)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(QColor(colours.panel))
        painter.drawRoundedRect(box, 6, 6)
        top = box.top() + 20
        for place, (font, text, height) in enumerate(parts):
            painter.setFont(font)
            painter.setPen(edge if self.can_open is False and place == 0 else QColor(colours.text))
            painter.drawText(QRect(box.left() + 20, top, wide - 40, height), flags, text)
            top += height + 8
        painter.end()
