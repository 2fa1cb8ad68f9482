"""Adapters for the vectors of differentially private heatmaps.

The vectors' grids are [a][b] with a the first coordinate: our row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.privacy.heatmaps import (
    Measurement,
    all_codes,
    cells_kept,
    compare,
    decode,
    descend,
    emd_norm,
    from_grid,
    kappa,
    nearest_nonnegative,
    pyramid_norm,
    reconstruct,
    schedule,
    smoothing,
    theory,
)
from explorer.privacy.heatmaps.evaluation import level_masses
from explorer.privacy.heatmaps.shuffle_parameters import communication
from explorer.privacy.noise.demonstration import (
    IntArray,
    discrete_laplace_pmf,
    gaussian_sigma,
    polya_pmf,
)

Grid = list[list[float]]


def eps_schedule(ell: int, eps: float, w: int, variant: str, gamma: float) -> dict[str, Any]:
    plan = schedule(eps, ell, w, {"exp": "experiments"}.get(variant, variant), gamma)
    return {"q": plan.q, "eps_i": plan.epsilon, "sum": sum(plan.epsilon)}


def pyramid(s: Grid) -> dict[str, Any]:
    counts = from_grid(s)
    levels = []
    for i in range(counts.level + 1):
        levels.append(2.0**-i * counts.at(i, all_codes(i)))
    assert np.allclose([level.sum() for level in levels], level_masses_scaled(np.array(s)))
    return {"levels_scaled": levels}


def level_masses_scaled(s: np.ndarray) -> list[float]:
    return [2.0**-i * mass for i, mass in enumerate(level_masses(s))]


def _descend(t: list[Grid], start: int, w: int) -> Measurement:
    grids = [np.array(grid, float) for grid in t]

    def read(level: int, cells: IntArray) -> np.ndarray:
        return grids[level - start][decode(cells)]

    return descend(read, start, start + len(grids) - 1, w)


def _cells(m: Measurement) -> list[list[list[int]]]:
    lists = []
    for codes, kept in zip(m.codes, m.selected, strict=True):
        row, column = decode(codes[kept])
        lists.append(sorted([int(a), int(b)] for a, b in zip(row, column, strict=True)))
    return lists


def select(t: list[Grid], start: int, w: int, ties: str) -> dict[str, Any]:
    return {"S": _cells(_descend(t, start, w))}


def reconstruct_(t: list[Grid], start: int, w: int, ties: str, note: str) -> dict[str, Any]:
    m = _descend(t, start, w)
    solution = reconstruct(m)
    masses = np.zeros((1 << start, 1 << start))
    masses[decode(m.codes[0])] = solution.masses[0]
    return {
        "objective": solution.objective(),
        "start_masses": masses,
        "S": _cells(m),
        "n_left_out": sum(int((~kept).sum()) for kept in m.selected),
    }


def heatmap(p: Grid, sigma: float) -> dict[str, Any]:
    return {"H": smoothing(len(p), sigma).exact(np.array(p))}


def metrics(true: Grid, est: Grid, kl: str) -> dict[str, Any]:
    result = compare(np.array(true), np.array(est))
    return {
        "sim": result.similarity,
        "pearson": result.pearson,
        "kl": result.kl,
        "tv": result.total_variation,
    }


def emd_norm_(z: Grid, alpha: float) -> dict[str, Any]:
    return {"norm": emd_norm(np.array(z), alpha), "pyramid_norm": pyramid_norm(np.array(z))}


def dense_agg(s_tilde: Grid, note: str) -> dict[str, Any]:
    objective, found = nearest_nonnegative(np.array(s_tilde))
    return {"objective": objective, "total": float(found.sum())}


def top_percent(Delta: int, percent: float, rule: str) -> dict[str, Any]:
    return {"kept": cells_kept(Delta, percent)}


def formulas(
    ell: int, eps: float, w: int, emd: float, sigma: float, k: int, n: int
) -> dict[str, Any]:
    similarity = float(theory.similarity_bound(emd, sigma).value)
    return {
        "kappa": [kappa(j, ell) for j in range(ell + 1)],
        "noise_term_bound_exp": theory.noise_term(schedule(eps, ell, w), w).value,
        "bound_kl": theory.kl_bound(emd, sigma).value,
        "bound_tv": 1 - similarity,
        "bound_sim": similarity,
        "lower_bound_sparse": theory.sparse_lower_printed(k, eps, n).value,
        "dense_level": theory.dense_level(eps, n),
        "dense_noise_bound": theory.dense_noise_term(eps, n).value,
    }


def kmedian(x: Grid, centers: Grid) -> dict[str, Any]:
    return {"cost": theory.median_cost(np.array(x), centers)}


def shuffle_bits(n: int, B: int, m: int, eps: float, delta: float, q: int) -> dict[str, Any]:
    sent = communication(n, m, q, eps, delta, printed=True)
    return {
        "q": q,
        "r": sent.shares,
        "m": m,
        "bits_per_user": sent.bits,
        "messages_per_user": sent.messages,
        "message_bits": sent.message_bits,
    }


def polya(r: float, p: float, k: list[int]) -> dict[str, Any]:
    return {
        "pmf": polya_pmf(k, r, p),
        "dlaplace_pmf": discrete_laplace_pmf(k, -1 / np.log(p)),
        "note": "n=1/r Polya differences sum to discrete Laplace",  # shown in test_noise_laws
    }


def gaussian(eps: float, delta: float, sensitivity: float) -> dict[str, Any]:
    return {"sigma": gaussian_sigma(eps, delta, sensitivity)}


ADAPTERS = {
    "formulas": formulas,
    "kmedian": kmedian,
    "shuffle_bits": shuffle_bits,
    "polya": polya,
    "gaussian_sigma": gaussian,
    "eps_schedule": eps_schedule,
    "pyramid": pyramid,
    "select": select,
    "reconstruct": reconstruct_,
    "heatmap": heatmap,
    "metrics": metrics,
    "emd_norm": emd_norm_,
    "dense_agg": dense_agg,
    "top_percent": top_percent,
}
