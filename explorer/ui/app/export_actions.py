"""Export, Copy and Print: actions of the menus, and writing to files or the clipboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPageLayout, QPageSize, QPainter
from PySide6.QtWidgets import QFileDialog

from explorer.engine.runtime import final_result, first_result
from explorer.engine.service import StudyService
from explorer.engine.session.code_export import bounds_line, bounds_script, map_line, map_script
from explorer.engine.session.link import left_out, link_of
from explorer.engine.session.plot_view import hidden_keys
from explorer.engine.session.recipe import Recipe
from explorer.engine.session.session import SessionState, with_quantity
from explorer.figures.animation_frames import Animation, with_frames
from explorer.figures.export import ExportJob, apply_export_policy, render
from explorer.figures.formats import ExportFormat, Kind, by_suffix
from explorer.figures.view_state import ViewState
from explorer.files import write_whole
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import Fidelity, Request, Result
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.dialogs.export import ExportDialog, public_view

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from explorer.checkins import CheckinData
    from explorer.studies.base.study import Request, Result
    from explorer.ui.app.context import WindowContext
    from explorer.ui.controllers.workspace import Exported


DRAWS = Animation()
Answer = Callable[[Request, Callable[[], None]], Iterator[Result]]
"""``answer(request, check)`` yields results; the first ones are frames."""


class ExportController(QObject):
    """Runs one export at a time in a thread.

    Rendering cannot be interrupted; a cancelled export writes nothing.

    Signals
    -------
    done(ExportJob)
        Emitted when the file is complete or the clipboard is set.
    failed(Exception)
    cancelled()
    busy_changed(bool)
    progress(float)
        Completed share of an animation.
    """

    done = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)
    progress = Signal(float)

    def __init__(self, answer: Answer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answer = answer
        self._job = LatestJob("export", self, preempt_after_s=0.0)
        self._job.done.connect(self._written)
        self._job.failed.connect(lambda _job, error: self.failed.emit(error))
        self._job.progress.connect(lambda _job, done: self.progress.emit(done))
        self._job.busy_changed.connect(self.busy_changed)

    @property
    def busy(self) -> bool:
        """Whether an export is running."""
        return self._job.busy

    def start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        """Run a job, with its frames if it is an animation; a running one is cancelled."""
        self._job.submit(job, lambda task: self._carry_out(job, animation, task))

    def cancel(self) -> None:
        """Cancel the running job; it writes nothing."""
        if self._job.cancel():
            self.cancelled.emit()

    def close(self) -> None:
        """Cancel and wait for the thread; nothing is signalled afterwards."""
        self._job.close()

    def _carry_out(self, job: ExportJob, animation: Animation, task: Task) -> bytes:
        def report(done: float) -> None:
            task.check()
            task.report(done)

        job = with_frames(replace(job, report=report), animation, self._answer, task.check)
        content = render(job)
        task.check()
        if job.path is not None:
            write_whole(job.path, content)
        return content

    def _written(self, job: ExportJob, content: bytes) -> None:
        if job.path is None:
            _copy(job.format, content)
        self.done.emit(job)


def _copy(form: ExportFormat, content: bytes) -> None:
    """Copy a picture (with its recipe) or a table to the clipboard."""
    mime = QMimeData()
    if form.clipboard.startswith("image/"):
        mime.setImageData(QImage.fromData(QByteArray(content)))
        mime.setData(form.clipboard, QByteArray(content))
    else:
        mime.setText(content.decode())
    QGuiApplication.clipboard().setMimeData(mime)


SUFFIXES = ("pdf", "csv")
NOT_COMPLETE = "Some curves are still those of the last answer. Try again in a moment."
Recipes = Callable[[Request, ViewState], Mapping[str, Any]]


class ExportAll(QObject):
    """Exports all quantities in a thread; after cancellation complete files stay.

    Signals
    -------
    done(Path, int)
        The folder and the number of files written.
    failed(Exception)
    busy_changed(bool)
    progress(float)
    """

    done = Signal(object, int)
    failed = Signal(object)
    busy_changed = Signal(bool)
    progress = Signal(float)

    def __init__(self, service: StudyService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._job = LatestJob("export of all", self, preempt_after_s=0.0)
        self._job.done.connect(lambda folder, written: self.done.emit(folder, written))
        self._job.failed.connect(lambda _folder, error: self.failed.emit(error))
        self._job.busy_changed.connect(self.busy_changed)
        self._job.progress.connect(lambda _folder, share: self.progress.emit(share))

    @property
    def busy(self) -> bool:
        """Whether an export is running."""
        return self._job.busy

    def start(self, state: SessionState, theme: str, recipe: Recipes, parent: Path) -> None:
        """Export all quantities of the current study into a new subfolder.

        Parameters
        ----------
        state : SessionState
        theme : str
        recipe : callable
            Returns the recipe of a request under a view.
        parent : Path
        """
        names = chain([state.study], (f"{state.study}-{n}" for n in count(2)))
        folder = next(parent / name for name in names if not (parent / name).exists())
        self._job.submit(folder, lambda task: self._write(state, theme, recipe, folder, task))

    def cancel(self) -> None:
        """Cancel the export."""
        self._job.cancel()

    def close(self) -> None:
        """Cancel, and wait for the thread."""
        self._job.close()

    def _write(
        self, state: SessionState, theme: str, recipe: Recipes, folder: Path, task: Task
    ) -> int:
        keys = [q.key for q in get_study(state.study).quantities]
        folder.mkdir()
        for place, key in enumerate(keys):
            request = with_quantity(state.request_of(state.study), key)
            result = self._service.call(final_result, request, task.check)
            view = window_view(state, result, theme)
            for suffix in SUFFIXES:
                task.check()
                job = ExportJob(result, view, recipe(request, view), by_suffix(suffix))
                write_whole(folder / f"{state.study}-{key}.{suffix}", render(job))
            task.report((place + 1) / len(keys))
        return len(keys) * len(SUFFIXES)


def window_view(state: SessionState, result: Result, theme: str) -> ViewState:
    """Return the view in which the window would show a result."""
    request = result.request
    look = state.look_of(request.study, request.quantity)
    claim = state.claim_of(request.study, request.quantity)
    claim_result = evaluate_claim(result, claim)
    keys = [series.key for series in result.series]
    hidden = hidden_keys(
        look, request, keys, claim_result.series.key if claim_result is not None else ""
    )
    return ViewState.for_result(
        result, theme=theme, y_log=look.y_log, hidden=tuple(sorted(hidden)), claim=claim
    )


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
        request, view = subject.asked, window.workspace.view_state()
        recipe = {**self._whole_recipe(request, window.data.current, view), **subject.told}
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
        """Report why nothing can be exported, if so.

        An answer that shows curves or numbers of an earlier one is never written anywhere.
        """
        why, result = self._window.why_no_export(), self._window.current_result
        if not why and result is not None and (result.outdated or result.outdated_numbers):
            why = NOT_COMPLETE
        if why:
            self.message.emit(why)
        return bool(why)

    def _start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        self.controller.start(self._with_picture(job), animation)

    def _with_picture(self, job: ExportJob) -> ExportJob:
        """Return the job with the background picture and files that its view names."""
        backgrounds = getattr(self._window.workspace, "backgrounds", None)
        if backgrounds is not None and job.view.backgrounds:
            job = replace(job, backgrounds=backgrounds.files(job.view.backgrounds))
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
            self.job.submit(job, lambda _task: render(job))

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
