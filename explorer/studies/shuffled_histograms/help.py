"""Help page and presets of the study of shuffled histograms."""

from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
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
from explorer.studies.base.numbers import at_most, format_number, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.shuffled_histograms.theory import (
    CLAIMS,
    EXACT,
    LAW,
    MESSAGES,
    PRINTED_31,
    PRINTED_32,
    TABLE_1,
    TABLE_2,
    TAILS,
    THEOREM_31,
    THEOREM_32,
    WARNER,
)

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
        "views are enumerated completely, one of your own among them.",
        "“Histogram of your column, run” runs P_hist on a column of a CSV file: what the first "
        "users send, what the shuffler passes on, and what the analyzer says of every bin, beside "
        "the truth.",
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
        THEOREM_31,
        THEOREM_32,
        PRINTED_31,
        PRINTED_32,
        EXACT,
        TAILS,
        LAW,
        MESSAGES,
        TABLE_1,
        TABLE_2,
        CLAIMS,
        UNARY,
        WARNER,
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

_PRESETS = (
    Preset(
        "table-1",
        "Table 1: error against the domain",
        "The error of every model against d, from a thousand bins to more than any list could "
        "hold: P_hist's does not move, nor does that of the stability-based curator, who also "
        "looks only at values that occur. The Laplace curator's grows with ln d, the local one's "
        "with √ln d. Lines called “order only” have no constant in the paper; the central one "
        "stops growing at d = 1/δ. As the table assumes, ε < 1 and δ < 1/n.",
        (("n", 1_000_000), ("eps", 0.5), ("delta", 1e-7), ("h", 1000)),
        "error",
        Sweep("d", 1000, 1e15, 100, Scale.LOG),
        "“A histogram with error independent of the domain size” (abstract, Theorem 3.2).",
        "P_hist calibrated exactly, where at most h = 1000 values occur: 2.545e-4 at every d "
        "(2.237e-4 by exact tails); with the paper's constants .01477, as printed (β/n, no h) "
        ".015.",
        curves=(
            "tails",
            "paper",
            "local",
            "central",
            "stable",
            "local_order",
            "cheu_order",
            "few_order",
            "fewest_order",
            "central_order",
        ),
    ),
    Preset(
        "table-2",
        "Table 2 and Theorem 1.2: samples",
        "How many users pointer chasing and pointer jumping need in every model: the tables below "
        "the plot, with the paper's reductions run. Lines called “order only” have no constant in "
        "the paper and are no crossing points.",
        (("eps", 1.0), ("delta", 1e-6), ("levels", 5), ("length", 100)),
        "users",
        Sweep("eps", 0.1, 1, 100, Scale.LOG),
        "Shuffled protocols need as many samples for every ℓ, local ones of one message Ω(ℓ/e^ε) "
        "(Theorem 1.2, Table 2).",
        "P_hist needs 13,633 users with the paper's constants and 320 calibrated exactly, for "
        "every ℓ from 100 to 1e8; the local order grows from 37 to 3.7e7.",
        curves=(
            "users",
            "paper_users",
        ),
    ),
    Preset(
        "theorem-4-1",
        "Theorem 4.1: who sees what",
        "Small protocols of three users, all inputs and all messages: how private what one user "
        "sends is in order, and how private behind the shuffle. In the table below the plot; a "
        "randomiser of your own goes with them.",
        (("eps", 1.0), ("delta", 1e-6), ("crowd", 3)),
        "users",
        Sweep("eps", 0.1, 1, 100, Scale.LOG),
        "One message and pure behind the shuffle is pure locally (Claim 4.2); several messages "
        "need not be (Claims 4.3 and 4.4).",
        "Randomised response with truth 3/4 is log 3 = 1.0986 either way; R_gap, four bits of "
        "which one input never has two, has no finite level locally and 0.6694 behind the shuffle.",
        curves=(
            "users",
            "paper_users",
        ),
    ),
    Preset(
        "noise-histogram",
        "The constant 50, histogram",
        "The noise n(1−p) that a histogram needs at (1, 1e-6), against the number of users.",
        (("eps", 1.0), ("delta", 1e-6), ("n", 10_000)),
        "noise",
        Sweep("n", 100, 1e7, 100, Scale.LOG),
        "1−p = 50 ln(2/δ)/(ε²n) (Figure 1), at half the target: 3040.",
        "The exact minimum is 42.75 at n = 1e4 and 42.66 in the limit: 71 times less.",
        curves=(
            "noise",
            "paper_noise",
        ),
    ),
    Preset(
        "noise-count",
        "The constant 50, one count",
        "The same for a single count.",
        (("release", "count"), ("eps", 1.0), ("delta", 1e-6), ("n", 10_000)),
        "noise",
        Sweep("n", 100, 1e7, 100, Scale.LOG),
        "1−p = 50 ln(2/δ)/(ε²n) (Figure 1): 725.",
        "The exact minimum is 34.07: 21 times less.",
        curves=(
            "noise",
            "paper_noise",
        ),
    ),
    Preset(
        "least-users",
        "From how many users on",
        "The least number of users for a count at δ = 1e-6, against ε.",
        (("release", "count"), ("eps", 1.0), ("delta", 1e-6)),
        "users",
        Sweep("eps", 0.1, 1, 100, Scale.LOG),
        "n ≥ (100/ε²) ln(2/δ) (Theorem 3.1): 1451 at ε = 1, 145,087 at ε = 0.1.",
        "By the exact δ 80 users are enough at ε = 1, 268 at ½ and 5278 at 0.1.",
        curves=(
            "users",
            "paper_users",
        ),
    ),
    Preset(
        "truncation",
        "Counts near the truncation edge",
        "The exact root mean square error of a bin against its true count: below and near n(1−p) "
        "estimates are cut to 0 and the bias dominates.",
        (("eps", 1.0), ("delta", 1e-6), ("n", 10_000), ("s", 43)),
        "rmse",
        Sweep("s", 1, 1000, 100, Scale.LOG),
        "Only an error bound for the worst count is given (Theorem 3.1(ii)).",
        "At s = n(1−p) half of the estimates are 0; far above it the error is that of the "
        "binomial, √(np(1−p)) counts.",
        curves=(
            "rmse",
            "bias",
            "paper_rmse",
            "local_rmse",
            "central_rmse",
        ),
    ),
    Preset(
        "missing-users",
        "Users who don't add their noise",
        "The exact δ of a histogram calibrated for all n users, if only a share of them adds "
        "noise. Lower “users trusted to add noise” to be safe against it.",
        (("eps", 1.0), ("delta", 1e-6), ("n", 10_000), ("adding", 0.9)),
        "loss",
        Sweep("adding", 0.3, 1, 100),
        "“A user in a shuffled protocol may not have the same degree of privacy when other users "
        "deviate” (Section 2).",
        "With 10 % missing δ is 2.83e-6 instead of 1e-6, with 50 % 2.23e-4 (one count: 2.28e-4).",
        curves=(
            "loss",
            "paper_loss",
            "target",
        ),
    ),
    Preset(
        "messages",
        "What it costs in messages",
        "Messages a user sends against d.",
        (("eps", 1.0), ("delta", 1e-6), ("n", 1_000_000)),
        "messages",
        Sweep("d", 2, 1e6, 100, Scale.LOG),
        "O(d) messages for P_hist, O(ln(1/(εδ))/ε²) for [13] (Table 1).",
        "1 + dp: all but a few of the d noise messages are really sent by everyone.",
        curves=(
            "messages",
            "paper_messages",
            "most_messages",
            "one_message",
            "cheu_order",
            "few_order",
            "fewest_order",
        ),
    ),
)


def _at_every_d(found: Numbers) -> tuple[Status, str]:
    """Judge by the error bound at both ends of the figure."""
    growth = found["calibrated[-1]"] / found["calibrated[0]"]
    same = abs(growth - 1) < 1e-9
    return ("=", "the same at every d") if same else ("≠", f"{nearest(growth, 3)} times at the end")


def _at_every_level(found: Numbers) -> tuple[Status, str]:
    users = [found[f"separation[{row},3]"] for row in range(4)]
    same = len(set(users)) == 1
    return (
        "=" if same else "≠"
    ), f"{nearest(max(users))} users for {'every' if same else 'the last'} ℓ"


def _alone_and_shuffled(found: Numbers) -> tuple[Status, str]:
    """Judge R_gap by the level of one user's messages and that behind the shuffle."""
    alone, shuffled = found["views[3,2]"], found["views[3,3]"]
    text = f"{format_number(alone)} alone, {nearest(shuffled, 2)} shuffled"
    return ("=" if alone > shuffled else "≠"), text


def _less_noise(found: Numbers) -> tuple[Status, str]:
    factor = found["paper_noise"] / found["noise"]
    return ("+" if factor > 1 else "≠"), f"{nearest(factor, 2)} times less noise"


def _missing(found: Numbers) -> tuple[Status, str]:
    factor = found["loss"] / found["target"]
    return ("=" if factor > 1 else "≠"), f"δ {at_most(factor, 3)} times at 10 % less"


def _messages(found: Numbers) -> tuple[Status, str]:
    """Judge O(d) by the mean number of messages of one user, beside d."""
    mean, d = found["messages"], found["cheu_order"]
    return ("=" if mean <= 2 * d else "≠"), f"mean {nearest(mean)} at d = {nearest(d)}"


JUDGES: dict[str, Judge] = {
    "table-1": _at_every_d,
    "table-2": _at_every_level,
    "theorem-4-1": _alone_and_shuffled,
    "noise-histogram": _less_noise,
    "noise-count": _less_noise,
    "least-users": surpasses("users", "paper_users", "{} users, not {}"),
    "truncation": surpasses("rmse", "paper_rmse", "RMSE {}, bound {}", digits=3),
    "missing-users": _missing,
    "messages": _messages,
}
PRESETS = with_verdicts("histograms", _PRESETS, JUDGES)
