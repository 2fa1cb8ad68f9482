"""The small domain: its prior, its channel, and every level by brute force."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.coordinate_learnt.parameters import EXAMPLE_2, M_MEAN


@dataclass(frozen=True)
class Domain:
    """Bits, their law, and the law of one report of each point.

    Attributes
    ----------
    d : int
    prior : ndarray of shape (2^d,)
        The last bit runs fastest.
    channel : ndarray of shape (2^d, outputs)
        P(y | x) of one report.
    copies : int
        How often the point is reported.
    """

    d: int
    prior: FloatArray
    channel: FloatArray
    copies: int

    @property
    def sizes(self) -> list[int]:
        """Values of each coordinate."""
        return [2] * self.d

    @property
    def composed(self) -> FloatArray:
        """P(y | x) of all reports together."""
        return co.composed_channel(self.channel, self.copies)

    def only_value(self, place: int) -> int | None:
        """Return the one value that a coordinate has under the prior; None if both are possible."""
        masses = np.moveaxis(self.prior.reshape(self.sizes), place, 0).reshape(2, -1).sum(axis=1)
        possible = np.flatnonzero(masses > 0.0)
        return int(possible[0]) if possible.size == 1 else None

    def names(self) -> list[str]:
        """Return the points as bits: ``01``."""
        return [format(x, f"0{self.d}b") for x in range(2**self.d)]


def joint(p1: float, p2: float, rho: float) -> FloatArray:
    """Return the law of two bits (00, 01, 10, 11) with a share of the dependence possible."""
    most = min(p1, p2) - p1 * p2
    least = p1 * p2 - max(0.0, p1 + p2 - 1.0)
    both = p1 * p2 + (rho * most if rho >= 0.0 else rho * least)
    law = np.array([1.0 - p1 - p2 + both, p2 - both, p1 - both, both])
    # What the marginals forbid is exactly impossible, not as likely as a rounding error.
    law[law < 1e-15] = 0.0
    result: FloatArray = law / law.sum()
    return result


def domain_of(values: Mapping[str, Any]) -> Domain:
    """Return the domain that the parameters describe."""
    prior = joint(float(values["p1"]), float(values["p2"]), float(values["rho"]))
    copies = int(values["copies"])
    if values["mechanism"] == EXAMPLE_2:
        return Domain(3, np.repeat(prior, 2) / 2.0, co.example2_channel(), copies)
    if values["mechanism"] == M_MEAN:
        # Directions fall into the chambers of the corners with equal chances for two bits, so
        # likelihoods up to a factor are the law up to their sum.
        weights = np.exp(co.corner_log_likelihoods([float(values["c1"]), float(values["c2"])]))
        return Domain(2, prior, weights / weights.sum(axis=1, keepdims=True), copies)
    one = np.array([float(values[key]) for key in ("m00", "m01", "m10", "m11")])
    return Domain(2, prior, np.stack([1.0 - one, one], axis=1), copies)


@dataclass(frozen=True)
class Levels:
    """The four notions' exact levels, and what is certified from two of them.

    Attributes
    ----------
    ldp, bdp : float
    cdp, bcdp, coupling : ndarray of shape (d,)
    certified, part1, part2 : ndarray of shape (d,)
        From cdp, ldp and the coupling: the sharpened Proposition 4 and its two parts.
    """

    ldp: float
    bdp: float
    cdp: FloatArray
    bcdp: FloatArray
    coupling: FloatArray
    certified: FloatArray
    part1: FloatArray
    part2: FloatArray


def levels_of(domain: Domain) -> Levels:
    """Compute all levels of all reports together by brute force."""
    channel = domain.composed
    ldp = co.ldp_level(channel)
    cdp = co.cdp_levels(domain.sizes, channel)
    q = co.coupling(domain.sizes, domain.prior)
    return Levels(
        ldp,
        co.bdp_level(domain.prior, channel),
        cdp,
        co.bcdp_levels(domain.sizes, domain.prior, channel),
        q,
        co.best_certificate(cdp, q, ldp),
        co.bcdp_from_cdp(cdp, q),
        co.bcdp_from_cdp_and_ldp(cdp, q, ldp),
    )


def easiest_pair(channel: FloatArray) -> tuple[int, int]:
    """Return the two points whose reports differ most in total variation, the first such."""
    distance = 0.5 * np.abs(channel[:, None, :] - channel[None, :, :]).sum(axis=2)
    first, second = np.unravel_index(int(np.argmax(distance)), distance.shape)
    return int(first), int(second)
