"""Adapters to the Rényi levels of clones and to ternary divergences."""

from __future__ import annotations

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.divergences import conversion_penalty
from tests.vectors import Argmin

_ALL = 10_000_000
"""Every loss is listed, none gathered."""


def _level(lam, eps0, k, n, variant):
    return rdp.clone_rdp(lam, eps0, k, n, str(variant), _ALL)


def _epsilon(eps0, k, n, T, delta, lam_max, variant):
    found = rdp.clone_rdp_epsilon(eps0, k, n, T, delta, lam_max, str(variant), _ALL)

    def objective(lam):
        return T * _level(lam, eps0, k, n, variant) + conversion_penalty(lam, delta)

    return {"value": found.epsilon, "lam": Argmin(int(found.order), objective)}


ADAPTERS = {
    "rdp_subsampled_clones": _level,
    "eps_from_rdp_clones": _epsilon,
    "ternary_2rr": rdp.ternary_2rr,
    "ternary_3rr": rdp.ternary_3rr,
    "ternary_theorem4": rdp.theorem4,
    "ternary_theorem6": rdp.theorem6,
    "ternary_alpha2_tight": lambda eps0, k: {
        "special": rdp.sharp_alike(eps0, k),
        "mixed": rdp.sharp_mixed(eps0, k),
    },
    "lemma2_rdp": lambda lam, gamma, zeta_alpha: rdp.lemma2_rdp(lam, gamma, zeta_alpha),
}
