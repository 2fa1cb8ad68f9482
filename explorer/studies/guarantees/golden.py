"""Golden values: numbers of the papers, or derived anew, that this installation must reproduce.

Each is requested from a study and must agree to the digits given here. They were computed outside
this program: with 50 digits, by enumeration, or by another implementation.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from explorer.privacy.core import bound
from explorer.studies.base.study import Value


@dataclass(frozen=True, slots=True)
class Golden:
    """Numbers that the answer to a request must have.

    Attributes
    ----------
    source : str
        The paper, and where in it.
    study, quantity : str
    values : tuple of (key, value)
        What is not at its default.
    numbers : tuple of (key, str)
        Of a readout, and the number; right within one unit of its last digit.
    """

    source: str
    study: str
    quantity: str
    values: tuple[tuple[str, Value], ...]
    numbers: tuple[tuple[str, str], ...]


def agrees(value: float | None, golden: str) -> bool:
    """Return whether a number is a golden one within a unit of the last digit printed."""
    if value is None or not math.isfinite(value):
        return False
    unit = Decimal(1).scaleb(int(Decimal(golden).as_tuple().exponent))
    return abs(Decimal(repr(float(value))) - Decimal(golden)) <= unit


SHUFFLE, METRIC, COORDINATE = (
    paper.partition(" (")[0] for paper in (bound.SHUFFLE_RDP, bound.USER_METRIC, bound.COORDINATES)
)
"""The papers by their authors alone."""
_FIGURE_5B = (
    ("eps0", 2.0),
    ("n", 60_000),
    ("k", 2_000),
    ("delta", 1e-5),
    ("epochs", 200),
)
GOLDEN = (
    Golden(
        f"{SHUFFLE}, Figure 2 (a)",
        "shuffle-rdp",
        "eps",
        (),
        (
            ("theorem1", "1.0402185"),
            ("order", "28"),
            ("unamplified", "14.252"),
            ("clones_numerical", "2.530"),
            ("kov_exact", "2.214"),
            ("numerical_upper", "0.20777"),
            ("rdp_clones", "0.22134"),
            ("lower_2rr", "0.1373"),
        ),
    ),
    Golden(
        f"{SHUFFLE}, Figure 4 (a)",
        "shuffle-rdp",
        "eps",
        (("eps0", 3.0),),
        (
            ("theorem1", "4.0862"),
            ("clones_numerical", "20.45"),
            ("numerical_upper", "0.4495"),
            ("rdp_clones", "0.47767"),
        ),
    ),
    Golden(f"{SHUFFLE}, Theorem 1", "shuffle-rdp", "rdp", (), (("rdp_clones", "7.6761e-8"),)),
    Golden(
        f"{SHUFFLE}, Theorems 4 and 5",
        "shuffle-rdp",
        "ternary",
        (),
        (
            ("theorem4", "0.3250"),
            ("sharp_mixed", "0.06425"),
        ),
    ),
    Golden(f"{SHUFFLE}, Figure 5 (b)", "cldp-sgd", "eps", _FIGURE_5B, (("theorem", "5.7946"),)),
    Golden(
        "Feldman, McMillan and Talwar 2021 and 2023",
        "amplification",
        "eps",
        (("eps0", 4.0),),
        (
            ("exact_2021", "0.1697698"),
            ("exact_2023", "0.1181531"),
            ("lower", "0.117025"),
        ),
    ),
    Golden(
        "Balle, Bell, Gascón and Nissim 2019, 10-ary randomised response",
        "amplification",
        "own",
        (("n", 10_000), ("eps0", 1.0)),
        (("own_blanket", "0.02325"), ("exact_2023", "0.0432062"), ("exact_2021", "0.0530053")),
    ),
    Golden(
        f"{bound.HISTOGRAMS}, Theorem 3.2",
        "histograms",
        "noise",
        (),
        (
            ("noise", "42.75"),
            ("paper_noise", "3040"),
        ),
    ),
    Golden(
        f"{bound.HISTOGRAMS}, Theorem 3.1",
        "histograms",
        "noise",
        (("release", "count"),),
        (
            ("noise", "34.07"),
            ("paper_noise", "725"),
        ),
    ),
    Golden(f"{METRIC}, Section 3", "choose-alpha", "alpha", (), (("alpha", "24.90"),)),
    Golden(
        f"{METRIC}, Section 4.1",
        "linear-queries",
        "true_delta",
        (),
        (
            ("printed", "4.5e-5"),
            ("textbook", "1.26e-9"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 4.2, central",
        "itemwise",
        "alpha0",
        (),
        (
            ("exact", "3.8489"),
            ("tight", "2.484"),
            ("simple", "2.405"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 4.2, local",
        "itemwise",
        "alpha0",
        (("model", "local"),),
        (
            ("exact", "0.08067"),
            ("tight", "0.02497"),
            ("printed", "0.00317"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 6.2: one drawn item a user",
        "frequency",
        "rmse",
        (("space", "discrete"), ("space_items", 100), ("eps", 3.0), ("n", 10_000)),
        (("one_hadamard", "0.1105"), ("one_grr", "0.0621"), ("one_priv_unit", "0.0854")),
    ),
    Golden(
        f"{METRIC}, Theorem 5.3",
        "unbounded",
        "threshold",
        (),
        (
            ("chernoff", "0.01547"),
            ("printed", "0.02760"),
        ),
    ),
    Golden(
        f"{COORDINATE}, Figure 3 at q = 0.1",
        "coordinate-mean",
        "mse",
        (),
        (
            ("baseline", "1.504"),
            ("paper", "1.564"),
            ("best_zeta", "0.901"),
            ("exact", "0.736"),
            ("hybrid", "0.184"),
        ),
    ),
    Golden(
        f"{bound.HEATMAPS}, Figure 12 at B = 256",
        "heatmap-theory",
        "bits",
        (("n", 50), ("epsilon", 5.0), ("delta", 1e-5), ("pyramid", "salicon")),
        (("printed", "7.14"),),
    ),
)
