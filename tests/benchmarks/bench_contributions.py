"""What the rule of contributions costs: `python -m tests.benchmarks.bench_contributions`.

6.4 million check-ins of 107,000 users, as many as the largest public file has: places a user from a
heavy-tailed law, visits a place likewise. Prints the best of a few runs of the counting pass at
Δ = 256 for every rule, and its ratio to the default's.
"""

from __future__ import annotations

import time

import numpy as np

from explorer.privacy.heatmaps import aggregate, contribution_sizes
from explorer.privacy.heatmaps.contributions import WEIGHTS, Contribution

ROWS, USERS, LEVEL, RUNS = 6_400_000, 107_000, 8, 5
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


def main() -> None:
    """Print a line a rule."""
    user, lat, lon = points()
    weight, box = np.ones(len(user)), (0.0, 0.0, 1.0, 1.0)
    base = 0.0
    for weights in WEIGHTS:
        for cap in CAPS:
            rule = Contribution(weights, cap)
            spent = best(lambda r=rule: aggregate(user, lat, lon, weight, box, LEVEL, r))
            base = base or spent
            print(f"{weights:9} cap {cap!s:5} {1e3 * spent:7.0f} ms  {spent / base:4.2f} ×")
    spent = best(lambda: contribution_sizes(user, lat, lon, box, LEVEL))
    print(f"histogram           {1e3 * spent:7.0f} ms  {spent / base:4.2f} ×")


if __name__ == "__main__":
    main()
