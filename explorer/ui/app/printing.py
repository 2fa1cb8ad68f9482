"""File ▸ Print…: the page of an export on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter

from explorer.figures.export_job import ExportJob, rendered
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from explorer.ui.app.context import WindowContext
    from explorer.ui.app.export_actions import ExportActions

DPI = 300
"""At most so many dots an inch are drawn; printers take more, eyes do not."""


class Printing(QObject):
    """Draws what is in front for a page, in a thread, and has it printed.

    Nothing goes on paper that would not go into a file: the same gate, caption and stamps.

    Parameters
    ----------
    window : WindowContext
    output : ExportActions
    """

    def __init__(self, window: WindowContext, output: ExportActions) -> None:
        super().__init__(window)
        self._window, self._output = window, output
        self._printer: QPrinter | None = None
        self.job = LatestJob("printing", self, preempt_after_s=0.0)
        self.job.done.connect(self._drawn)
        self.job.failed.connect(lambda _job, error: window.show_problem(explain(error, "export")))
        window.activity.watch("print", "printing", self.job.busy_changed, self.cancel)

    def ask(self) -> None:
        """Ask for a printer, A4 across unless another page is chosen, and print."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # seldom used, slow to load

        if self._output.refused():
            return
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        printer.setPageOrientation(QPageLayout.Orientation.Landscape)
        if QPrintDialog(printer, self._window).exec():
            self.print_on(printer)

    def print_on(self, printer: QPrinter) -> None:
        """Print what is in front on a printer's page."""
        inches = printer.pageLayout().paintRect(QPageLayout.Unit.Inch)
        dpi = min(printer.resolution(), DPI)
        size = round(inches.width() * dpi), round(inches.height() * dpi)
        job = self._output.picture_job("png", size, dpi)
        if job is not None:
            self._printer = printer
            self.job.submit(job, lambda _task: rendered(job))

    def cancel(self) -> None:
        """Print nothing of what is being drawn."""
        self.job.cancel()

    def close(self) -> None:
        """Cancel what is drawn, and wait for it."""
        self.job.close()

    def _drawn(self, _job: ExportJob, content: bytes) -> None:
        printer, self._printer = self._printer, None
        painter = QPainter()
        if printer is None or not painter.begin(printer):
            self._output.said.emit("The printer could not be reached; nothing was printed.")
            return
        painter.drawImage(painter.viewport(), QImage.fromData(QByteArray(content)))
        painter.end()
        self._output.said.emit("The page is with the printer.")
