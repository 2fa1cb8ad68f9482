"""What the data panel shows of a plane that is not the Earth: range, image, picture behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from explorer.studies.base.study import Selection
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.choice_box import ChoiceBox

PICTURES = "Pictures (*.png *.jpg *.jpeg)"
SEVERAL = (
    "One image at a time. Somebody who is in several images is in as many maps, whose ε add up."
)


class PlanePart(QWidget):
    """Hidden while the map is one of the Earth.

    Signals
    -------
    image_chosen(str)
    picture_chosen(Path)
    picture_cleared()
    """

    image_chosen = Signal(str)
    picture_chosen = Signal(object)
    picture_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.range = styled_label("muted", word_wrap=True)
        self.image = ChoiceBox("Image whose points are in the map")
        self.image.setToolTip(SEVERAL)
        self.image.activated.connect(lambda _: self.image_chosen.emit(self.image.currentData()))
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
        """Show the plane of check-ins and which image is chosen; hide without a plane."""
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
        """Say which picture is behind the map."""
        self.picture.setText(f"behind the map: {name}")
        self.picture.setVisible(bool(name))
        self.clear_button.setEnabled(bool(name))

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Background picture", "", PICTURES)
        if path:
            self.picture_chosen.emit(Path(path))
