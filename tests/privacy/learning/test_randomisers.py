"""R_∞ and R_2: their laws, by enumeration, by densities and by draws.

Statistical tests have fixed seeds; z limits of 5 are false alarms of 6e-7 a number.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy import learning
from explorer.privacy.coordinates.channel import m_ldp_radius
from explorer.privacy.shuffle_rdp import gradient_second_moment

LEVELS = st.floats(1e-6, 30.0)


def message_law(report, x):
    """Return Pr[(j, sign)] for one x, shape (d, 2), from the chances the sampler compares with."""
    plus = report.plus_probability(np.asarray(x, float))
    return np.stack([plus, 1 - plus], axis=1) / report.d


class Counting:
    """A generator that enumerates: every index, and uniforms on a fine grid."""

    def __init__(self, index, uniforms):
        self.index, self.uniforms = index, uniforms

    def integers(self, top, size):
        assert top > self.index.max()
        assert size == self.index.size
        return self.index

    def random(self, shape):
        assert tuple(np.atleast_1d(shape)) == self.uniforms.shape
        return self.uniforms


@pytest.mark.parametrize("eps0", [0.1, 1.0, 3.0])
def test_coordinate_report_is_local_dp_by_enumeration_of_the_code_that_runs(eps0):
    d, radius, grid = 3, 0.5, 4000
    report = learning.coordinate_report(d, eps0, radius)
    uniforms = np.tile((np.arange(grid) + 0.5) / grid, d)
    index = np.repeat(np.arange(d), grid)
    laws = []
    for x in itertools.product([-0.5, 0.0, 0.2, 0.5, 0.7], repeat=d):
        rows = np.tile(x, (index.size, 1))
        j, plus = report.randomise(rows, Counting(index, uniforms))
        counts = np.stack([np.bincount(j, plus, d), np.bincount(j, ~plus, d)], axis=1)
        law = message_law(report, x)
        np.testing.assert_allclose(counts / counts.sum(), law, atol=1 / grid)
        laws.append(law)
        # Unbiased inside the ball: the decoded mean is x.
        if max(map(abs, x)) <= radius:
            mean = (law[:, 0] - law[:, 1]) * report.length
            np.testing.assert_allclose(mean, x, atol=1e-14)
    worst = max(float(np.max(np.log(a / b))) for a, b in itertools.permutations(laws, 2))
    assert worst <= eps0 * (1 + 1e-12)
    assert worst == pytest.approx(eps0, rel=1e-12)


@given(LEVELS, st.floats(-10, 10), st.integers(1, 10**6))
def test_chances_of_a_coordinate_report_stay_within_the_level(eps0, entry, d):
    report = learning.coordinate_report(d, eps0, 1.0)
    plus = float(report.plus_probability(np.array([entry]))[0])
    low = 1 / (1 + math.exp(eps0))
    assert low * (1 - 1e-3) - 1e-16 <= plus <= 1 - low + 1e-16
    assert report.second_moment == pytest.approx(d**2 / math.tanh(eps0 / 2) ** 2)
    assert 2 ** (report.bits - 1) >= d


def test_coordinate_report_second_moment_is_remark_1():
    report = learning.coordinate_report(650, 1.5, 0.01)
    whole = gradient_second_moment(np.inf, 0.01, 650, 1.5, 1)
    assert report.second_moment == pytest.approx(whole - 650 * 0.01**2)
    assert learning.moment(report, 650, 0.01, 1) == pytest.approx(whole)


def test_drawn_coordinate_reports_have_their_law():
    # χ² with a false-alarm rate of 1e-6.
    report = learning.coordinate_report(4, 1.0, 1.0)
    x = np.array([1.0, -1.0, 0.3, 0.0])
    j, plus = report.randomise(np.tile(x, (200_000, 1)), np.random.default_rng(5))
    counts = np.stack([np.bincount(j, plus, 4), np.bincount(j, ~plus, 4)], axis=1)
    assert stats.chisquare(counts.ravel(), message_law(report, x).ravel() * 200_000).pvalue > 1e-6


@given(st.integers(2, 10**6), LEVELS, st.booleans())
def test_priv_unit_density_ratio_is_the_level(d, eps0, best_cap):
    unit = learning.priv_unit(d, eps0, 1.0, best_cap=best_cap)
    assert 0.0 <= unit.threshold < 1.0
    assert 0.0 < unit.share <= 0.5 < unit.inside + 1e-9
    # Density in the cap over density outside, p(1−c)/(c(1−p)); 1−p from its own formula, because
    # p itself may round to 1.
    outside = (1 - unit.share) / (1 + math.expm1(eps0) * unit.share)
    ratio = math.log(unit.inside / unit.share * (1 - unit.share) / outside)
    assert ratio == pytest.approx(eps0, rel=1e-9, abs=1e-9)
    assert unit.inside + outside == pytest.approx(1.0)
    # Remark 1: E‖R−x‖² ≤ 14r²dA.
    assert unit.second_moment <= 14 * d / math.tanh(eps0 / 2) ** 2


@given(st.integers(2, 10**5), LEVELS)
def test_the_best_cap_is_no_worse_than_half_the_sphere_and_stationary(d, eps0):
    best = learning.priv_unit(d, eps0, 1.0)
    half = learning.priv_unit(d, eps0, 1.0, best_cap=False)
    assert best.second_moment <= half.second_moment * (1 + 1e-9)
    assert best.threshold == pytest.approx(best.mean_cosine, rel=1e-6)
    # g = 0 is the mechanism of Duchi, Jordan & Wainwright, as coordinate DP uses it.
    radius = float(m_ldp_radius(d, 1.0, eps0))
    assert math.sqrt(half.second_moment) == pytest.approx(radius, rel=1e-9)


@pytest.mark.parametrize(("d", "eps0"), [(2, 0.5), (3, 2.0), (8, 1.0), (8, 6.0), (300, 3.0)])
@pytest.mark.parametrize("best_cap", [True, False])
def test_cosines_have_their_law(d, eps0, best_cap):
    # Kolmogorov–Smirnov and binomial, false-alarm rate 1e-6 each.
    unit = learning.priv_unit(d, eps0, 1.0, best_cap=best_cap)
    w = unit.cosines(40_000, np.random.default_rng(d))
    inside = w >= unit.threshold
    assert stats.binomtest(int(inside.sum()), w.size, unit.inside).pvalue > 1e-6
    whole = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
    edge = whole.cdf(unit.threshold)
    assert 1 - edge == pytest.approx(unit.share, rel=1e-9)
    above = stats.kstest(w[inside], lambda v: (whole.cdf(v) - edge) / (1 - edge))
    below = stats.kstest(w[~inside], lambda v: whole.cdf(v) / edge)
    assert min(above.pvalue, below.pvalue) > 1e-6
    assert abs(w.mean() - unit.mean_cosine) < 5 * w.std() / math.sqrt(w.size)


@pytest.mark.full
@pytest.mark.parametrize("best_cap", [True, False])
def test_reports_are_unbiased_on_their_sphere_and_isotropic_across(best_cap):
    d, eps0, radius, count = 5, 1.5, 2.0, 200_000
    unit = learning.priv_unit(d, eps0, radius, best_cap=best_cap)
    rng = np.random.default_rng(11)
    for x in (np.array([0.0, 1.2, 0.0, -0.9, 0.4]), np.zeros(d), np.array([2.0, 0, 0, 0, 0])):
        reports = unit.randomise(np.tile(x, (count, 1)), rng)
        norms = np.linalg.norm(reports, axis=1)
        np.testing.assert_allclose(norms, math.sqrt(unit.second_moment), rtol=1e-12)
        z = (reports.mean(axis=0) - x) / reports.std(axis=0) * math.sqrt(count)
        assert np.abs(z).max() < 5
    # Across u (the first axis here) all directions are alike: equal second moments, no mean.
    across = reports[:, 1:]
    squares = across**2
    pull = squares.mean(axis=0) - squares.mean()
    assert np.abs(pull / squares.std(axis=0) * math.sqrt(count)).max() < 5


def test_the_sum_without_reports_is_the_sum_of_the_reports():
    unit = learning.priv_unit(40, 2.0, 1.0)
    x = np.random.default_rng(0).standard_normal((30, 40)) * 0.1
    one = unit.total(x, np.random.default_rng(3))
    np.testing.assert_allclose(one, unit.randomise(x, np.random.default_rng(3)).sum(axis=0))


@pytest.mark.full
@pytest.mark.parametrize("best_cap", [True, False])
def test_audit_of_priv_unit(best_cap):
    # Opposite inputs, the event of a report in the first one's cap: Clopper–Pearson at 1e-6 a side
    # bounds ε₀ from below; it may not exceed the claim, and comes near it at this size.
    d, eps0, count = 4, 1.0, 200_000
    unit = learning.priv_unit(d, eps0, 1.0, best_cap=best_cap)
    rng = np.random.default_rng(2)
    x = np.tile([1.0, 0, 0, 0], (count, 1))
    edge = unit.threshold * math.sqrt(unit.second_moment)
    worst = 0.0
    for a, b in itertools.permutations([x, -x]):
        for side in (1, -1):
            hits = [(side * (unit.randomise(v, rng)[:, 0] - edge) >= 0).sum() for v in (a, b)]
            low = stats.beta.ppf(1e-6, hits[0], count - hits[0] + 1)
            high = stats.beta.ppf(1 - 1e-6, hits[1] + 1, count - hits[1])
            worst = max(worst, math.log(low / high))
    assert worst <= eps0
    if not best_cap:
        assert worst >= 0.9 * eps0


@pytest.mark.parametrize("make", [learning.coordinate_report, learning.priv_unit])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("eps0", (5, 0.0, 1.0)),
        ("eps0", (5, 31.0, 1.0)),
        ("radius", (5, 1.0, 0.0)),
        ("d", (2.5, 1.0, 1.0)),
        ("d", (0, 1.0, 1.0)),
    ],
)
def test_outside_its_domain_a_randomiser_names_the_parameter(make, name, values):
    with pytest.raises(ValueError, match=name):
        make(*values)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_hadamard_report_is_local_dp_and_unbiased_by_enumeration_of_the_code_that_runs(d):
    eps0, radius, grid = 1.0, 0.5, 4000
    report = learning.hadamard_report(d, eps0, radius)
    rows = report.rows
    assert d <= rows < 2 * d
    assert report.bits == math.ceil(math.log2(rows)) + 1
    uniforms = np.tile((np.arange(grid) + 0.5) / grid, rows)
    index = np.repeat(np.arange(rows), grid)
    laws = []
    for x in itertools.product([-0.5, 0.0, 0.2, 0.5], repeat=min(d, 3)):
        x = np.array([*x, *[0.0] * (d - len(x))])
        j, plus = report.randomise(np.tile(x, (index.size, 1)), Counting(index, uniforms))
        law = np.stack([np.bincount(j, plus, rows), np.bincount(j, ~plus, rows)], axis=1)
        laws.append(law / law.sum())
        if np.abs(x).sum() <= radius:
            mean = report.decoded_total(j, plus) / index.size
            # A step of the grid moves one entry by the length of a report over the grid.
            near = radius / math.tanh(eps0 / 2) / grid
            np.testing.assert_allclose(mean, x, atol=1.01 * near)
    ratios = [np.abs(np.log(a / b)).max() for a, b in itertools.permutations(laws, 2)]
    assert max(ratios) <= eps0 * (1 + 1e-2 / grid) + 4 / grid


@pytest.mark.parametrize("d", [3, 8])
def test_every_decoded_hadamard_report_has_the_length_of_remark_1(d):
    report = learning.hadamard_report(d, 0.7, 2.0)
    for j, sign in itertools.product(range(report.rows), (True, False)):
        vector = report.decoded_total(np.array([j]), np.array([sign]))
        assert vector @ vector == pytest.approx(report.second_moment)
    assert report.second_moment == pytest.approx(gradient_second_moment(1, 2.0, d, 0.7, 1) - 4.0)


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, 8.0, math.inf])
def test_the_ball_of_r_2_holds_the_clipped_gradients(p):
    rng = np.random.default_rng(8)
    for d in (2, 5, 40):
        x = np.concatenate([rng.normal(size=(200, d)), np.ones((1, d)), np.eye(d)])
        x /= np.linalg.norm(x, p, axis=1)[:, None]
        longest = (x**2).sum(axis=1).max()
        assert longest <= learning.widest(p, d) * (1 + 1e-12)
        assert longest == pytest.approx(learning.widest(p, d))


def test_lemma_8_between_the_norms():
    for p in (1.5, 3.0):
        r_2 = learning.randomiser_for(p, 50, 1.0, 0.3)
        bound = gradient_second_moment(p, 0.3, 50, 1.0, 1)
        assert learning.moment(r_2, 50, 0.3, 1, p) <= bound
