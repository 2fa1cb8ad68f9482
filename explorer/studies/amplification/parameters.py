"""What can be set and plotted in the amplification study."""

from explorer.studies.base.builders import (
    choice,
    count,
    delta,
    epsilon,
    share,
)
from explorer.studies.base.randomiser_table import table_parameters
from explorer.studies.base.study import Quantity, Scale

_OWN = ("own", "own_delta")


def _with(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("randomiser", (kind,)),)


PARAMETERS = (
    epsilon(
        "local privacy",
        "Privacy of every single message before it is shuffled. Smaller is more private.",
        2.0,
        0.01,
        10.0,
        key="eps0",
        symbol="ε₀",
    ),
    count(
        "n",
        "n",
        "messages shuffled together",
        "How many clients send one message each into the same shuffle (k in a sampled round). A "
        "larger crowd is more private.",
        100_000,
        1,
        1_000_000_000,
        unit="clients",
        more_private="high",
    ),
    delta(
        1e-6,
        quantities=("eps", "region", "own"),
        help="With what probability the guarantee may fail; in a composition, the share δ₀ of "
        "one round. Smaller is more private.",
    ),
    epsilon(
        "central privacy",
        "The ε at which δ is asked for. Smaller is more private, and has a larger δ.",
        0.1,
        0.0001,
        10.0,
        quantities=("delta", "own_delta"),
    ),
    choice(
        "randomiser",
        "",
        "randomiser",
        "What every client runs on their own device before the shuffle. Given all its "
        "probabilities, less need be assumed of the worst case.",
        "krr",
        (
            ("krr", "k-ary randomised response"),
            ("unary", "unary encoding (a bit a value)"),
            ("laplace", "Laplace noise on [0, 1]"),
            ("privunit", "PrivUnit (a cap of a sphere)"),
            ("rinf", "R_∞: one coordinate's sign"),
            ("typed", "a table, typed"),
            ("file", "a table from a CSV file"),
        ),
        quantities=_OWN,
    ),
    count(
        "outcomes",
        "k",
        "values of the randomised response",
        "How many values a record, and so a message, can have. More values hide less often in "
        "the same message, but any one less certainly.",
        10,
        2,
        1_000_000,
        unit="values",
        quantities=_OWN,
        relevant_when=_with("krr"),
    ),
    share(
        "kept",
        "p",
        "own bit kept",
        "With what probability the bit of the client's own value is sent as 1; the other bits "
        "are set with the q that makes it ε₀-LDP. One half is optimised unary encoding.",
        0.5,
        0.01,
        0.99,
        quantities=_OWN,
        relevant_when=_with("unary"),
    ),
    share(
        "theta",
        "θ",
        "share of the sphere in the cap",
        "A message is e^ε₀ times as likely inside the cap around the client's own direction as "
        "outside. One half is the mechanism of Duchi et al., smaller caps are PrivUnit's.",
        0.1,
        0.0001,
        0.5,
        latex=r"\theta",
        quantities=_OWN,
        relevant_when=_with("privunit"),
    ),
    *table_parameters(
        "randomiser", "table", "0.6 0.2 0.2; 0.2 0.6 0.2; 0.2 0.2 0.6", {"quantities": _OWN}
    ),
)

QUANTITIES = (
    Quantity(
        "eps",
        "ε",
        "privacy after the shuffle",
        ("eps0", "n", "delta"),
        scale=Scale.LOG,
        latex=r"\varepsilon",
    ),
    Quantity(
        "delta",
        "δ",
        "failure probability at ε",
        ("eps", "eps0", "n"),
        scale=Scale.LOG,
        latex=r"\delta",
    ),
    Quantity(
        "own",
        "ε",
        "of one known randomiser",
        ("n", "delta", "eps0"),
        scale=Scale.LOG,
        latex=r"\varepsilon",
    ),
    Quantity(
        "own_delta",
        "δ",
        "of one known randomiser, at ε",
        ("eps", "n", "eps0"),
        scale=Scale.LOG,
        latex=r"\delta",
    ),
    Quantity(
        "region",
        "ε₀",
        "largest with a closed form",
        ("n", "delta"),
        scale=Scale.LINEAR,
        latex=r"\varepsilon_0",
    ),
)
