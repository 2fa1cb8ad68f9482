"""The program as a process: imports, first picture, exit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

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
    [("heatmap", LAZY), ("shuffle-rdp", LAZY), (None, (*LAZY, *BEHIND))],
    ids=["map", "plot", "start page"],
)
def test_nothing_heavy_is_imported_at_first_paint(tmp_path: Path, study, lazy) -> None:
    code = FIRST_PAINT.format(lazy=lazy, study=study, page=study is None)
    done = run("-c", code, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_choosing_a_study_imports_nothing_heavy(tmp_path: Path) -> None:
    # Studies are imported in the window's thread when they are selected.
    heavy = (*LAZY, "scipy", "sklearn", "loky")
    code = f"""
import sys
from explorer.studies.registry import get_study, study_infos
for info in study_infos():
    get_study(info.id)
print(sorted(set(sys.modules) & set({heavy!r})))
"""
    done = run("-c", code, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("scale", "theme"), [(1, "light"), (2, "dark")])
def test_a_screenshot_is_the_window_and_nothing_else(tmp_path, scale, theme) -> None:
    picture = tmp_path / "shot.png"
    done = run(
        "-m",
        "explorer",
        "window",
        "--study",
        "choose-alpha",
        "--set",
        "eps1=2",
        "--screenshot",
        str(picture),
        "--size",
        "1280x800",
        "--scale",
        str(scale),
        "--theme",
        theme,
        home=tmp_path / "state",
    )
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


@pytest.mark.parametrize("off", [False, True])
def test_the_window_works_with_and_without_its_tuning(tmp_path: Path, off: bool) -> None:
    picture = tmp_path / "shot.png"
    done = run("-c", TUNING, str(picture), home=tmp_path, PRIVACY_EXPLORER_NO_TUNING=str(int(off)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(off)] * 4
    assert picture.exists()


REFUSED = {
    ("--study", "nothing"): "no study",
    ("--study", "shuffle-rdp", "--set", "T=-1"): "T: choose",
    ("--study", "shuffle-rdp", "--recipe", "nowhere.png"): "nowhere.png",
    # last: it has made the application
    ("--study", "shuffle-rdp", "--data", "nowhere.txt"): "nowhere.txt",
}
REFUSALS = """
import ast, sys
from explorer.cli import run
for words in ast.literal_eval(sys.argv[1]):
    print(run(["window", *words, "--screenshot", sys.argv[2]]))
    print("after", *words, file=sys.stderr)
"""


def test_what_cannot_be_shown_ends_with_a_sentence(tmp_path) -> None:
    picture = tmp_path / "shot.png"
    done = run("-c", REFUSALS, str(list(REFUSED)), str(picture), home=tmp_path / "s")
    assert not {"0", "3"} & set(done.stdout.split())
    assert len(done.stdout.split()) == len(REFUSED)
    said = done.stderr
    for words, why in REFUSED.items():
        sentence, _, said = said.partition(f"after {' '.join(words)}\n")
        assert why in sentence
    assert "Traceback" not in done.stderr
    assert not picture.exists()


def test_a_recipe_with_a_file_is_shown_when_the_file_is_named(tmp_path) -> None:
    matrix = tmp_path / "distances.csv"
    matrix.write_text(",a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n")
    table = tmp_path / "queries.csv"
    given = ("--set", "space=matrix", "--set", f"space_matrix={matrix}")
    done = run(
        "-m", "explorer", "bounds", "linear-queries", *given, "--output", str(table), home=tmp_path
    )
    assert done.returncode == 0, done.stderr
    picture = tmp_path / "shot.png"
    shown = ("-m", "explorer", "window", "--recipe", str(table), "--screenshot", str(picture))
    done = run(*shown, home=tmp_path)
    assert done.returncode == 1
    assert "distances.csv" in done.stderr
    assert "space_matrix=FILE" in done.stderr
    assert not picture.exists()
    done = run(*shown, "--set", f"space_matrix={matrix}", home=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(WRITTEN, done.stderr)
    assert picture.exists()


@pytest.mark.parametrize(
    "question",
    [("heatmap", "--set", "resolution=16"), ("histograms",)],
    ids=["heatmap", "histograms"],
)
def test_the_program_ends_in_silence(tmp_path, question) -> None:
    """Frozen objects and objects of worker processes are not reported as leaks."""
    picture = tmp_path / "window.png"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "explorer",
            "window",
            "--study",
            *question,
            "--screenshot",
            str(picture),
        ],
        capture_output=True,
        text=True,
        timeout=time_limit(240),
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == 0, done.stderr
    assert picture.exists()
    assert "leak" not in done.stderr
