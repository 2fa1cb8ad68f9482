"""Conditions, guarantee and text of the claims of item-wise release."""

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import number_text
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series, Table
from explorer.studies.itemwise.theory import (
    EXACT,
    LOCAL,
    MAX_ALPHA,
    NO_ALPHA0,
    SORTED,
    THEOREM_43,
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
    return (*result, *_of_table(p.own, alpha0), *_ASSUMED)


def _of_table(own: um.ItemTable | str, alpha0: float) -> tuple[Condition, ...]:
    """Return the condition that the user's own table, if there is one, is α₀·d-private."""
    if own == "":
        return ()
    if isinstance(own, str):
        holds, margin = False, own
    elif own.alpha0 == float("inf"):
        holds, margin = False, NO_ALPHA0
    else:
        holds = own.alpha0 <= alpha0
        margin = f"the table needs α₀ = {at_most(own.alpha0)}; here it is {at_least(alpha0)}"
    return (
        Condition(
            "Your table is α₀·d-private at the α₀ of this guarantee",
            holds,
            margin,
            short="Your table is α₀·d-private here",
        ),
    )


def guarantee(p: ItemPoints, alpha: float, alpha0: float, delta: float, source: str) -> Guarantee:
    """Return the guarantee at the sliders' values, of the route whose label is `source`."""
    w = float(p.request["w"])
    return Guarantee(
        unit="one user's whole data set; small changes are protected more",
        replace_one=_replace(alpha, delta, alpha0, source),
        add_remove=(
            "not covered: n and m are fixed and public; data sets of any size are drawn down to "
            "one size first (see “Unbounded data”)"
        ),
        trust=_trust(p, alpha0),
        sentence=_observer(alpha * w, delta, w, p.local),
        pairs=((alpha * w, delta),),
        qualified=True,
        about=_secret(w),
        references=(EXACT, SORTED, THEOREM_TIGHT),
        differences=() if p.coarse or p.first else _differences(p.local, p.space.min_distance),
    )


def notions_table(p: ItemPoints, alpha: float, alpha0: float, delta: float) -> Table:
    """Return what every notion of privacy in the paper promises of the release at the sliders.

    Parameters
    ----------
    p : ItemPoints
    alpha, delta : float
        The bounded d_EM-DP that is certified of the shuffled answers, in the model of the request.
    alpha0 : float
        The d_X-DP of one item.

    Notes
    -----
    Imola et al. 2024, Table 1 and Definitions 2.1 to 5.2. The local notions are about what a user
    sends: the shuffled answers in the local model; in the central one the m answers before the
    shuffle, (m·α₀, 0)-bounded d_EM-DP by composition. The unbounded notions are those after m draws
    of every user (Algorithm 3): the user-level ones by Theorem 5.3 at r = 1, where draws are at
    distance at most 1 with certainty, the discrete ones at r = w in its Chernoff form.
    """
    w, m = float(p.request["w"]), float(p.m[-1])
    allowance = min(max(float(p.request["delta"]), 1e-300), 1.0)
    draws = um.bounded_reduction(1.0, allowance, w, m)
    far, missed = float(draws.threshold), 0.0 if draws.certain else allowance
    rows: list[tuple[str | float | None, ...]] = []
    for model, user_level, metric, discrete, (level, fails) in (
        ("local", "2.1", "3.1", "5.1", (alpha, delta) if p.local else (m * alpha0, 0.0)),
        ("central", "2.2", "3.2", "5.2", (alpha, delta)),
    ):
        rows += [
            (f"user-level {model} DP", user_level, *_DRAWN, "ε", level, level, fails),
            (f"bounded {model} d_EM-DP", metric, *_SAME_SIZE, "α", level, level * w, fails),
        ]
        if model == "local":
            rows += [
                ("unbounded local d_EM-DP", metric, *_DRAWN, "α", None, None, None),
                ("local d_X-DP", "2.3", "two items", "any", "α₀", alpha0, alpha0 * w, 0.0),
            ]
        rows.append(
            (
                f"discrete {model} d_EM-DP, r = w",
                discrete,
                _WITHIN,
                _DRAWN[1],
                "ε",
                level * far,
                level * far,
                min(fails + missed, 1.0),
            )
        )
    sees = (
        "Local and central notions are the same here: each user sends their own shuffled answers, "
        "and nobody else's depend on their data."
        if p.local
        else "The local notions are about what the shuffler sees, if users' own devices randomise "
        "the items: m answers in order, at m·α₀ together. If a curator randomises, none of them is "
        "promised, as the curator sees the data."
    )
    return Table(
        "notions",
        "Notions of privacy",
        (
            *("notion", "definition", "two data sets of a user", "numbers of items"),
            *("its", "parameter", f"ε at w = {nearest(w)}", "δ"),
        ),
        tuple(rows),
        note=(
            f"{sees} ε at w is that of the example change: of two data sets at earth mover's "
            "distance w, or of one item that moves by w; user-level DP has one ε for all changes. "
            f"“Drawn” means that {m:,.0f} items are drawn of each user with replacement "
            "(Algorithm 3) and released; draws of data sets at distance w are at most "
            f"{at_most(far)} apart, except with probability {at_most(missed)} (Theorem 5.3, "
            "Chernoff form). No α is stated for unbounded d_EM-DP: draws may differ however near "
            "two data sets are, and the discrete notion stands for it."
        ),
        roles=(*[None] * 5, Role.UPPER, Role.UPPER, Role.UPPER),
    )


def _trust(p: ItemPoints, alpha0: float) -> str:
    """Return who sees what."""
    if p.local:
        return (
            "Local: the user's own device randomises and shuffles their m items; everybody else, "
            "the curator too, sees only these answers."
        )
    return (
        "Central: the curator, or a shuffler trusted to forget whose answers are whose, "
        "randomises and shuffles all mn items; everybody else sees the shuffled answers. "
        f"Against the shuffler itself an item has its own α₀ = {at_most(alpha0)}."
    )


_SAME_SIZE = ("any two", "the same, public")
_DRAWN = ("any two", "any, drawn")
_WITHIN = "any two at most w apart"
"""Which data sets a notion compares."""


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


def change_conditions(p: ItemPoints) -> tuple[Condition, ...]:
    """Return the premises of Theorem 4.3 at the sliders' values."""
    here, total = p.here, float(p.m[-1] * p.n[-1])
    possible = here.v1 <= here.v0 <= here.m
    change = (here.v0, here.v1) if possible else (1.0, 0.0)
    sure = um.theorem43_epsilon(here.alpha0, here.delta, total, *change)
    t = "m" if p.local else "mn"
    return (
        Condition(
            "There is such a change: ‖v‖₁ ≤ ‖v‖₀ ≤ m",
            possible,
            f"‖v‖₁ = {nearest(here.v1)}, ‖v‖₀ = {here.v0:,.0f}, m = {here.m:,.0f}",
        ),
        Condition(
            f"Theorem 4.3 holds at this α₀: α₀ < ln({t}/(16 ln(4{t}/δ))), with the δ inside",
            bool(sure.valid),
            f"α₀ = {nearest(here.alpha0)}, limit {nearest(float(sure.limit))} at "
            f"{t} = {total:,.0f}",
            short="Theorem 4.3 holds at this α₀",
        ),
        *_of_table(p.own, here.alpha0),
        *_ASSUMED,
    )


def change_guarantee(p: ItemPoints) -> Guarantee | None:
    """Return the guarantee of one change at the sliders, by the best bound; None without any."""
    bounds = {key: p.bounds[key] for key in _OF_CHANGE if key in p.bounds}
    values = {key: float(b.value[-1]) for key, b in bounds.items() if b.valid[-1]}
    if not values:
        return None
    best = min(values, key=values.__getitem__)
    epsilon, delta = values[best], 0.0 if best == "composed" else p.here.delta
    return Guarantee(
        unit="one change of a user's data: so many items, by so much altogether",
        replace_one=(
            f"({at_most(epsilon)}, {at_most(delta)})-private when {p.here.v0:,.0f} of a user's "
            f"items move by {nearest(p.here.v1)} altogether ({_OF_CHANGE[best]}, "
            f"α₀ = {at_least(p.here.alpha0)})"
        ),
        add_remove="not covered: n and m are fixed and public",
        trust=_trust(p, p.here.alpha0),
        sentence=_change_sentence(epsilon, delta, p.here.v0, p.here.v1),
        pairs=((epsilon, delta),),
        qualified=True,
        about=_change_secret(p.here.v0, p.here.v1),
        references=(THEOREM_43, SORTED),
    )


def change_text(result: Result, series: Series, value: float) -> ClaimText:
    """Return the meaning of a bound on the ε of one change."""
    request = result.request
    delta = 0.0 if series.key == "composed" else float(request["delta"])
    v0, v1 = float(request["v0"]), float(request["v1"])
    return ClaimText(
        number_text(result, series, value).number,
        (_change_sentence(value, delta, v0, v1),),
        f"({at_most(value)}, {at_most(delta)})-private for this change ({series.label})",
        ((value, delta),),
    )


_OF_CHANGE = {
    "theorem43": "Theorem 4.3",
    "composed": "composition",
    "hops": "hops",
    "hop": "Lemma B.1",
    "hop_stronger": "Lemma B.1 with stronger clones",
}
"""Bounds on the ε of one change, by key."""


def _change_secret(v0: float, v1: float) -> str:
    return (
        f"which of two data sets a user holds, {v0:,.0f} items apart by {nearest(v1)} largest "
        "distances in all"
    )


def _change_sentence(epsilon: float, delta: float, v0: float, v1: float) -> str:
    return guesses(epsilon, delta, _change_secret(v0, v1), "after seeing the shuffled answers")


def _replace(alpha: float, delta: float, alpha0: float, source: str) -> str:
    return (
        f"({at_most(alpha)}·w, {at_most(delta)})-private when one user's m items are replaced by "
        f"others at earth mover's distance w (bounded d_EM-DP, {source}, α₀ = {at_least(alpha0)})"
    )


def _secret(w: float) -> str:
    return f"which of two data sets a user holds, {nearest(w)} of the largest distance apart"


def _observer(epsilon: float, delta: float, w: float, local: bool) -> str:
    """Return the sentence about an observer of data sets at the distance `w`."""
    whose = "all of the user's" if local else "all"
    return guesses(
        epsilon,
        delta,
        _secret(w),
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
