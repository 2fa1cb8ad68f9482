"""What the amplification study says in words: references, conditions, guarantee."""

from __future__ import annotations

import math

from explorer.privacy.amplification import clones_closed_form
from explorer.privacy.bounds import Reference, Role
from explorer.privacy.shuffle_rdp import RandomisedResponseRound
from explorer.studies.model import Condition, Guarantee
from explorer.studies.wording import at_most, best_chance, guesses, small

_FMT21 = "Feldman, McMillan & Talwar 2021"
_FMT23 = "Feldman, McMillan & Talwar 2023"
_GIRGIS = "Girgis, Data & Diggavi 2021 (subsampled shuffle model)"
CLOSED = Reference(_FMT21, "Theorem 3.1", "valid only under its condition; errata A8, A9")
EXACT_2021 = Reference(_FMT21, "Theorem 3.2, evaluated exactly")
EXACT_2023 = Reference(
    _FMT23, "Theorem 3.1, evaluated exactly",
    "one common, non-adaptive randomiser (erratum in arXiv 2208.04591)",
)  # fmt: skip
LOWER = Reference(_GIRGIS, "the pair of Theorem 2 with γ = 1", "both directions; errata A2")
LOCAL = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "post-processing of an ε₀-LDP message"
)
CONDITION_8 = Reference(_GIRGIS, "(8), after Feldman, McMillan & Talwar 2021", "with k; errata A8")
CONDITION_9 = Reference(_GIRGIS, "(9), after Balle, Bell, Gascón & Nissim 2019", "errata A8")

CURVES = {
    "closed": ("clones 2021, closed form", Role.UPPER, CLOSED),
    "exact_2021": ("clones 2021, evaluated exactly", Role.UPPER, EXACT_2021),
    "exact_2023": ("clones 2023, evaluated exactly", Role.UPPER, EXACT_2023),
    "local": ("ε₀ alone: no amplification", Role.UPPER, LOCAL),
    "outside": ("condition (8) fails: the closed form says ε ≤ ε₀ only", Role.BASELINE, CLOSED),
    "lower": ("2RR lower bound", Role.LOWER, LOWER),
    "condition_8": ("condition (8): clones 2021, closed form", Role.EXACT, CONDITION_8),
    "condition_9": ("condition (9): privacy blanket, closed form", Role.BASELINE, CONDITION_9),
    "here": ("your ε₀", Role.BASELINE, CONDITION_8),
}
"""Label, role and source of every curve."""

ABOUT = {
    "exact_2021": "for every ε₀-LDP randomiser, chosen adaptively too; exact for its worst pair",
    "exact_2023": "if all clients use one common, non-adaptive randomiser",
    "lower": (
        "binary randomised response, exactly: no statement about all ε₀-LDP randomisers can be "
        "below it; a particular randomiser may leak less"
    ),
    "condition_8": "below it the closed form is valid; above it nothing but ε₀ is known from it",
    "condition_9": "the same for the privacy blanket, which is not drawn",
}

CLOSED_FAILS = (
    "the closed form needs ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8); outside it nothing but ε ≤ ε₀ "
    "is known from it"
)
NO_EPS0 = "so small a crowd that the condition holds for no ε₀ at all"


def limit_8(n: float, delta: float) -> float:
    """Return the largest ε₀ of condition (8), which may be negative."""
    return math.log(n / (16 * math.log(2 / delta)))


def conditions(
    eps0: float, n: float, delta: float, epsilon: float, closed: float | None = None
) -> tuple[Condition, ...]:
    """Return what the statements need, and whether they have it.

    `closed` is the δ of the closed form where it is not the one that is given.
    """
    asked = delta if closed is None else closed
    limit = limit_8(n, asked)
    # Randomised response alone has δ = (e^ε₀ − e^ε)/(1 + e^ε₀).
    alone = math.log(max(math.exp(eps0) - delta * (1 + math.exp(eps0)), 1.0))
    return (
        Condition(
            "Closed form: ε₀ ≤ ln(n/(16 ln(2/δ))), condition (8)",
            eps0 <= limit and asked < 1,
            f"ε₀ = {eps0:.4g}, limit {limit:.4g} at n = {n:,.0f}, δ = {small(asked)}"
            + ("" if asked < 1 else ", which says nothing"),
        ),
        Condition(
            "The shuffle amplifies: ε is less than one message alone has at this δ",
            alone == 0 or epsilon < alone * (1 - 1e-6),
            f"ε = {epsilon:.4g}, alone {alone:.4g}",
        ),
        Condition("Every client sends exactly one message of an ε₀-LDP randomiser", None),
        Condition(
            "For the 2023 curve: all clients use one common randomiser, fixed beforehand", None
        ),
    )


def guarantee(
    eps0: float, n: float, delta: float, epsilon: float, source: str, differing: tuple[str, ...]
) -> Guarantee:
    """Return the guarantee at the sliders' values."""
    return Guarantee(
        unit="one client's record, behind one message",
        replace_one=(
            f"({at_most(epsilon)}, {at_most(delta, 2)})-DP when one of {n:,.0f} records is "
            f"replaced by any other ({source})"
        ),
        add_remove=(
            "not covered: the number of messages is public, so a client who leaves is noticed; "
            "what her message says has the guarantee for replacing it"
        ),
        trust=(
            "Clients trust the shuffler to forget who sent what. Whoever sees the shuffled "
            f"messages has ε = {at_most(epsilon)}; the shuffler itself, or one who bribes it, has "
            f"ε₀ = {at_most(eps0)}. The other clients must really send randomised messages."
        ),
        sentence=guesses(
            *min((epsilon, delta), (eps0, 0.0), key=lambda known: best_chance(*known)),
            "which of two records a client holds",
            "after seeing all messages",
        ),
        references=(EXACT_2021, CLOSED, LOWER),
        differences=differing,
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
    if closed is not None and exact > 0:
        out.append(
            f"The closed form is {closed / exact:.3g} times the exact clones here: both rest on "
            "the same worst pair of inputs, but it bounds the sums over the crowd by Chernoff and "
            "Hoeffding, where the exact curve adds them up."
        )
    elif closed is None:
        claimed = float(clones_closed_form(eps0, n, delta))
        text = (
            "The closed form is not drawn where condition (8) fails: used all the same, it would "
            f"claim ε = {claimed:.4g} here"
        )
        if claimed < eps0:
            leaked = float(RandomisedResponseRound(eps0, n, n).delta(claimed)[0])
            text += (
                f", where randomised response alone has δ = {small(leaked)}, "
                f"{leaked / delta:.3g} times what is allowed"
                if leaked > delta
                else ", which nothing proves"
            )
        out.append(text + ".")
    if stronger > 0:
        chance, higher = math.exp(-eps0), 2 / (math.exp(eps0) + 1)
        out.append(
            f"The 2021 analysis counts another message as a clone with probability e^−ε₀ = "
            f"{chance:.3g}, the 2023 one with 2/(e^ε₀+1) = {higher:.3g}: "
            f"a larger crowd, and an ε {exact / stronger:.3g} times smaller here. Its general "
            "proof carries an erratum; for one common, non-adaptive randomiser it holds."
        )
    if lower is not None and lower > 0:
        out.append(
            f"Between the 2RR lower bound and the exact clones lies a factor of "
            f"{exact / lower:.3g} (2021) or {stronger / lower:.3g} (2023): the worst randomiser is "
            "somewhere between, and a particular one may be below both."
        )
    return tuple(out)


def delta_differences(here: dict[str, float | None]) -> tuple[str, ...]:
    """Return why the curves of δ differ at the sliders' values."""
    out = []
    exact, stronger, low = here["exact_2021"], here["exact_2023"], here.get("lower")
    if exact and stronger:
        out.append(
            "The 2023 analysis counts more messages as clones than the 2021 one: its δ is "
            f"{small(stronger / exact)} times as large here."
        )
    if exact and here["closed"]:
        out.append(
            f"The closed form bounds the tail that the exact curve sums: {small(exact)} instead of "
            f"{small(here['closed'])}."
        )
    if exact and low is not None:
        out.append(
            f"Binary randomised response has δ = {small(low)}: no analysis for all randomisers "
            "can have less at this ε."
        )
    return tuple(out)
