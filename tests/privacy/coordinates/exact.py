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

    The sampler compares u with one threshold, which is read off the running code: seven times 256
    places of u at once tell its last digit.
    """

    def along(u):
        reports = draw_reports(np.tile(x, (len(u), 1)), [channel], Scripted(g, u))
        return reports[:, channel.coordinates] @ np.asarray(g) > 0.0

    low, high = 0.0, math.nextafter(1.0, 0.0)
    at_zero, at_one = along(np.array([low, high]))
    if at_zero == at_one:
        return float(at_zero)
    for _ in range(7):
        places = np.linspace(low, high, 257)
        beyond = int(np.argmax(along(places) != at_zero))
        low, high = places[beyond - 1], places[beyond]
    return high if at_zero else 1.0 - high


def density(channel: Channel, x, z) -> float:
    """Density of the sampler's report at direction z, relative to the uniform law on the sphere."""
    z = np.asarray(z, float)
    return direction_probability(channel, x, z) + 1.0 - direction_probability(channel, x, -z)
