"""Sources of the study of private learning."""

from dataclasses import replace

from explorer.privacy.core.bound import SHUFFLE_RDP, Reference
from explorer.privacy.learning import training
from explorer.privacy.shuffle_rdp import COMPOSED_CLONES, COMPOSED_LOWER

PRIVACY = training.PRIVACY
CONVERGENCE = training.CONVERGENCE
CONVERGENCE_EXACT = training.CONVERGENCE_EXACT
ALGORITHM = Reference(SHUFFLE_RDP, "Algorithm 1")
FIGURE_5 = Reference(SHUFFLE_RDP, "Figure 5", "one epoch is n/k rounds; errata shuf-B7")
R_INFINITY = Reference(
    "Girgis, Data, Diggavi, Kairouz & Suresh 2021 (shuffled model of federated learning)", "R_∞"
)
R_ONE = replace(R_INFINITY, where="R_1")
LEMMA_8 = Reference(SHUFFLE_RDP, "Lemma 8", "for p other than 1, 2 and ∞; errata shuf-B5")
R_TWO = Reference("Duchi, Jordan & Wainwright 2013", "ℓ2 mechanism")
R_TWO_CAP = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018", "PrivUnit₂", "cap of smallest error"
)
SHUFFLED = Reference(
    "Feldman, McMillan & Talwar 2021",
    "Theorem 3.2, evaluated exactly",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata shuf-B1",
)
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata shuf-B2"
)
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
COMPOSED, RESPONSE = COMPOSED_CLONES, COMPOSED_LOWER
NO_NOISE = Reference(SHUFFLE_RDP, "Theorem 3, Gₚ = 0", "explicit form (36); errata shuf-B6")
TRIVIAL = Reference("Lipschitz continuity", "over a set of diameter D")
PLAIN_SGD = Reference("Robbins & Monro 1951", "stochastic gradient descent")
DIGITS = Reference("Alpaydin & Kaynak 1998", "optical recognition of handwritten digits, UCI")
