"""Study of coordinate leakage: Examples 1 and 2, Theorem 1, Bayes' rule, the four notions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.figures.geometry import whole_axis
from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Cancelled, Fidelity, Mark, default_request, default_sweep
from explorer.studies.coordinate_learnt import CoordinateLearnt
from explorer.studies.coordinate_learnt.theory import domain_of, joint, levels_of
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = CoordinateLearnt()
MECHANISMS = ("table", "example2", "m_mean")
LOG = math.log


def ask(what="tradeoff", key="type1", points=11, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=replace(default_sweep(STUDY, key), points=points),
    )
    return walking.final_result(STUDY, request)


def curves(result):
    return {s.key: s for s in result.series}


def test_its_page_and_presets_hold_together():
    walking.check_page(STUDY)
    for preset in STUDY.presets:
        assert walking.preset(STUDY, preset.key).guarantee is not None


def test_example_1():
    result = walking.preset(STUDY, "example1")
    assert result.readout("level_bcdp").value == pytest.approx(LOG(2), rel=1e-12)
    second = ask(coordinate="2").readout("level_bcdp")
    assert second.value == pytest.approx(LOG(2), rel=1e-12)
    for key in ("ldp", "bdp", "cdp"):
        assert result.readout(f"level_{key}").value is None
        assert "infinite" in result.readout(f"level_{key}").note
    assert result.conditions[0].holds is False
    assert "66.67 %" in result.guarantee.sentence
    assert "exclude a value" in result.guarantee.sentence


@given(a=st.floats(0.01, 1), b=st.floats(0.01, 1), c=st.floats(0.01, 1))
def test_example_1_for_all_its_parameters(a, b, c):
    values = dict(default_request(STUDY, m00=a, m01=0.0, m10=b, m11=c).values)
    np.testing.assert_allclose(
        levels_of(domain_of(values)).bcdp, co.example1_levels(a, b, c), rtol=1e-9, atol=1e-12
    )


def test_example_1_where_it_fails():
    curve = curves(walking.preset(STUDY, "example1-limits"))["bcdp"]
    assert np.isnan(curve.y[-1])
    assert "excludes" in curve.undefined_reason
    assert np.isfinite(curve.y[:-1]).all()


@pytest.mark.parametrize(
    ("copies", "expected"), [(1, (0.0, LOG(3), LOG(3))), (2, (None, LOG(5), LOG(5)))]
)
def test_example_2(copies, expected):
    for i, level in enumerate(expected, 1):
        found = ask(mechanism="example2", copies=copies, coordinate=str(i)).readout("level_bcdp")
        if level is None:
            assert found.value is None
        else:
            assert found.value == pytest.approx(level, abs=1e-12)
    result = ask(mechanism="example2", copies=2)
    adding = next(c for c in result.conditions if "add over releases" in c.text)
    assert adding.holds is False
    failing = [c for c in result.conditions if c.holds is False]
    assert all(c.text.startswith("Only ") and not c.of_guarantee for c in failing)


def test_two_reports_of_example_2():
    # They differ only if x₁ = 1, and then half the time.
    channel = domain_of(
        dict(default_request(STUDY, mechanism="example2", copies=2).values)
    ).composed.reshape(8, 4, 4)
    differ = 1.0 - np.trace(channel, axis1=1, axis2=2)
    np.testing.assert_allclose(differ, np.repeat([0.0, 0.5], 4))
    shown = curves(walking.preset(STUDY, "example2-twice"))
    belief = shown["before"].x[1:-1]
    np.testing.assert_allclose(shown["most"].y[1:-1], 1.0)
    np.testing.assert_allclose(
        shown["least"].y[1:-1], belief / (belief + 2 * (1 - belief)), rtol=1e-9
    )


@given(
    p1=st.floats(0, 1),
    p2=st.floats(0, 1),
    rho=st.floats(-1, 1),
    entries=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    copies=st.integers(1, 3),
)
def test_notions_are_ordered(p1, p2, rho, entries, copies):
    keys = dict(zip(("m00", "m01", "m10", "m11"), entries, strict=True))
    request = default_request(STUDY, p1=p1, p2=p2, rho=rho, copies=copies, **keys)
    found = levels_of(domain_of(dict(request.values)))
    slack = 1e-7
    assert found.bdp <= found.ldp + slack
    assert np.all(found.cdp <= found.ldp + slack)
    assert np.all(found.bcdp <= found.bdp + slack)
    # The certificate needs exact couplings; those of nearly impossible values are rounded.
    if min(p1, 1 - p1, p2, 1 - p2) > 1e-3:
        assert np.all(found.bcdp <= found.certified + slack)
        assert np.all(found.certified <= found.part2 + slack)
        assert np.all(found.bcdp <= found.part1 + slack)


@given(p1=st.floats(0, 1), p2=st.floats(0, 1), rho=st.floats(-1, 1))
def test_the_prior_has_the_marginals_asked_for(p1, p2, rho):
    law = joint(p1, p2, rho)
    assert np.all(law >= 0)
    assert law.sum() == pytest.approx(1)
    assert law[2] + law[3] == pytest.approx(p1, abs=1e-12)
    assert law[1] + law[3] == pytest.approx(p2, abs=1e-12)


@pytest.mark.parametrize("c", [(0.2, 1.0), (1.0, 0.2), (0.7, 0.7), (0.0, 1.5), (0.0, 0.0)])
def test_the_channel_of_m_mean_is_a_law_with_its_levels(c):
    values = dict(default_request(STUDY, mechanism="m_mean", c1=c[0], c2=c[1]).values)
    domain = domain_of(values)
    np.testing.assert_allclose(domain.channel.sum(axis=1), 1.0)
    # Likelihoods up to a factor become the law only if they have one sum for all records.
    sums = np.exp(co.corner_log_likelihoods(c)).sum(axis=1)
    np.testing.assert_allclose(sums, sums[0])
    found = levels_of(domain)
    np.testing.assert_allclose(found.cdp, c, atol=1e-12)
    assert found.ldp == pytest.approx(max(c), abs=1e-12)
    np.testing.assert_allclose(found.bcdp, co.m_mean_corner_levels(c, domain.prior), atol=1e-12)


def test_full_dependence_reveals_the_coordinate():
    curve = curves(walking.preset(STUDY, "dependence"))
    for key in ("bcdp", "certified", "ldp"):
        assert curve[key].y[-1] == pytest.approx(1.0)
    assert walking.ordered(curve["bcdp"], curve["certified"])
    assert walking.ordered(curve["certified"], curve["part2"])
    assert curve["bcdp"].role is Role.EXACT
    assert curve["certified"].role is Role.UPPER


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_test_leaves_theorem_1s_region(mechanism):
    values = {"mechanism": mechanism, "p1": 0.3, "p2": 0.6, "rho": 0.4, "m01": 0.1}
    shown = curves(ask(points=201, **values))
    region = shown["region"]
    assert region.mark is Mark.AREA
    for key in ("test01", "test10"):
        assert np.all(shown[key].y >= region.low - 1e-9)
        assert np.all(shown[key].y <= region.high + 1e-9)
        assert walking.ordered(shown["certified"], shown[key])
    # The region is the smallest: some test touches its border away from the corners.
    inside = slice(1, -1)
    gap = np.minimum(shown["test01"].y, shown["test10"].y)[inside] - region.low[inside]
    assert gap.min() == pytest.approx(0.0, abs=1e-9)


def test_infinite_level_bounds_no_test():
    shown = curves(ask(m00=0.5, m01=0.0, m10=1.0, m11=1.0))
    for key in ("test01", "test10"):
        for below in ("region", "certified", "ldp"):
            assert walking.ordered(shown[below], shown[key]), (key, below)


def test_a_mechanism_may_not_attain_its_certificate_under_any_prior():
    # δ₁ is a ratio of functions linear in both conditional laws: largest at the ends of q apart.
    ones = np.array([0.535, 0.848, 0.753, 0.102])
    channel, q = np.stack([1 - ones, ones], axis=1), 0.3
    found = []
    for a in np.linspace(0.0, 1.0, 401):
        for b in (a - q, a + q):
            if 0.0 <= b <= 1.0:
                prior = np.array([1 - a, a, 1 - b, b]) / 2
                found.append(float(co.bcdp_levels([2, 2], prior, channel)[0]))
    most = co.best_certificate(co.cdp_levels([2, 2], channel), q, co.ldp_level(channel))[0]
    assert max(found) < most - 0.05
    guaranteed = ask(m00=0.535, m01=0.848, m10=0.753, m11=0.102).guarantee
    assert any("any prior" in text for text in guaranteed.differences)


def test_beliefs_follow_bayes():
    shown = curves(ask("belief_after", "belief"))
    belief = shown["before"].x
    inner = slice(1, -1)
    # Example 1: P(1 | x₁ = 0) = ¼, P(1 | x₁ = 1) = ½.
    expected = belief * 0.5 / (belief * 0.5 + (1 - belief) * 0.25)
    np.testing.assert_allclose(shown["output1"].y[inner], expected[inner])
    region = shown["region"]
    np.testing.assert_allclose(region.high, shown["output1"].y)
    for key in ("output0", "output1"):
        assert np.all(shown[key].y >= region.low - 1e-12)
        assert np.all(shown[key].y <= region.high + 1e-12)
    assert shown["ldp_most"].y[5] == 1.0
    assert shown["ldp_least"].y[5] == 0.0


def test_curves_are_undefined_for_a_coordinate_of_one_value():
    for what, key in (("tradeoff", "type1"), ("belief_after", "belief")):
        result = ask(what, key, p1=1.0)
        assert any("one possible value" in s.undefined_reason for s in result.series)
        assert result.readout("level_bcdp").value == 0.0


def test_sentence_for_a_coordinate_of_one_value():
    for p1, value in ((0.0, 0), (1.0, 1)):
        sentence = ask(p1=p1).guarantee.sentence
        assert f"always {value}" in sentence
        assert "equally likely" not in sentence
    snapshots.check(ask(p2=0.0, coordinate="2").guarantee.sentence)
    snapshots.check(ask(p1=0.001).guarantee.sentence)


def test_example_2_opens_with_a_level_that_grows():
    shown = curves(walking.preset(STUDY, "example2"))
    np.testing.assert_allclose(shown["bcdp"].y[:2], [LOG(3), LOG(5)], rtol=1e-12)
    assert np.all(np.diff(shown["bcdp"].y) > 0)
    # There is nothing between one report and two, and what is infinite is known to be.
    for series in shown.values():
        assert series.mark is Mark.DOTS
        assert series.infinite is not series.present.all()
    assert whole_axis(list(shown.values()))
    first = curves(ask("levels", "copies", 4, mechanism="example2", coordinate="1"))["bcdp"]
    assert first.infinite
    np.testing.assert_array_equal(first.present, [True, False, False, False])


def test_levels_come_coarse_first_and_stop_when_cancelled():
    request = replace(default_request(STUDY), quantity="levels", sweep=default_sweep(STUDY, "rho"))
    coarse, full = walking.answers(STUDY, request)
    assert (coarse.fidelity, full.fidelity) == (Fidelity.COARSE, Fidelity.FULL)
    with pytest.raises(Cancelled):
        list(STUDY.answer(request, Context(50)))


def test_tables_say_infinite_in_words():
    result = ask()
    levels, _, domain = result.tables
    assert levels.rows[0][2] == "∞"
    assert levels.rows[0][3] == pytest.approx(LOG(2))
    assert [row[0] for row in domain.rows] == ["00", "01", "10", "11"]
    assert domain.rows[1][2:] == (1.0, 0.0)


def test_missing_coordinate_is_noted():
    assert any("only 2" in note for note in ask(coordinate="3").notes)
    assert not ask(coordinate="3", mechanism="example2").notes
