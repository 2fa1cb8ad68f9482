"""Conditions, guarantees and claim texts of the shuffle accountant."""

import math
from collections.abc import Mapping

from explorer.privacy.shuffle_rdp import pure_epsilon
from explorer.privacy.shuffling import Clones
from explorer.studies.base.claims import number_text
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import WORST_KNOWN, gap_words, guesses, odds_lines, times
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series
from explorer.studies.shuffle_accountant.theory import RENYI_CAP, THEOREM_1, THEOREM_2, THEOREM_3

CLOSED = "clones (2021, closed form) + sampling + KOV"
ONCE_FIXED, ONCE_ADAPTIVE, ALIKE = "once_fixed", "once_adaptive", "alike"
"""Ids of the conditions of single curves."""
COMPUTING = "it is being computed"
MORE_THAN_ALL = "more clients would be sampled than there are (k > n)"
NONE_SAMPLED = "γn rounds to no client at all"
NOT_ABOVE = "the same as “Theorem 1 (upper bound)” where it is not above the cap"
CLOSED_FAILS = (
    "the closed form needs ε₀ ≤ ln(k/(16 ln(2/δ₀))) with δ₀ = δ/(2Tγ), condition (8); outside it "
    "nothing but (ε₀, 0) is known from it: see “no shuffle amplification”"
)


def guarantee(local: float, messages: float, differences: tuple[str, ...] = ()) -> Guarantee:
    """Return the part of the guarantee that does not depend on the claimed bound.

    Parameters
    ----------
    local : float
        ε₀.
    messages : float
        Messages that a client sends on average, γT.
    differences : tuple of str
        Why the curves differ.
    """
    return Guarantee(
        unit="one client's record, over all rounds",
        about="which of two records a client holds",
        replace_one="",
        add_remove=_ADD_REMOVE,
        trust=_trust(local)
        + f" Over all rounds a client sends γT = {_about(messages)} of them on average.",
        sentence="",
        references=(THEOREM_3, THEOREM_1),
        differences=differences,
    )


def claim_text(result: Result, series: Series, epsilon: float) -> ClaimText:
    """Return the text of a claimed bound on ε at the sliders' values."""
    request, promise = result.request, result.guarantee
    delta, values = float(request["delta"]), {r.key: r.value for r in result.readouts}
    order = values.get("order")
    at = f", order λ* = {order:.0f}" if series.key == "theorem1" and order else ""
    return ClaimText(
        f"ε ≤ {at_most(epsilon)}",
        odds_lines(
            epsilon,
            delta,
            "which of two records a client holds",
            "after seeing everything",
            distance=promise.distance if promise else None,
            law=promise.law if promise else "",
            by=series.label,
            awaited=not (result.complete or result.held),
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP after {_rounds(request['T'])} when one record "
        f"is replaced by any other ({series.label}{at})",
        ((epsilon, delta),),
        f"after {_rounds(request['T'])}",
    )


def renyi_claim_text(result: Result, series: Series, level: float) -> ClaimText:
    """Return the text of a claimed Rényi level of one round."""
    request = result.request
    pure = at_most(float(pure_epsilon(request["eps0"], request["k"], request["n"])))
    return ClaimText(
        number_text(result, series, level).number,
        (
            result.guarantee.sentence,
            f"These odds are those of (εₛ, 0)-DP, εₛ = {pure}, which one round has whichever "
            "Rényi level is claimed: they are not computed from the level.",
        )
        if result.guarantee
        else (),
        promise=f"({request['lam']}, {at_most(level)})-Rényi DP in one round when one record is "
        f"replaced by any other ({series.label}); T rounds have T times as much. The same round is "
        f"(εₛ, 0)-DP with εₛ = ln(1+γ(e^ε₀−1)) = {pure}",
    )


def law(variant: Clones) -> str:
    """Return the name of the law whose δ(0) is known."""
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
    here: Mapping[str, float], local: float, sampled: float, clients: float
) -> Guarantee:
    """Return the guarantee of one round: Rényi levels, and odds by its pure ε.

    Parameters
    ----------
    here : mapping
        Rényi level of every curve at the sliders' values, by key.
    local, sampled, clients : float
        ε₀, k and n.
    """
    pure = float(pure_epsilon(local, sampled, clients))
    level, alone, lower = here["theorem1"], here["theorem1_alone"], here["theorem2"]
    ratio = times(level / lower if lower > 0 else math.inf)
    above = (
        f" So it is here: Theorem 1 alone is {times(alone / level)} the cap, and drawn under its "
        "own name."
        if alone > level
        else ""
    )
    return Guarantee(
        unit="one client's record, in one round",
        about="which of two records a client holds",
        replace_one="",
        add_remove=_ADD_REMOVE,
        trust=_trust(local),
        sentence=guesses(pure, 0.0, "which of two records a client holds", "after one round"),
        references=(THEOREM_1, THEOREM_2, RENYI_CAP),
        differences=(
            f"Theorem 1 holds for every ε₀-LDP randomiser and is {ratio} Theorem 2 here, which is "
            "what binary randomised response really leaks: the Rényi level of the worst randomiser "
            "lies between the two.",
            *why_loose(here),
            "The cap forgets the shuffling: it is the Rényi level of randomised response at "
            "εₛ = ln(1+γ(e^ε₀−1)), which one sampled round has in any case. Where few clones are "
            "left to hide among it is smaller than Theorem 1, and the curve takes the smaller."
            + above,
        ),
    )


def why_loose(here: Mapping[str, float]) -> tuple[str, ...]:
    """Return why, and by how much, Theorem 1 is above the Rényi divergence of the clones."""
    clones, sharp = here.get("rdp_clones", 0.0), here.get("theorem1_sharp", 0.0)
    if not (clones > 0 and sharp > 0):
        return ()
    return (
        f"Theorem 1 is {_as_large(here['theorem1'] / clones)} “RDP of subsampled clones” here. It "
        "bounds |χ|^α of each order α apart, losing the signs; it counts on k̄ ≈ k/(2e^ε₀) clones, "
        "half their mean; at α = 2 its constant is 4 or 2(1+2e^−ε₀) times the largest that a "
        "randomiser has, and from α = 3 on it takes the range e^ε₀−e^−ε₀ for the deviation. "
        f"“Theorem 1 sharpened” mends α = 2 and is {_as_large(sharp / clones)} the clones'.",
    )


def differences(here: Mapping[str, float], figure_2a: bool, eps0: float) -> tuple[str, ...]:
    """Return why the accountants shown differ, with the ratios at the sliders' values.

    Parameters
    ----------
    here : mapping
        ε of every curve at the sliders' values, by key.
    figure_2a : bool
        Whether these are the values of Figure 2 (a) at its last round.
    eps0 : float
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
    if ours > 0:
        out += why_loose(here)
    if "numerical_upper" in here and ours > 0:
        share = here["numerical_upper"] / ours
        low = here.get("lower_2rr", 0)
        apart = here["numerical_upper"] / low if low > 0 else math.inf
        out.append(
            "The numerical upper bound follows the clones' whole loss distribution through all "
            f"rounds instead of bounding its moments: {_as_large(share)} Theorem 1 here. Between "
            "it and the lower bound (2RR, 3RR) lies what the worst randomiser leaks"
            + ("." if math.isinf(apart) else f": the upper is {_as_large(apart)} the lower.")
        )
        out.append(f"{WORST_KNOWN} {gap_words(eps0)}")
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
    """Return the conditions of the bounds on ε."""
    limit = math.log(sampled / (16 * math.log(2 / per_round)))
    return (
        sampling(sampled, clients),
        Condition(
            f"Only for the curve “{CLOSED}”: "
            "ε₀ ≤ ln(k/(16 ln(2/δ₀))), condition (8) with the per-round δ₀",
            local <= limit,
            f"ε₀ = {nearest(local)}, limit {nearest(limit)} at k = {sampled:,.0f}, "
            f"δ₀ = {nearest(per_round)}",
            of_guarantee=False,
            key="condition_8",
            short="2021 closed form: ε₀ is small enough",
        ),
        Condition(
            f"{_SHARP}: the best order lies inside the search (a larger λₘₐₓ might give a smaller "
            "ε)",
            not at_edge,
            f"λ* = {order}, λₘₐₓ = {lam_max}",
            of_guarantee=False,
            short="Sharpness: best order is inside λₘₐₓ",
        ),
        not_vacuous(alone, cap, "ε ≤ T·εₛ"),
        *ASSUMED,
        COMMON_ROUND,
    )


_SHARP = "Only how sharp “Theorem 1 (upper bound)” is, which holds either way"


def not_vacuous(alone: float, cap: float, what: str = "the Rényi cap") -> Condition:
    """Return the condition that Theorem 1 without caps is below the cap."""
    return Condition(
        f"{_SHARP}: alone it says more than what holds in any case, {what}",
        alone < cap,
        f"without caps {at_most(alone)}, cap {at_most(cap)}",
        of_guarantee=False,
        short=f"Sharpness: Theorem 1 beats {what}",
    )


def sampling(sampled: float, clients: float) -> Condition:
    """Return the condition that no more clients are sampled than there are."""
    return Condition(
        "No more clients are sampled than there are, k ≤ n",
        bool(1 <= sampled <= clients),
        f"γ = {sampled:,.0f}/{clients:,.0f} = {nearest(sampled / clients)}",
        short="Sample size k does not exceed n",
    )


COMMON = "common_round"
"""Key of the condition of the worst case."""
COMMON_ROUND = Condition(
    "Only for the curve “worst case”: in a round all clients use one "
    "common randomiser, chosen from earlier rounds only, whatever the analysis of the clones",
    None,
    of_guarantee=False,
    key=COMMON,
    optional=True,
    short="One common randomiser in each round",
)
ASSUMED = (
    Condition(
        "In a round all clients use one ε₀-LDP randomiser, chosen from earlier rounds only",
        None,
        short="One ε₀-LDP randomiser a round",
    ),
    Condition(
        "Every round samples anew, without replacement, and who was sampled stays secret",
        None,
        short="Fresh secret sample in every round",
    ),
)
"""Assumptions that no parameter decides."""


def epoch_conditions(sampled: float, clients: float) -> tuple[Condition, ...]:
    """Return the conditions of the bounds for clients that take part once an epoch."""
    return (
        sampling(sampled, clients),
        ASSUMED[0],
        Condition(
            "Every round samples anew, and who was sampled stays secret",
            None,
            short="Fresh secret sample in every round",
        ),
        _once_an_epoch(
            ONCE_FIXED,
            "one randomiser is fixed before each epoch, for all its rounds",
            "Once an epoch, one fixed randomiser",
        ),
        _once_an_epoch(
            ONCE_ADAPTIVE,
            "randomisers may be chosen from earlier rounds",
            "Once an epoch, randomisers may adapt",
        ),
    )


def _once_an_epoch(key: str, which: str, short: str) -> Condition:
    """Return the assumption of a curve that takes a split of all clients for fresh samples."""
    return Condition(
        "Only for “once an epoch” in place of fresh samples: clients are split at random into "
        f"rounds of at least k, each taking part once an epoch; {which}",
        None,
        of_guarantee=False,
        key=key,
        optional=True,
        short=short,
    )


def epoch_differences(here: dict[str, float], rounds: int, epochs: int) -> tuple[str, ...]:
    """Return what a split of all clients changes, with the ratios at the sliders' values."""
    fresh = here["numerical_upper"]

    def against(key: str) -> str:
        return f"{times(here[key] / fresh)} that of fresh samples" if fresh > 0 else "0 as well"

    return (
        f"Once an epoch: ⌊n/k⌋ = {rounds:,} rounds see each client once, and T rounds begin "
        f"{epochs:,} epochs, which are composed. If one randomiser is fixed before an epoch, its "
        "groups are a random split of one shuffle of n messages, and merging them gives it back. "
        f"Here ε is {against('epoch_fixed')}.",
        "If randomisers adapt between rounds, as in training, only one round of an epoch sees the "
        "client, hidden among k; which one is not counted as a gain. Here ε is "
        f"{against('epoch_adaptive')}. Feldman & Shenfeld (arXiv 2502.08202, 2602.17284) show "
        "more, close to fresh samples; that is not verified here, so it is not offered.",
    )


def own_conditions(sampled: float, clients: float, theta: float) -> tuple[Condition, ...]:
    """Return the conditions of the bound of one known randomiser."""
    return (
        sampling(sampled, clients),
        Condition(
            "In every round all clients run this randomiser at this ε₀",
            None,
            f"θ = {nearest(theta)}, at most ½",
            short="All clients run this randomiser at ε₀",
        ),
        *ASSUMED,
    )


OWN_NOTE = (
    "Taken here are randomisers whose one worst pair is the same in every round: k-ary randomised "
    "response and PrivUnit. R_∞ is exactly the clones of 2023; for unary encoding, Laplace noise "
    "and tables only one shuffle is bounded, in “Amplification by shuffling”."
)


TERNARY_CONDITIONS = (
    Condition("All k clients use one ε₀-LDP randomiser", None),
    Condition(
        "Only for the curves “others alike”: all clients but the one hold the same value",
        None,
        of_guarantee=False,
        key=ALIKE,
        optional=True,
        short="All other users hold the same value",
    ),
)


def ternary_notes(here: dict[str, float]) -> tuple[str, ...]:
    """Return by how much the printed bounds are above the exact values at the sliders."""
    if not {"exact_2rr", "exact_3rr", "theorem4", "theorem6"} <= here.keys():
        return ()
    largest = max(here["exact_2rr"], here["exact_3rr"])
    if not largest > 0:
        return ()
    text = (
        f"Theorem 6 is {times(here['theorem6'] / largest)} the larger of 2RR and 3RR here, "
        f"Theorem 4, for any data of the others, {times(here['theorem4'] / largest)}."
    )
    if "sharp_mixed" in here:
        text += (
            f" The sharpened bound is {times(here['sharp_mixed'] / largest)}; at α = 2 no ε₀-LDP "
            "randomiser has more than the larger of the two if the others are alike."
        )
    return (text + " Lemma 2 turns bounds on all orders into a Rényi level: see ε(λ).",)
