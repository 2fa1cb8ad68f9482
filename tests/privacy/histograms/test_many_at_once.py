"""Points worked on together are as those worked on alone, and the least noise is the least."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.binomial import log_pmf, log_pmf_at, lower_tail, upper_tail
from explorer.privacy.histograms import (
    Query,
    calibrate,
    count_delta,
    histogram_delta,
    noise_radius,
)
from explorer.privacy.histograms.exact_delta import joint_deltas

POINTS = st.lists(
    st.tuples(
        st.floats(-2, 2.5).map(lambda x: 10**x),
        st.floats(0, 9).map(lambda x: float(round(10**x))),
        st.floats(-9, -0.31).map(lambda x: 10**x),
    ),
    min_size=2,
    max_size=20,
)


@given(POINTS)
def test_joint_delta_of_many_points_as_one_by_one(points):
    found = joint_deltas(*np.array(points).T)
    alone = [float(histogram_delta(*point)) for point in points]
    np.testing.assert_allclose(found, alone, rtol=1e-11, atol=1e-307)


@pytest.mark.parametrize("kind", list(Query))
def test_calibrations_of_many_points_as_one_by_one(kind):
    eps = np.array([0.1, 0.4, 1.0, 1.0, 1.0, 3.0, 10.0, 1.0])
    delta = np.array([1e-6, 1e-3, 1e-6, 1e-12, 1e-6, 1e-6, 1e-20, 1.0])
    n = np.array([1e6, 1e4, 500, 1e5, 1e9, 50, 1e7, 10])
    found = calibrate(eps, delta, n, kind)
    for i, point in enumerate(zip(eps, delta, n, strict=True)):
        alone = calibrate(*point, kind)
        assert bool(found.feasible[i]) == alone.feasible
        assert 1 - found.p[i] == pytest.approx(1 - alone.p, rel=1e-10, abs=2e-16)
        assert found.delta[i] <= point[1] or not alone.feasible


@given(st.floats(0.1, 5), st.floats(-12, -1), st.floats(4, 8), st.sampled_from(list(Query)))
def test_the_least_noise_is_the_least(eps, log_delta, log_n, kind):
    delta, n = 10**log_delta, float(round(10**log_n))
    found = calibrate(eps, delta, n, kind)
    # Elsewhere δ has humps, and the crossing found is one of several.
    if found.feasible and 1 - found.p < 0.02:
        exact = histogram_delta if kind is Query.HISTOGRAM else count_delta
        assert found.delta <= delta
        # p is a double near 1, so q can only be chosen in steps of 1.1e-16.
        q = 1 - found.p
        assert exact(eps, n, q * (1 - 1e-9) - 1.2e-16) > delta


@given(
    st.floats(0, 8).map(lambda x: float(round(10**x))),
    st.floats(-9, 0).map(lambda x: 10**x),
    st.floats(-300, 0).map(lambda x: 10**x),
)
def test_noise_radius_is_the_least_whole_one(n, q, beta):
    def beyond(r):
        below = lower_tail(math.ceil(n * q - r) - 1, n, q)
        return below + upper_tail(math.floor(n * q + r) + 1, n, q)

    radius = noise_radius(n, q, beta)
    # A sum that is β but for rounding may fall on either side of it.
    assert beyond(radius) <= beta * (1 + 1e-9)
    assert radius == 0 or beyond(radius - 1) > beta * (1 - 1e-9)


@given(st.floats(0, 12).map(lambda x: float(round(10**x))), st.floats(0, 1), st.floats(-280, -0.01))
def test_one_binomial_probability_as_many(trials, share, log10_p):
    p = 10**log10_p
    m = float(round(share * trials))
    logs = math.log(p), math.log1p(-p)
    expected = float(log_pmf(np.array([m]), trials, *logs)[0])
    assert log_pmf_at(m, trials, *logs) == pytest.approx(expected, rel=1e-14, abs=1e-12)
