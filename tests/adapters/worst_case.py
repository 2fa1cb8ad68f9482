"""Adapters to ``explorer.privacy.shuffle_rdp.worst_case``: the worst case of sampled rounds."""

from __future__ import annotations

from explorer.privacy import shuffle_rdp
from explorer.privacy.core.bound import Role
from tests.vectors import Certified


def _composed(eps0, k, n, T, delta):
    return Certified(float(shuffle_rdp.worst_case_epsilon(eps0, k, n, T, delta).value), Role.UPPER)


ADAPTERS = {
    "tight_composition_delta": shuffle_rdp.composition_delta,
    "tight_sampled_delta": shuffle_rdp.largest_delta,
    "tight_corner_rdp": lambda lam, eps0, k, n: shuffle_rdp.corner_rdp(eps0, k, n, [lam])[0],
    "tight_sampled_eps": lambda eps0, k, n, delta: _composed(eps0, k, n, 1, delta),
    "tight_composed_eps": _composed,
}
