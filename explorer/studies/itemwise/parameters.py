"""What can be set and plotted of item-wise release."""

from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.builders import choice, count, delta, epsilon, real
from explorer.studies.base.study import Quantity, Scale, Statistic
from explorer.studies.metric_space.parameters import (
    CLUSTERED,
    DISCRETE,
    GRID,
    MATRIX,
    POINTS,
    SQUARE_L2,
    space_parameters,
)

CENTRAL, LOCAL = "central", "local"
PLANAR, GKRR, EXPONENTIAL, OPTIMAL = "planar", "gkrr", "exponential", "optimal"

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Central: the items of all users are shuffled together, by a curator or a trusted "
        "shuffler. Local: every user shuffles only their own; more private towards the curator, "
        "and n does not help.",
        CENTRAL,
        (
            (CENTRAL, "central: all users' items shuffled together"),
            (LOCAL, "local: each user shuffles their own items"),
        ),
    ),
    epsilon(
        "target for the user",
        "The privacy asked for a user's whole data, per largest distance: a change by earth "
        "mover's distance w is protected at ε = αw. Smaller is more private.",
        25.0,
        1e-2,
        800.0,
        key="alpha",
        symbol="α",
        unit="1/diameter",
        quantities=("alpha0", "noise", "delta"),
    ),
    epsilon(
        "privacy of one item",
        "The parameter of the mechanism that randomises each item, per largest distance: no "
        "answer is more than e^(α₀·d) times as likely for one item as for another at distance "
        "d. Smaller is more private.",
        3.0,
        1e-4,
        50.0,
        key="alpha0",
        symbol="α₀",
        unit="1/diameter",
        quantities=("alpha", "delta"),
    ),
    count(
        "m",
        "m",
        "items of a user",
        "How many items every user has: one public number for all. More items hide each other "
        "in the shuffle, but there are more to protect.",
        1000,
        1,
        10**9,
    ),
    count(
        "n",
        "n",
        "users",
        "How many users' items are shuffled together. More users are more private at one α₀.",
        100_000,
        1,
        10**9,
        more_private="high",
        relevant_when=(("model", (CENTRAL,)),),
    ),
    delta(
        1e-12,
        1e-40,
        symbol="δ′",
        quantities=("alpha0", "alpha", "noise"),
        help="The δ that is claimed for a user's whole data. Smaller is more private.",
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
    choice(
        "randomiser",
        "",
        "randomiser of an item",
        "How an item is randomised. Guarantees are the same for all that are α₀·d-private; how "
        "far an answer lies from the item is not. The exponential mechanism answers at the "
        "rate α₀/2, and its mean is over items drawn evenly. The optimal one has the least such "
        "mean of all that are α₀·d-private and answer with items.",
        PLANAR,
        (
            (PLANAR, "planar Laplace (squares)"),
            (GKRR, "GKRR (clusters, 0/1)"),
            (EXPONENTIAL, "exponential mechanism (up to 300 items)"),
            (OPTIMAL, "optimal, by linear programming (up to 40 items)"),
        ),
        group="mechanism",
        quantities=("noise",),
    ),
    choice(
        "clones",
        "",
        "analysis of the clones",
        "Which share of the others' answers hides an item that moves: the published analysis, "
        "or the stronger one, which gains only where items can't be arbitrarily near.",
        Clones.PUBLISHED.value,
        (
            (Clones.PUBLISHED.value, "2021: p = e^(−α₀)"),
            (Clones.STRONGER.value, "2023: up to twice as many"),
        ),
        group="mechanism",
        relevant_when=(("space", (GRID, CLUSTERED, DISCRETE, MATRIX, POINTS)),),
    ),
    *space_parameters(default=SQUARE_L2),
)

QUANTITIES = (
    Quantity(
        "alpha0",
        "α₀",
        "privacy of an item, allowed",
        ("alpha", "m", "n", "delta"),
        scale=Scale.LOG,
        unit="1/diameter",
        latex=r"\alpha_0",
    ),
    Quantity(
        "alpha",
        "α",
        "privacy of a user, certified",
        ("alpha0", "m", "n", "delta"),
        scale=Scale.LOG,
        unit="1/diameter",
        latex=r"\alpha",
    ),
    Quantity(
        "delta",
        "δ′",
        "failure probability",
        ("alpha", "alpha0", "m", "n"),
        scale=Scale.LOG,
        latex=r"\delta'",
    ),
    Quantity(
        "noise",
        "d̄",
        "mean distance of an answer",
        ("alpha", "m", "n", "delta"),
        scale=Scale.LOG,
        unit="diameters",
        latex=r"\overline{d}",
        statistic=Statistic.MEAN,
    ),
)
