"""Sources of the bounds on one shuffle."""

from explorer.privacy.core.bound import SHUFFLE_RDP, Reference

_FMT21 = "Feldman, McMillan & Talwar 2021"
_FMT23 = "Feldman, McMillan & Talwar 2023"
CLOSED = Reference(_FMT21, "Theorem 3.1", "valid only under its condition; errata shuf-A8, shuf-A9")
EXACT_2021 = Reference(_FMT21, "Theorem 3.2, evaluated exactly")
EXACT_2023 = Reference(
    _FMT23,
    "Theorem 3.1, evaluated exactly",
    "one common, non-adaptive randomiser (erratum in arXiv 2208.04591)",
)
LOWER = Reference(
    f"{SHUFFLE_RDP}; this program",
    "the pair of Theorem 2 with γ = 1, and randomised response on three symbols",
    "the larger, of 2RR in both directions and, of few clients, for any values of the others; "
    "errata shuf-A2",
)
LOCAL = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "post-processing of an ε₀-LDP message"
)
CONDITION_8 = Reference(
    SHUFFLE_RDP, "(8), after Feldman, McMillan & Talwar 2021", "with k; errata shuf-A8"
)
CONDITION_9 = Reference(
    SHUFFLE_RDP, "(9), after Balle, Bell, Gascón & Nissim 2019", "errata shuf-A8"
)
ENUMERATED = Reference("by enumeration", "all counts of messages, for all multisets of the others")
