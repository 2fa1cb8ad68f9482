"""How good the maps are: mean earth mover's distances of all mechanisms on real check-ins.

The specification's table "What beats the paper at the same ε", repeated: the 30 busiest cells of a
300 × 300 partition of the paper's box, two samples of 200 users each, Δ = 256, w = 20, n₀ = 200,
σ = 0.02; distances of 64 × 64 block sums of the heatmaps. Needs the development data beside the
checkout and says so where it isn't.

The table's own check-ins are not known to the last row, so a number is in order within a fifth of
the table's or three standard errors of ours, whichever is more; the order of the mechanisms must be
the table's where that is more than two standard errors of the paired differences.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.checkins import CheckinData, open_checkins
from explorer.privacy.heatmaps import (
    CellCounts,
    SparseMap,
    aggregate,
    cells_kept,
    depth_cap,
    discrete_grid,
    fit,
    laplace_grid,
    measure,
    measure_levels,
    one_cell_each,
    reconstruct,
    schedule,
    smoothing,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.evaluation import exact_distance
from explorer.privacy.noise.demonstration import DemonstrationNoise
from tests.benchmarks.table import Row, sized

FILE = "gowalla-world-userpoi.csv.gz"
FOLDER = os.environ.get(
    "PRIVACY_EXPLORER_REAL_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"
)
BOX = (0.0, -135.0, 50.0, -60.0)
PARTS, CELLS, TRIALS, USERS, ASSUMED = 300, sized(30, 1), sized(2, 1), 200, 200
LEVEL, BLOCKS, W, SIGMA = 8, 64, 20, 0.02
EPSILONS = sized((0.1, 0.5, 1.0, 2.0, 5.0, 10.0), (1.0,))
TABLE = {
    "paper": (0.316, 0.116, 0.080, 0.0445, 0.0239, 0.0159),
    "depth cap + LP": (0.187, 0.095, 0.056, 0.038, 0.0217, 0.0151),
    "depth cap + least squares": (0.160, 0.084, 0.051, 0.034, 0.0188, 0.0126),
    "Laplace": (0.440, 0.439, 0.439, 0.435, 0.429, 0.415),
    "top .01 %": (0.464, 0.453, 0.428, 0.285, 0.156, 0.152),
}

Map = SparseMap | NDArray[Any]


def busiest(data: CheckinData) -> list[tuple[float, float, float, float]]:
    """Return the boxes with the most check-ins of the partition."""
    south, west, north, east = BOX
    points = data.points(BOX)
    high, wide = (north - south) / PARTS, (east - west) / PARTS
    row = np.minimum(((points.lat - south) / high).astype(int), PARTS - 1)
    column = np.minimum(((points.lon - west) / wide).astype(int), PARTS - 1)
    found = np.bincount(row * PARTS + column, weights=points.weight, minlength=PARTS**2)
    boxes = []
    for cell in np.argsort(-found, kind="stable")[:CELLS].tolist():
        r, c = divmod(cell, PARTS)
        boxes.append(
            (south + r * high, west + c * wide, south + (r + 1) * high, west + (c + 1) * wide)
        )
    return boxes


def maps(counts: CellCounts, epsilon: float, seed: int) -> dict[str, Map]:
    """Return every mechanism's map, all with the draws of one seed."""
    noise = DemonstrationNoise(seed, "pyramid")
    q = schedule(epsilon, LEVEL, W).q
    capped = schedule(epsilon, LEVEL, W, last=depth_cap(epsilon, ASSUMED, q, LEVEL))
    leaves = laplace_grid(
        counts, epsilon, unit_noise_grid(LEVEL, DemonstrationNoise(seed, "laplace"))
    )
    return {
        "paper": paper(counts, epsilon, seed),
        "depth cap + LP": reconstruct(measure(counts, capped, W, noise)).blocks().on(LEVEL),
        "depth cap + least squares": fit(measure_levels(counts, capped, noise)).on(LEVEL),
        "Laplace": leaves,
        "top .01 %": top_grid(leaves, cells_kept(1 << LEVEL, 0.01)),
    }


def paper(counts: CellCounts, epsilon: float, seed: int) -> Map:
    """Return the map of the paper's algorithm as in its experiments, ties shared equally."""
    plan = schedule(epsilon, LEVEL, W)
    return reconstruct(measure(counts, plan, W, DemonstrationNoise(seed, "pyramid"))).blocks()


def blurred(drawn: Map) -> NDArray[Any]:
    """Return the block sums of a map's heatmap."""
    return smoothing(1 << LEVEL, SIGMA).block_sums(drawn, BLOCKS)


def distances(
    samples: list[CellCounts], made: Callable[[CellCounts, int], dict[str, Map]]
) -> dict[str, NDArray[Any]]:
    """Return the distances of every mechanism's maps from the truth, one a sample."""
    found = defaultdict(list)
    for seed, counts in enumerate(samples):
        truth = blurred(counts.blocks())
        for name, drawn in made(counts, seed).items():
            if not isinstance(drawn, SparseMap) and not drawn.sum() > 0:
                drawn = SparseMap.uniform(LEVEL)
            found[name].append(exact_distance(blurred(drawn), truth).high)
    return {name: np.array(values) for name, values in found.items()}


def _mean(name: str, values: NDArray[Any], stated: float, wide: float = 0.2) -> Row:
    mean, error = float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)
    near = abs(mean - stated) <= max(wide * stated, 3 * error)
    return Row(name, mean, stated, "of the side", near, f"± {error:.2g}; stated {stated:g}")


def _better(name: str, less: NDArray[Any], more: NDArray[Any]) -> Row:
    """Return how much less the first is on average, in standard errors of the difference."""
    difference = more - less
    error = float(difference.std(ddof=1) / len(difference) ** 0.5)
    sigmas = float(difference.mean()) / error
    ratio = float(less.mean() / more.mean())
    return Row(name, sigmas, -2.0, "s.e.", sigmas >= -2.0, f"ratio of the means {ratio:.2f}")


def run() -> list[Row]:
    """Measure all means; no row but one that says so where the data are not there."""
    path = Path(FOLDER) / FILE
    if not path.exists():
        return [Row(f"{FILE} is not beside the checkout", 0.0, None, "", None)]
    with open_checkins(path, cache_dir=None) as data:
        drawn = [
            (data.points(box, users=USERS, data_seed=trial), box)
            for box in busiest(data)
            for trial in range(TRIALS)
        ]
    samples = [aggregate(p.user, p.lat, p.lon, p.weight, box, LEVEL) for p, box in drawn]
    rows = []
    for k, epsilon in enumerate(EPSILONS):
        found = distances(samples, lambda c, seed, e=epsilon: maps(c, e, seed))
        rows += [_mean(f"{name}, ε = {epsilon:g}", v, TABLE[name][k]) for name, v in found.items()]
        fitted = found["depth cap + least squares"]
        for other in ("paper", "depth cap + LP", "Laplace"):
            rows.append(
                _better(f"least squares against {other}, ε = {epsilon:g}", fitted, found[other])
            )
    # One place each, so that whole counts lose nothing: errata heat-35.
    votes = [one_cell_each(p.user, p.lat, p.lon, p.weight, box, LEVEL) for p, box in drawn]

    def whole(counts: CellCounts, seed: int) -> dict[str, Map]:
        noise = unit_noise_grid(LEVEL, DemonstrationNoise(seed, "laplace"))
        return {
            "discrete Laplace": discrete_grid(counts, 10.0, noise),
            "paper": paper(counts, 10.0, seed),
            "Laplace": laplace_grid(counts, 10.0, noise),
        }

    found = distances(votes, whole)
    for name, stated in (("discrete Laplace", 0.0055), ("paper", 0.0318), ("Laplace", 0.1587)):
        mean = float(found[name].mean())
        note = f"stated {stated:g} on check-ins that are not named"
        rows.append(Row(f"whole counts, {name}, ε = 10", mean, None, "of the side", None, note))
    rows.append(
        _better(
            "whole counts: discrete Laplace against paper, ε = 10",
            found["discrete Laplace"],
            found["paper"],
        )
    )
    return rows
