"""How soon the window is there, and how soon the sample's map is drawn.

Each start is a process of its own, with warm file caches and the sample in the Parquet cache, from
just before the interpreter starts to the end of the first paint of the window and of the map.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from tests.benchmarks.table import Row, at_most

STARTS = 7

PROGRAM = """
import sys, time
from PySide6.QtCore import QEvent, QObject, QTimer
from explorer.ui.app import WindowOptions
from explorer.ui.launch import Launch

launch = Launch(WindowOptions(study="heatmap"), ["bench"])
window = launch.window

class Watch(QObject):
    # The window's UpdateRequest is carried out here, so that the end of its painting is known.
    painted = drawn = False
    busy = False
    def eventFilter(self, item, event):
        if item is not window or event.type() != QEvent.Type.UpdateRequest or self.busy:
            return False
        self.busy = True
        item.event(event)
        self.busy = False
        if not self.painted:
            self.painted = True
            print("window", time.time(), flush=True)
        if not self.drawn and window.workspaces["map"].current_result is not None:
            self.drawn = True
            print("map", time.time(), flush=True)
            QTimer.singleShot(0, launch.app.quit)
        return True

watch = Watch()
window.installEventFilter(watch)
QTimer.singleShot(60_000, launch.app.quit)
launch.run()
"""


def _start(home: str) -> dict[str, float]:
    """Return seconds from start to the window and to the map."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_STATE_HOME": home}
    # Compiled modules are part of a warm start, also where this machine's settings forbid them.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = f"{home}/compiled"
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return {key: float(at) - began for key, at in (line.split() for line in done.stdout.split("\n")
                                                   if line)}  # fmt: skip


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        _start(home)
        times = [_start(home) for _ in range(STARTS)]
    note = f"median of {STARTS} starts, warm"
    return [
        at_most("start to window shown", float(np.median([t["window"] for t in times])), 0.6, "s",
                note),
        at_most("start to map of the sample drawn", float(np.median([t["map"] for t in times])),
                2.5, "s", note),
    ]  # fmt: skip
