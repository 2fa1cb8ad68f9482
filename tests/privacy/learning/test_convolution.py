"""The convolutional network: its size, its gradients, and that it learns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from explorer.privacy import learning

MODEL = learning.Convolutional(10)


def pictures(count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.random((count, learning.SIDE**2)), rng.integers(10, size=count)


def test_it_has_the_parameters_of_table_1():
    by_hand = (64 * 16 + 16) + (16 * 16 * 16 + 16) + (4 * 4 * 16 * 32 + 32) + (32 * 10 + 10)
    assert MODEL.size == by_hand == 13_706
    assert MODEL.initial(np.random.default_rng(0)).size == 13_706


def test_gradients_are_those_of_the_loss():
    x, y = pictures(3)
    rng = np.random.default_rng(1)
    theta = MODEL.initial(rng) + 0.05 * rng.normal(size=MODEL.size)
    dense = MODEL.gradients(theta, x, y).dense(slice(None))
    step = 1e-5
    # Some of each layer's weights and biases.
    ends = np.cumsum([0, 65 * 16, 257 * 16, 257 * 32, 330])
    places = [int(j) for a, b in itertools.pairwise(ends) for j in rng.integers(a, b, 12)]
    for j in {*places, *(ends[1:] - 1).tolist()}:
        edge = np.eye(1, MODEL.size, j)[0] * step
        up, down = (learning.losses(MODEL.scores(t, x), y) for t in (theta + edge, theta - edge))
        np.testing.assert_allclose(dense[:, j], (up - down) / (2 * step), atol=2e-9)


@pytest.mark.full
def test_what_is_asked_of_gradients_agrees_however_it_is_asked():
    x, y = pictures(150)  # more than a block
    theta = MODEL.initial(np.random.default_rng(2))
    gradients = MODEL.gradients(theta, x, y)
    dense = gradients.dense(slice(None))
    np.testing.assert_allclose(gradients.clipped_total(2, np.inf), dense.sum(axis=0), atol=1e-11)
    for p, clip in ((1, 3.0), (2, 0.5), (4, 0.1), (np.inf, 0.05)):
        norms = np.linalg.norm(dense, p, axis=1)
        assert (norms > clip).any()
        want = dense / np.maximum(1, norms / clip)[:, None]
        np.testing.assert_allclose(gradients.clipped(slice(None), p, clip), want, atol=1e-14)
        np.testing.assert_allclose(gradients.clipped_total(p, clip), want.sum(axis=0), atol=1e-11)
    index = np.random.default_rng(3).integers(MODEL.size, size=150)
    found = gradients.clipped_entries(index, 0.05)
    np.testing.assert_allclose(found, want[np.arange(150), index], atol=1e-14)


def test_scores_do_not_depend_on_how_many_pictures_there_are():
    x, _ = pictures(150)
    theta = MODEL.initial(np.random.default_rng(4))
    whole = MODEL.scores(theta, x)
    np.testing.assert_allclose(whole[140:], MODEL.scores(theta, x[140:]), atol=1e-14)


@pytest.mark.parametrize("p", [2, np.inf])
def test_a_round_is_cut_anywhere_and_repeats_with_its_seed(p):
    x, y = pictures(20)
    data = learning.Samples(x, y, np.arange(20))
    made = learning.randomiser_for(p, MODEL.size, 2.0, 0.1)
    plan = learning.Plan(MODEL, 10, 0.1, 100.0, learning.Rates(((0.0, 0.1),)), made, p)
    begin = learning.start(plan, np.random.default_rng(5))
    once = learning.advance(plan, data, begin, 3)
    cut = learning.advance(plan, data, learning.advance(plan, data, begin, 1), 2)
    np.testing.assert_array_equal(once.theta, cut.theta)


def test_it_learns_pictures_that_differ():
    rng = np.random.default_rng(6)
    y = rng.integers(3, size=90)
    x = 0.2 * rng.random((90, learning.SIDE, learning.SIDE))
    for i, label in enumerate(y):
        x[i, 4 + 7 * label : 9 + 7 * label] += 0.7  # a bar at one of three heights
    data = learning.Samples(x.reshape(90, -1), y, np.arange(90))
    model = learning.Convolutional(3)
    plan = learning.Plan(model, 30, np.inf, np.inf, learning.Rates(((0.0, 0.1),)), None)
    state = learning.advance(plan, data, learning.start(plan, rng), 40)
    assert learning.accuracy(model, state.theta, data.x, data.y) == 1.0
