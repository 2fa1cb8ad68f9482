"""Unbounded data: Theorem 5.3 and its KL form, group privacy, the paper's slips, every end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_least
from explorer.studies.base.study import Scale, Sweep, default_request
from explorer.studies.unbounded import Unbounded
from tests.studies import walking

STUDY = Unbounded()


def ask(what="alpha", key="s", low=100.0, high=1e8, points=9, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request)


def curves(result):
    return {s.key: s for s in result.series}


@pytest.mark.parametrize("r", [1e-5, 1.0])
@pytest.mark.parametrize("s", [1, 10**9])
@pytest.mark.parametrize("eps", [1e-3, 20.0])
@pytest.mark.parametrize("delta", [1e-40, 0.1])
def test_every_corner(r, s, eps, delta):
    for what, axes in (
        ("alpha", "s"),
        ("threshold", "r"),
        ("group_eps", "d"),
        ("group_delta", "d"),
    ):
        walking.walk_axis(STUDY, what, axes, points=7, r=r, s=s, eps=eps, delta=delta, d=1.0)


def test_the_papers_radius():
    found = walking.preset(STUDY, "threshold")
    assert found.readout("printed").value == pytest.approx(0.02760, abs=5e-6)
    assert found.readout("chernoff").value == pytest.approx(0.01547, abs=5e-6)
    draws = walking.preset(STUDY, "draws")
    assert draws.readout("printed").value == pytest.approx(7.25, abs=5e-3)
    assert draws.readout("chernoff").value == pytest.approx(12.92, abs=5e-3)
    assert draws.readout("sizes").value == pytest.approx(25.0)
    # From ln(1/δ)/r draws on, Theorem 5.3 loses 1 + √2 + 3.
    enough = ask(s=round(math.log(1e12) / 0.008))
    lost = enough.readout("sizes").value / enough.readout("printed").value
    assert lost == pytest.approx(4 + math.sqrt(2), rel=1e-3)


@pytest.mark.parametrize(
    ("key", "ours", "printed", "factor", "slip"),
    [("fact-5.1", 3447, "fact", 148.4, 4), ("table-1", 16.34, "table", 2.718, 9)],
)
def test_group_privacy_is_more_than_the_paper_prints(key, ours, printed, factor, slip):
    result = walking.preset(STUDY, key)
    total = result.readout("delta_total").value
    assert total == 2e-12
    assert result.readout("group").value / total == pytest.approx(ours, rel=1e-3)
    assert result.readout(printed).value / total == pytest.approx(factor, rel=1e-3)
    assert result.readout("far_delta").value == result.readout("group").value
    hops = {row[0]: row for row in result.tables[0].rows}
    assert hops[slip + 1][3] == result.readout("group").value


def test_thresholds_keep_their_order():
    for key, low, high in (("s", 1, 1e9), ("r", 1e-5, 1), ("delta", 1e-40, 0.1)):
        shown = curves(ask("threshold", key, low, high, 40))
        assert walking.ordered(shown["binomial"], shown["chernoff"])
        assert walking.ordered(shown["chernoff"], shown["printed"])
        assert np.all(shown["printed"].y <= 1)
        assert shown["binomial"].role is Role.LOWER
        assert shown["chernoff"].role is Role.UPPER
    shown = curves(ask("alpha", "s", 10, 1e9, 40))
    assert walking.ordered(shown["printed"], shown["chernoff"])
    assert walking.ordered(shown["chernoff"], shown["binomial"])
    assert walking.ordered(shown["user"], shown["printed"])


def test_curves_are_the_mathematics():
    shown = curves(ask(points=12))
    s = shown["chernoff"].x
    np.testing.assert_allclose(
        shown["chernoff"].y, um.theorem53_alpha_chernoff(0.2, 1e-12, 0.008, s), rtol=1e-12
    )
    uncapped = um.theorem53_alpha(0.2, 1e-12, 0.008, s)
    np.testing.assert_allclose(shown["printed"].y, np.maximum(uncapped, 0.2), rtol=1e-12)
    grown = curves(ask("group_delta", "d", 0.001, 1.0, 12))["group"]
    hops = np.ceil(grown.x / 0.008 * (1 - 1e-12))
    expected = np.minimum(um.group_privacy_delta(0.2, 2e-12, hops), 1.0)
    np.testing.assert_allclose(grown.y, expected, rtol=1e-12)
    steps = curves(ask("group_eps", "d", 0.001, 1.0, 12))
    np.testing.assert_allclose(steps["group"].y, 0.2 * hops)
    far = steps["roughly"].present
    assert np.all(steps["group"].y[far] <= steps["roughly"].y[far] * (1 + 1e-12))
    assert "at least r" in steps["roughly"].undefined_reason


def test_the_informal_theorem_leaves_where_its_premise_fails():
    informal = curves(ask(points=60, low=100, high=1e5))["informal"]
    premise = informal.x >= 2 * math.log(1e12) / 0.008
    np.testing.assert_array_equal(informal.present, premise)
    assert "premise" in informal.undefined_reason


def test_few_draws_need_no_concentration():
    # r^s > δ: the threshold is the diameter, α = ε, and δ is not doubled.
    result = ask(s=5, r=0.01, delta=1e-12)
    assert result.conditions[0].holds is False
    assert result.readout("allowed").value == pytest.approx(0.2)
    assert result.readout("delta_total").value == 1e-12
    assert "(0.2, 1e-12, 0.01)-discrete" in result.guarantee.replace_one
    assert result.conditions[1].holds is False
    many = ask()
    assert many.conditions[0].holds is True
    assert "(0.2, 2e-12, 0.008)-discrete" in many.guarantee.replace_one


def test_what_is_left_at_a_distance_is_reported():
    near = ask(d=0.04).guarantee.sentence
    assert "in 5 hops, ε is 1 and δ is 1.553e-11." in near
    within = ask(d=0.004, r=0.008)
    assert "The example distance, 49.8 mi, is not more: the same holds" in (
        within.guarantee.sentence
    )
    assert "hop" not in within.guarantee.sentence
    assert "d = 0.004 is within r, δ" in within.conditions[3].margin
    assert "in 2 hops" in ask(d=0.009, r=0.008).conditions[3].margin
    assert "54.99 % of the time" in near
    far = ask(d=1.0, eps=2.0)
    assert "nothing is promised any more" in far.guarantee.sentence
    assert far.conditions[3].holds is False
    assert far.readout("far_delta").value == 1.0
    assert "empty" in far.conditions[4].text


def test_alpha_is_the_largest_allowed_wherever_it_is_named():
    # “α needed ≥ 12.92” beside “α ≤ 12.92” could be read as the least that will do.
    result = ask()
    allowed = result.readout("allowed")
    assert allowed.role is Role.LOWER
    assert "allowed" in allowed.label
    assert f"α ≤ {at_least(allowed.value)}" in result.guarantee.replace_one
    assert next(q for q in STUDY.quantities if q.key == "alpha").name.startswith("largest allowed")
    words = " ".join(
        (*(p.computed for p in STUDY.presets), *(f.caption for f in STUDY.page.formulas))
    )
    assert "needs α" not in words
    assert "must satisfy" not in words


def test_exact_multiples_are_not_a_hop_more():
    for k in (3, 7, 10, 49):
        assert ask(r=0.01, d=k * 0.01).readout("hops").value == k
    assert ask(r=0.01, d=0.0301).readout("hops").value == 4
    assert ask(r=0.5, d=0.1).readout("hops").value == 1


def test_distances_are_reported_in_the_spaces_unit():
    result = ask(space="sphere", space_unit="km")
    assert result.readout("reach").value == pytest.approx(0.008 * 20_037.46, rel=1e-5)
    assert result.readout("reach").unit == "km"
    assert "km" in result.tables[0].rows[0][1]
    unitless = ask(space="discrete")
    assert all(r.key != "reach" for r in unitless.readouts)
    assert "largest distance" in unitless.tables[0].rows[0][1]


def test_the_printed_threshold_is_hardly_ever_exceeded():
    assert ask().readout("tail").value < 1e-12
    assert ask(s=5, r=0.01).readout("tail").value == 0.0


def test_distances_of_0_and_1_are_not_the_worst_case_of_the_tail():
    shown = ask(s=10, r=0.01, delta=0.1).readout("tail")
    threshold = (1 + math.sqrt(2)) * 0.01 + 0.3 * math.log(10)
    # Draws at distance 0 or v of the same mean need as many hits, each of them more likely.
    v = 0.8956
    chance = 0.01 / v
    hits = range(math.ceil(10 * threshold / v), 11)
    other = sum(math.comb(10, j) * chance**j * (1 - chance) ** (10 - j) for j in hits)
    assert shown.value < 0.5 * other < 0.1
    assert "may have more" in shown.note
