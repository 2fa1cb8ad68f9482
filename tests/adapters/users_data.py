"""Data of users, released and compared: names of the golden vectors → our functions."""

from __future__ import annotations

import numpy as np

from explorer.privacy import user_metric as um


def _dem_points(a, b, norm):
    gap = np.array(a)[:, None, :] - np.array(b)
    return um.transport_plan(np.linalg.norm(gap, ord=norm, axis=-1)).distance


def _integer_table(alpha0, distances, bits, half):
    table = um.integer_table(alpha0, distances, bits, half=half)
    return [[list(row) for row in table.weights], table.level]


def _linear_release(values, lip, alpha, n, gamma, direction):
    answer = um.linear_query(values, np.ones(len(values)))
    return answer + um.k_norm_scale(alpha, lip, n) * gamma * np.array(direction)


ADAPTERS = {
    "dem_points": _dem_points,
    "test_power": um.power_bound,
    "several_users": um.several_users,
    "integer_table": _integer_table,
    "table_draw": um.table_draw,
    "reduction_draws": lambda items, picks: np.asarray(items)[picks],
    "debiased_histogram": um.debiased_histogram,
    "linear_release": _linear_release,
}
