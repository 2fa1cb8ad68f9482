"""Help page and presets of the private regression study."""

from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    with_verdicts,
)
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.private_regression import theory
from explorer.studies.private_regression.theory import BASELINE, EXACT, PAPER

PAGE = Page(
    what=(
        "Every user holds some features and a label, say age, income and a blood pressure, and "
        "wants nobody to see them. Each sends two randomised reports; from all of them the server "
        "estimates how the label depends on the features, and looks for the coefficients that "
        "predict it best.",
        "The picture shows how much worse the coefficients found are than the best ones (the "
        "excess risk), or how far predictions are off, against the number of users or the privacy "
        "demanded. It is found by trying out: records are taken (synthetic ones, or your own "
        "table), reports are drawn, and the objective they give is minimised in several ways.",
        "Saying nothing (all coefficients 0) is the mark to beat: left of where the dots fall "
        "below it, there are too few users for so much privacy.",
        "Every feature can have a level of its own, and a bound on its own coupling, typed or from "
        "a CSV file. Errors can be those on held-out users, by cross-validation: each part of the "
        "users is predicted from the reports of the others.",
    ),
    assumptions=(
        "Features and label lie in [−1, 1], scaled by public bounds; values beyond are clipped.",
        "q is public and bounds how far a sensitive feature is coupled with all the rest, the "
        "label included.",
        "The label has the largest level, ε, and comes last.",
        "Reports and their averages are not projected: that would bias the objective.",
    ),
    formulas=(
        Formula(
            "What is minimised",
            r"f(\theta)=\frac{1}{2n}\sum_j(l_j-\theta^T z_j)^2-\frac{1}{2n}\sum_j l_j^2"
            r"=\frac{1}{2}\theta^TA\theta-b^T\theta,\quad\|\theta\|\leq R",
        ),
        Formula(
            "Its estimate from two reports of each user",
            r"\hat A=\mathrm{sym}\left(\frac{1}{n}\sum_j\hat z_j^1\hat z_j^{2\,T}\right),"
            r"\quad\hat b=\frac{1}{2n}\sum_j(\hat l_j^1\hat z_j^2+\hat l_j^2\hat z_j^1)",
        ),
        Formula("Each report has half the budget", r"\hat x_j^{1,2}=M_{mean}(x_j,c/2)"),
        Formula(
            "Theorem 3, up to a constant",
            r"E[f(\hat\theta)-f^*]\lesssim(R^2+R)\left(\frac{\log d}{\sqrt{n}}(r^2+rd)\wedge "
            r"d\right)",
        ),
        Formula(
            "r² as printed, of c",
            r"r^2=\sum_i\frac{1}{\sum_{k\leq i}(c_k-c_{k-1})^2/(d-k+1)}",
        ),
    ),
    sources=theory.REFERENCES,
    errata=(
        "The paper (v1) prints an objective with Σ ẑ¹ẑ²ᵀ, which is neither symmetric nor positive "
        "semidefinite, so that 'any convex optimiser' does not apply. We symmetrise it, and either "
        "clip its negative eigenvalues or find the exact minimiser over the ball (errata "
        "coord-B11).",
        "The paper (v1) prints Theorem 3 with r² of c, though each report has c/2, which costs a "
        "factor of 4 or more. We draw it as printed and with the reports' own r², both without "
        "their constants (errata coord-B13).",
        "The paper (v1) prints a radius B twice as large, which biases every report; we use the "
        "unbiased one (errata coord-A1).",
        "The paper (v1) prints that the last coordinate, the label, is exempt from Assumption 1, "
        "which does not exempt its correlation with the features: q must bound that too. If the "
        "label equals a feature, q = 1 (errata coord-A7).",
        "The paper (v1) prints the reports of Algorithm 3 at c/2 without saying why: c and L add "
        "up over both. Halving the levels δᵢ would not be valid (errata coord-B10). One report "
        "used twice would not do either, since its square carries nothing (errata coord-B12).",
    ),
)

_USERS = Sweep("n", 1_000, 1_000_000, 61, Scale.LOG)
_CURVES = ("trust-region", "psd-clip", "unprojected", "nothing", "theorem3")
_PRESETS = (
    Preset(
        "algorithm3",
        "Algorithm 3 and Theorem 3",
        "Excess risk against the number of users, on synthetic records.",
        (("budget", PAPER),),
        "excess",
        _USERS,
        "Excess risk of order (log d/√n)(r² + r·d), at most of order d (Theorem 3).",
        "At 10⁶ users the order is 0.10 as printed and 1.5 with the reports' own r²; the error "
        "found is near 0.01. Below some 3·10⁴ users the reports are worth less than predicting a "
        "constant (0.056).",
        curves=_CURVES,
    ),
    Preset(
        "exact-budgets",
        "With better budgets",
        "The same with the budgets of the exact constraint.",
        (("budget", EXACT),),
        "excess",
        _USERS,
        "",
        "Theorem 3's order is some 1.8 times smaller than with the paper's ζ at the same levels.",
        curves=_CURVES,
    ),
    Preset(
        "baseline",
        "min δ-LDP",
        "The same with everything protected like the most sensitive feature.",
        (("budget", BASELINE),),
        "excess",
        _USERS,
        "BCDP leverages heterogeneous demands (Section 5).",
        "At 10⁶ users the error found is more than three times that with budgets of the exact "
        "constraint, and still more than half of that of predicting a constant.",
        curves=_CURVES,
    ),
    Preset(
        "prediction",
        "How far predictions are off",
        "Error of prediction against the sensitive feature's level, the whole record at ε = 20: "
        "between predicting a constant and least squares without privacy.",
        (("budget", EXACT), ("eps", 20.0), ("q", 0.01)),
        "rmse",
        Sweep("level", 0.1, 20.0, 41, Scale.LOG),
        "",
        "Predicting a constant is off by 0.37, least squares by 0.14. Inside the ball the reports "
        "are worth more than nothing from δ₁ of some 0.6 on (medians of the trials) and come near "
        "least squares at 8. Without the ball half of the trials are off by more than 0.45, worse "
        "than predicting a constant, as long as δ₁ is 1.4 or less; from 3.6 on the ball does not "
        "matter.",
        curves=(
            "trust-region",
            "psd-clip",
            "unprojected",
            "nothing",
            "nonprivate",
        ),
    ),
)


def _order(numbers: Numbers) -> tuple[Status, str]:
    """Judge Theorem 3's order by the median excess of trials: equal within a factor of 2."""
    order, median = numbers["theorem3 n=1000000"], numbers["median"]
    verdict = f"order {nearest(order, 2)}, median {nearest(median, 2)}"
    return ("=" if order / 2 <= median <= 2 * order else "≠"), verdict


def _better(numbers: Numbers) -> tuple[Status, str]:
    factor = numbers["paper"] / numbers["theorem3"]
    return ("+" if factor > 1 else "≠"), f"order {nearest(factor, 2)} times smaller"


def _gain(numbers: Numbers) -> tuple[Status, str]:
    factor = numbers["median"] / numbers["median_exact"]
    return ("=" if factor > 1 else "≠"), f"median error {nearest(factor, 2)} times"


JUDGES: dict[str, Judge] = {
    "algorithm3": _order,
    "exact-budgets": _better,
    "baseline": _gain,
    "prediction": lambda numbers: ("+", f"median helps from δ₁ = {nearest(numbers['from'], 2)}"),
}
PRESETS = with_verdicts("private-regression", _PRESETS, JUDGES)
