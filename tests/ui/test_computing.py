"""Preferences ▸ Compute: select, try, store, refuse; Dask is not imported by the window."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from explorer.engine.executors.cluster import Cluster
from explorer.ui.app.computing import CLUSTER, HERE, PROCESSES, ComputingDialog
from tests.engine.test_survivors import alive
from tests.waiting import time_limit, wait_until

Opened = tuple[Any, ComputingDialog]


@pytest.fixture(autouse=True)
def no_dask_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make imports of Dask fail in the window's process; the compute process is unaffected."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "dask", None)


@pytest.fixture
def opened(open_window: Callable[..., Any], settled: Callable[..., Any], qtbot: QtBot) -> Opened:
    window = open_window(study="unbounded")
    settled(window)
    window.menus.actions["computing"].trigger()
    dialog = window.menus.computing.dialog
    idle(dialog, qtbot)
    return window, dialog


def idle(dialog: ComputingDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(dialog.test.isEnabled, timeout=int(1000 * time_limit()))


def press_ok(dialog: ComputingDialog, qtbot: QtBot) -> None:
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)


def test_processes_here_are_tried_used_remembered_and_end_with_the_window(
    opened: Opened, open_window: Callable[..., Any], settled: Callable[..., Any], qtbot: QtBot
) -> None:
    window, dialog = opened
    assert "process" in dialog.state.text()
    assert "on this machine" in dialog.state.text()
    dialog.places.button(PROCESSES).setChecked(True)
    dialog.processes.setValue(1)
    press_ok(dialog, qtbot)
    preferences = window.menus.computing
    qtbot.waitUntil(lambda: preferences.dialog is None, timeout=int(1000 * time_limit()))
    assert preferences.cluster == Cluster("local:1")
    workers = psutil.Process(window.service.client.pid).children(recursive=True)
    assert any("spawn_main" in " ".join(p.cmdline()) for p in workers)
    words = {"epochs": 1, "runs": 1, "n": 1000}
    for key, value in words.items():
        window.session.set_value(key, value, "cldp-sgd")
    window.session.set_study("cldp-sgd")
    window.session.set_quantity("accuracy")
    assert settled(window).request.study == "cldp-sgd"
    window.close()
    assert wait_until(lambda: not alive(workers), 10), alive(workers)
    again = open_window()
    assert again.menus.computing.cluster == Cluster("local:1")


def test_what_can_t_be_used_is_said_and_not_used(opened: Opened, qtbot: QtBot) -> None:
    window, dialog = opened
    dialog.places.button(CLUSTER).setChecked(True)
    for address, said in (
        ("tcp://10.1.2.3:8786", "start it with certificates and give tls://."),
        ("tls://farm.example.org", "name a folder with ca.pem, cert.pem, key.pem."),
        ("127.0.0.1:1", "start a cluster there"),
    ):
        dialog.address.setText(address)
        press_ok(dialog, qtbot)
        idle(dialog, qtbot)
        assert said in dialog.state.text()
        assert window.menus.computing.dialog is dialog
        assert window.menus.computing.cluster is None
        assert window.session_store.computing.address == ""
    dialog.reject()


def test_every_address_is_asked_for_anew_whether_check_ins_may_go_there(
    opened: Opened, qtbot: QtBot
) -> None:
    window, dialog = opened
    assert dialog.places.checkedId() == HERE
    window.session_store.computing.data_to.append("tls://one")
    dialog.reject()
    window.menus.computing.open()
    dialog = window.menus.computing.dialog
    dialog.places.button(CLUSTER).setChecked(True)
    for address, enabled, ticked in (
        ("tls://one", True, True),
        ("tls://another", True, False),
        ("tcp://127.0.0.1:8786", False, False),
    ):
        dialog.address.setText(address)
        assert dialog.send_data.isEnabled() is enabled
        assert dialog.send_data.isChecked() is ticked
    dialog.reject()


def test_the_memory_for_opening_is_chosen_and_remembered(
    opened: Opened, open_window: Callable[..., Any], settled: Callable[..., Any], qtbot: QtBot
) -> None:
    window, dialog = opened
    assert window.data.memory is None
    assert not dialog.memory.isEnabled()
    dialog.limited.setChecked(True)
    dialog.memory.setValue(900)
    if os.environ.get("GRAB"):
        dialog.grab().save(os.environ["GRAB"])
    press_ok(dialog, qtbot)
    qtbot.waitUntil(lambda: window.menus.computing.dialog is None)
    assert window.data.memory == 900_000_000
    window.close()
    again = open_window()
    settled(again)
    assert again.data.memory == 900_000_000
    again.menus.actions["computing"].trigger()
    dialog = again.menus.computing.dialog
    idle(dialog, qtbot)
    assert dialog.memory.value() == 900
    dialog.limited.setChecked(False)
    press_ok(dialog, qtbot)
    qtbot.waitUntil(lambda: again.menus.computing.dialog is None)
    assert again.data.memory is None
