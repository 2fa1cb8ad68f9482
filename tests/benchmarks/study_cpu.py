"""Processor time of every quantity of every study of curves: the first answer, and the last.

Protocol: defaults, each of the quantity's axes over its whole range with 100 points; the slowest
counts. It is answered once, so that imports, files and what does not depend on the sliders are
there; then a main slider is moved a little (another than the x axis', for which every point is new)
and it is answered again, as it is while somebody drags. Measured is `time.process_time` of that
second answer.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from dataclasses import asdict, replace

import numpy as np

from explorer.studies.base.parameters import Scale
from explorer.studies.base.study import (
    Parameter,
    Quantity,
    Request,
    Study,
    default_request,
    default_sweep,
    relevant,
)
from explorer.studies.registry import get_study, study_infos
from tests.benchmarks.table import Row, at_most
from tests.studies.context import Context

COARSE_MS, REFINED_MS = 50.0, 1000.0
SIMULATED = {
    ("private-regression", "excess"): "trains on drawn records",
    ("private-regression", "rmse"): "trains on drawn records",
    ("cldp-sgd", "accuracy"): "trains",
}
"""Quantities complete only after a simulation, which has no bar."""
_SHARE = 0.005
"""By how much of its range a slider is moved."""


def requests(study: Study, quantity: Quantity) -> list[Request]:
    """Return a request of a quantity along each of its axes, at the defaults."""
    plain = default_request(study)
    return [
        replace(plain, quantity=quantity.key, sweep=default_sweep(study, key))
        for key in quantity.sweeps
    ]


def moved(study: Study, request: Request) -> Request:
    """Return the request with a main slider moved, another than the x axis' where there is one."""
    values = dict(request.values)
    own = request.sweep.key
    main = [
        p
        for p in study.parameters
        if p.numeric and not p.axis_only and not p.group and relevant(p, values, request.quantity)
    ]
    main.sort(key=lambda p: p.key == own)
    if not main:
        return request
    return request.with_value(main[0].key, _beside(main[0], float(values[main[0].key])))


def _beside(p: Parameter, value: float) -> float | int:
    """Return a value a little nearer to the middle of a slider's range."""
    logs = p.scale is Scale.LOG and p.low > 0
    low, high, at = np.log([p.low, p.high, value]) if logs else (p.low, p.high, value)
    at += _SHARE * (high - low) * (1 if at < (low + high) / 2 else -1)
    found = p.clamp(float(np.exp(at)) if logs else float(at))
    return found if found != value else p.clamp(value + 1)


def timed(study: Study, request: Request) -> tuple[float, float]:
    """Return processor milliseconds to the first and to the last answer, warm but for a slider."""
    context = Context()
    for _ in study.answer(request, context):
        pass
    asked, first = moved(study, request), math.nan
    began = time.process_time()
    for _ in study.answer(asked, context):
        first = time.process_time() - began if math.isnan(first) else first
    return 1e3 * first, 1e3 * (time.process_time() - began)


def _rows(study: Study, quantity: Quantity) -> list[Row]:
    """Return a quantity's two rows, of its slowest axis each."""
    simulated = SIMULATED.get((study.id, quantity.key))
    asked = requests(study, quantity)[: 1 if simulated else None]
    times = {r.sweep.key: timed(study, r) for r in asked}
    rows = []
    bars = (COARSE_MS, None if simulated else REFINED_MS)
    for which, (what, bar) in enumerate(zip(("first", "last"), bars, strict=True)):
        axis = max(times, key=lambda key: times[key][which])
        name, took = f"{study.id}, {quantity.key}: {what} answer, CPU", times[axis][which]
        note = f"over {axis}" + f"; {simulated}" * (bar is None)
        rows.append(
            Row(name, took, None, "ms", None, note)
            if bar is None
            else at_most(name, took, bar, "ms", note)
        )
    return rows


def measure(wanted: list[str]) -> list[Row]:
    """Measure these studies, all of curves if none is named."""
    return [
        row
        for info in study_infos()
        if info.workspace == "bounds" and (not wanted or info.id in wanted)
        for quantity in get_study(info.id).quantities
        if quantity.sweeps
        for row in _rows(get_study(info.id), quantity)
    ]


if __name__ == "__main__":
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # As the program has it: a second thread waits at full speed, and its time counts.
        one = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]], one)
    print(json.dumps([asdict(row) for row in measure(sys.argv[1:])]))
