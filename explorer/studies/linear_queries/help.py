"""Help page and presets of linear queries."""

from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    with_verdicts,
)
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.linear_queries import theory

PAGE = Page(
    what=(
        "A linear query averages a function of single items over everybody's items: the mean "
        "distance to a city, the mean position, the share of places near each of k points. Under "
        "the earth mover's distance its sensitivity is simple: the steepest slope of the function "
        "(its Lipschitz constant ℓ), because moving a share τ of a user's items by q changes the "
        "average by at most ℓ·q·τ.",
        "Noise of size ℓ/α (over n, if a trusted curator adds it once) is all it takes. The study "
        "finds ℓ for the query and the space chosen, shows which two items attain it, and compares "
        "the noises there are: K-norm noise of any norm, which never fails, and Gaussian noise, "
        "which may fail with probability δ and is smaller when the answer has many numbers.",
        "For comparison: the Gaussian width as the paper (v1) prints it, which is not private for "
        "most α (its true δ is shown), the textbook's width, and user-level differential privacy, "
        "which must hide the whole range of answers.",
    ),
    assumptions=(
        "The query is the same for items at distance 0, and the space, the landmarks and the file "
        "of values are public.",
        "Central: every user holds the same public number of items; the answer is the average over "
        "users and noise is added once. Local: every user adds noise to their own average, "
        "whatever its size, and answers are averaged.",
        "Errors are those of the noise alone, as shares of the largest distance for positions and "
        "distances, else in the query's own unit.",
        "Noise is drawn exactly as the formulas say; floating-point draws are for demonstration.",
    ),
    formulas=(
        Formula(
            "Theorem 4.1, with equality: sensitivity under the earth mover's distance",
            r"\Delta_{EM}(q_f)=\ell=\max_{x\neq x'}\frac{\|f(x)-f(x')\|_p}{d(x,x')}",
        ),
        Formula(
            "K-norm noise (PrivEMDLinear), n = 1 in the local model",
            r"\mathrm{density}(z)=\frac{e^{-\|z\|_p/b}}{d!\;b^d\;\mathrm{Vol}\,B_p},\quad"
            r"b=\frac{\ell}{\alpha n},\quad\|z\|_p\sim\Gamma(d,b)",
        ),
        Formula(
            "its variance in every coordinate: 2b² for p = 1, (d+1)b² for 2, (d+1)(d+2)b²/3 for ∞",
            r"\mathrm{Var}\,z_i=(d+1)(d+2)\,b^2\,\frac{\Gamma(3/p)\,\Gamma(d/p+1)}"
            r"{\Gamma(1/p)\,\Gamma((d+2)/p+1)}",
        ),
        Formula(
            "exact δ of Gaussian noise of width σ at α, at the largest distance",
            r"\delta=\Phi\left(\frac{\ell}{2\sigma n}-\frac{\alpha\sigma n}{\ell}\right)-e^{\alpha}"
            r"\,\Phi\left(-\frac{\ell}{2\sigma n}-\frac{\alpha\sigma n}{\ell}\right)",
        ),
        Formula(
            "the paper's width (not private in general) and the textbook's (α ≤ 1)",
            r"\frac{\sqrt{1.25\,\ln(1/\delta)}}{\alpha},\qquad"
            r"\frac{\sqrt{2\,\ln(1.25/\delta)}}{\alpha}",
        ),
        Formula(
            "mean error of n averaged Laplace answers (local, p = 1)",
            r"E|\bar z|=\frac{2b}{\sqrt{\pi}}\,\frac{\Gamma(n+1/2)}{n\,\Gamma(n)}"
            r"\approx\frac{2b}{\sqrt{\pi n}}",
        ),
    ),
    sources=(
        theory.LIPSCHITZ,
        theory.K_NORM,
        theory.ANALYTIC,
        theory.TEXTBOOK,
        theory.PRINTED,
        theory.USER,
    ),
    errata=(
        "The paper (v1) prints a Gaussian width of √(1.25 ln(1/δ))/α, which mixes up the "
        "textbook's √(2 ln(1.25/δ)) and leaves the Lipschitz constant out: at α = 25, δ = 1e-12 "
        "its true δ is 4.5e-5, and it is private only for α ≤ 0.0172. The textbook's width fails "
        "too beyond α = 10.24. We use the analytic Gaussian mechanism (σ = 0.33434 ℓ there); Lemma "
        "6.2's constant inherits the printed width, and is drawn as such (errata user-B1).",
        "The paper (v1) prints the scale both as Γ(d, ω/α) in the text and as Γ(d, ω) with ω = 1/α "
        "in Algorithm 1, which together divide by α twice; we use b = ℓ/(αn) once, as a scale "
        "(errata user-B2).",
        "The paper (v1) prints “uniformly from the ball {‖x‖ = 1}”, which is the sphere, and its "
        "cone measure at that: for p = 3 in the plane the surface measure loses another 0.115, and "
        "a point uniform in the solid ball with Γ(d) has no pure guarantee at all. We use the cone "
        "measure (errata user-B3).",
        "The paper (v1) prints ‖φ‖₂ ≤ 1 for embeddings, which allows a diameter of 2; we divide by "
        "the diameter, so that α keeps its meaning (errata user-B5).",
        "The paper (v1) prints “total noise 0.04/√n = 1.26e-4, 1.6 miles” for its example, which "
        "is neither the root mean square error (1.79e-4, 2.31 miles) nor the mean error (1.43e-4, "
        "1.85 miles) of the mean of n Laplace variables; we show both "
        "(errata user-B6).",
        "The paper (v1) prints Lemma 4.2 without saying that dividing by n needs every user to "
        "hold the same public number of items; we say so among the conditions (errata user-B4).",
    ),
)

_CITY = (
    ("model", "local"),
    ("alpha", 25.0),
    ("n", 100_000),
    ("query", "landmarks"),
    ("landmarks", 1),
    ("space", "sphere"),
    ("space_unit", "mi"),
)
_USERS = Sweep("n", 1.0, 1e6, 61, Scale.LOG)
_ALPHA = Sweep("alpha", 0.01, 100.0, 100, Scale.LOG)
_CLAIM = "Section 4.1: “the total noise will be 0.04/√n = 1.26e-4, … an error of just 1.6 miles”."
_COORDINATE_CURVES = ("kinf", "k2", "k1", "user")
_TRUE_DELTA_CURVES = ("gauss", "textbook", "printed", "asked")
_RMSE_CURVES = ("kinf", "k2", "k1", "kp")
_PRESETS = (
    Preset(
        "city",
        "Concrete example (Section 4.1): distance to a city",
        "Every user releases their mean distance to a city with Laplace noise, α = 25; 100,000 "
        "answers are averaged. On the paper's Earth of 12,930 miles.",
        values=(*_CITY, ("space_earth", "paper")),
        quantity="coordinate",
        sweep=_USERS,
        published=_CLAIM,
        computed=(
            "0.04 is the mean error of one user's answer. The mean of n answers errs by 1.43e-4 on "
            "average, 1.85 miles; 1.26e-4 is 0.04/√n, which no error measure gives."
        ),
        curves=_COORDINATE_CURVES,
    ),
    Preset(
        "city-rmse",
        "The same, root mean square error, true circumference",
        "The standard deviation of a Laplace variable is √2 times its scale; half the Earth's "
        "circumference is 12,450.7 miles.",
        values=(*_CITY, ("space_earth", "equator")),
        quantity="rmse",
        sweep=_USERS,
        published=_CLAIM,
        computed="1.79e-4 or 2.23 miles (2.31 on 12,930 miles).",
        curves=_COORDINATE_CURVES,
    ),
    Preset(
        "width",
        "The printed Gaussian width is not private",
        "True δ of three widths against α, all asked for δ = 1e-12. Look where the curves leave "
        "the line of the δ asked for.",
        values=(("alpha", 25.0), ("delta", 1e-12)),
        quantity="true_delta",
        sweep=_ALPHA,
        published="Section 4.1, remarks: Gaussian noise of width √(1.25 ln(1/δ))/α gives (α, δ).",
        computed=(
            "At α = 25 its true δ is 4.5e-5; it is private only up to α = 0.0172. The textbook's "
            "width is private up to 10.24 and has 1.26e-9 at 25."
        ),
        curves=_TRUE_DELTA_CURVES,
    ),
    Preset(
        "width-6",
        "The same at δ = 1e-6",
        "A larger δ hides the mistake longer.",
        values=(("alpha", 1.0), ("delta", 1e-6)),
        quantity="true_delta",
        sweep=_ALPHA,
        published="Section 4.1, remarks: Gaussian noise of width √(1.25 ln(1/δ))/α gives (α, δ).",
        computed="At α = 1 its true δ is 1.4e-6; private up to α = 0.792, the textbook's up to "
        "8.78.",
        curves=_TRUE_DELTA_CURVES,
    ),
    Preset(
        "lemma62",
        "Lemma 6.2: embedding queries, local",
        "Ten numbers of an embedding, ‖F‖₂ = √10, 100,000 users at α = 25, δ = 1e-12. The printed "
        "curve is the lemma's bound to the letter.",
        values=(
            ("model", "local"),
            ("query", "given"),
            ("dim", 10),
            ("slope", 10**0.5),
            ("alpha", 25.0),
            ("delta", 1e-12),
            ("n", 100_000),
        ),
        quantity="rmse",
        sweep=_ALPHA,
        published="Lemma 6.2: E‖q̂ − q‖₂ ≤ ‖F‖₂ √(1.25 d ln(1/δ))/(α√n) = 0.00743.",
        computed=(
            "0.00743 is the printed width's root mean square error; private Gaussian noise has "
            "0.01057. ℓ2 K-norm noise, with δ = 0, has 0.00420: ten numbers are too few for the "
            "Gaussian to pay at δ = 1e-12, contrary to the remark."
        ),
        curves=(
            "kinf",
            "k2",
            "gauss",
            "textbook",
            "printed",
        ),
    ),
    Preset(
        "table2a",
        "Table 2(a): user-level DP beside d_EM, central",
        "The same query with one trusted curator. At α = ε both have the same noise; every larger "
        "α is less of it.",
        values=(
            ("model", "central"),
            ("query", "given"),
            ("dim", 10),
            ("slope", 1.0),
            ("eps", 1.0),
            ("n", 100_000),
        ),
        quantity="euclid",
        sweep=Sweep("alpha", 0.1, 100.0, 100, Scale.LOG),
        published="Table 2(a): O(d/(εn)) for user-level DP, O(d√ln(1/δ)/(αn)) for PrivEMDLinear.",
        computed=(
            "ℓ2 K-norm noise has d·ℓ/(αn) exactly, user-level DP the same at ε: at α = 25 it is 25 "
            "times smaller, with δ = 0."
        ),
        curves=(
            "kinf",
            "k2",
            "gauss",
            "printed",
            "user",
        ),
    ),
    Preset(
        "norms",
        "Which norm for many landmarks",
        "Distances to 16 landmarks in a city of 20 km: the noise of every p ≥ 1, each with its own "
        "Lipschitz constant.",
        values=(
            ("model", "central"),
            ("query", "landmarks"),
            ("landmarks", 16),
            ("space", "square-l2"),
            ("space_side", 20.0),
            ("space_unit", "km"),
        ),
        quantity="rmse",
        sweep=Sweep("p", 1.0, 64.0, 61, Scale.LOG),
        computed=(
            "The larger p the better: all 16 distances may change at once, which is 16 in ℓ1 and 1 "
            "in ℓ∞. "
            "At α = 25 the root mean square error falls from 3.62e-5 (ℓ1) over 2.64e-5 (ℓ2) to "
            "1.62e-5 (ℓ∞)."
        ),
        curves=_RMSE_CURVES,
    ),
    Preset(
        "histogram",
        "A soft histogram over a grid",
        "32 × 32 cells of a city, counted into 9 soft cells of width h: all pairs of neighbouring "
        "cells are gone through to find ℓ.",
        values=(
            ("model", "central"),
            ("query", "cells"),
            ("landmarks", 9),
            ("width", 0.25),
            ("space", "grid"),
            ("space_side", 20.0),
            ("space_unit", "km"),
        ),
        quantity="lip",
        sweep=Sweep("width", 0.02, 1.0, 60, Scale.LOG),
        computed=(
            "As long as no two cells overlap (h up to 0.12) ℓ is 1/h in every norm: narrow cells "
            "are sharp and need much noise. Where they overlap one item changes several at once: "
            "in ℓ∞ that costs nothing, but ℓ1 jumps from 8.3 at h = 0.12 to 27 at 0.147, and is "
            "18 at 0.25."
        ),
        curves=_RMSE_CURVES,
    ),
)


def _judge_miles(statistic: str) -> Judge:
    """Judge by the printed 1.6 miles."""

    def judge(found: Numbers) -> tuple[Status, str]:
        miles = found["k1_length"]
        verdict = f"{statistic} {nearest(miles, 3)} miles, not 1.6"
        return ("=" if abs(miles - 1.6) < 0.05 else "≠"), verdict

    return judge


def _judge_width(found: Numbers) -> tuple[Status, str]:
    """Judge a printed width by its true δ."""
    true, request = found["printed"], found["asked"]
    return ("≠" if true > request else "="), f"true δ {at_most(true, 2)}, not {at_most(request)}"


def _judge_private_noise(found: Numbers) -> tuple[Status, str]:
    """Judge the lemma by the root mean square error of Gaussian noise that is private."""
    private, printed = found["gauss"], found["printed"]
    verdict = f"RMSE {nearest(private)}, not {nearest(printed, 3)}"
    return ("≠" if private > 1.01 * printed else "="), verdict


def _judge_user_level(found: Numbers) -> tuple[Status, str]:
    return "+", f"mean {nearest(found['user'] / found['k2'], 3)}× smaller, δ = 0"


def _judge_norms(found: Numbers) -> tuple[Status, str]:
    falls = found["k1"] > found["k2"] > found["kinf"]
    return "+", "RMSE falls as p grows" if falls else "RMSE does not fall with p"


def _judge_cells(found: Numbers) -> tuple[Status, str]:
    apart = abs(found["k1 width=0.12"] * 0.12 - 1) < 1e-9
    overlapping = found["k1 width=0.147"] * 0.147 > 1 + 1e-9
    return "+", f"ℓ is {'' if apart and overlapping else 'not '}1/h up to h = 0.12"


JUDGES: dict[str, Judge] = {
    "city": _judge_miles("mean"),
    "city-rmse": _judge_miles("RMSE"),
    "width": _judge_width,
    "width-6": _judge_width,
    "lemma62": _judge_private_noise,
    "table2a": _judge_user_level,
    "norms": _judge_norms,
    "histogram": _judge_cells,
}
PRESETS = with_verdicts("linear-queries", _PRESETS, JUDGES)
