"""The better group step, and the limit beside it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.hops import SortedGroup
from tests import vectors

GOLDEN = vectors.read(Path(__file__).parents[2] / "data" / "vectors" / "metric-beyond.json")
PROVED = ("group_alpha0_sorted", "group_alpha0_plain", "group_alpha0_envelope", "product_alpha0")

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


@pytest.mark.parametrize("near", [0.0, 0.1])
@pytest.mark.parametrize("m", [501, 550, 15850])
@pytest.mark.parametrize("alpha", [0.01, 25.0, 800.0])
def test_what_follows_a_slider_is_safe_and_close(alpha, m, near):
    at = alpha, 1e-12, m, 1e5, near, 1.0, Clones.STRONGER
    quick = float(um.group_alpha0(*at, in_order=True, quick=True))
    exact = float(um.group_alpha0(*at, in_order=True))
    assert 0.96 * exact < quick <= exact * (1 + 1e-3)
    assert um.sorted_delta(alpha, quick, *at[2:]) <= 1e-12
    back = float(um.group_alpha(exact, *at[1:], in_order=True, quick=True))
    assert back >= alpha * (1 - 1e-3)


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


@pytest.mark.full
def test_small_weight_is_not_multiplied_by_what_a_wide_panel_grows():
    # Against the integral on 1000 equal panels, of one excess each: 9.3 more of ln δ′ once.
    for at in ((60.0, 1e-4, 20, 20_000, 0.0), (240.5, 1e-12, 1000, 10**5, 0.1)):
        alpha, delta, m, n, near = at
        group = SortedGroup(m, n, near, 1.0, Clones.STRONGER)
        found = float(um.best_alpha0(*at))
        edges = np.unique(np.append(np.linspace(0, 1, 1001), near))
        left, _ = group._log_rates(alpha, found, edges)
        rises = np.diff(np.exp(alpha * (edges - 1)))
        whole = math.log(float(np.sum(np.exp(left) * rises))) + alpha
        assert whole <= math.log(delta) < whole + 0.3


@pytest.mark.parametrize("alpha0", [26.0, 60.0, 400.0])
def test_side_by_side_where_no_answer_is_a_clone_is_plain_composition(alpha0):
    assert um.product_alpha(alpha0, 0.1, 2, 200) == 2 * alpha0
    assert um.product_alpha0(2 * alpha0, 0.1, 2, 200) >= alpha0 * (1 - 1e-12)


@pytest.mark.full
@pytest.mark.parametrize(
    "vector", [v for v in GOLDEN if v["function"] in PROVED], ids=lambda v: v["function"]
)
def test_the_best_is_no_less_than_any_golden_value_and_not_refuted(vector):
    given = vector["arguments"]
    at = (*(given[key] for key in ("alpha", "delta", "m", "n")), given.get("dmin", 1.0))
    found = float(um.best_alpha0(*at))
    assert found >= vector["expected"] * (1 - vector["rtol"])
    assert found < um.refuted_alpha0(*at)


@pytest.mark.full
@pytest.mark.parametrize("m", range(4))
@pytest.mark.parametrize("n", range(3))
def test_the_best_is_the_best_and_its_own_inverse(m, n):
    # Every two of m, n, the nearest items and α meet.
    near, (alpha, delta) = (m + n) % 3, ((0.3, 1e-9), (4.0, 1e-6), (60.0, 1e-4))[(m + 2 * n) % 3]
    m = (1, 2, 20, 300)[m]
    at = delta, m, (1, 50, 20_000)[n], (0.0, 0.1, 1.0)[near]
    found = float(um.best_alpha0(alpha, *at, side_by_side=False))
    assert found >= um.group_alpha0(alpha, *at) >= alpha / m * (1 - 1e-12)
    assert found <= um.refuted_alpha0(alpha, *at) * (1 + 1e-9)
    # Coarse sums are rounded by a thousandth either way.
    back = float(um.best_alpha(found, *at, side_by_side=False))
    assert back <= alpha * (1 + 1e-9) or back == pytest.approx(alpha, rel=0.02)
    assert um.best_alpha(found * 1.02, *at, side_by_side=False) >= back
    for allowed in (found, found / 2):
        assert um.best_alpha(allowed, *at, side_by_side=False) <= min(m * allowed, 800) or m == 1


@pytest.mark.parametrize("n", [1, 20, 200])
@pytest.mark.parametrize("delta", [1e-20, 1e-6])
@pytest.mark.parametrize("alpha", [0.5, 5.0, 40.0])
def test_what_a_calibration_will_find_is_known_beforehand(alpha, delta, n):
    """So that it is summed once: a search ends where ln δ′ is at most 0.08 below the target."""
    at = 20.0, float(n), 0.15, 1.0, Clones.STRONGER
    group = SortedGroup(*at)
    alpha0 = math.exp(group.rough_log_alpha0(alpha, math.log(delta)))
    found = group.log_delta(alpha, alpha0)[0]
    assert group.guess_bound(alpha, alpha0) == pytest.approx(found, abs=0.05)


@pytest.mark.parametrize(
    ("at", "exact"),
    # P(T) − e^ε·P(−T) of all T, summed with 60 digits.
    [
        # x hardly ever answers −: 1 − tanh(α₀d/2) has seven digits left.
        ((30.908177342153742, 38.46549014579912, 1, 4, 0.4643646424409569, 1), 0.9700835951231),
        # The law's transform is above e^−45 again beyond its zero.
        ((3.8821473418976235e-05, 0.13562662528653777, 8, 2, 1.0, 1), 0.011499538982116462),
    ],
)
def test_nothing_is_refuted_that_holds(at, exact):
    assert exact * (1 - 1e-7) < um.refuting_delta(*at) <= exact


def test_side_by_side_next_to_the_largest_loss_is_rounded_up():
    # All sums of two losses, with 50 digits.
    found = um.product_of_hops_delta(2, 37.46351290524046, 2, 1.0, 0.9999999853468398)
    assert 6.6158504859040871e-8 <= found < 6.61586e-8
