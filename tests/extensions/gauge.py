"""A made-up workspace: the first number of an answer, and nothing else."""

from __future__ import annotations

from typing import Self

from PySide6.QtWidgets import QLabel, QVBoxLayout

from explorer.studies.base.study import Result
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost


class Gauge(Workspace):
    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        page = cls(window)
        page.number = QLabel()
        QVBoxLayout(page).addWidget(page.number)
        window.answers["gauge"].result_ready.connect(page.show_result)
        return page

    def show_result(self, result: Result, _ms: float) -> None:
        self.current_result = result
        self.number.setText(f"{result.readouts[0].value:.3g}")
