"""Simulated errors of the mechanisms on random sparse maps, to be compared with their bounds."""

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
from explorer.studies.base.study import Fidelity, Request, Result, Series
from explorer.studies.base.sweeping import evenly_spread
from explorer.studies.heatmap_theory.theory import PLANS, THEOREM_31, MapPoints, plan_of

BLOCKS = 64
"""Block sums on a side, at most, of which distances are computed."""
MAX_CELLS = 1024
"""Largest k that is simulated."""
_LEAST_SQUARES = "least-squares"
MECHANISMS = (*PLANS, _LEAST_SQUARES)
_MAX_DOTS = 6
"""Dots of each mechanism."""
_PIECE = 5
"""Trials of one call in a worker process."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A mechanism and the maps on which it is run; picklable."""

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
    key = "capped" if e.mechanism == _LEAST_SQUARES else e.mechanism
    plan = plan_of(key, e.epsilon, e.level, e.cells, e.assumed)

    def noise(_level: int, codes: IntArray) -> FloatArray:
        return rng.laplace(size=codes.shape)

    distances = np.empty(trials)
    for trial in range(trials):
        codes = np.sort(rng.choice(4**e.level, e.cells, replace=False))
        masses = rng.multinomial(e.users, rng.dirichlet(np.ones(e.cells)))
        some = masses > 0
        counts = CellCounts(e.level, codes[some], masses[some].astype(float), e.users, e.users)
        if e.mechanism == _LEAST_SQUARES:
            drawn: Any = fit(measure_levels(counts, plan, noise)).on(e.level)
        else:
            drawn = reconstruct(measure(counts, plan, e.cells, noise)).blocks().on(e.level)
        grid = drawn.grid() if isinstance(drawn, SparseMap) else drawn
        distances[trial] = exact_distance(
            block_sums(grid, BLOCKS), block_sums(counts.grid(), BLOCKS)
        ).high
    return distances


def simulated(full: Result, p: MapPoints) -> Iterator[Result]:
    """Yield the full answer with more and more dots, the last one complete.

    Every dot has its own seed, made of those of the request, the mechanism and the point.
    """
    request = p.request
    usable = np.flatnonzero(p.k[:-1] <= min(MAX_CELLS, 4**p.level))
    if not usable.size:
        note = f"Only maps of at most {MAX_CELLS:,} cells with mass are simulated."
        yield replace(full, notes=(*full.notes, note), complete=True)
        return
    at = usable[evenly_spread(usable.size, _MAX_DOTS)]
    dots: dict[str, list[tuple[float, float, float, float]]] = {key: [] for key in MECHANISMS}
    labels = {s.key: s.label for s in full.series} | {_LEAST_SQUARES: "depth cap + least squares"}
    done, wanted = 0, int(request["trials"])
    for j in at.tolist():
        for number, key in enumerate(MECHANISMS):
            experiment = Experiment(
                key,
                float(p.epsilon[j]),
                int(p.n[j]),
                int(p.k[j]),
                p.level,
                float(p.guess[j]) * int(p.n[j]),
            )
            seed = (abs(request.seed), number, j)
            pieces = trial_pieces(p.context, errors, experiment, wanted, _PIECE, seed)
            mean, low, high = map(float, mean_interval(np.concatenate(list(pieces)), least=0.0))
            dots[key].append((float(p.swept.x[j]), mean, low, high))
            done += 1
        yield replace(
            full,
            fidelity=Fidelity.FULL,
            series=full.series + _series(dots, labels, request),
            progress=done / (len(at) * len(MECHANISMS)),
            complete=done == len(at) * len(MECHANISMS),
        )


def _series(
    dots: dict[str, list[tuple[float, float, float, float]]],
    labels: dict[str, str],
    request: Request,
) -> tuple[Series, ...]:
    note = (
        f"mean and 95 % interval of {request['trials']} runs on k random cells, seed "
        f"{request.seed}; distances of at most {BLOCKS} × {BLOCKS} block sums"
    )
    return tuple(
        dots_series(f"{key}_simulated", f"simulated: {labels[key]}", THEOREM_31, rows, note)
        for key, rows in dots.items()
    )
