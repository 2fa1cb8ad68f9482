"""Help page and presets of the amplification study."""

from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.studies.amplification import theory
from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    surpasses,
    with_verdicts,
)
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import Scale, Sweep

PAGE = Page(
    what=(
        "Each of n people sends one message that is already randomised on their own device, so "
        "that alone it gives away at most ε₀. Before anybody looks, a shuffler mixes all "
        "messages: one can still count them, but no longer say whose is whose. Your message now "
        "hides in a crowd, and the ε that describes what can be learnt about you is much smaller "
        "than ε₀. How much smaller?",
        "The curves are answers of different sharpness. The closed form is what one can write "
        "down; it holds only while ε₀ is not too large for the crowd, and leaves the plot "
        "(shaded) where it does not. The two exact curves compute the same argument without "
        "losing anything. The lower bound is the worse of two particular randomisers, computed "
        "exactly: no statement about all randomisers can lie below it. They are randomised "
        "response on two symbols (2RR) and on three (3RR: one client moves from symbol 1 to 2, all "
        "others hold 3). From ε₀ = ln 2 on three symbols leak more, and if all others hold the "
        "same no randomiser leaks more than the worse of both, to first order: any has columns "
        "that are mixtures of patterns of 1 and e^ε₀, and the best weights of these patterns are "
        "a linear programme with these two solutions (solved numerically). So the true curve "
        "of the worst randomiser lies close above it.",
        "The x axis can be ε₀, the size n of the crowd, or δ; the y axis can be ε at δ, δ at a "
        "given ε, or the largest ε₀ up to which a closed form says anything.",
        "If you know the randomiser that everybody runs, less is lost: choose one of the families, "
        "or give its table (a row for each input, a column for each output), typed or as a CSV "
        "file. For few clients its exact value is listed; for any number the blanket bound takes "
        "what all inputs have in common as the crowd, and the variation-ratio bound only three "
        "numbers of the table. A table is taken for one shuffle; through many rounds the worst "
        "pair of inputs may change, so the accountant takes families alone.",
    ),
    assumptions=(
        "Neighbouring data sets differ by replacing one client's record; n is public.",
        "Every client sends exactly one message of an ε₀-LDP randomiser.",
        "The shuffler is trusted to forget who sent what, and the others really take part.",
        "For the 2023 curve: all clients use one common randomiser, fixed beforehand.",
    ),
    formulas=(
        Formula(
            "clones, closed form (2021)",
            r"\varepsilon\leq\ln\left(1+\frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}\left("
            r"\frac{8\sqrt{e^{\varepsilon_0}\ln(4/\delta)}}{\sqrt{n}}+"
            r"\frac{8e^{\varepsilon_0}}{n}\right)\right)",
        ),
        Formula(
            "its condition (8)",
            r"\varepsilon_0\leq\ln\left(\frac{n}{16\ln(2/\delta)}\right)",
        ),
        Formula(
            "clones, exact: C ~ Bin(n−1, p), S(x) the chance that Bin(C, ½) is at least x",
            r"\delta(\varepsilon)=E_C\left[\beta(e^{\varepsilon_0}-e^{\varepsilon})\,S(a-1)-"
            r"\beta(e^{\varepsilon+\varepsilon_0}-1)\,S(a)\right],\quad"
            r"\beta=\frac{1}{e^{\varepsilon_0}+1}",
        ),
        Formula(
            "with the threshold",
            r"a=\lfloor(C+1)\tau\rfloor+1,\quad\tau=\frac{e^{\varepsilon+\varepsilon_0}-1}"
            r"{(e^{\varepsilon}+1)(e^{\varepsilon_0}-1)}",
        ),
        Formula(
            "and the chance that another message is a clone",
            r"p_{2021}=e^{-\varepsilon_0},\quad p_{2023}=\frac{2}{e^{\varepsilon_0}+1}",
        ),
        Formula(
            "2RR lower bound: m ~ Bin(n, 1/(e^ε₀+1)), both directions",
            r"\delta(\varepsilon)\geq E\left[(1+X-e^{\varepsilon})_+\right],\quad"
            r"X=\frac{e^{\varepsilon_0}-e^{-\varepsilon_0}}{n}"
            r"\left(m-\frac{n}{e^{\varepsilon_0}+1}\right)",
        ),
        Formula(
            "3RR lower bound: N ~ Bin(n, 2/(e^ε₀+2)) messages in {1, 2}, U ~ Bin(N, ½) of them "
            "1; both directions are alike",
            r"\delta(\varepsilon)\geq\frac{(e^{\varepsilon}+1)(e^{\varepsilon_0}-1)}{n}\,"
            r"E\left[(U-\theta_N)_+\right]",
        ),
        Formula(
            "with the threshold",
            r"\theta_N=\frac{(e^{\varepsilon+\varepsilon_0}-1)N+(e^{\varepsilon}-1)"
            r"(n-N)e^{-\varepsilon_0}}{(e^{\varepsilon}+1)(e^{\varepsilon_0}-1)}",
        ),
        Formula(
            "how good they are: to first order in 1/√n ε grows like the root of",
            r"\frac{(e^{\varepsilon_0}-1)^2}{e^{\varepsilon_0}}\;(2RR),\quad"
            r"\frac{2(e^{\varepsilon_0}-1)^2}{e^{\varepsilon_0}+2}\;(3RR),\quad"
            r"\frac{2(e^{\varepsilon_0}-1)^2}{e^{\varepsilon_0}+1}\;(clones\ 2023)",
        ),
        Formula(
            "one known randomiser: m(y) is the least of all inputs' probabilities of y",
            r"\delta(\varepsilon)\leq\frac{1}{n}E\left[\left(\sum_{i\leq n}g_i\right)_+\right],"
            r"\quad g_i=\frac{P(y)-e^{\varepsilon}Q(y)}{m(y)}\ {\rm w.p.}\ m(y),\ {\rm else}\ 0",
        ),
    ),
    sources=(
        BLANKET,
        VARIATION_RATIO,
        theory.CLOSED,
        theory.EXACT_2021,
        theory.EXACT_2023,
        theory.LOWER,
        theory.LOCAL,
        theory.CONDITION_8,
        theory.CONDITION_9,
    ),
    errata=(
        "Girgis, Data & Diggavi print condition (8) with the number of all clients and the total "
        "δ; what counts is the number of messages in one shuffle and the δ of that shuffle; here "
        "n is the size of the shuffle.",
        "The closed form is often used without its condition, which is unsound: at ε₀ = 4, "
        "n = 1000, δ = 5e-11 it claims 2.347, where binary randomised response has δ = 6.8e-8; we "
        "draw it only where the condition holds.",
        "The 2023 paper prints its theorem for all ε₀-LDP randomisers; its general proof carries "
        "an erratum (arXiv 2208.04591), which restricts the class; we show the curve with the "
        "condition “one common, non-adaptive randomiser”, for which a proof is known: the three "
        "parts that the changed client's two laws leave in every other message make the shuffled "
        "counts a mean-preserving contraction of the 2023 pair.",
        "Theorem 2 of Girgis, Data & Diggavi, whose pair gives the lower bound, is printed in one "
        "direction; the other counts too; we take the larger.",
    ),
)

_CURVES = ("exact_2021", "exact_2023", "closed", "local", "lower")
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
        curves=_CURVES,
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
        curves=_CURVES,
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
        curves=_CURVES,
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
        curves=(
            "exact_2021",
            "closed",
            "local",
            "lower",
            "outside",
        ),
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
        curves=(
            "condition_8",
            "condition_9",
            "here",
        ),
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
        curves=_CURVES,
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
        curves=(
            "own_exact",
            "own_blanket",
            "own_ratio",
            "exact_2023",
            "exact_2021",
        ),
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
        curves=(
            "own_exact",
            "own_blanket",
            "own_ratio",
            "exact_2023",
        ),
    ),
)


def _in_bracket(found: Numbers) -> tuple[Status, str]:
    """Judge by the interval published with the 2021 analysis."""
    inside = 0.16753858 <= found["exact_2021"] <= 0.17279055
    return (
        "=" if inside else "≠"
    ), f"ε {at_most(found['exact_2021'])}, {'in' if inside else 'out'}side"


def _judge_ignored(found: Numbers) -> tuple[Status, str]:
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
    "condition-ignored": _judge_ignored,
    "condition-8": _conditions,
    "delta-curve": _at_every_epsilon,
    "known-randomiser": surpasses("own_blanket", "exact_2023", "ε {}, not {}"),
    "own-table": lambda found: ("+", f"ε exactly {nearest(found['own_exact'])}"),
}
PRESETS = with_verdicts("amplification", _PRESETS, JUDGES)
