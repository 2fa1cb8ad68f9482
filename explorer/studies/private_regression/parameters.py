"""What can be set and plotted in the study of private regression."""

from explorer.privacy.coordinates import DUCHI, PRIV_UNIT
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    epsilon,
    file,
    real,
    share,
    trials,
)
from explorer.studies.base.study import Quantity, Scale
from explorer.studies.coordinate_mean.parameters import MEAN, MEDIAN

SAMPLE, FILE = "sample", "file"
PAPER, BEST_ZETA, EXACT, BASELINE = "paper", "best_zeta", "exact", "baseline"
MAX_FEATURES = 20
LEAST_USERS, MAX_USERS = 100, 1_000_000
_FROM_FILE = (("source", (FILE,)),)

PARAMETERS = (
    count(
        "n",
        "n",
        "users",
        "How many users report. Each is as private with few as with many.",
        100_000,
        LEAST_USERS,
        MAX_USERS,
        unit="users",
    ),
    epsilon(
        "level of the whole record",
        "Local privacy of both reports of a user together, whatever anybody believes. The "
        "label and the less sensitive features demand no more. Smaller is more private.",
        4.0,
        0.01,
        20.0,
        unit="nats",
    ),
    epsilon(
        "level of the sensitive features",
        "Coordinate level: how much a user's reports may say about a sensitive feature alone. "
        "A privacy level in nats, not the δ of approximate DP. Smaller is more private.",
        1.0,
        0.01,
        20.0,
        key="level",
        symbol="δ₁",
        unit="nats",
    ),
    share(
        "q",
        "q",
        "assumed coupling",
        "How far knowing one feature may change an observer's beliefs about all the rest, the "
        "label included, in total variation. Must be public. Assuming more is more private.",
        0.05,
        more_private="high",
    ),
    count(
        "features",
        "p",
        "features",
        "How many features predict the label: the first ones.",
        3,
        1,
        MAX_FEATURES,
        Scale.LINEAR,
    ),
    share(
        "share",
        "k/p",
        "share of sensitive features",
        "Which part of the features has level δ₁: k is this times p, rounded, at least 1. They "
        "are the first ones.",
        0.35,
    ),
    real(
        "radius",
        "R",
        "radius of the coefficients",
        "The coefficients are looked for in a ball of this radius. Must be public.",
        1.0,
        0.01,
        100.0,
    ),
    choice(
        "budget",
        "c",
        "budgets",
        "How the privacy of a record is spread over its coordinates; all are as private.",
        PAPER,
        (
            (PAPER, "Theorem 2 with the paper's ζ = (1+q)/2"),
            (BEST_ZETA, "Theorem 2 with the best ζ"),
            (EXACT, "exact constraint"),
            (BASELINE, "min δ-LDP: the lowest level for all"),
        ),
        group="mechanism",
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
    trials("How often the reports are drawn anew at each point.", 5, 50),
    choice(
        "dots",
        "",
        "dots show",
        "What is marked of the trials. Without the ball errors have so heavy tails that their "
        "mean says little.",
        MEDIAN,
        ((MEDIAN, "median and quartiles"), (MEAN, "mean and its 95 % interval")),
        group="simulation",
    ),
    choice(
        "source",
        "",
        "records",
        "On what the regression is tried out.",
        SAMPLE,
        ((SAMPLE, "synthetic records, made from a seed"), (FILE, "your own file")),
        group="data",
    ),
    file(
        "file",
        "file",
        "A table of records (CSV, one user a line, numbers only). Its public bounds are set "
        "below, or column by column in the first line: age [0:120].",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FROM_FILE,
    ),
    decimal_sign(group="data", relevant_when=_FROM_FILE),
    count(
        "target",
        "",
        "label's column",
        "Number of the column to be predicted, the first being 1; 0 is the last one. The other "
        "columns, from the left, are the features.",
        0,
        0,
        200,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "x_low",
        "",
        "features: least value",
        "Public lower bound of all features without bounds of their own. Never taken from the "
        "data; values beyond it are clipped.",
        -1.0,
        -1e6,
        1e6,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "x_width",
        "",
        "features: range",
        "Public difference between the largest and the least value of a feature.",
        2.0,
        1e-6,
        1e7,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "y_low",
        "",
        "label: least value",
        "Public lower bound of the label. Never taken from the data; values beyond it are clipped.",
        -1.0,
        -1e6,
        1e6,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "y_width",
        "",
        "label: range",
        "Public difference between the largest and the least value of the label.",
        2.0,
        1e-6,
        1e7,
        group="data",
        relevant_when=_FROM_FILE,
    ),
)

_SWEEPS = ("n", "eps", "level", "q", "features")
QUANTITIES = (
    Quantity(
        "excess", "f(θ̂) − f*", "excess risk", _SWEEPS, scale=Scale.LOG, latex=r"f(\hat\theta)-f^*"
    ),
    Quantity("rmse", "RMSE", "error of prediction", _SWEEPS, scale=Scale.LOG, unit="of the label"),
)
