"""References of the frequency estimation study."""

from explorer.privacy.core.bound import USER_METRIC as _PAPER, Reference
from explorer.privacy.user_metric import PRODUCT_ITEMS

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
_ONE_ITEM = "one drawn item a user: pure user-level DP, a mixture of laws that are"
ONE_HADAMARD = Reference("Acharya, Sun & Zhang 2018 (Hadamard response)", "", _ONE_ITEM)
ONE_GRR = Reference("Kairouz, Bonawitz & Ramage 2016 (k-ary randomised response)", "", _ONE_ITEM)
ONE_PRIV_UNIT = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018",
    "PrivUnit₂",
    "of e_x − 1/k in the plane of histograms; " + _ONE_ITEM,
)
THRESHOLD = Reference(
    _PAPER,
    "Sections 6.2.1 and 6.2.2, conditions for an improvement",
    "up to the constants that O(·) drops",
)
CHOICE = Reference(_PAPER, "Section 6.2: α = ε/r", "")
OWN = Reference(
    "McSherry & Talwar 2007 (exponential mechanism); our proof",
    "Algorithm 4 of " + _PAPER + " with it, along trees",
    "on any finite metric and for all data: standard deviations on the arms of a star, or the "
    "edges of a spanning tree, nowhere shorter than the metric; α₀ is the largest proved",
)
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
    OWN,
    THRESHOLD,
)
