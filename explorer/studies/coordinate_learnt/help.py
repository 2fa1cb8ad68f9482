"""Help and presets of the study of what is learnt."""

from explorer.studies.base.help_page import Formula, Page, Preset
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.coordinate_learnt import text
from explorer.studies.coordinate_learnt.parameters import EXAMPLE_2, M_MEAN

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
    sources=text.REFERENCES,
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
PRESETS = (
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
        status="=",
        verdict="every arrow holds",
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
        status="=",
        verdict="exactly log 2",
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
        status="=",
        verdict="2:1 and 2:3, within e^δ = 2",
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
        status="≠",
        verdict="infinite at b = c = 1",
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
        status="=",
        verdict="0 once, ∞ twice",
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
        status="=",
        verdict="two that differ prove it",
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
        status="=",
        verdict="exact below Proposition 4",
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
        status="=",
        verdict="tests touch the border",
    ),
)
