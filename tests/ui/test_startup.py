"""The program as a process: imports, first picture, exit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from explorer.cli import run as explorer_command
from tests.waiting import time_limit

pytestmark = pytest.mark.full

LAZY = (
    "cvxpy",
    "scipy.stats",
    "duckdb",
    "pandas",
    "matplotlib",
    "numba",
    "pyogrio",
    "pyproj",
    "pyarrow",
    "openpyxl",
)

BEHIND = ("numpy", "pyqtgraph", "explorer.studies.base.study", "explorer.ui.app.startup")
"""Not imported before the start page is painted."""

FIRST_PAINT = """
import sys
from PySide6.QtCore import QEvent, QObject
from explorer.ui.app.options import WindowOptions
from explorer.ui.app.application import Application

class Watch(QObject):
    seen = None
    def eventFilter(self, item, event):
        if self.seen is None and event.type() == QEvent.Type.Paint:
            self.seen = sorted(set(sys.modules) & set({lazy!r}))
            from PySide6.QtCore import QTimer
            QTimer.singleShot(0, launch.app.quit)
        return False

launch = Application(WindowOptions(study={study!r}, start_page={page}), ["test"])
watch = Watch()
launch.app.installEventFilter(watch)
launch.run()
print(watch.seen)
"""


WRITTEN = r"written: .+\.png \(\d+ kB\)\n"


def run(*arguments: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "XDG_STATE_HOME": str(home), "QT_QPA_PLATFORM": "offscreen", **env},
        capture_output=True,
        text=True,
        timeout=time_limit(180),
    )


@pytest.mark.parametrize(
    ("study", "lazy"),
    [("heatmap", LAZY), (None, (*LAZY, *BEHIND))],
    ids=["map", "start page"],
)
def test_nothing_heavy_is_imported_at_first_paint(tmp_path: Path, study, lazy) -> None:
    code = FIRST_PAINT.format(lazy=lazy, study=study, page=study is None)
    done = run("-c", code, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_program_ends_after_something_was_copied(tmp_path: Path) -> None:
    code = """
from PySide6.QtCore import QMimeData, QTimer
from PySide6.QtGui import QGuiApplication
from explorer.ui.app.options import WindowOptions
from explorer.ui.app.application import Application

launch = Application(WindowOptions(study="unbounded", start_page=False), ["test"])

def copy():
    data = QMimeData()
    data.setText("copied")
    QGuiApplication.clipboard().setMimeData(data)
    launch.app.quit()

QTimer.singleShot(500, copy)
launch.run()
"""
    done = run("-c", code, home=tmp_path)
    assert done.returncode == 0, done.stderr


def test_choosing_a_study_imports_nothing_heavy(tmp_path: Path) -> None:
    # Studies and the page of plots are imported in the window's thread when they are selected.
    heavy = (*LAZY, "scipy", "sklearn", "loky")
    code = f"""
import sys
import explorer.ui.bounds.workspace
from explorer.studies.registry import get_study, study_infos
for info in study_infos():
    get_study(info.id)
print(sorted(set(sys.modules) & set({heavy!r})))
"""
    done = run("-c", code, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Numbers whose recipe names a file of distances beside it."""
    matrix = tmp_path / "distances.csv"
    matrix.write_text(",a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n")
    given = ["--set", "space=matrix", "--set", f"space_matrix={matrix}"]
    path = tmp_path / "queries.csv"
    assert explorer_command(["bounds", "linear-queries", *given, "--output", str(path)]) == 0
    return path


@pytest.mark.parametrize(
    ("question", "scale", "theme"),
    [
        (("--recipe", "{table}", "--set", "space_matrix={folder}/distances.csv"), 1, "light"),
        (("--study", "heatmap", "--set", "resolution=16"), 2, "dark"),
    ],
    ids=["recipe with a file", "map"],
)
def test_a_screenshot_is_the_window_and_nothing_else(
    request, tmp_path, question, scale, theme
) -> None:
    """Frozen objects and objects of worker processes are not reported as leaks."""
    picture = tmp_path / "shot.png"
    table = request.getfixturevalue("table") if "--recipe" in question else None
    words = [word.format(table=table, folder=tmp_path) for word in question]
    looks = ["--size", "1280x800", "--scale", str(scale), "--theme", theme]
    shown = ["-m", "explorer", "window", *words, "--screenshot", str(picture), *looks]
    done = run(*shown, home=tmp_path / "state")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(WRITTEN, done.stderr)
    with Image.open(picture) as image:
        assert image.size == (1280 * scale, 800 * scale)
        corner = image.convert("L").getpixel((5, 5 * scale))
        colours = image.convert("RGB").getcolors(1 << 24)
    assert (corner > 128) == (theme == "light")
    assert len(colours) > 200
    assert not (tmp_path / "state").exists() or not any((tmp_path / "state").rglob("window.json"))


TUNING = """
import sys
from pathlib import Path
from explorer.ui.app.launch import run_window
from explorer.ui.app.options import WindowOptions
code = run_window(WindowOptions(study="choose-alpha", screenshot=Path(sys.argv[1])))
import pyqtgraph
import shibokensupport.feature
from explorer.ui.base import startup_tuning
print(
    "QCalendarWidget" in vars(sys.modules["pyqtgraph.Qt.QtWidgets"]),
    shibokensupport.feature._mod_uses_pyside.__module__ != startup_tuning.__name__,
    sys.getswitchinterval() > startup_tuning.SWITCH_S,
    not (startup_tuning.STYLE_LATE or startup_tuning.COMPUTE_EARLY or startup_tuning.MAKE_AHEAD),
)
sys.exit(code)
"""


def test_the_window_works_without_its_tuning(tmp_path: Path) -> None:
    picture = tmp_path / "shot.png"
    done = run("-c", TUNING, str(picture), home=tmp_path, PRIVACY_EXPLORER_NO_TUNING="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 4
    assert picture.exists()


REFUSED = {
    ("--study", "nothing"): ("no study",),
    ("--study", "shuffle-rdp", "--set", "T=-1"): ("T: choose",),
    ("--study", "shuffle-rdp", "--recipe", "nowhere.png"): ("nowhere.png",),
    ("--recipe", "{table}"): ("distances.csv", "space_matrix=FILE"),
    ("--study", "shuffle-rdp", "--data", "nowhere.txt"): ("nowhere.txt",),
    # last: it has made the application
    ("--study", "shuffle-rdp", "--data", "{empty}"): ("empty.txt is empty",),
}
REFUSALS = """
import ast, sys
from explorer.cli import run
for words in ast.literal_eval(sys.argv[1]):
    print(run(["window", *words, "--screenshot", sys.argv[2]]))
    print("after", *words, file=sys.stderr)
"""


def test_what_cannot_be_shown_ends_with_a_sentence(tmp_path, table) -> None:
    picture = tmp_path / "shot.png"
    empty = tmp_path / "empty.txt"
    empty.touch()
    files = {"table": table, "empty": empty}
    refused = {tuple(w.format(**files) for w in words): why for words, why in REFUSED.items()}
    done = run("-c", REFUSALS, str(list(refused)), str(picture), home=tmp_path / "s")
    assert not {"0", "3"} & set(done.stdout.split())
    assert len(done.stdout.split()) == len(refused)
    said = done.stderr
    for words, why in refused.items():
        sentence, _, said = said.partition(f"after {' '.join(words)}\n")
        assert all(part in sentence for part in why)
    assert "Traceback" not in done.stderr
    assert not picture.exists()
