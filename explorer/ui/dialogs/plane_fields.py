"""The range of x and y, where they are no degrees: typed, or that of a picture."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QWidget

from explorer.figures.pages.backdrop import MOST_BYTES, size_of
from explorer.files import read_bounded
from explorer.geography.plane import PIXEL, Plane, plain
from explorer.ui.base.styled import plain_label
from explorer.ui.panels.plane import PICTURES
from explorer.ui.widgets.check_box import CheckBox
from explorer.ui.widgets.choice_box import ChoiceBox

ENDS = (("left", "x from"), ("right", "to"), ("low", "y from"), ("high", "to"))
NOT_YET = "Declare the range of x and y: it is not taken from the data, which it would tell of."


class PlaneFields(QWidget):
    """A check box, and the range while it is ticked.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.picture: Path | None = None
        """The picture whose range was taken."""
        self._wrong = ""
        self.on = CheckBox("&x and y of a picture or another plane, no degrees", self)
        self.on.toggled.connect(self._update)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.on)
        self.ends: dict[str, QLineEdit] = {}
        self._parts: list[QWidget] = []
        for key, name in ENDS:
            field = self.ends[key] = QLineEdit("0" if key in ("left", "low") else "")
            field.setAccessibleName(f"{'x' if key in ('left', 'right') else 'y'}, {key} end")
            field.setFixedWidth(64)
            label = plain_label(name)
            label.setBuddy(field)
            self._parts += [label, field]
        self.unit = QLineEdit(PIXEL)
        self.unit.setAccessibleName("Unit of x and y")
        self.unit.setFixedWidth(48)
        self.way = ChoiceBox("Which way y goes")
        self.way.offer([("down", "y down"), ("up", "y up")], "down")
        self.button = QPushButton("Of a picture…")
        self.button.setToolTip("Take the size of a PNG or JPEG picture, and lay it behind the map")
        self.button.clicked.connect(self._ask)
        self._parts += [self.unit, self.way, self.button]
        for widget in self._parts:
            row.addWidget(widget)
        row.addStretch(1)
        for edit in (*self.ends.values(), self.unit):
            edit.textChanged.connect(self._update)
        self.way.currentIndexChanged.connect(self._update)
        self._update()

    @property
    def text(self) -> str | None:
        """The plane as `Plane.text`, empty while there is none; None for degrees."""
        if not self.on.isChecked():
            return None
        plane = self._plane()
        return "" if plane is None else plane.text

    @property
    def problem(self) -> str:
        """What is wrong or missing."""
        return "" if self.text is None or self.text else self._wrong or NOT_YET

    def show_plane(self, text: str | None) -> None:
        """Show a plane, an undeclared one for an empty text, or degrees for None."""
        self.on.setChecked(text is not None)
        if text:
            plane = Plane.parse(text)
            for key, field in self.ends.items():
                field.setText(plain(getattr(plane, key)))
            self.unit.setText(plane.unit)
            self.way.setCurrentIndex(self.way.findData("down" if plane.down else "up"))

    def take_picture(self, path: Path) -> None:
        """Take a picture's size for the range."""
        try:
            width, height = size_of(read_bounded(path, MOST_BYTES), path.name)
        except (OSError, ValueError) as error:
            self._wrong = f"{error}."
            self.changed.emit()
            return
        self.picture = path
        self.show_plane(Plane(0.0, 0.0, float(width), float(height)).text)

    def _plane(self) -> Plane | None:
        texts = {key: field.text().strip() for key, field in self.ends.items()}
        self._wrong = ""
        if not all(texts.values()):
            return None
        try:
            numbers = {key: float(text) for key, text in texts.items()}
            down = self.way.currentData() == "down"
            return Plane(**numbers, unit=self.unit.text().strip(), down=down)
        except ValueError as error:
            text = str(error).partition("could not convert string to float: ")
            self._wrong = f"{text[2]} is no number." if text[2] else f"{text[0]}."
            return None

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Picture that x and y lie in", "", PICTURES)
        if path:
            self.take_picture(Path(path))

    def _update(self) -> None:
        for widget in self._parts:
            widget.setVisible(self.on.isChecked())
        self.changed.emit()
