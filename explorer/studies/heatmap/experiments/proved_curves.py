"""Proved bounds on the error of a mechanism, and curves of them against ε.

The table of `explorer.studies.heatmap.mechanisms` names the bounds. Each bounds from above the
expected earth mover's distance between the map before the blur and the true one, in the unit
square, for any data of so many users; those that need few cells with mass are in `FEW_CELLS`. The
blur increases no distance between maps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound
from explorer.privacy.heatmaps import depth_cap, level_of, schedule, start_level, theory
from explorer.privacy.heatmaps.theory import DIAMETER, kl_bound, similarity_bound
from explorer.studies.base.study import Request
from explorer.studies.heatmap.experiments.error_curves import Axis, ErrorCurve, compared, reading
from explorer.studies.heatmap.experiments.statistics import QUANTILES
from explorer.studies.heatmap.mechanisms import MECHANISMS

PROVED_EPSILONS = tuple(
    dict.fromkeys(float(f"{x:.3g}") for x in np.geomspace(0.05, 20.0, 241).tolist())
)
"""Every ε that an answer can name."""


def proved_curves(
    request: Request, axis: Axis, measure: str, sides_km: tuple[float, float] | None
) -> tuple[ErrorCurve, ...]:
    """Return bounds on the mean over draws, for every mechanism that has one, and empty curves.

    Parameters
    ----------
    request : Request
        Its n₀ stands for the users there are, but where they are on the axis.
    axis : Axis
        One with ε on it is computed at `PROVED_EPSILONS`.
    measure : str
        A key of `explorer.studies.heatmap.experiments.error_curves.MEASURES`.
    sides_km : (width, height) or None

    Returns
    -------
    tuple of ErrorCurve
        Upper bounds on a mean error, lower ones on a mean similarity: `mean`. NaN where nothing is
        proved: other mechanisms, bounds that no map exceeds, the Pearson correlation, kilometres
        where there are none, a blur of 0 for similarity and KL divergence.
    """
    if axis.key == "epsilon":
        axis = replace(axis, values=PROVED_EPSILONS)
    able = reading(axis, (key for key, mechanism in MECHANISMS.items() if mechanism.proved))
    keys = dict.fromkeys((*compared(request["mechanism"], axis), *able))
    return tuple(_curve(key, request, axis, measure, sides_km) for key in keys)


def _curve(mechanism: str, request: Request, axis: Axis, measure: str, sides_km: Any) -> ErrorCurve:
    bound, fixed = MECHANISMS[mechanism].proved, dict(request.values)
    found = []
    for x in axis.values if bound else ():
        users = x if axis.key == "users" else fixed["n0"]
        values = fixed if axis.key == "users" else {**fixed, axis.key: x}
        emd = float(resolve_name(bound)(values, users).value)
        found.append(_measured(measure, emd, float(values["sigma"]), sides_km))
    mean = np.array(found) if bound else np.full(len(axis.values), np.nan)
    x = np.array([float(value) for value in axis.values])
    none = np.full((len(QUANTILES), len(x)), np.nan)
    return ErrorCurve(mechanism, x, (0,) * len(x), mean, mean, mean, none, proved=True)


def _measured(measure: str, emd: float, sigma: float, sides_km: Any) -> float:
    """Return what a bound on the mean distance says of the mean of a measure; NaN for nothing.

    √ is concave: a lower bound of the mean similarity stays one.
    """
    if emd >= DIAMETER:
        return math.nan
    if measure == "emd_km" and sides_km is not None:
        return float(emd * max(sides_km))
    if measure in ("kl", "similarity") and sigma > 0:
        return float((kl_bound if measure == "kl" else similarity_bound)(emd, sigma).value)
    return emd if measure == "emd" else math.nan


Values = Mapping[str, Any]


def pyramid(values: Values, users: float) -> Bound:
    """Bound the paper's algorithm (`theory.sparse_error_bound`)."""
    level, w = level_of(int(values["resolution"])), values["w"]
    plan = schedule(values["epsilon"], level, w, values["variant"])
    return theory.sparse_error_bound(plan, w, users)


def capped(values: Values, users: float) -> Bound:
    """Bound it down to the level that n₀ allows, flat cells below counted in."""
    epsilon, w = values["epsilon"], values["w"]
    level = level_of(int(values["resolution"]))
    last = depth_cap(epsilon, values["n0"], start_level(w, level), level)
    return theory.sparse_error_bound(schedule(epsilon, level, w, last=last), w, users)


def dense(values: Values, users: float) -> Bound:
    """Bound dense aggregation, on any map (`theory.dense_error_bound`)."""
    level = level_of(int(values["resolution"]))
    return theory.dense_error_bound(values["epsilon"], values["n0"], users, level)


FEW_CELLS = tuple(f"{__name__}:{bound.__name__}" for bound in (pyramid, capped))
"""Those, by name, that hold for maps with mass in at most w cells."""
