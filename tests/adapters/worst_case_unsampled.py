"""Adapters to the worst case of unsampled rounds, and the enumeration of small sampled tables."""

from __future__ import annotations

import itertools
import math
from collections import Counter

from explorer.privacy.core.bound import Role
from explorer.privacy.randomisers.blanket import variation_ratio
from explorer.privacy.randomisers.crowd import crowd_delta
from explorer.privacy.shuffle_rdp import one_round, worst_case_unsampled
from tests.vectors import Certified


def _common_delta(eps, eps0, n, alpha):
    # D(α) is the bound by variation ratio: ratios of at most E, total variation αb.
    E = math.exp(eps0)
    distance = (E - 1) * (1 / (E + 2) if alpha is None else alpha)
    bound = crowd_delta(variation_ratio(distance, E, E), eps, n)
    return Certified(bound, Role.UPPER, 1e-10 if n < 100 else 1e-4)


def table_sampled_delta(eps, table, i, j, others, k):
    """Return δ(ε) of k shuffled messages of the changed client and these others, drawn in secret.

    Every draw and every outcome is listed.
    """
    laws = []
    for own in (i, j):
        clients = [table[own], *(table[other] for other in others)]
        law: Counter[tuple[int, ...]] = Counter()
        for drawn in itertools.combinations(clients, k):
            for outcome in itertools.product(range(len(table[0])), repeat=k):
                chances = (row[y] for row, y in zip(drawn, outcome, strict=True))
                law[tuple(sorted(outcome))] += math.prod(chances)
        laws.append(law)
    first, second = laws
    draws = math.comb(len(others) + 1, k)
    return sum(max(p - math.exp(eps) * second[key], 0.0) for key, p in first.items()) / draws


def _round_eps(eps0, n, delta):
    bound = worst_case_unsampled.unsampled_round_epsilon(eps0, n, delta)
    return Certified(float(bound.value), Role.UPPER, 1.5e-3)


ADAPTERS = {
    "tight_common_delta": _common_delta,
    "tight_mixed_delta": worst_case_unsampled.unsampled_mixed_delta,
    "tight_rr2_mixed_delta": lambda eps, eps0, n, m: one_round.mixed_response_delta(
        eps, eps0, n, m
    ),
    "tight_table_sampled_delta": table_sampled_delta,
    "tight_round_eps": _round_eps,
}
