"""What linear queries say in words: sources, names of curves, conditions, guarantee, tables."""

import math

from explorer.privacy.core.bound import Reference
from explorer.privacy.core.papers import USER_METRIC as _PAPER
from explorer.studies.base.claims import number_only
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee, Result, Said, Series
from explorer.studies.linear_queries.parameters import LOCAL

LIPSCHITZ = Reference(
    _PAPER, "Theorem 4.1", "with equality: two users with one item each attain it"
)
K_NORM = Reference(
    _PAPER,
    "Algorithm 1 and Lemma 4.2; Hardt & Talwar 2010",
    "scale ℓ/(αn) once, cone measure on the sphere: errata user-B2, user-B3",
)
ANALYTIC = Reference(
    "Balle & Wang 2018 (analytic Gaussian mechanism)",
    "Theorem 8 and Algorithm 1",
    "in place of the paper's width: errata user-B1",
)
PRINTED = Reference(
    _PAPER,
    "Section 4.1, remarks, and Lemma 6.2, as printed",
    "√(1.25 ln(1/δ))/α is not private in general: errata user-B1",
)
TEXTBOOK = Reference(
    "Dwork & Roth 2014 (The algorithmic foundations of differential privacy)",
    "Theorem A.1",
    "proved for α ≤ 1, false from about 9 on",
)
USER = Reference(
    _PAPER,
    "Table 2(a), Lemmas 6.1 and 6.3: the baseline",
    "same noise for the whole range of answers",
)

LABELS = {
    "k1": "ℓ1 K-norm (Laplace)",
    "k2": "ℓ2 K-norm",
    "kinf": "ℓ∞ K-norm",
    "kp": "ℓp K-norm",
    "gauss": "analytic Gaussian",
    "textbook": "textbook Gaussian",
    "printed": "printed Gaussian width",
    "user": "user-level DP, ℓ2 K-norm",
    "user_gauss": "user-level DP, analytic Gaussian",
    "asked": "δ asked for",
}
SLOPE_LABELS = {
    "k1": "in the ℓ1 norm",
    "k2": "in the ℓ2 norm",
    "kinf": "in the ℓ∞ norm",
    "kp": "in the ℓp norm",
    "user": "range of answers, ℓ2 (user-level DP)",
}
DISAGREES = "the query differs on two items at distance 0: no noise can hide that, ℓ is infinite"
PRINTED_PRIVATE = "printed_private"
"""Key of what the printed width's errors rest on."""
TOO_NARROW = "the textbook width's true δ is above δ there"
JENSEN = "at most the root mean square error, by Jensen's inequality"
OWN_NORM = "each in the norm of its own noise"
ONE_USER = "of one user's answer; averaging over n users makes it smaller"
NOT_PRIVATE = "not private at this α and δ"
CONSTANT = "The query is the same for all items: there is nothing to hide, and no noise."


def printed_label(private: bool) -> str:
    """Return the name of the printed width's curve."""
    return LABELS["printed"] + ("" if private else " (not private here)")


def conditions(
    *,
    lip: float,
    attained: bool | None,
    alpha: float,
    delta: float,
    printed: float,
    textbook: float,
    local: bool,
) -> tuple[Condition, ...]:
    """Return what the numbers at the sliders need, and whether they have it."""
    agrees = math.isfinite(lip)
    return (
        Condition(
            "The query is the same for items at distance 0",
            agrees,
            f"Lipschitz constant {at_most(lip)} in the ℓ2 norm" if agrees else "it is infinite",
            short="Same answer for items at distance 0",
        ),
        Condition(
            "No two items make a steeper slope than the Lipschitz constant used",
            attained if attained is None else agrees,
            ""
            if attained is None
            else "exact: no smaller one will do"
            if attained
            else "a proved bound: noise may be larger than it has to be",
            short="No slope above the Lipschitz constant",
        ),
        Condition(
            "Only the printed Gaussian: its width √(1.25 ln(1/δ))/α is private at this α and δ",
            printed <= delta,
            f"its true δ is {nearest(printed)}, asked is {nearest(delta)}",
            of_guarantee=False,
            key=PRINTED_PRIVATE,
            short="Only printed Gaussian: width is private",
        ),
        Condition(
            "Only the textbook Gaussian: its width √(2 ln(1.25/δ))/α is private at this α and δ",
            textbook <= delta,
            f"its true δ is {nearest(textbook)}, asked is {nearest(delta)}",
            of_guarantee=False,
            short="Only textbook Gaussian: it is private",
        ),
        Condition(
            "Only the textbook Gaussian: its proof covers this α, α ≤ 1",
            alpha <= 1,
            f"α = {nearest(alpha)}",
            of_guarantee=False,
            short="Only textbook Gaussian: proof for α ≤ 1",
        ),
        Condition(
            "Users' data sets may have any size (each user's answer is an average of their own)"
            if local
            else "Every user holds the same public number m of items: only then is the answer "
            "divided by n",
            True if local else None,
            short="Users' data sets may have any size"
            if local
            else "One public number m of items a user",
        ),
        Condition(
            "Items outside the space are refused; landmarks and cells are public",
            None,
            short="Space, landmarks and cells are public",
        ),
    )


def guarantee(
    *, alpha: float, delta: float, w: float, local: bool, n: float, differences: tuple[str, ...]
) -> Guarantee:
    """Return the guarantee at the sliders' values."""
    bounded = "data sets of any size" if local else "data sets of one public size"
    return Guarantee(
        unit="one user's whole data set: the shorter the earth mover's way, the better",
        replace_one=(
            f"({at_most(alpha)}·w, 0)-private with K-norm noise, "
            f"({at_most(alpha)}·w, {at_most(delta)}) with analytic Gaussian noise, "
            "when one user's data are replaced by others at earth mover's "
            f"distance w ({bounded})"
        ),
        add_remove="not covered: the number of users is fixed and public",
        trust=(
            "Local: each user's device adds the noise; everybody else, the curator too, sees only "
            "noisy answers."
            if local
            else f"Central: the curator sees all data and adds the noise once, {n:,.0f} users hide "
            "each other; everybody else sees one noisy answer."
        ),
        sentence=_observer(alpha * w, delta, w, local),
        pairs=((alpha * w, delta),),
        qualified=True,
        references=(LIPSCHITZ, K_NORM, ANALYTIC),
        differences=differences,
    )


GAUSSIAN = dict.fromkeys(
    ("gauss", "textbook"),
    "its promise is weaker: (α·w, δ), where the K-norm noise that is claimed has δ = 0",
)
"""Why errors of Gaussian noise are never claimed."""


def claim_words(result: Result, series: Series, value: float) -> Said:
    """Say the error of K-norm noise, and what its promise, which needs no δ, means."""
    request = result.request
    alpha, w = float(request["alpha"]), float(request["w"])
    return Said(
        number_only(result, series, value).number,
        (_observer(alpha * w, 0.0, w, request["model"] == LOCAL),),
        pairs=((alpha * w, 0.0),),
    )


def _observer(epsilon: float, delta: float, w: float, local: bool) -> str:
    """Return what an observer makes of data sets at the distance `w`."""
    return guesses(
        epsilon,
        delta,
        f"which of two data sets a user holds, {nearest(w)} of the largest distance apart",
        "after seeing " + ("their noisy answer" if local else "the noisy answer"),
    )


DIFFERENCES = (
    "K-norm noise is purely private (δ = 0) and pays for it with the dimension: its length grows "
    "like d, that of Gaussian noise like √d, at the price of √ln(1/δ).",
    "Norms differ twice: by the Lipschitz constant in that norm and by the shape of the noise; "
    "with one number in the answer all are Laplace noise.",
    "The printed Gaussian width mixes up √(2 ln(1.25/δ)) and is not private for most α; the "
    "textbook width is proved for α ≤ 1 only; the analytic width is the smallest there is.",
    "User-level DP hides any change of a user's data alike: its noise is that for the range of "
    "answers at ε, ours for the steepest slope at α. At α = ε ours protects at least as well.",
)
