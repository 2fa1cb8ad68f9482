"""References of the study of the private mean."""

from explorer.privacy.core.bound import COORDINATES as PAPER, Reference

MECHANISM = Reference(
    PAPER,
    "Mechanisms 1 and 2, Theorem 2",
    "B is half of what is printed: unbiased (errata coord-A1)",
)
BASELINE = Reference(PAPER, "Appendix B.1, min δ-LDP", "Duchi et al.'s channel at level min δ")
BEST_ZETA = Reference(
    PAPER, "Theorem 2, best ζ", "searched; the paper takes (1+q)/2 (errata coord-A2)"
)
EXACT = Reference(
    PAPER,
    "Mechanism 1 under the sharpened Proposition 4",
    "log((1−q)e^c + q·e^L) ≤ δ instead of part 2; searched",
)
HYBRID = Reference(
    PAPER,
    "Mechanism 2 on disjoint channels",
    "beyond the paper: channels that do not overlap meet the same certificate; searched",
)
THEOREM_2 = Reference(
    PAPER,
    "Theorem 2, equation (17)",
    "constant unknown; false for large increments (errata coord-A3)",
)
COROLLARY_1 = Reference(PAPER, "Corollary 1", "constant unknown (errata coord-A3, coord-A4)")
CENTRAL = Reference(
    "Own yardstick",
    "Laplace noise on each coordinate's mean",
    "in the spirit of partial DP (Ghazi et al. 2023), not their algorithms",
)
PRIV_UNIT = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018",
    "PrivUnit₂",
    "on corners drawn afresh with the record as mean, cap of smallest error; beyond the paper",
)
PROJECTED = Reference(PAPER, "Theorem 2", "the average taken as normal, then clipped to [−1, 1]")
FIGURE_3 = Reference(PAPER, "Figure 3", "drawn here from a seed")
PROPOSITION_3 = Reference(PAPER, "Proposition 3")
PROPOSITION_4 = Reference(PAPER, "Proposition 4, part 2")
CERTIFICATE = Reference(
    PAPER, "Proposition 4, sharpened", "log((1−q)e^c + q·e^L); c and L add over releases"
)
PROPOSITION_6 = Reference(
    PAPER,
    "Proposition 6, equation (53)",
    "one channel a coordinate with A_δ·c ≤ 1 and Σc ≤ ε, c in proportion to a power of min(δᵢ, ε)",
)
BRUTE_FORCE = Reference(
    PAPER, "Definition 4 on the corners {−1, 1}^d", "exact for the prior (60) of Figure 3"
)
REFERENCES = (
    MECHANISM,
    PRIV_UNIT,
    BASELINE,
    BEST_ZETA,
    EXACT,
    HYBRID,
    THEOREM_2,
    COROLLARY_1,
    CERTIFICATE,
    PROPOSITION_6,
)
