"""The picture behind a map, as an item of its pane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt

from explorer.figures.colour_maps import translucent
from explorer.geography.region import PlaneRegion, Region

BELOW = -1
"""Height of the picture: below check-ins as dots, heatmap and lines."""


class PictureItem(pg.ImageItem):
    """A pane's picture, and the colours of a heatmap that it shines through."""

    def __init__(self, view: Any) -> None:
        super().__init__(axisOrder="row-major")
        self.pixels: np.ndarray | None = None
        self.setZValue(BELOW)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setVisible(False)
        view.addItem(self, ignoreBounds=True)

    def show_picture(self, pixels: np.ndarray | None, region: Region | None) -> None:
        """Show a picture over all of a region's plane; none on the Earth.

        Pixels are uint8 of shape (rows, columns, 3), row 0 the lowest.
        """
        self.pixels = pixels
        plane = None if region is None else region.plane
        self.setVisible(pixels is not None and plane is not None)
        if pixels is not None and plane is not None:
            self.setImage(pixels, autoLevels=False, levels=(0, 255))
            south, west, north, east = PlaneRegion.whole(plane).box
            self.setRect(QRectF(west, south, east - west, north - south))

    def through(self, table: np.ndarray, diverging: bool) -> np.ndarray:
        """Return a colour map for in front of the picture; as it is where there is none."""
        return translucent(table, diverging) if self.isVisible() else table
