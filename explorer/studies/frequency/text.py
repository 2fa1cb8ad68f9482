"""What frequency estimation says in words: sources, names, conditions, guarantee, tables."""

import math

from explorer.privacy.core.bound import Reference
from explorer.privacy.core.papers import USER_METRIC as _PAPER
from explorer.privacy.user_metric import PRODUCT_ITEMS
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee

GKRR = Reference(
    _PAPER,
    "Section 6.2, Algorithm 4 with GKRR; our proofs on Lemma B.1",
    "exact error; α₀ is the largest proved: of exact hops with stronger clones, of hops in "
    "increasing order, and at the sliders' values, for 0/1 distances and at most "
    f"{PRODUCT_ITEMS} items a user, of hops side by side",
)
THEOREM44 = Reference(
    _PAPER, "Section 6.2, Algorithm 4 with GKRR", "exact error; α₀ by Theorem 4.4, δ·e^h = δ′"
)
PRINTED_ALPHA0 = Reference(
    _PAPER,
    "Theorem 6.6 with α₀ of equation (6)/(7), as printed",
    "these equations are not to calibrate with: errata user-A3 to user-A6",
)
TIGHT = Reference(
    _PAPER,
    "Theorem 6.5, both terms halved",
    "d_EM is (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ here: errata user-E4",
)
COMPARED = Reference(
    _PAPER,
    "Theorem 6.5, both terms halved, times √(2/π)",
    "the mean of |N| over its root mean square for normal N: an estimate, as where two "
    "upper bounds cross nothing follows",
)
THEOREM65 = Reference(_PAPER, "Theorem 6.5, equation (8), with the exact norms of GKRR's inverse")
THEOREM66 = Reference(_PAPER, "Theorem 6.6, with the best α₀ that is proved")
REMARK = Reference(
    _PAPER,
    "remarks after Theorem 6.6 and Corollary 6.8, as printed",
    "does not follow from the theorem: errata user-E6",
)
HADAMARD = Reference(
    "Acharya, Sun & Zhang 2018 (Hadamard response); Kairouz, Oh & Viswanath 2015 (composition)",
    "Lemma 6.4 with the exact budget of an item",
    "(ε, δ), not (ε, 0): errata user-E8",
)
HADAMARD_PRINTED = Reference(
    _PAPER, "remark after Lemma 6.4: ε/√(m ln(m/δ)) an item", "not private: errata user-E8"
)
LAPLACE = Reference(_PAPER, "Lemma 6.7, with scale 2/(nε)", "errata user-E1")
LAPLACE_DISTANCE = Reference(
    _PAPER,
    "Lemma 6.7, with scale 2/(nε)",
    "errata user-E1; its mean d_EM exactly, shifted to sum 1, by its characteristic function",
)
LAPLACE_PRINTED = Reference(
    _PAPER, "Lemma 6.7, with scale 1/(nε) as printed", "only 2ε-private: errata user-E1"
)
ONE_ITEM = "one drawn item a user: pure user-level DP, a mixture of laws that are"
ONE_HADAMARD = Reference("Acharya, Sun & Zhang 2018 (Hadamard response)", "", ONE_ITEM)
ONE_GRR = Reference("Kairouz, Bonawitz & Ramage 2016 (k-ary randomised response)", "", ONE_ITEM)
ONE_PRIV_UNIT = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018",
    "PrivUnit₂",
    "of e_x − 1/k in the plane of histograms; " + ONE_ITEM,
)
THRESHOLD = Reference(
    _PAPER,
    "Sections 6.2.1 and 6.2.2, conditions for an improvement",
    "up to the constants that O(·) drops",
)
CHOICE = Reference(_PAPER, "Section 6.2: α = ε/r", "")
REFERENCES = (
    GKRR,
    THEOREM44,
    PRINTED_ALPHA0,
    TIGHT,
    THEOREM65,
    THEOREM66,
    REMARK,
    HADAMARD,
    HADAMARD_PRINTED,
    LAPLACE,
    LAPLACE_PRINTED,
    ONE_HADAMARD,
    ONE_GRR,
    ONE_PRIV_UNIT,
    THRESHOLD,
)

LABELS = {
    "gkrr": "GKRR, best α₀ proved",
    "gkrr_theorem": "GKRR, α₀ by Theorem 4.4",
    "gkrr_printed": "GKRR, α₀ of equation (6)/(7)",
    "hadamard_printed": "Hadamard, printed budget (not private)",
    "laplace_printed": "Laplace, printed scale (not private)",
    "hadamard": "Hadamard response",
    "laplace": "Laplace",
    "one_hadamard": "one drawn item, Hadamard response",
    "one_grr": "one drawn item, k-ary randomised response",
    "one_priv_unit": "one drawn item, PrivUnit",
}
EMD_LABELS = {
    "gkrr": "GKRR, halved Theorem 6.5",
    "theorem65": "Theorem 6.5, as printed",
    "theorem66": "Theorem 6.6",
    "theorem66_printed": "Theorem 6.6 with equation (6)/(7)",
    "remark": "remark to Theorem 6.6",
    "hadamard": "Hadamard response",
    "laplace": "Laplace",
}
RIVALS = {
    "hadamard": LABELS["hadamard"],
    "laplace": LABELS["laplace"],
    "one_item": "one drawn item a user",
}
REGION_LABELS = {
    "gkrr": "GKRR wins",
    "hadamard": "Hadamard response wins",
    "laplace": "Laplace wins",
    "one_item": "one drawn item wins",
    "here": "the sliders",
    "equal": "α = ε",
    "choice": "α = ε/r, the paper's choice",
    "paper": "the paper's condition",
}
ESTIMATES = {
    "gkrr": "GKRR, signed",
    "gkrr_simplex": "GKRR, nearest histogram in ℓ2",
    "gkrr_emd": "GKRR, nearest histogram in d_EM",
    "hadamard": "Hadamard response, shifted to sum 1",
    "hadamard_simplex": "Hadamard response, nearest histogram",
    "laplace": "Laplace, shifted to sum 1",
    "laplace_simplex": "Laplace, nearest histogram",
}
NOTES = {
    "equal": "below it metric privacy at α implies user-level privacy at ε",
    "choice": "moving everything within its cluster is then protected at ε",
    "paper": "from there on GKRR should win, by the paper's O(·): its constants are dropped",
    "hadamard_printed": "the paper's, not (ε, δ)-private; never to calibrate with",
    "laplace_printed": "the paper's, private at 2ε only; never to calibrate with",
    "gkrr_printed": "the paper's, never to calibrate with",
    "theorem66_printed": "the paper's, never to calibrate with",
    "remark": "the paper's simplification; exceeded by its own theorem in places",
}
ONE_ITEM_NOTE = (
    "every user reports one of their items, drawn at random; for users whose items are spread "
    "evenly, which is the most that it can err"
)
NOTES |= dict.fromkeys(("one_hadamard", "one_grr", "one_priv_unit"), ONE_ITEM_NOTE)
EXACT_COMING = "quick estimate of the calibration; the exact one follows"
CENTRED = "of the estimate shifted to sum 1: without that there is no earth mover's distance"
NO_THEOREM = (
    "Theorem 4.4's condition holds for no α₀ > 0 there, or items of a cluster are at distance 0"
)
NO_PRINTED = (
    "the condition of the theorem behind equation (6)/(7) fails there, or α is not below m, or "
    "items of a cluster are at distance 0"
)
NOT_TOLD_APART = "items of a cluster are at distance 0: no metric-private answer tells them apart"
TOO_LARGE = "the error has no number: it is beyond 1e308"
ESTIMATED = "an estimate: Laplace noise exactly, the others' d_EM by the normal limit of many items"
NEVER = "GKRR wins at no α up to 800 there"
OTHER = "another user-level mechanism is better there"
HERE = "α of the slider"
OUTSIDE = "outside α from 0.01 to 800"


def conditions(
    *,
    alpha: float,
    eps: float,
    delta: float,
    m: float,
    n: float,
    k: float,
    r: float,
    t: float,
    hadamard_delta: float,
    local: bool,
) -> tuple[Condition, ...]:
    """Return what the numbers at the sliders need, and whether they have it."""
    root = math.sqrt(m)
    found = [
        Condition(
            "Items of a cluster can be told apart: r > 0, or one item a cluster",
            r > 0 or t == 1,
            f"r = {nearest(r)}, t = {t:.0f}",
            short="Items of a cluster can be told apart",
        ),
        Condition(
            "Only as printed: the budget ε/√(m ln(m/δ)) of Hadamard response is (ε, δ)-private",
            hadamard_delta <= delta,
            f"its exact δ is {nearest(hadamard_delta)}, asked is {nearest(delta)}",
            of_guarantee=False,
            short="Only printed Hadamard: it is private",
        ),
        Condition(
            "Only as printed: the Laplace scale 1/(nε) is ε-private",
            False,
            f"one user changes the histogram by 2/n in ℓ1: it is {at_most(2 * eps)}-private",
            of_guarantee=False,
            short="Only printed Laplace: it is private",
        ),
        Condition(
            "Only the paper's comparison: k, ε, α ≤ √m",
            max(k, eps, alpha) <= root,
            f"√m = {nearest(root)}, k = {k:,.0f}, α = {nearest(alpha)}",
            of_guarantee=False,
            short="Only paper's comparison: k, ε, α ≤ √m",
        ),
    ]
    if not local:
        found.append(
            Condition(
                "The paper's central comparison assumes n ≤ m/α",
                n <= m / alpha,
                f"n = {n:,.0f}, m/α = {nearest(m / alpha)}",
                short="Central comparison: n ≤ m/α",
            )
        )
    return (
        *found,
        Condition(
            "Every user has the same public number m of items (bounded data)",
            None,
            short="One public number m of items a user",
        ),
        Condition(
            "The shuffle hides which answer is whose, and in which order",
            None,
            short="The shuffle hides which answer is whose",
        ),
    )


def guarantee(
    *,
    alpha: float,
    eps: float,
    delta: float,
    near: float,
    alpha0: float,
    item: float,
    alone: bool,
    local: bool,
) -> Guarantee:
    """Return the guarantee at the sliders' values.

    `near` is how far items move of which the sentence speaks: the distance inside a cluster, or
    the only one there is with one item a cluster (`alone`).
    """
    who = "their own" if local else "all users'"
    return Guarantee(
        unit="one user's whole data set; for GKRR the shorter the earth mover's way, the better",
        replace_one=(
            f"GKRR: ({at_most(alpha)}·w, {at_most(delta)}) when one user's m items are "
            f"replaced by others at earth mover's distance w (bounded d_EM-DP, "
            f"α₀ = {at_least(alpha0)}); Hadamard response: ({at_most(eps)}, {at_most(delta)}) "
            f"for any replacement (ε₀ = {at_least(item)}); Laplace: ({at_most(eps)}, 0) for any "
            "replacement"
        ),
        add_remove="not covered: n and m are fixed and public",
        trust=(
            f"GKRR: the items of {'one user' if local else 'all users'} are randomised and "
            f"shuffled; everybody else sees {who} shuffled answers. Hadamard response: each user "
            "sends randomised items. Laplace: "
            + (
                "each user adds noise to their own histogram."
                if local
                else "the curator sees all data and adds noise once."
            )
        ),
        sentence="GKRR: "
        + guesses(
            alpha * near,
            delta,
            "which of two data sets a user holds"
            if alone
            else "to which places of their clusters a user's items belong",
            f"after seeing {who} shuffled answers",
        ),
        pairs=((alpha * near, delta),),
        qualified=True,
        references=(GKRR, HADAMARD, LAPLACE),
        differences=DIFFERENCES,
    )


OTHERS = dict.fromkeys(
    ("hadamard", "laplace"),
    "it is of another mechanism, whose promise does not depend on how far items move",
)
"""Why errors that are drawn beside GKRR's are never claimed."""

DIFFERENCES = (
    "GKRR promises less than user-level DP for items moved between clusters when α > ε, and more "
    "for those moved within one when αr < ε: the curves compare errors, not equal promises.",
    "The halved form of Theorem 6.5 uses that d_EM is (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ on this space; "
    "the theorem as printed counts both terms twice, Theorem 6.6 bounds the matrix norms "
    "further, and its remark is a simplification that does not follow from it.",
    "The best α₀ proved and Theorem 4.4's calibrate the same mechanism: a larger α₀ is less noise "
    "at the same promise. The best is that of exact hops, which use the smallest distance of the "
    "space, in any order or in increasing order.",
    "GKRR and Hadamard response err by n^(−1/2) in the local model; Laplace noise of a trusted "
    "curator by 1/n, whatever m is.",
    "In the local model Laplace noise on each user's own histogram is user-level private too, "
    "without a δ: it errs less than Hadamard response by about √ln(1/δ), as composition over m "
    "items costs that much. The paper compares with Hadamard response only.",
    "One item drawn from each user's m, randomised at all of ε, is user-level private without a δ "
    "as well: nothing is paid for composition, and at small ε that is worth more than the other "
    "m − 1 items.",
)
