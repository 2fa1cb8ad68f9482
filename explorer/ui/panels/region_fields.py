"""The four ends of a region, to be typed: degrees, or x and y of another plane."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from explorer.geography.region import Region
from explorer.ui.base.styled import plain_label
from explorer.ui.widgets.value_field import ValueField

SIDES = ("south", "west", "north", "east")
"""In the order of `Region.declared`."""
_LIMITS = {"south": 90, "north": 90, "west": 180, "east": 180}
_ON_A_PLANE = {"south": "y from", "north": "y to", "west": "x from", "east": "x to"}


class RegionFields(QWidget):
    """A field for each end, named after the plane that the region lies in.

    Signals
    -------
    entered(str, float), stepped(str, int)
        Which end (of `SIDES`), and the number typed or the steps taken.
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
        """Show a region's ends."""
        self._name(region.unit if region.plane is not None else "")
        for side, end in zip(SIDES, region.declared, strict=True):
            self.fields[side].set_number(round(end, 6))

    def _name(self, unit: str) -> None:
        """Name the fields: of the Earth without a unit."""
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
