"""Gradients, Algorithm 1 and what it promises."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy import learning, shuffle_rdp
from explorer.privacy.core.bound import Role

MODELS = [learning.Softmax(6, 3), learning.Perceptron(6, 4, 3)]


def held(n=60, seed=0):
    """Three separable classes in 6 dimensions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    x = rng.uniform(0, 0.3, (n, 6))
    x[np.arange(n), 2 * y] += 0.7
    return learning.Samples(x, y, np.arange(n))


def a_plan(model, p=np.inf, eps0=2.0, k=20, clip=1.0, diameter=10.0, randomiser=True, **values):
    made = learning.randomiser_for(p, model.size, eps0, clip) if randomiser else None
    rates = learning.theorem_rates(diameter, learning.moment(made, model.size, clip, k, p))
    return learning.Plan(model, k, clip, diameter, values.get("rates", rates), made, p)


@pytest.mark.parametrize("model", MODELS, ids=["softmax", "perceptron"])
def test_gradients_are_those_of_the_loss(model):
    data, rng = held(5), np.random.default_rng(1)
    theta = rng.normal(size=model.size)
    dense = model.gradients(theta, data.x, data.y).dense(slice(None))
    assert dense.shape == (5, model.size)
    step = 1e-6
    for j in range(model.size):
        edge = np.eye(model.size)[j] * step
        up, down = (
            learning.losses(model.scores(t, data.x), data.y) for t in (theta + edge, theta - edge)
        )
        np.testing.assert_allclose(dense[:, j], (up - down) / (2 * step), atol=2e-9)


@pytest.mark.parametrize("model", MODELS, ids=["softmax", "perceptron"])
def test_factored_gradients_agree_with_full_ones(model):
    data, rng = held(7), np.random.default_rng(2)
    gradients = model.gradients(rng.normal(size=model.size), data.x, data.y)
    dense = gradients.dense(slice(None))
    np.testing.assert_allclose(gradients.norms(2), np.linalg.norm(dense, axis=1))
    np.testing.assert_allclose(gradients.norms(np.inf), np.abs(dense).max(axis=1))
    index = rng.integers(model.size, size=7)
    np.testing.assert_allclose(gradients.entries(index), dense[np.arange(7), index])
    weights = rng.uniform(size=7)
    np.testing.assert_allclose(gradients.total(weights), weights @ dense, atol=1e-14)


@pytest.mark.parametrize("p", [1, 1.5, 2, 4, np.inf])
def test_softmax_gradients_stay_below_their_lipschitz_constant(p):
    data, rng = held(40), np.random.default_rng(3)
    model = MODELS[0]
    bound = learning.lipschitz(data.x, p)
    for scale in (0.0, 1.0, 100.0):
        norms = model.gradients(scale * rng.normal(size=model.size), data.x, data.y).norms(p)
        assert norms.max() <= bound * (1 + 1e-12)


@pytest.mark.full
@pytest.mark.parametrize(
    ("place", "p"), [(0, 1), (0, 1.5), (0, 2), (1, 4), (1, np.inf)], ids=lambda x: str(x)
)
def test_the_server_averages_an_unbiased_estimate_of_the_clipped_mean(place, p):
    # z limit 5 a coordinate, at most 43 coordinates: false alarm below 3e-5; the seed is fixed.
    # Estimates half as large have a z of 6 or more.
    data, rng, model = held(20), np.random.default_rng(4), MODELS[place]
    theta = rng.normal(size=model.size)
    plan = a_plan(model, p, clip=0.2)
    gradients = model.gradients(theta, data.x, data.y)
    dense = gradients.dense(slice(None))
    norms = np.linalg.norm(dense, p, axis=1)
    assert (norms > 0.2).any()
    want = (dense / np.maximum(1, norms / 0.2)[:, None]).mean(axis=0)
    draws = np.array([learning.averaged(plan, gradients, rng) for _ in range(2000)])
    z = (draws.mean(axis=0) - want) / draws.std(axis=0) * math.sqrt(len(draws))
    assert np.abs(z).max() < 5
    # And its second moment stays below the G² that sets the rates.
    square = (draws**2).sum(axis=1)
    limit = learning.moment(plan.randomiser, model.size, 0.2, 20, p)
    assert square.mean() <= limit + 5 * square.std() / math.sqrt(len(draws))


@pytest.mark.parametrize("p", [1, 2, 4, np.inf])
def test_same_seed_same_run_however_it_is_cut(p):
    data, plan = held(), a_plan(MODELS[1], p)
    begin = learning.start(plan, np.random.default_rng(9))
    whole = learning.advance(plan, data, begin, 12)
    cut = learning.advance(plan, data, learning.advance(plan, data, begin, 5), 7)
    again = learning.advance(plan, data, begin, 12)
    assert whole.rounds == cut.rounds == 12
    np.testing.assert_array_equal(whole.theta, cut.theta)
    np.testing.assert_array_equal(whole.theta, again.theta)
    other = learning.start(plan, np.random.default_rng(10))
    assert not np.array_equal(learning.advance(plan, data, other, 12).theta, whole.theta)


def test_theta_stays_in_the_ball():
    data = held()
    plan = a_plan(MODELS[0], diameter=0.5, rates=learning.Rates(((0.0, 100.0),)))
    state = learning.start(plan, np.random.default_rng(0))
    for _ in range(5):
        state = learning.advance(plan, data, state)
        assert np.linalg.norm(state.theta) <= 0.25 * (1 + 1e-12)


def test_without_a_randomiser_it_is_sgd_and_learns():
    data = held(300)
    plan = a_plan(
        MODELS[0],
        randomiser=False,
        clip=np.inf,
        diameter=np.inf,
        k=50,
        rates=learning.Rates(((0.0, 1.0),)),
    )
    state = learning.start(plan, np.random.default_rng(0))
    one = learning.advance(plan, data, state, 300)
    assert learning.accuracy(plan.model, one.theta, data.x, data.y) == 1.0
    # With k = n a round is the full gradient: no randomness is left.
    full = replace(plan, sampled=300)
    a, b = (
        learning.advance(full, data, learning.start(full, np.random.default_rng(s))) for s in (0, 1)
    )
    np.testing.assert_allclose(a.theta, b.theta, atol=1e-14)


@pytest.mark.full
@pytest.mark.parametrize("p", [2, np.inf])
def test_private_training_learns_within_the_convergence_bound(p):
    # (36) bounds the mean excess risk; here of 3 runs, against the bound at C = L.
    data, model, rounds = held(400), MODELS[0], 400
    clip = learning.lipschitz(data.x, p)
    plan = a_plan(model, p, eps0=4.0, k=200, clip=clip, diameter=8.0)
    best = replace(plan, randomiser=None, sampled=400, rates=learning.Rates(((0.0, 0.5),)))
    least = learning.advance(best, data, learning.start(best, np.random.default_rng(0)), 2000)

    def risk(theta):
        return float(learning.losses(model.scores(theta, data.x), data.y).mean())

    excess = []
    for seed in range(3):
        begin = learning.start(plan, np.random.default_rng(seed))
        excess.append(risk(learning.advance(plan, data, begin, rounds).theta) - risk(least.theta))
    bound = learning.excess_risk(p, clip, 8.0, model.size, 4.0, 200, rounds)
    sharper = learning.excess_risk_exact(
        8.0, learning.moment(plan.randomiser, model.size, clip, 200), rounds
    )
    assert 0 < np.mean(excess) <= sharper.value <= bound.value * (1 + 1e-12)
    start_risk = math.log(3)
    assert risk(least.theta) + np.mean(excess) < 0.7 * start_risk


def test_steps_of_the_rates():
    rates = learning.Rates(((0.0, 12.0), (30.0, 4.0), (60.0, 3.5)))
    assert [rates(t) for t in (1, 30, 31, 60, 61, 10**6)] == [12, 12, 4, 4, 3.5, 3.5]
    theorem = learning.theorem_rates(2.0, 16.0)
    assert [theorem(t) for t in (1, 4)] == [0.5, 0.25]


def test_more_clients_than_there_are_is_refused():
    data, plan = held(10), a_plan(MODELS[0], k=11)
    begin = learning.start(plan, np.random.default_rng(0))
    with pytest.raises(ValueError, match="k: 11"):
        learning.advance(plan, data, begin)
    with pytest.raises(ValueError, match=r"p: 0\.5"):
        learning.randomiser_for(0.5, 5, 1.0, 1.0)


def test_figure_5_privacy():
    # shuf-B7: an epoch is n/k rounds. Printed: 5.8 and 3 (b), 1.4 and 2.91 (a).
    assert learning.rounds_of([200, 50], 60_000, 2_000).tolist() == [6000, 1500]
    assert learning.rounds_of(1, 1437, 500) == 3
    found = learning.training_epsilon(2.0, 2_000, 60_000, [6000, 1500], 1e-5)
    np.testing.assert_allclose(found.value, [5.7946, 2.9875], atol=5e-5)
    assert found.role is Role.UPPER
    assert not found.truncated.any()
    a = learning.training_epsilon(1.5, 10_000, 60_000, [212, 213, 1067, 1068], 1e-5).value
    assert a[0] <= 1.4 < a[1]
    assert a[2] <= 2.91 < a[3]
    sharp = learning.training_epsilon_numerical(2.0, 2_000, 60_000, 6000, 1e-5)
    assert float(sharp.value) == pytest.approx(0.9191, abs=1e-3)
    assert all(x < y for x, y in pairwise(a))


@given(st.integers(1, 200), st.integers(1, 10**9), st.data())
def test_rounds_are_never_fewer_than_the_epochs_need(epochs, n, data):
    k = data.draw(st.integers(max(1, n // 10**6), n))
    assert int(learning.rounds_of(epochs, n, k)) == -(-epochs * n // k)


class Shift:
    """A model of one parameter whose gradient is the sample itself."""

    size = 1

    def initial(self, rng):
        return np.zeros(1)

    def gradients(self, theta, x, y):
        return learning.Gradients(((x, np.ones((len(x), 1))),))


@pytest.mark.full
def test_a_whole_round_has_the_law_of_the_subsampled_shuffle_model():
    # 3 of 6 clients, one coordinate: θ₁ tells the number m of pluses. Its law by hand, χ² with a
    # false-alarm rate of 1e-6; and with a replaced record within ε_s = ln(1+γ(e^ε₀−1)).
    n, k, eps0, count = 6, 3, 1.0, 3_000
    report = learning.coordinate_report(1, eps0, 1.0)
    plan = learning.Plan(Shift(), k, 1.0, np.inf, learning.Rates(((0.0, 1.0),)), report)
    high = math.exp(eps0) / (1 + math.exp(eps0))

    def law(pluses):
        found = np.zeros(k + 1)
        for drawn in range(k + 1):
            chance = stats.hypergeom(n, pluses, k).pmf(drawn)
            yes = stats.binom(drawn, high).pmf(np.arange(k + 1))
            no = stats.binom(k - drawn, 1 - high).pmf(np.arange(k + 1))
            found += chance * np.convolve(yes, no)[: k + 1]
        return found

    laws = [law(2), law(3)]
    for pluses, want in zip((2, 3), laws, strict=True):
        x = np.where(np.arange(n) < pluses, 1.0, -1.0)[:, None]
        data = learning.Samples(x, np.zeros(n, int), np.arange(n))
        rng = np.random.default_rng(pluses)
        begin = learning.start(plan, rng)
        seen = np.zeros(k + 1)
        for seed in range(count):
            state = replace(begin, generator=np.random.default_rng([pluses, seed]))
            theta = learning.advance(plan, data, state).theta[0]
            seen[round((k - theta * k / report.length) / 2)] += 1
        assert stats.chisquare(seen, want * count).pvalue > 1e-6
    ratio = np.abs(np.log(laws[0] / laws[1])).max()
    assert ratio <= math.log1p(k / n * math.expm1(eps0))


def test_the_convergence_bound_is_remark_1_in_36():
    bound = learning.excess_risk(np.inf, 0.01, 2.0, 13170, 1.5, 10_000, 1200)
    want = shuffle_rdp.convergence_bound(np.inf, 0.01, 2.0, 13170, 1.5, 10_000, 1200)
    assert float(bound.value) == pytest.approx(want)
    report = learning.coordinate_report(13170, 1.5, 0.01)
    exact = learning.excess_risk_exact(2.0, learning.moment(report, 13170, 0.01, 10_000), 1200)
    assert float(exact.value) == pytest.approx(want)
