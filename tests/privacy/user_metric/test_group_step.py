"""The better group step, and the limit beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.shuffling.clones import Clones
from explorer.privacy.user_metric.hops.sorted_hops import SortedGroup

# Specification, "Better than e^α": α, δ, m, n; exact hops, increasing order, refuted from.
ROWS = (
    (25, 1e-12, 1e3, 1e5, 3.8489, 4.359, 4.413),
    (25, 1e-12, 1e3, 1e3, 1.3456, 1.612, 1.745),
    (5, 1e-12, 1e3, 1e5, 2.2558, 2.392, 2.474),
    (25, 1e-12, 1e3, 1, 0.08067, 0.0822, 0.0952),
)


@pytest.mark.parametrize("row", ROWS)
def test_the_table_of_the_specification(row):
    *target, plain, sorted_, refuted = row
    found = float(um.group_alpha0(*target, 0.0, 1.0, Clones.STRONGER, in_order=True))
    limit = float(um.refuted_alpha0(*target))
    assert um.group_alpha0(*target) == pytest.approx(plain, rel=1e-3)
    assert sorted_ * (1 - 1e-9) <= found < limit <= refuted
    # Both are what they say at these very numbers.
    alpha, delta, m, n = target
    assert um.sorted_delta(alpha, found, m, n, panels=40) <= delta
    assert um.refuted_delta(alpha, limit, m, n) > delta


def test_closed_forms_lie_above_the_sums():
    for m, n, alpha, a0 in ((1e3, 1e3, 25.0, 1.6), (1e3, 1e5, 25.0, 4.3), (50, 2e4, 10.0, 3.0)):
        group = SortedGroup(m, n, 0.0, 1.0, Clones.STRONGER)
        for x in (0.0, 0.2, 0.5):
            closed = float(group._log_rates_closed(alpha, a0, np.array([x]))[0])
            exact = float(group._log_rates(alpha, a0, np.array([x, x]))[0][0])
            assert math.isfinite(closed)
            assert exact <= closed < exact + 0.2


@pytest.mark.parametrize("near", [0.0, 0.3])
def test_never_more_than_all_hops_at_the_dearest_price(near):
    for a0 in (0.5, 2.0, 4.0):
        for alpha in (0.5, 4.0, 12.0):
            plain = um.group_delta(alpha, a0, 20, 500, near, 1.0, Clones.STRONGER)
            assert um.sorted_delta(alpha, a0, 20, 500, near, panels=20) <= plain
            assert um.refuted_delta(alpha, a0, 20, 500, near) <= plain


def test_the_diameter_is_how_far_data_sets_can_be_apart():
    """δ′ is for all ways, up to e^αD: not for those up to 1 only."""
    assert um.group_delta(1.0, 0.3, 20, 500, diameter=2.0) > um.group_delta(
        1.0, 0.3, 20, 500
    ) * math.expm1(2.0) / math.expm1(1.0)


@pytest.mark.parametrize("alpha0", [26.0, 60.0, 400.0])
def test_side_by_side_where_no_answer_is_a_clone_is_plain_composition(alpha0):
    assert um.product_alpha(alpha0, 0.1, 2, 200) == 2 * alpha0
    assert um.product_alpha0(2 * alpha0, 0.1, 2, 200) >= alpha0 * (1 - 1e-12)
