"""What the accountant's curves are called, what they are, and where they come from."""

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import SHUFFLE_RDP as _GIRGIS
from explorer.privacy.shuffle_rdp import COMPOSED_CLONES, COMPOSED_LOWER, RDP_OF_CLONES
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.phrases import LOWER_BOUND

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
    _GIRGIS,
    "Theorem 1 with a sharp term of order 2",
    "ours: Theorem 5 with the largest D₂ among all ε₀-LDP randomisers",
)


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
        "lower_2rr": (LOWER_BOUND, Role.LOWER, COMPOSED_LOWER),
        "cap": ("T·εₛ, holds in any case", Role.UPPER, CAP),
        "theorem1_alone": ("Theorem 1 alone, without the cap", Role.UPPER, THEOREM_1),
        "theorem2": ("Theorem 2 (lower bound on RDP)", Role.LOWER, THEOREM_2),
        "renyi_cap": ("Rényi cap, holds in any case", Role.UPPER, RENYI_CAP),
        "rdp_clones": (
            f"RDP of subsampled clones ({variant.value})",
            Role.UPPER,
            RDP_OF_CLONES,
        ),
        "theorem1_sharp": ("Theorem 1 sharpened", Role.UPPER, SHARPENED),
    }[key]


ABOUT = {
    "lower_rdp": (
        "no accountant that adds RDP at these orders and converts with Lemma 1 can report less; "
        "not a lower bound on ε"
    ),
    "numerical_upper": "the clones' losses composed as they are; every step is rounded up",
    "rdp_clones": (
        "the Rényi divergence of the dominating pair itself; one common, non-adaptive randomiser "
        "a round"
    ),
    "theorem1_sharp": "its term of order 2 replaced by the largest that a randomiser can have",
    "lower_2rr": (
        "on what any accountant sound for all ε₀-LDP randomisers can report, common to all clients "
        "or not: the larger of 2RR (both directions) and 3RR; a particular randomiser may leak less"
    ),
    "theorem1_alone": "as the paper states it; drawn where it is above the cap",
    "theorem2": "the larger of both directions",
    "clones_numerical": "δ₀ = δ/(2Tγ) a round, δ/2 slack; summed exactly, a few 1e-4 upwards",
    "kov_exact": "δ₀ = δ/(2Tγ) a round, δ/2 slack; Theorem 3.3 instead of the closed Theorem 3.4",
    "clones_closed": "δ₀ = δ/(2Tγ) a round, δ/2 slack",
}

ASSUMES = {"clones_closed": ("condition_8",)}
"""What single curves need beyond what all do."""
