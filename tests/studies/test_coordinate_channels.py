"""PrivUnit in the mean, in hybrid designs and in regression; the trusted curator's error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import coordinates as co
from explorer.studies.base.study import default_request, default_sweep
from explorer.studies.coordinate_mean import CoordinateMean
from explorer.studies.private_regression import PrivateRegression
from tests.studies import walking

MEAN = CoordinateMean()


def mean(key="q", points=5, what="mse", **values):
    request = replace(
        default_request(MEAN, **values),
        quantity=what,
        sweep=replace(default_sweep(MEAN, key), points=points),
    )
    return walking.final_result(MEAN, request)


def curves(result):
    return {s.key: s.y for s in result.series}


def test_priv_unit_errs_less_at_the_same_levels():
    values = {"level": 1.0, "eps": 5.0, "q": 0.0, "x2": 0.0}
    duchi, privunit = (curves(mean(channel=x, **values)) for x in co.CHANNELS)
    for key in ("paper", "exact", "hybrid", "best_zeta"):
        assert (privunit[key] <= duchi[key] * (1 + 1e-9))[np.isfinite(duchi[key])].all()
    # The specification's c = (1, 1, 5×8): at q = 0 the budgets are the levels.
    assert duchi["exact"][0] == pytest.approx(0.0226, abs=6e-5)
    assert privunit["exact"][0] == pytest.approx(0.0150, abs=6e-5)
    table = next(t for t in mean(channel="privunit", **values).tables if t.key == "channels")
    row = next(row for row in table.rows if "the paper's ζ" in row[0])
    assert table.columns[-2:] == ("MSE by M_LDP", "MSE by PrivUnit")
    assert row[-1] == pytest.approx(
        float(co.m_mean_mse(0.0, np.repeat([1.0, 5.0], [2, 8]), 1e4, channel="privunit"))
    )
    assert row[-2] > row[-1]
    for what in ("budget", "level"):
        key = {"budget": "i", "level": "true_q"}[what]
        found = mean(key, what=what, channel="privunit", d=3)
        # Corner levels are M_LDP's.
        assert "brute_force" not in curves(found)
        assert any("PrivUnit" in note for note in found.notes)


def test_levels_do_not_depend_on_the_channel():
    for what, key in (("level", "true_q"), ("budget", "i")):
        duchi, privunit = (
            curves(mean(key, what=what, channel=x, d=6, level=0.5)) for x in co.CHANNELS
        )
        np.testing.assert_array_equal(duchi["paper"], privunit["paper"])


def test_simulated_errors_are_those_computed():
    result = mean(
        points=3, channel="privunit", simulate=True, trials=40, n=500, d=4, level=1.0, eps=6.0
    )
    for key in ("paper", "hybrid"):
        exact = {
            float(x): float(y)
            for s in result.series
            if s.key == key
            for x, y in zip(s.x, s.y, strict=True)
        }
        dots = next(s for s in result.series if s.key == f"{key}_simulated")
        for x, y, low, high in zip(dots.x, dots.y, dots.low, dots.high, strict=True):
            # Three times the 95 % interval of the mean.
            assert abs(y - exact[float(x)]) < 3 * (high - low) / 2


def test_error_of_the_trusted_curator():
    series = next(s for s in mean(n=1000, level=0.2, eps=2.0).series if s.key == "central")
    assert series.y == pytest.approx((2 * 8 / 0.2**2 + 8 * 8 / 2.0**2) / 1000**2)
    assert "a different guarantee" in series.note
    assert "16.4" in series.note
    rng = np.random.default_rng(0)
    noise = rng.laplace(0.0, 2 / (1000 * 0.2), 100_000)
    assert (noise**2).mean() == pytest.approx(8 / (1000 * 0.2) ** 2, rel=0.05)


def test_regression_learns_more_by_priv_unit():
    study = PrivateRegression()
    found = []
    for channel in co.CHANNELS:
        request = default_request(
            study,
            channel=channel,
            n=20_000,
            eps=20.0,
            level=20.0,
            q=0.0,
            trials=6,
            budget="baseline",
            features=6,
        )
        here = replace(default_sweep(study, "n"), low=20_000, high=20_000, points=1)
        request = replace(request, sweep=here)
        result = walking.final_result(study, request)
        found.append({r.key: r.value for r in result.readouts})
    assert found[1]["trust-region"] < found[0]["trust-region"]
    assert found[1]["theorem3_half"] < found[0]["theorem3_half"]
