"""One trial: one draw of one mechanism on one sample, compared with the truth.

A trial is plain JSON, and what it finds depends on nothing else but the counts it names by their
digest: not on where, when or after which others it is run.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import SparseMap, compare, smoothing
from explorer.privacy.heatmaps.counts import Contribution
from explorer.privacy.heatmaps.evaluation import BLOCKS, Interval, Metrics, exact_distance
from explorer.studies.base.study import Selection, Tasks, default_request, relevant
from explorer.studies.heatmap.contributions import PARAMETERS as CONTRIBUTIONS
from explorer.studies.heatmap.experiments.samples import (
    UNIT_SQUARE,
    Sample,
    open_prior,
    open_sample,
)
from explorer.studies.heatmap.parameters import PARAMETERS
from explorer.studies.heatmap.run import (
    Counted,
    Stopwatch,
    Task,
    exact_truth,
    run_mechanism,
)
from explorer.studies.heatmap.study import HeatmapStudy

KIND = "heatmap-trial/1"
"""Version of the fields of a trial."""
OF_COUNTS = frozenset(p.key for p in CONTRIBUTIONS)
MEASURES = ("emd", "emd_km", "similarity", "pearson", "kl")
MEASURE_MINIMA = {measure: -1.0 if measure == "pearson" else 0.0 for measure in MEASURES}
"""What a measure can't be below."""

Trial = dict[str, Any]
TrialValues = dict[str, float | None]
Map = SparseMap | NDArray[np.float64]


def make_trial(
    *,
    data: str,
    region: str,
    counts: str,
    sides_km: tuple[float, float] | None,
    draw: int,
    seed: int,
    values: Mapping[str, Any],
    measures: Sequence[str] = MEASURES,
    priors: Sequence[str] = (),
) -> Trial:
    """Return a trial.

    Parameters
    ----------
    data, region : str
        Data and place: a file's fingerprint or the name of synthetic data.
    counts : str
        Digest of the sample.
    sides_km : (width, height) or None
        Of the region; None where the plane is not the Earth.
    draw, seed : int
        Number of the draw, and the experiment's seed.
    values : mapping
        Parameters of the heatmap study that differ from their defaults. Those that the mechanism
        does not read are left out: they change neither the trial nor its key. So are those that
        the counts alone depend on, which have a digest of their own.
    measures : sequence of str
        Which of `MEASURES` are wanted.
    priors : sequence of str
        Digests of public priors on the grid.
    """
    settings = {key: value for key, value in values.items() if key not in OF_COUNTS}
    given = dict(default_request(HeatmapStudy(), **settings).values)
    return {
        "kind": KIND,
        "data": data,
        "region": region,
        "counts": counts,
        "sides_km": None if sides_km is None else list(sides_km),
        "draw": draw,
        "seed": seed,
        "measures": list(measures),
        "values": {
            p.key: given[p.key]
            for p in PARAMETERS
            if p.key not in OF_COUNTS and relevant(p, given, "")
        },
    } | ({"priors": list(priors)} if priors else {})


def noise_seed(trial: Trial) -> int:
    """Return the seed of a trial's noise: 128 bits of the sha256 of data, region, draw and seed.

    Mechanism, ε, grid, filter and sample are not among them. So all mechanisms meet the same draw
    in a region (`run_mechanism` says which share their noise), a curve over any parameter is one of
    the same draws, and the draws of two regions are independent.
    """
    drawn_by = {key: trial[key] for key in ("data", "draw", "region", "seed")}
    text = json.dumps(drawn_by, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def task_of(trial: Trial, folder: Path) -> dict[str, Any]:
    """Return the argument of `run_trial`: the trial and the folder of its counts."""
    return {"trial": trial, "folder": str(folder)}


def ready() -> None:
    """Solve a transport of two cells, which imports all modules that a trial needs."""
    exact_distance(np.eye(2), np.eye(2)[::-1])


def run_trial(task: Mapping[str, Any]) -> TrialValues:
    """Return the errors of the map of a trial, by measure.

    Parameters
    ----------
    task : mapping
        From `task_of`. The folder is that of `samples.write_sample`; it is no part of the trial,
        whose key must not change with it.

    Returns
    -------
    dict
        A number for each of the trial's measures: the exact earth mover's distance of 64 × 64
        block sums of the two heatmaps in the unit square and in kilometres; similarity, Pearson
        correlation and KL divergence of the heatmaps themselves. None where there is none.
    """
    trial = task["trial"]
    if trial["kind"] != KIND:
        raise ValueError(f"trial: kind {trial['kind']!r} is not {KIND!r}")
    sample, context = _open(task["folder"], trial["counts"])
    selection = Selection(trial["counts"], Region(*UNIT_SQUARE))
    request = default_request(HeatmapStudy(), **trial["values"])
    request = replace(request, selection=selection, seed=noise_seed(trial))
    priors = tuple(open_prior(task["folder"], digest) for digest in trial.get("priors", ()))
    estimate = run_mechanism(Task(request, None, sample.counts, context, Stopwatch(), priors))
    return _compare(estimate.map, sample, context, trial)


def run_grey(task: Mapping[str, Any]) -> TrialValues:
    """Return how near the uniform map comes to the true one of a trial: what no data give."""
    trial = task["trial"]
    sample, context = _open(task["folder"], trial["counts"])
    return _compare(SparseMap.uniform(sample.counts.level), sample, context, trial)


def _compare(estimate: Map, sample: Sample, context: TrialContext, trial: Trial) -> TrialValues:
    """Return what a trial measures of a map and the true one, both blurred.

    Distances are those of block sums and need no whole heatmap.
    """
    sigma, counts, km = trial["values"]["sigma"], sample.counts, trial["sides_km"]
    blurred = smoothing(1 << counts.level, sigma)

    @cache
    def agreement() -> Metrics:
        selection = Selection(trial["counts"], Region(*UNIT_SQUARE))
        return compare(
            exact_truth(Counted(selection), counts, sigma, context), blurred.exact(estimate)
        )

    @cache
    def sums() -> tuple[FloatArray, FloatArray]:
        truth = context.cached(
            ("block sums", counts.level, sigma),
            lambda: blurred.block_sums(counts.blocks().normalised(), BLOCKS),
        )
        return blurred.block_sums(estimate, BLOCKS), truth

    measured: dict[str, Callable[[], float | None]] = {
        "emd": lambda: _middle(exact_distance(*sums())),
        "emd_km": lambda: None if km is None else _middle(exact_distance(*sums(), *km)),
        "similarity": lambda: agreement().similarity,
        "pearson": lambda: None if math.isnan(agreement().pearson) else agreement().pearson,
        "kl": lambda: agreement().kl,
    }
    return {measure: measured[measure]() for measure in trial["measures"]}


def _middle(interval: Interval) -> float:
    """Return an exact distance; its certified ends are a rounding error apart."""
    return float((interval.low + interval.high) / 2)


class TrialContext:
    """Context of a mechanism in a trial, which nobody can cancel.

    Caches values for the trials to come; the oldest is dropped first.
    """

    def __init__(self, known: dict[object, Any]) -> None:
        self._known = known
        self._kept: LRUCache[object, Any] = LRUCache(maxsize=24)

    def check(self) -> None:
        """Go on."""

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Return ``function(*args)``: this is the worker process."""
        return function(*args)

    workers = 1

    def map_in_workers(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield ``function(task)`` of one task after another."""
        yield from enumerate(map(function, tasks))

    def map_on_cluster(
        self, function: Callable[[Any], Any], tasks: Tasks, places: Sequence[Path]
    ) -> Iterator[tuple[int, Any]] | None:
        """Return None: this is a worker process already."""
        return None

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value cached under this key; compute and cache it if there is none."""
        if key in self._known:
            return self._known[key]
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def checkins(self, selection: Selection) -> Any:
        """Raise `LookupError`: trials run on counts."""
        raise LookupError(f"{selection.data}: a trial has counts and no check-ins")

    def file(self, value: str) -> Path:
        """Raise `LookupError`: priors come with the trial."""
        raise LookupError(f"{value}: a trial opens no file")

    def checkins_of_file(self, value: str, *, public: bool = False) -> Any:
        """Raise `LookupError`, as `file`."""
        return self.file(value)


@lru_cache(maxsize=8)
def _open(folder: str, digest: str) -> tuple[Sample, TrialContext]:
    """Return a sample and its cache; the last few samples stay open."""
    sample = open_sample(Path(folder), digest)
    selection = Selection(digest, Region(*UNIT_SQUARE)).rows
    counted = Counted(selection)
    once, level = Counted(selection, Contribution("one-cell")), sample.counts.level
    return sample, TrialContext(
        {
            ("heatmap counts", once, level): sample.votes,
            ("heatmap visits", counted, level): sample.visits,
        }
    )
