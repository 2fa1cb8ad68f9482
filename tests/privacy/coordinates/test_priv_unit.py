"""PrivUnit in place of M_LDP: moments against draws, accounting unchanged, errors never larger."""

from __future__ import annotations

import math

import numpy as np
import pytest

import explorer.privacy.coordinates as co
from explorer.privacy.coordinates.designs import log_moment_slope
from tests import snapshots


@pytest.mark.parametrize(("m", "alpha"), [(1, 0.7), (2, 1.0), (5, 3.0), (10, 5.0)])
def test_reports_have_the_moments_that_are_stated(m, alpha):
    rng = np.random.default_rng(5)
    x = np.linspace(-0.9, 0.8, m)
    users = 200_000
    (channel,) = co.design_channels(m, [tuple(range(m))], [alpha], co.PRIV_UNIT)
    reports = co.draw_reports(np.tile(x, (users, 1)), [channel], rng)
    V = math.exp(float(co.log_channel_moment(m, alpha, co.PRIV_UNIT)))
    assert np.abs(reports.mean(axis=0) - x).max() < 5 * math.sqrt(V / users)
    second = (reports**2).mean(axis=0)
    assert np.abs(second - V).max() < 1e-9 + 5 * (reports**2).std(axis=0).max() / math.sqrt(users)
    if m > 1:
        products = reports[:, 0] * reports[:, 1]
        margin = 5 * float(products.std()) / math.sqrt(users)
        assert abs(float(products.mean()) - x[0] * x[1]) < margin


@pytest.mark.parametrize("m", [2, 3, 10, 200])
def test_no_cap_is_better_than_the_best_one(m):
    for alpha in (1e-4, 0.3, 2.0, 9.0, 40.0):
        g, V, *_ = co.priv_unit_moments(m, alpha)
        others = [co.priv_unit_moments(m, alpha, t)[1] for t in np.linspace(0.0, 0.999, 400)]
        assert min(others) >= V * (1 - 1e-9)
        assert pytest.approx(g**-2, rel=1e-6) == V
        assert float(co.m_ldp_second_moment(m, alpha)) >= V * (1 - 1e-9)


@pytest.mark.parametrize("channel", co.CHANNELS)
def test_slopes_of_the_search_are_derivatives(channel):
    for m in (1, 2, 10):
        for alpha in (1e-3, 0.5, 3.0, 12.0):
            step = 1e-4
            up, down = (
                float(co.log_channel_moment(m, alpha * math.exp(s), channel)) for s in (step, -step)
            )
            found = log_moment_slope(np.array([m]), np.array([alpha]), channel)
            assert float(found[0]) == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


def test_designs_are_searched_for_the_channel_they_are_made_of():
    """The specification's d = 10: .3190 → .3113 and .0226 → .0150 per 1e4 users."""
    low, high = np.repeat([0.2, 2.0], [2, 8]), np.repeat([1.0, 5.0], [2, 8])
    for c, duchi, privunit in ((low, 0.3190, 0.3113), (high, 0.0226, 0.0150)):
        for channel, error in ((co.DUCHI, duchi), (co.PRIV_UNIT, privunit)):
            found = float(co.m_mean_mse(0.0, c, 1e4, "optimal", channel))
            assert found == pytest.approx(error, abs=6e-5)
    for level, eps, q in ((0.2, 2.0, 0.1), (1.0, 8.0, 0.05)):
        searched = [co.best_two_levels(10, 2, level, eps, q, channel=x) for x in co.CHANNELS]
        assert searched[1].mse <= searched[0].mse
        apart = [co.best_two_levels_disjoint(10, 2, level, eps, q, x) for x in co.CHANNELS]
        assert apart[1].mse <= apart[0].mse
        levels = np.repeat([level, eps], [2, 8])
        zeta = [co.best_zeta(levels, eps, q, x) for x in co.CHANNELS]
        assert zeta[1].mse <= zeta[0].mse
        whole = co.best_design(levels, eps, q, "hybrid", co.PRIV_UNIT)
        assert whole.mse <= 1.001 * float(apart[1].mse)
        assert (co.design_bcdp(10, whole.subsets, whole.alphas, q) <= levels + 1e-9).all()
        stated = float(co.design_mse(10, whole.subsets, whole.alphas, channel=co.PRIV_UNIT))
        assert whole.mse == pytest.approx(stated, rel=1e-9)


def test_nothing_done_to_a_report_teaches_more():
    """Proposition 5 for random kernels, and merging as one of them."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        prior = rng.dirichlet(np.ones(6))
        channel = rng.dirichlet(np.ones(4), size=6)
        kernel = rng.dirichlet(np.ones(3), size=4)
        merge = np.eye(2)[rng.integers(0, 2, 4)]
        before = co.bcdp_levels([3, 2], prior, channel)
        for step in (kernel, merge):
            after = co.bcdp_levels([3, 2], prior, co.post_processed(channel, step))
            assert (after <= before + 1e-12).all()
    with pytest.raises(ValueError, match="one row an") as error:
        co.post_processed(channel, kernel.T / kernel.T.sum(axis=1, keepdims=True))
    snapshots.check(error.value)
