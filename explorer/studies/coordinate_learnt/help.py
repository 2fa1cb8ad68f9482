"""Help page and presets of the coordinate leakage study."""

import math

from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    with_verdicts,
)
from explorer.studies.base.numbers import format_number, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.coordinate_learnt.theory import EXAMPLE_2, M_MEAN, REFERENCES

PAGE = Page(
    what=(
        "A user's record is two or three bits, and a report is drawn from it at random. Somebody "
        "who sees the report, and knows how such records usually look (the prior), wants to know "
        "one of the bits. Everything here is small enough to be computed exactly, by going "
        "through all records and reports.",
        "Three pictures of the same thing. A test: how rarely can one miss a 1 (β) if false "
        "alarms are as rare as α? A belief: how sure can one be after the report, having been so "
        "sure before? And the levels of the four notions of privacy: LDP (any record against any "
        "other), BDP (the same for records the prior allows), CDP (one bit changed, the others "
        "fixed), BCDP (one bit, the others as the prior has them given this one).",
        "Tables of your own do as well, typed or from files: a prior and a channel of up to four "
        "coordinates with up to six values each. “Figure 1 here” below the plot draws what follows "
        "from what, with the numbers of the table; “change the report afterwards” shows that "
        "whatever is done to a report without the record adds nothing (Proposition 5). A prior "
        "counted from public records bounds the coupling at a stated confidence.",
        "Move the dependence ρ to see a report about one bit tell of the other, or the number of "
        "reports to see that levels of coordinates do not add.",
    ),
    assumptions=(
        "The observer's beliefs are the prior shown; δᵢ is exact for it alone.",
        "The observer knows the mechanism; reports are independent given the record.",
        "Levels are in nats and, unlike the δ of approximate DP, no probabilities.",
    ),
    formulas=(
        Formula(
            "BCDP level of coordinate i",
            r"\delta_i=\max_y\,\log\frac{\max_s P(y\,|\,x_i=s)}{\min_s P(y\,|\,x_i=s)}",
        ),
        Formula(
            "Theorem 1: what a test can achieve",
            r"\beta\geq\max(0,\;1-e^{\delta_i}\alpha,\;e^{-\delta_i}(1-\alpha))",
        ),
        Formula(
            "Odds after the report",
            r"e^{-\delta_i}\leq\frac{P(x_i=1|y)/P(x_i=0|y)}{P(x_i=1)/P(x_i=0)}\leq e^{\delta_i}",
        ),
        Formula(
            "Coupling of coordinate i",
            r"q_i=\max_{s,s'}\mathrm{TV}(P(x_{-i}\,|\,x_i=s),P(x_{-i}\,|\,x_i=s'))",
        ),
        Formula(
            "Certified level, and Proposition 4",
            r"\delta_i\leq\log((1-q_i)e^{c_i}+q_ie^{L})\leq c_i+\log(1+q_i(e^{L}-1))",
        ),
    ),
    sources=REFERENCES,
    errata=(
        "The paper (v1) prints Example 1 for all a, b, c in (0, 1], which is not so: δ₁ is "
        "infinite at b = c = 1 and δ₂ at a = b = 1. We compute the levels, and say infinite where "
        "they are (errata coord-A5).",
        "The paper (v1) prints the sum of Proposition 4, part 1, up to n, which is the number of "
        "users elsewhere; we sum over the d coordinates (errata coord-A6).",
        "The paper (v1) prints α in the proof of Theorem 1 as conditioned on x, which should be on "
        "the coordinate; and for one ordered pair of hypotheses the region is one-sided. We draw "
        "both orders (errata coord-A6, coord-C5).",
        "The paper (v1) prints that Example 1's mechanism is not LDP, hence neither BDP nor CDP, "
        "which holds: by brute force all three levels are infinite (errata coord-C6).",
    ),
)

_HALVES = (("m00", 0.5), ("m01", 0.0), ("m10", 0.5), ("m11", 0.5))
_LEVEL_CURVES = ("bcdp", "cdp", "bdp", "ldp")
_TEST_CURVES = ("test01", "test10", "region", "whole", "chance")
_PRESETS = (
    Preset(
        "figure1",
        "Figure 1: which notion gives which",
        "A channel on two coupled bits of which all four notions have finite levels: the diagram "
        "and the table “Figure 1 here” set every arrow's bound beside the level that there is.",
        (("rho", 0.3), ("m00", 0.6), ("m01", 0.5), ("m10", 0.4), ("m11", 0.3)),
        "levels",
        Sweep("rho", 0.0, 1.0, 101, Scale.LINEAR),
        "LDP gives BDP and CDP, CDP gives LDP at the sum of its levels, BDP gives BCDP, and CDP "
        "with the prior's coupling gives BCDP (Figure 1, Propositions 3 and 4).",
        "x₁ is at δ₁ = 0.5227; from c₁ = 0.5108 Proposition 4 gives 0.6062 at the coupling 0.3, "
        "the certificate of this program 0.5691. LDP and BDP are 0.6931, the sum of the cᵢ 0.7986.",
        curves=_LEVEL_CURVES,
    ),
    Preset(
        "example1",
        "Example 1: BCDP but not LDP",
        "A report of 1 excludes the record 01, and yet tells little of either bit alone.",
        _HALVES,
        "tradeoff",
        Sweep("type1", 0.0, 1.0, 101, Scale.LINEAR),
        "Not LDP, yet (log 2, log 2)-BCDP for a = b = c = ½ and fair bits (Example 1).",
        "δ₁ = δ₂ = log 2 = 0.6931, exactly; LDP, BDP and CDP levels are infinite.",
        curves=_TEST_CURVES,
    ),
    Preset(
        "example1-odds",
        "Example 1: beliefs",
        "What one thinks of x₁ before and after the report, for every belief before.",
        _HALVES,
        "belief_after",
        Sweep("belief", 0.0, 1.0, 101, Scale.LINEAR),
        "One cannot distinguish much about any particular coordinate (after Example 1).",
        "From prior odds of 50:50 a report of 1 leads to 2:1 and one of 0 to 2:3, within a factor "
        "e^δ = 2.",
        curves=(
            "region",
            "output0",
            "output1",
            "before",
        ),
    ),
    Preset(
        "example1-limits",
        "Example 1: where it fails",
        "The same mechanism with b = c: the level of x₁ grows without bound as c → 1.",
        (("m00", 0.5), ("m01", 0.0), ("m10", 1.0), ("m11", 0.5)),
        "levels",
        Sweep("m11", 0.0, 1.0, 101, Scale.LINEAR),
        "Finite levels for all a, b, c in (0, 1] (Example 1).",
        "At b = c = 1 a report of 0 excludes x₁ = 1, and δ₁ is infinite: the last point is "
        "missing.",
        curves=_LEVEL_CURVES,
    ),
    Preset(
        "example2",
        "Example 2: levels do not add",
        "Three fair bits, two reported, mixed by a coin. Drawn is x₂; look at the first coordinate "
        "to see x₁, of which one report tells nothing and two can tell everything.",
        (("mechanism", EXAMPLE_2), ("coordinate", "2")),
        "levels",
        Sweep("copies", 1, 4, 4, Scale.LINEAR),
        "δ₁ = 0 for one release; from two independent ones x₁ = 1 can be told (Example 2).",
        "Exactly (0, log 3, log 3) once and (∞, log 5, log 5) twice: 1.099 and 1.609 here. CDP, "
        "BDP and LDP levels are infinite from the first report on: some report excludes a record.",
        curves=_LEVEL_CURVES,
    ),
    Preset(
        "example2-twice",
        "Example 2, twice",
        "Two reports of the same record: the test about x₁ becomes perfect in part.",
        (("mechanism", EXAMPLE_2), ("copies", 2)),
        "belief_after",
        Sweep("belief", 0.0, 1.0, 101, Scale.LINEAR),
        "From two independent releases x₁ = 1 can be told (Example 2).",
        "Two reports that differ, a quarter of all pairs, prove x₁ = 1; two alike speak 2:1 for 0.",
        curves=(
            "region",
            "most",
            "least",
            "before",
        ),
    ),
    Preset(
        "dependence",
        "M_mean and coupled bits",
        "The level of a bit with a small budget beside one with a large, against dependence.",
        (("mechanism", M_MEAN), ("c1", 0.2), ("c2", 1.0)),
        "levels",
        Sweep("rho", -1.0, 1.0, 81, Scale.LINEAR),
        "c₁ + log(1 + q(e^ε − 1)), at most ε (Proposition 4, part 2).",
        "Exact level below the certified one, which is below Proposition 4; all meet L = 1 at "
        "full dependence.",
        curves=(
            "bcdp",
            "cdp",
            "bdp",
            "ldp",
            "certified",
            "part2",
        ),
    ),
    Preset(
        "theorem1",
        "Theorem 1's region",
        "Tests about the first bit under M_mean, with what its level allows.",
        (("mechanism", M_MEAN), ("c1", 0.5), ("c2", 1.5), ("rho", 0.3)),
        "tradeoff",
        Sweep("type1", 0.0, 1.0, 101, Scale.LINEAR),
        "δ-BCDP iff no test is below max(0, 1 − e^δ α, e^{−δ}(1 − α)) (Theorem 1).",
        "The best tests touch the region's border at the level computed by brute force.",
        curves=_TEST_CURVES,
    ),
)


def _arrows(numbers: Numbers) -> tuple[Status, str]:
    """Judge Figure 1 by the slack of each of its implications."""
    slacks = [numbers[f"figure1[{row},6]"] for row in range(7)]
    broken = sum(slack < -1e-9 for slack in slacks)
    return ("≠", f"{broken} arrows broken") if broken else ("=", f"all {len(slacks)} arrows hold")


def _log_two(numbers: Numbers) -> tuple[Status, str]:
    level = numbers["level_bcdp"]
    same = abs(level - math.log(2)) < 1e-9
    return ("=" if same else "≠"), f"{nearest(level)}{', exactly log 2' if same else ''}"


def _odds(numbers: Numbers) -> tuple[Status, str]:
    """Judge by the odds that a report of 1 or 0 makes of even ones."""
    most = max(max(odds, 1 / odds) for odds in (numbers["odds_1"], numbers["odds_0"]))
    bound = math.exp(numbers["level_bcdp"])
    verdict = f"odds by {nearest(most, 3)}, e^δ = {nearest(bound, 3)}"
    return ("=" if most <= bound * (1 + 1e-9) else "≠"), verdict


def _last_point(numbers: Numbers) -> tuple[Status, str]:
    infinite = math.isinf(numbers["bcdp m11=1.0"])
    return ("≠" if infinite else "="), f"{'in' if infinite else ''}finite at b = c = 1"


def _once_and_twice(numbers: Numbers) -> tuple[Status, str]:
    once, twice = numbers["bcdp coordinate=1"], numbers["bcdp coordinate=1 copies=2"]
    verdict = f"δ₁ {format_number(once)} once, {format_number(twice)} twice"
    return ("=" if once < 1e-9 and math.isinf(twice) else "≠"), verdict


def _judge_belief(numbers: Numbers) -> tuple[Status, str]:
    """Judge by the largest belief in x₁ = 1 that two reports lead to, from even odds."""
    most = numbers["most[1]"]
    return ("=" if most > 1 - 1e-9 else "≠"), f"belief up to {nearest(most, 3)}"


def _below(numbers: Numbers) -> tuple[Status, str]:
    """Judge by the exact and both certified levels at a correlation within the figure."""
    ordered = numbers["bcdp rho=0.4"] <= numbers["certified rho=0.4"] <= numbers["part2 rho=0.4"]
    return ("=" if ordered else "≠"), f"exact {'below' if ordered else 'above'} Proposition 4"


def _border(numbers: Numbers) -> tuple[Status, str]:
    """Judge by the least gap between the best tests and the region's border."""
    gap = numbers["gap"]
    touches = -1e-9 < gap < 1e-9
    return ("=" if touches else "≠"), "tests touch the border" if touches else f"gap {nearest(gap)}"


JUDGES: dict[str, Judge] = {
    "figure1": _arrows,
    "example1": _log_two,
    "example1-odds": _odds,
    "example1-limits": _last_point,
    "example2": _once_and_twice,
    "example2-twice": _judge_belief,
    "dependence": _below,
    "theorem1": _border,
}
PRESETS = with_verdicts("coordinate-learnt", _PRESETS, JUDGES)
