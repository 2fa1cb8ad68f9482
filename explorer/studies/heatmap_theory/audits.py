"""Audits: the pyramid's counts, or a mechanism of the map, with and without one user."""

from dataclasses import replace

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import CellCounts, SparseMap, measure
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.study import Context, Guarantee, Request, Selection, default_request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.heatmap.draws import WithoutNoise
from explorer.studies.heatmap.experiments.samples import UNIT_SQUARE, Points, count_points
from explorer.studies.heatmap.experiments.trial import TrialContext
from explorer.studies.heatmap.mechanisms import MECHANISMS, Mechanism
from explorer.studies.heatmap.priors import Prior
from explorer.studies.heatmap.run import Stopwatch, Task, run_mechanism
from explorer.studies.heatmap.study import HeatmapStudy
from explorer.studies.heatmap_theory.theory import COUNTS, plan_of

_LEVEL, _SIZE, _CELL = 1, 0.5, 1
_CROWD, _COUNTED_ON = 3, 100
"""Users in both data sets, of another cell, and n₀."""
_TRUNCATED = 25
"""Users of either cell where small counts are cut to 0."""
_AT_ONCE = 50
_PRIOR = np.array([[1.0, 3.0], [2.0, 2.0]])
"""Of mechanisms that take a public prior."""


def audits(request: Request, _promise: Guarantee | None, _context: Context | None) -> Audited | str:
    """Return the audit that the request chooses, or why it can't be run."""
    audited = str(request["audited"])
    return _audited_counts(request) if audited == COUNTS else _audited_map(audited, request)


def _audited_counts(request: Request) -> Audited:
    """Return the audit of the noisy counts of a map of 2 × 2 cells: empty, or one user in a cell.

    The map is post-processing of these counts; the score is their log-likelihood ratio.
    """
    eps = float(request["epsilon"])
    plan = plan_of("experiments", eps, _LEVEL, 1, 1.0)
    empty = np.zeros(0, np.int64)
    data = [
        CellCounts(_LEVEL, empty, empty.astype(float), 0, 0),
        CellCounts(_LEVEL, np.array([_CELL]), np.ones(1), 1, 1),
    ]

    def once(side: int, rng: np.random.Generator) -> float:
        def noise(_level: int, codes: IntArray) -> FloatArray:
            return rng.laplace(size=codes.shape)

        seen = measure(data[side], plan, 1, noise)
        score = 0.0
        for level in plan.measured:
            own = np.flatnonzero(np.asarray(seen.codes[level]) == _CELL >> 2 * (_LEVEL - level))
            for value in np.asarray(seen.values[level])[own]:
                score += plan.epsilon[level] * (abs(value) - abs(value - 1))
        return float(score)

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        return np.array([once(side, rng) for _ in range(runs)])

    return Audited(
        "the pyramid's noisy counts of 2 × 2 cells (schedule of the experiments); one user, or "
        "nobody",
        run,
        eps,
    )


def _audited_map(key: str, request: Request) -> Audited | str:
    """Return the audit of a mechanism of the map, from check-ins to map on 2 × 2 cells.

    The score is what the map shows in the cell of the user in question, all noise drawn anew in
    every run.
    """
    mechanism = MECHANISMS[key]
    replaces = mechanism.neighbouring == "replace"
    delta = float(request["delta"]) if "delta" in mechanism.uses else 0.0
    crowd = [0, 1] * _TRUNCATED if replaces else [0] * _CROWD
    users = (crowd + [0] * replaces, [*crowd, 1])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seeds = rng.integers(0, 1 << 62, runs)
        return np.array([_observe_cell(tasks[side], int(seed)) for seed in seeds])

    try:
        query = default_request(
            HeatmapStudy(),
            mechanism=key,
            epsilon=float(request["epsilon"]),
            delta=delta or 1e-5,
            n0=_COUNTED_ON,
            top_percent=50.0,
        )
        tasks = [_task(query, cells) for cells in users]
        run(1, 1, np.random.default_rng(0))
    except ValueError as error:
        return f"{mechanism.label} can't be run on so few users: {error}."
    return Audited(
        f"{mechanism.label}, from check-ins to a map of 2 × 2 cells; {_different(mechanism)}",
        run,
        float(request["epsilon"]),
        delta,
        "promised of the map",
        _AT_ONCE,
    )


def _different(mechanism: Mechanism) -> str:
    if mechanism.neighbouring == "replace":
        return f"one of {2 * _TRUNCATED + 1} users is in one cell or another"
    return f"one user beside {_CROWD} in another cell, or those alone"


def _task(request: Request, cells: list[int]) -> Task:
    """Return what a mechanism is run on: each user in the middle of a cell of the lower row."""
    x = (np.array(cells) + 0.5) * _SIZE
    points = Points(np.arange(len(x)), np.full(len(x), 0.5 * _SIZE), x)
    counts = count_points(points, UNIT_SQUARE, _LEVEL).counts
    query = replace(request, selection=Selection("a" * 64, Region(*UNIT_SQUARE)))
    context = WithoutNoise(TrialContext({}))
    return Task(query, points, counts, context, Stopwatch(), (Prior(("audit",), _PRIOR),))


def _observe_cell(task: Task, seed: int) -> float:
    """Return what one draw of the map shows in the cell that the user in question may be in."""
    drawn = run_mechanism(replace(task, request=replace(task.request, seed=seed))).map
    grid = drawn.grid() if isinstance(drawn, SparseMap) else drawn
    return float(grid[0, 1])
