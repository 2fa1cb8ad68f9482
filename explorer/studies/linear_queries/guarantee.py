"""Conditions, guarantee and text of the claims of linear queries."""

import math

from explorer.studies.base.claims import number_text
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series
from explorer.studies.linear_queries.theory import (
    ANALYTIC,
    K_NORM,
    LIPSCHITZ,
    LOCAL,
    LinearPoints,
)

PRINTED_PRIVATE = "printed_private"
"""Id of the condition that the errors of the printed width rest on."""


def conditions(p: LinearPoints) -> tuple[Condition, ...]:
    """Return the premises of the numbers at the sliders' values."""
    alpha, delta = float(p.request["alpha"]), float(p.request["delta"])
    printed, textbook = p.true_deltas
    local = p.request["model"] == LOCAL
    lip, attained = float(p.request["slope"]), None
    if p.request.quantity != "true_delta":
        lip = float(p.euclidean.lip[-1])
        attained = None if p.euclidean.last is None else p.euclidean.last.attained
    agrees = math.isfinite(lip)
    return (
        Condition(
            "The query is the same for items at distance 0",
            agrees,
            f"Lipschitz constant {at_most(lip)} in the ℓ2 norm" if agrees else "it is infinite",
            short="Items at distance 0 get the same answer",
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


def guarantee(p: LinearPoints) -> Guarantee:
    """Return the guarantee at the sliders' values."""
    alpha, delta, w, n = (float(p.request[key]) for key in ("alpha", "delta", "w", "n"))
    local = p.request["model"] == LOCAL
    bounded = "data sets of any size" if local else "data sets of one public size"
    return Guarantee(
        unit="one user's whole data set; small changes are protected more",
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
        about=_secret(w),
        references=(LIPSCHITZ, K_NORM, ANALYTIC),
        differences=_DIFFERENCES,
    )


def claim_text(result: Result, series: Series, value: float) -> ClaimText:
    """Return the error of K-norm noise and the meaning of its promise, which needs no δ."""
    request = result.request
    alpha, w = float(request["alpha"]), float(request["w"])
    return ClaimText(
        number_text(result, series, value).number,
        (_observer(alpha * w, 0.0, w, request["model"] == LOCAL),),
        pairs=((alpha * w, 0.0),),
    )


def _secret(w: float) -> str:
    return f"which of two data sets a user holds, {nearest(w)} of the largest distance apart"


def _observer(epsilon: float, delta: float, w: float, local: bool) -> str:
    """Return the sentence about an observer of data sets at the distance `w`."""
    return guesses(
        epsilon,
        delta,
        _secret(w),
        "after seeing " + ("their noisy answer" if local else "the noisy answer"),
    )


_DIFFERENCES = (
    "K-norm noise is purely private (δ = 0) and pays for it with the dimension: its length grows "
    "like d, that of Gaussian noise like √d, at the price of √ln(1/δ).",
    "Norms differ twice: by the Lipschitz constant in that norm and by the shape of the noise; "
    "with one number in the answer all are Laplace noise.",
    "The printed Gaussian width mixes up √(2 ln(1.25/δ)) and is not private for most α; the "
    "textbook width is proved for α ≤ 1 only; the analytic width is the smallest there is.",
    "User-level DP hides any change of a user's data alike: its noise is that for the range of "
    "answers at ε, ours for the steepest slope at α. At α = ε ours protects at least as well.",
)
