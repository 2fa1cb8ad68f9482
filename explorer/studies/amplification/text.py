"""What the amplification study says in words: references, conditions, guarantee."""

import math

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.checks import DELTA_MIN
from explorer.privacy.core.papers import SHUFFLE_RDP as _GIRGIS
from explorer.privacy.shuffle_rdp import RandomisedResponseRound
from explorer.privacy.shuffling.clones import clones_closed_form
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import (
    LOWER_BOUND,
    WORST_KNOWN,
    best_chance,
    gap_words,
    odds_lines,
    times,
)
from explorer.studies.base.study import Claim, Condition, Guarantee, Result, Said, Series

_FMT21 = "Feldman, McMillan & Talwar 2021"
_FMT23 = "Feldman, McMillan & Talwar 2023"
CLOSED = Reference(_FMT21, "Theorem 3.1", "valid only under its condition; errata shuf-A8, shuf-A9")
EXACT_2021 = Reference(_FMT21, "Theorem 3.2, evaluated exactly")
EXACT_2023 = Reference(
    _FMT23,
    "Theorem 3.1, evaluated exactly",
    "one common, non-adaptive randomiser (erratum in arXiv 2208.04591)",
)
LOWER = Reference(
    f"{_GIRGIS}; this program",
    "the pair of Theorem 2 with γ = 1, and randomised response on three symbols",
    "the larger, of 2RR in both directions; errata shuf-A2",
)
LOCAL = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "post-processing of an ε₀-LDP message"
)
CONDITION_8 = Reference(
    _GIRGIS, "(8), after Feldman, McMillan & Talwar 2021", "with k; errata shuf-A8"
)
CONDITION_9 = Reference(_GIRGIS, "(9), after Balle, Bell, Gascón & Nissim 2019", "errata shuf-A8")

CURVES = {
    "closed": ("clones 2021, closed form", Role.UPPER, CLOSED),
    "exact_2021": ("clones 2021, evaluated exactly", Role.UPPER, EXACT_2021),
    "exact_2023": ("clones 2023, evaluated exactly", Role.UPPER, EXACT_2023),
    "local": ("ε₀ alone: no amplification", Role.UPPER, LOCAL),
    "outside": ("condition (8) fails: the closed form says ε ≤ ε₀ only", Role.BASELINE, CLOSED),
    "lower": (LOWER_BOUND, Role.LOWER, LOWER),
    "condition_8": ("condition (8): clones 2021, closed form", Role.EXACT, CONDITION_8),
    "condition_9": ("condition (9): privacy blanket, closed form", Role.BASELINE, CONDITION_9),
    "here": ("your ε₀", Role.BASELINE, CONDITION_8),
}
"""Label, role and source of every curve."""

ABOUT = {
    "exact_2021": "for every ε₀-LDP randomiser, chosen adaptively too; exact for its worst pair",
    "exact_2023": "if all clients use one common, non-adaptive randomiser",
    "lower": (
        "the larger of 2RR (both directions) and 3RR, rounded down: no statement about all "
        "ε₀-LDP randomisers, or all common ones, can be below it; a particular randomiser may "
        "leak less"
    ),
    "condition_8": "below it the closed form is valid; above it nothing but ε₀ is known from it",
    "condition_9": "the same for the privacy blanket, which is not drawn",
}

CLOSED_FAILS = (
    "the closed form needs ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8); outside it nothing but ε ≤ ε₀ "
    "is known from it"
)
TOO_SMALL = "above 0, but too small to be computed"
NO_EPS0 = "so small a crowd that the condition holds for no ε₀ at all"


def limit_8(n: float, delta: float) -> float:
    """Return the largest ε₀ of condition (8), which may be negative."""
    return math.log(n / (16 * math.log(2 / delta)))


def conditions(
    eps0: float, n: float, delta: float, epsilon: float, closed: float | None = None
) -> tuple[Condition, ...]:
    """Return what the statements need, and whether they have it.

    `closed` is the δ of the closed form where δ is what is asked for.
    """
    asked = delta if closed is None else closed
    limit = limit_8(n, asked)
    return (
        Condition(
            f"Only for the curve “{CURVES['closed'][0]}”: ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8)",
            eps0 <= limit and asked < 1,
            f"ε₀ = {nearest(eps0)}, limit {nearest(limit)} at n = {n:,.0f}, δ = {nearest(asked)}"
            + ("" if asked < 1 else ", which says nothing"),
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
            f"Only for the curve “{CURVES['exact_2023'][0]}”: all clients use one common "
            "randomiser, fixed beforehand",
            None,
            of_guarantee=False,
            key="common",
            optional=True,
            short="2023 clones: one common randomiser",
        ),
    )


def alone_at(eps0: float, *, delta: float | None = None, epsilon: float = 0.0) -> float:
    """Return what one message of randomised response has alone: ε at δ, or δ at ε if no δ is given.

    (e^ε₀ − e^ε)/(1 + e^ε₀) = δ, the divergence of its two laws; both are 0 where nothing is left.
    """
    if delta is None:
        return -math.expm1(-max(eps0 - epsilon, 0.0)) / (1 + math.exp(-eps0))
    return math.log(max(math.exp(eps0) - delta * (1 + math.exp(eps0)), 1.0))


def _amplifies(
    eps0: float, delta: float, epsilon: float, delta_asked: bool
) -> tuple[Condition, ...]:
    """Return whether the crowd helps, where there is anything left for it to do."""
    text = "The shuffle amplifies (the guarantee holds either way): {} than one message alone has"
    if delta_asked:
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


def guarantee(eps0: float, distance: float, differing: tuple[str, ...]) -> Guarantee:
    """Return what holds whichever bound is claimed; `distance` is δ(0) of the 2021 clones."""
    return Guarantee(
        unit="one client's record, behind one message",
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
        references=(EXACT_2021, CLOSED, LOWER),
        differences=differing,
        distance=distance,
        law="the 2021 clones",
    )


def claim_words(result: Result, series: Series, value: float) -> Said:
    """Say what a bound on ε, or on δ, means at the sliders' values."""
    return said_of(result, value, series.label, series.key == "local")


def said_of(result: Result, value: float, label: str, pure: bool = False) -> Said:
    """Say what a number means that a curve of this name gives; `pure` if it needs no δ."""
    request, promise = result.request, result.guarantee
    eps0, n = float(request["eps0"]), float(request["n"])
    number, epsilon, delta = f"ε ≤ {at_most(value)}", value, float(request["delta"])
    if request.quantity == "delta":
        number, epsilon, delta = f"δ ≤ {at_most(value)}", float(request["eps"]), value
    known = [(eps0, 0.0)] if pure else [(epsilon, delta), (eps0, 0.0)]
    told = min(known, key=lambda pair: best_chance(*pair))
    return Said(
        number,
        odds_lines(
            *told,
            "which of two records a client holds",
            "after seeing all messages",
            distance=promise.distance if promise else None,
            law=promise.law if promise else "",
            by=label if told == known[0] else CURVES["local"][0],
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP when "
        + ("the one record" if n == 1 else f"one of {n:,.0f} records")
        + f" is replaced by any other ({label})",
        tuple(known),
    )


_AMONG = ("exact_2021", "exact_2023", "closed", "local")
CLAIMS = {key: Claim(_AMONG, claim_words, solves="eps0") for key in ("eps", "delta")}
ASSUMES = {"closed": ("condition_8",), "exact_2023": ("common",)}
"""What single curves need beyond what all do."""


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
        gain = "but hardly a smaller ε" if share < _ALIKE else f"and an ε {times(share)} smaller"
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


_ALIKE = 1.005


def _above_response(published: float, stronger: float) -> str:
    """Return how far the exact clones are above randomised response, by their ratios to it."""
    if published < _ALIKE:
        return (
            f"The exact clones meet the {LOWER_BOUND} here, or nearly: randomised response is as "
            "bad as any randomiser, though a particular one may leak less."
        )
    if stronger < _ALIKE:
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
    exact, stronger = here["exact_2021"] or DELTA_MIN, here["exact_2023"] or DELTA_MIN
    closed, low = here["closed"], here.get("lower")
    out = []
    if stronger > DELTA_MIN and stronger < exact / _ALIKE:
        out.append(
            "The 2023 analysis counts more messages as clones than the 2021 one: its δ is "
            f"{times(stronger / exact)} as large here."
        )
    if exact <= DELTA_MIN:
        out.append(
            "Both exact analyses have a δ below 1e-300 here, too small for a number; it is 0 "
            "nowhere below ε₀."
        )
    if closed and closed > exact:
        shown = "less than 1e-300" if exact <= DELTA_MIN else nearest(exact)
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
