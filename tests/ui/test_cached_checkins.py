"""Clearing the cache of check-ins, and the notice about rejected rows."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from explorer.checkins import cache_size, open_checkins
from explorer.engine import paths
from tests.ui.map_page import made_checkins
from tests.ui.small_map import SMALL_MAP


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cache of this test, with a file that is not open."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    place = paths.checkins_cache()
    assert place.is_relative_to(tmp_path / "cache")
    open_checkins(made_checkins(tmp_path), cache_dir=place).close()
    return place


def test_clearing_says_how_much_asks_and_says_what_was_freed(
    open_window: Callable, settled: Callable, kept: Path, qtbot, monkeypatch
) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda *_: pytest.fail("a modal box"))
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    before = cache_size(kept)
    cached = window.menus.cached
    action = window.menus.actions["clear-cache"]
    assert action.text().replace("&", "").startswith("Clear")
    action.trigger()
    qtbot.waitUntil(lambda: cached.question is not None)
    assert f"{before / 1e6:,.0f} MB" in cached.question.text() or "kB" in cached.question.text()
    assert "2 check-in files" in cached.question.text()
    qtbot.mouseClick(
        cached.question.button(QMessageBox.StandardButton.Cancel), Qt.MouseButton.LeftButton
    )
    assert cached.question is None
    assert cache_size(kept) == before
    action.trigger()
    qtbot.waitUntil(lambda: cached.question is not None)
    clear = next(b for b in cached.question.buttons() if b.text() == "Clear")
    qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "freed" in window.statusBar().currentMessage())
    # The sample is open and stays.
    assert "in use" in window.statusBar().currentMessage()
    assert 0 < cache_size(kept) < before
    assert window.data.current.points(window.data.current.extent).rows == window.data.current.rows


def test_what_a_kill_left_is_swept_and_what_is_in_use_is_not(
    open_window: Callable, kept: Path, qtbot
) -> None:
    places = {"left": kept / "building-left", "used": kept / "building-used"}
    scratch = Path(tempfile.gettempdir())
    places |= {"old": scratch / "privacy-explorer-abcd1234", "mine": scratch / "privacy-explorer-x"}
    for place in places.values():
        place.mkdir()
        (place / "lock").touch()
        (place / "rows.parquet").write_text("half")
    with (places["used"] / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        window = open_window(study="itemwise")
        window.menus.cached.sweep()
        qtbot.waitUntil(lambda: not places["left"].exists() and not places["old"].exists())
        window.close()  # waits for the sweep
        assert places["used"].exists()
        assert places["mine"].exists()  # unlike any file name of ours
        assert cache_size(kept) > os.path.getsize(places["used"] / "rows.parquet")
