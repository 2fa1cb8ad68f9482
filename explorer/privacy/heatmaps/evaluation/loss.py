"""What a private map loses, in plain words. Computed from raw data: curator only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.heatmaps.evaluation.metrics import level_masses, normalise
from explorer.privacy.heatmaps.pyramid.morton import level_of
from explorer.privacy.transport.grid import grid_emd

MOST_WRONG = 0.25
"""The sentence speaks of the finest squares of which at most this share of the mass is wrong."""


@dataclass(frozen=True, slots=True)
class LossStatistics:
    """How much mass lies in the wrong squares, and how far away on average.

    Attributes
    ----------
    wrong_shares : tuple of float
        TV_i of levels 0..: the least share of the mass that must change its square of level i.
    level : int
        i*, the finest level ≥ 1 with TV_i ≤ ¼, or 1.
    square_km : (float, float)
        Width and height of its squares.
    wrong_share : float
        x: TV of that level, in [0, 1].
    emd_km : float
        E: earth mover's distance of the sums over those squares.
    mean_km : float
        y = E/x: how far what is wrong lies off on average, by any optimal plan; 0 if nothing is.
    """

    wrong_shares: tuple[float, ...]
    level: int
    square_km: tuple[float, float]
    wrong_share: float
    emd_km: float
    mean_km: float


def loss_statistics(
    truth: NDArray[Any],
    estimate: NDArray[Any],
    width_km: float,
    height_km: float,
    finest: int | None = None,
    emd_km: float | None = None,
) -> LossStatistics:
    """Return how much of a map's mass lies elsewhere, and how far.

    The distance of the sums over squares is solved exactly and compiles on the first call: run it
    in another process.

    Parameters
    ----------
    truth, estimate : array, shape (2^ℓ, 2^ℓ)
        Heatmaps; each is normalised here.
    width_km, height_km : float
        Sides of the map, > 0.
    finest : int, optional
        Deepest level to speak of, in 1..ℓ; ℓ if left out. At level 6 the distance takes some tens
        of milliseconds, at level 8 more than half a second.
    emd_km : float, optional
        Earth mover's distance of the maps themselves, under the same sides, where it is known: it
        is not solved for again then, should ℓ be the level to speak of.

    Raises
    ------
    ValueError
        If a map has no mass or a negative one, shapes differ, or the side is below 2 or no power
        of two.
    """
    p, q = normalise(truth, "truth"), normalise(estimate, "estimate")
    if p.shape != q.shape or p.ndim != 2 or p.shape[0] != p.shape[1] or len(p) < 2:
        raise ValueError(f"estimate: shapes {p.shape} and {q.shape} are not one (2^ℓ, 2^ℓ), ℓ ≥ 1")
    deepest = level_of(len(p), "truth")
    finest = deepest if finest is None else int(checks.whole("finest", finest, 1, deepest))
    shares = tuple(mass / 2 for mass in level_masses(p - q)[: finest + 1])
    level = max((i for i in range(1, finest + 1) if shares[i] <= MOST_WRONG), default=1)
    squares = 1 << level
    step_x, step_y = width_km / squares, height_km / squares
    if level == deepest and emd_km is not None:
        distance = emd_km
    else:
        distance = grid_emd(block_sums(p, squares), block_sums(q, squares), step_x, step_y).value
    wrong = shares[level]
    mean = distance / wrong if wrong > 0 else 0.0
    return LossStatistics(shares, level, (step_x, step_y), wrong, distance, mean)


def block_sums(grid: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """Return the sums of blocks × blocks equal squares of a square grid; a coarser one as it is."""
    blocks = min(blocks, len(grid))
    size = len(grid) // blocks
    summed: NDArray[np.float64] = grid.reshape(blocks, size, blocks, size).sum(axis=(1, 3))
    return summed
