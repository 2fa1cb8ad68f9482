"""What the rule of contributions costs: `python -m tests.benchmarks contributions`.

6.4 million check-ins of 107,000 users, as many as the largest public file has: places a user from a
heavy-tailed law, visits a place likewise. The best of a few runs of the counting pass at
Δ = 256 for every rule, as a ratio to the default's.
"""

from __future__ import annotations

import time

import numpy as np

from explorer.privacy.heatmaps import aggregate, contribution_sizes
from explorer.privacy.heatmaps.counts import WEIGHTS, Contribution
from tests.benchmarks.table import Row, sized

ROWS, USERS, LEVEL, RUNS = sized((6_400_000, 107_000, 8, 5), (20_000, 500, 6, 1))
CAPS = (None, 100, 10)


def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return user, latitude and longitude of every check-in, as `CheckinData.points` has them."""
    rng = np.random.default_rng(1)
    share = rng.pareto(1.2, USERS) + 0.1
    user = np.sort(rng.choice(USERS, ROWS, p=share / share.sum())).astype(np.uint32)
    place = (rng.pareto(1.0, ROWS) * 3).astype(np.int64) + user.astype(np.int64) * 1000
    home = rng.random((USERS, 2)).cumsum(axis=0) % 1
    spread = np.stack([np.sin(place * 12.9898 + i) * 43758.5453 % 1 for i in range(2)])
    at = (home[user].T + 0.05 * spread) % 1
    return user, at[0], at[1]


def best(work) -> float:
    """Return the least seconds of a few runs."""
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def run() -> list[Row]:
    """Measure every rule, and the histogram of contributions, against the default's pass."""
    user, lat, lon = points()
    weight, box = np.ones(len(user)), (0.0, 0.0, 1.0, 1.0)
    rows: list[Row] = []
    base = 0.0
    for weights in WEIGHTS:
        for cap in CAPS:
            rule = Contribution(weights, cap)
            spent = best(lambda r=rule: aggregate(user, lat, lon, weight, box, LEVEL, r))
            base = base or spent
            note = f"{1e3 * spent:.0f} ms"
            rows.append(
                Row(f"{weights} cap {cap}, to the default", spent / base, None, "×", None, note)
            )
    spent = best(lambda: contribution_sizes(user, lat, lon, box, LEVEL))
    rows.append(Row("histogram, to the default", spent / base, None, "×", None))
    return rows
