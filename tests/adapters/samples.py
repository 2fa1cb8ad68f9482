"""Adapters for the vectors of samples of users."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from explorer.checkins.sampling import below, hash_ids, sample_key, smallest
from explorer.privacy.heatmaps import sampling_guarantee


def _chosen(ids: list[str], places: Any) -> list[str]:
    return sorted(ids[i] for i in places)


def sample_bottom_k(ids: list[str], users: int, seed: int) -> dict[str, Any]:
    hashes = hash_ids(ids, sample_key(seed))
    return {
        "chosen": _chosen(ids, smallest(hashes, users)),
        "hash_of_first": "".join(f"{half:016x}" for half in hashes[0].tolist()),
    }


def sample_poisson(ids: list[str], rate: str, seed: int) -> dict[str, Any]:
    return {"chosen": _chosen(ids, below(hash_ids(ids, sample_key(seed)), Fraction(rate)))}


def guarantee(
    scheme: Any, key: Any, adjacency: Any, eps: float, rate: float = 1.0
) -> dict[str, Any]:
    return {"eps": float(sampling_guarantee(eps, scheme, key, adjacency, rate).value)}


ADAPTERS = {
    "sample_bottom_k": sample_bottom_k,
    "sample_poisson": sample_poisson,
    "sampling_guarantee": guarantee,
}
