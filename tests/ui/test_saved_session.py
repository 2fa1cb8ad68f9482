"""Saved sessions: restart; damaged, foreign and unwritable files."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from explorer.engine.paths import state_folder
from explorer.engine.session.schema import RECIPE_SCHEMA
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Scale, Sweep
from explorer.ui.controllers.session_store import SCHEMA, SessionStore, StateFile
from tests.ui.small_map import SMALL_MAP
from tests.waiting import time_limit


def session_file() -> Path:
    return state_folder() / "window.json"


@pytest.mark.main_path
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
    first.session_store.note_file(Path(__file__))
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
    assert second.session_store.recent == [str(Path(__file__).resolve())]
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

    qtbot.waitUntil(saved)


RECIPE = {"schema": RECIPE_SCHEMA, "study": "shuffle-rdp", "values": {"eps0": 1.5}}
SWEEP = {"key": "T", "low": 1, "high": 100, "points": 20, "scale": "log"}


def _session(*requests: object, **more: object) -> str:
    return json.dumps({"schema": SCHEMA, "session": {"requests": requests}} | more)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{ not json", "is damaged"),
        ("[]", "is damaged"),
        ('{"schema": "privacy-explorer-window/1"}', "is damaged"),
        ("\xff\xfe\x00", "is damaged"),
        ('{"schema": "privacy-explorer-window/99", "session": {}}', "another version"),
        (_session(RECIPE | {"seed": math.inf}), "session.requests[0].seed"),
        (_session(RECIPE | {"sweep": SWEEP | {"points": math.inf}}), "session.requests[0].sweep"),
        (_session(RECIPE | {"seed": int("9" * 400)}), "session.requests[0].seed"),
        (_session(RECIPE | {"values": {"eps0": int("9" * 400)}}), "eps0"),
        (_session(RECIPE).replace("1.5", "9" * 5000), "eps0"),
        (_session(RECIPE).replace("1.5", "[" * 900 + "]" * 900), "eps0"),
        (_session(RECIPE).replace("1.5", "[" * 100_000 + "]" * 100_000), "nested too deeply"),
        (json.dumps({"schema": SCHEMA, "session": {"requests": None}}), "session.requests"),
        (_session(RECIPE, data_path="\0"), "data_path"),
        (_session(RECIPE, data_path=5, recent=[1, "/a"], files={"a": 3}), "and 2 more"),
        (_session(RECIPE, geometry="%%%", layout=7, folded=[None], theme="pink"), "and 3 more"),
        (_session(RECIPE, views={"bounds": {"theme": "pink"}, "map": 3}), "views.bounds"),
        (_session(RECIPE, views={"map": {"theme": "pink"}}), "views.map"),
        (_session(RECIPE | {"study": "gone"}, 5), "no study 'gone'"),
    ],
    ids=range(19),
)
def test_a_session_that_cannot_be_read_in_full_is_kept_whole_and_reported(
    tmp_path, content, why
) -> None:
    (tmp_path / "window.json").write_bytes(raw := content.encode("latin-1"))
    store = SessionStore(StateFile(tmp_path))
    store.load()
    store.load_session()
    (kept,) = tmp_path.glob("window-*.json")
    assert kept.read_bytes() == raw
    assert why in store.complaint
    assert str(kept) in store.complaint


SPOILT = {
    "geometry": "%%%",
    "layout": 7,
    "views": {"bounds": {"theme": "pink"}, "map": 3, "nowhere": {}},
    "recent": [1, None],
    "data_path": "/nowhere/at/all.txt",
}


@pytest.mark.parametrize("content", ["{ not json", _session(RECIPE, 5, **SPOILT)], ids=range(2))
def test_the_window_starts_on_what_can_be_read_and_says_what_cannot(
    open_window, settled, content
) -> None:
    session_file().write_text(content)
    window = open_window(study="unbounded")
    said = window.banner.text.text()
    assert window.banner.isVisible()
    (kept,) = state_folder().glob("window-*.json")
    assert kept.read_text() == content
    assert str(kept) in said
    settled(window)
    window.close()
    read = StateFile(state_folder()).load()
    assert read.values is not None
    assert not read.left_out
    assert kept.read_text() == content


def test_a_file_that_cannot_be_put_aside_is_never_overwritten(
    open_window, settled, monkeypatch
) -> None:
    session_file().write_text("{ not json")

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refuse)
    window = open_window(study="unbounded")
    assert "not be saved" in window.banner.text.text()
    settled(window)
    window.close()
    assert session_file().read_text() == "{ not json"


def test_a_fault_of_our_own_while_reading_keeps_no_window_from_starting(
    open_window, settled, monkeypatch
) -> None:
    content = _session(RECIPE)
    session_file().write_text(content)

    def fail(*_: object) -> None:
        raise AttributeError("who would have thought")

    monkeypatch.setattr("explorer.engine.session.session.state_from_dict", fail)
    window = open_window(study="unbounded")
    assert "would have thought" in window.banner.text.text()
    (kept,) = state_folder().glob("window-*.json")
    assert kept.read_text() == content
    settled(window)


UNBUILDABLE = """
import os, sys, time
from pathlib import Path
from explorer.ui.app.options import WindowOptions
from explorer.ui.app.application import Application
from explorer.ui.panels.parameters import ParametersPanel

build = ParametersPanel.__init__

def fail(panel, session, *more):
    if session.state.request_of("shuffle-rdp").seed == 77:
        raise IndexError("no such row")
    build(panel, session, *more)

ParametersPanel.__init__ = fail
for page in (True, False):
    Path(sys.argv[1]).write_text(sys.argv[2])
    launch = Application(WindowOptions(study="unbounded", start_page=page), ["test"])
    launch.show()
    first = launch.window
    while not launch.window.built:
        launch.app.processEvents()
        time.sleep(0.01)
    print(launch.window.banner.text.text())
    assert (launch.window is not first) == page, "only a window that was seen is replaced"
    assert launch.window.isVisible() and launch.window.start.shown == page
    launch.window.close()
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.full
def test_a_session_on_which_no_window_can_be_built_is_put_aside(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    content = _session(RECIPE | {"seed": 77})
    done = subprocess.run(
        [sys.executable, "-c", UNBUILDABLE, str(session_file()), content],
        capture_output=True,
        text=True,
        timeout=time_limit(60),
    )
    assert done.stdout.count("no such row") == 2, done.stderr
    kept = list(state_folder().glob("window-*.json"))
    assert [path.read_text() for path in kept] == [content] * 2
    assert StateFile(state_folder()).load().complaint == ""


def test_a_view_that_does_not_fit_is_no_reason_for_no_window(
    open_window, settled, monkeypatch
) -> None:
    from explorer.ui.bounds.workspace import BoundsWorkspace

    session_file().write_text(_session(RECIPE, views={"bounds": {"title": "a"}}))

    def fail(*_: object) -> None:
        raise RuntimeError("it does not fit")

    monkeypatch.setattr(BoundsWorkspace, "apply_view_state", fail)
    settled(open_window(study="unbounded"))


@pytest.mark.parametrize("name", ["XDG_STATE_HOME", "XDG_CACHE_HOME"])
def test_a_folder_that_cannot_be_made_is_reported_and_the_window_starts(
    open_window, settled, monkeypatch, tmp_path, name
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv(name, str(tmp_path / "a file" / "folder"))
    window = open_window(study="unbounded")
    assert "a file" in window.banner.text.text()
    settled(window)
    window.session.set_value("eps", 1.25)
    settled(window)
    window.session_store.save()


def test_data_in_a_folder_that_may_not_be_entered_are_reported_and_the_sample_opens(
    open_window, settled, qtbot, monkeypatch
) -> None:
    session_file().write_text(_session(RECIPE, data_path="/root/of/nobody/mine.txt"))
    ask = Path.stat

    def refuse(path: Path, **how: object) -> object:
        if "nobody" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return ask(path, **how)

    monkeypatch.setattr(Path, "stat", refuse)
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    qtbot.waitUntil(lambda: window.data.current is not None and not window.data.busy)
    assert window.data.current.synthetic
    assert "mine.txt" in window.banner.text.text()


def test_a_second_window_has_a_session_of_its_own_and_says_so(
    open_window, settled, tiny_study
) -> None:
    first = open_window(study="tiny")
    assert not first.banner.isVisible()
    settled(first)
    first.session.set_value("eps", 0.7)
    second = open_window(study="tiny")
    settled(second)
    assert "window-2.json" in second.banner.text.text()
    second.session.set_value("eps", 0.2)
    second.close()
    first.close()
    third = open_window()
    assert not third.banner.isVisible()
    assert third.session.request("tiny")["eps"] == 0.7
    fourth = open_window()
    assert fourth.session.request("tiny")["eps"] == 0.2


def test_the_file_of_a_program_that_was_killed_is_taken_over(open_window, settled) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from explorer.ui.controllers.session_store import own_file\n"
        "file = own_file(Path(sys.argv[1])); file.save({'session': {}})\n"
        "print(file.path.name, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    folder = str(state_folder())
    dead = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert dead.stdout == "window.json\n", dead.stderr
    (state_folder() / ".0123456789ab.part").touch()
    os.utime(state_folder() / ".0123456789ab.part", (0, 0))
    window = open_window(study="unbounded")
    assert not window.banner.isVisible()
    assert window.session_store._file.path.name == "window.json"
    assert not list(state_folder().glob(".*.part"))
    settled(window)


@pytest.mark.full
def test_many_windows_at_once_never_tear_or_lose_a_session(tmp_path) -> None:
    """Four processes write continuously while a fifth reads."""
    code = (
        "import json, sys, time; from pathlib import Path\n"
        "from explorer.ui.controllers.session_store import own_file\n"
        "file = own_file(Path(sys.argv[1]))\n"
        "end = time.monotonic() + 1\n"
        "while time.monotonic() < end:\n"
        "    file.save({'session': {'study': file.path.name * 5000}})\n"
        "print(file.path.name)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    reads = 0
    while any(p.poll() is None for p in running):
        for path in tmp_path.glob("window*.json"):
            assert json.loads(path.read_text())["session"]["study"] == path.name * 5000
            reads += 1
    names = [p.communicate()[0].strip() for p in running]
    assert [p.returncode for p in running] == [0] * 4
    assert len(set(names)) == 4
    assert reads > 50


def test_a_crash_while_writing_keeps_the_session_before(tmp_path, monkeypatch) -> None:
    file = StateFile(tmp_path)
    file.save({"session": {"study": "heatmap"}})

    def crash(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="No space"):
        file.save({"session": {"study": "shuffle-rdp"}})
    assert file.load().values.session["study"] == "heatmap"


def test_a_full_disk_is_reported_once(open_window, settled, qtbot, tiny_study, monkeypatch) -> None:
    window = open_window(study="tiny")
    settled(window)
    told: list[object] = []
    window.session_store.save_failed.connect(told.append)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StateFile, "save", full)
    window.session_store.save()
    window.session_store.save()
    assert len(told) == 1
    assert "no space" in window.banner.text.text()


def test_data_of_last_time_are_opened_again(open_window, settled, qtbot, tmp_path) -> None:
    path = tmp_path / "mine.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    path.write_text("\n".join(rows) + "\n")
    first = open_window(study="heatmap", values=SMALL_MAP)
    settled(first)
    with qtbot.waitSignal(first.data.loaded):
        first.files.open_any(path)
    first.close()
    second = open_window()
    settled(second)
    assert second.data.current.basename == "mine.txt"
    second.close()
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


def test_data_of_last_time_are_read_as_they_were(open_window, settled, qtbot, tmp_path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"{u % 15},2010-10-17 01:48:53,40.{u:02},-73.9" for u in range(20)]
    path.write_text("user,time,lat,lon\n" + "\n".join(rows) + "\n")
    first = open_window(study="shuffle-rdp")
    settled(first)
    first.session.set_value("resolution", "16", "heatmap")
    with qtbot.waitSignal(first.data.mapping_needed):
        first.files.open_data(path, ask=True)
    dialog = first.data_panel.dialog("mapping")
    dialog.reading.zone.setText("America/New_York")
    qtbot.waitUntil(dialog.load_button.isEnabled)
    with qtbot.waitSignal(first.data.loaded):
        dialog.load_button.click()
    assert first.data.current.first_time == "2010-10-17T05:48:53Z"
    first.close()
    second = open_window()
    settled(second)
    assert second.data.current.mapping.zone == "America/New_York"
    assert second.data.current.first_time == "2010-10-17T05:48:53Z"


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
            window,
            Qt.Key.Key_Z,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
        )
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
    assert second.service.runtime.files()[value] == matrix
    second.pages.setCurrentWidget(second.tools["compare"])
    qtbot.waitUntil(lambda: any(row.value for row in second.tools["compare"].rows))
    assert not any("not open" in row.missing for row in second.tools["compare"].rows)
