"""What a study asks of whoever runs it, in one process and without a window."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

from explorer.studies.base.study import Cancelled


class Context:
    """Keeps what it is asked to keep, does heavy work at once, counts and can stop.

    Parameters
    ----------
    stop_after : float
        After how many checks the work is no longer wanted.
    """

    def __init__(self, stop_after=math.inf):
        self.kept = {}
        self.files = {}
        self.opened = {}
        self.checks = 0
        self.heavy_calls = []
        self.stop_after = stop_after

    def add_file(self, path: Path) -> str:
        """Open a file; return its value."""
        value = f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()}"
        self.files[value] = path
        return value

    def check(self):
        self.checks += 1
        if self.checks > self.stop_after:
            raise Cancelled

    def cached(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def run_in_worker(self, function, /, *args):
        self.heavy_calls.append(function.__name__)
        return function(*args)

    workers = 1

    def map_in_workers(self, function, tasks):
        for number, task in enumerate(tasks):
            self.check()
            self.heavy_calls.append((task[0] if callable(task[0]) else function).__name__)
            yield number, function(task)

    def map_on_cluster(self, function, tasks, places):
        return None

    def file(self, value):
        if value not in self.files:
            raise LookupError(f"{value} is not open")
        return self.files[value]

    def checkins(self, selection):
        raise LookupError(selection)

    def checkins_of_file(self, value, *, public=False):
        return self.opened[value]
