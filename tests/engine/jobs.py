"""Functions that the worker process can import."""

from __future__ import annotations

import os
import time
from collections.abc import Callable


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
