"""Draw the icon's PNG files from its SVG: ``python resources/packaging/draw_icons.py [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QRectF
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).resolve().parent
SIZES = (16, 32, 48, 64, 128, 256)


def draw(size: int) -> QImage:
    """Return the icon as a square picture of so many pixels on nothing."""
    picture = QImage(size, size, QImage.Format.Format_ARGB32)
    picture.fill(0)
    painter = QPainter(picture)
    QSvgRenderer(str(HERE / "org.privacy_explorer.PrivacyExplorer.svg")).render(
        painter, QRectF(0, 0, size, size)
    )
    painter.end()
    return picture


def main(folder: Path) -> None:
    """Write one file for each size."""
    application = QGuiApplication(["draw_icons", "-platform", "offscreen"])
    for size in SIZES:
        draw(size).save(str(folder / f"icon-{size}.png"))
    del application


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
