"""Raw check-ins as dots under the map: where they are beyond the region. Curator only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor

from explorer.geography.projection import drawn_from
from explorer.geography.region import Box, PlaneRegion
from explorer.studies.base.study import Selection
from explorer.ui.base.jobs import LatestJob
from explorer.ui.controllers.data_controller import DataController

if TYPE_CHECKING:
    from explorer.checkins import CheckinData

DOT = 3
"""Pixels on a side of a dot."""
REST_MS = 80
"""The view must rest this long before dots are counted anew."""
MARGIN = 0.5
"""Share of the view that is counted beyond each side, so that panning shows dots at once."""


def dot_pixels(counts: np.ndarray, colour: QColor) -> np.ndarray:
    """Return counts as a picture: uint8 RGBA, denser cells more opaque (logarithmic)."""
    pixels = np.empty((*counts.shape, 4), np.uint8)
    pixels[..., :3] = colour.red(), colour.green(), colour.blue()
    most = max(int(counts.max(initial=0)), 1)
    strength = 90 + 165 * np.log1p(counts) / np.log1p(most)
    pixels[..., 3] = np.where(counts > 0, strength, 0).astype(np.uint8)
    return pixels


def _rows_of(selection: Selection | None) -> tuple[str | None, ...] | None:
    """Return which rows are counted, wherever they lie."""
    return None if selection is None else (selection.start, selection.end, selection.image)


class Dots(QObject):
    """Has the check-ins in view counted whenever the view has come to rest.

    Signals
    -------
    ready(object, object)
        Counts of shape (rows, columns), row 0 south, and their box; (None, None) without data.
    """

    ready = Signal(object, object)

    def __init__(self, files: DataController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files = files
        self._data: CheckinData | None = None
        self._selection: Selection | None = None
        self._view: tuple[Box, float, float] | None = None
        self._shown: tuple[object, ...] | None = None
        self._enabled = True
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._count)
        self._job = LatestJob("counting check-ins", self)
        self._job.done.connect(self._counted)
        self._job.failed.connect(lambda *_: None)  # a data set closed meanwhile: nothing to show

    def set_data(self, data: CheckinData | None, selection: Selection | None) -> None:
        """Turn to another data set, time range or image."""
        rows, before = _rows_of(selection), self._selection
        same = before is not None and rows == _rows_of(before)
        if data is self._data and same:
            return
        self._data, self._selection = data, selection
        self._shown = None
        if data is None:
            self.ready.emit(None, None)
        self._rest.start()

    def set_view(self, box: Box, width: float, height: float) -> None:
        """Follow the camera; sizes in pixels."""
        self._view = (box, width, height)
        if self._enabled and self._data is not None:
            self._rest.start()

    def set_enabled(self, enabled: bool) -> None:
        """Count or leave it."""
        self._enabled = enabled
        self._shown = None
        if enabled:
            self._rest.start()
        else:
            self.ready.emit(None, None)

    def close(self) -> None:
        """Stop and wait for the thread."""
        self._rest.stop()
        self._job.close()

    def _count(self) -> None:
        if not self._enabled or self._data is None or self._view is None:
            return
        (south, west, north, east), width, height = self._view
        high, wide = (north - south) * MARGIN, (east - west) * MARGIN
        plane = self._data.plane
        start = drawn_from(west - wide, east + wide)
        least = (-90.0, start, 90.0, start + 360)
        if plane is not None:
            least = PlaneRegion.whole(plane).box
        box = (
            max(south - high, least[0]),
            max(west - wide, least[1]),
            min(north + high, least[2]),
            min(east + wide, least[3]),
        )
        columns = max(1, round((box[3] - box[1]) / (east - west) * width / DOT))
        rows = max(1, round((box[2] - box[0]) / (north - south) * height / DOT))
        if not (box[0] < box[2] and box[1] < box[3]):
            return
        data, chosen = self._data, self._selection
        asked = (None,) * 3 if chosen is None else (chosen.start, chosen.end, chosen.image)
        key = (id(data), box, columns, rows, *asked)
        if key == self._shown:
            return
        question = (data, "density", box, columns, rows, *asked)
        self._job.submit(key, lambda task: (self._files.ask(task, *question), box, data))

    def _counted(self, key: tuple[object, ...], found: tuple[np.ndarray, Box, CheckinData]) -> None:
        counts, box, data = found
        if self._enabled and data is self._data:
            self._shown = key
            self.ready.emit(counts, box)
