"""Icon and desktop name of the window."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QLabel, QWidget

import explorer
from explorer.ui.app.application import DESKTOP_ID, SIZES
from explorer.ui.dialogs.about import about_dialog
from tests.test_packaging import PACKAGING, PROJECT


def pixels(picture: QImage) -> np.ndarray:
    picture = picture.convertToFormat(QImage.Format.Format_ARGB32)
    shape = (picture.height(), picture.width(), 4)
    return np.frombuffer(picture.constBits(), np.uint8).reshape(shape).astype(int)


def test_the_window_has_the_programs_icon_and_name(open_window) -> None:
    window = open_window(study="unbounded")
    sizes = {size.width() for size in window.windowIcon().availableSizes()}
    assert sizes == set(SIZES)
    assert QGuiApplication.desktopFileName() == DESKTOP_ID
    assert QGuiApplication.applicationName() == "Privacy Explorer"


def test_about_names_licence_authors_and_keywords(qtbot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = about_dialog(parent)
    told = " ".join(" ".join(label.text() for label in dialog.findChildren(QLabel)).split())
    assert explorer.__version__ in told
    assert f"© {PROJECT['authors'][0]['name']}" in told
    assert "Apache License 2.0" in told
    assert all(word in told.lower() for word in PROJECT["keywords"])


@pytest.mark.parametrize("size", [16, 32, 48, 64, 128, 256])
def test_every_size_is_drawn_from_the_one_drawing(qapp, size: int) -> None:
    drawn = runpy.run_path(str(PACKAGING / "draw_icons.py"))["draw"](size)
    kept = QImage(str(PACKAGING / f"icon-{size}.png"))
    assert kept.size() == drawn.size()
    # Other versions of Qt may smooth edges slightly differently.
    assert np.abs(pixels(kept) - pixels(drawn)).mean() < 1.0
    assert pixels(kept)[0, 0, 3] == 0
