"""Preview map of a file that is being opened, shown in place of the panes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from explorer.studies.heatmap.parameters import TRUE
from explorer.studies.heatmap.text import stamp
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.styled import styled_label
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.preview import PreviewPicture
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.map.camera import MapCamera
from explorer.ui.map.panes import MapPanes, Slot

HINT = "Open check-ins with File ▸ Open check-ins…, or drop a file here."
UNREAD_NOTE = "The private map comes once every row is read."


class PreviewStack(QStackedWidget):
    """Shows the panes, or the preview of a file with the share of rows it is based on.

    The preview is never a result, so that no export, recipe or number can be derived from it. It is
    removed with the first result for all rows, and when loading fails or is cancelled.

    Parameters
    ----------
    panes : MapPanes
    banner : Banner
        Controller of the map; states what to do while there is no data.
    data : DataController
    answers : StudyController
        Camera of the map.
    """

    def __init__(
        self, panes: MapPanes, banner: Banner, data: DataController, answers: StudyController
    ) -> None:
        super().__init__()
        self._panes, self._banner, self._data = panes, banner, data
        self._loaded = False
        self.picture: PreviewPicture | None = None
        self.around: tuple[QWidget, ...] = ()
        """Widgets that describe the check-ins of the maps; disabled during the preview."""
        self._early = QWidget()
        self._camera = MapCamera(self)
        self.slot = Slot(self._camera, self._early)
        self.slot.hide()
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(self.slot.header)
        column.addWidget(self.slot.stamp)
        column.addWidget(self.slot.pane, 1)
        self.slot.header.show()
        self.slot.pane.show()
        rest = styled_label("muted", UNREAD_NOTE, word_wrap=True)
        rest.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = QHBoxLayout(self._early)
        row.setContentsMargins(4, 2, 4, 2)
        row.addLayout(column, 1)
        row.addWidget(rest, 1)
        self.addWidget(panes)
        self.addWidget(self._early)
        data.looked.connect(self.show_picture)
        data.loaded.connect(lambda _data: self._rows_are_there())
        answers.result_ready.connect(lambda *_: self._answered())
        answers.failed.connect(lambda *_: self._answered())

    def show_picture(self, picture: PreviewPicture | None) -> None:
        """Show a preview instead of the maps, or the maps again."""
        before, self.picture, self._loaded = self.picture, picture, False
        if picture is None:
            self._show_maps()
            return
        pane, header = self.slot.pane, self.slot.header
        if before is None:
            self.slot.take(TRUE, self._panes.colour_map)
            self._banner.settled("hint")
            self._turn_to(self._early)
        pane.set_style(self._panes.style_of_map)
        pane.set_region(picture.region)
        pane.set_surface(picture.values, picture.region, float(picture.values.max()))
        header.set_title(f"True: {picture.label}")
        self.slot.set_stamp(f"{picture.label} — {stamp(synthetic=False, curator_only=True)}")
        pane.setAccessibleName(f"True heatmap, {picture.label}, curator only")
        if before is None or before.region != picture.region:
            for layout in (self.layout(), self._early.layout()):  # the pane has its size now
                if layout is not None:
                    layout.activate()
            self._camera.set_plane(picture.region.plane)
            self._camera.fit(picture.region.box, pane.width(), pane.height())
            self._camera.set_aspect(picture.region.aspect)

    def _rows_are_there(self) -> None:
        self._loaded = True

    def _answered(self) -> None:
        """Remove the preview if a result is for the loaded rows."""
        if self._loaded:
            self.picture, self._loaded = None, False
            self._show_maps()

    def _show_maps(self) -> None:
        if self.currentWidget() is self._panes:
            return
        self._turn_to(self._panes)
        self.slot.pane.clear_surface()
        if self._data.current is None:
            self._banner.show_problem(Problem("hint", HINT))

    def _turn_to(self, page: QWidget) -> None:
        """Show a page; what describes the check-ins of the maps is disabled beside another."""
        self.setCurrentWidget(page)
        for widget in self.around:
            widget.setEnabled(page is self._panes)
