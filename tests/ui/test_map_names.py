"""City names that cross a heatmap's edge."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont

from explorer.ui.base.theme import MAP_DARK, MAP_LIGHT
from explorer.ui.map.overlay import TextPainter, city_stamps
from explorer.ui.map.tools import PixelBox

NEW_YORK = (40.5, -74.3, 41.0, -73.7)
"""South, west, north, east, on 400 × 400 pixels."""


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("top", range(100, 300, 41))
def test_letters_are_bright_on_the_heatmap_and_dark_beside_it(qapp, top: int, ratio: float) -> None:
    """Dark letters on a heatmap, or bright ones beside it, are unreadable."""
    box = PixelBox(120.0, float(top), 300.0, 400.0)
    stamps = city_stamps(NEW_YORK, 400, 400, box, TextPainter(), QFont(), MAP_LIGHT, ratio)
    assert len(stamps) > 10
    for stamp in stamps:  # dots and names
        image = stamp.pixmap.toImage()
        for row in range(image.height()):
            for column in range(image.width()):
                x, y = stamp.x + (column + 0.5) / ratio, stamp.y + (row + 0.5) / ratio
                if min(abs(x - box.left), abs(x - box.right), abs(y - box.top)) > 1:
                    there = box.left < x < box.right and box.top < y
                    wrong = MAP_LIGHT if there else MAP_DARK
                    assert image.pixelColor(column, row) != wrong.label
