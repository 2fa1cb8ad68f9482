"""All measures of how near a heatmap is to the true one. Computed from raw data: curator only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from explorer.privacy.heatmaps.evaluation.loss import block_sums
from explorer.privacy.heatmaps.evaluation.metrics import compare, normalise
from explorer.privacy.transport.grid import grid_emd

BLOCKS = 64
"""Distances are those of 64 × 64 block sums: exact within milliseconds whatever Δ is."""


@dataclass(frozen=True, slots=True)
class Quality:
    """One map against the truth.

    Attributes
    ----------
    emd : float
        Earth mover's distance of the block sums under ℓ1 in the unit square.
    emd_km : float or None
        The same under |Δx| + |Δy| in kilometres; None if no sides were given.
    similarity, pearson, kl : float
        Of the maps themselves: `explorer.privacy.heatmaps.evaluation.metrics.Metrics`.
    """

    emd: float
    emd_km: float | None
    similarity: float
    pearson: float
    kl: float


def map_quality(
    truth: NDArray[Any],
    estimate: NDArray[Any],
    sides_km: tuple[float, float] | None = None,
    blocks: int = BLOCKS,
) -> Quality:
    """Return every measure of a heatmap's nearness to the true one.

    The distances are solved exactly and compile on the first call: run it in another process. Those
    of block sums are neither an upper nor a lower bound of the maps' own.

    Parameters
    ----------
    truth, estimate : array, shape (2^ℓ, 2^ℓ)
        Heatmaps with some mass and no negative one; each is normalised here.
    sides_km : (width, height), optional
        > 0. A distance in kilometres takes three to five times as long as one in the unit square.
    blocks : int
        A power of two; at most Δ are made.

    Raises
    ------
    ValueError
        If shapes differ or a map has no mass or a negative one.
    """
    found = compare(truth, estimate)
    squares = min(blocks, len(truth))
    p, q = (block_sums(normalise(grid), squares) for grid in (truth, estimate))
    kilometres = None
    if sides_km is not None:
        kilometres = grid_emd(p, q, *(side / squares for side in sides_km)).value
    return Quality(grid_emd(p, q).value, kilometres, found.similarity, found.pearson, found.kl)
