"""Session files of earlier versions still open as what they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from explorer.engine.folders import state_folder
from explorer.studies.model import Scale, Sweep

SESSIONS = Path(__file__).parent.parent / "data" / "sessions"


@pytest.fixture
def put_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def put(name: str) -> None:
        shutil.copy(SESSIONS / name, state_folder() / "window.json")

    return put


def test_the_first_format_still_opens(put_there, open_window, settled, qtbot) -> None:
    put_there("window-1.json")
    window = open_window(theme="system")
    result = settled(window)
    assert not window.banner.isVisible()
    assert window.keeper.complaint == ""
    request = window.session.request("shuffle-rdp")
    assert window.session.state.study == "shuffle-rdp"
    assert (request["eps0"], request["k"], request.quantity) == (1.5, 2500, "rdp")
    assert request.sweep == Sweep("lam", 2, 256, 80, Scale.LOG)
    heatmap = window.session.state.request_of("heatmap")
    assert (heatmap["sigma"], heatmap.seed) == (0.05, 17)
    qtbot.waitUntil(lambda: window.session.state.selection is not None)
    assert window.session.state.selection.users == 200
    view = window.workspaces["bounds"].view_state()
    assert view.y_log
    assert view.hidden == ("renyi_cap",)
    assert "renyi_cap" in {s.key for s in result.series}
    assert window.theme.name == "dark"
    assert not window.session.undo_text
    window.theme.choose("light")
