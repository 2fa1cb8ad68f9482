"""What can be set and plotted of the reduction to one size."""

from explorer.studies.base.builders import count, delta, epsilon, real
from explorer.studies.base.study import Quantity, Scale
from explorer.studies.metric_space.parameters import space_parameters

PARAMETERS = (
    epsilon(
        "privacy within r",
        "The privacy parameter asked for two data sets of a user that are at most r apart. "
        "Smaller is more private.",
        0.2,
        1e-3,
        20.0,
    ),
    real(
        "r",
        "r",
        "distance protected",
        "Data sets of a user at most so far apart (earth mover's distance, as a share of the "
        "largest) are protected at ε. A larger r is more private.",
        0.008,
        1e-5,
        1.0,
        more_private="high",
    ),
    count(
        "s",
        "s",
        "draws from every user",
        "How many items are drawn, with replacement, from every user's data set whatever its "
        "size. More draws cost no privacy: they only make the release larger.",
        10_000,
        1,
        10**9,
        unit="draws",
    ),
    delta(
        1e-12,
        1e-40,
        help="The δ of the mechanism on the draws, and again the probability that the draws are "
        "farther apart than the threshold: 2δ together. Smaller is more private.",
    ),
    real(
        "d",
        "d",
        "distance looked at",
        "Earth mover's distance of two data sets of a user, as a share of the largest: reached "
        "in k = ⌈d/r⌉ hops.",
        0.04,
        1e-4,
        1.0,
    ),
    *space_parameters(),
)

QUANTITIES = (
    Quantity(
        "alpha",
        "α",
        "largest allowed on the draws",
        ("s", "r", "eps", "delta"),
        scale=Scale.LOG,
        unit="1/diameter",
        latex=r"\alpha",
    ),
    Quantity("threshold", "c", "distance of the draws", ("s", "r", "delta"), scale=Scale.LOG),
    Quantity(
        "group_eps",
        "kε",
        "privacy over distance",
        ("d", "r", "eps"),
        scale=Scale.LOG,
        latex=r"k\varepsilon",
    ),
    Quantity(
        "group_delta",
        "δₖ",
        "failure probability over distance",
        ("d", "r", "eps", "delta"),
        scale=Scale.LOG,
        latex=r"\delta_k",
    ),
)
