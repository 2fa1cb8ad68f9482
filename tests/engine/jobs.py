"""Functions that the worker process can import."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from explorer.engine.executors.base import task_key, task_seed
from explorer.engine.runtime import StudyRuntime
from explorer.privacy.noise.bits import BitSource


def add(a: int, b: int) -> int:
    return a + b


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def fail(message: str) -> None:
    raise ValueError(message)


def die() -> None:
    os._exit(9)


def cache_folder() -> str:
    return os.environ["NUMBA_CACHE_DIR"]


def never_ends(_host: object, _subject: object, check: Callable[[], None]) -> None:
    """Go on until told to stop."""
    while True:
        check()
        time.sleep(0.01)


def hold_up(sign: str) -> None:
    """Write a file, then hold the interpreter's lock in compiled code for years."""
    Path(sign).touch()
    re.match(r"(a+)+$", "a" * 60 + "b")


def held_up(host: StudyRuntime, sign: str, _check: Callable[[], None]) -> None:
    """Let the worker of this process hold its lock."""
    host.worker.call(hold_up, (sign,), lambda: None)


def trial(task: dict[str, Any]) -> list[float]:
    """Return a trial's draws; kill the worker if the task says so and its sign is not there."""
    sign = task.get("kill_once")
    if sign and not Path(sign).exists():
        with suppress(OSError):  # then it is killed every time
            Path(sign).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(task.get("seconds", 0.0))
    return list(np.random.Generator(task_seed(task_key(task))).normal(size=3))


def trial_that_kills(task: int) -> int:
    """Return the task, or kill the worker at 7."""
    if task == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def words_of(bits: BitSource) -> list[int]:
    return list(bits.words(2))
