"""Adapters to ``explorer.privacy.odds``."""

from __future__ import annotations

from explorer.privacy import odds
from explorer.privacy.shuffle_rdp import numerical
from tests.vectors import Certified


def _clones(eps0, n, variant):
    distance = odds.clone_total_variation(eps0, n, str(variant)).value
    return {"tv": distance, "right": odds.guess_from_total_variation(distance)}


def _composed_clones(eps0, k, n, T, variant):
    found = numerical.composed_clone_total_variation(eps0, k, n, T, str(variant))
    return {"tv": Certified(float(found.value), found.role, 1e-4)}


ADAPTERS = {
    "guess_from_eps_delta": odds.guess_from_eps_delta,
    "clone_total_variation": _clones,
    "composed_clone_total_variation": _composed_clones,
    "count_total_variation": lambda n, q: odds.count_total_variation(n, q).value,
    "two_bin_total_variation": lambda n, q: odds.two_bin_total_variation(n, q).value,
}
