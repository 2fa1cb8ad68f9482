"""How often the search for the smallest ε says something wrong, and how long curves take.

Curves in the real window, from the click on *Utility* to the report that draws a whole curve and
to the last one: bundled sample in its city view at rest, error in km, no draw kept from before.

On made check-ins at Δ = 64. The law of the error at each ε is a pool of draws of the mechanism
itself, whose quantiles are known exactly; each repetition draws anew from the pools, with the same
numbers at every ε, as the search on a map does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import default_request
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    MEASURES,
    SIZES,
    TARGET_SHARE,
    Found,
    curve_points,
    default_mechanisms,
    search,
    trials_in_order,
)
from explorer.studies.heatmap.experiments.plan import rows_of
from explorer.studies.heatmap.experiments.samples import Mixtures, Place, write_sample
from explorer.studies.heatmap.experiments.trial import make_trial, run_trial, task_of
from explorer.studies.heatmap.study import HeatmapStudy
from tests.benchmarks.table import Row, at_most, sized
from tests.studies.context import Context

SOURCE = Mixtures(20, 0.02, (0.02, 0.08), 1)
USERS = 200
SIDES_KM = (29.6, 38.9)


def false_alarms(
    repetitions: int,
    truth_draws: int,
    resolution: str,
    measure: str = "emd",
    mechanism: str = "least-squares",
    targets: tuple[float, ...] = (),
) -> tuple[int, int]:
    """Return in how many of so many repetitions the search said something wrong.

    Parameters
    ----------
    truth_draws : int
        Draws in the pool of an ε.
    targets : tuple of float
        One after the other; by default what the measure begins with.
    """
    with tempfile.TemporaryDirectory() as folder:
        errors = _pools(Path(folder), truth_draws, resolution, measure, mechanism)
        good = MEASURES[measure].low_is_good
        targets = targets or (MEASURES[measure].target,)
        wrong = 0
        for repetition in range(repetitions):
            target = targets[repetition % len(targets)]
            chosen = np.random.default_rng(repetition).integers(truth_draws, size=SIZES[-1])
            found = searched(target, good, lambda e, m, of=chosen: errors(e)[of[:m]])

            def reached(epsilon: float, target: float = target) -> bool:
                values = errors(epsilon)
                return bool(np.mean(values <= target if good else values >= target) >= TARGET_SHARE)

            low, high = found.not_enough, found.enough
            wrong += (high is not None and not reached(high)) or (low is not None and reached(low))
    return wrong, repetitions


def searched(target: float, low_is_good: bool, errors: Callable[[float, int], FloatArray]) -> Found:
    """Return what a search finds on a function of ε and the number of draws."""
    asks = search(target, low_is_good)
    try:
        asked = next(asks)
        while True:
            asked = asks.send(errors(*asked))
    except StopIteration as end:
        found: Found = end.value
        return found


def _pools(
    folder: Path, draws: int, resolution: str, measure: str, mechanism: str
) -> Callable[[float], FloatArray]:
    level = int(resolution).bit_length() - 1
    counts = write_sample(SOURCE.sample(Place("square"), USERS, level, 0), folder)

    @cache
    def errors(epsilon: float) -> FloatArray:
        found = []
        for draw in range(draws):
            trial = make_trial(
                data=SOURCE.data,
                region="square",
                counts=counts,
                sides_km=SIDES_KM,
                draw=draw,
                seed=0,
                measures=(measure,),
                values={"mechanism": mechanism, "epsilon": epsilon, "resolution": resolution},
            )
            found.append(run_trial(task_of(trial, folder))[measure])
        return np.array(found, dtype=float)

    return errors


def run() -> list[Row]:
    """Return the share of wrong answers in 200 repetitions, and the time of all curves."""
    wrong, repetitions = false_alarms(
        sized(200, 1), sized(1000, 2), sized("64", "16"), targets=(0.04, 0.05, 0.06, 0.08)
    )
    cpu, count = curves_cpu()
    first, last = in_the_window() if sized(False, True) else _in_a_process()
    return [
        at_most("click to the first curve, km", first, 1.0, "s"),
        at_most("click to all curves, km", last, 30.0, "s"),
        at_most(f"ε found, wrong of {repetitions}", wrong, 0.05 * repetitions, ""),
        at_most(f"{count} trials of five curves, km, CPU", cpu, 60.0, "s"),
    ]


def _in_a_process() -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_which_epsilon"],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    first, last = json.loads(done.stdout.splitlines()[-1])
    return first, last


def curves_cpu(share: int = sized(10, 600)) -> tuple[float, int]:
    """Return the CPU time of all trials of the curves at Δ = 256, from every so manieth of them."""
    request = default_request(HeatmapStudy())
    with tempfile.TemporaryDirectory() as folder:
        axis = AXES["epsilon"]
        points = curve_points(
            Place("square"), SOURCE, request, axis, default_mechanisms("pyramid", axis), USERS, 20
        )
        rows = list(rows_of(points, 0, Path(folder), Context(), ("emd",)))
        trials = [
            {**trial, "sides_km": list(SIDES_KM), "measures": ["emd_km"]}
            for trial in trials_in_order(rows, str).by_key.values()
        ]
        run_trial(task_of(trials[0], Path(folder)))
        began = time.process_time()
        for trial in trials[::share]:
            run_trial(task_of(trial, Path(folder)))
        return (time.process_time() - began) * share, len(trials)


def in_the_window() -> tuple[float, float]:
    """Return seconds from the click to the first curve drawn, and to all."""
    from tests.benchmarks.bench_live import pause, settle, wait, window

    with window() as shown:
        # A blur of which no draw is kept.
        shown.session.set_value("sigma", 0.02 + time.time() % 1e4 * 1e-9, "heatmap")
        settle(shown)
        pause(sized(1.0, 0.1))
        which = shown.workspaces["map"].utility
        began, whole = time.perf_counter(), []
        which.action.setChecked(True)
        view = which.view

        def note(answer) -> None:
            if any(min(curve.draws) > 0 for curve in answer.curves):
                whole.append(time.perf_counter() - began)

        view.answered.connect(note)
        if sized(False, True):
            wait(lambda: len(whole) > 0)
            which.action.setChecked(False)
        else:
            wait(
                lambda: view.answer is not None and view.answer.finished and not view.job.busy, 200
            )
        return whole[0], time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(in_the_window()))
