"""Adapters for the vectors of maps made of an adaptive quadtree and public priors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import (
    AdaptiveTree,
    adaptive_budgets,
    adaptive_budgets_exact,
    adaptive_tree,
    all_codes,
    from_grid,
    prior_densities,
    prior_family,
    prior_interpolated_shares,
    prior_map,
    prior_weights,
)
from explorer.privacy.heatmaps.adaptive_quadtree import tree_of_readings
from explorer.privacy.heatmaps.public_prior import base_weights, forget

Grid = list[list[float]]
Noise = dict[str, list[list[float]]]


def shares(level: int, masses: list[float]) -> dict[str, Any]:
    found = prior_interpolated_shares(np.array(masses)[all_codes(level)])
    by_code = np.empty(found.size)
    by_code[all_codes(level + 1)] = found
    return {"shares": by_code.reshape(-1, 4)}


def densities(level: int, q: int, priors: list[Grid]) -> dict[str, Any]:
    found = prior_densities(priors, level, q)
    information = np.transpose(found.information)
    return {
        "densities": found.densities,
        "information": [{str(q + k): g for k, g in enumerate(of)} for of in information],
    }


def family(**arguments: Any) -> dict[str, Any]:
    found = prior_family(**arguments)
    return {"mean": found.mean, "log_evidence": float(found.log_evidence)}


def weights(
    densities: int,
    log_evidence: list[list[float]],
    reliability: list[float],
    information: list[float],
) -> dict[str, Any]:
    before = forget(np.array(reliability), base_weights(densities))
    found = prior_weights(log_evidence, before, information)
    return {
        "reliability": found.reliability,
        "level_weights": found.level,
        "family_weights": found.families.T,
    }


def of_tree(tree: AdaptiveTree, level: int, priors: list[Grid]) -> dict[str, Any]:
    found = prior_map(tree, prior_densities(priors, level, tree.start))
    return {
        "fitted_total": found.total,
        "level_weights": {str(i): weights for i, weights in found.level_weights.items()},
        "map": found.grid,
    }


def of_counts(
    level: int,
    q: int,
    last: int,
    eps: float,
    share: Any,
    tau: float,
    counts: Grid,
    noise: Noise,
    priors: list[Grid],
) -> dict[str, Any]:
    drawn = {int(i): np.array(both) for i, both in noise.items()}
    tree = adaptive_tree(
        from_grid(np.array(counts)),
        adaptive_budgets(eps, q, last, share),
        lambda i, draw, cells: drawn[i][draw][cells],
        tau,
    )
    return of_tree(tree, level, priors)


def of_readings(
    level: int,
    q: int,
    last: int,
    eps: str,
    share: list[int],
    resolution: int,
    readings: list[tuple[int, int, int, int]],
    priors: list[Grid],
) -> dict[str, Any]:
    budgets = adaptive_budgets_exact(Fraction(eps), q, last, Fraction(*share))
    return of_tree(tree_of_readings(readings, budgets, resolution), level, priors)


ADAPTERS = {
    "prior_interpolated_shares": shares,
    "prior_densities": densities,
    "prior_family": family,
    "prior_weights": weights,
    "prior_map": of_counts,
    "prior_map_of_readings": of_readings,
}
