"""Does memory grow while sliders are dragged for long? ``python -m tests.benchmarks.soak``.

The real window with its real processes. All studies come to the front in turn, the map among them;
every slider that a study shows is dragged there and back at 60 moves a second, then the complete
answer is waited for, for a little while. Memory is what belongs to a process alone (unique set
size): of the window, of the process that computes, and of that one's worker. Passes if the end is
within 5 % of what it was after a third of the time, which is 20 minutes of 60. With ``--smoke`` one
slider of each of two studies is dragged once and memory is not judged: it shows that the soak still
fits the program.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import psutil

from tests.benchmarks import bench_live
from tests.benchmarks.bench_live import TIMEOUT_S, pause, press, wait
from tests.benchmarks.table import SMOKE, sized
from tests.waiting import time_limit

MOVES = 60
RATE = 60.0
PATIENCE_S = 2.0
"""How long the answer to where a slider stopped is waited for; a simulation takes longer."""
EVERY_S = 30.0
MAX_GROWTH = 1.05
MB = 1e6


@dataclass(frozen=True)
class Memory:
    """Megabytes after so many seconds."""

    seconds: float
    window: float
    compute: float
    worker: float

    @property
    def total(self) -> float:
        return self.window + self.compute + self.worker

    def text(self) -> str:
        return (
            f"{self.seconds / 60:6.1f} min  {self.total:8.1f} MB = window {self.window:7.1f}"
            f" + answers {self.compute:7.1f} + worker {self.worker:7.1f}"
        )


def _own_memory(process: psutil.Process) -> float:
    try:
        return process.memory_full_info().uss / MB
    except psutil.Error:
        return 0.0  # ended between being listed and being asked


def _shares(window: Any, seconds: float) -> Memory:
    this = psutil.Process()
    others = {p.pid: _own_memory(p) for p in this.children(recursive=True)}
    apart = others.pop(window.service.client.pid, 0.0)
    return Memory(seconds, _own_memory(this), apart, sum(others.values()))


@dataclass
class Soak:
    """Drags, and takes down memory meanwhile.

    Attributes
    ----------
    drags : int
        Sliders dragged so far.
    taken : list of Memory
    failed : list of str
        What the window could not answer, each once.
    """

    window: Any
    minutes: float
    drags: int = 0
    rounds: int = 0
    taken: list[Memory] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Go round all studies until the time is over."""
        from explorer.studies.registry import study_infos

        for controller in self.window.answers.values():
            controller.failed.connect(self._failure)
        while not self.over:
            for info in study_infos()[: sized(None, 2)]:
                self._drag_all(info.id)
            self.rounds += 1
        self._take()

    @property
    def over(self) -> bool:
        if sized(False, True):
            return self.rounds > 0
        return time.monotonic() - self._began > 60 * self.minutes

    def _drag_all(self, study: str) -> None:
        self.window.session.set_study(study)
        self._rest()
        for key, slider in islice(self._sliders(study), sized(None, 1)):
            if self.over:
                return
            self._drag(slider, there=(self.drags + self.rounds) % 2 == 0)
            self.drags += 1
            self._rest()
            self.window.session.set_value(key, _default(study, key), study)
            if not self.taken or time.monotonic() - self._last > EVERY_S:
                self._take()
        self.window.menus.actions["reset"].trigger()

    def _sliders(self, study: str) -> Iterator[tuple[str, Any]]:
        from explorer.studies.registry import get_study

        for parameter in get_study(study).parameters:
            if parameter.axis_only or not parameter.numeric:
                continue
            row = self.window.parameters.row(parameter.key)
            if row.isVisible():
                yield parameter.key, row.slider

    def _drag(self, slider: Any, there: bool) -> None:
        from PySide6.QtCore import QEvent

        ends = (0.25, 0.75) if there else (0.75, 0.25)
        places = np.linspace(slider.width() * ends[0], slider.width() * ends[1], sized(MOVES, 3))
        press(slider, QEvent.Type.MouseButtonPress, places[0])
        for place in places:
            pause(1 / RATE)
            press(slider, QEvent.Type.MouseMove, place)
        press(slider, QEvent.Type.MouseButtonRelease, places[-1])

    def _rest(self) -> None:
        """Wait for the complete answer; stop what takes long."""
        try:
            wait(lambda: not self.window.busy, PATIENCE_S)
        except TimeoutError:
            for controller in self.window.answers.values():
                controller.cancel()
            wait(lambda: not self.window.busy)

    def _failure(self, error: Exception) -> None:
        said = f"{self.window.session.state.study}: {type(error).__name__}: {error}"
        if said not in self.failed:
            self.failed.append(said)

    @property
    def _last(self) -> float:
        return self._began + self.taken[-1].seconds

    def _take(self) -> None:
        self.taken.append(_shares(self.window, time.monotonic() - self._began))
        print(f"{self.taken[-1].text()}  {self.drags} drags", flush=True)


def _default(study: str, key: str) -> Any:
    from explorer.studies.base.study import parameter
    from explorer.studies.registry import get_study

    return parameter(get_study(study), key).default


@contextmanager
def window() -> Iterator[Any]:
    """Give the real window, started as the program starts it, with the sample open.

    In a smoke run that of `bench_live`, which benchmarks may share.
    """
    if sized(False, True):
        with bench_live.window() as shown:
            yield shown
        return
    from PySide6.QtWidgets import QApplication

    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        app = QApplication.instance() or QApplication([])
        from PySide6.QtCore import QTimer

        from explorer.ui.app.application import Application
        from explorer.ui.app.options import WindowOptions
        from explorer.ui.base.startup_tuning import freeze_gc

        launch = Application(WindowOptions("heatmap", theme="light"), ["soak"])
        shown = launch.window
        launch.show()
        QTimer.singleShot(2000, freeze_gc)
        try:
            wait(lambda: shown.data.current is not None and not shown.busy, time_limit(TIMEOUT_S))
            yield shown
        finally:
            shown.close()
            shown.deleteLater()
            app.processEvents()


def main(words: list[str] | None = None) -> int:
    """Soak; exit 1 if memory grew too much or something could not be answered."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--smoke", action="store_true")
    asked = parser.parse_args(words)
    minutes = asked.minutes
    if asked.smoke:
        os.environ[SMOKE] = "1"
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    logging.basicConfig(level=logging.WARNING)
    with window() as shown:
        soak = Soak(shown, minutes)
        soak.run()
    early = next(m for m in soak.taken if m.seconds >= 20 * minutes or m is soak.taken[-1])
    end = soak.taken[-1]
    print(f"{soak.rounds} rounds, {soak.drags} drags; peak {max(m.total for m in soak.taken):.1f}")
    for failure in soak.failed:
        print(f"no answer: {failure}")
    if asked.smoke:
        print("memory is not judged")
        return 1 if soak.failed else 0
    ratio = end.total / early.total
    print(
        f"after {early.seconds / 60:.1f} min {early.total:.1f} MB, end {end.total:.1f} MB: "
        f"ratio {ratio:.3f} (at most {MAX_GROWTH})"
    )
    return 1 if ratio > MAX_GROWTH or soak.failed else 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program itself does
    sys.exit(main())
