"""What can be set and plotted in the study of the private mean."""

from explorer.privacy.coordinates import DUCHI, PRIV_UNIT
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    epsilon,
    file,
    real,
    share,
    simulate,
    trials,
)
from explorer.studies.base.study import Kind, Parameter, Quantity, Scale, Statistic, Sweep

MAX_COORDINATES = 200
TWO, LINEAR, GEOMETRIC = "two", "linear", "geometric"
HEURISTIC, FIXED = "heuristic", "fixed"
SLIDER, FILE = "slider", "file"
MEAN, MEDIAN = "mean", "median"
RUN_PAPER, RUN_BEST, RUN_BASELINE = "paper", "best_zeta", "baseline"
MAX_SENSITIVE, LEAST_SENSITIVE = "most", "least"

Q_FULL = Sweep("q", 0.0, 1.0, 101, Scale.LINEAR)

_SIMULATED = (("simulate", ("True",)),)
_FROM_FILE = (("q_from", (FILE,)),)

PARAMETERS = (
    share(
        "q",
        "q",
        "assumed coupling",
        "How far knowing one coordinate may change an observer's beliefs about the others, in "
        "total variation: 0 is independence, 1 is anything. The budgets are made for observers "
        "up to this coupling; it must be public and never computed from the protected records. "
        "Assuming more is more private.",
        0.1,
        more_private="high",
        relevant_when=(("q_from", (SLIDER,)),),
    ),
    epsilon(
        "level of the sensitive coordinates",
        "Coordinate level: how much a report may say about a sensitive coordinate alone. A "
        "privacy level in nats, not the failure probability δ of approximate DP. Smaller is "
        "more private.",
        0.2,
        0.01,
        10.0,
        key="level",
        symbol="δ₁",
        unit="nats",
    ),
    epsilon(
        "level of the whole record",
        "Local privacy of the report as a whole, whatever anybody believes. The least "
        "sensitive coordinates demand no more than this. Smaller is more private.",
        2.0,
        0.01,
        10.0,
        unit="nats",
    ),
    count("d", "d", "coordinates", "How many numbers each user holds.", 10, 2, MAX_COORDINATES),
    choice(
        "profile",
        "",
        "demanded levels",
        "How the coordinate levels are spread: some coordinates at δ₁ and the others at ε (as "
        "in Figure 3), or all different, from δ₁ for the first to ε for the last.",
        TWO,
        (
            (TWO, "two levels: δ₁ and ε"),
            (LINEAR, "evenly from δ₁ to ε"),
            (GEOMETRIC, "geometrically from δ₁ to ε"),
        ),
    ),
    share(
        "share",
        "k/d",
        "share of sensitive coordinates",
        "Which part of the coordinates has level δ₁: k is this times d, rounded, at least 1.",
        0.2,
        relevant_when=(("profile", (TWO,)),),
    ),
    count(
        "n",
        "n",
        "users",
        "How many users report. Each is as private with few as with many.",
        10_000,
        1,
        1_000_000_000,
        unit="users",
        quantities=("mse", "run"),
    ),
    share(
        "x2",
        "x²",
        "mean square of the data",
        "Average of x² over users and coordinates, between 0 (the worst case) and 1 (all data "
        "±1). Costs no privacy.",
        0.0,
        latex=r"\overline{x^2}",
        quantities=("mse",),
    ),
    choice(
        "zeta_rule",
        "",
        "the paper's ζ",
        "How the free parameter of Theorem 2 is chosen: as in Figure 3, or fixed. The best ζ "
        "is drawn besides.",
        HEURISTIC,
        ((HEURISTIC, "ζ = (1+q)/2, as in Figure 3"), (FIXED, "ζ as set")),
        group="mechanism",
    ),
    share(
        "zeta",
        "ζ",
        "free parameter of Theorem 2",
        "Part of the sensitive level that correlation may use up. Any value in (0, 1] is as "
        "private; Corollary 1 takes ½.",
        0.5,
        0.01,
        latex=r"\zeta",
        group="mechanism",
        relevant_when=(("zeta_rule", (FIXED,)),),
    ),
    choice(
        "channel",
        "",
        "reports made by",
        "How a channel makes a report: the paper's M_LDP, or PrivUnit, whose reports vary 1.15 "
        "times less at level 1 and 10 times less at level 10 (10 coordinates). Both are as "
        "private: levels do not depend on it.",
        DUCHI,
        ((DUCHI, "M_LDP, the paper's"), (PRIV_UNIT, "PrivUnit")),
        group="mechanism",
    ),
    Parameter(
        "projected",
        "",
        "also the projected average",
        "Draw the errors of the averages clipped to [−1, 1] besides, by the central limit "
        "theorem, for data with mean 0. Costs no privacy.",
        Kind.FLAG,
        False,
        group="mechanism",
        quantities=("mse",),
    ),
    share(
        "true_q",
        "q′",
        "true coupling",
        "Coupling of the beliefs of the observer one wonders about, which may be more than what "
        "was assumed.",
        0.1,
        quantities=("level",),
        latex="q'",
    ),
    count(
        "releases",
        "T",
        "releases",
        "How often the same record is reported anew. Levels of coordinates do not add: they are "
        "computed again from the sums of c and L. Fewer is more private.",
        1,
        1,
        100,
        more_private="low",
        quantities=("level",),
    ),
    choice(
        "whose",
        "",
        "coordinate looked at",
        "Whose level is drawn.",
        MAX_SENSITIVE,
        ((MAX_SENSITIVE, "the most sensitive"), (LEAST_SENSITIVE, "the least sensitive")),
        quantities=("level",),
    ),
    share(
        "place",
        "i/d",
        "place of the coordinate",
        "Number of the coordinate, the most sensitive first, as a part of d: all coordinates, "
        "however many, from left to right.",
        1.0,
        axis_only=True,
        quantities=("budget", "run"),
    ),
    count(
        "i",
        "i",
        "coordinate",
        "Number of the coordinate, the most sensitive first.",
        1,
        1,
        MAX_COORDINATES,
        Scale.LINEAR,
        axis_only=True,
        quantities=("budget", "run"),
    ),
    simulate(
        "Draw users' data and reports and mark the errors found, with the data's coupling q′ = q.",
        quantities=("mse",),
    ),
    trials(
        "How often the experiment is repeated at each point. Figure 3 has 1000.",
        20,
        1000,
        quantities=("mse",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "dots",
        "",
        "dots show",
        "What is marked of the trials.",
        MEAN,
        ((MEAN, "mean and its 95 % interval"), (MEDIAN, "median and quartiles")),
        group="simulation",
        quantities=("mse",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "run_by",
        "",
        "run",
        "Which mechanism is run on the records.",
        RUN_PAPER,
        (
            (RUN_PAPER, "M_mean, Theorem 2 with the paper's ζ"),
            (RUN_BEST, "M_mean, Theorem 2 with the best ζ"),
            (RUN_BASELINE, "M_LDP at the lowest level for all"),
        ),
        group="mechanism",
        quantities=("run",),
    ),
    file(
        "records",
        "your records",
        "A table of records (CSV, one user a line, numbers only), the most sensitive columns "
        "first. Public bounds stand in the first line, age [0:120]; without them they are −1 and "
        "1. Values beyond them are clipped.",
        (".csv", ".tsv", ".txt"),
        group="data",
        quantities=("run",),
    ),
    decimal_sign("records_decimal", group="data", quantities=("run",)),
    choice(
        "q_from",
        "",
        "coupling from",
        "Set the coupling by its slider, or take an upper confidence bound from a public file.",
        SLIDER,
        ((SLIDER, "the slider"), (FILE, "a public file")),
        group="data",
    ),
    file(
        "public",
        "public file",
        "A table of public records (CSV, one record a line) like the protected ones, whose "
        "coupling is bounded. Declare what columns can hold in the first line: smoker [yes|no], "
        "age [0:120]. Never the protected records themselves: the reports publish q.",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FROM_FILE,
    ),
    decimal_sign(group="data", relevant_when=_FROM_FILE),
    real(
        "beta",
        "β",
        "chance that the bound fails",
        "With this probability, over the draw of the public records, the coupling is above the "
        "upper bound that is used. Smaller is surer.",
        0.05,
        1e-9,
        0.5,
        more_private="low",
        group="data",
        latex=r"\beta",
        relevant_when=_FROM_FILE,
    ),
    count(
        "bins",
        "b",
        "bins",
        "Into how many bins a column of more different numbers is cut before its coupling is "
        "measured. Fewer bins can only hide coupling.",
        4,
        2,
        32,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    Parameter(
        "reads_bins",
        "",
        "the mechanism reads the bins",
        "Users report the middle of their bin in place of their number, so that levels are about "
        "which bin. Only then is a bound on the bins' coupling one for the users' data.",
        Kind.FLAG,
        False,
        group="data",
        relevant_when=_FROM_FILE,
    ),
)

QUANTITIES = (
    Quantity(
        "mse",
        "MSE",
        "error of the mean",
        ("q", "n", "eps", "level", "d", "share", "x2", "zeta"),
        scale=Scale.LOG,
        statistic=Statistic.MEAN_SQUARE,
    ),
    Quantity("budget", "c", "budget of each coordinate", ("place", "i"), unit="nats", latex="c_i"),
    Quantity(
        "level",
        "δᵢ",
        "level of a coordinate",
        ("true_q", "releases", "q", "eps", "level"),
        unit="nats",
        latex=r"\delta_i",
    ),
    Quantity("run", "x̄ᵢ", "mean of your records, run", ("place", "i"), latex=r"\bar x_i"),
)
