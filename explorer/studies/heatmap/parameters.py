"""Parameters of the heatmap study, and the surfaces of the maps that they show side by side."""

from __future__ import annotations

from dataclasses import replace

from explorer.studies.base.builders import choice, count, delta, epsilon, real, several
from explorer.studies.base.study import Request, Scale
from explorer.studies.heatmap.contributions import PARAMETERS as CONTRIBUTIONS
from explorer.studies.heatmap.mechanisms import MECHANISMS, using

TRUE, PRIVATE, DIFFERENCE, ERROR = "true", "private", "difference", "error"
OF_MECHANISM = "private:"
"""Before the key of a mechanism: the surface that it is drawn on beside the main private one."""
CENTRES, POINTS = "centres", "points"
MADE_BY = {POINTS: "planar-laplace"}
"""Panes that draw what a mechanism made otherwise than as a heatmap."""
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
OF_DRAWS = (ERROR, *QUANTILES)
"""Panes computed from many draws of the map's mechanism."""
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
    """Return the panes that a value of the parameter ``beside`` names."""
    return tuple(filter(None, text.split(",")))


def surface_key(name: str) -> str:
    """Return the key of the surface of a pane that ``beside`` names."""
    return OF_MECHANISM + name if name in MECHANISMS else name


def pane_keys(text: str) -> tuple[str, ...]:
    """Return the keys of all surfaces, in the order of their panes: the true one comes first."""
    keys = [surface_key(name) for name in beside(text) if name != TRUE]
    return (*([TRUE] if TRUE in beside(text) else []), PRIVATE, *keys)


def is_private(key: str) -> bool:
    """Return whether a surface is post-processing of a private map."""
    return is_map(key) or key in (CENTRES, POINTS)


def is_map(key: str) -> bool:
    """Return whether a surface is the heatmap of a mechanism."""
    return key == PRIVATE or key.startswith(OF_MECHANISM)


def request_of_surface(request: Request, key: str) -> Request:
    """Return the request whose main private map is that surface, or its source."""
    if key in MADE_BY:
        return request.with_value("mechanism", MADE_BY[key])
    if not key.startswith(OF_MECHANISM):
        return request
    return request.with_value("mechanism", key.removeprefix(OF_MECHANISM))


def mechanisms_shown(request: Request) -> tuple[str, ...]:
    """Return the keys of the mechanisms that run, the main one first."""
    names = (MADE_BY.get(name, name) for name in beside(request["beside"]))
    return tuple(dict.fromkeys([request["mechanism"], *(n for n in names if n in MECHANISMS)]))


_DECLARED = (
    epsilon(
        "privacy of the map",
        "How much the map may reveal about any one user, from all their check-ins together. "
        "Smaller is more private and noisier.",
        1.0,
        0.01,
        20.0,
        key="epsilon",
    ),
    choice(
        "mechanism",
        "M",
        "mechanism",
        "How noise is added: to cells that are split where noisy counts show people, to a "
        "pyramid of ever finer cells (the paper's way, or with a depth fixed beforehand), to "
        "the cells of one coarse level, or to every cell of the map.",
        next(iter(MECHANISMS)),
        tuple((m.key, m.label) for m in MECHANISMS.values()),
    ),
    count(
        "w",
        "w",
        "cells kept on a level",
        "How many cells are refined on every level. The start level is the finest with at most "
        "w cells; least squares refines them all and uses w for the start level alone. Costs no "
        "privacy, but must be chosen without looking at the data.",
        20,
        1,
        1024,
        unit="cells",
        relevant_when=(("mechanism", using("w")),),
    ),
    count(
        "n0",
        "n₀",
        "assumed number of users",
        "How many users one expects, which sets how deep the map is measured: ½ log₂(ε n₀) "
        "levels. Fix it before seeing the data: the data's own count would not be private. A "
        "wrong guess costs accuracy and no privacy. In shuffled mechanisms it is how many users "
        "are counted on to add their noise: with fewer there is less privacy.",
        200,
        1,
        100_000,
        unit="users",
        latex="n_0",
        relevant_when=(("mechanism", using("n0")),),
        relevant_also=(("one_cell", ("True",)), ("weights", ("one-cell",))),
    ),
    delta(
        1e-6,
        1e-15,
        relevant_when=(("mechanism", using("delta")),),
        help="Gaussian noise and shuffled mechanisms only: by how much the chance of any "
        "outcome may exceed what ε alone would allow. Smaller is more private.",
    ),
    choice(
        "resolution",
        "Δ",
        "resolution",
        "Cells on a side of the map.",
        "256",
        tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, 12)),
        latex=r"\Delta",
    ),
    real(
        "sigma",
        "σ",
        "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a fraction of the map's "
        "side. Costs no privacy.",
        0.02,
        0.0,
        0.2,
        Scale.LINEAR,
        unit="of the side",
        latex=r"\sigma",
    ),
    real(
        "top_percent",
        "t",
        "share of cells kept",
        "Top t % only: which share of the noisy cells stays, rounded up to at least one cell.",
        0.01,
        0.0001,
        100.0,
        unit="%",
        relevant_when=(("mechanism", using("top_percent")),),
    ),
    choice(
        "backend",
        "",
        "solver",
        "Linear programs only: the exact tree solver, or cvxpy with HiGHS as a reference "
        "(slower; the same objective but another of its many minimisers, usually a worse map).",
        "tree",
        (("tree", "Tree (exact, fast)"), ("cvxpy", "cvxpy (reference)")),
        relevant_when=(("mechanism", using("backend")),),
    ),
    choice(
        "variant",
        "",
        "budget schedule",
        "Pyramid only: how ε is split over the levels, as in the paper's experiments or as in "
        "its theorem.",
        "experiments",
        (("experiments", "As in the experiments"), ("theory", "As in Theorem 3.1")),
        relevant_when=(("mechanism", using("variant")),),
    ),
    *CONTRIBUTIONS,
    several(
        "beside",
        "maps beside the private one",
        "Maps shown beside the private one: the true map, further mechanisms at the same ε and "
        "with the same draw, the difference, how much each cell varies from draw to draw.",
        TRUE,
        CHOICES,
        MOST,
    ),
    count(
        "centres",
        "k",
        "centres",
        "How many centres are drawn for the private map, each user's mass going to the nearest. "
        "It costs no privacy, but must be chosen without looking at the data: chosen by the true "
        "cost it is not private.",
        5,
        1,
        30,
        Scale.LINEAR,
        relevant_when=(("mechanism", (CENTRES,)),),
    ),
    *(
        replace(own, relevant_when=(*own.relevant_when, ("mechanism", names)))
        for mechanism in MECHANISMS.values()
        for own in mechanism.parameters
        for keys in [dict.fromkeys((mechanism.key, *using(own.key)))]
        for names in [(*keys, *(pane for pane, m in MADE_BY.items() if m in keys))]
    ),
)
PARAMETERS = tuple(
    # What only some mechanisms use matters where one of them stands beside the main one, too.
    replace(p, more_values=(("mechanism", "beside"),)) if p.relevant_when else p
    for p in _DECLARED
)
