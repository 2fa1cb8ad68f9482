"""Whatever way this program ends, nothing that it started is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.ui.map_page import made_checkins
from tests.waiting import time_limit, wait_until

pytestmark = pytest.mark.full

BUSY = """
import os, sys, threading, time
from explorer.engine.service import StudyService
from tests.engine.jobs import held_up, hold_up

service = StudyService(compute_process=True)
signs = [sys.argv[1] + "/here", sys.argv[1] + "/there"]
for call in (lambda: service.runtime.worker.call(hold_up, (signs[0],), int),
             lambda: service.client.call(held_up, (signs[1],), int)):
    threading.Thread(target=call, daemon=True).start()
time.sleep(600)
"""
"""Two processes that compute, one of them with a worker, and both workers hold their lock."""


@pytest.fixture
def started() -> Iterator[list[psutil.Process]]:
    """Processes that are gone after the test, whatever it found."""
    processes: list[psutil.Process] = []
    yield processes
    for process in processes:
        if process.is_running():
            process.kill()


def alive(processes: list[psutil.Process]) -> list[str]:
    found = []
    for p in processes:
        with suppress(psutil.NoSuchProcess):  # ended between two questions; a zombie counts as such
            if p.is_running() and p.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(p.cmdline()))
    return found


def _killed(
    process: subprocess.Popen[bytes], started: list[psutil.Process], seconds: float = 10
) -> list[str]:
    """Kill a process hard; return what is left of its children after so many quiet seconds."""
    started += psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not alive(started), seconds)
    return alive(started)


def test_workers_end_with_a_killed_program_in_the_middle_of_compiled_code(
    tmp_path: Path, started: list[psutil.Process]
) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path)])
    started.append(psutil.Process(process.pid))
    both = tmp_path / "here", tmp_path / "there"
    assert wait_until(lambda: all(path.exists() for path in both), 60)
    assert _killed(process, started) == []
    assert len(started) >= 4  # the program, the process that computes, a worker each


def test_after_a_session_the_window_has_computed_nothing_and_leaves_nothing(
    tmp_path: Path, started: list[psutil.Process]
) -> None:
    checkins = made_checkins(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ui.one_session", checkins, tmp_path / "map.png"],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_STATE_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    started.append(psutil.Process(process.pid))
    assert process.stdout is not None
    with process.stdout as said:
        assert json.loads(said.readline()) == []
    assert _killed(process, started, 2) == []


def test_the_program_ends_as_usual_while_workers_compute(
    tmp_path: Path, started: list[psutil.Process]
) -> None:
    waiting = "while not all(map(os.path.exists, signs)): time.sleep(0.05)\nservice.close()"
    code = BUSY.replace("time.sleep(600)", waiting)
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    started.append(psutil.Process(process.pid))
    assert wait_until((tmp_path / "here").exists, 60)
    started += psutil.Process(process.pid).children(recursive=True)
    assert process.wait(time_limit(60)) == 0
    assert wait_until(lambda: not alive(started), 10), alive(started)
