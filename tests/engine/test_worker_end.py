"""Ending the worker process in the middle of handing it something large leaves no thread."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.studies.base.study import Cancelled
from tests.waiting import wait_until


def _slow(_array: np.ndarray) -> None:
    time.sleep(30)


@pytest.mark.parametrize("seconds", [0.02, 0.3])
def test_a_large_argument_in_the_pipe_does_not_keep_a_thread(seconds: float) -> None:
    before = set(threading.enumerate())
    worker = EmbeddedExecutor()
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise Cancelled

    with pytest.raises(Cancelled):
        worker.call(_slow, (np.zeros(1_000_000),), check)
    worker.close()
    assert wait_until(lambda: not set(threading.enumerate()) - before, 5)
