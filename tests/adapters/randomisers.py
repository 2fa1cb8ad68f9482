"""Adapters to ``explorer.privacy.randomisers``: shuffled messages of a known randomiser."""

from __future__ import annotations

import numpy as np

from explorer.privacy.core.bound import Role
from explorer.privacy.randomisers import blanket, tables
from explorer.privacy.randomisers.crowd import crowd_delta
from tests.vectors import Certified


def _bounded(law, eps, n):
    # Counts are listed for few messages, else the bound is some 1e-5 above.
    return Certified(crowd_delta(law, eps, n), Role.UPPER, 1e-10 if n < 100 else 1e-4)


ADAPTERS = {
    "shuffled_table_exact_delta": lambda table, i, j, eps, n: tables.exact_delta(
        table, i, j, eps, n
    ),
    "blanket_delta": lambda table, i, j, eps, n: _bounded(
        tables.table_blanket(np.array(table), i, j), eps, n
    ),
    "variation_ratio_delta": lambda table, i, j, eps, n: _bounded(
        tables.table_variation_ratio(np.array(table), i, j), eps, n
    ),
    "krr_blanket_delta": lambda outcomes, eps, eps0, n: _bounded(
        blanket.k_ary(eps0, outcomes), eps, n
    ),
    "two_level_blanket_delta": lambda theta, eps0, eps, n: _bounded(
        blanket.two_level(eps0, theta), eps, n
    ),
    "unary_blanket_delta": lambda p, q, eps, n: _bounded(blanket.unary(p, q), eps, n),
}
