"""How soon the window is there, and how soon the first answer is drawn.

Each start is the whole program in a process of its own, as from the command line, with warm file
caches, the sample in the Parquet cache and the last session restored: from just before the
interpreter starts to the end of painting the window's first picture (not of the first update, in
which nothing is painted yet), which is the start page where that is shown; to all that is behind
it being there; and to the first picture with an answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from tests.benchmarks.table import Row, at_most, sized

STARTS = sized(7, 1)
PLOT = sized("shuffle-rdp", "choose-alpha")
"""A study whose answer is a plot."""

PROGRAM = """
import sys, time
from explorer.__main__ import main
from explorer.ui.app import launch as starter

open_window = starter.run_window

def run_window(options):
    from explorer.ui.base.startup_tuning import tune_imports
    tune_imports()
    from PySide6.QtCore import QEvent, QObject, QTimer
    from explorer.ui.app import application

    class Watch(QObject):
        # What paints is carried out here, so that the end of the painting is known. Only two
        # objects are watched: a call for every event of all would take a tenth of a second.
        begun = painted = busy = False
        def eventFilter(self, item, event):
            kind, window = event.type(), self.launched.window
            if kind == QEvent.Type.Paint:
                self.begun = True
            if self.busy or kind not in (QEvent.Type.UpdateRequest, QEvent.Type.Expose):
                return False
            self.busy = True
            item.event(event)
            self.busy = False
            if self.begun and not self.painted:
                self.painted = True
                print("window", time.time(), flush=True)
            elif self.painted and window.built and window.current_result is not None:
                print("answer", time.time(), flush=True)
                window.removeEventFilter(self)
                window.windowHandle().removeEventFilter(self)
                QTimer.singleShot(0, self.launched.app.quit)
            return True

    class Watched(application.Application):
        def show(self):
            self.watch = Watch()
            self.watch.launched = self
            QTimer.singleShot(60_000, self.app.quit)
            super().show()
            # Nothing is painted before the event loop runs.
            self.window.installEventFilter(self.watch)
            self.window.windowHandle().installEventFilter(self.watch)

    application.Application = Watched
    return open_window(options)

starter.run_window = run_window
sys.exit(main())
"""


def _start(home: str, *arguments: str) -> dict[str, float]:
    """Return seconds from start to the window and to its first answer."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_STATE_HOME": home}
    # Compiled modules are part of a warm start, also where this machine's settings forbid them.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    if sized(True, False):
        env["PYTHONPYCACHEPREFIX"] = f"{home}/compiled"
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return {
        key: float(at) - began
        for key, at in (line.split() for line in done.stdout.split("\n") if line)
    }


def _starts(study: str) -> dict[str, float]:
    """Return the median times of starts that restore a session with a study in front."""
    with tempfile.TemporaryDirectory() as home:
        _start(home, "window", "--study", study)
        _start(home)
        times = [_start(home) for _ in range(STARTS)]
    return {key: float(np.median([t[key] for t in times])) for key in ("window", "answer")}


def run() -> list[Row]:
    note = f"median of {STARTS} starts, warm, session restored"
    if sized(False, True):  # one start, which has all the steps
        with tempfile.TemporaryDirectory() as home:
            once = _start(home, "window", "--study", PLOT)
        return [Row(f"start to {what}", once[what], None, "s", None) for what in once]
    on_map, on_plot = _starts("heatmap"), _starts(PLOT)
    return [
        at_most("start to window shown", on_map["window"], 0.6, "s", note),
        at_most("start to map of the sample drawn", on_map["answer"], 1.2, "s", note),
        at_most("start to window shown, a plot in front", on_plot["window"], 0.6, "s", note),
        at_most("start to curves drawn, a plot in front", on_plot["answer"], 2.5, "s", note),
    ]
