"""Dialog for the corners of a polygon region as text."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.geography.region import PolygonRegion, Region, parse_points, written_points
from explorer.ui.base.styled import plain_label, styled_label

EXAMPLE = "40.70, -74.02\n40.88, -73.93\n40.80, -73.90"
HELP = (
    "One point a line: latitude, longitude in degrees, in order around the region. At least 3 "
    "points; the last is joined to the first."
)


class RegionPointsDialog(QDialog):
    """Edits the corners of a polygon, one a line.

    Parameters
    ----------
    region : Region
        Its corners are offered if it is a polygon.

    Signals
    -------
    entered(object)
        List of (latitude, longitude) of a valid polygon.
    """

    entered = Signal(object)

    def __init__(self, region: Region, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Region from points")
        self.edit = QPlainTextEdit("\n".join(written_points(region)))
        self.edit.setPlaceholderText(EXAMPLE)
        self.edit.setTabChangesFocus(True)
        self.edit.setMinimumHeight(220)
        label = plain_label("&Points")
        label.setBuddy(self.edit)
        self.problem = styled_label("notes", " ", word_wrap=True)
        self.problem.setMinimumHeight(3 * self.problem.fontMetrics().lineSpacing())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.use = QPushButton("&Use this region")
        self.use.setDefault(True)
        buttons.addButton(self.use, QDialogButtonBox.ButtonRole.ActionRole)
        self.use.clicked.connect(self._enter)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.addWidget(styled_label("muted", HELP, word_wrap=True))
        box.addLayout(row)
        box.addWidget(self.edit, 1)
        box.addWidget(self.problem)
        box.addWidget(buttons)
        self.resize(420, 440)

    def _enter(self) -> None:
        try:
            points = parse_points(self.edit.toPlainText())
            PolygonRegion.of(points)
        except ValueError as error:
            self.problem.setText(str(error))
            self.edit.setFocus()
            return
        self.entered.emit(points)
        self.accept()
