"""The window stays responsive while dropped files are inspected."""

from __future__ import annotations

import os
import time

import psutil
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent

from tests import snapshots
from tests.engine.jobs import never_ends
from tests.waiting import slowness, time_limit

GAP_S = 1.0
GROWTH_MB = 150


def _drop(window, path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    window.dropEvent(
        QDropEvent(
            QPointF(400, 300),
            Qt.DropAction.CopyAction,
            mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )


LARGE = (
    ("large.json", b'{"numbers": [', b"0.123456789,", 5_000_000, b"0]}", "no recipe"),
    ("nested.svg", b"<svg>", b"<g>", 3_000_000, b"</svg>", "nested too deeply"),
    ("wide.svg", b"<svg>", b"<path d='M0 0'/>", 3_000_000, b"</svg>", "first 4 MB"),
    ("nested.json", b'{"a": ', b"[", 60_000_000, b"", "no recipe"),
    ("many.json", b"{", b'"a": 1, ', 6_000_000, b'"a": 1}', "no recipe"),
)


def test_a_large_file_neither_stops_the_window_nor_fills_its_memory(
    open_window, settled, qtbot, tmp_path
) -> None:
    window = open_window(study="unbounded")
    settled(window)
    for name, head, middle, times, tail, why in LARGE:
        path = tmp_path / name
        path.write_bytes(head + middle * times + tail)
        process, gaps, last = psutil.Process(os.getpid()), [0.0], [time.monotonic()]
        before = process.memory_info().rss

        def tick(gaps=gaps, last=last) -> None:
            gaps.append(time.monotonic() - last[0])
            last[0] = time.monotonic()

        ticking = QTimer(window, interval=5)
        ticking.timeout.connect(tick)
        ticking.start()
        with qtbot.waitSignal(window.files.recognised):
            _drop(window, path)
        ticking.stop()
        grown = (process.memory_info().rss - before) / 1e6
        assert why in window.banner.text.text(), name
        assert max(gaps) < GAP_S * slowness(), name
        assert grown < GROWTH_MB, name
        assert not window.files.busy
        window.banner.hide()
        path.unlink()


def test_looking_at_a_file_can_be_given_up(
    open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("explorer.ui.controllers.file_controller.read_exported", never_ends)
    window = open_window(study="unbounded")
    settled(window)
    window.files.open_recipe(tmp_path / "slow.svg")
    assert window.busy
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.busy
    assert not window.banner.isVisible()
    window.files.open_any(tmp_path / "slow.svg")
    began = time.monotonic()
    window.close()
    assert time.monotonic() - began < time_limit(5)


def test_a_pipe_is_refused(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="unbounded")
    os.mkfifo(tmp_path / "pipe.svg")
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(tmp_path / "pipe.svg")
    snapshots.check(window.banner.text.text())
    settled(window)


def test_a_recipe_with_a_part_that_cannot_be_read_says_so(
    open_window, settled, qtbot, tmp_path
) -> None:
    import json

    from tests.fuzz.recipes import recipes

    raw = next(r for r in recipes() if r["study"] == "shuffle-rdp")
    raw["view"] = {"pinned": [{"recipe": {"study": "gone"}, "hidden": []}], "y_log": True}
    (tmp_path / "a.json").write_text(json.dumps(raw))
    window = open_window(study="heatmap-theory")
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(tmp_path / "a.json")
    assert window.session.state.study == "shuffle-rdp"
    assert "view.pinned[0].recipe" in window.banner.text.text()
    settled(window)
