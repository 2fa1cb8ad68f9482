"""Sources of the bounds in the subsampled shuffle model."""

from explorer.privacy.core.bound import SHUFFLE_RDP, Reference
from explorer.privacy.shuffling import Clones

THEOREM_1 = Reference(SHUFFLE_RDP, "Theorem 1", "log domain; errata shuf-A5, shuf-B3")
THEOREM_2 = Reference(SHUFFLE_RDP, "Theorem 2", "both directions; errata shuf-A1, shuf-A2")
THEOREM_3 = Reference(
    SHUFFLE_RDP, "Theorem 3 (7) with Lemma 1", "min with the caps; errata shuf-A4, shuf-A6, shuf-A7"
)
LEMMA_1 = Reference(SHUFFLE_RDP, "Lemma 1 of Theorem 2", "not a lower bound on ε; errata shuf-A3")
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
RENYI_CAP = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "randomised response dominates (ε, 0)-DP"
)
CLOSED = Reference(
    "Feldman, McMillan & Talwar 2021",
    "Theorem 3.1",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata shuf-A8, shuf-B1",
)
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata shuf-B2"
)
NUMERICAL = {
    Clones.PUBLISHED: Reference(
        "Feldman, McMillan & Talwar 2021",
        "Theorem 3.2, evaluated exactly",
        "one common, non-adaptive randomiser where k < n; with Ullman 2017 and Kairouz, Oh & "
        "Viswanath 2015, Theorem 3.4",
    ),
    Clones.STRONGER: Reference(
        "Feldman, McMillan & Talwar 2023",
        "Theorem 3.1, evaluated exactly",
        "one common, non-adaptive randomiser (erratum in arXiv 2208.04591); with Ullman 2017 and "
        "Kairouz, Oh & Viswanath 2015, Theorem 3.4",
    ),
}
KOV_EXACT = Reference(
    "Kairouz, Oh & Viswanath 2015",
    "Theorem 3.3, evaluated exactly",
    "of numerical clones after Ullman 2017; errata shuf-B1",
)
SHARPENED = Reference(
    SHUFFLE_RDP,
    "Theorem 1 with a sharp term of order 2",
    "ours: Theorem 5 with the largest D₂ among all ε₀-LDP randomisers",
)
