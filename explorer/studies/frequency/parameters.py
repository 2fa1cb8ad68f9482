"""What can be set and plotted of frequency estimation."""

from explorer.studies.base.builders import choice, count, delta, epsilon, simulate, trials
from explorer.studies.base.study import Quantity, Scale, Statistic
from explorer.studies.metric_space.parameters import CLUSTERED, DISCRETE, space_parameters

CENTRAL, LOCAL = "central", "local"
EVEN, SKEWED, ONE = "even", "skewed", "one"
BEST = "best"
ALPHA_MAX = 800.0
_ERRORS = ("emd", "rmse", "cluster")
_SIMULATED = (("simulate", ("True",)),)

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Local: every user shuffles and sends their own randomised items. Central: the items of "
        "all users are shuffled together, and Laplace noise is added once by a curator.",
        LOCAL,
        (
            (LOCAL, "local: each user shuffles their own items"),
            (CENTRAL, "central: all users' items together"),
        ),
    ),
    epsilon(
        "metric privacy of a user",
        "The privacy of a user's whole data, per largest distance: a change by earth mover's "
        "distance w is protected at ε = αw, so that moving everything within its cluster is "
        "at αr. Smaller is more private.",
        25.0,
        1e-2,
        ALPHA_MAX,
        key="alpha",
        symbol="α",
        unit="1/diameter",
    ),
    epsilon(
        "privacy of one item",
        "The parameter with which GKRR randomises an item: an axis. The sliders' own α₀ "
        "follows from α.",
        1.0,
        1e-3,
        50.0,
        key="alpha0",
        symbol="α₀",
        unit="1/diameter",
        axis_only=True,
        replaces=("alpha",),
        quantities=_ERRORS,
    ),
    epsilon(
        "user-level privacy",
        "The parameter of user-level differential privacy, which protects all changes of a "
        "user's data alike: what Hadamard response and Laplace noise are set to. Smaller is "
        "more private.",
        1.0,
        1e-2,
        50.0,
    ),
    delta(
        1e-12,
        1e-40,
        help="What the shuffle (for GKRR) and composition (for Hadamard response) may fail by. "
        "Smaller is more private.",
    ),
    count(
        "m",
        "m",
        "items of a user",
        "How many items every user has: one public number for all.",
        1000,
        1,
        10**6,
    ),
    count("n", "n", "users", "How many users there are.", 100_000, 1, 10**9),
    choice(
        "compared",
        "",
        "compared by",
        "Which error decides where one mechanism beats another: the ℓ2 error, which is exact "
        "for all, or the mean earth mover's distance, which is exact for Laplace noise and "
        "estimated for the others.",
        "emd",
        (
            ("emd", "mean earth mover's distance (estimate)"),
            ("rmse", "root mean square error (exact)"),
        ),
        quantities=("wins",),
    ),
    choice(
        "rival",
        "",
        "compared with",
        "Which user-level mechanism GKRR must beat. The paper compares with Hadamard response "
        "in the local and with Laplace noise in the central model. One item drawn from each "
        "user's is a rival in the local model.",
        BEST,
        (
            (BEST, "the best of all"),
            ("hadamard", "Hadamard response"),
            ("laplace", "Laplace noise"),
            ("one_item", "one drawn item a user"),
        ),
        quantities=("wins",),
    ),
    *space_parameters(kinds=(CLUSTERED, DISCRETE), default=CLUSTERED),
    simulate(
        "Draw data, randomise them and mark the errors found: of the signed estimates and of "
        "those projected to a proper histogram.",
        quantities=_ERRORS,
    ),
    choice(
        "data",
        "",
        "data drawn",
        "How all users' items are spread over the space. GKRR's ℓ2 error is the same for all "
        "data; what a projection gains is not.",
        SKEWED,
        (
            (SKEWED, "skewed: the j-th item has a share like 1/j"),
            (EVEN, "even: all items alike"),
            (ONE, "one item only"),
        ),
        group="simulation",
        quantities=_ERRORS,
        relevant_when=_SIMULATED,
    ),
    trials(
        "How often each mechanism is run at each point of the simulation.",
        20,
        500,
        quantities=_ERRORS,
        relevant_when=_SIMULATED,
    ),
)

_SPACE = ("space_clusters", "space_each", "space_near", "space_items")
_AXES = ("alpha", "eps", "n", "m", "delta", "alpha0", *_SPACE)
QUANTITIES = (
    Quantity(
        "emd",
        "EMD",
        "mean earth mover's distance",
        _AXES,
        scale=Scale.LOG,
        latex=r"\mathrm{EMD}",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "rmse",
        "RMSE",
        "root mean square error, ℓ2",
        _AXES,
        scale=Scale.LOG,
        statistic=Statistic.RMS,
    ),
    Quantity(
        "cluster",
        "RMSE",
        "root mean square error of cluster masses",
        _AXES,
        scale=Scale.LOG,
        statistic=Statistic.RMS,
    ),
    Quantity(
        "wins",
        "α",
        "edge of where GKRR wins",
        ("eps", "n", "m", "delta", *_SPACE),
        scale=Scale.LOG,
        unit="1/diameter",
        latex=r"\alpha",
    ),
)
