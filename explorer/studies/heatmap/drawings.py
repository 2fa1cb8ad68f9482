"""Points and centres drawn from a private map in place of a heatmap.

Both are post-processing of a mechanism's output and cost no further ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import schedule, smoothing
from explorer.privacy.heatmaps.clustering import (
    clustering_bound,
    coreset_error,
    distances,
    k_median,
    l1_borders,
)
from explorer.privacy.heatmaps.evaluation import block_interval, block_sums
from explorer.privacy.user_metric.point_noise import level_of_moves
from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.study import Fidelity, NoWorker, Overlay, ScalarResult, Selection
from explorer.studies.heatmap.mechanisms import ALGORITHM, mechanism_of
from explorer.studies.heatmap.noisy_points import ONE_OF_EACH
from explorer.studies.heatmap.parameters import (
    CENTRES,
    OF_MECHANISM,
    POINTS,
    PRIVATE,
    beside,
    request_of_surface,
)
from explorer.studies.heatmap.run import Estimate, Task, run_mechanism

CENTRES_SIDE = 64
"""Squares on a side that centres are sought for at rest, and added up for live."""
DRAWN = 32
"""Squares on a side that are drawn, as large as their mass, and searched live."""
COUNTED = 256
"""Squares on a side at which centres are computed at rest."""
COVERED = 0.25
"""Part of the map that the squares cover together at most."""
MAX_SQUARE_SHARE = 3.0
"""Most that the largest square may cover of the side of what it stands for."""
INVISIBLE = 1e-4
"""Of the largest mass: less is not drawn."""
SEED = 0
"""Of the search for centres, which protects nothing."""
LOCAL_SEARCH_FACTOR = 10
"""What a local search to its end costs at most, in parts of the least (Arya et al. 2004)."""


@dataclass(frozen=True)
class Drawing:
    """A private map drawn in another way.

    Attributes
    ----------
    values : ndarray of float32, shape (Δ, Δ)
        Its cells before blurring.
    overlay : Overlay
    source : str
        Key of the surface of the same map as a heatmap.
    readouts : tuple of ScalarResult
        Functions of the private map.
    """

    values: NDArray[np.float32]
    overlay: Overlay
    source: str
    readouts: tuple[ScalarResult, ...] = ()


def drawings(task: Task, maps: Mapping[str, Estimate]) -> dict[str, Drawing]:
    """Return the drawings of private maps, by the keys of their surfaces."""
    request, results = task.request, {}
    shown = beside(request["beside"])
    if CENTRES in shown:
        results[CENTRES] = _centres(task, maps[PRIVATE])
        task.watch.lap("centres")
    if POINTS in shown:
        points_request = request_of_surface(request, POINTS)
        same = PRIVATE if points_request == request else OF_MECHANISM + points_request["mechanism"]
        from_points = maps.get(same) or run_mechanism(replace(task, request=points_request))
        assert from_points.overlay is not None
        cells, readouts = _cells(task, from_points), _whole_user(task)
        results[POINTS] = Drawing(cells, from_points.overlay, same, readouts)
    return results


def _whole_user(task: Task) -> tuple[ScalarResult, ...]:
    """Return what it costs the user with most check-ins if all of them move by r."""
    request, user = task.request, task.points.user
    if request["points"] == ONE_OF_EACH or not len(user):
        return ()
    most, radius = int(np.bincount(user).max()), request["radius"]
    level = level_of_moves(request["epsilon"] / radius, np.full(most, radius))
    label = f"ε of a user whose {most:,} check-ins, the most there are, all move by r"
    return (ScalarResult("points_user", label, float(level.value), Role.UPPER, curator_only=True),)


def _grid(task: Task, estimate: Estimate) -> NDArray[np.float64]:
    """Return the shares of the total in the cells of a map before blurring."""
    return smoothing(1 << task.counts.level, 0.0).exact(estimate.map)


def _cells(task: Task, estimate: Estimate) -> NDArray[np.float32]:
    return _grid(task, estimate).astype(np.float32)


def _centres(task: Task, estimate: Estimate) -> Drawing:
    """Return squares of the private map's mass, centres for it and how far they are."""
    request, selection = task.request, task.request.selection
    assert selection is not None
    grid = _grid(task, estimate)
    sides, live = _public_sides(selection), request.fidelity is Fidelity.COARSE
    centres = _k_median_centres(grid, request["centres"], sides, live=live)
    squares = block_sums(grid, CENTRES_SIDE)
    places, weights = _middles(squares), squares.ravel()
    nearest = np.argmin(distances(places * sides, centres * sides), axis=1)
    shares = np.bincount(nearest, weights, minlength=len(centres)).astype(float)
    borders = l1_borders(centres * sides, sides) / (*sides, *sides)
    overlay = Overlay(centres, shares, True, _squares(grid), borders)
    counted = block_sums(grid, CENTRES_SIDE if live else COUNTED)
    cost = _cost(counted, centres, selection)
    role = Role.EXACT if len(counted) == len(grid) else Role.ESTIMATE
    cost_readout = ScalarResult(
        "centres_cost",
        "Mean distance to the nearest centre",
        cost,
        role,
        _unit(selection),
        note=f"{format_number(cost)} {_unit(selection)} to the nearest on average",
    )
    return Drawing(grid.astype(np.float32), overlay, PRIVATE, (cost_readout, *_kappa(task)))


def _squares(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squares of area in proportion to the mass that they stand for: see `Overlay`."""
    sums = block_sums(grid, DRAWN)
    places, mass = _middles(sums), sums.ravel()
    visible = mass > INVISIBLE * mass.max()
    scale = min(np.sqrt(COVERED), MAX_SQUARE_SHARE / len(sums) / np.sqrt(mass.max()))
    return np.column_stack([places[visible], scale * np.sqrt(mass[visible])])


def _k_median_centres(
    grid: NDArray[np.float64], k: int, sides: tuple[float, float], *, live: bool = False
) -> NDArray[np.float64]:
    """Return k centres for a map, in shares of its sides, by ℓ1 distances between these sides."""
    squares = block_sums(grid, DRAWN if live else CENTRES_SIDE)
    rng = np.random.default_rng(SEED)
    effort = {"restarts": 1, "swaps": 0} if live else {}
    solution = k_median(_middles(squares) * sides, squares.ravel(), k, rng, **effort)
    # From the heaviest on, so that numbers stay while a slider moves.
    mass = np.bincount(solution.labels, squares.ravel(), minlength=k)
    return np.asarray(solution.centres[np.argsort(-mass, kind="stable")] / sides)


def _middles(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return row and column of the cells' middles in shares of the sides, shape (cells, 2)."""
    rows, columns = grid.shape
    row, column = (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    return np.stack(np.meshgrid(row, column, indexing="ij"), -1).reshape(-1, 2)


def _sides(selection: Selection) -> tuple[float, float]:
    """Return height and width of the map, in `_unit`."""
    wide, high = selection.region.sides
    return high, wide


def _unit(selection: Selection) -> str:
    return selection.region.unit


def _public_sides(selection: Selection) -> tuple[float, float]:
    """Return the sides of the region that the drawing may depend on: a square's if it must not.

    Where the region was found from the check-ins its shape is one more thing that tells of them.
    """
    return _sides(selection) if selection.region_origin.may_be_told else (1.0, 1.0)


def _cost(grid: NDArray[np.float64], centres: NDArray[np.float64], selection: Selection) -> float:
    """Return the mean ℓ1 distance of a map's mass to the nearest centre, in the region's unit."""
    sides = _sides(selection)
    heavy = np.flatnonzero(grid)
    apart = distances(_middles(grid)[heavy] * sides, centres * sides)
    return float(grid.ravel()[heavy] @ apart.min(axis=1) / grid.sum())


def _kappa(task: Task) -> tuple[ScalarResult, ...]:
    """Return κ of the paper's Corollary A.1, which holds for its own algorithm alone."""
    request, level = task.request, task.counts.level
    mechanism = mechanism_of(request)
    if ALGORITHM not in mechanism.references or mechanism.neighbouring != "add_remove":
        return ()
    plan = schedule(task.epsilon, level, request["w"], request["variant"])
    bound = coreset_error(plan, request["w"], 1)
    note = (
        f"Corollary A.1: for any k centres the costs summed over n users differ by at most κ + λ "
        f"times the true one on average, κ = {at_most(float(bound.value))} + (n − 1)/{1 << level} "
        "sides of the map; the constant of λ is not known."
    )
    label = "κ of Corollary A.1 for one user, in sides of the map; λ's constant is not known"
    return (ScalarResult("centres_kappa", label, float(bound.value), Role.UPPER, note=note),)


def true_cost_of_centres(
    task: Task, estimate: Estimate, drawing: Drawing
) -> tuple[ScalarResult, ...]:
    """Return the cost of the private map's centres on the true map; for the curator only.

    For maps of one mass and any centres the mean distances differ by at most the earth mover's
    distance under the same metric. So centres within a factor f of the best on the private map cost
    at most f·OPT + (1 + f)·EMD on the true one.

    All are computed of sums over `COUNTED` squares a side. Of a finer map the true cost is then an
    estimate, and bounds allow for what moving mass to the middle of its square costs.
    """
    selection = task.request.selection
    assert selection is not None
    unit, (high, wide) = _unit(selection), _sides(selection)
    centres = drawing.overlay.points
    truth = smoothing(1 << task.counts.level, 0.0).exact(task.counts.blocks().normalised())
    finer = len(truth) > COUNTED
    inside = 0.5 * (wide + high) / COUNTED if finer else 0.0
    sums = block_sums(_grid(task, estimate), COUNTED), block_sums(truth, COUNTED)
    cost = _cost(sums[1], centres, selection)
    sought = _k_median_centres(truth, len(centres), (high, wide))
    best = min(cost, _cost(sums[1], sought, selection)) + inside
    task.context.check()
    try:
        emd = task.context.run_in_worker(block_interval, *sums, CENTRES_SIDE, wide, high).high
        emd += 2 * inside
    except NoWorker:
        return ()
    text = f"truly {format_number(cost)}, off by at most {at_most(emd)} {unit} (EMD)"
    ideal, searched = (
        float(clustering_bound(best, f, 0.0, emd).value) for f in (1, LOCAL_SEARCH_FACTOR)
    )
    factor = (
        "The mean distances on the private and on the true map differ by at most the earth mover's "
        f"distance of the maps, {at_most(emd)} {unit}. Centres within a factor f of the best on "
        "the private map cost at most f·OPT + (1 + f)·EMD on the true one (Corollary A.2 with this "
        f"distance as κ and λ = 0), where the least possible, OPT, is at most {at_most(best)} "
        f"{unit}: at most {at_most(ideal)} {unit} for the best ones, {at_most(searched)} {unit} "
        f"after a local search to its end, f ≤ {LOCAL_SEARCH_FACTOR}; this one stops earlier, and "
        "its f is not known."
    )

    def secret(key: str, label: str, value: float, role: Role, note: str = "") -> ScalarResult:
        return ScalarResult(key, label, value, role, unit, curator_only=True, note=note)

    return (
        secret(
            "centres_true",
            "True mean distance to the nearest centre",
            cost,
            Role.ESTIMATE if finer else Role.EXACT,
            text,
        ),
        secret("centres_emd", "Earth mover's distance before blurring", emd, Role.UPPER, factor),
        secret("centres_best", "Least mean distance of so many centres", best, Role.UPPER),
        secret(
            "centres_a2",
            "Corollary A.2: true mean distance of the private map's best centres",
            ideal,
            Role.UPPER,
        ),
    )
