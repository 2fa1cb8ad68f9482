"""Histograms to which each user reports one drawn item: errors against the law of the reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.privacy import learning, user_metric as um
from tests import snapshots

DATA = np.array([[0.7, 0.2, 0.1], [0.0, 0.0, 1.0]])
"""Shares of three items of two users."""


def test_randomised_response_errs_as_much_as_its_law_says() -> None:
    k, eps, n = 3, 1.3, 2
    e = math.exp(eps)
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    channel = np.full((k, k), q) + (p - q) * np.eye(k)
    reports = (np.eye(k) - q) / (p - q)
    error = 0.0
    for shares in DATA:
        law = shares @ channel
        assert law @ reports == pytest.approx(shares)  # unbiased
        error += sum(pr * ((r - shares) ** 2).sum() for pr, r in zip(law, reports, strict=True))
    square = (DATA**2).sum(axis=1).mean()
    assert um.one_item_grr_mse(k, eps, n, square) == pytest.approx(error / n**2)


def test_priv_unit_errs_as_much_as_its_reports_do() -> None:
    # Reports of e_x − 1/k in the k−1 dimensions of the plane; a z limit of 5 with a fixed seed.
    k, eps, rng = 4, 2.0, np.random.default_rng(0)
    plane = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1]
    centred = np.eye(k) - 1 / k
    made = learning.priv_unit(k - 1, eps, math.sqrt(1 - 1 / k))
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    items = rng.choice(k, size=60_000, p=shares)
    reports = made.randomise(centred[items] @ plane, rng) @ plane.T
    errors = ((reports - (shares - 1 / k)) ** 2).sum(axis=1)
    claimed = um.priv_unit_histogram_mse(k, eps, 1, (shares**2).sum())
    assert abs(errors.mean() - claimed) < 5 * errors.std() / math.sqrt(errors.size)


def test_numbers_of_the_specification() -> None:
    found = [
        error(100, 3.0, 10_000, 0.01)
        for error in (
            um.one_item_hadamard_mse,
            um.one_item_grr_mse,
            um.priv_unit_histogram_mse,
        )
    ]
    np.testing.assert_allclose(found, [0.0122, 0.00385, 0.00729], rtol=3e-3)


def test_without_privacy_only_the_draw_is_left_and_without_epsilon_nothing_is_learnt() -> None:
    for error in (um.one_item_hadamard_mse, um.one_item_grr_mse, um.priv_unit_histogram_mse):
        assert error(10, 0.0, 100, 0.1) == math.inf
    assert um.one_item_grr_mse(10, 700.0, 100, 0.1) == pytest.approx(0.9 / 100)
    with pytest.raises(ValueError, match="k: 1 is outside"):
        um.priv_unit_histogram_mse(1, 1.0, 10, 1.0)
    with pytest.raises(ValueError, match="mean_square: 2 is") as raised:
        um.one_item_grr_mse(5, 1.0, 10, 2.0)
    snapshots.check(raised.value)
