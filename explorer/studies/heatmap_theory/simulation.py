"""The algorithms run on random sparse maps, to be compared with their bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import (
    CellCounts,
    SparseMap,
    fit,
    measure,
    measure_levels,
    reconstruct,
)
from explorer.privacy.heatmaps.evaluation import block_sums, exact_distance
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.simulation import dots_series, mean_interval, trial_pieces
from explorer.studies.base.study import Context, Fidelity, Request, Result, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.heatmap_theory import text
from explorer.studies.heatmap_theory.curves import PLANS, level_of, plan_of

BLOCKS = 64
"""Distances are those of at most so many block sums on a side."""
MAX_CELLS = 1024
"""Largest k that is simulated."""
MECHANISMS = (*PLANS, "least-squares")
_PLACES = 6
_PIECE = 5
"""Trials that go to the worker together."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An algorithm to be tried out, complete and picklable."""

    mechanism: str
    epsilon: float
    users: int
    cells: int
    level: int
    assumed: float


def errors(experiment: Experiment, trials: int, seed: tuple[int, ...]) -> FloatArray:
    """Return the earth mover's distances of private and true maps; runs in a worker process.

    Every trial draws k cells, shares the users out among them (a uniformly random distribution)
    and runs the algorithm with fresh noise.
    """
    rng = np.random.default_rng(seed)
    e = experiment
    key = "capped" if e.mechanism == "least-squares" else e.mechanism
    plan = plan_of(key, e.epsilon, e.level, e.cells, e.assumed)

    def noise(_level: int, codes: IntArray) -> FloatArray:
        return rng.laplace(size=codes.shape)

    found = np.empty(trials)
    for trial in range(trials):
        codes = np.sort(rng.choice(4**e.level, e.cells, replace=False))
        masses = rng.multinomial(e.users, rng.dirichlet(np.ones(e.cells)))
        some = masses > 0
        counts = CellCounts(e.level, codes[some], masses[some].astype(float), e.users, e.users)
        if e.mechanism == "least-squares":
            drawn: Any = fit(measure_levels(counts, plan, noise)).on(e.level)
        else:
            drawn = reconstruct(measure(counts, plan, e.cells, noise)).blocks().on(e.level)
        grid = drawn.grid() if isinstance(drawn, SparseMap) else drawn
        found[trial] = exact_distance(
            block_sums(grid, BLOCKS), block_sums(counts.grid(), BLOCKS)
        ).high
    return found


def simulated(
    full: Result, request: Request, points: SweptPoints, context: Context
) -> Iterator[Result]:
    """Yield the full answer with more and more dots, the last one complete.

    Every dot has a seed of its own, made of the request's, the mechanism's and the place's.
    """
    level = level_of(request)
    usable = np.flatnonzero(points["k"][:-1] <= min(MAX_CELLS, 4**level))
    if not usable.size:
        note = f"Only maps of at most {MAX_CELLS:,} cells with mass are simulated."
        yield replace(full, notes=(*full.notes, note), complete=True)
        return
    places = usable[evenly_spread(usable.size, _PLACES)]
    dots: dict[str, list[tuple[float, float, float, float]]] = {key: [] for key in MECHANISMS}
    done, wanted = 0, int(request["trials"])
    for j in places.tolist():
        for number, key in enumerate(MECHANISMS):
            n = int(points["n"][j])
            experiment = Experiment(
                key,
                float(points["epsilon"][j]),
                n,
                int(points["k"][j]),
                level,
                float(points["guess"][j]) * n,
            )
            seed = (abs(request.seed), number, j)
            pieces = trial_pieces(context, errors, experiment, wanted, _PIECE, seed)
            found = np.concatenate(list(pieces))
            mean, low, high = map(float, mean_interval(found, least=0.0))
            dots[key].append((float(points.x[j]), mean, low, high))
            done += 1
        share = done / (len(places) * len(MECHANISMS))
        yield replace(
            full,
            fidelity=Fidelity.FULL,
            series=full.series + _series(dots, request),
            progress=share,
            complete=done == len(places) * len(MECHANISMS),
        )


def _series(
    dots: dict[str, list[tuple[float, float, float, float]]], request: Request
) -> tuple[Series, ...]:
    note = (
        f"mean and 95 % interval of {request['trials']} runs on k random cells, seed "
        f"{request.seed}; distances of at most {BLOCKS} × {BLOCKS} block sums"
    )
    return tuple(
        dots_series(
            f"{key}_simulated", f"simulated: {text.LABELS[key]}", text.THEOREM_31, rows, note
        )
        for key, rows in dots.items()
    )
