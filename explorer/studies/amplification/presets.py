"""Published numbers about one shuffle, and the places where its analyses part."""

from explorer.studies.base.help_page import Preset
from explorer.studies.base.study import Scale, Sweep

PRESETS = (
    Preset(
        "published-bracket",
        "A published bracket",
        "ε₀ = 4, n = 1e5, δ = 1e-6, where another implementation of the 2021 analysis publishes an "
        "interval for ε.",
        (("eps0", 4.0), ("n", 100_000), ("delta", 1e-6)),
        "eps",
        Sweep("n", 1000, 1e7, 100, Scale.LOG),
        "ε lies in [0.16753858, 0.17279055] (published with the 2021 analysis).",
        "0.1697698 by the 2021 analysis evaluated exactly, inside; 0.1181531 by the 2023 one, "
        "which no other for all common randomisers can better by more than 1 %: the lower bound "
        "(2RR, 3RR) is 0.1170.",
        status="=",
        verdict="0.1698, inside",
    ),
    Preset(
        "small-eps0",
        "ε₀ = 1, ten thousand messages",
        "The regime the closed form was made for: small ε₀, a large crowd. ε falls like 1/√n.",
        (("eps0", 1.0), ("n", 10_000), ("delta", 1e-6)),
        "eps",
        Sweep("n", 1000, 1e7, 100, Scale.LOG),
        "",
        "0.05301 by the 2021 analysis, 0.04321 by the 2023 one.",
        status="+",
        verdict="0.04321, not 0.05301",
    ),
    Preset(
        "million",
        "ε₀ = 1, a million messages",
        "As before, with a hundred times the crowd and a tenth of the ε.",
        (("eps0", 1.0), ("n", 1_000_000), ("delta", 1e-6)),
        "eps",
        Sweep("eps0", 0.1, 8, 100, Scale.LOG),
        "",
        "0.004335 by the 2021 analysis, 0.003514 by the 2023 one.",
        status="+",
        verdict="0.003514, not 0.004335",
    ),
    Preset(
        "condition-ignored",
        "What ignoring the condition would claim",
        "ε₀ = 4, n = 1000, δ = 5e-11: condition (8) fails by far. The closed form is not drawn; "
        "the guarantee says what it would claim, and what one real randomiser leaks there.",
        (("eps0", 4.0), ("n", 1000), ("delta", 5e-11)),
        "eps",
        Sweep("eps0", 0.1, 8, 100, Scale.LOG),
        "The closed form is compared under parameters where (8) with k and δ₀ fails (Girgis et "
        "al., Figures 2 and 4).",
        "It would claim 2.347; binary randomised response has δ = 6.8e-8 there, 1,360 times what "
        "is allowed.",
        status="≠",
        verdict="δ is 1,360 times too large",
    ),
    Preset(
        "condition-8",
        "Where the closed forms say anything",
        "The largest ε₀ of conditions (8) and (9) against the size of the crowd, at δ = 1e-8. At "
        "n = 1000, the crowd of the paper's Figures 2 and 4, ε₀ = 3 is outside both.",
        (("eps0", 3.0), ("n", 1000), ("delta", 1e-8)),
        "region",
        Sweep("n", 100, 1e9, 100, Scale.LOG),
        "“When n = 10⁶, ε₀ = 3, and we choose k = 1000 clients at each iteration, then the "
        "conditions in (8) and (9) do not hold” (Section 4).",
        "At n = 1000 the limits are 1.185 and 1.997: neither holds at ε₀ = 3, and (9) fails, "
        "barely, at ε₀ = 2 as well.",
        status="=",
        verdict="neither holds at ε₀ = 3",
    ),
    Preset(
        "delta-curve",
        "The whole privacy curve",
        "δ against ε for ε₀ = 4 and n = 1e5: a shuffle has not one (ε, δ) but a curve of them.",
        (("eps0", 4.0), ("n", 100_000), ("eps", 0.1697698)),
        "delta",
        Sweep("eps", 0.01, 1, 100, Scale.LOG),
        "",
        "δ = 1.0e-6 at ε = 0.1697698 by the 2021 analysis.",
        status="+",
        verdict="δ against every ε",
    ),
    Preset(
        "known-randomiser",
        "One known randomiser",
        "Randomised response among ten values at ε₀ = 1, known to be what everybody runs: its own "
        "bounds beside those for every randomiser.",
        (("randomiser", "krr"), ("outcomes", 10), ("eps0", 1.0), ("n", 10_000), ("delta", 1e-6)),
        "own",
        Sweep("n", 100, 1e7, 100, Scale.LOG),
        "",
        "0.02326 by its blanket, 0.04321 by the clones of 2023.",
        status="+",
        verdict="0.02326, not 0.04321",
    ),
    Preset(
        "own-table",
        "Your own table",
        "A table typed by hand: two inputs, three outputs. For few clients the exact value, all "
        "counts listed; type your own numbers in it.",
        (
            ("randomiser", "typed"),
            ("table", "0.7 0.2 0.1; 0.1 0.2 0.7"),
            ("n", 12),
            ("delta", 0.05),
        ),
        "own",
        Sweep("n", 2, 1000, 100, Scale.LOG),
        "",
        "Exactly 0.9811; 1.121 by its blanket, 1.661 by the clones of 2023.",
        status="+",
        verdict="exactly 0.9811",
    ),
)
