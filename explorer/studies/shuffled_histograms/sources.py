"""Sources of the bounds on shuffled histograms."""

from explorer.privacy.core.bound import HISTOGRAMS as PAPER, Reference

THEOREM_31 = Reference(PAPER, "Theorem 3.1", "errata hist-B1 to hist-B4")
THEOREM_32 = Reference(
    PAPER, "Theorem 3.2", "run at (ε/2, δ/2) for (ε, δ); errata hist-A1, hist-B6"
)
PROOF_31 = Reference(PAPER, "Theorem 3.1(ii), proof", "with √p; errata hist-B2, hist-B3")
PROOF_32 = Reference(
    PAPER,
    "Theorem 3.2, proof",
    "with √p, β/h for β/n, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6",
)
PRINTED_31 = Reference(PAPER, "Theorem 3.1(ii)", "as printed; errata hist-B2")
PRINTED_32 = Reference(
    PAPER, "Theorem 3.2(iii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6"
)
PRINTED_ONE = Reference(
    PAPER, "Theorem 3.2(ii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2"
)
EXACT = Reference(PAPER, "Theorem 3.1 and 3.2", "noise calibrated by the exact δ")
TAILS = Reference(PAPER, "Figure 1", "exact binomial tails instead of the Chernoff step")
LAW = Reference(PAPER, "Figure 1", "exact law of the analyzer's output; errata hist-B4")
MESSAGES = Reference(PAPER, "Theorem 3.2(iv)", "everyone pays the O(d); errata hist-B5")
TABLE_1 = Reference(PAPER, "Table 1", "order only")
TABLE_2 = Reference(PAPER, "Table 2 and Claim 3.4", "errata hist-A1 to hist-A3")
CLAIMS = Reference(PAPER, "Theorem 4.1, Claims 4.3 and 4.4")
SIMULATED = Reference(PAPER, "Figures 1 and 2, simulated", "noise calibrated by the exact δ")
WARNER = Reference("Warner 1965", "randomised response", "Hoeffding")
