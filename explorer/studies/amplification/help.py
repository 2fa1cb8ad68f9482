"""The amplification study's help."""

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
        "losing anything. The lower bound is one particular randomiser, computed exactly: no "
        "statement about all randomisers can lie below it.",
        "The x axis can be ε₀, the size n of the crowd, or δ; the y axis can be ε at δ, δ at a "
        "given ε, or the largest ε₀ up to which a closed form says anything.",
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
    ),
    sources=(
        text.CLOSED, text.EXACT_2021, text.EXACT_2023, text.LOWER, text.LOCAL,
        text.CONDITION_8, text.CONDITION_9,
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
)  # fmt: skip
