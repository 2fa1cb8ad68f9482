"""What can be set and plotted in the study of shuffled histograms."""

from explorer.privacy.histograms import Query
from explorer.studies.base.builders import choice, count, delta, epsilon, real, share, simulate
from explorer.studies.base.randomiser_table import FILE, TYPED, table_parameters
from explorer.studies.base.study import Quantity, Scale, Statistic

_ERRORS = ("error", "query", "rmse")
_HISTOGRAM = (("release", (Query.HISTOGRAM.value,)),)

PARAMETERS = (
    choice("release", "", "what is released",
           "A histogram over d bins, or a single count: how many users have a certain property.",
           Query.HISTOGRAM.value,
           ((Query.HISTOGRAM.value, "histogram"), (Query.COUNT.value, "a single count"))),
    epsilon("privacy", "Privacy of the whole release for one user. Smaller is more private.",
            1.0, 0.1, 5.0),
    delta(1e-6, 1e-20, name="failure probability of the privacy"),
    count("n", "n", "users",
          "How many users take part; the number is public. With more users the same noise weighs "
          "less.",
          10_000, 10, 1_000_000_000, unit="users"),
    count("d", "d", "bins",
          "How many values a user may have. P_hist's error does not depend on it, the number of "
          "messages does.",
          1000, 2, 1e15, unit="bins", relevant_when=_HISTOGRAM),
    count("h", "h", "values that occur",
          "At most so many different values occur among the users; empty bins have no error in "
          "P_hist. If nothing is known, it is the smaller of n and d, to which it is cut anyway.",
          100, 1, 1_000_000_000, unit="values", quantities=("error",), relevant_when=_HISTOGRAM),
    real("beta", "β", "failure probability of the error",
         "With what probability the error may be larger than the bound says.",
         0.05, 1e-9, 0.5, latex=r"\beta"),
    count("s", "s", "true count of a bin", "How many users really have the value.",
          200, 1, 1_000_000_000, unit="users", quantities=("query", "rmse")),
    share("trusted", "nₕ/n", "users trusted to add noise",
          "The noise is calibrated as if only this share of the users added theirs. Smaller is "
          "safer, and noisier.",
          1.0, 0.05, more_private="low", latex=r"n_h/n", group="mechanism",
          quantities=("error", "query", "rmse", "noise", "messages", "loss")),
    share("adding", "m/n", "users who really add noise",
          "What if only this share of the users adds noise in the end? The others send their "
          "value alone. Larger is more private.",
          1.0, 0.05, more_private="high", latex=r"m/n", group="mechanism", quantities=("loss",)),
    simulate("Run the calibrated protocol many times and draw what comes out as dots.",
             True, quantities=_ERRORS),
    choice("shape", "", "simulated data", "How the users spread over the values that occur.",
           "edge",
           (("edge", "hardest: counts at n(1−p)"), ("zipf", "heavy-tailed: count ∝ 1/rank"),
            ("even", "even")),
           group="simulation", quantities=("error",),
           relevant_when=(*_HISTOGRAM, ("simulate", ("True",)))),
    count("runs", "R", "simulated runs", "How often the protocol is run for a dot.",
          400, 50, 2000, group="simulation", quantities=_ERRORS,
          relevant_when=(("simulate", ("True",)),)),
    count("levels", "h", "levels of the tree",
          "Multi-party pointer jumping: levels of the tree, each held by users of its own; also "
          "the size of the support in support identification.",
          5, 2, 12, Scale.LINEAR, group="reductions"),
    count("children", "s", "children of a node",
          "Multi-party pointer jumping: labels a node may have.",
          3, 2, 3, Scale.LINEAR, group="reductions"),
    count("length", "ℓ", "length of the permutations",
          "Pointer chasing: the domain has (ℓ!)² values; the number of users does not depend on "
          "it.",
          100, 2, 10_000, latex=r"\ell", group="reductions"),
    count("crowd", "", "users of the small protocols",
          "Whose views are enumerated completely in the last table.",
          3, 1, 4, Scale.LINEAR, unit="users", group="reductions"),
    choice("own", "", "your own randomiser in the last table",
           "A randomiser of yours, at most 4 inputs and 6 outputs, beside those of the paper: "
           "whether shuffling makes it pure (Theorem 4.1).",
           "none",
           (("none", "none"), (TYPED, "a table, typed"), (FILE, "a table from a CSV file")),
           group="reductions"),
    *table_parameters("own", "own_table", "0.75 0.25; 0.5 0.5", {"group": "reductions"}),
)  # fmt: skip

QUANTITIES = (
    Quantity("error", "α", "largest error of all bins", ("n", "d", "eps", "delta", "beta", "h"),
             unit="frequency", scale=Scale.LOG, latex=r"\alpha",
             statistic=Statistic.QUANTILE),
    Quantity("query", "α", "error of one bin", ("n", "eps", "delta", "beta"), unit="frequency",
             scale=Scale.LOG, latex=r"\alpha",
             statistic=Statistic.QUANTILE),
    Quantity("rmse", "RMSE", "root mean square error of a bin with s users",
             ("s", "n", "eps", "delta"), unit="frequency", scale=Scale.LOG,
             statistic=Statistic.RMS),
    Quantity("noise", "n(1−p)", "noise", ("n", "eps", "delta", "trusted"), unit="users",
             scale=Scale.LOG, latex=r"n(1-p)"),
    Quantity("users", "n", "least number of users", ("eps", "delta"), unit="users",
             scale=Scale.LOG, latex=r"n"),
    Quantity("messages", "", "messages sent by a user", ("d", "n", "eps", "delta"),
             unit="messages", scale=Scale.LOG),
    Quantity("loss", "δ", "if users add no noise", ("adding", "n"), scale=Scale.LOG,
             latex=r"\delta"),
)  # fmt: skip
