"""The users' shares of noise, added up, from a seed: for the screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.privacy.heatmaps.shuffle_model.plan import ShufflePlan
from explorer.privacy.noise.demonstration import (
    IntArray,
    demonstration_laplace,
    demonstration_uniform,
    discrete_laplace_quantiles,
)


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """What the Pólya shares of so many users add up to, as a function of level and cells.

    Discrete Laplace noise of scale B/ε_i where as many users take part as are guaranteed to: the
    same quantiles as the central pyramid's Laplace noise of that seed, so that their maps differ by
    B alone. Of other numbers the difference of two negative binomial variables of shape
    users/n_min, which is what the protocol then adds.

    Attributes
    ----------
    plan : ShufflePlan
    users : int
        Who add their share, ≥ 1.
    seed : int
    mechanism : str
        Names the stream of noise.
    """

    plan: ShufflePlan
    users: int
    seed: int
    mechanism: str = "pyramid"

    def __call__(self, level: int, codes: IntArray) -> IntArray:
        """Return the noise of these Morton codes of a level that is sent, in 1/B users."""
        scale = self.plan.scale(level)
        if self.users == self.plan.guaranteed:
            unit = demonstration_laplace(self.seed, self.mechanism, level, codes)
            return discrete_laplace_quantiles(unit, float(scale)).astype(np.int64)
        # The first import takes a second.
        from scipy.stats import nbinom

        shape, stop = self.users / self.plan.guaranteed, -np.expm1(-float(1 / scale))
        plus, minus = (
            nbinom.ppf(demonstration_uniform(self.seed, name, level, codes), shape, stop)
            for name in (f"{self.mechanism}/plus", f"{self.mechanism}/minus")
        )
        return np.asarray((plus - minus).astype(np.int64))
