"""PrivEMDItemWise and the reduction: laws, audits, refusals."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats
from scipy.special import betaincinv

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Clustered, Discrete, Grid, MatrixSpace, Sphere, Square
from tests import snapshots

SPACES = [
    Grid(3, 2),
    Clustered(2, 2, 0.3),
    Discrete(3),
    MatrixSpace.from_embedding(np.random.default_rng(1).normal(size=(7, 2))),
    MatrixSpace.from_distances([[0, 1, 10], [1, 0, 9.5], [10, 9.5, 0]]),
]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("a0", [0.0, 0.1, 2.0, 15.0])
def test_exponential_mechanism_is_alpha0_d_private(space, sharp, a0):
    # Audit by enumeration over all inputs and answers of the law that is drawn from.
    mechanism = um.Exponential(space, a0, sharp=sharp)
    d, log_law = space.matrix(), np.log(mechanism.law())
    loss = (log_law[:, None, :] - log_law[None]).max(axis=2)
    assert (loss <= a0 * d + 1e-9).all()
    apart = d > 0
    worst = (loss[apart] / d[apart]).max()
    assert um.exponential_loss(d, mechanism.rate) == pytest.approx(worst, abs=1e-9)
    assert a0 / 2 <= mechanism.rate <= a0
    if sharp and mechanism.rate < a0:
        # The largest rate: a little more would not be private.
        assert um.exponential_loss(d, mechanism.rate * (1 + 1e-6)) > a0
    if isinstance(space, Clustered):
        assert not sharp or mechanism.rate == a0


@pytest.mark.parametrize("space", SPACES)
def test_exponential_draws_follow_the_law(space):
    # χ² with false alarm 1e-6 each.
    rng = np.random.default_rng(2)
    mechanism = um.Exponential(space, 2.0)
    items = np.tile([0, space.size - 1], 20_000)
    answers = mechanism.answer(items, rng)
    for x in (0, space.size - 1):
        counts = np.bincount(answers[items == x], minlength=space.size)
        assert stats.chisquare(counts, mechanism.law()[x] * 20_000).pvalue > 1e-6
    assert mechanism.answer([], rng).shape == (0,)


@pytest.mark.parametrize("norm", [1, 2])
def test_planar_laplace_follows_its_density(norm):
    # Kolmogorov–Smirnov with false alarm 1e-6 each.
    rng, side, a0 = np.random.default_rng(3), 3.0, 6.0
    space = Square(norm, side)
    mechanism = um.PlanarLaplace(space, a0)
    x = np.array([2.5, 0.1])
    z = mechanism.answer(np.tile(x, (40_000, 1)), rng) - x
    rate = a0 / space.length
    if norm == 2:
        assert stats.kstest(np.hypot(*z.T), stats.gamma(2, scale=1 / rate).cdf).pvalue > 1e-6
        angle = np.arctan2(z[:, 1], z[:, 0]) / (2 * math.pi) + 0.5
        assert stats.kstest(angle, "uniform").pvalue > 1e-6
    else:
        assert stats.kstest(z.ravel(), stats.laplace(scale=1 / rate).cdf).pvalue > 1e-6
    # The density has mass 1 and is α₀·d-private.
    axis = np.linspace(-14, 14, 1401) + 1.5
    plane = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    assert mechanism.density(x, plane).sum() * 0.02**2 == pytest.approx(1.0, abs=2e-3)
    y = np.array([0.2, 1.7])
    loss = np.log(mechanism.density(x, plane) / mechanism.density(y, plane)).max()
    assert loss <= a0 * float(space.cross([x], [y])[0, 0]) + 1e-9
    clipped = um.PlanarLaplace(space, a0, clip=True).answer(np.tile(x, (1000, 1)), rng)
    assert ((clipped >= 0) & (clipped <= side)).all()


def test_item_wise_release_is_shuffled():
    # All orders of three distinct answers equally likely: χ² with false alarm 1e-6.
    mechanism, rng = um.GKRR(Discrete(3), 800.0), np.random.default_rng(4)
    orders = [tuple(um.priv_emd_item_wise([0, 1, 2], mechanism, rng).tolist()) for _ in range(6000)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.full
def test_audit_of_item_wise_release():
    # Runs of the real release on two datasets at distance w; a Clopper–Pearson lower bound on ε
    # at δ' that exceeds αw with probability at most 1e-6.
    space, a0, m, trials, delta = Discrete(2), 1.0, 20, 8_000, 1e-3
    alpha = um.group_alpha(a0, delta, m)
    assert alpha < m * a0
    mechanism, rng = um.GKRR(space, a0), np.random.default_rng(5)
    ones = []
    for items in ([0] * m, [0] * (m - 6) + [1] * 6):
        runs = [um.priv_emd_item_wise(items, mechanism, rng).sum() for _ in range(trials)]
        ones.append(np.array(runs))
    w = 6 / m
    best = -math.inf
    for cut in range(2, 9):
        hits, others = int((ones[0] <= cut).sum()), int((ones[1] <= cut).sum())
        risk = 1e-6 / 14
        low = betaincinv(hits, trials - hits + 1, risk) - delta if hits else 0.0
        high = betaincinv(others + 1, trials - others, 1 - risk)
        best = max(best, math.log(low / high) if low > 0 else -math.inf)
    assert best <= alpha * w
    assert best > 0.2


def test_items_outside_the_domain_are_refused():
    rng = np.random.default_rng(0)
    for mechanism, item in (
        (um.GKRR(Clustered(2, 2, 0.3), 1.0), [4]),
        (um.Exponential(Grid(2, 2), 1.0), [-1]),
        (um.PlanarLaplace(Square(2), 1.0), [[0.5, 1.5]]),
    ):
        with pytest.raises(ValueError, match=r"items: .* is "):
            um.priv_emd_item_wise(item, mechanism, rng)
    with pytest.raises(ValueError, match="alpha0: 0 is outside"):
        um.PlanarLaplace(Square(2), 0.0)
    with pytest.raises(ValueError, match="users: there must") as error:
        um.bounded_emd_reduction([], 3, um.GKRR(Discrete(3), 1.0), rng)
    snapshots.check(error.value)


def test_drawn_items_are_uniform_with_replacement():
    # χ² with false alarm 1e-6.
    rng = np.random.default_rng(6)
    drawn = um.draw_items([[5, 6, 7], [9]], 30_000, rng)
    counts = np.unique(drawn[0], return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > 1e-6
    assert (drawn[1] == 9).all()
    with pytest.raises(ValueError, match=r"users\[1\]: a user must") as error:
        um.draw_items([[1], []], 3, rng)
    snapshots.check(error.value)
    out = um.bounded_emd_reduction([[0, 1], [2]], 50, um.GKRR(Discrete(3), 2.0), rng)
    assert out.shape == (100,)


def _multinomial_law(shares, s, law):
    """The exact law of the shuffled answers to s draws, for a binary answer: Bin(s, Pr[1])."""
    return stats.binom(s, float(shares @ law[:, 1])).pmf(np.arange(s + 1))


@pytest.mark.parametrize("rule", ["printed", "chernoff"])
def test_reduction_is_discrete_dp_by_enumeration(rule):
    # Users of different sizes over {0, 1}: the law of the whole reduction is a binomial.
    s, r, epsilon, delta = 40, 0.125, 1.0, 0.02
    plan = um.bounded_reduction(epsilon, delta, r, s, rule)
    a0 = um.group_alpha0(float(plan.alpha), float(plan.delta), s)
    law = um.GKRR(Discrete(2), a0).law()
    for share in (0.0, 0.25, 0.5, 0.875):
        p = _multinomial_law(np.array([1 - share, share]), s, law)
        q = _multinomial_law(np.array([1 - share - r, share + r]), s, law)
        for a, b in ((p, q), (q, p)):
            assert np.maximum(a - math.exp(epsilon) * b, 0).sum() <= float(plan.delta_total)


DELTA = st.one_of(st.floats(1e-300, 1), st.floats(-690, 0).map(math.exp), st.just(1.0))
COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 100))


@given(st.floats(0, 800), DELTA, st.floats(0, 1), COUNT)
def test_reduction_over_the_whole_domain(epsilon, delta, r, s):
    for rule in ("printed", "chernoff"):
        plan = um.bounded_reduction(epsilon, delta, r, s, rule)
        assert r * (1 - 1e-12) <= plan.threshold <= 1
        assert epsilon * (1 - 1e-12) <= plan.alpha
        assert bool(plan.certain) == (plan.threshold == 1)
        assert plan.delta_total == min(delta if plan.certain else 2 * delta, 1.0)
    printed, sharp = (
        um.bounded_reduction(epsilon, delta, r, s, v) for v in ("printed", "chernoff")
    )
    assert sharp.alpha >= printed.alpha * (1 - 1e-9)
    c = float(sharp.threshold)
    if 0 < r < 0.99 and c < 1 and delta < 1:
        with mpmath.workdps(40):
            x, y = mpmath.mpf(c), mpmath.mpf(r)
            kl = x * mpmath.log(x / y) + (1 - x) * mpmath.log((1 - x) / (1 - y))
            # Rounded up: enough concentration, and hardly more than enough.
            assert s * kl >= -mpmath.log(delta) * (1 - 1e-9) - 1e-12 * s
            if s * (c - r) > 1e-3:
                assert s * kl <= -mpmath.log(delta) * (1 + 1e-6) + 1e-6


@given(st.floats(0, 1), DELTA, COUNT)
def test_lemma_52_holds(mu, delta, s):
    tail = um.lemma52_tail(mu, delta, s)
    assert 0 <= tail <= delta * (1 + 1e-9) or mu == 0 or delta == 1


@given(st.floats(0, 800), DELTA, st.integers(1, 10**12))
def test_group_privacy_over_the_whole_domain(epsilon, delta, k):
    value = um.group_privacy_delta(epsilon, delta, k)
    assert value >= delta * k * (1 - 1e-9)
    assert um.group_privacy_delta(epsilon, delta, 1) == pytest.approx(delta, rel=1e-9)
    if k < 1000 and epsilon * k < 600:
        exact = math.fsum(math.exp(j * epsilon) for j in range(k)) * delta
        assert value == pytest.approx(exact, rel=1e-9)


def test_group_privacy_of_the_paper_is_wrong_both_ways():
    # Errata user-D1.
    assert um.group_privacy_delta(0.1, 1.0, 10) == pytest.approx(16.3, abs=0.05)
    assert math.exp(0.1 * 10) < 2.8
    assert um.group_privacy_delta(2.0, 1.0, 5) == pytest.approx(3447, abs=1)
    assert math.exp(5) < 149


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 6))
def test_level_of_a_table_is_the_least_that_holds(seed, size, answers):
    rng = np.random.default_rng(seed)
    space = MatrixSpace.from_embedding(rng.normal(size=(size, 2)))
    law = rng.dirichlet(np.full(answers, 2.0), size)
    table = um.ItemTable(space, law)
    d, log_law = space.matrix(), np.log(law)
    loss = (log_law[:, None, :] - log_law[None]).max(axis=2)
    assert (loss <= table.alpha0 * d).all()
    apart = d > 0
    assert table.alpha0 == pytest.approx((loss[apart] / d[apart]).max(), rel=1e-9)
    if answers == size:
        assert table.mean == pytest.approx((law * d).sum() / size)
    else:
        assert math.isnan(table.mean)
    counts = np.bincount(table.answer(np.zeros(20_000, int), rng), minlength=answers)
    assert stats.chisquare(counts, law[0] * 20_000).pvalue > 1e-9


def test_tables_without_a_level():
    space = Discrete(3)
    assert um.ItemTable(space, [[1, 0], [0.5, 0.5], [0.5, 0.5]]).alpha0 == math.inf
    assert um.ItemTable(space, [[0.5, 0, 0.5]] * 3).alpha0 == 0
    touching = MatrixSpace.from_distances([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert um.ItemTable(touching, [[0.4, 0.6], [0.6, 0.4], [0.5, 0.5]]).alpha0 == math.inf
    same = um.ItemTable(touching, [[0.4, 0.6], [0.4, 0.6], [0.5, 0.5]])
    assert same.alpha0 == pytest.approx(math.log(5 / 4))
    with pytest.raises(ValueError, match="2 rows for a space of 3 items"):
        um.ItemTable(space, [[0.5, 0.5]] * 2)


@pytest.mark.parametrize("a0", [0.5, 4.0, 60.0])
def test_noise_on_the_sphere_has_the_density_that_is_private(a0):
    space = Sphere(10.0, "km")
    items = np.array([[0.0, 0.0], [71.0, 170.0]])
    answers = um.SphereLaplace(space, a0).answer(
        np.repeat(items, 20_000, axis=0), np.random.default_rng(3)
    )
    assert (np.abs(answers) <= (90, 180)).all()
    for item, own in zip(items, np.split(answers, 2), strict=True):
        angle = math.pi * space.cross(item[None], own)[0]
        edges = np.quantile(angle, np.linspace(0, 1, 21))
        edges[0], edges[-1] = 0, math.pi

        def mass(low, high):
            found = integrate.quad(lambda x: math.exp(-a0 * x / math.pi) * math.sin(x), low, high)
            return found[0]

        # Edges are quantiles of the draw itself: compare with the law, not by a test.
        law = np.array([mass(*ends) for ends in itertools.pairwise(edges)])
        assert law / law.sum() == pytest.approx(np.full(20, 0.05), abs=0.01)
    # Directions are even: as many answers to the north of the equator as to the south.
    assert np.mean(answers[:20_000, 0] > 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(answers[:20_000, 1] > 0) == pytest.approx(0.5, abs=0.02)
