"""How the map follows a slider, and whether the window stays alive, in the real window.

Protocol: from the slider's ``valueChanged`` to the end of the `UpdateRequest` that painted both
panes from that value or a newer one; 300 values at 60 a second, window of 1280 × 800, bundled
sample in its city view, basemap visible. Event-loop gap: longest interval between two ticks of a
precise 2 ms timer, from 0.5 s after the window was shown.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from tests.benchmarks.table import KEPT, Row, at_least, at_most, sized

VALUES = sized(300, 5)
RATE = 60.0
TIMEOUT_S = 120.0
RESOLUTIONS = sized((("256", 16.0, 33.0), ("1024", None, 66.0)), (("16", 16.0, 33.0),))
"""Cells a side, and the limits of median and 95th percentile in milliseconds."""
SLOWER = sized("256", "16")
"""Cells a side where more is on the screen than two panes, or a solver runs."""


class Clock:
    """Longest interval between two ticks of a 2 ms timer."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(2)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append(1e3 * (now - self._last))
        self._last = now

    def restart(self) -> None:
        """Forget what was measured."""
        self.gaps.clear()
        self._last = time.perf_counter()

    @property
    def longest(self) -> float:
        """Milliseconds."""
        return max(self.gaps, default=0.0)

    def stop(self) -> None:
        self._timer.stop()


def wait(done: Callable[[], bool], seconds: float = TIMEOUT_S) -> None:
    """Turn the event loop until something holds."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    poll = QTimer()
    end = time.perf_counter() + seconds
    poll.timeout.connect(lambda: loop.quit() if done() or time.perf_counter() > end else None)
    poll.start(5)
    loop.exec()
    poll.stop()
    if not done():
        raise TimeoutError("the window did not get there in time")


def pause(seconds: float) -> None:
    """Turn the event loop for a while."""
    end = time.perf_counter() + seconds
    wait(lambda: time.perf_counter() >= end, seconds + 5)


_opened: list = []
"""The window of a smoke run."""


@contextmanager
def window():
    """Give the real window with the sample loaded and its answer complete.

    In a smoke run all topics have one after another the same window: each would take six seconds.
    """
    if sized(True, False):
        with _new_window() as shown:
            yield shown
        return
    if not _opened:
        _opened.append(KEPT.enter_context(_new_window()))
        yield _opened[0]
        return
    shown = _opened[0]
    shown.session.set_study("heatmap")
    shown.menus.actions["reset"].trigger()
    shown.session.set_value("resolution", SLOWER, "heatmap")
    shown.data.open_sample()
    settle(shown)
    yield shown


@contextmanager
def _new_window():
    from PySide6.QtWidgets import QApplication

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        # The cache folder stays the user's: code compiled by an earlier run is found there.
        os.environ["XDG_STATE_HOME"] = folder
        app = QApplication.instance() or QApplication([])
        from explorer.engine.service import StudyService
        from explorer.engine.session.session import Session, SessionState
        from explorer.ui.app.main_window import MainWindow
        from explorer.ui.base import theme as themes

        themes.prepare(app)
        service = StudyService(compute_process=True)
        service.start()  # as the program does: what counts check-ins is compiled
        shown = MainWindow(themes.Theme("light"))
        session = Session(SessionState("heatmap"))
        session.set_value("resolution", sized("256", SLOWER), "heatmap")
        shown.build(session, service)
        shown.resize(1280, 800)
        shown.show()
        try:
            shown.data.use_cache = False
            shown.data.open_sample()
            settle(shown)
            yield shown
        finally:
            shown.close()
            shown.deleteLater()
            app.processEvents()


def settle(shown) -> None:
    """Wait until what is on the screen is the complete answer to what is asked."""
    workspace, controller = shown.workspaces["map"], shown.answers["map"]

    def done() -> bool:
        result = workspace.current_result
        return (
            result is not None
            and result.complete
            and result.request == controller.request
            and not controller.busy
            and not shown.data.busy
        )

    wait(done)
    pause(sized(0.3, 0.05))


class Repaints:
    """Times at which an UpdateRequest of the window ended with the newest answer in all panes.

    `value` says of that answer what it was asked with; by default ε. A pane whose picture stays
    the same (the true one, while ε moves) is not painted again.
    """

    def __init__(self, shown, value=lambda request: request["epsilon"]) -> None:
        from PySide6.QtCore import QEvent, QObject

        self.ends: list[tuple[float, float]] = []
        self._value = value
        self._panes = shown.workspaces["map"].panes
        self._painted = {k: p._values for k, p in self._panes.panes.items()}
        self._shown = shown
        outer = self

        class Watch(QObject):
            busy = False

            def eventFilter(self, watched, event) -> bool:  # noqa: N802
                if watched is shown and event.type() == QEvent.Type.UpdateRequest and not self.busy:
                    # The event is carried out here, so that its end is known.
                    self.busy = True
                    watched.event(event)
                    self.busy = False
                    outer.note()
                    return True
                if event.type() == QEvent.Type.Paint:
                    for key, pane in outer._panes.panes.items():
                        if watched is pane.viewport():
                            outer._painted[key] = pane._values
                return False

        self._watch = Watch()
        shown.installEventFilter(self._watch)
        for pane in self._panes.panes.values():
            pane.viewport().installEventFilter(self._watch)

    def note(self) -> None:
        # What is computed at rest only is empty while a slider moves.
        filled = {k: p._values for k, p in self._panes.panes.items() if p.filled}
        if all(self._painted.get(key) is values for key, values in filled.items()):
            now = self._shown.workspaces["map"].current_result.request
            value = self._value(now)
            if not self.ends or self.ends[-1][1] != value:
                self.ends.append((time.perf_counter(), value))

    def remove(self) -> None:
        self._shown.removeEventFilter(self._watch)
        for pane in self._panes.panes.values():
            pane.viewport().removeEventFilter(self._watch)


def drag_epsilon(shown, clock: Clock) -> tuple[list[float], float, int]:
    """Drag the heatmap's ε upwards; see `drag`."""
    return drag(
        lambda: settle(shown),
        epsilon_slider(shown),
        0.8,
        lambda: Repaints(shown),
        lambda: shown.session.request("heatmap")["epsilon"],
        clock,
    )


def drag(
    rest, slider, end: float, watching, value, clock: Clock, begin: float = 0.3
) -> tuple[list[float], float, int]:
    """Drag a slider upwards over 300 values; return latencies, longest gap (ms), frames.

    ``rest`` waits for the complete answer, ``begin`` and ``end`` are where on the slider's width
    the drag starts and stops, ``watching`` makes what notes the end of each repaint with the value
    it shows, ``value`` reads the value asked for by now.
    """
    from PySide6.QtCore import QEvent, Qt, QTimer

    places = np.linspace(slider.width() * begin, slider.width() * end, VALUES)
    press(slider, QEvent.Type.MouseButtonPress, places[0] - 1)
    rest()
    watch = watching()
    sent: list[tuple[float, float]] = []
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    start = time.perf_counter() + 0.05

    def tick() -> None:
        # One at a time, as the system sends them: several in a row would be a gap of our own.
        if len(sent) < VALUES and time.perf_counter() >= start + len(sent) / RATE:
            now = time.perf_counter()
            press(slider, QEvent.Type.MouseMove, places[len(sent)])
            sent.append((now, float(value())))

    timer.timeout.connect(tick)
    clock.restart()
    timer.start(1)
    wait(lambda: len(sent) == VALUES and bool(watch.ends) and watch.ends[-1][1] >= sent[-1][1])
    gap = clock.longest
    timer.stop()
    watch.remove()
    press(slider, QEvent.Type.MouseButtonRelease, places[-1])
    latencies, place, before = [], 0, None
    for moment, value in sent:
        if value == before:  # of a whole number: a move within it asks nothing and draws nothing
            continue
        before = value
        # Values grow, so the first repaint late enough with at least this value is the one.
        while watch.ends[place][0] < moment or watch.ends[place][1] < value:
            place += 1
        latencies.append(1e3 * (watch.ends[place][0] - moment))
    return latencies, gap, len(watch.ends)


def press(slider, kind, x: float) -> None:
    """Send a mouse event to a slider, between two pixels too."""
    from PySide6.QtCore import QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    at = QPointF(x, slider.height() / 2)
    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        kind, at, slider.mapToGlobal(at), left, left, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(slider, event)


def epsilon_slider(shown):
    """Return the slider of ε in the parameters panel."""
    return shown.parameters.row("epsilon").slider


def run() -> list[Row]:
    """Measure in a process of its own, which starts as the program does."""
    if sized(False, True):  # here, which spares three starts
        return measure(slider_only=False) + dragged_region()
    return (
        _apart("1")
        + _apart("region")
        + [
            Row(f"{row.name} (2× screen)", row.measured, None, row.unit, None, row.note)
            for row in _apart("2")
        ]
    )


def _apart(scale: str) -> list[Row]:
    # As `explorer.__main__` sets it before numpy is imported: the other core is the window's.
    settings = {"OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_live", scale],
        env={**os.environ, **settings, "QT_SCALE_FACTOR": "2" if scale == "2" else "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def measure(slider_only: bool) -> list[Row]:
    """Measure slider latency at two resolutions and gaps while dragging, solving, loading."""
    rows: list[Row] = []
    with window() as shown:
        pause(sized(0.5, 0.05))
        clock = Clock()
        for resolution, median, p95 in RESOLUTIONS:
            shown.session.set_value("resolution", resolution, "heatmap")
            settle(shown)
            times, gap, frames = drag_epsilon(shown, clock)
            note = f"{frames} frames for {VALUES} values"
            name = f"slider to both panes repainted, Δ={resolution}"
            if median is None:
                rows.append(Row(f"{name}: median", float(np.median(times)), None, "ms", None, note))
            else:
                rows.append(at_most(f"{name}: median", float(np.median(times)), median, "ms", note))
            rows.append(at_most(f"{name}: p95", float(np.percentile(times, 95)), p95, "ms"))
            rows.append(at_most(f"longest gap while dragging, Δ={resolution}", gap, 33.0, "ms"))
        rows += side_by_side(shown, clock)
        if slider_only:
            clock.stop()
            return rows
        shown.session.set_value("resolution", SLOWER, "heatmap")
        settle(shown)
        clock.restart()
        shown.session.set_value("w", 24, "heatmap")
        settle(shown)
        rows.append(at_most("longest gap while solving exactly, Δ=256", clock.longest, 50.0, "ms"))
        clock.restart()
        shown.session.set_value("backend", "cvxpy", "heatmap")
        settle(shown)
        rows.append(at_most("longest gap while cvxpy solves", clock.longest, 50.0, "ms"))
        rows.append(_loading(shown, clock))
        clock.stop()
    return rows


SIX = "true,least-squares,laplace,difference,error"


def side_by_side(shown, clock: Clock) -> list[Row]:
    """Measure six panes: a slider that moves, a pointer that moves, draws that are played."""
    shown.session.set_value("resolution", SLOWER, "heatmap")
    shown.session.set_value("beside", SIX, "heatmap")
    settle(shown)
    times, gap, frames = drag_epsilon(shown, clock)
    settle(shown)
    moves, played = hover(shown, sized(200, 3)), play(shown, sized(5.0, 0.2))
    shown.session.set_value("beside", "true", "heatmap")
    settle(shown)
    note = f"{frames} frames for {VALUES} values"
    p95 = float(np.percentile(times, 95))
    return [
        at_most("slider to six panes repainted, Δ=256: p95", p95, 100.0, "ms", note),
        Row("six panes: longest gap while dragging", gap, None, "ms", None),
        at_most("pointer to six panes repainted: p95", float(np.percentile(moves, 95)), 16.0, "ms"),
        at_least("six panes: draws played a second", played, 20.0, "1/s"),
    ]


def hover(shown, moves: int) -> list[float]:
    """Move the pointer from cell to cell; return the milliseconds until all panes show each."""
    from PySide6.QtWidgets import QApplication

    panes = shown.workspaces["map"].panes
    region = shown.session.state.selection.region
    times = []
    for share in np.linspace(0.2, 0.8, moves):
        at = (
            region.west + share * (region.east - region.west),
            region.south + share * (region.north - region.south),
        )
        began = time.perf_counter()
        panes._hover(at)
        QApplication.processEvents()
        times.append(1e3 * (time.perf_counter() - began))
    return times


def play(shown, seconds: float) -> float:
    """Play draws for a while; return how many a second were on the screen."""
    workspace, drawn = shown.workspaces["map"], []
    workspace.play.drawn.connect(drawn.append)
    workspace.play_action.setChecked(True)
    pause(seconds)
    workspace.play_action.setChecked(False)
    return len(drawn) / seconds


ROWS = sized(6_400_000, 3_000)
APART_S = 0.012
"""Between two moves; pyqtgraph leaves out what comes within 10 ms of the last."""
MOVES = sized(150, 20)
"""A drag begins when the pointer has gone some pixels, half a one each time."""


def drag_region_box(shown, clock: Clock) -> tuple[list[float], float, float]:
    """Move a city's region eastwards with the region tool, 60 places a second.

    Returns latencies from the mouse's move to both panes showing its region or a later one (ms),
    the longest gap (ms), and frames a second.
    """
    from PySide6.QtCore import Qt, QTimer

    from tests.ui.dragging import Hand, middle_of_region

    page = shown.workspaces["map"]
    page.region_action.setChecked(True)
    pane = page.panes.panes["true"]
    hand, (x, y) = Hand(pane), middle_of_region(pane)
    watch = Repaints(shown, lambda request: request.selection.region.west)
    sent: list[tuple[float, float]] = []
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    hand.move(x, y)
    hand.press(x, y)
    begin = time.perf_counter() + 0.05

    def west() -> float:
        return shown.session.state.selection.region.west

    def tick() -> None:
        now = time.perf_counter()
        if sent and now - sent[-1][0] < APART_S:  # after a pause, not all that are due
            return
        if len(sent) < MOVES and now >= begin + len(sent) / RATE:
            hand.move(x + 0.5 * (len(sent) + 1), y)
            sent.append((now, west()))

    timer.timeout.connect(tick)
    clock.restart()
    timer.start(1)
    wait(lambda: len(sent) == MOVES and bool(watch.ends) and watch.ends[-1][1] >= west())
    gap, seconds = clock.longest, watch.ends[-1][0] - sent[0][0]
    timer.stop()
    watch.remove()
    hand.release(x + 0.5 * MOVES, y)
    page.region_action.setChecked(False)
    latencies, place, before = [], 0, None
    for moment, value in sent:
        if value == before:  # of moves closer than 10 ms some are left out
            continue
        before = value
        while watch.ends[place][0] < moment or watch.ends[place][1] < value:
            place += 1
        latencies.append(1e3 * (watch.ends[place][0] - moment))
    return latencies, gap, len(watch.ends) / seconds


def drag_in_panel(shown, slider, begin: float, value, clock) -> tuple[list[float], float, float]:
    """Drag a slider of the data panel to the right; as `drag_region_box`.

    ``value`` reads of a selection what grows.
    """

    def rest() -> None:
        page, controller = shown.workspaces["map"], shown.answers["map"]
        wait(lambda: page.current_result.request == controller.request)
        pause(sized(1.0, 0.1))

    times, gap, frames = drag(
        rest,
        slider,
        0.95,
        lambda: Repaints(shown, lambda request: value(request.selection)),
        lambda: value(shown.session.state.selection),
        clock,
        begin,
    )
    shown.session.undo()
    rest()
    return times, gap, frames * RATE / VALUES


def drag_time_and_users(shown, clock: Clock) -> dict[str, tuple[list[float], float, float]]:
    """Drag the end of the time range away from its beginning, and the number of users up."""
    panel, session = shown.workspaces["map"].side_panel, shown.session
    shown.sides.setCurrentWidget(shown.data_page)
    everything = session.state.selection
    low = panel.time.slider.scale[0]
    two_days = f"{datetime.fromtimestamp(low + 2 * 86_400, UTC):%Y-%m-%dT%H:%M:%SZ}"
    session.set_selection(replace(everything, end=two_days))
    found = {}

    def end(selection) -> float:
        return datetime.fromisoformat(selection.end).timestamp() if selection.end else low

    found["time range"] = drag_in_panel(shown, panel.time.slider, 0.15, end, clock)
    session.set_selection(replace(everything, users=2))
    found["number of users"] = drag_in_panel(
        shown, panel.sample.slider, 0.3, lambda selection: selection.users or math.inf, clock
    )
    return found


def dragged_region(rows: int = ROWS) -> list[Row]:
    """Measure the drag of region, time range and users over many rows, in a window of its own."""
    from datasets.generate_checkins import main as generate

    with tempfile.TemporaryDirectory() as folder, window() as shown:
        path = Path(folder) / "many.txt"
        generate(["--rows", str(rows), "--users", str(rows // 60), "--seed", "1", str(path)])
        page, controller = shown.workspaces["map"], shown.answers["map"]
        shown.data.open(path)
        wait(lambda: shown.data.current.basename == path.name, 900)
        wait(lambda: getattr(page.current_result, "request", None) == controller.request, 900)
        pause(sized(3.0, 0.5))
        clock = Clock()
        found = {"region": drag_region_box(shown, clock), **drag_time_and_users(shown, clock)}
        clock.stop()
    measured = []
    for what, (times, gap, frames) in found.items():
        name = f"{what} dragged over {rows / 1e6:g} M rows"
        measured += [
            at_most(
                f"{name}, to both panes: p95",
                float(np.percentile(times, 95)),
                66.0,
                "ms",
                f"median {np.median(times):.0f} ms",
            ),
            at_least(f"{name}: frames a second", frames, 15.0, "1/s"),
            at_most(f"{name}: longest gap", gap, 33.0, "ms"),
        ]
    return measured


def _loading(shown, clock: Clock) -> Row:
    from datasets.generate_checkins import main as generate

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.txt.gz"
        generate(["--rows", sized("1000000", "2000"), "--seed", "1", str(path)])
        clock.restart()
        shown.data.open(path)
        settle(shown)
        return at_most("longest gap while loading 1 M rows (.gz)", clock.longest, 50.0, "ms")


if __name__ == "__main__":
    if sys.argv[1:2] == ["region"]:
        found = dragged_region(*map(int, sys.argv[2:]))
    else:
        found = measure(sys.argv[1:] == ["2"])
    print(json.dumps([asdict(row) for row in found]))
