"""What the shuffle accountant says in words: references, conditions, guarantee."""

from __future__ import annotations

import math

from explorer.privacy.amplification import Clones
from explorer.privacy.bounds import Reference, Role
from explorer.privacy.shuffle_rdp import TOO_FEW_ROUNDS
from explorer.studies.model import Condition, Guarantee
from explorer.studies.wording import guesses, small

_GIRGIS = "Girgis, Data & Diggavi 2021 (subsampled shuffle model)"
THEOREM_1 = Reference(_GIRGIS, "Theorem 1", "log domain; errata A5, B3")
THEOREM_2 = Reference(_GIRGIS, "Theorem 2", "both directions; errata A1, A2")
THEOREM_3 = Reference(_GIRGIS, "Theorem 3 (7) with Lemma 1", "min with the caps; errata A4, A6, A7")
LEMMA_1 = Reference(_GIRGIS, "Lemma 1 of Theorem 2", "not a lower bound on ε; errata A3")
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
RENYI_CAP = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "randomised response dominates (ε, 0)-DP"
)
CLOSED = Reference(
    "Feldman, McMillan & Talwar 2021", "Theorem 3.1",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata A8, B1",
)  # fmt: skip
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata B2"
)
NUMERICAL = {
    Clones.PUBLISHED: Reference(
        "Feldman, McMillan & Talwar 2021", "Theorem 3.2, evaluated exactly",
        "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4",
    ),
    Clones.STRONGER: Reference(
        "Feldman, McMillan & Talwar 2023", "Theorem 3.1, evaluated exactly",
        "one common, non-adaptive randomiser (erratum in arXiv 2208.04591); with Ullman 2017 and "
        "Kairouz, Oh & Viswanath 2015, Theorem 3.4",
    ),
}  # fmt: skip


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
        "clones_closed": ("clones (2021, closed form) + sampling + KOV", Role.UPPER, CLOSED),
        "unamplified": (
            "no shuffle amplification: (ε₀, 0) + sampling + KOV",
            Role.UPPER,
            UNAMPLIFIED,
        ),
        "numerical_upper": (
            f"numerical upper bound (clones {variant.value})",
            Role.UPPER,
            COMPOSED_UPPER,
        ),
        "lower_2rr": ("2RR lower bound", Role.LOWER, COMPOSED_LOWER),
        "cap": ("T·εₛ, holds in any case", Role.UPPER, CAP),
        "theorem2": ("Theorem 2 (lower bound on RDP)", Role.LOWER, THEOREM_2),
        "renyi_cap": ("Rényi cap, holds in any case", Role.UPPER, RENYI_CAP),
    }[key]


ABOUT = {
    "lower_rdp": (
        "no accountant that adds RDP at these orders and converts with Lemma 1 can report less; "
        "not a lower bound on ε"
    ),
    "numerical_upper": "numerically exact composition; not proof against rounding",
    "lower_2rr": (
        "on what any accountant sound for all ε₀-LDP randomisers can report; a particular "
        "randomiser may leak less"
    ),
    "theorem2": "the larger of both directions",
    "clones_numerical": "δ₀ = δ/(2Tγ) a round, δ/2 slack; numerically exact, a few 1e-4 upwards",
    "clones_closed": "δ₀ = δ/(2Tγ) a round, δ/2 slack",
}


COMPOSED_UPPER = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "subsampled clones, composed exactly",
    "numerical, not proof against rounding",
)
COMPOSED_LOWER = Reference(_GIRGIS, "the pair of Theorem 2, composed exactly", "both directions")

MORE_THAN_ALL = "more clients would be sampled than there are (k > n)"
NONE_SAMPLED = "γn rounds to no client at all"
NOT_COMPOSED = TOO_FEW_ROUNDS
CLOSED_FAILS = (
    "the closed form needs ε₀ ≤ ln(k/(16 ln(2/δ₀))) with δ₀ = δ/(2Tγ), condition (8); outside it "
    "nothing but (ε₀, 0) is known from it: see “no shuffle amplification”"
)


def guarantee(
    epsilon: float, delta: float, rounds: float, source: str, local: float, order: int | None
) -> Guarantee:
    """Return the guarantee at the sliders' values."""
    at = f", order λ* = {order}" if order is not None else ""
    return Guarantee(
        unit="one client's record, over all rounds",
        replace_one=(
            f"({epsilon:.4g}, {small(delta)})-DP after {rounds:,.0f} rounds when one record is "
            f"replaced by any other ({source}{at})"
        ),
        add_remove=(
            "not covered: n is fixed and public, and exactly k of n clients are sampled; adding or "
            "removing a record would change the sampling itself"
        ),
        trust=(
            "Clients trust the shuffler to hide who sent what and to keep secret who was sampled. "
            "The server, and everyone it tells, sees the shuffled messages of every round. Against "
            f"the shuffler itself each message has only its own ε₀ = {local:.4g}."
        ),
        sentence=guesses(
            epsilon, delta, "which of two records a client holds", "after seeing everything"
        ),
        references=(THEOREM_3, THEOREM_1),
    )


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
    """Return what the statements about ε need, and whether they have it."""
    limit = math.log(sampled / (16 * math.log(2 / per_round)))
    return (
        sampling(sampled, clients),
        Condition(
            "Clones, closed form: ε₀ ≤ ln(k/(16 ln(2/δ₀))), condition (8) with the per-round δ₀",
            local <= limit,
            f"ε₀ = {local:.4g}, limit {limit:.4g} at k = {sampled:,.0f}, δ₀ = {small(per_round)}",
        ),
        Condition(
            "The best order lies inside the search (a larger λₘₐₓ might give a smaller ε)",
            not at_edge,
            f"λ* = {order}, λₘₐₓ = {lam_max}",
        ),
        Condition(
            "Theorem 1 alone says more than what holds in any case, ε ≤ T·εₛ",
            alone < cap,
            f"Theorem 3 without caps {alone:.4g}, cap {cap:.4g}",
        ),
        *ASSUMED,
    )


def sampling(sampled: float, clients: float) -> Condition:
    """Return the condition that no more clients are sampled than there are."""
    return Condition(
        "No more clients are sampled than there are, k ≤ n",
        bool(1 <= sampled <= clients),
        f"γ = {sampled:,.0f}/{clients:,.0f} = {sampled / clients:.3g}",
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
