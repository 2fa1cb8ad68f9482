"""What several tests share: scripted randomness, exact laws of the running code, audits."""

from __future__ import annotations

import math

import numpy as np

from explorer.privacy.coordinates.sampling import Channel, draw_reports


class Scripted:
    """A generator whose next normals and uniforms are given."""

    def __init__(self, g, u):
        self.g, self.u = np.asarray(g, float), u

    def standard_normal(self, shape):
        return np.broadcast_to(self.g, shape).copy()

    def random(self, shape):
        return np.full(shape, self.u)


def direction_probability(channel: Channel, x, g) -> float:
    """P over u that the sampler's report of x points along g, not against it, given normals g.

    The sampler compares u with one threshold, which bisection over u reads off the running code.
    """

    def along(u):
        report = draw_reports([x], [channel], Scripted(g, u))[0]
        return bool(report[channel.coordinates] @ np.asarray(g) > 0.0)

    at_zero = along(0.0)
    low, high = 0.0, 1.0
    if along(math.nextafter(1.0, 0.0)) == at_zero:
        return float(at_zero)
    for _ in range(53):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if along(middle) == at_zero else (low, middle)
    return high if at_zero else 1.0 - high


def density(channel: Channel, x, z) -> float:
    """Density of the sampler's report at direction z, relative to the uniform law on the sphere."""
    z = np.asarray(z, float)
    return direction_probability(channel, x, z) + 1.0 - direction_probability(channel, x, -z)
