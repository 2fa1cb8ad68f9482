"""What can be set and plotted in the theory of heatmaps."""

import math

from explorer.studies.base.builders import choice, count, delta, epsilon, real, simulate, trials
from explorer.studies.base.study import Quantity, Scale, Statistic
from explorer.studies.heatmap.mechanisms import MECHANISMS

DEEPEST = 11
"""ℓ of the finest map offered."""
SQUARE, SALICON = "square", "salicon"
SALICON_CELLS: int = sum(math.ceil(320 / 2**i) * math.ceil(240 / 2**i) for i in range(10))
"""m of the paper's 320 × 240 pictures: all levels, sides halved with ceiling (errata heat-6)."""
COUNTS = "counts"
_SIMULATED = (("simulate", ("True",)),)
_PYRAMID = ("error", "split", "bits", "missing")
_SHUFFLED = ("bits", "missing")

PARAMETERS = (
    epsilon(
        "privacy of the map",
        "How much the map may say about any one user, for all their check-ins together. "
        "Smaller is more private and noisier.",
        1.0,
        0.01,
        20.0,
        key="epsilon",
        quantities=_PYRAMID,
    ),
    count(
        "n",
        "n",
        "users",
        "How many users the map is made of. Each is as private with few as with many; the map "
        "gets better with more.",
        100_000,
        1,
        1_000_000_000,
        unit="users",
        quantities=("error", "split", "bits"),
    ),
    count(
        "k",
        "k",
        "cells with mass",
        "Sparsity: in at most how many cells the users are. The pyramid keeps as many, w = k. "
        "Costs no privacy if it is chosen without looking at the data.",
        20,
        1,
        1_000_000,
        unit="cells",
        quantities=("error", "split", "missing"),
    ),
    choice(
        "resolution",
        "Δ",
        "resolution",
        "Cells on a side of the map.",
        "256",
        tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, DEEPEST + 1)),
        latex=r"\Delta",
        quantities=_PYRAMID,
    ),
    real(
        "guess",
        "n₀/n",
        "guess of the number of users",
        "How far off the number of users is that was fixed beforehand, and that sets how deep "
        "the capped pyramid and dense aggregation measure: 1 is a lucky guess. It must not be "
        "computed from the data.",
        1.0,
        0.01,
        100.0,
        latex=r"n_0/n",
        quantities=("error", "split"),
    ),
    real(
        "emd",
        "EMD",
        "distance of the maps",
        "Earth mover's distance of true and private map before blurring, as a part of the side. "
        "It says nothing about privacy.",
        0.05,
        1e-6,
        2.0,
        unit="of the side",
        quantities=("kl", "similarity"),
    ),
    real(
        "sigma",
        "σ",
        "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a part of the side. Costs "
        "no privacy.",
        0.1,
        0.005,
        0.5,
        unit="of the side",
        latex=r"\sigma",
        quantities=("kl", "similarity"),
    ),
    count(
        "B",
        "B",
        "units a user",
        "Shuffle model: into how many whole units a user's distribution is rounded. More is "
        "more accurate and takes more communication; privacy is the same.",
        256,
        1,
        1 << 30,
        unit="units",
        quantities=_SHUFFLED,
    ),
    delta(
        1e-5,
        quantities=("bits",),
        help="Shuffle model: with what probability the guarantee may fail. Smaller is more "
        "private and takes more messages.",
    ),
    choice(
        "pyramid",
        "",
        "what is sent",
        "Shuffle model: the cells of all levels of the square map, or of the 320 × 240 "
        "pictures of the paper's Figure 12.",
        SQUARE,
        ((SQUARE, "all levels of the Δ × Δ map"), (SALICON, "320 × 240 picture, m = 102,409")),
        quantities=("bits",),
    ),
    real(
        "missing",
        "φ",
        "noise that is missing",
        "Shuffle model: which part of the users who promised their share of the noise fail to "
        "add it. Less missing is more private.",
        0.1,
        0.0,
        0.99,
        Scale.LINEAR,
        unit="of nₘᵢₙ",
        more_private="low",
        latex=r"\varphi",
        quantities=("missing",),
    ),
    count(
        "i",
        "i",
        "level",
        "Level of the pyramid: its cells have the side 2⁻ⁱ.",
        0,
        0,
        DEEPEST,
        Scale.LINEAR,
        axis_only=True,
        quantities=("split",),
    ),
    simulate(
        "Run the algorithms on maps with k random cells and mark the errors found.",
        quantities=("error",),
    ),
    trials(
        "How often each algorithm is run at each point of the simulation.",
        10,
        200,
        quantities=("error",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "audited",
        "",
        "what is audited",
        "What is run on two neighbouring data sets: the noisy counts that the pyramid is made "
        "of, or a mechanism of the map from check-ins to map.",
        COUNTS,
        (
            (COUNTS, "The pyramid's noisy counts"),
            *((key, found.label) for key, found in MECHANISMS.items() if found.comparable),
        ),
        group="simulation",
        quantities=("tradeoff",),
        relevant_when=(("audit", ("True",)),),
    ),
)

QUANTITIES = (
    Quantity(
        "error",
        "EMD",
        "expected error of the map",
        ("n", "epsilon", "k", "guess"),
        unit="of the side",
        scale=Scale.LOG,
        statistic=Statistic.MEAN,
    ),
    Quantity("split", "εᵢ", "privacy spent on each level", ("i",), latex=r"\varepsilon_i"),
    Quantity(
        "kl", "KL", "divergence of the heatmaps", ("emd", "sigma"), unit="nats", scale=Scale.LOG
    ),
    Quantity("similarity", "SIM", "similarity of the heatmaps", ("emd", "sigma")),
    Quantity(
        "bits",
        "",
        "communication of a user",
        ("B", "n", "epsilon", "delta"),
        unit="MB",
        scale=Scale.LOG,
    ),
    Quantity(
        "missing",
        "ε",
        "level when noise is missing",
        ("missing", "B", "epsilon"),
        scale=Scale.LOG,
        latex=r"\varepsilon",
    ),
)
