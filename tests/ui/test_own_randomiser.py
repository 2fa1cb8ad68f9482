"""Table of a randomiser typed in the window."""

from __future__ import annotations

import os

from PySide6.QtCore import Qt

from explorer.studies.base.claims import evaluate_claim
from tests import snapshots


def test_a_typed_table_is_answered_and_a_bad_one_is_refused_where_it_is_typed(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="amplification")
    window.resize(1280, 800)
    settled(window)
    window.session.set_quantity("own")
    window.session.set_value("randomiser", "typed")
    window.session.set_value("n", 20)
    settled(window)
    row = window.parameters.reveal("table")
    assert row.isVisibleTo(window)
    row.field.setPlainText("0.7 0.3\n0.3 0.7")
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    result = settled(window)
    assert result.request["table"] == "0.7 0.3; 0.3 0.7"
    assert evaluate_claim(result).series.key == "own_exact"
    if folder := os.environ.get("GRAB"):
        window.grab().save(f"{folder}/own.png")
    row.field.setPlainText("0.7 0.3\n0.3 zero")
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    snapshots.check(row.error.text().lower())
    assert window.session.request()["table"] == "0.7 0.3; 0.3 0.7"
