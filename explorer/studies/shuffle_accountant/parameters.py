"""What can be set and plotted in the shuffle accountant."""

from explorer.privacy.shuffle_rdp.ternary import ALPHA_MAX
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.builders import choice, count, delta, epsilon, orders, real, share
from explorer.studies.base.study import Quantity, Scale

PARAMETERS = (
    epsilon("local privacy",
            "Privacy of every single message before it is shuffled. Smaller is more private.",
            2.0, 0.01, 10.0, key="eps0", symbol="ε₀"),
    count("n", "n", "clients", "How many clients there are. More is more private.",
          1_000_000, 1, 1_000_000_000, unit="clients", more_private="high",
          quantities=("eps", "rdp", "own", "epochs")),
    count("k", "k", "clients sampled",
          "How many clients are sampled in a round and shuffled together. Fewer hide better in "
          "the sample, more hide better in the shuffle.",
          1_000, 1, 1_000_000_000, unit="clients"),
    count("T", "T", "rounds", "How many rounds are run. Fewer is more private.",
          100_000, 1, 100_000_000, unit="rounds", more_private="low",
          quantities=("eps", "own", "epochs")),
    delta(1e-8, quantities=("eps", "own", "epochs")),
    orders("Order of the Rényi divergence.",
           8, key="lam", symbol="λ", name="Rényi order", latex=r"\lambda", quantities=("rdp",)),
    orders("The conversion to ε takes the best order from 2 to here. Any choice is sound; a small "
           "one can be loose.",
           quantities=("eps",)),
    choice("clones", "", "clones analysis",
           "Which analysis of the clones the numerical curves use. Where clients are sampled both "
           "need one common, non-adaptive randomiser a round.",
           Clones.PUBLISHED.value,
           ((Clones.PUBLISHED.value, "2021, as published"),
            (Clones.STRONGER.value, "2023, sharper")),
           quantities=("eps", "rdp", "epochs")),
    count("alpha", "α", "power",
          "Power of |(P−Q)/R| in Definition 4: Theorem 1 adds up bounds on all from 2 to λ.",
          2, 2, ALPHA_MAX, latex=r"\alpha", quantities=("ternary",)),
    choice("randomiser", "", "randomiser",
           "What every client of a round runs, if it is known: then less need be assumed of the "
           "worst case than by the clones.",
           "krr", (("krr", "k-ary randomised response"),
                   ("privunit", "PrivUnit (a cap of a sphere)")),
           quantities=("own",)),
    count("outcomes", "d", "values of the randomised response",
          "How many values a record, and so a message, can have.",
          10, 2, 1_000_000, unit="values", quantities=("own",),
          relevant_when=(("randomiser", ("krr",)),)),
    share("theta", "θ", "share of the sphere in the cap",
          "A message is e^ε₀ times as likely inside the cap around the client's own direction as "
          "outside. One half is the mechanism of Duchi et al., smaller caps are PrivUnit's.",
          0.1, 0.0001, 0.5, latex=r"\theta", quantities=("own",),
          relevant_when=(("randomiser", ("privunit",)),)),
    real("gamma", "γ", "sampling rate", "k/n. As an axis: k = round(γn) clients are sampled.",
         1e-3, 1e-9, 1.0, latex=r"\gamma", axis_only=True, replaces=("k",)),
)  # fmt: skip

QUANTITIES = (
    Quantity("eps", "ε", "privacy after T rounds", ("T", "k", "n", "eps0", "delta", "gamma"),
             scale=Scale.LOG, latex=r"\varepsilon"),
    Quantity("rdp", "ε(λ)", "Rényi DP of one round", ("lam", "eps0", "k", "n", "gamma"),
             scale=Scale.LOG, latex=r"\varepsilon(\lambda)"),
    Quantity("own", "ε", "of one known randomiser, T rounds", ("T", "k", "n", "eps0", "delta"),
             scale=Scale.LOG, latex=r"\varepsilon"),
    Quantity("epochs", "ε", "privacy if each client takes part once an epoch",
             ("T", "k", "n", "eps0", "delta"), scale=Scale.LOG, latex=r"\varepsilon"),
    Quantity("ternary", "D", "ternary divergence of one shuffle", ("k", "alpha", "eps0"),
             scale=Scale.LOG, latex=r"D_\alpha"),
)  # fmt: skip
