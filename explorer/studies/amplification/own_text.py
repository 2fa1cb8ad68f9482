"""What the amplification study says of one randomiser that is known."""

import math

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.studies.amplification import text
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import best_chance, odds_lines, times
from explorer.studies.base.study import Claim, Condition, Guarantee, Request, Result, Said, Series

ENUMERATED = Reference("by enumeration", "all counts of messages, for all multisets of the others")
CURVES = {
    "own_exact": ("this randomiser, exactly", Role.EXACT, ENUMERATED),
    "own_blanket": ("this randomiser, blanket", Role.UPPER, BLANKET),
    "own_ratio": ("this randomiser, variation-ratio", Role.UPPER, VARIATION_RATIO),
}
ABOUT = {
    "own_exact": "every multiset of the others' inputs and every count of messages listed",
    "own_blanket": (
        "from all that is known of this randomiser; computed from above, by 1e-5 to 3e-3 of itself"
    ),
    "own_ratio": "from three numbers of it: a total variation and two ratios",
    "exact_2021": "for every ε₀-LDP randomiser",
    "exact_2023": "for every ε₀-LDP randomiser that all clients use",
    "local": "without the shuffle",
}
_COMMON = ("common",)
ASSUMES = dict.fromkeys(("own_exact", "own_blanket", "own_ratio", "exact_2023"), _COMMON)
NAMES = {
    "krr": "k-ary randomised response",
    "unary": "unary encoding",
    "laplace": "Laplace noise on [0, 1]",
    "privunit": "PrivUnit",
    "rinf": "R_∞",
    "typed": "the typed table",
    "file": "the table of the file",
}
NO_FILE = "no table is chosen: open a CSV file under “file of the table”"
TOO_MANY = "only tables, and only few clients: the counts are too many to be listed here"
BARE = "infinite: at this δ a message that only one record can send gives it away"
RATIO_INFINITE = "infinite: an output is impossible for one input and possible for another"
INFINITE = "infinite: the table has an output that is impossible for one input, so no ε₀"


def label(key: str) -> str:
    """Return a curve's label."""
    return (CURVES.get(key) or text.CURVES[key])[0]


def bound(key: str, values: FloatArray, reason: str) -> Bound:
    """Return a bound that is absent where it is unknown or infinite."""
    _, role, reference = CURVES.get(key) or text.CURVES[key]
    valid = np.isfinite(values)
    return Bound(
        np.where(valid, values, np.nan), role, reference, valid, "" if valid.all() else reason
    )


def conditions(request: Request, eps0: float) -> tuple[Condition, ...]:
    """Return what the bounds of a known randomiser need."""
    kind = str(request["randomiser"])
    found = [
        Condition(
            "All clients use this one randomiser, fixed before anything is known, and send exactly "
            "one message each",
            None,
            key="common",
            short="All run this one randomiser, once each",
        )
    ]
    if kind == "laplace":
        found.append(
            Condition(
                "The changed record moves from 0 to 1 or back (the others hold anything from 0 to "
                "1): other moves were never seen to leak more, but that is not proved",
                None,
                short="The record moves from 0 to 1 or back",
            )
        )
    if kind == "privunit":
        found.append(
            Condition(
                "A cap holds at most half of the sphere",
                True,
                f"θ = {nearest(float(request['theta']))}; disjoint caps are the worst",
            )
        )
    if kind in ("typed", "file"):
        size = (
            "no ε₀: an output is impossible for one input"
            if math.isinf(eps0)
            else (f"ε₀ = {at_most(eps0)}")
        )
        found.append(Condition("The table is what the clients really run", None, size))
    return tuple(found)


def notes(request: Request, eps0: float) -> tuple[str, ...]:
    """Return what else to know of this randomiser."""
    kind = str(request["randomiser"])
    found = (
        [
            "Only one shuffle: through many rounds the accountant takes k-ary randomised response "
            "and PrivUnit, whose worst pair of inputs is always the same; private learning takes "
            "none."
        ]
        if kind in ("typed", "file", "unary", "laplace")
        else []
    )
    if kind == "rinf":
        found.append("R_∞ is as bad as any: its blanket is exactly the clones of 2023, whatever d.")
    if kind in ("typed", "file") and math.isfinite(eps0):
        found.append(f"The table's own ε₀ is {at_most(eps0)}; the slider ε₀ is not used.")
    return tuple(found)


def guarantee(
    request: Request, eps0: float, distance: float, here: dict[str, float | None]
) -> Guarantee:
    """Return what holds whichever bound is claimed."""
    plain = text.guarantee(eps0 if math.isfinite(eps0) else 0.0, distance, _differences(here))
    trust = plain.trust
    if not math.isfinite(eps0):
        trust = (
            "Clients trust the shuffler to forget who sent what: it learns what an unprotected "
            "message gives away. The other clients must really send randomised messages."
        )
    return Guarantee(
        unit=plain.unit,
        replace_one="",
        add_remove=plain.add_remove,
        trust=trust,
        sentence="",
        references=(BLANKET, VARIATION_RATIO, text.EXACT_2023),
        differences=plain.differences,
        distance=distance,
        law=NAMES[str(request["randomiser"])],
    )


def _differences(here: dict[str, float | None]) -> tuple[str, ...]:
    out = []
    own, general, exact = here["own_blanket"], here["exact_2023"], here["own_exact"]
    if own and general and general / own > 1.005:
        out.append(
            f"The clones of 2023, for every randomiser with this ε₀, are {times(general / own)} "
            "the blanket of this one: its messages hide a client better than the worst "
            "randomiser's do."
        )
    elif own and general:
        out.append("This randomiser is as bad as the worst: the general clones lose nothing.")
    if own and exact and own / exact > 1.005:
        out.append(
            f"The blanket is {times(own / exact)} the exact value: it gives the others no credit "
            "for what their messages hide beyond what all inputs share."
        )
    return tuple(out)


def claim_words(result: Result, series: Series, value: float) -> Said:
    """Say what a bound on ε, or on δ, of this randomiser means at the sliders' values."""
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
    known = [(epsilon, delta)]
    if request.quantity == "own" and eps0 is not None and eps0.value is not None:
        known.append((eps0.value, 0.0))
    told = min(known, key=lambda pair: best_chance(*pair))
    by = series.label if told == known[0] or eps0 is None else eps0.label
    n = float(request["n"])
    return Said(
        number,
        odds_lines(
            *told,
            "which of two records a client holds",
            "after seeing all messages",
            distance=promise.distance if promise else None,
            law=promise.law if promise else "",
            by=by,
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP when "
        + ("the one record" if n == 1 else f"one of {n:,.0f} records")
        + f" is replaced {other} ({series.label})",
        tuple(known),
    )


_AMONG = ("own_exact", "own_blanket", "own_ratio", "exact_2023", "exact_2021")
CLAIMS = {key: Claim(_AMONG, claim_words, solves="n") for key in ("own", "own_delta")}
