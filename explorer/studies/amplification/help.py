"""The amplification study's help."""

from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.studies.amplification import text
from explorer.studies.base.help_page import Formula, Page

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
        text.CLOSED,
        text.EXACT_2021,
        text.EXACT_2023,
        text.LOWER,
        text.LOCAL,
        text.CONDITION_8,
        text.CONDITION_9,
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
