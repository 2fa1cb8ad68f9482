"""How the accountant's curves follow a slider in the real window.

Protocol: from the mouse move on the slider to the end of the `UpdateRequest` that painted the plot
from that value or a newer one; 300 values at 60 a second, window of 1280 × 800, all curves shown,
λ to 512. Event-loop gap: longest interval between two ticks of a precise 2 ms timer meanwhile.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tests.benchmarks import bench_live
from tests.benchmarks.bench_live import VALUES, Clock, drag, pause, wait
from tests.benchmarks.table import Row, at_most, sized

FRAME_MS = 16.0
"""A curve that follows within a frame of 60 a second; asked of T and δ, which are cheap."""
COARSE_MS = 100.0
"""Two coarse answers of 50 ms each: the one that ran when the slider moved, and the next."""

STUDY, DRAGGED = sized(
    ("shuffle-rdp", (("T", FRAME_MS), ("delta", FRAME_MS), ("eps0", COARSE_MS))),
    ("unbounded", (("r", FRAME_MS),)),
)
"""What is in front, and its sliders with the limits of their medians."""


@contextmanager
def window() -> Iterator[object]:
    """Give the real window with the accountant in front and its answer complete."""
    if sized(False, True):
        with bench_live.window() as shown:
            shown.session.set_study(STUDY)
            settle(shown)
            yield shown
        return
    from PySide6.QtWidgets import QApplication

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication([])
    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions

    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        launch = Application(WindowOptions(study=STUDY, theme="light"), ["bench"])
        launch.show()
        shown = launch.window
        try:
            settle(shown)
            wait(lambda: shown.data.current is not None)
            pause(0.5)
            yield shown
        finally:
            shown.close()
            shown.deleteLater()
            app.processEvents()


def settle(shown) -> None:
    """Wait for the complete answer to what is asked."""

    def done() -> bool:
        result = shown.current_result
        asked = shown.answers["bounds"].request
        return result is not None and result.complete and result.request == asked

    wait(done)
    pause(sized(0.3, 0.05))


STILL_MS = 40
"""A plot that is not painted so long after an answer looks as it did: nothing is drawn anew."""


class Repaints:
    """Times at which an UpdateRequest ended that had painted the plot, and from which value.

    An answer that leaves every curve where it is paints nothing: its end is its arrival.
    """

    def __init__(self, shown, key: str) -> None:
        from PySide6.QtCore import QEvent, QObject, QTimer

        self.ends: list[tuple[float, float]] = []
        plot = shown.workspaces["bounds"].plot
        self._watched = (shown, plot.viewport())
        outer = self

        class Watch(QObject):
            busy = False
            painted: float | None = None

            def eventFilter(self, watched, event) -> bool:  # noqa: N802
                if watched is shown and event.type() == QEvent.Type.UpdateRequest and not self.busy:
                    # The event is carried out here, so that its end is known.
                    self.busy, self.painted = True, None
                    watched.event(event)
                    self.busy = False
                    if self.painted is not None:
                        outer.ends.append((time.perf_counter(), self.painted))
                    return True
                if event.type() == QEvent.Type.Paint and watched is not shown:
                    self.painted = float(plot.result.request[key])
                return False

        def answered(result, _elapsed) -> None:
            moment, value = time.perf_counter(), float(result.request[key])

            def look() -> None:
                if not outer.ends or outer.ends[-1][1] < value:
                    outer.ends.append((moment, value))

            QTimer.singleShot(STILL_MS, look)

        self._answered = shown.answers["bounds"].result_ready.connect(answered)
        self._answers = shown.answers["bounds"]
        self._watch = Watch()
        for item in self._watched:
            item.installEventFilter(self._watch)

    def remove(self) -> None:
        self._answers.result_ready.disconnect(self._answered)
        for item in self._watched:
            item.removeEventFilter(self._watch)


def run() -> list[Row]:
    """Measure latency and gaps while dragging T, δ and ε₀."""
    rows: list[Row] = []
    with window() as shown:
        clock = Clock()
        for key, limit in DRAGGED:
            times, gap, frames = drag(
                lambda: settle(shown),
                shown.parameters.row(key).slider,
                0.7,
                lambda key=key: Repaints(shown, key),
                lambda key=key: shown.session.request(STUDY)[key],
                clock,
            )
            settle(shown)
            note = f"{frames} frames for {VALUES} values, p95 {np.percentile(times, 95):.1f} ms"
            name = f"slider of {key} to curves repainted: median"
            rows.append(at_most(name, float(np.median(times)), limit, "ms", note))
            rows.append(at_most(f"longest gap while dragging {key}", gap, 33.0, "ms"))
        clock.stop()
    return rows
