"""What can be set and plotted in the theory of heatmaps."""

from __future__ import annotations

from explorer.studies.base.study import Kind, Parameter, Quantity, Scale

DEEPEST = 11
"""ℓ of the finest map offered."""
SQUARE, SALICON = "square", "salicon"
SALICON_CELLS = 102_408
"""m of the paper's 320 × 240 pictures, halved with ceiling (errata 6)."""
_SIMULATED = (("simulate", ("True",)),)
_PYRAMID = ("error", "split", "bits", "missing")
_SHUFFLED = ("bits", "missing")

PARAMETERS = (
    Parameter(
        "epsilon", "ε", "privacy of the map",
        "How much the map may say about any one user, for all their check-ins together. Smaller "
        "is more private and noisier.",
        Kind.REAL, 1.0, 0.01, 20.0, Scale.LOG, more_private="low", latex=r"\varepsilon",
        quantities=_PYRAMID,
    ),
    Parameter(
        "n", "n", "users", "How many users the map is made of. Each is as private with few as "
        "with many; the map gets better with more.",
        Kind.INTEGER, 100_000, 1, 1_000_000_000, Scale.LOG, unit="users",
        quantities=("error", "split", "bits"),
    ),
    Parameter(
        "k", "k", "cells with mass",
        "Sparsity: in at most how many cells the users are. The pyramid keeps as many, w = k. "
        "Costs no privacy if it is chosen without looking at the data.",
        Kind.INTEGER, 20, 1, 1_000_000, Scale.LOG, unit="cells",
        quantities=("error", "split", "missing"),
    ),
    Parameter(
        "resolution", "Δ", "resolution", "Cells on a side of the map.",
        Kind.CHOICE, "256", latex=r"\Delta",
        choices=tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, DEEPEST + 1)),
        quantities=_PYRAMID,
    ),
    Parameter(
        "guess", "n₀/n", "guess of the number of users",
        "How far off the number of users is that was fixed beforehand, and that sets how deep the "
        "capped pyramid and dense aggregation measure: 1 is a lucky guess. It must not be computed "
        "from the data.",
        Kind.REAL, 1.0, 0.01, 100.0, Scale.LOG, latex=r"n_0/n", quantities=("error", "split"),
    ),
    Parameter(
        "emd", "EMD", "distance of the maps",
        "Earth mover's distance of true and private map before blurring, as a part of the side. "
        "It says nothing about privacy.",
        Kind.REAL, 0.05, 1e-6, 2.0, Scale.LOG, unit="of the side", quantities=("kl", "similarity"),
    ),
    Parameter(
        "sigma", "σ", "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a part of the side. Costs "
        "no privacy.",
        Kind.REAL, 0.1, 0.005, 0.5, Scale.LOG, unit="of the side", latex=r"\sigma",
        quantities=("kl", "similarity"),
    ),
    Parameter(
        "B", "B", "units a user",
        "Shuffle model: into how many whole units a user's distribution is rounded. More is more "
        "accurate and takes more communication; privacy is the same.",
        Kind.INTEGER, 256, 1, 1 << 30, Scale.LOG, unit="units", quantities=_SHUFFLED,
    ),
    Parameter(
        "delta", "δ", "failure probability",
        "Shuffle model: with what probability the guarantee may fail. Smaller is more private and "
        "takes more messages.",
        Kind.REAL, 1e-5, 1e-30, 0.1, Scale.LOG, more_private="low", latex=r"\delta",
        quantities=("bits",),
    ),
    Parameter(
        "pyramid", "", "what is sent",
        "Shuffle model: the cells of all levels of the square map, or of the 320 × 240 pictures of "
        "the paper's Figure 12.",
        Kind.CHOICE, SQUARE,
        choices=(
            (SQUARE, "all levels of the Δ × Δ map"),
            (SALICON, "320 × 240 picture, m = 102,408"),
        ),
        quantities=("bits",),
    ),
    Parameter(
        "missing", "φ", "noise that is missing",
        "Shuffle model: which part of the users who promised their share of the noise fail to add "
        "it. Less missing is more private.",
        Kind.REAL, 0.1, 0.0, 0.99, Scale.LINEAR, unit="of nₘᵢₙ", more_private="low",
        latex=r"\varphi", quantities=("missing",),
    ),
    Parameter(
        "i", "i", "level", "Level of the pyramid: its cells have the side 2⁻ⁱ.",
        Kind.INTEGER, 0, 0, DEEPEST, Scale.LINEAR, axis_only=True, quantities=("split",),
    ),
    Parameter(
        "simulate", "", "simulate",
        "Run the algorithms on maps with k random cells and mark the errors found.",
        Kind.FLAG, False, group="simulation", quantities=("error",),
    ),
    Parameter(
        "trials", "", "trials", "How often each algorithm is run at each point of the simulation.",
        Kind.INTEGER, 10, 2, 200, Scale.LOG, group="simulation", quantities=("error",),
        relevant_when=_SIMULATED,
    ),
)  # fmt: skip

QUANTITIES = (
    Quantity(
        "error", "EMD", "expected error of the map", ("n", "epsilon", "k", "guess"),
        unit="of the side", scale=Scale.LOG,
    ),
    Quantity(
        "split", "εᵢ", "privacy spent on each level", ("i",), latex=r"\varepsilon_i",
    ),
    Quantity(
        "kl", "KL", "divergence of the heatmaps", ("emd", "sigma"), unit="nats", scale=Scale.LOG,
    ),
    Quantity("similarity", "SIM", "similarity of the heatmaps", ("emd", "sigma")),
    Quantity(
        "bits", "", "communication of a user", ("B", "n", "epsilon", "delta"), unit="MB",
        scale=Scale.LOG,
    ),
    Quantity(
        "missing", "ε", "level when noise is missing", ("missing", "B", "epsilon"),
        scale=Scale.LOG, latex=r"\varepsilon",
    ),
)  # fmt: skip
