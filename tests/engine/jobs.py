"""Functions that the worker process can import."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from explorer.engine.runtime.runtime import StudyRuntime


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
