"""Sentences about privacy parameters, errors and observers."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.parameters import Statistic
from explorer.studies.base.result import Guarantee

_HUNDREDTH = Decimal("0.01")
REAL_DATA = "curator only — not private: computed from real data without accounting"
"""Stamp of an answer that is computed from a user's file."""


def names_unit(name: str, unit: str) -> bool:
    """Whether a name contains a unit as a word: ``m`` is in ``length (m)``, not in ``example``."""
    return re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", name) is not None


@dataclass(frozen=True, slots=True)
class Headline:
    """Headline of an answer: a number and its meaning.

    Attributes
    ----------
    number : str
        ``ε ≤ 0.2078``, rounded to its safe side; empty where there is none.
    text : str
        What that means, in a sentence or two.
    beside : str
        What it rests on; empty where the claim says that.
    curator_only : bool
        Whether it is computed from check-ins without accounting: it is stamped, and in no export.
    more : str
        What is said to who points at it.
    statistic : Statistic or None
        What the error that the sentence names is over the draws; None where it names none.
    """

    number: str
    text: str
    beside: str = ""
    curator_only: bool = False
    more: str = ""
    statistic: Statistic | None = None


def best_chance(epsilon: float, delta: float = 0.0) -> float:
    """Return how often, at best, an observer with 50:50 prior odds guesses right.

    The best test between two neighbouring inputs, equally likely beforehand, is right with
    probability (1 + TV)/2 ≤ (e^ε + δ)/(1 + e^ε) under (ε, δ)-DP (Kairouz, Oh & Viswanath 2015,
    Theorem 2.1); under pure ε-DP the same number bounds every posterior.
    """
    low = math.exp(-min(epsilon, 700.0))
    return (1 + delta * low) / (1 + low)


def times_in_100(chance: float) -> str:
    """Return a probability in 100, rounded up to the next hundredth: ``50.88``."""
    # Errors in the last digit of a double must not change the last digit shown.
    exact = Context(prec=13).plus(Decimal(chance)) * 100
    up = min(exact.quantize(_HUNDREDTH, rounding=ROUND_CEILING), Decimal(100))
    return f"{up.normalize():f}"


def percent_sure(chance: float) -> str:
    """Return `times_in_100` with enough digits to differ from certainty: ``99.9994``."""
    exact = Context(prec=13).plus(Decimal(chance)) * 100
    for digits in range(2, 11):
        up = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
        if up < 100:
            return f"{up.normalize():f}"
    return "100"


MAX_USEFUL_CHANCE = 0.99
"""Chance to be right from which on a promise is of no use to anybody."""


NOT_USEFUL = "This bound gives no useful guarantee."


def chance_of(promise: Guarantee) -> float | None:
    """Return an upper bound on how often an observer with 50:50 prior odds guesses right.

    None where the promise comes to no such number without what its sentence says.
    """
    if promise.qualified:
        return None
    known = [best_chance(epsilon, delta) for epsilon, delta in promise.pairs]
    if promise.distance is not None:
        known.append((1 + promise.distance) / 2)
    return min(known, default=None)


def qualified_odds(promise: Guarantee) -> tuple[float, str] | None:
    """Return an upper bound on how often an attacker is right, and about what.

    For promises of which `chance_of` is None, as their odds hold only for what the text says; None
    for others.
    """
    if not promise.qualified or not promise.about or not promise.pairs:
        return None
    return min(best_chance(*pair) for pair in promise.pairs), promise.about


def is_right(level: float, delta: float = 0.0) -> str:
    """Return what an attacker who starts at 50 : 50 reaches: ``is right at most 54.99 % of …``."""
    right = times_in_100(best_chance(level, delta))
    if right == "100":
        return "may become practically certain"
    return f"is right at most {right} % of the time"


def odds_basis(promise: Guarantee) -> str:
    """Return the basis of `chance_of` where it is not the first pair; else an empty string.

    The first of `Guarantee.pairs` is the claimed one. Begins with ``from``.
    """
    chance = chance_of(promise)
    if chance is None or not promise.pairs or best_chance(*promise.pairs[0]) <= chance:
        return ""
    for epsilon, delta in promise.pairs[1:]:
        if best_chance(epsilon, delta) <= chance:
            return f"from (ε, δ) = ({at_most(epsilon)}, {at_most(delta)}), not from the claim"
    # Without numbers, so that the line keeps its length while a slider moves.
    return "from δ(0), not from (ε, δ)"


def useless(pairs: Iterable[tuple[float, float]]) -> bool:
    """Return whether the best of some (ε, δ) is of no use to anybody; not where there is none."""
    return min((best_chance(*pair) for pair in pairs), default=0.0) >= MAX_USEFUL_CHANCE


_NO_LARGER = {Role.UPPER: "at most ", Role.EXACT: "at most ", Role.LOWER: "at least "}
"""What is exact is rounded up where it is claimed."""


def error_phrase(
    value: float, statistic: Statistic, unit: str = "", role: Role = Role.UPPER, runs: str = ""
) -> str:
    """Return an error with its statistic and unit: ``RMS error at most 0.022 mi``.

    Parameters
    ----------
    value : float
    statistic : Statistic
    unit : str
    role : Role
        What is known of the error: estimates are ``about`` their value.
    runs : str
        Of a quantile, how many of 100 runs it holds in.
    """
    shown = at_least(value) if role is Role.LOWER else at_most(value)
    if role not in _NO_LARGER:
        shown = nearest(value)
    known = f"{_NO_LARGER.get(role, 'about ')}{shown} {unit}".rstrip()
    if statistic is Statistic.QUANTILE:
        return f"error {known} in {runs} of 100 runs"
    if statistic is Statistic.WORST_CASE:
        return f"error {known}"
    return f"{statistic} error {known}"


def first_sentence(text: str) -> str:
    """Return what stands before the first full stop that ends a sentence, the stop included."""
    return re.split(r"(?<=[.]) (?=[A-Z])", text, maxsplit=1)[0]


def in_brief(text: str, words: int = 8) -> str:
    """Return the beginning of a statement; all of it if it is short."""
    if len(text.split()) <= words:
        return text
    head = re.split(r"[;:,.] | \(", text, maxsplit=1)[0]
    kept = head.split()[:words] if len(head.split()) > 2 else text.split()[:words]
    return " ".join(kept).rstrip(" ,;:.(") + " …"


def odds(epsilon: float, delta: float = 0.0) -> str:
    """Return `best_chance` in 100 against the rest, rounded up: ``88.08:11.92``."""
    right = times_in_100(best_chance(epsilon, delta))
    return f"{right}:{100 - Decimal(right)}"


def guesses(epsilon: float, delta: float, what: str, seen: str) -> str:
    """Return one plain sentence about an observer who wants to know `what` and sees `seen`.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee.
    what : str
        What is to be decided: ``which of two records a client holds``.
    seen : str
        After "% of the time": ``after seeing everything``.
    """
    return guesses_at(best_chance(epsilon, delta), what, seen)


def guesses_at(chance: float, what: str, seen: str) -> str:
    """Return the sentence of `guesses` for an upper bound on the chance to be right."""
    right = times_in_100(chance)
    if right == "100":
        return (
            f"This bound gives no useful guarantee: an attacker who must decide {what}, both "
            "equally likely beforehand, may become practically certain."
        )
    return (
        f"An attacker who must decide {what}, both equally likely beforehand, is right at most "
        f"{right} % of the time {seen}."
    )


def odds_lines(
    epsilon: float,
    delta: float,
    what: str,
    seen: str,
    *,
    distance: float | None = None,
    law: str = "",
    by: str = "",
    awaited: bool = False,
) -> tuple[str, str]:
    """Return the best bound on an observer's chance, and its basis.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee.
    what, seen : str
        As for `guesses`.
    distance : float, optional
        Upper bound on δ(0), the total variation distance of what is seen in the two cases.
    law : str
        Whose: ``the clones' law``.
    by : str
        Who says (ε, δ).
    awaited : bool
        Whether δ(0) is still being computed.
    """
    alone = best_chance(epsilon, delta)
    pair = f"(ε, δ) = ({at_most(epsilon)}, {at_most(delta)})" + (f" by “{by}”" if by else "")
    if distance is None or (1 + distance) / 2 >= alone:
        more = " What the whole law says is being computed…" if awaited else ""
        return guesses_at(alone, what, seen), f"This is all that {pair} says on its own.{more}"
    right = times_in_100(alone)
    weaker = "nothing" if right == "100" else f"at most {right} % of the time"
    return (
        guesses_at((1 + distance) / 2, what, seen),
        f"This is (1+δ(0))/2: δ(0) ≤ {at_most(distance)} is how far apart the two cases are at "
        f"most, by the whole law of {law}. {pair} on its own says less: {weaker}.",
    )


def which_won(two: float, three: float) -> str:
    """Return a note on which of the lower bounds of 2RR and 3RR is larger."""
    if math.isclose(two, three, rel_tol=1e-6):
        return "here 2RR and 3RR leak alike"
    won, other, less = ("3RR", "2RR", two) if three > two else ("2RR", "3RR", three)
    return f"here of {won}; {other} gives {at_least(less)}"


def first_order_gap(eps0: float) -> float:
    """Return about how far the 2023 clones are above the lower bound (2RR, 3RR).

    To first order in 1/√k ε rises with Σ(P−Q)²/R: (E−1)²/E for 2RR, 2(E−1)²/(E+2) for 3RR and
    2(E−1)²/(E+1) for the clones, E = e^ε₀.
    """
    far = math.exp(-eps0)
    return math.sqrt(min(2 / (1 + far), (1 + 2 * far) / (1 + far)))


LOWER_BOUND = "lower bound (2RR, 3RR)"
"""Name of the larger of both."""
NOTHING_SMALLER = "nothing smaller holds for every randomiser"
"""Remark on a lower bound that holds for whatever is proved of all randomisers."""
WORST_KNOWN = (
    "2RR and 3RR are randomised response on two and on three symbols, where one client changes "
    "and all others hold the same: real randomisers, so nobody who promises ε for all can promise "
    "less."
)


def gap_words(eps0: float) -> str:
    """Return a note on the gap of the lower bound (2RR, 3RR)."""
    pair, when = ("3RR", "above") if eps0 > math.log(2) else ("2RR", "up to")
    ratio = first_order_gap(eps0)
    above = "hardly above that" if ratio < 1.005 else f"about {nearest(ratio)} times that"
    return (
        "If all others hold the same, no randomiser leaks more to first order in 1/√k, however "
        f"many its symbols (the best of a linear programme): {pair} is the worst {when} ε₀ = ln 2, "
        f"and the clones of 2023 are {above}. Where others hold different values a search found "
        "none worse, which is no proof."
    )


def with_role(label: str, role: Role, joint: str) -> str:
    """Return a curve's name with its role, unless the name contains it.

    ``exact`` within a name is about something else: exact noise, an exact constraint.
    """
    names = label.lower()
    text = f"({role.value})" in names or (role is not Role.EXACT and role.value in names)
    return label if text else f"{label}{joint}{role.value}"


def times(ratio: float) -> str:
    """Write how many times as large something is: ``0.426 times``, ``1,360 times``, ``2e12 times``.

    Three digits; whole from 1000 on, a power of ten from a million on.
    """
    if math.isinf(ratio):
        return "infinitely many times"
    if 999.5 <= ratio < 999_500:
        step = 10 ** (math.floor(math.log10(ratio)) - 2)
        return f"{step * round(ratio / step):,.0f} times"
    return f"{nearest(ratio, 3)} times"
