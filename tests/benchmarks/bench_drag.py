"""How the claimed number and its curve follow a slider, in every study.

Protocol, for each study of the registry with its defaults, in a window of 1280 × 800: two sliders
are dragged as in `bench_studies`, 300 values at 60 a second. A number counts from the moment when
the window has painted the answer to that value or to a newer one, by the bound that is claimed at
rest; one of another bound counts only if the answer is complete. A curve counts as updated where a
paint shows the claimed bound's curve (of a map: the private map) of another answer than the paint
before. The worse of the two sliders is the study's. Complete: from letting go to the complete
answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study, study_infos
from tests.benchmarks.bench_live import RATE, VALUES, Clock, drag, pause, wait
from tests.benchmarks.bench_studies import FEW, dragged, window
from tests.benchmarks.table import Row, at_least, at_most, sized

VALUE_MS, UPDATES, COMPLETE_MS = 33.0, 15.0, 1000.0
SIMULATED = {
    "private-regression": "simulates",
    "cldp-sgd": "trains",
    "users-data": "draws reports",
    "histograms": "simulates",
}
"""Studies that are complete only after a simulation or training, which has no bar."""


def settle(shown, workspace: str) -> None:
    """Wait for the complete answer to what is asked."""

    def done() -> bool:
        result = shown.current_result
        return (
            result is not None
            and result.complete
            and result.request == shown.answers[workspace].request
        )

    wait(done)
    pause(sized(0.3, 0.05))


class Shown:
    """Times at which an `UpdateRequest` ended, with the value that the claimed number was of.

    Attributes
    ----------
    ends : list of (float, float)
        Moment and value of the dragged parameter, once for each value.
    curves : int
        How often the claimed curve was painted anew.
    """

    def __init__(self, shown, workspace: str, key: str) -> None:
        from PySide6.QtCore import QEvent, QObject

        self.ends: list[tuple[float, float]] = []
        self.curves = 0
        self._window, self._answers = shown, shown.answers[workspace]
        claimed = [_claimed(shown.current_result)]
        fresh: list[tuple[bool, float]] = []
        outer = self

        def answered(result: Result, _elapsed: float) -> None:
            merged = shown.current_result
            if merged.complete:  # another bound may be the tightest now
                claimed[0] = _claimed(merged)
            (now,) = claimed
            if now == _claimed(merged) and now not in merged.outdated_numbers:
                fresh.append((now not in merged.outdated, float(result.request[key])))

        class Watch(QObject):
            busy = False

            def eventFilter(self, watched, event) -> bool:  # noqa: N802
                if event.type() != QEvent.Type.UpdateRequest or self.busy:
                    return False
                # The event is carried out here, so that its end is known.
                self.busy = True
                came = list(fresh)
                fresh.clear()
                watched.event(event)
                self.busy = False
                if came:
                    outer.ends.append((time.perf_counter(), came[-1][1]))
                    outer.curves += any(curve for curve, _ in came)
                return True

        self._connection = self._answers.result_ready.connect(answered)
        self._answered = answered
        self._watch = Watch()
        shown.installEventFilter(self._watch)

    def remove(self) -> None:
        self._answers.result_ready.disconnect(self._answered)
        self._window.removeEventFilter(self._watch)


def _claimed(result: Result) -> str:
    """Return the key of the claimed bound, or of the first curve where nothing is claimed."""
    claim = evaluate_claim(result)
    if claim is not None:
        return claim.series.key
    return result.series[0].key if result.series else ""


def _follow(shown, study_id: str, key: str, clock: Clock) -> tuple[float, float, float]:
    """Drag one slider; return p95 of the number, updates of its curve a second, and completion."""
    workspace = get_study(study_id).workspace
    slider = shown.parameters.reveal(key).slider
    pause(sized(0.2, 0.02))
    watches: list[Shown] = []

    def watch() -> Shown:
        watches.append(Shown(shown, workspace, key))
        return watches[-1]

    value: Callable[[], Any] = lambda: shown.session.request(study_id)[key]  # noqa: E731
    times, _, _ = drag(lambda: settle(shown, workspace), slider, 0.7, watch, value, clock)
    began, asked = time.perf_counter(), shown.answers[workspace].request
    wait(
        lambda: (
            shown.current_result is not None
            and shown.current_result.complete
            and shown.current_result.request == asked
        )
    )
    complete = 1e3 * (time.perf_counter() - began)
    settle(shown, workspace)
    return float(np.percentile(times, 95)), watches[0].curves * RATE / VALUES, complete


def measure(wanted: list[str]) -> list[Row]:
    """Measure these studies (all if none is named) in one window, one after another."""
    rows: list[Row] = []
    with window() as shown:
        clock = Clock()
        for info in study_infos():
            if wanted and info.id not in wanted:
                continue
            shown.show_study(info.id)
            settle(shown, info.workspace)
            study = get_study(info.id)
            request = shown.session.request()
            if request.sweep is not None:
                sliders = list(dragged(study, request))
            else:
                sliders = [p for p in study.parameters if p.key == "epsilon"]
            worst: list[tuple[float, float, float]] = []
            for p in sliders:
                worst.append(_follow(shown, info.id, p.key, clock))
                shown.session.set_value(p.key, p.default, info.id)
                settle(shown, info.workspace)
            values, curves, completes = zip(*worst, strict=True)
            note = ", ".join(
                f"{p.key} {v:.0f} ms {c:.0f}/s" for p, (v, c, _) in zip(sliders, worst, strict=True)
            )
            rows.append(
                at_most(f"{info.id}: claimed value, p95", max(values), VALUE_MS, "ms", note)
            )
            rows.append(at_least(f"{info.id}: curve updates a second", min(curves), UPDATES, "1/s"))
            label = f"{info.id}: complete after letting go"
            if info.id in SIMULATED:
                rows.append(Row(label, max(completes), None, "ms", None, SIMULATED[info.id]))
            else:
                rows.append(at_most(label, max(completes), COMPLETE_MS, "ms"))
        clock.stop()
    return rows


def run() -> list[Row]:
    """Measure in a process of its own, the window's starting as the program does."""
    if sized(False, True):
        return measure(FEW)
    settings = {"OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_drag"],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


if __name__ == "__main__":
    print(json.dumps([asdict(row) for row in measure(sys.argv[1:])]))
