"""The window with its compute process, as in the program."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings, default_ledger, default_settings
from explorer.ui.panels.guarantee import NO_DATA
from explorer.ui.widgets.staleness import LAST_ANSWER
from tests.engine.test_client import gone

STUDY = "shuffle-rdp"


@pytest.fixture
def window(open_window: Callable[..., Any], settled: Callable[..., Any]) -> Any:
    window = open_window(study=STUDY)
    window.session.set_sweep(replace(window.session.request().sweep, points=9))
    settled(window)
    return window


def test_curves_follow_a_slider_and_the_process_ends_with_the_window(
    window: Any, settled: Callable[..., Any], qtbot: QtBot
) -> None:
    pid = window.service.client.pid
    assert pid not in (None, os.getpid())
    for rounds in range(300, 340):
        window.session.set_value("T", rounds, STUDY)
        qtbot.wait(4)
    result = settled(window)
    assert result.request["T"] == 339
    assert window.workspaces["bounds"].plot.result.request["T"] == 339
    assert window.service.client.pid == pid
    assert window.service.runtime.cached_result(result.request) is result
    window.close()
    assert gone(pid)


def test_a_killed_process_is_reported_and_the_next_value_answered(
    window: Any, settled: Callable[..., Any], qtbot: QtBot
) -> None:
    window.session.set_study("private-regression")
    qtbot.waitUntil(lambda: window.current_result is not None)
    os.kill(window.service.client.pid, signal.SIGKILL)
    qtbot.waitUntil(window.banner.isVisible)
    assert "ended before" in window.banner.text.text()
    qtbot.waitUntil(lambda: not window.busy)
    marks = window.workspaces["bounds"].stale, window.guarantee.stale
    qtbot.waitUntil(lambda: all(mark.isVisible() for mark in marks))
    assert [mark.text() for mark in marks] == [LAST_ANSWER, LAST_ANSWER]  # nothing is pending
    window.session.set_study(STUDY)
    window.session.set_value("T", 500, STUDY)
    assert settled(window).request["T"] == 500
    qtbot.waitUntil(lambda: not window.banner.isVisible())


def test_where_no_file_was_opened_nothing_is_on_its_way(
    open_window: Callable[..., Any], qtbot: QtBot, tmp_path: Path
) -> None:
    """The mapping dialog was cancelled: no result until another file is opened."""
    path = tmp_path / "rides.csv"
    path.write_text("ride,lat,lon\n" + "".join(f"r{i},48.{i},16.{i}\n" for i in range(30)))
    window = open_window(study="heatmap", data=str(path))
    qtbot.waitUntil(lambda: window.data_panel.dialog("mapping") is not None)
    window.data_panel.dialog("mapping").reject()
    qtbot.waitUntil(lambda: not window.busy)
    assert window.guarantee.sentence.text() == NO_DATA
    window.data.open_sample()
    qtbot.waitUntil(lambda: window.current_result is not None)
    assert window.guarantee.sentence.text() != NO_DATA


def test_escape_stops_what_the_process_computes(window: Any, qtbot: QtBot) -> None:
    window.session.set_study("private-regression")
    qtbot.waitUntil(lambda: window.current_result is not None and window.busy)
    window.activity.cancel()
    qtbot.waitUntil(lambda: not window.busy)
    assert not window.current_result.complete


def test_a_file_given_to_a_parameter_is_read_there(
    window: Any, settled: Callable[..., Any], qtbot: QtBot, tmp_path: Path
) -> None:
    window.session.set_study("coordinate-mean")
    settled(window)
    path = tmp_path / "public.csv"
    path.write_text("a,b\n" + "0,1\n1,1\n1,0\n0,0\n" * 30)
    window.session.set_value("q_from", "file", "coordinate-mean")
    window.parameter_files.open("coordinate-mean", "public", path)
    qtbot.waitUntil(lambda: window.session.request("coordinate-mean")["public"] != "")
    result = settled(window)
    assert result.request["public"].startswith("public.csv#")
    assert not window.banner.isVisible()


def test_a_file_given_to_a_parameter_counts_as_a_look(
    window: Any,
    settled: Callable[..., Any],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Studies of users' data show exact counts: access must be logged."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    path = tmp_path / "users.csv"
    path.write_text("user,item\na,0\nb,1\n")
    window.session.set_study("users-data")
    settled(window)
    with qtbot.waitSignal(window.data.looks.counted):
        window.parameter_files.open("users-data", "users", path)
    with Ledger(default_ledger(), FileSettings(default_settings())) as ledger:
        known = ledger.known.file(hashlib.sha256(path.read_bytes()).hexdigest())
    assert known is not None
    assert known.shown == 1
    settled(window)
