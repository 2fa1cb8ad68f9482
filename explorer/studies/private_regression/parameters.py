"""What can be set and plotted in the study of private regression."""

from __future__ import annotations

from dataclasses import replace

from explorer.studies.base.study import Kind, Parameter, Quantity, Scale
from explorer.studies.base.text_table import DECIMAL
from explorer.studies.coordinate_mean.parameters import MEAN, MEDIAN

SAMPLE, FILE = "sample", "file"
PAPER, BEST_ZETA, EXACT, BASELINE = "paper", "best_zeta", "exact", "baseline"
MAX_FEATURES = 20
LEAST_USERS, MAX_USERS = 100, 1_000_000
_FROM_FILE = (("source", (FILE,)),)

PARAMETERS = (
    Parameter(
        "n", "n", "users", "How many users report. Each is as private with few as with many.",
        Kind.INTEGER, 100_000, LEAST_USERS, MAX_USERS, Scale.LOG, unit="users",
    ),
    Parameter(
        "eps", "ε", "level of the whole record",
        "Local privacy of both reports of a user together, whatever anybody believes. The label "
        "and the less sensitive features demand no more. Smaller is more private.",
        Kind.REAL, 4.0, 0.01, 20.0, Scale.LOG, unit="nats", more_private="low",
        latex=r"\varepsilon",
    ),
    Parameter(
        "level", "δ₁", "level of the sensitive features",
        "Coordinate level: how much a user's reports may say about a sensitive feature alone. A "
        "privacy level in nats, not the δ of approximate DP. Smaller is more private.",
        Kind.REAL, 1.0, 0.01, 20.0, Scale.LOG, unit="nats", more_private="low",
        latex=r"\delta_1",
    ),
    Parameter(
        "q", "q", "assumed coupling",
        "How far knowing one feature may change an observer's beliefs about all the rest, the "
        "label included, in total variation. Must be public. Assuming more is more private.",
        Kind.REAL, 0.05, 0.0, 1.0, Scale.LINEAR, more_private="high",
    ),
    Parameter(
        "features", "p", "features", "How many features predict the label: the first ones.",
        Kind.INTEGER, 3, 1, MAX_FEATURES, Scale.LINEAR,
    ),
    Parameter(
        "share", "k/p", "share of sensitive features",
        "Which part of the features has level δ₁: k is this times p, rounded, at least 1. They "
        "are the first ones.",
        Kind.REAL, 0.35, 0.0, 1.0, Scale.LINEAR,
    ),
    Parameter(
        "radius", "R", "radius of the coefficients",
        "The coefficients are looked for in a ball of this radius. Must be public.",
        Kind.REAL, 1.0, 0.01, 100.0, Scale.LOG,
    ),
    Parameter(
        "budget", "c", "budgets",
        "How the privacy of a record is spread over its coordinates; all are as private.",
        Kind.CHOICE, PAPER,
        choices=(
            (PAPER, "Theorem 2 with the paper's ζ = (1+q)/2"),
            (BEST_ZETA, "Theorem 2 with the best ζ"),
            (EXACT, "exact constraint"),
            (BASELINE, "min δ-LDP: the lowest level for all"),
        ),
        group="mechanism",
    ),
    Parameter(
        "trials", "", "trials", "How often the reports are drawn anew at each point.",
        Kind.INTEGER, 5, 2, 50, Scale.LOG, group="simulation",
    ),
    Parameter(
        "dots", "", "dots show", "What is marked of the trials. Without the ball errors have so "
        "heavy tails that their mean says little.",
        Kind.CHOICE, MEDIAN,
        choices=((MEDIAN, "median and quartiles"), (MEAN, "mean and its 95 % interval")),
        group="simulation",
    ),
    Parameter(
        "source", "", "records", "On what the regression is tried out.",
        Kind.CHOICE, SAMPLE,
        choices=((SAMPLE, "synthetic records, made from a seed"), (FILE, "your own file")),
        group="data",
    ),
    Parameter(
        "file", "", "file", "A table of records (CSV, one user a line, numbers only). Its public "
        "bounds are set below, or column by column in the first line: age [0:120].",
        Kind.FILE, "", group="data", suffixes=(".csv", ".tsv", ".txt"), relevant_when=_FROM_FILE,
    ),
    replace(DECIMAL, group="data", relevant_when=_FROM_FILE),
    Parameter(
        "target", "", "label's column",
        "Number of the column to be predicted, the first being 1; 0 is the last one. The other "
        "columns, from the left, are the features.",
        Kind.INTEGER, 0, 0, 200, Scale.LINEAR, group="data", relevant_when=_FROM_FILE,
    ),
    Parameter(
        "x_low", "", "features: least value",
        "Public lower bound of all features without bounds of their own. Never taken from the "
        "data; values beyond it are clipped.",
        Kind.REAL, -1.0, -1e6, 1e6, Scale.LINEAR, group="data", relevant_when=_FROM_FILE,
    ),
    Parameter(
        "x_width", "", "features: range",
        "Public difference between the largest and the least value of a feature.",
        Kind.REAL, 2.0, 1e-6, 1e7, Scale.LOG, group="data", relevant_when=_FROM_FILE,
    ),
    Parameter(
        "y_low", "", "label: least value",
        "Public lower bound of the label. Never taken from the data; values beyond it are "
        "clipped.",
        Kind.REAL, -1.0, -1e6, 1e6, Scale.LINEAR, group="data", relevant_when=_FROM_FILE,
    ),
    Parameter(
        "y_width", "", "label: range",
        "Public difference between the largest and the least value of the label.",
        Kind.REAL, 2.0, 1e-6, 1e7, Scale.LOG, group="data", relevant_when=_FROM_FILE,
    ),
)  # fmt: skip

_SWEEPS = ("n", "eps", "level", "q", "features")
QUANTITIES = (
    Quantity("excess", "f(θ̂) − f*", "excess risk", _SWEEPS, scale=Scale.LOG,
             latex=r"f(\hat\theta)-f^*"),
    Quantity("rmse", "RMSE", "error of prediction", _SWEEPS, scale=Scale.LOG,
             unit="of the label"),
)  # fmt: skip
