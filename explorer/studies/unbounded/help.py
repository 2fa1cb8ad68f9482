"""Help page, presets and sources of the unbounded data study."""

from explorer.privacy.core.bound import USER_METRIC as _PAPER, Reference
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
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Scale, Sweep

PRINTED = Reference(_PAPER, "Theorem 5.3 with Lemma 5.2", "capped at the diameter: errata user-D5")
CHERNOFF = Reference(
    _PAPER,
    "Theorem 5.3 with Chernoff's bound instead of Lemma 5.2",
    "s·KL(c‖r) = ln(1/δ), c ≤ 1: errata user-D4",
)
BINOMIAL = Reference(
    _PAPER, "the coupling of Lemma 5.2 at distances 0 and 1", "the binomial's quantile, exactly"
)
INFORMAL = Reference(_PAPER, "Theorem 1.3 (informal)", "ε = αr and one δ: errata user-D3")
SIZES = Reference(_PAPER, "Definition 5.1", "ε/r, if data sets had one size and nothing was drawn")
USER_LEVEL = Reference(_PAPER, "Table 1", "d_EM ≤ 1, so that α ≤ ε is user-level DP")
GROUP = Reference(_PAPER, "Lemma A.2, applied k − 1 times", "tight: errata user-D1")
FACT = Reference(_PAPER, "Fact 5.1, as printed", "δe^k, too small for ε > 1: errata user-D1")
TABLE = Reference(
    _PAPER, "Table 1, as printed", "δe^(kε), too small for ε below ln 2: errata user-D1"
)
ROUGHLY = Reference(
    _PAPER, "after Fact 5.1", "(2ε/r)·d for d ≥ r; ignores δ's growth: errata user-D2"
)


PAGE = Page(
    what=(
        "Mechanisms for metric privacy at the user level are easiest when every user has the same "
        "public number of items. Real users have many or few, and how many is private too. The "
        "way out: draw s items, with replacement, from every user's data set, and release the "
        "draws with a mechanism for data sets of size s.",
        "Two data sets that are near each other then give draws that are probably near each other, "
        "but chance adds to their distance. So that data sets within r get ε, the mechanism must "
        "protect draws up to a threshold c, a little farther apart than r: α = ε/c. The study "
        "shows c and α by the paper's theorem, by a sharper bound, and what no bound of this kind "
        "can beat, against the number of draws s and the distance r.",
        "Data sets farther apart than r are reached in hops of r. After k hops ε is kε, and δ "
        "grows too, faster than the paper (v1) prints: other curves show both, and where "
        "nothing is left.",
    ),
    assumptions=(
        "No user's data set is empty.",
        "Neighbouring data sets are any two of one user, of any sizes; their distance is the earth "
        "mover's distance of the normalised data sets.",
        "The number of users is fixed and public.",
        "The mechanism on the draws is (α, δ)-bounded d_EM-DP.",
    ),
    formulas=(
        Formula(
            "Theorem 5.3: the largest α that the mechanism on s draws may have",
            r"\alpha=\frac{\varepsilon}{(1+\sqrt{2})\,r+\frac{3}{s}\ln\frac{1}{\delta}}",
        ),
        Formula(
            "its KL form: never above 1, and never larger",
            r"\alpha=\frac{\varepsilon}{c},\quad s\;KL(c\,\|\,r)=\ln\frac{1}{\delta},\quad"
            r"KL(c\,\|\,r)=c\,\ln\frac{c}{r}+(1-c)\ln\frac{1-c}{1-r}",
        ),
        Formula(
            "what is guaranteed for data sets within r (with δ instead of 2δ where c = 1)",
            r"(\varepsilon,\;2\delta,\;r)-discrete\;d_{EM}-DP",
        ),
        Formula(
            "group privacy over k hops, k = ⌈d/r⌉ (kδ at ε = 0)",
            r"\left(k\varepsilon,\;\delta\,\frac{e^{k\varepsilon}-1}{e^{\varepsilon}-1}\right)",
        ),
        Formula(
            "what no bound on draws coupled like this can beat",
            r"c\geq\frac{1}{s}\min\{j:\;\Pr[Bin(s,r)>j]\leq\delta\}",
        ),
    ),
    sources=(
        PRINTED,
        CHERNOFF,
        BINOMIAL,
        GROUP,
        INFORMAL,
        FACT,
        TABLE,
        ROUGHLY,
    ),
    errata=(
        "The paper (v1) prints δ·e^⌈d/r⌉ (Fact 5.1) and δ·e^(ε⌈d/r⌉) (Table 1) for the δ of k "
        "hops, which are both wrong: Lemma A.2 gives δ(e^(kε) − 1)/(e^ε − 1), and that is tight. "
        "At ε = 0.1 and k = 10 Table 1's factor is 2.7 and the true one 16.3; at ε = 2 and k = 5 "
        "Fact 5.1's is 148 and the true one 3447. We use Lemma A.2's (errata user-D1).",
        "The paper (v1) prints that (ε, δ, r)-discrete privacy is roughly (2ε/r, δ)-unbounded "
        "privacy, which ignores how δ grows; and a chain of k data sets exists only in the "
        "unbounded model, where sizes may change. We show both numbers over distance "
        "(errata user-D2).",
        "The paper (v1) prints Theorem 1.3 with ε = αr for r ≥ 2 ln(1/δ)/s, which its own Theorem "
        "5.3 contradicts: at that r it gives ε = 3.914·αr, and 2δ. We use Theorem 5.3 "
        "(errata user-D3).",
        "The paper (v1) prints Lemma 5.2 with a constant 3, which is loose (4/3 with a maximum "
        "instead of the sum is enough); Chernoff's bound is 1.8 times smaller in the example (r = "
        "0.008, s = 10,000, δ = 1e-12: 0.01548 and 0.02761). We show both and use Chernoff's "
        "(errata user-D4).",
        "The paper (v1) prints no cap: a threshold of 1 or more is never exceeded, as no distance "
        "is above 1, so that α = ε and δ instead of 2δ are enough. We cap (errata user-D5).",
    ),
)

_EXAMPLE = (("eps", 0.2), ("r", 0.008), ("s", 10_000), ("delta", 1e-12))
_PRESETS = (
    Preset(
        "draws",
        "How many draws are enough (Section 5)",
        "The paper's example radius, 100 miles of 12,500: how α grows with the number of draws. "
        "All bounds level off: Theorem 5.3 at ε/(2.41·r), the KL form at ε/r.",
        values=_EXAMPLE,
        quantity="alpha",
        sweep=Sweep("s", 100, 1e8, 100, Scale.LOG),
        published=(
            "Remarks after Theorem 5.3: from s = ln(1/δ)/r on only a small factor is lost, and "
            "the bounded algorithm needs roughly α = ε/r."
        ),
        computed=(
            "At s = 10,000: ε/r = 25, Theorem 5.3 allows α = 7.24 and the KL form 12.9. At "
            "s = ln(1/δ)/r = 3454 Theorem 5.3 loses a factor of 5.4."
        ),
        curves=(
            "chernoff",
            "printed",
            "binomial",
            "sizes",
            "informal",
        ),
    ),
    Preset(
        "threshold",
        "How far draws get apart (Lemma 5.2)",
        "The distance of the draws that is exceeded with probability at most δ.",
        values=_EXAMPLE,
        quantity="threshold",
        sweep=Sweep("s", 100, 1e8, 100, Scale.LOG),
        published="Lemma 5.2: (1+√2)r + (3/s)ln(1/δ).",
        computed="0.02761 at s = 10,000 by the lemma, 0.01548 by Chernoff's bound.",
        curves=(
            "chernoff",
            "printed",
            "binomial",
            "mean",
        ),
    ),
    Preset(
        "fact-5.1",
        "Where Fact 5.1 is too small",
        "At ε = 2 a chain of five hops.",
        values=(("eps", 2.0), ("r", 0.02), ("d", 0.1), ("s", 10_000), ("delta", 1e-12)),
        quantity="group_delta",
        sweep=Sweep("d", 0.001, 0.4, 200, Scale.LOG),
        published="Fact 5.1: δ grows by e^5 = 148.",
        computed="It grows by (e^10 − 1)/(e^2 − 1) = 3447.",
        curves=(
            "group",
            "fact",
        ),
    ),
    Preset(
        "table-1",
        "Where Table 1 is too small",
        "At ε = 0.1 a chain of ten hops.",
        values=(("eps", 0.1), ("r", 0.01), ("d", 0.1), ("s", 10_000), ("delta", 1e-12)),
        quantity="group_delta",
        sweep=Sweep("d", 0.001, 1.0, 200, Scale.LOG),
        published="Table 1: δ grows by e^(0.1·10) = 2.7.",
        computed="It grows by (e − 1)/(e^0.1 − 1) = 16.3.",
        curves=(
            "group",
            "table",
        ),
    ),
)


def _judge_loss(found: Numbers) -> tuple[Status, str]:
    """Judge “only a small factor is lost” at s = ln(1/δ)/r: a factor of 2 would be small."""
    factor = found["informal"] / found["printed s=3454"]
    return ("≠" if factor > 2 else "="), f"loses a factor of {nearest(factor, 2)}"


def _judge_growth(found: Numbers) -> tuple[Status, str]:
    """Judge the printed growth of δ by the geometric sum."""
    true, printed = found["growth"], found["paper"]
    verdict = f"δ grows by {nearest(true, 3)}, not {nearest(printed, 3)}"
    return ("=" if true <= 1.005 * printed else "≠"), verdict


JUDGES: dict[str, Judge] = {
    "draws": _judge_loss,
    "threshold": surpasses("chernoff", "printed"),
    "fact-5.1": _judge_growth,
    "table-1": _judge_growth,
}
PRESETS = with_verdicts("unbounded", _PRESETS, JUDGES)
