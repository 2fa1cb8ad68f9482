"""Help page and presets of the study of the private mean."""

from explorer.privacy.core.bound import COORDINATES as PAPER, Reference
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
from explorer.studies.coordinate_mean import theory
from explorer.studies.coordinate_mean.simulation import MEDIAN
from explorer.studies.coordinate_mean.theory import GEOMETRIC

PAGE = Page(
    what=(
        "Every user holds d numbers between −1 and 1, say answers to d questions, and sends a "
        "randomised report of them; the server averages the reports to learn the d means. Some "
        "answers are more sensitive than others. Protecting everything as strongly as the most "
        "sensitive answer (min δ-LDP) works but costs accuracy; protecting each answer on its own "
        "fails if answers hint at each other.",
        "Bayesian coordinate DP asks for both: a level ε of the whole record, whatever anybody "
        "believes, and a smaller level δ₁ of the sensitive coordinates against everybody whose "
        "beliefs couple the coordinates by at most q. The picture shows what error that leaves, "
        "for the paper's mechanism, for better choices of its budgets, and for channels arranged "
        "differently. The more coupling one must fear, the closer all of them come to min δ-LDP.",
        "Put the budgets c on the y axis to see, coordinate by coordinate, what each mechanism "
        "spends. Put the level of a coordinate there to see what an observer with more coupled "
        "beliefs than assumed can still learn, up to the level L of the whole report.",
        "Demanded levels can be your own, one for each coordinate, typed or from a CSV file, and "
        "with each a bound qᵢ on that coordinate's own coupling. Budgets that follow Theorem 2 and "
        "the exact constraint use qᵢ where the level of coordinate i rests on it: where L is "
        "larger than the level.",
    ),
    assumptions=(
        "Data lie in [−1, 1], scaled by public bounds; values beyond them are clipped.",
        "q is public and chosen without the protected records; it bounds the coupling, in total "
        "variation, of the beliefs one wants protection from.",
        "From a public file the largest upper confidence bound over its columns is used as q. It "
        "holds at the confidence stated, for records drawn independently from the population the "
        "reader believes in, and for columns whose possible values are declared. Bins are a "
        "certificate only if the mechanism reads them: coupling can only be missed on them (two "
        "Gaussian columns with correlation 0.3 have 0.19 on two bins and 0.655 in truth). A "
        "column of one value says nothing and is refused. With many columns or values the bound "
        "tends to 1. The protected records must not be used: the reports' size tells the budgets, "
        "and these tell q.",
        "Errors are squared, summed over coordinates, against the mean of the users' own data.",
        "Each user reports once; repeated releases add c and L, never the levels δᵢ.",
    ),
    formulas=(
        Formula(
            "Radius of a report of m numbers at level α (half of what is printed)",
            r"B=\sqrt{\pi}\,r\,\frac{\Gamma((m+1)/2)}{\Gamma(m/2)}\,\coth(\alpha/2)",
        ),
        Formula(
            "Budgets of Theorem 2, the largest and the others",
            r"c_d=\min(\log(1+\frac{e^{\zeta\tilde\delta_1}-1}{q}),\tilde\delta_d),\quad "
            r"c_i=\tilde\delta_i-\log(1+q(e^{c_d}-1))\;\mathrm{if}\;c_d>\tilde\delta_i,"
            r"\;\mathrm{else}\;c_d",
        ),
        Formula(
            "Level of a coordinate, certified for coupling q",
            r"\delta_i\leq\log((1-q)e^{c_i}+q\,e^{L})",
        ),
        Formula(
            "Coupling from public records, at confidence 1−β: ρ as follows",
            r"q_i\leq\max_{s,s'}\,TV(\hat p_s,\hat p_{s'})+\rho_s+\rho_{s'}",
        ),
        Formula(
            "Radius from n_s records of value s, where the other columns have C combinations",
            r"\rho_s=\min\{\sqrt{\frac{\ln(2^C-2)+\ell}{2n_s}},\,\frac{1}{2}"
            r"\sqrt{\frac{C-1}{n_s}}+\sqrt{\frac{\ell}{2n_s}}\},\quad"
            r"\ell=\ln\frac{\sum_i|X_i|}{\beta}",
        ),
        Formula(
            "Proposition 6: enough for channels that do not overlap",
            r"Ac\leq 1,\quad A_{ii}=\frac{1}{\delta_i},\quad A_{ij}=1/\log(1+"
            r"\frac{e^{\delta_i}-1}{q})",
        ),
        Formula(
            "Exact error of n users, with weights a and second moments V",
            r"\mathrm{MSE}=\frac{1}{n}\sum_i\left(\sum_k a_{ik}^2V_k-"
            r"\overline{x_i^2}\sum_k a_{ik}^2\right)",
        ),
        Formula(
            "Second moment of a channel of m coordinates",
            r"V(m,\alpha)=\pi\,\frac{\Gamma((m+1)/2)^2}{\Gamma(m/2)^2}\,\coth^2(\alpha/2)",
        ),
        Formula(
            "By PrivUnit: the cap from g covers a share p of the sphere, K = E[W; W ≥ g]",
            r"V=1/m_c^2,\quad m_c=\max_g\,\frac{K(e^\alpha-1)}{1+p\,(e^\alpha-1)}",
        ),
        Formula(
            "Theorem 2, (17), up to a constant",
            r"\frac{1}{n}\sum_i\frac{1}{\sum_{k\leq i}(c_k-c_{k-1})^2/(d-k+1)}\wedge d",
        ),
    ),
    sources=theory.REFERENCES,
    errata=(
        "The paper (v1) prints a radius B twice as large, which makes the mean of a report twice "
        "the user's data and its variance four times as large; privacy is not touched. We use half "
        "of it, which is unbiased in every dimension (errata coord-A1).",
        "The paper (v1) prints in Figure 3 that ζ = (1+q)/2 does better than min δ-LDP for all q < "
        "1, which it does not: with the unbiased B its mean error is larger from q = 0.086 on "
        "(0.294 if averages are projected), its median error from q = 0.175 on; it grows like "
        "1/(1−q)². We draw it as it is, and the best ζ beside it, which never loses (errata "
        "coord-A2).",
        "The paper (v1) prints (17) as a bound for all budgets, which is false for large "
        "increments: a channel's second moment does not vanish as its level grows. We show it "
        "without its constant, as an order of magnitude, and say when increments exceed 1 "
        "(errata coord-A3).",
        "The paper (v1) prints Corollary 1 with c = δ/2 for the sensitive coordinates, which is "
        "wrong for q > 1/(e^{δ/2}+1), where (16) gives one budget for all. Its order of magnitude "
        "survives; we draw it without its constant (errata coord-A4).",
        "The paper (v1) prints (16) with a division by q, which fails at q = 0, and with a jump "
        "where c_d passes a demanded level. We use the limit c = δ̃ at q = 0 and lower c_d to the "
        "level when rounding alone would decide (errata coord-B1, coord-B2).",
        "The paper (v1) prints weights proportional to inverse variances of small increments only. "
        "We use them for the paper's curve and 1/V for all others, at most 0.01 % apart in Figure "
        "3 (errata coord-B9).",
        "The paper (v1) does not say of its Figure 3 whether averages are projected, nor whether "
        "the error is against the mean of the data or of the population. We draw both of the first "
        "and take the second as the data's (errata coord-B14).",
    ),
)

_ALL_Q = Sweep("q", 0.0, 1.0, 101, Scale.LINEAR)
_FIGURE = Reference(PAPER, "Figure 3")
_CURVES = ("hybrid", "exact", "paper", "baseline")
_PRESETS = (
    Preset(
        "figure3",
        "Figure 3",
        "Error against q: min δ-LDP is flat, M_mean starts far below it and, with the paper's ζ, "
        "crosses it early.",
        (("simulate", True), ("trials", 100), ("dots", MEDIAN), ("x2", 1.0)),
        "mse",
        _ALL_Q,
        f"M_mean has the smaller error for all q < 1 and resembles min δ-LDP as q → 1 ({_FIGURE}).",
        "With the unbiased B the paper's ζ = (1+q)/2 has a larger mean error than min δ-LDP "
        "(1.503) from q = 0.086 on, and a larger median, which the paper plots, from q = 0.175 on. "
        "Means: 1.563 at q = 0.1, 121 at q = 0.9 and without bound as q → 1. Only at q = 1 itself "
        "are both the same: a jump. The best ζ never loses (0.900 at q = 0.1), nor does the exact "
        "constraint (0.736); hybrid channels have 0.183. Dots are medians and quartiles of drawn "
        "trials.",
        curves=("paper", "baseline", "paper_simulated", "baseline_simulated"),
    ),
    Preset(
        "figure3-projected",
        "Figure 3, averages projected",
        "The same with the averages clipped to [−1, 1], which costs no privacy.",
        (("projected", True), ("x2", 1.0)),
        "mse",
        _ALL_Q,
        f"Not said whether the averages of {_FIGURE.where} are projected.",
        "Projected, the crossing moves to q = 0.294 and the paper's curve ends at 2.94 where the "
        "baseline has 1.476: the discrepancy stays.",
        curves=("paper_projected", "baseline_projected"),
    ),
    Preset(
        "figure3-worst",
        "Figure 3's setting in the worst case",
        "All data 0, where reports vary most: the table of exact errors against q.",
        (),
        "mse",
        _ALL_Q,
        "",
        "Errors at q = 0, 0.1, 0.5: the paper's 0.319, 1.564, 5.476; best ζ 0.319, 0.901, 1.504; "
        "exact constraint 0.319, 0.736, 1.504; hybrid 0.0416, 0.184, 1.032; min δ-LDP 1.504.",
        curves=_CURVES,
    ),
    Preset(
        "corollary1",
        "Corollary 1",
        "Two levels, ζ = ½: the error's order (18) for small q and (19) beyond.",
        (("zeta_rule", "fixed"), ("zeta", 0.5)),
        "mse",
        _ALL_Q,
        "The bound (17) simplifies to (18) up to q = (e^{δ/2}−1)/(e^ε−1), to (19) beyond "
        "(Corollary 1).",
        "The threshold is q = 0.0165 here. Both are orders of magnitude: the exact error is some "
        "6 times (17) at these levels. At q = 0.475 both jump: from there on (16) gives all "
        "coordinates one budget.",
        curves=("theorem2", "corollary1"),
    ),
    Preset(
        "budgets",
        "Who gets which budget",
        "The budgets c of Figure 3's setting at q = 0.1, coordinate by coordinate.",
        (),
        "budget",
        Sweep("i", 1, 10, 10, Scale.LINEAR),
        "c₁ = (1−ζ)δ₁ when the first term of (16) is active (after Theorem 2).",
        "0.09 for the two sensitive coordinates with the paper's ζ = 0.55, where min δ-LDP has 0.2 "
        "for all and the exact constraint leaves them 0.153. Channels of their own by "
        "Proposition 6 have 0.062, and 0.093 for the others.",
        curves=(
            "hybrid",
            "exact",
            "paper",
            "demanded",
            "baseline",
        ),
    ),
    Preset(
        "beliefs",
        "What a wrong q costs",
        "Level of a sensitive coordinate against the true coupling, from c at 0 to L at 1.",
        (),
        "level",
        Sweep("true_q", 0.0, 1.0, 100, Scale.LINEAR),
        "Proposition 4: c + log(1 + q(e^ε − 1)), at most ε.",
        "The demanded 0.2 is met up to the assumed q = 0.1 and passed beyond it, up to L.",
        curves=(
            "paper",
            "exact",
            "hybrid",
            "demanded",
            "proposition4",
        ),
    ),
    Preset(
        "many-levels",
        "A hundred different levels",
        "Levels rising geometrically over 100 coordinates: what all different demands cost.",
        (("d", 100), ("profile", GEOMETRIC), ("n", 100_000)),
        "mse",
        _ALL_Q,
        "",
        "Best designs are found on six levels rounded down, which is as private; hybrid channels "
        "gain most where coupling is weak.",
        curves=_CURVES,
    ),
)


def _medians(numbers: Numbers) -> tuple[Status, str]:
    """Judge by medians of the squared error, as the paper plots them."""
    at = numbers["median_crossing"]
    return ("≠" if at < 1.0 else "="), f"median worse from q = {nearest(at, 3)}"


def _means(numbers: Numbers) -> tuple[Status, str]:
    """Judge by means of the squared error."""
    at = numbers["mean_crossing"]
    return ("≠" if at < 1.0 else "="), f"mean worse from q = {nearest(at, 3)}"


def _orders(numbers: Numbers) -> tuple[Status, str]:
    """Judge the bound (17), an order of magnitude, by the exact mean error."""
    factor = numbers["paper"] / numbers["theorem2"]
    return ("=" if factor <= 1 else "≠"), f"mean {nearest(factor, 1)} times the order"


def _sensitive(numbers: Numbers) -> tuple[Status, str]:
    """Judge by c₁ = (1−ζ)δ₁ of the sensitive coordinates, beside min δ-LDP."""
    ours = numbers["paper[0]"]
    verdict = f"c₁ = {nearest(ours)}; min δ-LDP {nearest(numbers['baseline[0]'])}"
    return ("=" if abs(ours - (1 - 0.55) * 0.2) < 1e-9 else "≠"), verdict


def _demand(numbers: Numbers) -> tuple[Status, str]:
    """Judge by the level at the assumed correlation and at the largest."""
    met = numbers["proposition4"] <= numbers["demanded"] + 1e-9 < numbers["proposition4[-1]"]
    return ("=" if met else "≠"), f"{nearest(numbers['demanded'])} up to the assumed q"


_DESIGNS = {
    "paper": "the paper's ζ",
    "best_zeta": "the best ζ",
    "exact": "exact constraint",
    "hybrid": "hybrid channels",
    "baseline": "min δ-LDP",
}


def _best(numbers: Numbers) -> tuple[Status, str]:
    return "+", f"mean least: {_DESIGNS[min(_DESIGNS, key=numbers.__getitem__)]}"


JUDGES: dict[str, Judge] = {
    "figure3": _medians,
    "figure3-projected": _means,
    "figure3-worst": surpasses("hybrid", "paper", "mean {}, not {}", write=nearest),
    "corollary1": _orders,
    "budgets": _sensitive,
    "beliefs": _demand,
    "many-levels": _best,
}
PRESETS = with_verdicts("coordinate-mean", _PRESETS, JUDGES)
