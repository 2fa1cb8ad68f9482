"""Questions for a walk: coarse and small, so that all of them together take minutes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from explorer.studies.base.study import (
    Kind,
    Parameter,
    Request,
    Study,
    Value,
    default_request,
    default_sweep,
    parameter,
    quantity,
)
from tests.studies.walking import needed

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
"""Whether every quantity is asked for at every place of every parameter, as the thorough profile
asks; else each parameter is walked through with one quantity it matters for."""
POINTS = 25 if THOROUGH else 3
STEPS = 9 if THOROUGH else 3
SMALL = {
    "heatmap": {"resolution": "16"},
    "cldp-sgd": {"epochs": 1, "n": 500, "k": 50},
    "private-regression": {"n": 500},
}
"""Values with which a study that draws maps or trains for real answers soon."""


def small(study: Study) -> dict[str, Value]:
    """Return values that keep a study's simulations and maps small; none in a thorough walk."""
    if THOROUGH:
        return {}
    runs = {
        p.key: p.clamp(p.low) for p in study.parameters if p.group == "simulation" and p.numeric
    }
    return {**runs, **SMALL.get(study.id, {})}


def asked(
    study: Study, what: str = "", sweep: str = "", points: int = POINTS, **values: Value
) -> Request:
    """Return the question for a quantity over one of its axes, with few points."""
    request = default_request(study, **{**small(study), **values})
    if not study.quantities:
        return request
    shown = quantity(study, what or study.quantities[0].key)
    over = default_sweep(study, sweep or shown.sweeps[0], points)
    return replace(request, quantity=shown.key, sweep=over)


def places(p: Parameter, steps: int = STEPS) -> list[Value]:
    """Return both ends of a parameter and what is between, in no order of size: ends first.

    In a walk that is not thorough one end, and the last and the first choice.
    """
    if p.numeric:
        found = [p.clamp(float(f"{x:.4g}")) for x in p.grid(p.low, p.high, steps)]
        ends = [p.clamp(p.low), p.clamp(p.high)]
        if not THOROUGH:  # all places are asked for without a window, in tests/studies
            return ends[len(p.key) % 2 :][:1]
        return list(dict.fromkeys([*ends, *found[1:-1]]))
    if p.kind is Kind.CHOICE:
        values = [value for value, _ in p.choices]
        return values if THOROUGH else list(dict.fromkeys([values[-1], values[0]]))
    return {Kind.FLAG: [True, False], Kind.TABLE: [p.default]}.get(p.kind, [""])


def stages(study: Study, p: Parameter) -> Iterator[Request]:
    """Yield questions for which a parameter matters and is not on the x axis (if that can be)."""
    values = needed(study, p)
    if not study.quantities:
        yield asked(study, **values)
        return
    there = [q for q in study.quantities if not p.quantities or q.key in p.quantities]
    for what in there if THOROUGH else there[:1]:
        free = [s for s in what.sweeps if s != p.key and p.key not in parameter(study, s).replaces]
        yield asked(study, what.key, (free or list(what.sweeps))[0], **values)
