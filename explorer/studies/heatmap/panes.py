"""Keys of the maps that are shown side by side."""

from __future__ import annotations

from explorer.studies.base.study import Request
from explorer.studies.heatmap.mechanisms import MECHANISMS

TRUE, PRIVATE, DIFFERENCE, ERROR = "true", "private", "difference", "error"
OF_MECHANISM = "private:"
"""Before the key of a mechanism: the surface that it is drawn on beside the main private one."""
CENTRES, POINTS = "centres", "points"
MADE_BY = {POINTS: "planar-laplace"}
"""Panes that draw what a mechanism made otherwise than as a heatmap."""
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
OF_DRAWS = (ERROR, *QUANTILES)
"""Panes made of many draws of the chosen mechanism."""
MOST = 5
"""Panes beside the private one: six in all."""
CHOICES = (
    (TRUE, "True map"),
    *((m.key, m.label) for m in MECHANISMS.values()),
    (POINTS, "Noisy points, as points"),
    (CENTRES, "Centres (k-median)"),
    (DIFFERENCE, "Difference: private − true"),
    (ERROR, "Error per cell"),
    ("p10", "10th percentile of draws"),
    ("p50", "Median of draws"),
    ("p90", "90th percentile of draws"),
)


def beside(text: str) -> tuple[str, ...]:
    """Return what a value of the parameter ``beside`` names."""
    return tuple(filter(None, text.split(",")))


def surface_key(name: str) -> str:
    """Return the key of the surface of a pane that ``beside`` names."""
    return OF_MECHANISM + name if name in MECHANISMS else name


def pane_keys(text: str) -> tuple[str, ...]:
    """Return the keys of all surfaces, in the order of their panes: the true one comes first."""
    keys = [surface_key(name) for name in beside(text) if name != TRUE]
    return (*([TRUE] if TRUE in beside(text) else []), PRIVATE, *keys)


def is_private(key: str) -> bool:
    """Return whether a surface is made of a mechanism's map, and so is shown without the truth."""
    return is_map(key) or key in (CENTRES, POINTS)


def is_map(key: str) -> bool:
    """Return whether a surface is the heatmap of a mechanism."""
    return key == PRIVATE or key.startswith(OF_MECHANISM)


def drawn_by(request: Request, key: str) -> Request:
    """Return the request whose main private map is that surface, or what it is made of."""
    if key in MADE_BY:
        return request.with_value("mechanism", MADE_BY[key])
    if not key.startswith(OF_MECHANISM):
        return request
    return request.with_value("mechanism", key.removeprefix(OF_MECHANISM))


def mechanisms_shown(request: Request) -> tuple[str, ...]:
    """Return the keys of the mechanisms that run, the main one first."""
    names = (MADE_BY.get(name, name) for name in beside(request["beside"]))
    return tuple(dict.fromkeys([request["mechanism"], *(n for n in names if n in MECHANISMS)]))
