"""Workers for strangers' files: bounded in memory and time, stopped soon, used again."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from explorer import bounded
from explorer.bounded import CallCancelled, LimitExceeded, call, stream
from explorer.checkins.workers import MODULES, warm_workers

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY = 400_000_000
NEVER = 10.0
"""Seconds after which what should have ended soon has failed."""


def double(number: int, cancelled: Callable[[], bool]) -> tuple[int, int]:
    return 2 * number, os.getpid()


def fail(cancelled: Callable[[], bool]) -> None:
    raise ValueError("as wanted")


def fill(cancelled: Callable[[], bool]) -> None:
    kept = []
    while True:
        kept.append(bytes(range(256)) * 40_000)


def sleep(cancelled: Callable[[], bool]) -> None:
    time.sleep(100)


def wait_for_stop(cancelled: Callable[[], bool]) -> None:
    while not cancelled():
        time.sleep(0.005)
    raise RuntimeError("stopped by itself")


def die(cancelled: Callable[[], bool]) -> None:
    os.kill(os.getpid(), 11)


def count(to: int, cancelled: Callable[[], bool], report: Callable[[int], None]) -> str:
    for number in range(to):
        report(number)
    return "counted"


def nested(cancelled: Callable[[], bool]) -> bool:
    return call(double, 1, name="x", memory=MEMORY)[1] == os.getpid()


def run(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return call(function, *args, name="a.file", memory=MEMORY, **options)


def test_a_worker_is_used_again() -> None:
    first, second = run(double, 3), run(double, 4)
    assert first[0] == 6
    assert second == (8, first[1])
    assert first[1] != os.getpid()
    assert run(nested)
    with pytest.raises(ValueError, match="as wanted"):
        run(fail)
    assert run(double, 1) == (2, first[1])


def imported(name: str, cancelled: Callable[[], bool]) -> bool:
    return name in sys.modules


def test_workers_are_started_early_with_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_idle", [])
    bounded.warm(2, ("sched",))
    workers = list(bounded._idle)
    bounded.warm(2, ("sched",))  # they are at hand
    assert bounded._idle == workers
    assert len(workers) == 2
    assert all(worker.alive for worker in workers)
    try:
        assert run(imported, "sched") is True
        assert run(imported, "mailbox") is False
        assert len(bounded._idle) == 2
    finally:
        for worker in workers:
            worker.kill()


@pytest.mark.parametrize(
    ("names", "started"),
    [((), 2), (("a.parquet",), 2), (("a.csv", "b.TXT", "c.csv.gz"), 0), (("a.csv", "b.xlsx"), 2)],
)
def test_text_needs_no_worker(
    names: tuple[str, ...], started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(bounded, "warm", lambda count, modules: asked.append(count))
    warm_workers(2, *map(Path, names))
    assert sum(asked) == started
    assert all(importlib.util.find_spec(module) for module in MODULES)


def test_reports_come_in_order_and_may_be_left() -> None:
    found: list[int] = []
    assert run(count, 5, report=found.append) == "counted"
    assert found == [0, 1, 2, 3, 4]
    reports = stream(count, 10**9, name="a.file", memory=MEMORY)
    assert next(reports) == 0
    reports.close()
    assert run(double, 1)[0] == 2


def test_too_much_memory_ends_a_worker() -> None:
    with pytest.raises(LimitExceeded, match=r"a\.file .* memory"):
        run(fill)
    assert run(double, 1)[0] == 2


def test_a_worker_without_progress_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "STALL_S", 0.3)
    with pytest.raises(LimitExceeded, match="progress"):
        run(sleep)
    with pytest.raises(LimitExceeded, match="progress"):  # reports that say the same are none
        run(repeat, report=lambda _: None, progress=lambda mark: mark)


def repeat(cancelled: Callable[[], bool], report: Callable[[int], None]) -> None:
    while True:
        report(1)
        time.sleep(0.01)


@pytest.mark.parametrize("function", [sleep, wait_for_stop])
def test_what_is_no_longer_wanted_ends(function: Callable[..., None]) -> None:
    wanted = threading.Event()
    threading.Timer(0.2, wanted.set).start()
    with pytest.raises(CallCancelled):
        run(function, cancelled=wanted.is_set)
    assert run(double, 1)[0] == 2


def test_a_worker_that_dies_is_a_sentence() -> None:
    with pytest.raises(LimitExceeded, match="SIGSEGV"):
        run(die)
    assert run(double, 1)[0] == 2


@pytest.mark.full
def test_workers_end_with_the_process_however_it_ends(tmp_path: Path) -> None:
    """Even while compiled code runs in them: nobody is left to stop it."""
    code = (
        "import tests.test_bounded as t, threading, time\n"
        "threading.Thread(target=t.run, args=(t.sleep,), daemon=True).start()\n"
        "import psutil, os\n"
        "while not psutil.Process().children(): time.sleep(.01)\n"
        "time.sleep(.5)\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid, until = int(done.stdout), time.monotonic() + NEVER
    while psutil.pid_exists(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
