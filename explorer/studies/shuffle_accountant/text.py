"""What the shuffle accountant says in words: references, conditions, guarantee."""

import math
from collections.abc import Mapping

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import SHUFFLE_RDP as _GIRGIS
from explorer.privacy.shuffle_rdp import COMPOSED_CLONES, COMPOSED_RESPONSES, pure_epsilon
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import number_only
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import guesses, odds_lines, times
from explorer.studies.base.study import Claim, Condition, Guarantee, Result, Said, Series

THEOREM_1 = Reference(_GIRGIS, "Theorem 1", "log domain; errata shuf-A5, shuf-B3")
THEOREM_2 = Reference(_GIRGIS, "Theorem 2", "both directions; errata shuf-A1, shuf-A2")
THEOREM_3 = Reference(
    _GIRGIS, "Theorem 3 (7) with Lemma 1", "min with the caps; errata shuf-A4, shuf-A6, shuf-A7"
)
LEMMA_1 = Reference(_GIRGIS, "Lemma 1 of Theorem 2", "not a lower bound on ε; errata shuf-A3")
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
RENYI_CAP = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "randomised response dominates (ε, 0)-DP"
)
CLOSED = Reference(
    "Feldman, McMillan & Talwar 2021", "Theorem 3.1",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata shuf-A8, shuf-B1",
)  # fmt: skip
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata shuf-B2"
)
NUMERICAL = {
    Clones.PUBLISHED: Reference(
        "Feldman, McMillan & Talwar 2021", "Theorem 3.2, evaluated exactly",
        "one common, non-adaptive randomiser where k < n; with Ullman 2017 and Kairouz, Oh & "
        "Viswanath 2015, Theorem 3.4",
    ),
    Clones.STRONGER: Reference(
        "Feldman, McMillan & Talwar 2023", "Theorem 3.1, evaluated exactly",
        "one common, non-adaptive randomiser (erratum in arXiv 2208.04591); with Ullman 2017 and "
        "Kairouz, Oh & Viswanath 2015, Theorem 3.4",
    ),
}  # fmt: skip
KOV_EXACT = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.3, evaluated exactly",
    "of numerical clones after Ullman 2017; errata shuf-B1",
)  # fmt: skip


def curve_names(key: str, variant: Clones = Clones.PUBLISHED) -> tuple[str, Role, Reference]:
    """Return label, role and source of a curve."""
    return {
        "theorem1": ("Theorem 1 (upper bound)", Role.UPPER, THEOREM_3),
        "lower_rdp": (
            "Lemma 1 of the RDP lower bound (max of both directions, same integer orders)",
            Role.BASELINE,
            LEMMA_1,
        ),
        "clones_numerical": (
            f"clones ({variant.value}, numerical) + sampling + KOV",
            Role.UPPER,
            NUMERICAL[variant],
        ),
        "kov_exact": (
            f"clones ({variant.value}, numerical) + sampling + KOV exact",
            Role.UPPER,
            KOV_EXACT,
        ),
        "clones_closed": ("clones (2021, closed form) + sampling + KOV", Role.UPPER, CLOSED),
        "unamplified": (
            "no shuffle amplification: (ε₀, 0) + sampling + KOV",
            Role.UPPER,
            UNAMPLIFIED,
        ),
        "numerical_upper": (
            f"numerical upper bound (clones {variant.value})",
            Role.UPPER,
            COMPOSED_CLONES,
        ),
        "lower_2rr": ("2RR lower bound", Role.LOWER, COMPOSED_RESPONSES),
        "cap": ("T·εₛ, holds in any case", Role.UPPER, CAP),
        "theorem1_alone": ("Theorem 1 alone, without the cap", Role.UPPER, THEOREM_1),
        "theorem2": ("Theorem 2 (lower bound on RDP)", Role.LOWER, THEOREM_2),
        "renyi_cap": ("Rényi cap, holds in any case", Role.UPPER, RENYI_CAP),
    }[key]


ABOUT = {
    "lower_rdp": (
        "no accountant that adds RDP at these orders and converts with Lemma 1 can report less; "
        "not a lower bound on ε"
    ),
    "numerical_upper": "the clones' losses composed as they are; every step is rounded up",
    "lower_2rr": (
        "on what any accountant sound for all ε₀-LDP randomisers can report; a particular "
        "randomiser may leak less"
    ),
    "theorem1_alone": "as the paper states it; drawn where it is above the cap",
    "theorem2": "the larger of both directions",
    "clones_numerical": "δ₀ = δ/(2Tγ) a round, δ/2 slack; summed exactly, a few 1e-4 upwards",
    "kov_exact": "δ₀ = δ/(2Tγ) a round, δ/2 slack; Theorem 3.3 instead of the closed Theorem 3.4",
    "clones_closed": "δ₀ = δ/(2Tγ) a round, δ/2 slack",
}


COMPUTING = "it is being computed"
MORE_THAN_ALL = "more clients would be sampled than there are (k > n)"
NONE_SAMPLED = "γn rounds to no client at all"
NOT_ABOVE = "the same as “Theorem 1 (upper bound)” where it is not above the cap"
CLOSED_FAILS = (
    "the closed form needs ε₀ ≤ ln(k/(16 ln(2/δ₀))) with δ₀ = δ/(2Tγ), condition (8); outside it "
    "nothing but (ε₀, 0) is known from it: see “no shuffle amplification”"
)


def guarantee(local: float, messages: float, differing: tuple[str, ...] = ()) -> Guarantee:
    """Return what holds whichever bound is claimed; a client sends so many `messages`, γT."""
    return Guarantee(
        unit="one client's record, over all rounds",
        replace_one="",
        add_remove=_ADD_REMOVE,
        trust=_trust(local)
        + f" Over all rounds a client sends γT = {_about(messages)} of them on average.",
        sentence="",
        references=(THEOREM_3, THEOREM_1),
        differences=differing,
    )


def claim_words(result: Result, series: Series, epsilon: float) -> Said:
    """Say what a bound on ε means at the sliders' values."""
    request, promise = result.request, result.guarantee
    delta, known = float(request["delta"]), {r.key: r.value for r in result.readouts}
    order = known.get("order")
    at = f", order λ* = {order:.0f}" if series.key == "theorem1" and order else ""
    return Said(
        f"ε ≤ {at_most(epsilon)}",
        odds_lines(
            epsilon, delta, "which of two records a client holds", "after seeing everything",
            distance=promise.distance if promise else None, law=promise.law if promise else "",
            by=series.label, awaited=not result.complete,
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP after {_rounds(request['T'])} when one record "
        f"is replaced by any other ({series.label}{at})",
    )  # fmt: skip


CLAIMS = {
    "eps": Claim(
        (
            "numerical_upper", "theorem1", "kov_exact", "clones_numerical", "clones_closed",
            "unamplified", "cap",
        ),
        claim_words,
        solves="eps0",
    ),
    "rdp": Claim(("theorem1", "renyi_cap", "theorem1_alone"), number_only, solves="eps0"),
}  # fmt: skip
ASSUMES = {"clones_closed": ("condition_8",)}
"""What single curves need beyond what all do."""


def law(variant: Clones) -> str:
    """Name the law whose δ(0) is known."""
    return f"the {variant.value} clones through all rounds"


_ADD_REMOVE = (
    "not covered: n is fixed and public, and exactly k of n clients are sampled; adding or "
    "removing a record would change the sampling itself"
)


def _rounds(number: float) -> str:
    return "1 round" if number == 1 else f"{number:,.0f} rounds"


def _about(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else nearest(number)


def _trust(local: float) -> str:
    return (
        "Clients trust the shuffler to hide who sent what and to keep secret who was sampled. "
        "The server, and everyone it tells, sees the shuffled messages of every round. Against "
        f"the shuffler itself each message has only its own ε₀ = {at_most(local)}."
    )


def renyi_guarantee(
    order: int,
    level: float,
    alone: float,
    lower: float,
    local: float,
    sampled: float,
    clients: float,
) -> Guarantee:
    """Return what one round promises in Rényi terms, and in odds by its pure ε."""
    pure = float(pure_epsilon(local, sampled, clients))
    ratio = times(level / lower if lower > 0 else math.inf)
    above = (
        f" So it is here: Theorem 1 alone is {times(alone / level)} the cap, and drawn under its "
        "own name."
        if alone > level
        else ""
    )
    return Guarantee(
        unit="one client's record, in one round",
        replace_one=(
            f"({order}, {at_most(level)})-Rényi DP in one round when one record is replaced by any "
            f"other; T rounds have T times as much. The same round is (εₛ, 0)-DP with "
            f"εₛ = ln(1+γ(e^ε₀−1)) = {at_most(pure)}"
        ),
        add_remove=_ADD_REMOVE,
        trust=_trust(local),
        sentence=guesses(pure, 0.0, "which of two records a client holds", "after one round"),
        references=(THEOREM_1, THEOREM_2, RENYI_CAP),
        differences=(
            f"Theorem 1 holds for every ε₀-LDP randomiser and is {ratio} Theorem 2 here, which is "
            "what binary randomised response really leaks: the Rényi level of the worst randomiser "
            "lies between the two.",
            "The cap forgets the shuffling: it is the Rényi level of randomised response at "
            "εₛ = ln(1+γ(e^ε₀−1)), which one sampled round has in any case. Where few clones are "
            "left to hide among it is smaller than Theorem 1, and the curve takes the smaller."
            + above,
        ),
    )


def differences(here: Mapping[str, float], figure_2a: bool) -> tuple[str, ...]:
    """Return why the accountants shown differ, with the ratios at the sliders' values.

    Parameters
    ----------
    here : mapping
        ε of every curve that has one here, by its key.
    figure_2a : bool
        Whether this is the setting of Figure 2 (a) at its last round.
    """
    out = []
    ours = here["theorem1"]
    if ours > 0 and "clones_numerical" in here:
        ratio = here["clones_numerical"] / ours
        out.append(
            "Theorem 1 adds Rényi levels and pays for δ once, at the end; “clones + sampling + "
            "KOV” turns every round into an (ε, δ₀) statement first, for which each of the T "
            "rounds has to give away δ₀ = δ/(2Tγ). "
            f"Here it is {_as_large(ratio)} Theorem 1, the one without shuffle amplification "
            f"{_as_large(here['unamplified'] / ours)} Theorem 1."
            + " The paper's “14×” is the second kind."
            * figure_2a
        )
    if "clones_closed" not in here:
        out.append(
            "The closed form of the clones is not drawn here: its condition (8) fails for k and "
            "the per-round δ₀, and ignoring it is unsound. The numerical clones have no such "
            "condition."
        )
    if "kov_exact" in here and here.get("clones_numerical", 0) > 0:
        share = here["kov_exact"] / here["clones_numerical"]
        out.append(
            f"KOV exact is {_as_large(share)} its closed form: Theorem 3.4 bounds what Theorem 3.3 "
            "computes."
        )
    if "numerical_upper" in here and ours > 0:
        share = here["numerical_upper"] / ours
        out.append(
            "The numerical upper bound follows the clones' whole loss distribution through all "
            f"rounds instead of bounding its moments: {_as_large(share)} Theorem 1 here. Between "
            "it and the 2RR lower bound lies what the worst randomiser leaks."
        )
        out.append(
            "Where clients are sampled (k < n) both analyses of the clones, 2021 and 2023, need "
            "one common, non-adaptive randomiser a round; where all are shuffled only that of 2023 "
            "does."
        )
        above = here["lower_rdp"] > here["numerical_upper"]
        out.append(
            "The curve made of the RDP lower bound is not a lower bound on ε, because Lemma 1 "
            "only bounds from above"
            + (": here it lies above the numerical upper bound." if above else ".")
        )
    return tuple(out)


def _as_large(ratio: float) -> str:
    return "as large as" if abs(ratio - 1) < 0.005 else times(ratio)


def conditions(
    *,
    local: float,
    sampled: float,
    clients: float,
    per_round: float,
    order: int,
    lam_max: int,
    at_edge: bool,
    alone: float,
    cap: float,
) -> tuple[Condition, ...]:
    """Return what the statements about ε need."""
    limit = math.log(sampled / (16 * math.log(2 / per_round)))
    return (
        sampling(sampled, clients),
        Condition(
            f"Only for the curve “{curve_names('clones_closed')[0]}”: "
            "ε₀ ≤ ln(k/(16 ln(2/δ₀))), condition (8) with the per-round δ₀",
            local <= limit,
            f"ε₀ = {nearest(local)}, limit {nearest(limit)} at k = {sampled:,.0f}, "
            f"δ₀ = {nearest(per_round)}",
            of_guarantee=False,
            key="condition_8",
        ),
        Condition(
            f"{_SHARP}: the best order lies inside the search (a larger λₘₐₓ might give a smaller "
            "ε)",
            not at_edge,
            f"λ* = {order}, λₘₐₓ = {lam_max}",
            of_guarantee=False,
        ),
        not_vacuous(alone, cap, "ε ≤ T·εₛ"),
        *ASSUMED,
    )


_SHARP = "Only how sharp “Theorem 1 (upper bound)” is, which holds either way"


def not_vacuous(alone: float, cap: float, what: str = "the Rényi cap") -> Condition:
    """Return whether Theorem 1 without caps says more than what holds in any case."""
    return Condition(
        f"{_SHARP}: alone it says more than what holds in any case, {what}",
        alone < cap,
        f"without caps {at_most(alone)}, cap {at_most(cap)}",
        of_guarantee=False,
    )


def sampling(sampled: float, clients: float) -> Condition:
    """Return the condition that no more clients are sampled than there are."""
    return Condition(
        "No more clients are sampled than there are, k ≤ n",
        bool(1 <= sampled <= clients),
        f"γ = {sampled:,.0f}/{clients:,.0f} = {nearest(sampled / clients)}",
    )


ASSUMED = (
    Condition(
        "In a round all clients use one ε₀-LDP randomiser, chosen from earlier rounds only", None
    ),
    Condition(
        "Every round samples anew, without replacement, and who was sampled stays secret", None
    ),
)
"""What no parameter can tell."""
