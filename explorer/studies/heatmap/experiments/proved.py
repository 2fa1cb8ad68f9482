"""What is proved of a mechanism's error before anybody looks at data.

The table of `explorer.studies.heatmap.mechanisms` names these functions. Each bounds from above the
expected earth mover's distance between the map before the blur and the true one, in the unit
square, for so many users whatever they did: those that need few cells with mass say so in
`FEW_CELLS`. The blur takes no two maps further apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.privacy.core.bound import Bound
from explorer.privacy.heatmaps import depth_cap, level_of, schedule, start_level, theory

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
