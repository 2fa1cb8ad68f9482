"""What can be set in the heatmap study."""

from __future__ import annotations

from dataclasses import replace

from explorer.studies.base.study import Kind, Parameter, Scale
from explorer.studies.heatmap.mechanisms import MECHANISMS, using

PARAMETERS = (
    Parameter(
        "epsilon", "ε", "privacy of the map",
        "How much the map may say about any one user, for all their check-ins together. "
        "Smaller is more private and noisier.",
        Kind.REAL, 1.0, 0.01, 20.0, Scale.LOG, more_private="low", latex=r"\varepsilon",
    ),
    Parameter(
        "mechanism", "M", "mechanism",
        "How noise is added: to a pyramid of ever finer cells (the paper's way, or with a depth "
        "fixed beforehand), to the cells of one coarse level, or to every cell of the map.",
        Kind.CHOICE, next(iter(MECHANISMS)),
        choices=tuple((m.key, m.label) for m in MECHANISMS.values()),
    ),
    Parameter(
        "w", "w", "cells kept on a level",
        "How many cells are refined on every level. The start level is the finest with at most w "
        "cells; least squares refines them all and uses w for the start level alone. Costs no "
        "privacy, but must be chosen without looking at the data.",
        Kind.INTEGER, 20, 1, 1024, Scale.LOG, unit="cells",
        relevant_when=(("mechanism", using("w")),),
    ),
    Parameter(
        "n0", "n₀", "assumed number of users",
        "How many users one expects, which sets how deep the map is measured: ½ log₂(ε n₀) levels. "
        "Fix it before seeing the data: the data's own count would not be private. A wrong guess "
        "costs accuracy and no privacy.",
        Kind.INTEGER, 200, 1, 100_000, Scale.LOG, unit="users", latex="n_0",
        relevant_when=(("mechanism", using("n0")),),
    ),
    Parameter(
        "delta", "δ", "failure probability",
        "Gaussian noise only: by how much the chance of any outcome may exceed what ε alone would "
        "allow. Smaller is more private.",
        Kind.REAL, 1e-6, 1e-15, 0.1, Scale.LOG, more_private="low", latex=r"\delta",
        relevant_when=(("mechanism", using("delta")),),
    ),
    Parameter(
        "resolution", "Δ", "resolution", "Cells on a side of the map.",
        Kind.CHOICE, "256", latex=r"\Delta",
        choices=tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, 12)),
    ),
    Parameter(
        "sigma", "σ", "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a fraction of the map's "
        "side. Costs no privacy.",
        Kind.REAL, 0.02, 0.0, 0.2, Scale.LINEAR, unit="of the side", latex=r"\sigma",
    ),
    Parameter(
        "top_percent", "t", "share of cells kept",
        "Top t % only: which share of the noisy cells stays, rounded up to at least one cell.",
        Kind.REAL, 0.01, 0.0001, 100.0, Scale.LOG, unit="%",
        relevant_when=(("mechanism", using("top_percent")),),
    ),
    Parameter(
        "backend", "", "solver",
        "Linear programs only: the exact tree solver, or cvxpy with HiGHS as a reference (slower; "
        "the same objective but another of its many minimisers, usually a worse map).",
        Kind.CHOICE, "tree",
        choices=(("tree", "Tree (exact, fast)"), ("cvxpy", "cvxpy (reference)")),
        relevant_when=(("mechanism", using("backend")),),
    ),
    Parameter(
        "variant", "", "budget schedule",
        "Pyramid only: how ε is split over the levels, as in the paper's experiments or as in "
        "its theorem.",
        Kind.CHOICE, "experiments",
        choices=(("experiments", "As in the experiments"), ("theory", "As in Theorem 3.1")),
        relevant_when=(("mechanism", using("variant")),),
    ),
    *(
        replace(own, relevant_when=(*own.relevant_when, ("mechanism", (mechanism.key,))))
        for mechanism in MECHANISMS.values()
        for own in mechanism.parameters
    ),
)  # fmt: skip
