"""Search field of the map: towns by name, or a position in degrees."""

from __future__ import annotations

import math
import re

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QVBoxLayout, QWidget

from explorer.geography.cities import City, shipped_cities
from explorer.geography.coordinates import KM_PER_DEGREE, aspect_at, format_coordinates
from explorer.geography.region import Box
from explorer.ui.base.styled import styled_label

MAX_FOUND = 8
WIDTH = 300
NEAREST_KM, KM_PER_ROOT = 3.0, 0.012
"""Half a side of the view of a town: 3 km, and 0.012 km for each square root of its people."""
_DEGREES = r"\s*([+−-]?\d{1,3}(?:\.\d+)?)\s*°?\s*"
_POSITION = re.compile(f"{_DEGREES}[,; ]{_DEGREES}")
_MOVES = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


def box_of(city: City) -> Box:
    """Return the view of a town: the larger it is, the wider."""
    half = (NEAREST_KM + KM_PER_ROOT * math.sqrt(max(city.population, 0))) / KM_PER_DEGREE
    wide = half * aspect_at(city.latitude)
    return (
        city.latitude - half,
        city.longitude - wide,
        city.latitude + half,
        city.longitude + wide,
    )


def position_of(text: str) -> City | None:
    """Return a position typed as “lat, lon” in degrees; None if it is none."""
    match = _POSITION.fullmatch(text)
    if match is None:
        return None
    latitude, longitude = (float(part.replace("−", "-")) for part in match.groups())
    if abs(latitude) > 85 or abs(longitude) > 180:
        return None
    return City(format_coordinates(latitude, longitude), "", latitude, longitude, 0)


def found_places(text: str) -> list[City]:
    """Return a typed position, or the towns that a text may mean, the best first."""
    position = position_of(text)
    return [position] if position is not None else shipped_cities().named(text, MAX_FOUND)


def title_of(city: City) -> str:
    """Return name and country."""
    return f"{city.name}, {city.country}" if city.country else city.name


class PlaceField(QFrame):
    """List of places below a field of the tool bar; Enter shows a place, Esc closes.

    Signals
    -------
    chosen(object)
        A `City`.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("places")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.field = QLineEdit(placeholderText="Find a place")
        self.field.setToolTip("A town, or a position as lat, lon (Ctrl+F)")
        self.field.setAccessibleName("Find a place")
        self.rows = QListWidget()
        self.rows.setAccessibleName("Places found")
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.note = styled_label("muted", word_wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        for part in (self.rows, self.note):
            column.addWidget(part)
        self._found: list[City] = []
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.rows.itemClicked.connect(lambda _: self._choose())
        self.hide()

    def open(self) -> None:
        """Give the field the focus."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list while the focus stays in the field; close with Esc."""
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _MOVES:
                self.rows.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._close()
                return True
        return super().eventFilter(watched, event)

    def _search(self, *_: object) -> None:
        text = self.field.text().strip()
        self._found = found_places(text) if text else []
        self.rows.clear()
        for city in self._found:
            people = f"  {city.population:,}" if city.population else ""
            self.rows.addItem(title_of(city) + people)
        self.note.setText("")
        if self._found:
            self.rows.setCurrentRow(0)
        elif text:
            near = shipped_cities().similar(text)
            hint = f" Did you mean {near.name}?" if near is not None else ""
            self.note.setText(f"No place called {text[:40]}.{hint}")
        height = self.rows.sizeHintForRow(0) * len(self._found) + 6 if self._found else 0
        self.rows.setVisible(bool(self._found))
        self.rows.setFixedHeight(height)
        self.note.setVisible(bool(self.note.text()))
        self.field.setAccessibleDescription(
            self.note.text() or ", ".join(title_of(city) for city in self._found)
        )
        self.setFixedWidth(WIDTH)
        self.adjustSize()
        self.setVisible(bool(text))
        self.raise_()

    def _choose(self) -> None:
        row = self.rows.currentRow()
        if 0 <= row < len(self._found):
            city = self._found[row]
            self._close()
            self.chosen.emit(city)

    def _close(self) -> None:
        self.hide()
        if (parent := self.parentWidget()) is not None:
            parent.setFocus(Qt.FocusReason.OtherFocusReason)
