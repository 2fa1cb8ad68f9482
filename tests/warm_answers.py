"""What takes longest of the questions that windows begin with, computed once.

Most tests open the window on a map of the synthetic sample or on shuffled rounds, and are about
something else; the distances of the map at its defaults took 2 s of processor time a window.
Compute processes of tests find these six numbers, what is prepared for rounds at their defaults
(4.9 s) and four whole answers in a file (`slow_results`), and compute everything else
as the program does. Programs that tests start, and benchmarks, compute everything.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from explorer import checkins
from explorer.engine.paths import checkins_cache
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.geography.region import Region
from explorer.privacy.shuffle_rdp import WorstCaseRounds
from explorer.resources import resource_path, samples
from explorer.studies.base.request import Origin, Request, Selection, all_sides
from explorer.studies.base.study import Result, default_request
from explorer.studies.registry import get_study

FOLDER = "EXPLORER_TESTS_SHARED"
"""Environment variable of the folder that the processes of a run share."""
SLOW = ("heatmap average error", "heatmap draws", "heatmap distance")
"""First entries of the cache keys of what takes longest of a map."""
OF_ROUNDS = ("shuffle-rdp", "amplification")
"""Studies of shuffled rounds, which are also the first entries of their cache keys."""


def map_request() -> Request:
    """Return the question that a window without a start page asks first."""
    sample = samples()[0]
    region = Region(*sample.suggested_region)
    selection = Selection(sample.sha256, region, region_from=all_sides(Origin.PUBLIC))
    return replace(default_request(get_study("heatmap")), selection=selection)


class _Recording(StudyRuntime):
    """A runtime that records what it keeps under some keys, by their first entry."""

    def __init__(self, wanted: Collection[str]) -> None:
        super().__init__()
        self._wanted = wanted
        self.found: dict[Hashable, Any] = {}

    def cached(self, key: Any, make: Callable[[], Any], epoch: int | None = None) -> Any:
        value = super().cached(key, make, epoch)
        if key[1][0] in self._wanted:
            self.found[key] = value
        return value


class WarmRuntime(StudyRuntime):
    """A runtime that finds the results of the run, as long as no rows were read in another way."""

    results: ClassVar[dict[Hashable, Any]] = {}

    def cached(self, key: Hashable, make: Callable[[], Any], epoch: int | None = None) -> Any:
        if self.epoch == 0 and key in self.results:
            return self.results[key]
        return super().cached(key, make, epoch)

    def cached_result(self, request: Request) -> Result | None:
        if self.epoch == 0 and ("result", request) in self.results:
            return cast("Result", self.results["result", request])
        return super().cached_result(request)


@contextmanager
def one_at_a_time() -> Iterator[Path | None]:
    """Let the processes of a run pass one after another; yields the folder they share, if any."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        yield None
        return
    with Path(folder, "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(folder)


def slow_results(folder: Path) -> dict[Hashable, Any]:
    """Return the results by key; the first process that asks has them computed."""
    path = folder / "answers.pickle"
    if not path.exists():
        # In a process of its own: threads of the database must not be forked.
        subprocess.run([sys.executable, "-m", __name__, str(path)], check=True)
    results: dict[Hashable, Any] = pickle.loads(path.read_bytes())
    return results


def main(path: Path) -> None:
    """Answer the questions and write which results took longest."""
    runtime = _Recording((*SLOW, *OF_ROUNDS))
    synthetic = frozenset({samples()[0].sha256})
    with resource_path(samples()[0].file) as sample:
        opened = checkins.open_checkins(
            sample, cache_dir=checkins_cache(), known_synthetic=synthetic
        )
        runtime.add_data(opened)
    seen = map_request().with_value("beside", "true,difference")  # as a wide window has it
    maps = [seen.with_value("resolution", cells) for cells in ("16", "32", "256")]
    rounds, amplified = (default_request(get_study(key)) for key in OF_ROUNDS)
    final_result(runtime, amplified)
    whole = {("result", asked): final_result(runtime, asked) for asked in (*maps, rounds)}
    for value in runtime.found.values():
        if isinstance(value, WorstCaseRounds):
            # Does nothing, and can be pickled; who takes the rounds sets it anew.
            value.check = bool
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(pickle.dumps(runtime.found | whole))
    unfinished.rename(path)
    runtime.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
