"""Conditions, guarantee and text of the claims of item-wise release."""

from explorer.privacy import user_metric as um
from explorer.studies.base.claims import number_text
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series
from explorer.studies.itemwise.theory import (
    EXACT,
    LOCAL,
    MAX_ALPHA,
    SORTED,
    THEOREM_TIGHT,
    ItemPoints,
)

_ASSUMED = (
    Condition(
        "One common α₀·d-private randomiser for every item, with a symmetric d; items outside the "
        "space are refused",
        None,
        short="One α₀·d-private randomiser for all",
    ),
    Condition(
        "Every user has the same public number m of items (bounded data)",
        None,
        short="One public number m of items a user",
    ),
    Condition("The shuffle hides which answer is whose", None),
)


def conditions(p: ItemPoints, alpha: float, alpha0: float, delta: float) -> tuple[Condition, ...]:
    """Return the premises of the numbers at the sliders' values."""
    m, n = float(p.m[-1]), float(p.n[-1])
    inside = max(min(delta, 1.0), 1e-300)
    limit = float(um.theorem44_certificate(alpha0, inside, m, n, um.Internal.TIGHT).limit)
    t = "m" if p.local else "mn"
    result = [
        Condition(
            f"Theorem 4.4 holds at this α₀: α₀ < ln({t}/(16 ln(4{t}/δ))), with the δ inside",
            bool(alpha0 < limit),
            f"α₀ = {nearest(alpha0)}, limit {nearest(limit)} at {t} = {m * n:,.0f}",
            short="Theorem 4.4 holds at this α₀",
        ),
        Condition(
            "Equation (6)/(7): α < m, which the paper states",
            alpha < m,
            f"α = {nearest(alpha)}, m = {m:,.0f}",
            short="Equation (6)/(7): α < m",
        ),
    ]
    if alpha <= MAX_ALPHA and delta > 0:
        printed = float(um.closed_form(alpha, inside, m, n).alpha0)
        if printed <= MAX_ALPHA:
            spent = float(um.closed_form_achieved(alpha, inside, m, n))
            result.append(
                Condition(
                    "Equation (6)/(7) spends no more than α by the paper's own theorem",
                    bool(spent <= alpha * (1 + 1e-9)),
                    f"at its α₀ = {nearest(printed)} Theorem 4.4 certifies α = {at_most(spent)}",
                    short="Equation (6)/(7) spends at most α",
                )
            )
    return (*result, *_ASSUMED)


def guarantee(p: ItemPoints, alpha: float, alpha0: float, delta: float, source: str) -> Guarantee:
    """Return the guarantee at the sliders' values, of the route whose label is `source`."""
    w = float(p.request["w"])
    return Guarantee(
        unit="one user's whole data set: the shorter the earth mover's way, the better",
        replace_one=_replace(alpha, delta, alpha0, source),
        add_remove=(
            "not covered: n and m are fixed and public; data sets of any size are drawn down to "
            "one size first (see “Unbounded data”)"
        ),
        trust=(
            "Local: the user's own device randomises and shuffles their m items; everybody else, "
            "the curator too, sees only these answers."
            if p.local
            else "Central: the curator, or a shuffler trusted to forget whose answers are whose, "
            "randomises and shuffles all mn items; everybody else sees the shuffled answers. "
            f"Against the shuffler itself an item has its own α₀ = {at_most(alpha0)}."
        ),
        sentence=_observer(alpha * w, delta, w, p.local),
        pairs=((alpha * w, delta),),
        qualified=True,
        references=(EXACT, SORTED, THEOREM_TIGHT),
        differences=() if p.coarse else _differences(p.local, p.space.min_distance),
    )


def claim_text(result: Result, series: Series, value: float) -> ClaimText:
    """Return the meaning of a bound on α, or on δ, at the sliders' values."""
    request = result.request
    alpha, alpha0, delta, w = (float(request[key]) for key in ("alpha", "alpha0", "delta", "w"))
    if request.quantity == "alpha":
        alpha, delta = value, 0.0 if series.key == "composed" else delta
    else:
        delta = min(value, 1.0)
    return ClaimText(
        number_text(result, series, value).number,
        (_observer(alpha * w, delta, w, request["model"] == LOCAL),),
        _replace(alpha, delta, alpha0, series.label),
        ((alpha * w, delta),),
    )


def _replace(alpha: float, delta: float, alpha0: float, source: str) -> str:
    return (
        f"({at_most(alpha)}·w, {at_most(delta)})-private when one user's m items are replaced by "
        f"others at earth mover's distance w (bounded d_EM-DP, {source}, α₀ = {at_least(alpha0)})"
    )


def _observer(epsilon: float, delta: float, w: float, local: bool) -> str:
    """Return the sentence about an observer of data sets at the distance `w`."""
    whose = "all of the user's" if local else "all"
    return guesses(
        epsilon,
        delta,
        f"which of two data sets a user holds, {nearest(w)} of the largest distance apart",
        f"after seeing {whose} shuffled answers",
    )


def _differences(local: bool, near: float) -> tuple[str, ...]:
    """Return why the accountants shown differ, in a space whose smallest distance is `near`."""
    paragraphs = [
        "Exact hops and Theorem 4.4 bound the same pair of mechanisms: the theorem by a closed "
        "form that needs a condition and constants of 8 and 16, exact hops by summing the pair's "
        "hockey-stick divergence. Exact hops pay e^α for a user's whole way, the theorem e^h: "
        "where α is in the hundreds and h far below, the theorem may allow a few per cent more. "
        "Both hold.",
        "Hops in increasing order move a user's shortest hops first, while little is spent: each "
        "long hop, which costs less for its length, is chained at the greater price. What an "
        "example refutes bounds every such argument from the other side.",
        "The two forms of Theorem 4.4 choose its inner δ differently: δ′e^(−α) is always enough, "
        "the largest δ with δ·e^h = δ′ gives more.",
        "Plain composition ignores the shuffle: α = m·α₀, but needs no δ"
        + (
            "; in the local model Theorem 4.4 is often no better, as a user hides only among their "
            "own items."
            if local
            else "."
        ),
        "Equations (6) and (7) are simplified from the theorem by bounds that are not valid "
        "throughout: they lie below it for small α₀ and above it for α₀ > 4.",
    ]
    if near > 0:
        paragraphs.append(
            f"In this space different items are at least {nearest(near)} apart, so that no hop is "
            "as short, and as costly for its length, as the general bound must assume."
        )
    return tuple(paragraphs)
