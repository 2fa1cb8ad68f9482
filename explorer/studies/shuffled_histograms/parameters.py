"""What can be set and plotted in the study of shuffled histograms."""

from __future__ import annotations

from explorer.privacy.histograms import Query
from explorer.studies.base.study import Kind, Parameter, Quantity, Scale

_ERRORS = ("error", "query", "rmse")
_HISTOGRAM = (("release", (Query.HISTOGRAM.value,)),)

PARAMETERS = (
    Parameter(
        "release", "", "what is released",
        "A histogram over d bins, or a single count: how many users have a certain property.",
        Kind.CHOICE, Query.HISTOGRAM.value,
        choices=((Query.HISTOGRAM.value, "histogram"), (Query.COUNT.value, "a single count")),
    ),
    Parameter(
        "eps", "ε", "privacy",
        "Privacy of the whole release for one user. Smaller is more private.",
        Kind.REAL, 1.0, 0.1, 5.0, Scale.LOG, more_private="low", latex=r"\varepsilon",
    ),
    Parameter(
        "delta", "δ", "failure probability of the privacy",
        "With what probability the guarantee may fail. Smaller is more private.",
        Kind.REAL, 1e-6, 1e-20, 0.1, Scale.LOG, more_private="low", latex=r"\delta",
    ),
    Parameter(
        "n", "n", "users", "How many users take part; the number is public. With more users the "
        "same noise weighs less.",
        Kind.INTEGER, 10_000, 10, 1_000_000_000, Scale.LOG, unit="users",
    ),
    Parameter(
        "d", "d", "bins", "How many values a user may have. P_hist's error does not depend on it, "
        "the number of messages does.",
        Kind.INTEGER, 1000, 2, 1e15, Scale.LOG, unit="bins", relevant_when=_HISTOGRAM,
    ),
    Parameter(
        "h", "h", "values that occur",
        "At most so many different values occur among the users; empty bins have no error in "
        "P_hist. If nothing is known, it is the smaller of n and d, to which it is cut anyway.",
        Kind.INTEGER, 100, 1, 1_000_000_000, Scale.LOG, unit="values",
        quantities=("error",), relevant_when=_HISTOGRAM,
    ),
    Parameter(
        "beta", "β", "failure probability of the error",
        "With what probability the error may be larger than the bound says.",
        Kind.REAL, 0.05, 1e-9, 0.5, Scale.LOG, latex=r"\beta",
    ),
    Parameter(
        "s", "s", "true count of a bin", "How many users really have the value.",
        Kind.INTEGER, 200, 1, 1_000_000_000, Scale.LOG, unit="users",
        quantities=("query", "rmse"),
    ),
    Parameter(
        "trusted", "nₕ/n", "users trusted to add noise",
        "The noise is calibrated as if only this share of the users added theirs. Smaller is "
        "safer, and noisier.",
        Kind.REAL, 1.0, 0.05, 1.0, Scale.LINEAR, more_private="low", latex=r"n_h/n",
        group="mechanism", quantities=("error", "query", "rmse", "noise", "messages", "loss"),
    ),
    Parameter(
        "adding", "m/n", "users who really add noise",
        "What if only this share of the users adds noise in the end? The others send their value "
        "alone. Larger is more private.",
        Kind.REAL, 1.0, 0.05, 1.0, Scale.LINEAR, more_private="high", latex=r"m/n",
        group="mechanism", quantities=("loss",),
    ),
    Parameter(
        "simulate", "", "simulate",
        "Run the calibrated protocol many times and draw what comes out as dots.",
        Kind.FLAG, True, group="simulation", quantities=_ERRORS,
    ),
    Parameter(
        "shape", "", "simulated data", "How the users spread over the values that occur.",
        Kind.CHOICE, "edge",
        choices=(
            ("edge", "hardest: counts at n(1−p)"),
            ("zipf", "heavy-tailed: count ∝ 1/rank"),
            ("even", "even"),
        ),
        group="simulation", quantities=("error",),
        relevant_when=(*_HISTOGRAM, ("simulate", ("True",))),
    ),
    Parameter(
        "runs", "R", "simulated runs", "How often the protocol is run for a dot.",
        Kind.INTEGER, 400, 50, 2000, Scale.LOG, group="simulation", quantities=_ERRORS,
        relevant_when=(("simulate", ("True",)),),
    ),
    Parameter(
        "levels", "h", "levels of the tree",
        "Multi-party pointer jumping: levels of the tree, each held by users of its own; also the "
        "size of the support in support identification.",
        Kind.INTEGER, 5, 2, 12, group="reductions",
    ),
    Parameter(
        "children", "s", "children of a node",
        "Multi-party pointer jumping: labels a node may have.",
        Kind.INTEGER, 3, 2, 3, group="reductions",
    ),
    Parameter(
        "length", "ℓ", "length of the permutations",
        "Pointer chasing: the domain has (ℓ!)² values; the number of users does not depend on it.",
        Kind.INTEGER, 100, 2, 10_000, Scale.LOG, latex=r"\ell", group="reductions",
    ),
    Parameter(
        "crowd", "", "users of the small protocols",
        "Whose views are enumerated completely in the last table.",
        Kind.INTEGER, 3, 1, 4, unit="users", group="reductions",
    ),
)  # fmt: skip

QUANTITIES = (
    Quantity(
        "error", "α", "largest error of all bins", ("n", "d", "eps", "delta", "beta", "h"),
        unit="frequency", scale=Scale.LOG, latex=r"\alpha",
    ),
    Quantity(
        "query", "α", "error of one bin", ("n", "eps", "delta", "beta"),
        unit="frequency", scale=Scale.LOG, latex=r"\alpha",
    ),
    Quantity(
        "rmse", "RMSE", "error of a bin with s users", ("s", "n", "eps", "delta"),
        unit="frequency", scale=Scale.LOG,
    ),
    Quantity(
        "noise", "n(1−p)", "noise", ("n", "eps", "delta", "trusted"),
        unit="users", scale=Scale.LOG, latex=r"n(1-p)",
    ),
    Quantity(
        "users", "n", "least number of users", ("eps", "delta"),
        unit="users", scale=Scale.LOG, latex=r"n",
    ),
    Quantity(
        "messages", "", "messages sent by a user", ("d", "n", "eps", "delta"),
        unit="messages", scale=Scale.LOG,
    ),
    Quantity(
        "loss", "δ", "if users add no noise", ("adding", "n"),
        scale=Scale.LOG, latex=r"\delta",
    ),
)  # fmt: skip
