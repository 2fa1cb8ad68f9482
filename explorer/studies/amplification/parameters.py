"""What can be set and plotted in the amplification study."""

from explorer.studies.base.builders import count, delta, epsilon
from explorer.studies.base.study import Quantity, Scale

PARAMETERS = (
    epsilon("local privacy",
            "Privacy of every single message before it is shuffled. Smaller is more private.",
            2.0, 0.01, 10.0, key="eps0", symbol="ε₀"),
    count("n", "n", "messages shuffled together",
          "How many clients send one message each into the same shuffle (k in a sampled round). A "
          "larger crowd is more private.",
          100_000, 1, 1_000_000_000, unit="clients", more_private="high"),
    delta(1e-6, quantities=("eps", "region"),
          help="With what probability the guarantee may fail; in a composition, the share δ₀ of "
               "one round. Smaller is more private."),
    epsilon("central privacy",
            "The ε at which δ is asked for. Smaller is more private, and has a larger δ.",
            0.1, 0.0001, 10.0, quantities=("delta",)),
)  # fmt: skip

QUANTITIES = (
    Quantity("eps", "ε", "privacy after the shuffle", ("eps0", "n", "delta"), scale=Scale.LOG,
             latex=r"\varepsilon"),
    Quantity("delta", "δ", "failure probability at ε", ("eps", "eps0", "n"), scale=Scale.LOG,
             latex=r"\delta"),
    Quantity("region", "ε₀", "largest with a closed form", ("n", "delta"), scale=Scale.LINEAR,
             latex=r"\varepsilon_0"),
)  # fmt: skip
