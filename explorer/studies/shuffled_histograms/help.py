"""The help of the study of shuffled histograms."""

from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
from explorer.studies.base.help_page import Formula, Page
from explorer.studies.shuffled_histograms import text

PAGE = Page(
    what=(
        "Many users each have one of d values (a home page, a map cell), and somebody wants to "
        "know how often each value occurs, without learning who has which. In the local model "
        "every user blurs their own answer, and the blur of all adds up. In the central model a "
        "trusted curator sees all answers and adds a little noise at the end. The shuffled model "
        "stands between: users send short messages to a shuffler that mixes them.",
        "In P_hist a user sends the number of their bin, and for every bin of the domain one more "
        "message with probability p close to 1. The analyzer counts: n users would make n noise "
        "messages a bin, a few are missing at random, and these few hide you. A bin that nobody "
        "has gets at most n messages and is reported as exactly 0, so the error does not grow "
        "with the number of bins; the number of messages does.",
        "The y axis can be the largest error of all bins, the error of one bin, its root mean "
        "square, the noise n(1−p), the least number of users, the messages a user sends, or the δ "
        "that is left when some users don't add their noise. Dots are runs of the protocol "
        "itself. The tables below the plot are Tables 1 and 2 of the paper at your sliders, the "
        "separation of Theorem 1.2, the paper's three reductions run, and small randomisers whose "
        "views are enumerated completely.",
    ),
    assumptions=(
        "Neighbouring data sets differ by replacing one user's value; n is public.",
        "All users who are counted on (nₕ) add their noise and keep it to themselves.",
        "The shuffler hides who sent what and how many messages a user sends.",
        "The list of bins is public and chosen without looking at the data.",
        "For the largest error of all bins (not for privacy): at most h different values occur "
        "among the users. If nothing is known, h is the smaller of n and d.",
    ),
    formulas=(
        Formula(
            "the paper's noise for one count",
            r"n(1-p)=\frac{50\,\ln(2/\delta)}{\varepsilon^2}",
        ),
        Formula(
            "for a histogram, run at half the target",
            r"n(1-p)=\frac{200\,\ln(4/\delta)}{\varepsilon^2}",
        ),
        Formula(
            "exact δ of one count, Z ~ Bin(n, 1−p), both directions",
            r"\delta(\varepsilon)=\sum_z\left(\Pr[Z=z]-e^{\varepsilon}\Pr[Z+1=z]\right)_+",
        ),
        Formula(
            "exact δ of a histogram: two bins change together",
            r"\delta(\varepsilon)=\sum_{y,z}\left(\Pr[(Z_1+1,Z_2)=(y,z)]-"
            r"e^{\varepsilon}\Pr[(Z_1,Z_2+1)=(y,z)]\right)_+",
        ),
        Formula(
            "largest error with probability 1−β, for ln(2h/β) ≤ (9/4)np(1−p)",
            r"\alpha=(1-p)+2\sqrt{\frac{p(1-p)\,\ln(2h/\beta)}{n}}",
        ),
        Formula(
            "the same as printed, Theorem 3.2(iii) at (ε/2, δ/2): β/n whatever h is, without √p",
            r"\alpha=\frac{200\,\ln(4/\delta)}{\varepsilon^2n}+\frac{1}{\varepsilon n}"
            r"\sqrt{800\,\ln(4/\delta)\,\ln(2n/\beta)}",
        ),
        Formula("messages of a user", r"1+dp\leq 1+d"),
        Formula(
            "local, unary encoding (Hoeffding)",
            r"\alpha=\sqrt{\frac{\ln(2d/\beta)}{2n}}\,\coth(\varepsilon/4)",
        ),
        Formula(
            "central, stability-based",
            r"\alpha=\frac{1}{n}\left(1+\frac{2}{\varepsilon}\ln\frac{2}{\delta}+"
            r"\frac{2}{\varepsilon}\ln\frac{h}{\beta}\right)",
        ),
    ),
    sources=(
        text.THEOREM_31,
        text.THEOREM_32,
        text.PRINTED_31,
        text.PRINTED_32,
        text.EXACT,
        text.TAILS,
        text.LAW,
        text.MESSAGES,
        text.TABLE_1,
        text.TABLE_2,
        text.CLAIMS,
        UNARY,
        text.WARNER,
        LAPLACE,
        STABLE,
    ),
    errata=(
        "The paper prints P_hist's privacy as (2ε, 2δ) in Theorem 3.2 and as (ε, δ) in the tables, "
        "which hides a factor in O(·); for a target (ε, δ) we run it at (ε/2, δ/2), noise "
        "200 ln(4/δ)/ε².",
        "The paper prints the constant 50, which is sufficient but at δ = 1e-6 from 21 times "
        "(one count, ε = 1) to 89 times (a histogram, ε = ½) too large; we show it beside the "
        "least noise whose exact δ is at most δ. δ is not monotone in p near ½, so a p is accepted "
        "only after its own δ was evaluated.",
        "The paper prints α without a factor √p that its proof has, and shares β among all n users "
        "for the largest error; that is drawn as “as printed”. The other curves use the proof's "
        "form, which is a little smaller, and share β among the h values that occur (the paper "
        "does so itself in footnote 5); one takes the binomial's own tails.",
        "The paper prints the ranges ε, δ in [0, 1] and p in (½, 1); ε and δ must not be 0, and "
        "p = ½ is allowed; we use these.",
        "Claim 3.4's proof prints δ > (1/(200h))^(1/25), which must be δ <, as in the claim; and "
        "h log h is 0 for h = 1; we use h·max(1, ln h) where only the order is known.",
        "Everything is for replaced users with public n. If users may leave, the paper's noise "
        "still gives a tiny δ, but the exact minimum does not (1.4e-3 instead of 1e-6); the "
        "guarantee says how much.",
        "The analyzer compares the number of messages with n as integers; the paper's c* > 1 in "
        "floating point is another question. Outputs never fall in (0, 1−p], and near counts of "
        "n(1−p) the bias of cutting to 0 is the largest part of the error.",
    ),
)
