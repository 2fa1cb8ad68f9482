"""A data set larger than memory is opened, evaluated and saved like any other."""

from __future__ import annotations

import csv
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from explorer.checkins import open_checkins
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.geography.region import Region
from tests.engine.test_large_import import made_folder
from tests.ui.small_map import SMALL_MAP
from tests.waiting import wait_until

CITY = Region(40.0, -74.5, 41.0, -73.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """More rows than the simulated memory holds."""
    monkeypatch.setattr("explorer.engine.large_import.max_rows_in_memory", lambda _: 100)
    return made_folder(tmp_path / "x[1]'s", rows=1500)


def opened(window: Any, folder: Path, qtbot: QtBot) -> Any:
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_data(folder)
    assert hasattr(window.data.current, "shards")
    return window.data.current


def test_it_is_answered_where_all_is_answered_also_after_a_kill(
    open_window: Callable[..., Any],
    settled: Callable[..., Any],
    qtbot: QtBot,
    folder: Path,
    tmp_path: Path,
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    data = opened(window, folder, qtbot)
    chosen = window.session.state.selection
    window.session.set_selection(replace(chosen, region=CITY))
    found = settled(window)
    host = StudyRuntime()
    try:
        host.add_data(open_checkins(folder, cache_dir=None))
        expected = final_result(host, found.request)
    finally:
        host.close()
    for ours, theirs in zip(found.surfaces, expected.surfaces, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)
    assert found.readout("checkins") == expected.readout("checkins")

    window.workspaces["map"].utility.action.setChecked(True)
    view = window.workspaces["map"].utility.view
    qtbot.waitUntil(lambda: view.answer is not None and bool(view.answer.curves))
    window.workspaces["map"].utility.action.setChecked(False)

    os.kill(window.service.client.pid, signal.SIGKILL)
    assert wait_until(lambda: window.service.client.pid is None)
    window.session.set_value("epsilon", 0.5, "heatmap")
    qtbot.waitUntil(lambda: window.current_result.request["epsilon"] == 0.5)
    assert settled(window).readout("checkins") == expected.readout("checkins")
    aside = tmp_path / "aside.csv"
    assert data.export_rejected(aside) == data.report.total_rejected
    with aside.open(newline="") as file:
        assert {row["part"] for row in csv.DictReader(file)} >= {"part-1.csv", "part-3.csv"}
    assert window.session_store.data_columns == data.columns
    window.close()

    again = open_window(study="heatmap")
    qtbot.waitUntil(lambda: again.data.current is not None)
    assert hasattr(again.data.current, "shards")
    assert settled(again).request.selection.region == CITY


def test_what_is_slow_is_said_beforehand_and_begun_only_if_wanted(
    open_window: Callable[..., Any],
    settled: Callable[..., Any],
    qtbot: QtBot,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    before = window.data.current
    folder = request.getfixturevalue("folder")  # from now on memory is small
    monkeypatch.setattr("explorer.checkins.sharding.QUICK_S", 0.0)
    for wanted in (False, True):
        with qtbot.waitSignal(window.data.import_requested):
            window.files.open_data(folder)
        box = window.data_panel.dialog("import")
        assert "1,5" in box.informativeText()
        assert " of disk" in box.informativeText()
        assert "(an estimate)" in box.informativeText()
        qtbot.waitUntil(lambda: not window.data.busy)
        if os.environ.get("GRAB"):
            box.grab().save(os.environ["GRAB"])
        role = QMessageBox.ButtonRole.AcceptRole if wanted else QMessageBox.ButtonRole.RejectRole
        (button,) = (b for b in box.buttons() if box.buttonRole(b) is role)
        button.click()
        assert window.data.busy == wanted
        assert window.data.current is before
    qtbot.waitUntil(lambda: window.data.current is not before)
    assert hasattr(window.data.current, "shards")
