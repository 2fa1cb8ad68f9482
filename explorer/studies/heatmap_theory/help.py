"""Help page and presets of the theory of heatmaps."""

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
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.heatmap_theory.theory import REFERENCES, SALICON

PAGE = Page(
    what=(
        "A heatmap of where people are can be made private by adding noise, which moves some of "
        "its heat to the wrong places. How far, on average and at worst? The measure is the earth "
        "mover's distance: how much heat has to be carried how far to turn one map into the "
        "other, with the side of the map as unit. This study draws what is proved about it.",
        "Upper bounds: the paper's pyramid algorithm in the variant of its theorem and in that of "
        "its experiments, the same with a capped depth, and dense aggregation, which needs no "
        "sparsity. Lower bounds: no private algorithm whatever can do better on all maps with k "
        "cells, or on all maps. The bounds' constants are generous: the simulation shows what the "
        "algorithms really do.",
        "Centres of a private map (k-median) are good for the users themselves: how far a user is "
        "from the nearest one is bounded by what is possible without privacy and by the map's "
        "error.",
        "Other questions: how ε is split over the levels of the pyramid; what a distance of maps "
        "means for the heatmaps drawn from them (divergence and similarity); how much a user must "
        "send if no curator is trusted and messages are shuffled instead, and what becomes of the "
        "guarantee if some users fail to add their share of the noise.",
    ),
    assumptions=(
        "Each user weighs at most 1 in the whole release; neighbouring data differ in one user.",
        "The unit square with the ℓ1 distance, Δ = 2^ℓ cells on a side; logarithms are natural.",
        "Upper bounds of the pyramid hold for maps with mass in at most w = k cells; others err by "
        "a multiple of their distance from the nearest such map in addition.",
        "n₀, w, Δ and the region are fixed without looking at the data.",
        "Shuffle model: the number of users is public, and enough of them are honest.",
    ),
    formulas=(
        Formula(
            "Theorem 3.1, noise part, with its proof's constants: c = 2 − 2^(1−q) without the "
            "levels above q, else 0",
            r"E\left[EMD\right]\leq\frac{2}{n}\left(1+2^{-\ell}\right)\left(6\sum_i\frac{|T_i|}"
            r"{2^i\,\varepsilon_i}+c\,\frac{4^q}{\varepsilon_q}\right)",
        ),
        Formula(
            "Theorem C.1 with its constants worked out; D + 1 points at spacing 1/t",
            r"E\left[EMD\right]\geq\max_{p,\,n_0,\,D}\;(1-p)\,p^{1/D}\,e^{-\varepsilon n_0/D}\,"
            r"\frac{n_0}{8\,n\,t}",
        ),
        Formula(
            "Theorem D.1, dense aggregation on level ℓ* = ½ log₂(ε n₀), rounded; the last term "
            "only where ℓ* is coarser than the map",
            r"E\left[EMD\right]\leq\frac{4}{n}\,(\ell^*+1)\,2^{\ell^*}\frac{\sqrt{2}}{\varepsilon}"
            r"+2^{-\ell^*}",
        ),
        Formula(
            "Corollary A.2 written out: mean distance to the nearest of the centres found, κ the "
            "error of the private map's costs (Corollary A.1)",
            r"E\left[\overline{d}\right]\leq\frac{f\,\left((1+\lambda)\,OPT+\kappa/n\right)+"
            r"\kappa/n}{1-\lambda}",
        ),
        Formula(
            "schedules: Theorem 3.1 (γ = 0.8) and the experiments (γ = 1/√2, i ≥ q)",
            r"\varepsilon_i\propto\gamma^{|i-q|},\quad 4^q\leq w<4^{q+1}",
        ),
        Formula(
            "Lemma B.3 and Corollary B.5",
            r"KL\leq\frac{EMD}{2\sigma^2},\quad SIM\geq 1-\frac{\sqrt{EMD}}{2\sigma}",
        ),
        Formula(
            "shares of every cell in the shuffle model; r·m messages of ⌈log₂(mq)⌉ bits",
            r"r=\left\lceil\frac{2\ln(e^{\varepsilon}+1)+2\ln(m/\delta)+\ln q}{\ln n-1}+2\right"
            r"\rceil,\quad q=Bn+2\tau+1",
        ),
    ),
    sources=REFERENCES,
    errata=(
        "The paper prints |Tᵢ| = w and takes the expected noise of the chosen cells for that of "
        "any cells, which overlooks that they were chosen by their noise; we count all candidates, "
        "up to 4w, whose number does not depend on their own noise (errata heat-10).",
        "The paper prints Lemma 2.1 with ≥ for ≤ and a constant of 4; ≤ is meant and 2 suffices. "
        "We use 2 (errata heat-11).",
        "The paper prints Lemma 3.5 for α = 2, where it is false (a single point: 2 against "
        "2 − 2^(−ℓ)); we add the missing 2^(−ℓ) of the total (errata heat-12).",
        "The paper prints a packing of “the smallest power of two at most √k”, a set without "
        "volume and balls that overlap (Appendix C); we use the largest, ‖r‖₁ ≤ 1 with the rest of "
        "the mass on one more cell, balls scaled by n₀/n, and work the constants out. The "
        "printed ones (.4 · .01) give the dotted order (errata heat-15).",
        "The paper prints a snapping error of √(εn) in Appendix D, where √(n/ε) is right, and a "
        "level ℓ* = log₂√(εn) that is no whole number and depends on the data's own count; we "
        "round it and take a number n₀ fixed beforehand (errata heat-16).",
        "The paper prints “Polya(1/n, e^(−εᵢ))” for data scaled by B, which is Bεᵢ-private, one "
        "Pólya variable instead of the difference of two, and q = Bn, which wraps every negative "
        "count; we use e^(−εᵢ/B), two, and q = Bn + 2τ + 1 (errata heat-1 to heat-3).",
        "The paper prints r = ⌈(…)/ln n + 1⌉ shares, an average-case count that exact enumeration "
        "exceeds ninefold; we use (…)/(ln n − 1) + 2 and show the printed one beside it.",
    ),
)

_USERS = Sweep("n", 100.0, 1e8, 100, Scale.LOG)
_UNITS = Sweep("B", 1.0, 65536.0, 100, Scale.LOG)
_PRESETS = (
    Preset(
        "tight",
        "Theorem 1.1: √k/(εn) from both sides",
        "Upper and lower bounds against the number of users. Look for parallel lines.",
        values=(("k", 20), ("epsilon", 1.0)),
        quantity="error",
        sweep=_USERS,
        published="Theorem 3.1 and Theorem C.1: the error is of the order √k/(εn), and no ε-DP "
        "algorithm has a smaller one.",
        computed="The same order; the constants are far apart: at k = 20, ε = 1, n = 1e5 .0178 "
        "from above (the experiments' schedule) and 1.34e-6 from below.",
        curves=(
            "experiments",
            "theory",
            "lower",
            "lower_dense",
        ),
    ),
    Preset(
        "sparsity",
        "Error against sparsity",
        "The bounds against k with w = k. Look for the growth like √k of both, and for where "
        "dense aggregation, which doesn't care, is better.",
        values=(("n", 1_000_000), ("epsilon", 1.0), ("resolution", "1024")),
        quantity="error",
        sweep=Sweep("k", 1.0, 100_000.0, 80, Scale.LOG),
        published="Appendix D: without sparsity the error is larger by a factor of order √(n/k).",
        computed="By the bounds dense aggregation (.0638 throughout) is better from about k = "
        "4,330 on (the experiments' schedule) or 10,500 (Theorem 3.1's), at n = 1e6 and ε = 1.",
        curves=(
            "experiments",
            "theory",
            "dense",
            "lower",
            "lower_dense",
        ),
    ),
    Preset(
        "algorithms",
        "The algorithms against their bounds",
        "The three variants and least squares run on maps of k random cells. Look for the distance "
        "between dots and bounds.",
        values=(("k", 20), ("epsilon", 1.0), ("simulate", True), ("trials", 10)),
        quantity="error",
        sweep=Sweep("n", 100.0, 1e6, 60, Scale.LOG),
        published="Section 4: “our algorithm's utility increases with n, as predicted by theory”.",
        computed="It falls like 1/n, a hundredth of what is proved and less (n = 4238: .0038 "
        "against .42). Dots that fall below Corollary D.2's line, near n = 1e6, contradict "
        "nothing: it is about the worst map of any number of cells, and these have 20. On such "
        "few cells the linear programs are better than least squares, which is better on maps of "
        "real check-ins.",
        curves=(
            "experiments",
            "theory",
            "capped",
            "dense",
            "lower",
            "theory_simulated",
            "experiments_simulated",
            "capped_simulated",
            "least-squares_simulated",
        ),
    ),
    Preset(
        "schedules",
        "How ε is spent",
        "The three schedules level by level at w = 20, ε = 1, Δ = 256; depth capped for 200 users.",
        values=(("k", 20), ("epsilon", 1.0), ("n", 200)),
        quantity="split",
        published="Section 4: γ = 1/√2 minimises the second error term.",
        computed="ε₂ … ε₈ = .32129, .22719, .16065, .11359, .08032, .05680, .04016; capped at "
        "level 4: .45308, .32038, .22654.",
        curves=(
            "theory",
            "experiments",
            "capped",
        ),
    ),
    Preset(
        "clustering",
        "Corollary A.2: centres of a private map",
        "How far users are from the nearest of k-median centres found on the private map, where "
        "the best centres are .05 of the side away. Look for where privacy costs little.",
        values=(("k", 20), ("epsilon", 1.0), ("resolution", "1024")),
        quantity="centres",
        sweep=_USERS,
        published="Corollary A.2: a (1 + λ)-approximation up to O(√k/ε), whatever the number of "
        "users; no constant is stated.",
        computed="With λ = 0, the best centres of the private map, k = 20, ε = 1 and 1e5 users: at "
        "most .07171 on average, .05216 with 1e7.",
        curves=("centres_experiments", "centres_theory", "without", "best", "centres_order"),
    ),
    Preset(
        "figure-12",
        "Figure 12: communication against B",
        "Megabytes a user sends for a 320 × 240 picture, n = 50, ε = 5, δ = 1e-5.",
        values=(("n", 50), ("epsilon", 5.0), ("delta", 1e-5), ("B", 256), ("pyramid", SALICON)),
        quantity="bits",
        sweep=_UNITS,
        published="Appendix F: about 10 MB at B = 256.",
        computed="The printed formula gives 7.14 MB: r = 18 shares of m = 102,409 cells (halved "
        "with ceiling; the paper doesn't state m), 31 bits each. With shares for the worst case "
        "and room for the noise it is 11.32 MB: r = 26, 34 bits.",
        curves=(
            "corrected",
            "printed",
        ),
    ),
    Preset(
        "missing",
        "When some of the noise is missing",
        "The level that is left when a part of the users adds none.",
        values=(("epsilon", 1.0), ("B", 64), ("k", 20)),
        quantity="missing",
        sweep=Sweep("missing", 0.0, 0.9, 91, Scale.LINEAR),
        published="Appendix F: not discussed; the noise is shared by all n users.",
        computed="At 10 % missing ε = 1 becomes 1.48 for a user who stays in one place, and at "
        "most 2.71 for one spread over the whole map.",
        curves=(
            "worst",
            "one_place",
            "full",
        ),
    ),
    Preset(
        "similarity",
        "What a distance means for similarity",
        "Corollary B.5 and a bound that says something at every distance.",
        values=(("sigma", 0.1),),
        quantity="similarity",
        sweep=Sweep("emd", 1e-4, 0.5, 100, Scale.LOG),
        published="Corollary B.5: similarity at least 1 − √EMD/(2σ).",
        computed="At σ = .1 it says nothing from EMD = .04 on; Bretagnolle and Huber's inequality "
        "with Lemma B.3 still gives .07 there.",
        curves=(
            "huber",
            "similarity",
        ),
    ),
)


def _judge_same_order(found: Numbers) -> tuple[Status, str]:
    """Judge by how both bounds fall along the figure, from where the upper one says something."""
    falls = [found[f"{name}[-1]"] / found[f"{name}[3]"] for name in ("theory", "lower", "order")]
    same = all(abs(fall / falls[-1] - 1) <= 0.01 for fall in falls)
    return ("=" if same else "≠"), f"both bounds fall {'' if same else 'un'}like 1/n"


def _judge_cross(found: Numbers) -> tuple[Status, str]:
    return "+", f"bounds cross at k = {nearest(found['crossing'], 3)}"


def _judge_falls(found: Numbers) -> tuple[Status, str]:
    """Judge by the power of n with which the bound falls from 4,238 users to ten times as many."""
    power = math.log10(found["experiments n=42380"] / found["experiments n=4238"])
    return ("=" if power < 0 else "≠"), f"bound falls like n^{nearest(power, 3)}"


def _judge_levels(found: Numbers) -> tuple[Status, str]:
    """Judge by the ratio of the budgets of two levels in the experiments' schedule."""
    ratio = found["experiments[2]"] / found["experiments[1]"]
    verdict = f"each level {nearest(ratio, 3)} of the last"
    return ("=" if abs(ratio - math.sqrt(0.5)) < 1e-3 else "≠"), verdict


def _judge_centres(found: Numbers) -> tuple[Status, str]:
    """Give the bound, of which the paper states the order alone, beside the best centres."""
    bound, best = found["centres_experiments"], found["best"]
    return "+", f"at most {at_most(bound)}, best {nearest(best)}"


def _judge_megabytes(found: Numbers) -> tuple[Status, str]:
    """Judge the printed formula by the “about 10 MB” of the text."""
    printed = found["printed"]
    verdict = f"{nearest(printed, 3)} MB; mended {nearest(found['corrected'])} MB"
    return ("=" if 9.5 <= printed <= 10.5 else "≠"), verdict


def _judge_at_every_distance(found: Numbers) -> tuple[Status, str]:
    here, printed = found["huber emd=0.04"], found["similarity emd=0.04"]
    return (
        "+" if here > printed else "="
    ), f"at least {at_least(here, 1)}, B.5 {at_least(printed, 1)}"


JUDGES: dict[str, Judge] = {
    "tight": _judge_same_order,
    "sparsity": _judge_cross,
    "algorithms": _judge_falls,
    "schedules": _judge_levels,
    "clustering": _judge_centres,
    "figure-12": _judge_megabytes,
    "missing": lambda found: ("+", f"ε = 1 becomes up to {at_most(found['worst'], 3)}"),
    "similarity": _judge_at_every_distance,
}
PRESETS = with_verdicts("heatmap-theory", _PRESETS, JUDGES)
