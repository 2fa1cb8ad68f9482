"""What item-wise release says in words: sources, names of curves, conditions, guarantee."""

from explorer.privacy.core.bound import Reference
from explorer.privacy.core.papers import USER_METRIC as _PAPER
from explorer.studies.base.claims import number_only
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee, Result, Said, Series
from explorer.studies.itemwise.parameters import EXPONENTIAL, GKRR, LOCAL, OPTIMAL, PLANAR

EXACT = Reference(
    _PAPER,
    "Lemma B.1's pair, summed exactly, and group privacy over m hops",
    "no condition on α₀ and m",
)
SORTED = Reference(
    "our proof, on Lemma B.1 of " + _PAPER,
    "hops in increasing order, stronger clones",
    "a user's shortest hops first: δ′ = ∫H(max(x, d_min))·αe^(αx)dx; no condition on α₀ and m",
)
PRODUCT = Reference(
    "our proof, on Lemma B.1 of " + _PAPER,
    "hops side by side, 0/1 distances",
    "k changed items as k independent hops among ⌊(mn−k)/k⌋ others each, for every k ≤ m",
)
REFUTED = Reference(
    "our example",
    "three items, one pair of data sets",
    "no accountant that knows only α₀, m, n and the diameter can promise more; it says nothing of "
    "your own space or mechanism",
)
THEOREM_SIMPLE = Reference(
    _PAPER,
    "Theorem 4.4 with δ = δ′e^(−α)",
    "the limit w → 0, which is not attained: errata user-A1, user-A2",
)
THEOREM_TIGHT = Reference(
    _PAPER, "Theorem 4.4 with δ·e^h = δ′", "the largest δ inside: errata user-A2, user-A7"
)
THEOREM_PROOF = Reference(
    _PAPER, "Theorem 4.3, proof", "(δ/m)(e^h − 1)/(e^(h/m) − 1), less than claimed: errata user-A7"
)
COMPOSED = Reference(_PAPER, "Section 4.2, plain composition", "α = m·α₀ without any δ")
PRINTED = Reference(
    _PAPER,
    "equations (6) and (7), as printed",
    "never to calibrate with: errata user-A3 to user-A6, user-F1",
)
NOISE = Reference(
    "Andrés et al. 2013 (planar Laplace); Imola et al. 2024, Section 6.2 (GKRR); McSherry & Talwar "
    "2007 (exponential mechanism)",
    "mean distance of an answer from its item",
)

LABELS = {
    "sorted": "hops in increasing order",
    "product": "hops side by side, 0/1 distances",
    "refuted": "refuted by an example",
    "exact": "exact hops",
    "exact_near": "exact hops, smallest distance of the space",
    "tight": "Theorem 4.4, δ·e^h = δ′",
    "simple": "Theorem 4.4, δ = δ′e^(−α)",
    "composed": "plain composition, α = m·α₀",
    "printed": "equation (6)/(7) of the paper",
    "proof": "Theorem 4.3, the δ of its proof",
    "claimed": "Theorem 4.4, the δ it claims",
}
HOW_FAR = {
    PLANAR: "before any clipping to the square",
    GKRR: "the same for every item",
    EXPONENTIAL: "mean over items drawn evenly, answered at the rate α₀/2, which always suffices",
    OPTIMAL: (
        "mean over items drawn evenly, the least there is: solved for α₀ in steps of 5 %, of which "
        "the next lower is taken"
    ),
}
"""What the mean distance of each randomiser is taken over."""
SOLVED_AT_REST = "the optimal mechanism is solved for when the sliders rest"
COMING = "normal approximation; the exact sum follows"
PRINTED_FAILS = (
    "the condition of the theorem behind the equation fails there, or α is not below m: the paper "
    "states neither"
)
PRINTED_JUMPS = "the printed equations jump from α₀ = 1 to 2 ln 2 and give no α between"
NOT_REFUTED = "the example refutes nothing there"
BEYOND = "more than α = 800"
NO_DELTA = "no δ of the theorem between 1e-300 and 1 gives this α at this α₀"
PRINTED_NOTE = (
    "the paper's claim, not to calibrate with: for α₀ ≤ 1 4.6 to 8 times too small, for α₀ > 4 "
    "more than its own theorem allows"
)

NOTES = {
    "printed": PRINTED_NOTE,
    "refuted": "no accountant that knows only α₀, m, n and the diameter can promise more",
    "product": "computed at the slider's value",
}


def condition_fails(local: bool) -> str:
    """Return why Theorem 4.4 says nothing of an α₀."""
    t = "m" if local else "mn"
    return (
        f"the theorem's condition fails: α₀ must be below ln({t}/(16 ln(4{t}/δ))) with the δ inside"
    )


def no_alpha0(local: bool) -> str:
    """Return why Theorem 4.4 allows no α₀."""
    t = "m" if local else "mn"
    return (
        f"the theorem's condition holds for no α₀ > 0: {t} is not above 16 ln(4{t}/δ) with the δ "
        "inside"
    )


def shuffled(model_local: bool) -> str:
    """Return which answers are shuffled together."""
    return "one user's items" if model_local else "the items of all users"


def conditions(
    *,
    alpha0: float,
    limit: float,
    alpha: float,
    m: float,
    total: float,
    local: bool,
    printed_alpha0: float | None,
    printed_alpha: float | None,
) -> tuple[Condition, ...]:
    """Return what the numbers at the sliders need, and whether they have it."""
    t = "m" if local else "mn"
    found = [
        Condition(
            f"Theorem 4.4 holds at this α₀: α₀ < ln({t}/(16 ln(4{t}/δ))), with the δ inside",
            bool(alpha0 < limit),
            f"α₀ = {nearest(alpha0)}, limit {nearest(limit)} at {t} = {total:,.0f}",
            short="Theorem 4.4 holds at this α₀",
        ),
        Condition(
            "Equation (6)/(7): α < m, which the paper states",
            alpha < m,
            f"α = {nearest(alpha)}, m = {m:,.0f}",
            short="Equation (6)/(7): α < m",
        ),
    ]
    if printed_alpha0 is not None and printed_alpha is not None:
        found.append(
            Condition(
                "Equation (6)/(7) spends no more than α by the paper's own theorem",
                bool(printed_alpha <= alpha * (1 + 1e-9)),
                f"at its α₀ = {nearest(printed_alpha0)} Theorem 4.4 certifies "
                f"α = {at_most(printed_alpha)}",
                short="Equation (6)/(7) spends at most α",
            )
        )
    return (*found, *ASSUMED)


ASSUMED = (
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


def guarantee(
    *,
    alpha: float,
    alpha0: float,
    delta: float,
    w: float,
    local: bool,
    source: str,
    differences: tuple[str, ...],
) -> Guarantee:
    """Return the guarantee at the sliders' values."""
    return Guarantee(
        unit="one user's whole data set: the shorter the earth mover's way, the better",
        replace_one=_replaced(alpha, delta, alpha0, source),
        add_remove=(
            "not covered: n and m are fixed and public; data sets of any size are drawn down to "
            "one size first (see “Unbounded data”)"
        ),
        trust=(
            "Local: the user's own device randomises and shuffles their m items; everybody else, "
            "the curator too, sees only these answers."
            if local
            else "Central: the curator, or a shuffler trusted to forget whose answers are whose, "
            "randomises and shuffles all mn items; everybody else sees the shuffled answers. "
            f"Against the shuffler itself an item has its own α₀ = {at_most(alpha0)}."
        ),
        sentence=_observer(alpha * w, delta, w, local),
        pairs=((alpha * w, delta),),
        qualified=True,
        references=(EXACT, SORTED, THEOREM_TIGHT),
        differences=differences,
    )


def claim_words(result: Result, series: Series, value: float) -> Said:
    """Say what a bound on α, or on δ, means at the sliders' values."""
    request = result.request
    alpha, alpha0, delta, w = (float(request[key]) for key in ("alpha", "alpha0", "delta", "w"))
    if request.quantity == "alpha":
        alpha, delta = value, 0.0 if series.key == "composed" else delta
    else:
        delta = min(value, 1.0)
    return Said(
        number_only(result, series, value).number,
        (_observer(alpha * w, delta, w, request["model"] == LOCAL),),
        _replaced(alpha, delta, alpha0, series.label),
        ((alpha * w, delta),),
    )


def _replaced(alpha: float, delta: float, alpha0: float, source: str) -> str:
    return (
        f"({at_most(alpha)}·w, {at_most(delta)})-private when one user's m items are replaced by "
        f"others at earth mover's distance w (bounded d_EM-DP, {source}, α₀ = {at_least(alpha0)})"
    )


def _observer(epsilon: float, delta: float, w: float, local: bool) -> str:
    """Return what an observer makes of data sets at the distance `w`."""
    whose = "all of the user's" if local else "all"
    return guesses(
        epsilon,
        delta,
        f"which of two data sets a user holds, {nearest(w)} of the largest distance apart",
        f"after seeing {whose} shuffled answers",
    )


def differences(local: bool, near: float) -> tuple[str, ...]:
    """Return why the accountants shown differ."""
    said = [
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
        said.append(
            f"In this space different items are at least {nearest(near)} apart, so that no hop is "
            "as short, and as costly for its length, as the general bound must assume."
        )
    return tuple(said)
