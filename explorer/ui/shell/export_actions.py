"""File ▸ Export and Copy: from the answer in front to a job for the exporter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from explorer.engine.session.recipe import Recipe
from explorer.figures.animation.frames import Animation
from explorer.figures.export_job import ExportJob
from explorer.figures.formats import Kind, by_suffix
from explorer.figures.gate import gate
from explorer.figures.view_state import ViewState
from explorer.ui.base.errors import explain
from explorer.ui.controllers.export_controller import DRAWS, ExportController
from explorer.ui.dialogs.export import ExportDialog, public_view

if TYPE_CHECKING:
    from explorer.studies.base.study import Request
    from explorer.ui.controllers.workspace import Exported
    from explorer.ui.shell.context import WindowContext


class ExportActions(QObject):
    """Exports and copies what a window shows.

    Signals
    -------
    said(str)
        What was done, for the status bar.
    """

    said = Signal(str)

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.controller = ExportController(window.service.runtime.answer, self)
        self.dialog: ExportDialog | None = None
        window.export_asked.connect(self.ask_for)
        self.controller.done.connect(self._done)
        self.controller.failed.connect(lambda error: window.show_problem(explain(error, "export")))
        self.controller.cancelled.connect(lambda: self.said.emit("Nothing was exported."))

    def recipe(self, view: ViewState) -> dict[str, Any]:
        """Return the recipe of the answer in front under a view, as far as it may be written.

        Raises
        ------
        ValueError
            If nothing of it may be written under that view (`gate`).
        """
        result = self._window.current_result
        assert result is not None
        return dict(gate(result, view, self._whole_recipe(result.request, view))[2])

    def _whole_recipe(self, asked: Request, view: ViewState) -> dict[str, Any]:
        data = self._window.data.current if asked.selection is not None else None
        name = data.basename if data is not None else ""
        columns = data.mapping.stored() if data is not None else {}
        return Recipe(asked, name, view=view.to_dict(), columns=columns).to_dict()

    def ask(self) -> None:
        """Open the export dialog for what is in front."""
        window = self._window
        if tool := window.tool:
            tool.export_file()
            return
        if (subject := window.workspace.exported()) is not None:
            self.ask_for(subject)
            return
        result = window.shown_result
        if result is None:
            return
        data = window.data.current
        self._open(
            ExportDialog(
                result, window.workspace.view_state(), self.recipe, window.files.folder(), window,
                times=(None, None) if data is None else (data.first_time, data.last_time),
            )
        )  # fmt: skip

    def ask_for(self, subject: Exported) -> None:
        """Open the export dialog for something that is not the answer in front."""
        window = self._window
        recipe = {
            **self._whole_recipe(subject.asked, window.workspace.view_state()), **subject.told
        }  # fmt: skip
        folder = window.files.folder()
        self._open(ExportDialog(subject.result, subject.view, lambda _: recipe, folder, window))

    def _open(self, dialog: ExportDialog) -> None:
        self.dialog = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._start)
        dialog.open()

    def copy(self, fmt: str) -> None:
        """Copy the answer in front as ``png`` or ``csv``, never with the true map."""
        window = self._window
        if tool := window.tool:
            tool.copy("csv")
            return
        result = window.shown_result
        if result is None:
            return
        view = public_view(result, window.workspace.view_state())
        recipe = self._whole_recipe(
            result.request, view
        )  # the gate is passed, or not, as it is written
        self._start(ExportJob(result, view, recipe, by_suffix(fmt)))

    def _start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        """Start a job, with the picture that its view names."""
        backdrop = getattr(self._window.workspace, "backdrop", None)
        if backdrop is not None and job.view.picture == backdrop.value:
            job = replace(job, backdrop=backdrop.data)
        self.controller.start(job, animation)

    def _done(self, job: ExportJob) -> None:
        self._window.banner.settled("export")
        if job.path is None:
            what = "picture is" if job.format.kind is Kind.PICTURE else "numbers are"
            self.said.emit(f"The {what} on the clipboard.")
        else:
            self._window.keeper.note_file(job.path)
            self.said.emit(f"Exported to {job.path.name}.")
