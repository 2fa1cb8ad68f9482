"""The numbers of this paper as they cross to studies: with their role, validity and source.

Arguments and domains are those of the functions they wrap; shapes broadcast. Numerically exact
composition is already a `Bound`: `clone_epsilon` and `randomised_response_epsilon`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.privacy.core.composition import kov_epsilon, kov_exact_epsilon
from explorer.privacy.core.subsampling import subsampled_epsilon
from explorer.privacy.shuffle_rdp.accountant import (
    Shuffling,
    lower_rdp_epsilon,
    pipeline_epsilon,
    pipeline_holds,
    upper_epsilon,
)
from explorer.privacy.shuffle_rdp.convergence import convergence_bound
from explorer.privacy.shuffle_rdp.lower import Direction, lower_rdp
from explorer.privacy.shuffle_rdp.one_round import randomised_response_round_epsilon
from explorer.privacy.shuffle_rdp.upper import upper_rdp
from explorer.privacy.shuffling.clones import (
    Clones,
    clones_closed_form,
    clones_condition,
    shuffled_epsilon,
)

PAPER = "Girgis, Data & Diggavi, Rényi DP of the subsampled shuffle model"
CLONES_2021 = "Feldman, McMillan & Talwar 2021"
CLONES_2023 = "Feldman, McMillan & Talwar 2023"
KOV = "Kairouz, Oh & Viswanath 2015"

CONDITION = "ε₀ exceeds ln(k/(16 ln(2/δ₀))): the closed form is proved below it only"


def closed_clones(eps0: ArrayLike, k: ArrayLike, delta: ArrayLike) -> Bound:
    """Return the clones' closed form for ε of one shuffle; not valid beyond its condition."""
    value = np.asarray(clones_closed_form(eps0, k, delta), dtype=float)
    holds = np.broadcast_to(clones_condition(eps0, k, delta), value.shape)
    where = Reference(CLONES_2021, "Theorem 3.1", "condition with k and the round's own δ₀")
    return Bound(value, Role.UPPER, where, holds, "" if holds.all() else CONDITION)


def exact_clones(
    eps0: ArrayLike, k: ArrayLike, delta: ArrayLike, variant: Clones | str = Clones.PUBLISHED
) -> Bound:
    """Return the exact ε of one shuffle by clones: 2021 bounds any ε₀-LDP randomisers."""
    which = Clones(variant)
    where = (
        Reference(CLONES_2021, "Theorem 3.2", "evaluated exactly")
        if which is Clones.PUBLISHED
        else Reference(CLONES_2023, "Theorem 3.1", "one common, non-adaptive randomiser")
    )
    return Bound(shuffled_epsilon(eps0, k, delta, which), Role.UPPER, where)


def response_round(eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Bound:
    """Return ε of one round of randomised response: no statement about all can be smaller."""
    return Bound(
        randomised_response_round_epsilon(eps0, k, n, delta),
        Role.LOWER,
        Reference(PAPER, "the pair of Theorem 2", "larger of both directions (errata A1, A2)"),
    )


def theorem1(lam: ArrayLike, eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> Bound:
    """Return Theorem 1's bound on the Rényi level at an integer order."""
    return Bound(upper_rdp(lam, eps0, k, n), Role.UPPER, Reference(PAPER, "Theorem 1"))


def theorem2(
    lam: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Bound:
    """Return the Rényi level of randomised response, a lower bound for any statement about all."""
    where = Reference(PAPER, "Theorem 2", "both directions, the larger (errata A2)")
    return Bound(lower_rdp(lam, eps0, k, n, direction), Role.LOWER, where)


def theorem3(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    *,
    capped: bool = True,
) -> Bound:
    """Return Theorem 3's ε of T rounds; truncated where a larger order might give less."""
    found = upper_epsilon(eps0, k, n, T, delta, lam_max, capped=capped)
    value = np.asarray(found.epsilon, dtype=float)
    edge = np.broadcast_to(np.asarray(found.at_edge, dtype=bool), value.shape)
    where = Reference(PAPER, "Theorem 3", "with caps that always hold (errata A6)" * capped)
    return Bound(value, Role.UPPER, where, truncated=edge)


def lower_curve(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
) -> Bound:
    """Return Lemma 1 of the lower bound on the RDP: an estimate, **not** a lower bound on ε."""
    found = lower_rdp_epsilon(eps0, k, n, T, delta, lam_max)
    where = Reference(PAPER, "Lemma 1 of Theorem 2", "no lower bound on ε (errata A3)")
    return Bound(found.epsilon, Role.ESTIMATE, where)


def pipeline(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    shuffle: Shuffling | str = Shuffling.NUMERIC,
    share: float = 0.5,
) -> Bound:
    """Return clones, sampling and strong composition in a row; checked closed forms only."""
    how = Shuffling(shuffle)
    value = np.asarray(pipeline_epsilon(eps0, k, n, T, delta, how, share), dtype=float)
    where = Reference(f"{CLONES_2021}; {KOV}", "Theorem 3.4", f"amplification: {how.value}")
    if how is not Shuffling.CLOSED_UNCHECKED:
        return Bound(value, Role.UPPER, where)
    holds = np.broadcast_to(pipeline_holds(eps0, k, n, T, delta, share), value.shape)
    return Bound(value, Role.UPPER, where, holds, "" if holds.all() else CONDITION)


def unshuffled(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    *,
    exact: bool = False,
) -> Bound:
    """Return sampled rounds composed as pure DP, with no help of the shuffler."""
    gamma = np.asarray(k, dtype=float) / np.asarray(n, dtype=float)
    per_round = subsampled_epsilon(eps0, gamma)
    compose = kov_exact_epsilon if exact else kov_epsilon
    where = Reference(KOV, "Theorem 3.3" if exact else "Theorem 3.4")
    return Bound(compose(per_round, T, delta), Role.UPPER, where)


def convergence(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Bound:
    """Return the bound on the expected excess risk after T rounds; not valid beyond 1e308."""
    value = np.asarray(convergence_bound(p, L, D, d, eps0, k, T), dtype=float)
    known = np.isfinite(value)
    where = Reference(PAPER, "Theorem 3 (2) with (36)", "constants of Remark 1 (errata B5, B6)")
    reason = "" if known.all() else "the bound is beyond 1e308: hardly anything is reported"
    return Bound(value, Role.UPPER, where, known, reason)
