"""How long tests wait: one rule for every time-out, scaled by how busy the machine is.

A test names the seconds that a quiet machine would surely be done in; on a machine with more work
than cores the same takes longer by as much. Waiting longer costs nothing where all is well, since
every wait ends as soon as what it waits for is there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

USUAL_S = 30.0
"""Limit of a wait on a quiet machine; what is waited for takes a small part of it."""
MAX_SLOWNESS = 20.0
POLL_S = 0.01


def slowness() -> float:
    """Return how many times longer than alone something may take now, at least 1."""
    cores = os.cpu_count() or 1
    workers = float(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    # The load is a mean over the last minute: it knows of other programs, but late of our own.
    return min(MAX_SLOWNESS, max(1.0, workers / cores, os.getloadavg()[0] / cores))


def time_limit(seconds: float = USUAL_S) -> float:
    """Return how many seconds to wait here for what takes at most so many on a quiet machine."""
    return seconds * slowness()


def wait_until(done: Callable[[], object], seconds: float = USUAL_S) -> bool:
    """Wait without an event loop; return whether it came true in time."""
    limit = time.monotonic() + time_limit(seconds)
    while not done():
        if time.monotonic() > limit:
            return bool(done())
        time.sleep(POLL_S)
    return True
