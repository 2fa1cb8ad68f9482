"""Dialog to select a region among the busiest cells, with its privacy cost; place names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import first_longitude, format_place
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Selection
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label, plain_tip, styled_label
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.widgets.boxes import ChoiceBox

if TYPE_CHECKING:
    from explorer.checkins import Cell, CheckinData


_THERE_KM = 1.0


def near_town(latitude: float, longitude: float) -> str:
    """Return the nearest town with its distance, if that exceeds a kilometre."""
    town, km = shipped_cities().nearest(latitude, longitude)
    return town.name if km < _THERE_KM else f"{town.name}, {km:,.0f} km"


def town_of(box: Box) -> str:
    """Return the largest town in a box of degrees, else the one nearest to its centre."""
    south, west, north, east = box
    largest = shipped_cities().visible(box, 1)
    if largest:
        return largest[0].name
    return f"nearest town: {near_town((south + north) / 2, (west + east) / 2)}"


def region_town(region: Region) -> str:
    """Return the town that names a region; empty for a plane other than the Earth."""
    return "" if region.plane is not None else town_of(region.box)


COLUMNS = ["Check-ins", "Users", TOWN := "Nearest town", MIDDLE := "Middle", "Size"]
PARTITION = 300
TOP = 30
WARNING = (
    "Which cells are busiest is read from the real check-ins. Choosing a region this way is not "
    "private: the choice itself tells something about the users, on top of the map's ε."
)


class BusiestDialog(QDialog):
    """Lists the 30 busiest cells of a 300 × 300 grid of all check-ins or of the view.

    Parameters
    ----------
    files : DataController
        Counts the check-ins.
    data : CheckinData
    view : Box
        Box in view.
    selection : Selection
        Provides the time range.

    Signals
    -------
    region_chosen(Region)
    """

    region_selected = Signal(object)

    def __init__(
        self,
        files: DataController,
        data: CheckinData,
        view: Box,
        selection: Selection,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._files, self._data = files, data
        self._selection = selection
        self._regions: list[Region] = []
        self.setWindowTitle("Choose a region from the busiest cells")
        self._job = LatestJob("finding the busiest cells", self)
        self.finished.connect(self._job.close)
        self._job.done.connect(self._fill)
        self._job.failed.connect(self._failed)
        warning = styled_label("notes", WARNING, word_wrap=True)
        self.area = ChoiceBox("What is divided into 300 × 300 cells")
        self.area.addItem("all check-ins", data.extent)
        self.area.addItem("what the map shows", view if selection.region.plane else _on_globe(view))
        self.area.addItem("the region in use", selection.region.box)
        self.area.currentIndexChanged.connect(self._ask)
        row = QHBoxLayout()
        label = plain_label("300 × 300 cells of")
        label.setBuddy(self.area)
        row.addWidget(label)
        row.addWidget(self.area, 1)
        self.table = QTableWidget(0, len(COLUMNS))
        self.table.setAccessibleName("Busiest cells, busiest first")
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.setColumnHidden(COLUMNS.index(TOWN), selection.region.plane is not None)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        wide = TOWN if selection.region.plane is None else MIDDLE
        header.setSectionResizeMode(COLUMNS.index(wide), QHeaderView.ResizeMode.Stretch)
        self.table.setWordWrap(False)
        self.table.doubleClicked.connect(self._accept)
        self.table.itemSelectionChanged.connect(self._selected)
        self.state = styled_label("muted", word_wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.use_button = buttons.addButton(
            "Use this cell as region", QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.use_button.setEnabled(False)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(warning)
        box.addLayout(row)
        box.addWidget(self.table, 1)
        box.addWidget(self.state)
        box.addWidget(buttons)
        self.resize(680, 520)
        self._ask()

    def _ask(self) -> None:
        self.table.setRowCount(0)
        self._regions = []
        self.state.setText("Counting …")
        box = self.area.currentData()
        selected = self._selection
        arguments = (
            _pad_box(box),
            PARTITION,
            TOP,
            selected.start,
            selected.end,
            "rows",
            selected.image,
        )
        earth = selected.region.plane is None

        def count(task: Task) -> list[tuple[Cell, str]]:
            cells = self._files.ask(task, self._data, "busiest_cells", *arguments)
            return [(cell, near_town(*_middle(cell.box)) if earth else "") for cell in cells]

        self._job.submit(box, count)

    def _fill(self, _key: object, cells: list[tuple[Cell, str]]) -> None:
        shown = [
            (cell, town, region)
            for cell, town in cells
            if (region := self._region(cell.box)) is not None
        ]
        self._regions = [region for *_, region in shown]
        self.table.setRowCount(len(shown))
        for place, (cell, town, region) in enumerate(shown):
            east = (region.west + region.east) / 2
            middle = format_place(region.mid_latitude, east, 3, region.plane)
            wide, high = region.sides
            texts = (
                f"{cell.rows:,}",
                f"{cell.users:,}",
                town,
                middle,
                f"{wide:,.3g} × {high:,.3g} {region.unit}",
            )
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_tip(text))
                if COLUMNS[column] not in (TOWN, MIDDLE):
                    item.setTextAlignment(
                        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                    )
                self.table.setItem(place, column, item)
        self.state.setText(
            "Within the time range in use." if shown else "There is no check-in in there."
        )
        if shown:
            self.table.selectRow(0)

    def _failed(self, _key: object, error: Exception) -> None:
        self.state.setText(explain(error, "data").sentence)

    def _region(self, box: Box) -> Region | None:
        try:
            return self._selection.region.at(box)
        except ValueError:
            return None

    def _selected(self) -> None:
        self.use_button.setEnabled(self.chosen is not None)

    @property
    def chosen(self) -> Region | None:
        """Region of the selected row."""
        row = self.table.currentRow()
        return self._regions[row] if 0 <= row < len(self._regions) else None

    def _accept(self) -> None:
        if self.chosen is not None:
            self.region_selected.emit(self.chosen)
            self.accept()


def _middle(box: Box) -> tuple[float, float]:
    south, west, north, east = box
    return (south + north) / 2, (west + east) / 2


def _on_globe(box: Box) -> Box:
    south, west, north, east = box
    start = first_longitude(west, east)
    return (max(south, -90.0), max(west, start), min(north, 90.0), min(east, start + 360))


def _pad_box(box: Box) -> Box:
    """Return the box, enlarged if all check-ins share a latitude or longitude."""
    south, west, north, east = box
    if south >= north:
        south, north = max(south - 0.01, -90.0), min(north + 0.01, 90.0)
    if west >= east:
        west, east = max(west - 0.01, -180.0), min(east + 0.01, 180.0)
    return (south, west, north, east)
