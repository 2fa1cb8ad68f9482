"""Adapters for the vectors of the adaptive quadtree and of what is said about its maps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import (
    IntegerCounts,
    adaptive_budgets,
    adaptive_budgets_exact,
    adaptive_tree,
    adaptive_tree_exact,
    all_codes,
    fit_adaptive,
    flatness_statistic,
    from_grid,
    loss_statistics,
    smooth_stopped_cells,
    too_noisy_threshold,
    transcript_loss,
    upper_rank,
)

Grid = list[list[float]]
Noise = dict[str, list[list[float]]]


def budgets(eps: float, q: int, last: int, share: Any) -> dict[str, Any]:
    found = adaptive_budgets(eps, q, last, share)
    return {"spent": found.spent, "left": found.left}


def budgets_exact(eps: str, q: int, last: int, share: list[int]) -> dict[str, Any]:
    found = adaptive_budgets_exact(Fraction(eps), q, last, Fraction(*share))
    units = found.epsilon * 2**40
    assert units.denominator == 1
    return {"units": int(units), "spent": found.spent, "left": found.left}


def integers(grid: Grid, resolution: int) -> IntegerCounts:
    masses = np.empty(np.size(grid), np.int64)
    masses[all_codes(len(grid).bit_length() - 1).ravel()] = np.array(grid).ravel()
    codes = np.flatnonzero(masses)
    users = -(-int(masses.sum()) // resolution)
    return IntegerCounts(len(grid).bit_length() - 1, codes, masses[codes], users, resolution)


def tree(
    level: int,
    q: int,
    last: int,
    eps: float,
    share: Any,
    tau: float,
    counts: Grid,
    noise: Noise,
) -> dict[str, Any]:
    drawn = {int(i): np.array(both) for i, both in noise.items()}
    last = min(last, level)
    q = min(q, last)
    found = adaptive_tree(
        from_grid(np.array(counts)),
        adaptive_budgets(eps, q, last, share),
        lambda i, draw, cells: drawn[i][draw][cells],
        tau,
    )
    fitted = fit_adaptive(found, level)
    by_level = {str(q + k): visited for k, visited in enumerate(found.levels)}
    return {
        "visited": {i: visited.codes for i, visited in by_level.items()},
        "split": {i: visited.codes[visited.split] for i, visited in by_level.items()},
        "count": {i: visited.counts for i, visited in by_level.items()},
        "variance": {i: visited.variances for i, visited in by_level.items()},
        "fitted_total": fitted.total,
        "map": fitted.flat(),
    }


def tree_exact(
    level: int,
    q: int,
    last: int,
    eps: str,
    share: list[int],
    tau: str,
    resolution: int,
    counts: Grid,
    noise: Noise,
) -> dict[str, Any]:
    drawn = {int(i): [np.array(one, object) for one in both] for i, both in noise.items()}
    last = min(last, level)
    q = min(q, last)
    found = adaptive_tree_exact(
        integers(counts, resolution),
        adaptive_budgets_exact(Fraction(eps), q, last, Fraction(*share)),
        lambda i, draw, cells, _: drawn[i][draw][cells],
        float(Fraction(tau)),
    )
    return {
        "noisy": found.noisy,
        "split": [
            [q + k, code]
            for k, visited in enumerate(found.tree.levels)
            for code in visited.codes[visited.split].tolist()
        ],
        "map": fit_adaptive(found.tree, level).flat(),
    }


def loss_of_transcript(
    level: int,
    q: int,
    last: int,
    eps: str,
    share: list[int],
    resolution: int,
    counts: Grid,
    neighbour: Grid,
    noisy: list[tuple[int, int, int, int]],
) -> dict[str, Any]:
    loss = transcript_loss(
        noisy,
        integers(counts, resolution),
        integers(neighbour, resolution),
        adaptive_budgets_exact(Fraction(eps), q, last, Fraction(*share)),
    )
    return {"loss": float(loss)}


def smoothed(level: int, stopped: list[list[int]], map: Grid) -> dict[str, Any]:
    levels, codes = np.array(stopped).T
    return {"map": smooth_stopped_cells(np.array(map), levels, codes)}


def loss(truth: Grid, estimate: Grid, width_km: float, height_km: float) -> dict[str, Any]:
    found = loss_statistics(np.array(truth), np.array(estimate), width_km, height_km)
    return {
        "wrong_share_by_level": found.wrong_shares,
        "level": found.level,
        "square_km": found.square_km,
        "wrong_share": found.wrong_share,
        "block_emd_km": found.emd_km,
        "mean_km": found.mean_km,
    }


def too_noisy(draws: int, tolerated: str, false_alarm: str) -> dict[str, Any]:
    least, attained = too_noisy_threshold(draws, Fraction(tolerated), Fraction(false_alarm))
    return {"worse_at_least": least, "attained": attained}


ADAPTERS = {
    "adaptive_budgets": budgets,
    "adaptive_budgets_exact": budgets_exact,
    "adaptive_tree": tree,
    "adaptive_tree_exact": tree_exact,
    "smooth_stopped_cells": smoothed,
    "transcript_loss": loss_of_transcript,
    "upper_rank": lambda draws, quantile, confidence: {
        "rank": upper_rank(draws, Fraction(quantile), Fraction(confidence))
    },
    "loss_statistics": loss,
    "too_noisy_threshold": too_noisy,
    "flatness_statistic": lambda start_counts, eps_start: {
        "statistic": flatness_statistic(start_counts, eps_start)
    },
}
