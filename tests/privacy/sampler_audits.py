"""What the audits of samplers share: scripted randomness and split samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from explorer.privacy.audit import clopper_pearson, epsilon_lower_bound, likeliest_events


class Scripted:
    """A generator whose uniforms and integers are given; integers one call after the other."""

    def __init__(self, uniform=0.0, integers: Sequence[int] = ()) -> None:
        self.uniform, self.left = uniform, list(integers)

    def random(self, shape) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.uniform, float), shape).copy()

    def integers(self, low, high, size) -> np.ndarray:
        value = self.left.pop(0)
        assert low <= value < high
        return np.full(size, value)


def steps_of_uniform(outcome: Callable[[float], int]) -> list[tuple[float, float, int]]:
    """Intervals [low, high) of u in [0, 1) on which a step function of u is constant.

    Found by bisection to the last digit; complete if no step is shorter than 2⁻¹⁰.
    """
    grid = np.linspace(0.0, 1.0, 1025)
    grid[-1] = math.nextafter(1.0, 0.0)
    values = [outcome(float(u)) for u in grid]
    cuts, labels = [0.0], [values[0]]
    for left, right, before, after in zip(
        grid[:-1], grid[1:], values[:-1], values[1:], strict=True
    ):
        if before == after:
            continue
        low, high = float(left), float(right)
        while math.nextafter(low, 1.0) < high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if outcome(middle) == before else (low, middle)
        assert outcome(high) == after
        cuts.append(high)
        labels.append(after)
    return list(zip(cuts, [*cuts[1:], 1.0], labels, strict=True))


def split_audit(
    run: Callable[[int, int], np.ndarray], outcomes: int, runs: int, delta: float = 0.0
) -> float:
    """A lower bound on ε, too high with probability at most 1e-6.

    `run(side, half)` gives that many coded outcomes, in [0, outcomes), of one of two neighbours.
    Events are found on the first half of the runs and judged on the second.
    """
    halves = []
    for half in (0, 1):
        counts = []
        for side in (0, 1):
            coded = run(side, half)
            assert coded.shape == (runs,)
            counts.append(np.bincount(coded, minlength=outcomes))
        halves.append(counts)
    events = np.concatenate([likeliest_events(*halves[0]), likeliest_events(*halves[0][::-1])])
    return epsilon_lower_bound(
        events @ halves[1][0], events @ halves[1][1], runs, delta=delta
    ).epsilon


def loss_lower_bound(hits: int, trials: int, others: int, other_trials: int, risk: float) -> float:
    """A lower bound on log(P(E)/P'(E)) that is too high with probability at most `risk`."""
    low = float(clopper_pearson(hits, trials, risk / 2)[0])
    high = float(clopper_pearson(others, other_trials, risk / 2)[1])
    return math.log(low / high) if low > 0.0 else -math.inf
