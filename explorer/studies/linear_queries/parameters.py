"""What can be set and plotted of linear queries."""

from explorer.studies.base.builders import choice, count, decimal_sign, delta, epsilon, file, real
from explorer.studies.base.study import Quantity, Scale, Statistic
from explorer.studies.metric_space.parameters import SPHERE, space_parameters

CENTRAL, LOCAL = "central", "local"
POSITION, COORDINATE, LANDMARKS = "position", "coordinate", "landmarks"
CELLS, GIVEN, FILE = "cells", "given", "file"
IN_LENGTHS = (POSITION, COORDINATE, LANDMARKS)
"""Queries whose answers are distances."""
CENTRES_MAX = 64
"""Most landmarks, and most cells."""
_ERRORS = ("rmse", "coordinate", "euclid", "own", "quantile")
_CENTRED = (("query", (LANDMARKS, CELLS)),)

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Central: a curator adds noise once to the answer of all users' data. Local: every "
        "user adds noise to their own answer, and the answers are averaged; more private "
        "towards the curator, and √n times noisier.",
        CENTRAL,
        ((CENTRAL, "central: noise added once"), (LOCAL, "local: every user adds noise")),
    ),
    epsilon(
        "privacy of a user",
        "The privacy of a user's whole data, per largest distance: a change by earth mover's "
        "distance w is protected at ε = αw. Smaller is more private.",
        25.0,
        1e-2,
        800.0,
        key="alpha",
        symbol="α",
        unit="1/diameter",
    ),
    delta(
        1e-12,
        1e-40,
        help="What Gaussian noise may fail by; K-norm noise never fails. Smaller is more private.",
    ),
    count(
        "n",
        "n",
        "users",
        "How many users there are, every one with the same public number of items. More users "
        "hide each other better: less noise at one α.",
        100_000,
        1,
        10**9,
        quantities=_ERRORS,
    ),
    epsilon(
        "user-level privacy, for comparison",
        "The parameter of user-level differential privacy, which protects all changes of a "
        "user's data alike. Smaller is more private.",
        1.0,
        1e-2,
        100.0,
        quantities=_ERRORS,
    ),
    choice(
        "query",
        "",
        "query",
        "Which function of an item is averaged over all items of all users.",
        LANDMARKS,
        (
            (LANDMARKS, "mean distance to k landmarks"),
            (POSITION, "mean position"),
            (COORDINATE, "mean of one coordinate"),
            (CELLS, "histogram over k soft cells"),
            (GIVEN, "any: dimension and Lipschitz constant given"),
            (FILE, "your own (CSV: one row of values an item)"),
        ),
        quantities=(*_ERRORS, "lip"),
    ),
    count(
        "landmarks",
        "k",
        "landmarks or cells",
        "How many public points the query measures from: each adds a number to the answer.",
        3,
        1,
        CENTRES_MAX,
        relevant_when=_CENTRED,
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "width",
        "h",
        "width of a cell",
        "An item counts fully at a cell's centre and nothing at distance h from it, as a share "
        "of the largest distance. Narrow cells change fast, and need more noise.",
        0.1,
        1e-3,
        1.0,
        relevant_when=(("query", (CELLS,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    count(
        "dim",
        "d",
        "dimension of the answer",
        "How many numbers the query answers with.",
        10,
        1,
        10_000,
        relevant_when=(("query", (GIVEN,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "slope",
        "ℓ",
        "Lipschitz constant, ℓ2",
        "By how much the answer of one item changes at most, in the ℓ2 norm, per largest "
        "distance the item moves: ‖F‖₂ for a linear function F of an embedding.",
        1.0,
        1e-3,
        1e3,
        latex=r"\ell",
        relevant_when=(("query", (GIVEN,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    file(
        "values",
        "file of values",
        "A CSV file with one row an item of the space and one column a number of the answer; a "
        "first row and a first column of names are allowed. Rows go by name where the space's "
        "file has names too, else by its order. It must be public.",
        relevant_when=(("query", (FILE,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    decimal_sign(
        "values_decimal",
        relevant_when=(("query", (FILE,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "w",
        "w",
        "a change looked at",
        "Earth mover's distance of a change of a user's data, as a share of the largest: 0.008 "
        "is everything moved by 0.8 % of it. Only the sentence about the guarantee uses it.",
        0.008,
        1e-4,
        1.0,
    ),
    real(
        "p",
        "p",
        "another norm",
        "K-norm noise has the shape of the unit ball of a norm: ℓ1 (Laplace), ℓ2, ℓ∞ and this "
        "one. All have the same guarantee.",
        3.0,
        1.0,
        64.0,
        group="mechanism",
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "beta",
        "β",
        "share of releases",
        "The error that is not exceeded by this share of all releases.",
        0.95,
        0.01,
        0.9999,
        Scale.LINEAR,
        group="mechanism",
        latex=r"\beta",
        quantities=("quantile",),
    ),
    *space_parameters(default=SPHERE),
)

_AXES = ("alpha", "n", "delta", "landmarks", "dim", "p", "eps", "width", "slope")
QUANTITIES = (
    Quantity(
        "rmse",
        "RMSE",
        "root mean square error, ℓ2",
        _AXES,
        scale=Scale.LOG,
        statistic=Statistic.RMS,
    ),
    Quantity(
        "coordinate",
        "E|zᵢ|",
        "mean error of one number",
        _AXES,
        scale=Scale.LOG,
        latex=r"E|z_i|",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "euclid",
        "E‖z‖₂",
        "mean error, ℓ2",
        _AXES,
        scale=Scale.LOG,
        latex=r"E\|z\|_2",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "own",
        "E‖z‖",
        "mean error of one release, own norm",
        _AXES,
        scale=Scale.LOG,
        latex=r"E\|z\|_p",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "quantile",
        "Q(‖z‖)",
        "error of β of the releases, own norm",
        (*_AXES, "beta"),
        scale=Scale.LOG,
        latex=r"Q_\beta(\|z\|_p)",
        statistic=Statistic.QUANTILE,
    ),
    Quantity(
        "true_delta",
        "δ",
        "true δ of a Gaussian width",
        ("alpha", "delta"),
        scale=Scale.LOG,
        latex=r"\delta",
    ),
    Quantity(
        "lip",
        "ℓ",
        "Lipschitz constant of the query",
        ("p", "landmarks", "dim", "width"),
        scale=Scale.LOG,
        latex=r"\ell",
    ),
)
