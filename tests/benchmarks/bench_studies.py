"""How every study's curves follow its sliders in the real window.

Protocol, for each study of curves in the registry, with its defaults and its first quantity: the
slider of what stands on the x axis (of another main parameter where that has none) and the slider
of one other main parameter are dragged for 5 s each, 300 values at 60 a second, in a window of
1280 × 800. Latency: from the mouse move to the end of the `UpdateRequest` that painted the plot
from that value or a newer one. Gap: longest interval between two ticks of a precise 2 ms timer
meanwhile. Refined: from letting go to the complete answer painted. Chosen: from choosing the study
for the first time to its first curve, imports included. Before that, `study_cpu` asks every
quantity of every one of them without a window.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import numpy as np

from explorer.studies.base.study import Parameter, Request, Study, parameter, relevant
from explorer.studies.registry import get_study, study_infos
from tests.benchmarks import bench_live, study_cpu
from tests.benchmarks.bench_bounds_live import Repaints, settle
from tests.benchmarks.bench_live import VALUES, Clock, drag, pause, wait
from tests.benchmarks.table import Row, at_most, sized

CLOSED_MS, COARSE_MS = 16.0, 50.0
REFINED_MS, GAP_MS = 1000.0, 33.0
CLOSED = {"choose-alpha", "coordinate-learnt", "heatmap-theory", "unbounded"}
"""Studies whose first quantity is a closed form, drawn in full at every value; all others answer
with a coarse exact curve first."""
FEW = ["unbounded"]
"""Of a smoke run: all studies take the same steps."""
SIMULATED = {"private-regression": "training on drawn records goes on with progress"}
"""Studies whose first quantity is complete only after a simulation, which has no bar."""


def dragged(study: Study, request: Request) -> tuple[Parameter, ...]:
    """Return two parameters to drag: the x axis' own where it has a slider, and main ones."""
    values = dict(request.values)
    swept = parameter(study, request.sweep.key)
    main = [
        p
        for p in study.parameters
        if p.numeric
        and not p.axis_only
        and not p.group
        and relevant(p, values, request.quantity)
        and p.key not in swept.replaces
    ]
    main.sort(key=lambda p: p.key != swept.key)
    return tuple(main[:2])


@contextmanager
def window() -> Iterator[object]:
    """Give the real window, its sample loaded."""
    if sized(False, True):
        with bench_live.window() as shown:
            yield shown
        return
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication([])
    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions
    from explorer.ui.base.startup_tuning import freeze_gc

    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        launch = Application(WindowOptions(study="heatmap", theme="light"), ["bench"])
        launch.show()
        shown = launch.window
        try:
            wait(lambda: shown.data.current is not None and not shown.busy)
            shown.service.client.start()  # as the program does soon after its start
            pause(sized(2.0, 0.1))
            freeze_gc()
            yield shown
        finally:
            shown.close()
            shown.deleteLater()
            app.processEvents()


def _chosen(shown, study_id: str, clock: Clock) -> Row:
    """Bring a study to the front; return how long its first curve took, the gap in the note."""
    clock.restart()
    began = time.perf_counter()
    shown.session.set_study(study_id)

    def drawn() -> bool:
        result = shown.workspaces["bounds"].plot.result
        return result is not None and result.request.study == study_id

    wait(drawn)
    took = 1e3 * (time.perf_counter() - began)
    note = f"longest gap {clock.longest:.0f} ms"
    return Row(f"{study_id}: chosen for the first time", took, None, "ms", None, note)


def _follow(shown, study_id: str, key: str, clock: Clock) -> list[Row]:
    """Drag one slider of the study in front."""
    slider = shown.parameters.row(key).slider
    shown.parameters.ensureWidgetVisible(slider)
    pause(sized(0.2, 0.02))
    times, gap, frames = drag(
        lambda: settle(shown),
        slider,
        0.7,
        lambda: Repaints(shown, key),
        lambda: shown.session.request(study_id)[key],
        clock,
    )
    began = time.perf_counter()
    asked = shown.answers["bounds"].request

    def complete() -> bool:
        result = shown.current_result
        return result is not None and result.complete and result.request == asked

    wait(complete)
    refined = 1e3 * (time.perf_counter() - began)
    settle(shown)
    limit = CLOSED_MS if study_id in CLOSED else COARSE_MS
    kind = "closed form" if study_id in CLOSED else "coarse first"
    note = f"{kind}; {frames} frames for {VALUES} values, p95 {np.percentile(times, 95):.1f} ms"
    name = f"{study_id}, {key}"
    rows = [
        at_most(f"{name}: slider to curve, median", float(np.median(times)), limit, "ms", note),
        at_most(f"{name}: longest gap while dragging", gap, GAP_MS, "ms"),
    ]
    label = f"{name}: refined after letting go"
    if study_id in SIMULATED:
        rows.append(Row(label, refined, None, "ms", None, SIMULATED[study_id]))
    else:
        rows.append(at_most(label, refined, REFINED_MS, "ms"))
    return rows


def measure(wanted: list[str]) -> list[Row]:
    """Measure these studies (all of curves if none is named) in one window, one after another."""
    rows: list[Row] = []
    with window() as shown:
        clock = Clock()
        for info in study_infos():
            if info.workspace != "bounds" or (wanted and info.id not in wanted):
                continue
            rows.append(_chosen(shown, info.id, clock))
            settle(shown)
            study = get_study(info.id)
            for p in dragged(study, shown.session.request()):
                rows += _follow(shown, info.id, p.key, clock)
                shown.session.set_value(p.key, p.default, info.id)
                settle(shown)
        clock.stop()
    return rows


def run() -> list[Row]:
    """Measure each part in a process of its own, the window's starting as the program does."""
    if sized(False, True):  # here, which spares two starts
        return study_cpu.measure(FEW) + measure(FEW)
    settings = {"OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
    rows: list[Row] = []
    for part in ("study_cpu", "bench_studies"):
        done = subprocess.run(
            [sys.executable, "-m", f"tests.benchmarks.{part}"],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        rows += [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]
    return rows


if __name__ == "__main__":
    print(json.dumps([asdict(row) for row in measure(sys.argv[1:])]))
