"""Export, Copy and Print actions of the File and Edit menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPageLayout, QPageSize, QPainter
from PySide6.QtWidgets import QFileDialog

from explorer.engine.runtime import final_result, first_result
from explorer.engine.session.code_export import bounds_line, bounds_script, map_line, map_script
from explorer.engine.session.link import left_out, link_of
from explorer.engine.session.recipe import Recipe
from explorer.figures.animation_frames import Animation
from explorer.figures.export import ExportJob, apply_export_policy, rendered
from explorer.figures.formats import Kind, by_suffix
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Fidelity
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.controllers.export_controller import DRAWS, ExportAll, ExportController
from explorer.ui.dialogs.export import ExportDialog, public_view

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from explorer.checkins import CheckinData
    from explorer.studies.base.study import Request, Result
    from explorer.ui.app.context import WindowContext
    from explorer.ui.controllers.workspace import Exported


_CODE = {"line": "command line", "script": "Python script", "link": "link"}
_COPIED = {Kind.PICTURE: "picture is", Kind.REVIEWER: "text for a reviewer is"}


class ExportActions(QObject):
    """Exports and copies the current view.

    Signals
    -------
    message(str)
        Emitted with a message for the status bar.
    """

    message = Signal(str)

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.controller = ExportController(self._first, self)
        self._drawer = LatestJob("preview", self)
        self.all = ExportAll(window.service, self)
        self.all.done.connect(
            lambda folder, files: self.message.emit(f"{files} files are in {folder.name}.")
        )
        self.all.failed.connect(lambda error: window.show_problem(explain(error, "export")))
        watch = window.activity.watch
        watch("all", "exporting all quantities", self.all.busy_changed, self.all.cancel)
        self.all.progress.connect(lambda done: window.activity.share("all", done))
        self.dialog: ExportDialog | None = None
        window.export_requested.connect(self.ask_for)
        self.controller.done.connect(self._done)
        self.controller.failed.connect(lambda error: window.show_problem(explain(error, "export")))
        self.controller.cancelled.connect(lambda: self.message.emit("Nothing was exported."))

    def _first(self, request: Request, check: Callable[[], None]) -> Iterator[Result]:
        """Yield the result shown by a frame of an animation; for a map the first one."""
        answer = first_result if request.fidelity is Fidelity.COARSE else final_result
        yield self._window.service.call(answer, request, check)

    def recipe(self, result: Result, data: CheckinData | None, view: ViewState) -> dict[str, Any]:
        """Return the recipe of a result under a view, as far as the export policy allows.

        Raises
        ------
        ValueError
            If nothing may be exported under that view (`apply_export_policy`).
        """
        return dict(
            apply_export_policy(result, view, self._whole_recipe(result.request, data, view))[2]
        )

    def _whole_recipe(
        self, asked: Request, data: CheckinData | None, view: ViewState
    ) -> dict[str, Any]:
        data = data if asked.selection is not None else None
        name = data.basename if data is not None else ""
        columns = data.columns if data is not None else {}
        return Recipe(asked, name, view=view.to_dict(), columns=columns).to_dict()

    def ask(self) -> None:
        """Open the export dialog for the current view."""
        window = self._window
        if tool := window.tool:
            tool.export_file()
            return
        if self.refused():
            return
        if (subject := window.workspace.exported()) is not None:
            self.ask_for(subject)
            return
        result, data = window.shown_result, window.data.current
        if result is None:
            return
        self._open(
            ExportDialog(
                result,
                window.workspace.view_state(),
                partial(self.recipe, result, data),
                window.files.folder(),
                self._drawer,
                self._with_picture,
                window,
                times=(None, None) if data is None else (data.first_time, data.last_time),
            )
        )

    def ask_for(self, subject: Exported) -> None:
        """Open the export dialog for a given result."""
        window = self._window
        asked, view = subject.asked, window.workspace.view_state()
        recipe = {**self._whole_recipe(asked, window.data.current, view), **subject.told}
        folder, drawer = window.files.folder(), self._drawer
        self._open(
            ExportDialog(
                subject.result,
                subject.view,
                lambda _: recipe,
                folder,
                drawer,
                self._with_picture,
                window,
            )
        )

    def ask_all(self) -> None:
        """Ask for a folder and export every quantity of the current study."""
        window, state = self._window, self._window.session.state
        if not get_study(state.study).quantities:
            self.message.emit("All maps that are shown go into one picture: use Export….")
            return
        if self.refused():
            return
        name = QFileDialog.getExistingDirectory(window, "Export all", window.files.folder())
        if name:
            data, theme = window.data.current, window.theme.name
            recipe = partial(self._recipe_for, data)
            self.all.start(state, theme, recipe, Path(name))

    def _recipe_for(
        self, data: CheckinData | None, asked: Request, view: ViewState
    ) -> dict[str, Any]:
        return self._whole_recipe(asked, data, view)

    def close(self) -> None:
        """Cancel running exports and wait."""
        self.all.close()
        self.controller.close()
        self._drawer.close()

    def _open(self, dialog: ExportDialog) -> None:
        self.dialog = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._start)
        dialog.open()

    def copy(self, fmt: str) -> None:
        """Copy the current result as ``png`` or ``csv``, never with the true map."""
        window = self._window
        if tool := window.tool:
            tool.copy("csv")
            return
        if (job := self.picture_job(fmt)) is not None:
            self._start(job)

    def picture_job(
        self, fmt: str, size_px: tuple[int, int] = ExportJob.size_px, dpi: float = ExportJob.dpi
    ) -> ExportJob | None:
        """Return a renderer of the current result without the true map; None if not permitted."""
        window, result = self._window, self._window.shown_result
        if self.refused() or result is None:
            return None
        view = public_view(result, window.workspace.view_state())
        # The export policy is checked when the file is written.
        recipe = self._whole_recipe(result.request, window.data.current, view)
        job = ExportJob(result, view, recipe, by_suffix(fmt), size_px=size_px, dpi=dpi)
        return self._with_picture(job)

    def copy_code(self, kind: str) -> None:
        """Copy a way to reproduce the view: a shell ``line``, a ``script`` or a ``link``."""
        window = self._window
        result = window.shown_result
        if window.tool or result is None:
            self.message.emit("Only a question can be copied so; bring one to the front.")
            return
        if self.refused():
            return
        view, more = window.workspace.view_state(), ""
        try:
            if kind == "link":
                summary = self.recipe(result, window.data.current, public_view(result, view))
                text = link_of(summary)
                if count := left_out(summary):
                    more = f", without {count} curve{'s' * (count > 1)} from files"
            elif result.surfaces:
                settings = self.recipe(result, window.data.current, public_view(result, view))
                text = map_line(settings) if kind == "line" else map_script(settings)
            elif kind == "line":
                text = bounds_line(result, view.claim, view.hidden)
            else:
                text = bounds_script(result, view.claim)
        except ValueError as error:  # not permitted to be shown
            window.show_problem(explain(error, "export"))
            return
        QGuiApplication.clipboard().setText(text)
        self.message.emit(f"The {_CODE[kind]} is on the clipboard{more}.")

    def review(self, suffix: str) -> None:
        """Copy the reviewer's summary of the guarantee; a PDF page goes to a file.

        `suffix` is the suffix of a format of `Kind.REVIEWER`.
        """
        window, result, path = self._window, self._window.shown_result, None
        if self.refused() or result is None:
            return
        if suffix == "pdf":
            start = str(Path(window.files.folder()) / "guarantee.pdf")
            name, _ = QFileDialog.getSaveFileName(window, "One-page PDF", start, "PDF (*.pdf)")
            if not name:
                return
            path = Path(name).with_suffix(".pdf")
        view = public_view(result, window.workspace.view_state())
        recipe = self._whole_recipe(result.request, window.data.current, view)
        self._start(ExportJob(result, view, recipe, by_suffix(suffix, Kind.REVIEWER), path))

    def refused(self) -> bool:
        """Report why nothing can be exported, if so."""
        why = self._window.why_no_export()
        if why:
            self.message.emit(why)
        return bool(why)

    def _start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        self.controller.start(self._with_picture(job), animation)

    def _with_picture(self, job: ExportJob) -> ExportJob:
        """Return the job with the background picture that its view names."""
        backdrop = getattr(self._window.workspace, "backdrop", None)
        if backdrop is not None and job.view.picture == backdrop.value:
            return replace(job, backdrop=backdrop.data)
        return job

    def _done(self, job: ExportJob) -> None:
        self._window.banner.settled("export")
        if job.path is None:
            what = _COPIED.get(job.format.kind, "numbers are")
            self.message.emit(f"The {what} on the clipboard.")
        else:
            self._window.session_store.note_file(job.path)
            self.message.emit(f"Exported to {job.path.name}.")


DPI = 300
"""Maximum resolution in dots per inch; printers accept more without visible gain."""


class Printing(QObject):
    """Renders the current view for a page, in a thread, and prints it.

    Printing passes the same export policy as files, with the same caption and stamps.

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
        """Ask for a printer (A4 landscape by default) and print."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # rarely used, slow to import

        if self._output.refused():
            return
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        printer.setPageOrientation(QPageLayout.Orientation.Landscape)
        if QPrintDialog(printer, self._window).exec():
            self.print_on(printer)

    def print_on(self, printer: QPrinter) -> None:
        """Print the current view on a printer's page."""
        inches = printer.pageLayout().paintRect(QPageLayout.Unit.Inch)
        dpi = min(printer.resolution(), DPI)
        size = round(inches.width() * dpi), round(inches.height() * dpi)
        job = self._output.picture_job("png", size, dpi)
        if job is not None:
            self._printer = printer
            self.job.submit(job, lambda _task: rendered(job))

    def cancel(self) -> None:
        """Cancel rendering."""
        self.job.cancel()

    def close(self) -> None:
        """Cancel rendering and wait."""
        self.job.close()

    def _drawn(self, _job: ExportJob, content: bytes) -> None:
        printer, self._printer = self._printer, None
        painter = QPainter()
        if printer is None or not painter.begin(printer):
            self._output.message.emit("The printer could not be reached; nothing was printed.")
            return
        painter.drawImage(painter.viewport(), QImage.fromData(QByteArray(content)))
        painter.end()
        self._output.message.emit("The page is with the printer.")
