"""Map and data panel with real services, without the main window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QWidget

from datasets.generate_checkins import main as generate
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.map.workspace import MapWorkspace
from explorer.ui.panels.data import DataPanel


class MapPage:
    """Map workspace, data panel and their session, service and controllers."""

    def __init__(self, qtbot, session: Session | None = None) -> None:
        self.qtbot = qtbot
        self.session = session or Session(SessionState("heatmap"))
        self.service = StudyService(compute_process=True)
        self.controller = StudyController(self.session, self.service, "map")
        self.data = DataController(self.session, self.service)
        self.widget = QWidget()
        self.map = MapWorkspace(self.session, self.service, self.controller, self.data)
        self.panel = DataPanel(self.session, self.data, self.map)
        self.data.mapping_needed.connect(self.panel.ask_mapping)
        self.data.import_requested.connect(self.panel.ask_import)
        row = QHBoxLayout(self.widget)
        row.addWidget(self.panel)
        row.addWidget(self.map, 1)
        self.widget.resize(1100, 720)
        self.widget.show()
        qtbot.waitExposed(self.widget)

    def load(self, path: Path, **how: object) -> None:
        with self.qtbot.waitSignal(self.data.loaded):
            self.data.open(path, **how)

    def answered(self) -> object:
        """Wait for a result of the newest request; its metrics may be missing."""
        self.qtbot.waitUntil(
            lambda: (
                self.map.current_result is not None
                and self.map.current_result.request == self.controller.request
                and not self.map.current_result.early
            ),
        )
        return self.map.current_result

    def measured(self) -> object:
        """Wait for a result with metrics."""
        self.answered()
        self.qtbot.waitUntil(
            lambda: self.map.current_result.readout("similarity").value is not None
        )
        return self.map.current_result

    @property
    def region(self):
        return self.session.state.selection.region

    def close(self) -> None:
        self.panel.close_panel()
        self.controller.close()
        self.data.close()
        self.map.close_workspace()
        self.service.close()
        self.widget.close()
        self.widget.deleteLater()


@contextmanager
def opened(qtbot, session: Session | None = None) -> Iterator[MapPage]:
    map_page = MapPage(qtbot, session)
    try:
        yield map_page
    finally:
        map_page.close()


def made_checkins(folder: Path, rows: int = 3000, users: int = 80, name: str = "made.txt") -> Path:
    """Write a file of synthetic check-ins in SNAP text and return its path."""
    path = folder / name
    if not path.exists():
        generate(["--users", str(users), "--rows", str(rows), "--seed", "5", str(path)])
    return path
