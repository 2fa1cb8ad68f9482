"""Public data, Figure 3, and what importing the package costs."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import explorer.privacy.coordinates as co
from explorer.studies.coordinate_mean.simulation import paper_budget, sample_copies, simulate
from tests import snapshots


def test_coupling_of_public_data_brackets_the_truth():
    # Risk of the lower bounds together: 1e-6.
    rng = np.random.default_rng(31)
    x = (sample_copies(40_000, 3, 0.3, rng) > 0).astype(int)
    found = co.coupling_of_public_data(x, 1 - 1e-6)
    np.testing.assert_allclose(found.plug_in, 0.3, atol=0.03)
    assert (found.lower <= 0.3).all()
    assert (found.lower > 0.2).all()
    assert not found.saturated.any()


def test_lower_bounds_of_public_data_fail_as_rarely_as_stated():
    # 400 samples at confidence 0.8: more than 110 failures have probability below 3e-4.
    rng, failures = np.random.default_rng(32), 0
    for _ in range(400):
        x = rng.integers(0, 2, (200, 3))
        failures += bool((co.coupling_of_public_data(x, 0.8).lower > 0).any())
    assert failures <= 110


@pytest.mark.full
def test_upper_bounds_of_public_data_hold_at_their_confidence():
    # The prior of Figure 3 has coupling 0.3 in every coordinate. 400 samples at β = 0.2: as stated
    # 80 would fail, more than 125 with probability below 1e-7; the bound is conservative.
    rng, failures, plain = np.random.default_rng(34), 0, 0
    for _ in range(400):
        x = (sample_copies(300, 3, 0.3, rng) > 0).astype(int)
        upper = co.coupling_upper(x, [2, 2, 2], 0.2)
        failures += bool((upper < 0.3).any())
        plain += bool((co.coupling_of_public_data(x).plug_in < 0.3).any())
    assert failures <= 125
    # Without the margin some coordinate is below in four samples of ten.
    assert plain > 125


@pytest.mark.full
def test_upper_bounds_fall_to_the_truth_with_more_records():
    rng = np.random.default_rng(35)
    x = (sample_copies(200_000, 3, 0.3, rng) > 0).astype(int)
    found = [co.coupling_upper(x[:n], [2, 2, 2], 0.05).max() for n in (2_000, 20_000, 200_000)]
    assert found[0] > found[1] > found[2] > 0.3
    assert found[2] < 0.32
    assert co.coupling_upper(x, [2, 2, 2], 1e-9).max() > found[2]


def test_what_upper_bounds_need():
    x = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 200)
    counts = co.coupling_upper_of_counts([[0, 1], [1, 0], [1, 1], [0, 0]], [200] * 4, [2, 2], 0.05)
    np.testing.assert_allclose(counts, co.coupling_upper(x, [2, 2], 0.05), rtol=1e-12)
    # A value that can be and was not seen: anything may follow from it.
    assert co.coupling_upper(x, [3, 2], 0.05)[0] == 1.0
    # One value: nothing is known, and 0 would be wrong.
    assert np.isnan(co.coupling_upper(np.column_stack([x[:, 0], 0 * x[:, 0]]), [2, 2], 0.05)[1])
    # So many values of the others that nothing can be compared.
    wide = np.random.default_rng(36).integers(0, 30, (500, 40))
    assert (co.coupling_upper(wide, [30] * 40, 0.05) == 1.0).all()
    with pytest.raises(ValueError, match="below the number") as error:
        co.coupling_upper(x, [1, 2], 0.05)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="cells, counts and") as error:
        co.coupling_upper_of_counts(x, [1, 2], [2, 2], 0.05)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match=r"beta: .* is outside \(0, 1\)"):
        co.coupling_upper(x, [2, 2], 0.0)


def test_pairs_and_many_features_mislead():
    rng = np.random.default_rng(33)
    bits = rng.integers(0, 2, (20_000, 2))
    whole = np.column_stack([bits, bits[:, 0] ^ bits[:, 1]])
    assert (co.coupling_of_public_data(whole).lower > 0.9).all()
    assert (co.coupling_of_public_data(whole[:, [0, 2]]).plug_in < 0.05).all()
    wide = co.coupling_of_public_data(rng.integers(0, 2, (500, 30)))
    assert (wide.plug_in > 0.99).all()
    assert wide.saturated.all()
    assert (wide.lower < 0.1).all()


def test_odd_public_data():
    constant = co.coupling_of_public_data(np.zeros((10, 2), int))
    np.testing.assert_array_equal(constant.plug_in, 0.0)
    np.testing.assert_array_equal(constant.lower, 0.0)
    assert (co.coupling_of_public_data([[0, 1], [1, 0]]).lower == 0).all()
    with pytest.raises(ValueError, match="codes must have") as error:
        co.coupling_of_public_data([[1], [2]])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match=r"codes: .* is not a") as error:
        co.coupling_of_public_data([[1.5, 1], [2, 2]])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match=r"confidence: .* is outside \(0, 1\)"):
        co.coupling_of_public_data([[1, 1], [2, 2]], 1.0)


def crossing(curve, baseline, low, high):
    for _ in range(60):
        middle = 0.5 * (low + high)
        if curve(middle) < baseline:
            low = middle
        else:
            high = middle
    return low


def test_where_the_papers_heuristic_starts_to_lose():
    # Errata coord-A2: 0.0859 without and 0.294 with projection, for data of ±1.
    plain = np.full(10, 0.2)

    def mse(q):
        return float(co.m_mean_mse(1.0, paper_budget(q), 1e4))

    def projected(q):
        return float(co.projected_mse(0.0, 1.0, paper_budget(q), 1e4))

    assert crossing(mse, float(co.m_mean_mse(1.0, plain, 1e4)), 0.02, 0.5) == pytest.approx(
        0.0859, abs=2e-4
    )
    base = float(co.projected_mse(0.0, 1.0, plain, 1e4))
    assert base == pytest.approx(1.476, abs=1e-3)
    assert crossing(projected, base, 0.1, 0.6) == pytest.approx(0.294, abs=1e-3)
    assert projected(1 - 1e-9) == pytest.approx(2.94, abs=0.01)


@pytest.mark.parametrize("q", [0.05, 0.5])
def test_simulated_errors_have_the_exact_mean(q):
    # Four means within 5.5 standard errors: false alarm below 2e-7.
    rng = np.random.default_rng(34)
    trials = simulate(q, 300, rng, users=2000)
    c = paper_budget(q)
    for sample, exact in (
        (trials.plain, co.m_mean_mse(1.0, c, 2000)),
        (trials.projected, co.projected_mse(0.0, 1.0, c, 2000)),
    ):
        # The normal approximation of the projected error is good to a percent here.
        error = abs(sample.mean() - float(exact)) - 0.01 * float(exact)
        assert error < 5.5 * sample.std() / math.sqrt(sample.size)
    silent = simulate(0.1, 2, rng, c=np.r_[0.0, np.ones(9)], users=50)
    assert np.isinf(silent.plain).all()
    assert np.isfinite(silent.projected).all()


def test_prior_of_figure_3_is_sampled_exactly():
    # χ² with 7 degrees of freedom: false alarm 1e-6.
    from scipy import stats

    x = sample_copies(100_000, 3, 0.4, np.random.default_rng(35))
    codes = (x > 0) @ [4, 2, 1]
    expected = co.copies_prior(3, 0.4) * 100_000
    assert stats.chisquare(np.bincount(codes, minlength=8), expected).pvalue > 1e-6


def test_importing_costs_neither_scipy_nor_cvxpy():
    code = (
        "import sys, explorer.privacy.coordinates;"
        "print([m for m in ('scipy', 'cvxpy', 'PySide6', 'numba') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
