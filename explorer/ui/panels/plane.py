"""Fields for the region and for planes other than the Earth."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.geography.region import Region
from explorer.studies.base.study import Selection
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.value_field import ValueField

PICTURES = "Pictures (*.png *.jpg *.jpeg)"
SEVERAL = (
    "One image at a time. Somebody who is in several images is in as many maps, whose ε add up."
)


class PlanePart(QWidget):
    """Hidden for maps of the Earth.

    Signals
    -------
    image_chosen(str)
    picture_chosen(Path)
    picture_cleared()
    """

    image_selected = Signal(str)
    picture_selected = Signal(object)
    picture_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.range = styled_label("muted", word_wrap=True)
        self.image = ChoiceBox("Image whose points are in the map")
        self.image.setToolTip(SEVERAL)
        self.image.activated.connect(lambda _: self.image_selected.emit(self.image.currentData()))
        self.image_label = plain_label("&Image")
        self.image_label.setBuddy(self.image)
        self.open_button = QPushButton("Background picture…")
        self.open_button.setToolTip("A PNG or JPEG picture behind the map, over the whole range")
        self.open_button.clicked.connect(self._ask)
        self.clear_button = QPushButton("Clear")
        self.clear_button.setAccessibleName("Clear the background picture")
        self.clear_button.clicked.connect(self.picture_cleared)
        self.picture = styled_label("muted", word_wrap=True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.range)
        for widgets in ((self.image_label, self.image), (self.open_button, self.clear_button)):
            row = QHBoxLayout()
            for place, widget in enumerate(widgets):
                row.addWidget(widget, int(widget is self.image or place == 0))
            box.addLayout(row)
        box.addWidget(self.picture)
        self.show_picture("")
        self.hide()

    def show_data(self, data: Any, selection: Selection | None) -> None:
        """Show the plane of check-ins and the selected image; hidden without a plane."""
        plane = None if data is None else data.plane
        self.setVisible(plane is not None and selection is not None)
        if plane is None or selection is None:
            return
        self.range.setText(plane.sentence)
        for widget in (self.image, self.image_label):
            widget.setVisible(bool(data.images))
        with QSignalBlocker(self.image):
            self.image.offer([(name, name) for name in data.images], selection.image or "")

    def show_picture(self, name: str) -> None:
        """Show the name of the background picture."""
        self.picture.setText(f"behind the map: {name}")
        self.picture.setVisible(bool(name))
        self.clear_button.setEnabled(bool(name))

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Background picture", "", PICTURES)
        if path:
            self.picture_selected.emit(Path(path))


SIDES = ("south", "west", "north", "east")
"""In the order of `Region.declared`."""
_LIMITS = {"south": 90, "north": 90, "west": 180, "east": 180}
_ON_A_PLANE = {"south": "y from", "north": "y to", "west": "x from", "east": "x to"}


class RegionFields(QWidget):
    """One field per side of the region, named after the axes of its plane.

    Signals
    -------
    entered(str, float), stepped(str, int)
        Side (of `SIDES`), and the number typed or the steps taken.
    """

    entered = Signal(str, float)
    stepped = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._unit = ""
        self.fields: dict[str, ValueField] = {}
        self._labels: dict[str, QLabel] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        for place, side in enumerate(("south", "north", "west", "east")):
            field = ValueField(partial(self._checked, side))
            field.entered.connect(lambda value, n=side: self.entered.emit(n, value))
            field.stepped.connect(lambda step, n=side: self.stepped.emit(n, step))
            label = plain_label()
            label.setBuddy(field)
            self.fields[side], self._labels[side] = field, label
            grid.addWidget(label, place // 2, 2 * (place % 2))
            grid.addWidget(field, place // 2, 2 * (place % 2) + 1)
        self._name("")

    def show_region(self, region: Region) -> None:
        """Show the sides of a region."""
        self._name(region.unit if region.plane is not None else "")
        for side, end in zip(SIDES, region.declared, strict=True):
            self.fields[side].set_number(round(end, 6))

    def _name(self, unit: str) -> None:
        """Name the fields; on the Earth without a unit."""
        self._unit = unit
        for side, field in self.fields.items():
            name, limit = _ON_A_PLANE[side], _LIMITS[side]
            if unit:
                self._labels[side].setText(name)
                field.setAccessibleName(f"Region, {name}, in {unit}")
                field.set_help(f"Region: {name}, in {unit}")
            else:
                self._labels[side].setText(side.capitalize())
                field.setAccessibleName(f"Region, {side}ern edge in degrees")
                field.set_help(f"{side.capitalize()}ern edge in degrees, −{limit}…{limit}")

    def _checked(self, side: str, value: float) -> float:
        limit = _LIMITS[side]
        if not self._unit and not -limit <= value <= limit:
            raise ValueError(f"{side}: {value:g} is outside −{limit}…{limit} degrees")
        return value
