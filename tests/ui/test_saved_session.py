"""Closing and opening again; damaged, foreign and unwritable session files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from explorer.engine.folders import state_folder
from explorer.figures.view_state import ViewState
from explorer.studies.model import Scale, Sweep
from explorer.ui.saved_state import SCHEMA, StateFile


def session_file() -> Path:
    return state_folder() / "window.json"


def test_everything_comes_back(open_window, settled, qtbot, tiny_study) -> None:
    first = open_window(study="tiny")
    settled(first)
    first.session.set_value("eps", 0.7)
    first.session.set_quantity("error")
    first.session.set_sweep(Sweep("n", 10, 5000, 50, Scale.LINEAR))
    first.session.set_value("sigma", 0.05, "heatmap")
    first.session.set_seed(41, "heatmap")
    settled(first)
    first.workspaces["bounds"].apply_view_state(
        ViewState(y_log=False, hidden=("error",), x_range=(20.0, 400.0))
    )
    first.theme.choose("dark")
    first.docks["guarantee"].hide()
    first.resize(1111, 777)
    selection = first.session.state.selection
    narrower = type(selection)(
        selection.data, selection.region, start="2010-01-01T00:00:00+00:00", users=17, data_seed=3
    )
    first.session.set_selection(narrower)
    first.keeper.note_file(Path(__file__))
    state = first.session.state
    first.close()

    second = open_window(theme="system")
    settled(second)
    assert second.session.state.study == "tiny"
    assert second.session.request("tiny") == state.request_of("tiny")
    assert second.session.state.request_of("heatmap") == state.request_of("heatmap")
    qtbot.waitUntil(lambda: second.session.state.selection is not None)
    assert second.session.state.selection == narrower
    view = second.workspaces["bounds"].view_state()
    assert (view.y_log, view.hidden) == (False, ("error",))
    assert view.x_range == pytest.approx((20.0, 400.0))
    assert second.theme.name == "dark"
    assert not second.docks["guarantee"].isVisible()
    assert second.height() in range(770, 778)  # as far as the screen allows
    assert second.keeper.recent == [str(Path(__file__).resolve())]
    assert not second.session.undo_text
    assert not second.banner.isVisible()
    second.theme.choose("light")


def test_the_session_is_saved_while_one_works(open_window, settled, qtbot, tiny_study) -> None:
    window = open_window(study="tiny")
    settled(window)
    window.session.set_value("eps", 0.3)
    path = session_file()

    def saved() -> bool:
        if not path.exists():
            return False
        recipes = json.loads(path.read_text())["session"]["requests"]
        return any(r["study"] == "tiny" and r["values"]["eps"] == 0.3 for r in recipes)

    qtbot.waitUntil(saved, timeout=5000)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{ not json", "is damaged"),
        (b"[]", "is damaged"),
        (b'{"schema": "privacy-explorer-window/1"}', "is damaged"),
        (b"\xff\xfe\x00", "is damaged"),
        (b'{"schema": "privacy-explorer-window/99", "session": {}}', "another version"),
    ],
)
def test_a_file_that_cannot_be_read_is_kept_aside(open_window, settled, content, why) -> None:
    session_file().write_bytes(content)
    window = open_window(study="shuffle-rdp")
    assert window.banner.isVisible()
    assert why in window.banner.text.text()
    kept = [p for p in state_folder().iterdir() if p.name.startswith("window-")]
    assert [p.read_bytes() for p in kept] == [content]
    assert str(kept[0]) in window.banner.text.text()
    settled(window)
    window.close()
    assert json.loads(session_file().read_text())["schema"] == SCHEMA


@pytest.mark.parametrize(
    "spoil",
    [
        {"session": {"study": "gone", "requests": [{"schema": "x"}, 5]}},
        {"session": {"requests": "many"}},
        {"session": {"study": "shuffle-rdp", "requests": 3}},
        {"geometry": "%%%", "layout": 7, "views": {"bounds": {"theme": "pink"}}},
        {"views": {"bounds": 3, "nowhere": {}}, "recent": [1, None], "theme": "pink"},
        {"data_path": "/nowhere/at/all.txt"},
        {"data_path": 5, "views": []},
    ],
    ids=range(7),
)
def test_spoilt_parts_of_a_good_file_are_not_fatal(open_window, settled, spoil) -> None:
    session_file().write_text(json.dumps({"schema": SCHEMA, "session": {}} | spoil))
    window = open_window(study="shuffle-rdp")
    settled(window)


def test_a_crash_while_writing_keeps_the_session_before(tmp_path, monkeypatch) -> None:
    file = StateFile(tmp_path)
    file.save({"session": {"study": "heatmap"}})

    def crash(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="No space"):
        file.save({"session": {"study": "shuffle-rdp"}})
    assert file.load().values["session"]["study"] == "heatmap"


def test_a_full_disk_is_told_once(open_window, settled, qtbot, tiny_study, monkeypatch) -> None:
    window = open_window(study="tiny")
    settled(window)
    told: list[object] = []
    window.keeper.save_failed.connect(told.append)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StateFile, "save", full)
    window.keeper.save()
    window.keeper.save()
    assert len(told) == 1
    assert "no space" in window.banner.text.text()


def test_data_of_last_time_are_opened_again(open_window, settled, qtbot, tmp_path) -> None:
    path = tmp_path / "mine.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    path.write_text("\n".join(rows) + "\n")
    first = open_window(study="shuffle-rdp")
    settled(first)
    with qtbot.waitSignal(first.data.loaded, timeout=20_000):
        first.files.open_any(path)
    first.close()
    second = open_window()
    settled(second)
    assert second.data.current.basename == "mine.txt"
    second.close()
    again = open_window()
    settled(again)
    assert again.data.current.basename == "mine.txt"
    again.close()
    path.write_bytes(b"")
    broken = open_window()
    settled(broken)
    qtbot.waitUntil(lambda: broken.data.current is not None and not broken.data.busy)
    assert broken.data.current.synthetic
    assert broken.banner.isVisible()
    broken.close()
    path.unlink()
    third = open_window()
    settled(third)
    assert third.data.current.synthetic


def test_undo_goes_back_over_everything(open_window, settled, qtbot, tiny_study) -> None:
    window = open_window(study="tiny")
    settled(window)
    session = window.session
    start = session.state
    session.set_value("eps", 0.5)
    session.set_quantity("error")
    session.set_sweep(Sweep("beta", 0.01, 0.5, 30, Scale.LINEAR))
    session.set_seed(5)
    session.set_study("heatmap")
    end = session.state
    for _ in range(5):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.state.request == start.request
    assert session.state.study == start.study
    for _ in range(5):
        qtbot.keyClick(
            window, Qt.Key.Key_Z,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
        )  # fmt: skip
    assert session.state == end


def test_folded_groups_and_the_files_of_pins_and_comparison_come_back(
    open_window, settled, qtbot, tmp_path
) -> None:
    matrix = tmp_path / "mine.csv"
    matrix.write_text("0,1,3\n1,0,2\n3,2,0\n")
    first = open_window(study="choose-alpha")
    settled(first)
    first.session.set_value("space", "matrix")
    first.parameters.row("space_matrix").take(matrix)
    qtbot.waitUntil(lambda: bool(first.session.state.request["space_matrix"]))
    settled(first)
    value = first.session.state.request["space_matrix"]
    first.workspaces["bounds"].add_to_comparison()
    first.session.pin()
    first.session.set_value("space_matrix", "")
    first.parameters.section("space").heading.click()
    assert first.parameters.folded == {"space"}
    settled(first)
    first.close()

    second = open_window()
    settled(second)
    assert second.parameters.folded == {"space"}
    assert not second.parameters.row("space_matrix").isVisible()
    assert second.host.files()[value] == matrix
    second.tabs.setCurrentWidget(second.compare)
    qtbot.waitUntil(lambda: any(row.value for row in second.compare.rows))
    assert not any("not open" in row.missing for row in second.compare.rows)
