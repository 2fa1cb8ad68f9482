"""What the executors cost: a batch without work, and a sweep's share of all the time it takes.

CPU seconds are those of this process and of every process below it, so that they mean the same on
a busy machine; the efficiency by the clock needs two free cores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil

from explorer.engine.executors.base import BATCH_S, Executor, code_here, name_of, run_batch
from explorer.engine.executors.cluster import Cluster
from explorer.engine.executors.dask import DaskExecutor
from explorer.engine.executors.embedded import EmbeddedExecutor
from tests.benchmarks.table import Row, at_least, at_most, sized

EMPTY = sized(400, 4)
SWEEP_S = float(os.environ.get("SWEEP_S", sized("60", "0.1")))
TASK_S = 0.02
WORKERS = sized(2, 1)
MADE: dict[str, Callable[[], Executor]] = {
    "embedded": lambda: EmbeddedExecutor(WORKERS),
    "Dask": lambda: DaskExecutor(Cluster(f"local:{WORKERS}")),
}


def work(task: float) -> float:
    """Compute for so many seconds of this thread's CPU, and return how many it were."""
    began = time.thread_time()
    while (taken := time.thread_time() - began) < task:
        sum(range(1000))
    return taken


def cpu_s() -> float:
    """Return the CPU seconds of this process and of all below it so far."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(p.cpu_times()[:2]) for p in processes)


def never() -> None:
    """Go on."""


def empty_batch_ms(pool: Executor) -> float:
    """Return the CPU milliseconds that a batch takes beside its tasks."""
    batch = name_of(run_batch), name_of(work), [0.0], code_here()
    for future in [pool.submit(*batch) for _ in range(sized(20, 2))]:
        future.result()
    began = cpu_s()
    for future in [pool.submit(*batch) for _ in range(EMPTY)]:
        future.result()
    return 1e3 * (cpu_s() - began) / EMPTY


def sweep(pool: Executor) -> tuple[float, float, float]:
    """Return the seconds a sweep takes, its tasks' share of all CPU, and of the workers' time."""
    tasks = [TASK_S] * round(SWEEP_S * WORKERS / TASK_S)
    list(pool.map(work, tasks[:20], never))
    cpu, clock = cpu_s(), time.perf_counter()
    useful = sum(taken for _, taken in pool.map(work, tasks, never))
    clock = time.perf_counter() - clock
    return clock, useful / (cpu_s() - cpu), useful / (WORKERS * clock)


def run() -> list[Row]:
    """Return the rows."""
    rows = []
    for name, make in MADE.items():
        pool = make()
        try:
            ms = empty_batch_ms(pool)
            seconds, of_cpu, of_clock = sweep(pool)
        finally:
            pool.close()
        note = f"of a batch of {BATCH_S:g} s: {ms / 1e3 / BATCH_S:.1%}"
        rows.append(at_most(f"{name}: CPU of a batch without work", ms, 12.5, "ms", note))
        note = f"{WORKERS} workers, {seconds:.0f} s"
        rows.append(at_least(f"{name}: tasks' share of all CPU of a sweep", of_cpu, 0.8, "", note))
        free = os.getloadavg()[0] < (os.cpu_count() or 1) + 1
        if free:
            rows.append(at_least(f"{name}: efficiency by the clock", of_clock, 0.8, "", note))
        else:
            busy = f"{note}; other programs run"
            rows.append(Row(f"{name}: efficiency by the clock", of_clock, None, "", None, busy))
    return rows
