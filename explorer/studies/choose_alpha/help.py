"""Help page and presets of the study that chooses α."""

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
from explorer.studies.choose_alpha.theory import SETTING, USER_LEVEL

PAGE = Page(
    what=(
        "Ordinary differential privacy hides everything about a user equally well. Often less is "
        "needed: that you spent one day of the month elsewhere must stay hidden, that you live in "
        "Europe need not. Metric privacy at the user level protects a change of a user's data the "
        "better, the less of the data moves and the shorter the way it goes.",
        "Its parameter α says how fast protection falls off: a change that moves a share τ of the "
        "data by q on average (q as a share of the largest distance there is) is protected with "
        "ε = α·q·τ at most. To choose α, say which changes must be protected and how well; α is "
        "the largest number that meets all of them.",
        "The plane shows all changes at once: distance to the right, share of the data upwards, "
        "both logarithmic. A line joins the changes with one ε; your requirements are the rings "
        "with numbers, which you can drag. The tightest requirement lies on its own line: "
        "relaxing it alone gains accuracy. The table below shows what each requirement "
        "gets. Any metric space can be used, your own too.",
    ),
    assumptions=(
        "Items live in the declared space: its largest distance normalises all others, and items "
        "outside must be refused.",
        "Neighbouring data sets are any two data sets of one user; how far apart they are is the "
        "earth mover's distance w of the normalised data sets, at most qτ.",
        "The number of users is fixed and public; a user's number of items too, unless the release "
        "draws from them first (see “Unbounded data”).",
    ),
    formulas=(
        Formula(
            "α that meets requirements “τ of the data moved by q on average has at most ε”",
            r"\alpha=\min_i\;\frac{\varepsilon_i}{q_i\,\tau_i}",
        ),
        Formula(
            "what is promised: bounded metric DP under the earth mover's distance",
            r"\Pr[M(K)\in O]\leq e^{\alpha\,d_{EM}(K,K')}\Pr[M(K')\in O]+\delta",
        ),
        Formula("the earth mover's distance of a change", r"d_{EM}(K,K')\leq q\,\tau\leq 1"),
    ),
    sources=(SETTING, USER_LEVEL),
    errata=(
        "The paper (v1) prints a largest distance on Earth of about 12,930 miles, which is longer "
        "than any shortest path: half the circumference is 12,450.7 miles at the equator. Its q = "
        "0.08 and 0.008 belong to 12,500 miles. We use 12,450.7 (α = 24.90) and offer the others: "
        "12,500 gives 25, 12,930 gives 25.86 (errata user-C1).",
        "The paper (v1) prints that the requirement is the minimum acceptable privacy parameter, "
        "which would make every smaller ε unacceptable; it is the largest. Requirements with q·τ = "
        "0 ask for nothing and are left out; printed, they divide by 0 (errata user-C2).",
        "The paper (v1) prints its definitions “for all outputs O” with an additive δ, which says "
        "nothing for continuous outputs; we read O as any measurable set (errata user-A10). It "
        "prints d_EM < 1; d_EM ≤ 1 is meant (errata user-C2).",
    ),
)

_EXAMPLE = (
    ("requirements", "2"),
    ("eps1", 0.2),
    ("distance1", 1000.0),
    ("tau1", 1 / 30),
    ("eps2", 0.2),
    ("distance2", 100.0),
    ("tau2", 1.0),
    ("moved", 1000.0),
    ("tau", 1 / 30),
    ("space_unit", "mi"),
)
_CLAIM = "Section 3: q₁ = 0.08 and q₂ = 0.008 with τ₁ = 1/30 and τ₂ = 1 at ε = 0.2 give α = 25."
_PLANE = Sweep("moved", 1.0, 12_000.0, 100, Scale.LOG)
_CURVES = ("requirement_1", "level_0.5", "level_1", "level_2", "asked")
_PRESETS = (
    Preset(
        "earth",
        "Concrete example (Section 3), on Earth",
        "A month of locations: one day within 1000 miles, and everything within 100 miles, at "
        "ε = 0.2. The second requirement is the tightest; the first is met three times over.",
        values=(*_EXAMPLE, ("space", "sphere"), ("space_earth", "equator")),
        sweep=_PLANE,
        published=_CLAIM,
        computed="α = 24.90: half the Earth's circumference is 12,450.7 miles, so q₂ = 0.00803.",
        curves=_CURVES,
    ),
    Preset(
        "rounded",
        "The same with the paper's rounded q",
        "The q of the paper, 0.08 and 0.008, are those of a largest distance of 12,500 miles: here "
        "a line of that length.",
        values=(*_EXAMPLE, ("space", "line"), ("space_side", 12_500.0)),
        sweep=_PLANE,
        published=_CLAIM,
        computed="α = 25, as printed.",
        curves=_CURVES,
    ),
    Preset(
        "printed",
        "The same with the paper's 12,930 miles",
        "The largest distance that a footnote of the paper (v1) prints.",
        values=(*_EXAMPLE, ("space", "sphere"), ("space_earth", "paper")),
        sweep=_PLANE,
        published=_CLAIM,
        computed="α = 25.86: with 12,930 miles q₂ is 0.00773 and not 0.008.",
        curves=_CURVES,
    ),
    Preset(
        "city",
        "A week in a city",
        "A square of 20 km: one day of the week within the whole city, and everything within "
        "500 m, at ε = 1; a single hour of the week anywhere at ε = 0.5.",
        values=(
            ("requirements", "3"),
            ("space", "square-l2"),
            ("space_side", 20.0),
            ("space_unit", "km"),
            ("eps1", 1.0),
            ("distance1", 28.0),
            ("tau1", 1 / 7),
            ("eps2", 1.0),
            ("distance2", 0.5),
            ("tau2", 1.0),
            ("eps3", 0.5),
            ("distance3", 28.0),
            ("tau3", 1 / 168),
            ("moved", 5.0),
            ("tau", 1 / 7),
        ),
        sweep=Sweep("moved", 0.01, 28.0, 100, Scale.LOG),
        computed="α = 7.07 per diameter of 28.3 km; the day within the whole city is the tightest.",
        curves=(
            "requirement_1",
            "requirement_3",
            "level_2",
            "asked",
        ),
    ),
)


def _judge_alpha(found: Numbers) -> tuple[Status, str]:
    """Judge by the paper's α = 25."""
    alpha = found["alpha"]
    return ("=" if abs(alpha - 25) <= 0.5 else "≠"), f"α = {nearest(alpha)}"


JUDGES: dict[str, Judge] = {
    "earth": _judge_alpha,
    "rounded": _judge_alpha,
    "printed": _judge_alpha,
    "city": lambda found: ("+", f"α = {nearest(found['alpha'], 3)} in a city"),
}
PRESETS = with_verdicts("choose-alpha", _PRESETS, JUDGES)
