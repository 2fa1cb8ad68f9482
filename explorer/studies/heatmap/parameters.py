"""Parameters of the heatmap study."""

from __future__ import annotations

from dataclasses import replace

from explorer.studies.base.builders import choice, count, delta, epsilon, real, several
from explorer.studies.base.study import Scale
from explorer.studies.heatmap.contributions import PARAMETERS as CONTRIBUTIONS
from explorer.studies.heatmap.mechanisms import MECHANISMS, using
from explorer.studies.heatmap.panes import CENTRES, CHOICES, MADE_BY, MOST, TRUE

_DECLARED = (
    epsilon(
        "privacy of the map",
        "How much the map may say about any one user, for all their check-ins together. "
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
        for names in [(mechanism.key, *(pane for pane, m in MADE_BY.items() if m == mechanism.key))]
        for own in mechanism.parameters
    ),
)
PARAMETERS = tuple(
    # What only some mechanisms use matters where one of them stands beside the main one, too.
    replace(p, more_values=(("mechanism", "beside"),)) if p.relevant_when else p
    for p in _DECLARED
)
