"""Conditions, guarantees and claim texts of the amplification study."""

import math
from dataclasses import replace

from explorer.privacy.core.bound import Role
from explorer.privacy.core.checks import MIN_DELTA
from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.privacy.shuffle_rdp import RandomisedResponseRound
from explorer.privacy.shuffling import clones_closed_form
from explorer.studies.amplification import theory
from explorer.studies.base.builders import FILE, TYPED
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import (
    LOWER_BOUND,
    WORST_KNOWN,
    best_chance,
    gap_words,
    odds_lines,
    times,
)
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Request, Result, Series

CLOSED = "clones 2021, closed form"
EXACT_2021 = "clones 2021, evaluated exactly"
EXACT_2023 = "clones 2023, evaluated exactly"
WORST = "worst case, for every ε₀-LDP randomiser"
LOCAL = "ε₀ alone: no amplification"
RANDOMISERS = {
    "krr": "k-ary randomised response",
    "unary": "unary encoding",
    "laplace": "Laplace noise on [0, 1]",
    "privunit": "PrivUnit",
    "rinf": "R_∞",
    TYPED: "the typed table",
    FILE: "the table of the file",
}
_EQUAL_RATIO = 1.005
"""Ratio of two bounds up to which they are called alike."""


def conditions(
    eps0: float, n: float, delta: float, epsilon: float, closed: float | None = None
) -> tuple[Condition, ...]:
    """Return the conditions of the general bounds at the sliders' values.

    Parameters
    ----------
    eps0, n : float
    delta, epsilon : float
        What is given and what the exact 2021 clones have.
    closed : float, optional
        δ of the closed form, where δ is computed and ε given.
    """
    allowed = delta if closed is None else closed
    limit = math.log(n / (16 * math.log(2 / allowed)))
    return (
        Condition(
            f"Only for the curve “{CLOSED}”: ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8)",
            eps0 <= limit and allowed < 1,
            f"ε₀ = {nearest(eps0)}, limit {nearest(limit)} at n = {n:,.0f}, δ = {nearest(allowed)}"
            + ("" if allowed < 1 else ", which says nothing"),
            of_guarantee=False,
            key="condition_8",
            short="2021 closed form: ε₀ is small enough",
        ),
        *_amplifies(eps0, delta, epsilon, closed is not None),
        Condition(
            "Every client sends exactly one message of an ε₀-LDP randomiser",
            None,
            short="Each client sends one ε₀-LDP message",
        ),
        Condition(
            f"Only for the curves “{EXACT_2023}” and “{WORST}”: all clients use one common "
            "randomiser, fixed beforehand",
            None,
            of_guarantee=False,
            key="common",
            optional=True,
            short="All clients use one common randomiser",
        ),
    )


def alone_at(eps0: float, *, delta: float | None = None, epsilon: float = 0.0) -> float:
    """Return ε at δ of one unshuffled message of randomised response; δ at ε if no δ is given.

    Solves (e^ε₀ − e^ε)/(1 + e^ε₀) = δ, its hockey-stick divergence; at least 0.
    """
    if delta is None:
        return -math.expm1(-max(eps0 - epsilon, 0.0)) / (1 + math.exp(-eps0))
    return math.log(max(math.exp(eps0) - delta * (1 + math.exp(eps0)), 1.0))


def _amplifies(
    eps0: float, delta: float, epsilon: float, delta_computed: bool
) -> tuple[Condition, ...]:
    """Return whether the shuffle amplifies; nothing where one message alone has ε or δ of 0."""
    text = "The shuffle amplifies (the guarantee holds either way): {} than one message alone has"
    if delta_computed:
        alone = alone_at(eps0, epsilon=epsilon)
        what, margin = "less δ at this ε", f"δ = {at_most(delta)}, alone {nearest(alone)}"
        less = delta < alone * (1 - 1e-6)
    else:
        alone = alone_at(eps0, delta=delta)
        what, margin = "less ε at this δ", f"ε = {at_most(epsilon)}, alone {nearest(alone)}"
        less = epsilon < alone * (1 - 1e-6)
    return (
        (
            Condition(
                text.format(what), less, margin, of_guarantee=False, short="The shuffle amplifies"
            ),
        )
        if alone > 0
        else ()
    )


def guarantee(eps0: float, distance: float, differences: tuple[str, ...]) -> Guarantee:
    """Return the part of the guarantee that does not depend on the claimed bound.

    Parameters
    ----------
    eps0 : float
    distance : float
        δ(0) of the 2021 clones.
    differences : tuple of str
        Why the curves differ.
    """
    return Guarantee(
        unit="one client's record, behind one message",
        about="which of two records a client holds",
        replace_one="",
        add_remove=(
            "not covered: the number of messages is public, so a client who leaves is noticed; "
            "what their message says has the guarantee for replacing it"
        ),
        trust=(
            "Clients trust the shuffler to forget who sent what: against all who see the shuffled "
            "messages they have (ε, δ), against the shuffler itself, or one who bribes it, only "
            f"ε₀ = {at_most(eps0)}. The other clients must really send randomised messages."
        ),
        sentence="",
        references=(theory.EXACT_2021, theory.CLOSED, theory.LOWER),
        differences=differences,
        distance=distance,
        law="the 2021 clones",
    )


def claim_text(result: Result, series: Series, value: float) -> ClaimText:
    """Return the text of a claimed bound on ε, or on δ, at the sliders' values."""
    return text_of(result, value, series.label, series.key == "local")


def text_of(result: Result, value: float, label: str, pure: bool = False) -> ClaimText:
    """Return the text of a bound with this label; `pure` if it is on (ε, 0)-DP."""
    request, promise = result.request, result.guarantee
    eps0, n = float(request["eps0"]), float(request["n"])
    number, epsilon, delta = f"ε ≤ {at_most(value)}", value, float(request["delta"])
    if request.quantity == "delta":
        number, epsilon, delta = f"δ ≤ {at_most(value)}", float(request["eps"]), value
    pairs = [(eps0, 0.0)] if pure else [(epsilon, delta), (eps0, 0.0)]
    best = min(pairs, key=lambda pair: best_chance(*pair))
    return ClaimText(
        number,
        odds_lines(
            *best,
            "which of two records a client holds",
            "after seeing all messages",
            distance=promise.distance if promise else None,
            law=promise.law if promise else "",
            by=label if best == pairs[0] else LOCAL,
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP when "
        + ("the one record" if n == 1 else f"one of {n:,.0f} records")
        + f" is replaced by any other ({label})",
        tuple(pairs),
        "after the shuffle",
    )


def differences(
    eps0: float,
    n: float,
    delta: float,
    closed: float | None,
    exact: float,
    stronger: float,
    lower: float | None,
) -> tuple[str, ...]:
    """Return why the curves differ, with their ratios at the sliders' values."""
    out = []
    if alone_at(eps0, delta=delta) == 0:
        out.append(
            f"One message alone already has ε = 0 at so large a δ ({nearest(delta)}): nothing is "
            "left for the shuffle to do."
        )
    if closed is not None and exact > 0:
        out.append(
            f"The closed form is {times(closed / exact)} the exact clones here: both rest on "
            "the same worst pair of inputs, but it bounds the sums over the crowd by Chernoff and "
            "Hoeffding, where the exact curve adds them up."
        )
    elif closed is None:
        claimed = float(clones_closed_form(eps0, n, delta))
        text = (
            "The closed form is not drawn where condition (8) fails: used all the same, it would "
            f"claim ε = {nearest(claimed)} here"
        )
        if claimed < eps0:
            leaked = float(RandomisedResponseRound(eps0, n, n).delta(claimed)[0])
            text += (
                f", where randomised response alone has δ = {nearest(leaked)}, "
                f"{times(leaked / delta)} what is allowed"
                if leaked > delta
                else ", which nothing proves"
            )
        out.append(text + ".")
    if stronger > 0:
        chance, higher = math.exp(-eps0), 2 / (math.exp(eps0) + 1)
        share = exact / stronger
        gain = (
            "but hardly a smaller ε" if share < _EQUAL_RATIO else f"and an ε {times(share)} smaller"
        )
        out.append(
            f"The 2021 analysis counts another message as a clone with probability e^−ε₀ = "
            f"{nearest(chance)}, the 2023 one with 2/(e^ε₀+1) = {nearest(higher)}: "
            f"a larger crowd, {gain} here. Its general "
            "proof carries an erratum; for one common, non-adaptive randomiser it holds."
        )
    if lower is not None and lower > 0:
        out.append(_above_response(exact / lower, stronger / lower))
        out.append(f"{WORST_KNOWN} {gap_words(eps0)}")
    return tuple(out)


def _above_response(published: float, stronger: float) -> str:
    """Compare the exact clones with the lower bound, given the ratios of 2021 and 2023."""
    if published < _EQUAL_RATIO:
        return (
            f"The exact clones meet the {LOWER_BOUND} here, or nearly: randomised response is as "
            "bad as any randomiser, though a particular one may leak less."
        )
    if stronger < _EQUAL_RATIO:
        return (
            f"The 2021 clones are {times(published)} the {LOWER_BOUND} here, the 2023 ones meet "
            "it, or nearly; a particular randomiser may leak less."
        )
    return (
        f"The exact clones are {times(published)} (2021) and {times(stronger)} (2023) the "
        f"{LOWER_BOUND}: the worst randomiser is somewhere between, and a particular one may be "
        "below both."
    )


def delta_differences(
    here: dict[str, float | None], eps0: float, epsilon: float
) -> tuple[str, ...]:
    """Return why the curves of δ differ at the sliders' values."""
    if epsilon >= eps0:
        return (
            "One message alone already has δ = 0 from ε = ε₀ on: nothing is left for the shuffle "
            "to do.",
        )
    exact, stronger = here["exact_2021"] or MIN_DELTA, here["exact_2023"] or MIN_DELTA
    closed, low = here["closed"], here.get("lower")
    out = []
    if stronger > MIN_DELTA and stronger < exact / _EQUAL_RATIO:
        out.append(
            "The 2023 analysis counts more messages as clones than the 2021 one: its δ is "
            f"{times(stronger / exact)} as large here."
        )
    if exact <= MIN_DELTA:
        out.append(
            "Both exact analyses have a δ below 1e-300 here, too small for a number; it is 0 "
            "nowhere below ε₀."
        )
    if closed and closed > exact:
        shown = "less than 1e-300" if exact <= MIN_DELTA else nearest(exact)
        out.append(
            f"The closed form bounds the tail that the exact curve sums: {shown} instead of "
            f"{nearest(closed)}."
        )
    if low:
        out.append(
            f"Randomised response has δ = {at_least(low)}: no analysis for all "
            "randomisers can have less at this ε."
        )
    elif "lower" in here:
        out.append(
            "Randomised response has a δ above 0 at this ε as well, but it is too small to "
            "be computed here: how far the curves are above it is not known."
        )
    return tuple(out)


def own_conditions(request: Request, eps0: float) -> tuple[Condition, ...]:
    """Return the conditions of the bounds of a known randomiser."""
    kind = str(request["randomiser"])
    conditions = [
        Condition(
            "All clients use this one randomiser, fixed before anything is known, and send exactly "
            "one message each",
            None,
            key="common",
            short="All run this one randomiser, once each",
        )
    ]
    if kind == "laplace":
        conditions.append(
            Condition(
                "The changed record moves from 0 to 1 or back (the others hold anything from 0 to "
                "1): other moves were never seen to leak more, but that is not proved",
                None,
                short="The record moves from 0 to 1 or back",
            )
        )
    if kind == "privunit":
        conditions.append(
            Condition(
                "A cap holds at most half of the sphere",
                True,
                f"θ = {nearest(float(request['theta']))}; disjoint caps are the worst",
            )
        )
    if kind in (TYPED, FILE):
        size = (
            "no ε₀: an output is impossible for one input"
            if math.isinf(eps0)
            else (f"ε₀ = {at_most(eps0)}")
        )
        conditions.append(Condition("The table is what the clients really run", None, size))
    return tuple(conditions)


def own_notes(request: Request, eps0: float) -> tuple[str, ...]:
    """Return notes on the chosen randomiser."""
    kind = str(request["randomiser"])
    notes = (
        [
            "Only one shuffle: through many rounds the accountant takes k-ary randomised response "
            "and PrivUnit, whose worst pair of inputs is always the same; private learning takes "
            "none."
        ]
        if kind in (TYPED, FILE, "unary", "laplace")
        else []
    )
    if kind == "rinf":
        notes.append("R_∞ is as bad as any: its blanket is exactly the clones of 2023, whatever d.")
    if kind in (TYPED, FILE) and math.isfinite(eps0):
        notes.append(f"The table's own ε₀ is {at_most(eps0)}; the slider ε₀ is not used.")
    return tuple(notes)


def own_guarantee(
    request: Request, eps0: float, distance: float, here: dict[str, float | None]
) -> Guarantee:
    """Return the guarantee of one known randomiser, apart from the claimed bound.

    Parameters
    ----------
    request : Request
    eps0 : float
        Of the randomiser; may be infinite.
    distance : float
        δ(0) of the shuffled messages.
    here : dict
        Values of the curves at the sliders, None where undefined.
    """
    plain = guarantee(eps0 if math.isfinite(eps0) else 0.0, distance, _own_differences(here))
    trust = plain.trust
    if not math.isfinite(eps0):
        trust = (
            "Clients trust the shuffler to forget who sent what: it learns what an unprotected "
            "message gives away. The other clients must really send randomised messages."
        )
    return replace(
        plain,
        trust=trust,
        references=(BLANKET, VARIATION_RATIO, theory.EXACT_2023),
        law=RANDOMISERS[str(request["randomiser"])],
    )


def _own_differences(here: dict[str, float | None]) -> tuple[str, ...]:
    """Return why the general bounds and those of the randomiser differ."""
    out = []
    own, general, exact = here["own_blanket"], here["exact_2023"], here["own_exact"]
    if own and general and general / own > _EQUAL_RATIO:
        out.append(
            f"The clones of 2023, for every randomiser with this ε₀, are {times(general / own)} "
            "the blanket of this one: its messages hide a client better than the worst "
            "randomiser's do."
        )
    elif own and general:
        out.append("This randomiser is as bad as the worst: the general clones lose nothing.")
    if own and exact and own / exact > _EQUAL_RATIO:
        out.append(
            f"The blanket is {times(own / exact)} the exact value: it gives the others no credit "
            "for what their messages hide beyond what all inputs share."
        )
    return tuple(out)


def own_claim_text(result: Result, series: Series, value: float) -> ClaimText:
    """Return the text of a claimed bound of one known randomiser."""
    request, promise = result.request, result.guarantee
    exact = series.role is Role.EXACT
    shown = f"= {nearest(value)}" if exact else f"≤ {at_most(value)}"
    laplace = request["randomiser"] == "laplace" and series.key.startswith("own")
    other = "by any other" if not laplace else "from 0 to 1 or back"
    epsilon, delta = value, float(request["delta"])
    number = f"ε {shown}"
    if request.quantity == "own_delta":
        epsilon, delta = float(request["eps"]), value
        number = f"δ {shown}"
    eps0 = result.readout("local")
    pairs = [(epsilon, delta)]
    if request.quantity == "own" and eps0 is not None and eps0.value is not None:
        pairs.append((eps0.value, 0.0))
    best = min(pairs, key=lambda pair: best_chance(*pair))
    by = series.label if best == pairs[0] or eps0 is None else eps0.label
    n = float(request["n"])
    return ClaimText(
        number,
        odds_lines(
            *best,
            "which of two records a client holds",
            "after seeing all messages",
            distance=promise.distance if promise else None,
            law=promise.law if promise else "",
            by=by,
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP when "
        + ("the one record" if n == 1 else f"one of {n:,.0f} records")
        + f" is replaced {other} ({series.label})",
        tuple(pairs),
        "after the shuffle",
    )
