"""Published numbers about one shuffle, and the places where its analyses part."""

from explorer.studies.base.help_page import Preset, Status
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.base.verdicts import Judge, Numbers, judged, surpasses

_PRESETS = (
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
    ),
)


def _in_bracket(found: Numbers) -> tuple[Status, str]:
    """Judge by the interval published with the 2021 analysis."""
    inside = 0.16753858 <= found["exact_2021"] <= 0.17279055
    return (
        "=" if inside else "≠"
    ), f"ε {at_most(found['exact_2021'])}, {'in' if inside else 'out'}side"


def _ignored(found: Numbers) -> tuple[Status, str]:
    """Judge the closed form's ε by the δ that randomised response has there."""
    factor = found["leak"] / found["allowed"]
    return ("≠" if factor > 1 else "="), f"δ is {nearest(factor, 3)} times too large"


def _conditions(found: Numbers) -> tuple[Status, str]:
    """Judge “the conditions do not hold” by the largest ε₀ that each allows."""
    hold = sum(found[name] >= 3.0 for name in ("condition_8", "condition_9"))
    return ("≠" if hold else "="), f"{('neither holds', 'one holds', 'both hold')[hold]} at ε₀ = 3"


def _at_every_epsilon(found: Numbers) -> tuple[Status, str]:
    return "+", f"δ {at_most(found['exact_2021'], 2)} at the ε of 2021"


JUDGES: dict[str, Judge] = {
    "published-bracket": _in_bracket,
    "small-eps0": surpasses("exact_2023", "exact_2021", "ε {}, not {}"),
    "million": surpasses("exact_2023", "exact_2021", "ε {}, not {}"),
    "condition-ignored": _ignored,
    "condition-8": _conditions,
    "delta-curve": _at_every_epsilon,
    "known-randomiser": surpasses("own_blanket", "exact_2023", "ε {}, not {}"),
    "own-table": lambda found: ("+", f"ε exactly {nearest(found['own_exact'])}"),
}
PRESETS = judged("amplification", _PRESETS, JUDGES)
