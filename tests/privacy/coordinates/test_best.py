"""Best budgets and designs: the published table, brute force, solvers against each other."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import explorer.privacy.coordinates as co

LEVELS = np.repeat([0.2, 2.0], [2, 8])
USERS = 1e4
# q: paper's ζ, best ζ, exact constraint, hybrid; errors of 10,000 users at x = 0.
TABLE = {
    0.0: (0.319, 0.319, 0.319, 0.0416),
    0.05: (1.366, 0.647, 0.568, 0.113),
    0.1: (1.564, 0.901, 0.736, 0.184),
    0.2: (2.091, 1.421, 1.045, 0.348),
    0.5: (5.476, 1.504, 1.504, 1.032),
    0.9: (120.5, 1.504, 1.504, 1.504),
}


def rounds_to(printed):
    return pytest.approx(printed, abs=0.51 * 10.0 ** -(3 if printed < 100 else 1), rel=1e-9)


@pytest.mark.parametrize("q", TABLE)
def test_table_of_figure_3(q):
    paper, zeta, exact, hybrid = TABLE[q]
    budget = co.budget_vector(LEVELS, 2.0, q, (1 + q) / 2)
    assert float(co.m_mean_mse(0.0, budget, USERS)) == rounds_to(paper)
    assert float(co.best_zeta(LEVELS, 2.0, q).mse) / USERS == rounds_to(zeta)
    assert float(co.best_two_levels(10, 2, 0.2, 2.0, q, "paper").mse) / USERS == rounds_to(zeta)
    assert float(co.best_two_levels(10, 2, 0.2, 2.0, q).mse) / USERS == rounds_to(exact)
    assert co.best_design(LEVELS, 2.0, q, "nested").mse / USERS == rounds_to(exact)
    disjoint = co.best_two_levels_disjoint(10, 2, 0.2, 2.0, q)
    assert float(disjoint.mse) / USERS == rounds_to(hybrid)
    assert co.best_design(LEVELS, 2.0, q).mse / USERS == rounds_to(hybrid)


def meets(levels, eps, q, design):
    d = len(levels)
    certified = co.design_bcdp(d, design.subsets, design.alphas, q)
    np.testing.assert_allclose(design.c, co.design_cdp(d, design.subsets, design.alphas))
    assert design.total == pytest.approx(float(co.design_ldp(design.subsets, design.alphas)))
    demanded = co.effective_levels(levels, eps)
    return (certified <= demanded * (1 + 1e-9)).all() and design.total <= eps * (1 + 1e-12)


@pytest.mark.full
@settings(max_examples=15)
@given(
    st.lists(st.one_of(st.floats(1e-9, 800), st.floats(0.05, 3)), min_size=1, max_size=6),
    st.one_of(st.floats(1e-9, 800), st.floats(0.1, 4)),
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300])),
)
def test_designs_meet_demands_and_never_lose_to_the_paper(levels, eps, q):
    start = time.process_time()
    nested, hybrid = (co.best_design(levels, eps, q, family) for family in ("nested", "hybrid"))
    assert time.process_time() - start < 20
    for design in (nested, hybrid):
        assert meets(levels, eps, q, design)
        stated = co.design_mse(len(levels), design.subsets, design.alphas)
        assert design.mse == pytest.approx(float(stated), rel=1e-9)
    zeta = co.best_zeta(levels, eps, q)
    lowest = co.effective_levels(levels, eps).min()
    baseline = float(len(levels) * co.m_ldp_second_moment(len(levels), lowest))
    slack = 1 + 1e-9
    assert float(zeta.mse) <= baseline * slack
    assert nested.mse <= float(zeta.mse) * slack
    assert hybrid.mse <= nested.mse * slack
    certified = co.bcdp_from_cdp_and_ldp(zeta.c, q, zeta.c.max())
    assert (certified <= co.effective_levels(levels, eps) * (1 + 1e-9)).all()
    stated = float(co.m_mean_mse(0.0, zeta.c, 1, "optimal"))
    assert float(zeta.mse) == pytest.approx(stated, rel=1e-7)


def test_best_zeta_is_best_on_a_grid_and_reproduces_its_budget():
    rng = np.random.default_rng(4)
    for _ in range(20):
        levels, eps, q = rng.uniform(0.1, 3, 5), rng.uniform(0.5, 3), rng.uniform(0.01, 0.9)
        found = co.best_zeta(levels, eps, q)
        budget = co.budget_vector(levels, eps, q, found.zeta)
        np.testing.assert_allclose(budget, found.c, rtol=1e-9)
        grid = co.budget_vector(levels, eps, q, np.linspace(1e-3, 1, 2000))
        assert float(found.mse) <= co.m_mean_mse(0.0, grid, 1, "optimal").min() * (1 + 1e-9)


def test_two_levels_are_best_on_a_grid():
    rng = np.random.default_rng(5)
    for _ in range(10):
        d = int(rng.integers(2, 30))
        k, level = int(rng.integers(1, d)), rng.uniform(0.05, 2)
        eps, q = level + rng.uniform(0, 3), rng.choice([0.0, 0.01, 0.2, 0.6])
        found = co.best_two_levels(d, k, level, eps, q)
        a, total = np.meshgrid(np.linspace(1e-3, level, 120), np.linspace(1e-3, eps, 240))
        allowed = (co.best_certificate(a[..., None], q, total)[..., 0] <= level) & (a <= total)
        w1 = 1 / co.m_ldp_second_moment(d, a)
        w2 = 1 / co.m_ldp_second_moment(d - k, np.maximum(total - a, 0))
        errors = np.where(allowed, k / w1 + (d - k) / (w1 + w2), np.inf)
        assert float(found.mse) <= errors.min() * (1 + 1e-9)
        certified = co.best_certificate([found.c_sensitive], q, found.c_rest)[0]
        assert certified <= level * (1 + 1e-9)
        c = np.repeat([found.c_sensitive, found.c_rest], [k, d - k])
        stated = float(co.m_mean_mse(0.0, c, 1, "optimal"))
        assert float(found.mse) == pytest.approx(stated, rel=1e-9)


@given(
    st.integers(1, 40),
    st.floats(0, 1),
    st.floats(0.01, 60.0),
    st.floats(1e-3, 1.0),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_allowed_pair_beats_the_edges_that_are_searched(d, part, eps, low, q, up, share):
    k, level = 1 + int(part * (d - 1)), eps * low
    top = level + up * (eps - level)
    for constraint in ("paper", "exact"):
        if constraint == "exact":
            allowed = float(co.budget_at_total([level], eps, q, top)[0])
        else:
            allowed = top if top <= level else level - float(np.log1p(q * np.expm1(top)))
        if not allowed > 0.0:
            continue
        c = np.repeat([share * allowed, top if k < d else share * allowed], [k, d - k])
        best = float(co.best_two_levels(d, k, level, eps, q, constraint).mse)
        assert best <= float(co.m_mean_mse(0.0, c, 1, "optimal")) * (1 + 1e-9)


def test_less_than_allowed_can_be_best():
    found = co.best_two_levels(100, 1, 1.0, 2.0, 0.0)
    assert found.c_sensitive < 0.7
    full = co.m_mean_mse(0.0, np.repeat([1.0, 2.0], [1, 99]), 1, "optimal")
    assert found.mse < 0.98 * full


@given(
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.one_of(st.floats(0, 800), st.floats(1e-9, 3)),
    st.one_of(st.floats(0, 800), st.floats(1e-9, 3)),
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300])),
)
def test_two_level_searches_hold_in_the_whole_domain(d, share, level, eps, q):
    k = max(1, round(share * d))
    low = min(level, eps)
    nested = co.best_two_levels(d, k, level, eps, q)
    paper = co.best_two_levels(d, k, level, eps, q, "paper")
    disjoint = co.best_two_levels_disjoint(d, k, level, eps, q)
    for found in (nested, paper, disjoint):
        assert found.mse > 0
    if low > 0:
        with np.errstate(over="ignore"):
            baseline = d * co.m_ldp_second_moment(d, low) * (1 + 1e-9)
            assert nested.mse <= paper.mse * (1 + 1e-3)
        assert nested.mse <= baseline
        assert paper.mse <= baseline
        assert disjoint.mse <= baseline
        certified = co.best_certificate([nested.c_sensitive], q, nested.c_rest)[0]
        assert certified <= low * (1 + 1e-9)
        assert nested.c_rest <= eps * (1 + 1e-12)
        assert disjoint.alpha_sensitive <= low * (1 + 1e-12)
    else:
        assert np.isinf(nested.mse)


def test_sweeps_are_the_single_answers():
    q = np.array([0.0, 0.05, 0.3, 1.0])
    for function in (co.best_two_levels, co.best_two_levels_disjoint):
        swept = function(10, 2, 0.2, 2.0, q)
        for i, one in enumerate(q):
            assert swept.mse[i] == pytest.approx(float(function(10, 2, 0.2, 2.0, one).mse))
    swept = co.best_zeta(LEVELS, 2.0, q)
    assert swept.c.shape == (4, 10)
    for i, one in enumerate(q):
        assert swept.mse[i] == pytest.approx(float(co.best_zeta(LEVELS, 2.0, one).mse))


@pytest.mark.full
@pytest.mark.parametrize(
    ("levels", "eps", "subsets", "q"),
    [
        (LEVELS, 2.0, [(0,), (1,), tuple(range(2, 10))], 0.02),
        ([0.3, 0.3, 0.8, 3.0, 3.0], 3.0, [(0,), (1,), (2,), (3, 4)], 0.3),
        ([0.05, 5.0, 9.0], 12.0, [(0,), (1, 2)], 0.0),
        ([0.05, 5.0, 9.0], 12.0, [(0,), (1, 2)], 1.0),
    ],
)
def test_convex_solver_agrees_with_the_local_one(levels, eps, subsets, q):
    convex = co.best_disjoint_levels(levels, eps, q, subsets)
    assert meets(levels, eps, q, convex)
    stated = co.design_mse(len(levels), convex.subsets, convex.alphas)
    assert convex.mse == pytest.approx(float(stated), rel=1e-12)
    # No design of the family that the local search finds beats the global optimum of its layout …
    local = co.best_design(levels, eps, q)
    if set(local.subsets) == set(convex.subsets):
        assert convex.mse <= local.mse * (1 + 1e-5)
    # … and the local search, with more layouts to choose from, is not worse.
    assert local.mse <= convex.mse * (1 + 1e-5)


@pytest.mark.full
@pytest.mark.parametrize(("count", "q"), [(1, 0.05), (3, 0.0), (3, 1.0), (40, 0.5)])
def test_direct_and_general_solver_agree(count, q):
    levels = np.random.default_rng(count).uniform(0.1, 3.0, 2 * count)
    subsets = [(2 * j, 2 * j + 1) for j in range(count)]
    direct, general = (
        co.best_disjoint_levels(levels, 4.0, q, subsets, solver) for solver in ("direct", "cvxpy")
    )
    assert meets(levels, 4.0, q, direct)
    # Both meet the constraints, so the smaller error is the truer one.
    assert direct.mse <= general.mse * (1 + 1e-8)
    if not general.truncated:
        assert direct.mse == pytest.approx(general.mse, rel=1e-6)


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.floats(1e-3, 800), min_size=1, max_size=6),
    st.floats(1e-3, 800),
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300])),
)
def test_direct_levels_over_the_whole_domain(levels, eps, q):
    subsets = [(i,) for i in range(len(levels))]
    found = co.best_disjoint_levels(levels, eps, q, subsets)
    assert meets(levels, eps, q, found)
    assert np.isfinite(found.mse)
    # Equal shares of the least demand are always allowed.
    share = np.full(len(levels), min(*levels, eps) / len(levels))
    assert found.mse <= float(co.design_mse(len(levels), subsets, share)) * (1 + 1e-9)


def test_convex_solver_takes_a_coupling_for_each_coordinate():
    q = [0.0, 0.5]
    found = co.best_disjoint_levels([0.5, 1.0], 2.0, q, [(0,), (1,)])
    assert meets([0.5, 1.0], 2.0, np.array(q), found)
    loose = co.best_disjoint_levels([0.5, 1.0], 2.0, 0.0, [(0,), (1,)])
    assert loose.mse < found.mse


def test_a_level_zero_leaves_nothing():
    assert co.best_design([0.0, 1.0], 1.0, 0.1).mse == math.inf
    assert np.isinf(co.best_zeta([0.0, 1.0], 1.0, [0.0, 0.1]).mse).all()
    np.testing.assert_array_equal(co.best_zeta([0.0, 1.0], 1.0, [0.0, 0.1]).c, [[0, 1], [0, 0]])


def test_many_distinct_levels_are_rounded_down():
    levels = np.linspace(0.1, 3.0, 100)
    start = time.process_time()
    design = co.best_design(levels, 3.0, 0.05)
    assert time.process_time() - start < 10
    assert meets(levels, 3.0, 0.05, design)
    huge = co.best_zeta(np.linspace(0.1, 3.0, 10**5), 3.0, 0.05)
    certified = co.bcdp_from_cdp_and_ldp(huge.c, 0.05, huge.c.max())
    assert (certified <= np.linspace(0.1, 3.0, 10**5) * (1 + 1e-9)).all()


@given(
    st.lists(st.one_of(st.floats(0, 800), st.floats(0, 3), st.just(0.0)), min_size=1, max_size=40),
    st.integers(1, 8),
)
def test_rounding_is_safe_and_has_at_most_so_many_levels(c, groups):
    rounded = co.best_nested_rounding(c, groups)
    assert (rounded <= np.array(c)).all()
    assert np.unique(rounded).size <= groups
    assert (rounded >= 0).all()
    order = np.argsort(c, kind="stable")
    assert (np.diff(rounded[order]) >= 0).all()
    if groups > 1:
        assert ((rounded == 0) == (np.array(c) == 0)).all()
    if min(c) > 0.1:
        one = np.full(len(c), min(c))
        errors = [float(co.m_mean_mse(0, b, 1, "optimal")) for b in (rounded, one)]
        if np.unique(c).size <= groups:
            assert errors[0] <= float(co.m_mean_mse(0, c, 1, "optimal")) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.best_two_levels(3, 4, 0.1, 1.0, 0.1), r"k: 4 is outside \[1, d = 3\]"),
        (lambda: co.best_two_levels(3, 1, 0.1, 1.0, 0.1, "x"), "constraint: 'x' is not one of"),
        (lambda: co.best_two_levels_disjoint(3, 4, 0.1, 1.0, 0.1), r"k: 4 is outside \[1, 3\]"),
        (lambda: co.best_design([0.1], 1.0, 1.5), r"q: 1.5 is outside \[0, 1\]"),
        (lambda: co.best_design([0.1], 1.0, 0.5, "x"), "family: 'x' is not one of"),
        (lambda: co.best_disjoint_levels([0.1, 1], 1.0, 0.5, [(0,)]), "disjoint and cover"),
        (lambda: co.best_disjoint_levels([0.0], 1.0, 0.5, [(0,)]), r"is outside \[0.001"),
        (lambda: co.best_nested_rounding([[1.0]], 2), "c must be a vector"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_convex_solver_hands_over_where_its_tolerances_end():
    levels, eps = [1e-3, 1.5e-3, 700.0], 800.0
    for q in (0.0, 1e-9, 0.5):
        found = co.best_disjoint_levels(levels, eps, q, [(0,), (1,), (2,)], "cvxpy")
        assert meets(levels, eps, q, found)
        lowest = np.full(3, 1e-3 / 3)
        assert found.mse <= co.design_mse(3, [(0,), (1,), (2,)], lowest)


def test_rounded_searches_say_so():
    assert co.best_design(np.linspace(0.1, 1, 7), 2.0, 0.1).truncated
    assert not co.best_design(np.linspace(0.1, 1, 6), 2.0, 0.1).truncated
    assert co.best_zeta(np.linspace(0.1, 1, 65), 2.0, 0.1).truncated
    assert not co.best_zeta(np.linspace(0.1, 1, 64), 2.0, 0.1).truncated


def test_designs_for_couplings_of_each_coordinate_are_certified_and_better():
    levels, couplings = np.array([0.2, 0.2, 2.0, 2.0]), np.array([0.0, 0.1, 0.0, 0.2])
    for family in ("nested", "hybrid"):
        own = co.best_design(levels, 2.0, couplings, family)
        alike = co.best_design(levels, 2.0, 0.2, family)
        assert own.mse < 0.9 * alike.mse
        assert (co.design_bcdp(4, own.subsets, own.alphas, couplings) <= levels + 1e-9).all()
        assert co.best_design(levels, 2.0, np.full(4, 0.2), family).mse == alike.mse


def test_many_pairs_of_level_and_coupling_are_rounded_to_the_strictest():
    levels = np.repeat([0.5, 1.0], 4)
    couplings = np.tile([0.0, 0.1, 0.2, 0.3], 2)
    design = co.best_design(levels, 1.0, couplings, "nested")
    assert design.truncated
    assert (co.design_bcdp(8, design.subsets, design.alphas, couplings) <= levels + 1e-9).all()
